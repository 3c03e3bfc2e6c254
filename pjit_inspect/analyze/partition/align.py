"""Which instruction of the partitioned program is which of the program before.

The partitioner visits instructions in order and rewrites each for one device; what it makes for itself (collectives,
slices, masks, positions) is new. An instruction keeps its opcode, its name and its place in the source. Where several
are alike in that, they are told apart by the arguments they are made of and the results they go to, which partitioning
does not change; where they are alike in that too, by their order. A slice may become a copy, and is known by the size
of its piece as well. Not its job: what lies between them (`analyze.partition.edges`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial

from pjit_inspect.analyze.program.array_flow import Flow
from pjit_inspect.model.program.hlo import HloModule

COLLECTIVES = frozenset((
    "all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast",
    "ragged-all-to-all",
))  # fmt: skip
_PLUMBING = frozenset(("tuple", "get-tuple-element", "parameter", "constant", "partition-id", "replica-id"))
_SLICES = frozenset(("slice", "copy"))
"""A slice that takes all of the piece which a device has got from others is a copy of it."""
_Pieces = Callable[[int], tuple[tuple[int, ...], ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """Two modules side by side.

    Attributes:
      before, after: their dataflow.
      original: instruction of the partitioned program -> the instruction before that it is.
      owners: instruction of the partitioned program -> those before that it may have been made for: they have its name
        and its place in the source.
    """

    before: Flow
    after: Flow
    original: dict[int, int]
    owners: dict[int, tuple[int, ...]]


def align(before: HloModule, after: HloModule, pieces: _Pieces | None = None) -> Aligned:
    """Put the program before partitioning and the partitioned one side by side.

    `pieces` tells how large an instruction before is on one device by its sharding, array by array; None where that is
    not known.
    """
    flows = Flow(before), Flow(after)
    numbers: dict[int, int] = {}
    keys = [_Keys(flow, numbers) for flow in flows]
    original = _slices(flows, keys, pieces) if pieces is not None else {}
    # From what tells most to what tells least: an instruction that has found its own is left out of the next round.
    for level in range(_Keys.LEVELS):
        left = [keys[0].groups(level, set(original.values())), keys[1].groups(level, original.keys())]
        for key, rows in left[1].items():
            others = left[0].get(key, ())
            # As many on both sides: the partitioner is taken to keep their order. Any other number means that
            # some were added or merged, and nobody can say which: they are left to a round that tells less, or to none.
            if len(others) == len(rows):
                original.update(zip(rows, others, strict=True))
    original.update(_parameters(flows, original))
    return Aligned(before=flows[0], after=flows[1], original=original, owners=_owners(flows))


class _Keys:
    """What the instructions of one module are known by, from much to little.

    Sets of arguments and results are integers of a bit for each, long in a large program: each is hashed once, and
    goes by its number in `numbers`, which both modules share.
    """

    LEVELS = 3

    def __init__(self, flow: Flow, numbers: dict[int, int]) -> None:
        module = flow.module
        results = flow.descendants()
        ancestors, descendants = (_numbered(sets, numbers) for sets in (flow.ancestors(), results))
        columns = module.instructions
        self._keys: dict[int, tuple[tuple[Hashable, ...], ...]] = {}
        for index in flow.reached:
            opcode = module.opcodes[columns.opcode[index]]
            if opcode in _PLUMBING:
                continue
            nodes = flow.nodes(index)
            name = module.op_names[columns.op_name[index]]
            types = tuple(flow.shape(node).dtype for node in nodes)
            ranks = tuple(len(flow.shape(node).dimensions) for node in nodes)
            # What no result is made of goes away, and is none of those that lead to one.
            is_needed = any(results[node] for node in nodes)
            known = (opcode, name, int(columns.frame[index]), types, ranks, is_needed)
            # A collective without a name is taken for one that the partitioner added: it has no counterpart.
            if not name and opcode in COLLECTIVES:
                continue
            # Arguments and results are the same in both programs, whatever lies between: they tell layers apart that
            # have the same names and types.
            made_of = tuple(ancestors[node] for node in nodes)
            goes_to = tuple(descendants[node] for node in nodes)
            self._keys[index] = ((*known, made_of, goes_to), (*known, made_of), known)

    def slices(self, pieces: _Pieces) -> dict[tuple[Hashable, ...], list[int]]:
        """Slices and copies that are alike in all but their opcode, and in their pieces."""
        alike: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
        for index, ((opcode, *key), *_) in self._keys.items():
            if opcode in _SLICES:
                alike[*key, pieces(index)].append(index)
        return alike

    def groups(self, level: int, without: Iterable[int]) -> dict[tuple[Hashable, ...], list[int]]:
        left_out = set(without)
        alike: dict[tuple[Hashable, ...], list[int]] = defaultdict(list)
        for index, keys in self._keys.items():
            if index not in left_out:
                alike[keys[level]].append(index)
        return alike


def _slices(flows: tuple[Flow, Flow], keys: list[_Keys], pieces: _Pieces) -> dict[int, int]:
    """The slices and copies of the partitioned program that are one of those before, by the size of their pieces."""
    after = flows[1]
    others, rows = keys[0].slices(pieces), keys[1].slices(partial(_dimensions, after))
    found: dict[int, int] = {}
    for key, own in rows.items():
        theirs = others.get(key, ())
        # What is sliced for neighbours on the way has the same name; the slice itself comes last.
        last = own if len(own) == len(theirs) else _last(after, own)
        if len(last) == len(theirs):
            found.update(zip(last, theirs, strict=True))
    return found


def _dimensions(flow: Flow, index: int) -> tuple[tuple[int, ...], ...]:
    return tuple(flow.shape(node).dimensions for node in flow.nodes(index))


def _last(flow: Flow, instructions: list[int]) -> list[int]:
    """Those that lead to no other of them through instructions of their own name and place."""
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


def _numbered(sets: list[int], numbers: dict[int, int]) -> list[int]:
    """The number of each set; equal sets have one, and those that are one object are looked at once."""
    number = {name: numbers.setdefault(bits, len(numbers)) for name, bits in {id(one): one for one in sets}.items()}
    return [number[id(one)] for one in sets]


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
    """For each instruction of the partitioned program, those before of its name and place."""
    before, after = flows
    named: dict[tuple[str, int], list[int]] = defaultdict(list)
    for index in before.reached:
        if name := _name(before, index):
            named[name].append(index)
    # Thousands may have one name; they share one tuple.
    owners = {name: tuple(indices) for name, indices in named.items()}
    return {index: owners.get(name, ()) for index in after.reached if (name := _name(after, index))}


def _name(flow: Flow, index: int) -> tuple[str, int] | None:
    columns = flow.module.instructions
    name = flow.module.op_names[columns.op_name[index]]
    return (name, int(columns.frame[index])) if name else None
