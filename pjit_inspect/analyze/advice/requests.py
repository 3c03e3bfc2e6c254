"""Groups a program's constraints by the piece of source that asks for them, and names each group exactly.

A change to a piece of source changes all constraints that come from it: every layer of a loop, and the gradient of
each. The whole chain of the user's calls distinguishes requests: a helper with several callers makes several. Not its
job: what else may be asked for (`specs`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.advice.told_apart import Chain, is_same_call, line_of, told_places
from pjit_inspect.analyze.program.phases import LATER, is_asked_name
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.sharding.sharded_program import ShardedOp
from pjit_inspect.model.words.sentence import Sentence, code, say


def is_asked(op: ShardedOp) -> bool:
    """True if an op is a constraint that the user wrote; in Explicit mode JAX adds others."""
    return op.kind == "sharding_constraint" and is_asked_name(op.op_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Constraints that a person can only change together.

    Attributes:
      ops: their indices in `ShardedProgram.ops`, the backward pass last.
      many: the number in the forward pass.
      what: the piece of the source, its place, and the calls that distinguish it from others.
    """

    ops: tuple[int, ...]
    many: int
    what: Sentence

    @property
    def words(self) -> Sentence:
        """Words for all of its constraints: "the constraint ...", "all 3 constraints that ... makes"."""
        return say("the constraint {}", self.what) if self.many == 1 else self._all

    @property
    def inside(self) -> Sentence:
        """As `words`, for use within a sentence about what the constraints ask for."""
        return self.what if self.many == 1 else self._all

    @property
    def _all(self) -> Sentence:
        return say("all {} constraints that {} makes", self.many, self.what)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Calls:
    """The constraints that one chain of calls asks for; of several that lost frames, the shortest chain."""

    chain: Chain
    ops: tuple[int, ...]


class Requests:
    """The requests of one program."""

    def __init__(self, names: ValueNames) -> None:
        self._names, self._ops = names, names.program.ops
        self._chains: dict[int, Chain] = {i: names.frames(op) for i, op in enumerate(self._ops) if is_asked(op)}
        lines: dict[object, list[int]] = {}
        for index, chain in self._chains.items():
            lines.setdefault(line_of(chain), []).append(index)
        self._lines: dict[object, list[_Calls]] = {line: self._apart(ops) for line, ops in lines.items()}

    def of(self, index: int) -> Request | None:
        """All that the calls ask for that led to a constraint; None for one of several without a known line."""
        alike = self._lines[line_of(self._chains[index])]
        own = next(calls for calls in alike if index in calls.ops)
        if not own.chain and len(own.ops) > 1:
            return None
        return self._request(own.ops, own.chain, [calls.chain for calls in alike if calls is not own])

    def of_every_call(self, index: int) -> Request | None:
        """All that a piece of the source asks for, whoever calls it; None where one call, or not one thing, is all."""
        chain = self._chains[index][:1]
        alike = self._lines[line_of(chain)]
        own = [calls for calls in alike if chain and is_same_call(calls.chain[0], chain[0])]
        ops = [op for calls in own for op in calls.ops]
        if len(own) < 2 or len({self._asked(op) for op in ops if not self._is_later(op)}) > 1:
            return None
        return self._request(ops, chain, [calls.chain[:1] for calls in alike if calls not in own])

    def _apart(self, ops: Sequence[int]) -> list[_Calls]:
        """The constraints of one line, by the calls that led to them."""
        chains: dict[object, list[int]] = {}
        for index in ops:
            key = tuple((frame.file, frame.line, frame.columns) for frame in self._chains[index])
            chains.setdefault(key, []).append(index)
        # In a recomputed pass JAX records some calls twice, the first time with fewer frames: of two chains of one
        # request, one contains the other. The shortest come first.
        found: list[_Calls] = []
        for own in sorted(chains.values(), key=lambda own: len(self._chains[own[0]])):
            chain = self._chains[own[0]]
            same = [calls for calls in found if _has_all(chain, calls.chain)]
            found = [calls for calls in found if calls not in same]
            joined_ops = [index for calls in same for index in calls.ops] + own
            found.append(_Calls(chain=same[0].chain if same else chain, ops=tuple(joined_ops)))
        return found

    def _request(self, ops: Sequence[int], chain: Chain, rivals: Sequence[Chain]) -> Request:
        """`rivals` are the chains of other requests of the line."""
        last = sorted(ops, key=lambda index: (self._is_later(index), index))
        phases = Counter(self._phase(index) for index in ops)
        return Request(ops=tuple(last), many=max(phases.values()), what=self._what(ops, chain, rivals))

    def _phase(self, index: int) -> str:
        """The pass an op is of."""
        phase = self._names.phase(self._ops[index])
        return phase if phase in LATER else ""

    def _is_later(self, index: int) -> bool:
        return bool(self._phase(index))

    def _asked(self, index: int) -> object:
        """The axes of each dimension after a constraint."""
        return self._names.program.values[self._ops[index].results[0]].spec

    def _what(self, ops: Sequence[int], chain: Chain, rivals: Sequence[Chain]) -> Sentence:
        """The text of the innermost call and its place, with the outer calls that distinguish it from the rivals."""
        op = self._ops[min(ops, key=lambda index: len(self._chains[index]))]
        text = code(self._names.text(op) or op.kind)
        places = told_places(self._names, op, chain, rivals)
        return say("{} ({})", text, places) if places else say("{}", text)


def _has_all(chain: Chain, other: Chain) -> bool:
    """True if a chain of the same innermost frame has all frames of another, in their order."""
    if not chain or not other:
        return chain == other
    left = iter(chain)
    return is_same_call(chain[0], other[0]) and all(any(is_same_call(mine, frame) for mine in left) for frame in other)
