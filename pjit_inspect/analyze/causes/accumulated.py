"""A sum over devices that a loop only adds up, turn after turn: one sum after the loop would do.

Proven by dataflow alone: what the collective yields goes to one addition, whose other operand is carried by the loop,
used by nothing else, and whose result is what the next turn carries. Not its job: any other collective in a loop.
"""

from __future__ import annotations

from pjit_inspect.model.program.opcodes import PRODUCTS, SUMS, VIEWS
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedProgram
from pjit_inspect.model.words.sentence import Sentence, say

__all__ = ["Accumulation"]

_VIEWS = VIEWS - {"optimization_barrier"}
"""What is added up after these might as well be before. Not `convert`: another type sends other bytes."""

_NAMES = {"reduce": "reduce_sum", "scatter": "scatter-add"}
"""What JAX calls the sums among operations that may as well be something else."""


class Accumulation:
    """Says it for the collectives of one program."""

    def __init__(self, program: ShardedProgram) -> None:
        self._program = program
        self._handed = {source for source, _ in program.links}

    def fact(self, edge: PartitionedCollective, row: Collective) -> tuple[Sentence, ...]:
        """What one sum after the loop would send; () where it is not proven, or how often it runs is not known."""
        turns = row.count or 0
        if turns < 2 or row.kind not in SUMS or not self._is_only_added_up(edge):
            return ()
        times = f"{turns:,}"
        return (
            say(
                "it runs {} times, and what it yields is only added up: added up per device and reduced once after "
                "the loop, it would send 1/{} (in a `shard_map`, `psum` after the loop)",
                times,
                times,
            ),
        )

    def _is_only_added_up(self, edge: PartitionedCollective) -> bool:
        program = self._program
        if len(edge.takers) != 1 or edge.outputs or not all(map(self._is_sum, edge.makers)):
            return False
        index, operand = self._past_views(edge.takers[0].op, edge.takers[0].operand)
        taker = program.ops[index]
        loop = taker.parent
        if taker.kind != "add" or loop is None or taker.in_condition or program.ops[loop].kind != "while":
            return False
        # In a loop in a loop, turns are those of both.
        if program.ops[loop].parent is not None or len(taker.operands) != 2:
            return False
        carried, made = taker.operands[1 - operand], taker.results[0]
        place = self._place(carried, loop)
        if place is None or len(self._program.users[carried]) != 1 or made in self._program.users:
            return False
        # It is returned there, and nowhere else.
        places = [result for source, result in program.links if source == made]
        return places == [program.ops[loop].results[place]]

    def _is_sum(self, value: int) -> bool:
        """Whether devices have parts of a sum: those of a largest or a product do not add up."""
        maker = self._program.values[value].op
        op = None if maker is None else self._program.ops[maker]
        return op is not None and (op.kind in PRODUCTS or _NAMES.get(op.kind) == op.op_name.rpartition("/")[2])

    def _past_views(self, op: int, operand: int) -> tuple[int, int]:
        """The operation that takes what one view after the other makes of it, and as which operand."""
        while self._program.ops[op].kind in _VIEWS and len(self._program.ops[op].results) == 1:
            made = self._program.ops[op].results[0]
            users = self._program.users.get(made, [])
            if len(users) != 1 or made in self._handed:
                break
            op, operand = users[0]
        return op, operand

    def _place(self, value: int, loop: int) -> int | None:
        """Which of the loop's carried values one is; None when it is none. Each of its regions has all of them."""
        results = self._program.ops[loop].results
        first = results[-1] + 1 if results else 0
        inside = [k for k in range(first, value + 1) if self._program.values[k].op == loop and k not in results]
        return (len(inside) - 1) % len(results) if inside and inside[-1] == value else None
