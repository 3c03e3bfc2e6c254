"""One text of the inspector: its lines, and the links of each."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.inspector.words import name_data

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
