"""HLO text, cut into its parts: the header, the source tables, the computations and their instructions.

Works by lines, as XLA prints them; an instruction that goes on over several lines stays whole. Not its job: what an
instruction says (`parse.wire.text_lines`).

*Source*: `HloModule::ToString`, `HloComputation::ToString` in XLA.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from pjit_inspect.errors import ParseError

__all__ = ["ComputationText", "ProgramText", "cut_program"]

_INSTRUCTION = re.compile(r"\s*(?:ROOT\s+)?%?[A-Za-z_][^\s=(){},%]*\s+=\s")
_COMPUTATION = re.compile(r"\s*(ENTRY\s+)?%?([A-Za-z_][^\s=(){},%]*)\s*(?:\(.*)?\{\s*", flags=re.S)
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_EXPECTED = "HLO text as XLA prints it, beginning with 'HloModule'"


@dataclass(slots=True, kw_only=True)
class ComputationText:
    """One computation.

    Attributes:
      name: its name, without the percent sign.
      is_entry: whether the program starts with it.
      instructions: its instructions in order.
      end: what stands behind its closing brace; None when there is none.
    """

    name: str
    is_entry: bool
    instructions: list[str] = field(default_factory=list)
    end: str | None = None


@dataclass(slots=True, kw_only=True)
class ProgramText:
    """The parts of one program.

    Attributes:
      header: the lines that begin with "HloModule"; "" when there are none.
      tables: the rows of each source table by its title.
      computations: those that have an instruction, in order.
      more: how many programs follow in the same text, whose lines are among `stray`.
      stray: lines that belong to none of these.
    """

    header: str = ""
    tables: dict[str, list[str]] = field(default_factory=dict)
    computations: list[ComputationText] = field(default_factory=list)
    more: int = 0
    stray: list[str] = field(default_factory=list)


def cut_program(text: str) -> ProgramText:
    """The parts of `text`, of the first program where it holds several.

    Raises `ParseError` with the line when it is no HLO, and where two computations claim to be the entry.
    """
    program = _Cutter().cut(text.split("\n"))
    if program.header or any(computation.is_entry for computation in program.computations):
        if program.computations:
            return program
        line = 1 + text.count("\n", 0, len(text.rstrip()))
        raise ParseError("there is no computation in it", offset=line, expected="computations after the header")
    line = 1 + text.count("\n", 0, len(text) - len(text.lstrip()))
    shown = text.lstrip()[:20].split("\n")[0]
    message = f"the text begins with {shown!r}" if shown else "there is no text"
    raise ParseError(message, offset=line, expected=_EXPECTED)


class _Cutter:
    """Reads lines one after another."""

    def __init__(self) -> None:
        self.program = ProgramText()
        self._computation: ComputationText | None = None
        self._lines: list[str] = []
        self._table: list[str] | None = None
        self._header: list[str] | None = None
        self._is_over = False
        self._line = 0
        self._entry = ""

    def cut(self, lines: Iterable[str]) -> ProgramText:
        last = ""
        for self._line, line in enumerate(lines, 1):
            if self._is_over:
                self.program.more += _is_header(line)
                self.program.stray.append(line)
            elif self._computation is not None:
                self._inner_line(line, self._computation)
            else:
                self._outer_line(line)
            last = line
        self._end_header()
        if self._computation is not None and last.strip():
            # The file ends within this line: what is left of it may read as another instruction.
            self.program.stray.append("\n".join(self._lines))
            self._lines.clear()
        self._end_computation(None)
        return self.program

    def _inner_line(self, line: str, computation: ComputationText) -> None:
        if _INSTRUCTION.match(line):
            self._end_instruction(computation)
            self._lines.append(line)
            return
        stripped = line.strip()
        if stripped == "}" or stripped.startswith(("},", "} //")):
            self._end_computation(stripped[1:])
        elif not stripped or stripped.startswith("//"):
            return
        elif not line[0].isspace() and (_is_header(line) or _COMPUTATION.fullmatch(line)):
            self._end_computation(None)
            self._outer_line(line)
        elif self._lines:
            self._lines.append(line)
        else:
            self.program.stray.append(line)

    def _end_instruction(self, computation: ComputationText) -> None:
        if self._lines:
            computation.instructions.append(self._lines[0] if len(self._lines) == 1 else "\n".join(self._lines))
            self._lines.clear()

    def _end_computation(self, end: str | None) -> None:
        computation = self._computation
        if computation is None:
            return
        self._end_instruction(computation)
        computation.end = end
        if computation.instructions:
            self.program.computations.append(computation)
        else:
            self.program.stray.append(computation.name)
        self._computation = None

    def _outer_line(self, line: str) -> None:
        stripped = line.strip()
        if not stripped or stripped.startswith("//"):
            self._end_header()
            self._table = None
        elif stripped in _TABLES:
            self._end_header()
            self._table = self.program.tables.setdefault(stripped, [])
        elif _is_header(line):
            self._begin(stripped)
        elif stripped.endswith("{") and (match := _COMPUTATION.fullmatch(line)):
            self._end_header()
            self._table = None
            self._computation = ComputationText(name=match[2], is_entry=match[1] is not None)
            if match[1] is not None:
                self._check_entry(match[2])
        else:
            rows = self._header if self._header is not None else self._table
            (self.program.stray if rows is None else rows).append(stripped)

    def _begin(self, line: str) -> None:
        if self.program.header or self._header is not None or self.program.computations:
            # Another program: one text is read as one program.
            self._is_over = True
            self.program.more += 1
            self.program.stray.append(line)
        else:
            self._header = [line]

    def _check_entry(self, name: str) -> None:
        if self._entry:
            # Which of them runs, and with it how often everything does, nobody can know.
            message = f"more than one computation is marked ENTRY: {self._entry} and {name}"
            raise ParseError(message, offset=self._line, expected="one entry computation")
        self._entry = name

    def _end_header(self) -> None:
        if self._header is not None:
            self.program.header = " ".join(self._header)
            self._header = None


def _is_header(line: str) -> bool:
    """Whether a program begins with this line."""
    stripped = line.strip()
    return stripped.startswith("HloModule ") or stripped == "HloModule"
