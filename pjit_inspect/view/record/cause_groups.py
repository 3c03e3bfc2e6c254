"""Collectives gathered by why they are there, and the words for it.

Not its job: finding causes (`analyze.causes.causes`), tables (`view.record.collectives`), the report
(`view.record.explain`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.view.document.notation import scope_pattern
from pjit_inspect.view.record.collective_group import CollectiveGroup

__all__ = [
    "CauseGroup",
    "Reason",
    "cause_frames",
    "cause_words",
    "distinct_lines",
    "group_by_cause",
    "kinds_words",
    "place_words",
    "reason_key",
]

_CODE = re.compile(r"`[^`]*`")
_MOST_FACTS = 8
_OTHER_FACTS = "their other facts, such as shapes, differ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Equal causes of one collective, or of several that differ only in their layer.

    Attributes:
      first: the cause that stands for them.
      clause: what it says, without the collective it is about.
      facts: what proves it.
      arrays: how many operands of one collective have it.
      payload_bytes: bytes of these operands, each time it runs.
    """

    first: Cause
    clause: str
    facts: tuple[str, ...]
    arrays: int
    payload_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseGroup(CollectiveGroup):
    """Collectives of one kind over the same axes that are there for the same reasons, most bytes sent first.

    Attributes:
      reasons: why each of them is there, most bytes first; () when nobody has looked.
    """

    reasons: tuple[Reason, ...]

    @property
    def frames(self) -> tuple[Frame, ...]:
        """Where the user's code is the reason, innermost first."""
        return cause_frames(self.first)


def group_by_cause(rows: Sequence[Collective]) -> tuple[CauseGroup, ...]:
    """Collectives gathered by kind, axes, phase and reasons, layer numbers apart; most bytes sent first."""
    groups: dict[object, list[Collective]] = {}
    for row in rows:
        how = (row.kind, row.axes, row.mesh, row.phase, row.decomposed, row.is_async, row.is_cross_host)
        groups.setdefault((how, row.operands, reason_key(row)), []).append(row)
    found = [CauseGroup(members=tuple(members), reasons=_reasons(members)) for members in groups.values()]
    return tuple(sorted(found, key=lambda group: -group.sent_bytes))


def reason_key(row: Collective) -> object:
    """What two collectives that are there for the same reasons have in common."""
    if not row.causes:
        return scope_pattern(row.op_name), row.source[:1]
    return frozenset(map(_cause_key, row.causes))


def _reasons(members: Sequence[Collective]) -> tuple[Reason, ...]:
    """The reasons of the first collective, worded so that they hold for all."""
    alike: dict[object, list[Cause]] = {}
    for member in members:
        for cause in member.causes:
            alike.setdefault(_cause_key(cause), []).append(cause)
    by_key: dict[object, list[Cause]] = {}
    for cause in members[0].causes:
        by_key.setdefault(_cause_key(cause), []).append(cause)
    reasons = [_reason(same, alike[key], members[0].kind) for key, same in by_key.items()]
    return tuple(sorted(reasons, key=lambda reason: -reason.payload_bytes))


def _cause_key(cause: Cause) -> object:
    return cause.kind, _starred(cause.sentence), cause.source[:1]


def _reason(same: list[Cause], alike: Sequence[Cause], kind: str) -> Reason:
    """The reason of equal causes of one collective, in words that hold for all that are alike."""
    first = same[0]
    is_one = len({cause.sentence for cause in alike}) == 1
    return Reason(
        first=first,
        clause=_clause(first.sentence if is_one else _starred(first.sentence), kind),
        facts=_facts(alike),
        arrays=len(same),
        payload_bytes=sum(cause.payload_bytes for cause in same),
    )


def _facts(alike: Sequence[Cause]) -> tuple[str, ...]:
    """The facts of causes with equal sentences, which may be about arrays of other shapes."""
    if len({cause.facts for cause in alike}) == 1:
        return tuple(dict.fromkeys(alike[0].facts))
    every = [tuple(map(_starred, cause.facts)) for cause in alike]
    together = tuple(dict.fromkeys(itertools.chain.from_iterable(every)))
    if len(together) <= _MOST_FACTS:
        return together
    return *(fact for fact in together if all(fact in facts for facts in every)), _OTHER_FACTS


def _clause(sentence: str, kind: str) -> str:
    """A sentence without its subject, which the head says already."""
    subject, colon, clause = sentence.partition(": ")
    return clause if colon and subject.startswith(kind) else sentence


def _starred(sentence: str) -> str:
    """A sentence with the layer numbers in its names starred; shapes and dimensions stay."""
    return _CODE.sub(lambda found: scope_pattern(found[0]), sentence)


# ---------------------------------------------------------------- words


def cause_words(cause: Cause) -> str:
    """A kind of cause as a person says it, and whether only a name speaks for it."""
    words = cause.kind.replace("_", " ")
    return f"{words}, by name alone" if cause.evidence == "name" and cause.kind != "written" else words


def kinds_words(row: Collective) -> str:
    """The kind of a collective's main cause, and how many kinds more a combined one has: "contraction +1"."""
    sizes: dict[str, int] = {}
    for cause in row.causes:
        sizes[cause_words(cause)] = sizes.get(cause_words(cause), 0) + cause.payload_bytes
    if not sizes:
        return ""
    most = max(sizes, key=lambda words: sizes[words]).replace(" alone", "")
    return most if len(sizes) == 1 else f"{most} +{len(sizes) - 1}"


def cause_frames(row: Collective) -> tuple[Frame, ...]:
    """Where the user's code is the reason for a collective; its own place where the cause has none."""
    cause = row.cause
    return (cause.source if cause is not None else ()) or row.source


def distinct_lines(frames: Sequence[Frame]) -> list[Frame]:
    """Frames innermost first; of those on one line, one after another, the innermost only."""
    return [next(same) for _, same in itertools.groupby(frames, lambda frame: (frame.file, frame.line))]


def place_words(row: Collective) -> str:
    """The places of all its causes: "train.py:12", "train.py:11-37"; "" when unknown."""
    frames = {cause.source[0].where: cause.source[0] for cause in row.causes if cause.source}
    if len(frames) < 2:
        own = cause_frames(row)
        return own[0].where if own else ""
    first = cause_frames(row)[0]
    lines = [frame.line for frame in frames.values() if (frame.file, frame.cell) == (first.file, first.cell)]
    more = len(frames) - len(lines)
    span = first.where if len(lines) < 2 else f"{first.where.rpartition(':')[0]}:{min(lines)}-{max(lines)}"
    return f"{span} +{more:,}" if more else span
