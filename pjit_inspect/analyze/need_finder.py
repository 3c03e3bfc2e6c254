"""Which need of the sharded program a collective serves.

They are joined by the names XLA kept (the collective's own, and those of what makes and uses its result), by the mesh
axes it goes over, and by the size of the array it moves. Not its job: the needs themselves (`analyze.needs`), or what
is concluded (`analyze.causes`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pjit_inspect.analyze.moved_arrays import Clue, MovedArray
from pjit_inspect.analyze.needs import Need, find_needs
from pjit_inspect.model.cause import CauseKind
from pjit_inspect.model.collective import Collective
from pjit_inspect.model.propagation import Propagation
from pjit_inspect.model.source import Frame

__all__ = ["Match", "NeedFinder"]

_SUMS = frozenset(("all-reduce", "reduce-scatter"))
_CERTAIN = 4 * 2 + 3 * 2 + 3 * 2 + 4
"""The score of the collective's own name, on the op itself, with exactly its axes and form."""
_FRAME = 2
_VIEWS = frozenset(("sharding_constraint", "reshard", "convert", "transpose", "reshape", "optimization_barrier"))
_MOST_VIEWS = 8
_OTHER_AXES = -2
_PRIORITY: dict[CauseKind, int] = {
    "written": 9,
    "reshard_requested": 6,
    "contraction": 5,
    "indexing": 5,
    "halo": 5,
    "reduction": 5,
    "output": 4,
    "reshard_needed": 3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The need a moved array serves.

    Attributes:
      need: the best one.
      score: how well names, axes and size fit; higher is better.
      candidates: how many ops fit equally well with a need of the same kind.
      is_by_name: whether the collective goes over other axes than the need, so that only its name speaks for it.
      is_certain: whether the collective has the name of the need's op, its axes and the form it calls for.
    """

    need: Need
    score: tuple[int, ...]
    candidates: int = 1
    is_certain: bool = False
    is_by_name: bool = False


@dataclass(slots=True)
class NeedFinder:
    """The needs of one program, found by the names of their ops and of the arrays they move."""

    program: Propagation
    by_op: dict[str, list[Need]] = field(default_factory=dict, init=False)
    by_value: dict[str, list[tuple[Need, int]]] = field(default_factory=dict, init=False)
    _names: dict[int, set[str]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        carried: dict[int, list[int]] = {}
        for source, target in self.program.links:
            carried.setdefault(target, []).append(source)
        for need in find_needs(self.program):
            name = "" if need.op is None else self.program.ops[need.op].op_name
            self.by_op.setdefault(name, []).append(need)
            if need.value is None or need.is_sum:
                continue
            values = self._same_array(need.value, carried)
            self._names[id(need)] = {self._value_name(value) for value in values}
            for value in values:
                self.by_value.setdefault(self._value_name(value), []).append((need, value))

    def _same_array(self, value: int, carried: dict[int, list[int]]) -> list[int]:
        """A value and those it is a view of, also across the borders of regions; XLA may name it after any of them."""
        found = [value]
        for current in found:
            if len(found) > _MOST_VIEWS:
                break
            maker = self.program.values[current].op
            op = self.program.ops[maker] if maker is not None else None
            before = list(carried.get(current, ()))
            if op is not None and op.kind in _VIEWS:
                before += op.operands[:1]
            found += [v for v in before if v not in found]
        return found

    def _value_name(self, value: int) -> str:
        found = self.program.values[value]
        if found.argument is not None:
            return self.program.inputs[found.argument].name
        return self.program.ops[found.op].op_name if found.op is not None else ""

    def find(self, array: MovedArray, collective: Collective) -> Match | None:
        """The need `array` of `collective` serves best; None when no name leads to one that fits."""
        made = {_plain(clue.op_name) for clue in array.clues if clue.origin == "producer"}
        scored: dict[int, tuple[tuple[int, ...], Need]] = {}
        for clue in array.clues:
            for need, by_name in self._candidates(clue):
                by_value = int(not made.isdisjoint(self._names.get(id(need), ())))
                score = self._score(need, by_name + by_value, clue, array, collective)
                if score is not None and (id(need) not in scored or scored[id(need)][0] < score):
                    scored[id(need)] = (score, need)
        if not scored:
            return None
        best, need = max(scored.values(), key=lambda pair: pair[0])
        ops = {other.op for score, other in scored.values() if score == best and other.kind == need.kind}
        return Match(
            need=need,
            score=best,
            candidates=len(ops),
            is_certain=best[0] >= _CERTAIN,
            is_by_name=_axes_score(need, collective.axes) is None,
        )

    def _candidates(self, clue: Clue) -> Iterable[tuple[Need, int]]:
        """The needs a name may stand for, and how much it says.

        A collective is named after the op that needs it or after the array it moves. What makes its operand made a sum
        or the array that moves; what uses its result needs an array moved.
        """
        for need in self.by_op.get(clue.op_name, ()):
            if clue.origin == "own" or need.is_sum == (clue.origin == "producer"):
                yield need, 4 + _FRAME * self._same_place(need.op, clue.frame)
        if clue.op_name and clue.origin != "consumer":
            for need, value in self.by_value.get(_plain(clue.op_name), ()):
                yield need, 2 + _FRAME * self._same_place(self.program.values[value].op, clue.frame)

    def _same_place(self, op: int | None, frame: Frame | None) -> int:
        """1 when an op stands where a name does, -1 when elsewhere, 0 when one of the places is unknown."""
        frames = self.program.ops[op].frames if op is not None else ()
        if not frames or frame is None:
            return 0
        return 1 if (frames[0].file, frames[0].line) == (frame.file, frame.line) else -1

    def _score(
        self, need: Need, by_name: int, clue: Clue, array: MovedArray, collective: Collective
    ) -> tuple[int, ...] | None:
        axes = _axes_score(need, collective.axes)
        if axes is None and clue.origin == "own" and not need.is_sum:
            # The partitioner may go a way round over other axes; only the name speaks for it then.
            axes = _OTHER_AXES
        form = _form_score(need, collective.kind)
        if axes is None or form is None:
            return None
        own = {"own": 2, "producer": 1, "consumer": 1}[clue.origin]
        size = self._size_score(need, array, collective)
        total = 4 * axes + 3 * form + 3 * own + by_name + 2 * size
        return (total, _PRIORITY.get(need.kind, 0))

    def _size_score(self, need: Need, array: MovedArray, collective: Collective) -> int:
        """Whether the array is as large as the piece of the value that the need is about."""
        if need.value is None:
            return 0
        given = _count(self.program.local_shape(need.value))
        # A sum that is cut up afterwards is larger than what the value keeps of it.
        sizes = {given, given * max(1, self._pieces(collective))} if need.is_sum else {given}
        if need.op is not None and not need.is_sum:
            # The partitioner may compute with the operand as it is, and move the result instead.
            sizes.update(_count(self.program.local_shape(value)) for value in self.program.ops[need.op].results[:1])
        return int(array.elements in sizes)

    def _pieces(self, collective: Collective) -> int:
        return self.program.pieces(collective.axes or ())


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


def _plain(name: str) -> str:
    """An argument's name as JAX writes it: XLA escapes its quotes."""
    return name.replace("\\'", "'")


def _axes_score(need: Need, axes: tuple[str, ...] | None) -> int | None:
    """2 when the need is over exactly these axes, 1 when over these and more, None when it cannot be."""
    if not need.axes:
        return 1
    if axes is None:
        return 0
    if need.axes == frozenset(axes):
        return 2
    if frozenset(axes) < need.axes:
        return 1
    return None if need.axes.isdisjoint(axes) else 0


def _form_score(need: Need, kind: str) -> int | None:
    """2 when a collective of this kind is what the need calls for, 1 when it may serve it, None when it cannot."""
    if need.kind == "written":
        return 2 if need.is_sum == (kind in _SUMS) else None
    if kind in _SUMS:
        if need.is_sum:
            return 2
        return 1 if need.kind in ("indexing", "halo") else None
    if need.is_sum:
        return 1 if need.kind in ("reduction", "indexing") else 0
    return 2
