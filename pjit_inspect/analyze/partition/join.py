"""Joins each array of an optimized collective to those of XLA's partitioner, or of the user's code, that it may be.

XLA keeps the channel of what its partitioner made, and gives a combined collective that of its first array: a channel
that both programs have, with one collective that fits, is proof. Any other array is one of those of its kind, groups,
type and size that no channel claims, and that have the name XLA kept of it. Among several it is the one before and
behind which the same lies: arguments, results, and arrays that are known by now; each that becomes known tells others.
Where several remain, all of them are the answer. Not its job: what they are for (`analyze.causes.causes`).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.analyze.partition.edges import Moved, Sources, combines, given_to, groups_of, neighbours
from pjit_inspect.analyze.program.array_flow import Flow
from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.dataflow import entering, operand
from pjit_inspect.analyze.program.phases import is_written_name, split_op_names
from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedOp, ShardedProgram

_SAME_KIND = {"reduce-scatter": "all-reduce"}
"""XLA turns a sum that is sliced afterwards into the other."""
_TUPLED = frozenset(("all-to-all", "ragged-all-to-all"))
_HOPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedArray:
    """One array of a collective, which XLA may have combined with others.

    Attributes:
      elements, bytes: how many of them one device gives.
      op_name: JAX's name of the operation or argument it belongs to, as far as XLA kept it; "".
      made_by: the name of what makes it, where XLA kept fewer names than arrays; "" for any other.
      frames: the source frames of that name, innermost first; ().
      edges: the collectives of the partitioner's that it may be; () where none fits.
      written: those that the user wrote and that it may be; () where none fits.
    """

    elements: int
    bytes: int
    op_name: str = ""
    made_by: str = ""
    frames: tuple[Frame, ...] = ()
    edges: tuple[PartitionedCollective, ...] = ()
    written: tuple[PartitionedCollective, ...] = ()


def join(program: ShardedProgram | None, sites: Sequence[CollectiveOp]) -> list[tuple[MovedArray, ...]]:
    """The arrays of each collective of the optimized program, and which of the partitioned they may be."""
    program = program or ShardedProgram()
    arrays = [_moved_arrays(site.op, site.kind) for site in sites]
    rows = [row for site, own in zip(sites, arrays, strict=True) for row in _rows(site, own)]
    found, made = iter(_Joiner(program, rows).joined()), len(program.collectives)

    def joined(array: MovedArray, numbers: list[int]) -> MovedArray:
        edges = tuple(program.collectives[k] for k in numbers if k < made)
        return replace(array, edges=edges, written=tuple(program.written[k - made] for k in numbers if k >= made))

    return [tuple(joined(array, next(found)) for array in own) for own in arrays]


def _moved_arrays(op: Instruction, kind: str) -> tuple[MovedArray, ...]:
    """Every array `op` moves for a reason of its own: one for each operand of a combined collective.

    XLA gives an all-to-all that cuts one array into pieces one operand for each piece: these are one array.
    """
    names = split_op_names(op.op_name)
    operands = [(given, leaf) for given in op.operands for leaf in given.shape.leaves if leaf.is_array]
    if kind in _TUPLED or len(operands) < 2:
        return (_array([shape for _, shape in operands], names[0] if names else "", op.frames),)
    own = names if len(names) == len(operands) else (names * len(operands) if len(names) == 1 else ())
    arrays = []
    for position, (given, shape) in enumerate(operands):
        producer = _named_producer(given)
        name = own[position] if own else producer.op_name
        is_made_there = producer.op_name == name
        frames = producer.frames if is_made_there else (op.frames if position == 0 or not own else ())
        array = _array([shape], name, frames)
        arrays.append(array if len(names) == len(operands) else replace(array, made_by=producer.op_name))
    return tuple(arrays)


def _array(shapes: list[Shape], name: str, frames: tuple[Frame, ...]) -> MovedArray:
    return MovedArray(
        elements=sum(math.prod(shape.dimensions) for shape in shapes),
        bytes=sum(shape.bytes or 0 for shape in shapes),
        op_name=name,
        frames=frames,
    )


def _named_producer(op: Instruction) -> Instruction:
    """The nearest instruction with a name on the way back: out of fusions, through those without one."""
    for _ in range(_HOPS):
        if op.opcode == "parameter" and not op.computation.is_entry:
            before = entering(op, ("fusion", "call"))
        elif op.op_name:
            break
        else:
            before = op.called[0].root if op.opcode == "fusion" else operand(op, 0)
        if before == op:
            break
        op = before
    return op


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One array of a collective: which, of how many; and the kinds, types and groups it may have had."""

    op: Instruction
    array: MovedArray
    place: int
    count: int
    kinds: frozenset[str]
    types: frozenset[str]
    groups: frozenset[tuple[int, ...]]

    def fits(self, edge: PartitionedCollective) -> bool:
        """True if it has the kind, groups and type of what this may have been, and combines elements alike."""
        # Records of earlier versions do not say how elements are combined.
        is_other = edge.combines not in ("", combines(self.op) or edge.combines)
        if is_other or edge.kind not in self.kinds or edge.dtype not in self.types:
            return False
        return not self.groups or not edge.groups or frozenset(edge.groups) == self.groups


def _rows(site: CollectiveOp, arrays: tuple[MovedArray, ...]) -> list[_Row]:
    op = site.op
    kinds = {site.kind, op.opcode.removesuffix("-start")}
    types = {leaf.dtype for operand in op.operands for leaf in operand.shape.leaves}
    # CPUs add up in f32 what is narrower.
    types |= {"bf16", "f16"} if "f32" in types else set()
    return [
        _Row(
            op=op,
            array=array,
            place=place,
            count=len(arrays),
            kinds=frozenset(kinds | {_SAME_KIND[kind] for kind in kinds & _SAME_KIND.keys()}),
            types=frozenset(types),
            groups=frozenset(groups_of(op)),
        )
        for place, array in enumerate(arrays)
    ]


class _Ways:
    """The arrays of one program: what each is made of and goes to, until something that both programs know."""

    def __init__(self, sources: Sequence[Sources], reaches: Sequence[tuple[int, ...]]) -> None:
        """By what `neighbours` says; results are counted as arguments are."""
        self.operands = sources
        self.before = [sorted({one for group in own for one in group}) for own in sources]
        self.behind = [[~number for number in own] for own in reaches]
        for number, own in enumerate(self.before):
            for source in own:
                if source >= 0:
                    self.behind[source].append(number)
        self.learn({})

    def learn(self, known: dict[int, int]) -> None:
        """Know so many arrays by numbers that both programs have for them."""
        self.known = known
        self._beside: dict[int, tuple[Hashable, Hashable, Hashable]] = {}

    def beside(self, array: int) -> tuple[Hashable, Hashable, Hashable]:
        """The nearest known arrays before one, operand by operand and in all, and those behind it."""
        if array not in self._beside:
            self._beside[array] = (
                frozenset(self._nearest(array, group, self.before) for group in self.operands[array]),
                self._nearest(array, self.before[array], self.before),
                self._nearest(array, self.behind[array], self.behind),
            )
        return self._beside[array]

    def _nearest(self, array: int, nodes: Sequence[int], links: Sequence[Sequence[int]]) -> frozenset[int]:
        found, seen, border = set[int](), {array}, [*nodes]
        for one in border:
            if one < 0:
                found.add(one)
            elif one in self.known:
                found.add(self.known[one])
            elif one not in seen:
                seen.add(one)
                border += links[one]
        return frozenset(found)


class _Joiner:
    """Finds for each row the indices in `ShardedProgram.moved` that it may be."""

    def __init__(self, program: ShardedProgram, rows: list[_Row]) -> None:
        self.program, self.rows, self.moved = program, rows, program.moved
        self.known: dict[int, int] = {}
        # XLA gives what a partition rule has made of a call the name of the call.
        calls = (program.rule_call(program.ops[op]) for own in program.written for op in own.visited)
        self._rule_calls = {call.op_name for call in calls if call is not None}
        self.fitting: dict[int, list[int]] = {}

    def joined(self) -> list[list[int]]:
        self._by_channel()
        claimed = set(self.known.values())
        free = [k for k in range(len(self.moved)) if k not in claimed]
        for number, row in enumerate(self.rows):
            if number not in self.known and (own := self._of_kind(row, free)):
                self.fitting[number] = own
        if self.fitting:
            self._tell_apart()
        return [[self.known[k]] if k in self.known else self.fitting.get(k, []) for k in range(len(self.rows))]

    def _by_channel(self) -> None:
        of_channel: dict[int | None, list[int]] = defaultdict(list)
        for k, edge in enumerate(self.moved):
            of_channel[edge.channel_id].append(k)
        for number, row in enumerate(self.rows):
            channel, is_one = row.op.channel_id, row.count == 1
            own = of_channel[channel] if channel is not None and row.place == 0 else []
            own = [k for k in own if (is_one or self._has_size(k, row)) and row.fits(self.moved[k])]
            if len(own) == 1:
                self.known[number] = own[0]

    def _of_kind(self, row: _Row, free: list[int]) -> list[int]:
        # One that was not combined has a name of its own, which says whether it may be written.
        may_be_written = row.count > 1 or any(is_written_name(row.array.op_name, kind) for kind in row.kinds)
        may_be_written |= row.array.op_name in self._rule_calls
        count = len(self.moved) if may_be_written else len(self.program.collectives)
        return [
            k
            for k in free
            if k < count and self._has_size(k, row) and row.fits(self.moved[k]) and self._combines(k, row)
        ]

    def _combines(self, number: int, row: _Row) -> bool:
        """True if what the user wrote combines as an array is: a sum is no largest."""
        is_written = number >= len(self.program.collectives)
        own = {op.detail for op in self._ops(number) if op.detail} if is_written else set()
        return not own or not row.op.called or row.op.called[0].root.opcode in own

    def _has_size(self, number: int, row: _Row) -> bool:
        return self.moved[number].elements == row.array.elements

    def _tell_apart(self) -> None:
        flow = Flow(self.rows[0].op.module)
        here = _Ways(*neighbours(flow, [_moved(flow, row) for row in self.rows]))
        there = _Ways([edge.sources for edge in self.moved], [edge.reaches for edge in self.moved])
        named = {number: self._named(self.rows[number], own) for number, own in self.fitting.items()}
        while True:
            here.learn(self.known)
            there.learn({k: k for k in self.known.values()})
            left = {number: self._left(number, own, here, there) for number, own in named.items()}
            self.fitting |= left
            # What two arrays may be tells neither of them.
            times = Counter(own[0] for own in left.values() if len(own) == 1)
            told = {number: own[0] for number, own in left.items() if len(own) == 1 and times[own[0]] == 1}
            if not told:
                return
            self.known = self.known | told
            named = {number: own for number, own in named.items() if number not in told}

    def _left(self, number: int, named: list[int], here: _Ways, there: _Ways) -> list[int]:
        """The candidates left for an array by what is known; without a name, those that lie alike on both sides."""
        left = [k for k in named or self.fitting[number] if k not in there.known]
        own, others = here.beside(number), {k: there.beside(k) for k in left}
        if not named:
            return [k for k in left if others[k][1:] == own[1:]]
        for place in range(3):
            left = [k for k in left if others[k][place] == own[place]] or left
        return self._of_place(self.rows[number].array, left) or left

    def _named(self, row: _Row, fitting: list[int]) -> list[int]:
        """The candidates made for an operation of the array's name; in a `shard_map`, names begin at its body."""
        array = row.array
        # Where XLA kept one name for several, what makes an array may tell more.
        found = ([k for k in fitting if self._has_name(k, name)] for name in (array.made_by, array.op_name))
        return next(filter(None, found), [])

    def _has_name(self, number: int, name: str) -> bool:
        ops = (self.program.rule_call(op) or op for op in self._ops(number))
        return any(f"/{name}".endswith(f"/{op.op_name}") for op in ops if op.op_name)

    def _of_place(self, array: MovedArray, left: list[int]) -> list[int]:
        return [k for k in left if any((op.op_name, op.frames) == (array.op_name, array.frames) for op in self._ops(k))]

    def _ops(self, number: int) -> list[ShardedOp]:
        return [self.program.ops[op] for op in self.moved[number].visited]


def _moved(flow: Flow, row: _Row) -> Moved:
    """Of a combined collective, the array that is given in its place, and becomes the result in its place."""
    given, yielded = given_to(flow, row.op.index), flow.nodes(row.op.index)
    if row.count == 1:
        return given, yielded
    place = len(yielded) - row.count + row.place
    own = given[row.place : row.place + 1] if len(given) == row.count else given
    return own, yielded[place : place + 1] if place >= 0 else ()
