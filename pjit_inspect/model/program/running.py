"""The instructions of an optimized program that run by themselves: in the entry, loops, branches and calls.

Not its job: finding them (`analyze.program.loops`).
"""

from __future__ import annotations

from functools import cached_property

from pjit_inspect.model.program.hlo import HloModule, Instruction


class RunningInstructions:
    """Running instructions by name.

    Attributes:
      module: the program.
      computations: names of the computations they are in.
    """

    def __init__(self, module: HloModule, computations: frozenset[int]) -> None:
        self.module = module
        self._indices = computations
        self.computations: frozenset[str] = frozenset(module.computation(index).name for index in computations)

    @cached_property
    def _by_name(self) -> dict[str, int]:
        # XLA repeats a name now and then; the entry computation comes last, and its instructions win.
        indices = [i for index in sorted(self._indices) for i in self.module.computation(index).range]
        return dict(zip(self.module.reader.names(indices), indices, strict=True))

    def find(self, name: str) -> Instruction | None:
        """The instruction with this name, or None."""
        index = self._by_name.get(name)
        return None if index is None else self.module.instruction(index)
