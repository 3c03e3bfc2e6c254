"""XLA's shardings are read as what they mean: which tile each device holds, as axes of the mesh."""

from __future__ import annotations

import pytest
from causes.meshes import CUBE, MESH

from operations.xla_dump import XlaDump, operations_of_collectives
from operations.xla_shardings_of import xla_shardings_of

_LINE = '  %a.1 = f32[16,8]{1,0} add(%b, %c)SHARDING, metadata={op_name="jit(f)/add" stack_frame_id=2}'


def _read(sharding: str, mesh: object = MESH) -> tuple[tuple[str, ...], ...]:
    line = _LINE.replace("SHARDING", f", sharding={{{sharding}}}" if sharding else "")
    ((key, specs),) = xla_shardings_of(line, mesh).items()  # pyright: ignore[reportArgumentType]
    assert key == ("jit(f)/add", "f32", (16, 8))
    (spec,) = specs
    return spec


@pytest.mark.parametrize(
    ("sharding", "spec"),
    [
        ("", ((), ())),
        ("replicated", ((), ())),
        ("maximal device=0", ((), ())),
        ("devices=[2,4]<=[8]", (("data",), ("model",))),
        ("devices=[4,2]<=[2,4]T(1,0)", (("model",), ("data",))),
        ("devices=[2,1,4]<=[8] last_tile_dim_replicate", (("data",), ())),
        ("devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate", ((), ("model",))),
        ("devices=[8,1]<=[8]", (("data", "model"), ())),
        ("devices=[8,1]<=[2,4]T(1,0)", (("model", "data"), ())),
        ("devices=[8,1]0,1,2,3,4,5,6,7", (("data", "model"), ())),
        ("devices=[2,1,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate", (("model:(1)2",), ())),
        ("devices=[4,1,2]<=[2,2,2]T(0,2,1) last_tile_dim_replicate", (("data", "model:(2)2"), ())),
        ("devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}", ((), ())),
        ("mesh['data'=2,'model'=4], [{'model'}, {}]", (("model",), ())),
        ("mesh['data'=2,'model'=4], [{'data', 'model'}, {}]", (("data", "model"), ())),
        ("mesh['data'=2,'model'=4], [{}, {'model':(1)2}], replicated={'data'}", ((), ("model:(1)2",))),
    ],
)
def test_a_sharding_is_read_as_axes(sharding: str, spec: tuple[tuple[str, ...], ...]) -> None:
    assert _read(sharding) == spec


def test_three_axes_are_told_apart() -> None:
    assert _read("devices=[2,2,2]<=[2,2,2]T(2,0,1) last_tile_dim_replicate", CUBE) == (("tp",), ("data",))


@pytest.mark.parametrize("sharding", ["devices=[2,4]0,1,2,4,3,5,6,7", "mesh['x'=8], [{'x'}, {}]", "something new"])
def test_what_is_not_understood_is_an_error(sharding: str) -> None:
    with pytest.raises(ValueError, match=r"sharding|axes"):
        _read(sharding)


def test_tuples_and_what_has_no_name_are_left_out() -> None:
    text = "\n".join(
        [
            "  %t = (f32[4]{0}, f32[4]{0}) tuple(%a, %b), sharding={{replicated}, {devices=[8]<=[8]}}",
            "  %c = f32[] constant(0)",
        ]
    )
    assert not xla_shardings_of(text, MESH)


def test_a_collective_is_made_for_the_instructions_of_its_name() -> None:
    propagated = '  %d = f32[16,8]{1,0} dot(%a, %b), metadata={op_name="jit(f)/dot_general" stack_frame_id=2}'
    collective = '  %r = f32[8,8]{1,0} all-reduce(%p), channel_id=3, metadata={op_name="jit(f)/dot_general"}'
    nameless = "  %g = f32[16,8]{1,0} all-gather(%r), channel_id=4"
    made_for = operations_of_collectives(XlaDump(propagated=propagated, partitioned=f"{collective}\n{nameless}"))
    assert (made_for[3].kind, made_for[3].opcodes) == ("all-reduce", {"dot"})
    assert (made_for[4].kind, made_for[4].name, made_for[4].opcodes) == ("all-gather", "", frozenset())
