"""What our reader finds in a program is what XLA finds in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.program.fusions import find_fusions
from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.wire import split_message

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


@pytest.mark.parametrize("name", fixtures.ALL)
def test_computations_instructions_operands_and_opcodes_are_those_of_xla(name: str):
    source, ours = fixtures.xla_module(fixtures.text(name)), fixtures.module(name)
    theirs = {c.name: c for c in source.computations()}
    assert set(ours.computations.names) == set(theirs)
    for index, computation in enumerate(ours.computations.names):
        expected = {
            i.name: (_XLA_NAMES.get(i.opcode.name, i.opcode.name[1:].lower()), [o.name for o in i.operands()])
            for i in theirs[computation].instructions()
        }
        found = {i.name: (i.opcode.replace("-", ""), [o.name for o in i.operands]) for i in ours.computation(index)}
        assert found == expected


# What XLA calls differently in C++ ("kExp") and in text ("exponential").
_XLA_NAMES = {
    "kExp": "exponential",
    "kCos": "cosine",
    "kSin": "sine",
    "kLog1p": "logplusone",
    "kExpm1": "exponentialminusone",
}


@pytest.mark.parametrize("name", fixtures.ALL)
def test_every_line_of_the_text_is_an_instruction_with_the_shape_printed_there(name: str):
    # `  ROOT %name = shape opcode(`: XLA's text is a second source, read here without our parser.
    # It is printed anew, because XLA's parser renames an instruction whose name it has given to another.
    text = fixtures.xla_module(fixtures.text(name)).to_string()
    lines = re.findall(r"^  (?:ROOT )?%([^ ]+) = (.+?) ([a-z][a-z0-9-]*)\(", text, flags=re.M)
    ours = fixtures.module(name)
    shapes = Counter((i.name, i.shape.text(), i.opcode) for i in map(ours.instruction, range(len(ours))))
    assert not set(_with_async_names(lines)) - set(shapes)
    # XLA prints `async-start` with what it wraps in one line, and leaves the wrapping computation out.
    wraps = {c.index for start in ours.with_opcode("async-start").tolist() for c in ours.instruction(start).called}
    assert len(lines) == len(ours) - sum(
        len(ours.computation(c)) for c in wraps if f"%{ours.computations.names[c]} (" not in text
    )


def _with_async_names(lines: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """`slice-start(` is how XLA prints an `async-start` around a slice; these are opcodes of their own only there."""
    sugar = re.compile(r"(?:slice|dynamic-slice|dynamic-update-slice|call|reduce-scatter|custom-call)-(start|done)")
    return [(n, shape, f"async-{m[1]}" if (m := sugar.fullmatch(opcode)) else opcode) for n, shape, opcode in lines]


@pytest.mark.parametrize("name", fixtures.ALL)
def test_nothing_in_the_fixtures_is_unknown(name: str):
    assert not fixtures.module(name).unknown


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_users_are_the_operands_the_other_way_round(name: str):
    module = fixtures.module(name)
    expected: dict[int, list[int]] = {}
    for index in range(len(module)):
        for operand in module.instructions.operands[index].tolist():
            expected.setdefault(operand, []).append(index)
    assert {i: module.users[i].tolist() for i in range(len(module)) if len(module.users[i])} == expected


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_a_schedule_runs_every_instruction_after_its_operands(name: str):
    module = fixtures.module(name)
    assert module.is_scheduled
    place = np.empty(len(module), int)
    place[module.order] = np.arange(len(module))
    links = module.instructions.operands
    assert (place[links.items] < place[links.owners]).all()
    starts = module.computations.starts
    for k in range(len(module.computations)):
        span = slice(starts[k], starts[k + 1])
        assert sorted(module.order[span]) == list(range(starts[k], starts[k + 1]))


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_op_names_and_frames_are_those_of_the_text(name: str):
    text, module = fixtures.text(name), fixtures.module(name)
    tables = _frame_tables(text)
    keys = "op_name|stack_frame_id|scheduling_name|deduplicated_name"
    pattern = rf"^  (?:ROOT )?%([^ ]+) = .*?metadata={{((?:{keys})=.*?)}}(?:,|$)"
    lines = dict(re.findall(pattern, text, flags=re.M))
    assert lines
    for name_, metadata in lines.items():
        instruction = module.find(name_)
        assert instruction is not None
        op_name = re.search(r'op_name="((?:[^"\\]|\\.)*)"', metadata)
        assert instruction.op_name == (re.sub(r"\\(.)", r"\1", op_name[1]) if op_name else "")
        frame = re.search(r"stack_frame_id=(\d+)", metadata)
        expected = _chain(tables, int(frame[1])) if frame else []
        assert [(f.file, f.function, f.line) for f in instruction.frames] == expected


def _frame_tables(text: str) -> dict[str, dict[int, str]]:
    tables: dict[str, dict[int, str]] = {}
    for title in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
        block = re.search(rf"^{title}\n(.*?)\n\n", text, flags=re.M | re.S)
        rows = re.findall(r"^(\d+) (.*)$", block[1], flags=re.M) if block else []
        tables[title] = {int(number): row for number, row in rows}
    return tables


def _chain(tables: dict[str, dict[int, str]], frame: int) -> list[tuple[str, str, int]]:
    chain = []
    while frame:
        row = dict(re.findall(r"(\w+)=(\d+)", tables["StackFrames"][frame]))
        place = dict(re.findall(r"(\w+)=(\d+)", tables["FileLocations"][int(row["file_location_id"])]))
        file = tables["FileNames"][int(place["file_name_id"])].strip('"')
        function = tables["FunctionNames"][int(place["function_name_id"])].strip('"')
        chain.append((file, function, int(place["line"])))
        # XLA's text counts parents from 2; 1 stands for none.
        frame = int(row.get("parent_frame_id", 1)) - 1
    return chain


def test_a_tiny_program_has_what_its_text_says():
    module = fixtures.from_text(TINY)
    f, s, t, y = (module.find(name) for name in ("f", "s", "t", "y"))
    assert f is not None
    assert s is not None
    assert t is not None
    assert y is not None
    assert module.name == "tiny"
    assert module.opcode_counts == Counter(parameter=3, add=1, constant=1, fusion=1, subtract=1, tuple=1)
    assert module.computation(module.entry).name == "main"
    assert module.computation(module.entry).root == t
    assert t.is_root
    assert not f.is_root
    assert [c.name for c in f.called] == ["body"]
    assert f.called[0].is_fusion
    assert [c.name for c in f.called[0].callers] == ["f"]
    assert f.op_name == "jit(f)/add"
    assert (f.details.fusion_kind, f.details.backend_config) == ("kLoop", '{"a":1}')
    assert s.details.frontend_attributes == {"mark": "yes"}
    assert module.instructions.control[s.index].tolist() == [f.index]
    assert s.control_predecessors == (f,)
    assert y.details.parameter_number == 1
    assert y.details.sharding is not None
    assert [u.name for u in y.users] == ["s"]
    seven = module.find("seven")
    assert seven
    assert seven.details.literal == 7
    assert module.result_bytes[t.index] == 20
    [alias] = module.aliases
    assert (alias.output, alias.parameter, alias.must) == ((0,), 0, True)
    assert module.find("nobody") is None


def test_an_hlo_proto_around_a_module_is_read_as_the_module():
    proto = fixtures.xla_module(TINY).as_serialized_hlo_module_proto()
    wrapped = b"\x0a" + _varint(len(proto)) + proto
    assert parse_program(wrapped).opcode_counts == parse_program(proto).opcode_counts
    found = parse_program(wrapped).find("f")
    assert found
    assert found.details.fusion_kind == "kLoop"


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def edited(name: str, edit: Callable[[Any], None], more: bytes = b"", module: Any = None) -> Any:
    """TINY as a decoded module, instruction `name` of its entry computation changed, `more` put after its fields.

    Or another such module, which is changed.
    """
    if module is None:
        module = message_class("Module").FromString(fixtures.xla_module(TINY).as_serialized_hlo_module_proto())
    computation = message_class("Computation").FromString(module.computations[1])
    for place, content in enumerate(computation.instructions):
        instruction = message_class("Instruction").FromString(content)
        if instruction.name == name:
            edit(instruction)
            computation.instructions[place] = instruction.SerializeToString() + more
    module.computations[1] = computation.SerializeToString()
    return module


def _reordered(data: bytes, path: tuple[int, ...], edit: Callable[[list[bytes]], list[bytes]]) -> bytes:
    """The message with the fields of the messages in it at `path` as `edit` leaves them."""
    fields = []
    for field in split_message(data, 0, len(data)):
        raw = data[field.tag : field.end]
        if path and field.number == path[0]:
            inner = _reordered(data[field.start : field.end], path[1:], edit)
            raw = _varint(field.number << 3 | 2) + _varint(len(inner)) + inner
        fields.append(raw)
    return b"".join(fields if path else edit(fields))


@pytest.mark.parametrize(
    "edit",
    [
        lambda fields: fields[::-1],
        lambda fields: fields[1:] + fields[:1],
        lambda fields: fields + [field for field in fields if field[0] >> 3 in (2, 3, 7)],
        lambda fields: fields[::-1] if len(fields) % 2 else fields,
    ],
    ids=["reversed", "name last", "twice", "some reversed"],
)
@pytest.mark.parametrize("name", ["mlp_step.cpu_8", "tiny"])
def test_the_order_of_an_instructions_fields_does_not_matter(name: str, edit: Callable[[list[bytes]], list[bytes]]):
    data = fixtures.xla_module(TINY).as_serialized_hlo_module_proto() if name == "tiny" else fixtures.proto(name)
    usual, other = parse_program(data), parse_program(_reordered(data, (3, 2), edit))
    assert len(usual) == len(other)
    for one, same in ((usual.instruction(k), other.instruction(k)) for k in range(len(usual))):
        assert (one.name, one.opcode, one.shape, one.op_name) == (same.name, same.opcode, same.shape, same.op_name)
        assert one.frames == same.frames


def test_what_is_unknown_is_kept_and_counted():
    extra = b"\xc2\x3e\x03abc"  # field 1000, three bytes
    module = edited("s", lambda instruction: setattr(instruction, "opcode", "frobnicate"), extra)
    read = parse_program(module.SerializeToString())
    assert read.unknown == {"opcode frobnicate": 1, "instruction field 1000": 1}
    found = read.find("s")
    assert found
    assert found.opcode == "frobnicate"
    assert found.details.unknown == ((1000, b"abc"),)
    assert read.reader.raw(found.index).endswith(extra)


@pytest.mark.parametrize(
    ("name", "field", "what"),
    [
        ("x", "shape", "shape field 1000"),
        ("x", "shape.layout", "layout field 1000"),
        ("seven", "literal", "literal field 1000"),
        ("seven", "literal.shape", "shape field 1000"),
        ("y", "sharding", "op sharding field 1000"),
        ("f", "metadata", "op metadata field 1000"),
        ("s", "frontend_attributes", "frontend attributes field 1000"),
    ],
)
def test_what_is_unknown_within_messages_is_counted_too(name: str, field: str, what: str):
    def add(instruction: Any) -> None:
        message = instruction
        for part in field.split("."):
            message = getattr(message, part)
        message.MergeFromString(b"\xc2\x3e\x03abc")

    read = parse_program(edited(name, add).SerializeToString())
    found = read.find(name)
    assert found
    assert read.unknown == {what: 1}
    assert b"\xc2\x3e\x03abc" in read.reader.raw(found.index)


def test_what_is_unknown_within_the_module_is_counted_too():
    module = edited("f", lambda instruction: None)
    module.input_output_alias.entries[0].MergeFromString(b"\xc2\x3e\x03abc")
    read = parse_program(module.SerializeToString() + b"\xc2\x3e\x03abc")
    assert read.unknown == {"alias entry field 1000": 1, "module field 1000": 1}


def test_a_message_that_is_none_does_not_stop_the_reading():
    # Field 15, the window, as two bytes that are no message.
    read = parse_program(edited("s", lambda instruction: None, b"\x7a\x02\xff\xff").SerializeToString())
    assert read.unknown == {"window that cannot be read": 1}
    found = read.find("s")
    assert found
    with pytest.raises(ParseError, match="cut short or damaged"):
        _ = found.details


def test_the_rest_of_a_program_and_of_metadata_is_kept_by_name():
    module = edited("f", lambda instruction: setattr(instruction.metadata, "source_end_line", 9))
    module.buffer_donor.entries.add(parameter_number=1)
    module.device_type = "tpu"
    module.is_dynamic = True
    read = parse_program(module.SerializeToString())
    found = read.find("f")
    assert found
    assert found.details.other["metadata.source_end_line"] == 9
    assert [(donor.parameter, donor.parameter_index) for donor in read.donors] == [(1, ())]
    assert (read.other["device_type"], read.other["is_dynamic"]) == ("tpu", True)


@pytest.mark.parametrize("name", ["x", "größe", "a\x1b[31mb", "two\nlines", ""])
def test_names_that_are_read_together_are_those_read_one_by_one(name: str):
    proto = edited("s", lambda instruction: setattr(instruction, "name", name.encode()))
    module = parse_program(proto.SerializeToString())
    rows = list(range(len(module)))[::-2]
    assert list(module.reader.names(rows)) == [module.reader.name(row) for row in rows]
    assert list(module.reader.names(module.order)) == [module.reader.name(int(row)) for row in module.order]
    assert list(module.reader.names([])) == []


def test_a_tuple_is_as_large_as_its_elements_however_they_are_nested():
    one = Shape(dtype="float32", dimensions=(4,))
    token, inner = Shape(dtype="token"), Shape(dtype="tuple", elements=(one, one))
    assert Shape(dtype="tuple", elements=(one, one, token, inner, Shape(dtype="tuple"))).bytes == 4 * 16
    assert Shape(dtype="tuple", elements=(one, Shape(dtype="type 99", dimensions=(4,)))).bytes is None


def test_places_are_those_of_the_schedule():
    for name in ("mlp_step.cpu_8", "train_step.tpu7x"):
        module = fixtures.module(name)
        assert (module.order[module.places] == np.arange(len(module))).all()


def test_attributes_without_a_place_of_their_own_are_kept_by_name():
    source = TINY.replace("subtract(%y, %seven)", "subtract(%y, %seven)").replace(
        "%x = f32[4]{0} parameter(0)\n  %y",
        "%x = f32[4]{0} parameter(0)\n  %w = f32[2]{0} slice(%x), slice={[1:3]}\n  %y",
    )
    found = fixtures.from_text(source).find("w")
    assert found
    assert found.details.other["slice_dimensions"] == ("start: 1 limit: 3 stride: 1",)


def test_backend_config_that_stands_in_the_modules_payloads_is_found():
    def refer(instruction: Any) -> None:
        instruction.ClearField("backend_config")
        instruction.backend_config_payload.id = 1

    module = edited("f", refer)
    module.payloads.extend([b"zero", b"one"])
    found = parse_program(module.SerializeToString()).find("f")
    assert found
    assert found.details.backend_config == "one"


def test_places_in_the_metadata_of_older_programs_become_frames():
    source = TINY.replace('op_name="jit(f)/add"', 'op_name="jit(f)/add" source_file="a.py" source_line=3')
    found = fixtures.from_text(source).find("f")
    assert found
    assert [(frame.file, frame.line) for frame in found.frames] == [("a.py", 3)]


@pytest.mark.parametrize(
    ("places", "extra", "lines"),
    [
        ({"f": (4, 9, 2)}, (), [9, 5, 1]),  # the table is its own
        ({"f": (1, 9, 2)}, (), [9, 5, 1]),
        ({"f": (9, 9, 0)}, (), [9, 5, 1]),
        ({"f": (4, 7, 2)}, (), [7]),
        ({"f": (1, 9, 2)}, ((4, 0),), [9, 5, 1]),  # the same, of a stack that JAX cut
        ({"f": (1, 9, 2)}, ((4, 3),), [9, 1]),  # called from two lines: which one is not known,
        ({"f": (1, 9, 2), "s": (2, 6, 0)}, ((4, 3),), [9, 5, 1]),  # or not line 6, which comes later
        ({"f": (3, 9, 2), "s": (2, 6, 0)}, ((4, 3),), [9, 1]),
    ],
)
def test_frames_that_are_of_another_table_are_found_by_their_places(places, extra, lines):
    # jaxlib 0.8.1 writes its table in another order than that in which its instructions count.
    def place(name: str, instruction: Any) -> None:
        metadata = instruction.metadata
        metadata.stack_frame_id, metadata.source_line, metadata.source_column = places[name]
        metadata.source_file = "a.py"

    module = edited("f", lambda instruction: place("f", instruction))
    if "s" in places:
        edited("s", lambda instruction: place("s", instruction), module=module)
    index = module.stack_frame_index
    index.file_names.append("a.py")
    index.function_names.extend(["main", "g", "h"])
    for function, at, begin in ((1, 1, 0), (2, 5, 0), (2, 6, 0), (3, 9, 2)):
        index.file_locations.add(file_name_id=1, function_name_id=function, line=at, column=begin)
    for location, parent in ((1, 0), (2, 1), (3, 1), (4, 2), *extra):
        index.stack_frames.add(file_location_id=location, parent_frame_id=parent)
    found = parse_program(module.SerializeToString()).find("f")
    assert found
    assert [frame.line for frame in found.frames] == lines


@pytest.mark.parametrize(
    ("data", "message", "expected"),
    [
        (b"", "there are no bytes", "a serialised xla.HloModuleProto"),
        (TINY.encode(), "this is HLO text", "a serialised xla.HloModuleProto"),
        (b"\x0a\x04jit_\x12\x01x", "there is no computation in it", "a serialised xla.HloModuleProto"),
        (b"\x1f\x8b\x08\x00not a proto", "the bytes are cut short or damaged", "a protocol-buffer field"),
        (b"\x1a\xff\xff\xff\xff\x07xx", "the bytes are cut short or damaged", "a protocol-buffer field"),
    ],
)
def test_bytes_that_are_no_program_are_refused_with_what_was_expected(data: bytes, message: str, expected: str):
    with pytest.raises(ParseError) as caught:
        parse_program(data, path="some.pb")
    assert (caught.value.message, caught.value.expected, caught.value.path) == (message, expected, "some.pb")
    assert caught.value.offset == 0


def test_an_error_names_the_byte_where_reading_stopped():
    proto = fixtures.xla_module(TINY).as_serialized_hlo_module_proto()
    cut = proto[: len(proto) // 2]
    with pytest.raises(ParseError) as caught:
        parse_program(cut)
    assert caught.value.offset is not None
    assert 0 <= caught.value.offset <= len(cut)


def test_references_to_what_is_not_there_are_refused():
    module = message_class("Module").FromString(fixtures.xla_module(TINY).as_serialized_hlo_module_proto())
    module.entry_computation_id = 99
    with pytest.raises(ParseError, match="there is no computation 99"):
        parse_program(module.SerializeToString())


def test_a_program_that_calls_itself_is_refused():
    def call(instruction: Any) -> None:
        instruction.called_computation_ids[0] = edited("none", call).entry_computation_id

    with pytest.raises(ParseError, match="a computation stands before one that it calls"):
        parse_program(edited("f", call).SerializeToString())


def test_an_instruction_without_what_its_opcode_needs_is_refused():
    module = edited("f", lambda instruction: instruction.ClearField("called_computation_ids"))
    with pytest.raises(ParseError, match="an instruction fusion lacks a computation"):
        parse_program(module.SerializeToString())


@pytest.mark.parametrize("seed", range(200))
def test_damaged_programs_raise_only_parse_errors(seed: int):
    random = Random(seed)
    data = bytearray(fixtures.proto(random.choice(("mlp_step.cpu_8", "mlp_step.v5e_2x4", "pallas.v5e"))))
    if seed % 4 == 0:
        del data[random.randrange(len(data)) :]
    for _ in range(random.choice((1, 3, 20))):
        if data:
            data[random.randrange(len(data))] = random.randrange(256)
    try:
        module = parse_program(bytes(data))
        for index in range(len(module)):
            assert module.instruction(index).details is not None
            assert module.instruction(index).shape.text()
            module.frames(index)
        find_collectives(module, fixtures.MESH, range(8))
        find_fusions(module)
    except ParseError:
        pass


def test_names_that_are_no_utf8_are_read_with_a_mark():
    # A folder's name can be any bytes on Linux.
    module = edited("f", lambda instruction: None)
    module.stack_frame_index.file_names.append("PLACEHOLDER")
    data = module.SerializeToString().replace(b"PLACEHOLDER", b"train\xff\xfe.py ")
    assert parse_program(data).frames_table.files[-1] == "train\ufffd\ufffd.py "


@pytest.mark.parametrize("name", fixtures.ALL)
def test_the_kind_of_a_fusion_and_the_target_of_a_call_are_those_of_its_details(name: str):
    module = fixtures.module(name)
    for instruction in (module.instruction(index) for index in range(len(module))):
        details = instruction.details
        assert module.reader.kernel(instruction.index) == (details.fusion_kind, details.custom_call_target)
