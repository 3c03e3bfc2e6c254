"""Joins XLA's list of the largest buffers to its program: each buffer in the user's terms.

A buffer is found by its maker: XLA's instruction, or JAX's name of the operation with its element type and its shape on
one device. Where several values fit that differ by more than their layer, none is taken. Not its job: reading the list
(`parse.messages.memory_errors`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pjit_inspect.analyze.memory.values_named import short_name
from pjit_inspect.model.memory.autopsy import ReportedTable, ReportedValue
from pjit_inspect.model.memory.memory_use import LiveValue, MemoryUse
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.shortage import ReportedBuffer
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.words.layers import path_pattern, scope_pattern

_ROUNDED = 200
"""Two decimals of a unit are within a two-hundredth."""


def join_reported(
    buffers: Iterable[ReportedBuffer],
    *,
    module: HloModule | None = None,
    use: MemoryUse | None = None,
    inputs: Sequence[ArrayLayout] = (),
    shardings: ShardingTable | None = None,
) -> ReportedTable:
    """XLA's list in the user's terms.

    Args:
      buffers: the list.
      module: the program with its schedule; None where there is none.
      use: its live values.
      inputs: its arguments.
      shardings: the values of the program before partitioning.
    """
    live = {} if use is None else {row.made_by: row for row in (*use.largest, *use.live) if row.made_by}
    joiner = _Joiner(module, live, inputs, () if shardings is None else shardings.rows)
    return ReportedTable(rows=tuple(map(joiner.joined, buffers)))


class _Joiner:
    def __init__(
        self,
        module: HloModule | None,
        live: dict[str, LiveValue],
        inputs: Sequence[ArrayLayout],
        values: Sequence[ValueSharding],
    ) -> None:
        self._module, self._live, self._inputs, self._values = module, live, inputs, values

    def joined(self, buffer: ReportedBuffer) -> ReportedValue:
        """One buffer as found in the program, or as XLA reports it."""
        found = self._argument(buffer) if buffer.is_argument else self._made(buffer) or self._written(buffer)
        return found or _as_said(buffer)

    def _made(self, buffer: ReportedBuffer) -> ReportedValue | None:
        """Finds a buffer by its maker, if the size agrees, or else by the operation's name, if all matches agree."""
        row = self._live.get(buffer.instruction)
        if row is not None and _is_near(row.bytes, buffer.bytes):
            return _of_live(buffer, row)
        if not buffer.op_name:
            return None
        fitting = [
            row
            for row in self._live.values()
            # XLA may have permuted its dimensions.
            if (row.dtype, math.prod(row.local_shape)) == (buffer.dtype, math.prod(buffer.dimensions))
            and self._op_name(row.made_by) == buffer.op_name
        ]
        # A collective has the name of the operation that it completes.
        fitting = [row for row in fitting if self._opcode(row.made_by) == buffer.opcode] or fitting
        told = {(scope_pattern(row.name), row.kind, row.spec, row.source[:1]) for row in fitting}
        return _of_live(buffer, fitting[0], several=len(fitting) > 1) if len(told) == 1 else None

    def _opcode(self, instruction: str) -> str:
        made = None if self._module is None else self._module.find(instruction)
        return "" if made is None else made.opcode

    def _op_name(self, instruction: str) -> str:
        made = None if self._module is None else self._module.find(instruction)
        return "" if made is None else made.op_name

    def _written(self, buffer: ReportedBuffer) -> ReportedValue | None:
        """Finds a buffer by operation name among the values before partitioning, which have no schedule and no kind."""
        fitting = [
            row
            for row in self._values
            if row.op_name
            and (row.op_name, row.dtype, row.local_shape) == (buffer.op_name, buffer.dtype, buffer.dimensions)
        ]
        if not fitting or len({(row.name, row.spec) for row in fitting}) != 1:
            return None
        row = fitting[0]
        return _value(buffer, name=row.name, spec=row.spec, source=row.source, phase=row.phase)

    def _argument(self, buffer: ReportedBuffer) -> ReportedValue | None:
        """Finds an argument by type and shape, if only one argument, or one of each layer, matches."""
        fitting = [
            one
            for one in self._inputs
            if one.kept and (short_dtype(one.dtype), one.local_shape) == (buffer.dtype, buffer.dimensions)
        ]
        told = {(path_pattern(one.path), one.spec) for one in fitting}
        if len(told) != 1:
            return None
        name = fitting[0].path if len(fitting) == 1 else path_pattern(fitting[0].path)
        return _value(buffer, name=name, spec=fitting[0].spec, kind="argument")


def _is_near(size_bytes: int, reported_bytes: int) -> bool:
    return abs(size_bytes - reported_bytes) * _ROUNDED <= reported_bytes


def _of_live(buffer: ReportedBuffer, row: LiveValue, *, several: bool = False) -> ReportedValue:
    name = scope_pattern(row.name) if several else row.name
    return _value(buffer, name=name, kind=row.kind, spec=row.spec, source=row.source, phase=row.phase)


def _value(buffer: ReportedBuffer, **found: object) -> ReportedValue:
    return ReportedValue(
        bytes=buffer.bytes,
        dtype=buffer.dtype,
        local_shape=buffer.dimensions,
        unpadded_bytes=buffer.unpadded_bytes,
        instruction=buffer.instruction,
        is_found=True,
        **found,  # pyright: ignore[reportArgumentType]
    )


def _as_said(buffer: ReportedBuffer) -> ReportedValue:
    place = buffer.source_file and buffer.source_line
    frames = (Frame(file=buffer.source_file, line=buffer.source_line or 0, function=""),) if place else ()
    name = short_name(buffer.op_name) if buffer.op_name else "an argument" if buffer.is_argument else ""
    return ReportedValue(
        name=name or buffer.instruction or buffer.opcode or buffer.shape,
        bytes=buffer.bytes,
        kind="argument" if buffer.is_argument else None,
        source=frames,
        dtype=buffer.dtype,
        local_shape=buffer.dimensions,
        unpadded_bytes=buffer.unpadded_bytes,
        instruction=buffer.instruction,
    )
