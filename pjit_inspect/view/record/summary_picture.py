"""A record's answer, mesh and totals per axis as one still picture: for a README, an issue, a slide.

It begins like the display's text, in the same words. Its background is white on every page, so that the sentences are
legible.
"""

from __future__ import annotations

from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.charts.totals import totals_chart
from pjit_inspect.view.document.colors import LINE, NOTE, Palette, document_axes
from pjit_inspect.view.document.document import Beside, Line, MeshSubject, Picture
from pjit_inspect.view.document.text_spans import spans_text, wrap
from pjit_inspect.view.record.answer import answer_line, memory_line, overview_blocks, title_line
from pjit_inspect.view.svg.chart_picture import draw_chart
from pjit_inspect.view.svg.mesh_picture import draw_mesh
from pjit_inspect.view.svg.svg import Svg

_COLUMNS, _LINE, _MARGIN, _GAP = 104, 15.0, 12.0, 14.0
_INK, _DIM, _PAPER = "#1f2328", "#59636e", "#ffffff"
_NOTES = 6


def draw_summary(report: RecordReport) -> Svg:
    """The picture: the compiled program, the answer, the mesh with its traffic, bytes per axis, memory, notes."""
    body = Svg()
    y = _sentences(body, [title_line(report.data)], 10, _DIM)
    y = _sentences(body, [answer_line(report)], y + 3, _INK, strong=True) + 6
    mesh = _mesh(report)
    if mesh is not None:
        body.place(draw_mesh(mesh, Palette(document_axes(report.data))), 0, y - 8)
        y = body.size[1] + _GAP
    y = _totals(body, report, y)
    y = _sentences(body, [line for line in memory_line(report.data) if isinstance(line, Line)], y + 2, _INK)
    for note in report.notes[:_NOTES]:
        y = _lines(body, f"note: {note}", y, NOTE)
    _lines(body, "sends: modelled (ring), per device", y, _DIM)
    return _framed(body)


def _mesh(report: RecordReport) -> MeshSubject | None:
    """The mesh as the display draws it; None without a mesh."""
    blocks = [part for block in overview_blocks(report) if isinstance(block, Beside) for part in block.blocks]
    subjects = (block.subject for block in blocks if isinstance(block, Picture))
    return next((subject for subject in subjects if isinstance(subject, MeshSubject)), None)


def _totals(body: Svg, report: RecordReport, y: float) -> float:
    chart = totals_chart(report)
    if chart.missing:
        return y  # the answer has said so
    y = _lines(body, chart.title, y + 2, _DIM)
    body.place(draw_chart(chart), 0, y - 8)
    y = body.size[1] + _GAP
    for note in chart.notes:
        y = _lines(body, f"note: {note}", y, _DIM)
    return y


def _sentences(body: Svg, lines: list[Line], y: float, color: str, *, strong: bool = False) -> float:
    for line in lines:
        y = _lines(body, spans_text(line.spans, _COLUMNS), y, color, strong=strong)
    return y


def _lines(body: Svg, text: str, y: float, color: str, *, strong: bool = False) -> float:
    """Draws a paragraph with its first line at y; gives the y of the next one."""
    for line in wrap(text.replace("  ", " \u00b7 "), _COLUMNS):
        body.sentence(0, y, line, color=color, strong=strong)
        y += _LINE
    return y


def _framed(body: Svg) -> Svg:
    width, height = body.size
    card = Svg()
    card.rect(0, 0, width + 2 * _MARGIN, height + 2 * _MARGIN, fill=_PAPER, stroke=LINE, rx=6)
    card.place(body, _MARGIN, _MARGIN)
    return card
