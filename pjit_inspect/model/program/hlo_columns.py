"""The columns and tables an optimized program is held in.

Not its job: the program they make up, and views of single instructions (`model.program.hlo`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pjit_inspect.model.program.source import Frame


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Links:
    """For each row some rows of (maybe) another table: `links[i]` is an array of indices.

    Attributes:
      starts: where each row's links begin in `items`; one longer than the number of rows.
      items: all links, row after row.
    """

    starts: np.ndarray
    items: np.ndarray

    def __getitem__(self, row: int) -> np.ndarray:
        return self.items[self.starts[row] : self.starts[row + 1]]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def owners(self) -> np.ndarray:
        """For each of `items`, the row it belongs to."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))

    def gathered(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The links of several rows, one after another: each one's place in `rows`, its number there, and the link."""
        counts = self.starts[rows + 1] - self.starts[rows]
        owner = np.repeat(np.arange(len(rows)), counts)
        number = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
        return owner, number, self.items[self.starts[rows][owner] + number]

    def reversed(self, rows: int) -> Links:
        """The reversed links, to a table of `rows` rows; each row's links ascend."""
        order = np.argsort(self.items, kind="stable")
        counts = np.bincount(self.items, minlength=rows)
        return Links(starts=np.concatenate(([0], np.cumsum(counts))).astype(np.int32), items=self.owners[order])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Instructions:
    """The columns: one entry per instruction, computation after computation, in the order of the program's bytes.

    Attributes:
      opcode: row of `HloModule.opcodes`.
      shape: row of the table of shapes.
      op_name: row of `HloModule.op_names`; row 0 is "".
      frame: row of `StackFrames` counted from 1; 0 where the program does not say.
      channel: XLA's channel; 0 where there is none.
      computation: row of `Computations`.
      operands, called, control: operands, called computations, control predecessors of each.
    """

    opcode: np.ndarray
    shape: np.ndarray
    op_name: np.ndarray
    frame: np.ndarray
    channel: np.ndarray
    computation: np.ndarray
    operands: Links
    called: Links
    control: Links

    def __len__(self) -> int:
        return len(self.opcode)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Computations:
    """One entry per computation, in the order of the program's bytes.

    Attributes:
      names: names of the computations.
      starts: the first instruction of each; one longer than the number of computations.
      root: the instruction whose value it returns.
      is_fusion: whether it is the body of a fusion.
      threads: the execution thread, "main" or such as "sparsecore"; "" if the program does not say.
    """

    names: tuple[str, ...]
    starts: np.ndarray
    root: np.ndarray
    is_fusion: np.ndarray
    threads: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StackFrames:
    """The source positions of a program, each stored once.

    A frame is a row of `location` and `parent`, counted from 1 as in the program; 0 is no frame.

    Attributes:
      files, functions: string tables.
      location_file, location_function, location_line: for each location, rows of the tables (from 0) and the line.
      location_columns: for each location, where the piece that was run begins and ends on the line; 0, 0 for unknown.
      location: for each frame, its location (from 0).
      parent: for each frame, the frame that called it; 0 at the outermost.
    """

    files: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    location_file: np.ndarray
    location_function: np.ndarray
    location_line: np.ndarray
    location_columns: np.ndarray
    location: np.ndarray
    parent: np.ndarray

    def chain(self, frame: int) -> tuple[Frame, ...]:
        """Frame number `frame` and its callers, innermost first; () for 0 and for numbers out of range."""
        frames: list[Frame] = []
        # A damaged table may contain cycles; no valid chain is longer than the table.
        while 0 < frame <= len(self.location) and len(frames) < len(self.location):
            place = int(self.location[frame - 1])
            file, function = self.location_file[place], self.location_function[place]
            line = int(self.location_line[place])
            columns = tuple(self.location_columns[place].tolist())
            frames.append(
                Frame(
                    file=self.files[file],
                    line=line,
                    function=self.functions[function],
                    columns=columns if columns[1] else (),
                )
            )
            frame = int(self.parent[frame - 1])
        return tuple(frames)
