"""How often each computation of a program runs in one call of it.

Not its job: what runs there.
"""

from __future__ import annotations

from typing import NamedTuple

from pjit_inspect.analyze.program.trip_count import MOST_TRIPS, find_trip_count
from pjit_inspect.model.program.hlo import HloModule, Instruction

__all__ = ["NEVER", "UNKNOWN", "Runs", "count_runs"]

_NESTED = frozenset(("call", "fusion", "async-start"))
"""Opcodes that run each computation they call once per run of their own."""


class Runs(NamedTuple):
    """How often something runs per call.

    `least` and `most` differ where a conditional may skip it. Both are None when it stands in a loop whose trip count
    is unknown, or in a computation that runs once per element (the sum of a reduction, the order of a sort). A count
    above `MOST_TRIPS` is unknown too: no program ends after so many.
    """

    least: int | None
    most: int | None

    def times(self, factor: Runs) -> Runs:
        """Runs of what runs `factor` times in each of these."""
        if factor is ONCE:  # nearly always
            return self
        if self.most is None or self.least is None or factor.most is None or factor.least is None:
            return UNKNOWN
        return _possible(self.least * factor.least, self.most * factor.most)

    def plus(self, other: Runs) -> Runs:
        """Runs of what is called from two places."""
        if self.most is None or self.least is None or other.most is None or other.least is None:
            return UNKNOWN
        return _possible(self.least + other.least, self.most + other.most)


UNKNOWN = Runs(None, None)
NEVER = Runs(0, 0)
ONCE = Runs(1, 1)


def _possible(least: int, most: int) -> Runs:
    return Runs(least, most) if most <= MOST_TRIPS else UNKNOWN


def count_runs(module: HloModule) -> tuple[Runs, ...]:
    """For each computation of the module, how often it runs per call; `NEVER` for one that nothing calls."""
    runs: list[Runs] = [NEVER] * len(module.computations)
    runs[module.entry] = ONCE
    starts, callers = module.callers.starts.tolist(), module.callers.items.tolist()
    computations: list[int] = module.instructions.computation.tolist()
    # A computation stands before those that call it (`parse.wire.hlo_invariants`): so callers are settled first.
    for computation in range(module.entry - 1, -1, -1):
        for caller in dict.fromkeys(callers[starts[computation] : starts[computation + 1]]):
            inside = runs[computations[caller]]
            if inside != NEVER:
                factor = _factor(module.instruction(caller), computation)
                runs[computation] = runs[computation].plus(inside.times(factor))
    return tuple(runs)


def _factor(caller: Instruction, computation: int) -> Runs:
    """How often one run of `caller` runs `computation`."""
    opcode = caller.opcode
    called = caller.module.instructions.called[caller.index].tolist()
    if opcode in _NESTED:
        return ONCE if len(called) == 1 else Runs(called.count(computation), called.count(computation))
    if opcode == "while":
        return _loop_factor(caller, called, computation)
    if opcode == "conditional":
        return Runs(int(called.count(computation) == len(called)), 1)
    if opcode.endswith(("-done", "-update")):
        # The start has counted it.
        return NEVER
    return UNKNOWN


def _loop_factor(loop: Instruction, called: list[int], computation: int) -> Runs:
    """XLA lists a loop's body first, then its condition, which is asked once more than the body runs."""
    trips = find_trip_count(loop)
    if trips is None:
        return UNKNOWN
    runs = trips * (called[0] == computation) + (trips + 1) * (computation in called[1:])
    return Runs(runs, runs)
