"""The program's texts for the inspector, line by line, each with the user's line of source.

StableHLO carries its places: `loc(#loc12)`, and the table these point to. Optimized HLO gets them from its parsed
module. A printed jaxpr has none: both texts are in program order, and an equation matches the next StableHLO operation
whose JAX name ends in its primitive and whose result has its type. Equations without a match nearby stay without a
place.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.collective import Phase
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data

PHASES: tuple[Phase, ...] = (None, "forward", "backward", "recompute", "optimizer")
PhaseOf = Callable[[str], Phase]

_MOST_LINES = 20_000
_INSTRUCTION = re.compile(r"\s*(?:ROOT )?%?([\w.\-]+) = ")
_METADATA = re.compile(r', metadata=\{[^{}"]*+(?:"(?:[^"\\]|\\.)*+"[^{}"]*+)*+\}')
_HEAD = re.compile(r"^(ENTRY )?%?([\w.\-]+) (?:\(|\{).*\{\s*$")


def source_lines(tables: SharedTables) -> list[LinkedText]:
    """One text for each file or cell of the record; every line is its own place."""
    found = []
    for source in tables.sources:
        name = source.cell or source.file.replace("\\", "/").rsplit("/", 1)[-1]
        text = LinkedText(name=name, total=len(source.lines))
        for number, line in enumerate(source.lines[:_MOST_LINES], 1):
            text.add(number, line, tables.spot_of(source, number))
        found.append(text)
    return found


def program_lines(
    jaxpr: str | None, stablehlo: str | None, tables: SharedTables, phase_of: PhaseOf
) -> tuple[LinkedText | None, LinkedText | None]:
    """The jaxpr, and the StableHLO without location marks and their table; None for missing texts."""
    lowered: list[Lowered] = []
    text = None if stablehlo is None else _stablehlo(stablehlo, tables, phase_of, lowered)
    return None if jaxpr is None else jaxpr_lines(jaxpr, lowered), text


def _stablehlo(source: str, tables: SharedTables, phase_of: PhaseOf, lowered: list[Lowered]) -> LinkedText:
    locations = MlirLocations(source)
    text = LinkedText(name="StableHLO", total=count_lines(source))
    for number, line in enumerate(source.split("\n"), 1):
        if line.startswith("#loc") or not line:
            continue
        if len(text.lines) >= _MOST_LINES:
            text.note = f"the first {_MOST_LINES:,} lines; record.stablehlo has all"
            break
        shown, name, frames = locations.split(line)
        spot, phase = tables.spot(frames), _phase(name, phase_of)
        text.add(number, shown, spot, phase)
        op = lowered_op(shown, name, spot, phase)
        lowered += [op] if op is not None else []
    return text


def _phase(name: str, phase_of: PhaseOf) -> int:
    return PHASES.index(phase_of(name)) if name else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HloLinks:
    """The links of an optimized program's lines.

    Attributes:
      running: the program's instructions; None where it could not be parsed.
      entities: instruction -> its row, as in `LinkedText.entities`.
      phase_of: gives the phase from an operation's name.
    """

    running: RunningInstructions | None
    entities: Mapping[str, int]
    phase_of: PhaseOf


def hlo_lines(source: str, tables: SharedTables, links: HloLinks) -> LinkedText:
    """The optimized program without its metadata; of a long one, only the running computations.

    Bodies of fusions are left out if the whole has over 20,000 lines: they are most of it.
    """
    lines, reader = TextLines(source), _HloReader(tables, links)
    text = LinkedText(name="optimized HLO", total=len(lines))
    is_long = len(lines) > _MOST_LINES
    at = left_out = 0
    while at < text.total:
        line, first = lines[at], at
        at += 1
        if is_long and reader.is_inner(line):
            at = lines.next_closing(at) + 1
            left_out += at - first
        elif line and not reader.skips(line):
            text.add(at, _without_metadata(line), *reader.links(line))
        if len(text.lines) >= 3 * _MOST_LINES:
            left_out += text.total - at
            break
    if left_out:
        text.note = f"{left_out:,} lines left out, inside fusions and reductions; record.hlo_text has all"
    return text


def _without_metadata(line: str) -> str:
    return _METADATA.sub("", line) if ", metadata={" in line else line


def instruction_lines(text: LinkedText) -> dict[str, int]:
    """Instruction -> its place among the shown lines; the last, if it is shown twice."""
    found = ((number, _INSTRUCTION.match(line)) for number, line in enumerate(text.lines))
    return {match[1]: number for number, match in found if match}


class _HloReader:
    """Reads lines of HLO text in order."""

    def __init__(self, tables: SharedTables, links: HloLinks) -> None:
        self._tables, self._links = tables, links
        self._by_frame: dict[int, int] = {}
        self._phases: dict[int, int] = {}
        self._computations: frozenset[str] = frozenset() if links.running is None else links.running.computations
        self._in_tables = False

    def is_inner(self, line: str) -> bool:
        """True if a line opens a computation inside a fusion or reduction."""
        found = _HEAD.match(line)
        return bool(found) and not found[1] and found[2] not in self._computations  # type: ignore[index]

    def skips(self, line: str) -> bool:
        """True if a line is in the tables of files and frames that XLA prints besides computations."""
        if line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            self._in_tables = True
        elif line.startswith(("%", "ENTRY")):
            self._in_tables = False
        return self._in_tables

    def links(self, line: str) -> tuple[int, int, int]:
        """Place, phase and row of a line."""
        found = _INSTRUCTION.match(line)
        running = self._links.running
        if not found:
            return -1, 0, -1
        entity = self._links.entities.get(found[1], -1)
        op = running.find(found[1]) if running is not None else None
        if op is None:
            return -1, 0, entity
        columns = op.module.instructions
        frame, name = int(columns.frame[op.index]), int(columns.op_name[op.index])
        if frame not in self._by_frame:
            self._by_frame[frame] = self._tables.spot(op.frames)
        if name not in self._phases:
            self._phases[name] = _phase(op.op_name, self._links.phase_of)
        return self._by_frame[frame], self._phases[name], entity


# ---------------------------------------------------------------- the places of StableHLO

_ALIAS = re.compile(r"^#(loc\d*) = loc\((.*)\)$")
_AT_END = re.compile(r" loc\((#loc\d*|\"(?:[^\"\\]|\\.)*\"(?:\(#loc\d*\))?|unknown)\)(?=$|[ ,){])")
_NAMED = re.compile(r'^"((?:[^"\\]|\\.)*)"\((.*)\)$')
_FILE = re.compile(r'^"((?:[^"\\]|\\.)*)":(\d+):\d+')
_CALLSITE = re.compile(r"^callsite\((.*) at (.*)\)$")
_MOST_HOPS = 64


class MlirLocations:
    """The table of locations of one text."""

    def __init__(self, source: str) -> None:
        self._table = {
            found[1]: found[2]
            for line in source.split("\n")
            if line.startswith("#loc") and (found := _ALIAS.match(line))
        }
        self._known: dict[str, tuple[str, tuple[Frame, ...]]] = {}

    def split(self, line: str) -> tuple[str, str, tuple[Frame, ...]]:
        """A line without its marks, the name of its operation, and its frames, innermost first."""
        if " loc(" not in line:
            return line, "", ()
        marks = _AT_END.findall(line)
        name, frames = self.resolve(marks[-1]) if marks else ("", ())
        return _AT_END.sub("", line), name, frames

    def resolve(self, mark: str) -> tuple[str, tuple[Frame, ...]]:
        """The name and the frames of a location."""
        if mark not in self._known:
            name = ""
            text = self._text(mark)
            if found := _NAMED.match(text):
                name, text = found[1], self._text(found[2])
            self._known[mark] = name, self._frames(text)
        return self._known[mark]

    def _text(self, mark: str) -> str:
        for _ in range(_MOST_HOPS):
            if not mark.startswith("#"):
                return mark
            mark = self._table.get(mark[1:], "unknown")
        return mark

    def _frames(self, text: str) -> tuple[Frame, ...]:
        """Frames of nested call sites; a callee's are further in."""
        frames: list[Frame] = []
        todo = [text]
        for _ in range(_MOST_HOPS):
            if not todo:
                break
            text = self._text(todo.pop())
            if found := _CALLSITE.match(text):
                todo += [found[2], found[1]]
            elif (named := _NAMED.match(text)) is not None:
                todo.append(named[2])
            elif found := _FILE.match(text):
                frames.append(Frame(file=found[1], line=min(int(found[2][:9]), 2**31 - 1)))
        return tuple(frames)


# ---------------------------------------------------------------- the places of a jaxpr

_EQUATION = re.compile(r"^\s*[a-z_][\w]*:([a-z]+\d*\w*)\[([\d,]*)\][^=]*? = ([a-z_][\w-]*)\b")
_TENSOR = re.compile(r"tensor<((?:\d+x)*)([a-z]+\d*\w*)>")
_DTYPES = {"i1": "bool", "ui8": "u8", "ui16": "u16", "ui32": "u32", "ui64": "u64"}
_AHEAD = 60
_HOW = (
    "A printed jaxpr does not say which line of source an equation came from. Each equation gets the place of the next "
    "StableHLO operation with its primitive and its type: a good guess, not a fact."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """One StableHLO operation: the primitive it came from, the type of its result, its place and phase."""

    primitive: str
    type: tuple[str, str]
    spot: int
    phase: int


def lowered_op(line: str, name: str, spot: int, phase: int) -> Lowered | None:
    """An operation's line of StableHLO; None where it names no primitive or no type."""
    found = _TENSOR.findall(line)
    primitive = name.rpartition("/")[2].partition("[")[0]
    if not found or not primitive:
        return None
    return Lowered(primitive=primitive, type=_type(*found[-1]), spot=spot, phase=phase)


def _type(dimensions: str, dtype: str) -> tuple[str, str]:
    return _DTYPES.get(dtype, dtype), dimensions.rstrip("x").replace("x", ",")


def jaxpr_lines(source: str, lowered: list[Lowered]) -> LinkedText:
    """The jaxpr's lines, with the places of the matched operations."""
    text, at = LinkedText(name="jaxpr", total=count_lines(source), how=_HOW), 0
    spot = phase = -1
    for number, line in enumerate(source.split("\n")[:_MOST_LINES], 1):
        found = _EQUATION.match(line)
        if found:
            partner = _partner(lowered, at, found[3], (found[1], found[2]))
            spot, phase = (-1, 0) if partner is None else (lowered[partner].spot, lowered[partner].phase)
            at = at if partner is None else partner + 1
        elif not line.strip() or "lambda" in line:
            spot, phase = -1, 0
        text.add(number, line, spot, max(0, phase))
    if source.count("\n") >= _MOST_LINES:
        text.note = f"the first {_MOST_LINES:,} lines; record.jaxpr has all"
    return text


def _partner(lowered: list[Lowered], at: int, primitive: str, type: tuple[str, str]) -> int | None:
    for position in range(at, min(at + _AHEAD, len(lowered))):
        if lowered[position].primitive == primitive and lowered[position].type == type:
            return position
    return None


# ---------------------------------------------------------------- lines

_LONGEST_LINE = 400
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")
"""The address of an object of the process: it says nothing, and differs from run to run."""


@dataclass(slots=True, kw_only=True)
class LinkedText:
    """One text.

    Attributes:
      name: the title of the pane.
      lines: the lines.
      numbers: the number of each line in the whole text, from 1.
      spots: for each line its place in the source (`SharedTables.spot`), -1 for none.
      phases: for each line its phase, as an index in `PHASES`.
      entities: for each line its entity: collective row r as 2r, kernel row r as 2r + 1; -1 for neither.
      note: words for lines left out.
      total: the number of lines of the whole text.
      how: an explanation of the links of its lines; "" when the text itself has them.
    """

    name: str
    lines: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    spots: list[int] = field(default_factory=list)
    phases: list[int] = field(default_factory=list)
    entities: list[int] = field(default_factory=list)
    note: str = ""
    total: int = 0
    how: str = ""

    def add(self, number: int, line: str, spot: int = -1, phase: int = 0, entity: int = -1) -> None:
        """Adds a line."""
        self.lines.append(shown_line(line))
        self.numbers.append(number)
        self.spots.append(spot)
        self.phases.append(phase)
        self.entities.append(entity)

    def head(self) -> dict[str, Any]:
        """The facts of the whole text; empty ones are left out."""
        head = {"name": name_data(self.name), "note": self.note, "total": max(self.total, len(self.lines))}
        return {key: value for key, value in {**head, "how": self.how}.items() if value}

    def columns(self, prefix: str) -> dict[str, np.ndarray]:
        """Its columns, as `pack_blob` takes them."""
        return {
            f"{prefix}.numbers": np.array(self.numbers, np.int32),
            f"{prefix}.spots": np.array(self.spots, np.int32),
            f"{prefix}.phases": np.array(self.phases, np.uint8),
            f"{prefix}.entities": np.array(self.entities, np.int32),
        }


class TextLines:
    """The lines of a text that may be long; a line becomes a string only on access."""

    def __init__(self, source: str) -> None:
        self._data = source.removesuffix("\n").encode("utf-8", "surrogatepass")
        characters = np.frombuffer(self._data, np.uint8)
        self._ends = np.append(np.flatnonzero(characters == ord("\n")), len(characters))
        self._starts = np.append(0, self._ends[:-1] + 1)
        is_closing = characters[self._starts[self._starts < len(characters)]] == ord("}")
        self._closing: list[int] = np.flatnonzero(is_closing).tolist()

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, at: int) -> str:
        return self._data[self._starts[at] : self._ends[at]].decode("utf-8", "surrogatepass")

    def next_closing(self, at: int) -> int:
        """The first line from `at` on that begins with a closing brace; the last line if none does."""
        place = bisect_left(self._closing, at)
        return self._closing[place] if place < len(self._closing) else len(self) - 1


def count_lines(source: str) -> int:
    """The number of lines of a text; a newline at its end begins no further line."""
    return source.removesuffix("\n").count("\n") + 1


def shown_line(line: str) -> str:
    """A line for display: tabs as spaces, very long lines cut."""
    text = _ADDRESS.sub("", line.rstrip("\r\n").replace("\t", "    "))
    more = len(text) - _LONGEST_LINE
    if more <= 80:
        return printable(text)
    return f"{printable(text[:_LONGEST_LINE])} \u2026 {more:,} characters more"
