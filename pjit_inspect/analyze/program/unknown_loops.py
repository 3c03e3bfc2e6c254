"""Counts runs in loops of unknown length: the number in one turn of each.

What is known of such a program is an interval: what runs outside of these loops, and so much more for each turn of each
of them. Not its job: how often a loop runs (`analyze.program.loops`), or what is sent there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pjit_inspect.analyze.program.loops import find_trip_count, runs_per_caller
from pjit_inspect.model.program.hlo import HloModule, Instruction

Turns = Mapping[int | None, int]
"""Numbers of runs: None -> outside of all loops of unknown length; index of such a loop -> in each of its
turns, over all of the call. What is nested in several counts for the innermost."""

LoopName = tuple[str, str]
"""The name of a loop in a program and in changed copies: JAX's name, and the lines. Several loops may share one."""


def unknown_loops(module: HloModule) -> tuple[int, ...]:
    """The loops whose trip count is not known, by index."""
    return tuple(
        index for index in module.with_opcode("while").tolist() if find_trip_count(module.instruction(index)) is None
    )


def loop_names(module: HloModule, loops: Sequence[int]) -> dict[int, LoopName]:
    """Index of each loop -> what it is called."""
    found = {}
    for index in loops:
        loop = module.instruction(index)
        found[index] = (loop.op_name, ", ".join(frame.where for frame in loop.frames))
    return found


def count_turns(module: HloModule, loops: Sequence[int]) -> tuple[Turns, ...]:
    """For each computation how often it runs, `loops` being those of unknown length.

    What a conditional may skip counts as run; what runs once for each element counts once.
    """
    unknown = frozenset(loops)
    turns: list[Counter[int | None]] = [Counter() for _ in range(len(module.computations))]
    turns[module.entry][None] = 1
    starts, callers = module.callers.starts.tolist(), module.callers.items.tolist()
    computations: list[int] = module.instructions.computation.tolist()
    # A computation stands before those that call it (`parse.hlo_proto.hlo`): so callers are settled first.
    for computation in range(module.entry - 1, -1, -1):
        for caller in dict.fromkeys(callers[starts[computation] : starts[computation + 1]]):
            inside = turns[computations[caller]]
            if inside:
                turns[computation].update(_called(module.instruction(caller), computation, inside, unknown))
    return tuple(turns)


def _called(caller: Instruction, computation: int, inside: Turns, unknown: frozenset[int]) -> dict[int | None, int]:
    called = caller.module.instructions.called[caller.index].tolist()
    if caller.index in unknown:
        # XLA lists the body first, then the condition, which is asked once more each time the loop is reached.
        own: Counter[int | None] = Counter({caller.index: called.count(computation)})
        own.update({key: count * (computation in called[1:]) for key, count in inside.items()})
        return own
    # What runs once for each element counts once.
    most = runs_per_caller(caller, computation).most
    return {key: count * (1 if most is None else most) for key, count in inside.items()}


def pair_loops(
    before: Sequence[tuple[LoopName, int]], after: Sequence[tuple[LoopName, int]]
) -> tuple[tuple[int, int], ...] | None:
    """A figure of each loop, before and after; None where it is not known which loop is which.

    Loops of one name that are equally many in both programs are told apart only where it makes a difference: then
    nobody knows. Those with a figure of 0 in both programs are left out.
    """
    sides = []
    for side in (before, after):
        figures: dict[LoopName, list[int]] = {}
        for name, figure in side:
            figures.setdefault(name, []).append(figure)
        sides.append(figures)
    pairs: list[tuple[int, int]] = []
    for name in dict.fromkeys((*sides[0], *sides[1])):
        own, other = (side.get(name, []) for side in sides)
        if not any(own) and not any(other):
            continue
        if len(own) != len(other) or len(set(own)) > 1 < len(set(other)):
            return None
        pairs += [(one, two) for one, two in zip(own, other, strict=True) if one or two]
    return tuple(pairs)
