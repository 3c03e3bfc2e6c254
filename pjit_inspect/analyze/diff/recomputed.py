"""Collectives that came or went because the backward pass computes a part of the forward pass again.

Proven by two counts: JAX names the operation as recomputed there, and both programs have the same collective in the
forward pass. Not its job: other reasons (`analyze.diff.reasons`, `analyze.diff.combined`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace

from pjit_inspect.analyze.diff.side import ProgramNames
from pjit_inspect.analyze.program.phases import find_phase
from pjit_inspect.model.diff.pairs import CollectiveDiff, Pair
from pjit_inspect.model.report.collective import Collective, Phase
from pjit_inspect.model.words.sentence import Sentence

_REASONS = {
    "added": Sentence("the backward pass computes this part of the forward pass again"),
    "removed": Sentence("the backward pass no longer computes this part of the forward pass again"),
}


def with_recomputed(collectives: CollectiveDiff, names: tuple[ProgramNames, ProgramNames]) -> CollectiveDiff:
    """The collectives, with recomputation in one of the programs as the reason where it applies."""
    if not any(_is_asked(pair) for pair in collectives):
        return collectives
    sides = ([pair.before for pair in collectives], [pair.after for pair in collectives])
    forward = [
        {key for row in side if row is not None for key, phase in _parts(row, own) if phase == "forward"}
        for side, own in zip(sides, names, strict=True)
    ]

    def is_proven(pair: Pair[Collective]) -> bool:
        own = names[1] if pair.before is None else names[0]
        return all({key for key, _ in _parts(pair.row, own)} <= known for known in forward)

    rows = (
        replace(pair, reason=_REASONS[pair.status]) if _is_asked(pair) and is_proven(pair) else pair
        for pair in collectives
    )
    return replace(collectives, rows=tuple(rows))


def _is_asked(pair: Pair[Collective]) -> bool:
    return pair.status in _REASONS and not pair.reason and pair.row.phase == "recompute" and bool(pair.row.causes)


def _parts(row: Collective, names: ProgramNames) -> Iterator[tuple[Hashable, Phase]]:
    """The evidence of each array of a collective, and the phase of the operation it is moved for."""
    what = row.kind, names.axes(row.axes)
    for cause in row.causes:
        where = names.scope(cause.op_name), names.stack(cause.source, is_loose=True)[:1]
        yield (what, where, cause.payload_bytes), find_phase(cause.op_name)
