"""Tells how every value of the propagated program lies on the devices, and where each axis came from.

Not its job: what it costs in collectives (`analyze.causes.causes`), drawing
(`view`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from pjit_inspect.analyze.program.phases import find_phase
from pjit_inspect.analyze.sharding.same_data import kept
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.mesh import entry_of
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.program.primitive import users_word
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.sharding.sharded_program import AxisOrigin, ShardedOp, ShardedProgram, ShardedValue
from pjit_inspect.model.words.sentence import Sentence, code, name, place, say

_MANUAL = "manual_computation"
_REGIONS = frozenset(("while", "case", "if", "named_computation", _MANUAL))
_MADE_IN_PLACE = frozenset(("constant", "iota", "partition_id", "replica_id"))
_SAME_DATA = frozenset(("convert", "reshape", "transpose", "broadcast_in_dim", "copy"))
_CONSTRAINTS = frozenset(("sharding_constraint", "reshard", "optimization_barrier"))


def find_value_shardings(names: ValueNames, *, devices: int = 1) -> ShardingTable:
    """One row for each value of `names.program`, most wasted bytes first; those of unknown waste last, by size.

    `devices` says how many run a program that has no mesh, and so holds every value whole on each.

    Left out, and counted: constants and what is made of them alone, single numbers and what they are spread to, and
    values that are another one seen through the border of a loop, call or `shard_map`, or through a constraint that
    changes nothing.
    """
    finder = _ValueFinder(names=names, program=names.program, devices=devices)
    reasons = list(map(finder.reason_to_leave_out, range(len(names.program.values))))
    rows = sorted((finder.row(index) for index, why in enumerate(reasons) if not why), key=_most_waste_first)
    left_out = Counter(filter(None, reasons))
    missing = "" if rows else "the program has no arrays that are worth a row"
    return ShardingTable(
        rows=tuple(rows), devices=finder.devices, left_out=tuple(left_out.most_common()), missing=missing
    )


def _most_waste_first(row: ValueSharding) -> tuple[bool, int, int]:
    return row.wasted_bytes is None, -(row.wasted_bytes or 0), -(row.bytes_per_device or 0)


@dataclass(kw_only=True)
class _ValueFinder:
    names: ValueNames
    program: ShardedProgram
    devices: int
    _kept: dict[int, int] = field(init=False, default_factory=dict)
    _in_place: set[int] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        program = self.program
        self.devices = max((math.prod(mesh.values()) for mesh in program.meshes), default=self.devices)
        self._kept = _representatives(program, self.is_per_shard)
        self._in_place = self._find_in_place()

    # ------------------------------------------------------------ which values get a row

    def reason_to_leave_out(self, index: int) -> str:
        """Why a value gets no row; "" when it gets one."""
        value = self.program.values[index]
        if not value.shape or 0 in value.shape:
            return "single numbers"
        if self._kept.get(index, index) != index:
            return "that only carry another into a loop, branch, call or shard_map"
        if index in self._in_place:
            return "constants"
        return "that a constraint leaves as they were" if self._is_unchanged(index) else ""

    def _find_in_place(self) -> set[int]:
        """Values that need no memory of their own: made of constants or of one number wherever they are used."""
        found: set[int] = set()
        # In program order: what an op uses is made before.
        for op in self.program.ops:
            is_view = op.kind in _SAME_DATA and bool(op.operands)
            is_made = is_view and all(x in found or not self.program.values[x].shape for x in op.operands)
            if op.kind in _MADE_IN_PLACE or is_made:
                found.update(op.results)
        return found

    def _is_unchanged(self, index: int) -> bool:
        op, value = self._maker(index), self.program.values[index]
        if op is None or op.kind not in _CONSTRAINTS or index not in op.results:
            return False
        position = op.results.index(index)
        if position >= len(op.operands):
            return False
        before = self.program.values[op.operands[position]]
        return (before.dtype, before.shape, before.spec) == (value.dtype, value.shape, value.spec)

    def _maker(self, index: int) -> ShardedOp | None:
        op = self.program.values[index].op
        return None if op is None else self.program.ops[op]

    # ------------------------------------------------------------ one row

    def row(self, index: int) -> ValueSharding:
        """The row of one value."""
        program, value, op = self.program, self.program.values[index], self._maker(index)
        local = program.local_shape(index)
        size, whole = _bytes(value.dtype, local), _bytes(value.dtype, value.shape)
        inside = self.is_per_shard(index)
        known = size is not None and whole is not None and not inside
        primitive = "" if op is None else users_word(op.op_name.rpartition("/")[2]) or op.kind
        return ValueSharding(
            name=self._name(value, op),
            op=primitive,
            op_name="" if op is None else op.op_name,
            source=() if op is None else self.names.frames(op),
            phase=None if op is None else find_phase(op.op_name, op.frames),
            dtype=value.dtype,
            global_shape=value.shape,
            local_shape=local,
            spec=tuple(map(entry_of, value.spec)),
            bytes_per_device=size,
            replication=None if inside else self.devices // max(1, program.pieces(value.axes)),
            wasted_bytes=max(0, size - -(-whole // self.devices)) if known else None,  # type: ignore[operator]
            origins=self._origins(index, value),
            is_per_shard=inside,
            position=index,
        )

    def _name(self, value: ShardedValue, op: ShardedOp | None) -> str:
        if value.argument is not None:
            return self.program.inputs[value.argument].label or f"argument {value.argument}"
        return "" if op is None else self.names.text(op) or op.op_name or op.kind

    def is_per_shard(self, index: int) -> bool:
        """True if a value stands inside a `shard_map`."""
        op = self._maker(index)
        return op is not None and (bool(op.manual) or (op.kind == _MANUAL and index not in op.results))

    # ------------------------------------------------------------ where its axes came from

    def _origins(self, index: int, value: ShardedValue) -> dict[str, Sentence]:
        words = ((origin, self._origin(origin)) for origin in value.origins)
        return {origin.axis: say("{}{}", text, self._way(index, value, origin)) for origin, text in words if text}

    @kept
    def _origin(self, origin: AxisOrigin) -> str:
        program, at = self.program, origin.index
        if origin.kind == "manual":
            return "the specs of a `shard_map`"
        if at is None:
            return ""
        if origin.kind == "input" and at < len(program.inputs):
            return say("argument {}", name(program.inputs[at].label or str(at)))
        if origin.kind == "output" and at < len(program.outputs):
            return say("the sharding asked for {}", name(program.outputs[at].label or f"result {at}"))
        if origin.kind == "constraint" and at < len(program.ops):
            return self._constraint(program.ops[at])
        return ""

    def _constraint(self, op: ShardedOp) -> str:
        # In Explicit mode every op is constrained to its type; only those of these names stand in the user's code.
        own = op.op_name.rpartition("/")[2]
        at = self._at(op)
        return say("constraint{}", at) if own in REQUESTS else say("the type of {}{}", code(own or op.kind), at)

    def _way(self, index: int, value: ShardedValue, origin: AxisOrigin) -> str:
        """The op it came through: the one that makes the value, or, where it came from behind, one that uses it."""
        if value.argument is not None and (origin.kind, origin.index) == ("input", value.argument):
            return ""
        if value.op is not None and (origin.kind, origin.index) == ("constraint", value.op):
            return ""
        maker = self._maker(index)
        if maker is not None and self._any_has(maker.operands, origin):
            return say(", through {}", self._op_words(maker))
        for number, _ in self.program.users.get(index, ()):
            user = self.program.ops[number]
            others = [other for other in (*user.operands, *user.results) if other != index]
            if (origin.kind, origin.index) == ("constraint", number):
                return ", which comes next"
            if self._any_has(others, origin):
                return say(", back through {}", self._op_words(user))
        return ""

    def _any_has(self, values: tuple[int, ...] | list[int], origin: AxisOrigin) -> bool:
        return any(origin in self.program.values[value].origins for value in values)

    @kept
    def _op_words(self, op: ShardedOp) -> str:
        return say("{}{}", code(users_word(op.op_name.rpartition("/")[2]) or op.kind), self._at(op))

    def _at(self, op: ShardedOp) -> str:
        frames = self.names.frames(op)
        return say(" at {}", place(frames[0].where)) if frames else ""


def _representatives(program: ShardedProgram, is_per_shard: Callable[[int], bool]) -> dict[int, int]:
    """Values that only carry another over the border of a region -> that other value."""
    group_of: dict[int, int] = {}

    def root(index: int) -> int:
        while (parent := group_of.get(index, index)) != index:
            index = parent
        return index

    for one, other in program.links:
        if _is_same(program, one, other, is_per_shard):
            group_of[root(other)] = root(one)
    members: dict[int, list[int]] = {}
    for index in sorted({index for link in program.links for index in link}):
        members.setdefault(root(index), []).append(index)
    kept: dict[int, int] = {}
    for group in members.values():
        carriers = [index for index in group if _is_carrier(program, index)]
        first = next((index for index in group if index not in carriers), group[0])
        kept.update(dict.fromkeys((index for index in carriers if index != first), first))
    return kept


def _is_carrier(program: ShardedProgram, index: int) -> bool:
    op = program.values[index].op
    return op is not None and program.ops[op].kind in _REGIONS


def _is_same(program: ShardedProgram, one: int, other: int, is_per_shard: Callable[[int], bool]) -> bool:
    a, b = program.values[one], program.values[other]
    if a.dtype != b.dtype or program.local_shape(one) != program.local_shape(other):
        return False
    # On the two sides of a `shard_map` the same array has two specs.
    return a.spec == b.spec or is_per_shard(one) != is_per_shard(other)


def _bytes(dtype: str, shape: tuple[int, ...]) -> int | None:
    bits = bits_of(dtype)
    return None if bits is None else -(-math.prod(shape) * bits // 8)
