"""HLO text, cut into its parts: the header, the source tables, the computations and their instructions.

Read by tokens, as in XLA's parser; after an unreadable place, reading goes on at the next line that looks like the
beginning of a part. Takes time linear in the length of any text, and memory for one computation. Not its job: the
meaning of an instruction (`parse.hlo_text.instructions`), or text around a program (`parse.hlo_text.pasted`).

*Source*: `HloModule::ToString`, `HloComputation::ToString`, `HloParserImpl` in XLA.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.wire.text_lines import InstructionText, read_attributes, scan_instruction
from pjit_inspect.parse.wire.text_scan import BLANK, find_close, without_comments

_NAME = r"%?[A-Za-z_][^\s=(){},%]*"
_BLANK = re.compile(BLANK, flags=re.S)
_HEADER = re.compile(rf"HloModule(?=\s|,|\Z){BLANK}([^\s,={{}}():]*):?", flags=re.S)
_SEPARATOR = "// -----"
"""The line at which XLA's tools split a file of several programs."""
_TITLE = re.compile(r"(FileNames|FunctionNames|FileLocations|StackFrames)[ \t]*\r?(?:\n|\Z)")
_COMPUTATION = re.compile(rf"(ENTRY(?=[\s/%]){BLANK})?({_NAME}){BLANK}(?=[({{])", flags=re.S)
_RESULT = re.compile(rf"{BLANK}(?:->{BLANK}(?:\w+\[[^\[\](){{}}]*+\](?:\{{[^{{}}]*+\}})?|b(?=\())?)?", flags=re.S)
_OPENING = re.compile(rf"{BLANK}\{{", flags=re.S)
_ONE_INSTRUCTION = rf"(?:ROOT(?=[\s/%]){BLANK})?(?:%[^\s=(){{}},%]+\s*|{_NAME}\s+)=(?!=)"
_INSTRUCTION = re.compile(_ONE_INSTRUCTION)
_NEXT_PART = re.compile(
    rf"\n(?=[ \t]*(?:{_ONE_INSTRUCTION}"
    rf"|\}}[ \t\r]*(?:$|,|//))|HloModule\b|(?:ENTRY\s+)?{_NAME}\s*(?:\([^\n]*)?\{{\s*$)",
    flags=re.M,
)
"""The end of a line after which a part may begin, following an unreadable place."""
_MOST_FAILURES = 8
"""A text with more unreadable instructions is damaged: from then on each ends with its line at the latest."""


@dataclass(slots=True, kw_only=True)
class ComputationText:
    """One computation.

    Attributes:
      name: its name, without the percent sign.
      is_entry: whether it is the program's entry.
      instructions: its instructions in order, an unreadable one as text; cleared after writing.
      end: the text after its closing brace; None without a brace.
      is_begun: whether its beginning is present.
    """

    name: str
    is_entry: bool
    instructions: list[InstructionText | str] = field(default_factory=list)
    end: str | None = None
    is_begun: bool = True


@dataclass(slots=True, kw_only=True)
class ProgramText:
    """The parts of one program.

    Attributes:
      name: the name in its header; "" without one.
      header: the attributes of its header by name; None without a header.
      tables: the rows of each source table by its title.
      computations: those with an instruction, in order.
      stray: unreadable text among the computations.
      around: lines in the header, before or after the program, that are no part of it.
      start, end: its place in the text.
    """

    name: str = ""
    header: dict[str, str] | None = None
    tables: dict[str, list[str]] = field(default_factory=dict)
    computations: list[ComputationText] = field(default_factory=list)
    stray: list[str] = field(default_factory=list)
    around: list[str] = field(default_factory=list)
    start: int = 0
    end: int = 0


def cut_nested(text: str) -> ComputationText:
    """The computation in braces in place of a name. Raises `ValueError` if there is none."""
    cutter = ProgramCutter(text, 1)
    computation = ComputationText(name="_", is_entry=False)
    cutter.read_computation(computation, 1)
    if cutter.position < len(text) or not computation.instructions:
        raise ValueError("this is no computation")
    return computation


class ProgramCutter:
    """Reads one program, part after part, up to the next header or a line `// -----`.

    Attributes:
      program: the parts read so far.
      position: the position reached.
    """

    def __init__(self, text: str, position: int) -> None:
        self.program = ProgramText()
        self.position = position
        self._text = text
        self._failures = 0
        self._is_module = True
        self._has_shape = False

    def computations(self) -> Iterator[ComputationText]:
        """Each computation as soon as it is read; the caller may clear its instructions.

        Raises `ParseError` with the line if two computations are marked as the entry.
        """
        text, program = self._text, self.program
        program.start = self.position
        while True:
            start, self.position = self.position, _end(_BLANK, text, self.position)
            if (separator := text.find(_SEPARATOR, start, self.position)) >= 0:
                self.position = _line_end(text, separator)
                if program.computations or program.header is not None:
                    break
                continue
            seen = len(program.computations)
            if self.position >= len(text) or not self._part():
                break
            yield from program.computations[seen:]
        program.end = self.position
        if program.header is None and not any(one.is_entry for one in program.computations):
            self._check_fragment()

    def _part(self) -> bool:
        """Reads the part at the position, outside of computations; False if another program begins there."""
        text, program, position = self._text, self.program, self.position
        if match := _HEADER.match(text, position):
            if program.header is not None or program.computations:
                return False
            self._header(match)
        elif match := _TITLE.match(text, position):
            self._table(match)
        elif (match := _COMPUTATION.match(text, position)) and (start := self._body(match)) is not None:
            name = match[2].removeprefix("%")
            self._check_entry(name, match)
            self._is_module = self._is_module and (bool(program.computations) or text[match.end()] == "{")
            self.read_computation(ComputationText(name=name, is_entry=match[1] is not None), start)
        elif _INSTRUCTION.match(text, position):
            self._is_module = False
            self.read_computation(ComputationText(name="fragment", is_entry=False, is_begun=False), position)
        else:
            self._stray()
        return True

    def _header(self, head: re.Match[str]) -> None:
        text, program = self._text, self.program
        program.name = head[1]
        try:
            program.header, end = read_attributes(text, head.end(), len(text))
        except ValueError:
            program.header, end = {}, head.end()
        self.position = end

    def _stray(self) -> None:
        """Keeps a line outside the program."""
        end = _line_end(self._text, self.position)
        line = self._text[self.position : end].strip()
        program = self.program
        is_around = not program.computations or program.computations[-1].is_entry
        (program.around if is_around and line != "}" else program.stray).append(line)
        self.position = end

    def _table(self, title: re.Match[str]) -> None:
        """Reads the rows of a source table, up to an empty line."""
        text, position = self._text, title.end()
        rows = self.program.tables.setdefault(title[1], [])
        while position < len(text):
            end = _line_end(text, position)
            row = text[position:end].strip()
            if not row or not row[0].isdigit():
                break
            rows.append(row)
            position = end + 1
        self.position = min(position, len(text))

    def _body(self, head: re.Match[str]) -> int | None:
        """The start of the instructions of the computation with this `head`; None if it is no computation."""
        text, position = self._text, head.end()
        try:
            if text.startswith("(", position):
                position = find_close(text, position, self._limit(position))
                result = _RESULT.match(text, position)
                position = result.end() if result else position
                if text.startswith("(", position):
                    position = find_close(text, position, self._limit(position))
        except ValueError:
            self._failures += 1
            return None
        opening = _OPENING.match(text, position)
        return opening.end() if opening else None

    def _check_entry(self, name: str, head: re.Match[str]) -> None:
        if head[1] is None:
            return
        before = next((one.name for one in self.program.computations if one.is_entry), "")
        if before:
            # It is unknown which of them runs, and so how often everything runs.
            message = f"more than one computation is marked ENTRY: {before} and {name}"
            line = 1 + self._text.count("\n", 0, head.start())
            raise ParseError(message, offset=line, expected="one entry computation")

    def read_computation(self, computation: ComputationText, position: int) -> None:
        """Reads the instructions at `position` and their end."""
        text = self._text
        while True:
            position = _end(_BLANK, text, position)
            if position >= len(text):
                self._cut_off(computation)
                break
            if text[position] == "}":
                end = _line_end(text, position)
                computation.end = without_comments(text[position + 1 : end]).strip()
                if computation.end[:1] != ",":
                    # The same line may contain more.
                    computation.end, end = "", position + 1
                position = end
                break
            if self._begins_another(position):
                break
            position = self._instruction(computation, position)
        self.position = position
        if computation.instructions:
            self._has_shape = self._has_shape or any(map(_has_shape, computation.instructions))
            self.program.computations.append(computation)
        else:
            self.program.stray.append(computation.name)

    def _begins_another(self, position: int) -> bool:
        """True if another computation or program begins at `position`, so that this one has no end."""
        text = self._text
        if position and text[position - 1] != "\n":
            return False
        if _HEADER.match(text, position):
            return True
        head = _COMPUTATION.match(text, position)
        return head is not None and self._body(head) is not None

    def _instruction(self, computation: ComputationText, position: int) -> int:
        """Reads one instruction; gives the position after it."""
        text = self._text
        try:
            parts, end = scan_instruction(text, position, self._limit(position))
        except ValueError:
            self._failures += 1
            end = self._next_part(position)
            self._keep(computation, text[_line_start(text, position) : end])
            return end
        behind = _end(_BLANK, text, end)
        if text[behind : behind + 1] not in ("%", "}", "") and not _INSTRUCTION.match(text, behind):
            if self._begins_another(behind):
                behind = end
            else:
                self._failures += 1
                behind = self._next_part(behind)
                parts = parts._replace(rest=text[end:behind].strip())
        computation.instructions.append(parts)
        return behind

    def _keep(self, computation: ComputationText, unread: str) -> None:
        """Keeps unreadable text, with the instruction before it unless it is an instruction itself."""
        last = computation.instructions[-1] if computation.instructions else None
        if _INSTRUCTION.match(unread.lstrip()):
            computation.instructions.append(unread)
        elif isinstance(last, InstructionText):
            computation.instructions[-1] = last._replace(rest=f"{last.rest}\n{unread}".strip())
        elif last is not None:
            computation.instructions[-1] = f"{last}\n{unread}"
        else:
            self.program.stray.append(unread.strip())

    def _cut_off(self, computation: ComputationText) -> None:
        """Ends a computation at the end of the text: a cut last line may look like another instruction."""
        if computation.instructions and self._text.rstrip(" \t\r")[-1:] != "\n":
            last = computation.instructions.pop()
            self.program.around.append(last if isinstance(last, str) else last.name)

    def _limit(self, position: int) -> int:
        """The furthest end of a part that begins at `position`."""
        return len(self._text) if self._failures < _MOST_FAILURES else _line_end(self._text, position)

    def _next_part(self, position: int) -> int:
        """The end of the line after which the next part begins."""
        found = _NEXT_PART.search(self._text, position)
        return found.start() if found else len(self._text)

    def _check_fragment(self) -> None:
        """Checks a text without header and entry: if no instruction has a shape, it only looks like HLO and is dropped.

        If it begins with a computation without a signature, it is a whole module, whose last computation is the entry.
        XLA's parser does the same (`HloParserImpl::Run`); XLA prints no such text.
        """
        program = self.program
        if not self._has_shape:
            program.computations.clear()
        elif self._is_module and not program.stray and all(one.end is not None for one in program.computations):
            program.computations[-1].is_entry = True


_SHAPED = re.compile(r"\(|[a-z]\w*\[")


def _has_shape(part: InstructionText | str) -> bool:
    return isinstance(part, InstructionText) and _SHAPED.match(part.shape) is not None


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _line_start(text: str, position: int) -> int:
    start = text.rfind("\n", 0, position) + 1
    return start if text[start:position].isspace() else position


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return len(text) if end < 0 else end
