"""Which bodies of fusions are built alike: thousands of equal kernels are looked into once.

Not its job: what is found out about a body (`analyze.program.fusions`).
"""

from __future__ import annotations

import numpy as np

from pjit_inspect.model.program.hlo import HloModule

__all__ = ["BodyForms"]

Form = tuple[int, bytes, bytes, bytes, bytes]
"""The root's place, and for each instruction its opcode, its shape, how many operands it has and which."""


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
        self._opcode, self._shape, self._count, self._place = (
            _Bytes(column) for column in (columns.opcode, columns.shape, np.diff(links.starts), places)
        )

    def of(self, computation: int) -> Form | None:
        """The form of a computation; None when it is not closed: then nothing may be said of another by it."""
        start, end = self._starts[computation], self._starts[computation + 1]
        first, last = self._links[start], self._links[end]
        # A damaged program may have operands outside, or users.
        if self._strange[first] != self._strange[last] or self._users[end] - self._users[start] != last - first:
            return None
        rows, links = (start, end), (first, last)
        opcode, shape, count = (column.of(*rows) for column in (self._opcode, self._shape, self._count))
        return self._roots[computation] - start, opcode, shape, count, self._place.of(*links)


class _Bytes:
    """A column whose pieces can be compared quickly."""

    def __init__(self, column: np.ndarray) -> None:
        self._content, self._width = column.tobytes(), column.itemsize

    def of(self, start: int, end: int) -> bytes:
        return self._content[start * self._width : end * self._width]


def _sums(flags: np.ndarray) -> list[int]:
    """How many are true before each place."""
    return np.concatenate(([0], np.cumsum(flags))).tolist()
