"""Tables from one list of columns: each has its title, its content for an item, its unit, its source and its layout.

Text, HTML and the inspector read the same table (`view.render`, `view.inspector.words`): a new column is one line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.program.source import Frame
from pjit_inspect.view.document.document import (
    Block,
    Cell,
    Column,
    Number,
    Provenance,
    Quote,
    Rest,
    Row,
    Sign,
    Span,
    Spans,
    SpecLabel,
    TableBlock,
    Text,
    dim,
    line,
    spans,
)
from pjit_inspect.view.document.quantities import (
    bytes_in,
    change_words,
    count_text,
    plural,
    share_unit,
    time_in,
    time_unit,
)

_Item = TypeVar("_Item")


def numbers(
    title: str, get: Callable[[Any], str | int | None], provenance: Provenance = "counted", **layout: Any
) -> Column:
    """A column of numbers: a count (None for unknown), or a number in words."""

    def number(item: Any) -> Number:
        value = get(item)
        return Number(value if isinstance(value, str) else count_text(value), provenance=provenance)

    return Column(title, number, provenance=provenance, align="right", **layout)


def sizes(title: str, get: Callable[[Any], int | None], provenance: Provenance = "counted", **layout: Any) -> Column:
    """A column of bytes, in the unit of the table; None for unknown."""
    return Column(title, get, figure="bytes", provenance=provenance, align="right", **layout)


def durations(title: str, get: Callable[[Any], float | None], **layout: Any) -> Column:
    """A column of measured microseconds, in the unit of the table; None for unknown ones."""
    return Column(title, get, figure="us", provenance="measured", align="right", **layout)


def codes(title: str, get: Callable[[Any], str], **layout: Any) -> Column:
    """A column of foreign words; "" for none."""
    return Column(title, lambda item: Quote(words) if (words := get(item)) else None, **layout)


def places(
    title: str, get: Callable[[Any], Frame | Sequence[Frame] | None], *, missing: Spans = (), **layout: Any
) -> Column:
    """A column of places in the user's source: a frame, or the innermost of several; `missing` where there is none."""

    def place(item: Any) -> Cell:
        found = get(item)
        frame = found if found is None or isinstance(found, Frame) else next(iter(found), None)
        return missing if frame is None else Quote(frame.where)

    return Column(title, place, shrink=True, **layout)


def table_of(
    columns: Sequence[Column],
    items: Sequence[_Item],
    *,
    shown: int | None = None,
    text_rows: int | None = None,
    folded: int = 0,
    rest: Callable[[Sequence[_Item]], str] | None = None,
    where: str = "",
    under: Callable[[_Item], tuple[Spans, ...]] | None = None,
    unit: str | None = None,
) -> TableBlock:
    """A table with a row for each item.

    Args:
      columns: the columns; each has a `get`.
      items: the items, most important first.
      shown: the rows shown at once; None for all.
      text_rows: the rows that text shows; None for as many.
      folded: the most further rows behind a click; after them, a row counts the others.
      rest: words for the items that are left out.
      where: the end of these words in text: where all items are.
      under: short items shown under a row.
      unit: the unit of all figures; None for that of the largest, "" for bytes as plain numbers.
    """
    unit = unit_of(columns, items) if unit is None else unit

    def row(item: _Item) -> Row:
        return row_of(columns, item, unit, () if under is None else under(item))

    hidden = () if shown is None else items[shown:]
    unseen = hidden if text_rows is None else items[text_rows:]
    behind = [row(item) for item in hidden[:folded]]
    if rest is not None and len(hidden) > folded > 0:
        behind.append(words_row(columns, rest(hidden[folded:])))
    return TableBlock(
        columns=titled(columns, unit),
        rows=tuple(map(row, items[:shown])),
        text_rows=text_rows,
        text_rest=(Text(rest(unseen) + where),) if rest is not None and unseen else (),
        rest=Rest(summary=(Text(rest(hidden)),), rows=tuple(behind)) if rest is not None and hidden else None,
    )


def spec_or(spec: PartitionSpec | None, words: str = "not known") -> Span:
    """A spec as a cell; dim words where there is none."""
    return dim(words) if spec is None else SpecLabel(spec)


def unit_of(columns: Sequence[Column], items: Sequence[Any]) -> str:
    """The one unit of the figures of a table: that of the largest; "" for a table without any."""
    figures = [column for column in columns if column.figure]
    values = [column.get(item) for column in figures for item in items if column.get is not None]
    if any(column.figure == "us" for column in figures):
        return time_unit(max((value for value in values if value is not None), default=0.0))
    return share_unit(values) if figures else ""


def titled(columns: Sequence[Column], unit: str) -> tuple[Column, ...]:
    """The columns, with the unit in their titles."""
    return tuple(replace(column, title=column.title.replace("{unit}", unit)) for column in columns)


def row_of(columns: Sequence[Column], item: Any, unit: str, items: tuple[Spans, ...] = ()) -> Row:
    """The row of an item, with its figures in `unit`; `items` are shown under it."""
    return Row(tuple(_cell(column, item, unit) for column in columns), items)


def _cell(column: Column, item: Any, unit: str) -> Spans:
    value: Any = None if column.get is None else column.get(item)
    match column.figure:
        case "bytes":
            text = bytes_in(value, unit) if unit else count_text(value)
            return (Number(text, provenance=column.provenance),)
        case "us":
            return (Number("unknown" if value is None else time_in(value, unit), provenance=column.provenance),)
        case _:
            return spans(value)


def words_row(columns: Sequence[Column], words: str) -> Row:
    """A row that counts rows left out: dots in the first column, words in the first one that may be shortened."""
    place = next((place for place, column in enumerate(columns) if column.shrink), 1)
    return only_cells(columns, {0: Sign("more"), place: words})


def only_cells(columns: Sequence[Column], cells: dict[int, Cell]) -> Row:
    """A row of a few cells, by their places."""
    return Row(tuple(spans(cells.get(place)) for place in range(len(columns))))


class Compared(NamedTuple):
    """A figure of two programs, and its source; without a unit, a count."""

    name: Cell
    now: int | None
    before: int | None
    unit: str = ""
    known_by: str = ""


def compared_table(rows: Sequence[Compared], before: str) -> TableBlock:
    """A table of figures of this program and of another, which `before` names; without the other if that is ""."""

    def figure(row: Compared, value: int | None) -> str:
        return bytes_in(value, row.unit) if row.unit else count_text(value)

    columns = [Column("", lambda row: row.name), numbers("this", lambda row: figure(row, row.now))]
    if before:
        columns.append(numbers(before, lambda row: figure(row, row.before)))
        columns.append(Column("change", lambda row: change_words(row.before, row.now), align="right"))
    if any(row.known_by for row in rows):
        columns.append(Column("known by", lambda row: dim(row.known_by)))
    return table_of(columns, rows)


def first_blocks(
    items: Sequence[_Item], most: int, make: Callable[[_Item], Block], noun: str, plural_noun: str = ""
) -> list[Block]:
    """A block for each of the first items, and a line that counts the others, as `more_lines`."""
    return [*map(make, items[:most]), *more_lines(len(items) - most, noun, plural_noun)]


def more_lines(number: int, noun: str, plural_noun: str = "", *, tail: str = "") -> list[Block]:
    """A line that counts things left out, "... and 3 more functions" and `tail`; [] if none is."""
    if number <= 0:
        return []
    words = f"{number:,} more {plural_noun}" if plural_noun and number > 1 else plural(number, f"more {noun}")
    return [line(Sign("more"), f" and {words}{tail}")]
