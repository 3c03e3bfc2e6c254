"""Finds the operations before partitioning that each collective of XLA's partitioner lies between.

The partitioner visits instructions in order and rewrites each for one device, under its name. In a numbered copy
(`parse.sharding.propagated_hlo`) a name is that of one operation: an instruction of the same name and opcode is the
one before. If there are several, it is the one with the size of a piece, and of these the last: the pieces cut out for
neighbours lead to it. A collective is followed back to the first instructions that were there before, and forward to
the first of its takers that were; all between is the partitioner's own. Not its job: its cause
(`analyze.causes.causes`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from pjit_inspect.analyze.program.array_flow import Flow
from pjit_inspect.analyze.program.device_groups import Groups, logical_groups, logical_pairs
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.sharding.sharded_program import (
    PartitionedCollective,
    Place,
    ShardedOp,
    ShardedProgram,
    Taker,
)

COLLECTIVES = frozenset((
    "all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast",
    "ragged-all-to-all",
))  # fmt: skip
_PLUMBING = frozenset(("tuple", "get-tuple-element", "parameter", "constant", "partition-id", "replica-id"))
_AS_SLICE = {"copy": "slice"}
"""A slice that takes all of the piece which a device has got from others is a copy of it."""
_Pieces = Callable[[int], tuple[tuple[int, ...], ...]]
Moved = tuple[Sequence[int], Sequence[int]]
"""One array that a collective moves: the nodes it gives, and those it becomes."""
Sources = tuple[tuple[int, ...], ...]
_WORK = frozenset(("dot", "convolution", "reduce", "gather", "scatter", "custom-call", "sort", "select-and-scatter"))
_MADE_ANYWHERE = frozenset(("constant", "iota", "partition-id", "replica-id", "rng-get-and-update-state"))
_MOST_TAKERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """Two modules side by side.

    Attributes:
      before, after: their dataflow.
      original: instruction of the partitioned program -> the instruction before that it is.
      owners: instruction of the partitioned program -> those before that it was made for: they have its name.
    """

    before: Flow
    after: Flow
    original: dict[int, int]
    owners: dict[int, tuple[int, ...]]


def align(before: HloModule, after: HloModule, pieces: _Pieces) -> Aligned:
    """Put the program before partitioning and the partitioned one side by side.

    `pieces` tells how large an instruction before is on one device by its sharding, array by array.
    """
    flows = Flow(before), Flow(after)
    others, rows = map(_alike, flows)
    original: dict[int, int] = {}
    for key, own in rows.items():
        theirs = others.get(key, [])
        original.update(_paired(own, theirs) or _by_size(flows[1], own, theirs, pieces))
    original.update(_parameters(flows, original))
    return Aligned(before=flows[0], after=flows[1], original=original, owners=_owners(flows))


def _alike(flow: Flow) -> dict[Hashable, list[int]]:
    """Instructions by what partitioning keeps: name, opcode, types and ranks."""
    alike: dict[Hashable, list[int]] = defaultdict(list)
    for index in flow.reached:
        opcode, name = flow.opcode_of(index), _name(flow, index)
        # What has no name is none of the user's operations: nothing says which of those before it could be.
        if opcode in _PLUMBING or not name:
            continue
        shapes = [flow.shape(node) for node in flow.nodes(index)]
        types = tuple((shape.dtype, len(shape.dimensions)) for shape in shapes)
        alike[name, _AS_SLICE.get(opcode, opcode), types].append(index)
    return alike


def _paired(own: list[int], theirs: list[int]) -> dict[int, int]:
    """Instructions after and before, in their order, which the partitioner keeps, where there are as many.

    Any other number means that some were made or merged, and nobody can say which.
    """
    return dict(zip(own, theirs, strict=True)) if len(own) == len(theirs) else {}


def _by_size(flow: Flow, own: list[int], theirs: list[int], pieces: _Pieces) -> dict[int, int]:
    """Pairs instructions after with those before whose piece has their size; of several, the last of each size."""
    sizes: dict[Hashable, list[int]] = defaultdict(list)
    for index in own:
        sizes[tuple(flow.shape(node).dimensions for node in flow.nodes(index))].append(index)
    wanted: dict[Hashable, list[int]] = defaultdict(list)
    for index in theirs:
        wanted[pieces(index)].append(index)
    if sizes.keys().isdisjoint(wanted):
        return _paired(_last(flow, own), theirs)
    found: dict[int, int] = {}
    for size, rows in wanted.items():
        found |= _paired(sizes[size], rows) or _paired(_last(flow, sizes[size]), rows)
    return found


def _last(flow: Flow, instructions: list[int]) -> list[int]:
    """The instructions that lead to no other of them through instructions of their name."""
    ends: list[int] = []
    for index in instructions:
        name = _name(flow, index)
        led_to = dict.fromkeys(flow.nodes(index))
        border = list(led_to)
        for node in border:
            inner = [k for k in flow.after[node] if k not in led_to and _name(flow, flow.owner[k]) == name]
            led_to.update(dict.fromkeys(inner))
            border += inner
        if {flow.owner[node] for node in border}.isdisjoint(k for k in instructions if k != index):
            ends.append(index)
    return ends


def _parameters(flows: tuple[Flow, Flow], original: dict[int, int]) -> dict[int, int]:
    """The parameters of the entry, and those of the computations that two instructions call."""
    before, after = flows
    # Parameters have no name to go by; their number does, once it is known which computations are each other.
    pairs = [(after.module.entry, before.module.entry)]
    for index, other in original.items():
        called, others = (flow.module.instructions.called[k].tolist() for flow, k in ((after, index), (before, other)))
        pairs += zip(called, others, strict=True) if len(called) == len(others) else ()
    counterpart: dict[int, int] = {}
    for computation, other in pairs:
        own, theirs = after.parameters(computation), before.parameters(other)
        if len(own) == len(theirs):
            counterpart.update(zip(own, theirs, strict=True))
    return counterpart


def _owners(flows: tuple[Flow, Flow]) -> dict[int, tuple[int, ...]]:
    """For each instruction of the partitioned program, those before of its name."""
    before, after = flows
    named: dict[str, list[int]] = defaultdict(list)
    for index in before.reached:
        if name := _name(before, index):
            named[name].append(index)
    # Thousands may have one name; they share one tuple.
    owners = {name: tuple(indices) for name, indices in named.items()}
    return {index: owners.get(name, ()) for index in after.reached if (name := _name(after, index))}


def _name(flow: Flow, index: int) -> str:
    return flow.module.op_names[flow.module.instructions.op_name[index]]


def with_collectives(
    aligned: Aligned,
    program: ShardedProgram,
    op_of: Mapping[int, int],
    values_of: Mapping[int, tuple[int, ...]],
    rules: Mapping[int, Place] = MappingProxyType({}),
) -> ShardedProgram:
    """The program with every collective of the partitioned one, in its order, and how they follow each other.

    Args:
      aligned: the programs before and after partitioning, side by side.
      program: the program before, as read from its module.
      op_of: instruction before -> its index in `ShardedProgram.ops`.
      values_of: instruction before -> the indices in `ShardedProgram.values` of its arrays.
      rules: the instructions after that partition rules of the user have made of their calls, with their places. Their
        collectives become operations of the program, as only the rules have them.
    """
    program, own_ops = _with_rules(aligned, program, op_of, rules)
    finder, flow = _EdgeFinder(aligned, program, op_of, values_of, own_ops), aligned.after
    made, written = [finder.edge(index) for index in finder.numbers], list(finder.written())
    arrays: list[Moved] = [(given_to(flow, index), flow.nodes(index)) for index in finder.numbers]
    sources, reaches = neighbours(flow, (*arrays, *(array for _, array in written)))
    found = zip((*made, *(edge for edge, _ in written)), sources, reaches, strict=True)
    moved = tuple(replace(edge, sources=before, reaches=behind) for edge, before, behind in found)
    return replace(program, is_predicted=False, collectives=moved[: len(made)], written=moved[len(made) :])


def _with_rules(
    aligned: Aligned, program: ShardedProgram, op_of: Mapping[int, int], rules: Mapping[int, Place]
) -> tuple[ShardedProgram, dict[int, int]]:
    """The program with the collectives of partition rules at its end, and the operation that each of these is."""
    module, ops, found = aligned.after.module, list(program.ops), {}
    for index, place in rules.items():
        op = module.instruction(index)
        calls = [op_of[own] for own in aligned.owners.get(index, ()) if own in op_of]
        if op.opcode in COLLECTIVES and len(calls) == 1:
            found[index] = len(ops)
            kind = f"hlo.{op.opcode.replace('-', '_')}"
            named = {"op_name": place.name, "frames": place.frames, "spans": place.spans}
            ops.append(ShardedOp(opcode=kind, parent=calls[0], detail=combines(op), **named))
    return replace(program, ops=tuple(ops)) if found else program, found


def combines(op: Instruction) -> str:
    """The opcode of what a sum, or maximum, does to two elements; "" for any other operation."""
    return op.called[0].root.opcode if op.called and op.opcode.removesuffix("-start") in SUMS else ""


def groups_of(op: Instruction, devices: int | None = None) -> Groups:
    """The device groups of a collective as partition numbers; () where they are not understood, or all."""
    counts, kind = op.module.device_counts, op.opcode.removesuffix("-start")
    if kind == "collective-permute":
        return logical_pairs(op.details.source_target_pairs, op.channel_id, counts) or ()
    return logical_groups(kind, op.details, op.channel_id, counts, devices) or ()


def given_to(flow: Flow, index: int) -> list[int]:
    """The nodes that an instruction takes, leaf by leaf."""
    return [node for operand in flow.operands(index) for node in flow.nodes(operand)]


def neighbours(flow: Flow, arrays: Sequence[Moved]) -> tuple[list[Sources], list[tuple[int, ...]]]:
    """For each array what it is made of, and the program's results it goes to, with none of the others between.

    What it is made of is told for each operand of the products and sums that lie closest before it: indices of arrays,
    and -1 - k for argument k of the program.
    """
    count = len(flow.arguments)
    marks = {node: number for number, node in enumerate(flow.arguments)}
    marks |= {node: count + number for number, (_, yielded) in enumerate(arrays) for node in yielded}
    bits = flow.nearest(marks)

    def made_of(node: int) -> tuple[int, ...]:
        return tuple(mark - count if mark >= count else ~mark for mark in _members(bits[node]))

    reaches: list[list[int]] = [[] for _ in arrays]
    for number, node in enumerate(flow.results):
        for source in made_of(node):
            if source >= 0:
                reaches[source].append(number)
    # The nearest products and sums before an array are told operand by operand; what is marked is one itself.
    ends = [node in marks or flow.opcode(node) in _WORK for node in range(len(flow.before))]
    sources: list[Sources] = []
    for given, _ in arrays:
        close = (
            made_of(own)
            for node in flow.walk(given, flow.before, ends)
            for own in ((node,) if node in marks else flow.before[node])
        )
        sources.append(tuple(sorted(set(close))))
    return sources, list(map(tuple, reaches))


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


class _EdgeFinder:
    def __init__(
        self,
        aligned: Aligned,
        program: ShardedProgram,
        op_of: Mapping[int, int],
        values_of: Mapping[int, tuple[int, ...]],
        of_rules: Mapping[int, int],
    ) -> None:
        self.aligned, self.program, self.op_of, self.values_of = aligned, program, op_of, values_of
        self.of_rules = of_rules
        flow, original = aligned.after, aligned.original
        known = original.keys() | of_rules.keys()
        own = (k for k in flow.reached if flow.opcode_of(k) in COLLECTIVES and k not in known)
        # Instruction that is a collective of the partitioner's -> which of them it is, in order.
        self.numbers = {index: number for number, index in enumerate(own)}
        self.kept = frozenset(original.values())
        self.stops = [index in original for index in flow.owner]
        self.outputs = {node: number for number, node in enumerate(flow.results)}

    def written(self) -> Iterator[tuple[PartitionedCollective, Moved]]:
        """Every array that a collective of the user's moves, in order."""
        flow = self.aligned.after
        for index in flow.reached:
            own = self.of_rules.get(index, self.op_of.get(self.aligned.original.get(index, -1)))
            if own is not None and flow.opcode_of(index) in COLLECTIVES:
                for source, node in zip(given_to(flow, index), flow.nodes(index), strict=False):
                    yield replace(self._bare(index, [source]), visited=(own,)), ((source,), (node,))

    def _bare(self, index: int, given: list[int]) -> PartitionedCollective:
        """A collective that is given some nodes, without where it lies."""
        op, shapes = self.aligned.after.module.instruction(index), list(map(self.aligned.after.shape, given))
        return PartitionedCollective(
            kind=op.opcode,
            channel_id=op.channel_id,
            groups=groups_of(op),
            dtype=shapes[0].dtype if shapes else "",
            combines=combines(op),
            elements=sum(shape.count or 0 for shape in shapes),
            given_shape=shapes[0].dimensions if shapes else (),
        )

    def edge(self, index: int) -> PartitionedCollective:
        """One collective, with what makes and what takes it."""
        flow = self.aligned.after
        given, yielded = given_to(flow, index), list(flow.nodes(index))
        makers = self._makers(given)
        takers, outputs, ends = self._takers(yielded)
        between = tuple(self._between(makers, ends))
        first = makers[0][1] if makers else None
        made_of = () if first is None else given_to(flow, flow.owner[first])
        return replace(
            self._bare(index, given),
            makers=tuple(dict.fromkeys(value for value, _ in makers)),
            made_shape=() if first is None else flow.shape(first).dimensions,
            made_of=tuple(flow.shape(leaf).dimensions for leaf in made_of),
            reduced=tuple(dict.fromkeys(self._reduced(given))),
            takers=takers,
            outputs=outputs,
            feeds=self._feeds(yielded),
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
        """The ones of some operations that make what the takers take, without others in between.

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
        leaves = given_to(before, self.aligned.original[index])
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
        for node in _reached(starts, flow.after, lambda node: not self.stops[node]):
            if len(takers) >= _MOST_TAKERS:
                break
            if node in self.outputs:
                outputs[self.outputs[node]] = None
                results = self.aligned.before.results[self.outputs[node] : self.outputs[node] + 1]
                ends.update(dict.fromkeys(map(self._untupled, results)))
            for other in filter(self.stops.__getitem__, flow.after[node]):
                ends.update(dict.fromkeys(map(self._untupled, self._taken(node, other))))
                takers.update(dict.fromkeys(self._taker(node, other)))
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
        place, shape = other - flow.first[index], flow.shape(node).dimensions
        op = self.op_of.get(self.aligned.original[index])
        if op is None:
            value = self._value(other)
            loop = None if value is None else self.program.values[value].op
            yield from () if loop is None else (Taker(op=loop, operand=place, shape=shape),)
        elif flow.opcode(other) in ("while", "opt-barrier"):
            yield Taker(op=op, operand=place, shape=shape)
        else:
            # The mark behind a partition rule's operations takes their results after the operands of the call.
            has_rule = bool(self.program.ops[op].wanted)
            count = len(self.program.ops[op].operands) if has_rule else None
            positions = [own for own in self._positions(index, node) if count is None or own < count]
            if not positions and flow.opcode(other) == "conditional":
                # What a branch returns becomes a result: those are counted on from the operands.
                positions = [len(self.program.ops[op].operands) + place]
            for operand in positions:
                yield Taker(op=op, operand=operand, shape=self._as_taken(op, operand, shape))

    def _as_taken(self, op: int, operand: int, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape; () where the partitioner gives the operation something of its own, with other dimensions."""
        operands = self.program.ops[op].operands
        rank = len(self.program.values[operands[operand]].shape) if operand < len(operands) else len(shape)
        return shape if len(shape) == rank else ()

    def _positions(self, index: int, node: int) -> list[int]:
        """The operand numbers that a node has in an instruction, counting the leaves of tuples."""
        return [place for place, leaf in enumerate(given_to(self.aligned.after, index)) if leaf == node]


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
