"""The work of a program as tables: fused kernels, measured times of instructions, calls back into Python."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.kernel_times import KernelTime, KernelTimes
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.fusion import DistinctFusion, Fusion, FusionTable
from pjit_inspect.model.report.host_callback import HostCallback
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.layers import scope_pattern
from pjit_inspect.view.document.columns import codes, durations, numbers, places, sizes, table_of
from pjit_inspect.view.document.document import (
    UNKNOWN,
    Block,
    Column,
    Fold,
    Line,
    Quote,
    Span,
    Spans,
    Text,
    dim,
    line,
    strong,
)
from pjit_inspect.view.document.grouping import grouped, shared_name
from pjit_inspect.view.document.notation import operation_text
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural, time_text
from pjit_inspect.view.record.answer import place_spans

_TEXT_ROWS = 6
_ROWS = 12
_FOLDED_ROWS = 60
_OPEN = 4  # kinds up to which the section is open at first
_OPCODES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelGroup:
    """Fused kernels that differ only in name and layer.

    Attributes:
      what: their last operation, layer numbers starred when there are several.
      table: the table that contains them.
      distinct: the kernels, as in `FusionTable.distinct`.
    """

    what: str
    table: FusionTable
    distinct: tuple[DistinctFusion, ...]

    @property
    def first(self) -> Fusion:
        """The kernel that represents the group."""
        return self.distinct[0].first

    @property
    def number(self) -> int:
        """The number of kernels."""
        return sum(len(one.places) for one in self.distinct)

    @property
    def runs(self) -> int | None:
        """Runs of all kernels per call; None when a loop's length is unknown."""
        counts = ((one.first.count, len(one.places)) for one in self.distinct)
        return total(None if count is None else count * number for count, number in counts)

    @property
    def names(self) -> list[str]:
        """The names of the kernels, in schedule order."""
        return [self.table[place].name for place in sorted(place for one in self.distinct for place in one.places)]

    def total(self, size_bytes: int | None) -> int | None:
        """A size of one kernel times their runs; loops of unknown length count once."""
        if size_bytes is None:
            return None
        counts = ((one.first.count, len(one.places)) for one in self.distinct)
        return size_bytes * sum(number if count is None else count * number for count, number in counts)


def group_kernels(table: FusionTable) -> tuple[KernelGroup, ...]:
    """Kernels grouped by everything but name and layer, most memory traffic first."""
    found = [
        KernelGroup(
            what=shared_name((operation_text(one.first.op_name) for one in members), scope_pattern),
            table=table,
            distinct=members,
        )
        for members in grouped(table.distinct, _layer_key).values()
    ]
    return tuple(sorted(found, key=_traffic))


def _layer_key(one: DistinctFusion) -> Hashable:
    row = one.first
    contents = row.kind, row.target, row.instructions, row.inputs, row.outputs
    sizes = row.bytes_read, row.bytes_written, row.bytes_saved
    return *contents, *sizes, scope_pattern(operation_text(row.op_name)), row.source[:1]


def _traffic(group: KernelGroup) -> int:
    return -sum(group.total(size) or 0 for size in (group.first.bytes_read, group.first.bytes_written))


def kernel_blocks(report: RecordReport, *, rows: int = _ROWS, text_rows: int = _TEXT_ROWS) -> list[Block]:
    """The section of fused kernels, at most `rows` kinds of them in full (`text_rows` in text).

    [] when they are unknown (a note says why).
    """
    if report.fusions is None:
        return []
    there = "in the part that is there" if report.incomplete else "in all"
    instructions = "" if report.instructions is None else f"; {report.instructions:,} instructions {there}"
    if not report.fusions:
        return [line(f"no fused kernels{instructions}")]
    groups = group_kernels(report.fusions)
    kinds = f" in {plural(len(groups), 'kind')}" if len(groups) < len(report.fusions) else ""
    summary: Spans = (
        strong(plural(len(report.fusions), "fused kernel")),
        dim(f"{kinds}{instructions}"),
    )
    table = table_of(
        _COLUMNS,
        groups,
        shown=rows,
        text_rows=text_rows,
        folded=_FOLDED_ROWS,
        rest=_rest,
        where="; record.fusions has all",
    )
    return [Fold(summary=summary, blocks=(table,), is_open=len(groups) <= _OPEN)]


def _contents(kernel: Fusion) -> Spans:
    """The contents of a kernel, most frequent first: "multiply x3, add x2"."""
    number = len(kernel.instructions)
    # "1 more" would take as much room as the one.
    listed = kernel.instructions[: number if number == _OPCODES + 1 else _OPCODES]
    shown = [opcode if times == 1 else f"{opcode} x{times}" for opcode, times in listed]
    more = number - len(listed)
    words = ", ".join([*shown, f"{more} more"] if more > 0 else shown)
    if kernel.target is not None:
        called = kernel.routine if kernel.library else kernel.target
        words = f"{called}: {words}" if words else called
    return (Quote(words),) if words else UNKNOWN


def _rest(groups: Sequence[KernelGroup]) -> str:
    return f"{sum(group.number for group in groups):,} in {plural(len(groups), 'more kind')}"


_COLUMNS = (
    numbers("n", lambda group: "?" if group.runs is None else group.runs),
    codes("kernel", lambda group: group.first.sort),
    Column("contains", lambda group: _contents(group.first), shrink=True),
    sizes("reads {unit}", lambda group: group.total(group.first.bytes_read)),
    sizes("writes", lambda group: group.total(group.first.bytes_written)),
    sizes("saves", lambda group: group.total(group.first.bytes_saved)),
    codes("what", lambda group: group.what, shrink=True, optional=True),
    places("where", lambda group: group.first.source, missing=UNKNOWN),
)


# ---------------------------------------------------------------- measured times

_Timed = Mapping[str, tuple[str, tuple[Frame, ...]]]


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
        _time_columns(report.timed, several=times.devices > 1),
        times.rows,
        shown=rows,
        text_rows=text_rows,
        folded=_FOLDED_ROWS,
        rest=lambda hidden: plural(len(hidden), "shorter one"),
        where="; record.kernel_times has all",
    )
    words = f"{measured_words(times)}; {_HOW}"
    notes = [line("unknown: ", Quote(one.instruction), f": {one.why}") for one in times.unknown[:rows]]
    if len(times.unknown) > rows:
        notes.append(line(f"and {len(times.unknown) - rows:,} more of unknown time"))
    summary: Spans = (strong(f"times of {plural(len(times), 'HLO instruction')}"), dim(f", {words}"))
    return [Fold(summary=summary, blocks=(table, *notes), is_open=False)]


_HOW = "per call, under JAX's profiler, which slows the program"


def _time_columns(known: _Timed, *, several: bool) -> tuple[Column, ...]:
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
    return (Quote(row.opcode), *((dim(" with what it runs"),) if row.holds_others else ()))


# ---------------------------------------------------------------- calls back into Python

_NAMED = 3
_CALLBACKS = 200


def callback_lines(report: RecordReport) -> list[Block]:
    """The number and the places of calls back into Python; [] without callbacks."""
    rows = report.callbacks
    if not rows:
        return []
    spans: list[Span] = [strong(plural(len(rows), "host callback")), Text(": ")]
    for position, row in enumerate(rows[:_NAMED]):
        spans += [Text("; ")] if position else []
        spans += [Text(_kind_words(row)), Text(f", {_runs_words(row)}, {bytes_text(row.operand_bytes)} to Python")]
        spans += [Text(" at "), *place_spans(row.source)] if row.source else []
    if len(rows) > _NAMED:
        spans.append(Text(f"; {len(rows) - _NAMED:,} more in record.callbacks"))
    return [Line(tuple(spans))]


def callback_blocks(rows: Sequence[HostCallback]) -> list[Block]:
    """The table of callbacks; [] without callbacks."""
    if not rows:
        return []
    table = table_of(_CALLBACK_COLUMNS, rows[:_CALLBACKS])
    rest = [line(f"and {len(rows) - _CALLBACKS:,} more")] if len(rows) > _CALLBACKS else []
    return [table, *rest]


def _kind_words(row: HostCallback) -> str:
    return f"{row.kind or 'unknown'}{', ordered' if row.ordered else ''}"


def _count_words(row: HostCallback) -> str:
    count = count_text(row.count)
    return count if row.count == row.count_min else f"up to {count}"


def _runs_words(row: HostCallback) -> str:
    if row.count is None:
        return "an unknown number of times per call"
    most = "" if row.count == row.count_min else "at most "
    return f"{most}once per call" if row.count == 1 else f"{most}{row.count:,} times per call"


_CALLBACK_COLUMNS = (
    Column("kind", _kind_words),
    numbers("n", _count_words),
    sizes("to Python {unit}", lambda row: row.operand_bytes),
    sizes("back {unit}", lambda row: row.result_bytes),
    codes("what", lambda row: operation_text(row.op_name), shrink=True, optional=True),
    places("where", lambda row: row.source),
)
