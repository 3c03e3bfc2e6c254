"""Layers of a program without scopes, by the arguments they read: `params[3]['w']` belongs to layer 3.

The number is carried along the data flow: forward it can only rise, backward only fall. It is a guess, and marked so.
Not its job: programs with scopes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from pjit_inspect.analyze.graph.arrays import SMALL, Inputs, argument_path
from pjit_inspect.analyze.graph.placing import Placing
from pjit_inspect.analyze.graph.scopes import BACKWARD, FORWARD, RECOMPUTE, ROOT, UPDATE

FEW = 0.1
"""A program has no scopes when fewer of its kernels than this share have one."""

_Layer = tuple[tuple[str, ...], int]


def has_scopes(placing: Placing) -> bool:
    """Whether enough kernels are in a named scope."""
    named = frozenset(row for row, kind in enumerate(placing.scopes.kinds) if kind in ("scope", "function"))
    within = _within(placing, named)
    return sum(within[scope] for scope in placing.scope) >= FEW * max(1, len(placing.scope))


def _within(placing: Placing, rows: frozenset[int]) -> list[bool]:
    """For each scope, whether it is one of these or within one."""
    within: list[bool] = []
    for row, parent in enumerate(placing.scopes.parents):
        within.append(row in rows or (parent >= 0 and within[parent]))
    return within


def place_by_arguments(placing: Placing, inputs: Inputs) -> None:
    """Moves kernels without a scope to the layer whose number they have, where arguments have numbers."""
    layers = _layers(inputs)
    base = _base(placing, inputs, layers)
    if base is None:
        return
    numbers = {argument: layer[1] for argument, layer in layers.items() if layer[0] == base}
    labels = _Labels(placing, inputs, numbers).find()
    for kernel, label in enumerate(labels):
        if label is not None and placing.scope[kernel] == ROOT and placing.phase[kernel] != UPDATE:
            placing.put(kernel, placing.scopes.child(ROOT, f"{base[-1]}[{label}]", "argument"), "argument")


def _layers(inputs: Inputs) -> dict[int, _Layer]:
    """For each argument with a number in its path: the path before the number, and the number."""
    module = inputs.kernels.module
    arguments = dict.fromkeys(argument for taken in inputs.of for _, _, argument, _ in taken if argument >= 0)
    layers: dict[int, _Layer] = {}
    for argument in arguments:
        path = argument_path(module.instruction(argument).op_name)
        position = next((k for k, part in enumerate(path) if k and part.isdecimal() and len(part) < 10), None)
        if position is not None:
            layers[argument] = path[:position], int(path[position])
    return layers


def _base(placing: Placing, inputs: Inputs, layers: dict[int, _Layer]) -> tuple[str, ...] | None:
    """The list of layers that the forward kernels read most; None when none has two."""
    counts, numbers = Counter[tuple[str, ...]](), dict[tuple[str, ...], set[int]]()
    for kernel, taken in enumerate(inputs.of):
        for _, _, argument, _ in taken:
            if argument in layers and placing.phase[kernel] in (FORWARD, RECOMPUTE):
                base, number = layers[argument]
                counts[base] += 1
                numbers.setdefault(base, set()).add(number)
    return next((base for base, _ in counts.most_common() if len(numbers[base]) > 1), None)


class _Labels:
    """The number of each kernel's layer, phase by phase."""

    def __init__(self, placing: Placing, inputs: Inputs, numbers: dict[int, int]) -> None:
        self._placing, self._inputs, self._numbers = placing, inputs, numbers
        self._phase = placing.phase
        self._found: list[int | None] = [None] * len(placing.scope)

    def find(self) -> list[int | None]:
        """The numbers; None for kernels of no layer."""
        kernels = range(len(self._found))
        for kernel in kernels:
            if self._phase[kernel] in (FORWARD, RECOMPUTE):
                own = self._own(kernel)
                self._found[kernel] = max(own) if own else self._of(kernel, self._phase[kernel], max)
        self._recompute_by_users()
        for kernel in kernels:
            if self._phase[kernel] == BACKWARD:
                self._found[kernel] = self._backward(kernel)
        self._gradients()
        return self._found

    def _own(self, kernel: int) -> list[int]:
        """Numbers of the arguments it takes, gathered or not."""
        numbers = []
        for source, element, argument, size in self._inputs.of[kernel]:
            if source >= 0:
                argument = self._gathered(source, element)
            if argument in self._numbers and size > SMALL:
                numbers.append(self._numbers[argument])
        return numbers

    def _gathered(self, source: int, element: int) -> int:
        """The argument a kernel's result is all of, or a part; -1 when it is none."""
        maker, argument = self._inputs.made_by(source, element)
        if argument >= 0:
            return argument
        taken = self._inputs.of[maker] if maker >= 0 else []
        return taken[0][2] if len(taken) == 1 and taken[0][0] < 0 else -1

    def _of(self, kernel: int, phase: int, choose: Callable[[Sequence[int]], int]) -> int | None:
        """Of the numbers of the kernels it takes values of, in one phase, the one to choose."""
        labels = [
            label
            for source, _, _, size in self._inputs.of[kernel]
            if source >= 0
            and size > SMALL
            and self._phase[source] == phase
            and (label := self._found[source]) is not None
        ]
        return choose(labels) if labels else None

    def _recompute_by_users(self) -> None:
        """Numbers recomputed kernels without arguments: each gets the smallest number among its users."""
        # From the last kernel back: users come after the kernels they use, and a chain is labelled in one pass.
        for kernel in range(len(self._found) - 1, -1, -1):
            if self._phase[kernel] == RECOMPUTE and not self._own(kernel):
                users = [self._found[user] for user in self._placing.users[kernel] if self._phase[user] == RECOMPUTE]
                known = [label for label in users if label is not None]
                self._found[kernel] = min(known) if known else self._found[kernel]

    def _backward(self, kernel: int) -> int | None:
        own = self._own(kernel)
        again = self._of(kernel, RECOMPUTE, max)
        if own or again is not None:
            # Arguments and recomputed values decide before values from neighbouring layers.
            return max([*own, *([again] if again is not None else [])])
        below, saved = self._of(kernel, BACKWARD, min), self._of(kernel, FORWARD, max)
        known = [label for label in (below, saved) if label is not None]
        # A gradient goes down the layers: of the layer whose gradient it takes and the layer that saved a value, it has
        # reached the lower one.
        return min(known) if known else None

    def _gradients(self) -> None:
        """Numbers backward kernels: a kernel that leads to the updates of one layer only belongs to that layer."""
        ends: dict[int, int] = {}
        for kernel in range(len(self._found) - 1, -1, -1):
            if self._phase[kernel] != BACKWARD or not self._placing.users[kernel]:
                continue
            # Backwards again: an end is known before the kernels that lead to it are reached. Two ends, or an unknown
            # one (-1), decide nothing.
            numbers = {number for user in self._takers(kernel) for number in self._end(user, ends)}
            if len(numbers) == 1 and -1 not in numbers:
                self._found[kernel] = ends[kernel] = numbers.pop()

    def _takers(self, kernel: int) -> list[int]:
        """Users of a kernel's result; a combined collective is replaced by the users of that operand."""
        takers: list[int] = []
        for user in self._placing.users[kernel]:
            if user in self._inputs.combined:
                operands = self._inputs.by_operand[user].items()
                mine = [k for k, rows in operands if any(source == kernel for source, *_ in rows)]
                takers += [taker for k in mine for taker in self._inputs.takers[user].get(k, ())]
            else:
                takers.append(user)
        return takers

    def _end(self, user: int, ends: dict[int, int]) -> list[int]:
        """Layers whose updates a value reaches through this user; -1 if unknown."""
        if self._phase[user] == UPDATE:
            return sorted(set(self._own(user)))
        return [ends.get(user, -1)]
