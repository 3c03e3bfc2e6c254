"""Tells who made a collective in manual code: the author of the code, or differentiation.

JAX keeps the place and the name of what it transposes. So a collective of the backward pass is one that differentiation
made where the forward pass has what it is the transpose of, at the very same piece of text: another collective, or an
operation that uses what all devices have alike. Of a hand-written rule (`jax.custom_vjp`) JAX keeps only the call. Not
its job: saying so (`analyze.causes.wording`), or collectives of XLA's partitioner (`analyze.causes.need_finder`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pjit_inspect.analyze.program.phases import LATER
from pjit_inspect.analyze.sharding.needs import WRITTEN
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE, SameData
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.opcodes import MANUAL_BORDERS
from pjit_inspect.model.sharding.sharded_program import ShardedOp, axis_name

_TRANSPOSED = {
    "all_reduce": "all_reduce",
    "all_gather": "reduce_scatter",
    "reduce_scatter": "all_gather",
    "all_to_all": "all_to_all",
    "ragged_all_to_all": "ragged_all_to_all",
    "collective_permute": "collective_permute",
}
"""Linear collective -> its transpose, which differentiation makes of it."""
_ADDED = "psum"
"""JAX's name of the sum it adds where a `shard_map` without types of replication ends; with them it has another."""
_VIEWS = frozenset((*SAME_SHAPE, *RESHAPED, "reduce"))
"""Operations that keep their operand's elements if they have as many: a sum over one element does."""
_MOST = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The maker of a collective.

    Attributes:
      by: "user": it stands in the user's code, at its own place. "transpose": differentiation made it of another one.
        "spread": differentiation sums over the devices the gradient of `operand`, which they have alike. "backward": it
        runs in the backward pass of what stands at its place; nothing tells whether a rule that the user wrote has it.
      operand: the value (in `ShardedProgram.values`) whose gradient is summed: of an operand of `shard_map` the array
        outside; None where it is not known which of several it is.
      is_returned: whether what it yields leaves the `shard_map` as it is: then each device's part would, too, if the
        operand had the axis in its `in_specs`.
    """

    by: Literal["user", "transpose", "spread", "backward"]
    operand: int | None = None
    is_returned: bool = False


class WrittenFinder:
    """Tells who made the collectives of one program's manual code.

    Attributes:
      names: names of the program's values and operations.
      collectives: the collectives of its manual code, in program order.
    """

    def __init__(self, names: ValueNames) -> None:
        self.names: ValueNames = names
        self._program = program = names.program
        self._data = SameData(program)
        self._returned: dict[int, list[int]] = {}
        self._forward: dict[object, list[int]] = {}
        self.collectives: tuple[int, ...] = tuple(k for k, op in enumerate(program.ops) if op.kind in WRITTEN)
        # Most programs have none.
        for source, target in program.links if self.collectives else ():
            self._returned.setdefault(source, []).append(target)
        for index, op in enumerate(program.ops if self.collectives else ()):
            if op.frames and self.names.phase(op) not in LATER:
                self._forward.setdefault(self._place(op), []).append(index)
        self._groups = {op: own.groups for own in program.written for op in own.visited}

    def find(self, ops: Iterable[int], axes: Iterable[str]) -> Written:
        """The maker that all of some collectives over these mesh axes have in common; "backward" if they differ."""
        found = list(dict.fromkeys(self._find(op, frozenset(map(axis_name, axes))) for op in ops))
        if len({own.by for own in found}) != 1:
            return Written(by="backward")
        return found[0] if len(found) == 1 else Written(by=found[0].by)

    def _find(self, index: int, axes: frozenset[str]) -> Written:
        op = self._program.ops[index]
        # What is computed again is what was written, again.
        if self.names.phase(op) != "backward":
            return Written(by="user")
        forward = self._forward.get(self._place(op), ()) if op.frames else ()
        turned = (other for other in forward if self._program.ops[other].kind == _TRANSPOSED.get(op.kind))
        if any(self._is_inverse(index, other) for other in turned):
            return Written(by="transpose")
        if op.kind != "all_reduce" or not op.results:
            return Written(by="backward")
        is_returned = self._is_returned(op.results[0], axes)
        alike = (self._alike_operand(self._program.ops[other], op, axes) for other in forward)
        found = {operand for operand in alike if operand is not None}
        if found:
            # A loop of Python's runs one piece for several arrays: the gradient itself tells of which it is.
            own = self._differentiated(op) or found
            return Written(by="spread", operand=own.pop() if len(own) == 1 else None, is_returned=is_returned)
        if is_returned and self._is_added(op, axes):
            return Written(by="spread", operand=self._replicated_operand(op, axes), is_returned=True)
        return Written(by="backward")

    def _place(self, op: ShardedOp) -> object:
        """The place of an operation, with that of the region around it."""
        outer = None if op.parent is None else self._program.ops[op.parent]
        return op.frames, op.spans, None if outer is None else (outer.kind, outer.frames)

    def _is_inverse(self, index: int, other: int) -> bool:
        """True if a permutation sends back what the other sent; true of any other collective."""
        if self._program.ops[index].kind != "collective_permute":
            return True
        own, theirs = self._groups.get(index), self._groups.get(other)
        return own is None or theirs is None or {pair[::-1] for pair in own} == set(theirs)

    # ------------------------------------------------------------ what all devices have alike

    def _alike_operand(self, forward: ShardedOp, op: ShardedOp, axes: frozenset[str]) -> int | None:
        """The operand of an operation that all devices have alike, and whose gradient a sum has the shape of."""
        shape = self._program.values[op.results[0]].shape
        found = {own for value in forward.operands if (own := self._alike(value, shape, axes)) is not None}
        return found.pop() if len(found) == 1 else None

    def _differentiated(self, op: ShardedOp) -> set[int]:
        """The arrays that what is summed may be the gradient of."""
        maker = self._program.op_of(self._data.behind(op.operands[0]))
        return set() if maker is None else {self._data.behind(own) for own in self.names.differentiated(maker)}

    def _alike(self, value: int, shape: tuple[int, ...], axes: frozenset[str]) -> int | None:
        """The array of this shape that a value is a view of, where all devices have it alike; None for any other."""
        values, like = self._program.values, None
        for _ in range(_MOST):
            like = value if values[value].shape == shape else like
            maker = self._program.op_of(value)
            if maker is not None and maker.detail in MANUAL_BORDERS and value in maker.results:
                outer = self._data.behind(maker.operands[0], views=("copy",))
                is_alike = axes.isdisjoint(map(axis_name, values[maker.operands[0]].axes))
                return outer if like is not None and is_alike else None
            if maker is not None and maker.kind == "all_reduce" and value in maker.results:
                return like
            step = self._data.before(value)
            if step is None or step.is_turn:
                return None
            value = step.value
        return None

    # ------------------------------------------------------------ what JAX adds where a `shard_map` ends

    def _is_returned(self, value: int, axes: frozenset[str]) -> bool:
        """True if a value leaves the `shard_map` as what it is, alike on all devices."""
        program, border = self._program, [value]
        for current in border:
            border += self._returned.get(current, ())
            for user, _ in program.users.get(current, ()):
                op = program.ops[user]
                if op.detail in MANUAL_BORDERS:
                    return axes.isdisjoint(map(axis_name, program.values[op.results[0]].axes))
                sizes = {math.prod(program.values[own].shape) for own in (current, *op.results)}
                border += op.results if op.kind in _VIEWS and len(sizes) == 1 and len(border) < _MOST else ()
        return False

    def _is_added(self, op: ShardedOp, axes: frozenset[str]) -> bool:
        """True if a sum has the name and the place of the `shard_map`, and yields what all devices have alike."""
        call = None if op.parent is None else self._program.ops[op.parent]
        is_its_place = call is not None and bool(op.frames) and call.frames[: len(op.frames)] == op.frames
        return is_its_place and op.op_name.rpartition("/")[2] == _ADDED and bool(axes)

    def _replicated_operand(self, op: ShardedOp, axes: frozenset[str]) -> int | None:
        """The operand of a `shard_map` whose gradient such a sum is: of several alike, the one in its place."""
        program = self._program
        if op.parent is None:
            return None
        shape = program.values[op.results[0]].shape
        call = program.ops[op.parent]
        sums = [
            other.results[0]
            for other in program.ops
            if other.parent == op.parent
            and other.kind == "all_reduce"
            and program.values[other.results[0]].shape == shape
            and self._is_returned(other.results[0], axes)
            and self._is_added(other, axes)
        ]
        calls = [other for other in program.ops if other.kind == call.kind and self._is_forward_of(other, call)]
        operands = [
            own
            for other in calls
            for value in other.operands
            if (own := self._alike(value, shape, axes)) is not None and program.values[value].shape == shape
        ]
        return operands[sums.index(op.results[0])] if len(calls) == 1 and len(operands) == len(sums) else None

    def _is_forward_of(self, other: ShardedOp, call: ShardedOp) -> bool:
        is_one_place = (other.frames, other.spans) == (call.frames, call.spans) and bool(call.frames)
        return is_one_place and self.names.phase(other) not in LATER
