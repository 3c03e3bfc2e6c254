"""The program that advice is about: XLA's, before partitioning, with what every part of the advice asks of it.

Dimensions that operations make of one another are one class, by the rules of the operations: a split of one is a split
of all, or data must move. Classes do not depend on shardings, so they hold for every changed copy, too. Not its job:
places to change (`sites`), or what may be written there (`specs`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from pjit_inspect.analyze.program.phases import LATER
from pjit_inspect.analyze.program.union_find import find_dimension_classes
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.opcodes import PRODUCTS
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.cause import Phase
from pjit_inspect.model.sharding.sharded_program import ShardedProgram, axis_name

_MOST_ADDED = 8
"""Most constraints that a changed copy has in a row and the program has not."""

Axes = tuple[str, ...]
Key = tuple[int, int]


class EditedProgram:
    """One program, the classes of its dimensions, and how the program splits each class."""

    def __init__(self, names: ValueNames, numbers: Sequence[int | None], trips: Mapping[int, int]) -> None:
        """`numbers` and `trips` are those of `handles.propagate.CopiedProgram`."""
        self.names = names
        self.program: ShardedProgram = names.program
        self.numbers = numbers
        self.phases: list[Phase] = [names.phase(op) for op in self.program.ops]
        self.runs: list[int] = []
        for op in self.program.ops:
            self.runs.append(1 if op.parent is None else self.runs[op.parent] * trips.get(op.parent, 1))
        self._classes = find_dimension_classes(self.program)
        self._brought: dict[object, frozenset[tuple[str, int]]] = {}

    @cached_property
    def is_differentiated(self) -> bool:
        """True if a constraint binds a gradient, too."""
        return any(phase in LATER for phase in self.phases)

    @cached_property
    def named(self) -> Mapping[tuple[str, tuple[Frame, ...]], list[int]]:
        """The operations by JAX's name and their frames, and by the name alone, with ().

        An argument's name stands for the operations that take it: newer XLA gives it to collectives that move one.
        """
        found: dict[tuple[str, tuple[Frame, ...]], list[int]] = defaultdict(list)
        for index, op in enumerate(self.program.ops):
            for frames in {op.frames, ()}:
                found[op.op_name, frames].append(index)
        for argument in self.program.inputs:
            found[argument.label, ()] += self.users(argument.value)
        return found

    def spec(self, value: int) -> Dimensions:
        """The spec of a value."""
        return self.program.values[value].spec

    def shape(self, value: int) -> tuple[int, ...]:
        """The global shape of a value."""
        return self.program.values[value].shape

    def whole_bytes(self, value: int) -> int:
        """Bytes of all of a value."""
        return self.held_bytes(value, ((),) * len(self.shape(value)))

    def held_bytes(self, value: int, spec: Dimensions | None = None) -> int:
        """Bytes of the largest piece of a value on one device, as it is split or as `spec` splits it.

        0 if it is no array of numbers.
        """
        entry = self.program.values[value]
        pieces = map(self.program.pieces, entry.spec if spec is None else spec)
        count = math.prod(-(-length // own) for length, own in zip(entry.shape, pieces, strict=False))
        return -(-count * (bits_of(entry.dtype) or 0) // 8)

    @cached_property
    def largest_bytes(self) -> int:
        """Bytes of the largest value."""
        return max(map(self.whole_bytes, range(len(self.program.values))), default=0)

    def classes(self, value: int) -> tuple[int, ...]:
        """The class of each dimension of a value."""
        return self._classes[value]

    @cached_property
    def splits(self) -> Mapping[int, Counter[Axes]]:
        """For each class, the axes that split it somewhere in the program -> bytes of the values that are split so."""
        found: dict[int, Counter[Axes]] = defaultdict(Counter)
        for index, value in enumerate(self.program.values):
            for own, axes in zip(self.classes(index), value.spec, strict=True):
                found[own][axes] += self.whole_bytes(index)
        return found

    @cached_property
    def specs_alike(self) -> Mapping[tuple[int, ...], dict[Dimensions, None]]:
        """For the classes of a value's dimensions, every sharding that a value of just these classes has."""
        found: dict[tuple[int, ...], dict[Dimensions, None]] = defaultdict(dict)
        for index, value in enumerate(self.program.values):
            found[self.classes(index)][value.spec] = None
        return found

    def fits(self, value: int, spec: Dimensions) -> bool:
        """True if a sharding names every axis once, and divides each dimension evenly."""
        axes = [axis_name(axis) for entry in spec for axis in entry]
        shape = self.shape(value)
        return len(set(axes)) == len(axes) and all(
            length % self.program.pieces(entry) == 0 for length, entry in zip(shape, spec, strict=True)
        )

    def users(self, value: int) -> Iterator[int]:
        """The operations that take a value."""
        return (index for index, _ in self.program.users.get(value, ()))

    @cached_property
    def batch(self) -> frozenset[int]:
        """Classes of dimensions that no weight has: of what there is more of in a larger batch.

        A weight is an argument that a product takes beside something computed, or that is looked up in.
        """
        weights: set[int] = set()
        for op in self.program.ops:
            if op.kind == "gather":
                weights |= self._of_argument(op.operands[0])
            elif op.kind in PRODUCTS and len(op.operands) == 2:
                given = [self._of_argument(value) for value in op.operands]
                weights |= set[int]().union(*given) if not all(given) else set()
        return frozenset(c for own in self._classes for c in own) - weights

    @cached_property
    def kept(self) -> frozenset[int]:
        """Classes that no product of the forward pass sums over and no weight has: they are those of the data.

        In the backward pass the data stand beside something computed, as weights do before.
        """
        others: set[int] = set()
        for index, op in enumerate(self.program.ops):
            if op.kind in PRODUCTS and op.rule is not None and self.phases[index] not in LATER:
                given = [self._of_argument(value) for value in op.operands]
                others |= set[int]().union(*given) if not all(given) else set()
                for value, dimensions in zip(op.operands, op.rule.operands, strict=False):
                    pairs = zip(self.classes(value), dimensions, strict=False)
                    others |= {c for c, factors in pairs if not set(factors).isdisjoint(op.rule.reduction)}
        return frozenset(c for own in self._classes for c in own) - others

    def piece(self, index: int) -> object:
        """The piece of source text of an op, by all calls that lead there; the op itself where nothing says."""
        op = self.program.ops[index]
        return (op.frames, op.spans[:1]) if op.frames else index

    def taken(self, index: int) -> list[int]:
        """The values that the piece of an op takes from other pieces, in order."""
        piece = self.piece(index)
        given = (value for own in self._pieces[piece, self.phases[index]] for value in self.program.ops[own].operands)
        made = {value: self.program.values[value].op for value in given}
        return [value for value, maker in made.items() if maker is None or self.piece(maker) != piece]

    def brought(self, index: int, depth: int = 1) -> frozenset[tuple[str, int]]:
        """The axes, each with the class it splits, of what the piece of an op takes from other pieces.

        With a `depth`, of what those take, too.
        """
        key = self.piece(index), self.phases[index], depth
        if key not in self._brought:
            found, makers = set[tuple[str, int]](), dict[object, int]()
            for value in self.taken(index):
                own = zip(self.classes(value), self.spec(value), strict=True)
                found |= {(axis, c) for c, axes in own for axis in axes}
                maker = self.program.values[value].op
                if maker is not None:
                    makers[self.piece(maker), self.phases[maker]] = maker
            # One op stands for its piece.
            for maker in makers.values() if depth > 1 else ():
                found |= self.brought(maker, depth - 1)
            self._brought[key] = frozenset(found)
        return self._brought[key]

    @cached_property
    def _pieces(self) -> Mapping[object, list[int]]:
        """The ops of each piece in each phase."""
        found: dict[object, list[int]] = defaultdict(list)
        for index, phase in enumerate(self.phases):
            found[self.piece(index), phase].append(index)
        return found

    def _of_argument(self, value: int) -> set[int]:
        """The classes of a value that is an argument or a view of one; of any other none."""
        return set(self.classes(value)) if self.names.argument(value) else set()


def split_as(program: ShardedProgram, other: ShardedProgram) -> ShardedProgram:
    """A program with the shardings of a changed copy, which may have more constraints, or fewer.

    What a constraint was put on is split as the constraint asks.
    """
    specs, start = dict[int, Dimensions](), 0
    borders = ((program.inputs, other.inputs), (program.outputs, other.outputs))
    pairs = [pair for own, its in borders for pair in zip(own, its, strict=False)]
    specs |= {one.value: other.values[two.value].spec for one, two in pairs}
    for op in program.ops:
        ahead = range(start, min(start + _MOST_ADDED, len(other.ops)))
        at = next((k for k in ahead if (other.ops[k].kind, other.ops[k].op_name) == (op.kind, op.op_name)), None)
        if at is None:
            continue
        start, twin = at + 1, other.ops[at]
        for own, its in ((op.results, twin.results), (op.operands, twin.operands)):
            specs |= {one: other.values[two].spec for one, two in zip(own, its, strict=False)}
    values = tuple(
        replace(value, spec=specs[index]) if len(specs.get(index, ())) == len(value.shape) else value
        for index, value in enumerate(program.values)
    )
    outputs = tuple(replace(one, spec=two.spec) for one, two in zip(program.outputs, other.outputs, strict=False))
    return replace(program, values=values, outputs=outputs or program.outputs, meshes=other.meshes)
