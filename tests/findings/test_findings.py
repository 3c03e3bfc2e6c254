"""Every planted fault is found at its line, with a remedy that helps; nothing is found in clean programs of a TPU.

Not its job: what the parts of it do by themselves (`analyze/findings`), or clean programs of this machine
(`analyze/advice/test_advice_on_programs`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import pytest

import pjit_inspect as pi
from findings.case import Built, Fault
from findings.faults import FAULTS
from findings.on_tpu import TPU_CLEAN, TPU_FAULTS, path_of
from findings.score import line_of, record_of, score
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.report.advice import ADVICE_KINDS, AdviceTable

_TRIED = [fault for fault in FAULTS if fault.tried]


_ALL = [*FAULTS, *TPU_FAULTS]
_PLAIN = {"line", "constraint", "argument", "result", "layout", "tiny_collectives", "written_out_layers"}
"""The kinds of `analyze/advice/programs`."""


@pytest.mark.parametrize("fault", _ALL, ids=[fault.name for fault in _ALL])
def test_a_planted_fault_is_found_and_its_remedy_helps(fault: Fault) -> None:
    scored = score(fault)
    assert not scored.failures, line_of(fault, scored)


@pytest.mark.parametrize("build", TPU_CLEAN, ids=[build.__name__ for build in TPU_CLEAN])
def test_nothing_is_found_in_a_clean_program_of_a_tpu(build: Callable[[], Built]) -> None:
    assert list(map(str, pi.load(path_of(build)).findings)) == []


def test_there_is_a_fault_of_every_kind() -> None:
    assert {fault.kind for fault in _ALL} | _PLAIN == set(ADVICE_KINDS)


@pytest.mark.parametrize("fault", _TRIED, ids=[fault.name for fault in _TRIED])
def test_a_remedy_that_was_tried_helps_when_it_is_compiled_too(fault: Fault) -> None:
    one = record_of(fault).findings.of_kind(fault.kind)[0]
    checked = one.check()
    # What is held in pieces is no traffic: there it must only not send more.
    wanted = ("helps", "nothing") if one.unit == "held" else ("helps",)
    assert checked.verdict in wanted, str(checked)


def test_one_constraint_halves_what_the_fsdp_and_tp_step_sends() -> None:
    (one,) = record_of(next(fault for fault in FAULTS if fault.name == "fsdp_tp_step")).findings
    assert one.sent is not None
    assert 2 * one.sent[1] < one.sent[0]
    assert one.removes


def test_a_change_of_code_cannot_be_checked() -> None:
    fault = next(fault for fault in FAULTS if fault.kind == "not_donated")
    with pytest.raises(CaptureError, match="change of code"):
        next(one for one in record_of(fault).findings if one.kind == "not_donated").check()


def test_findings_are_a_table_that_shows_itself() -> None:
    table = record_of(next(fault for fault in FAULTS if fault.kind == "not_donated")).findings
    assert isinstance(table, AdviceTable)
    assert "AdviceTable(1 row" in repr(table[:1])
    assert "held by each device" in str(table.show())
    with pytest.raises(ValueError, match="there is no kind"):
        table.of_kind("lost")


def test_a_record_from_a_file_has_what_no_remedy_proves(tmp_path) -> None:
    for name, kinds in (("a_step_that_keeps_the_old_parameters", ["not_donated"]), ("fsdp_tp_step", [])):
        record = record_of(next(fault for fault in FAULTS if fault.name == name))
        record.save(tmp_path / "step.pjit")
        assert [one.kind for one in pi.load(tmp_path / "step.pjit").findings] == kinds


def _whole(*axes: str | None) -> jax.ShapeDtypeStruct:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    shape = (8, 16, 8)[-len(axes) :]
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=jax.NamedSharding(mesh, jax.P(*axes)))


def test_all_axes_are_named_that_an_operation_without_a_rule_gathers_over() -> None:
    record = pi.inspect(lambda a: jnp.linalg.qr(a)[1], _whole("data", "model"))
    (one,) = record.findings.of_kind("no_sharding_rule")
    assert {axes for row in record.collectives for axes in row.axes or ()} == {"data", "model"}
    assert {"`data`", "`model`"} <= set(re.findall(r"`\w+`", one.sentence.rpartition(" over ")[2])), one.sentence


@pytest.mark.parametrize("decompose", [jnp.linalg.qr, jnp.linalg.eigh, jnp.linalg.svd, jnp.linalg.cholesky])
def test_one_matrix_is_not_advised_to_be_taken_apart_in_pieces(decompose: Callable[..., object]) -> None:
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    for shape, axes, begin in (
        ((64, 64), ("data",), ""),
        ((8, 64, 64), (None, "data"), "along this dimension the pieces depend on each other: split another one"),
    ):
        given = jax.ShapeDtypeStruct(shape, jnp.float32, sharding=jax.NamedSharding(mesh, jax.P(*axes)))
        (one,) = pi.inspect(lambda a: jax.tree.leaves(decompose(a))[0], given).findings.of_kind("no_sharding_rule")
        assert "works on all of a matrix at once. Each device gets all of" in one.sentence
        assert "shard_map" not in one.sentence
        assert one.change[: len(begin)] == begin
        assert bool(one.change) == bool(begin)


def test_two_matrices_on_one_line_are_not_advised_to_be_taken_apart_in_pieces() -> None:
    """As an optimizer does with those of rows and of columns: one is split over `data`, the other over `model`."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def split(*axes: str) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=jax.NamedSharding(mesh, jax.P(*axes)))

    def root(matrix):
        values, vectors = jnp.linalg.eigh(matrix)
        return (vectors * values) @ vectors.T

    found = pi.inspect(lambda a, b: (root(a), root(b)), split("data"), split("model")).findings
    assert all(not one.change for one in found.of_kind("no_sharding_rule"))
    assert found.of_kind("no_sharding_rule")


def test_a_triangular_solve_is_not_advised_to_be_done_in_pieces() -> None:
    def solve(low, b):
        return jax.scipy.linalg.solve_triangular(low, b, lower=True)

    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    low = jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=jax.NamedSharding(mesh, jax.P()))
    b = jax.ShapeDtypeStruct((64, 64), jnp.float32, sharding=jax.NamedSharding(mesh, jax.P("data", "model")))
    (one,) = pi.inspect(solve, low, b).findings.of_kind("no_sharding_rule")
    assert not one.change
    assert "shard_map" not in one.sentence


def _accumulated(low: type, *, axes: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What is found in micro-batches of a layer with a bias, whose gradients are rounded to `low`."""
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))

    def given(shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=jax.NamedSharding(mesh, jax.P(*spec)))

    def loss(p, x):
        return (jnp.tanh(x @ p["w"] + p["b"]) ** 2).mean()

    def step(p, xs):
        def turn(total, x):
            grads = jax.grad(loss)(p, x)
            return jax.tree.map(lambda t, g: t + g.astype(low).astype(t.dtype), total, grads), None

        total, _ = jax.lax.scan(turn, jax.tree.map(jnp.zeros_like, p), xs)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, total)

    params = {"w": given((128, 128), *axes), "b": given((128,))}
    found = pi.inspect(step, params, given((4, 64, 128), None, "data")).findings
    return tuple(str(one.sentence) for one in found.of_kind("summed_per_turn"))


def test_the_gradient_of_a_bias_is_added_up_like_that_of_a_weight() -> None:
    (sentence,) = _accumulated(jnp.float32)
    assert "but for" not in sentence


def test_gradients_that_are_quantized_or_kept_in_pieces_are_not_said_to_be_only_added_up() -> None:
    assert _accumulated(jnp.float8_e4m3fn) == ()
    # One sum after the loop would take all of it on every device while the loop runs.
    assert _accumulated(jnp.float32, axes=("data",)) == ()


def test_what_another_operation_takes_too_is_not_promised_to_go() -> None:
    # Both take the array whole: without the factorization the transform still gathers it.
    record = pi.inspect(lambda a: (jnp.linalg.qr(a)[1], jnp.fft.rfft2(a)), _whole(None, "data", "model"))
    alone = pi.inspect(jnp.fft.rfft2, _whole(None, "data", "model"))
    assert sum(row.wire_bytes or 0 for row in alone.collectives) == sum(
        row.wire_bytes or 0 for row in record.collectives
    )
    (one,) = record.findings.of_kind("no_sharding_rule")
    assert re.search(r"; what moves stays as long as `jnp\.fft\.rfft2\(a\)`( \(line \d+\))? takes it$", one.change)


def test_the_dimension_of_a_transform_is_not_advised_to_be_computed_in_pieces() -> None:
    record = pi.inspect(lambda a: jnp.fft.rfft(a, axis=1), _whole(None, "model"))
    (one,) = record.findings.of_kind("no_sharding_rule")
    assert one.change.startswith("along this dimension the pieces depend on each other: split another one")
    # Some versions of XLA gather the other dimension, too: its pieces do not depend on each other.
    for other in pi.inspect(lambda a: jnp.fft.rfft(a, axis=1), _whole("model", None)).findings:
        assert other.change.startswith("if the pieces do not depend on each other")


def test_a_transform_is_advised_to_be_computed_in_pieces_over_the_axes_that_it_can_be() -> None:
    """Along time pieces depend on each other, along the batch they do not."""

    def long_convolution(x, filters):
        spectrum = jnp.fft.rfft(x, n=256, axis=1) * jnp.fft.rfft(filters, n=256, axis=0)
        return jnp.fft.irfft(spectrum, n=256, axis=1)[:, :128] * x

    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    in_pieces = partial(jax.shard_map, mesh=mesh, axis_names={"data"}, in_specs=jax.P("data"), out_specs=jax.P("data"))

    def advised(x, filters):
        spectrum = in_pieces(lambda x: jnp.fft.rfft(x, n=256, axis=1))(x) * jnp.fft.rfft(filters, n=256, axis=0)
        return in_pieces(lambda spectrum: jnp.fft.irfft(spectrum, n=256, axis=1))(spectrum)[:, :128] * x

    x = jax.ShapeDtypeStruct((4, 128, 32), jnp.float32, sharding=jax.NamedSharding(mesh, jax.P("data", "model")))
    filters = jax.ShapeDtypeStruct((128, 32), jnp.float32, sharding=jax.NamedSharding(mesh, jax.P()))
    before, after = (pi.inspect(function, x, filters) for function in (long_convolution, advised))
    first = "the pieces over `model` depend on each other; those over `data` do not: call it in a `jax.shard_map` over"
    remedies = [str(one.change) for one in before.findings.of_kind("no_sharding_rule")]
    assert not any("`data` and `model`" in remedy for remedy in remedies)
    # Later versions gather over one axis at a time, and each has advice of its own.
    assert jax.__version_info__ >= (0, 11) or any(remedy.startswith(f"{first} `data`") for remedy in remedies)
    sent = [sum(row.wire_bytes or 0 for row in one.collectives if row.axes == ("data",)) for one in (before, after)]
    assert sent[1] < sent[0]


def test_all_axes_are_named_that_a_loop_asks_over() -> None:
    def halved(x):
        return jax.lax.while_loop(lambda x: jnp.linalg.norm(x) > 1e-2, lambda x: x * 0.5, x)

    (one,) = pi.inspect(halved, _whole("data", "model")).findings.of_kind("loop_predicate")
    assert {"`data`", "`model`"} <= set(re.findall(r"`\w+`", one.sentence)), one.sentence
