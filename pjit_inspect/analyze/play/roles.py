"""Finds the roles of array dimensions by the dataflow: the batch, and dimensions of the weights.

Dimensions are in one class if an operation makes one from the other: splitting both alike moves nothing there. Names
are ignored. Not its job: layouts (`layouts`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.analyze.program.phases import LATER, find_phase
from pjit_inspect.analyze.program.union_find import find_dimension_classes
from pjit_inspect.model.program.opcodes import VIEWS, operations
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram

_SEEN_THROUGH = VIEWS | operations("convert", "request", "slice", "broadcast")
_MOST_STEPS = 64
_BYTES = {"f64": 8, "s64": 8, "u64": 8, "f32": 4, "s32": 4, "u32": 4, "bf16": 2, "f16": 2, "s16": 2, "u16": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """One operand or result of a product.

    Attributes:
      classes: the classes of its dimensions.
      shape: its global shape.
      argument: the argument it is a view of; None for a computed array.
      bytes: bytes of one element.
    """

    classes: tuple[int, ...]
    shape: tuple[int, ...]
    argument: str | None
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One matrix product.

    Attributes:
      lhs, rhs, out: its arrays.
      summed: the contracted classes.
      runs: its runs per call; loops of unknown length count once.
    """

    lhs: Operand
    rhs: Operand
    out: Operand
    summed: frozenset[int]
    runs: int

    @property
    def flops(self) -> int:
        """Operations of all devices together."""
        summed = math.prod(
            length for own, length in zip(self.lhs.classes, self.lhs.shape, strict=True) if own in self.summed
        )
        return 2 * math.prod(self.out.shape) * summed * self.runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """The result of an operation, on which a constraint can be put.

    Attributes:
      name: its place and kind ("train.py:41 dot_general").
      classes: the classes of its dimensions.
      shape: its global shape.
      is_lookup: whether the operation is a table lookup.
    """

    name: str
    classes: tuple[int, ...]
    shape: tuple[int, ...]
    is_lookup: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The classes of a program's dimensions.

    Attributes:
      arguments: path -> the class of each dimension.
      parameters: the paths of weights: differentiated, or one side of a product; including frozen ones.
      batch: classes of the data's dimensions, the most frequent in products first.
      inner: the classes of the weights' dimensions, most bytes first.
      products: every matrix product.
      constraints: operation -> the class of each dimension of the constrained array.
      makers: operations before differentiation that multiply with a weight, or look one up -> the class of each
        dimension of the result, and whether it is a lookup.
      has_convolutions: whether there are products outside `products`.
    """

    arguments: Mapping[str, tuple[int, ...]]
    parameters: frozenset[str]
    batch: tuple[int, ...]
    inner: tuple[int, ...]
    products: tuple[Product, ...]
    constraints: Mapping[int, tuple[int, ...]]
    makers: Mapping[int, tuple[tuple[int, ...], bool]]
    has_convolutions: bool = False


def find_roles(
    program: ShardedProgram,
    paths: Sequence[str],
    trips: Mapping[int, int],
    differentiated: Collection[str],
    state: Collection[str],
) -> Roles:
    """The roles in a program.

    Args:
      program: before partitioning.
      paths: the user's names of its arguments, in order.
      trips: loop in `program.ops` -> its number of turns.
      differentiated: the arguments that differentiated code uses.
      state: the arguments whose next value is a result, or whose gradient is.
    """
    classes = find_dimension_classes(program)
    arguments = {path: classes[entry.value] for path, entry in zip(paths, program.inputs, strict=False)}
    values = {entry.value: path for path, entry in zip(paths, program.inputs, strict=False)}
    roots = _Roots(program, values)
    products = tuple(
        _product(program, op, classes, roots, _runs(program, index, trips))
        for index, op in enumerate(program.ops)
        if op.kind == "dot_general" and op.rule is not None and len(op.operands) == 2
    )
    uses = Counter(own for product in products for own in {*product.lhs.classes, *product.rhs.classes})
    parameters = _parameters(arguments, products, differentiated, state)
    own_batch = _batch(
        arguments,
        [path for path in arguments if path not in parameters],
        uses,
        _weights(program, paths, arguments, parameters),
    )
    parameters |= _frozen(arguments, products, own_batch[:1]) - frozenset(state)
    inner = _weights(program, paths, arguments, parameters)
    products = _with_weights(program, products, paths, arguments, parameters)
    data = [path for path in arguments if path not in parameters]
    return Roles(
        arguments=arguments,
        parameters=parameters,
        batch=_batch(arguments, data, uses, inner),
        inner=inner,
        products=products,
        constraints={
            index: classes[op.results[0]]
            for index, op in enumerate(program.ops)
            if op.kind == "sharding_constraint" and op.results
        },
        makers={
            index: (classes[op.results[0]], op.kind == "gather")
            for index, op in enumerate(program.ops)
            if op.kind in ("dot_general", "gather")
            and not op.manual
            and find_phase(op.op_name) not in LATER
            and any(roots.of(value) in parameters for value in op.operands)
        },
        has_convolutions=any(op.kind == "convolution" for op in program.ops),
    )


def _parameters(
    arguments: Mapping[str, tuple[int, ...]],
    products: Sequence[Product],
    differentiated: Collection[str],
    state: Collection[str],
) -> frozenset[str]:
    """Weights: differentiated arguments that are returned changed, or else one side of a product.

    Where nothing is, an argument is data that meets another argument on the left of a product; the rest are weights.
    """
    found = frozenset(differentiated) & frozenset(state) & frozenset(arguments)
    if found:
        return found
    sides = [(product.lhs.argument, product.rhs.argument) for product in products]
    data = {lhs for lhs, rhs in sides if lhs is not None and rhs is not None}
    return frozenset(name for side in sides for name in side if name is not None and name not in data)


def _frozen(
    arguments: Mapping[str, tuple[int, ...]], products: Sequence[Product], batch: Sequence[int]
) -> frozenset[str]:
    """Weights that are never updated, as in a reference model: each of their products is with the batch."""
    meets: dict[str, list[bool]] = {}
    for product in products:
        for own, other in ((product.lhs, product.rhs), (product.rhs, product.lhs)):
            if own.argument is not None:
                meets.setdefault(own.argument, []).append(any(one in other.classes for one in batch))
    return frozenset(
        path
        for path, own in meets.items()
        if all(own) and len(arguments[path]) > 1 and not set(batch) & set(arguments[path])
    )


def _with_weights(
    program: ShardedProgram,
    products: Sequence[Product],
    paths: Sequence[str],
    arguments: Mapping[str, tuple[int, ...]],
    parameters: Collection[str],
) -> tuple[Product, ...]:
    """The products with weights found again by shapes and classes of dimensions, and their gradients."""
    known: dict[tuple[tuple[int, int], ...], str] = {}
    for path, entry in zip(paths, program.inputs, strict=False):
        if path in parameters:
            pairs = list(zip(arguments[path], program.values[entry.value].shape, strict=True))
            # Stacked layers are used one by one.
            for own in (pairs, pairs[1:]):
                if len(own) > 1:
                    known.setdefault(tuple(sorted(own)), path)

    def named(own: Operand) -> Operand:
        key = tuple(sorted(zip(own.classes, own.shape, strict=True)))
        return own if own.argument is not None or key not in known else replace(own, argument=known[key])

    return tuple(replace(one, lhs=named(one.lhs), rhs=named(one.rhs), out=named(one.out)) for one in products)


def _weights(
    program: ShardedProgram,
    paths: Sequence[str],
    arguments: Mapping[str, tuple[int, ...]],
    parameters: frozenset[str],
) -> tuple[int, ...]:
    sizes = Counter[int]()
    for path, entry in zip(paths, program.inputs, strict=False):
        shape = program.values[entry.value].shape
        if path in parameters and len(shape) > 1:
            for own in set(arguments[path]):
                sizes[own] += math.prod(shape)
    return tuple(own for own, _ in sizes.most_common())


def _batch(
    arguments: Mapping[str, tuple[int, ...]], data: Sequence[str], uses: Counter[int], inner: Sequence[int]
) -> tuple[int, ...]:
    places: dict[int, int] = {}
    for path in data:
        for place, own in enumerate(arguments[path]):
            places[own] = min(place, places.get(own, place))
    own = [one for one in places if one not in inner]
    return tuple(sorted(own, key=lambda one: (-uses[one], places[one], one)))


def _product(
    program: ShardedProgram, op: ShardedOp, classes: Sequence[tuple[int, ...]], roots: _Roots, runs: int
) -> Product:
    def operand(value: int) -> Operand:
        found = program.values[value]
        return Operand(
            classes=classes[value], shape=found.shape, argument=roots.of(value), bytes=_element_bytes(found.dtype)
        )

    lhs, rhs = map(operand, op.operands)
    summed = set[int]()
    rule = op.rule
    if rule is not None:
        for number, value in enumerate(op.operands):
            own = classes[value]
            for place, factors in enumerate(rule.operands[number]):
                if factors and factors[0] in rule.reduction:
                    summed.add(own[place])
    return Product(lhs=lhs, rhs=rhs, out=operand(op.results[0]), summed=frozenset(summed), runs=runs)


def _element_bytes(dtype: str) -> int:
    return _BYTES.get(dtype) or max(1, (bits_of(dtype) or 8) // 8)


def _runs(program: ShardedProgram, index: int, trips: Mapping[int, int]) -> int:
    runs, parent = 1, program.ops[index].parent
    while parent is not None:
        runs *= trips.get(parent, 1)
        parent = program.ops[parent].parent
    return runs


# ---------------------------------------------------------------- walks


class _Roots:
    """The argument that a value is a view of."""

    def __init__(self, program: ShardedProgram, values: Mapping[int, str]) -> None:
        self._program, self._values = program, values
        self._links: dict[int, list[int]] = {}
        for own, other in program.links:
            self._links.setdefault(own, []).append(other)
            self._links.setdefault(other, []).append(own)
        self._known: dict[int, str | None] = {}

    def of(self, value: int) -> str | None:
        """The path of the argument a value is a view of; None for a computed value."""
        if value not in self._known:
            self._known[value] = self._find(value)
        return self._known[value]

    def _find(self, value: int) -> str | None:
        border, seen = [value], {value}
        for _ in range(_MOST_STEPS):
            if not border:
                return None
            own = border.pop(0)
            if own in self._values:
                return self._values[own]
            maker = self._program.values[own].op
            op = None if maker is None else self._program.ops[maker]
            before = [op.operands[0]] if op is not None and op.kind in _SEEN_THROUGH and op.operands else []
            for other in (*before, *self._links.get(own, ())):
                if other not in seen:
                    seen.add(other)
                    border.append(other)
        return None
