"""Every figure and the table under it say the same: axes, units, rows, amounts, totals."""

from __future__ import annotations

import html
import re
from collections import Counter
from typing import Any

import pytest
import view_reports
from test_figures import DATA, MODEL, NAMES, collective, figures_of, report_of
from view_reports import mesh_of

from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.document import Number, Quote, Spans, TableBlock
from pjit_inspect.view.figures import chart_figure as drawn_by
from pjit_inspect.view.figures import figures as made_by
from pjit_inspect.view.figures.figures import chart_blocks
from pjit_inspect.view.svg.chart_parts import size_in

REPORTS = {name: report for name, report in view_reports.every_report().items() if name != "huge"}
LONG = [f"{'a' * 40}{number}{'a' * 40}" for number in (1, 2)]
ALIKE = report_of(
    collective("all-reduce", (LONG[0],), MODEL, 2**20, 3 * 2**19),
    collective("all-gather", (LONG[1],), DATA, 2**20, 2**20),
    mesh=mesh_of(**{LONG[1]: 2, LONG[0]: 4}),
)
REPORTS["axes whose names are cut alike"] = ALIKE


def both(monkeypatch: pytest.MonkeyPatch, report: RecordReport, name: str) -> tuple[Any, Any, TableBlock | None]:
    """A figure, the chart it was made of, and the table that is shown with it."""
    charts: list[Any] = []
    kept = made_by.chart_document

    def keep(chart: Any) -> Any:
        charts.append(chart)
        return kept(chart)

    monkeypatch.setattr(made_by, "chart_document", keep)
    figure = getattr(figures_of(report), name)
    tables = [block for block in chart_blocks(charts[0]) if isinstance(block, TableBlock)]
    return figure, charts[0], tables[0] if tables else None


def plain(label: str) -> str:
    return html.unescape(re.sub(r"<br>.*", "", label))


def words(cell: Spans) -> str:
    return "".join(span.text for span in cell if isinstance(span, Quote | Number))


def amount(text: str) -> float:
    return float(text.lstrip("<").replace(",", "")) if text else 0.0


CASES = [(report, name) for report in REPORTS for name in NAMES if name not in ("traffic", "memory")]


@pytest.mark.parametrize(("report", "name"), CASES)
def test_bars_are_the_rows_of_their_table(monkeypatch: pytest.MonkeyPatch, report: str, name: str) -> None:
    figure, chart, table = both(monkeypatch, REPORTS[report], name)
    if table is None:
        assert not figure.data
        return
    titles = [column.title for column in table.columns][1:]
    # The unit of the axis is that of every column, and the axis says what is measured.
    assert figure.layout.xaxis.title.text == f"{chart.unit} {chart.measure}"
    assert {title.split()[-1] for title in titles} == {chart.unit}
    assert figure.layout.title.text == html.escape(chart.title)
    # A bar for each row, each of its own, in the order of the table.
    labels = list(figure.layout.yaxis.categoryarray)
    assert len(set(labels)) == len(labels) == len(table.rows)
    named = [plain(drawn_by._label(words(row.cells[0]))) for row in table.rows]
    assert all(plain(label).endswith(own) for label, own in zip(labels, named, strict=True))
    assert [plain(label) for label in labels] == named or len(set(named)) < len(named)
    # Each piece is the amount of its cell, and together they are the row's total.
    for at, (label, row) in enumerate(zip(labels, table.rows, strict=True)):
        pieces = {
            plain(trace.name): x for trace in figure.data for y, x in zip(trace.y, trace.x, strict=True) if y == label
        }
        cells = dict(zip(titles, (words(cell) for cell in row.cells[1:]), strict=True))
        total = cells.pop(titles[-1])
        assert_near(sum(pieces.values()), amount(total), total)
        assert sum(pieces.values()) == pytest.approx(size_in(chart.rows[at].total, chart.unit), rel=1e-5, abs=1e-6)
        for title, text in cells.items():
            assert_near(pieces.get(title.removesuffix(f" {chart.unit}"), 0.0), amount(text), text)


def assert_near(value: float, shown: float, text: str) -> None:
    """A figure's number is the one that the table rounds; "<0.01" is less than that."""
    places = len(text.partition(".")[2])
    assert value < shown if text.startswith("<") else abs(value - shown) <= 0.500001 * 10**-places, (value, text)


@pytest.mark.parametrize("report", REPORTS)
def test_cells_are_the_pairs_of_their_table(monkeypatch: pytest.MonkeyPatch, report: str) -> None:
    figure, chart, table = both(monkeypatch, REPORTS[report], "traffic")
    if table is None:
        assert not figure.data
        return
    each, pairs, over, who = (column.title for column in table.columns)
    assert (each, pairs, over) == (f"each {chart.unit}", "pairs", "over")
    assert who == f"from -> to ({chart.stands_for})"
    sides = figure.layout.yaxis.title.text, figure.layout.xaxis.title.text
    assert tuple(map(html.unescape, sides)) == (f"from ({chart.stands_for})", f"to ({chart.stands_for})")
    shown = Counter(
        (plain(trace.name), html.unescape(hover).partition(": ")[2].split("<br>")[0])
        for trace in figure.data
        for hover in trace.customdata
    )
    rows = Counter[tuple[str, str]]()
    for row in table.rows:
        between = plain(drawn_by._label(words(row.cells[2])))
        rows[between, f"{words(row.cells[0])} {chart.unit}"] += int(words(row.cells[1]).replace(",", ""))
    # The longest tables are cut, and say so.
    assert rows == shown or (table.text_rest and not rows - shown)


@pytest.mark.parametrize("report", REPORTS)
def test_all_bars_together_are_what_the_record_sends(monkeypatch: pytest.MonkeyPatch, report: str) -> None:
    figure, chart, table = both(monkeypatch, REPORTS[report], "axis_totals")
    if table is not None and not any("not shown" in note for note in chart.notes):
        sent = sum(x for trace in figure.data for x in trace.x)
        assert sent == pytest.approx(size_in(REPORTS[report].sent_bytes or 0, chart.unit), rel=1e-5, abs=1e-5)
