"""Lowers a table to aligned lines of text.

A table that is too wide first shortens columns that may be shortened, then drops the optional ones, the widest first,
and finally puts one fact after the other.
"""

from __future__ import annotations

from pjit_inspect.view.document.document import Column, GroupedTable, Row, Spans, Table, telling_columns
from pjit_inspect.view.document.printable import cell_width, pad, shorten
from pjit_inspect.view.document.text_spans import spans_text, wrap

_GAP = "  "


def lower_table(table: Table, width: int) -> list[str]:
    """The table's lines, title line first; [] when it has no rows."""
    rows = table.rows if table.text_rows is None else table.rows[: table.text_rows]
    if not rows:
        return wrap(spans_text(table.text_rest, width), width) if table.text_rest else []
    title, of_row = _lower_rows(table.columns, rows, width)
    lines = [*title, *(line for lines in of_row for line in lines)]
    if table.text_rest:
        lines += wrap(spans_text(table.text_rest, width), width)
    return lines


def lower_groups(table: GroupedTable, width: int) -> list[str]:
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
