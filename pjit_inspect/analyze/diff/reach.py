"""The reach of an edit of a sharding: the connected values whose specs differ, from the edit on.

A value is reached if it has another spec in the other program, and an operation joins it to a reached or edited value.
If several edits reach a value, none of them is its reason. Not its job: the collectives that these values explain
(`analyze.diff.reasons`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pjit_inspect.model.sharding.sharded_program import ShardedProgram


@dataclass(slots=True)
class Reach:
    """The values of one program that edits reach.

    Attributes:
      program: the program before partitioning.
      moved: value -> the mesh axes that split one of its dimensions in only one of the two programs; for values that
        both programs have with different axes.
    """

    program: ShardedProgram
    moved: Mapping[int, frozenset[str]]
    _linked: dict[int, list[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for one, other in self.program.links:
            self._linked.setdefault(one, []).append(other)
            self._linked.setdefault(other, []).append(one)

    def from_values(self, start: Iterable[int], axes: frozenset[str] | None) -> set[int]:
        """The values reached from the edited ones, along some axes; along any if None."""
        border = list(start)
        seen, reached = set(border), set()
        while border:
            value = border.pop()
            if self._is_moved(value, axes):
                reached.add(value)
            for near in self._neighbours(value):
                if near in seen:
                    continue
                seen.add(near)
                # A value that only crosses the border of a region has no separate row.
                if self._is_moved(near, axes) or near in self._linked.get(value, ()):
                    border.append(near)
        return reached

    def _is_moved(self, value: int, axes: frozenset[str] | None) -> bool:
        moved = self.moved.get(value)
        return moved is not None and (axes is None or bool(axes & moved))

    def _neighbours(self, value: int) -> Iterable[int]:
        """The other operands and results of the operations of a value, and the values it is linked to."""
        yield from self._linked.get(value, ())
        ops = [op for op, _ in self.program.users.get(value, ())]
        maker = self.program.values[value].op
        for index in ops if maker is None else (*ops, maker):
            yield from self.program.ops[index].operands
            yield from self.program.ops[index].results
