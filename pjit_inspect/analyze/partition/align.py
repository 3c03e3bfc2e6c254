"""Which instruction of the partitioned program is which of the program before.

The partitioner visits instructions in order and rewrites each for one device. What it makes of one has its name, which
in a numbered copy (`parse.sharding.propagated_hlo`) is that of one operation: what has an instruction's name and opcode
is it. Where more has both, it is what has the size of a piece by the instruction's sharding, and of that the last: what
is cut out for neighbours on the way leads to it. Not its job: what lies between them (`analyze.partition.edges`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from pjit_inspect.analyze.program.array_flow import Flow
from pjit_inspect.model.program.hlo import HloModule

COLLECTIVES = frozenset((
    "all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute", "collective-broadcast",
    "ragged-all-to-all",
))  # fmt: skip
_PLUMBING = frozenset(("tuple", "get-tuple-element", "parameter", "constant", "partition-id", "replica-id"))
_AS_SLICE = {"copy": "slice"}
"""A slice that takes all of the piece which a device has got from others is a copy of it."""
_Pieces = Callable[[int], tuple[tuple[int, ...], ...]]


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
    """Those after that are as large as those before are on one device, the last of each size."""
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
    """Those that lead to no other of them through instructions of their name."""
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
