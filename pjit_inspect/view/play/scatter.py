"""Memory against bytes sent, a point for each variant: as a chart, and as data for the page.

Not its job: which is better (`model.play.variant`), the pictures (`view.svg.chart_picture`, `view/front/src/play`).
"""

from __future__ import annotations

from typing import Any, Literal

from pjit_inspect.model.play.variant import HistoryTable, Variant
from pjit_inspect.view.document.chart import ScatterChart, ScatterPoint
from pjit_inspect.view.document.quantities import bytes_text, share_unit
from pjit_inspect.view.inspector.words import name_data
from pjit_inspect.view.play.words import chip_words, mesh_words, variant_words
from pjit_inspect.view.svg.chart_parts import chart_sentence, scatter_scales, size_in

_LEGEND = (
    "\u25a0 base \u00b7 \u25cf as many devices (dark: best) \u00b7 \u25cf\u2191 memory at least this \u00b7 "
    "\u25cb other devices \u00b7 \u25b2 does not fit"
)


_PLACES = "places of donated arguments modelled until a variant is compiled in full"


def scatter_chart(history: HistoryTable, *, against: int = 0, donates: bool = False) -> ScatterChart:
    """The chart of all variants whose bytes and memory are known; `donates` as in `PlayGiven`."""
    known = [row for row in history.rows if row.sent_bytes is not None and row.memory_bytes is not None]
    is_modelled = donates and any(row.memory_source == "arguments and results" for row in known)
    places = ", donated places modelled" if is_modelled else ""
    title = f"Memory against bytes sent (bytes modelled: ring; memory counted{places})"
    if not known:
        return ScatterChart(title=title, missing="No variant was answered yet.")
    now = next((row for row in history.rows if row.number == history.chosen), known[0])
    best = {row.number for row in history.front if (row.devices, row.memory_source) == (now.devices, now.memory_source)}
    return ScatterChart(
        title=title,
        notes=(_PLACES,) if is_modelled else (),
        x_measure="sent per device and call",
        y_measure="memory per device",
        x_unit=share_unit(row.sent_bytes for row in known),
        y_unit=share_unit(row.memory_bytes for row in known),
        points=tuple(_point(row, now, against, best) for row in known),
        limit=None if now.available_bytes is None else (now.available_bytes, _limit(now)),
        axes=tuple(name for name, _ in now.controls.mesh),
    )


def _limit(now: Variant) -> str:
    return f"{chip_words(now)}: {bytes_text(now.available_bytes)}"


def _point(row: Variant, now: Variant, against: int, best: set[int]) -> ScatterPoint:
    kind: Literal["base", "known", "least", "misfit", "other"] = "known" if row.memory_source == "xla" else "least"
    if row.fits is False:
        kind = "misfit"
    elif row.devices != now.devices:
        kind = "other"
    elif row.number == against:
        kind = "base"
    least = "" if row.memory_source == "xla" else "at least "
    return ScatterPoint(
        label=str(row.number),
        x=row.sent_bytes or 0,
        y=row.memory_bytes or 0,
        kind=kind,
        is_best=row.number in best,
        is_chosen=row.number == now.number,
        words=(
            f"#{row.number} {row.name or variant_words(row)}",
            f"mesh {mesh_words(row.controls.mesh)}",
            f"sends {bytes_text(row.sent_bytes)}, holds {least}{bytes_text(row.memory_bytes)}",
        ),
    )


def scatter_data(history: HistoryTable, *, against: int, donates: bool = False) -> dict[str, Any]:
    """The same as data to draw, with places as shares of the picture."""
    chart = scatter_chart(history, against=against, donates=donates)
    x, y = scatter_scales(chart)
    places = [(x.share(size_in(one.x, chart.x_unit)), y.share(size_in(one.y, chart.y_unit))) for one in chart.points]
    place = dict(zip(chart.points, places, strict=True))
    limit = None
    if chart.limit is not None:
        value = size_in(chart.limit[0], chart.y_unit)
        near = value <= y.high
        words = name_data(chart.limit[1])
        limit = [y.share(value), words] if near else [None, f"{words}, far above"]
    return {
        "title": "Memory against bytes sent",
        "words": name_data(chart_sentence(chart), longest=1000),
        "legend": " \u00b7 ".join((_LEGEND, *chart.notes)),
        "missing": chart.missing,
        "x_label": f"{chart.x_measure}, {chart.x_unit}{' (log)' if x.is_log else ''}",
        "y_label": f"{chart.y_measure}, {chart.y_unit}",
        "x_ticks": [list(one) for one in x.ticks],
        "y_ticks": [list(one) for one in y.ticks],
        "limit": limit,
        "front": [list(place[one]) for one in chart.front],
        "points": [
            {
                "number": int(one.label),
                "x": place[one][0],
                "y": place[one][1],
                "kind": one.kind,
                "least": one.kind == "least",
                "front": one.is_best,
                "words": "\n".join(name_data(word, longest=400) for word in one.words),
            }
            for one in chart.points
        ],
    }
