"""Two views that are text alone: a record's facts, and its program's skeleton.

Facts are each array's spec and bytes, and each collective's axes and bytes: only counted figures, or figures modelled
from these, in a fixed order; no times, lines of source, kernels or names by the compiler. So two layouts, or two
versions of JAX, can be compared. The skeleton has the operations in order, with their scopes and loops, and bytes sent.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.graph import SkeletonPart, SkeletonStep
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.columns import codes, numbers, sizes, table_of
from pjit_inspect.view.document.document import Block, Column, Document, dim, line
from pjit_inspect.view.document.notation import array_text, known_spec_text
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural
from pjit_inspect.view.record.answer import answer_line, nothing_text, title_line
from pjit_inspect.view.record.arrays import ArrayGroup, donated_in_vain, fate_spans, group_arrays, local_text
from pjit_inspect.view.record.cause_groups import cause_frames, kinds_words


class _Facts(NamedTuple):
    """Facts of equal collectives; bytes are those of one run."""

    axes: str
    phase: str | None
    kind: str
    payload_bytes: int | None
    wire_bytes: int | None
    count: int | None
    cause: str


def facts_view(report: RecordReport) -> Document:
    """The arrays, the total, and the collectives; equal layers and equal collectives share a row."""
    return Document(axes=(), blocks=(_arrays(report), _total(report), *_collectives(report)))


def _arrays(report: RecordReport) -> Block:
    data = report.data
    groups = (
        *group_arrays(data.inputs, in_vain=donated_in_vain(data)),
        *group_arrays(data.outputs, keep_first=True),
    )
    return table_of(_ARRAYS, groups, unit="")


def _spec(group: ArrayGroup) -> str:
    return "unknown" if group.first.sharding is None else known_spec_text(group.first.spec)


_ARRAYS = (
    codes("array", lambda group: f"{group.name} x {n:,}" if (n := len(group.layouts)) > 1 else group.name),
    codes("shape", lambda group: array_text(group.first)),
    codes("spec", _spec),
    codes("per device", lambda group: local_text(group.first)),
    sizes("bytes", lambda group: group.each_bytes),
    numbers("copies", lambda group: group.first.replication),
    Column("", fate_spans),
)


def _total(report: RecordReport) -> Block:
    rows = report.collectives
    if rows is None:
        return line("collectives unknown")
    if not rows:
        return line(nothing_text(report, "collectives"))
    sent = [row.sent_bytes for row in rows]
    known = sum(size for size in sent if size is not None)
    # At the ends of a line of permutes devices send less; a loop of unknown length sends more.
    least = "at least " if None in sent else "at most " if any(total.is_bound for total in report.totals) else ""
    return line(f"{plural(len(rows), 'collective')}; each device sends {least}{known:,} bytes per call")


def _collectives(report: RecordReport) -> tuple[Block, ...]:
    rows = report.collectives
    if not rows:
        return ()
    alike = sorted(Counter(map(_facts, rows)).items(), key=_order)
    phases = len({row.phase for row in rows}) > 1
    columns = (
        numbers("n", lambda item: None if item[0].count is None else item[0].count * item[1]),
        Column("collective", lambda item: item[0].kind),
        Column("over", lambda item: item[0].axes),
        *((Column("phase", lambda item: item[0].phase or ""),) if phases else ()),
        sizes("puts in", lambda item: item[0].payload_bytes),
        sizes("sends", lambda item: item[0].wire_bytes),
        Column("because", lambda item: item[0].cause),
    )
    note = "bytes of one device and one run; put in: counted, sent: modelled (ring)"
    return table_of(columns, alike, unit=""), line(dim(note))


def _order(item: tuple[_Facts, int]) -> tuple[object, ...]:
    row = item[0]
    figures = (row.payload_bytes or 0, row.wire_bytes or 0, row.count or 0)
    return row.axes, row.phase or "", row.kind, *figures, row.cause


def _facts(row: Collective) -> _Facts:
    cause = "written" if row.implicit is False else kinds_words(row) or "unknown"
    return _Facts(row.axes_text, row.phase, row.kind, row.payload_bytes, row.wire_bytes, row.count, cause)


# ---------------------------------------------------------------- the skeleton

_WIDTH = 100
_INDENT = "  "
_KINDS = 4
_NAME = 48


def tree_head(report: RecordReport) -> Document:
    """The compiled program, and the answer."""
    return Document(axes=(), blocks=(title_line(report.data), answer_line(report)))


def tree_lines(
    parts: Sequence[SkeletonPart | SkeletonStep] | None,
    report: RecordReport,
    *,
    missing: str = "",
    scheduled: bool = True,
) -> list[str]:
    """The skeleton's lines, at most 100 columns each; without a skeleton, the reason why there is none."""
    if parts is None:
        return [shorten(printable(missing or "no program to show"), _WIDTH)]
    order = "in the order XLA scheduled" if scheduled else "in the order of the program's bytes: XLA fixed no schedule"
    note = f"{order}; bytes: sent by one device, each time (modelled, ring)"
    return [*_part_lines(parts, report, 1), note]


def _part_lines(parts: Sequence[SkeletonPart | SkeletonStep], report: RecordReport, depth: int) -> list[str]:
    lines: list[str] = []
    for part in parts:
        if isinstance(part, SkeletonStep):
            lines += _wrapped("", _step_words(part, report), depth)
            continue
        label = _label(part)
        only = part.parts[0] if len(part.parts) == 1 else None
        if isinstance(only, SkeletonStep):
            lines += _wrapped(f"{label}: ", _step_words(only, report), depth)
        else:
            lines += [*_wrapped("", [label], depth), *_part_lines(part.parts, report, depth + 1)]
    return lines


def _label(part: SkeletonPart) -> str:
    name = shorten(printable(part.label), _NAME)
    times = ""
    if part.is_loop:
        times = ", unknown times" if part.trips is None else f", {plural(part.trips, 'time')}"
    return f"{name}{times}{f' ({count_text(part.alike)} alike)' if part.alike > 1 else ''}"


def _step_words(step: SkeletonStep, report: RecordReport) -> list[str]:
    """The words between arrows: the kernels, then each collective; runs of equal ones once."""
    words = [_kernel_words(step.kernels)] if step.kernels else []
    rows = [(report.collectives or ())[number] for number in step.collectives]
    for said, same in itertools.groupby(map(collective_words, rows)):
        number = len(list(same))
        head, facts = said
        words.append(f"{head}{f' x {number:,}' if number > 1 else ''} [{facts}]")
    return words


def _kernel_words(kernels: Sequence[tuple[str, int]]) -> str:
    shown = [f"{number} {_short(label)}" if number > 1 else _short(label) for label, number in kernels[:_KINDS]]
    more = sum(number for _, number in kernels[_KINDS:])
    return ", ".join(shown) + (f" and {plural(more, 'kernel')}" if more else "")


def _short(label: str) -> str:
    return shorten(printable(label), 32)


def collective_words(row: Collective) -> tuple[str, str]:
    """Kind, axes and bytes; then origin, cause and line."""
    origin = {True: "implicit: ", False: "written: ", None: ""}[row.implicit]
    cause = kinds_words(row) or "unknown"
    frames = cause_frames(row)
    place = f", line {frames[0].line}" if frames else ""
    beside = ""
    if row.is_async:
        beside = "; async" + (f" beside {count_text(row.overlap_count)}" if row.overlap_count else "")
    return f"{row.kind} {printable(row.axes_text)} {bytes_text(row.wire_bytes)}", f"{origin}{cause}{place}{beside}"


def _wrapped(start: str, words: Sequence[str], depth: int) -> list[str]:
    """One line where it fits; else broken at the arrows, with the rest two levels deeper."""
    indent, deeper = _INDENT * min(depth, 20), _INDENT * (min(depth, 20) + 2)
    lines, line = [], indent + start
    for i, word in enumerate(words):
        piece = word if i == 0 else f" -> {word}"
        if i and len(line) + len(piece) > _WIDTH:
            lines.append(line)
            line = f"{deeper}-> {word}"
        else:
            line += piece
    return [shorten(one.rstrip(), _WIDTH) for one in (*lines, line)]
