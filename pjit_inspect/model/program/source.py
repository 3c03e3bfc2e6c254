"""Places in the user's source.

Not its job: finding frames (`observe`, `parse`) or reading files.
"""

from __future__ import annotations

from dataclasses import dataclass, field

SOURCE_LINES = "source lines"
"""Key in `RecordData.missing` for the source lines of a program's instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One line of source code.

    Attributes:
      file: the path, or the name Python gave a notebook cell's code.
      line: counted from 1; 0 when only the file is known.
      function: the enclosing function, or "" if unknown.
      cell: the notebook's name of the cell ("In [7]"), or None for code in a file.
      columns: start and end (exclusive) of the running piece on the line, in UTF-8 bytes from 0; () if unknown. Not
        compared: frames of one line are equal.
    """

    file: str
    line: int
    function: str = ""
    cell: str | None = None
    columns: tuple[int, ...] = field(default=(), compare=False)

    @property
    def where(self) -> str:
        """The short place a person reads: `train.py:39` or `In [7]:1`."""
        name = self.cell or self.file.replace("\\", "/").rsplit("/", 1)[-1]
        return f"{name}:{self.line}" if self.line else name


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """The text of one source file or notebook cell at the time of the compile.

    Attributes:
      file: the same string as `Frame.file`.
      cell: the same as `Frame.cell`.
      lines: the lines, without line ends.
    """

    file: str
    cell: str | None = None
    lines: tuple[str, ...]

    def line(self, number: int) -> str | None:
        """Line `number` (from 1), or None if there is none."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else None
