"""Finds bodies of fusions that are built alike, so that thousands of equal kernels are looked into once.

Not its job: what is found out about a body (`analyze.program.fusions`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pjit_inspect.model.program.hlo import HloModule

Form = tuple[int, bytes, bytes]
"""The root's place; opcode, shape and number of operands of each instruction; which operands these are."""


class BodyForms:
    """The forms of a program's computations: those of one form have the same opcodes, shapes and operands."""

    def __init__(self, module: HloModule) -> None:
        columns, links = module.instructions, module.instructions.operands
        starts = module.computations.starts.astype(np.int64)
        # Operands are numbered from the first instruction of the computation that their user stands in.
        begins, ends = starts[:-1], starts[1:]
        inside = columns.computation[links.owners]
        places = links.items - begins[inside]
        strange = _sums((places < 0) | (links.items >= ends[inside]))
        first, last = links.starts[begins], links.starts[ends]
        # A damaged program may have operands outside, or users.
        users = module.users.starts
        self._is_closed = (strange[first] == strange[last]) & (users[ends] - users[begins] == last - first)
        self._roots, self._spans, self._links = module.computations.root - begins, (begins, ends), (first, last)
        self._kinds = RowBytes(np.stack((columns.opcode, columns.shape, np.diff(links.starts)), axis=1, dtype=np.int32))
        self._places = RowBytes(places)

    def of(self, computation: int) -> Form | None:
        """The form of a computation; None when it is not closed: then nothing may be said of another by it."""
        return self.of_each([computation])[0]

    def of_each(self, computations: Sequence[int]) -> list[Form | None]:
        """The forms of many computations at once."""
        own = np.asarray(computations, np.int64)
        kinds = self._kinds.of(*(each[own] for each in self._spans))
        places = self._places.of(*(each[own] for each in self._links))
        forms = zip(self._roots[own].tolist(), kinds, places, strict=True)
        return [form if known else None for form, known in zip(forms, self._is_closed[own].tolist(), strict=True)]


class RowBytes:
    """Rows of numbers whose pieces can be compared quickly."""

    def __init__(self, rows: np.ndarray) -> None:
        self._content, self._width = rows.tobytes(), np.int64(rows[:1].nbytes)

    def of(self, starts: np.ndarray, ends: np.ndarray) -> list[bytes]:
        """The content of each `rows[start:end]`."""
        spans = zip((starts * self._width).tolist(), (ends * self._width).tolist(), strict=True)
        return [self._content[start:end] for start, end in spans]


def _sums(flags: np.ndarray) -> np.ndarray:
    """The number of true flags before each place."""
    return np.concatenate(([0], np.cumsum(flags)))
