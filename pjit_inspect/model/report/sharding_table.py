"""The sharding of one value of a program, and the table of all of them.

Not its job: finding them (`analyze.sharding.value_shardings`) or drawing it (`view`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Self

from pjit_inspect.model.program.mesh import SpecEntry
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table
from pjit_inspect.model.report.collective import Phase
from pjit_inspect.model.words.sentence import Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSharding:
    """One array of the program before partitioning, as propagation shards it.

    XLA partitions these values and then fuses: some of them are never in memory.

    Attributes:
      name: the argument's path (`params['w1']`), its source text (`x @ w`), or JAX's name of the operation with its
        scopes.
      op: the operation that makes it ("dot_general", "mul"); "" for an argument.
      op_name: JAX's name of that operation, with scopes; "" for an argument.
      source: the user's frames of that operation, innermost first; () for none.
      phase: "forward", "backward", "recompute", "optimizer", or None if its name does not say.
      dtype: XLA's short name of the element type ("f32").
      global_shape: the whole array's shape; if `is_per_shard`, the shape of one shard of a `shard_map`.
      local_shape: the shape of the largest piece a device holds.
      spec: the mesh axes each dimension is split over, as in `ArrayLayout.spec`. A part of an axis is written
        "x:(1)2": the devices along it before the part, and those of the part.
      bytes_per_device: bytes of that piece (counted); None if the element's width is unknown.
      replication: number of devices that hold each element (counted); None inside a `shard_map`, where shards may be
        equal or not.
      wasted_bytes: bytes on a device beyond an even split over all devices (counted); None likewise.
      origins: mesh axis -> its origin in words; axes of unknown origin are omitted.
      is_per_shard: whether it is inside a `shard_map`: its shapes are those of one shard.
      position: its index among the values, in program order.
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
      devices: number of devices the program is split over.
      left_out: reasons why values are not in `rows`, each with the number of values.
      missing: why there are no rows; "" if there are some.
      predicted: why the shardings are a prediction, without XLA's partitioner; "" if they are XLA's.
    """

    rows: tuple[ValueSharding, ...] = ()
    devices: int = 1
    left_out: tuple[tuple[str, int], ...] = ()
    missing: str = ""
    predicted: str = ""

    def _hint(self, name: str) -> str:
        return f"; .of({name!r}) and .at_line(12) choose rows"

    def of(self, name: str | int) -> Self:
        """The values of a name (an argument's path, a piece of source, a scope), or of a line number.

        Exact names first; if there are none, the values whose name or operation contains it. If nothing is found, the
        empty table names the nearest values.
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
