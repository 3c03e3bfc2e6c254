"""Measured times: a summary line, and the table of the longest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.columns import codes, durations, numbers, places, table_of
from pjit_inspect.view.document.document import Block, Code, Column, Fold, Spans, dim, line, strong
from pjit_inspect.view.document.notation import operation_text
from pjit_inspect.view.document.quantities import plural, time_text

_Timed = Mapping[str, tuple[str, tuple[Frame, ...]]]

_TEXT_ROWS = 6
_ROWS = 12
_FOLDED_ROWS = 60


def measured_words(times: KernelTimes) -> str:
    """The measurement in a few words: "measured: 3 calls, 41.2 ms each on the slowest device"."""
    each = "each " if times.calls > 1 else ""
    device = "on the slowest device" if times.devices > 1 else "on its device"
    words = f"measured: {plural(times.calls, 'call')}, {time_text(times.call_us)} {each}{device}"
    if times.busy_us is not None and times.mean_call_us:
        words += f", a kernel or a copy running for {100 * times.busy_us / times.mean_call_us:.0f} % of it"
    if times.warm_up_us is not None:
        words += f"; the first call, {time_text(times.warm_up_us)}, left out"
    return f"{words}; {plural(times.left_out, 'unfinished call')} left out" if times.left_out else words


def measured_lines(data: RecordData) -> list[Block]:
    """The same as a line; [] without measurements."""
    return [] if data.kernel_times is None else [line(measured_words(data.kernel_times))]


def runs_text(runs: float) -> str:
    """Runs of an instruction per call: "5", "0.5"."""
    return f"{runs:,.0f}" if runs == int(runs) else f"{runs:,.2f}"


def time_data(instructions: Sequence[str], times: Mapping[str, KernelTime]) -> tuple[list[list[str]], dict[str, Any]]:
    """Measured times of several instructions per call, for the inspector; ([], {}) where none was measured.

    The first are rows of label, figure, and how it is known; the second, on the slowest device of each, added up, is
    `time` in words and `time_us`.
    """
    found = [times[name] for name in instructions if name in times]
    if not found:
        return [], {}
    slowest, mean = sum(one.slowest_us for one in found), sum(one.mean_us for one in found)
    if mean == slowest:
        # One device, for example.
        rows = [["time per call", time_text(slowest), "measured"]]
    else:
        rows = [
            ["time per call, mean of devices", time_text(mean), "measured"],
            ["time per call, slowest device", time_text(slowest), "measured"],
        ]
    return rows, {"time": time_text(slowest), "time_us": slowest}


def times_blocks(report: RecordReport, *, rows: int = _ROWS, text_rows: int = _TEXT_ROWS) -> list[Block]:
    """The section of measured times, the longest `rows` of them at once (`text_rows` in text).

    [] without measurements.
    """
    times = report.data.kernel_times
    if times is None:
        return []
    table = table_of(
        _columns(report.timed, several=times.devices > 1),
        times.rows,
        shown=rows,
        text_rows=text_rows,
        folded=_FOLDED_ROWS,
        rest=lambda hidden: plural(len(hidden), "shorter one"),
        where="; record.kernel_times has all",
    )
    words = f"{measured_words(times)}; {_HOW}"
    notes = [line("unknown: ", Code(one.instruction), f": {one.why}") for one in times.unknown[:rows]]
    if len(times.unknown) > rows:
        notes.append(line(f"and {len(times.unknown) - rows:,} more of unknown time"))
    summary: Spans = (strong(f"times of {plural(len(times), 'HLO instruction')}"), dim(f", {words}"))
    return [Fold(summary=summary, blocks=(table, *notes), is_open=False)]


_HOW = "per call, under JAX's profiler, which slows the program"


def _columns(known: _Timed, *, several: bool) -> tuple[Column, ...]:
    """The columns; `several`: devices may differ. On one device, mean and slowest are equal."""

    def about(row: KernelTime) -> tuple[str, tuple[Frame, ...]]:
        return known.get(row.instruction, ("", ()))

    return (
        durations("slowest {unit}" if several else "{unit}", lambda row: row.slowest_us),
        *((durations("mean", lambda row: row.mean_us),) if several else ()),
        numbers("n", lambda row: runs_text(row.runs_per_call)),
        codes("instruction", lambda row: row.instruction, shrink=True),
        Column("opcode", _opcode, shrink=True, optional=True),
        codes("what", lambda row: operation_text(about(row)[0]), shrink=True, optional=True),
        places("where", lambda row: about(row)[1]),
    )


def _opcode(row: KernelTime) -> Spans:
    return (Code(row.opcode), *((dim(" with what it runs"),) if row.holds_others else ()))
