"""The text reader finds what XLA's own parser finds, and keeps what that refuses."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import encode_hlo_text, parse_hlo_text
from hlo_differences import EXPECTED, differences

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.program.fusions import find_fusions
from pjit_inspect.analyze.program.loops import find_trip_count
from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.incomplete import why_incomplete
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.parse.hlo_proto.hlo import parse_program

ATTRIBUTES = (Path(__file__).parent / "attributes.hlo").read_text()

TINY = """HloModule tiny, is_scheduled=true, input_output_alias={ {0}: (0, {}, must-alias) }, num_partitions=4

%body (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %double = f32[4]{0} add(%p, %p)
}

ENTRY %main (x: f32[4], y: s32[]) -> (f32[4], s32[]) {
  %x = f32[4]{0} parameter(0)
  %y = s32[] parameter(1), sharding={replicated}
  %seven = s32[] constant(7)
  %f = f32[4]{0} fusion(%x), kind=kLoop, calls=%body, metadata={op_name="jit(f)/add"}, backend_config={"a":1}
  %s = s32[] subtract(%y, %seven), control-predecessors={%f}, frontend_attributes={mark="yes"}
  ROOT %t = (f32[4]{0}, s32[]) tuple(%f, %s)
}
"""


@functools.cache
def module(name: str) -> HloModule:
    return parse_hlo_text(fixtures.text(name))


def get(module: HloModule, name: str) -> Instruction:
    found = module.find(name)
    assert found is not None
    return found


def tiny(old: str = "", new: str = "") -> HloModule:
    """TINY with one change."""
    assert old in TINY
    return parse_hlo_text(TINY.replace(old, new))


# ---------------------------------------------------------------- as XLA reads it


@pytest.mark.parametrize("name", fixtures.ALL)
def test_everything_is_read_as_xla_reads_it(name: str):
    every = 25 if name == fixtures.LARGE else 1
    found = differences(fixtures.module(name), module(name), every=every)
    assert set(found) <= EXPECTED
    # XLA printed two instructions called `slice.10` in this one program.
    assert found["renamed"] == (1 if name == "transformer_step.v5e_2x4" else 0)


@pytest.mark.parametrize("name", fixtures.ALL)
def test_nothing_in_the_fixtures_is_unknown(name: str):
    assert not module(name).unknown


def test_attributes_that_no_fixture_has_are_read_as_xla_reads_them():
    ours = parse_hlo_text(ATTRIBUTES)
    assert not ours.unknown
    assert set(differences(fixtures.from_text(ATTRIBUTES), ours)) <= EXPECTED


def programs() -> dict[str, Callable[..., Any]]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def convolve(x: Any) -> Any:
        return lax.conv_general_dilated(
            x[None, :, :, None],
            jnp.ones((3, 3, 1, 4)),
            (2, 1),
            ((1, 2), (0, 3)),
            lhs_dilation=(1, 2),
            rhs_dilation=(2, 1),
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            precision="highest",
        )

    return {
        "convolution": convolve,
        "fourier": lambda x: jnp.fft.irfft(jnp.fft.rfft(x)),
        "solve": lambda x: lax.linalg.triangular_solve(x, x, left_side=True, lower=True, transpose_a=True),
        "sort": lambda x: lax.sort((x, x), dimension=0, num_keys=2),
        "window": jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID").sum()),
        "switch": lambda x: lax.switch(x[0, 0].astype(int), [jnp.sin, jnp.cos, jnp.tan], x),
        "loops": lambda x: lax.fori_loop(0, 7, lambda i, c: lax.scan(lambda a, b: (a + b, a), c[0], c)[1], x),
        "gather": lambda x: x[jnp.array([3, 1])].at[jnp.array([0, 0])].add(1.0),
        "pad": lambda x: lax.pad(x[1:7:2, ::-1], 0.0, ((1, -1, 3), (0, 1, 0))),
        "dots": lambda x: jnp.einsum("bij,bjk->bik", x[None], x[None], precision="high"),
        "random": lambda x: x + jax.random.normal(jax.random.key(0), (8, 8)),
        "small": lambda x: (x.astype(jnp.int4) + jnp.int4(3), x.astype(jnp.float8_e4m3fn), x > 0),
    }


@pytest.mark.parametrize("optimized", [False, True])
@pytest.mark.parametrize("name", sorted(programs()))
def test_programs_made_here_are_read_as_xla_reads_them(name: str, optimized: bool):
    import jax

    lowered = jax.jit(programs()[name]).lower(np.ones((8, 8), np.float32))
    hlo: Any = lowered.compiler_ir("hlo")
    text = lowered.compile().as_text() if optimized else hlo.as_hlo_text()
    assert text is not None
    assert set(differences(fixtures.from_text(text), parse_hlo_text(text))) <= EXPECTED


@pytest.mark.parametrize("name", ["mlp_step.v5e_2x4", "mlp_step.h100_1x1x8", "train_step.tpu7x"])
@pytest.mark.parametrize(
    "style",
    [
        {"print_operand_shape": True},
        {"print_percent": False},
        {"print_program_shape": False},
        {"print_operand_shape": True, "print_percent": False, "print_program_shape": False, "indent_amount": 3},
        {"print_large_constants": True},
    ],
)
def test_every_style_xla_prints_in_is_read(name: str, style: dict[str, Any]):
    options = fixtures.xla_parser().HloPrintOptions()
    for key, value in style.items():
        setattr(options, key, value)
    text = fixtures.xla_module(fixtures.text(name)).to_string(options)
    assert set(differences(fixtures.module(name), parse_hlo_text(text))) <= EXPECTED


def test_a_text_without_layouts_has_shapes_without_layouts():
    found = get(parse_hlo_text(TINY.replace("{0} ", " ")), "f")
    assert found.shape.layout is None
    assert str(found.shape) == "f32[4]"


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_the_analyses_give_the_same_as_for_the_proto(name: str):
    theirs, ours = (find_collectives(m, fixtures.MESH, range(8)) for m in (fixtures.module(name), module(name)))
    # Those that send the same stand in the order of the bytes, which is another one.
    assert Counter(map(facts, theirs)) == Counter(map(facts, ours))
    fused = [find_fusions(m) for m in (fixtures.module(name), module(name))]
    assert [(f.kind, f.bytes_read, f.bytes_written) for f in fused[0]] == [
        (f.kind, f.bytes_read, f.bytes_written) for f in fused[1]
    ]


def facts(row: Collective) -> object:
    # What a ring of permutes is made of stands in the order of the bytes, too.
    return (
        row.kind, row.axes, tuple(sorted(row.groups)), row.payload_bytes, row.wire_bytes, row.count, row.op_name,
        row.source, tuple(sorted(row.instructions)),
    )  # fmt: skip


def test_a_trip_count_is_found():
    import jax

    def loop(x: Any) -> Any:
        return jax.lax.fori_loop(0, 7, lambda i, c: jax.numpy.sin(c), x)

    text = jax.jit(loop).lower(np.ones(4, np.float32)).compile().as_text()
    assert text is not None
    ours = parse_hlo_text(text)
    (loop_index,) = ours.with_opcode("while").tolist()
    assert find_trip_count(ours.instruction(loop_index)) == 7


# ---------------------------------------------------------------- by hand


def test_a_tiny_program_has_what_its_text_says():
    module = tiny()
    f, s, t, y = (get(module, name) for name in ("f", "s", "t", "y"))
    assert (module.name, module.device_counts, module.is_scheduled) == ("tiny", (1, 4), True)
    assert module.computation(module.entry).name == "main"
    assert module.computation(module.entry).root == t
    assert [c.name for c in f.called] == ["body"]
    assert f.called[0].is_fusion
    assert f.op_name == "jit(f)/add"
    assert (f.details.fusion_kind, f.details.backend_config) == ("kLoop", '{"a":1}')
    assert s.details.frontend_attributes == {"mark": "yes"}
    assert module.instructions.control[s.index].tolist() == [f.index]
    assert [operand.name for operand in s.operands] == ["y", "seven"]
    assert y.details.parameter_number == 1
    assert get(module, "seven").details.literal == 7
    assert module.result_bytes[t.index] == 20
    [alias] = module.aliases
    assert (alias.output, alias.parameter, alias.must) == ((0,), 0, True)
    assert module.order.tolist() == list(range(len(module)))
    assert not module.unknown


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("{{0,1},{2,3}}", ((0, 1), (2, 3))),
        ("{}", ()),
        ("[2,2]<=[4]", ((0, 1), (2, 3))),
        ("[2,2]<=[2,2]T(1,0)", ((0, 2), (1, 3))),
        ("mesh['a'=2,'b'=2] {'b'}", ((0, 1), (2, 3))),
        ("mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'a'}", ((0, 1), (2, 3))),
        ("mesh['a'=2,'b'=2], device_ids=(3,2,1,0) {'b'}", ((3, 2), (1, 0))),
        ("mesh['a'=4] {'a':(1)2}", ((0, 2), (1, 3))),
        ("mesh['a'=4] {'a':(2)2}", ((0, 1), (2, 3))),
        ("mesh['a'=2,'b'=2] {'b','a'}", ((0, 2, 1, 3),)),
    ],
)
def test_replica_groups_of_every_form_expand(text: str, groups: tuple[tuple[int, ...], ...]):
    line = f"%r = f32[4]{{0}} all-to-all(%x), channel_id=3, replica_groups={text}, dimensions={{0}}\n  %f ="
    found = get(tiny("%f =", line), "r")
    assert found.details.replica_groups == groups
    assert found.channel_id == 3
    assert found.details.dimensions == (0,)


@pytest.mark.parametrize(
    ("text", "proto"),
    [
        ("{replicated}", ""),
        ("{maximal device=3}", "type: 1 tile_assignment_devices: 3"),
        ("{manual}", "type: 4"),
        (
            "{devices=[2,1,2]<=[4] last_tile_dim_replicate}",
            "type: 3 tile_assignment_dimensions: [2, 1, 2] replicate_on_last_tile_dim: true "
            "iota_reshape_dims: 4 iota_transpose_perm: 0",
        ),
        ("{devices=[2]1,0}", "type: 3 tile_assignment_dimensions: 2 tile_assignment_devices: [1, 0]"),
        ("{{manual}, {unknown}}", "type: 2 tuple_shardings { type: 4 } tuple_shardings { type: 5 }"),
        (
            "{mesh['x'=2,'y'=4], [{'x'}, {'y':(1)2, ?}], unreduced={'y':(2)2}}",
            'type: 3 named_sharding { mesh { axes { name: "x" size: 2 } axes { name: "y" size: 4 } } '
            "dim_shardings { axes { } is_closed: true } "
            "dim_shardings { axes { mesh_axis_index: 1 sub_axis_info { pre_size: 1 size: 2 } } } "
            "unreduced_axes { mesh_axis_index: 1 sub_axis_info { pre_size: 2 size: 2 } } }",
        ),
    ],
)
def test_shardings_of_every_form_are_read(text: str, proto: str):
    from google.protobuf import text_format

    from pjit_inspect.parse.wire.hlo_schema import message_class

    expected = text_format.Parse(proto, message_class("OpSharding")())
    found = get(tiny("sharding={replicated}", f"sharding={text}"), "y").details.sharding
    assert found is not None
    assert text_format.Parse(found, message_class("OpSharding")()) == expected


@pytest.mark.parametrize(
    "shape",
    [
        "f32[]",
        "bf16[2,3]{1,0:T(8,128)(2,1)S(3)}",
        "f32[<=8,4]{1,0}",
        "s4[8,2]{1,0:E(4)}",
        "f32[?,4]{1,0}",
        "s8[16]{0:T(1024)(128)(4,1)L(512)S(1)SC(0:8)}",
        "pred[4]{0:T(*,128)}",
        "token[]",
        "opaque[]",
        "()",
        "((f32[2]{0}, token[]), (), s32[])",
        "f8e4m3fn[7]{0:M(4)}",
        "b(f32[4]{0})",
    ],
)
def test_a_shape_prints_as_it_was_written(shape: str):
    found = tiny("%f =", f'%c = {shape} custom-call(%x), custom_call_target="c"\n  %f =')
    assert get(found, "c").shape.text() == shape
    assert not found.unknown


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("compare(%y, %y), direction=GE, order=TOTAL", "comparison_order", "TOTAL"),
        ("topk(%x), k=3, largest=true", "k", 3),
        ("topk(%x), k=3, largest=true", "largest", True),
        ('copy(%x), origin={{"x"}}', "origin", '{{"x"}}'),
        ("collective-broadcast(%x), has_dynamic_root=true", "has_dynamic_root", True),
        ("scan(%x, %y), to_apply=%body, dimensions={0}, num_carries=1, is_reverse=true", "num_carries", 1),
    ],
)
def test_attributes_that_not_every_version_has_are_read(line: str, name: str, value: object):
    found = tiny("%f =", f"%r = pred[4]{{0}} {line}\n  %f =")
    assert get(found, "r").details.other[name] == value
    assert not found.unknown


def test_source_tables_become_frames():
    tables = """
FileNames
1 "a\\303\\251.py"
2 "b.py"

FunctionNames
1 "outer"
2 "inner.<locals>.<lambda>"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10 end_line=10 column=2 end_column=8}
2 {file_name_id=2 function_name_id=2 line=20}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

"""
    text = TINY.replace("\n\n%body", f"\n{tables}\n%body").replace('op_name="jit(f)/add"', "stack_frame_id=2")
    frames = get(parse_hlo_text(text), "f").frames
    assert [(f.file, f.line, f.function) for f in frames] == [
        ("b.py", 20, "inner.<locals>.<lambda>"),
        ("aé.py", 10, "outer"),
    ]
    behind = text.replace(tables, "") + tables
    assert get(parse_hlo_text(behind), "f").frames == frames


def test_places_in_the_metadata_of_older_programs_become_frames():
    found = tiny('op_name="jit(f)/add"', 'op_type="add" op_name="jit(f)/\\"x\\"" source_file="a.py" source_line=3')
    f = get(found, "f")
    assert [(frame.file, frame.line) for frame in f.frames] == [("a.py", 3)]
    assert f.op_name == 'jit(f)/"x"'
    assert not found.unknown


def test_an_asynchronous_instruction_printed_as_one_is_a_start_and_what_it_runs():
    found = tiny(
        "%f =",
        "%g-start = ((f32[4]{0}), f32[2]{0}, s32[]) slice-start(%x), slice={[1:3]}, "
        'async_execution_thread="side"\n  %g-done = f32[2]{0} slice-done(%g-start)\n  %f =',
    )
    start, done = get(found, "g-start"), get(found, "g-done")
    assert (start.opcode, done.opcode) == ("async-start", "async-done")
    assert start.details.async_thread == "side"
    (wrapped,) = start.called
    assert [i.opcode for i in wrapped] == ["parameter", "slice"]
    assert wrapped.root.details.other["slice_dimensions"] == ("start: 1 limit: 3 stride: 1",)
    assert str(wrapped.root.shape) == "f32[2]"
    assert found.computations.threads[wrapped.index] == "side"
    assert not wrapped.is_fusion


def test_an_operand_that_is_an_element_of_a_tuple_is_taken_out_of_it():
    # XLA of JAX 0.12 writes its dumps so.
    found = tiny(
        "ROOT %t = (f32[4]{0}, s32[]) tuple(%f, %s)",
        "%u = (f32[4]{0}, /*index=1*/s32[]) tuple(%f, %s)\n"
        "  ROOT %t = (s32[], s32[], f32[4]{0}) tuple(%u#1, %u#1, %u#0)",
    )
    first, second, third = get(found, "t").operands
    assert (first.opcode, str(first.shape), first.details.tuple_index) == ("get-tuple-element", "s32[]", 1)
    assert first == second
    assert (str(third.shape), third.details.tuple_index, third.operands[0].name) == ("f32[4]", 0, "u")
    assert not found.unknown


@pytest.mark.parametrize("operand", ["%u#2", "%f#0", "%nobody#0"])
def test_an_element_that_no_tuple_has_is_missing(operand: str):
    found = tiny("%s)\n}", f"%s), control-predecessors={{{operand}}}\n}}")
    assert found.unknown == {"missing instructions": 1}


def test_the_same_text_read_twice_gives_the_same_columns():
    one, two = (parse_hlo_text(fixtures.text("mlp_step.v5e_2x4")) for _ in range(2))
    for column in ("opcode", "shape", "op_name", "frame", "channel", "computation"):
        assert np.array_equal(getattr(one.instructions, column), getattr(two.instructions, column))
    for links in ("operands", "called", "control"):
        a, b = getattr(one.instructions, links), getattr(two.instructions, links)
        assert np.array_equal(a.starts, b.starts)
        assert np.array_equal(a.items, b.items)
    assert (one.opcodes, one.op_names, one.computations.names) == (two.opcodes, two.op_names, two.computations.names)


# ---------------------------------------------------------------- what XLA's parser refuses


def test_an_unknown_opcode_is_kept_and_counted():
    found = tiny("subtract(", "frobnicate(")
    assert get(found, "s").opcode == "frobnicate"
    assert [operand.name for operand in get(found, "s").operands] == ["y", "seven"]
    assert found.unknown == {"opcode frobnicate": 1}


def test_an_unknown_attribute_is_kept_and_counted():
    found = tiny("kind=kLoop", 'flavour={a=[1,2], b="},"}, kind=kLoop')
    f = get(found, "f")
    assert f.details.other["flavour"] == '{a=[1,2], b="},"}'
    assert (f.details.fusion_kind, f.details.unknown) == ("kLoop", ())
    assert found.unknown == {"attribute flavour": 1}


def test_a_known_attribute_of_unknown_form_is_kept_and_counted():
    found = tiny("sharding={replicated}", "sharding={quantum [2]}")
    y = get(found, "y")
    assert (y.details.sharding, y.details.other["sharding"]) == (None, "{quantum [2]}")
    assert found.unknown == {"attribute sharding": 1}


def test_unknown_metadata_is_kept_beside_what_is_known():
    found = tiny('op_name="jit(f)/add"', 'op_name="jit(f)/add" mood="good"')
    f = get(found, "f")
    assert f.op_name == "jit(f)/add"
    assert f.details.other["metadata.mood"] == '"good"'
    assert found.unknown == {"attribute metadata.mood": 1}


def test_a_line_that_cannot_be_read_stays_as_an_instruction():
    line = "  %s = s32[] subtract(%y, %seven"
    found = tiny('subtract(%y, %seven), control-predecessors={%f}, frontend_attributes={mark="yes"}', line[13:])
    s = get(found, "s")
    assert s.opcode == "unreadable"
    assert s.details.other["unreadable lines"] == line
    assert [operand.name for operand in get(found, "t").operands] == ["f", "s"]
    assert found.unknown == {"unreadable lines": 1}


def test_what_follows_an_instruction_and_cannot_be_read_is_kept_with_it():
    found = tiny("subtract(%y, %seven)", "subtract(%y, %seven) !?")
    s = get(found, "s")
    assert s.opcode == "subtract"
    assert s.details.other["unreadable lines"].startswith("!?, control-predecessors")
    assert found.unknown == {"unreadable lines": 1}


def test_what_follows_a_reference_and_cannot_be_read_is_kept_with_the_instruction():
    found = tiny("calls=%body,", "calls=%body !?,")
    assert get(found, "f").opcode == "fusion"
    assert get(found, "f").details.other["unreadable lines"].startswith("!?, metadata=")
    assert found.unknown == {"unreadable lines": 1}


def test_a_backend_config_with_something_behind_it_is_read_and_the_rest_kept():
    found = tiny('backend_config={"a":1}', 'backend_config={"a":1} !?')
    assert get(found, "f").details.backend_config == '{"a":1}'
    assert get(found, "f").details.other["unreadable lines"] == "!?"
    assert found.unknown == {"unreadable lines": 1}
    assert why_incomplete(found.unknown) == "incomplete: 1 of its lines cannot be read"


def test_an_operand_that_is_not_there_becomes_an_instruction_that_is_missing():
    found = tiny("  %seven = s32[] constant(7)\n")
    seven = get(found, "seven")
    assert seven.opcode == "missing"
    assert [operand.name for operand in get(found, "s").operands] == ["y", "seven"]
    assert found.unknown == {"missing instructions": 1}


def test_a_computation_that_is_not_there_becomes_one_that_is_missing():
    start, end = TINY.index("%body ("), TINY.index("ENTRY")
    found = parse_hlo_text(TINY[:start] + TINY[end:])
    (body,) = get(found, "f").called
    assert (body.name, [i.opcode for i in body]) == ("body", ["missing"])
    assert found.unknown == {"missing instructions": 1}


def test_an_instruction_without_what_its_opcode_needs_cannot_be_read():
    found = tiny("add(%p, %p)", "add(%p)")
    assert get(found, "double").opcode == "unreadable"
    assert found.unknown == {"unreadable lines": 1}


def test_a_text_cut_off_in_a_computation_keeps_what_stands_above():
    found = parse_hlo_text(TINY[: TINY.index("  %s = ")])
    assert found.computation(found.entry).name == "main"
    assert found.computation(found.entry).root == get(found, "f")
    assert [i.name for i in found.computation(found.entry)] == ["x", "y", "seven", "f"]
    assert found.unknown == {"end that is missing": 1}


def test_a_text_cut_off_before_the_entry_begins_with_its_last_computation():
    found = parse_hlo_text(TINY[: TINY.index("ENTRY")])
    assert found.computation(found.entry).name == "body"
    assert found.unknown == {"ENTRY that is missing": 1}


@pytest.mark.parametrize(
    ("shape", "read"),
    [("f9e9m9[4]{0}", "type 0[4]{0}"), ("f32[4]{0:Z(3)}", "f32[4]{0}"), ("f32[4]{0:(}", "type 0[]"), ("", "type 0[]")],
)
def test_a_shape_of_unknown_form_is_kept_as_text(shape: str, read: str):
    found = tiny("%x = f32[4]{0}", f"%x = {shape}")
    x = get(found, "x")
    assert x.opcode == "parameter"
    assert x.shape.text() == read
    assert x.details.other["shape"] == shape
    assert found.unknown == {"attribute shape": 1}


def test_unknown_attributes_of_the_module_are_kept_and_counted():
    found = tiny("num_partitions=4", "num_partitions=many, colour=blue, num_partitions=3")
    assert found.device_counts is None
    assert found.other["header attribute colour"] == "blue"
    assert found.unknown == {
        "header attribute num_partitions": 1,
        "header attribute colour": 1,
        "lines beside the program": 1,
    }


def test_rows_of_source_tables_that_point_nowhere_are_left_out():
    tables = """
FileNames
1 "a.py"
3 "c.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=10}
2 {file_name_id=2 function_name_id=1 line=20}
3 {file_name_id=3 function_name_id=1 line=30}
4 rubbish

StackFrames
1 {file_location_id=2 parent_frame_id=1}
2 {file_location_id=3 parent_frame_id=2}
3 {file_location_id=1 parent_frame_id=3}

"""
    text = TINY.replace("\n\n%body", f"\n{tables}\n%body").replace('op_name="jit(f)/add"', "stack_frame_id=3")
    found = parse_hlo_text(text)
    # Location 2 names a file that is not there, frame 1 that location; the row of rubbish is the third.
    assert [(f.file, f.line) for f in get(found, "f").frames] == [("a.py", 10), ("c.py", 30)]
    assert found.unknown == {"lines beside the program": 3}
    assert not why_incomplete(found.unknown)
    gone = parse_hlo_text(text.replace("stack_frame_id=3", "stack_frame_id=1"))
    assert get(gone, "f").frames == ()
    assert get(gone, "f").details.other["metadata.stack_frame_id"] == "1"


def test_a_second_program_in_the_same_text_is_not_mixed_into_the_first():
    found = parse_hlo_text(TINY + TINY.replace("tiny", "other"))
    assert (found.name, len(found)) == ("tiny", 8)
    assert found.unknown == {"programs that follow": 1}


@pytest.mark.parametrize(
    "text",
    [
        TINY.replace("\n", "\r\n"),
        TINY.replace("%", ""),
        f"\n// a comment\n{TINY}",
        TINY.replace("(%f, %s)", "(f32[4]{0} %f, /*index=1*/s32[] %s)"),
        TINY.replace("tuple(%f, %s)", "tuple(%f,\n    %s)"),
        TINY.replace("  ROOT %t", "  // a comment\n\n  ROOT %t"),
    ],
)
def test_other_ways_to_write_the_same_are_the_same(text: str):
    found = parse_hlo_text(text)
    assert not found.unknown
    assert found.opcode_counts == tiny().opcode_counts
    assert [operand.name for operand in get(found, "t").operands] == ["f", "s"]
    assert get(found, "f").called[0].name == "body"


def test_a_program_without_a_header_is_read_when_it_has_an_entry():
    found = parse_hlo_text(TINY[TINY.index("%body") :])
    assert (found.name, len(found), found.unknown) == ("", 8, {})


def test_what_is_kept_survives_in_the_proto():
    text = TINY.replace("subtract(", "frobnicate(").replace("kind=kLoop", "flavour=7, kind=kLoop")
    once, again = parse_hlo_text(text), parse_program(encode_hlo_text(text))
    assert once.unknown == again.unknown == {"opcode frobnicate": 1, "attribute flavour": 1}
    assert get(again, "f").details == get(once, "f").details


# ---------------------------------------------------------------- what is no HLO


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "there is no text"),
        ("\n \n", 3, "there is no text"),
        ("\n\nimport jax\n", 3, "the text begins with 'import jax'"),
        ("int main() {\n  int x = f(3);\n}\n", 1, "the text begins with 'int main() {'"),
        ("HloModule m\n\n", 1, "there is no computation in it"),
        ("HloModule m\n\nENTRY %e {\n}\n", 4, "there is no computation in it"),
        ("HloModule m\n\nENTRY %e {\n  %x = what\n}\n", None, "no instruction could be read"),
    ],
)
def test_a_text_that_is_no_program_is_refused_with_what_was_expected(text: str, line: int | None, message: str):
    with pytest.raises(ParseError) as caught:
        parse_hlo_text(text, path="some.txt")
    error = caught.value
    assert (error.message, error.offset, error.path) == (message, line, "some.txt")
    assert error.expected


_PIECES = (
    "",
    "{",
    "}",
    "(",
    ")",
    "9",
    "-1",
    ",",
    "0",
    '"',
    "x",
    "=",
    "9" * 30,
    "'",
    "%",
    "\\",
    "/*",
    "\n",
    "\0",
    "\ud800",
)


def damaged(random: Random) -> str:
    """A program with lines lost, out of order, cut off, or with wrong characters."""
    sources = [fixtures.text(name) for name in ("mlp_step.v5e_2x4", "mlp_step.h100_1x1x8", "pallas.v5e")]
    lines = random.choice([*sources, ATTRIBUTES]).splitlines(keepends=True)
    how = random.randrange(6)
    if how == 0:
        del lines[random.randrange(len(lines)) :]
    elif how == 1:
        del lines[random.randrange(len(lines))]
    elif how == 2:
        random.shuffle(lines)
    for _ in range(random.choice((1, 3, 30)) if lines else 0):
        number = random.randrange(len(lines))
        line, place = lines[number], random.randrange(len(lines[number]) + 1)
        lines[number] = line[:place] + random.choice(_PIECES) + line[place + random.randrange(3) :]
    return "".join(lines)


@pytest.mark.parametrize("seed", range(200))
def test_damaged_texts_raise_only_parse_errors(seed: int):
    try:
        module = parse_hlo_text(damaged(Random(seed)))
    except ParseError:
        return
    for index in range(len(module)):
        assert module.instruction(index).details is not None
        assert module.instruction(index).shape.text()
        module.frames(index)
    find_collectives(module, fixtures.MESH, range(8))
    find_fusions(module)


MANY = 20_000

HOSTILE = {
    "braces": "%h = f32[4]{0} negate(%x), a=" + "{" * MANY,
    "quotes": '%h = f32[4]{0} negate(%x), a="' + '\\"' * MANY + "\\",
    "apostrophes": "%h = f32[4]{0} negate(%x), a=" + "'{" * MANY,
    "parentheses": "%h = " + "(" * MANY + ")" * MANY + " negate(%x)",
    "a long name": "%" + "h" * MANY + " = f32[4]{0} negate(%x)",
    "long numbers": "%h = f32[" + "9" * MANY + "]{0} negate(%x), channel_id=" + "9" * MANY,
    "comments": "%h = f32[4]{0} negate(%x" + "/*" * MANY + ")",
    "blanks": "%h =" + " " * MANY + "f32[4]{0}" + " " * MANY + "negate(%x)",
    "attributes": "%h = f32[4]{0} negate(%x)" + "".join(f", a{i}={{{i}}}" for i in range(MANY // 10)),
    "operands": "%h = f32[4]{0} tuple(" + ", ".join(f"%q{i}" for i in range(MANY // 10)) + ")",
    "metadata": "%h = f32[4]{0} negate(%x), metadata={" + "a=b{" * MANY + "}",
    "mesh": "%h = f32[4]{0} all-gather(%x), replica_groups=mesh[a=1]" + ", device_ids=(" * MANY,
    "shardings": "%h = f32[4]{0} copy(%x), sharding=" + "{" * MANY + "}" * MANY,
    "lines": "rubbish )(\n" * MANY,
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_texts_are_read_in_one_pass(name: str):
    # Anything that takes the square of the length would take minutes here.
    found = tiny("%f =", f"{HOSTILE[name]}\n  %f =")
    if name == "quotes":
        # The string goes on to the next quotation mark, as for XLA.
        assert why_incomplete(found.unknown)
        return
    assert get(found, "f").details.fusion_kind == "kLoop"
