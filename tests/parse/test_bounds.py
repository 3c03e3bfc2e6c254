"""Numbers that no program has are refused or unknown, whatever column they stand in; memory for text is bounded."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from data.hlo_texts import encode_hlo_text

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.hlo_proto.reader import MAX_RANK, parse_shape
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.replica_groups import expand_iota, expand_mesh_axes
from pjit_inspect.parse.wire.wire import split_message

TINY = """HloModule tiny

ENTRY %main (x: f32[4]) -> f32[4] {
  ROOT %x = f32[4]{0} parameter(0)
}
"""


def tiny() -> Any:
    return message_class("Module").FromString(encode_hlo_text(TINY))


def read(message: Any) -> HloModule:
    return parse_program(message.SerializeToString())


def varint(number: int) -> bytes:
    digits = []
    number &= 2**64 - 1
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes((*digits, number))


def field_of(number: int, content: bytes) -> bytes:
    """A field of bytes, as protocol buffers write it."""
    return varint(number << 3 | 2) + varint(len(content)) + content


@pytest.mark.parametrize(
    ("line", "found"), [(7, 7), (2**31 - 1, 2**31 - 1), (2**31, 0), (2**40, 0), (-1, 0), (-(2**63), 0)]
)
def test_a_line_that_no_file_has_is_unknown(line: int, found: int):
    metadata = b"\x1a\x04f.py\x20" + varint(line)  # fields 3 and 4: the source's file and line
    module = tiny()
    (computation,) = module.computations
    instruction = next(field for field in split_message(computation, 0, len(computation)) if field.number == 2)
    content = computation[instruction.start : instruction.end] + field_of(7, metadata)
    rest = computation[: instruction.tag] + computation[instruction.end :]
    del module.computations[:]
    data = module.SerializeToString() + field_of(3, rest + field_of(2, content))
    frames = parse_program(data).frames_table
    assert frames.location_line.tolist() == [found]
    assert frames.files == ("f.py",)


@pytest.mark.parametrize("number", [2**31 - 1, -1, -(2**31), 0])
@pytest.mark.parametrize("field", ["file_name_id", "function_name_id"])
def test_a_source_table_that_points_nowhere_is_refused(field: str, number: int):
    module = tiny()
    index = module.stack_frame_index
    index.file_names.append("f.py")
    index.function_names.append("f")
    location = index.file_locations.add(file_name_id=1, function_name_id=1, line=1)
    index.stack_frames.add(file_location_id=1)
    read(module)
    setattr(location, field, number)
    with pytest.raises(ParseError, match="that is not there"):
        read(module)


@pytest.mark.parametrize("field", ["output_shape_index", "parameter_shape_index"])
def test_an_alias_with_a_place_below_0_is_refused(field: str):
    module = tiny()
    entry = module.input_output_alias.entries.add()
    getattr(entry, field).append(-2)
    with pytest.raises(ParseError, match="an alias has a place below 0"):
        read(module)


def test_more_opcodes_than_a_column_can_number_are_refused():
    lines = "".join(f"  %i{number} = f32[] op{number}()\n" for number in range(2**15))
    with pytest.raises(ParseError, match="too many distinct opcodes"):
        parse_program(encode_hlo_text(TINY.replace("  ROOT", lines + "  ROOT")))


def test_a_shape_has_a_largest_rank():
    message = message_class("Shape")(element_type=11, dimensions=[1] * MAX_RANK)
    assert parse_shape(message).count == 1
    message.dimensions.append(1)
    with pytest.raises(ParseError, match="a shape has 65 dimensions"):
        parse_shape(message)


def test_a_mesh_axis_may_be_empty_and_not_negative():
    assert Mesh(axis_names=("x",), shape=(0,), device_ids=()).size == 0
    with pytest.raises(ValueError, match="cannot have -2 devices"):
        Mesh(axis_names=("x", "y"), shape=(-2, -1), device_ids=(0, 1))


@pytest.mark.parametrize(
    ("reshape", "transpose"), [((10**18,) * 100_000, ()), ((10**18, 10**18), ()), ((2, 2), (1,) * 100_000)]
)
def test_an_iota_that_cannot_be_is_refused_in_few_words(reshape: tuple[int, ...], transpose: tuple[int, ...]):
    with pytest.raises(ParseError) as caught:
        expand_iota((2, 2), reshape, transpose)
    assert len(str(caught.value)) < 120


def test_mesh_axes_that_cannot_be_are_refused_in_few_words():
    for sizes, axes in (((2,), [(0, 1, 1)] * 100_000), ((10**18,) * 100_000, [])):
        with pytest.raises(ParseError, match="expected at most 32") as caught:
            expand_mesh_axes(sizes, axes)
        assert len(str(caught.value)) < 120


def test_reading_text_holds_the_tokens_of_one_computation_at_a_time():
    line = '  %p.{0} = f32[8]{{0}} add(%a, %b), metadata={{op_name="{0}"}}\n'
    body = "".join(line.format(k) for k in range(90))
    text = "HloModule m\n\n" + "".join(f"%f{k} {{\n{body}}}\n\n" for k in range(100)) + TINY[TINY.index("ENTRY") :]
    encode_hlo_text(text)
    tracemalloc.start()
    try:
        proto = encode_hlo_text(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The parts of the program, what they are joined to, and the ids; the tokens of all take five times as much.
    assert peak < 4 * len(proto)
