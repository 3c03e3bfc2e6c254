"""Lowers the blocks of a view tree to HTML."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TypeVar

from pjit_inspect.view.document.colors import HATCH, LINE, NEUTRAL, NOTE, Palette
from pjit_inspect.view.document.document import (
    Beside,
    Block,
    Card,
    ChartSubject,
    Column,
    Finding,
    Fold,
    Gallery,
    GroupedTable,
    Legend,
    LegendEntry,
    Line,
    Listing,
    MeshSubject,
    Picture,
    Row,
    RowGroup,
    Section,
    ShardSubject,
    Spans,
    Table,
    Text,
    telling_columns,
)
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.render.html_spans import breakable_html, chip_html, escaped, spans_html
from pjit_inspect.view.svg.chart_picture import draw_chart
from pjit_inspect.view.svg.mesh_picture import draw_mesh
from pjit_inspect.view.svg.shard_picture import draw_shards
from pjit_inspect.view.svg.svg import Svg, data_uri

_Item = TypeVar("_Item")

_TABLE = "border-collapse:collapse;table-layout:auto;margin:0;font-size:12px;line-height:1.35;border:none"
_ROW = "background:transparent;border-bottom:1px solid rgba(127,127,127,0.35)"
_CELL = "padding:2px 7px;white-space:nowrap"
_SUMMARY = "cursor:pointer;padding:2px 0"
_BESIDE = "padding:3px 14px 3px 7px;text-align:left;vertical-align:top;white-space:normal"
_BELOW = "text-align:left;font-size:11px;padding:0 8px 4px 24px;white-space:normal"
_SENTENCE = "margin:1px 0 0 14px;max-width:820px"
_FACT = "font-size:12px;margin:1px 0 0;max-width:820px"
_LISTING = "margin:4px 0;font-size:12px;white-space:pre-wrap"
_LINES = {
    "title": "margin:0 0 2px",
    "answer": "margin:0 0 10px;font-size:14px",
    "plain": "margin:4px 0",
    "note": "margin:4px 0 0",
    "footer": "margin:6px 0 0;font-size:11px;opacity:0.75",
}


def block_html(block: Block, palette: Palette) -> str:
    """One block."""
    match block:
        case Line(spans=spans, role=role):
            mark = f'<span style="color:{NOTE}">&#9650;</span> ' if role == "note" else ""
            return f'<p style="{_LINES[role]}">{mark}{spans_html(spans, palette)}</p>'
        case Listing(lines=lines):
            return f'<pre style="{_LISTING}">{escape(chr(10).join(map(printable, lines)))}</pre>'
        case Section(title=title, blocks=blocks):
            body = "\n".join(block_html(part, palette) for part in blocks)
            return f'<p style="margin:10px 0 4px">{spans_html(title, palette)}</p>{body}'
        case Table():
            return _table_block(block, palette)
        case GroupedTable():
            return _groups(block, palette)
        case Finding():
            return _finding(block, palette)
        case Picture():
            return picture_html(block, palette)
        case Gallery():
            return _gallery(block, palette)
        case Beside(blocks=blocks):
            return "".join(_aside(block_html(part, palette)) for part in blocks)
        case Fold(summary=summary, blocks=blocks, is_open=is_open):
            body = "\n".join(block_html(part, palette) for part in blocks)
            return _details(summary, body, palette, is_open=is_open)
        case Legend(entries=entries):
            return _legend(entries, palette)


def picture_html(picture: Picture, palette: Palette) -> str:
    """A picture as an image with its sentence as `alt`."""
    subject = picture.subject
    return _image(_drawing(subject, palette), picture.alt)


def _drawing(subject: MeshSubject | ShardSubject | ChartSubject, palette: Palette) -> Svg:
    match subject:
        case MeshSubject():
            return draw_mesh(subject, palette)
        case ShardSubject(layout=layout):
            return draw_shards(layout, palette)
        case ChartSubject(chart=chart):
            return draw_chart(chart)


def _image(svg: Svg, alt: str) -> str:
    width, height = svg.size
    return (
        f'<img alt="{escape(printable(alt))}" width="{width}" height="{height}" '
        f'style="max-width:100%;height:auto;vertical-align:top" src="{data_uri(svg.write())}">'
    )


def _aside(body: str) -> str:
    return f'<div style="display:inline-block;vertical-align:top;margin:0 24px 4px 0;max-width:100%">{body}</div>'


def _details(summary: Spans, body: str, palette: Palette, *, is_open: bool = False) -> str:
    opened = " open" if is_open else ""
    head = f'<summary style="{_SUMMARY}">{spans_html(summary, palette)}</summary>'
    return f'<details{opened} style="margin:6px 0 0">{head}{body}</details>'


def _gallery(gallery: Gallery, palette: Palette) -> str:
    cards = "".join(_card(card, palette) for card in gallery.cards)
    return cards + _details(gallery.summary, _table_block(gallery.table, palette), palette)


def _card(card: Card, palette: Palette) -> str:
    picture = f'<div style="margin:2px 0">{picture_html(card.picture, palette)}</div>'
    lines = "<br>".join(spans_html(line, palette) for line in card.lines)
    body = f'{spans_html(card.title, palette)}{picture}<div style="font-size:11px">{lines}</div>'
    style = "display:inline-block;vertical-align:top;margin:0 18px 4px 0;max-width:100%"
    return f'<div style="{style}">{body}</div>'


def _table_block(table: Table, palette: Palette) -> str:
    if not table.rows:
        return ""
    shown = _table(table.columns, table.rows, palette)
    if table.rest is None:
        return shown
    rows = table.rest.rows
    body = _table(table.columns, rows, palette) if rows else ""
    return shown + (_details(table.rest.summary, body, palette) if rows else _rest_line(table.rest.summary, palette))


def _rest_line(summary: Spans, palette: Palette) -> str:
    return f'<p style="margin:2px 8px">{spans_html(summary, palette)}</p>'


def _table(columns: tuple[Column, ...], rows: tuple[Row, ...], palette: Palette) -> str:
    kept = telling_columns(columns, rows)
    head = "".join(_cell(f"<b>{escape(columns[i].title)}</b>", columns[i]) for i in kept)
    body = "".join(_row(row, columns, kept, palette) for row in rows)
    table = f'<table style="{_TABLE}"><tr style="{_ROW}">{head}</tr>\n{body}</table>'
    return f'<div style="overflow-x:auto">{table}</div>'


def _row(row: Row, columns: tuple[Column, ...], kept: list[int], palette: Palette) -> str:
    cells = "".join(_cell(spans_html(row.cells[i], palette), columns[i]) for i in kept)
    if not row.items:
        return f'<tr style="{_ROW}">{cells}</tr>\n'
    return f'<tr style="background:transparent">{cells}</tr>\n{_items(row, len(kept), palette)}'


def _items(row: Row, columns: int, palette: Palette) -> str:
    items = " &nbsp; ".join(spans_html(item, palette) for item in row.items)
    return f'<tr style="{_ROW}"><td colspan="{columns}" style="{_BELOW}">{items}</td></tr>\n'


def _cell(content: str, column: Column) -> str:
    return f'<td style="{_CELL};text-align:{column.align}">{content}</td>'


def _groups(table: GroupedTable, palette: Palette) -> str:
    if not table.groups:
        return ""
    table = _narrowed(table)
    rows = [row for group in table.groups for row in group.rows]
    kept = telling_columns(table.columns, rows)
    head = "".join(_cell(f"<b>{escape(table.columns[i].title)}</b>", table.columns[i]) for i in kept)
    titles = f'<tr style="{_ROW}"><td style="{_BESIDE}"><b>{escape(table.title)}</b></td>{head}</tr>'
    body = "".join(_group(group, table.columns, kept, palette) for group in table.groups)
    rest = _rest_line(table.rest, palette) if table.rest else ""
    return f'<div style="overflow-x:auto"><table style="{_TABLE}">{titles}\n{body}</table></div>{rest}'


def _narrowed(table: GroupedTable) -> GroupedTable:
    """The table with the cells of `beneath` columns moved into the items of their rows."""
    beneath = [i for i, column in enumerate(table.columns) if column.beneath]

    def moved(row: Row) -> Row:
        items = tuple((Text(f"{table.columns[i].title} "), *row.cells[i]) for i in beneath if row.cells[i])
        return replace(row, cells=_without(row.cells, beneath), items=(*items, *row.items))

    groups = tuple(replace(group, rows=tuple(map(moved, group.rows))) for group in table.groups)
    return replace(table, columns=_without(table.columns, beneath), groups=groups)


def _without(all: tuple[_Item, ...], places: list[int]) -> tuple[_Item, ...]:
    return tuple(one for i, one in enumerate(all) if i not in places)


def _group(group: RowGroup, columns: tuple[Column, ...], kept: list[int], palette: Palette) -> str:
    words = f"<br>{breakable_html(group.words, palette)}" if group.words else ""
    height = sum(2 if row.items else 1 for row in group.rows)
    # Beside cells that do not wrap, a cell would shrink to its longest word; a block in it keeps its width.
    text = f'<div style="width:230px">{spans_html(group.heading, palette)}{words}</div>'
    beside = f'<td rowspan="{height}" style="{_BESIDE}">{text}</td>'
    rows = [_row(row, columns, kept, palette) for row in group.rows]
    first, bracket, rest = rows[0].partition(">")
    return "".join([f"{first}{bracket}{beside}{rest}", *rows[1:]])


def _finding(finding: Finding, palette: Palette) -> str:
    """The head and the sentences; the proof is behind a click."""
    sentences = "".join(f'<div style="{_SENTENCE}">{spans_html(s, palette)}</div>' for s in finding.sentences)
    head = f"{spans_html(finding.head, palette)}{sentences}"
    if not finding.facts and not finding.figures:
        return f'<div style="margin:6px 0 10px">{head}</div>'
    facts = "".join(f'<div style="{_FACT}">&bull; {spans_html(fact, palette)}</div>' for fact in finding.facts)
    if finding.figures:
        facts += f'<div style="{_FACT};opacity:0.75">{spans_html(finding.figures, palette)}</div>'
    opened = " open" if finding.is_open else ""
    return (
        f'<details{opened} style="margin:6px 0 10px"><summary style="{_SUMMARY}">{head}</summary>'
        f'<div style="margin:4px 0 0 30px">{facts}</div></details>'
    )


def _legend(entries: tuple[LegendEntry, ...], palette: Palette) -> str:
    items = "".join(
        f'<span style="white-space:nowrap;margin-right:16px">{_swatch(entry, palette)} {escaped(entry.words)}</span> '
        for entry in entries
    )
    return f'<p style="margin:4px 0;font-size:11px">{items}</p>'


def _swatch(entry: LegendEntry, palette: Palette) -> str:
    if entry.sign == "axis":
        return " ".join(chip_html(axis, palette.of((axis,))) for axis in entry.axes)
    if entry.sign == "several":
        return chip_html("several", palette.of(entry.axes))
    svg = Svg()
    match entry.sign:
        case "none":
            svg.rect(0, 0, 20, 12, fill=NEUTRAL, fill_opacity=0.45, stroke=NEUTRAL)
        case "copies":
            svg.rect(5, -5, 20, 12, stroke=LINE)
            svg.rect(2.5, -2.5, 20, 12, stroke=LINE)
            svg.rect(0, 0, 20, 12, fill=svg.hatch(HATCH), stroke=LINE)
        case "partial":
            svg.rect(3, -3, 20, 12, stroke=palette.of(entry.axes), stroke_dasharray="3 2")
            svg.rect(0, 0, 20, 12, fill=svg.hatch(palette.of(entry.axes)), stroke=palette.of(entry.axes))
        case "device":
            svg.chip(14, 7, "0-3", color=NEUTRAL)
        case "link":
            svg.line(0, 6, 20, 6, stroke=LINE, stroke_width=5)
    return _image(svg, "").replace("vertical-align:top", "vertical-align:middle;display:inline")
