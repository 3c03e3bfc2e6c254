"""Writes the place of a piece of source, and the calls that distinguish it from other pieces like it.

Not its job: finding the pieces (`requests`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.sharding.value_names import ValueNames, line_near
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import ShardedOp
from pjit_inspect.model.words.sentence import Sentence, code, joined, place, say

Chain = tuple[Frame, ...]
"""The user's frames of an op, innermost first."""


def told_places(names: ValueNames, op: ShardedOp, chain: Chain, rivals: Sequence[Chain]) -> Sentence:
    """The place as "train.py:6", or "train.py:6, called at line 12"; "" without frames.

    Args:
      names: names of the program's ops.
      op: one of the ops at this place; it has all frames of `chain`.
      chain: the frames these ops share.
      rivals: the chains of other ops with the same text and line.
    """
    told: dict[int, bool] = {0: False} if chain else {}
    if len(chain) > 1 and names.is_by_helper(op):
        told[1] = False
        rivals = [other for other in rivals if line_of(other[1:]) == line_of(chain[1:])]
    # Lines first: a column is named only if the lines are equal.
    for is_exact, depth in ((is_exact, depth) for is_exact in (False, True) for depth in range(len(chain))):
        alike = [other for other in rivals if _is_at(other[depth:], chain[depth:], is_exact=is_exact)]
        if len(alike) < len(rivals):
            told[depth], rivals = is_exact, alike
    return joined([_place(names, op, chain, depth, told[depth]) for depth in sorted(told)], ", ")


def _place(names: ValueNames, op: ShardedOp, chain: Chain, depth: int, is_exact: bool) -> Sentence:
    frame = chain[depth]
    found = say("called at {}" if depth else "{}", place(line_near(frame, chain[0]) if depth else frame.where))
    if not is_exact:
        return found
    text = names.text(op, depth) if depth else ""
    return say("{}, column {}{}", found, names.column(frame), say(", as {}", code(text)) if text else "")


def line_of(chain: Chain) -> tuple[str, int] | None:
    """The file and line of the innermost frame; None when there is none."""
    return (chain[0].file, chain[0].line) if chain else None


def _is_at(one: Chain, other: Chain, *, is_exact: bool) -> bool:
    """True if the innermost frames are of one call, or of one line."""
    return bool(one) and (is_same_call(one[0], other[0]) if is_exact else line_of(one) == line_of(other))


def is_same_call(one: Frame, other: Frame) -> bool:
    """True if two frames are of one call, as far as their columns are known."""
    is_open = not (one.columns and other.columns)
    return (one.file, one.line) == (other.file, other.line) and (is_open or one.columns[0] == other.columns[0])
