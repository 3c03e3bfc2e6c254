"""What proves a cause: shapes and shardings, where axes come from, where XLA's partitioner made the collective.

Not its job: the sentence that they prove (`analyze.causes.wording`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.causes.cause_words import ITS_RESULT, CauseWords, over_axes
from pjit_inspect.analyze.sharding.needs import Part
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.spec import spec_text
from pjit_inspect.model.sharding.sharded_program import AxisOrigin, axis_name
from pjit_inspect.model.words.sentence import Sentence, axis, bare, joined, name, say, spec

_MOST_TAKERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseFacts:
    """The facts of one cause."""

    words: CauseWords

    def facts(self, others: Sequence[Sentence] = ()) -> tuple[Sentence, ...]:
        """All of them, each once; `others` are those that take what moves, too."""
        parts = () if self.words.about.gives_result() else self.words.about.parts()
        found = [self._result_fact()]
        found += [self._part_fact(part) for part in parts]
        found += [self._origin_fact(origin, part) for part in parts for origin in self._origins(part)]
        request = None if self.words.about.need is None else self.words.about.need.request
        if request is not None and request.kind == "reshard_requested":
            found.append(say("asked for by {}", self.words.asker()))
        found.append(self.words.taken())
        found.append(self._edge_fact())
        if others:
            rest = [f"{len(others) - _MOST_TAKERS} more"] if len(others) > _MOST_TAKERS else []
            found.append(say("what moves goes to {}, too", joined([*others[:_MOST_TAKERS], *rest])))
        return tuple(dict.fromkeys(map(Sentence, filter(None, found))))

    def _edge_fact(self) -> str:
        """Where the collective lies in the program that XLA partitioned."""
        edge = self.words.about.match.edge
        made = list(dict.fromkeys(self.words.names.value(value) for value in self._told_makers()))
        pieces = say(" ({} on each device)", list(edge.made_shape)) if edge.made_shape else ""
        takers = edge.takers[:1] if self.words.about.match.taker is None else (self.words.about.match.taker,)
        taken = [self.words.names.op(self.words.about.program.ops[taker.op]) for taker in takers]
        taken += [say("{}", name(self.words.about.program.outputs[k].label or f"result {k}")) for k in edge.outputs[:1]]
        if not made or not taken:
            return ""
        if made == taken[:1]:
            return say("XLA's partitioner made it within {}", made[0])
        shape = next((taker.shape for taker in takers), ())
        there = say(" ({} on each device)", list(shape)) if shape else ""
        return say("XLA's partitioner made it between {}{} and {}{}", joined(made), pieces, taken[0], there)

    def _told_makers(self) -> tuple[int, ...]:
        """What makes the moved array; of a masked sum only the operation, not what its mask is made of."""
        makers, need = self.words.about.match.edge.makers, self.words.about.need
        if need is not None and need.is_sum and need.op is not None:
            makers = tuple(value for value in makers if self.words.about.program.values[value].op == need.op) or makers
        return makers[:2]

    def _result_fact(self) -> str:
        """The array that moves, where it is the result of the operation and not what the need is about."""
        if not self.words.about.match.moves_result or not self.words.about.match.edge.makers:
            return ""
        index, names = self.words.about.match.edge.makers[0], self.words.names
        value = self.words.about.program.values[index]
        shape, own = names.as_named(index, value.shape), names.as_named(index, value.spec)
        return say("what moves is {}: shape {}, {}", ITS_RESULT, list(shape), bare(spec(spec_text(own))))

    def _part_fact(self, part: Part) -> str:
        value = self.words.about.program.values[part.value]
        place = "result" if part.operand is None else f"operand {part.operand}"
        if self.words.about.need is not None and self.words.about.need.op is None:
            place = "result of the program"
        split = "split by XLA" if self.words.about.is_xlas() else "sharded"
        value_name = self.words.value(part)
        what = value_name if value_name == ITS_RESULT else say("{}, {}", place, value_name)
        return say(
            "{}: shape {}, {}; dimension {} is {} over {}",
            what,
            list(self.words.named(part, value.shape)),
            bare(spec(spec_text(self.words.named(part, value.spec)))),
            self.words.dimension(part),
            split,
            over_axes(part.axes),
        )

    def _origins(self, part: Part) -> list[AxisOrigin]:
        axes = {axis_name(axis) for axis in part.axes}
        value = self.words.about.program.values[self.words.names.outside(part.value)]
        if value.argument is not None:
            # That an argument's sharding is the argument's says nothing.
            return []
        return [origin for origin in value.origins if origin.axis in axes]

    def _origin_fact(self, origin: AxisOrigin, part: Part) -> str:
        return say(
            "{} on {} comes from {}", axis(origin.axis), self.words.value(part), origin_text(origin, self.words.names)
        )


def origin_text(origin: AxisOrigin, names: ValueNames) -> Sentence:
    """Where an axis came from, in the user's names."""
    program, index = names.program, origin.index
    if origin.kind == "input" and index is not None and index < len(program.inputs):
        return say("argument {}", name(program.inputs[index].label))
    if origin.kind == "output" and index is not None and index < len(program.outputs):
        return say("the sharding asked for {}", name(program.outputs[index].label or f"result {index}"))
    if origin.kind == "constraint" and index is not None and index < len(program.ops):
        return say("the constraint {}", names.op(program.ops[index]))
    return Sentence("the specs of a `shard_map`" if origin.kind == "manual" else "an unknown place")
