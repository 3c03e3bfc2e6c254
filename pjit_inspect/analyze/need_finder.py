"""Which need of the sharded program a collective serves.

They are joined by the names XLA kept (the collective's own, and those of what makes and uses its result), by the stack
of source lines and columns, by the mesh axes it goes over, and by the size and type of the array it moves. Not its job:
the needs themselves (`analyze.needs`), or what is concluded (`analyze.causes`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pjit_inspect.analyze.moved_arrays import Clue, MovedArray
from pjit_inspect.analyze.needs import Need, find_needs
from pjit_inspect.model.cause import CauseKind
from pjit_inspect.model.collective import Collective
from pjit_inspect.model.propagation import Propagation
from pjit_inspect.model.source import Frame

__all__ = ["Match", "NeedFinder"]

_SUMS = frozenset(("all-reduce", "reduce-scatter"))
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
_OTHER_AXES = -2
_VIEWS = frozenset(("sharding_constraint", "reshard", "convert", "transpose", "reshape", "optimization_barrier"))
_MERGED = _VIEWS | {"broadcast_in_dim"}
"""Ops that XLA makes one of with the views that follow, under the name of the last or of what takes it."""
_MOST_VIEWS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The need a moved array serves.

    Attributes:
      need: the best one.
      candidates: how many ops fit equally well with a need of the same kind.
      is_certain: whether the collective has the need's op as its name and place, its axes, and the form it calls for.
      is_by_name: whether the collective goes over other axes than the need, so that only its name speaks for it.
    """

    need: Need
    candidates: int = 1
    is_certain: bool = False
    is_by_name: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A need that a name may stand for: how much that says, which op it names, and how many needs are just like it."""

    need: Need
    by_name: int
    op: int | None
    alike: int = 1
    is_named_op: bool = False


@dataclass(frozen=True, slots=True, order=True)
class _Score:
    total: int
    priority: int
    is_certain: bool


@dataclass(slots=True)
class NeedFinder:
    """The needs of one program, found by the names of their ops and of the arrays they move."""

    program: Propagation
    by_op: dict[str, list[tuple[Need, int]]] = field(default_factory=dict, init=False)
    by_value: dict[str, list[tuple[Need, int]]] = field(default_factory=dict, init=False)
    by_use: dict[str, list[tuple[Need, int]]] = field(default_factory=dict, init=False)
    _endings: dict[str, list[str]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        carried: dict[int, list[int]] = {}
        for source, target in self.program.links:
            carried.setdefault(target, []).append(source)
        alike: dict[tuple[object, ...], list[Need]] = {}
        for need in find_needs(self.program):
            alike.setdefault(self._signature(need), []).append(need)
            if need.value is not None and not need.is_sum:
                for value in self._same_array(need.value, carried):
                    self.by_value.setdefault(self._value_name(value), []).append((need, value))
        # Equal layers on one line have equal needs; one of them is looked at, the others are counted.
        users = self._users()
        for needs in alike.values():
            self.by_op.setdefault(self._op_name(needs[0]), []).append((needs[0], len(needs)))
            for name in self._later_names(needs[0], users):
                self.by_use.setdefault(name, []).append((needs[0], len(needs)))
        for name in dict.fromkeys((*self.by_op, *self.by_value)):
            if "/" in name:
                self._endings.setdefault(name.rpartition("/")[2], []).append(name)

    # ------------------------------------------------------------ names

    def _op_name(self, need: Need) -> str:
        return "" if need.op is None else self.program.ops[need.op].op_name

    def _signature(self, need: Need) -> tuple[object, ...]:
        """What a collective is compared with: needs that agree in it cannot be told apart by their op."""
        op = None if need.op is None else self.program.ops[need.op]
        places = () if op is None else tuple((frame.file, frame.line, frame.columns) for frame in op.frames)
        value = None if need.value is None else self.program.values[need.value]
        size = None if value is None or need.value is None else (value.dtype, self.program.local_shape(need.value))
        return (self._op_name(need), places, need.kind, need.is_sum, need.axes, size, self._operand(need))

    def _operand(self, need: Need) -> int | None:
        return need.parts[0].operand if need.parts else None

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

    def _users(self) -> dict[int, list[int]]:
        """Value -> the ops that take it."""
        users: dict[int, list[int]] = {}
        for number, op in enumerate(self.program.ops):
            for value in op.operands:
                users.setdefault(value, []).append(number)
        return users

    def _later_names(self, need: Need, users: dict[int, list[int]]) -> list[str]:
        """Names of the views after the op of a need, and of what takes them, where XLA may merge them into one."""
        names: list[str] = []
        current = need.op
        for _ in range(_MOST_VIEWS):
            op = None if current is None else self.program.ops[current]
            if op is None or op.kind not in _MERGED or need.is_sum or len(op.results) != 1:
                break
            takers = users.get(op.results[0], [])
            current = takers[0] if len(takers) == 1 else None
            if current is not None:
                names.append(self.program.ops[current].op_name)
        return [name for name in dict.fromkeys(names) if name != self._op_name(need)]

    def _value_name(self, value: int) -> str:
        found = self.program.values[value]
        if found.argument is not None:
            return self.program.inputs[found.argument].name
        return self.program.ops[found.op].op_name if found.op is not None else ""

    # ------------------------------------------------------------ the best need

    def find(self, array: MovedArray, collective: Collective) -> Match | None:
        """The need `array` of `collective` serves best; None when no name leads to one that fits."""
        scored: dict[int, tuple[_Score, _Candidate]] = {}
        for clue in array.clues:
            for candidate in self._candidates(clue, array):
                score = self._score(candidate, clue, array, collective)
                key = id(candidate.need)
                if score is not None and (key not in scored or scored[key][0] < score):
                    scored[key] = (score, candidate)
        if not scored:
            return None
        best, chosen = max(scored.values(), key=lambda pair: pair[0])
        kind = chosen.need.kind
        alike = [c for score, c in scored.values() if score == best and c.need.kind == kind]
        ops = {c.need.op for c in alike}
        return Match(
            need=chosen.need,
            candidates=len(ops) + sum(c.alike - 1 for c in alike),
            is_certain=best.is_certain,
            is_by_name=_axes_score(chosen.need, collective.axes) is None,
        )

    def _candidates(self, clue: Clue, array: MovedArray) -> Iterator[_Candidate]:
        """The needs a name may stand for.

        A collective is named after the op that needs it or after the array it moves. What makes its operand made a sum
        or the array that moves; what uses its result needs an array moved.
        """
        for need, alike in self.by_op.get(clue.op_name) or self._by_ending(clue):
            if clue.origin == "own" or need.is_sum == (clue.origin == "producer"):
                yield _Candidate(need=need, by_name=4, op=need.op, alike=alike, is_named_op=clue.origin == "own")
        if clue.origin == "own":
            for need, alike in self.by_use.get(clue.op_name, ()):
                yield _Candidate(need=need, by_name=1, op=need.op, alike=alike)
        if not clue.op_name or clue.origin == "consumer":
            return
        own = {other.op_name: other.frames for other in array.clues if other.origin == "own"}
        for need, value in self._moved(_plain(clue.op_name)):
            maker = self.program.values[value].op
            made = _place_score(self.program.ops[maker].frames if maker is not None else (), clue.frames)
            name = self._op_name(need)
            if made < 0:
                continue
            if name in own and need.op is not None and _place_score(self.program.ops[need.op].frames, own[name]) > 0:
                # Both the op and the array it needs are named: nothing else can be meant.
                yield _Candidate(need=need, by_name=5 + made, op=need.op, is_named_op=True)
            else:
                yield _Candidate(need=need, by_name=2, op=maker)

    def _by_ending(self, clue: Clue) -> list[tuple[Need, int]]:
        """The needs of ops whose full names end in a name: XLA keeps only that of ops in a call of a call."""
        names = self._endings.get(clue.op_name, ()) if "/" not in clue.op_name else ()
        return [entry for name in names for entry in self.by_op.get(name, ())]

    def _moved(self, name: str) -> list[tuple[Need, int]]:
        """The needs that move the array of this name, with the value; likewise by the end of the name."""
        if name in self.by_value or "/" in name:
            return self.by_value.get(name, [])
        return [entry for full in self._endings.get(name, ()) for entry in self.by_value.get(full, ())]

    def _score(self, candidate: _Candidate, clue: Clue, array: MovedArray, collective: Collective) -> _Score | None:
        need = candidate.need
        axes = _axes_score(need, collective.axes)
        if axes is None and clue.origin == "own" and not need.is_sum:
            # The partitioner may go a way round over other axes; only the name speaks for it then.
            axes = _OTHER_AXES
        form = _form_score(need, collective.kind)
        if axes is None or form is None:
            return None
        own = 2 if clue.origin == "own" or candidate.is_named_op else 1
        frames = clue.frames
        if candidate.is_named_op and clue.origin != "own":
            frames = next((other.frames for other in array.clues if other.origin == "own"), frames)
        place = _place_score(self.program.ops[candidate.op].frames if candidate.op is not None else (), frames)
        size = self._size_score(need, array, collective)
        total = 4 * axes + 3 * form + 3 * own + candidate.by_name + 2 * place + 2 * size
        is_certain = candidate.is_named_op and axes == 2 and form == 2 and place >= 0 and size >= 0
        return _Score(total, _PRIORITY.get(need.kind, 0), is_certain)

    def _size_score(self, need: Need, array: MovedArray, collective: Collective) -> int:
        """1 when the array is as large as the piece of the need's value, -1 when it is of another kind of number."""
        if need.value is None:
            return 0
        if _is_integer(array.dtype) != _is_integer(self.program.values[need.value].dtype) and not need.is_sum:
            return -1
        given = math.prod(self.program.local_shape(need.value))
        # A sum that is cut up afterwards is larger than what the value keeps of it.
        pieces = self.program.pieces(collective.axes or ())
        sizes = {given, given * max(1, pieces)} if need.is_sum else {given}
        if need.op is not None and not need.is_sum:
            # The partitioner may compute with the operand as it is, and move the result instead.
            sizes.update(math.prod(self.program.local_shape(v)) for v in self.program.ops[need.op].results[:1])
        return int(array.elements in sizes)


def _is_integer(dtype: str) -> bool:
    return dtype[:1] in ("s", "u") or dtype == "pred"


def _plain(name: str) -> str:
    """An argument's name as JAX writes it: XLA escapes its quotes."""
    return name.replace("\\'", "'")


def _place_score(frames: Iterable[Frame], others: Iterable[Frame]) -> int:
    """How well two stacks of frames agree; 0 when one is unknown.

    -3 when the innermost lines differ; 1 when they are equal but not those that called them; 3 when all that both
    know are. Where columns are known, one more when they agree and one less when not.
    """
    pairs = list(zip(frames, others, strict=False))
    if not pairs:
        return 0
    same = [(a.file, a.line) == (b.file, b.line) for a, b in pairs]
    if not same[0]:
        return -3
    known = same.index(False) if False in same else len(same)
    # Where they begin: the partitioner loses where they end.
    columns = [(a.columns[0], b.columns[0]) for a, b in pairs[:known] if a.columns and b.columns]
    by_column = 0 if not columns else 1 if all(a == b for a, b in columns) else -1
    return (3 if known == len(same) else 1) + by_column


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
