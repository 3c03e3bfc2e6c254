"""Between which operations of the program before partitioning each collective of XLA's partitioner lies.

A collective of the partitioned program is followed back to the first instructions that were there before, which make
what it moves, and forward to the first that take what it yields. All between is the partitioner's own. Not its job:
which instructions were there before (`analyze.partition.align`), or what follows for its cause
(`analyze.causes.causes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.partition.align import COLLECTIVES, Aligned
from pjit_inspect.analyze.partition.neighbours import Moved, given_to, neighbours
from pjit_inspect.analyze.program.device_groups import Groups, logical_groups, logical_pairs
from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedProgram, Taker

_MADE_ANYWHERE = frozenset(("constant", "iota", "partition-id", "replica-id", "rng-get-and-update-state"))
_MOST_TAKERS = 64


def with_collectives(
    aligned: Aligned, program: ShardedProgram, op_of: Mapping[int, int], values_of: Mapping[int, tuple[int, ...]]
) -> ShardedProgram:
    """The program with every collective of the partitioned one, in its order, and how they follow each other.

    Args:
      aligned: the programs before and after partitioning, side by side.
      program: the program before, as read from its module.
      op_of: instruction before -> its index in `ShardedProgram.ops`.
      values_of: instruction before -> the indices in `ShardedProgram.values` of its arrays.
    """
    finder, flow = _Finder(aligned=aligned, program=program, op_of=op_of, values_of=values_of), aligned.after
    made, written = list(finder.numbers), list(finder.written())
    edges = [finder.edge(index) for index in made]
    arrays = [Moved(given=given_to(flow, index), yielded=flow.nodes(index)) for index in made]
    sources, reaches = neighbours(flow, (*arrays, *(array for _, array in written)))
    found = zip((*edges, *(edge for edge, _ in written)), sources, reaches, strict=True)
    moved = tuple(replace(edge, sources=before, reaches=behind) for edge, before, behind in found)
    return replace(program, is_predicted=False, collectives=moved[: len(made)], written=moved[len(made) :])


def groups_of(op: Instruction, devices: int | None = None) -> Groups:
    """The device groups of a collective as partition numbers; () where they are not understood, or all."""
    counts, kind = op.module.device_counts, op.opcode.removesuffix("-start")
    if kind == "collective-permute":
        return logical_pairs(op.details.source_target_pairs, op.channel_id, counts) or ()
    return logical_groups(kind, op.details, op.channel_id, counts, devices) or ()


@dataclass(slots=True, kw_only=True)
class _Finder:
    aligned: Aligned
    program: ShardedProgram
    op_of: Mapping[int, int]
    values_of: Mapping[int, tuple[int, ...]]
    stops: list[bool] = field(init=False)
    outputs: dict[int, int] = field(init=False)
    kept: frozenset[int] = field(init=False)
    # Instruction that is a collective of the partitioner's -> which of them it is, in order.
    numbers: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        flow, original = self.aligned.after, self.aligned.original
        own = (k for k in flow.reached if flow.opcode_of(k) in COLLECTIVES and k not in original)
        self.numbers = {index: number for number, index in enumerate(own)}
        self.kept = frozenset(self.aligned.original.values())
        self.stops = [index in self.aligned.original for index in flow.owner]
        self.outputs = {node: number for number, node in enumerate(flow.results)}

    def written(self) -> Iterator[tuple[PartitionedCollective, Moved]]:
        """Every array that a collective of the user's moves, in order."""
        flow = self.aligned.after
        for index in self._all():
            own = self.op_of.get(self.aligned.original.get(index, -1))
            if own is None:
                continue
            op = flow.module.instruction(index)
            for source, node in zip(given_to(flow, index), flow.nodes(index), strict=False):
                shape = flow.shape(source)
                edge = PartitionedCollective(
                    kind=op.opcode,
                    channel_id=op.channel_id,
                    groups=groups_of(op),
                    dtype=shape.dtype,
                    elements=shape.count or 0,
                    visited=(own,),
                )
                yield edge, Moved(given=(source,), yielded=(node,))

    def _all(self) -> Iterator[int]:
        flow = self.aligned.after
        return (index for index in flow.reached if flow.opcode_of(index) in COLLECTIVES)

    def edge(self, index: int) -> PartitionedCollective:
        """One collective, with what makes and what takes it."""
        flow = self.aligned.after
        op = flow.module.instruction(index)
        given = given_to(flow, index)
        makers = self._makers(given)
        takers, outputs, ends = self._takers(list(flow.nodes(index)))
        between = tuple(self._between(makers, ends))
        shapes = [flow.shape(node) for node in given]
        return PartitionedCollective(
            kind=op.opcode,
            channel_id=op.channel_id,
            groups=groups_of(op),
            dtype=shapes[0].dtype if shapes else "",
            elements=sum(shape.count or 0 for shape in shapes),
            makers=tuple(dict.fromkeys(value for value, _ in makers)),
            made_shape=flow.shape(makers[0][1]).dimensions if makers else (),
            made_of=self._operand_shapes(makers[0][1]) if makers else (),
            given_shape=shapes[0].dimensions if shapes else (),
            reduced=tuple(dict.fromkeys(self._reduced(given))),
            takers=takers,
            outputs=outputs,
            feeds=self._feeds(list(flow.nodes(index))),
            visited=self._visited(index, [value for value, _ in makers], between, takers),
        )

    def _visited(
        self, index: int, makers: Sequence[int], between: tuple[int, ...], takers: Sequence[Taker]
    ) -> tuple[int, ...]:
        """The operations it may belong to: of those that have its name and place, the ones where it lies.

        A helper that is called twice, or a loop that was unrolled, has many operations of one name and place.
        """
        named = tuple(dict.fromkeys(self._ops(self.aligned.owners.get(index, ()))))
        if inner := tuple(op for op in named if op in between):
            return inner
        # XLA of JAX 0.12 names most of them after what they move: that is no operation between.
        ends = {*(taker.op for taker in takers), *(self.program.values[value].op for value in makers)}
        ends |= self._before(takers, set(named))
        return (*(tuple(op for op in named if op in ends) or named), *between)

    def _before(self, takers: Iterable[Taker], named: set[int]) -> set[int]:
        """Those of some operations that make what the takers take, where no others do.

        The partitioner may move what a view is made of, and make the view on each device: it is there after all. Nor
        need they lead back to the maker, as XLA makes one of operations that do the same with one value.
        """
        operands, found = ((self.program.ops[taker.op].operands, taker.operand) for taker in takers), set[int]()
        border = [own[place] for own, place in operands if place < len(own)]
        while border:
            op = self.program.values[border.pop()].op
            if op in named and op not in found:
                found.add(op)
                border += self.program.ops[op].operands
        return found

    def _ops(self, instructions: Iterable[int]) -> Iterator[int]:
        return (self.op_of[k] for k in instructions if k in self.op_of)

    # ------------------------------------------------------------ what makes it

    def _makers(self, starts: list[int]) -> list[tuple[int, int]]:
        """The values it is made of, each with its node; constants only where there is nothing else."""
        flow = self.aligned.after
        # A constant is on every device and explains nothing, so it counts only where nothing else makes the value.
        makers: list[tuple[int, int]] = []
        free: list[tuple[int, int]] = []
        for node in flow.walk(starts, flow.before, self.stops):
            value = self._value(node)
            if value is not None:
                is_free = flow.opcode(node) in _MADE_ANYWHERE
                (free if is_free else makers).append((value, node))
        return makers or free

    def _reduced(self, starts: list[int]) -> Iterator[int]:
        """The operations for which the partitioner reduces what the makers yield, before it is moved."""
        flow, kept = self.aligned.after, self.aligned.original
        for node in _reached(starts, flow.before, lambda node: flow.owner[node] not in kept):
            if flow.opcode(node) == "reduce":
                yield from self._ops(self.aligned.owners.get(flow.owner[node], ()))

    def _operand_shapes(self, node: int) -> tuple[tuple[int, ...], ...]:
        flow = self.aligned.after
        leaves = (leaf for operand in flow.operands(flow.owner[node]) for leaf in flow.nodes(operand))
        return tuple(flow.shape(leaf).dimensions for leaf in leaves)

    def _value(self, node: int) -> int | None:
        flow = self.aligned.after
        index = flow.owner[node]
        values = self.values_of.get(self.aligned.original[index], ())
        place = node - flow.first[index]
        return values[place] if place < len(values) else None

    # ------------------------------------------------------------ what it is a part of

    def _between(self, makers: list[tuple[int, int]], ends: list[int]) -> Iterator[int]:
        """The operations before that lie between the makers and the ends, and of which only pieces are left."""
        flow = self.aligned.before
        # Back from the ends through what was not kept; then those of it that the makers lead to. Of what makes an
        # end, a piece may have been kept.
        last = set(ends)
        gone = _reached(ends, flow.before, lambda node: node in last or flow.owner[node] not in self.kept)
        starts = [self._counterpart(node) for _, node in makers]
        led_to = {other for node in starts for other in flow.after[node] if other in gone}
        inner = _reached(led_to, flow.after, gone.__contains__)
        return self._ops(dict.fromkeys(flow.owner[node] for node in gone if node in inner))

    def _taken(self, node: int, other: int) -> Iterable[int]:
        """The nodes of the program before that are where `other`, which was there before, takes `node`."""
        before, index = self.aligned.before, self.aligned.after.owner[other]
        if self.aligned.after.opcode(other) in ("while", "opt-barrier", "parameter"):
            return before.before[self._counterpart(other)]
        operands = before.operands(self.aligned.original[index])
        leaves = [leaf for operand in operands for leaf in before.nodes(operand)]
        return [leaves[place] for place in self._positions(index, node) if place < len(leaves)]

    def _untupled(self, node: int) -> int:
        """The node of the program before that is put into a tuple, or taken out of one, here."""
        flow = self.aligned.before
        while flow.opcode(node) in ("tuple", "get-tuple-element") and flow.before[node]:
            node = flow.before[node][0]
        return node

    def _counterpart(self, node: int) -> int:
        """The node of the program before that a node of an instruction that was there before is."""
        before, after = self.aligned.before, self.aligned.after
        index = after.owner[node]
        nodes = before.nodes(self.aligned.original[index])
        return nodes[min(node - after.first[index], len(nodes) - 1)]

    # ------------------------------------------------------------ what takes it

    def _takers(self, starts: list[int]) -> tuple[tuple[Taker, ...], tuple[int, ...], list[int]]:
        """The operations, the results, and the nodes of both in the program before."""
        flow = self.aligned.after
        takers: dict[Taker, None] = {}
        outputs: dict[int, None] = {}
        ends: dict[int, None] = {}
        seen, border = set(starts), list(starts)
        while border and len(takers) < _MOST_TAKERS:
            node = border.pop(0)
            if node in self.outputs:
                outputs[self.outputs[node]] = None
                results = self.aligned.before.results[self.outputs[node] : self.outputs[node] + 1]
                ends.update(dict.fromkeys(map(self._untupled, results)))
            for other in flow.after[node]:
                if self.stops[other]:
                    ends.update(dict.fromkeys(map(self._untupled, self._taken(node, other))))
                    takers.update(dict.fromkeys(self._taker(node, other)))
                elif other not in seen:
                    seen.add(other)
                    border.append(other)
        return tuple(takers), tuple(outputs), list(ends)

    def _feeds(self, starts: Iterable[int]) -> tuple[int, ...]:
        """The next collectives of the partitioner's on every way to what takes it."""
        flow, numbers = self.aligned.after, self.numbers
        starts = [other for node in starts for other in flow.after[node] if not self.stops[other]]
        passed = _reached(starts, flow.after, lambda node: not self.stops[node] and flow.owner[node] not in numbers)
        ends = (*starts, *(other for node in passed for other in flow.after[node]))
        return tuple(dict.fromkeys(numbers[flow.owner[node]] for node in ends if flow.owner[node] in numbers))

    def _taker(self, node: int, other: int) -> Iterator[Taker]:
        """The operation `other` belongs to, which takes `node`: the loop, for what enters a loop's region."""
        flow = self.aligned.after
        index = flow.owner[other]
        original, shape = self.aligned.original[index], flow.shape(node).dimensions
        if original in self.op_of:
            op = self.op_of[original]
            if flow.opcode(other) in ("while", "opt-barrier"):
                yield Taker(op=op, operand=other - flow.first[index], shape=shape)
                return
            positions = list(self._positions(index, node))
            if not positions and flow.opcode(other) == "conditional":
                # What a branch returns becomes a result: those are counted on from the operands.
                positions = [len(self.program.ops[op].operands) + other - flow.first[index]]
            yield from (
                Taker(op=op, operand=operand, shape=self._as_taken(op, operand, shape)) for operand in positions
            )
            return
        value = self._value(other)
        loop = None if value is None else self.program.values[value].op
        if loop is not None:
            yield Taker(op=loop, operand=other - flow.first[index], shape=shape)

    def _as_taken(self, op: int, operand: int, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape; () where the partitioner gives the operation something of its own, with other dimensions."""
        operands = self.program.ops[op].operands
        rank = len(self.program.values[operands[operand]].shape) if operand < len(operands) else len(shape)
        return shape if len(shape) == rank else ()

    def _positions(self, index: int, node: int) -> Iterator[int]:
        """Which operands of an instruction a node is, counting the leaves of tuples."""
        flow, place = self.aligned.after, 0
        for operand in flow.operands(index):
            for leaf in flow.nodes(operand):
                if leaf == node:
                    yield place
                place += 1


def _reached(starts: Iterable[int], links: Sequence[Sequence[int]], goes_on: Callable[[int], bool]) -> dict[int, None]:
    """The nodes for which `goes_on` holds, from some along `links` and through each other, nearest first."""
    reached = dict.fromkeys(node for node in starts if goes_on(node))
    border = list(reached)
    for node in border:
        for other in links[node]:
            if other not in reached and goes_on(other):
                reached[other] = None
                border.append(other)
    return reached
