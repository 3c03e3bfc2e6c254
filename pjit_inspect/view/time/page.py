"""Where the time of a call goes, as blocks: the answer, how sure it is, limits, lines of source, phases and axes.

Not its job: the figures (`model.time`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.time.hardware import BySource, Hardware
from pjit_inspect.model.time.rows import TimeLine, TimelineSpan, TimeShare, tracks_of
from pjit_inspect.model.time.step_time import StepTime
from pjit_inspect.view.charts.seconds import roofline_chart, shares_charts, strip_chart
from pjit_inspect.view.document.chart import BarChart, StillChart
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.columns import codes, numbers, table_of
from pjit_inspect.view.document.document import (
    AxisLabel,
    Block,
    ChartSubject,
    Column,
    Line,
    Number,
    Picture,
    Prose,
    Sign,
    Spans,
    Text,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import plural, time_text
from pjit_inspect.view.record.seconds import seconds_spans
from pjit_inspect.view.svg.chart_parts import chart_sentence

_ROWS, _LOOPS, _STRIPS = 12, 6, 2
_TOLD_S, _TOLD_SHARE = 1e-8, 0.5
_LEAST = 0.005
"""Phases and axes below this share are left out."""


def time_blocks(step: StepTime, data: RecordData) -> tuple[Block, ...]:
    """The page; without speeds it has operations and their shares in place of seconds."""
    if not step.kernels and not step.collectives:
        return (line(strong("No times"), f": {step.missing}" if step.missing else ""),)
    is_timed = step.step_s is not None
    blocks: list[Block] = [line(*_answer(step), role="answer")]
    if is_timed:
        blocks += [*_range_lines(step), *_ceiling_lines(step), *_pictures(step, document_axes(data))]
    elif step.is_quick:
        blocks += [*_range_lines(step), Line((Prose(step.missing),), "note")]
    elif step.missing:
        blocks.append(Line((Text("seconds: unknown; "), Prose(step.missing)), "note"))
    blocks.append(_table(step, is_timed=is_timed))
    blocks += [*_share_lines(step), *(picture_blocks(roofline_chart(step)) if is_timed else ())]
    blocks += [line(f"{note}", role="note") for note in step.notes]
    blocks.append(line(footer_text(step), role="footer"))
    return tuple(blocks)


def _answer(step: StepTime) -> Spans:
    """The seconds of a call, in one line."""
    if seconds := seconds_spans(step):
        return seconds
    work = f"{flops_text(step.flops)} a call on each of {plural(step.devices, 'device')}"
    return (strong(work), Text(f", in {plural(len(step.kernels), 'kernel')}"))


def _range_lines(step: StepTime) -> list[Block]:
    """The range, where its ends come from, and the shares of the peak."""
    parts: list[Spans] = []
    for words, seconds in (
        ("at best ", step.floor_s),
        ("kernels alone ", step.kernels_s),
        ("" if step.is_measured else "in XLA's order ", None if step.is_measured else step.step_s),
        ("nothing overlaps ", step.serial_s),
        ("measured ", step.measured_s),
    ):
        if seconds is not None:
            provenance = "measured" if step.is_measured or words == "measured " else "modelled"
            parts.append((Text(words), Number(time_text(seconds * 1e6), provenance=provenance)))
    found: list[Block] = [_labelled("range", _dotted(parts)), _labelled("known by", (Text(known_by_text(step)),))]
    if step.mfu is not None and step.hfu is not None:
        again = f"; {100 * step.hfu:.0f} % with what is computed again" if step.hfu > step.mfu else ""
        found.append(
            _labelled("MFU", (Text(f"{100 * step.mfu:.0f} % of the bfloat16 peak, as the program's products{again}"),))
        )
    return found


def known_by_text(step: StepTime) -> str:
    """Where seconds come from: each source, its seconds, its number of rows."""
    sources = [
        f"{name} {time_text(seconds * 1e6)} ({count:,})" if name != "unknown" else f"unknown ({count:,}, taken as 0)"
        for name, (count, seconds) in step.known_by.items()
    ]
    return "; ".join(sources)


def _ceiling_lines(step: StepTime) -> list[Block]:
    parts = [
        (Text(f"{ceiling.what} "), Text(f"-{time_text(ceiling.saved_s * 1e6)}", "strong")) for ceiling in step.ceilings
    ]
    return [_labelled("ceilings", _dotted(parts))] if parts else []


def _pictures(step: StepTime, axes: Sequence[str]) -> list[Block]:
    """Shares, the call, and the loop that takes longest, one turn of it; text has the tables alone."""
    strips = step.strips[:_STRIPS]
    return [
        block
        for chart in (*map(_with_shares, shares_charts(step)), *(strip_chart(own, axes) for own in strips))
        for block in picture_blocks(chart)
    ]


def _with_shares(chart: BarChart) -> BarChart:
    """The chart with shares in its legend; what is too little for one has no name there."""
    (row,) = chart.rows
    shares = [(part, 100 * part.value / (row.total or 1.0)) for part in row.parts]
    parts = tuple(
        replace(part, name=f"{part.name} {share:.0f} %" if share >= _TOLD_SHARE else "") for part, share in shares
    )
    return replace(chart, rows=(replace(row, parts=parts),))


def picture_blocks(chart: StillChart) -> list[Block]:
    """A chart with its title; [] for an empty one."""
    if chart.missing:
        return []
    title = spans(strong(chart.title), *(dim(f"; {note}") for note in chart.notes))
    return [Picture(subject=ChartSubject(chart=chart), alt=chart_sentence(chart), title=title)]


def _labelled(label: str, words: Spans) -> Line:
    return Line((dim(f"{label}: "), *words))


def _dotted(parts: Sequence[Spans]) -> Spans:
    return tuple(span for number, own in enumerate(parts) for span in ((Sign("dot"),) if number else ()) + own)


def _table(step: StepTime, *, is_timed: bool) -> Block:
    """Lines of source, the most first."""
    columns = line_columns(is_timed=is_timed)
    return table_of(columns, step.lines, shown=_ROWS, text_rows=_ROWS, folded=200, rest=_rest_words)


def line_columns(*, is_timed: bool) -> list[Column]:
    """The columns of lines of source: seconds where they are known, else operations."""
    columns: list[Column] = []
    if is_timed:
        # A table has one unit.
        columns.append(
            Column("{unit}", lambda row: None if row.seconds is None else row.seconds * 1e6, figure="us", align="right")
        )
    else:
        columns.append(numbers("FLOPs", lambda row: flops_text(row.flops)))
    columns.append(numbers("%", _share_text, "modelled" if is_timed else "counted"))
    if is_timed:
        columns += [
            Column("bound by", lambda row: AxisLabel(row.axes) if row.is_wait else row.bound_by),
            numbers("of roofline", _roofline_text, "modelled", optional=True),
            Column("known by", lambda row: dim(row.known_by), optional=True),
        ]
    return [
        *columns,
        numbers("n", lambda row: row.runs),
        codes("where", lambda row: row.where),
        Column("what", lambda row: row.what, shrink=True),
    ]


def _share_text(row: TimeLine) -> str:
    return "unknown" if row.share is None else f"{100 * row.share:.1f}"


def _roofline_text(row: TimeLine) -> str:
    return "" if row.of_roofline is None else f"{100 * row.of_roofline:.0f} %"


def _rest_words(rows: object) -> str:
    lines = tuple(rows)  # type: ignore[arg-type]
    share = sum(row.share or 0.0 for row in lines)
    return f"{plural(len(lines), 'more line')}, {100 * share:.1f} %"


def _share_lines(step: StepTime) -> list[Block]:
    """The shares of loops, phases and mesh axes."""
    found: list[Block] = _loop_lines(step)
    for label, shares in (("by phase", step.by("phase")), ("by axis", step.by("axis"))):
        told = [share for share in shares if (share.share or 0.0) >= _LEAST]
        if len(told) > 1:
            found.append(_labelled(label, _dotted([(Text(_of_share(share)),) for share in told])))
    hidden = sum(row.hidden_s or 0.0 for row in step.collectives)
    if step.step_s is not None and step.exposed_s is not None and (hidden or step.exposed_s):
        words = f"{time_text(step.exposed_s * 1e6)} exposed, {hidden_words(hidden)} behind kernels"
        found.append(_labelled("network", (Text(words),)))
    return found


def hidden_words(seconds: float) -> str:
    """Seconds of hidden transfers; sums of equal numbers differ by less than is told."""
    return f"{time_text(seconds * 1e6)} hidden" if seconds >= _TOLD_S else "none hidden"


def _loop_lines(step: StepTime) -> list[Block]:
    """The outermost loops in order, as turns times seconds, and the rest."""
    outer: list[TimelineSpan] = []
    for span in step.timeline:
        if span.lane == "loops" and span.turns > 1 and (not outer or span.begin_s >= outer[-1].end_s):
            outer.append(span)
    if not outer or len(outer) > _LOOPS or step.step_s is None:
        return []
    parts = [f"a loop of {own.turns:,} x {time_text((own.end_s - own.begin_s) / own.turns * 1e6)}" for own in outer]
    rest = step.step_s - sum(own.end_s - own.begin_s for own in outer)
    return [_labelled("one call", _dotted([(Text(words),) for words in (*parts, f"rest {time_text(rest * 1e6)}")]))]


def _of_share(share: TimeShare) -> str:
    seconds = "" if share.seconds is None else f" {time_text(share.seconds * 1e6)}"
    return f"{share.name}{seconds} ({100 * (share.share or 0.0):.0f} %)"


def footer_text(step: StepTime) -> str:
    """The speeds with their sources, and what was never tried."""
    hardware = step.hardware
    if step.is_measured:
        return "seconds: means over calls and devices, by JAX's profiler, which slows the program down"
    if hardware is None:
        return (
            "FLOPs are counted: two for a multiply-add, one for an element of other arithmetic; loops times their turns"
        )
    speeds = [
        _figure_text("products", _product_figures(hardware), 1e12, "TFLOP/s"),
        _figure_text("memory", hardware.memory_bytes_per_s, 1e9, "GB/s"),
        _figure_text("link", hardware.link_bytes_per_s, 1e9, "GB/s one way"),
    ]
    told = "; ".join(words for words in speeds if words)
    if hardware.is_measured:
        return f"{told}; {hardware.fit}"
    ran = "" if step.measured_s is not None else "; nothing here was run, and no step time of this chip was validated"
    return f"{told}{ran}"


def _product_figures(hardware: Hardware) -> BySource:
    """The peak for bfloat16, or for the first kind of number that has one."""
    peaks = hardware.flops_per_s
    return peaks.get("bf16", ()) or next(iter(peaks.values()), ())


def _figure_text(name: str, figures: BySource, unit: float, words: str) -> str:
    """A figure by each source; equal ones once."""
    values: dict[str, list[str]] = {}
    for figure in figures:
        values.setdefault(f"{figure.value / unit:,.4g}", []).append(figure.source)
    told = " or ".join(f"{value} ({', '.join(sources)})" for value, sources in values.items())
    return f"{name} {told} {words}" if told else ""


def perfetto_text(spans: Sequence[TimelineSpan]) -> str:
    """A timeline in the trace event format: a thread for each lane, several where transfers overlap; microseconds."""
    lanes = dict.fromkeys(span.lane for span in spans)
    # Loops hold one another.
    tracks = [
        (lane, own)
        for lane in lanes
        for own in (
            [[one for one in spans if one.lane == lane]]
            if lane == "loops"
            else tracks_of(one for one in spans if one.lane == lane)
        )
    ]
    events: list[dict[str, object]] = [
        {"ph": "M", "pid": 0, "tid": number, "name": "thread_name", "args": {"name": printable(lane)}}
        for number, (lane, _) in enumerate(tracks)
    ]
    for number, span in ((number, span) for number, (_, own) in enumerate(tracks) for span in own):
        label = f"{span.label} x {span.turns:,}" if span.turns > 1 else span.label
        events.append(
            {
                "ph": "X",
                "pid": 0,
                "tid": number,
                "name": printable(label),
                "ts": span.begin_s * 1e6,
                "dur": (span.end_s - span.begin_s) * 1e6,
                "args": {"instruction": printable(span.name), "known by": "an estimate"},
            }
        )
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})


def flops_text(flops: int | None) -> str:
    """Operations in three digits."""
    if flops is None:
        return "unknown"
    for size, name in ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP")):
        if flops >= size:
            return f"{flops / size:,.3g} {name}"
    return f"{flops:,} FLOP"
