"""An optimized program, from HLO text to `model.program.hlo`, without jaxlib.

XLA's parser refuses a text with one unknown word, and ends the process on some damaged ones; this reader keeps as much
as possible, and counts unreadable parts. The text becomes an `xla.HloModuleProto`, and that becomes the model, so a
program from text equals one from a proto. Not its job: reading files.

*Source*: `HloModule::ToString` in XLA.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.incomplete import NO_BEGINNING, NO_END, NO_ENTRY, UNREADABLE_LINES
from pjit_inspect.parse.hlo_proto.columns import KEPT_AS_TEXT, OTHER_LINES, verbatim_field
from pjit_inspect.parse.hlo_text.attributes import read_aliases, read_attribute
from pjit_inspect.parse.hlo_text.instructions import ComputationWriter
from pjit_inspect.parse.hlo_text.pasted import without_line_beginnings
from pjit_inspect.parse.hlo_text.sections import ProgramCutter, ProgramText
from pjit_inspect.parse.hlo_text.shapes import read_shape, split_tuple
from pjit_inspect.parse.hlo_text.source import SourceTables, read_tables
from pjit_inspect.parse.wire.clean import clean_text
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.text_scan import inside, integers, unquote
from pjit_inspect.parse.wire.text_wire import content_field, number_field, packed_field

_NAME, _ENTRY_NAME, _ENTRY_ID, _SCHEDULE, _FRAMES = 1, 2, 6, 7, 17


class EncodedText(NamedTuple):
    """One program of a text.

    Attributes:
      name: the name in its header; "" without one.
      text: its part of the text.
      proto: a serialised `xla.HloModuleProto`, for `parse_program`; or the error, if it is unreadable. Parts without a
        field are in an extra one (`parse.hlo_proto.hlo`).
    """

    name: str
    text: str
    proto: bytes | ParseError


def encode_hlo_texts(text: str) -> list[EncodedText]:
    """Every program of a text, in order. Raises `ParseError` with the line if none is readable."""
    # This turns lone surrogates, which cannot be written, into escapes.
    text = without_line_beginnings(clean_text(text))
    found: list[EncodedText] = []
    position = 0
    while position < len(text):
        program, proto = _encode(text, position)
        position = program.end
        if program.header is not None or program.computations:
            found.append(EncodedText(program.name, text[program.start : program.end], proto))
    errors = [one.proto for one in found if isinstance(one.proto, ParseError)]
    if len(errors) < len(found):
        return found if len(found) > 1 else [found[0]._replace(text=text)]
    raise errors[0] if errors else _no_program(text)


def _no_program(text: str) -> ParseError:
    line = 1 + text.count("\n", 0, len(text) - len(text.lstrip()))
    shown = text.lstrip()[:20].split("\n")[0]
    return ParseError(
        f"the text begins with {shown!r}" if shown else "there is no text",
        offset=line,
        expected="HLO text as XLA prints it: 'HloModule', or a computation, or instructions such as "
        "'%x = f32[2] add(%a, %b)'",
    )


def _encode(
    text: str, position: int, tables: Mapping[str, list[str]] | None = None
) -> tuple[ProgramText, bytes | ParseError]:
    """The program at `position`, and its bytes; each computation is written as soon as it is read.

    `tables` are its source tables, if they come after a computation; XLA never writes this.
    """
    cutter = ProgramCutter(text, position)
    program, ids = cutter.program, []
    source, rows, writer = SourceTables(), 0, ComputationWriter({})
    for computation in cutter.computations():
        if not ids:
            source, rows = read_tables(tables or program.tables), _rows(program)
            writer = ComputationWriter(source.frames)
        ids.append(writer.write(computation))
        computation.instructions.clear()
    if tables is None and rows != _rows(program):
        return _encode(text, position, program.tables)
    if not program.computations:
        line = 1 + text.count("\n", 0, len(text[: program.end].rstrip()))
        expected = "computations after the header"
        return program, ParseError("there is no computation in it", offset=line, expected=expected)
    if not writer.readable:
        expected = "instructions such as '%x = f32[2] add(%a, %b)'"
        return program, ParseError("no instruction could be read", expected=expected)
    return program, b"".join(_module(program, ids, writer, source))


def _rows(program: ProgramText) -> int:
    return sum(map(len, program.tables.values()))


def _module(program: ProgramText, ids: list[int], writer: ComputationWriter, source: SourceTables) -> Iterator[bytes]:
    """The fields of the module; `ids` are its computations' ids."""
    header, computations = dict(program.header or {}), program.computations
    entries = [k for k, computation in enumerate(computations) if computation.is_entry]
    entry = entries[0] if entries else len(ids) - 1
    yield content_field(_NAME, program.name.encode())
    yield content_field(_ENTRY_NAME, computations[entry].name.encode())
    yield from writer.messages
    yield number_field(_ENTRY_ID, ids[entry]) + content_field(_FRAMES, source.index)
    if header.pop("is_scheduled", "") == "true":
        yield _schedule(writer.sequences)
    yield _module_fields(header)
    kept = [(UNREADABLE_LINES, text) for text in (*program.stray, *writer.stray)]
    kept += [(OTHER_LINES, line) for line in (*program.around, *source.stray)]
    kept += [] if entries else [(NO_ENTRY, "")]
    kept += [(NO_BEGINNING, one.name) for one in computations if not one.is_begun]
    kept += [(NO_END, one.name) for one in computations if one.end is None]
    yield from (verbatim_field(what, text) for what, text in kept)


def _schedule(sequences: Mapping[int, list[int]]) -> bytes:
    """The schedule: lines of a scheduled program are in execution order."""
    entries = (
        content_field(1, number_field(1, id) + content_field(2, packed_field(1, ids))) for id, ids in sequences.items()
    )
    return content_field(_SCHEDULE, b"".join(entries))


def _module_fields(header: dict[str, str]) -> bytes:
    """The fields of the module's attributes."""
    module = message_class("Module")()
    kept = []
    for key, value in header.items():
        try:
            if key in KEPT_AS_TEXT:
                kept.append(verbatim_field(key, value))
            if key == "entry_computation_layout":
                module.host_program_shape = _entry_shapes(value)
            elif key not in KEPT_AS_TEXT:
                _read_attribute(module, key, value)
        except ValueError:
            kept.append(verbatim_field(f"header attribute {key}", value))
    if module.HasField("device_assignment"):
        counts = module.device_assignment
        counts.replica_count = counts.replica_count or 1
        counts.computation_count = counts.computation_count or 1
    return b"".join((module.SerializeToString(), *kept))


def _read_attribute(module: Any, key: str, value: str) -> None:
    if key == "replica_count":
        (module.device_assignment.replica_count,) = integers(value)
    elif key == "num_partitions":
        (module.device_assignment.computation_count,) = integers(value)
    elif key == "input_output_alias":
        module.input_output_alias.entries.extend(
            message_class("AliasEntry")(**one) for one in read_aliases(value, "parameter_number")
        )
    elif key == "frontend_attributes":
        instruction = message_class("Instruction").FromString(read_attribute("", key, value))
        module.frontend_attributes.CopyFrom(instruction.frontend_attributes)
    elif key == "backend_config":
        module.backend_config = value.encode() if value.startswith("{") else unquote(value)
    elif key == "buffer_donor":
        donors = read_aliases(value, "parameter_number", is_donor=True)
        module.buffer_donor.entries.extend(message_class("BufferDonor")(**one) for one in donors)
    else:
        raise ValueError("this attribute is not known")


def _entry_shapes(text: str) -> bytes:
    """The `ProgramShapeProto` of `{(f32[8]{0}, f32[])->f32[8]{0:S(5)}}`: the caller's arrays, with their memories."""
    arguments, _, result = inside(text, "{").rpartition("->")
    shape = message_class("ProgramShape")(result=read_shape(result)[0])
    shape.parameters.extend(read_shape(one)[0] for one in split_tuple(arguments))
    return shape.SerializeToString()
