"""How one value of a program lies on the devices, and the table of all of them.

Not its job: finding it out (`analyze.sharding.value_shardings`) or drawing it (`view`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Self

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.spec import SpecEntry
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.collective import Phase
from pjit_inspect.model.words.sentence import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSharding:
    """One array of the program before partitioning, as propagation shards it.

    XLA partitions these values and then fuses: not every one of them is ever in memory.

    Attributes:
      name: the argument's path (`params['w1']`), or the piece of source it was written as (`x @ w`), or JAX's name of
        the operation with its scopes.
      op: what makes it ("dot_general", "mul"); "" for an argument.
      op_name: JAX's name of that operation, with scopes; "" for an argument.
      source: the user's frames of that operation, innermost first; () when there are none.
      phase: "forward", "backward", "recompute", "optimizer", or None when its name does not say.
      dtype: XLA's short name of the element type ("f32").
      global_shape: the whole array's shape; where `is_per_shard`, the shape one shard of a `shard_map` has.
      local_shape: the shape of the largest piece a device holds.
      spec: the mesh axes each dimension is split over, as in `ArrayLayout.spec`. A part of an axis is written
        "x:(1)2": the devices along it before the part, and those of the part.
      bytes_per_device: bytes of that piece (counted); None when the element's width is unknown.
      replication: how many devices hold each element (counted); None inside a `shard_map`, whose program does not say
        whether shards are equal.
      wasted_bytes: bytes on a device beyond an even split over all devices (counted); None likewise.
      origins: mesh axis -> where it came from, in words; axes of unknown origin are left out.
      is_per_shard: whether it stands inside a `shard_map`, so that its shapes are those of one shard.
      position: its place among the values of the program, in program order.
    """

    name: str
    op: str = ""
    op_name: str = ""
    source: tuple[Frame, ...] = ()
    phase: Phase = None
    dtype: str
    global_shape: tuple[int, ...]
    local_shape: tuple[int, ...]
    spec: tuple[SpecEntry, ...]
    bytes_per_device: int | None = None
    replication: int | None = None
    wasted_bytes: int | None = None
    origins: dict[str, Sentence] = field(default_factory=dict)
    is_per_shard: bool = False
    position: int = 0

    @property
    def line(self) -> int | None:
        """The line of the user's source it was written on; None for an argument, or when it is unknown."""
        return self.source[0].line if self.source else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingTable(Table[ValueSharding]):
    """The shardings of all values of one program, most wasted bytes first. A sequence of `ValueSharding`.

    Attributes:
      rows: the values.
      devices: how many devices the program is split over.
      left_out: why values are not in `rows`, and how many for each reason.
      missing: why there are no rows; "" when there are some.
      predicted: where the shardings are a prediction, why XLA's partitioner was not asked; "" where they are XLA's own.
    """

    rows: tuple[ValueSharding, ...] = ()
    devices: int = 1
    left_out: tuple[tuple[str, int], ...] = ()
    missing: str = ""
    predicted: str = ""

    def _hint(self, name: str) -> str:
        return f"; .of({name!r}) and .at_line(12) choose rows"

    def of(self, name: str | int) -> Self:
        """The values of a name: an argument's path, a piece of source, a scope; of a line, for a number.

        Those called exactly so; where there are none, those whose name or operation contains it. Nothing found gives an
        empty table that names the nearest.
        """
        if isinstance(name, int):
            return self.at_line(name)
        exact = tuple(row for row in self.rows if row.name == name)
        found = exact or tuple(row for row in self.rows if name in row.name or name in row.op_name)
        return self._of_rows(found, left_out=(), missing="" if found else self._nearest(name))

    def at_line(self, line: int) -> Self:
        """The values written on a line of the user's source, whatever the file."""
        found = tuple(row for row in self.rows if row.line == line)
        lines = sorted({row.line for row in self.rows if row.line is not None})
        there = f"; there are some at {', '.join(map(str, lines[:20]))}" if lines else ""
        return self._of_rows(found, left_out=(), missing="" if found else f"no value at line {line}{there}")

    def _nearest(self, name: str) -> str:
        names = tuple(dict.fromkeys(row.name for row in self.rows))
        near = get_close_matches(name, names, n=3, cutoff=0.4)
        return f"no value is called {name}" + (f"; the nearest are {', '.join(near)}" if near else "")

    def __repr__(self) -> str:
        return f"ShardingTable({len(self.rows)} value{'s' * (len(self.rows) != 1)})"
