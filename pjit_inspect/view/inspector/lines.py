"""One text of the inspector: its lines, and what each is linked to.

Not its job: finding the links (`view.inspector.texts`, `view.inspector.jaxpr`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np

from pjit_inspect.view.document.printable import printable

_LONGEST_LINE = 400
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}")
"""Where an object of the process lay: it says nothing, and differs from run to run."""


@dataclass(slots=True, kw_only=True)
class LinkedText:
    """One text.

    Attributes:
      name: what the pane is called.
      lines: the lines.
      numbers: the number each has in the whole text, from 1.
      spots: for each line its place in the source (`SharedTables.spot`), -1 for none.
      phases: for each line its phase, as an index in `PHASES`.
      entities: for each line what it is: collective row r as 2r, kernel row r as 2r + 1; -1 for neither.
      note: what is left out.
      total: how many lines the whole text has.
      how: what a reader must know of the links of its lines; "" when the text itself tells them.
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
        """One line more."""
        self.lines.append(shown_line(line))
        self.numbers.append(number)
        self.spots.append(spot)
        self.phases.append(phase)
        self.entities.append(entity)

    def columns(self, prefix: str) -> dict[str, np.ndarray]:
        """Its columns, as `pack_blob` takes them."""
        return {
            f"{prefix}.numbers": np.array(self.numbers, np.int32),
            f"{prefix}.spots": np.array(self.spots, np.int32),
            f"{prefix}.phases": np.array(self.phases, np.uint8),
            f"{prefix}.entities": np.array(self.entities, np.int32),
        }


class TextLines:
    """The lines of a text that may be long; a line is a string only when it is asked for."""

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
        """The first line from `at` on that begins with a closing brace; the last line when there is none."""
        place = bisect_left(self._closing, at)
        return self._closing[place] if place < len(self._closing) else len(self) - 1


def count_lines(source: str) -> int:
    """How many lines a text has; an end of line at its end begins no other."""
    return source.removesuffix("\n").count("\n") + 1


def shown_line(line: str) -> str:
    """A line as it can be shown, tabs as spaces, cut where nobody reads on."""
    text = _ADDRESS.sub("", line.rstrip("\r\n").replace("\t", "    "))
    more = len(text) - _LONGEST_LINE
    if more <= 80:
        return printable(text)
    return f"{printable(text[:_LONGEST_LINE])} \u2026 {more:,} characters more"
