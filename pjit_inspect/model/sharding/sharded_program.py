"""The program before partitioning, with the sharding that propagation gave every value of it.

Ops, values and where each mesh axis came from, as Shardy leaves them (`observe.shardy.propagation`). Not its job: what
follows from it for collectives (`analyze.sharding.needs`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.spec import Dimensions, local_shape

"""For each dimension the mesh axes it is split over, outermost first. A part of an axis is written "x:(1)2": the
devices along it before the part, and those of the part."""

_MOST_DEVICES = 1 << 31
_NOT_KEPT = re.compile(r"[^\w.-]", re.ASCII)
_STABLEHLO_NAMES = {
    "broadcast": "broadcast_in_dim",
    "conditional": "case",
    "dot": "dot_general",
    "opt_barrier": "optimization_barrier",
}
"""HLO's names of operations that StableHLO calls otherwise."""


def axis_name(axis: str) -> str:
    """The mesh axis that an axis, or a part of one, belongs to."""
    return axis.partition(":(")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The piece of source text an op was written as.

    Attributes:
      line, end_line: where it begins and ends, counted from 1.
      column, end_column: the same on these lines, in bytes of UTF-8 from 0; the last is not part of it.
    """

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What JAX says of an operation: its name, and where it was written.

    Attributes:
      name: JAX's name of it; "" when it has none.
      frames: innermost first; ().
      spans: for each frame, the piece of its text that was being run; None where JAX does not say.
    """

    name: str = ""
    frames: tuple[Frame, ...] = ()
    spans: tuple[Span | None, ...] = ()

    @property
    def kept(self) -> str:
        """The last part of its name, of characters that XLA keeps: what a numbered copy calls it behind the number."""
        return _NOT_KEPT.sub("_", self.name.rpartition("/")[2])

    def within(self, call: Place) -> Place:
        """The place of an operation of a called function: the call's name and frames stand around its own."""
        if not call.name:
            return self
        name = self.name
        if not name.startswith(call.name):
            name = f"{call.name}/{name}" if name else call.name
        frames, spans = self.frames, self.spans
        if frames[-len(call.frames) :] != call.frames:
            frames, spans = (*frames, *call.frames), (*spans, *call.spans)
        return Place(name=name, frames=frames, spans=spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisOrigin:
    """Where one mesh axis in a value's sharding came from.

    Attributes:
      axis: the mesh axis.
      kind: "input" (an argument has it), "output" (a result was asked to have it), "constraint" (the user's
        `with_sharding_constraint` or `reshard`, or in Explicit mode the type of an op), "manual" (`shard_map`'s
        specs), or "unknown".
      index: the argument's or the result's position, or the index in `ShardedProgram.ops` of the constraint; None when
        it is not known.
    """

    axis: str
    kind: Literal["input", "output", "constraint", "manual", "unknown"]
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedValue:
    """One array of the program before partitioning.

    Attributes:
      dtype: XLA's short name of the element type ("f32", "s32", "pred").
      shape: the global shape; inside a `shard_map`, the shape one shard has.
      spec: how it is split; one entry per dimension.
      closed: for each dimension, whether more axes were forbidden (a constraint, an argument or a result said so).
      origins: where the axes in `spec` came from; () when there are none or it is not known.
      op: the index in `ShardedProgram.ops` of the op that makes it; None for an argument of the program.
      argument: its position among the program's arguments; None for anything else.
    """

    dtype: str
    shape: tuple[int, ...]
    spec: Dimensions
    closed: tuple[bool, ...] = ()
    origins: tuple[AxisOrigin, ...] = ()
    op: int | None = None
    argument: int | None = None

    def __post_init__(self) -> None:
        if len(self.spec) != len(self.shape):
            raise ValueError(f"a sharding of rank {len(self.spec)} for a value of shape {self.shape}")

    @property
    def axes(self) -> tuple[str, ...]:
        """The mesh axes it is split over, in the order of the dimensions."""
        return tuple(axis for dimension in self.spec for axis in dimension)


def _check_indices(indices: Collection[int], count: int, what: str) -> None:
    if indices and not (min(indices) >= 0 and max(indices) < count):
        raise ValueError(f"{what} is outside 0..{count - 1}")


def _check_values(program: ShardedProgram) -> None:
    """All values together: there are tens of thousands, and the program is made anew several times."""
    values = program.values
    _check_indices({value.op for value in values if value.op is not None}, len(program.ops), "a value's op")
    arguments = {value.argument for value in values if value.argument is not None}
    _check_indices(arguments, len(program.inputs), "an argument")
    counts = {"input": len(program.inputs), "output": len(program.outputs), "constraint": len(program.ops)}
    origins = {(origin.kind, origin.index) for value in values for origin in value.origins if origin.index is not None}
    for kind, index in origins:
        _check_indices((index,), counts.get(kind, 0), "an axis's origin")


def _check_collective(collective: PartitionedCollective, program: ShardedProgram) -> None:
    ops = (*collective.visited, *(taker.op for taker in collective.takers))
    _check_indices(ops, len(program.ops), "a collective's operation")
    _check_indices(collective.makers, len(program.values), "a collective's value")
    _check_indices((*collective.outputs, *collective.reaches), len(program.outputs), "a collective's result")
    _check_indices(
        [one for own in collective.sources for one in own if one >= 0], len(program.moved), "a collective's source"
    )
    _check_indices(collective.feeds, len(program.collectives), "a collective that another feeds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardingRule:
    """How an op's dimensions hang together: equal factors must be split alike, or data must move.

    Attributes:
      operands, results: for each array, for each dimension, its factors (outermost first).
      sizes: factor -> its length.
      reduction: factors that are summed (or otherwise reduced) away.
      need_replication: factors that must be replicated on every device.
      permutation: factors that may be split, but whose neighbours must be exchanged.
    """

    operands: tuple[tuple[tuple[str, ...], ...], ...]
    results: tuple[tuple[tuple[str, ...], ...], ...]
    sizes: dict[str, int] = field(hash=False)
    reduction: tuple[str, ...] = ()
    need_replication: tuple[str, ...] = ()
    permutation: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedOp:
    """One op of the program before partitioning.

    Attributes:
      opcode: the dialect's name ("stablehlo.dot_general").
      op_name: JAX's full name with scopes ("jit(f)/layer0/dot_general"); "" when it has none.
      frames: the source frames, innermost first, libraries included; () when it has none.
      spans: for each frame, the piece of its text that was being run; None where JAX does not say.
      operands, results: indices in `ShardedProgram.values`.
      rule: how its dimensions hang together; None when Shardy has no rule for it.
      parent: the index of the op whose region it stands in; None at the top.
      manual: the axes of the `shard_map` it stands in; ().
      in_condition: whether it stands in the condition of the loop `parent`.
      wanted: how a `shard_map` wants each operand split (its `in_specs`); () for anything else.
      edges: for an op with a window (a convolution, a pooling), dimension of its first operand -> rows along it that it
        reads beyond a piece, on both sides together; () where that is not known.
      detail: what tells ops of one opcode apart (a custom call's target, a reduction's or a scatter's function); "".
      is_on_one: whether one device alone runs it, as a host callback.
      kind: the opcode without its dialect, by the name StableHLO has for it ("dot_general").
    """

    opcode: str
    op_name: str = ""
    frames: tuple[Frame, ...] = ()
    spans: tuple[Span | None, ...] = ()
    operands: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    rule: ShardingRule | None = None
    parent: int | None = None
    manual: tuple[str, ...] = ()
    wanted: tuple[Dimensions, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    detail: str = ""
    in_condition: bool = False
    is_on_one: bool = False
    kind: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        name = self.opcode.rpartition(".")[2]
        object.__setattr__(self, "kind", _STABLEHLO_NAMES.get(name, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryValue:
    """One argument or result of the whole program.

    Attributes:
      name: JAX's name for it (`params['w1']`, `result[0]`), which XLA keeps too.
      value: its index in `ShardedProgram.values`.
      spec: the sharding it must have; None when propagation was free to choose.
      path: the user's name for it where a library hid it from JAX (`model.up.kernel` for `model.states[0][10]`); ""
        where there is no other than `name`.
    """

    name: str
    value: int
    spec: Dimensions | None = None
    path: str = ""

    @property
    def label(self) -> str:
        """The name a person knows it by."""
        return self.path or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """An operation that takes what a collective yields.

    Attributes:
      op: its index in `ShardedProgram.ops`.
      operand: which of its operands it is; for what a branch returns, the number of operands and then which result.
      shape: the shape that operand has on one device, as XLA partitioned the operation (counted); () where XLA gives it
        something of its own, with other dimensions.
    """

    op: int
    operand: int
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionedCollective:
    """One collective as XLA's partitioner made it, between operations of the program before partitioning.

    Attributes:
      kind: XLA's opcode.
      channel_id: XLA's channel, which the optimized program keeps; None where it has none.
      groups: which devices take part together, as partition numbers; pairs for a collective-permute.
      dtype: XLA's name of its element type.
      elements: how many elements one device gives.
      makers: the values (in `ShardedProgram.values`) it moves or adds up.
      made_shape: the shape on one device of the first of them, as XLA partitioned what makes it (counted).
      made_of: the shapes on one device of the operands of the operation that makes it (counted); () where unknown.
      given_shape: the shape of what one device gives (counted), which other collectives may have moved before.
      reduced: the operations whose reduction, of a device's own piece, makes what it moves; () where none does.
      takers: the operations that take its result.
      outputs: the program's results it goes to without an operation in between.
      feeds: the next collectives on the way there, by their place in `ShardedProgram.collectives`.
      visited: the operations it may belong to by name and place, those XLA was partitioning when it made it.
      sources: what it is made of with no other collective between, for each operand of the products and sums closest
        before it: indices in `ShardedProgram.moved`, and -1 - k for argument k of the program.
      reaches: the program's results it goes to with no other collective between.
    """

    kind: str
    channel_id: int | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    dtype: str = ""
    elements: int = 0
    makers: tuple[int, ...] = ()
    made_shape: tuple[int, ...] = ()
    made_of: tuple[tuple[int, ...], ...] = ()
    given_shape: tuple[int, ...] = ()
    reduced: tuple[int, ...] = ()
    takers: tuple[Taker, ...] = ()
    outputs: tuple[int, ...] = ()
    feeds: tuple[int, ...] = ()
    visited: tuple[int, ...] = ()
    sources: tuple[tuple[int, ...], ...] = ()
    reaches: tuple[int, ...] = ()

    @property
    def group_size(self) -> int:
        """How many devices take part together, in the largest group; 1 where the groups are not known."""
        return max((len(group) for group in self.groups), default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedProgram:
    """Shardings of a whole program before partitioning.

    Where XLA could be asked, it is XLA's own program, and `collectives` says what its partitioner inserted. Else it is
    what a run of Shardy in this package predicts: XLA rewrites a program before it propagates, so some may differ.

    Attributes:
      ops: in program order; an op stands before those in its regions.
      values: every array they use.
      inputs, outputs: the program's arguments and results.
      meshes: of every mesh of the program the devices along each axis (`Mesh.sizes`), in order of appearance.
      links: pairs of values that are the same array on both sides of a region's border (loop, call, `shard_map`).
      is_predicted: whether it is a prediction, and not what XLA says.
      partitioner: "shardy" or "gspmd", whichever XLA used.
      collectives: the collectives that XLA's partitioner made; () in a prediction.
      written: what those move that the user wrote, each array with its operation as `visited`; () in a prediction.
      compiler_log: what XLA warned of when it was asked, as it wrote it; a record keeps it as its own.
    """

    ops: tuple[ShardedOp, ...] = ()
    values: tuple[ShardedValue, ...] = ()
    inputs: tuple[EntryValue, ...] = ()
    outputs: tuple[EntryValue, ...] = ()
    meshes: tuple[dict[str, int], ...] = ()
    links: tuple[tuple[int, ...], ...] = ()
    is_predicted: bool = True
    partitioner: Literal["shardy", "gspmd"] = "shardy"
    collectives: tuple[PartitionedCollective, ...] = ()
    written: tuple[PartitionedCollective, ...] = ()
    compiler_log: str = field(default="", compare=False)
    _cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for index, op in enumerate(self.ops):
            _check_indices((*op.operands, *op.results), len(self.values), "an op's value")
            if op.parent is not None:
                _check_indices((op.parent,), index, "an op's parent")
            for operand in op.operands:
                maker = self.values[operand].op
                if maker is not None and maker >= index:
                    raise ValueError(f"op {index} uses value {operand}, which op {maker} makes later")
        _check_values(self)
        borders = [boundary.value for boundary in (*self.inputs, *self.outputs)]
        _check_indices(borders, len(self.values), "an argument's or result's value")
        for mesh in self.meshes:
            if any(not 1 <= size <= _MOST_DEVICES for size in mesh.values()):
                raise ValueError(f"a mesh axis of no possible size: {str(mesh)[:100]}")
        for collective in self.moved:
            _check_collective(collective, self)
        if any(len(link) != 2 for link in self.links):
            raise ValueError("a link does not join two values")
        _check_indices(tuple(value for link in self.links for value in link), len(self.values), "a link's value")

    @property
    def moved(self) -> tuple[PartitionedCollective, ...]:
        """`collectives`, then `written`."""
        return (*self.collectives, *self.written)

    @property
    def sizes(self) -> dict[str, int]:
        """Mesh axis -> devices along it, over all meshes; the first mesh that has a name decides."""
        if "sizes" not in self._cache:
            sizes: dict[str, int] = {}
            for mesh in self.meshes:
                sizes = {**mesh, **sizes}
            self._cache["sizes"] = sizes
        return self._cache["sizes"]

    def length(self, axis: str) -> int:
        """How many pieces an axis, or a part of one, cuts a dimension into; 1 when it is unknown."""
        if ":(" in axis:
            size = axis.rpartition(")")[2]
            return max(1, int(size)) if size.isdecimal() and len(size) < 10 else 1
        return max(1, self.sizes.get(axis, 1))

    def pieces(self, axes: tuple[str, ...]) -> int:
        """How many pieces some axes cut a dimension into."""
        return math.prod(map(self.length, axes))

    def local_shape(self, value: int, spec: Dimensions | None = None) -> tuple[int, ...]:
        """The shape of the largest piece of a value that a device holds; `spec` where it is split differently."""
        found = self.values[value]
        return local_shape(found.shape, [self.pieces(axes) for axes in (found.spec if spec is None else spec)])

    def op_of(self, value: int | None) -> ShardedOp | None:
        """The operation that makes a value, or has it in a region; None for an argument of the program, and for None.

        What it makes is among its results.
        """
        op = None if value is None else self.values[value].op
        return None if op is None else self.ops[op]

    @property
    def users(self) -> Mapping[int, Sequence[tuple[int, int]]]:
        """For each value that is used: (operation, number of the operand) of every use, in order."""
        if "users" not in self._cache:
            users: dict[int, list[tuple[int, int]]] = {}
            for index, op in enumerate(self.ops):
                for number, value in enumerate(op.operands):
                    users.setdefault(value, []).append((index, number))
            self._cache["users"] = users
        return self._cache["users"]
