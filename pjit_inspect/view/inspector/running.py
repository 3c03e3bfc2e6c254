"""The instructions of an optimized program that run as such: of the entry, of loops, branches and calls.

A program of half a million instructions runs a few thousand; bodies of fusions and reductions are inside kernels. Not
its job: what they do (`analyze`).
"""

from __future__ import annotations

from functools import cached_property

from pjit_inspect.model.program.hlo import HloModule, Instruction

__all__ = ["RunningInstructions"]

_RUNS = frozenset(("while", "conditional", "call", "async-start"))


class RunningInstructions:
    """Running instructions by name.

    Attributes:
      module: the program.
      computations: names of the computations they stand in.
    """

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self._indices = _running(module)
        self.computations = frozenset(module.computation(index).name for index in self._indices)

    @cached_property
    def _by_name(self) -> dict[str, int]:
        # XLA repeats a name now and then; the entry computation comes last, and its instructions win.
        ranges = (self.module.computation(index).range for index in sorted(self._indices))
        return {self.module.reader.name(i): i for one in ranges for i in one}

    def find(self, name: str) -> Instruction | None:
        """The instruction with this name, or None."""
        index = self._by_name.get(name)
        return None if index is None else self.module.instruction(index)


def _running(module: HloModule) -> set[int]:
    running, todo = {module.entry}, [module.entry]
    codes = {code for code, opcode in enumerate(module.opcodes) if opcode in _RUNS}
    while todo:
        within = module.computation(todo.pop()).range
        opcodes = module.instructions.opcode[within.start : within.stop].tolist()
        callers = [index for index, code in zip(within, opcodes, strict=True) if code in codes]
        called = {int(one) for index in callers for one in module.instructions.called[index]}
        todo += called - running
        running |= called
    return running
