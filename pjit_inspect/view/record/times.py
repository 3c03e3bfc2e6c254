"""Measured times: a summary line, and the table of the longest.

Not its job: measuring (`observe.profiler.profiler`), adding up (`analyze.measured.kernel_times`), seconds of compiling
(`record_view`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.document import Block, Code, Column, Fold, Line, Number, Rest, Row, Spans, Table, Text
from pjit_inspect.view.document.notation import operation_text
from pjit_inspect.view.document.quantities import plural, time_in, time_text, time_unit
from pjit_inspect.view.record.answer import place_spans

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
    return [] if data.kernel_times is None else [Line((Text(measured_words(data.kernel_times)),))]


def runs_text(runs: float) -> str:
    """Runs of an instruction per call: "5", "0.5"."""
    return f"{runs:,.0f}" if runs == int(runs) else f"{runs:,.2f}"


def added_us(instructions: Sequence[str], times: Mapping[str, KernelTime]) -> float | None:
    """Microseconds per call of several instructions, each on its slowest device; None when none was measured."""
    found = [times[name].slowest_us for name in instructions if name in times]
    return sum(found) if found else None


def time_numbers(instructions: Sequence[str], times: Mapping[str, KernelTime]) -> list[list[str]]:
    """Rows of label, figure, and how it is known; [] where nothing was measured."""
    slowest = added_us(instructions, times)
    if slowest is None:
        return []
    mean = sum(times[name].mean_us for name in instructions if name in times)
    if mean == slowest:
        # One device, for example.
        return [["time per call", time_text(slowest), "measured"]]
    return [
        ["time per call, mean of devices", time_text(mean), "measured"],
        ["time per call, slowest device", time_text(slowest), "measured"],
    ]


def times_blocks(report: RecordReport, *, rows: int = _ROWS, text_rows: int = _TEXT_ROWS) -> list[Block]:
    """The section of measured times, the longest `rows` of them at once (`text_rows` in text).

    [] without measurements.
    """
    times = report.data.kernel_times
    if times is None:
        return []
    known = report.timed
    unit = time_unit(max((row.slowest_us for row in times), default=0.0))
    several = times.devices > 1
    shown = [_row(row, known, unit, several=several) for row in times.rows[:rows]]
    table = Table(
        columns=_columns(unit, several=several),
        rows=tuple(shown),
        text_rows=text_rows,
        text_rest=_rest(times.rows[text_rows:], "; record.kernel_times has all") if len(times) > text_rows else (),
        rest=_folded(times.rows[rows:], known, unit, several=several),
    )
    words = f"{measured_words(times)}; {_HOW}"
    notes = [Line((Text("unknown: "), Code(one.instruction), Text(f": {one.why}"))) for one in times.unknown[:rows]]
    if len(times.unknown) > rows:
        notes.append(Line((Text(f"and {len(times.unknown) - rows:,} more of unknown time"),)))
    summary: Spans = (Text(f"times of {plural(len(times), 'HLO instruction')}", "strong"), Text(f", {words}", "dim"))
    return [Fold(summary=summary, blocks=(table, *notes), is_open=False)]


_HOW = "per call, under JAX's profiler, which slows the program"


def _columns(unit: str, *, several: bool) -> tuple[Column, ...]:
    """The columns; `several`: devices may differ. On one device, mean and slowest are equal."""
    slowest = Column(title=f"slowest {unit}", align="right"), Column(title="mean", align="right")
    return (
        *(slowest if several else [Column(title=unit, align="right")]),
        Column(title="n", align="right"),
        Column(title="instruction", shrink=True),
        Column(title="opcode", shrink=True, optional=True),
        Column(title="what", shrink=True, optional=True),
        Column(title="where", shrink=True),
    )


def _row(row: KernelTime, known: _Timed, unit: str, *, several: bool) -> Row:
    op_name, source = known.get(row.instruction, ("", ()))
    what = operation_text(op_name)
    opcode: Spans = (Code(row.opcode), Text(" with what it runs", "dim")) if row.holds_others else (Code(row.opcode),)
    shown = (row.slowest_us, row.mean_us) if several else (row.slowest_us,)
    return Row(
        (
            *((Number(time_in(one, unit), provenance="measured"),) for one in shown),
            (Number(runs_text(row.runs_per_call)),),
            (Code(row.instruction),),
            opcode,
            (Code(what),) if what else (),
            place_spans(source) if source else (),
        )
    )


def _rest(rows: tuple[KernelTime, ...], more: str) -> Spans:
    return (Text(f"{plural(len(rows), 'shorter one')}{more}"),)


def _folded(rows: tuple[KernelTime, ...], known: _Timed, unit: str, *, several: bool) -> Rest | None:
    if not rows:
        return None
    return Rest(
        summary=_rest(rows, ""), rows=tuple(_row(row, known, unit, several=several) for row in rows[:_FOLDED_ROWS])
    )
