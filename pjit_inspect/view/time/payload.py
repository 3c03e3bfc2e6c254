"""The data of the inspector's pane of seconds: words, shares, strips, and rows; JavaScript lays them out and draws.

`bars` (parts of name, share and words), `ceilings` and `range` (name, words, share of
the longest), `strips` (title, length, lanes of pieces, loops), `tables` (by line, by kernel), `roofline` and `scaling`
(pictures).
Not its job: the figures (`model.time`), or the charts (`view.charts.seconds`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pjit_inspect.model.time.rows import TimedCollective, TimedKernel
from pjit_inspect.model.time.scaling import ScalingTable
from pjit_inspect.model.time.step_time import StepTime
from pjit_inspect.model.time.strips import Piece, Strip
from pjit_inspect.view.charts.seconds import piece_name, roofline_chart, scaling_chart, shares_charts, strip_title
from pjit_inspect.view.document.chart import BarPart, BarRow, CurveChart
from pjit_inspect.view.document.columns import codes, numbers, table_of
from pjit_inspect.view.document.document import AxisLabel, Column, Spans, Text, dim, spans
from pjit_inspect.view.document.quantities import bytes_text, plural
from pjit_inspect.view.inspector.words import axes_data, name_data, table_data
from pjit_inspect.view.record.seconds import short
from pjit_inspect.view.svg.chart_parts import chart_sentence
from pjit_inspect.view.svg.chart_picture import draw_chart
from pjit_inspect.view.svg.svg import data_uri
from pjit_inspect.view.time.page import flops_text, footer_text, hidden_words, known_by_text, line_columns

_ROWS = 60
_SEEN = 5e-4
"""The least share of a bar that its words tell: less is written as 0.0 %."""
_KINDS = ("kernel", "wait", "transfer", "copy")


def time_data(step: StepTime, scaling: ScalingTable | None = None) -> dict[str, Any]:
    """The data of a step whose seconds are known; with the program on more and more chips, if somebody asked."""
    lines = list(step.lines)
    works = sorted([*step.kernels, *step.collectives], key=lambda row: -(_seconds(row) or 0.0))
    whole = step.step_s or 0.0
    return {
        "notes": [name_data(note, longest=500) for note in step.notes],
        "known_by": known_by_text(step),
        "footer": name_data(footer_text(step), longest=900),
        "range": _range(step),
        "ceilings": [["as it is", short(whole), 1.0, ""]]
        + [[own.what, short(own.step_s), own.step_s / whole, f"-{short(own.saved_s)}"] for own in step.ceilings],
        "bars": [_bar(row) for chart in shares_charts(step) for row in chart.rows],
        "strips": [_strip(strip) for strip in step.strips],
        "tables": [
            {
                "name": "by line",
                **table_data(table_of(line_columns(is_timed=True), lines[:_ROWS])),
                "names": [name_data(row.where) for row in lines[:_ROWS]],
                "rest": _rest(lines),
            },
            {
                "name": "by kernel",
                **table_data(table_of(_columns(whole), works[:_ROWS])),
                "names": [name_data(row.name) for row in works[:_ROWS]],
                "rest": _rest(works),
            },
        ],
        "roofline": _picture(roofline_chart(step)),
        "scaling": None if scaling is None else _picture(scaling_chart(scaling)),
    }


def _rest(rows: Sequence[object]) -> str:
    return "" if len(rows) <= _ROWS else f"{plural(len(rows) - _ROWS, 'more row')}; record.time has all"


def _range(step: StepTime) -> list[list[Any]]:
    """Figures of the whole call, from the least: name, in words, share of the longest."""
    found = [
        ("at best", step.floor_s),
        ("kernels alone", step.kernels_s),
        ("measured" if step.is_measured else "in XLA's order", step.step_s),
        ("nothing overlaps", step.serial_s),
        *(() if step.is_measured else (("measured", step.measured_s),)),
    ]
    known = [(name, seconds) for name, seconds in found if seconds is not None]
    longest = max((seconds for _, seconds in known), default=0.0) or 1.0
    return [[name, short(seconds), seconds / longest] for name, seconds in known]


def _bar(row: BarRow) -> dict[str, Any]:
    whole = row.total or 1.0
    return {
        "name": row.label,
        "parts": [
            [part.name, part.value / whole, _share_words(part, whole)]
            for part in row.parts
            if part.value >= _SEEN * whole or part.words
        ],
    }


def _share_words(part: BarPart, whole: float) -> str:
    """Seconds and share; of what has no known time, how much there is."""
    known = (f"{short(part.value)}, {100 * part.value / whole:.1f} %",) if part.value else ()
    return "; ".join((*known, *part.words))


# ---------------------------------------------------------------- strips


def _strip(strip: Strip) -> dict[str, Any]:
    hidden = max(0.0, strip.transfer_s - strip.exposed_s)
    network = f"{short(strip.exposed_s)} of communication exposed, {hidden_words(hidden)}" if strip.transfer_s else ""
    return {
        "title": strip_title(strip),
        "phase": strip.phase,
        "network": network,
        "length": strip.length_s,
        "words": short(strip.length_s),
        "turns": strip.turns,
        "loops": [
            [
                loop.begin_s,
                loop.end_s,
                loop.strip,
                f"{loop.turns:,} \u00d7 {short((loop.end_s - loop.begin_s) / loop.turns)}",
            ]
            for loop in strip.loops
        ],
        "lanes": [
            {
                "name": name_data(lane.name),
                "axes": axes_data(lane.axes),
                "pieces": [_piece(piece) for piece in lane.pieces],
            }
            for lane in strip.lanes
            if lane.pieces
        ],
    }


def _piece(piece: Piece) -> list[Any]:
    """Begin, end, kind, phase, axes, label, line, instruction, words."""
    return [
        piece.begin_s,
        piece.end_s,
        _KINDS.index(piece.kind),
        piece.phase,
        None if piece.axes is None else axes_data(piece.axes),
        name_data(piece.label),
        name_data(piece.line),
        name_data(piece.name),
        _words(piece),
    ]


def _words(piece: Piece) -> list[str]:
    """The tooltip, a line each."""
    first = piece.label if piece.kind in ("kernel", "transfer") and piece.label else piece_name(piece)
    if piece.kind == "wait" and piece.label:
        first = f"waits for {piece.label}"
    number = (
        f"{piece.number:,} {'kernels' if piece.kind == 'kernel' else 'transfers'}" if piece.number > 1 else piece.name
    )
    found = [first, short(piece.seconds), piece.line, piece.phase, number or "all turns of a loop, by kind"]
    return [name_data(one) for one in found if one]


# ---------------------------------------------------------------- rows

_Row = TimedKernel | TimedCollective


def _seconds(row: _Row) -> float | None:
    """The seconds that a row adds to a call: of a collective, the wait."""
    return row.exposed_s if isinstance(row, TimedCollective) else row.seconds


def _columns(whole: float) -> list[Column]:
    """Kernels and waits, the longest first."""
    return [
        Column(
            "{unit}",
            lambda row: None if _seconds(row) is None else (_seconds(row) or 0) * 1e6,
            figure="us",
            align="right",
        ),
        numbers("%", lambda row: "unknown" if _seconds(row) is None else f"{100 * (_seconds(row) or 0) / whole:.1f}"),
        codes("what", lambda row: row.label if isinstance(row, TimedKernel) else f"waits: {row.kind}"),
        codes("where", lambda row: row.line),
        Column("bound by", _bound),
        numbers("of roofline", _of_roofline),
        numbers("FLOPs", lambda row: flops_text(row.flops) if isinstance(row, TimedKernel) else ""),
        numbers("bytes", lambda row: bytes_text(row.bytes if isinstance(row, TimedKernel) else row.sent_bytes)),
        numbers("n", lambda row: row.runs),
        Column("known by", lambda row: dim(row.known_by)),
    ]


def _of_roofline(row: _Row) -> str:
    return "" if isinstance(row, TimedCollective) or row.of_roofline is None else f"{100 * row.of_roofline:.0f} %"


def _bound(row: _Row) -> Spans:
    if isinstance(row, TimedKernel):
        return (Text(row.bound_by),)
    return spans(AxisLabel(row.axes), f" {row.overlap}")


def _picture(chart: CurveChart) -> dict[str, str] | None:
    if chart.missing:
        return None
    svg = draw_chart(chart)
    width, height = svg.size
    return {
        "title": chart.title,
        "notes": "; ".join(chart.notes),
        "alt": name_data(chart_sentence(chart), longest=500),
        "src": data_uri(svg.write()),
        "width": str(width),
        "height": str(height),
    }
