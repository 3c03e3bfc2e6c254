"""Finds results that are arguments of the program with new values, so that the old ones may give up their memory.

Known by identity, where a call was seen to get what an earlier call returned; else by dataflow, as equal shapes say
nothing: a gradient has the shape of what it is of. Not its job: how much memory that is (`analyze.findings.arguments`,
`analyze.memory.could`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.program.phases import LATER, find_phase
from pjit_inspect.analyze.sharding.same_data import SameData
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.opcodes import MANUAL_BORDERS, operations
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram

_WRITES = {"dynamic_update_slice": 1, "scatter": 2}
"""Operations that write into their first operand, and the number of the operand that they write."""
_SAME = operations("convert", "same order", "barrier", "request")
_MOST_STEPS = 10_000
_ROOT = re.compile(r"[\[.]")

_Match = tuple[int, bool]
"""How often an argument is multiplied by a number on its way to a result, and whether it has new values there."""


def replaced_trees(
    program: ShardedProgram, inputs: Sequence[ArrayLayout], outputs: Sequence[ArrayLayout], fed: Mapping[str, str]
) -> dict[str, tuple[ArrayLayout, ...]]:
    """Arguments, by the name of their tree, that all come back as results of the same form, some with new values.

    Their memory could hold these results, if nobody reads them after the call. Single numbers do not count; a tree in
    doubt, or of which anything is donated already, is left out.

    Args:
      program: the program before partitioning.
      inputs: its arguments, with how they lie.
      outputs: its results.
      fed: path of an argument -> path of the result that was seen to come back as it.
    """
    trees: dict[str, list[ArrayLayout]] = {}
    for own in inputs:
        if own.global_shape and own.kept:
            trees.setdefault(root_of(own.path), []).append(own)
    if not any(output.aliases is None for output in outputs):
        return {}
    found = _find_updates(program, inputs, outputs, fed)
    return {
        root: tuple(own)
        for root, own in trees.items()
        if all(one.path in found and not one.donated for one in own) and any(found[one.path] for one in own)
    }


def root_of(path: str) -> str:
    """The argument's own name: `params` of `params['w1']`."""
    return _ROOT.split(path, maxsplit=1)[0]


def _find_updates(
    program: ShardedProgram, inputs: Sequence[ArrayLayout], outputs: Sequence[ArrayLayout], fed: Mapping[str, str]
) -> dict[str, bool]:
    """The path of each argument that some result of the same form is, and whether it has new values there."""
    given = {one.path: one for one in inputs}
    made = {one.path: one for one in outputs if one.aliases is None}
    found = {own: True for own, back in fed.items() if _are_alike(given.get(own), made.get(back))}
    taken = {fed[own] for own in found}
    flow, left = _Flow(program), dict[str, dict[str, _Match]]()
    for boundary in program.outputs:
        if boundary.label in made and boundary.label not in taken:
            # Of several ways, as through both branches of a condition, one that updates it is enough.
            ways = sorted(flow.replaced(boundary.value), key=lambda way: way[1][1])
            matches = ((program.inputs[number].label, match) for number, match in ways)
            left[boundary.label] = {
                own: match
                for own, match in matches
                if own not in found and _are_alike(given.get(own), made[boundary.label])
            }
    for own, is_updated in _matched(left):
        found[own] = is_updated
    return found


def _matched(left: dict[str, dict[str, _Match]]) -> Iterator[tuple[str, bool]]:
    """Each result with the one argument that it may be, and whether that has new values; `left` is used up.

    Of several it is the one that is scaled least: an average of parameters is made of the average before, and of
    parameters that are a result themselves.
    """
    results: dict[str, list[str]] = {}
    for result, candidates in left.items():
        for own in candidates:
            results.setdefault(own, []).append(result)
    ready = [result for result, candidates in left.items() if len(candidates) == 1]
    while result := ready.pop() if ready else next((one for one in left if len(_least(left[one])) == 1), None):
        if not left.get(result):
            continue
        (own,) = _least(left[result])
        yield own, left.pop(result)[own][1]
        for other in results[own]:
            if other in left:
                left[other].pop(own, None)
                ready += [other] if len(left[other]) == 1 else []


def _least(candidates: Mapping[str, _Match]) -> list[str]:
    fewest = min((scaled for scaled, _ in candidates.values()), default=0)
    return [own for own, (scaled, _) in candidates.items() if scaled == fewest]


def _are_alike(own: ArrayLayout | None, result: ArrayLayout | None) -> bool:
    """True if a result can take over the memory of an argument."""
    if own is None or result is None or own.sharding is None or result.sharding is None:
        return False
    sides = [(one.dtype, one.global_shape, one.sharding.tiles, one.sharding.tile_of) for one in (own, result)]  # type: ignore[union-attr]
    return sides[0] == sides[1] and own.sharding.memory_kind == result.sharding.memory_kind


@dataclass(frozen=True, slots=True)
class _At:
    """A position on the way back from a result.

    Attributes:
      value: its index in `ShardedProgram.values`.
      is_updated: whether something is written into it later, or a step of training adds to it.
      is_altered: whether anything else is done to all of it, as scaling, which is no proof.
      scaled: how often it is multiplied by a number before that step.
      scaled_after: how often what the step makes is.
      is_decay: whether the step adds a gradient as differentiation left it, or is scaled as a whole.
      masks: the values by which it was chosen.
    """

    value: int
    is_updated: bool = False
    is_altered: bool = False
    scaled: int = 0
    scaled_after: int = 0
    is_decay: bool = False
    masks: frozenset[int] = frozenset()


@dataclass(slots=True)
class _Flow:
    """Goes back from results, along operations that hand an array on as itself.

    Within what is differentiated no array is itself: a loss such as `((x - t) ** 2).sum()` subtracts from `x`, and so
    does its gradient.
    """

    program: ShardedProgram
    _same: SameData = field(init=False)
    _sources: dict[int, list[int]] = field(init=False, default_factory=dict)
    _targets: dict[int, list[int]] = field(init=False, default_factory=dict)
    _gradients: set[int] = field(init=False)
    _given: set[int] = field(init=False)
    _read: set[int] = field(init=False)
    _masks: dict[int, set[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        program = self.program
        self._same = SameData(program)
        for source, target in program.links:
            self._sources.setdefault(target, []).append(source)
            self._targets.setdefault(source, []).append(target)
        self._gradients = self._reached(
            value for op in program.ops if find_phase(op.op_name) in LATER for value in op.results
        )
        self._given = self._reached(k for k, value in enumerate(program.values) if value.argument is not None)
        self._read = {self._same.behind(value) for op in program.ops if _is_differentiated(op) for value in op.operands}

    def replaced(self, value: int) -> Iterator[tuple[int, _Match]]:
        """The arguments, by position, that a value is with new values or unchanged."""
        for at in self._back(_At(value)):
            # `gradient + decay * parameter` is a gradient, and `decay * parameter - rate * gradient` is none.
            is_gradient = at.is_decay and at.scaled and at.value in self._read
            # `where(x > 0, x, 0.1 * x)` is no update of `x`.
            is_own_mask = any(at.value in self._made_of(mask) for mask in at.masks)
            argument = self.program.values[at.value].argument
            if argument is not None and not is_gradient and not is_own_mask and (at.is_updated or not at.is_altered):
                yield argument, (at.scaled + at.scaled_after, at.is_updated)

    def _made_of(self, mask: int) -> set[int]:
        """All that a value is computed from, but for what is differentiated, as a loss is."""

        def before(value: int) -> Iterator[int]:
            yield from self._sources.get(value, ())
            op = self._maker(value)
            if op is not None and value in op.results and not _is_differentiated(op):
                yield from op.operands

        if mask not in self._masks:
            self._masks[mask] = _all_from([mask], before)
        return self._masks[mask]

    def _reached(self, values: Iterable[int]) -> set[int]:
        """All that is computed from some values."""

        def after(value: int) -> Iterator[int]:
            yield from self._targets.get(value, ())
            op = self._maker(value)
            if op is not None and op.kind == "while" and value in op.results:
                # The next turn begins with what the loop ends with.
                yield from self._targets.get(op.operands[op.results.index(value)], ())
            for index, _ in self.program.users.get(value, ()):
                yield from (result for result in self.program.ops[index].results if result not in self._sources)

        return _all_from(values, after)

    def _maker(self, value: int) -> ShardedOp | None:
        index = self.program.values[value].op
        return None if index is None else self.program.ops[index]

    # ------------------------------------------------------------ the way back

    def _back(self, start: _At, until: Collection[int] = ()) -> list[_At]:
        """The ends of the way back: arguments, or, in a turn of a loop, one of `until`, with which it begins."""
        border, seen, ends = [start], set[_At](), list[_At]()
        while border and len(seen) < _MOST_STEPS:
            at = border.pop()
            if at in seen:
                continue
            seen.add(at)
            if at.value in until or (not until and self.program.values[at.value].argument is not None):
                ends.append(at)
            else:
                border += self._before(at)
        return ends

    def _before(self, at: _At) -> Iterator[_At]:
        op = self._maker(at.value)
        if op is not None and op.kind == "while":
            # A loop's parameter is another value in each turn.
            yield from self._through_loop(at, op) if at.value in op.results else ()
        elif at.value in self._sources:
            yield from (replace(at, value=source) for source in self._sources[at.value])
        elif op is not None and op.operands and at.value in op.results and not _is_differentiated(op):
            yield from self._through(at, op)

    def _through_loop(self, at: _At, op: ShardedOp) -> Iterator[_At]:
        """A value that a loop carries is itself if each turn hands it on unchanged."""
        given = op.operands[op.results.index(at.value)]
        begins = [value for value in self._targets.get(given, ()) if value not in op.results]
        for source in self._sources.get(at.value, ()):
            yield from (replace(end, value=given) for end in self._back(replace(at, value=source), begins))

    def _through(self, at: _At, op: ShardedOp) -> Iterator[_At]:
        first, rest = op.operands[0], op.operands[1:]
        if (
            op.kind in _SAME
            or op.detail in MANUAL_BORDERS
            or (op.kind == "broadcast_in_dim" and not self._same.is_larger(op))
        ):
            yield replace(at, value=op.operands[op.results.index(at.value)] if len(op.results) > 1 else first)
        elif op.kind in _WRITES and len(rest) >= _WRITES[op.kind]:
            # What is set to a constant may be a mask for this call alone.
            is_written = rest[_WRITES[op.kind] - 1] in self._given
            yield replace(at, value=first, is_updated=at.is_updated or is_written, is_altered=True)
        elif op.kind == "subtract":
            yield self._summed(at, first, rest[0])
        elif op.kind in ("add", "maximum", "minimum"):
            yield from (self._summed(at, one, other) for one, other in ((first, rest[0]), (rest[0], first)))
        elif op.kind == "multiply" and self._is_number(first):
            yield replace(at, value=rest[0], is_altered=True, scaled=at.scaled + 1)
        elif op.kind in ("multiply", "divide") and self._is_number(rest[0]):
            yield replace(at, value=first, is_altered=True, scaled=at.scaled + 1)
        elif op.kind == "clamp":
            yield replace(at, value=rest[0], is_altered=True)
        elif op.kind == "select":
            yield from (self._chosen(at, first, one, other) for one, other in (rest, rest[::-1]))

    def _summed(self, at: _At, own: int, added: int) -> _At:
        """Only what differentiation made proves an update: `h + mlp(h)` is the next layer's, beside `h`."""
        if added not in self._gradients:
            return replace(at, value=own, is_altered=True)
        maker = self._maker(self._same.behind(added))
        is_bare = maker is not None and _is_differentiated(maker)
        return replace(
            at,
            value=own,
            is_updated=True,
            is_altered=True,
            scaled=0,
            scaled_after=at.scaled + at.scaled_after,
            is_decay=is_bare or at.is_decay or bool(at.scaled),
        )

    def _chosen(self, at: _At, mask: int, own: int, new: int) -> _At:
        is_updated = at.is_updated or new in self._given
        return replace(at, value=own, is_updated=is_updated, is_altered=True, masks=at.masks | {mask})

    def _is_number(self, index: int) -> bool:
        """True if a value is one number, or one number at all places."""
        value = self._same.behind(index)
        op = self._maker(value)
        return math.prod(self.program.values[value].shape) == 1 or (op is not None and op.kind == "constant")


def _all_from(values: Iterable[int], step: Callable[[int], Iterable[int]]) -> set[int]:
    border, seen = list(values), set[int]()
    while border:
        if (value := border.pop()) not in seen:
            seen.add(value)
            border += step(value)
    return seen


def _is_differentiated(op: ShardedOp) -> bool:
    return "jvp(" in op.op_name or "rematted_computation" in op.op_name
