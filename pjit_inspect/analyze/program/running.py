"""Which instructions of a program run by themselves, in which order, and in which loop.

What fusions, reductions and asynchronous operations hold runs as part of these: it is their body. Not its job: which of
the instructions are kernels (`analyze.graph.kernels`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.program.loops import find_trip_count
from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import Details, HloModule
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.report.graph import GraphLoop

_ENTERED = frozenset(("while", "conditional", "call"))
_RUNS = _ENTERED | {"async-start"}
_BODIED = frozenset(("fusion", "call", "async-start"))
"""Opcodes whose called computations are what they do (those of others say how to add, or to compare)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Running:
    """What runs.

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
        entered = [] if opcodes[opcode[index]] not in _ENTERED else _enter(module, index, callers)
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
    bodied = module.with_opcode(*_BODIED)
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
