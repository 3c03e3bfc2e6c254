"""Where instructions come from, in HLO text: the tables of stack frames, and the metadata of instructions.

Not its job: reading the resulting protos (`parse.hlo_proto.source`).

*Source*: `xla.OpMetadata`, `xla.StackFrameIndexProto`, and how XLA prints them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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

_ROW = re.compile(r"(\d{1,9})\s+(.*)", flags=re.S)
_LOCATION = {"line": 3, "column": 4, "end_line": 5, "end_column": 6}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTables:
    """The tables of one program.

    Attributes:
      index: a serialised `StackFrameIndexProto`.
      frames: the number each frame of the text has there.
      stray: rows that could not be read, or that point to a row that is not there.
    """

    index: bytes = b""
    frames: Mapping[int, int] = field(default_factory=dict)
    stray: tuple[str, ...] = ()


def read_tables(tables: Mapping[str, Sequence[str]]) -> SourceTables:
    """The tables with these rows. Rows that could not be read are left out, and those that need them."""
    reader = _TableReader()
    files = reader.strings(tables.get("FileNames", ()))
    functions = reader.strings(tables.get("FunctionNames", ()))
    locations = reader.locations(tables.get("FileLocations", ()), _numbered(files), _numbered(functions))
    frames = reader.frames(tables.get("StackFrames", ()), _numbered(locations))
    numbers = _numbered(frames)
    fields = [content_field(1, text) for text in files.values()]
    fields += [content_field(2, text) for text in functions.values()]
    fields += [content_field(3, message) for message in locations.values()]
    for place, parent in frames.values():
        fields.append(content_field(4, number_field(1, place) + number_field(2, numbers.get(parent, 0))))
    return SourceTables(index=b"".join(fields), frames=numbers, stray=tuple(reader.stray))


def _numbered(rows: Mapping[int, object]) -> dict[int, int]:
    """The place of each row, counted from 1, by the number the text gives it."""
    return {number: place for place, number in enumerate(rows, 1)}


class _TableReader:
    """Reads rows, and keeps those it could not read."""

    def __init__(self) -> None:
        self.stray: list[str] = []

    def strings(self, rows: Sequence[str]) -> dict[int, bytes]:
        """Rows such as `1 "train.py"`."""
        strings: dict[int, bytes] = {}
        for text in rows:
            row = _ROW.fullmatch(text)
            try:
                if row is None:
                    raise ValueError("this is no row")
                strings[int(row[1])] = unquote(row[2])
            except ValueError:
                self.stray.append(text)
        return strings

    def rows(self, rows: Sequence[str]) -> list[tuple[int, dict[str, int], str]]:
        """Rows such as `1 {file_name_id=1 line=3}`."""
        entries: list[tuple[int, dict[str, int], str]] = []
        for text in rows:
            row = _ROW.fullmatch(text)
            try:
                if row is None:
                    raise ValueError("this is no row")
                pairs = {key: integers(value)[0] for key, value in split_pairs(inside(row[2], "{"))}
                if not all(0 <= value < 2**31 for value in pairs.values()):
                    raise ValueError("this is no row")
            except (ValueError, IndexError):
                self.stray.append(text)
            else:
                entries.append((int(row[1]), pairs, text))
        return entries

    def locations(
        self, rows: Sequence[str], files: Mapping[int, int], functions: Mapping[int, int]
    ) -> dict[int, bytes]:
        """Each location as a serialised message; `files` and `functions` have the places of the names."""
        fields_of: dict[int, bytes] = {}
        for number, row, text in self.rows(rows):
            file, function = files.get(row.get("file_name_id", 0)), functions.get(row.get("function_name_id", 0))
            if file is None or function is None:
                self.stray.append(text)
                continue
            fields = [number_field(1, file), number_field(2, function)]
            fields += [number_field(place, row[key]) for key, place in _LOCATION.items() if row.get(key)]
            fields_of[number] = b"".join(fields)
        return fields_of

    def frames(self, rows: Sequence[str], locations: Mapping[int, int]) -> dict[int, tuple[int, int]]:
        """Each frame's location, and the number of the frame that called it."""
        frames: dict[int, tuple[int, int]] = {}
        for number, row, text in self.rows(rows):
            place = locations.get(row.get("file_location_id", 0))
            if place is None:
                self.stray.append(text)
            else:
                # XLA prints the number of the calling frame plus one; one stands for none.
                frames[number] = place, row.get("parent_frame_id", 1) - 1
        return frames


def read_metadata(text: str, frames: Mapping[int, int]) -> tuple[bytes, list[tuple[str, str]]]:
    """A serialised `OpMetadata`, and the pairs of the text that have no place in it.

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
