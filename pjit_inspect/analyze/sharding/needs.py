"""Finds what each op of a sharded program cannot do on the pieces it has, so that devices must communicate.

An op needs communication where a factor it sums over is split (every device has a partial sum), where a factor it
needs whole is split, where neighbours' edges are needed, or where an operand is split differently from the result or
the other operand. Not its job: which collective serves which need (`analyze.causes.causes`), which axes split a factor
(`analyze.sharding.axes`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pjit_inspect.analyze.sharding.axes import Array, FactorAxes, find_factor_axes
from pjit_inspect.analyze.sharding.source_texts import IN_SPECS, PARTITION_RULE, find_asked
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.opcodes import MANUAL_BORDERS, REQUESTS
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.report.cause import CauseKind
from pjit_inspect.model.sharding.sharded_program import EntryValue, ShardedOp, ShardedProgram, axis_name

_CONTRACTIONS = frozenset(("dot_general", "dot", "convolution", "ragged_dot"))
_INDEXED = frozenset((
    "gather", "scatter", "dynamic_slice", "dynamic_update_slice", "dynamic_gather", "sort", "top_k", "topk", "TopK",
    "mhlo.topk", "chlo.top_k", "ApproxTopK", "PartialReduce",
))  # fmt: skip
"""Ops that pick by number or by order, and calls that do."""
_CUMULATIVE = re.compile(r"\bcum(?:sum|prod|max|min|logsumexp)\b")
_HALO = frozenset((
    "slice", "pad", "concatenate", "convolution", "reverse", "reduce_window", "select_and_scatter",
))  # fmt: skip
WRITTEN = frozenset((
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "collective_broadcast",
    "ragged_all_to_all",
))  # fmt: skip
"""Collectives that somebody wrote."""
RESHARDS = frozenset(("reshard_requested", "reshard_needed", "output"))
"""Kinds of needs for an array that is split differently."""
_HANDED_ON = frozenset(("named_computation", "call", "case", "if", "optimization_barrier"))
"""Ops that hand their operands on as they are."""
_MATRICES = frozenset(("fft", "cholesky", "triangular_solve"))
"""Ops that need some dimensions replicated because the partitioner has no way to split them."""
_HOPS = 8


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
class Asker:
    """Who asked: the constraint's index in `ShardedProgram.ops`, or the result's in `ShardedProgram.outputs`.

    `argument` is the one that asks, where no constraint does: "in_specs", or "out_sharding=P('x')".
    """

    kind: Literal["reshard_requested", "output"]
    index: int
    argument: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """One thing an op cannot do without communicating.

    Attributes:
      op: its index in `ShardedProgram.ops`; None where a result of the program is not split as it must be.
      kind: the cause of a collective that serves it.
      is_sum: True if partial results are combined; else data moves.
      axes: the mesh axes between whose devices it goes.
      parts: the dimensions that prove it.
      value: the array that moves, or whose partial sums are combined; None when it could be several.
      target: how that array is wanted to be split; None where it is not to be split differently.
      request: who asked for the sharding that is wanted; None when nobody did.
      taken: axis -> the dimension of the result that uses it already, where that is why an operand cannot stay split.
      is_xlas: True if no operand is sharded so: XLA's partitioner splits the operation over these axes of itself.
    """

    op: int | None
    kind: CauseKind
    is_sum: bool
    axes: frozenset[str]
    parts: tuple[Part, ...] = ()
    value: int | None = None
    target: Dimensions | None = None
    request: Asker | None = None
    taken: tuple[tuple[str, int], ...] = ()
    is_xlas: bool = False


def find_needs(program: ShardedProgram, sources: Sequence[SourceText] = ()) -> tuple[Need, ...]:
    """Every need of every op, in program order, then those of the program's results.

    `sources` are the user's source texts, as far as they are known.
    """
    finder = _NeedFinder(program, sources)
    ops = (need for index, op in enumerate(program.ops) for need in finder.of_op(index, op))
    return (*ops, *itertools.chain.from_iterable(itertools.starmap(finder.of_output, enumerate(program.outputs))))


class _NeedFinder:
    """Finds needs of one program, and who asked for what makes them."""

    def __init__(self, program: ShardedProgram, sources: Sequence[SourceText]) -> None:
        self.program, self.values = program, program.values
        self.arguments = find_asked(program, sources)
        self.inner: dict[int, list[int]] = {}
        self.sources: dict[int, list[int]] = {}
        for outer, inner in program.links:
            self.inner.setdefault(outer, []).append(inner)
            self.sources.setdefault(inner, []).append(outer)
        self.outputs = {own.value: number for number, own in enumerate(program.outputs) if own.spec is not None}

    def of_op(self, index: int, op: ShardedOp) -> Iterator[Need]:
        """Yield what an op needs."""
        if op.kind in WRITTEN:
            yield Need(op=index, kind="written", is_sum=op.kind in ("all_reduce", "reduce_scatter"), axes=frozenset())
        elif (request := self.requested_by(index)) is not None:
            yield from self.moved(index, op.operands[0], 0, self.values[op.results[0]].spec, request)
        elif (factors := find_factor_axes(self.program, op)) is not None:
            yield from self.of_factors(index, op, factors)
        elif op.kind in ("while", "manual_computation") or op.wanted:
            yield from self.at_border(index, op)
        elif op.kind not in _HANDED_ON and op.detail not in MANUAL_BORDERS:
            # An operation without a rule gets all of every operand.
            kind = "indexing" if {op.kind, op.detail} & _INDEXED else "no_sharding_rule"
            for number, value in enumerate(op.operands):
                yield from self.moved(index, value, number, ((),) * len(self.values[value].shape), kind=kind)

    def of_output(self, number: int, boundary: EntryValue) -> Iterator[Need]:
        """Yield the need of a result that is split as it must not be: over axes that do not divide it, or parts."""
        value, wanted = self.values[boundary.value], boundary.spec
        if wanted is None:
            wanted = tuple(
                whole_axes(axes) if length % self.program.pieces(axes) == 0 else ()
                for length, axes in zip(value.shape, value.spec, strict=True)
            )
        yield from self.moved(None, boundary.value, None, wanted, Asker(kind="output", index=number))

    def at_border(self, index: int, op: ShardedOp) -> Iterator[Need]:
        """Yield what a loop or a `shard_map` needs of an array that it wants split differently from how it is."""
        is_loop = op.kind == "while"
        wants = [self.values[result].spec for result in op.results] if is_loop else op.wanted
        for number, (value, wanted) in enumerate(zip(op.operands, wants, strict=False)):
            if wanted is None:
                continue
            inner = [own for own in self.inner.get(value, ()) if is_loop and self.values[own].op == index]
            request = next((found for found in map(self.downstream, inner) if found is not None), None)
            if not is_loop:
                argument = PARTITION_RULE if op.kind == "custom_call" else IN_SPECS
                request = Asker(kind="reshard_requested", index=index, argument=argument)
            # What a loop's body returns is what it is given for the next turn.
            returned = self.sources.get(op.results[number], ()) if is_loop else ()
            for moved in dict.fromkeys((value, *returned)):
                yield from self.moved(index, moved, number, wanted, request)

    def moved(
        self,
        op: int | None,
        value: int,
        operand: int | None,
        wanted: Dimensions,
        request: Asker | None = None,
        kind: CauseKind = "reshard_needed",
    ) -> Iterator[Need]:
        """Yield the need to split a value as wanted, where a dimension of it must give up axes for that."""
        parts = tuple(
            Part(value=value, operand=operand, dimension=dimension, axes=axes, wanted=new)
            for dimension, (axes, new) in enumerate(zip(self.values[value].spec, wanted, strict=False))
            if _lost(axes, new)
        )
        if parts:
            yield _move(op, request.kind if request else kind, parts, wanted, request=request)

    # ------------------------------------------------------------ ops with a sharding rule

    def of_factors(self, index: int, op: ShardedOp, factors: FactorAxes) -> Iterator[Need]:
        """Yield what an op needs by its sharding rule."""
        rule = factors.rule
        if summed := _parts(factors.operands, rule.reduction):
            value, axes, multiplied = op.results[0] if op.results else None, _lost_names(summed), self.sides(op, summed)
            kind = "contraction" if multiplied else sum_kind(op)
            yield Need(op=index, kind=kind, is_sum=True, axes=axes, parts=tuple(multiplied or summed), value=value)
            if op.kind == "convolution" and (windows := _along_windows(op, summed)):
                # The window may lie across pieces' edges also where it is summed over, as in a kernel's gradient.
                yield _move(index, "halo", windows)
        for special in (rule.need_replication, rule.permutation):
            if parts := _parts(factors.arrays, special):
                # A window that accumulates needs all that comes before, not only its neighbours' edges.
                is_running = op.kind == "reduce_window" and special is rule.need_replication
                first = parts[0].value
                whole = {part.dimension for part in parts if part.value == first}
                target = (() if number in whole else axes for number, axes in enumerate(self.values[first].spec))
                yield _move(index, "indexing" if is_running else _edge_kind(op), parts, tuple(target))
        for operand in factors.operands:
            yield from self.conflict(index, factors, operand)

    def sides(self, op: ShardedOp, summed: Sequence[Part]) -> list[Part]:
        """The dimensions of both sides of a contraction that XLA writes as a product and its sum, as TPUs do for some.

        That it is one is JAX's name of the sum, and that what is summed is a product; [] for any other sum.
        """
        maker = self.values[op.operands[0]].op if op.operands else None
        product = None if maker is None else self.program.ops[maker]
        is_contraction = op.kind == "reduce" and op.op_name.rpartition("/")[2] in _CONTRACTIONS
        if not is_contraction or product is None or product.kind != "multiply":
            return []
        found = [
            Part(value=own[0], operand=number, dimension=own[1], axes=self.values[own[0]].spec[own[1]])
            for number, value in enumerate(product.operands)
            for part in summed
            if (own := self.before_broadcast(value, part.dimension)) is not None
        ]
        return [part for part in found if part.axes]

    def before_broadcast(self, value: int, dimension: int) -> tuple[int, int] | None:
        """The array that was broadcast to this one, and which of its dimensions this is; None where it has none."""
        maker = self.values[value].op
        op = self.program.ops[maker] if maker is not None else None
        if op is None or op.kind != "broadcast_in_dim" or op.rule is None:
            return value, dimension
        (given, *_), (made, *_) = op.rule.operands, op.rule.results
        places = [place for place, factors in enumerate(given) if factors == made[dimension]]
        return (op.operands[0], places[0]) if places else None

    def conflict(self, index: int, factors: FactorAxes, operand: Array) -> Iterator[Need]:
        """Yield what an operand must give up to be split as the op needs it."""
        wanted = {factor: _wanted(factors, operand, factor) for factor in operand.axes}
        contested = [
            factor
            for factor, axes in operand.axes.items()
            if _lost(axes, wanted[factor]) and factor not in factors.rule.need_replication
        ]
        rows = [(operand.dimension[factor], operand.axes[factor], wanted[factor]) for factor in contested]
        rows += [(dimension, axes, ()) for dimension, axes in operand.left.items()]
        parts = [
            Part(value=operand.value, operand=operand.number, dimension=dimension, axes=axes, wanted=new)
            for dimension, axes, new in rows
        ]
        if not parts:
            return
        asked = (self.request(index, factors, operand, factor) for factor in contested)
        request = next((found for found in asked if found is not None), None)
        yield _move(
            index,
            request.kind if request else "reshard_needed",
            parts,
            _target(operand, wanted, len(self.values[operand.value].shape)),
            request=request,
            taken=taken_axes(self.program, index, _lost_names(parts)),
        )

    # ------------------------------------------------------------ who asked

    def request(self, index: int, factors: FactorAxes, operand: Array, factor: str) -> Asker | None:
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
            if any(
                shared & set(array.axes.get(other, ())) and not is_free(self.program, array.value)
                for array in factors.operands
                if array is not operand
            ):
                return None
            if shared and self._is_brought(result.value, result.dimension[other], shared):
                return None
            if shared:
                dimensions.append(result.dimension[other])
        found = (self.asked(index, result.value, dimension) for dimension in dimensions)
        return next((request for request in found if request is not None), None)

    def _is_brought(self, value: int, dimension: int, axes: set[str]) -> bool:
        """True if whatever takes a broadcast takes another array, too, that an argument has given one of these axes."""
        own, users = self.values[value], self.program.users.get(value, ())
        maker = self.program.op_of(value)
        if maker is None or maker.kind != "broadcast_in_dim" or not users:
            return False

        def brings(other: int) -> bool:
            found = self.values[other]
            given = {axis_name(origin.axis) for origin in found.origins if origin.kind == "input"}
            return found.shape == own.shape and bool(axes & given & set(map(axis_name, found.spec[dimension])))

        ops = [self.program.ops[user] for user, _ in users]
        return all(_keeps_dimensions(op, value) and any(brings(o) for o in op.operands if o != value) for op in ops)

    def asked(self, op: int, value: int, dimension: int) -> Asker | None:
        """Who asked that a dimension of op `op`'s result `value` be split as it is; None when nobody did.

        A dimension that is split says where its axes are from. One that a request wants whole says nothing: then what
        the value becomes is followed to the request.
        """
        copies = (user for user, _ in self.program.users.get(value, ()) if user in self.arguments)
        if (copy := next(copies, None)) is not None:
            return self.requested_by(copy)
        found = self.values[value]
        axes = found.spec[dimension] if dimension < len(found.spec) else ()
        origins = {origin.axis: origin for origin in found.origins}
        for origin in filter(None, (origins.get(axis_name(axis)) for axis in axes)):
            if origin.index is not None and origin.kind == "constraint" and origin.index > op:
                return Asker(kind="reshard_requested", index=origin.index)
            if origin.index is not None and origin.kind == "output":
                # Which of several results that become of it asks, XLA may tell by another that does not.
                has_it = any(
                    origin.axis in map(axis_name, own) for own in self.program.outputs[origin.index].spec or ()
                )
                return Asker(kind="output", index=origin.index) if has_it else self.downstream(value)
        # XLA's program does not say whether more axes were forbidden; a prediction does.
        closed = found.closed[dimension] if dimension < len(found.closed) else not self.program.is_predicted
        return self.downstream(value) if closed and not axes else None

    def requested_by(self, index: int) -> Asker | None:
        """The request that an operation is; None for one that asks for nothing."""
        argument = self.arguments.get(index, "")
        is_request = argument or self.program.ops[index].kind in REQUESTS
        return Asker(kind="reshard_requested", index=index, argument=argument) if is_request else None

    def downstream(self, value: int) -> Asker | None:
        """The request a value reaches through ops and borders that keep its shape and sharding; None."""
        border, seen, own = [value], {value}, self.values[value]
        for _ in range(_HOPS):
            reached: list[int] = []
            for current in border:
                if current in self.outputs:
                    return Asker(kind="output", index=self.outputs[current])
                for index, _ in self.program.users.get(current, ()):
                    op = self.program.ops[index]
                    if (request := self.requested_by(index)) is not None:
                        return request
                    reached += op.results if _keeps_dimensions(op, current) else ()
                reached += self.inner.get(current, ())
            border = [v for v in dict.fromkeys(reached) if v not in seen]
            border = [v for v in border if (self.values[v].shape, self.values[v].spec) == (own.shape, own.spec)]
            seen.update(border)
        return None


def _keeps_dimensions(op: ShardedOp, value: int) -> bool:
    """True if each dimension of an operand is the same dimension of the result, as in what is done to each element."""
    if op.kind in ("while", "optimization_barrier", "named_computation"):
        return True
    if op.rule is None or value not in op.operands or not op.rule.results:
        return False
    number = op.operands.index(value)
    return number < len(op.rule.operands) and op.rule.operands[number] == op.rule.results[0]


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
    value, axes = parts[0].value, _lost_names(parts)
    return Need(op=op, kind=kind, is_sum=False, axes=axes, parts=tuple(parts), value=value, target=target, **more)


def _along_windows(op: ShardedOp, parts: list[Part]) -> list[Part]:
    """The parts along dimensions that a convolution's window slides along, which are not of features or a batch."""
    rule, places = op.rule, {place for place, _ in op.edges}
    if rule is None or not places:
        return parts
    others = {factor for place, own in enumerate(rule.operands[0]) if place not in places for factor in own}
    return [
        part for part in parts if part.operand is None or others.isdisjoint(rule.operands[part.operand][part.dimension])
    ]


def sum_kind(op: ShardedOp) -> CauseKind:
    """The kind of cause of adding up an operation's partial results."""
    if op.kind in _CONTRACTIONS:
        return "contraction"
    return "indexing" if op.kind in _INDEXED else "reduction"


def _edge_kind(op: ShardedOp) -> CauseKind:
    if is_cumulative(op.op_name) or op.kind in _INDEXED:
        return "indexing"
    if op.kind in _MATRICES:
        return "no_sharding_rule"
    return "halo" if op.kind in _HALO else "reshard_needed"


def is_cumulative(op_name: str) -> bool:
    """True if an operation is (part of) a cumulative sum, however JAX lowers it."""
    return any(_CUMULATIVE.search(part) for part in op_name.rsplit("/", 3)[-3:])


def _wanted(factors: FactorAxes, operand: Array, factor: str) -> tuple[str, ...]:
    """The axes over which the op wants a factor split: its result's, else those of the other operands."""
    result = factors.result_with(factor)
    if result is not None:
        return result.axes[factor]
    others = (array.axes[factor] for array in factors.operands if array is not operand and factor in array.axes)
    return next(others, operand.axes[factor])


def _target(operand: Array, wanted: dict[str, tuple[str, ...]], rank: int) -> Dimensions:
    """The sharding that the op wants of the whole operand. An axis stays where it is, as it splits one dimension."""
    used = set[str]()
    kept = dict[str, tuple[str, ...]]()
    for factor in sorted(wanted, key=lambda factor: wanted[factor] != operand.axes[factor]):
        kept[factor] = tuple(axis for axis in wanted[factor] if axis not in used)
        used.update(kept[factor])
    dimensions: list[tuple[str, ...]] = [()] * rank
    for factor, dimension in operand.dimension.items():
        dimensions[dimension] += kept[factor]
    return tuple(dimensions)


def _lost(axes: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The axes that a dimension gives up: those behind what both have in common."""
    common = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(axes, wanted, strict=False)))
    return axes[common:]


def _lost_names(parts: Iterable[Part]) -> frozenset[str]:
    """The mesh axes that these dimensions give up; all of theirs, where it is about partial results or edges."""
    return frozenset(axis_name(axis) for part in parts for axis in _lost(part.axes, part.wanted or ()))


def whole_axes(axes: tuple[str, ...]) -> tuple[str, ...]:
    """The axes before the first that is only a part of one: no result of a program may be split over such a part."""
    return tuple(itertools.takewhile(lambda axis: axis == axis_name(axis), axes))


def taken_axes(program: ShardedProgram, op: int, axes: frozenset[str]) -> tuple[tuple[str, int], ...]:
    """The axes of these that an op's result uses, each with its dimension."""
    results = program.ops[op].results
    spec = program.values[results[0]].spec if results else ()
    return tuple(
        (axis_name(axis), dimension) for dimension, used in enumerate(spec) for axis in used if axis_name(axis) in axes
    )


def is_free(program: ShardedProgram, value: int) -> bool:
    """True if a value is made of nothing but constants: it has any sharding at no cost."""
    while (maker := program.values[value].op) is not None:
        op = program.ops[maker]
        if op.kind in ("constant", "iota"):
            return True
        if op.kind not in ("broadcast_in_dim", "convert", "reshape") or len(op.operands) != 1:
            return False
        value = op.operands[0]
    return False


def is_named_as_operand(program: ShardedProgram, copy: ShardedOp) -> bool:
    """True if a copy has the name and place of what makes its operand: then nobody wrote it."""
    if copy.kind != "copy" or not copy.operands or not copy.op_name:
        return False
    value = program.values[copy.operands[0]]
    if value.argument is not None:
        return copy.op_name == program.inputs[value.argument].name
    maker = None if value.op is None else program.ops[value.op]
    return maker is not None and (copy.op_name, copy.frames) == (maker.op_name, maker.frames)
