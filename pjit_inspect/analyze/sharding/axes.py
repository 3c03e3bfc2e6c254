"""Finds the mesh axes that split each factor of an op, and where each axis of a value came from.

A factor is a dimension the op's arrays share: `i`, `j` and `k` of a matrix product. A dimension that a reshape merges
or cuts up has several. An axis is followed along equal factors: from operands to results first, as data flows; what has
its axes from nothing that was there before has them from what comes after. Some operations work on all of a dimension
at once. Not its job: what follows where the arrays
disagree (`analyze.sharding.needs`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

from pjit_inspect.model.program.opcodes import MANUAL_BORDERS, REQUESTS
from pjit_inspect.model.sharding.sharded_program import (
    AxisOrigin,
    ShardedOp,
    ShardedProgram,
    ShardingRule,
    axis_name,
)

_OF_MATRICES = frozenset((
    "cholesky", "lu", "geqrf", "svd", "eigh", "eig", "schur", "hessenberg", "tridiagonal", "triangular_solve",
))  # fmt: skip
"""JAX's names of what takes matrices apart, or solves with them: these are the last two dimensions of its operands."""
_MOST_ROUNDS = 4
_Label = dict[str, AxisOrigin]
_Pair = tuple[int, int, frozenset[str]]
"""Two arrays of an operation, and the axes that split an equal factor in both."""
Axes = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Array:
    """One operand or result of an op: its position, its index among the program's values, and the factors it has.

    Attributes:
      number: the position among the operands, or among the results.
      value: the index in `ShardedProgram.values`.
      is_result: True for a result.
      axes: factor -> the mesh axes that split it here, outermost first; factors it has and that are not split, too.
      dimension: factor -> the dimension of the array it is (part of).
      left: dimension -> axes there that split no factor evenly.
    """

    number: int
    value: int
    is_result: bool
    axes: dict[str, Axes] = field(default_factory=dict)
    dimension: dict[str, int] = field(default_factory=dict)
    left: dict[int, Axes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorAxes:
    """All arrays of one op with a sharding rule."""

    rule: ShardingRule
    operands: tuple[Array, ...]
    results: tuple[Array, ...]

    @property
    def arrays(self) -> tuple[Array, ...]:
        """Operands, then results."""
        return (*self.operands, *self.results)

    def result_with(self, factor: str) -> Array | None:
        """The first result that has a factor; None when it is summed away."""
        return next((array for array in self.results if factor in array.axes), None)


def find_factor_axes(program: ShardedProgram, op: ShardedOp) -> FactorAxes | None:
    """The factors of `op`, split as its arrays are; None when it has no rule, or one that does not fit it."""
    rule = op.rule
    if rule is None or len(rule.operands) != len(op.operands) or len(rule.results) != len(op.results):
        return None
    arrays = [
        tuple(
            _array(program, rule, dimensions, Array(number=number, value=value, is_result=is_result))
            for number, (dimensions, value) in enumerate(zip(factors, values, strict=True))
        )
        for factors, values, is_result in ((rule.operands, op.operands, False), (rule.results, op.results, True))
    ]
    return FactorAxes(rule=rule, operands=arrays[0], results=arrays[1])


def _array(program: ShardedProgram, rule: ShardingRule, dimensions: tuple[tuple[str, ...], ...], array: Array) -> Array:
    spec = program.values[array.value].spec
    for position, factors in enumerate(dimensions):
        axes = list(spec[position]) if position < len(spec) else []
        for factor in factors:
            taken = axes if len(factors) == 1 else _fitting(program, axes, rule.sizes.get(factor, 1))
            array.axes[factor], array.dimension[factor] = tuple(taken), position
            axes = axes[len(taken) :]
        if axes:
            array.left[position] = tuple(axes)
    return array


def _fitting(program: ShardedProgram, axes: list[str], size: int) -> list[str]:
    """The first axes that together cut a factor of this length evenly."""
    taken: list[str] = []
    for axis in axes:
        pieces = program.length(axis)
        if size <= 1 or size % pieces:
            break
        taken.append(axis)
        size //= pieces
    return taken


def with_origins(program: ShardedProgram) -> ShardedProgram:
    """The program, each of whose values knows where its axes came from, as far as that can be followed."""
    labels = _AxisFinder(program).labels()
    values = tuple(
        replace(value, origins=tuple(own[axis] for axis in dict.fromkeys(map(axis_name, value.axes)) if axis in own))
        if (own := labels.get(index))
        else value
        for index, value in enumerate(program.values)
    )
    return replace(program, values=values)


@dataclass(slots=True)
class _AxisFinder:
    program: ShardedProgram
    found: dict[int, _Label] = field(default_factory=lambda: defaultdict(dict))
    _through: list[list[_Pair]] = field(default_factory=list)
    _beside: list[list[_Pair]] = field(default_factory=list)
    _changed: bool = False

    def labels(self) -> dict[int, _Label]:
        for op in self.program.ops:
            self._connect(op)
        for number, boundary in enumerate(self.program.inputs):
            if boundary.spec is not None:
                self._set(boundary.value, AxisOrigin(axis="", kind="input", index=number), None)
        # A constraint has asked for what no argument brings; what one brings into a region is known a round later.
        self._repeat(partial(self._forward, with_requests=False))
        self._repeat(self._forward)
        self._repeat(self._backward, self._forward)
        return self.found

    def _repeat(self, *steps: Callable[[], None]) -> None:
        for _ in range(_MOST_ROUNDS):
            self._changed = False
            for step in steps:
                step()
            if not self._changed:
                break

    def _axes(self, value: int) -> frozenset[str]:
        return frozenset(map(axis_name, self.program.values[value].axes))

    def _set(self, value: int, origin: AxisOrigin, axes: frozenset[str] | None) -> None:
        """Says where axes of a value came from, where nothing has said so yet; None for all it has."""
        for axis in self._axes(value) if axes is None else axes & self._axes(value):
            if axis not in self.found[value]:
                self.found[value][axis] = AxisOrigin(axis=axis, kind=origin.kind, index=origin.index)
                self._changed = True

    def _copy(self, source: int, target: int, axes: frozenset[str]) -> None:
        own = self.found.get(source)
        for axis in axes if own else ():
            if own and axis in own and axis not in self.found[target]:
                self.found[target][axis] = own[axis]
                self._changed = True

    def _forward(self, *, with_requests: bool = True) -> None:
        for index, op in enumerate(self.program.ops):
            for source, target, axes in self._through[index]:
                self._copy(source, target, axes)
            if with_requests and op.kind in REQUESTS:
                for result in op.results:
                    self._set(result, AxisOrigin(axis="", kind="constraint", index=index), None)
        for outer, inner in self.program.links:
            self._copy(outer, inner, self._shared(outer, inner))

    def _backward(self) -> None:
        for number, boundary in enumerate(self.program.outputs):
            if boundary.spec is not None:
                # What is returned may be split over more than what was asked for.
                asked = frozenset(axis_name(axis) for axes in boundary.spec for axis in axes)
                self._set(boundary.value, AxisOrigin(axis="", kind="output", index=number), asked)
        for outer, inner in reversed(self.program.links):
            self._copy(inner, outer, self._shared(outer, inner))
        for index in range(len(self.program.ops) - 1, -1, -1):
            # From the results, then from the other operands.
            for source, target, axes in self._through[index]:
                self._copy(target, source, axes)
            for source, target, axes in self._beside[index]:
                self._copy(target, source, axes)
                self._copy(source, target, axes)

    def _shared(self, one: int, other: int) -> frozenset[str]:
        a, b = self.program.values[one], self.program.values[other]
        pairs = zip(a.spec, b.spec, strict=False)
        return frozenset(axis_name(axis) for ours, theirs in pairs for axis in set(ours) & set(theirs))

    # ------------------------------------------------------------ what hangs together in one op

    def _connect(self, op: ShardedOp) -> None:
        """Notes which axes its operands share with its results, and with each other."""
        through: list[_Pair] = []
        beside: list[_Pair] = []
        if op.kind in ("optimization_barrier", *REQUESTS) or op.detail in MANUAL_BORDERS:
            through = [(a, b, self._shared(a, b)) for a, b in zip(op.operands, op.results, strict=False)]
        elif (factors := find_factor_axes(self.program, op)) is not None:
            through = [(a.value, b.value, _equal(a, b)) for b in factors.results for a in factors.operands]
            siblings = combinations(factors.operands, 2)
            beside = [(a.value, b.value, axes) for a, b in siblings if (axes := _equal(a, b))]
        self._through.append([pair for pair in through if pair[2]])
        self._beside.append(beside)


def _equal(one: Array, other: Array) -> frozenset[str]:
    """The axes that split a factor which both arrays have, in the same order."""
    return frozenset(
        axis_name(axis)
        for factor, axes in one.axes.items()
        if axes and factor in other.axes
        for axis, same in zip(axes, other.axes[factor], strict=False)
        if axis == same
    )


# ---------------------------------------------------------------- what an op works on all of at once


def dependent_parts(program: ShardedProgram, op: ShardedOp) -> frozenset[tuple[int, int]]:
    """The dimensions that an op works on all of at once, as operand and dimension: a Fourier transform's, a matrix's.

    Empty where that is not known. Whoever has pieces along one of them cannot work on these alone.
    """
    if op.rule is not None:
        needed = set(op.rule.need_replication)
        operands = enumerate(op.rule.operands)
        return frozenset((k, own) for k, dims in operands for own, factors in enumerate(dims) if needed & set(factors))
    if op.kind != "custom_call" or op.op_name.rpartition("/")[2] not in _OF_MATRICES:
        return frozenset()
    ranks = [len(program.values[value].shape) for value in op.operands]
    return frozenset((number, own) for number, rank in enumerate(ranks) for own in range(max(rank - 2, 0), rank))


def dependent_axes(program: ShardedProgram, ops: Iterable[ShardedOp]) -> frozenset[str]:
    """The mesh axes that split such dimensions of some ops."""
    return frozenset(
        axis_name(axis)
        for op in ops
        for operand, number in dependent_parts(program, op)
        for axis in program.values[op.operands[operand]].spec[number]
    )


def has_independent(program: ShardedProgram, op: ShardedOp) -> bool:
    """True if an op has a dimension along which its pieces can be worked on alone, as a batch of matrices has."""
    parts = dependent_parts(program, op)
    shapes = [program.values[value].shape for value in op.operands]
    return any(
        (operand, number) not in parts and length > 1
        for operand, shape in enumerate(shapes)
        for number, length in enumerate(shape)
    )
