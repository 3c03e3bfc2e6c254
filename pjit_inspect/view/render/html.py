"""Lowers a view tree to HTML: a fragment that survives an untrusted notebook.

JupyterLab's sanitizer drops style, script, inline svg and iframe, and every inline declaration that is not on its list;
so pictures are images, folds are `details`, and styles are few and inline. No element has an id. All escaping happens
here (and in `view.svg.svg` for pictures). Not its job: choosing the contents.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from html import escape
from typing import TypeVar

from pjit_inspect.guard import Guard
from pjit_inspect.model.program.mesh import SpecEntry
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.model.words.sentence import Phrase
from pjit_inspect.view.document.colors import HATCH, LINE, NEUTRAL, NOTE, Palette
from pjit_inspect.view.document.document import (
    AnswerBlock,
    AxisLabel,
    Bar,
    Beside,
    Block,
    Card,
    ChartSubject,
    Column,
    Document,
    Fold,
    Gallery,
    GroupedTable,
    Legend,
    LegendEntry,
    Line,
    Listing,
    MeshSubject,
    Number,
    Picture,
    Prose,
    Quote,
    Row,
    RowGroup,
    Section,
    ShardSubject,
    Sign,
    Span,
    Spans,
    SpecLabel,
    TableBlock,
    Text,
    spans,
    telling_columns,
)
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.text_spans import axes_text
from pjit_inspect.view.svg.chart_picture import draw_chart
from pjit_inspect.view.svg.mesh_picture import draw_mesh
from pjit_inspect.view.svg.shard_picture import draw_shards
from pjit_inspect.view.svg.svg import Svg, data_uri

_Item = TypeVar("_Item")

_FAILED = "<p>This part could not be drawn.</p>"
_TABLE = "border-collapse:collapse;table-layout:auto;margin:0;font-size:12px;line-height:1.35;border:none"
_ROW = "background:transparent;border-bottom:1px solid rgba(127,127,127,0.35)"
_ASIDE = "display:inline-block;vertical-align:top;margin:0 24px 4px 0;max-width:100%"
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


def to_html(document: Document) -> str:
    """The document as an HTML fragment for a notebook's output, trusted or not, light or dark."""
    palette, guard = Palette(document.axes), Guard()
    parts = (
        guard.run("a part of a display", partial(block_html, block, palette), _FAILED) for block in document.blocks
    )
    body = "\n".join(parts)
    return f'<div style="font-size:13px;line-height:1.4;max-width:1000px;word-wrap:break-word">\n{body}\n</div>'


def block_html(block: Block, palette: Palette) -> str:
    """One block."""
    match block:
        case Line(spans=words, role=role):
            mark = f'<span style="color:{NOTE}">&#9650;</span> ' if role == "note" else ""
            return f'<p style="{_LINES[role]}">{mark}{spans_html(words, palette)}</p>'
        case Listing(lines=lines):
            return f'<pre style="{_LISTING}">{escape(chr(10).join(map(printable, lines)))}</pre>'
        case Section(title=title, blocks=blocks):
            body = "\n".join(block_html(part, palette) for part in blocks)
            return f'<p style="margin:10px 0 4px">{spans_html(title, palette)}</p>{body}'
        case TableBlock():
            return _table_block(block, palette)
        case GroupedTable():
            return _groups(block, palette)
        case AnswerBlock():
            return _finding(block, palette)
        case Picture(title=title):
            if not title:
                return picture_html(block, palette)
            head = f'<p style="margin:0 0 4px">{spans_html(title, palette)}</p>'
            return f'<div style="margin:10px 0">{head}{picture_html(block, palette)}</div>'
        case Gallery(cards=cards, table=table, summary=summary):
            shown = "".join(_card(card, palette) for card in cards)
            return shown + _details(summary, _table_block(table, palette), palette)
        case Beside(blocks=blocks):
            return "".join(f'<div style="{_ASIDE}">{block_html(part, palette)}</div>' for part in blocks)
        case Fold(summary=summary, blocks=blocks, is_open=is_open):
            body = "\n".join(block_html(part, palette) for part in blocks)
            return _details(summary, body, palette, is_open=is_open)
        case Legend(entries=entries):
            return _legend(entries, palette)


def picture_html(picture: Picture, palette: Palette) -> str:
    """A picture as an image with its sentence as `alt`."""
    match picture.subject:
        case MeshSubject():
            svg = draw_mesh(picture.subject, palette)
        case ShardSubject(layout=layout):
            svg = draw_shards(layout, palette)
        case ChartSubject(chart=chart):
            svg = draw_chart(chart)
    return _image(svg, picture.alt)


_WIDE = 480


def _image(svg: Svg, alt: str) -> str:
    """A wide picture keeps its size, so that its words can be read, and is scrolled on a narrow page."""
    width, height = svg.size
    room = "none" if width > _WIDE else "100%"
    image = (
        f'<img alt="{escape(printable(alt))}" width="{width}" height="{height}" '
        f'style="max-width:{room};height:auto;vertical-align:top" src="{data_uri(svg.write())}">'
    )
    return f'<div style="overflow-x:auto">{image}</div>' if width > _WIDE else image


def _details(summary: Spans, body: str, palette: Palette, *, is_open: bool = False) -> str:
    opened = " open" if is_open else ""
    head = f'<summary style="{_SUMMARY}">{spans_html(summary, palette)}</summary>'
    return f'<details{opened} style="margin:6px 0 0">{head}{body}</details>'


def _card(card: Card, palette: Palette) -> str:
    picture = f'<div style="margin:2px 0">{picture_html(card.picture, palette)}</div>'
    lines = "<br>".join(spans_html(line, palette) for line in card.lines)
    body = f'{spans_html(card.title, palette)}{picture}<div style="font-size:11px">{lines}</div>'
    style = "display:inline-block;vertical-align:top;margin:0 18px 4px 0;max-width:100%"
    return f'<div style="{style}">{body}</div>'


def _table_block(table: TableBlock, palette: Palette) -> str:
    if not table.rows:
        return ""
    shown = _table(table.columns, table.rows, palette)
    if table.rest is None:
        return shown
    if not table.rest.rows:
        return shown + _rest_line(table.rest.summary, palette)
    return shown + _details(table.rest.summary, _table(table.columns, table.rest.rows, palette), palette)


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
    items = " &nbsp; ".join(spans_html(item, palette) for item in row.items)
    below = f'<tr style="{_ROW}"><td colspan="{len(kept)}" style="{_BELOW}">{items}</td></tr>\n'
    return f'<tr style="background:transparent">{cells}</tr>\n{below}'


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
    beneath = {column.title: at for at, column in enumerate(table.columns) if column.beneath}

    def without(all: tuple[_Item, ...]) -> tuple[_Item, ...]:
        return tuple(one for at, one in enumerate(all) if at not in beneath.values())

    def moved(row: Row) -> Row:
        items = tuple(spans(f"{title} ", row.cells[at]) for title, at in beneath.items() if row.cells[at])
        return replace(row, cells=without(row.cells), items=(*items, *row.items))

    groups = tuple(replace(group, rows=tuple(map(moved, group.rows))) for group in table.groups)
    return replace(table, columns=without(table.columns), groups=groups)


def _group(group: RowGroup, columns: tuple[Column, ...], kept: list[int], palette: Palette) -> str:
    words = f"<br>{breakable_html(group.words, palette)}" if group.words else ""
    height = sum(2 if row.items else 1 for row in group.rows)
    # Beside cells that do not wrap, a cell would shrink to its longest word; a block in it keeps its width.
    text = f'<div style="width:230px">{spans_html(group.heading, palette)}{words}</div>'
    beside = f'<td rowspan="{height}" style="{_BESIDE}">{text}</td>'
    rows = [_row(row, columns, kept, palette) for row in group.rows]
    first, bracket, rest = rows[0].partition(">")
    return "".join([f"{first}{bracket}{beside}{rest}", *rows[1:]])


def _finding(finding: AnswerBlock, palette: Palette) -> str:
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


# ---------------------------------------------------------------- spans

_SIGNS = {"times": "&times;", "dot": " &middot; ", "more": "&hellip;"}
_LONGEST = 90
_LONGEST_LINE = 160
_LONGEST_PROSE = 4_000
_BREAK = re.compile(r"(?<=[(),.=\]])(?=\w)")
_HOW = {"modelled": "modelled (ring)", "measured": "measured on this machine", "unknown": "unknown"}


def spans_html(spans: Spans, palette: Palette) -> str:
    """The spans joined."""
    return "".join(_span_html(span, palette) for span in spans)


def breakable_html(spans: Spans, palette: Palette) -> str:
    """The spans joined, with optional line breaks after punctuation in code, for narrow columns."""
    return "".join(_breakable(span.text) if isinstance(span, Quote) else _span_html(span, palette) for span in spans)


def _breakable(code: str) -> str:
    parts = _BREAK.split(shorten(printable(code), _LONGEST_LINE))
    return f"<tt>{'<wbr>'.join(map(escape, parts))}</tt>"


def escaped(text: str, *, longest: int = _LONGEST) -> str:
    """Foreign text safe for HTML: characters without a shape made visible, shortened, escaped."""
    return escape(shorten(printable(text), longest))


def chip_html(text: str, color: str) -> str:
    """A label in white on an axis' colour."""
    style = f"background:{color};color:#fff;border-radius:3px;padding:0 5px;white-space:nowrap"
    return f'<span style="{style}">{escaped(text, longest=40)}</span>'


def _span_html(span: Span, palette: Palette) -> str:
    match span:
        case Text(text=text, emphasis=emphasis):
            return _words(escaped(text, longest=400), emphasis)
        case Quote(text=text, strong=strong):
            # Not <code> or <samp>: JupyterLab gives them a background, a size or lets them wrap, and undoing that would
            # take a style on each.
            code = f"<tt>{escaped(text)}</tt>"
            return f"<b>{code}</b>" if strong else code
        case AxisLabel(axes=axes, size=size):
            name = axes_text(axes).replace(" x ", " \u00d7 ")
            return chip_html(name if size is None else f"{name} {size}", palette.of(axes))
        case Number():
            return _number(span)
        case Prose():
            return "".join(_phrase(phrase, palette) for phrase in span.phrases)
        case SpecLabel(spec=spec, origins=origins):
            return _spec(spec, dict(origins), palette)
        case Sign(kind=kind):
            return _SIGNS[kind]
        case Bar(share=share, axes=axes):
            width = max(1, round(110 * share))
            style = f"background:{palette.of(axes)};width:{width}px;height:9px;display:inline-block"
            return f'<span style="{style}"></span>'


def _phrase(phrase: Phrase, palette: Palette) -> str:
    match phrase.kind:
        case "axis" if axis_name(phrase.text) in palette.axes:
            return chip_html(phrase.text, palette.of((axis_name(phrase.text),)))
        case "name" | "spec" | "code" | "axis" if not phrase.is_bare:
            return f"<tt>{escaped(phrase.text)}</tt>"
        case _:
            return escaped(phrase.text, longest=_LONGEST_PROSE)


def _spec(spec: tuple[SpecEntry, ...], origins: dict[str, str], palette: Palette) -> str:
    return f"<tt>P({', '.join(_spec_entry(entry, origins, palette) for entry in spec)})</tt>"


def _spec_entry(entry: SpecEntry, origins: dict[str, str], palette: Palette) -> str:
    if entry is None:
        return "None"
    axes = (entry,) if isinstance(entry, str) else entry
    chips = ", ".join(_spec_chip(axis, origins.get(axis_name(axis), ""), palette) for axis in axes)
    return chips if isinstance(entry, str) else f"({chips})"


def _spec_chip(axis: str, origin: str, palette: Palette) -> str:
    chip = chip_html(axis, palette.of((axis_name(axis),)))
    return f'<span title="from {escaped(origin.replace("`", ""), longest=300)}">{chip}</span>' if origin else chip


def _words(text: str, emphasis: str) -> str:
    if emphasis == "strong":
        return f"<b>{text}</b>"
    return f'<span style="opacity:0.7">{text}</span>' if emphasis == "dim" else text


def _number(number: Number) -> str:
    text = escape(f"{number.text}\u00a0{number.unit}" if number.unit else number.text)
    if number.strong:
        text = f"<b>{text}</b>"
    if number.provenance == "counted" or not number.unit:
        return text
    return f'<span title="{_HOW[number.provenance]}">{text}</span>'
