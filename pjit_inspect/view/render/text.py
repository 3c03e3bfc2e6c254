"""Lowers a view tree to text: for terminals, for nbval, for `git diff`.

Deterministic, ASCII but for names, no line longer than `width`, no spaces at line ends.
"""

from __future__ import annotations

from functools import partial
from itertools import zip_longest

from pjit_inspect.guard import Guard
from pjit_inspect.view.document.document import (
    AnswerBlock,
    Beside,
    Block,
    Column,
    Document,
    Fold,
    Gallery,
    GroupedTable,
    Legend,
    Line,
    Listing,
    Picture,
    Row,
    Section,
    Spans,
    TableBlock,
    telling_columns,
)
from pjit_inspect.view.document.printable import cell_width, pad, printable, shorten
from pjit_inspect.view.document.text_spans import spans_text, wrap

_LEAST_WIDTH = 40
_GAP = "  "
_FAILED = ["(this part could not be written)"]


def to_text(document: Document, *, width: int = 100) -> str:
    """The document as text of at most `width` columns, without a line end after the last line.

    Raises `ValueError` for a width under 40: no table can be read there.
    """
    if width < _LEAST_WIDTH:
        raise ValueError(f"width {width} is too narrow; give at least {_LEAST_WIDTH} columns")
    return "\n".join(line.rstrip() for line in _blocks_lines(document.blocks, width))


def _blocks_lines(blocks: tuple[Block, ...], width: int) -> list[str]:
    """The lines of some blocks; lines of prose stay together, all else is set off by an empty line."""
    lines: list[str] = []
    before: Block | None = None
    guard = Guard()
    for block in blocks:
        lowered = guard.run("a part of a display", partial(_block_lines, block, width), _FAILED)
        if not lowered:
            continue
        if lines and _is_set_off(before, block):
            lines.append("")
        lines += lowered
        before = block
    return lines


def _is_set_off(before: Block | None, block: Block) -> bool:
    return not (isinstance(before, Line | Listing) and isinstance(block, Line | Listing))


def _block_lines(block: Block, width: int) -> list[str]:
    match block:
        case Line(spans=spans, role=role):
            return wrap(("note  " if role == "note" else "") + spans_text(spans, width), width)
        case Listing(lines=lines):
            return [printable(line) for line in lines]
        case Section(title=title, blocks=blocks):
            return [*wrap(spans_text(title, width), width), *_blocks_lines(blocks, width)]
        case TableBlock():
            return _table_lines(block, width)
        case GroupedTable():
            return _group_lines(block, width)
        case AnswerBlock():
            return _finding_lines(block, width)
        case Picture(lines=lines):
            return [shorten(printable(line), width) for line in lines]
        case Gallery(table=table):
            return _table_lines(table, width)
        case Beside(blocks=blocks, in_text=in_text):
            return _beside_lines(blocks, width) if in_text else _blocks_lines(blocks, width)
        case Fold(summary=summary, blocks=blocks, text_blocks=fewer):
            return [*wrap(spans_text(summary, width), width), *_blocks_lines(blocks if fewer is None else fewer, width)]
        case Legend():
            return []


def _finding_lines(finding: AnswerBlock, width: int) -> list[str]:
    lines = wrap(spans_text(finding.head, width), width)
    for sentence in finding.sentences:
        lines += _indented(spans_text(sentence, 4 * width), 2, width)
    for fact in finding.facts:
        lines += _indented(f"- {spans_text(fact, 4 * width)}", 4, width)
    return lines + (_indented(spans_text(finding.figures, width), 4, width) if finding.figures else [])


def _indented(text: str, columns: int, width: int) -> list[str]:
    return [" " * columns + line for line in wrap(text, width - columns)]


def _beside_lines(blocks: tuple[Block, ...], width: int) -> list[str]:
    """Columns of blocks when they fit side by side, else one under the other."""
    columns = [column for column in (_block_lines(block, width) for block in blocks) if column]
    widths = [max(cell_width(line) for line in column) for column in columns]
    if sum(widths) + 4 * (len(widths) - 1) > width:
        return _blocks_lines(blocks, width)
    joined = []
    for parts in zip_longest(*columns, fillvalue=""):
        joined.append("    ".join(pad(part, size) for part, size in zip(parts, widths, strict=True)))
    return joined


# ---------------------------------------------------------------- tables
#
# A table that is too wide first shortens columns that may be shortened, then drops the optional ones, the widest first,
# and finally puts one fact after the other.


def _table_lines(table: TableBlock, width: int) -> list[str]:
    """The table's lines, title line first; [] when it has no rows."""
    rows = table.rows if table.text_rows is None else table.rows[: table.text_rows]
    if not rows:
        return wrap(spans_text(table.text_rest, width), width) if table.text_rest else []
    title, of_row = _lower_rows(table.columns, rows, width)
    lines = [*title, *(line for lines in of_row for line in lines)]
    if table.text_rest:
        lines += wrap(spans_text(table.text_rest, width), width)
    return lines


def _group_lines(table: GroupedTable, width: int) -> list[str]:
    """The groups one under the other, each row under its heading; columns are aligned over all groups."""
    groups, rest = table.groups[: table.text_groups], table.text_rest or table.rest
    rows = tuple(row for group in groups for row in group.rows)
    if not rows:
        return []
    title, of_row = _lower_rows(table.columns, rows, width - len(_GAP))
    lines = [_GAP + line for line in title]
    of_row.reverse()
    for group in groups:
        heading = "  ".join(filter(None, (spans_text(group.heading, 4 * width), spans_text(group.words, 4 * width))))
        lines.append(shorten(heading, width))
        lines += [_GAP + line for _ in group.rows for line in of_row.pop()]
    return lines + (wrap(spans_text(rest, width), width) if rest else [])


def _lower_rows(columns: tuple[Column, ...], rows: tuple[Row, ...], width: int) -> tuple[list[str], list[list[str]]]:
    """The line of titles, if any, and the lines of each row."""
    cells = [[spans_text(cell, 4 * width) for cell in row.cells] for row in rows]
    kept = telling_columns(columns, rows)
    return _aligned([columns[i] for i in kept], [[line[i] for i in kept] for line in cells], rows, width)


def _aligned(
    columns: list[Column], cells: list[list[str]], rows: tuple[Row, ...], width: int
) -> tuple[list[str], list[list[str]]]:
    sizes = _fit(columns, cells, width, [column.comfort for column in columns])
    while sizes is None and any(column.optional for column in columns):
        optional = [i for i, column in enumerate(columns) if column.optional]
        gone = max(optional, key=lambda i: max(cell_width(line[i]) for line in cells))
        columns = columns[:gone] + columns[gone + 1 :]
        cells = [line[:gone] + line[gone + 1 :] for line in cells]
        sizes = _fit(columns, cells, width, [column.comfort for column in columns])
    sizes = sizes or _fit(columns, cells, width, [column.least for column in columns])
    if sizes is None:
        return [], _one_after_the_other(columns, cells, rows, width)
    title = _line([column.title for column in columns], columns, sizes)
    return [title], [
        [_line(line, columns, sizes), *_items(row.items, width)] for line, row in zip(cells, rows, strict=True)
    ]


def _fit(columns: list[Column], cells: list[list[str]], width: int, kept: list[int]) -> list[int] | None:
    """A width for each column so that the line fits; None if a column would fall below its minimum."""
    sizes = [max(len(column.title), *(cell_width(line[i]) for line in cells)) for i, column in enumerate(columns)]
    floors = [
        min(size, max(keeps, len(column.title))) if column.shrink else size
        for size, keeps, column in zip(sizes, kept, columns, strict=True)
    ]
    room = width - len(_GAP) * (len(columns) - 1)
    if sum(floors) > room:
        return None
    while sum(sizes) > room:
        widest = max((i for i in range(len(sizes)) if sizes[i] > floors[i]), key=lambda i: sizes[i])
        sizes[widest] -= 1
    return sizes


def _line(cells: list[str], columns: list[Column], sizes: list[int]) -> str:
    padded = [
        pad(shorten(cell, size), size, right=column.align == "right")
        for cell, column, size in zip(cells, columns, sizes, strict=True)
    ]
    return _GAP.join(padded).rstrip()


def _items(items: tuple[Spans, ...], width: int) -> list[str]:
    """One indented line with as many items as fit, and "..." for the others."""
    if not items:
        return []
    line = "    " + shorten(spans_text(items[0], width), width - 8)
    for position, item in enumerate(items[1:], start=1):
        longer = f"{line}   {spans_text(item, width)}"
        room = width - (4 if position + 1 < len(items) else 0)
        if cell_width(longer) > room:
            return [f"{line} ..."]
        line = longer
    return [line]


def _one_after_the_other(
    columns: list[Column], cells: list[list[str]], rows: tuple[Row, ...], width: int
) -> list[list[str]]:
    of_row = []
    for line, row in zip(cells, rows, strict=True):
        facts = [f"{column.title} {cell}".strip() for column, cell in zip(columns, line, strict=True) if cell]
        of_row.append([*wrap("  ".join(shorten(fact, width - 2) for fact in facts), width), *_items(row.items, width)])
    return of_row
