"""A sum over devices that a loop only adds up, turn after turn: one sum after the loop would do.

Proven by dataflow alone: what the collective yields, or a constant times that, goes to one addition, whose other
operand is carried by the loop, used by nothing else, and whose result is what the next turn carries. Not its job: any
other collective in a loop.
"""

from __future__ import annotations

import math

from pjit_inspect.model.program.opcodes import PRODUCTS, SUMS, VIEWS
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedOp, ShardedProgram, axis_name
from pjit_inspect.model.words.sentence import Sentence, say

_VIEWS = VIEWS - {"optimization_barrier"}
"""Operations that a sum may as well come before as after."""

_SCALES = {"multiply": (0, 1), "divide": (0,)}
"""Operations that multiply by a constant, and the operands that may be multiplied."""
_FLOATS = frozenset(("bf16", "f16", "f32", "f64"))
"""Types between which a sum may be rounded: those of fewer bits are for what was quantized."""
_SAME_NUMBER = VIEWS | {"broadcast_in_dim", "broadcast", "convert"}
_MOST_STEPS = 64

_NAMES = {"reduce": "reduce_sum", "scatter": "scatter-add"}
"""JAX's names of those that are sums, of operations that may be something else."""


class Accumulation:
    """Says it for the collectives of one program."""

    def __init__(self, program: ShardedProgram) -> None:
        self._program = program
        self._handed = {source for source, _ in program.links}

    def fact(self, edge: PartitionedCollective, row: Collective) -> tuple[Sentence, ...]:
        """Says how much one sum after the loop would send; () if it is not proven, or the turns are unknown."""
        less = self.times_less(edge, row)
        told = (
            "it runs {} times, and what it yields is only added up: added up per device and reduced once after the "
            "loop, it would send 1/{} (in a `shard_map`, with what devices share cast to varying before the loop, and "
            "`psum` after it)"
        )
        return () if less is None else (say(told, f"{row.count or 0:,}", f"{less:,}"),)

    def times_less(self, edge: PartitionedCollective, row: Collective) -> int | None:
        """As how many times less one sum after the loop would send, in the type that is added up; None as in `fact`."""
        turns = row.count or 0
        total = self.total(edge) if turns > 1 and row.kind in SUMS else None
        if total is None or row.axes is None:
            return None
        # What is added up in pieces would have to be added up in full on every device: that trades memory.
        if {axis_name(axis) for axis in self._program.values[total].axes} & set(map(axis_name, row.axes)):
            return None
        sent, kept = bits_of(row.dtype), bits_of(self._program.values[total].dtype)
        less = turns * sent // kept if sent and kept else 0
        return less if less > 1 else None

    def total(self, edge: PartitionedCollective) -> int | None:
        """The running total to which the loop adds all that the collective yields; None if that goes elsewhere, too."""
        program = self._program
        if len(edge.takers) != 1 or edge.outputs or not all(map(self._is_sum, edge.makers)):
            return None
        index, operand = self._past_steps(edge.takers[0].op, edge.takers[0].operand)
        taker = program.ops[index]
        loop = taker.parent
        if taker.kind != "add" or loop is None or taker.in_condition or program.ops[loop].kind != "while":
            return None
        # In a loop in a loop, turns are those of both.
        if program.ops[loop].parent is not None or len(taker.operands) != 2:
            return None
        carried, made = taker.operands[1 - operand], taker.results[0]
        place = self._place(carried, loop)
        if place is None or len(self._program.users[carried]) != 1 or made in self._program.users:
            return None
        # It is returned there, and nowhere else.
        places = [result for source, result in program.links if source == made]
        return made if places == [program.ops[loop].results[place]] else None

    def _is_sum(self, value: int) -> bool:
        """True if devices have parts of a sum: those of a largest or a product do not add up."""
        op = self._program.op_of(value)
        return op is not None and (op.kind in PRODUCTS or _NAMES.get(op.kind) == op.op_name.rpartition("/")[2])

    def _past_steps(self, op: int, operand: int) -> tuple[int, int]:
        """The operation that takes what views, and factors that are constants, make of it, and as which operand.

        A sum of what is multiplied by one number is the sum multiplied by it. Where it is rounded, so is any sum in
        another order.
        """
        while self._is_linear(self._program.ops[op], operand):
            made = self._program.ops[op].results[0]
            users = self._program.users.get(made, [])
            if len(users) != 1 or made in self._handed:
                break
            op, operand = users[0]
        return op, operand

    def _is_linear(self, op: ShardedOp, operand: int) -> bool:
        if len(op.results) != 1 or not op.operands:
            return False
        before, after = (self._program.values[value] for value in (op.operands[0], op.results[0]))
        if op.kind in _SCALES and len(op.operands) == 2 and operand in _SCALES[op.kind]:
            # A quotient of integers is cut off, in each turn anew.
            is_exact = op.kind == "multiply" or after.dtype in _FLOATS
            return is_exact and self._is_constant(op.operands[1 - operand])
        if op.kind == "reduce" and operand == 0:
            # A sum along dimensions of length 1 drops them.
            is_same = math.prod(before.shape) == math.prod(after.shape)
            return is_same and op.op_name.rpartition("/")[2] == _NAMES["reduce"]
        # Numbers only get more or fewer digits, as bfloat16 that is added up as float32.
        return op.kind in _VIEWS or (op.kind == "convert" and {before.dtype, after.dtype} <= _FLOATS)

    def _is_constant(self, value: int) -> bool:
        """True if a value is a constant of the program, or one that was broadcast."""
        for _ in range(_MOST_STEPS):
            op = self._program.op_of(value)
            if op is None or op.kind not in _SAME_NUMBER:
                return op is not None and op.kind == "constant"
            value = op.operands[0]
        return False

    def _place(self, value: int, loop: int) -> int | None:
        """The number of a value among those that the loop carries; None for any other. Each of its regions has all."""
        results = self._program.ops[loop].results
        first = results[-1] + 1 if results else 0
        inside = [k for k in range(first, value + 1) if self._program.values[k].op == loop and k not in results]
        return (len(inside) - 1) % len(results) if inside and inside[-1] == value else None
