"""How a cause's operations, arrays, dimensions and shardings are called in a sentence.

Not its job: the sentences (`analyze.causes.cause_wording`), or names of values (`analyze.sharding.value_names`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pjit_inspect.analyze.causes.cause_subject import CauseSubject
from pjit_inspect.analyze.sharding.needs import Part
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.program.spec import Dimensions, spec_text
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, joined, say, spec

T = TypeVar("T")

ITS_RESULT = "its result"


def over_axes(axes: Iterable[str]) -> Sentence:
    """Mesh axes in words: "`data` and `model`"."""
    return joined([axis(own) for own in axes])


def _axes_of(parts: Iterable[Part]) -> frozenset[str]:
    return frozenset(axis_name(own) for part in parts for own in part.axes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseWords:
    """How to call what a cause is about."""

    about: CauseSubject
    names: ValueNames

    def op(self) -> str:
        """The operation whose need it is."""
        own = self.about.own()
        if own is not None:
            return self.names.op(own)
        moved = self.about.moved()
        return self.names.value(moved) if moved is not None else "the program"

    def what(self) -> str:
        """The array that moves."""
        moved, own, taker = self.about.moved(), self.about.own(), self.about.match.taker
        if own is not None and self.about.is_positions(own, None if taker is None else taker.operand):
            return "its positions"
        return "an operand" if moved is None else self.names.value(self.names.unpadded(moved, own)[0], own)

    def given(self) -> str:
        """How the array that moves is sharded."""
        moved = self.about.moved()
        return "sharded otherwise" if moved is None else say("{}", self.spec(self.about.program.values[moved].spec))

    def spec(self, dimensions: Dimensions) -> Phrase:
        """A sharding of the moved value, in the order of its text and without the dimensions that XLA added to it."""
        moved = self.about.moved()
        if moved is None or len(dimensions) != len(self.about.program.values[moved].shape):
            return spec(spec_text(dimensions))
        value, kept = self.names.unpadded(moved, self.about.own())
        own = tuple(dimensions[place] for place in kept)
        return spec(spec_text(self.names.as_named(value, own, self.about.own())))

    def wanted(self) -> str:
        """How it is wanted."""
        target, taker = self.about.target(), self.about.match.taker
        if target is not None:
            return say("{}", self.spec(target))
        own = self.about.own()
        if own is not None and own.kind in REQUESTS and own.results:
            return say("{}", spec(spec_text(self.about.program.values[own.results[0]].spec)))
        return say("pieces of {}", list(taker.shape)) if taker is not None and taker.shape else "another sharding"

    def shown_parts(self) -> list[Part]:
        """The operands' dimensions; the results', where it is only about those, or goes only over their axes."""
        parts, own = list(self.about.parts()), self.about.own()
        if own is not None and own.kind == "scatter" and self.about.need is not None and self.about.need.is_sum:
            # The positions go with what is added up; that is what a reader knows.
            last = max((part.operand or 0 for part in parts if not self.names.is_constant(part.value)), default=0)
            parts = [part for part in parts if part.operand == last] or parts
        over = frozenset(map(axis_name, self.about.axes))
        operands, results = ([p for p in parts if (p.operand is None) is own] for own in (False, True))
        is_of_results = over.isdisjoint(_axes_of(operands)) and not over.isdisjoint(_axes_of(results))
        parts = (results if is_of_results else operands) or parts
        # Zeros or ones that were broadcast are nothing a reader knows.
        return [part for part in parts if not self.names.is_constant(part.value)] or parts

    def is_or_are(self) -> str:
        """The verb behind `dimensions`."""
        return "is" if len(self.shown_parts()) == 1 or self.is_one_sum() else "are"

    def is_one_sum(self) -> bool:
        """Whether it is one dimension that is summed over, which each operand has once."""
        parts = self.shown_parts()
        kind = None if self.about.need is None else self.about.need.kind
        return kind == "contraction" and len({part.operand for part in parts}) == len(parts)

    def dimensions(self) -> str:
        """In words: "dimension 1 of `x` and dimension 0 of `w`", "dimensions 0 and 2 of `x`"."""
        parts = self.shown_parts()
        if self.is_one_sum() and len(parts) == 2:
            return joined([say("dimension {} of {}", self.dimension(part), self.value(part)) for part in parts])
        by_value: dict[int, list[Part]] = {}
        for part in parts:
            by_value.setdefault(part.value, []).append(part)
        phrases = []
        for own in list(by_value.values())[:2]:
            numbers = list(dict.fromkeys(str(self.dimension(part)) for part in own))
            phrases.append(say("dimension{} {} of {}", "s" * (len(numbers) > 1), joined(numbers), self.value(own[0])))
        return joined(list(dict.fromkeys(phrases))) or "a dimension"

    def dimension(self, part: Part) -> int:
        """The dimension that a part of the need is about, as the text of its array counts them."""
        places = self.named(part, range(len(self.about.program.values[part.value].shape)))
        return places.index(part.dimension) if part.dimension in places else part.dimension

    def named(self, part: Part, dimensions: Sequence[T]) -> tuple[T, ...]:
        """What the array of a part has for each dimension, as the text has them that it is called by (`value`)."""
        if self.value(part) == ITS_RESULT:
            return self.names.as_named(part.value, dimensions)
        inside = self.about.own()
        value, kept = self.names.unpadded(part.value, inside)
        return self.names.as_named(value, [dimensions[place] for place in kept], inside)

    def value(self, part: Part) -> str:
        """The array that a part of the need is about."""
        own = self.about.own()
        if part.operand is None and own is not None and part.value in own.results:
            return ITS_RESULT
        if own is not None and self.about.is_positions(own, part.operand):
            return "its positions"
        return self.names.value(part.value, own)

    def need_axes(self) -> str:
        """The mesh axes of the need, in the mesh's order."""
        axes = self.about.need.axes if self.about.need is not None else frozenset(self.about.axes)
        return self._in_order(axes)

    def shown_axes(self) -> str:
        """The mesh axes over which `dimensions` are split, in the mesh's order; the need's where they tell none."""
        axes = _axes_of(self.shown_parts())
        return self._in_order(axes) if axes else self.need_axes()

    def _in_order(self, axes: frozenset[str]) -> str:
        order = list(self.about.program.sizes)
        return over_axes(tuple(sorted(axes, key=lambda axis: order.index(axis) if axis in order else 0)))

    def requester(self) -> str:
        """Who asks for a sharding."""
        request = None if self.about.need is None else self.about.need.request
        if request is None or request.kind != "reshard_requested":
            return self.op()
        return self.names.op(self.about.program.ops[request.index])

    def taken(self) -> str:
        """Why an operand cannot keep its axis: another dimension of the result has it."""
        if self.about.need is None or not self.about.need.taken or self.about.target() != self.about.need.target:
            return ""
        own = set(map(axis_name, self.about.axes))
        found = next((pair for pair in self.about.need.taken if not own or pair[0] in own), None)
        if found is None:
            return ""
        own_axis, dimension = found
        op = self.about.own()
        told = dimension if op is None else self.names.told_dimension(op, dimension)
        which = "another dimension" if told is None else f"dimension {told}"
        return say("axis {} already splits {} of the result", axis(own_axis), which)
