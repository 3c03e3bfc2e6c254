"""The table of collectives (equal ones share a row, most bytes first), and a sentence for each cause.

Not its job: finding collectives, their cost or their causes (`analyze`), totals per axis (`view.record.answer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
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
    Section,
    Sign,
    Spans,
    Table,
    Text,
)
from pjit_inspect.view.document.notation import groups_text, operation_text
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_in, bytes_text, plural, share_unit
from pjit_inspect.view.record.answer import axis_span
from pjit_inspect.view.record.cause_groups import (
    CollectiveGroup,
    cause_frames,
    group_by_cause,
    kinds_words,
    place_words,
    reason_key,
)
from pjit_inspect.view.record.findings import finding_of

__all__ = ["CollectiveGroup", "collective_blocks", "group_collectives", "source_line", "unasked_words"]

_ROWS = 12
_FOLDED_ROWS = 80
_SOURCE = 36  # columns of a source line: enough to recognise it
_OPEN = 4  # groups up to which the sentences are visible at once
_TEXT_REASONS = 3
_PHASES = {"forward": "fwd", "backward": "bwd"}  # as training code abbreviates them


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerGroup(CollectiveGroup):
    """Collectives that differ only in their layer number, in the table's order.

    Attributes:
      what: their operation, layer numbers starred when there are several.
    """

    what: str

    @property
    def least_runs(self) -> int | None:
        """The least `runs`: conditionals skip as much as they can."""
        return total(member.count_min for member in self.members)


def group_collectives(rows: Sequence[Collective]) -> tuple[LayerGroup, ...]:
    """Collectives grouped by everything but their layer numbers, most bytes sent first."""
    groups: dict[object, list[Collective]] = {}
    for row in rows:
        frame = row.source[0] if row.source else None
        what = scope_pattern(operation_text(row.op_name)) or row.moved
        size = (row.dtype, row.local_shape, row.operands, row.payload_bytes, row.wire_bytes)
        key = (row.kind, row.axes, row.groups, size, row.phase, row.implicit, what, frame, reason_key(row))
        groups.setdefault(key, []).append(row)
    found = [LayerGroup(what=_what(members), members=tuple(members)) for members in groups.values()]
    return tuple(sorted(found, key=lambda group: -group.least_sent_bytes))


def _what(members: Sequence[Collective]) -> str:
    names = {operation_text(member.op_name) or member.moved for member in members}
    name = names.pop()
    return name if not names else scope_pattern(name)


def collective_blocks(report: RecordReport, *, rows: int = _ROWS) -> list[Block]:
    """The section of collectives, at most `rows` kinds of them in full.

    [] if there are none, or if that is unknown (the answer says so).
    """
    if not report.collectives:
        return []
    groups = group_collectives(report.collectives)
    unit = share_unit(size for group in groups for size in (group.payload_bytes, group.sent_bytes))
    shown, hidden = groups[:rows], groups[rows:]
    table = Table(
        columns=_columns(unit),
        rows=tuple(_row(group, report.data, unit) for group in shown),
        text_rest=_rest(hidden, "; record.collectives has all") if hidden else (),
        rest=_folded(hidden, report.data, unit) if hidden else None,
    )
    more = "; more may be missing" if report.incomplete else ""
    title = (Text("collectives", "strong"), Text(f"  {_origin(report)}{more}", "dim"))
    return [Section(title, (table, *_why(report, report.collectives, rows)))]


def _why(report: RecordReport, collectives: Sequence[Collective], rows: int) -> list[Block]:
    """A sentence about the cause of each group; text has only the most expensive groups."""
    if report.unasked:
        return [Line((Text("why they are there", "strong"), Text("  "), *unasked_words(report.unasked)))]
    if not any(row.causes for row in collectives):
        return []
    groups = group_by_cause(collectives)
    found = [finding_of(report, group) for group in groups[:rows]]
    short = [finding_of(report, group, with_facts=False) for group in groups[:_TEXT_REASONS]]
    hidden, more = groups[len(found) :], groups[len(short) :]
    kinds = f"in {len(groups):,} groups, most expensive first"
    return [
        Fold(
            summary=(Text("why they are there", "strong"), *((Text(f"  {kinds}", "dim"),) if len(groups) > 1 else ())),
            blocks=(*found, *([_more_reasons(len(hidden))] if hidden else [])),
            is_open=len(groups) <= _OPEN,
            text_blocks=(*short, *([_more_reasons(len(more))] if more else [])),
        )
    ]


def unasked_words(why: str) -> Spans:
    """'not known yet: <reason>; record.ask_partitioner() asks it'."""
    return Text(f"not known yet: {why}; "), Code("record.ask_partitioner()"), Text(" asks it")


def _more_reasons(number: int) -> Line:
    return Line((Sign("more"), Text(f" and {plural(number, 'more group')}; record.explain() explains all")))


def _origin(report: RecordReport) -> str:
    """The origin of the collectives: the partitioner or the program."""
    rows = report.collectives or ()
    written = sum(1 for row in rows if row.implicit is False)
    inserted = sum(1 for row in rows if row.implicit is True)
    if inserted == len(rows):
        return "inserted by the partitioner"
    if written == len(rows):
        return "written in the program"
    if not inserted + written:
        return plural(len(rows), "instruction")
    parts = [f"{inserted:,} inserted by the partitioner"] if inserted else []
    parts += [f"{written:,} written in the program"] if written else []
    unknown = len(rows) - written - inserted
    return ", ".join([*parts, f"{unknown:,} {'not known yet' if report.unasked else 'unknown'}"] if unknown else parts)


def _columns(unit: str) -> tuple[Column, ...]:
    return (
        Column(title="n", align="right"),
        Column(title="collective", shrink=True, comfort=20, least=18),
        Column(title="axis", shrink=True),
        Column(title="payload", align="right"),
        Column(title=f"wire {unit}", align="right"),
        Column(title="cause", shrink=True),
        Column(title="where", shrink=True),
        Column(title="source", optional=True),
        Column(title="what", shrink=True, comfort=20),
        Column(title="beside", optional=True),
        Column(title="groups", shrink=True, optional=True),
    )


def _row(group: LayerGroup, data: RecordData, unit: str) -> Row:
    first = group.first
    line = source_line(data, cause_frames(first))
    cells: tuple[Spans, ...] = (
        (Number(_runs(group)),),
        (Text(shorten(printable(first.kind), _SOURCE)),),
        (axis_span(first.axes, data), *((Text(", cross-host", "dim"),) if first.is_cross_host else ())),
        (Number(bytes_in(group.payload_bytes, unit)),),
        (Number(bytes_in(group.sent_bytes, unit), provenance="modelled"),),
        _cause(first),
        (Code(place),) if (place := place_words(first)) else UNKNOWN,
        (Code(_beginning(line)),) if line else (),
        _what_spans(group),
        (Text(beside),) if (beside := _beside(group)) else (),
        (Code(_groups(first)),),
    )
    return Row(cells)


def _runs(group: LayerGroup) -> str:
    if group.runs is None:
        return "?"
    least = group.least_runs
    return f"{group.runs:,}" if least == group.runs or least is None else f"{least:,}-{group.runs:,}"


def _groups(row: Collective) -> str:
    if row.kind != "collective-permute":
        return groups_text(row.groups)
    pairs = [f"{pair[0]}>{pair[-1]}" for pair in row.groups if pair[0] != pair[-1]]
    return " ".join(pairs) if len(pairs) <= 3 else f"{' '.join(pairs[:2])} +{len(pairs) - 2:,}"


def _what_spans(group: LayerGroup) -> Spans:
    spans: Spans = (Code(group.what),) if group.what else UNKNOWN
    if group.first.operands > 1:
        spans = (*spans, Text(f" x{group.first.operands:,}"))
    phase = group.first.phase
    return (*spans, Text(f" {_PHASES.get(phase, phase)}", "dim")) if phase else spans


def _cause(row: Collective) -> Spans:
    words = kinds_words(row)
    return (Text(words, "dim" if words == "unknown" else "none"),) if words else ()


def _beside(group: LayerGroup) -> str:
    """The number of kernels scheduled beside it, and whether a ring replaces it."""
    first = group.first
    ring = f"ring ({first.decomposed})" if first.decomposed else ""
    if not first.is_async:
        return ring
    counts = sorted(member.overlap_count for member in group.members if member.overlap_count is not None)
    if len(counts) < len(group.members):
        return f"{ring} async".strip()
    span = f"{counts[0]:,}" if counts[0] == counts[-1] else f"{counts[0]:,}-{counts[-1]:,}"
    return f"{ring} {span} kernels".strip()


def source_line(data: RecordData, frames: Sequence[Frame]) -> str | None:
    """The user's line of source at a frame, if the record has the text."""
    if not frames:
        return None
    frame = frames[0]
    for source in data.sources:
        if source.file == frame.file and source.cell == frame.cell:
            line = source.line(frame.line)
            return line.strip() if line else None
    return None


def _beginning(line: str) -> str:
    shown = printable(line)
    return shown if len(shown) <= _SOURCE else shown[: _SOURCE - 3] + "..."


def _rest(groups: tuple[LayerGroup, ...], more: str) -> Spans:
    number = sum(len(group.members) for group in groups)
    size = bytes_text(sum(group.least_sent_bytes for group in groups))
    return (Text(f"{number:,} in {plural(len(groups), 'more kind')}, {size} together{more}"),)


def _folded(groups: tuple[LayerGroup, ...], data: RecordData, unit: str) -> Rest:
    rows = [_row(group, data, unit) for group in groups[:_FOLDED_ROWS]]
    more = groups[_FOLDED_ROWS:]
    if more:
        empty: tuple[Spans, ...] = ((),) * (len(_columns(unit)) - 2)
        rows.append(Row(((Sign("more"),), _rest(more, ""), *empty)))
    return Rest(summary=_rest(groups, ""), rows=tuple(rows))
