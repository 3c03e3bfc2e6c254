"""A scatter as a still picture: points marked by kind, the best joined, a limit, labels on chips."""

from __future__ import annotations

from pjit_inspect.view.document.chart import ScatterChart, ScatterPoint
from pjit_inspect.view.document.colors import LINE, NEUTRAL, NOTE, SELECTION
from pjit_inspect.view.svg.chart_parts import Scale, draw_grid, scatter_scales
from pjit_inspect.view.svg.chart_words import size_in
from pjit_inspect.view.svg.svg import Svg, chip_width

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 440.0, 240.0, 52.0, 20.0
_DOT = 4.5
_AWAY = ((0, -14), (0, 14), (16, -6), (-16, -6), (16, 8), (-16, 8), (0, -24), (0, 24))
_CHIP = 15.0


def draw_scatter(svg: Svg, chart: ScatterChart) -> None:
    """Draws the chart, if it has points."""
    if not chart.points:
        return
    scales = scatter_scales(chart)
    _draw_grid(svg, chart, scales)
    places = [_place(point, chart, scales) for point in chart.points]
    _draw_front(svg, [places[chart.points.index(point)] for point in chart.front])
    for point, place in zip(chart.points, places, strict=True):
        _draw_point(svg, point, *place)
    taken: list[tuple[float, float, float]] = []
    order = sorted(range(len(places)), key=lambda at: not chart.points[at].is_chosen)
    for at in order:
        _draw_label(svg, chart.points[at], places[at], places, taken)


def _place(point: ScatterPoint, chart: ScatterChart, scales: tuple[Scale, Scale]) -> tuple[float, float]:
    return _x(scales[0].share(size_in(point.x, chart.x_unit))), _y(scales[1].share(size_in(point.y, chart.y_unit)))


def _x(share: float) -> float:
    return _LEFT + share * _WIDTH


def _y(share: float) -> float:
    return _HEIGHT - share * _HEIGHT


def _draw_grid(svg: Svg, chart: ScatterChart, scales: tuple[Scale, Scale]) -> None:
    svg.rect(0, -24, _LEFT + _WIDTH + 16, _HEIGHT + 64)
    draw_grid(svg, scales[1], _LEFT, 0, _WIDTH, _HEIGHT)
    for share, words in scales[0].ticks:
        svg.line(_x(share), _HEIGHT, _x(share), _HEIGHT + 4, stroke=LINE)
        svg.chip(_x(share), _HEIGHT + 13, words, color=NEUTRAL)
    up = f"{chart.y_measure}, {chart.y_unit}"
    along = f"{chart.x_measure}, {chart.x_unit}{' (log)' if scales[0].is_log else ''}"
    svg.chip(_LEFT, -14, up, color=NEUTRAL, anchor="start")
    svg.chip(_x(1), _HEIGHT + 32, along, color=NEUTRAL, anchor="end")
    if chart.limit is not None:
        _draw_limit(svg, chart.limit, chart.y_unit, scales[1])


def _draw_limit(svg: Svg, limit: tuple[float, str], unit: str, scale: Scale) -> None:
    value = size_in(limit[0], unit)
    near = value <= scale.high
    words = limit[1] if near else f"{limit[1]}, far above"
    y = _y(scale.share(value)) if near else -14.0
    if near:
        svg.line(_LEFT, y, _x(1), y, stroke=NOTE, stroke_dasharray="4 3")
    svg.chip(_x(1), y - (9 if near else 0), words, color=NOTE, anchor="end")


def _draw_front(svg: Svg, places: list[tuple[float, float]]) -> None:
    if len(places) < 2:
        return
    (x, y), *rest = places
    svg.path(f"M{x:.1f} {y:.1f}" + "".join(f"H{a:.1f}V{b:.1f}" for a, b in rest), stroke=NEUTRAL, stroke_width=1.5)


def _draw_point(svg: Svg, point: ScatterPoint, x: float, y: float) -> None:
    if point.is_chosen:
        svg.path(_circle(x, y, 2 * _DOT), stroke=SELECTION, stroke_width=2)
    color = NEUTRAL if point.is_best or point.kind == "base" else LINE
    if point.kind == "base":
        svg.path(f"M{x - _DOT:.1f} {y - _DOT:.1f}h9v9h-9z", fill=color)
    elif point.kind == "misfit":
        svg.path(f"M{x:.1f} {y - 5.5:.1f}l5.2 9.4h-10.4z", fill=NOTE)
    elif point.kind == "other":
        svg.path(_circle(x, y, _DOT), stroke=LINE, stroke_width=2)
    else:
        svg.path(_circle(x, y, _DOT), fill=color)
    if point.kind == "least":
        svg.path(f"M{x:.1f} {y - 6:.1f}v-11m-3 3.5l3 -3.5 3 3.5", stroke=LINE, stroke_width=1.3)


def _circle(x: float, y: float, r: float) -> str:
    return f"M{x - r:.1f} {y:.1f}a{r:.1f} {r:.1f} 0 1 0 {2 * r:.1f} 0a{r:.1f} {r:.1f} 0 1 0 {-2 * r:.1f} 0z"


def _draw_label(
    svg: Svg,
    point: ScatterPoint,
    place: tuple[float, float],
    places: list[tuple[float, float]],
    taken: list[tuple[float, float, float]],
) -> None:
    """Draws a label where it hides no point and no other label; none if there is no such place."""
    half = chip_width(point.label) / 2
    for dx, dy in _AWAY:
        x, y = place[0] + dx * (1 + half / 40), place[1] + dy
        if _is_free(x, y, half, places, taken):
            taken.append((x, y, half))
            svg.chip(x, y, point.label, color=SELECTION if point.is_chosen else NEUTRAL)
            return


def _is_free(
    x: float, y: float, half: float, places: list[tuple[float, float]], taken: list[tuple[float, float, float]]
) -> bool:
    hidden = any(abs(a - x) < half + _DOT and abs(b - y) < _CHIP / 2 + _DOT for a, b in places)
    met = any(abs(a - x) < half + other + 1 and abs(b - y) < _CHIP + 1 for a, b, other in taken)
    return not hidden and not met and x - half > _LEFT and x + half < _x(1) + 8 and -20 < y < _HEIGHT
