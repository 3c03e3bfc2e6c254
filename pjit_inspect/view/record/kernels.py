"""The table of fused kernels: contents, reads, writes and savings of each."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.report.fusion import DistinctFusion, Fusion, FusionTable
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.layers import scope_pattern
from pjit_inspect.view.document.columns import codes, numbers, places, sizes, table_of
from pjit_inspect.view.document.document import UNKNOWN, Block, Code, Column, Fold, Spans, dim, line, strong
from pjit_inspect.view.document.grouping import grouped, shared_name
from pjit_inspect.view.document.notation import operation_text
from pjit_inspect.view.document.quantities import plural

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
    found = [
        KernelGroup(
            what=shared_name((operation_text(one.first.op_name) for one in members), scope_pattern),
            table=table,
            distinct=members,
        )
        for members in grouped(table.distinct, _layer_key).values()
    ]
    return tuple(sorted(found, key=_traffic))


def _layer_key(one: DistinctFusion) -> Hashable:
    row = one.first
    contents = row.kind, row.target, row.instructions, row.inputs, row.outputs
    sizes = row.bytes_read, row.bytes_written, row.bytes_saved
    return *contents, *sizes, scope_pattern(operation_text(row.op_name)), row.source[:1]


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
        return [line(f"no fused kernels{instructions}")]
    groups = group_kernels(report.fusions)
    kinds = f" in {plural(len(groups), 'kind')}" if len(groups) < len(report.fusions) else ""
    summary: Spans = (
        strong(plural(len(report.fusions), "fused kernel")),
        dim(f"{kinds}{instructions}"),
    )
    table = table_of(
        _COLUMNS,
        groups,
        shown=rows,
        text_rows=text_rows,
        folded=_FOLDED_ROWS,
        rest=_rest,
        where="; record.fusions has all",
    )
    return [Fold(summary=summary, blocks=(table,), is_open=len(groups) <= _OPEN)]


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


def _rest(groups: Sequence[KernelGroup]) -> str:
    return f"{sum(group.number for group in groups):,} in {plural(len(groups), 'more kind')}"


_COLUMNS = (
    numbers("n", lambda group: "?" if group.runs is None else group.runs),
    codes("kernel", lambda group: group.first.sort),
    Column("contains", lambda group: _contents(group.first), shrink=True),
    sizes("reads {unit}", lambda group: group.total(group.first.bytes_read)),
    sizes("writes", lambda group: group.total(group.first.bytes_written)),
    sizes("saves", lambda group: group.total(group.first.bytes_saved)),
    codes("what", lambda group: group.what, shrink=True, optional=True),
    places("where", lambda group: group.first.source, missing=UNKNOWN),
)
