"""Places each kernel in the user's program: its scope and phase, by its name or by the best other rule.

Kernels with a name show how reliable each other rule is (`GraphKernels.how` keeps the rule used). Over six programs of
`tests/data`, a rule found the scope and phase of the name for 90 to 99 % by a fusion's content, for 75 to 83 % by the
next user, and for 66 to 86 % by the last operand. Not its job: reading names (`analyze.graph.scopes`), updates and
combined collectives (`analyze.graph.arrays`).
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.graph.facts import KernelFacts
from pjit_inspect.analyze.graph.scopes import BACKWARD, FORWARD, LOOP, RECOMPUTE, ROOT, UNKNOWN, UPDATE, Name, Scopes
from pjit_inspect.analyze.program.loops import loops_around
from pjit_inspect.model.program.opcodes import PRODUCTS, operations
from pjit_inspect.model.report.graph_columns import HOWS

HOW = {name: number for number, name in enumerate(HOWS)}

_MATMUL_WEIGHT = 1000
_TRIVIAL = operations("parameter", "made", "broadcast", "tuple")

Place = tuple[int, int]
"""A scope and a phase."""


class Placing:
    """Scopes and phases of kernels: lists by kernel, refined by later steps.

    Attributes:
      facts: the kernels, and what is known of each.
      scopes: the scopes.
      scope, phase: of each kernel; a row of `scopes`, and one of `PHASES`.
      how: the rule that placed it, as a row of `HOWS`.
      label: a label for people.
      frame: its source frame; 0 for none.
      bodies: for kernels with names in them, the number of inner instructions per place.
      is_differentiated: whether the program has a backward pass.
      producers, users: for each kernel, the kernels whose values it takes, and those that take its values.
    """

    def __init__(self, facts: KernelFacts, scopes: Scopes) -> None:
        kernels, columns, count = facts.kernels, facts.module.instructions, len(facts)
        self.facts: KernelFacts = facts
        self.scopes: Scopes = scopes
        self.scope: list[int] = [ROOT] * count
        self.phase: list[int] = [UNKNOWN] * count
        self.how: list[int] = [HOW["none"]] * count
        self.label: list[str] = [facts.module.opcodes[row] for row in columns.opcode[kernels.rows].tolist()]
        self.frame: list[int] = columns.frame[kernels.rows].tolist()
        self.bodies: dict[int, Counter[Place]] = {}
        self.is_differentiated = False
        self.producers: list[list[int]] = kernels.producers
        self.users: list[list[int]] = kernels.users

    def put(self, kernel: int, scope: int, how: str) -> None:
        """Moves a kernel to another scope."""
        self.scope[kernel] = scope
        self.how[kernel] = HOW[how]

    def place(self, kernel: int) -> Place:
        """The scope and phase of a kernel."""
        return self.scope[kernel], self.phase[kernel]

    def unplaced(self) -> list[int]:
        """The kernels that no rule has placed yet."""
        return [kernel for kernel, how in enumerate(self.how) if how == HOW["none"]]


def place_kernels(facts: KernelFacts, scopes: Scopes, names: Sequence[tuple[Name, ...]]) -> Placing:
    """A scope and a phase for every kernel.

    Args:
      facts: the kernels.
      scopes: the scopes that `names` are in.
      names: the operations in each of the program's names.
    """
    placing = Placing(facts, scopes)
    _place_by_names(placing, names)
    # A sum belongs to the values it sums. Anything else belongs to the next kernel that takes its result, or else to
    # the last one whose result it takes: users are placed from the last kernel back, operands from the first on.
    for kernel in placing.unplaced():
        if facts.is_sum(kernel):
            _place_like(placing, kernel, placing.producers[kernel], "producer")
    for kernel in reversed(placing.unplaced()):
        _place_like(placing, kernel, placing.users[kernel], "user")
    for kernel in placing.unplaced():
        _place_like(placing, kernel, placing.producers[kernel][::-1], "operand")
    for kernel in placing.unplaced():
        _place_by_caller(placing, kernel, names)
    _leave_loops(placing)
    _complete_phases(placing)
    return placing


class _KernelNames(NamedTuple):
    """Instructions in a kernel with one name: its operations, how many there are, whether they are matrix products."""

    names: tuple[Name, ...]
    number: int
    is_matmul: bool
    frame: int


def _place_by_names(placing: Placing, names: Sequence[tuple[Name, ...]]) -> None:
    """Places kernels by their own names, or else by the names of the instructions inside them."""
    module, rows = placing.facts.module, placing.facts.kernels.rows
    bodies = _names_inside(placing.facts, names)
    for kernel, row in enumerate(module.instructions.op_name[rows].tolist()):
        own, inside = names[row], bodies.get(kernel, [])
        itself = [_KernelNames(own, 1, False, 0)] if own else []
        if itself or inside:
            _place_by(placing, kernel, itself or inside, ("body", "own", "combined")[min(len(own), 2)])
        if inside or len(own) > 1:
            places = placing.bodies[kernel] = Counter()
            for one in inside or itself:
                for name in one.names:
                    places[name.scope, name.phase] += one.number


def _place_by(placing: Placing, kernel: int, inner: Iterable[_KernelNames], how: str) -> None:
    """Places a kernel where most of these operations belong; matrix products outweigh all others."""
    weights: Counter[Place] = Counter()
    best: dict[Place, tuple[int, Name, int]] = {}
    for one in inner:
        weight = one.number * (_MATMUL_WEIGHT if one.is_matmul else 1)
        for name in one.names:
            place = name.scope, name.phase
            weights[place] += weight
            if place not in best or weight > best[place][0]:
                best[place] = weight, name, one.frame
    place = max(weights, key=lambda key: weights[key])
    _, name, frame = best[place]
    placing.put(kernel, name.scope, how)
    placing.phase[kernel] = name.phase
    placing.label[kernel] = name.label or placing.label[kernel]
    placing.frame[kernel] = placing.frame[kernel] or frame


def _place_like(placing: Placing, kernel: int, others: Iterable[int], how: str) -> None:
    """Places a kernel where the first of these kernels is that has a place."""
    for other in others:
        if placing.how[other] != HOW["none"]:
            placing.put(kernel, placing.scope[other], how)
            placing.phase[kernel] = placing.phase[other]
            placing.frame[kernel] = placing.frame[kernel] or placing.frame[other]
            return


def _place_by_caller(placing: Placing, kernel: int, names: Sequence[tuple[Name, ...]]) -> None:
    """Places a kernel by the loop, branch or call that runs it."""
    module, kernels = placing.facts.module, placing.facts.kernels
    callers = kernels.running.callers
    computation = int(module.instructions.computation[kernels.rows[kernel]])
    while computation in callers:
        caller = callers[computation]
        own = names[int(module.instructions.op_name[caller])]
        if own:
            is_loop = module.instruction(caller).opcode == "while"
            # A loop that XLA made is not a scope of the user.
            inner = placing.scopes.find(own[0].scope, LOOP, "loop") if is_loop else None
            placing.put(kernel, own[0].scope if inner is None else inner, "caller")
            placing.phase[kernel] = own[0].phase
            return
        computation = int(module.instructions.computation[caller])


def _leave_loops(placing: Placing) -> None:
    """Moves kernels that XLA hoisted out of a loop out of its scope, whatever their names say."""
    left = functools.cache(functools.partial(_without_loops, placing.scopes))
    loops = placing.facts.kernels.running.loops
    for kernel, loop in enumerate(placing.facts.kernels.loops):
        scope = left(placing.scope[kernel], len(loops_around(loops, loop)))
        if scope != placing.scope[kernel]:
            placing.put(kernel, scope, "loop")


def _without_loops(scopes: Scopes, scope: int, depth: int) -> int:
    """The scope without the loops in it that are more than `depth`."""
    loops, left = 0, ROOT
    for row in scopes.path(scope):
        loops += scopes.kinds[row] == "loop"
        if scopes.kinds[row] != "loop" or loops <= depth:
            left = scopes.child(left, scopes.names[row], scopes.kinds[row])
    return left


def _complete_phases(placing: Placing) -> None:
    """Gives kernels without a phase one: update after the backward pass, forward before it."""
    phase = placing.phase
    placing.is_differentiated = not {BACKWARD, RECOMPUTE}.isdisjoint(phase)
    is_after: list[bool] = []
    for kernel, stated in enumerate(phase):
        is_after.append(stated == BACKWARD or any(is_after[other] for other in placing.producers[kernel]))
        if not placing.is_differentiated:
            phase[kernel] = FORWARD
        elif stated == UNKNOWN:
            phase[kernel] = UPDATE if is_after[kernel] else FORWARD


def _names_inside(facts: KernelFacts, names: Sequence[tuple[Name, ...]]) -> dict[int, list[_KernelNames]]:
    """For each kernel with a body, the operations named in it."""
    kernels, module, columns = facts.kernels, facts.module, facts.module.instructions
    owner = kernels.running.owner
    host = np.where(owner >= 0, kernels.numbers[owner], -1).astype(np.int64)
    kernel = host[columns.computation]
    kept = np.flatnonzero((kernel >= 0) & (columns.op_name > 0) & ~module.is_opcode(_TRIVIAL))
    keys = (kernel[kept] * len(names) + columns.op_name[kept]) * 2 + module.is_opcode(PRODUCTS)[kept]
    unique, first, counts = np.unique(keys, return_index=True, return_counts=True)
    inside: dict[int, list[_KernelNames]] = {}
    frames = columns.frame[kept[first]].tolist()
    for key, count, frame in zip(unique.tolist(), counts.tolist(), frames, strict=True):
        named = names[key // 2 % len(names)]
        if named:
            inside.setdefault(key // 2 // len(names), []).append(_KernelNames(named, count, bool(key % 2), frame))
    # XLA gives each fusion a body of its own; in other programs several kernels may have one.
    for number in np.flatnonzero(np.diff(columns.called.starts)[kernels.rows]).tolist():
        shared = inside.get(int(host[columns.called[int(kernels.rows[number])][0]]))
        if shared:
            inside.setdefault(number, shared)
    return inside
