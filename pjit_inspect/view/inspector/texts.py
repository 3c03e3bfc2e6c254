"""The program's texts for the inspector, line by line, each with the user's line of source.

StableHLO carries its places; optimized HLO gets them from its parsed module; a jaxpr has none and is matched with its
StableHLO (`view.inspector.jaxpr`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.report.collective import Phase
from pjit_inspect.view.inspector.jaxpr import Lowered, jaxpr_lines, lowered_op
from pjit_inspect.view.inspector.lines import LinkedText, TextLines, count_lines
from pjit_inspect.view.inspector.mlir import MlirLocations
from pjit_inspect.view.inspector.shared_tables import SharedTables

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
        """Whether a line opens a computation inside a fusion or reduction."""
        found = _HEAD.match(line)
        return bool(found) and not found[1] and found[2] not in self._computations  # type: ignore[index]

    def skips(self, line: str) -> bool:
        """Whether a line is in the tables of files and frames that XLA prints besides computations."""
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
