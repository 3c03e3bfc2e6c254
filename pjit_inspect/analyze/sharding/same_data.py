"""Finds the earlier value that a value is the same data as: through views, borders of regions, and loops.

Not its job: what a value is called (`analyze.sharding.value_names`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pjit_inspect.model.program.opcodes import MANUAL_BORDERS
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram

SAME_SHAPE = frozenset(("convert", "copy", "bitcast_convert", "sharding_constraint", "reshard"))
RESHAPED = {"transpose": "transposed", "reshape": "reshaped", "broadcast_in_dim": "broadcast"}
_BARRIER = "optimization_barrier"
_CALLS = frozenset(("named_computation", "call"))
_MOST = 10_000

F = TypeVar("F", bound=Callable[..., Any])


def kept(method: F) -> F:
    """A method that computes its answer once for the same arguments; an operation is the same if it is one object."""
    name = f"_kept_{method.__name__}"

    @functools.wraps(method)
    def known(self: Any, *args: Any, **options: Any) -> Any:
        answers = self.__dict__.setdefault(name, {})
        key = (*(id(arg) if isinstance(arg, ShardedOp) else arg for arg in args), *options.values())
        if key not in answers:
            # With the arguments, so that no other object gets the identity of one of them.
            answers[key] = method(self, *args, **options), args
        return answers[key][0]

    return known  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The value that another is the same data as.

    Attributes:
      value: its index in `ShardedProgram.values`.
      op: the view in between; None where only a border of a region, or a barrier, lies in between.
      is_turn: True for the piece of it that belongs to a loop's turn.
    """

    value: int
    op: int | None = None
    is_turn: bool = False


@dataclass
class SameData:
    """Follows values of one program back."""

    program: ShardedProgram
    _given: dict[int, int] = field(init=False, default_factory=dict)
    _returned: dict[int, int] = field(init=False, default_factory=dict)
    _carried: dict[int, list[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for source, target in self.program.links:
            maker = self.program.values[target].op
            op = None if maker is None else self.program.ops[maker]
            if op is not None and target in op.results:
                self._returned.setdefault(target, source)
            else:
                self._given.setdefault(target, source)
                if op is not None and op.kind == "while" and maker is not None:
                    self._carried.setdefault(maker, []).append(target)

    @kept
    def before(self, index: int) -> Step | None:
        """The value that `index` is the same data as, one step back; None where it was computed."""
        value = self.program.values[index]
        if value.op is None:
            return None
        op = self.program.ops[value.op]
        if index not in op.results:
            return self._entered(index, op)
        position = op.results.index(index)
        if op.kind == _BARRIER and position < len(op.operands):
            return Step(value=op.operands[position])
        if op.kind in _CALLS and index in self._returned:
            return Step(value=self._returned[index])
        if op.kind == "while":
            return Step(value=op.operands[position]) if self.is_kept(op, position) else None
        if op.detail in MANUAL_BORDERS and op.operands:
            return Step(value=op.operands[0])
        if (op.kind in SAME_SHAPE or op.kind in RESHAPED) and op.operands:
            return Step(value=op.operands[0], op=value.op)
        return self._slice(op, value.op) if op.kind == "dynamic_slice" else None

    def _entered(self, index: int, op: ShardedOp) -> Step | None:
        """The value that a region was given; of a loop only one that it hands on as it is: others change each turn."""
        if index not in self._given:
            return None
        given = self._given[index]
        if op.kind != "while":
            return Step(value=given)
        number = next((k for k, operand in enumerate(op.operands) if operand == given and self.is_kept(op, k)), None)
        return None if number is None else Step(value=given)

    @kept
    def arguments(self, index: int) -> frozenset[int]:
        """The numbers of the program's arguments that a value is computed from, in all turns of its loops."""
        seen, left = {index}, [index]
        while left:
            earlier = [one for one in self._made_from(left.pop()) if one not in seen]
            seen.update(earlier)
            left += earlier
        numbers = (self.program.values[one].argument for one in seen)
        return frozenset(number for number in numbers if number is not None)

    def _made_from(self, index: int) -> Sequence[int]:
        """The values that one is computed from, one step back; of what a region makes, the value in the region."""
        maker = self.program.values[index].op
        if index in self._given:
            loop = self.carried(index)
            last = None if loop is None else self._returned.get(loop[0].results[loop[1]])
            return (self._given[index],) if last is None else (self._given[index], last)
        if maker is None:
            return ()
        return (self._returned[index],) if index in self._returned else self.program.ops[maker].operands

    def carried(self, index: int) -> tuple[ShardedOp, int] | None:
        """The loop that carries a value, and the number among its operands and results; None for any other value."""
        maker = self.program.values[index].op
        if maker is None or index not in self._carried.get(maker, ()):
            return None
        # Its body has them all, and then its condition.
        loop = self.program.ops[maker]
        return loop, self._carried[maker].index(index) % len(loop.operands)

    def added(self, loop: ShardedOp, number: int) -> list[int]:
        """The values that each turn of a loop adds to one that it carries; [] where a turn does anything else to it."""
        sums, terms = [self._returned.get(loop.results[number])], list[int]()
        for value in sums:
            if value is None:
                return []
            own = self.behind(value, views=SAME_SHAPE)
            op = self.program.op_of(own)
            if op is not None and op.kind == "add" and op.op_name.endswith("add_any"):
                sums += op.operands
            else:
                terms.append(own)
        before = [own for own in terms if (found := self.carried(own)) and found[0] is loop and found[1] == number]
        return [own for own in terms if own not in before] if len(before) == 1 else []

    def is_kept(self, op: ShardedOp, number: int) -> bool:
        """True if a loop hands on what it is given at a place: its body returns the very parameter."""
        returned = self._returned.get(op.results[number]) if number < len(op.results) else None
        if returned is None or self._given.get(returned) != op.operands[number]:
            return False
        maker = self.program.values[returned].op
        return maker is not None and returned not in self.program.ops[maker].results

    def _slice(self, op: ShardedOp, index: int) -> Step | None:
        """One turn's piece of an array that a loop goes through: a slice of length 1, at a place the loop counts."""
        if op.parent is None or not op.operands:
            return None
        given, result = self.program.values[op.operands[0]].shape, self.program.values[op.results[0]].shape
        if not given or len(given) != len(result) or result[0] != 1 or given[1:] != result[1:]:
            return None
        saved = self.saved(op.operands[0])
        return Step(value=saved) if saved is not None else Step(value=op.operands[0], op=index, is_turn=True)

    def saved(self, index: int) -> int | None:
        """The value that a loop saved, turn by turn, in an array; None where none did."""
        index = self.behind(index, views=SAME_SHAPE)
        maker = self.program.values[index].op
        loop = None if maker is None else self.program.ops[maker]
        if loop is None or loop.kind != "while" or index not in loop.results:
            return None
        returned = self._returned.get(index)
        # In explicit mode the array is constrained to its type each turn.
        writer = None if returned is None else self.program.values[self.behind(returned, views=SAME_SHAPE)].op
        op = None if writer is None else self.program.ops[writer]
        if op is None or op.kind != "dynamic_update_slice" or len(op.operands) < 2:
            return None
        # The array it writes into must be the one that the loop carries at this place.
        carried = loop.operands[loop.results.index(index)]
        return op.operands[1] if self._given.get(self.behind(op.operands[0], views=SAME_SHAPE)) == carried else None

    def is_larger(self, view: ShardedOp) -> bool:
        """True if a view has elements several times: a broadcast of an array is another array, though of its data."""
        given, made = (math.prod(self.program.values[value].shape) for value in (view.operands[0], view.results[0]))
        return view.kind == "broadcast_in_dim" and given != made

    @kept
    def behind(
        self, index: int, views: Collection[str] = (*SAME_SHAPE, *RESHAPED), *, is_same_size: bool = False
    ) -> int:
        """The first value on the way back that is not a view of these kinds, nor one that crosses a border.

        With `is_same_size` an array that was broadcast is none of the views.
        """
        for _ in range(_MOST):
            step = self.before(index)
            if step is None or step.is_turn:
                break
            view = None if step.op is None else self.program.ops[step.op]
            if view is not None and (view.kind not in views or (is_same_size and self.is_larger(view))):
                break
            index = step.value
        return index
