"""Finds the kernels that run while an asynchronous collective is under way.

Kernels between start and done in XLA's schedule are issued meanwhile; whether they hide the transfer depends on the
times of both, which are unknown here. Not its job: times.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.custom_calls import runs_kernel
from pjit_inspect.model.program.hlo import HloModule, Instruction

MOST_NAMES = 100
"""More overlapping kernels than these are counted, not named."""

_NO_WORK = frozenset((
    "add-dependency", "after-all", "bitcast", "constant", "domain", "get-dimension-size", "get-tuple-element",
    "opt-barrier", "parameter", "partition-id", "recv", "replica-id", "send", "tuple",
))  # fmt: skip
"""Opcodes that run no kernel, besides those that only start, update or wait for something else."""

_HALVES = ("-start", "-done", "-update")
_ALWAYS_WORK = frozenset(("while", "conditional", "call"))


class Overlap(NamedTuple):
    """Kernels between start and done: names in schedule order (at most `MOST_NAMES`), and their number.

    `count` is None if the program does not say.
    """

    names: tuple[str, ...]
    count: int | None


NOTHING = Overlap((), 0)
UNKNOWN = Overlap((), None)


class OverlapFinder:
    """Finds overlaps with collectives of one program; each computation is searched once."""

    def __init__(self, module: HloModule) -> None:
        self._module = module
        idle = [row for row, opcode in enumerate(module.opcodes) if opcode in _NO_WORK or opcode.endswith(_HALVES)]
        self._works = ~np.isin(module.instructions.opcode, idle)
        self._kernels: dict[int, np.ndarray] = {}
        self._many: dict[int, bool] = {}

    def find(self, site: CollectiveOp) -> Overlap:
        """The kernels between start and end of a collective; for a ring, within any of its permutes."""
        if not site.is_async:
            return NOTHING
        members = site.members or (site,)
        spans = [span for member in members if (span := self._span(member)) is not None]
        if len(spans) < len(members):
            return UNKNOWN
        # Permutes of a ring may overlap with the same kernels.
        kernels = (
            spans[0] if len(spans) == 1 else np.array(list(dict.fromkeys(np.concatenate(spans).tolist())), np.int64)
        )
        return Overlap(tuple(map(self._module.reader.name, kernels[:MOST_NAMES].tolist())), len(kernels))

    def _span(self, site: CollectiveOp) -> np.ndarray | None:
        """The kernels between the first and the last instruction of a site; None where there is no schedule."""
        parts = site.instructions
        if not self._module.is_scheduled or len(parts) < 2 or len({part.computation.index for part in parts}) > 1:
            return None
        places = [int(self._module.places[part.index]) for part in parts]
        kernels = self._kernels_of(parts[0])
        first, last = np.searchsorted(kernels, (min(places), max(places)))
        return self._module.order[kernels[first:last]]

    def _kernels_of(self, part: Instruction) -> np.ndarray:
        """Places of all kernels in the computation of `part`, ascending."""
        computation = part.computation
        if computation.index not in self._kernels:
            order = computation.order
            places = computation.range.start + np.flatnonzero(self._works[order])
            runs = [self._runs_kernel(int(self._module.order[place])) for place in places]
            self._kernels[computation.index] = places[np.array(runs, bool)]
        return self._kernels[computation.index]

    def _runs_kernel(self, index: int) -> bool:
        instruction = self._module.instruction(index)
        if instruction.opcode in ("fusion", "custom-call"):
            return runs_kernel(instruction)
        # Arithmetic on single numbers (indices, counters) hides nothing.
        return instruction.opcode in _ALWAYS_WORK or any(map(self._has_many, (instruction, *instruction.operands)))

    def _has_many(self, instruction: Instruction) -> bool:
        """Whether a value is more than one number."""
        row = int(self._module.instructions.shape[instruction.index])
        if row not in self._many:
            leaves = self._module.reader.shape(row).leaves
            self._many[row] = any(leaf.is_array and leaf.count != 1 for leaf in leaves)
        return self._many[row]
