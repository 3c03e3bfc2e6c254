"""What each op of a sharded program cannot do on the pieces it has, and what must therefore be communicated.

An op needs communication where a factor it sums over is split (every device has a partial sum), where a factor it
needs whole is split, where neighbours' edges are needed, or where an operand is split differently from the result or
the other operand. Not its job: which collective serves which need (`analyze.causes.causes`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.analyze.sharding.factor_axes import Array, FactorAxes, find_factor_axes
from pjit_inspect.analyze.sharding.requests import Request, RequestFinder
from pjit_inspect.model.program.opcodes import MANUAL_BORDERS, REQUESTS
from pjit_inspect.model.program.spec import Dimensions
from pjit_inspect.model.report.cause import CauseKind
from pjit_inspect.model.sharding.sharded_program import EntryValue, ShardedOp, ShardedProgram, axis_name

_CONTRACTIONS = frozenset(("dot_general", "dot", "convolution", "ragged_dot"))
_INDEXED = frozenset((
    "gather", "scatter", "dynamic_slice", "dynamic_update_slice", "dynamic_gather", "sort", "top_k", "topk",
))  # fmt: skip
_INDEXED_NAMES = frozenset(("TopK", "mhlo.topk", "chlo.top_k", "ApproxTopK", "PartialReduce", "topk"))
_CUMULATIVE = re.compile(r"\bcum(?:sum|prod|max|min|logsumexp)\b")
_HALO = frozenset((
    "slice", "pad", "concatenate", "convolution", "reverse", "reduce_window", "select_and_scatter",
))  # fmt: skip
WRITTEN = frozenset((
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "collective_broadcast",
    "ragged_all_to_all",
))  # fmt: skip
"""Collectives that somebody wrote."""
_BRANCHES = frozenset(("named_computation", "call", "case", "if", "optimization_barrier"))
"""Ops that hand their operands on as they are."""
_MATRICES = frozenset(("fft", "cholesky", "triangular_solve"))
"""Ops that need some dimensions replicated because the partitioner has no way to split them."""
_OF_MATRICES = frozenset((
    "cholesky", "lu", "geqrf", "svd", "eigh", "eig", "schur", "hessenberg", "tridiagonal", "triangular_solve",
))  # fmt: skip
"""JAX's names of what takes matrices apart, or solves with them: these are the last two dimensions of its operands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One dimension of one array that a need is about.

    Attributes:
      value: the array's index in `ShardedProgram.values`.
      operand: its position among the op's operands, or those of the product that the op sums; None for a result.
      dimension: counted from 0.
      axes: the mesh axes it is split over.
      wanted: those the op wants it split over; None where it is about partial results or edges.
    """

    value: int
    operand: int | None
    dimension: int
    axes: tuple[str, ...]
    wanted: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing an op cannot do without communicating.

    Attributes:
      op: its index in `ShardedProgram.ops`; None where a result of the program is not split as it must be.
      kind: the cause of a collective that serves it.
      is_sum: whether partial results are combined; else data moves.
      axes: the mesh axes between whose devices it goes.
      parts: the dimensions that prove it.
      value: the array that moves, or whose partial sums are combined; None when it could be several.
      target: how that array is wanted to be split; None where it is not to be split differently.
      request: who asked for the sharding that is wanted; None when nobody did.
      taken: axis -> the dimension of the result that uses it already, where that is why an operand cannot stay split.
      is_xlas: whether no operand is sharded so: XLA's partitioner splits the operation over these axes of itself.
    """

    op: int | None
    kind: CauseKind
    is_sum: bool
    axes: frozenset[str]
    parts: tuple[Part, ...] = ()
    value: int | None = None
    target: Dimensions | None = None
    request: Request | None = None
    taken: tuple[tuple[str, int], ...] = ()
    is_xlas: bool = False


def find_needs(program: ShardedProgram) -> tuple[Need, ...]:
    """Every need of every op, in program order, then those of the program's results."""
    requests = RequestFinder(program)
    found: list[Need] = []
    for index, op in enumerate(program.ops):
        found += _op_needs(program, index, op, requests)
    for number, boundary in enumerate(program.outputs):
        found += _output_needs(program, number, boundary)
    return tuple(found)


def _op_needs(program: ShardedProgram, index: int, op: ShardedOp, requests: RequestFinder) -> Iterator[Need]:
    if op.kind in WRITTEN:
        yield Need(op=index, kind="written", is_sum=op.kind in ("all_reduce", "reduce_scatter"), axes=frozenset())
    elif op.kind in REQUESTS:
        yield from _request_needs(program, index, op)
    elif (factors := find_factor_axes(program, op)) is not None:
        yield from _rule_needs(program, index, op, factors, requests)
    elif op.kind in ("while", "manual_computation"):
        yield from _border_needs(program, index, op, requests)
    elif op.kind not in _BRANCHES:
        yield from _whole_needs(program, index, op)


# ---------------------------------------------------------------- ops with a sharding rule


def _rule_needs(
    program: ShardedProgram, index: int, op: ShardedOp, factors: FactorAxes, requests: RequestFinder
) -> Iterator[Need]:
    rule = factors.rule
    summed = _parts(factors.operands, rule.reduction)
    if summed:
        result = op.results[0] if op.results else None
        axes = _lost_names(summed)
        multiplied = _multiplied(program, op, summed)
        kind = "contraction" if multiplied else sum_kind(op)
        yield Need(op=index, kind=kind, is_sum=True, axes=axes, parts=tuple(multiplied or summed), value=result)
        if op.kind == "convolution" and (windows := _along_windows(op, summed)):
            # The window may lie across pieces' edges also where it is summed over, as in a kernel's gradient.
            yield _move(index, "halo", windows)
    for special in (rule.need_replication, rule.permutation):
        parts = _parts(factors.arrays, special)
        if parts:
            # A window that accumulates needs all that comes before, not only its neighbours' edges.
            is_running = op.kind == "reduce_window" and special is rule.need_replication
            kind = "indexing" if is_running else _edge_kind(op)
            yield _move(index, kind, parts, _without(program, parts))
    for operand in factors.operands:
        yield from _conflict(program, index, op, factors, operand, requests)


def _parts(arrays: Iterable[Array], wanted: tuple[str, ...]) -> list[Part]:
    """The dimensions that are one of these factors, where they are split."""
    return [
        Part(
            value=array.value,
            operand=None if array.is_result else array.number,
            dimension=array.dimension[factor],
            axes=axes,
        )
        for array in arrays
        for factor, axes in array.axes.items()
        if axes and factor in wanted
    ]


def _move(
    op: int | None, kind: CauseKind, parts: Sequence[Part], target: Dimensions | None = None, **more: Any
) -> Need:
    """The need to move the array of the first part: the axes are those its dimensions give up."""
    return Need(
        op=op,
        kind=kind,
        is_sum=False,
        axes=_lost_names(parts),
        parts=tuple(parts),
        value=parts[0].value,
        target=target,
        **more,
    )


def _along_windows(op: ShardedOp, parts: list[Part]) -> list[Part]:
    """Those of a convolution's dimensions that a window slides along: none is of features, or of a batch."""
    rule, places = op.rule, {place for place, _ in op.edges}
    if rule is None or not places:
        return parts
    others = {factor for place, own in enumerate(rule.operands[0]) if place not in places for factor in own}
    return [
        part for part in parts if part.operand is None or others.isdisjoint(rule.operands[part.operand][part.dimension])
    ]


def _without(program: ShardedProgram, parts: list[Part]) -> Dimensions:
    """The sharding of the first of these arrays, its dimensions that are told of whole."""
    first = parts[0].value
    whole = {part.dimension for part in parts if part.value == first}
    spec = program.values[first].spec
    return tuple(() if dimension in whole else axes for dimension, axes in enumerate(spec))


def sum_kind(op: ShardedOp) -> CauseKind:
    """The kind of cause of adding up an operation's partial results."""
    if op.kind in _CONTRACTIONS:
        return "contraction"
    return "indexing" if op.kind in _INDEXED else "reduction"


def _multiplied(program: ShardedProgram, op: ShardedOp, summed: Sequence[Part]) -> list[Part]:
    """The dimensions of both sides of a contraction that XLA writes as a product and its sum, as TPUs do for vectors.

    That it is one is JAX's name of the sum, and that what is summed is a product; () for any other sum.
    """
    maker = program.values[op.operands[0]].op if op.operands else None
    if op.kind != "reduce" or maker is None or op.op_name.rpartition("/")[2] not in _CONTRACTIONS:
        return []
    product = program.ops[maker]
    if product.kind != "multiply":
        return []
    found = [
        Part(value=own[0], operand=number, dimension=own[1], axes=program.values[own[0]].spec[own[1]])
        for number, value in enumerate(product.operands)
        for part in summed
        if (own := _before_broadcast(program, value, part.dimension)) is not None
    ]
    return [part for part in found if part.axes]


def _before_broadcast(program: ShardedProgram, value: int, dimension: int) -> tuple[int, int] | None:
    """The array that was broadcast to this one, and which of its dimensions this is; None where it has none such."""
    maker = program.values[value].op
    op = program.ops[maker] if maker is not None else None
    if op is None or op.kind != "broadcast_in_dim" or op.rule is None:
        return value, dimension
    (given, *_), (made, *_) = op.rule.operands, op.rule.results
    places = [place for place, factors in enumerate(given) if factors == made[dimension]]
    return (op.operands[0], places[0]) if places else None


def _edge_kind(op: ShardedOp) -> CauseKind:
    if is_cumulative(op.op_name) or op.kind in _INDEXED:
        return "indexing"
    if op.kind in _MATRICES:
        return "no_sharding_rule"
    return "halo" if op.kind in _HALO else "reshard_needed"


def is_cumulative(op_name: str) -> bool:
    """Whether an operation is (part of) a cumulative sum, however JAX lowers it."""
    return any(_CUMULATIVE.search(part) for part in op_name.rsplit("/", 3)[-3:])


def _conflict(
    program: ShardedProgram, index: int, op: ShardedOp, factors: FactorAxes, operand: Array, requests: RequestFinder
) -> Iterator[Need]:
    """What an operand must give up to be split as the op needs it."""
    rule = factors.rule
    parts, contested = [], []
    for factor, axes in operand.axes.items():
        wanted = _wanted(factors, operand, factor)
        if _lost(axes, wanted) and factor not in rule.need_replication:
            parts.append(_part(operand, operand.dimension[factor], axes, wanted))
            contested.append(factor)
    parts += (_part(operand, dimension, axes, ()) for dimension, axes in operand.left.items())
    if not parts:
        return
    asked = (_request(program, index, factors, operand, factor, requests) for factor in contested)
    request = next((found for found in asked if found is not None), None)
    yield _move(
        index,
        request.kind if request else "reshard_needed",
        parts,
        _target(factors, operand, len(program.values[operand.value].shape)),
        request=request,
        taken=taken_axes(program, index, _lost_names(parts)),
    )


def _part(operand: Array, dimension: int, axes: tuple[str, ...], wanted: tuple[str, ...]) -> Part:
    return Part(value=operand.value, operand=operand.number, dimension=dimension, axes=axes, wanted=wanted)


def _wanted(factors: FactorAxes, operand: Array, factor: str) -> tuple[str, ...]:
    """How the op wants a factor split: as its result is, else as the other operands are."""
    result = factors.result_with(factor)
    if result is not None:
        return result.axes[factor]
    others = (array.axes[factor] for array in factors.operands if array is not operand and factor in array.axes)
    return next(others, operand.axes[factor])


def _target(factors: FactorAxes, operand: Array, rank: int) -> Dimensions:
    """How the op wants the whole operand split. An axis splits one dimension; one that it splits already keeps it."""
    wanted = {factor: _wanted(factors, operand, factor) for factor in operand.axes}
    used: set[str] = set()
    for factor in sorted(wanted, key=lambda factor: wanted[factor] != operand.axes[factor]):
        wanted[factor] = tuple(axis for axis in wanted[factor] if axis not in used)
        used.update(wanted[factor])
    dimensions: list[tuple[str, ...]] = [()] * rank
    for factor, dimension in operand.dimension.items():
        dimensions[dimension] += wanted[factor]
    return tuple(dimensions)


def _lost(axes: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The axes that a dimension gives up: those behind what both have in common."""
    common = 0
    while common < min(len(axes), len(wanted)) and axes[common] == wanted[common]:
        common += 1
    return axes[common:]


def _request(
    program: ShardedProgram, index: int, factors: FactorAxes, operand: Array, factor: str, requests: RequestFinder
) -> Request | None:
    """Who asked for the result's sharding that an operand's factor is at odds with; None when nobody did.

    A factor may have to give up its axis because the result uses it for another dimension. Where another operand
    brings the axis there by itself, the operands are at odds with each other, and nobody asked.
    """
    result = factors.result_with(factor)
    if result is None:
        return None
    dimensions = [result.dimension[factor]]
    for other, axes in result.axes.items():
        shared = set(axes) & set(operand.axes[factor])
        if any(_brings(program, array, other, shared) for array in factors.operands if array is not operand):
            return None
        if shared:
            dimensions.append(result.dimension[other])
    found = (requests.find(index, result.value, dimension) for dimension in dimensions)
    return next((request for request in found if request is not None), None)


def _brings(program: ShardedProgram, array: Array, factor: str, axes: set[str]) -> bool:
    """Whether an operand that is real data is split over one of these axes along a factor."""
    return bool(axes & set(array.axes.get(factor, ()))) and not is_free(program, array.value)


def is_free(program: ShardedProgram, value: int) -> bool:
    """Whether a value is made of nothing but constants: it has any sharding at no cost."""
    maker = program.values[value].op
    while maker is not None:
        op = program.ops[maker]
        if op.kind in ("constant", "iota"):
            return True
        if op.kind not in ("broadcast_in_dim", "convert", "reshape") or len(op.operands) != 1:
            return False
        maker = program.values[op.operands[0]].op
    return False


def is_named_as_operand(program: ShardedProgram, copy: ShardedOp) -> bool:
    """Whether a copy has the name and place of what makes its operand: then nobody wrote it."""
    if copy.kind != "copy" or not copy.operands or not copy.op_name:
        return False
    value = program.values[copy.operands[0]]
    if value.argument is not None:
        return copy.op_name == program.inputs[value.argument].name
    maker = None if value.op is None else program.ops[value.op]
    return maker is not None and (copy.op_name, copy.frames) == (maker.op_name, maker.frames)


def taken_axes(program: ShardedProgram, op: int, axes: frozenset[str]) -> tuple[tuple[str, int], ...]:
    """Which of these axes an op's result uses, and for which dimension."""
    results = program.ops[op].results
    spec = program.values[results[0]].spec if results else ()
    return tuple(
        (axis_name(axis), dimension) for dimension, used in enumerate(spec) for axis in used if axis_name(axis) in axes
    )


# ---------------------------------------------------------------- ops without one, requests, borders


def _whole_needs(program: ShardedProgram, index: int, op: ShardedOp) -> Iterator[Need]:
    """An operation without a rule gets all of every operand."""
    if op.detail in MANUAL_BORDERS:
        return
    names = frozenset((op.kind, op.detail))
    kind: CauseKind = "indexing" if names & (_INDEXED | _INDEXED_NAMES) else "no_sharding_rule"
    for number, value in enumerate(op.operands):
        parts = [
            Part(value=value, operand=number, dimension=dimension, axes=axes, wanted=())
            for dimension, axes in enumerate(program.values[value].spec)
            if axes
        ]
        if parts:
            yield _move(index, kind, parts, ((),) * len(program.values[value].shape))


def _request_needs(program: ShardedProgram, index: int, op: ShardedOp) -> Iterator[Need]:
    value, result = op.operands[0], op.results[0]
    parts = _changes(program, value, program.values[result].spec, operand=0)
    if parts:
        request = Request(kind="reshard_requested", index=index)
        yield _move(index, "reshard_requested", parts, program.values[result].spec, request=request)


def _border_needs(program: ShardedProgram, index: int, op: ShardedOp, requests: RequestFinder) -> Iterator[Need]:
    """An array that a loop or a `shard_map` wants split differently from it is."""
    for number, value in enumerate(op.operands):
        wanted = _wanted_at_border(program, op, number)
        if wanted is None:
            continue
        request = requests.behind(value, index) if op.kind == "while" else None
        # What a loop's body returns is what it is given for the next turn.
        returned = requests.handed_over(op.results[number]) if op.kind == "while" else ()
        for moved in dict.fromkeys((value, *returned)):
            if parts := _changes(program, moved, wanted, operand=number):
                kind = request.kind if request else "reshard_needed"
                yield _move(index, kind, parts, wanted, request=request)


def _wanted_at_border(program: ShardedProgram, op: ShardedOp, number: int) -> Dimensions | None:
    """How a loop or `shard_map` wants its operand split; None when it is not known."""
    if op.kind == "while":
        return program.values[op.results[number]].spec if number < len(op.results) else None
    return op.wanted[number] if number < len(op.wanted) else None


def _output_needs(program: ShardedProgram, number: int, boundary: EntryValue) -> Iterator[Need]:
    """A result that is not split as it must be, or whose axes do not divide its dimension, or are parts of axes."""
    value = program.values[boundary.value]
    wanted = boundary.spec
    if wanted is None:
        wanted = tuple(
            whole_axes(axes) if length % program.pieces(axes) == 0 else ()
            for length, axes in zip(value.shape, value.spec, strict=True)
        )
    parts = _changes(program, boundary.value, wanted, operand=None)
    if parts:
        yield _move(None, "output", parts, wanted, request=Request(kind="output", index=number))


def dependent_parts(program: ShardedProgram, op: ShardedOp) -> frozenset[tuple[int, int]]:
    """The dimensions that an op works on all of at once, as operand and dimension: a Fourier transform's, a matrix's.

    Empty where that is not known. Whoever has pieces along one of them cannot work on these alone.
    """
    if op.rule is not None:
        needed = set(op.rule.need_replication)
        return frozenset(
            (operand, number)
            for operand, dimensions in enumerate(op.rule.operands)
            for number, factors in enumerate(dimensions)
            if needed & set(factors)
        )
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
    """Whether an op has a dimension along which its pieces can be worked on alone, as a batch of matrices has."""
    parts = dependent_parts(program, op)
    shapes = [program.values[value].shape for value in op.operands]
    return any(
        (operand, number) not in parts and length > 1
        for operand, shape in enumerate(shapes)
        for number, length in enumerate(shape)
    )


def whole_axes(axes: tuple[str, ...]) -> tuple[str, ...]:
    """The axes before the first that is only a part of one: no result of a program may be split over such a part."""
    return tuple(itertools.takewhile(lambda axis: axis == axis_name(axis), axes))


def _changes(program: ShardedProgram, value: int, wanted: Dimensions, operand: int | None) -> tuple[Part, ...]:
    """The dimensions of a value that must give up axes to be split as wanted."""
    return tuple(
        Part(value=value, operand=operand, dimension=dimension, axes=axes, wanted=new)
        for dimension, (axes, new) in enumerate(zip(program.values[value].spec, wanted, strict=False))
        if _lost(axes, new)
    )


def _lost_names(parts: Iterable[Part]) -> frozenset[str]:
    """The mesh axes that these dimensions give up; all of theirs, where it is about partial results or edges."""
    return frozenset(axis_name(axis) for part in parts for axis in _lost(part.axes, part.wanted or ()))
