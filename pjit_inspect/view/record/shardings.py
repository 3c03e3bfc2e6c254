"""The table of shardings: a program's values beside their lines of source, most wasted bytes first.

Equal values of one line share a row. Not its job: finding shardings (`analyze.sharding.value_shardings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.words.layers import path_pattern, scope_pattern
from pjit_inspect.model.words.sentence import Sentence, axis, say
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import (
    Block,
    Code,
    Column,
    Document,
    GroupedTable,
    Line,
    Number,
    Prose,
    Row,
    RowGroup,
    Sign,
    Span,
    Spans,
    SpecLabel,
    Text,
)
from pjit_inspect.view.document.notation import operation_text, shape_text
from pjit_inspect.view.document.quantities import bytes_in, bytes_number, plural, share_unit

_LINES = 40
_ROWS = 6  # rows of one source line; further ones are counted
_TEXT_LINES = 12
_FEW = 3  # lines up to which every row is shown, with the origins of its axes
_MANY = 60
_NAMES = 1  # operations that one row names
_PHASES = {"forward": "fwd", "backward": "bwd"}


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


def group_values(rows: Sequence[ValueSharding], *, by_name: bool = False) -> tuple[ValueGroup, ...]:
    """Values grouped by line, phase, type, shape and sharding, in table order; with `by_name`, also by operation."""
    groups: dict[object, list[ValueSharding]] = {}
    for row in rows:
        where = row.source[0].where if row.source else ""
        how = (row.dtype, row.global_shape, row.spec, row.is_per_shard)
        name = (row.op, _pattern(row)) if by_name or not row.op else ""
        groups.setdefault((where, row.phase, name, how), []).append(row)
    return tuple(ValueGroup(names=_names(members), members=tuple(members)) for members in groups.values())


def _pattern(row: ValueSharding) -> str:
    if not row.op:
        return path_pattern(row.name)
    return scope_pattern(operation_text(row.name)) if row.name == row.op_name else row.name


def _names(members: Sequence[ValueSharding]) -> tuple[str, ...]:
    first = members[0]
    if first.op:
        return tuple(dict.fromkeys(member.op for member in members))
    return (first.name if len(members) == 1 else path_pattern(first.name),)


# ---------------------------------------------------------------- the display


def shardings_view(data: RecordData, table: ShardingTable, sources: Sequence[SourceText] = ()) -> Document:
    """The display of a table; `sources` are texts of files that the record lacks."""
    if not table.rows:
        blocks: tuple[Block, ...] = (
            Line((Text("no shardings", "strong"), Text(": "), Prose(table.missing or "none"))),
        )
        return Document(axes=document_axes(data), blocks=blocks)
    few = len({row.source[0].where if row.source else bool(row.op) for row in table.rows}) <= _FEW
    lines = _by_line(group_values(table.rows, by_name=few))
    blocks = (_title(data), _answer(table), _table(lines, (*data.sources, *sources), few=few), *_footer(table))
    return Document(axes=document_axes(data), blocks=blocks)


def _title(data: RecordData) -> Line:
    name = data.primitive or data.name
    return Line((Code(name, strong=True), Sign("dot"), Text("how every value is sharded, before fusion")), "title")


def _answer(table: ShardingTable) -> Line:
    wasting = [row for row in table.rows if row.wasted_bytes]
    whole = sum(1 for row in table.rows if row.replication == table.devices)
    spans: list[Span] = [Text(plural(len(table.rows), "value"), "strong")]
    if table.devices == 1:
        return Line((*spans, Text(" on one device: nothing is split.")), "answer")
    spans.append(Text(f" on {table.devices:,} devices: "))
    unknown = sum(1 for row in table.rows if row.wasted_bytes is None)
    known = f"; unknown for {unknown:,}" if unknown else ""
    if not wasting:
        return Line((*spans, Text(f"all are split over all of them{known}.")), "answer")
    spans.append(Text(f"{len(wasting):,} not split over all of them, {whole:,} replicated on every device"))
    spans += [Text("; the most wasteful has "), bytes_number(wasting[0].wasted_bytes, strong=True)]
    spans += [Text(" per device more than an even split")]
    return Line((*spans, Text(f"{known}.")), "answer")


def _by_line(groups: Sequence[ValueGroup]) -> list[tuple[Frame | None, list[ValueGroup]]]:
    """The groups of each source line; the line with the most wasteful value first."""
    lines: dict[str, tuple[Frame | None, list[ValueGroup]]] = {}
    for group in groups:
        frame = group.first.source[0] if group.first.source else None
        key = frame.where if frame else f"argument {bool(group.first.op)}"
        lines.setdefault(key, (frame, []))[1].append(group)
    return list(lines.values())


def _table(
    lines: list[tuple[Frame | None, list[ValueGroup]]], sources: Sequence[SourceText], *, few: bool
) -> GroupedTable:
    unit = share_unit(group.first.bytes_per_device for _, of in lines[:_LINES] for group in of)
    return GroupedTable(
        title="source",
        columns=_columns(unit),
        groups=tuple(_line(frame, of, sources, unit, few) for frame, of in lines[:_LINES]),
        rest=_more_lines(lines[_LINES:]),
        text_groups=_TEXT_LINES,
        text_rest=_more_lines(lines[_TEXT_LINES:]),
    )


def _more_lines(hidden: Sequence[tuple[Frame | None, list[ValueGroup]]]) -> Spans:
    if not hidden:
        return ()
    number = sum(len(group.members) for _, of in hidden for group in of)
    return (
        Sign("more"),
        Text(f" and {plural(number, 'value')} on {plural(len(hidden), 'more line')}; .at_line(N) shows one"),
    )


def _columns(unit: str) -> tuple[Column, ...]:
    return (
        Column(title="n", align="right"),
        Column(title="value", shrink=True, comfort=22),
        Column(title="spec", shrink=True, comfort=36, least=18),
        Column(title=f"wasted {unit}", align="right"),
        Column(title="of", align="right"),
        Column(title="copies", align="right"),
        Column(title="array", shrink=True, comfort=18),
        Column(title="per device", optional=True),
        Column(title="written as", optional=True, beneath=True),
    )


def _line(
    frame: Frame | None, groups: list[ValueGroup], sources: Sequence[SourceText], unit: str, few: bool
) -> RowGroup:
    most = _MANY if few else _ROWS
    text = _source_text(frame, sources) if frame is not None else ""
    rows = [_row(group, unit, few, text) for group in groups[:most]]
    hidden = groups[most:]
    if hidden:
        number = sum(len(group.members) for group in hidden)
        rows.append(Row(((Sign("more"),), (Text(f"{plural(number, 'more value')}", "dim"),), *((),) * 7)))
    if frame is None:
        heading: Spans = (Text("arguments" if not groups[0].first.op else "without a place", "strong"),)
        return RowGroup(heading=heading, rows=tuple(rows))
    return RowGroup(heading=(Code(frame.where, strong=True),), words=(Code(text),) if text else (), rows=tuple(rows))


def _source_text(frame: Frame, sources: Sequence[SourceText]) -> str:
    for source in sources:
        if source.file == frame.file and source.cell == frame.cell:
            return (source.line(frame.line) or "").strip()
    return ""


def _row(group: ValueGroup, unit: str, with_origins: bool, line: str) -> Row:
    first = group.first
    origins = _origins(group)
    local = () if first.local_shape == first.global_shape else (Code(shape_text(first.local_shape)),)
    cells: tuple[Spans, ...] = (
        (Number(f"{len(group.members):,}"),),
        _value(group),
        (SpecLabel(first.spec, origins),),
        (Number(bytes_in(first.wasted_bytes, unit)),),
        (Number(bytes_in(first.bytes_per_device, unit)),),
        (Number("unknown" if first.replication is None else f"{first.replication:,}"),),
        (Code(f"{first.dtype}{shape_text(first.global_shape)}"),),
        local,
        _written(group, line),
    )
    items = tuple((Prose(say("axis {}: {}", axis(own), words)),) for own, words in origins)
    return Row(cells, items if with_origins else ())


def _origins(group: ValueGroup) -> tuple[tuple[str, str], ...]:
    """The origin of each axis; layer numbers are starred where the values' origins differ."""
    first = group.first.origins
    alike = all(member.origins == first for member in group.members)
    return tuple((own, words if alike else Sentence(words).pattern) for own, words in first.items())


def _value(group: ValueGroup) -> Spans:
    """The operations that make the values, most wasteful first, or the argument's path."""
    phase = group.first.phase
    more = len(group.names) - _NAMES
    spans: Spans = (Code(", ".join(group.names[:_NAMES])),)
    spans += (Text(f" +{more:,}", "dim"),) if more > 0 else ()
    spans += (Text(f" {_PHASES.get(phase, phase)}", "dim"),) if phase else ()
    return (*spans, Text(" in shard_map", "dim")) if group.first.is_per_shard else spans


def _written(group: ValueGroup, line: str) -> Spans:
    """The code that a value was written as, if it is not the whole line."""
    written = {member.name for member in group.members}
    first = group.first
    is_own = first.op and len(written) == 1 and first.name not in (first.op_name, line)
    return (Code(first.name),) if is_own else ()


def _footer(table: ShardingTable) -> list[Line]:
    lines = []
    if table.predicted:
        words = f"predicted by an earlier version of this package, not XLA's own: {table.predicted}"
        lines.append(Line((Text(words),), "note"))
    if any(row.is_per_shard for row in table.rows):
        words = "inside shard_map, shapes are those of one shard, and how many devices hold the same is unknown"
        lines.append(Line((Text(words),), "note"))
    left = ", ".join(f"{number:,} {why}" for why, number in table.left_out)
    words = "counted, per device; wasted = more than an even split over all devices; n = values alike, bytes of one"
    lines.append(Line((Text(words + (f"; left out: {left}" if left else "")),), "footer"))
    return lines
