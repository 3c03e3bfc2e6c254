"""A chart as a view tree: its title, the still picture, and a table with everything the picture shows.

It replaces plotly in notebooks where plotly does not run, and is the text of every figure. Not its job: the set of
charts (`view.charts.totals`, `view.charts.traffic`), the picture (`view.svg.chart_picture`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.view.document.chart import (
    AreaChart,
    BarChart,
    BarRow,
    Chart,
    MatrixCell,
    MatrixChart,
    ScatterChart,
    ScatterPoint,
)
from pjit_inspect.view.document.document import (
    Block,
    ChartSubject,
    Code,
    Column,
    Document,
    Line,
    Number,
    Picture,
    Provenance,
    Row,
    Spans,
    Table,
    Text,
)
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.svg.chart_words import amount_in, chart_sentence, legend_of

_AMOUNTS = 16
_PAIRS = 8
_PROVENANCES: tuple[Provenance, ...] = ("modelled", "measured", "counted")


def chart_document(chart: Chart) -> Document:
    """The display of one chart."""
    return Document(axes=chart.axes, blocks=tuple(chart_blocks(chart)))


def chart_blocks(chart: Chart) -> list[Block]:
    """The title, the picture and its table; one sentence for an empty chart."""
    title = Line((Text(chart.title, "strong"),))
    if chart.missing:
        return [title, Line((Text(chart.missing),))]
    table = _table(chart)
    picture = Picture(subject=ChartSubject(chart=chart), alt=chart_sentence(chart))
    return [title, picture, table, *(Line((Text(note),), "footer") for note in chart.notes)]


def _table(chart: Chart) -> Table:
    if isinstance(chart, MatrixChart):
        return _matrix_table(chart)
    if isinstance(chart, AreaChart):
        return _area_table(chart)
    return _scatter_table(chart) if isinstance(chart, ScatterChart) else _bar_table(chart)


def _number(text: str, chart: Chart) -> Number:
    known: tuple[Provenance, ...] = tuple(word for word in _PROVENANCES if word in chart.title)
    return Number(text, provenance=known[0])


# ---------------------------------------------------------------- bars


def _bar_table(chart: BarChart) -> Table:
    names = list(legend_of(part for row in chart.rows for part in row.parts))
    single = all(len(row.parts) == 1 for row in chart.rows)
    amounts = [chart.unit] if single else [f"{name} {chart.unit}" for name in names] + [f"total {chart.unit}"]
    columns = (Column(title="", shrink=True), *(Column(title=amount, align="right") for amount in amounts))
    return Table(columns=columns, rows=tuple(_bar_row(chart, row, () if single else names) for row in chart.rows))


def _bar_row(chart: BarChart, row: BarRow, names: Sequence[str]) -> Row:
    sizes = {part.name: part.value for part in row.parts}
    texts = [amount_in(sizes[name], chart.unit) if name in sizes else "" for name in names]
    texts.append(amount_in(row.total, chart.unit))
    words = () if names else (word for part in row.parts for word in part.words)
    cells: tuple[Spans, ...] = ((Code(row.label),), *((_number(text, chart),) for text in texts))
    return Row(cells, items=tuple((Text(word),) for word in words))


# ---------------------------------------------------------------- bands


def _area_table(chart: AreaChart) -> Table:
    """A row for each band, top first, and one for all."""
    rows = [(band.name, band.at_peak, band.most) for band in reversed(chart.bands)]
    rows.append(("all", chart.peak_bytes, chart.peak_bytes))
    columns = (
        Column(title="", shrink=True),
        Column(title=f"at kernel {chart.peak:,} of {chart.kernels:,}, {chart.unit}", align="right"),
        Column(title=f"at most {chart.unit}", align="right"),
    )
    cells = [(name, amount_in(at, chart.unit), amount_in(most, chart.unit)) for name, at, most in rows]
    return Table(
        columns=columns,
        rows=tuple(Row(((Text(name),), (_number(at, chart),), (_number(most, chart),))) for name, at, most in cells),
    )


# ---------------------------------------------------------------- cells


def _matrix_table(chart: MatrixChart) -> Table:
    """A row for each amount; pairs that send the same share a row."""
    groups: dict[tuple[str, str], list[MatrixCell]] = {}
    for cell in sorted(chart.cells, key=lambda cell: -cell.size_bytes):
        groups.setdefault((amount_in(cell.size_bytes, chart.unit), cell.name), []).append(cell)
    rows = [_amount_row(chart, amount, name, cells) for (amount, name), cells in groups.items()]
    rest = sum(len(cells) for cells in list(groups.values())[_AMOUNTS:])
    return Table(
        columns=(
            Column(title=f"each {chart.unit}", align="right"),
            Column(title="pairs", align="right"),
            Column(title="over"),
            Column(title=f"from -> to ({chart.stands_for})", shrink=True, comfort=40),
        ),
        rows=tuple(rows[:_AMOUNTS]),
        text_rest=(Text(f"... and {plural(rest, 'further pair')}, each sends less"),) if rest else (),
    )


def _amount_row(chart: MatrixChart, amount: str, name: str, cells: Sequence[MatrixCell]) -> Row:
    shown = sorted(cells, key=lambda cell: (cell.row, cell.column))[:_PAIRS]
    pairs = ", ".join(f"{chart.labels[cell.row]} -> {chart.labels[cell.column]}" for cell in shown)
    more = ", ..." if len(cells) > len(shown) else ""
    number = Number(f"{len(cells):,}")
    return Row(((_number(amount, chart),), (number,), (Code(name),), (Code(pairs + more),)))


# ---------------------------------------------------------------- points


def _scatter_table(chart: ScatterChart) -> Table:
    """A row for each point, the best marked."""
    columns = (
        Column(title="", align="right"),
        Column(title="", shrink=True),
        Column(title=f"{chart.x_measure}, {chart.x_unit}", align="right"),
        Column(title=f"{chart.y_measure}, {chart.y_unit}", align="right"),
        Column(title=""),
    )
    return Table(columns=columns, rows=tuple(_scatter_row(chart, point) for point in chart.points))


def _scatter_row(chart: ScatterChart, point: ScatterPoint) -> Row:
    y = amount_in(point.y, chart.y_unit)
    least = "at least " if point.kind == "least" else ""
    what = "does not fit" if point.kind == "misfit" else "best" if point.is_best else ""
    cells: tuple[Spans, ...] = (
        (Code(point.label),),
        (Text(point.words[0] if point.words else ""),),
        (Number(amount_in(point.x, chart.x_unit), provenance="modelled"),),
        (Number(f"{least}{y}"),),
        (Text(what),),
    )
    return Row(cells)
