"""What is suggested, what it is expected to save, and what it saves when compiled.

Every figure was worked out by hand from shapes and ring formulas before anything ran: n devices, V bytes on one; an
all-gather sends V (n - 1), an all-reduce 2 V (n - 1) / n, a reduce-scatter half of that. The mesh is 2 x 4.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from observe.programs import copied

import pjit_inspect as pi
from pjit_inspect.analyze.program.explicit_axes import find_explicit_axes
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.constraints import ConstraintOptions
from pjit_inspect.analyze.suggest.cost import cost_of
from pjit_inspect.analyze.suggest.suggestions import compare_traffic, find_suggestions
from pjit_inspect.handles.suggest import Trials
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.suggestion import Checked, Suggestion

S = jax.ShapeDtypeStruct
KIB = 1024


def mesh() -> Mesh:
    return Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def named(*spec: Any) -> NamedSharding:
    return NamedSharding(mesh(), PartitionSpec(*spec))


def array(shape: tuple[int, ...], *spec: Any, dtype: Any = jnp.float32) -> S:
    return S(shape, dtype, sharding=named(*spec))


def constrained(x: jax.Array, *spec: Any) -> jax.Array:
    return jax.lax.with_sharding_constraint(x, named(*spec))


def suggestions(
    function: Callable[..., Any], *arguments: Any, is_cpu: bool = True, **options: Any
) -> tuple[Suggestion, ...]:
    """All suggestions for a program, each checked where the platform it is for is here."""
    record = pi.inspect(jax.jit(function, **options), *arguments)
    trials = Trials(record.data, tuple(record.collectives), record.hlo)
    trials.is_cpu = is_cpu
    own = trials.copied()
    names = ValueNames(own.program, record.data.sources)
    found = find_suggestions(
        names,
        tuple(record.collectives),
        own.trips,
        is_cpu=is_cpu,
        is_explicit=bool(find_explicit_axes(record.data)),
        count=trials.count,
    )
    return tuple(replace(one, checked=trials.check(one.change)) for one in found) if is_cpu else found


def by_title(found: tuple[Suggestion, ...], start: str) -> Suggestion:
    return next(one for one in found if one.title.startswith(start))


# ---------------------------------------------------------------- arguments


def test_a_small_weight_that_is_gathered_may_be_replicated() -> None:
    found = suggestions(lambda x, w: x @ w, array((512, 256), "data", None), array((256, 128), "data", "model"))
    # The shard of w, 128 x 32 floats, goes to the one other device along `data`.
    (one,) = found
    assert one.title == "pass `w` as P(None, 'model')"
    assert one.modelled_bytes == -16 * KIB
    assert one.checked is not None
    assert (one.checked.before_bytes, one.checked.after_bytes, one.checked.verdict) == (16 * KIB, 0, "helps")
    assert one.removes == ("all-gather",)
    assert "each device then holds 16 KiB more of arguments" in one.sentence


@pytest.mark.parametrize(
    ("x", "w", "before"),
    [
        (((64, 64), ("model", None)), ((64, 64), ("model", None)), 12 * KIB),  # 4 KiB * 3
        (((8, 512), ("model", None)), ((512, 64), ("model", None)), 96 * KIB),  # 32 KiB * 3
        (((64, 512), ("data", None)), ((512, 256), ("data", "model")), 64 * KIB),  # 64 KiB * 1
    ],
)
def test_a_weight_that_is_cut_over_the_axis_of_the_batch_may_be_whole_there(x: Any, w: Any, before: int) -> None:
    found = suggestions(lambda x, w: x @ w, array(x[0], *x[1]), array(w[0], *w[1]))
    best = by_title(found, "pass `w` as P(None, ")
    assert best.checked is not None
    assert (best.checked.before_bytes, best.checked.after_bytes) == (before, 0)


def test_weights_that_are_cut_over_the_axis_of_the_batch_may_be_whole_in_training() -> None:
    def loss(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return (jnp.tanh(x @ p["w1"]) @ p["w2"]).sum()

    params = {name: array((64, 64), "model", None) for name in ("w1", "w2")}
    found = suggestions(jax.grad(loss), params, array((256, 64), "model", None))
    assert found
    checked = [one.checked for one in found if one.checked is not None]
    assert all(one.after_bytes < one.before_bytes for one in checked)


def wrongly_paired(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ p["w1"]) @ p["w2"]


def test_two_weights_in_a_row_are_paired_column_then_row() -> None:
    weights = {"w1": array((256, 1024), "model", None), "w2": array((1024, 256), None, "model")}
    found = suggestions(wrongly_paired, weights, array((512, 256), "data", None), out_shardings=named("data", None))
    # Now: w1 is gathered (3 x 64 x 1024 floats), then the result (3 x 256 x 64). Paired: one sum of 256 x 256 floats.
    before, after = 3 * 256 * KIB + 3 * 64 * KIB, 2 * 256 * KIB * 3 // 4
    one = by_title(found, "pass `p['w1']` as P(None, 'model') and `p['w2']` as P('model', None)")
    assert one.modelled_bytes == after - before
    assert one.checked is not None
    assert (one.checked.before_bytes, one.checked.after_bytes) == (before, after)
    assert dict(one.checked.after_by_kind) == {"all-reduce": after}
    # With w1 whole each of 4 devices did all of the first product: now a quarter, and of the second as before.
    assert "multiplies 60% less" in one.sentence


def train(params: list[dict[str, jax.Array]], mu: list[dict[str, jax.Array]], x: jax.Array) -> Any:
    def loss(params: list[dict[str, jax.Array]]) -> jax.Array:
        h = x
        for layer in params:
            h = jnp.tanh(h @ layer["w"])
        return (h**2).sum()

    grads = jax.grad(loss)(params)
    mu = jax.tree.map(lambda m, g: 0.9 * m + g, mu, grads)
    return jax.tree.map(lambda p, m: p - 0.1 * m, params, mu), mu


def test_equal_layers_and_the_state_that_goes_with_them_change_together() -> None:
    layers = [{"w": array((64, 64), "model", None)} for _ in range(3)]
    found = suggestions(train, layers, layers, array((2048, 64), "model", None))
    # Forward, each weight (16 x 64 floats, 4 KiB) is gathered from 3 others; backward, the same sums as before.
    (one,) = found
    assert one.title == "pass the 3 `params[*]['w']` as P(None, None)"
    assert (one.forward_bytes, one.backward_bytes) == (-3 * 3 * 4 * KIB, 0)
    assert sorted(edit.index for edit in one.change if edit.kind == "argument") == [0, 1, 2, 3, 4, 5]
    assert "and the 3 arguments of the same path" in one.sentence
    assert one.checked is not None
    assert one.checked.verdict == "helps"


def test_no_argument_is_replicated_to_save_communication_at_the_price_of_work() -> None:
    # Whole rows on every device would need no sum over `data`, and twice the work.
    found = suggestions(lambda x: (x.T @ x, jnp.exp(x)), array((4096, 64), "data", None))
    assert not [one for one in found if any(edit.spec == ((), ()) for edit in one.change)]


# ---------------------------------------------------------------- constraints


def test_a_constraint_that_costs_more_than_it_gives_may_be_left_out() -> None:
    found = suggestions(
        lambda x, w: jnp.tanh(constrained(x @ w, None, None)) * 2,
        array((512, 256), "data", None),
        array((256, 512), None, "model"),
    )
    # x: 256 x 256 floats to one other; w: 256 x 128 floats to three.
    one = by_title(found, "leave out the constraint")
    assert one.modelled_bytes == -(256 * KIB + 3 * 128 * KIB)
    assert one.checked is not None
    assert one.checked.after_bytes == 0


def test_a_result_may_stay_as_it_is_computed() -> None:
    found = suggestions(
        lambda x, w: x @ w,
        array((512, 256), "data", None),
        array((256, 512), None, "model"),
        out_shardings=named(None, None),
    )
    one = by_title(found, "let `result` be P('data', 'model')")
    # 256 x 128 floats from each of 7 others.
    assert one.modelled_bytes == -7 * 128 * KIB
    assert one.checked is not None
    assert one.checked.change_bytes == -7 * 128 * KIB


def test_a_full_replication_is_avoided_by_a_step_in_between() -> None:
    found = suggestions(
        lambda x: constrained(x * 2, ("data", "model"), None, None), array((16, 64, 64), None, "data", "model")
    )
    one = by_title(found, "go through `P('data', None, 'model')`")
    # 16 x 32 x 16 floats are 32 KiB: 7 times that when gathered; a half and three quarters in two all-to-alls.
    assert one.modelled_bytes == (16 + 24 - 7 * 32) * KIB
    assert one.checked is not None
    assert (one.checked.before_bytes, one.checked.after_bytes) == (7 * 32 * KIB, 40 * KIB)


def summed(x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.nn.relu(x @ w)


def test_a_sum_is_scattered_where_each_device_can_go_on_with_a_piece() -> None:
    arguments = array((512, 256), None, "model"), array((256, 512), "model", None)
    # The partial result is 512 x 512 floats, 1 MiB. All-reduce: 1.5 MiB. Reduce-scatter: 0.75 MiB.
    one = by_title(suggestions(summed, *arguments, is_cpu=False), "constrain `x @ w`")
    assert one.title.endswith("to P('model', None)")
    assert one.modelled_bytes == -768 * KIB


def test_it_is_not_suggested_for_the_cpu_which_sums_all_and_cuts() -> None:
    found = suggestions(summed, array((512, 256), None, "model"), array((256, 512), "model", None))
    assert not [one for one in found if one.title.startswith("constrain")]


def test_the_constraint_on_a_product_binds_its_gradient_too() -> None:
    def loss(x: jax.Array, w: jax.Array) -> jax.Array:
        return (jnp.tanh(x @ w) ** 2).sum()

    arguments = array((512, 256), None, "model"), array((256, 512), "model", None)
    record = pi.inspect(jax.grad(loss, argnums=(0, 1)), *arguments)
    program = copied(record.data).program
    options = ConstraintOptions(program, ValueNames(program)).find(cost_of(program, {}, is_cpu=False))
    one = next(option for option in options if option.title.startswith("constrain"))
    product, gradient = (program.ops[edit.index] for edit in one.edits)
    assert "binds its gradient too" in one.words
    # Both products of the backward pass multiply with the gradient: that for x, and that for w.
    users = [op.kind for op in program.ops if gradient.results[0] in op.operands]
    assert (product.kind, users) == ("dot_general", ["dot_general", "dot_general"])


def product(x: jax.Array, w: jax.Array) -> jax.Array:
    return x @ w


def test_one_call_of_a_function_is_told_from_another() -> None:
    def two(x: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
        first = jnp.tanh(product(x, w))
        return product(first, v)

    arguments = array((64, 64), "data", None), array((64, 64), "data", "model"), array((64, 64), "model", "data")
    record = pi.inspect(two, *arguments)
    program = copied(record.data).program
    (one,) = ConstraintOptions(program, ValueNames(program)).kept_axes(1)
    # Of the two products one is constrained: the line of the product alone would stand for both.
    assert len(one.edits) == 1
    assert f"test_suggestions.py:{_line_of(product) + 1}, called at line {_line_of(two) + 2})" in one.title


def test_a_function_called_on_its_own_line_is_told_by_that_line_alone() -> None:
    def asked(w: jax.Array, x: jax.Array) -> tuple[Any, jax.Array]:
        held = jax.tree.map(lambda p: jax.lax.with_sharding_constraint(2 * p, named(None, None)), {"w": w})
        return held, x * 3

    record = pi.inspect(asked, array((64, 64), "data", None), array((64, 64), "data", None))
    (cause,) = (row.cause for row in record.collectives)
    assert cause is not None
    assert f"(test_suggestions.py:{_line_of(asked) + 1}) asks for" in cause.sentence


def _line_of(function: Callable[..., Any]) -> int:
    return function.__code__.co_firstlineno


def test_what_such_a_constraint_saves_forward_and_costs_backward_is_one_net_figure() -> None:
    def loss(x: jax.Array, w: jax.Array) -> jax.Array:
        return (jnp.tanh(x @ w) ** 2).sum()

    # The scattered sum saves 0.75 MiB, and the gradient must be gathered for it: 3 x 256 KiB. That is nothing.
    arguments = array((512, 256), None, "model"), array((256, 512), "model", None)
    found = suggestions(jax.grad(loss, argnums=(0, 1)), *arguments, is_cpu=False)
    assert not [one for one in found if one.title.startswith("constrain")]


def test_in_explicit_mode_no_argument_or_constraint_is_touched() -> None:
    explicit = Mesh(np.array(jax.devices()), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    spec = NamedSharding(explicit, PartitionSpec("x", None))
    with jax.set_mesh(explicit):
        found = suggestions(
            lambda x, w: jax.lax.dot(x, w, out_sharding=PartitionSpec("x", None)),
            S((512, 256), jnp.float32, sharding=spec),
            S((256, 128), jnp.float32, sharding=spec),
        )
    assert found == ()


# ---------------------------------------------------------------- the model


def test_a_collective_in_a_scan_is_modelled_once_per_turn() -> None:
    def scan(x: jax.Array, ws: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, ws)[0]

    record = pi.inspect(scan, array((64, 256), None, "model"), array((5, 256, 256), None, "model", None))
    trial = copied(record.data)
    assert set(trial.trips.values()) == {5}
    cost = cost_of(trial.program, trial.trips, is_cpu=True)
    assert cost.bytes % 5 == 0
    assert cost.bytes > 0


def test_half_precision_is_summed_in_single_on_the_cpu() -> None:
    arguments = (array(shape, *spec, dtype=jnp.bfloat16) for shape, spec in (((64, 64), (None, "model")), ((64, 64), ("model", None))))  # fmt: skip  # noqa: E501
    record = pi.inspect(lambda x, w: x @ w, *arguments)
    program = copied(record.data).program
    # 64 x 64 half words: 8 KiB, and 3/4 of twice that is sent.
    assert cost_of(program, {}, is_cpu=False).bytes == 12 * KIB
    assert cost_of(program, {}, is_cpu=True).bytes == 24 * KIB == sum(row.sent_bytes for row in record.collectives)


ROW = 2 * 8 * 4 * 4
"""Bytes of one row of an image f32[2, rows, 8, 4]."""


def convolved(size: int, stride: int = 1, dilation: int = 1, padding: str = "SAME") -> Any:
    def function(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.conv_general_dilated(
            x, w, (stride,) * 2, padding, rhs_dilation=(dilation,) * 2, dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    return function, (array((2, 64, 8, 4), None, "model"), array((size, size, 4, 4)))


def pooled(size: int, stride: int, padding: str = "SAME") -> Any:
    def function(x: jax.Array) -> jax.Array:
        window, steps = (1, size, 1, 1), (1, stride, 1, 1)
        return jax.lax.reduce_window(x, -np.inf, jax.lax.max, window, steps, padding)

    return function, (array((2, 64, 8, 4), None, "model"),)


@pytest.mark.parametrize(
    ("program", "rows"),
    [
        # A window of k rows that moves by s reads k - s rows beyond its piece, on both sides together.
        (convolved(3), 2),
        (convolved(5), 4),
        (convolved(4), 3),
        (convolved(1), 0),
        (convolved(3, stride=2), 1),
        (convolved(5, stride=2), 3),
        (convolved(2, stride=2, padding="VALID"), 0),
        # Two apart, three rows span five.
        (convolved(3, dilation=2), 4),
        (pooled(3, 1), 2),
        (pooled(5, 1), 4),
        (pooled(3, 2), 1),
        (pooled(2, 2, "VALID"), 0),
    ],
)
def test_the_halo_of_a_window_is_what_xla_sends(program: Any, rows: int) -> None:
    function, arguments = program
    record = pi.inspect(function, *arguments)
    needs = cost_of(copied(record.data).program, {}, is_cpu=True).needs
    assert sum(one.bytes for one in needs if one.need.kind == "halo") == rows * ROW
    sent = [row.sent_bytes for row in record.collectives if row.kind == "collective-permute"]
    assert sum(size or 0 for size in sent) == rows * ROW


def test_a_window_as_long_as_the_image_reads_at_most_what_the_piece_lacks() -> None:
    function, arguments = convolved(61)
    record = pi.inspect(function, *arguments)
    needs = cost_of(copied(record.data).program, {}, is_cpu=True).needs
    assert sum(one.bytes for one in needs if one.need.kind == "halo") == 48 * ROW


# ---------------------------------------------------------------- what is said


def suggestion(**changes: Any) -> Suggestion:
    plain = Suggestion(title="t", sentence="Do it.", change=(), forward_bytes=-40 * KIB**2, backward_bytes=15 * KIB**2)
    return replace(plain, **changes)


def test_an_unchecked_suggestion_says_so() -> None:
    assert str(suggestion()) == (
        "Do it.\n  modelled: -25 MiB per device per call (forward -40 MiB, backward +15 MiB)\n  not checked"
    )


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (1399, 1015, "tried: -384 MiB (1.37 GiB -> 1,015 MiB) per device per call (modelled, ring)"),
        (1399, 1451, "tried: +52 MiB (1.37 GiB -> 1.42 GiB) per device per call (modelled, ring), worse"),
        (1399, 1399, "tried: 0 B (1.37 GiB -> 1.37 GiB) per device per call (modelled, ring), changes nothing"),
    ],
)
def test_a_checked_one_says_what_came_of_it(before: int, after: int, said: str) -> None:
    checked = Checked(before_bytes=before * KIB**2, after_bytes=after * KIB**2)
    assert str(suggestion(checked=checked)).splitlines()[-1].strip() == said


def test_a_thousandth_is_nothing() -> None:
    assert Checked(before_bytes=10_000, after_bytes=9_990).verdict == "nothing"
    assert Checked(before_bytes=10_000, after_bytes=9_989).verdict == "helps"
    assert Checked(before_bytes=0, after_bytes=0).verdict == "nothing"
    assert Checked(before_bytes=0, after_bytes=1).verdict == "worse"


def test_a_suggestion_of_no_record_cannot_be_checked() -> None:
    with pytest.raises(ValueError, match="not handed out by a record"):
        suggestion().check()


def test_a_collective_in_a_loop_that_nobody_can_name_counts_once_and_proves_nothing() -> None:
    row = Collective(
        kind="all-gather", axes=("x",), groups=((0, 1),), dtype="f32", local_shape=(2,), operands=1,
        payload_bytes=8, wire_bytes=8, count=None,
    )  # fmt: skip
    found = compare_traffic((row,), ())
    assert found == Checked(
        before_bytes=8, after_bytes=0, before_by_kind=(("all-gather", 8),), after_by_kind=(), per_turn=None
    )
    assert found.verdict == "depends"


def test_an_argument_may_be_passed_as_what_takes_it_wants_it() -> None:
    """The result is asked for over another axis: an argument that has it, too, holds less than one that has none."""

    def added(x: jax.Array) -> jax.Array:
        return constrained(x + 1.0, "model", None)

    found = suggestions(added, array((64, 64), "data", None))
    assert [str(one).partition(":")[0] for one in found][:1] == [
        "Pass `x` as `P('model', None)` instead of `P('data', None)`"
    ]


def experts(t: jax.Array, gate: jax.Array, w1: jax.Array, w2: jax.Array, *, fixed: bool = False) -> jax.Array:
    p = jax.nn.softmax(jnp.einsum("gsd,de->gse", t, gate))
    chosen = jax.nn.one_hot(p.argmax(-1), 8)
    place = (jnp.cumsum(chosen, 1) - 1) * chosen
    d = chosen[..., None] * jax.nn.one_hot(place.sum(-1).astype(int), 8)[:, :, None, :]
    e = jnp.einsum("gsec,gsd->egcd", d, t)
    e = constrained(e, None, ("data", "model"), None, None) if fixed else e
    h = jax.nn.gelu(jnp.einsum("egcd,edf->egcf", constrained(e, "model", "data", None, None), w1))
    y = constrained(jnp.einsum("egcf,efd->egcd", h, w2), "model", "data", None, None)
    return jnp.einsum("gsec,egcd->gsd", d * p.max(-1)[..., None, None], y)


def test_a_constraint_has_the_dimensions_that_the_source_has() -> None:
    """`einsum` is a product and a transpose of that: the advice is for what is transposed, and helps as it says."""
    arguments = (
        array((8, 32, 16), ("data", "model"), None, None),
        array((16, 8)),
        array((8, 16, 32), "model", None, None),
        array((8, 32, 16), "model", None, None),
    )
    record = pi.inspect(jax.jit(experts), *arguments)
    (one,) = (own for own in record.suggestions if "gsec,gsd->egcd" in own.title)
    assert "`with_sharding_constraint(..., P(None, ('data', 'model'), None, None))` on" in one.sentence
    assert one.title.endswith("to P(None, ('data', 'model'), None, None)")
    fixed = pi.inspect(jax.jit(functools.partial(experts, fixed=True)), *arguments)
    before, after = (sum(row.sent_bytes or 0 for row in own.collectives) for own in (record, fixed))
    assert one.check().checked.after_bytes == after < before


def test_what_vmap_adds_is_not_written_in_a_constraint() -> None:
    """Where a function is mapped its arrays have no dimension for the batch: `spmd_axis_name` splits that one."""

    def looked_up(table: jax.Array, tokens: jax.Array, w: jax.Array, *, fixed: bool = False) -> jax.Array:
        def one(t: jax.Array) -> jax.Array:
            x = constrained(table[t], None, None) if fixed else table[t]
            return jnp.tanh(x @ w) @ w.T

        y = jax.vmap(one, spmd_axis_name="data" if fixed else None)(tokens)
        for _ in range(3):
            y = jnp.tanh(y @ w) @ w.T
        return y

    table, w = array((64, 32), None, "data"), array((32, 128), "data", "model")
    tokens = array((8, 16), "data", None, dtype=jnp.int32)
    record = pi.inspect(jax.jit(looked_up), table, tokens, w)
    (finding,) = (one for one in record.findings if one.kind == "axis_lost")
    assert finding.remedy.endswith("on it (without the dimensions that `vmap` adds, which its `spmd_axis_name` splits)")
    fixed = pi.inspect(jax.jit(functools.partial(looked_up, fixed=True)), table, tokens, w)
    before, after = (sum(row.sent_bytes or 0 for row in own.collectives) for own in (record, fixed))
    assert after < 0.7 * before


def test_one_argument_of_several_of_its_name_is_told_by_its_number() -> None:
    def pair(ws: list[jax.Array], x: jax.Array) -> jax.Array:
        return jnp.tanh(x @ ws[0]) @ ws[1]

    weights = [array((256, 256)), array((256, 128), "data", "model")]
    found = suggestions(pair, weights, array((512, 256), "data", None))
    assert any("`ws[1]`" in one.title for one in found)
    assert not any("ws[*]" in one.title for one in found)
