"""The table of fused kernels: contents, reads, writes and savings of each.

Not its job: finding them (`analyze.program.fusions`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.report.fusion import DistinctFusion, Fusion, FusionTable
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.layers import scope_pattern
from pjit_inspect.view.document.document import (
    UNKNOWN,
    Block,
    Code,
    Column,
    Fold,
    Line,
    Number,
    Rest,
    Row,
    Sign,
    Spans,
    Table,
    Text,
)
from pjit_inspect.view.document.notation import operation_text
from pjit_inspect.view.document.quantities import bytes_in, plural, share_unit
from pjit_inspect.view.record.answer import place_spans

_TEXT_ROWS = 6
_ROWS = 12
_FOLDED_ROWS = 60
_OPEN = 4  # kinds up to which the section is open at first
_OPCODES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelGroup:
    """Fused kernels that differ only in name and layer.

    Attributes:
      what: their last operation, layer numbers starred when there are several.
      table: the table that contains them.
      distinct: the kernels, as in `FusionTable.distinct`.
    """

    what: str
    table: FusionTable
    distinct: tuple[DistinctFusion, ...]

    @property
    def first(self) -> Fusion:
        """The kernel that represents the group."""
        return self.distinct[0].first

    @property
    def number(self) -> int:
        """The number of kernels."""
        return sum(len(one.places) for one in self.distinct)

    @property
    def runs(self) -> int | None:
        """Runs of all kernels per call; None when a loop's length is unknown."""
        counts = ((one.first.count, len(one.places)) for one in self.distinct)
        return total(None if count is None else count * number for count, number in counts)

    @property
    def names(self) -> list[str]:
        """The names of the kernels, in schedule order."""
        return [self.table[place].name for place in sorted(place for one in self.distinct for place in one.places)]

    def total(self, size_bytes: int | None) -> int | None:
        """A size of one kernel times their runs; loops of unknown length count once."""
        if size_bytes is None:
            return None
        counts = ((one.first.count, len(one.places)) for one in self.distinct)
        return size_bytes * sum(number if count is None else count * number for count, number in counts)


def group_kernels(table: FusionTable) -> tuple[KernelGroup, ...]:
    """Kernels grouped by everything but name and layer, most memory traffic first."""
    groups: dict[object, list[DistinctFusion]] = {}
    for one in table.distinct:
        row = one.first
        frame = row.source[0] if row.source else None
        contents = row.kind, row.target, row.instructions, row.inputs, row.outputs
        sizes = row.bytes_read, row.bytes_written, row.bytes_saved
        groups.setdefault((*contents, *sizes, scope_pattern(operation_text(row.op_name)), frame), []).append(one)
    return tuple(sorted((_group(table, tuple(own)) for own in groups.values()), key=_traffic))


def _group(table: FusionTable, distinct: tuple[DistinctFusion, ...]) -> KernelGroup:
    names = {operation_text(op_name) for op_name in {one.first.op_name for one in distinct}}
    name = names.pop()
    return KernelGroup(what=name if not names else scope_pattern(name), table=table, distinct=distinct)


def _traffic(group: KernelGroup) -> int:
    return -sum(group.total(size) or 0 for size in (group.first.bytes_read, group.first.bytes_written))


def kernel_blocks(report: RecordReport, *, rows: int = _ROWS, text_rows: int = _TEXT_ROWS) -> list[Block]:
    """The section of fused kernels, at most `rows` kinds of them in full (`text_rows` in text).

    [] when they are unknown (a note says why).
    """
    if report.fusions is None:
        return []
    there = "in the part that is there" if report.incomplete else "in all"
    instructions = "" if report.instructions is None else f"; {report.instructions:,} instructions {there}"
    if not report.fusions:
        return [Line((Text(f"no fused kernels{instructions}"),))]
    groups = group_kernels(report.fusions)
    kinds = f" in {plural(len(groups), 'kind')}" if len(groups) < len(report.fusions) else ""
    summary: Spans = (
        Text(plural(len(report.fusions), "fused kernel"), "strong"),
        Text(f"{kinds}{instructions}", "dim"),
    )
    return [Fold(summary=summary, blocks=(_table(groups, rows, text_rows),), is_open=len(groups) <= _OPEN)]


def _table(groups: tuple[KernelGroup, ...], rows: int, text_rows: int) -> Table:
    sizes = [
        group.total(size)
        for group in groups
        for size in (group.first.bytes_read, group.first.bytes_written, group.first.bytes_saved)
    ]
    unit = share_unit(sizes)
    shown, hidden, unseen = groups[:rows], groups[rows:], groups[text_rows:]
    return Table(
        columns=_columns(unit),
        rows=tuple(_row(group, unit) for group in shown),
        text_rows=text_rows,
        text_rest=_rest(unseen, "; record.fusions has all") if unseen else (),
        rest=_folded(hidden, unit) if hidden else None,
    )


def _columns(unit: str) -> tuple[Column, ...]:
    return (
        Column(title="n", align="right"),
        Column(title="kernel"),
        Column(title="contains", shrink=True),
        Column(title=f"reads {unit}", align="right"),
        Column(title="writes", align="right"),
        Column(title="saves", align="right"),
        Column(title="what", shrink=True, optional=True),
        Column(title="where", shrink=True),
    )


def _row(group: KernelGroup, unit: str) -> Row:
    first = group.first
    sizes: tuple[Spans, ...] = tuple(
        (Number(bytes_in(group.total(size), unit)),)
        for size in (first.bytes_read, first.bytes_written, first.bytes_saved)
    )
    runs = "?" if group.runs is None else f"{group.runs:,}"
    what: Spans = (Code(group.what),) if group.what else ()
    return Row(((Number(runs),), (Code(first.sort),), _contents(first), *sizes, what, place_spans(first.source)))


def _contents(kernel: Fusion) -> Spans:
    """The contents of a kernel, most frequent first: "multiply x3, add x2"."""
    number = len(kernel.instructions)
    # "1 more" would take as much room as the one.
    listed = kernel.instructions[: number if number == _OPCODES + 1 else _OPCODES]
    shown = [opcode if times == 1 else f"{opcode} x{times}" for opcode, times in listed]
    more = number - len(listed)
    words = ", ".join([*shown, f"{more} more"] if more > 0 else shown)
    if kernel.target is not None:
        called = kernel.routine if kernel.library else kernel.target
        words = f"{called}: {words}" if words else called
    return (Code(words),) if words else UNKNOWN


def _rest(groups: tuple[KernelGroup, ...], more: str) -> Spans:
    number = sum(group.number for group in groups)
    return (Text(f"{number:,} in {plural(len(groups), 'more kind')}{more}"),)


def _folded(groups: tuple[KernelGroup, ...], unit: str) -> Rest:
    rows = [_row(group, unit) for group in groups[:_FOLDED_ROWS]]
    more = groups[_FOLDED_ROWS:]
    if more:
        empty: tuple[Spans, ...] = ((),) * (len(_columns(unit)) - 3)
        rows.append(Row(((Sign("more"),), (), _rest(more, ""), *empty)))
    return Rest(summary=_rest(groups, ""), rows=tuple(rows))
