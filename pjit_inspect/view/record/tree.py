"""A program's skeleton as text for terminals: operations in order, with their scopes and loops, and bytes sent."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.graph import SkeletonPart, SkeletonStep
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural
from pjit_inspect.view.record.answer import answer_line, title_line
from pjit_inspect.view.record.cause_groups import cause_frames, kinds_words

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
