"""The tables that a record hands out: the plain ones of `model`, which draw themselves, and so does every part of them.

Not its job: their rows (`analyses`), or how they are laid out (`view.record`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.handles.analyses import RecordState
from pjit_inspect.handles.of_record import OfRecord
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.host_callback import CallbackTable
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.view.document.axes import document_axes
from pjit_inspect.view.document.document import Block, Document, Line, Text
from pjit_inspect.view.record.callbacks import callback_blocks
from pjit_inspect.view.record.collectives import collective_blocks
from pjit_inspect.view.record.kernels import kernel_blocks
from pjit_inspect.view.record.shardings import shardings_view
from pjit_inspect.view.record.times import times_blocks
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn

__all__ = ["RecordCallbacks", "RecordCollectives", "RecordFusions", "RecordKernelTimes", "RecordShardings"]

_ROWS = 200
"""Kinds that a table shown by itself lists in full."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordCollectives(OfRecord, Displayable, CollectiveTable):
    """The collectives of a record."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these collectives, explained as in the record's display."""
        report = self._state.analyses.report
        return _section(self._state, collective_blocks(replace(report, collectives=self), rows=_ROWS), "no collectives")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordFusions(OfRecord, Displayable, FusionTable):
    """The fused kernels of a record."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these kernels."""
        report = replace(self._state.analyses.report, fusions=self)
        return _section(self._state, kernel_blocks(report, rows=_ROWS, text_rows=_ROWS), "no fused kernels")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordCallbacks(OfRecord, Displayable, CallbackTable):
    """The calls of a record's program back into Python."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these calls."""
        return _section(self._state, callback_blocks(self), "no host callbacks")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordShardings(OfRecord, Displayable, ShardingTable):
    """The shardings of a record's values."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these values, each with its shards."""
        now = self._state.analyses
        return Shown(drawn(shardings_view(now.data, self, now.sources)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordKernelTimes(OfRecord, Displayable, KernelTimes):
    """The measured times of a record's instructions."""

    _state: RecordState = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these instructions with their times."""
        report = self._state.analyses.report
        timed = replace(report, data=replace(report.data, kernel_times=self))
        return _section(self._state, times_blocks(timed, rows=_ROWS, text_rows=_ROWS), "no measured times")


def _section(state: RecordState, blocks: Sequence[Block], nothing: str) -> Shown:
    """A table by itself, in the colours of the record's axes; `nothing` where it has no rows."""
    shown = tuple(blocks) or (Line((Text(nothing),)),)
    return Shown(drawn(Document(axes=document_axes(state.analyses.data), blocks=shown)))
