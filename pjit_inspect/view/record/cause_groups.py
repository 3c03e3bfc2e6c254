"""Collectives shown as one, their grouping by cause, the words for causes, and the finding of each group."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.model.program.shape import total
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.layers import scope_pattern
from pjit_inspect.model.words.sentence import Phrase, Sentence, joined, say
from pjit_inspect.view.document.document import AnswerBlock, Cell, Number, Prose, Quote, Sign, Spans, dim, spans, strong
from pjit_inspect.view.document.grouping import grouped
from pjit_inspect.view.document.quantities import bytes_number, bytes_text, plural
from pjit_inspect.view.record.answer import axis_span

_MOST_FACTS = 8
_MOST_LISTED = 4
_REASONS = 3
_FACTS = 12
_FRAMES = 3
_NAMES = 2
_RESHARDS = frozenset(("reshard_requested", "reshard_needed", "output", "full_replication", "no_sharding_rule"))
_OTHER_FACTS = Sentence("their other facts, such as shapes, differ")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveGroup:
    """Several collectives shown as one.

    Attributes:
      members: the collectives, at least one.
    """

    members: tuple[Collective, ...]

    @property
    def first(self) -> Collective:
        """The collective that represents the group."""
        return self.members[0]

    @property
    def runs(self) -> int | None:
        """Runs of all members per call; None when a loop's length is unknown."""
        return total(member.count for member in self.members)

    @property
    def payload_bytes(self) -> int | None:
        """Bytes of their operands per call; loops of unknown length count once.

        None when an array's bytes are unknown.
        """
        return _times_bytes((member, member.payload_bytes) for member in self.members)

    @property
    def sent_bytes(self) -> int | None:
        """Bytes one device sends for them per call, counted likewise. None also for unknown groups."""
        return _times_bytes((member, member.wire_bytes) for member in self.members)

    @property
    def least_sent_bytes(self) -> int:
        """The same without collectives of unknown bytes."""
        return sum(member.least_sent_bytes for member in self.members)


def _times_bytes(sizes: Iterable[tuple[Collective, int | None]]) -> int | None:
    """Sum of sizes times runs; None when a size is unknown."""
    times = ((size, 1 if member.count is None else member.count) for member, size in sizes)
    return total(None if size is None else size * count for size, count in times)


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualCauses:
    """Equal causes of one collective, or of several that differ only in their layer.

    Attributes:
      first: the cause that represents them.
      sentence: its sentence.
      facts: its proof.
      arrays: the number of operands of one collective that share it.
      payload_bytes: bytes of these operands, each time it runs.
    """

    first: Cause
    sentence: Sentence
    facts: tuple[Sentence, ...]
    arrays: int
    payload_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseGroup(CollectiveGroup):
    """Collectives of one kind over the same axes with the same reasons, most bytes sent first.

    Attributes:
      reasons: the reasons of each collective, most bytes first; () before anybody looked for causes.
    """

    reasons: tuple[EqualCauses, ...]

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The user's code that is the reason, innermost first."""
        return cause_frames(self.first)


def group_by_cause(rows: Sequence[Collective]) -> tuple[CauseGroup, ...]:
    """Collectives grouped by kind, axes, phase and reasons, whatever their layer; most bytes sent first."""

    def key(row: Collective) -> Hashable:
        how = (row.kind, row.axes, row.mesh, row.phase, row.decomposed, row.is_async, row.is_cross_host)
        return how, row.operands, reason_key(row)

    found = [CauseGroup(members=members, reasons=_reasons(members)) for members in grouped(rows, key).values()]
    return tuple(sorted(found, key=lambda group: -group.least_sent_bytes))


def reason_key(row: Collective) -> Hashable:
    """The key that collectives with the same reasons share."""
    if not row.causes:
        return scope_pattern(row.op_name), row.source[:1]
    return frozenset(map(_cause_key, row.causes))


def _reasons(members: Sequence[Collective]) -> tuple[EqualCauses, ...]:
    """The reasons of the first collective, worded to hold for all."""
    alike = grouped((cause for member in members for cause in member.causes), _cause_key)
    first = grouped(members[0].causes, _cause_key)
    reasons = _together([_reason(same, alike[key]) for key, same in first.items()])
    return tuple(sorted(reasons, key=lambda reason: -reason.payload_bytes))


def _together(reasons: Sequence[EqualCauses]) -> list[EqualCauses]:
    """The reasons; similar ones are merged into one that lists their differences."""

    def key(reason: EqualCauses) -> Hashable:
        # The words must be equal; names, code, axes and places may differ.
        phrases = reason.sentence.phrases
        return reason.first.kind, *((phrase.kind, phrase.text if phrase.kind == "word" else "") for phrase in phrases)

    return [same[0] if len(same) == 1 else _listed(same) for same in grouped(reasons, key).values()]


def _listed(reasons: Sequence[EqualCauses]) -> EqualCauses:
    """One reason for several: a single difference is listed in its place; for more, the others are named after it."""
    columns = list(zip(*(reason.sentence.phrases for reason in reasons), strict=True))
    if sum(len(set(column)) > 1 for column in columns) == 1:
        parts = [column[0] if len(set(column)) == 1 else _some(column) for column in columns]
        sentence = say("{}" * len(parts), *parts)
    else:
        others = dict.fromkeys(reason.first.operation or reason.first.moved for reason in reasons[1:])
        sentence = say("{} Likewise {}.", reasons[0].sentence, _some(list(filter(None, others)) or ["others"]))
    facts = tuple(dict.fromkeys(itertools.chain.from_iterable(reason.facts for reason in reasons)))
    return replace(
        reasons[0],
        sentence=sentence,
        facts=facts if len(facts) <= _MOST_FACTS else (*facts[:_MOST_FACTS], _OTHER_FACTS),
        arrays=sum(reason.arrays for reason in reasons),
        payload_bytes=sum(reason.payload_bytes for reason in reasons),
    )


def _some(parts: Sequence[Phrase | str]) -> Sentence:
    """The first items, and the number of others."""
    more = [f"{len(parts) - _MOST_LISTED} more"] if len(parts) > _MOST_LISTED else []
    return joined([*parts[:_MOST_LISTED], *more])


def _cause_key(cause: Cause) -> Hashable:
    return cause.kind, cause.sentence.pattern, cause.source[:1]


def _reason(same: Sequence[Cause], alike: Sequence[Cause]) -> EqualCauses:
    """The reason of equal causes of one collective, worded to hold for all in `alike`."""
    first = same[0]
    is_one = len({cause.sentence for cause in alike}) == 1
    return EqualCauses(
        first=first,
        sentence=first.sentence if is_one else first.sentence.pattern,
        facts=_facts(alike),
        arrays=len(same),
        payload_bytes=sum(cause.payload_bytes for cause in same),
    )


def _facts(alike: Sequence[Cause]) -> tuple[Sentence, ...]:
    """The facts of causes with equal sentences; their arrays may have different shapes."""
    if len({cause.facts for cause in alike}) == 1:
        return tuple(dict.fromkeys(alike[0].facts))
    every = [tuple(fact.pattern for fact in cause.facts) for cause in alike]
    together = tuple(dict.fromkeys(itertools.chain.from_iterable(every)))
    if len(together) <= _MOST_FACTS:
        return together
    return *(fact for fact in together if all(fact in facts for facts in every)), _OTHER_FACTS


# ---------------------------------------------------------------- words


def cause_words(cause: Cause) -> str:
    """A kind of cause in words, and whether a name is its only evidence."""
    words = cause.kind.replace("_", " ")
    return f"{words}, by name alone" if cause.evidence == "name" and cause.kind != "written" else words


def written_words(cause: Cause | None) -> str:
    """The operation of a cause as the user wrote it: `x @ w`; "" where it is not known."""
    if cause is None or cause.evidence != "sharding":
        return ""
    return next((phrase.text for phrase in cause.operation.phrases if phrase.kind in ("code", "name")), "")


def kinds_words(row: Collective) -> str:
    """The kind of a collective's main cause, and the number of further kinds: "contraction +1"."""
    sizes: dict[str, int] = {}
    for cause in row.causes:
        sizes[cause_words(cause)] = sizes.get(cause_words(cause), 0) + cause.payload_bytes
    if not sizes:
        return ""
    most = max(sizes, key=lambda words: sizes[words]).replace(" alone", "")
    return most if len(sizes) == 1 else f"{most} +{len(sizes) - 1}"


def cause_frames(row: Collective) -> tuple[Frame, ...]:
    """The user's code that is the reason for a collective; the collective's place if its cause has none."""
    cause = row.cause
    return (cause.source if cause is not None else ()) or row.source


def distinct_lines(frames: Sequence[Frame]) -> list[Frame]:
    """Frames innermost first; of consecutive frames on one line only the innermost."""
    return [next(same) for _, same in itertools.groupby(frames, lambda frame: (frame.file, frame.line))]


def place_words(row: Collective) -> str:
    """The places of all its causes: "train.py:12", "train.py:11-37"; "" when unknown."""
    frames = {cause.source[0].where: cause.source[0] for cause in row.causes if cause.source}
    if len(frames) < 2:
        frames = cause_frames(row)
        return frames[0].where if frames else ""
    first = cause_frames(row)[0]
    lines = [frame.line for frame in frames.values() if (frame.file, frame.cell) == (first.file, first.cell)]
    more = len(frames) - len(lines)
    span = first.where if len(lines) < 2 else f"{first.where.rpartition(':')[0]}:{min(lines)}-{max(lines)}"
    return f"{span} +{more:,}" if more else span


# ---------------------------------------------------------------- findings


def finding_of(
    report: RecordReport, group: CauseGroup, *, with_facts: bool = True, reasons: int = _REASONS, is_open: bool = False
) -> AnswerBlock:
    """The finding of a group; without facts, only the collectives and their reasons."""
    shown, hidden = group.reasons[:reasons], group.reasons[reasons:]
    sentences = tuple(_sentence(group, reason) for reason in shown) or ((dim("nobody has looked for its cause"),),)
    if hidden:
        arrays = sum(reason.arrays for reason in hidden)
        sentences += ((dim(f"and {plural(len(hidden), 'more reason')} for {plural(arrays, 'array')}"),),)
    proved = shown if reasons > _REASONS else shown[:1]
    facts = tuple(dict.fromkeys(fact for reason in proved for fact in reason.facts))[:_FACTS]
    lives = tuple(dict.fromkeys(row.life for row in group.members if row.life))
    facts += tuple(f"XLA's passes: {life}" for life in lives[:reasons])
    return AnswerBlock(
        head=_head(report, group),
        sentences=sentences,
        facts=tuple((Prose(fact),) for fact in facts) if with_facts else (),
        figures=_figures(group) if with_facts else (),
        is_open=is_open,
    )


def share_text(part: int | None, whole: int | None) -> str:
    """A share of the bytes sent, in percent: "41 %", "<1 %"; "" without a whole, or if one is unknown."""
    if not whole or part is None:
        return ""
    percent = 100 * part / whole
    return "<1 %" if 0 < percent < 0.5 else f"{percent:.0f} %"


def _head(report: RecordReport, group: CauseGroup) -> Spans:
    first, number = group.first, len(group.members)
    kinds = list(dict.fromkeys(cause_words(reason.first) for reason in group.reasons))
    more = f" and {len(kinds) - 2} more" if len(kinds) > 2 else ""
    marks, share = _marks(group), share_text(group.sent_bytes, report.sent_bytes)
    return spans(
        spans(Number(f"{number:,}", strong=True), " ", Sign("times"), " ") if number > 1 else None,
        Quote(first.kind, strong=True),
        " over ",
        axis_span(first.axes, report.data),
        " sends ",
        bytes_number(group.sent_bytes, "modelled", strong=True),
        f", {share}" if share else None,
        (Sign("dot"), strong(", ".join(kinds[:2]) + more)) if kinds else None,
        (Sign("dot"), dim(", ".join(marks))) if marks else None,
    )


def collective_marks(row: Collective) -> list[str]:
    """Special features of a collective, a word or two each."""
    found = (
        row.phase,
        f"{row.operands:,} arrays combined" if row.is_combined else None,
        f"a ring in place of {row.decomposed}" if row.decomposed else None,
        "across hosts" if row.is_cross_host else None,
    )
    return [mark for mark in found if mark]


def schedule_words(row: Collective) -> str:
    """The work scheduled beside an asynchronous collective; "" for others."""
    if not row.is_async or row.overlap_count is None:
        return "async" if row.is_async else ""
    return f"async beside {plural(row.overlap_count, 'kernel')}" if row.overlap_count else "async, beside nothing"


def _marks(group: CauseGroup) -> list[str]:
    """Special features of the group."""
    first = group.first
    marks = collective_marks(first)
    shared = max(first.causes, key=lambda cause: len(cause.serves_with), default=None)
    if shared is not None and shared.serves_with:
        # A halo exchange or a look-up changes no array's sharding.
        step = "reshard" if shared.kind in _RESHARDS else "exchange"
        marks.append(f"part of one {step} with {plural(len(shared.serves_with), 'other collective')}")
    alike = max(first.causes, key=lambda cause: cause.candidates, default=None)
    if alike is not None and alike.candidates > 1:
        # Collectives written in the program and combined by XLA may be on different lines.
        is_elsewhere = alike.kind == "written" and not alike.source
        marks.append(f"one of {alike.candidates:,} alike{'' if is_elsewhere else ' on this line'}")
    return [*marks, *filter(None, [schedule_words(first)])]


def _sentence(group: CauseGroup, reason: EqualCauses) -> Spans:
    if len(group.reasons) == 1:
        return (Prose(reason.sentence),)
    of = f"{reason.arrays:,} of {plural(group.first.operands, 'array')}, {bytes_text(reason.payload_bytes)}: "
    return (dim(of), Prose(reason.sentence))


def _figures(group: CauseGroup) -> Spans:
    arrays, sends = bytes_text(group.payload_bytes), bytes_text(group.sent_bytes)
    parts: list[Cell] = [
        f"arrays on a device {arrays} (counted), sends {sends} (modelled: ring), per call; {_runs(group)}"
    ]
    for position, frame in enumerate(distinct_lines(group.frames)[: 1 + _FRAMES]):
        parts += [("; at ", ", called from ", ", ")[min(position, 2)], Quote(frame.where)]
    names = [member.instructions[0] for member in group.members if member.instructions]
    if names:
        parts += ["; in the HLO ", Quote(", ".join(names[:_NAMES]))]
        parts += [f" and {len(names) - _NAMES:,} more"] if len(names) > _NAMES else []
    return spans(*parts)


def _runs(group: CauseGroup) -> str:
    if group.runs is None:
        return "in a loop of unknown length"
    at_most = "at most " if any(member.count != member.count_min for member in group.members) else ""
    if group.runs == len(group.members):
        each = "" if group.runs == 1 else f"{group.runs:,} instructions, each "
        return f"{each}runs {at_most}once"
    return f"runs {at_most}{plural(group.runs, 'time')}"
