"""HLO with shardings becomes the program before partitioning. Expectations are read off the texts."""

from __future__ import annotations

from typing import Any

import pytest
from data.hlo_texts import parse_hlo_text

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import Place, ShardedProgram, Span
from pjit_inspect.parse.sharding.propagated_hlo import NumberedNames, read_borders, read_propagated_hlo

MESH = Mesh(axis_names=("data", "model"), shape=(2, 4), device_ids=tuple(range(8)))

LOOP = """HloModule jit_f, num_partitions=8

%body (b: (s32[], f32[16,32])) -> (s32[], f32[16,32]) {
  %b = (s32[], f32[16,32]) parameter(0), sharding={{replicated}, {devices=[2,1,4]<=[8] last_tile_dim_replicate}}
  %i = s32[] get-tuple-element(%b), index=0
  %x = f32[16,32] get-tuple-element(%b), index=1
  %sin = f32[16,32] sine(%x), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}, metadata={op_name="jit(f)/sin"}
  ROOT %t = (s32[], f32[16,32]) tuple(%i, %sin)
}

%cond (c: (s32[], f32[16,32])) -> pred[] {
  %c = (s32[], f32[16,32]) parameter(0), sharding={{replicated}, {devices=[2,1,4]<=[8] last_tile_dim_replicate}}
  %j = s32[] get-tuple-element(%c), index=0
  %three = s32[] constant(3)
  ROOT %lt = pred[] compare(%j, %three), direction=LT
}

ENTRY %main (p: f32[16,32]) -> f32[16,32] {
  %zero = s32[] constant(0)
  %p = f32[16,32] parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}, metadata={op_name="x"}
  %in = (s32[], f32[16,32]) tuple(%zero, %p)
  %loop = (s32[], f32[16,32]) while(%in), condition=%cond, body=%body
  ROOT %out = f32[16,32] get-tuple-element(%loop), index=1
}
"""


def read(text: str, meshes: list[Mesh], **more: Any) -> ShardedProgram:
    return read_propagated_hlo(parse_hlo_text(text), meshes, **more).program


def test_tuples_are_taken_apart_and_regions_are_linked() -> None:
    program = read(LOOP, [MESH], result_names=["result"])
    loop = next(op for op in program.ops if op.kind == "while")
    sine = next(op for op in program.ops if op.kind == "sine")
    assert [op.kind for op in program.ops].count("tuple") == 0
    assert program.ops[sine.parent or 0] is loop
    assert [(boundary.name, boundary.spec) for boundary in program.inputs] == [("x", (("data",), ()))]
    assert [(boundary.name, boundary.value) for boundary in program.outputs] == [("result", loop.results[1])]
    # In: the argument to both regions' parameters. Out: the sine to the loop's result; the condition's answer to none.
    into = [target for source, target in program.links if source == program.inputs[0].value]
    assert len(into) == 2
    assert sine.operands[0] in into
    assert (sine.results[0], loop.results[1]) in program.links
    compared = next(op for op in program.ops if op.kind == "compare").results[0]
    assert compared not in {source for source, _ in program.links}


def test_what_was_left_to_the_partitioner_is_not_required() -> None:
    program = read(LOOP, [MESH], free_inputs=[True], free_outputs=[True])
    assert (program.inputs[0].spec, program.outputs[0].spec) == (None, None)


SLICED = """HloModule jit_f, num_partitions=8

ENTRY %main (y: f32[8], x: f32[16,64]) -> (f32[16,3], f32[8]) {
  %x = f32[16,64] parameter(1), sharding={devices=[2,4]<=[8]}
  %y = f32[8] parameter(0), sharding={devices=[4,2]<=[2,4]T(1,0) last_tile_dim_replicate}
  %three = f32[16,3] slice(%x), slice={[0:16], [0:3]}, sharding={devices=[2,4]<=[8]}
  ROOT %t = (f32[16,3], f32[8]) tuple(%three, %y), sharding={SPLIT, {replicated}}
}
""".replace("SPLIT", "{devices=[2,1,4]<=[8] last_tile_dim_replicate}")


def test_arguments_and_results_alone_are_read_in_their_order() -> None:
    borders = read_borders(parse_hlo_text(SLICED), [MESH], partitions=8)
    assert borders.inputs == ((("model",),), (("data",), ("model",)))


def test_a_result_is_split_as_it_must_be_and_not_as_what_it_is_computed_from() -> None:
    # Four devices do not divide three columns.
    assert read_borders(parse_hlo_text(SLICED), [MESH], partitions=8).outputs == ((("data",), ()), ((),))


def test_an_instruction_without_a_sharding_is_not_split() -> None:
    program = read(LOOP, [MESH])
    loop = next(op for op in program.ops if op.kind == "while")
    assert program.values[loop.results[1]].spec == ((), ())


def test_tiles_that_follow_no_mesh_axis_say_so_and_still_count() -> None:
    reversed_rows = LOOP.replace("devices=[2,1,4]<=[8]", "devices=[2,1,4]4,5,6,7,0,1,2,3")
    program = read(reversed_rows, [MESH])
    assert program.values[program.inputs[0].value].spec == (("(2 tiles)",), ())
    assert program.local_shape(program.inputs[0].value) == (8, 32)


def test_without_a_mesh_every_split_is_nameless() -> None:
    program = read(LOOP, [])
    assert program.values[program.inputs[0].value].spec == (("(2 tiles)",), ())


def test_whole_axes_of_a_second_mesh_come_before_parts_of_the_first() -> None:
    # Four tiles of two neighbours: data and half of model in one mesh, a in the other.
    other = Mesh(axis_names=("a", "b"), shape=(4, 2), device_ids=tuple(range(8)))
    text = LOOP.replace("devices=[2,1,4]<=[8]", "devices=[4,1,2]<=[8]")
    first, both = read(text, [MESH]), read(text, [MESH, other])
    assert first.values[first.inputs[0].value].spec == (("data", "model:(1)2"), ())
    assert both.values[both.inputs[0].value].spec == (("a",), ())


def test_computations_nested_without_end_are_an_error() -> None:
    depth = 300
    calls = "".join(
        f"%f{k} (a: f32[]) -> f32[] {{\n  %a = f32[] parameter(0)\n  ROOT %r = f32[] {how}\n}}\n\n"
        for k in range(depth)
        for how in [f"call(%a), to_apply=%f{k - 1}" if k else "negate(%a)"]
    )
    text = f"HloModule m\n\n{calls}ENTRY %e (p: f32[]) -> f32[] {{\n  %p = f32[] parameter(0)\n"
    with pytest.raises(ParseError, match="too deeply"):
        read(f"{text}  ROOT %q = f32[] call(%p), to_apply=%f{depth - 1}\n}}\n", [MESH])


def test_text_that_is_no_program_is_an_error() -> None:
    with pytest.raises(ParseError):
        read("nothing", [MESH])


def test_what_a_users_request_became_is_a_request() -> None:
    asked = 'copy(%p), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}, metadata={op_name="jit(f)/'
    text = (
        "HloModule m, num_partitions=8\n\nENTRY %e (p: f32[16,32]) -> f32[16,32] {\n  %p = f32[16,32] parameter(0)\n"
        f'  %a = f32[16,32] {asked}sharding_constraint"}}\n'
        f'  %b = f32[16,32] {asked.replace("%p", "%a")}jit(inner)"}}\n'
        f'  ROOT %c = f32[16,32] {asked.replace("%p", "%b")}copy"}}\n}}\n'
    )
    kinds = [op.kind for op in read(text, [MESH]).ops]
    assert kinds == ["sharding_constraint", "sharding_constraint", "copy"]


def test_an_op_of_a_numbered_copy_has_the_name_and_place_that_it_had() -> None:
    frame, call = (Frame(file="a.py", line=line, function="f", columns=(4, 9)) for line in (3, 8))
    inner = Place(name="sin", frames=(frame,), spans=(Span(line=3, column=4, end_line=3, end_column=9),))
    outer = Place(name="jit(f)/jit(g)", frames=(call,), spans=(None,))
    text = (
        "HloModule m, num_partitions=8\n\nENTRY %e (p: f32[16]) -> f32[16] {\n  %p = f32[16] parameter(0)\n"
        '  ROOT %s = f32[16] sine(%p), metadata={op_name="#1/jit_g_/#0/sin"}\n}\n'
    )
    (op,) = read(text, [MESH], names=NumberedNames((inner, outer))).ops
    assert (op.op_name, op.frames, op.spans) == ("jit(f)/jit(g)/sin", (frame, call), (*inner.spans, None))
