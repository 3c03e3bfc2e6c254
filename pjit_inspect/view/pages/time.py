"""Where the time of a call goes, as blocks: the answer, how sure it is, limits, lines of source, phases and axes.

Not its job: the figures (`model.time`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.time.hardware import BySource
from pjit_inspect.model.time.rows import TimeLine, TimelineSpan, TimeShare
from pjit_inspect.model.time.step_time import StepTime
from pjit_inspect.view.document.columns import codes, numbers, table_of
from pjit_inspect.view.document.document import (
    Block,
    Column,
    Line,
    Number,
    Prose,
    Sign,
    Spans,
    Text,
    dim,
    line,
    strong,
)
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import count_text, plural, time_text

_ROWS, _LOOPS = 12, 6
_LEAST = 0.005
"""Phases and axes below this share are left out."""


def time_blocks(step: StepTime, data: RecordData) -> tuple[Block, ...]:
    """The page; without speeds it has operations and their shares in place of seconds."""
    if not step.kernels and not step.collectives:
        return (line(strong("No times"), f": {step.missing}" if step.missing else ""),)
    is_timed = step.step_s is not None
    blocks: list[Block] = [line(*_answer(step), role="answer")]
    if is_timed:
        blocks += [*_range_lines(step), *_ceiling_lines(step)]
    elif step.missing:
        blocks.append(Line((Text("seconds: unknown; "), Prose(step.missing)), "note"))
    blocks.append(_table(step, is_timed=is_timed))
    blocks += _share_lines(step)
    blocks += [line(f"{note}", role="note") for note in step.notes]
    blocks.append(line(_footer(step, data), role="footer"))
    return tuple(blocks)


def _answer(step: StepTime) -> Spans:
    """What a call comes to, in one line; no time of a whole step by itself."""
    hardware = step.hardware
    if step.is_measured and step.step_s is not None:
        return (
            strong(f"{time_text(step.step_s * 1e6)} a call"),
            Text(f", measured on {plural(step.devices, 'device')}; {_bound_words(step)}"),
        )
    if step.step_s is None or hardware is None:
        work = f"{_flops_text(step.flops)} a call on each of {plural(step.devices, 'device')}"
        return (strong(work), Text(f", in {plural(len(step.kernels), 'kernel')}"))
    kernels, exposed = (time_text((seconds or 0.0) * 1e6) for seconds in (step.kernels_s, step.exposed_s))
    where = f"{count_text(step.devices)} {hardware.name}"
    return (
        strong(f"{kernels} of kernels and {exposed} of exposed communication"),
        Text(f" a call on {where}; {_bound_words(step)}"),
    )


def _bound_words(step: StepTime) -> str:
    words = {"neither": "bound by no single limit", "unknown": "what limits it is unknown"}
    return words.get(step.bound_by, f"{step.bound_by}-bound")


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
    sources = [
        f"{name} {time_text(seconds * 1e6)} ({count})" if name != "unknown" else f"unknown ({count}, taken as 0)"
        for name, (count, seconds) in step.known_by.items()
    ]
    found: list[Block] = [_labelled("range", _dotted(parts)), _labelled("known by", (Text("; ".join(sources)),))]
    if step.mfu is not None and step.hfu is not None:
        again = f"; {100 * step.hfu:.0f} % with what is computed again" if step.hfu > step.mfu else ""
        found.append(
            _labelled("MFU", (Text(f"{100 * step.mfu:.0f} % of the bfloat16 peak, as the program's products{again}"),))
        )
    return found


def _ceiling_lines(step: StepTime) -> list[Block]:
    parts = [
        (Text(f"{ceiling.what} "), Text(f"-{time_text(ceiling.saved_s * 1e6)}", "strong")) for ceiling in step.ceilings
    ]
    return [_labelled("ceilings", _dotted(parts))] if parts else []


def _labelled(label: str, words: Spans) -> Line:
    return Line((dim(f"{label}: "), *words))


def _dotted(parts: Sequence[Spans]) -> Spans:
    return tuple(span for number, own in enumerate(parts) for span in ((Sign("dot"),) if number else ()) + own)


def _table(step: StepTime, *, is_timed: bool) -> Block:
    """Lines of source, the most first."""
    columns: list[Column] = []
    if is_timed:
        # A table has one unit.
        columns.append(
            Column("{unit}", lambda row: None if row.seconds is None else row.seconds * 1e6, figure="us", align="right")
        )
    else:
        columns.append(numbers("FLOPs", lambda row: _flops_text(row.flops)))
    columns.append(numbers("%", _share_text, "modelled" if is_timed else "counted"))
    if is_timed:
        columns += [
            Column("bound by", lambda row: row.bound_by),
            numbers("of roofline", _roofline_text, "modelled", optional=True),
            Column("known by", lambda row: dim(row.known_by), optional=True),
        ]
    columns += [
        numbers("n", lambda row: row.runs),
        codes("where", lambda row: row.where),
        Column("what", lambda row: row.what, shrink=True),
    ]
    return table_of(columns, step.lines, shown=_ROWS, text_rows=_ROWS, folded=200, rest=_rest_words)


def _share_text(row: TimeLine) -> str:
    return "unknown" if row.share is None else f"{100 * row.share:.1f}"


def _roofline_text(row: TimeLine) -> str:
    return "" if row.of_roofline is None else f"{100 * row.of_roofline:.0f} %"


def _rest_words(rows: object) -> str:
    lines = tuple(rows)  # type: ignore[arg-type]
    share = sum(row.share or 0.0 for row in lines)
    return f"{plural(len(lines), 'more line')}, {100 * share:.1f} %"


def _share_lines(step: StepTime) -> list[Block]:
    """What loops, phases and mesh axes take."""
    found: list[Block] = _loop_lines(step)
    for label, shares in (("by phase", step.by("phase")), ("by axis", step.by("axis"))):
        told = [share for share in shares if (share.share or 0.0) >= _LEAST]
        if len(told) > 1:
            found.append(_labelled(label, _dotted([(Text(_of_share(share)),) for share in told])))
    hidden = sum(row.hidden_s or 0.0 for row in step.collectives)
    if step.step_s is not None and step.exposed_s is not None and (hidden or step.exposed_s):
        words = f"{time_text(step.exposed_s * 1e6)} exposed, {time_text(hidden * 1e6)} hidden behind kernels"
        found.append(_labelled("network", (Text(words),)))
    return found


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


def _footer(step: StepTime, data: RecordData) -> str:
    """The speeds with their sources, and what was never tried."""
    hardware = step.hardware
    if step.is_measured:
        return "seconds: means over calls and devices, by JAX's profiler, which slows the program down"
    if hardware is None:
        return (
            "FLOPs are counted: two for a multiply-add, one for an element of other arithmetic; loops times their turns"
        )
    speeds = [
        _figure_text("products", hardware.flops_per_s.get("bf16", ()), 1e12, "TFLOP/s"),
        _figure_text("memory", hardware.memory_bytes_per_s, 1e9, "GB/s"),
        _figure_text("link", hardware.link_bytes_per_s, 1e9, "GB/s one way"),
    ]
    told = "; ".join(words for words in speeds if words)
    if hardware.is_measured:
        return f"{told}; {hardware.fit}"
    ran = "" if step.measured_s is not None else "; nothing here was run, and no step time of this chip was validated"
    return f"{told}{ran}"


def _figure_text(name: str, figures: BySource, unit: float, words: str) -> str:
    """A figure by each source; equal ones once."""
    values: dict[str, list[str]] = {}
    for figure in figures:
        values.setdefault(f"{figure.value / unit:,.4g}", []).append(figure.source)
    told = " or ".join(f"{value} ({', '.join(sources)})" for value, sources in values.items())
    return f"{name} {told} {words}" if told else ""


def perfetto_text(spans: Sequence[TimelineSpan]) -> str:
    """A timeline in the trace event format: a thread for each lane, microseconds."""
    lanes = {lane: number for number, lane in enumerate(dict.fromkeys(span.lane for span in spans))}
    events: list[dict[str, object]] = [
        {"ph": "M", "pid": 0, "tid": number, "name": "thread_name", "args": {"name": printable(lane)}}
        for lane, number in lanes.items()
    ]
    for span in spans:
        label = f"{span.label} x {span.turns:,}" if span.turns > 1 else span.label
        events.append(
            {
                "ph": "X",
                "pid": 0,
                "tid": lanes[span.lane],
                "name": printable(label),
                "ts": span.begin_s * 1e6,
                "dur": (span.end_s - span.begin_s) * 1e6,
                "args": {"instruction": printable(span.name), "known by": "an estimate"},
            }
        )
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"})


def _flops_text(flops: int | None) -> str:
    if flops is None:
        return "unknown"
    for size, name in ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP")):
        if flops >= size:
            return f"{flops / size:,.3g} {name}"
    return f"{flops:,} FLOP"
