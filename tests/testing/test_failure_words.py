"""The words of each assertion where it fails, where nothing matches, and where the answer is not known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
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
ASKED = "  note       what is not known is no success; unknown='ok' lets it pass"
NOTHING = "  note       a check that matches nothing says nothing, so it fails"
NEAR = f"""\
mlp: no argument or result is called w3

  near       w1  float32[256,512]  P(None, 'model')
             w2  float32[512,256]  P('model', None)
{NOTHING}"""
NO_DATA = f"""\
mlp: no collective over `data`

  here are   1 x all-reduce over model
{NOTHING}"""
CUT = f"""\
mlp: which collectives there are is not known

  because    a computation has no end
{ASKED}"""


def array(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def mlp(w1, w2, x):
    return jnp.tanh(x @ w1) @ w2


@cache
def record() -> pi.CompileRecord:
    return pi.inspect(mlp, array((256, 512), None, "model"), array((512, 256), "model"), array((64, 256), "data"))


@cache
def without_hlo() -> pi.CompileRecord:
    return pi.CompileRecord(replace(record().data, hlo=None, memory=None, buffers=None))


@cache
def without_shardings() -> pi.CompileRecord:
    data = record().data
    return pi.CompileRecord(replace(data, inputs=tuple(replace(one, sharding=None) for one in data.inputs)))


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> pi.CompileRecord:
    """A program of which only the beginning is there."""
    text, path = record().hlo_text or "", tmp_path_factory.mktemp("cut") / "cut.txt"
    path.write_text(text[: text.rindex("\n}")])
    found = pi.open(path)
    assert isinstance(found, pi.CompileRecord)
    return found


def words(check: Callable[..., None], kind: type[CheckFailedError]) -> str:
    with pytest.raises(kind) as caught:
        check()
    assert type(caught.value) is kind
    if kind is UnknownAnswerError:
        check(unknown="ok")
    return str(caught.value)


FAILS: dict[str, tuple[Callable[..., None], str]] = {
    "memory": (
        lambda: testing.assert_memory(record(), peak="100 KiB"),
        "mlp: 352 KiB at the peak, at most 100 KiB allowed\n\n"
        "  found      128 KiB  w1\n"
        "             128 KiB  w2\n"
        "             32 KiB  x\n"
        "             32 KiB  jnp.tanh(x @ w1) @ w2\n"
        "             32 KiB  jnp.tanh(x @ w1) @ w2, all-reduce over model\n"
        "  known by   counted",
    ),
    "fits": (
        lambda: testing.assert_fits(jax.jit(lambda x: x + 1), array((1 << 17, 1 << 17)), target="tpu:v5e"),
        "<lambda>: does not fit v5e: 128 of 15.75 GiB (modelled: temporaries as another backend schedules\nthem)",
    ),
    "replication": (
        lambda: testing.assert_no_full_replication(jax.jit(jnp.tanh), array((256, 256)), min_bytes="256 KiB"),
        "tanh: every device holds all of 2 arrays, 512 KiB\n\n"
        "  expected   none of at least 256 KiB\n"
        "  found      x  float32[256,256]  P(None, None)  256 KiB\n"
        "             result  float32[256,256]  P(None, None)  256 KiB",
    ),
    "same program": (
        lambda: testing.assert_same_program(record(), record().what_if(specs={"w1": P("data", "model")})),
        "",
    ),
}  # fmt: skip
NO_MATCH: dict[str, tuple[Callable[..., None], str]] = {
    "collectives": (
        lambda: testing.assert_collectives(record(), expect={"all-gather": {"fsdp": 1}}),
        "mlp: the mesh has no axis `fsdp`; its axes are data, model\n\n"
        f"  here are   1 x all-reduce over model\n{NOTHING}",
    ),
    "overlapped": (lambda: testing.assert_overlapped(record(), axis="data"), NO_DATA),
    "sharded": (lambda: testing.assert_sharded(record(), "w3", over="model"), NEAR),
    "specs": (lambda: testing.assert_specs(record(), {"w3": P()}), NEAR),
    "replication": (lambda: testing.assert_no_full_replication(record(), min_bytes=1, allow=("w3",)), NEAR),
    "one device": (
        lambda: testing.assert_no_full_replication(jnp.tanh, jnp.ones(9)),
        "tanh: it runs on one device",
    ),
    "donated": (lambda: testing.assert_donated(record(), "w3"), NEAR),
}  # fmt: skip
UNKNOWN: dict[str, tuple[Callable[..., None], str]] = {
    "sharded": (
        lambda **own: testing.assert_sharded(without_shardings(), "w1", over="model", **own),
        f"mlp: the sharding or the size of w1 is not known\n\n  because    the record does not have it\n{ASKED}",
    ),
    "specs": (
        lambda **own: testing.assert_specs(without_shardings(), {"w1": P(None, "model")}, **own),
        f"mlp: the sharding or the size of w1 is not known\n\n  because    the record does not have it\n{ASKED}",
    ),
    "replication": (
        lambda **own: testing.assert_no_full_replication(without_shardings(), min_bytes=1, **own),
        f"mlp: the sharding or the size of w1 is not known\n\n  because    the record does not have it\n{ASKED}",
    ),
    "donated": (
        lambda **own: testing.assert_donated(donated_without_hlo(), "x", **own),
        f"<lambda>: what results reuse is not known\n\n  because    no optimized program\n{ASKED}",
    ),
    "memory": (
        lambda **own: testing.assert_memory(without_hlo(), peak="1 MiB", **own),
        f"mlp: the memory at the peak is not known\n\n  because    the record has no optimized program\n{ASKED}",
    ),
    "fits": (
        lambda **own: testing.assert_fits(without_hlo(), "tpu:v5e", **own),
        "mlp: whether it fits v5e is not known\n\n"
        "  because    may fit v5e: 320 KiB of 15.75 GiB (at least: arguments and results alone)\n"
        f"{ASKED}",
    ),
}  # fmt: skip


def donated_without_hlo() -> pi.CompileRecord:
    found = pi.inspect(jax.jit(lambda x: x * 2, donate_argnums=0), array((64, 64), "data"))
    return pi.CompileRecord(replace(found.data, hlo=None))


@pytest.mark.parametrize("name", FAILS)
def test_what_fails(name: str) -> None:
    check, said = FAILS[name]
    found = words(check, CheckFailedError)
    assert found == said or (not said and found.startswith("mlp: "))


@pytest.mark.parametrize("name", NO_MATCH)
def test_what_matches_nothing(name: str) -> None:
    check, said = NO_MATCH[name]
    assert words(check, NothingMatchedError) == said


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_known(name: str) -> None:
    check, said = UNKNOWN[name]
    assert words(check, UnknownAnswerError) == said


def test_of_a_program_that_is_cut_off_nothing_is_known(cut: pi.CompileRecord) -> None:
    checks: tuple[tuple[Callable[..., None], str], ...] = (
        (lambda **own: testing.assert_collectives(cut, expect={}, **own), CUT),
        (lambda **own: testing.assert_no_collectives(cut, **own), CUT),
        (lambda **own: testing.assert_overlapped(cut, **own), CUT),
        (
            lambda **own: testing.assert_no_warnings(cut, **own),
            f"mlp: what XLA warned of is not known\n\n  because    the partitioner was not asked\n{ASKED}",
        ),
        (
            lambda **own: testing.assert_no_advice(cut, **own),
            "mlp: whether a change would help is not known\n\n"
            f"  because    the program is incomplete: a computation has no end\n{ASKED}",
        ),
        (
            lambda **own: testing.assert_same_program(cut, cut, **own),
            f"mlp: its program is not known\n\n  because    a computation has no end\n{ASKED}",
        ),
    )
    for check, said in checks:
        assert words(check, UnknownAnswerError) == said


def test_warnings_of_xla_are_told() -> None:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)

    def turn(x):
        return jax.lax.with_sharding_constraint(jnp.sin(x), NamedSharding(mesh, P(("data", "model"), None, None)))

    found = words(lambda: testing.assert_no_warnings(turn, array((16, 8, 16), None, "data", "model")), CheckFailedError)
    assert found.startswith("turn: XLA warned 1 time\n\n  found      involuntary full rematerialization: ")


def test_a_kernel_beside_each_collective_passes() -> None:
    found = pi.open(Path(__file__).parents[1] / "data" / "collective_matmul.v5e_2x4.hlo.gz")
    assert isinstance(found, pi.CompileRecord)
    hidden = [row for row in found.collectives if row.overlap_count]
    assert hidden
    testing.assert_overlapped(found, kind=hidden[0].kind)
