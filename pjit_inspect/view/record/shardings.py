"""The table of shardings: a program's values beside their lines of source, most wasted bytes first.

Equal values of one line share a row.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.words.layers import path_pattern, scope_pattern
from pjit_inspect.model.words.sentence import Sentence, axis, say
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.columns import codes, numbers, only_cells, row_of, sizes, titled, unit_of
from pjit_inspect.view.document.document import (
    Block,
    Column,
    Document,
    GroupedTable,
    Line,
    Prose,
    Quote,
    RowGroup,
    Sign,
    Spans,
    SpecLabel,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.grouping import grouped, shared_name
from pjit_inspect.view.document.notation import operation_text, shape_text
from pjit_inspect.view.document.quantities import bytes_number, plural
from pjit_inspect.view.record.collectives import SHORT_PHASES, source_line

_LINES = 40
_ROWS = 6  # rows of one source line; further ones are counted
_TEXT_LINES = 12
_FEW = 3  # lines up to which every row is shown, with the origins of its axes
_MANY = 60
_NAMES = 1  # operations that one row names


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGroup:
    """Values of one line, or arguments that differ only in their layer, with the same sharding.

    Attributes:
      names: their names: the operations that make them, or the arguments' path with layer numbers starred.
      members: the values, in the table's order.
    """

    names: tuple[str, ...]
    members: tuple[ValueSharding, ...]

    @property
    def first(self) -> ValueSharding:
        """The value that represents the group."""
        return self.members[0]

    @property
    def place(self) -> str | bool:
        """The line of source; else whether it is an operation, rather than an argument."""
        return self.first.source[0].where if self.first.source else bool(self.first.op)


_Values = tuple[ValueGroup, ...]
"""The values of one line of source; or the arguments, or values without a place."""


def group_values(rows: Sequence[ValueSharding], *, by_name: bool = False) -> tuple[ValueGroup, ...]:
    """Values grouped by line, phase, type, shape and sharding, in table order; with `by_name`, also by operation."""

    def pattern(row: ValueSharding) -> str:
        if not row.op:
            return path_pattern(row.name)
        return scope_pattern(operation_text(row.name)) if row.name == row.op_name else row.name

    def key(row: ValueSharding) -> Hashable:
        where = row.source[0].where if row.source else ""
        name = (row.op, pattern(row)) if by_name or not row.op else ""
        return where, row.phase, name, row.dtype, row.global_shape, row.spec, row.is_per_shard

    def names(members: Sequence[ValueSharding]) -> tuple[str, ...]:
        if members[0].op:
            return tuple(dict.fromkeys(member.op for member in members))
        return (shared_name((member.name for member in members), path_pattern),)

    return tuple(ValueGroup(names=names(members), members=members) for members in grouped(rows, key).values())


# ---------------------------------------------------------------- the display


def shardings_view(data: RecordData, table: ShardingTable, sources: Sequence[SourceText] = ()) -> Document:
    """The display of a table; `sources` are texts of files that the record lacks."""
    if not table.rows:
        blocks: tuple[Block, ...] = (line(strong("no shardings"), ": ", Prose(table.missing or "none")),)
        return Document(axes=document_axes(data), blocks=blocks)
    few = len({row.source[0].where if row.source else bool(row.op) for row in table.rows}) <= _FEW
    # The line with the most wasteful value is first.
    lines = list(grouped(group_values(table.rows, by_name=few), lambda group: group.place).values())
    line_of = functools.cache(lambda frame: source_line(data, (frame,), sources) or "")
    head = Quote(data.primitive or data.name, strong=True)
    title = line(head, Sign("dot"), "how every value is sharded, before fusion", role="title")
    blocks = (title, _answer(table), _table(lines, line_of, few=few), *_footer(table))
    return Document(axes=document_axes(data), blocks=blocks)


def _answer(table: ShardingTable) -> Line:
    number = strong(plural(len(table.rows), "value"))
    if table.devices == 1:
        return line(number, " on one device: nothing is split.", role="answer")
    wasting = [row for row in table.rows if row.wasted_bytes]
    whole = sum(1 for row in table.rows if row.replication == table.devices)
    unknown = sum(1 for row in table.rows if row.wasted_bytes is None)
    known = f"; unknown for {unknown:,}" if unknown else ""
    on = f" on {table.devices:,} devices: "
    split = f"{len(wasting):,} not split over all of them, {whole:,} replicated on every device"
    if not wasting:
        return line(number, f"{on}all are split over all of them{known}.", role="answer")
    return line(
        number,
        f"{on}{split}; the most wasteful has ",
        bytes_number(wasting[0].wasted_bytes, strong=True),
        f" per device more than an even split{known}.",
        role="answer",
    )


def _table(lines: Sequence[_Values], line_of: Callable[[Frame], str], *, few: bool) -> GroupedTable:
    columns = _columns(line_of)
    unit = unit_of(columns, [group for of in lines[:_LINES] for group in of])
    return GroupedTable(
        title="source",
        columns=titled(columns, unit),
        groups=tuple(_line(of, columns, line_of, unit, few) for of in lines[:_LINES]),
        rest=_more_lines(lines[_LINES:]),
        text_groups=_TEXT_LINES,
        text_rest=_more_lines(lines[_TEXT_LINES:]),
    )


def _more_lines(hidden: Sequence[_Values]) -> Spans:
    if not hidden:
        return ()
    number = plural(sum(len(group.members) for of in hidden for group in of), "value")
    return spans(Sign("more"), f" and {number} on {plural(len(hidden), 'more line')}; .at_line(N) shows one")


def _columns(line_of: Callable[[Frame], str]) -> tuple[Column, ...]:
    def local(group: ValueGroup) -> str:
        row = group.first
        return "" if row.local_shape == row.global_shape else shape_text(row.local_shape)

    def written(group: ValueGroup) -> str:
        # The code that a value was written as, unless that is the whole line.
        first = group.first
        whole = line_of(first.source[0]) if first.source else ""
        is_own = first.op and len({member.name for member in group.members}) == 1
        return first.name if is_own and first.name not in (first.op_name, whole) else ""

    return (
        numbers("n", lambda group: len(group.members)),
        Column("value", _value, shrink=True, comfort=22),
        Column("spec", lambda group: SpecLabel(group.first.spec, _origins(group)), shrink=True, comfort=36, least=18),
        sizes("wasted {unit}", lambda group: group.first.wasted_bytes),
        sizes("of", lambda group: group.first.bytes_per_device),
        numbers("copies", lambda group: group.first.replication),
        codes("array", lambda group: group.first.dtype + shape_text(group.first.global_shape), shrink=True, comfort=18),
        codes("per device", local, optional=True),
        codes("written as", written, optional=True, beneath=True),
    )


def _line(
    groups: _Values, columns: Sequence[Column], line_of: Callable[[Frame], str], unit: str, few: bool
) -> RowGroup:
    most = _MANY if few else _ROWS
    rows = [row_of(columns, group, unit, _axis_words(group) if few else ()) for group in groups[:most]]
    if hidden := groups[most:]:
        words = plural(sum(len(group.members) for group in hidden), "more value")
        rows.append(only_cells(columns, {0: Sign("more"), 1: dim(words)}))
    first = groups[0].first
    if not first.source:
        heading = (strong("without a place" if first.op else "arguments"),)
        return RowGroup(heading=heading, rows=tuple(rows))
    frame = first.source[0]
    text = line_of(frame)
    return RowGroup(heading=(Quote(frame.where, strong=True),), words=(Quote(text),) if text else (), rows=tuple(rows))


def _axis_words(group: ValueGroup) -> tuple[Spans, ...]:
    return tuple((Prose(say("axis {}: {}", axis(name), words)),) for name, words in _origins(group))


def _origins(group: ValueGroup) -> tuple[tuple[str, str], ...]:
    """The origin of each axis; layer numbers are starred where the values' origins differ."""
    first = group.first.origins
    alike = all(member.origins == first for member in group.members)
    return tuple((name, words if alike else Sentence(words).pattern) for name, words in first.items())


def _value(group: ValueGroup) -> Spans:
    """The operations that make the values, most wasteful first, or the argument's path."""
    first, more = group.first, len(group.names) - _NAMES
    return spans(
        Quote(", ".join(group.names[:_NAMES])),
        dim(f" +{more:,}") if more > 0 else None,
        dim(f" {SHORT_PHASES.get(first.phase, first.phase)}") if first.phase else None,
        dim(" in shard_map") if first.is_per_shard else None,
    )


def _footer(table: ShardingTable) -> list[Line]:
    lines = []
    if table.predicted:
        words = f"predicted by an earlier version of this package, not XLA's own: {table.predicted}"
        lines.append(line(words, role="note"))
    if any(row.is_per_shard for row in table.rows):
        words = "inside shard_map, shapes are those of one shard, and how many devices hold the same is unknown"
        lines.append(line(words, role="note"))
    left = ", ".join(f"{number:,} {why}" for why, number in table.left_out)
    words = "counted, per device; wasted = more than an even split over all devices; n = values alike, bytes of one"
    lines.append(line(words + (f"; left out: {left}" if left else ""), role="footer"))
    return lines
