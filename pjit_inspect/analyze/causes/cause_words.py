"""How a cause's operations, arrays, dimensions and shardings are called: what stands at the places of its sentence.

Not its job: the sentences (`analyze.causes.wording`), or names of values (`analyze.sharding.value_names`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pjit_inspect.analyze.causes.cause_subject import CauseSubject
from pjit_inspect.analyze.sharding.needs import Part
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.opcodes import REQUESTS, SUMS
from pjit_inspect.model.program.spec import Dimensions, spec_text
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, joined, name, say, spec

T = TypeVar("T")

ITS_RESULT = "its result"
_POSITIONS = "its positions"


def over_axes(axes: Iterable[str]) -> Sentence:
    """Mesh axes in words: "`data` and `model`"."""
    return joined([axis(own) for own in axes])


def dimension_words(dimensions: Iterable[int]) -> Sentence:
    """Dimensions in words: "dimension 0", "dimensions 0 and 2"."""
    numbers = list(dict.fromkeys(map(str, dimensions)))
    return say("dimension{} {}", "s" * (len(numbers) > 1), joined(numbers))


def _axes_of(parts: Iterable[Part]) -> frozenset[str]:
    return frozenset(axis_name(own) for part in parts for own in part.axes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseWords:
    """How to call what a cause is about."""

    about: CauseSubject
    names: ValueNames

    def piece(self, name: str) -> object:
        """What stands at a place of a form that needs nothing but the cause, such as {op}."""
        return getattr(self, name)()

    def op(self) -> str:
        """The operation whose need it is."""
        own = self.about.own()
        if own is not None:
            return self.names.op(own)
        moved = self.about.moved()
        return self.names.value(moved) if moved is not None else "the program"

    def moved(self) -> str:
        """The array that moves."""
        moved, own, taker = self.about.moved(), self.about.own(), self.about.match.taker
        if own is not None and self.about.is_positions(own, None if taker is None else taker.operand):
            return _POSITIONS
        return "an operand" if moved is None else self.names.value(self.names.unpadded(moved, own)[0], own)

    def had(self) -> str:
        """How the array that moves is sharded."""
        moved = self.about.moved()
        return "split differently" if moved is None else say("{}", self.spec(self.about.program.values[moved].spec))

    def it_is(self) -> str:
        """The pronoun for the array that moves, and its verb."""
        return "they are" if self.moved() == _POSITIONS else "it is"

    def spec(self, dimensions: Dimensions) -> Phrase:
        """A sharding of the moved value, in the order of its text and without the dimensions that XLA added to it."""
        return spec(spec_text(self.dimensions_told(dimensions)))

    def dimensions_told(self, dimensions: Dimensions) -> Dimensions:
        """What the moved value has for each dimension, in the order of its text; without those that XLA added."""
        moved = self.about.moved()
        if moved is None or len(dimensions) != len(self.about.program.values[moved].shape):
            return dimensions
        value, kept = self.names.unpadded(moved, self.about.own())
        return self.names.as_named(value, [dimensions[place] for place in kept], self.about.own())

    def wanted(self) -> str:
        """How it is wanted."""
        target, taker = self.about.match.wanted, self.about.match.taker
        if target is not None:
            return say("{}", self.spec(target))
        own = self.about.own()
        if own is not None and own.kind in REQUESTS and own.results:
            return say("{}", spec(spec_text(self.about.program.values[own.results[0]].spec)))
        return say("pieces of {}", list(taker.shape)) if taker is not None and taker.shape else "another sharding"

    def as_wanted(self) -> str:
        """How the operation needs the array that moves; in pieces where their axes are not known."""
        target, taker, moved = self.about.match.wanted, self.about.match.taker, self.about.moved()
        if self.about.is_returned():
            return "as the other branches return it"
        if target is not None and str(self.spec(target)) != self.had():
            return say("as {}", self.spec(target))
        # Pieces as large as those that are there say nothing of how they differ.
        is_as_large = taker is not None and moved is not None and taker.shape == self.about.program.local_shape(moved)
        if taker is not None and taker.shape and not is_as_large:
            return say("in pieces of {} on each device", list(taker.shape))
        return "split differently"

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

    def is_one_sum(self) -> bool:
        """Whether it is one dimension that is summed over, which each operand has once."""
        parts = self.shown_parts()
        kind = None if self.about.need is None else self.about.need.kind
        return kind == "contraction" and len({part.operand for part in parts}) == len(parts)

    def dimensions(self) -> str:
        """In words: "dimension 1 of `x` and dimension 0 of `w`", "dimensions 0 and 2 of `x`"."""
        parts = self.shown_parts()
        if self.is_one_sum() and len(parts) == 2:
            return joined([say("{} of {}", self._counted([part]), self.value(part)) for part in parts])
        by_value: dict[int, list[Part]] = {}
        for part in parts:
            by_value.setdefault(part.value, []).append(part)
        phrases = []
        for own in list(by_value.values())[:2]:
            phrases.append(say("{} of {}", self._counted(own), self.value(own[0])))
        return joined(list(dict.fromkeys(phrases))) or "a dimension"

    def _counted(self, parts: Sequence[Part]) -> str:
        """The dimensions of one array by number; without, where `vmap` has batched it: nobody knows which is which."""
        maker = self.about.program.values[parts[0].value].op
        op = None if maker is None else self.about.program.ops[maker]
        is_made = op is not None and parts[0].value in op.results and not self.names.argument(parts[0].value)
        is_batched = op is not None and is_made and self.names.is_batched(op)
        return "a dimension" if is_batched else dimension_words(map(self.dimension, parts))

    def elements(self) -> str:
        """How many elements `dimensions` are: "these 2,048 elements"."""
        shown = self.shown_parts()
        own = {part.dimension: part.value for part in shown if part.operand == shown[0].operand}
        lengths = (self.about.program.values[value].shape[dimension] for dimension, value in own.items())
        return f"these {math.prod(lengths):,} elements" if own else "these elements"

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
            return _POSITIONS
        return self.names.value(part.value, own)

    def axes(self) -> str:
        """The mesh axes of the need, in the mesh's order."""
        axes = self.about.need.axes if self.about.need is not None else frozenset(self.about.axes)
        return self._in_order(axes)

    def shown_axes(self) -> str:
        """The mesh axes over which `dimensions` are split, in the mesh's order; the need's where they tell none."""
        axes = _axes_of(self.shown_parts())
        return self._in_order(axes) if axes else self.axes()

    def _in_order(self, axes: frozenset[str]) -> str:
        order = list(self.about.program.sizes)
        return over_axes(tuple(sorted(axes, key=lambda axis: order.index(axis) if axis in order else 0)))

    def over(self) -> str:
        """The mesh axes that the collective goes over."""
        return over_axes(self.about.axes)

    def adds(self) -> str:
        """What the collective does with partial sums."""
        return self._puts_together("adds")

    def combines(self) -> str:
        """What the collective does with the results of parts."""
        return self._puts_together("combines")

    def _puts_together(self, verb: str) -> str:
        size = self.about.match.edge.group_size
        them = f"the {size:,}" if size > 1 else "them"
        if self.about.kind_of_collective == "reduce-scatter":
            return f"the reduce-scatter {verb} {them} and leaves a piece on each device"
        verb = verb if self.about.kind_of_collective in SUMS else "brings"
        return f"the {self.about.kind_of_collective} {verb} {them}{' together' if verb == 'brings' else ''}"

    def asker(self) -> str:
        """Who asks for a sharding."""
        request = None if self.about.need is None else self.about.need.request
        if request is None or request.kind != "reshard_requested":
            return self.op()
        return self.names.op(self.about.program.ops[request.index])

    def taken(self) -> str:
        """Why an operand cannot keep its axis: another dimension of the result has it; "" where that is not why."""
        need = self.about.need
        if need is None or not need.taken or self.about.match.wanted != need.target:
            return ""
        own = set(map(axis_name, self.about.axes))
        found = next((pair for pair in need.taken if not own or pair[0] in own), None)
        if found is None:
            return ""
        own_axis, dimension = found
        op = self.about.own()
        told = dimension if op is None else self.names.told_dimension(op, dimension)
        told = None if op is not None and self.names.is_batched(op) else told
        which = "another dimension" if told is None else f"dimension {told}"
        return say("axis {} already splits {} of the result", axis(own_axis), which)

    # ------------------------------------------------------------ the result that moves

    def made(self) -> str:
        """The operation whose result moves."""
        maker = self.about.maker()
        return "a value" if maker is None else self.names.op(maker)

    def made_as(self) -> Phrase:
        """The sharding of its result."""
        value = self.about.match.edge.makers[0]
        return spec(spec_text(self.names.as_named(value, self.about.program.values[value].spec)))

    def pieces(self) -> list[int]:
        """The shape of its result on each device, as it is computed."""
        edge = self.about.match.edge
        return list(self.names.as_named(edge.makers[0], edge.made_shape))

    def target(self) -> Phrase:
        """XLA's name of the operation."""
        own = self.about.own()
        return name("" if own is None else own.detail or own.kind)
