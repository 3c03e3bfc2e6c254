"""The table of collectives (equal ones share a row, most bytes first), and a sentence for each cause."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.layers import scope_pattern
from pjit_inspect.view.document.columns import codes, more_lines, numbers, sizes, table_of
from pjit_inspect.view.document.document import (
    UNKNOWN,
    Block,
    Column,
    Fold,
    Quote,
    Section,
    Spans,
    Text,
    dim,
    line,
    strong,
)
from pjit_inspect.view.document.grouping import grouped, shared_name
from pjit_inspect.view.document.notation import groups_text, operation_text
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_text, plural
from pjit_inspect.view.record.answer import axis_span
from pjit_inspect.view.record.cause_groups import (
    CollectiveGroup,
    cause_frames,
    finding_of,
    group_by_cause,
    kinds_words,
    place_words,
    reason_key,
)

_ROWS = 12
_FOLDED_ROWS = 80
_SOURCE = 36  # columns of a source line: enough to recognise it
_OPEN = 4  # groups up to which the sentences are visible at once
_TEXT_REASONS = 3
SHORT_PHASES = {"forward": "fwd", "backward": "bwd"}
"""As training code abbreviates them."""


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
    found = [
        LayerGroup(
            what=shared_name((operation_text(one.op_name) or one.moved for one in members), scope_pattern),
            members=members,
        )
        for members in grouped(rows, _layer_key).values()
    ]
    return tuple(sorted(found, key=lambda group: -group.least_sent_bytes))


def _layer_key(row: Collective) -> Hashable:
    what = scope_pattern(operation_text(row.op_name)) or row.moved
    size = (row.dtype, row.local_shape, row.operands, row.payload_bytes, row.wire_bytes)
    return row.kind, row.axes, row.groups, size, row.phase, row.implicit, what, row.source[:1], reason_key(row)


def collective_blocks(report: RecordReport, *, rows: int = _ROWS) -> list[Block]:
    """The section of collectives, at most `rows` kinds of them in full.

    [] if there are none, or if that is unknown (the answer says so).
    """
    if not report.collectives:
        return []
    table = table_of(
        _columns(report.data),
        group_collectives(report.collectives),
        shown=rows,
        folded=_FOLDED_ROWS,
        rest=_rest,
        where="; record.collectives has all",
    )
    more = "; more may be missing" if report.incomplete else ""
    title = (strong("collectives"), dim(f"  {_origin(report)}{more}"))
    return [Section(title, (table, *_why(report, report.collectives, rows)))]


def _why(report: RecordReport, collectives: Sequence[Collective], rows: int) -> list[Block]:
    """A sentence about the cause of each group; text has only the most expensive groups."""
    if report.unasked:
        return [line(strong("why they are there"), "  ", unasked_words(report.unasked))]
    if not any(row.causes for row in collectives):
        return []
    groups = group_by_cause(collectives)
    found = [finding_of(report, group) for group in groups[:rows]]
    short = [finding_of(report, group, with_facts=False) for group in groups[:_TEXT_REASONS]]
    kinds = f"in {len(groups):,} groups, most expensive first"
    return [
        Fold(
            summary=(strong("why they are there"), *((dim(f"  {kinds}"),) if len(groups) > 1 else ())),
            blocks=(*found, *_more_reasons(len(groups) - len(found))),
            is_open=len(groups) <= _OPEN,
            text_blocks=(*short, *_more_reasons(len(groups) - len(short))),
        )
    ]


def unasked_words(why: str) -> Spans:
    """'not known yet: <reason>; record.ask_partitioner() asks it'."""
    return Text(f"not known yet: {why}; "), Quote("record.ask_partitioner()"), Text(" asks it")


def _more_reasons(number: int) -> list[Block]:
    return more_lines(number, "group", tail="; record.explain() explains all")


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


def _columns(data: RecordData) -> tuple[Column, ...]:
    return (
        numbers("n", _runs),
        Column(
            "collective", lambda group: shorten(printable(group.first.kind), _SOURCE), shrink=True, comfort=20, least=18
        ),
        Column("axis", lambda group: _axis(group.first, data), shrink=True),
        sizes("sends {unit}", lambda group: group.sent_bytes, "modelled"),
        Column("cause", lambda group: _cause(group.first), shrink=True),
        Column("where", lambda group: Quote(place) if (place := place_words(group.first)) else UNKNOWN, shrink=True),
        codes("source", lambda group: _beginning(source_line(data, cause_frames(group.first))), optional=True),
        Column("what", _what_spans, shrink=True, comfort=20),
        Column("beside", lambda group: _beside(group) or None, optional=True),
        codes("groups", lambda group: _groups(group.first), shrink=True, optional=True),
    )


def _axis(row: Collective, data: RecordData) -> Spans:
    return (axis_span(row.axes, data), *((dim(", cross-host"),) if row.is_cross_host else ()))


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
    spans: Spans = (Quote(group.what),) if group.what else UNKNOWN
    if group.first.operands > 1:
        spans = (*spans, Text(f" x{group.first.operands:,}"))
    phase = group.first.phase
    return (*spans, dim(f" {SHORT_PHASES.get(phase, phase)}")) if phase else spans


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


def source_line(data: RecordData, frames: Sequence[Frame], more: Sequence[SourceText] = ()) -> str | None:
    """The user's line of source at the innermost frame; None if neither the record nor `more` has the text."""
    for frame in frames[:1]:
        for source in (*data.sources, *more):
            if source.file == frame.file and source.cell == frame.cell:
                return (source.line(frame.line) or "").strip() or None
    return None


def _beginning(line: str | None) -> str:
    shown = printable(line or "")
    return shown if len(shown) <= _SOURCE else shown[: _SOURCE - 3] + "..."


def _rest(groups: Sequence[LayerGroup]) -> str:
    number = sum(len(group.members) for group in groups)
    size = bytes_text(sum(group.least_sent_bytes for group in groups))
    return f"{number:,} in {plural(len(groups), 'more kind')}, {size} together"
