"""In what two programs differ, in the user's words; each expectation is a sentence written by hand."""

from __future__ import annotations

import pytest
from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.processes.program_differences import ProgramSide, collective_differences, program_differences
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Device, Mesh
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.words.sentence import Sentence, code, name, place, spec


def record(**changes) -> RecordData:
    fields = {
        "name": "step",
        "mesh": Mesh(axis_names=("x",), shape=(2,), device_ids=(0, 1)),
        "devices": tuple(Device(id=k, platform="cpu", kind="cpu") for k in (0, 1)),
        "inputs": (array("w"),),
        "outputs": (array("result"),),
        "flags": {"jax_enable_x64": "False"},
        "versions": {"jaxlib": "0.10.2"},
    }
    return RecordData(**(fields | changes))


def array(path: str, shape: tuple[int, ...] = (8,), tiles: int = 2, **changes) -> ArrayLayout:
    spec = ("x",) if tiles == 2 else (None,)
    sharding = Sharding(spec=spec, tiles=(tiles,), device_ids=(0, 1), tile_of=(0, tiles - 1))
    return ArrayLayout(**({"path": path, "dtype": "float32", "global_shape": shape, "sharding": sharding} | changes))


def told(lines: tuple[str, ...] = (), other: tuple[str, ...] = (), **changes) -> tuple[Sentence, ...]:
    one = ProgramSide(process=0, data=record(), lines=lines, place=lambda number: Frame(file="a.py", line=number))
    two = ProgramSide(process=3, data=record(**changes), lines=other)
    return program_differences(one, two)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"inputs": (array("w", (16,)),)}, "`w` is f32[8] on process 0, f32[16] on process 3"),
        ({"inputs": (array("w", dtype="int8"),)}, "`w` is f32[8] on process 0, s8[8] on process 3"),
        (
            {"inputs": (array("w", tiles=1),)},
            "`w` is sharded `P('x') on x=2` on process 0, `P(None) on x=2` on process 3",
        ),
        ({"inputs": (array("w", donated=True),)}, "`w` is not donated on process 0, donated on process 3"),
        ({"inputs": ()}, "the number of inputs is 1 on process 0, 0 on process 3"),
        ({"outputs": (array("result", (4,)),)}, "`result` is f32[8] on process 0, f32[4] on process 3"),
        (
            {"devices": tuple(Device(id=k, platform="cpu", kind="cpu") for k in (1, 0))},
            "the order of the devices differs: 0 1 on process 0, 1 0 on process 3",
        ),
        (
            {"devices": (Device(id=7, platform="cpu", kind="cpu"),)},
            "the devices differ: 0 1 on process 0, 7 on process 3",
        ),
        (
            {"mesh": Mesh(axis_names=("y",), shape=(2,), device_ids=(0, 1))},
            "the mesh differs: `x=2` on process 0, `y=2` on process 3",
        ),
        (
            {"mesh": Mesh(axis_names=("x",), shape=(2,), device_ids=(1, 0))},
            "the mesh has its devices in another order: 0 1 on process 0, 1 0 on process 3",
        ),
        ({"flags": {}}, "the flag `jax_enable_x64` is `False` on process 0, not set on process 3"),
        ({"versions": {"jaxlib": "0.9.2"}}, "the version of `jaxlib` is `0.10.2` on process 0, `0.9.2` on process 3"),
    ],
)
def test_each_difference_is_a_sentence_with_both_values(changes: dict, sentence: str):
    assert told(**changes) == (sentence,)
    assert not any("`" in phrase.text for phrase in told(**changes)[0].phrases)


def test_arrays_are_names_shardings_specs_and_operations_code_at_a_place():
    (moved,) = told(inputs=(array("w", tiles=1),))
    assert [p for p in moved.phrases if p.kind != "word"] == [name("w"), spec("P('x') on x=2"), spec("P(None) on x=2")]
    (operation,) = told(("a", "b"), ("a", "c"))
    assert [p for p in operation.phrases if p.kind != "word"] == [code("b"), place("a.py:1"), code("c")]


def test_names_of_arguments_are_no_difference():
    assert told(inputs=(array("v"),)) == ()


def test_the_first_operation_that_differs_is_told_with_its_place():
    assert told(("a", "b", "c"), ("a", "x", "y")) == (
        "the first operation that differs is `b` (a.py:1) on process 0, `x` on process 3",
    )
    assert told(("a", "b"), ("a",)) == (
        "the first operation that differs is `b` (a.py:1) on process 0, nothing more on process 3",
    )
    assert told(("a",), ("a",)) == ()


def test_operations_that_follow_from_another_shape_are_not_told():
    assert len(told(("a",), ("b",), inputs=(array("w", (16,)),))) == 1


HLO = """HloModule jit_f, is_scheduled=true

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %first = f32[8]{0} all-reduce(%p), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=%add
  %kernel = f32[8]{0} negate(%first)
  ROOT %second = f32[8]{0} collective-permute(%kernel), channel_id=2, source_target_pairs={{0,1},{1,0}}
}
"""


def module(text: str = HLO) -> HloModule:
    return parse_hlo_text(text)


def optimized(text: str) -> tuple[str, ...]:
    sides = (ProgramSide(process=process, data=record()) for process in (0, 1))
    return collective_differences(*sides, module(), module(text))


def test_other_kernels_and_names_are_no_difference():
    assert optimized(HLO) == ()
    assert optimized(HLO.replace("negate", "abs").replace("%kernel", "%fusion").replace("%first", "%other")) == ()


def test_the_first_collective_that_differs_after_optimization_is_told():
    (groups,) = optimized(HLO.replace("{{0,1},{2,3}}", "{{0,2},{1,3}}"))
    assert groups.startswith("collective 0 after optimization is `all-reduce(f32[8]) {{0,1},{2,3}} channel 1`")
    (pairs,) = optimized(HLO.replace("{{0,1},{1,0}}", "{{0,1}}"))
    assert pairs == (
        "collective 1 after optimization is `collective-permute(f32[8]) 0>1,1>0 channel 2` on process 0, "
        "`collective-permute(f32[8]) 0>1 channel 2` on process 1"
    )
    permute = "collective-permute(%kernel), channel_id=2, source_target_pairs={{0,1},{1,0}}"
    (fewer,) = optimized(HLO.replace(permute, "abs(%kernel)"))
    assert fewer.endswith("nothing more` on process 1")
