"""Places each kernel in the user's program: its scope and phase, by its name or by the best other rule.

Kernels with a name show how reliable each other rule is (`GraphKernels.how` keeps the rule used). Over six programs of
`tests/data`, a rule found the scope and phase of the name for 90 to 99 % by a fusion's content, for 75 to 83 % by the
next user, and for 66 to 86 % by the last operand. Not its job: reading names (`analyze.graph.scopes`), updates and
combined collectives (`analyze.graph.arrays`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.graph.kernels import KernelList
from pjit_inspect.analyze.graph.scopes import BACKWARD, FORWARD, LOOP, RECOMPUTE, ROOT, UNKNOWN, UPDATE, Name, Scopes
from pjit_inspect.model.report.graph_columns import HOWS

HOW = {name: number for number, name in enumerate(HOWS)}

_MATMUL_WEIGHT = 1000
_MATMULS = frozenset(("dot", "convolution"))
_TRIVIAL = frozenset(("parameter", "constant", "broadcast", "iota", "tuple", "get-tuple-element"))

Place = tuple[int, int]
"""A scope and a phase."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placing:
    """Scopes and phases of kernels: lists by kernel, refined by later steps.

    Attributes:
      scopes: the scopes.
      scope, phase: of each kernel; a row of `scopes`, and one of `PHASES`.
      how: the rule that placed it, as a row of `HOWS`.
      label: a label for people.
      frame: its source frame; 0 for none.
      bodies: for kernels with names in them, the number of inner instructions per place.
      is_differentiated: whether the program has a backward pass.
    """

    scopes: Scopes
    scope: list[int]
    phase: list[int]
    how: list[int]
    label: list[str]
    frame: list[int]
    bodies: dict[int, Counter[Place]]
    is_differentiated: bool = False
    producers: list[list[int]] = field(repr=False)
    users: list[list[int]] = field(repr=False)

    def put(self, kernel: int, scope: int, how: str) -> None:
        """Moves a kernel to another scope."""
        self.scope[kernel] = scope
        self.how[kernel] = HOW[how]

    def place(self, kernel: int) -> Place:
        """The scope and phase of a kernel."""
        return self.scope[kernel], self.phase[kernel]


def place_kernels(
    kernels: KernelList, scopes: Scopes, names: Sequence[tuple[Name, ...]], sums: frozenset[int]
) -> Placing:
    """A scope and a phase for every kernel.

    Args:
      kernels: the kernels.
      scopes: the scopes that `names` are in.
      names: the operations in each of the program's names.
      sums: the kernels that are all-reduces or reduce-scatters.
    """
    draft = _Draft(kernels, scopes, names)
    draft.place_by_name()
    draft.place_sums(sums)
    draft.place_by_neighbours()
    draft.place_by_caller()
    draft.leave_loops()
    phases = draft.phases()
    return Placing(
        scopes=scopes,
        scope=[ROOT if scope is None else scope for scope in draft.scope],
        phase=phases,
        how=draft.how,
        label=draft.label,
        frame=draft.frame,
        bodies=draft.bodies,
        is_differentiated=draft.is_differentiated,
        producers=draft.producers,
        users=draft.users,
    )


class _Draft:
    """Places that are being found; None and "" where nothing is known yet."""

    def __init__(self, kernels: KernelList, scopes: Scopes, names: Sequence[tuple[Name, ...]]) -> None:
        self.kernels, self.scopes, self.names = kernels, scopes, names
        count, columns = len(kernels), kernels.module.instructions
        self.scope: list[int | None] = [None] * count
        self.phase = [UNKNOWN] * count
        self.how = [HOW["none"]] * count
        opcodes = kernels.module.opcodes
        self.label = [opcodes[row] for row in columns.opcode[kernels.rows].tolist()]
        self.frame: list[int] = columns.frame[kernels.rows].tolist()
        self.producers, self.users = kernels.edges.producers(count), kernels.edges.users(count)
        self.bodies: dict[int, Counter[Place]] = {}
        self.is_differentiated = False

    def _put(self, kernel: int, scope: int, phase: int, how: str) -> None:
        self.scope[kernel], self.phase[kernel], self.how[kernel] = scope, phase, HOW[how]

    def place_by_name(self) -> None:
        """Places kernels by their names, or by the names inside them."""
        inside = _names_inside(self.kernels)
        columns = self.kernels.module.instructions
        for kernel, row in enumerate(columns.op_name[self.kernels.rows].tolist()):
            own, body = self.names[row], inside.get(kernel, ())
            if body:
                self.bodies[kernel] = self._places(body)
            if own:
                self._place_by_own(kernel, own)
            elif body:
                self._place_by_body(kernel, body)

    def _places(self, body: Sequence[_Inside]) -> Counter[Place]:
        places: Counter[Place] = Counter()
        for inner in body:
            for name in self.names[inner.op_name]:
                places[name.scope, name.phase] += inner.number
        return places

    def _place_by_own(self, kernel: int, own: tuple[Name, ...]) -> None:
        counts = Counter((name.scope, name.phase) for name in own)
        scope, phase = max(counts, key=lambda place: counts[place])
        self._put(kernel, scope, phase, "combined" if len(own) > 1 else "own")
        self.label[kernel] = next(iter(own)).label or self.label[kernel]
        if len(counts) > 1 and kernel not in self.bodies:
            self.bodies[kernel] = counts

    def _place_by_body(self, kernel: int, body: Sequence[_Inside]) -> None:
        weights: Counter[Place] = Counter()
        best: dict[Place, tuple[int, _Inside, Name]] = {}
        for inner in body:
            weight = inner.number * (_MATMUL_WEIGHT if inner.is_matmul else 1)
            for name in self.names[inner.op_name]:
                place = name.scope, name.phase
                weights[place] += weight
                if place not in best or weight > best[place][0]:
                    best[place] = weight, inner, name
        if not weights:
            return
        place = max(weights, key=lambda key: weights[key])
        self._put(kernel, *place, "body")
        _, inner, name = best[place]
        self.label[kernel] = name.label or self.label[kernel]
        self.frame[kernel] = self.frame[kernel] or inner.frame

    def place_sums(self, sums: frozenset[int]) -> None:
        """Places sums without a name like the values they sum."""
        for kernel in sorted(sums):
            if self.scope[kernel] is None:
                self._place_like(kernel, self.producers[kernel], "producer")

    def place_by_neighbours(self) -> None:
        """Places kernels by the next kernel that takes their result, or else by the last one whose result they take."""
        for kernel in range(len(self.scope) - 1, -1, -1):
            if self.scope[kernel] is None:
                self._place_like(kernel, self.users[kernel], "user")
        for kernel in range(len(self.scope)):
            if self.scope[kernel] is None:
                self._place_like(kernel, self.producers[kernel][::-1], "operand")

    def _place_like(self, kernel: int, others: Sequence[int], how: str) -> None:
        for other in others:
            scope = self.scope[other]
            if scope is not None:
                self._put(kernel, scope, self.phase[other], how)
                self.frame[kernel] = self.frame[kernel] or self.frame[other]
                return

    def place_by_caller(self) -> None:
        """Places kernels by the loop, branch or call that runs them."""
        module, running = self.kernels.module, self.kernels.running
        for kernel, scope in enumerate(self.scope):
            if scope is not None:
                continue
            computation = int(module.instructions.computation[self.kernels.rows[kernel]])
            while computation in running.callers:
                caller = running.callers[computation]
                own = self.names[int(module.instructions.op_name[caller])]
                if own:
                    is_loop = module.instruction(caller).opcode == "while"
                    # A loop that XLA made is not a scope of the user.
                    inner = self.scopes.find(own[0].scope, LOOP, "loop") if is_loop else None
                    self._put(kernel, own[0].scope if inner is None else inner, own[0].phase, "caller")
                    break
                computation = int(module.instructions.computation[caller])

    def leave_loops(self) -> None:
        """Moves kernels that XLA hoisted out of a loop out of its scope, whatever their names say."""
        module, running = self.kernels.module, self.kernels.running
        depths = [0] * len(running.loops)
        for row, loop in enumerate(running.loops):
            depths[row] = 1 + (depths[loop.parent] if loop.parent >= 0 else 0)
        known: dict[tuple[int, int], int] = {}
        for kernel, computation in enumerate(module.instructions.computation[self.kernels.rows].tolist()):
            scope, loop = self.scope[kernel], running.loop_of[computation]
            depth = depths[loop] if loop >= 0 else 0
            if scope is None:
                continue
            if (scope, depth) not in known:
                known[scope, depth] = _left(self.scopes, scope, depth)
            if known[scope, depth] != scope:
                self._put(kernel, known[scope, depth], self.phase[kernel], "loop")

    def phases(self) -> list[int]:
        """The phase of each kernel; without a name, a kernel after the backward pass is an update."""
        self.is_differentiated = not {BACKWARD, RECOMPUTE}.isdisjoint(self.phase)
        if not self.is_differentiated:
            return [FORWARD] * len(self.phase)
        after = [False] * len(self.phase)
        phases = list(self.phase)
        for kernel, phase in enumerate(self.phase):
            after[kernel] = phase == BACKWARD or any(after[other] for other in self.producers[kernel])
            if phase == UNKNOWN:
                phases[kernel] = UPDATE if after[kernel] else FORWARD
        return phases


def _left(scopes: Scopes, scope: int, depth: int) -> int:
    """The scope without the loops in it that are more than `depth`."""
    loops, left = 0, ROOT
    for row in scopes.path(scope):
        loops += scopes.kinds[row] == "loop"
        if scopes.kinds[row] != "loop" or loops <= depth:
            left = scopes.child(left, scopes.names[row], scopes.kinds[row])
    return left


class _Inside(NamedTuple):
    """Instructions in a kernel that share a name."""

    op_name: int
    is_matmul: bool
    number: int
    frame: int


def _names_inside(kernels: KernelList) -> dict[int, list[_Inside]]:
    """For each kernel with a body, the names in it."""
    module = kernels.module
    columns = module.instructions
    owner = kernels.running.owner[columns.computation]
    trivial = [row for row, opcode in enumerate(module.opcodes) if opcode in _TRIVIAL]
    kept = np.flatnonzero((owner >= 0) & (columns.op_name > 0) & ~np.isin(columns.opcode, trivial))
    kernel = kernels.numbers[owner[kept]].astype(np.int64)
    kept, kernel = kept[kernel >= 0], kernel[kernel >= 0]
    matmuls = [row for row, opcode in enumerate(module.opcodes) if opcode in _MATMULS]
    is_matmul = np.isin(columns.opcode[kept], matmuls)
    keys = (kernel * len(module.op_names) + columns.op_name[kept]) * 2 + is_matmul
    unique, first, counts = np.unique(keys, return_index=True, return_counts=True)
    inside: dict[int, list[_Inside]] = {}
    frames = columns.frame[kept[first]].tolist()
    for key, count, frame in zip(unique.tolist(), counts.tolist(), frames, strict=True):
        name, is_product = key // 2 % len(module.op_names), bool(key % 2)
        inside.setdefault(key // 2 // len(module.op_names), []).append(_Inside(name, is_product, count, frame))
    return _with_shared(kernels, inside)


def _with_shared(kernels: KernelList, found: dict[int, list[_Inside]]) -> dict[int, list[_Inside]]:
    """Adds kernels that share their body with another kernel."""
    module, owner = kernels.module, kernels.running.owner
    called = module.instructions.called
    counts = np.diff(called.starts)[kernels.rows]
    for kernel in np.flatnonzero(counts).tolist():
        if kernel in found:
            continue
        body = int(called[int(kernels.rows[kernel])][0])
        first = int(kernels.numbers[owner[body]]) if owner[body] >= 0 else -1
        if first in found and first != kernel:
            found[kernel] = found[first]
    return found
