"""The program before partitioning, with the sharding that propagation gave to every value.

Ops, values and the origins of mesh axes. Not its job: the collectives that follow from it (`analyze.sharding.needs`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pjit_inspect.model.program.mesh import Dimensions, local_shape
from pjit_inspect.model.program.source import Frame

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
"""HLO's names of operations that have another name in StableHLO."""


def axis_name(axis: str) -> str:
    """The mesh axis that an axis, or a part of one, belongs to."""
    return axis.partition(":(")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The piece of source text of an op.

    Attributes:
      line, end_line: its first and last line, counted from 1.
      column, end_column: its first and last column (exclusive) on these lines, in UTF-8 bytes from 0.
    """

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """JAX's metadata of an operation: its name and source place.

    Attributes:
      name: JAX's name of it; "" for none.
      frames: source frames, innermost first; () for none.
      spans: for each frame, the running piece of its text; None if JAX does not say.
    """

    name: str = ""
    frames: tuple[Frame, ...] = ()
    spans: tuple[Span | None, ...] = ()

    @property
    def kept(self) -> str:
        """The last part of its name, in characters that XLA keeps: the text after the number in a numbered copy."""
        return _NOT_KEPT.sub("_", self.name.rpartition("/")[2])

    def within(self, call: Place) -> Place:
        """The place of an operation in a called function: the call's name and frames around the operation's."""
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
    """The origin of one mesh axis in a value's sharding.

    Attributes:
      axis: the mesh axis.
      kind: "input" (an argument has it), "output" (a result was asked to have it), "constraint" (the user's
        `with_sharding_constraint` or `reshard`, or in Explicit mode the type of an op), "manual" (`shard_map`'s
        specs), or "unknown".
      index: the argument's or the result's position, or the index in `ShardedProgram.ops` of the constraint; None if
        unknown.
    """

    axis: str
    kind: Literal["input", "output", "constraint", "manual", "unknown"]
    index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedValue:
    """One array of the program before partitioning.

    Attributes:
      dtype: XLA's short name of the element type ("f32", "s32", "pred").
      shape: the global shape; inside a `shard_map`, the shape of one shard.
      spec: its sharding, one entry per dimension.
      closed: for each dimension, whether more axes were forbidden (by a constraint, an argument or a result).
      origins: the origins of the axes in `spec`; () for none or unknown.
      op: the index in `ShardedProgram.ops` of the op that makes it; None for an argument of the program.
      argument: its number among the program's arguments; None for anything else.
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
    """Relations between an op's dimensions: equal factors must be split alike, or data must move.

    Attributes:
      operands, results: for each array, for each dimension, its factors (outermost first).
      sizes: factor -> its length.
      reduction: factors that are summed (or otherwise reduced) away.
      need_replication: factors that must be replicated on every device.
      permutation: factors that may be split, but need an exchange between neighbours.
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
      op_name: JAX's full name with scopes ("jit(f)/layer0/dot_general"); "" for none.
      frames: the source frames, innermost first, libraries included; () for none.
      spans: for each frame, the running piece of its text; None if JAX does not say.
      operands, results: indices in `ShardedProgram.values`.
      rule: the relations between its dimensions; None if Shardy has no rule for it.
      parent: the index of the op whose region contains it; None at the top.
      manual: the axes of the `shard_map` around it; () for none.
      in_condition: whether it is in the condition of the loop `parent`.
      wanted: the `in_specs` of a `shard_map`, or what the rule of a `custom_partitioning` wants its operands to be; ()
        for anything else.
      edges: for an op with a window (a convolution, a pooling), dimension of its first operand -> rows along it read
        beyond a piece, both sides together; () if unknown.
      detail: a distinction between ops of one opcode (a custom call's target, a reduction's or a scatter's function,
        the piece of a slice as "0:1,0:16"); "" for none.
      is_on_one: whether only one device runs it, as for a host callback.
      kind: the opcode without its dialect, by its StableHLO name ("dot_general").
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
      name: JAX's name for it (`params['w1']`, `result[0]`), also kept by XLA.
      value: its index in `ShardedProgram.values`.
      spec: its required sharding; None if propagation was free to choose.
      path: the user's name for it if a library hid it from JAX (`model.up.kernel` for `model.states[0][10]`); "" if
        `name` is the only one.
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
    """An operation that takes the result of a collective.

    Attributes:
      op: its index in `ShardedProgram.ops`.
      operand: the operand's number; for a branch's result, the number of operands plus the result's number.
      shape: the operand's shape on one device, as XLA partitioned the operation (counted); () if XLA passes an operand
        with other dimensions.
    """

    op: int
    operand: int
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionedCollective:
    """One collective made by XLA's partitioner, between operations of the program before partitioning.

    Attributes:
      kind: XLA's opcode.
      channel_id: XLA's channel, kept in the optimized program; None for none.
      groups: groups of devices that take part together, as partition numbers; pairs for a collective-permute.
      dtype: XLA's name of its element type.
      combines: XLA's opcode of what it does to two elements ("add", "maximum"); "" if it only moves them.
      elements: number of elements from one device.
      makers: the values (in `ShardedProgram.values`) it moves or adds up.
      made_shape: the shape on one device of the first of these, as XLA partitioned its maker (counted).
      made_of: the shapes on one device of that maker's operands (counted); () if unknown.
      given_shape: the shape of one device's operand (counted); other collectives may have moved it before.
      reduced: the operations that reduce a device's piece to the moved operand; () for none.
      takers: the operations that take its result.
      outputs: the program's results it reaches without an operation in between.
      feeds: the next collectives on the way there, by index in `ShardedProgram.collectives`.
      visited: the operations it may belong to by name and place: those XLA was partitioning when it made the
        collective.
      sources: its sources without another collective in between, for each operand of the closest earlier products and
        sums: indices in `ShardedProgram.moved`, and -1 - k for argument k of the program.
      reaches: the program's results it reaches without another collective in between.
    """

    kind: str
    channel_id: int | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    dtype: str = ""
    combines: str = ""
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
        """The number of devices in the largest group; 1 if the groups are unknown."""
        return max((len(group) for group in self.groups), default=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardedProgram:
    """Shardings of a whole program before partitioning.

    It is XLA's program, and `collectives` lists the collectives from its partitioner. In a file of an earlier version
    it may be a prediction, some of whose shardings differ.

    Attributes:
      ops: in program order; an op precedes the ops in its regions.
      values: every array they use.
      inputs, outputs: the program's arguments and results.
      meshes: devices along each axis of every mesh (`Mesh.sizes`), in order of appearance.
      links: pairs of values that are the same array on both sides of a region's border (loop, call, `shard_map`).
      is_predicted: whether it is a prediction from a file of an earlier version, not XLA's answer.
      partitioner: "shardy" or "gspmd", whichever XLA used.
      collectives: the collectives that XLA's partitioner made; () in a prediction.
      written: the arrays moved by collectives that the user wrote, each with its operation as `visited`; () in a
        prediction.
      compiler_log: XLA's warnings when it was asked, verbatim; the record's log.
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
        """The number of pieces into which an axis, or a part of one, cuts a dimension; 1 if unknown."""
        if ":(" in axis:
            size = axis.rpartition(")")[2]
            return max(1, int(size)) if size.isdecimal() and len(size) < 10 else 1
        return max(1, self.sizes.get(axis, 1))

    def pieces(self, axes: tuple[str, ...]) -> int:
        """The number of pieces into which axes cut a dimension."""
        return math.prod(map(self.length, axes))

    def local_shape(self, value: int, spec: Dimensions | None = None) -> tuple[int, ...]:
        """The shape of the largest piece of a value that a device holds; `spec` where it is split differently."""
        found = self.values[value]
        return local_shape(found.shape, [self.pieces(axes) for axes in (found.spec if spec is None else spec)])

    def rule_call(self, op: ShardedOp) -> ShardedOp | None:
        """The call of `custom_partitioning` whose partition rule has an operation; None for any other operation."""
        call = None if op.parent is None else self.ops[op.parent]
        return call if call is not None and call.kind == "custom_call" else None

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
