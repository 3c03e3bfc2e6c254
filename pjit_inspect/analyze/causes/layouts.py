"""Follows the piece of an array that each device holds through collectives, one after the other.

A layout is worked out device by device from a sharding, followed through collectives in either direction by their
groups, and read as a sharding again. It is exact: a layout that a collective cannot have made, or that no sharding
gives, is None. Not its job: which array a collective moves, and for which operation.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.program.mesh_axes import find_axes_in
from pjit_inspect.model.program.mesh import Dimensions, Mesh, local_shape
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedProgram, Taker, axis_name

Way = Sequence[PartitionedCollective]
"""Collectives that move one array one after the other."""


_MOST_SPECS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPieces:
    """The piece of an array that each device holds.

    Attributes:
      sizes: the mesh, as the size of each axis.
      shape: the shape of the whole array.
      counts: the number of pieces along each dimension.
      numbers: for each device and dimension, the number of its piece.
    """

    sizes: Mapping[str, int]
    shape: tuple[int, ...]
    counts: tuple[int, ...]
    numbers: np.ndarray

    @classmethod
    def of(cls, spec: Dimensions, shape: tuple[int, ...], sizes: Mapping[str, int]) -> HeldPieces | None:
        """The layout of a sharding; None if the mesh lacks one of its axes."""
        if not {axis_name(axis) for axes in spec for axis in axes} <= sizes.keys():
            return None
        counts, numbers = list[int](), np.zeros((int(np.prod(list(sizes.values()))), len(spec)), np.int64)
        for dimension, axes in enumerate(spec):
            digits = [_digit(axis, sizes) for axis in axes]
            counts.append(int(np.prod([size for size, _ in digits])))
            for size, digit in digits:
                numbers[:, dimension] = numbers[:, dimension] * size + digit
        return cls(sizes=sizes, shape=shape, counts=tuple(counts), numbers=numbers)

    @property
    def pieces(self) -> tuple[int, ...]:
        """The shape of the largest piece."""
        return local_shape(self.shape, self.counts)

    def holds(self, spec: Dimensions | None) -> bool:
        """True if every device has its piece by a sharding already: then no data must move for it."""
        other = None if spec is None else HeldPieces.of(spec, self.shape, self.sizes)
        if other is None:
            return False
        times = np.array([new // max(own, 1) for own, new in zip(self.counts, other.counts, strict=True)], np.int64)
        is_finer = (np.array(self.counts) * times == other.counts).all()
        return bool(is_finer) and np.array_equal(self.numbers, other.numbers // np.maximum(times, 1))

    @property
    def spec(self) -> Dimensions | None:
        """The sharding that gives this layout; None for none."""
        parts = [(name, before, factor) for name, size in self.sizes.items() for before, factor in _factors(size)]
        digits = [_digit(f"{name}:({before}){factor}", self.sizes)[1] for name, before, factor in parts]
        found = list[tuple[str, ...]]()
        for dimension, count in enumerate(self.counts):
            column, rest, own = self.numbers[:, dimension], count, list[tuple[str, int, int]]()
            # A part of an axis contributes its digit times the number of pieces behind it.
            strides = [int(column[np.flatnonzero(_is_unit(digits, place))[0]]) for place in range(len(parts))]
            total = np.zeros_like(column)
            for place in sorted(range(len(parts)), key=lambda place: -strides[place]):
                if strides[place]:
                    rest //= parts[place][2]
                    own.append(parts[place])
                    total += digits[place] * rest
            if rest != 1 or not np.array_equal(total, column):
                return None
            found.append(_merged(own, self.sizes))
        return tuple(found)

    def coarser(self, pieces: tuple[int, ...]) -> HeldPieces | None:
        """The layout of larger pieces, of this shape, of which these are slices: its first axes; None for none."""
        spec, found = self.spec, list[tuple[str, ...]]()
        for axes, length, piece in zip(spec or (), self.shape, pieces, strict=False):
            outer = (axes[:k] for k in range(len(axes) + 1))
            count = {own: math.prod(_digit(axis, self.sizes)[0] for axis in own) for own in outer}
            found += [own for own in count if -(-length // count[own]) == piece][-1:]
        is_one = spec is not None and len(found) == len(spec) == len(pieces)
        return HeldPieces.of(tuple(found), self.shape, self.sizes) if is_one else None

    # ------------------------------------------------------------ through a collective

    def after(self, edge: PartitionedCollective, pieces: tuple[int, ...] | None) -> HeldPieces | None:
        """The layout behind a collective; `pieces` is the shape of what it yields, None if unknown."""
        if not self.is_given_to(edge):
            return None
        if edge.kind == "collective-permute":
            return self._permuted(edge, source=0)
        whole = self._joined(edge)
        if edge.kind == "all-gather" or whole is None:
            return whole
        return None if edge.kind != "all-to-all" or pieces is None else whole.cut(edge, pieces)

    def before(self, edge: PartitionedCollective, pieces: tuple[int, ...] | None) -> HeldPieces | None:
        """The layout in front of a collective that yields this one; `pieces` is the shape of its pieces there."""
        if edge.kind == "collective-permute":
            found = self._permuted(edge, source=1)
        elif edge.kind == "all-gather":
            found = self.cut(edge, edge.given_shape)
        else:
            whole = self._joined(edge) if edge.kind == "all-to-all" and pieces is not None else None
            found = None if whole is None or pieces is None else whole.cut(edge, pieces)
        return found if found is not None and found.is_given_to(edge) else None

    def is_given_to(self, edge: PartitionedCollective) -> bool:
        """True if its pieces are as large as what a collective is given; XLA reshapes those of an all-to-all."""
        if edge.kind == "all-to-all":
            return edge.elements == int(np.prod(self.pieces))
        return _bare(edge.given_shape) == _bare(self.pieces)

    def _with(self, counts: Sequence[int], numbers: np.ndarray) -> HeldPieces:
        return HeldPieces(sizes=self.sizes, shape=self.shape, counts=tuple(counts), numbers=numbers)

    def _groups(self, edge: PartitionedCollective) -> np.ndarray | None:
        """The groups, one in a row; None if they are not all devices in groups of one size."""
        count = len(self.numbers)
        groups = edge.groups or (tuple(range(count)),)
        if len({len(group) for group in groups}) != 1 or sorted(d for own in groups for d in own) != [*range(count)]:
            return None
        return np.array(groups)

    def _permuted(self, edge: PartitionedCollective, source: int) -> HeldPieces | None:
        pairs = np.array(edge.groups).reshape(-1, 2)
        given, taken = pairs[:, source], pairs[:, 1 - source]
        if any(sorted(own.tolist()) != [*range(len(self.numbers))] for own in (given, taken)):
            return None
        numbers = self.numbers.copy()
        numbers[taken] = self.numbers[given]
        return self._with(self.counts, numbers)

    def _joined(self, edge: PartitionedCollective) -> HeldPieces | None:
        """Each device has the pieces of its group, which must be neighbours, in their order."""
        groups = self._groups(edge)
        if groups is None:
            return None
        own = self.numbers[groups]
        spans = [int(span) for span in own[0].max(axis=0) - own[0].min(axis=0) + 1]
        if int(np.prod(spans)) != groups.shape[1] or any(c % s for c, s in zip(self.counts, spans, strict=True)):
            return None
        numbers = self.numbers // np.array(spans, np.int64)
        places = np.ravel_multi_index(tuple((own % np.array(spans, np.int64)).transpose(2, 0, 1)), spans)
        is_joined = (numbers[groups] == numbers[groups][:, :1]).all() and (places == np.arange(len(groups[0]))).all()
        return self._with([c // s for c, s in zip(self.counts, spans, strict=True)], numbers) if is_joined else None

    def cut(self, edge: PartitionedCollective, pieces: tuple[int, ...]) -> HeldPieces | None:
        """Each device of a group keeps a piece of this shape of what all of it have, in their order."""
        groups = self._groups(edge)
        if groups is None:
            return None
        found = list[HeldPieces]()
        for dimension in range(len(self.shape)):
            counts, numbers = list(self.counts), self.numbers.copy()
            counts[dimension] *= groups.shape[1]
            numbers[groups, dimension] = numbers[groups, dimension] * groups.shape[1] + np.arange(groups.shape[1])
            found.append(self._with(counts, numbers))
        fitting = [own for own in found if _bare(own.pieces) == _bare(pieces)]
        return fitting[0] if len(fitting) == 1 else None


def _bare(shape: Sequence[int]) -> tuple[int, ...]:
    """A shape without dimensions of length 1: XLA adds some."""
    return tuple(length for length in shape if length != 1)


def _gathered(edge: PartitionedCollective) -> list[tuple[int, ...]]:
    """The shapes that an all-gather may yield, dimension by dimension."""
    given, size = edge.given_shape, edge.group_size
    return [(*given[:k], length * size, *given[k + 1 :]) for k, length in enumerate(given)]


def _digit(axis: str, sizes: Mapping[str, int]) -> tuple[int, np.ndarray]:
    """The size of an axis or a part of one, and the place of each device along it."""
    name, _, part = axis.partition(":(")
    before, _, count = part.partition(")") if part else ("1", "", str(sizes[name]))
    size, inside = int(count), sizes[name] // (int(before) * int(count))
    shape = tuple(sizes.values())
    places = np.indices(shape).reshape(len(shape), -1)[list(sizes).index(name)]
    return size, places // max(inside, 1) % size


def _is_unit(digits: Sequence[np.ndarray], place: int) -> np.ndarray:
    """The devices whose digit is 1 at one place, and 0 at all others."""
    own = [digit == (k == place) for k, digit in enumerate(digits)]
    return np.logical_and.reduce(own)


def _factors(size: int) -> list[tuple[int, int]]:
    """The prime parts of an axis, outermost first, each with the number of devices before it."""
    found, before, factor = list[tuple[int, int]](), 1, 2
    while size > 1:
        if size % factor:
            factor += 1
            continue
        found.append((before, factor))
        before, size = before * factor, size // factor
    return found


def _merged(parts: Sequence[tuple[str, int, int]], sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The axes of some parts; those that follow each other in one axis are one."""
    merged = list[tuple[str, int, int]]()
    for name, before, size in parts:
        if merged and merged[-1][0] == name and merged[-1][1] * merged[-1][2] == before:
            name, before, last = merged.pop()
            size *= last
        merged.append((name, before, size))
    return tuple(name if size == sizes[name] else f"{name}:({before}){size}" for name, before, size in merged)


class Ways:
    """The ways of one program: which collectives move an array one after the other, from and to which layouts."""

    def __init__(self, program: ShardedProgram) -> None:
        self._program = program
        # The positions of a mesh are the numbers of the partitions.
        self._meshes = [
            Mesh(axis_names=tuple(own), shape=tuple(own.values()), device_ids=tuple(range(math.prod(own.values()))))
            for own in program.meshes
        ]
        self._numbers = {id(edge): number for number, edge in enumerate(program.collectives)}
        self._feeders: defaultdict[int, list[int]] = defaultdict(list)
        for number, edge in enumerate(program.collectives):
            for behind in edge.feeds:
                self._feeders[behind].append(number)

    def axes(self, edge: PartitionedCollective) -> frozenset[str] | None:
        """The mesh axes that a collective goes over; None if its groups follow none."""
        found = find_axes_in(edge.groups, self._meshes, is_permute=edge.kind == "collective-permute")
        return next((frozenset(map(axis_name, own)) for own in found.values()), None)

    def of(self, edge: PartitionedCollective, taker: Taker | None = None) -> list[PartitionedCollective]:
        """The way that a collective is of, up to a taker; it ends where it is not known which of several is next.

        A sum changes no layout: it is left out, and is a way alone.
        """
        return [edge] if edge.kind in SUMS else [own for own in self._chain(edge, taker) if own.kind not in SUMS]

    def next(self, edge: PartitionedCollective) -> list[PartitionedCollective]:
        """The collectives that go on with what one yields, if there are several."""
        own, collectives = self._numbers[id(edge)], self._program.collectives
        found = [collectives[k] for k in edge.feeds if collectives[k].kind not in SUMS and self._before(k) == own]
        return found if len(found) > 1 else []

    def sums(self, edge: PartitionedCollective) -> list[PartitionedCollective]:
        """The sums of one array for one operation, one after the other, that a sum is of."""
        return [own for own in self._chain(edge) if own.kind in SUMS and own.visited == edge.visited]

    def _chain(self, edge: PartitionedCollective, taker: Taker | None = None) -> list[PartitionedCollective]:
        collectives = self._program.collectives
        chain = [self._numbers[id(edge)]]
        while (before := self._before(chain[0])) not in (None, *chain):
            chain.insert(0, before)
        while behind := [k for k in collectives[chain[-1]].feeds if taker is None or taker in collectives[k].takers]:
            if len(behind) > 1 or behind[0] in chain or self._before(behind[0]) != chain[-1]:
                break
            chain.append(behind[0])
        return [collectives[k] for k in chain]

    def _before(self, number: int) -> int | None:
        """The one collective that yields the array with which this one goes on; None if it is not known which."""
        found = [k for k in self._feeders[number] if self._goes_on(k, number)]
        return found[0] if len(found) == 1 else None

    def _goes_on(self, number: int, behind: int) -> bool:
        """True if a collective only goes on with what another yields of the same array; a sum may mask it."""
        edge, step = (self._program.collectives[k] for k in (number, behind))
        is_first = step.kind in SUMS and edge.makers[:1] == step.makers[:1] != ()
        return edge.dtype == step.dtype and (is_first or edge.makers == step.makers)

    def layout(self, value: int, spec: Dimensions | None = None) -> HeldPieces | None:
        """The layout of a value by its sharding, or by another; None if no mesh has its axes."""
        own = self._program.values[value]
        found = (HeldPieces.of(own.spec if spec is None else spec, own.shape, sizes) for sizes in self._program.meshes)
        return next(filter(None, found), None)

    def behind(self, way: Way, layout: HeldPieces | None, pieces: tuple[int, ...]) -> HeldPieces | None:
        """The layout that a way leads to; None if unknown. `pieces` is the shape of the pieces there."""
        for step, yielded in zip(way, (*(step.given_shape for step in way[1:]), pieces), strict=True):
            layout = None if layout is None else layout.after(step, yielded)
        return layout

    def before(self, way: Way, layout: HeldPieces | None, pieces: tuple[int, ...]) -> HeldPieces | None:
        """The layout that a way begins with; None if unknown. `pieces` is the shape of the pieces there."""
        for number, step in reversed([*enumerate(way)]):
            # XLA reshapes what an all-to-all is given.
            is_reshaped = step.kind == "all-to-all" and way[number - 1].kind == "collective-permute"
            given = pieces if not number else way[number - is_reshaped].given_shape
            found = None if layout is None else layout.before(step, given)
            is_gathered = step.kind == "all-gather" and [own.kind for own in way[number + 1 : number + 2]] != [
                step.kind
            ]
            if layout is not None and found is None and is_gathered:
                # A slice of what was gathered may be all that goes on, but is not gathered again.
                wholes = filter(None, map(layout.coarser, _gathered(step)))
                found = next(filter(None, (whole.before(step, given) for whole in wholes)), None)
            before = self._before(self._numbers[id(step)]) if number else None
            summed = None if before is None else self._program.collectives[before]
            layout = found
            if found is not None and summed is not None and summed.kind in SUMS:
                # Nor need all of a sum go on.
                layout = found.coarser(summed.given_shape)
        return layout

    def leads(self, way: Way, value: int, end: HeldPieces | None, wanted: Dimensions | None) -> bool:
        """True if a way brings a value from its own sharding to another, by its end, or by the other followed back."""
        if wanted is None or (end is not None and end.holds(wanted)):
            return wanted is not None
        own, start = self.layout(value), self.before(way, self.layout(value, wanted), way[0].given_shape)
        return own is not None and start is not None and own.holds(start.spec)

    def found(self, way: Way, value: int, pieces: tuple[int, ...]) -> Dimensions | None:
        """The one sharding over whole axes, in pieces of this shape, that a way leads to; None for none or several."""
        shape = self._program.values[value].shape
        if len(shape) != len(pieces):
            return None
        specs = list(itertools.islice(self._specs(tuple(zip(shape, pieces, strict=True)), ()), _MOST_SPECS + 1))
        # Of more than can be looked at, none is known to be the only one.
        found = [spec for spec in specs if self.leads(way, value, None, spec)] if len(specs) <= _MOST_SPECS else []
        return found[0] if len(found) == 1 else None

    def _specs(self, left: Sequence[tuple[int, int]], begun: Dimensions) -> Iterator[Dimensions]:
        """The shardings, begun so, that cut each dimension that is left, by its length, into pieces of its size."""
        if not left:
            yield begun
            return
        (length, piece), *rest = left
        if length == piece:
            yield from self._specs(rest, (*begun, ()))
            return
        used = {axis for axes in begun for axis in axes}
        # An axis of size 1 splits nothing.
        free = [axis for axis, size in self._program.sizes.items() if size > 1 and axis not in used]
        for count in range(len(free) + 1):
            for axes in itertools.permutations(free, count):
                if -(-length // self._program.pieces(axes)) == piece:
                    yield from self._specs(rest, (*begun, axes))

    def put_back(self, way: Way) -> tuple[Way, Dimensions | None]:
        """The first collectives of a way, which put a result into its sharding, and how it was computed, if known.

        It was computed as the operands are split: their shardings and the way followed back say so. If these are no
        proof, the names are: XLA made the first for what makes the array, and the others for what takes it. If these
        do not differ, the sizes of the pieces on the way are.
        """
        value, shape, given = way[0].makers[0], way[0].made_shape, way[0].given_shape
        own, pieces = self._program.values[value].spec, self._program.local_shape(value)
        # XLA reshapes what an all-to-all is given.
        given = shape if math.prod(given) == math.prod(shape) else given
        named = sum(1 for _ in itertools.takewhile(lambda step: step.visited == (self._program.values[value].op,), way))
        # XLA of JAX 0.12 may name all of them after what moves: then its takers must have the pieces, too.
        is_taken_so = shape != pieces and all(taker.shape == pieces for taker in way[-1].takers)
        computed = None
        for count in range(len(way), 0, -1):
            start = self.before(way[:count], self.layout(value), given)
            whole = None if start is None else start.coarser(shape)
            computed = None if whole is None else whole.spec
            is_named = count == named and (count < len(way) or is_taken_so)
            if computed not in (None, own) and (is_named or self._is_as_operands(value, computed)):
                return way[:count], computed
        if shape == pieces:
            return [], computed if len(way) == 1 else None
        if 0 < named < len(way):
            return way[:named], None
        back = list(itertools.takewhile(lambda step: step is way[0] or step.given_shape != pieces, way))
        # The only one is that, if any.
        return back, computed if len(way) == 1 else None

    def _is_as_operands(self, value: int, spec: Dimensions) -> bool:
        """True if a sharding of an operation's result is that of its operands."""
        op = self._program.op_of(value)
        if op is None or op.rule is None or len(op.rule.results) != len(op.results):
            return False
        given: defaultdict[tuple[str, ...], set[tuple[str, ...]]] = defaultdict(set)
        for operand, factors in zip(op.operands, op.rule.operands, strict=False):
            for axes, factor in zip(self._program.values[operand].spec, factors, strict=False):
                given[factor].add(axes)
        made = op.rule.results[op.results.index(value)]
        return len(made) == len(spec) and all(not own or own in given[f] for own, f in zip(spec, made, strict=True))
