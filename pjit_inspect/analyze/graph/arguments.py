"""Layers of a program without scopes, by the arguments they read: `params[3]['w']` belongs to layer 3.

The number is carried along the data flow: forward it can only rise, backward only fall. It is a guess, and marked so.
Not its job: programs with scopes.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable

from pjit_inspect.analyze.graph.arrays import SMALL, argument_path
from pjit_inspect.analyze.graph.facts import KernelFacts
from pjit_inspect.analyze.graph.placing import Placing
from pjit_inspect.analyze.graph.scopes import BACKWARD, FORWARD, RECOMPUTE, ROOT, UPDATE

FEW = 0.1
"""A program has no scopes when fewer of its kernels than this share have one."""

_Layer = tuple[tuple[str, ...], int]


def has_scopes(placing: Placing) -> bool:
    """True if enough kernels are in a named scope."""
    scopes = placing.scopes
    is_named = functools.cache(
        lambda scope: any(scopes.kinds[row] in ("scope", "function") for row in scopes.path(scope))
    )
    return sum(map(is_named, placing.scope)) >= FEW * max(1, len(placing.scope))


def place_by_arguments(placing: Placing) -> None:
    """Moves kernels without a scope to the layer whose number they have, where arguments have numbers."""
    layers = _layers(placing.facts)
    base = _base(placing, layers)
    if base is None:
        return
    numbers = {argument: number for argument, (path, number) in layers.items() if path == base}
    for kernel, number in enumerate(_Numbers(placing, numbers).find()):
        if number is not None and placing.scope[kernel] == ROOT and placing.phase[kernel] != UPDATE:
            placing.put(kernel, placing.scopes.child(ROOT, f"{base[-1]}[{number}]", "argument"), "argument")


def _layers(facts: KernelFacts) -> dict[int, _Layer]:
    """For each argument with a number in its path: the path before the number, and the number."""
    layers: dict[int, _Layer] = {}
    for argument in dict.fromkeys(argument for inputs in facts.inputs for _, _, argument, _ in inputs if argument >= 0):
        path = argument_path(facts.argument_name(argument))
        position = next((k for k, part in enumerate(path) if k and part.isdecimal() and len(part) < 10), None)
        if position is not None:
            layers[argument] = path[:position], int(path[position])
    return layers


def _base(placing: Placing, layers: dict[int, _Layer]) -> tuple[str, ...] | None:
    """The list of layers that the forward kernels read most; None when none has two."""
    counts: Counter[_Layer] = Counter()
    for phase, inputs in zip(placing.phase, placing.facts.inputs, strict=True):
        if phase in (FORWARD, RECOMPUTE):
            counts.update(layers[argument] for _, _, argument, _ in inputs if argument in layers)
    reads, numbers = Counter[tuple[str, ...]](), Counter(base for base, _ in counts)
    for (base, _), count in counts.items():
        reads[base] += count
    return next((base for base, _ in reads.most_common() if numbers[base] > 1), None)


class _Numbers:
    """The number of each kernel's layer, phase by phase; None for kernels of no layer."""

    def __init__(self, placing: Placing, numbers: dict[int, int]) -> None:
        self._facts, self._phase, self._users = placing.facts, placing.phase, placing.users
        self._found: list[int | None] = [None] * len(placing.scope)
        self._own = [
            {
                numbers[argument]
                for taken in inputs
                if taken[3] > SMALL and (argument := self._facts.argument_of(taken)) in numbers
            }
            for inputs in self._facts.inputs
        ]

    def find(self) -> list[int | None]:
        """The numbers."""
        kernels, found = range(len(self._found)), self._found
        for kernel in kernels:
            if self._phase[kernel] in (FORWARD, RECOMPUTE):
                found[kernel] = max(self._own[kernel] or self._taken(kernel, self._phase[kernel]), default=None)
        # From the last kernel back: users come after the kernels they use, and a chain is numbered in one pass.
        for kernel in reversed(kernels):
            if self._phase[kernel] == RECOMPUTE and not self._own[kernel]:
                users = [found[user] for user in self._users[kernel] if self._phase[user] == RECOMPUTE]
                found[kernel] = min((each for each in users if each is not None), default=found[kernel])
        for kernel in kernels:
            if self._phase[kernel] == BACKWARD:
                found[kernel] = self._backward(kernel)
        ends: dict[int, int] = {}
        for kernel in reversed(kernels):
            # A kernel that leads to the updates of one layer only belongs to that layer. Two ends, or an unknown one
            # (-1), decide nothing.
            if self._phase[kernel] == BACKWARD and self._users[kernel]:
                reached = {number for user in self._takers(kernel) for number in self._end(user, ends)}
                if len(reached) == 1 and -1 not in reached:
                    found[kernel] = ends[kernel] = reached.pop()
        return found

    def _taken(self, kernel: int, phase: int) -> set[int]:
        """The numbers of the kernels of one phase whose values it takes."""
        found = (
            self._found[source]
            for source, _, _, size in self._facts.inputs[kernel]
            if source >= 0 and size > SMALL and self._phase[source] == phase
        )
        return {number for number in found if number is not None}

    def _backward(self, kernel: int) -> int | None:
        """The number of a backward kernel: arguments and recomputed values decide before neighbouring layers."""
        near = self._own[kernel] | self._taken(kernel, RECOMPUTE)
        if near:
            return max(near)
        # A gradient goes down the layers: of the layer whose gradient it takes and the layer that saved a value, it has
        # reached the lower one.
        saved = self._taken(kernel, FORWARD)
        return min(self._taken(kernel, BACKWARD) | ({max(saved)} if saved else set()), default=None)

    def _takers(self, kernel: int) -> Iterable[int]:
        """Users of a kernel's result; a combined collective is replaced by the users of that operand."""
        for user in self._users[kernel]:
            if user not in self._facts.combined:
                yield user
                continue
            for operand, inputs in self._facts.by_operand[user].items():
                if any(source == kernel for source, *_ in inputs):
                    yield from self._facts.takers[user].get(operand, ())

    def _end(self, user: int, ends: dict[int, int]) -> Iterable[int]:
        """Layers whose updates a value reaches through this user; -1 if unknown."""
        return self._own[user] if self._phase[user] == UPDATE else [ends.get(user, -1)]
