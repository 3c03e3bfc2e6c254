"""Finds the instructions that run by themselves, in order, and the numbers of their runs.

What fusions, reductions and asynchronous operations hold runs as part of these: it is their body. Not its job: which of
the instructions are kernels (`analyze.graph.kernels`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.program.backend_config import read_backend_config
from pjit_inspect.analyze.program.dataflow import constant, operand, settled
from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import Details, HloModule, Instruction
from pjit_inspect.model.program.opcodes import REGIONS, operations
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.report.graph import GraphLoop

MOST_TRIPS = 1 << 53
"""More turns than any program takes: at one each nanosecond, those of a hundred days."""

_MOST_ADDED = 64
"""Additions of one counter in a turn that are followed."""
_TURNED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "NE": "NE"}


def find_trip_count(loop: Instruction) -> int | None:
    """The number of turns of a loop each time it is reached; None when the program does not say.

    XLA's own figure when it left one (`known_trip_count`); else counted from the condition, when that compares one
    counter of the loop with a constant, the counter starts at a constant, and the body adds a constant to it. None too
    for a figure that is not possible, above `MOST_TRIPS`.
    """
    known = _known(loop.details.backend_config)
    trips = known if known is not None else _from_condition(loop)
    return None if trips is None or not 0 <= trips <= MOST_TRIPS else trips


def _known(backend_config: str) -> int | None:
    if "known_trip_count" not in backend_config:
        return None
    return read_backend_config(backend_config).trip_count


def _from_condition(loop: Instruction) -> int | None:
    if len(loop.called) != 2:
        return None
    body, condition = (settled(computation.root) for computation in loop.called)
    start = settled(loop.operands[0])
    if (condition.opcode, body.opcode, start.opcode) != ("compare", "tuple", "tuple"):
        return None
    direction = condition.details.comparison_direction
    left, right = (settled(operand(condition, k)) for k in (0, 1))
    if _element(left) is None or _bound(right, body, start) is None:
        left, right, direction = right, left, _TURNED.get(direction, "")
    counter = _element(left)
    if counter is None:
        return None
    step, bound = counter_step(body, counter), _bound(right, body, start)
    first = constant(settled(operand(start, counter)))
    return None if step is None or bound is None or first is None else _count(first, step, direction, bound)


def _element(value: Instruction) -> int | None:
    """The element of the loop's state that a value is at the start of a turn; None for any other value."""
    if value.opcode != "get-tuple-element":
        return None
    is_state = settled(operand(value, 0)).opcode == "parameter"
    return value.number if is_state else None


def _bound(value: Instruction, body: Instruction, start: Instruction) -> int | None:
    """The constant a counter is compared with: written there, or kept unchanged in the loop's state."""
    if constant(value) is not None:
        return constant(value)
    element = _element(value)
    if element is None or _element(settled(operand(body, element))) != element:
        return None
    return constant(settled(operand(start, element)))


def counter_step(body: Instruction, element: int) -> int | None:
    """The number that one turn adds to an element of a loop's state; `body` is its last tuple. None when unclear."""
    value, step, seen = settled(operand(body, element)), 0, 0
    # A loop that XLA unrolled adds several times.
    while value.opcode == "add" and seen < _MOST_ADDED:
        sides = settled(operand(value, 0)), settled(operand(value, 1))
        found = [(before, constant(added)) for before, added in (sides, sides[::-1])]
        counter, added = next(((one, own) for one, own in found if own is not None), (value, None))
        if added is None:
            return None
        value, step, seen = counter, step + added, seen + 1
    return step if seen and _element(value) == element else None


def _count(first: int, step: int, direction: str, bound: int) -> int | None:
    """Turns of `for (i = first; i <direction> bound; i += step)`; None when it would not end by counting."""
    if direction in ("GT", "GE"):
        first, step, bound = -first, -step, -bound
        direction = {"GT": "LT", "GE": "LE"}[direction]
    if direction == "NE":
        turns, rest = divmod(bound - first, step) if step else (-1, 0)
        return turns if turns >= 0 and not rest else None
    if direction not in ("LT", "LE"):
        return None
    distance = bound - first + (direction == "LE")
    if distance <= 0:
        return 0
    return -(-distance // step) if step > 0 else None


NESTED = operations("body")
"""Opcodes that run each computation they call once per run of their own; those of others say how to add or compare."""


class Runs(NamedTuple):
    """The number of runs per call.

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
        if self is NEVER:
            # Nearly always: what is called from one place.
            return other
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
    opcodes: list[int] = module.instructions.opcode.tolist()
    called: list[int] = module.instructions.called.starts.tolist()
    nested = {number for number, name in enumerate(module.opcodes) if name in NESTED}
    # A computation stands before those that call it (`parse.hlo_proto.hlo`): so callers are settled first.
    for computation in range(module.entry - 1, -1, -1):
        own = callers[starts[computation] : starts[computation + 1]]
        if len(own) == 1 and opcodes[own[0]] in nested and called[own[0] + 1] - called[own[0]] == 1:
            # Nearly always: a fusion and its one body, for which no instruction is read.
            runs[computation] = runs[computations[own[0]]]
            continue
        for caller in dict.fromkeys(own):
            inside = runs[computations[caller]]
            if inside != NEVER:
                factor = runs_per_caller(module.instruction(caller), computation)
                runs[computation] = runs[computation].plus(inside.times(factor))
    return tuple(runs)


def runs_per_caller(caller: Instruction, computation: int) -> Runs:
    """The number of runs of `computation` per run of `caller`."""
    opcode = caller.opcode
    called = caller.module.instructions.called[caller.index].tolist()
    if opcode in NESTED:
        return ONCE if len(called) == 1 else Runs(called.count(computation), called.count(computation))
    if opcode == "while":
        # XLA lists a loop's body first, then its condition, which is asked once more than the body runs.
        trips = find_trip_count(caller)
        runs = 0 if trips is None else trips * (called[0] == computation) + (trips + 1) * (computation in called[1:])
        return UNKNOWN if trips is None else Runs(runs, runs)
    if opcode == "conditional":
        return Runs(int(called.count(computation) == len(called)), 1)
    if opcode.endswith(("-done", "-update")):
        # The start has counted it.
        return NEVER
    return UNKNOWN


_RUNS = REGIONS | {"async-start"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Running:
    """The instructions that run by themselves, and the loops around them.

    Attributes:
      order: every instruction that runs by itself, as it runs; what a loop, branch or call runs stands before it.
      computations: the computations these stand in, ascending; so callees stand before callers.
      callers: running computation -> the instruction that runs it (the first, when there are several).
      loops: every loop, outer ones first.
      loop_of: running computation -> the innermost loop around it, as a row of `loops`; -1.
      owner: for each computation that is somebody's body, the running instruction it is part of; -1 for all others.
    """

    order: tuple[int, ...]
    computations: tuple[int, ...]
    callers: dict[int, int]
    loops: tuple[GraphLoop, ...]
    loop_of: dict[int, int]
    owner: np.ndarray


def find_running(module: HloModule) -> Running:
    """Follows the program from its entry; each computation is entered once, where it is called first."""
    order, callers = _walk(module)
    computations = tuple(sorted({module.entry, *callers}))
    loops, loop_of = _find_loops(module, computations, callers)
    return Running(
        order=order,
        computations=computations,
        callers=callers,
        loops=loops,
        loop_of=loop_of,
        owner=_find_owners(module, frozenset(computations)),
    )


def loops_around(loops: Sequence[GraphLoop], loop: int) -> list[int]:
    """A loop and the loops around it, the outermost first; [] for -1."""
    chain = []
    while loop >= 0:
        chain.append(loop)
        loop = loops[loop].parent
    return chain[::-1]


def find_running_instructions(module: HloModule) -> RunningInstructions:
    """The instructions that run as such, of computations that run, by name."""
    running, todo = {module.entry}, [module.entry]
    codes = {code for code, opcode in enumerate(module.opcodes) if opcode in _RUNS}
    while todo:
        within = module.computation(todo.pop()).range
        opcodes = module.instructions.opcode[within.start : within.stop].tolist()
        callers = [index for index, code in zip(within, opcodes, strict=True) if code in codes]
        called = {int(computation) for index in callers for computation in module.instructions.called[index]}
        todo += called - running
        running |= called
    return RunningInstructions(module, frozenset(running))


def details_of(module: HloModule, index: int) -> Details:
    """An instruction's details; none where its bytes are damaged."""
    try:
        return module.reader.details(index)
    except ParseError:
        return Details()


def number_of(module: HloModule, index: int) -> int:
    """A parameter's number, or the element a get-tuple-element takes; 0 where its bytes are damaged."""
    try:
        return module.reader.number(index)
    except ParseError:
        return 0


def _walk(module: HloModule) -> tuple[tuple[int, ...], dict[int, int]]:
    opcode, opcodes = module.instructions.opcode.tolist(), module.opcodes
    order: list[int] = []
    callers: dict[int, int] = {}
    stack = [(iter(_order_of(module, module.entry)), -1)]
    while stack:
        instructions, caller = stack[-1]
        index = next(instructions, None)
        if index is None:
            stack.pop()
            if caller >= 0 and (not stack or stack[-1][1] != caller):
                order.append(caller)
            continue
        entered = [] if opcodes[opcode[index]] not in REGIONS else _enter(module, index, callers)
        if not entered:
            order.append(index)
        stack.extend((iter(_order_of(module, computation)), index) for computation in entered)
    return tuple(order), callers


def _order_of(module: HloModule, computation: int) -> list[int]:
    return module.computation(computation).order.tolist()


def _enter(module: HloModule, index: int, callers: dict[int, int]) -> list[int]:
    """The computations an instruction runs that nothing has run before it, the last to run first."""
    called = dict.fromkeys(module.instructions.called[index].tolist())
    fresh = [c for c in called if c != module.entry and c not in callers]
    callers.update(dict.fromkeys(fresh, index))
    # A while lists its body before its condition, which runs first; branches are listed in order.
    is_while = module.opcodes[module.instructions.opcode[index]] == "while"
    return fresh if is_while else fresh[::-1]


def _find_loops(
    module: HloModule, computations: tuple[int, ...], callers: dict[int, int]
) -> tuple[tuple[GraphLoop, ...], dict[int, int]]:
    loops: list[GraphLoop] = []
    rows: dict[int, int] = {}
    loop_of = {module.entry: -1}
    for computation in reversed(computations):
        if computation == module.entry:
            continue
        caller = module.instruction(callers[computation])
        around = loop_of[int(module.instructions.computation[caller.index])]
        if caller.opcode == "while" and caller.index not in rows:
            rows[caller.index] = len(loops)
            loops.append(GraphLoop(name=caller.name, parent=around, trips=_trips(module, caller.index)))
        loop_of[computation] = rows.get(caller.index, around)
    return tuple(loops), loop_of


def _trips(module: HloModule, index: int) -> int | None:
    try:
        return find_trip_count(module.instruction(index))
    except ParseError:
        return None


def _find_owners(module: HloModule, running: frozenset[int]) -> np.ndarray:
    owner = np.full(len(module.computations), -1, np.int32)
    columns = module.instructions
    bodied = module.with_opcode(*NESTED)
    # Callers stand after what they call: from the last to the first, so that owners of callers are settled.
    for index in bodied[::-1].tolist():
        around = int(columns.computation[index])
        mine = index if around in running else int(owner[around])
        if mine < 0:
            continue
        for computation in columns.called[index].tolist():
            if computation not in running:
                owner[computation] = mine
    return owner
