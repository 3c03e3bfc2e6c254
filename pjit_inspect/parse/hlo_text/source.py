"""The origin of instructions in HLO text: the tables of stack frames, and the metadata of instructions.

Not its job: reading the resulting protos (`parse.hlo_proto.source`).

*Source*: `xla.OpMetadata`, `xla.StackFrameIndexProto`, and their printed forms in XLA.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pjit_inspect.parse.wire.text_scan import inside, integers, split_pairs, unquote
from pjit_inspect.parse.wire.text_wire import content_field, number_field, packed_field

_STRINGS = {"op_type": 1, "op_name": 2, "source_file": 3, "deduplicated_name": 12, "scheduling_name": 16}
_NUMBERS = {
    "source_line": 4,
    "size_of_generated_code_in_bytes": 8,
    "size_of_memory_working_set_in_bytes": 9,
    "source_end_line": 17,
    "source_column": 18,
    "source_end_column": 19,
}
_FRAME, _PROFILE_TYPE = 15, 5

_VALUE = r'"(?:[^"\\]|\\.)*+"|\{[^{}"]*+\}|[^\s"{},]++'
_PAIRS = re.compile(rf"\{{\s*(?:\w+=(?:{_VALUE})[\s,]*)*+\}}", flags=re.S)
_PAIR = re.compile(rf"(\w+)=({_VALUE})", flags=re.S)

_Read = TypeVar("_Read")
_ROW = re.compile(r"(\d{1,9})\s+(.*)", flags=re.S)
_LOCATION = {"line": 3, "column": 4, "end_line": 5, "end_column": 6}


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
    files = _rows(tables.get("FileNames", ()), unquote, stray)
    functions = _rows(tables.get("FunctionNames", ()), unquote, stray)
    file, function = _numbered(files), _numbered(functions)

    def location(text: str) -> bytes:
        row = _pairs(text)
        fields = [number_field(1, file[row["file_name_id"]]), number_field(2, function[row["function_name_id"]])]
        fields += [number_field(place, row[key]) for key, place in _LOCATION.items() if row.get(key)]
        return b"".join(fields)

    locations = _rows(tables.get("FileLocations", ()), location, stray)
    place = _numbered(locations)

    def frame(text: str) -> tuple[int, int]:
        row = _pairs(text)
        # XLA prints the calling frame's number plus one; one means none.
        return place[row["file_location_id"]], row.get("parent_frame_id", 1) - 1

    frames = _rows(tables.get("StackFrames", ()), frame, stray)
    numbers = _numbered(frames)
    fields = [content_field(1, text) for text in files.values()]
    fields += [content_field(2, text) for text in functions.values()]
    fields += [content_field(3, message) for message in locations.values()]
    for at, parent in frames.values():
        fields.append(content_field(4, number_field(1, at) + number_field(2, numbers.get(parent, 0))))
    return SourceTables(index=b"".join(fields), frames=numbers, stray=tuple(stray))


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
    fields: list[bytes] = []
    others: list[tuple[str, str]] = []
    for key, value in _PAIR.findall(text):
        if key in _STRINGS:
            fields.append(content_field(_STRINGS[key], unquote(value)))
        elif key == "stack_frame_id" and (frame := frames.get(int(value) if value.isdecimal() else 0)):
            fields.append(number_field(_FRAME, frame))
        elif key in _NUMBERS and value.isdecimal() and int(value) < 2**31:
            fields.append(number_field(_NUMBERS[key], int(value)))
        elif key == "profile_type":
            fields.append(packed_field(_PROFILE_TYPE, integers(inside(value, "{"))))
        else:
            others.append((key, value))
    return b"".join(fields), others
