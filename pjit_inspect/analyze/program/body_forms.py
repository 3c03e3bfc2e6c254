"""Which bodies of fusions are built alike: thousands of equal kernels are looked into once.

Not its job: what is found out about a body (`analyze.program.fusions`).
"""

from __future__ import annotations

import numpy as np

from pjit_inspect.model.program.hlo import HloModule

__all__ = ["BodyForms"]

Form = tuple[int, bytes, bytes]
"""The root's place; opcode, shape and number of operands of each instruction; which operands these are."""


class BodyForms:
    """The forms of a program's computations: those of one form have the same opcodes, shapes and operands."""

    def __init__(self, module: HloModule) -> None:
        columns, links = module.instructions, module.instructions.operands
        self._starts: list[int] = module.computations.starts.tolist()
        self._roots: list[int] = module.computations.root.tolist()
        self._links: list[int] = links.starts.tolist()
        # Operands are numbered from the first instruction of the computation that their user stands in.
        begins, ends = module.computations.starts[:-1], module.computations.starts[1:]
        inside = columns.computation[links.owners]
        places = links.items - begins[inside]
        self._strange: list[int] = _sums((places < 0) | (links.items >= ends[inside]))
        self._users: list[int] = module.users.starts.tolist()
        self._kinds = _Bytes(np.stack((columns.opcode, columns.shape, np.diff(links.starts)), axis=1, dtype=np.int32))
        self._places = _Bytes(places)

    def of(self, computation: int) -> Form | None:
        """The form of a computation; None when it is not closed: then nothing may be said of another by it."""
        start, end = self._starts[computation], self._starts[computation + 1]
        first, last = self._links[start], self._links[end]
        # A damaged program may have operands outside, or users.
        if self._strange[first] != self._strange[last] or self._users[end] - self._users[start] != last - first:
            return None
        return self._roots[computation] - start, self._kinds.of(start, end), self._places.of(first, last)


class _Bytes:
    """Rows of numbers whose pieces can be compared quickly."""

    def __init__(self, rows: np.ndarray) -> None:
        self._content, self._width = rows.tobytes(), rows[:1].nbytes

    def of(self, start: int, end: int) -> bytes:
        return self._content[start * self._width : end * self._width]


def _sums(flags: np.ndarray) -> list[int]:
    """How many are true before each place."""
    return np.concatenate(([0], np.cumsum(flags))).tolist()
