"""The origin of instructions in HLO text: the tables of stack frames, and the metadata of instructions.

Not its job: reading the resulting protos (`parse.hlo_proto.source`).

*Source*: `xla.OpMetadata`, `xla.StackFrameIndexProto`, and their printed forms in XLA.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.text_scan import inside, integers, split_pairs, unquote, unquote_text
from pjit_inspect.parse.wire.text_wire import content_field, number_field, packed_field

_VALUE = r'"(?:[^"\\]|\\.)*+"|\{[^{}"]*+\}|[^\s"{},]++'
_PAIRS = re.compile(rf"\{{\s*(?:\w+=(?:{_VALUE})[\s,]*)*+\}}", flags=re.S)
_PAIR = re.compile(rf"(\w+)=({_VALUE})", flags=re.S)

_Read = TypeVar("_Read")
_ROW = re.compile(r"(\d{1,9})\s+(.*)", flags=re.S)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTables:
    """The tables of one program.

    Attributes:
      index: a serialised `StackFrameIndexProto`.
      frames: the number of each frame in the text -> its number in the index.
      stray: rows that are unreadable, or point to a missing row.
    """

    index: bytes = b""
    frames: Mapping[int, int] = field(default_factory=dict)
    stray: tuple[str, ...] = ()


def read_tables(tables: Mapping[str, Sequence[str]]) -> SourceTables:
    """The tables with these rows, without unreadable rows and rows that need them."""
    stray: list[str] = []
    files = _rows(tables.get("FileNames", ()), unquote_text, stray)
    functions = _rows(tables.get("FunctionNames", ()), unquote_text, stray)
    file, function = _numbered(files), _numbered(functions)
    known = message_class("FileLocation").DESCRIPTOR.fields_by_name

    def location(text: str) -> dict[str, int]:
        row = {key: value for key, value in _pairs(text).items() if value and key in known}
        return {**row, "file_name_id": file[row["file_name_id"]], "function_name_id": function[row["function_name_id"]]}

    locations = _rows(tables.get("FileLocations", ()), location, stray)
    place = _numbered(locations)

    def frame(text: str) -> tuple[int, int]:
        row = _pairs(text)
        # XLA prints the calling frame's number plus one; one means none.
        return place[row["file_location_id"]], row.get("parent_frame_id", 1) - 1

    frames = _rows(tables.get("StackFrames", ()), frame, stray)
    numbers = _numbered(frames)
    index = message_class("StackFrameIndex")(
        file_names=files.values(),
        function_names=functions.values(),
        file_locations=locations.values(),
        stack_frames=[
            {"file_location_id": at, "parent_frame_id": numbers.get(parent, 0)} for at, parent in frames.values()
        ],
    )
    return SourceTables(index=index.SerializeToString(), frames=numbers, stray=tuple(stray))


def _numbered(rows: Mapping[int, object]) -> dict[int, int]:
    """The place of each row, counted from 1, by its number in the text."""
    return {number: place for place, number in enumerate(rows, 1)}


def _rows(rows: Sequence[str], read: Callable[[str], _Read], stray: list[str]) -> dict[int, _Read]:
    """The contents of each row by its number; rows that are unreadable, or name missing ones, are stray."""
    found = {}
    for text in rows:
        row = _ROW.fullmatch(text)
        try:
            if row is None:
                raise ValueError("this is no row")
            found[int(row[1])] = read(row[2])
        except (ValueError, LookupError):
            stray.append(text)
    return found


def _pairs(text: str) -> dict[str, int]:
    """The numbers of a row such as `{file_name_id=1 line=3}`."""
    pairs = {key: integers(value)[0] for key, value in split_pairs(inside(text, "{"))}
    if not all(0 <= value < 2**31 for value in pairs.values()):
        raise ValueError("this is no row")
    return pairs


def read_metadata(text: str, frames: Mapping[int, int]) -> tuple[bytes, list[tuple[str, str]]]:
    """A serialised `OpMetadata`, and the pairs of the text that it cannot hold.

    Raises `ValueError` for a text that is no metadata.
    """
    if not _PAIRS.fullmatch(text):
        raise ValueError("this is no metadata")
    known = message_class("OpMetadata").DESCRIPTOR.fields_by_name
    fields: list[bytes] = []
    others: list[tuple[str, str]] = []
    for key, value in _PAIR.findall(text):
        field = known.get(key)
        number = int(value) if value.isdecimal() else -1
        if key == "stack_frame_id":
            number = frames.get(number, -1)
        if key == "profile_type":
            fields.append(packed_field(field.number, integers(inside(value, "{"))))
        elif field is not None and field.type == field.TYPE_STRING:
            fields.append(content_field(field.number, unquote(value)))
        elif field is not None and field.type in (field.TYPE_INT32, field.TYPE_INT64) and 0 <= number < 2**31:
            fields.append(number_field(field.number, number))
        else:
            others.append((key, value))
    return b"".join(fields), others
