"""Every assertion: what passes, what fails and with which words, what matches nothing, and what is not known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect import testing
from pjit_inspect.errors import CheckFailedError, NothingMatchedError, UnknownAnswerError

P = PartitionSpec


def array(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def mlp(w1, w2, x):
    return jnp.tanh(x @ w1) @ w2


def arguments() -> tuple[jax.ShapeDtypeStruct, ...]:
    return array((256, 512), None, "model"), array((512, 256), "model"), array((64, 256), "data")


@cache
def record() -> pi.CompileRecord:
    return pi.inspect(mlp, *arguments())


@cache
def unread(folder: Path) -> pi.CompileRecord:
    """A program of which only the beginning is there."""
    text = record().hlo_text or ""
    (folder / "cut.txt").write_text(text[: text.rindex("\n}")])
    found = pi.open(folder / "cut.txt")
    assert isinstance(found, pi.CompileRecord)
    return found


BECAUSE = """\
  because    `jnp.tanh(x @ w1) @ w2` (test_assertions.py:LINE) sums over dimension 1 of
               `jnp.tanh(x @ w1)` and dimension 0 of `w2`. These 512 elements are split over
               `model`, so each device has a partial sum; the all-reduce adds the 4.
  known by   collectives are counted; sent is modelled (ring), per device and call"""


def said(check: Callable[[], None], kind: type[CheckFailedError] = CheckFailedError) -> str:
    with pytest.raises(kind) as caught:
        check()
    assert type(caught.value) is kind
    line = mlp.__code__.co_firstlineno + 1
    words = str(caught.value).replace(f"test_assertions.py:{line}", "test_assertions.py:LINE")
    assert all(len(own) <= 96 for own in str(caught.value).splitlines())
    return words


def test_collectives_that_are_expected_pass() -> None:
    testing.assert_collectives(mlp, *arguments(), expect={"all-reduce": {"model": 1}})
    testing.assert_collectives(record(), expect={"all-reduce": 1}, max_bytes={"model": "48 KiB"}, implicit=True)
    testing.assert_collectives(record(), expect={"all-reduce": (1, None)}, max_bytes="1 MiB")
    testing.assert_collectives(record(), expect={}, at="other.py")
    testing.assert_no_collectives(record(), axis="data")
    testing.assert_no_collectives(record(), kind="all-gather")
    testing.assert_no_collectives(record(), cause="full_replication")


def test_a_collective_that_is_not_expected_is_told_with_its_cause() -> None:
    assert said(lambda: testing.assert_collectives(record(), expect={}, hint=False)) == (
        "mlp: 1 all-reduce over model, expected none\n"
        "\n"
        "  found      1 x all-reduce over model  48 KiB  test_assertions.py:LINE\n"
        f"{BECAUSE}"
    )
    assert said(lambda: testing.assert_no_collectives(record(), axis="model", hint=False)) == (
        "mlp: 1 all-reduce, expected none over `model`; 48 KiB sent\n"
        "\n"
        "  found      1 x all-reduce over model  48 KiB  test_assertions.py:LINE\n"
        f"{BECAUSE}"
    )


def test_one_that_is_missing_is_told_beside_those_that_are_there() -> None:
    assert said(lambda: testing.assert_collectives(record(), expect={"all-reduce": {"model": 3}})) == (
        "mlp: 1 all-reduce over model, expected 3\n"
        "\n"
        "  found      1 x all-reduce over model  48 KiB  test_assertions.py:LINE\n"
        "  known by   collectives are counted; sent is modelled (ring), per device and call"
    )


def test_too_many_bytes_are_told_with_the_limit() -> None:
    words = said(lambda: testing.assert_collectives(record(), max_bytes={"model": "16 KiB"}, hint=False))
    assert words.startswith("mlp: 48 KiB sent over model, at most 16 KiB allowed (3 times)\n\n  found ")
    assert words.endswith(BECAUSE)


def test_what_is_not_known_hides_nothing_that_is_proven() -> None:
    def step(w, x):
        # XLA knows no number of turns: what the loop sends over `model` is unknown.
        y = jax.lax.while_loop(lambda y: y[0, 0] < 9, lambda y: jnp.tanh(y @ w), x)
        return (x**2).sum(0) + y[0]

    found = pi.inspect(step, array((64, 64), "model"), array((64, 64), "data", "model"))
    assert any(row.count is None for row in found.collectives)
    testing.assert_collectives(found, max_bytes="1 GiB", unknown="ok")
    said(lambda: testing.assert_collectives(found, max_bytes="1 GiB"), UnknownAnswerError)
    axes = next(row.axes_text for row in found.collectives if row.count is None)
    proven = next(row.axes_text for row in found.collectives if row.count and row.axes_text != axes)
    words = said(
        lambda: testing.assert_collectives(found, max_bytes={axes: "1 GiB", proven: 0}, unknown="ok", hint=False)
    )
    assert f" sent over {proven}, at most 0 B allowed" in words


def test_an_axis_or_a_kind_that_does_not_exist_is_no_success() -> None:
    assert said(lambda: testing.assert_collectives(record(), max_bytes={"modle": 1}), NothingMatchedError) == (
        "mlp: the mesh has no axis `modle`; its axes are data, model\n"
        "\n"
        "  here are   1 x all-reduce over model\n"
        "  note       a check that matches nothing says nothing, so it fails"
    )
    said(lambda: testing.assert_no_collectives(record(), axis="modle"), NothingMatchedError)
    with pytest.raises(ValueError, match="there is no kind 'all-reduced'"):
        testing.assert_no_collectives(record(), kind="all-reduced")
    with pytest.raises(ValueError, match="is no size"):
        testing.assert_collectives(record(), max_bytes="2 MB")


def test_what_is_not_known_is_no_success_unless_it_may_be(tmp_path: Path) -> None:
    cut = unread(tmp_path)
    for check in (
        lambda **own: testing.assert_collectives(cut, expect={}, **own),
        lambda **own: testing.assert_no_collectives(cut, **own),
        lambda **own: testing.assert_overlapped(cut, **own),
        lambda **own: testing.assert_no_warnings(cut, **own),
        lambda **own: testing.assert_no_advice(cut, **own),
        lambda **own: testing.assert_same_program(cut, cut, **own),
    ):
        words = said(check, UnknownAnswerError)
        assert "  note       what is not known is no success; unknown='ok' lets it pass" in words
        check(unknown="ok")
    # Of a program that the record does not even begin to have, nothing is read into its absence.
    with pytest.raises(ValueError, match="expected 'fail' or 'ok'"):
        testing.assert_no_collectives(cut, unknown="pass")


def test_what_runs_alone_is_told() -> None:
    words = said(lambda: testing.assert_overlapped(record()))
    assert words.startswith("mlp: 1 of 1 collective runs alone\n\n  expected   a kernel beside each\n")
    said(lambda: testing.assert_overlapped(record(), axis="data"), NothingMatchedError)


def test_arrays_are_split_as_expected() -> None:
    testing.assert_sharded(record(), "w1", over="model")
    testing.assert_sharded("w*", record(), over="model", min_fraction=0.99)
    testing.assert_sharded(mlp, *arguments(), path="x", over="data")
    testing.assert_specs(record(), {"w1": P(None, "model"), "x": P("data"), "result": ("data", None)})
    testing.assert_specs({"w2": P("model", None)}, record())
    assert said(lambda: testing.assert_sharded(record(), "x", over="model")) == (
        "mlp: 0.0% of `x` is split over `model`\n"
        "\n"
        "  expected   at least 100.0% of 64 KiB\n"
        "  found      x  float32[64,256]  P('data', None)  64 KiB"
    )
    assert said(lambda: testing.assert_specs({"w1": P("model")}, record())) == (
        "mlp: 1 array split differently\n\n  found      w1  P(None, 'model'), not P('model')"
    )
    assert said(lambda: testing.assert_sharded(record(), "w3", over="model"), NothingMatchedError).startswith(
        "mlp: no argument or result is called w3\n\n  near       w1  float32[256,512]  P(None, 'model')\n"
    )
    said(lambda: testing.assert_sharded(record(), "w1", over="fsdp"), NothingMatchedError)


def test_what_every_device_holds_is_told() -> None:
    testing.assert_no_full_replication(record(), min_bytes="1 KiB")
    whole = array((256, 512))
    assert said(lambda: testing.assert_no_full_replication(mlp, whole, *arguments()[1:], min_bytes="1 KiB")) == (
        "mlp: every device holds all of 1 array, 512 KiB\n"
        "\n"
        "  expected   none of at least 1 KiB\n"
        "  found      w1  float32[256,512]  P(None, None)  512 KiB"
    )
    testing.assert_no_full_replication(mlp, whole, *arguments()[1:], min_bytes="1 KiB", allow=("w1",))
    said(lambda: testing.assert_no_full_replication(jnp.tanh, jnp.ones(9)), NothingMatchedError)


def test_donation_is_asked_for_and_used() -> None:
    def update(p, g):
        return p - g

    p = array((64, 64), "data")
    testing.assert_donated(jax.jit(update, donate_argnums=0), p, p, path="p")
    assert said(lambda: testing.assert_donated(update, p, p, path="p")) == (
        "update: the memory of 1 argument is not reused, 8 KiB per device\n"
        "\n"
        "  found      p  is not donated\n"
        "  remove     name them in donate_argnums or donate_argnames of jax.jit"
    )


def test_memory_has_a_limit() -> None:
    testing.assert_memory(record(), peak="1 MiB")
    testing.assert_fits(record(), "tpu:v5e")
    words = said(lambda: testing.assert_memory(record(), peak="100 KiB"))
    assert words.startswith("mlp: 352 KiB at the peak, at most 100 KiB allowed\n\n  found      128 KiB  w1\n")


def test_warnings_and_advice_are_told() -> None:
    testing.assert_no_warnings(record())
    testing.assert_no_advice(record())

    def gathered(w1, w2, x):
        return jnp.tanh(jax.lax.with_sharding_constraint(x @ w1, P())) @ w2

    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    with jax.set_mesh(mesh):
        words = said(lambda: testing.assert_no_advice(gathered, *arguments()))
    assert words.startswith("gathered: a change sends ")
    assert "  remove     test_assertions.py:" in words


def test_two_programs_are_compared() -> None:
    testing.assert_same_program(mlp, lambda a, b, c: jnp.tanh(c @ a) @ b, *arguments())
    other = pi.inspect(mlp, arguments()[0], array((512, 256), None, "model"), arguments()[2])
    assert said(lambda: testing.assert_same_program(record(), other)).startswith("mlp: ")


def test_a_log_is_checked_as_a_whole() -> None:
    jax.clear_caches()
    with pi.capture() as log:
        jax.jit(mlp).lower(*arguments()).compile()
    testing.assert_collectives(log, expect={"all-reduce": 1})
    testing.assert_collectives(log, expect={"all-reduce": 1}, name="mlp")
    assert said(lambda: testing.assert_no_collectives(log, name="mpl"), NothingMatchedError) == (
        "the log has no record of 'mpl'\n"
        "\n"
        "  here are   1 records: mlp\n"
        "  note       a check that matches nothing says nothing, so it fails"
    )
    with pytest.raises(TypeError, match="takes no arguments of a function"):
        testing.assert_collectives(log, 1, expect={})


def test_ipython_shows_the_users_line_and_the_message() -> None:
    with pytest.raises(CheckFailedError) as caught:
        testing.assert_collectives(record(), expect={}, hint=False)
    lines = caught.value._render_traceback_()
    assert lines[0].endswith(": testing.assert_collectives(record(), expect={}, hint=False)")
    assert lines[2] == f"CheckFailedError: {caught.value}"


def test_a_long_message_goes_on_in_a_file() -> None:
    from pjit_inspect.testing.failure import failure

    error = failure("much", ("found", [f"line {number}" for number in range(40)]))
    lines = str(error).splitlines()
    assert len(lines) == 26
    path = Path(lines[-1].rpartition(" in ")[2])
    assert path.read_text().count("\n") == 42
    path.unlink()
