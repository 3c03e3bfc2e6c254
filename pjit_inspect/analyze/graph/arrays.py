"""Moves kernels to the scope of their arrays: updates, and collectives that XLA combined.

An argument belongs to the scope whose forward kernels read it; an optimizer's state to that of the parameter with the
same path. A thousand updates of one step are spread over their layers. A combined collective is placed where most of
its bytes are needed or, for sums, produced. Not its job: kernels whose names give their place
(`analyze.graph.placing`).
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from pjit_inspect.analyze.graph.kernels import KernelList
from pjit_inspect.analyze.graph.placing import Place, Placing
from pjit_inspect.analyze.graph.scopes import FORWARD, RECOMPUTE, ROOT, UPDATE, Scopes
from pjit_inspect.model.program.opcodes import SUMS

SMALL = 64
"""Bytes up to which a value does not show where its users belong, such as a step number or a norm."""
_UPDATES = frozenset(("optimizer", "optim", "optax", "adam", "adamw", "sgd", "apply_updates", "apply_gradients"))
"""Scopes that say no more of an update than that it is one."""
_MOST_STEPS = 12
"""Parts of an argument's path that are compared."""
_PARTS = re.compile(r"[A-Za-z_]\w*|\d+")
_DIGITS = re.compile(r"\d+")
_ONE_ARRAY = frozenset(("all-to-all", "ragged-all-to-all"))
"""Kinds whose operands are pieces of one array."""


class Served(NamedTuple):
    """A kernel that one operand of a combined collective is for, or from; and the operand's bytes."""

    kernel: int
    bytes: int


class Inputs:
    """Inputs of each kernel: (source kernel or -1, element, argument's instruction or -1, bytes) in operand order.

    `combined`: collectives that XLA combined; each result is one operand.
    """

    def __init__(self, kernels: KernelList, combined: Mapping[int, str]) -> None:
        self.kernels: KernelList = kernels
        self.combined: Mapping[int, str] = combined
        reads = kernels.reads
        columns = (reads.source, reads.element, kernels.arguments, kernels.sizes)
        rows = list(zip(*(column.tolist() for column in columns), strict=True))
        self.of: list[list[tuple[int, int, int, int]]] = [[] for _ in range(len(kernels))]
        self.by_operand: dict[int, dict[int, list[tuple[int, int, int, int]]]] = {kernel: {} for kernel in combined}
        self.takers: dict[int, dict[int, list[int]]] = {kernel: {} for kernel in combined}
        targets, operands = reads.target.tolist(), reads.operand.tolist()
        for row, target, operand in zip(rows, targets, operands, strict=True):
            self.of[target].append(row)
            if target in self.by_operand:
                self.by_operand[target].setdefault(operand, []).append(row)
            if row[0] in self.takers:
                self.takers[row[0]].setdefault(row[1], []).append(target)

    def made_by(self, source: int, element: int) -> tuple[int, int]:
        """The kernel and the argument a value came from before XLA combined it with others."""
        operand = self.by_operand.get(source, {}).get(element)
        return (operand[0][0], operand[0][2]) if operand else (source, -1)


@functools.lru_cache(maxsize=8192)
def argument_path(name: str) -> tuple[str, ...]:
    """The path of an argument: `params['layers'][3]['w1']` is params, layers, 3, w1."""
    return tuple(_PARTS.findall(name))


def numbered(name: str) -> str:
    """A name with its numbers masked, which makes names of equal layers equal."""
    return _DIGITS.sub("#", name)


def find_homes(placing: Placing, inputs: Inputs) -> dict[int, int]:
    """The scope each argument belongs to, by its instruction; arguments without a scope are omitted."""
    readers: dict[int, Counter[int]] = {}
    for kernel, taken in enumerate(inputs.of):
        if placing.scope[kernel] != ROOT and placing.phase[kernel] in (FORWARD, RECOMPUTE):
            for source, _, argument, _ in taken:
                if source < 0:
                    readers.setdefault(argument, Counter())[placing.scope[kernel]] += 1
    homes = {argument: scopes.most_common(1)[0][0] for argument, scopes in readers.items()}
    return homes | _same_paths(placing, inputs, homes)


def _same_paths(placing: Placing, inputs: Inputs, homes: dict[int, int]) -> dict[int, int]:
    """The scopes of arguments that no forward kernel reads, by the longest path ending that decides."""
    module = inputs.kernels.module
    arguments = dict.fromkeys(argument for taken in inputs.of for _, _, argument, _ in taken if argument >= 0)
    paths = {argument: argument_path(module.instruction(argument).op_name)[-_MOST_STEPS:] for argument in arguments}
    ends: dict[tuple[str, ...], int | None] = {}
    for argument, home in homes.items():
        path = paths.get(argument, ())
        for start in range(len(path)):
            end = path[start:]
            ends[end] = home if ends.get(end, home) == home else None
    same = {}
    for argument, path in paths.items():
        known = next((ends[path[k:]] for k in range(len(path)) if path[k:] in ends), None)
        if argument not in homes and known is not None:
            same[argument] = known
    return same


def place_updates(placing: Placing, inputs: Inputs, homes: Mapping[int, int]) -> None:
    """Moves updates that say nothing, or only that they are updates, to the group whose array they change."""
    groups = _Groups(placing.scopes)
    is_free = functools.cache(lambda scope: _says_nothing(placing.scopes, scope))
    for kernel, phase in enumerate(placing.phase):
        if phase != UPDATE:
            continue
        if is_free(placing.scope[kernel]):
            scope = _home_of(kernel, placing, inputs, homes)
            if scope != ROOT:
                placing.put(kernel, scope, "array")
        placing.scope[kernel] = groups.of(placing.scope[kernel])


def _says_nothing(scopes: Scopes, scope: int) -> bool:
    """Whether every name in an update's scope (`optimizer`, `adam`, ...) only repeats its column."""
    return all(scopes.names[row] in _UPDATES for row in scopes.path(scope))


def _home_of(kernel: int, placing: Placing, inputs: Inputs, homes: Mapping[int, int]) -> int:
    large: Counter[int] = Counter()
    small: Counter[int] = Counter()
    is_shared = False
    for source, element, argument, size in inputs.of[kernel]:
        if source >= 0:
            source, argument = inputs.made_by(source, element)
        scope = homes.get(argument, ROOT) if source < 0 else placing.scope[source]
        if scope != ROOT:
            (large if size > SMALL else small)[scope] += size
        is_shared |= scope == ROOT and size <= SMALL
    # Small values (steps, norms, scales) are shared by all layers: they decide only if no large one does, and only if
    # all of them belong to a layer.
    readers = large or (Counter() if is_shared else small)
    return placing.scopes.common(sorted(readers)) if readers else ROOT


def group_of(scopes: Scopes, scope: int) -> int:
    """The group that shows an update of a scope: its numbered layer, or else its outermost scope."""
    return _Groups(scopes).of(scope)


class _Groups:
    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._alike = Counter(
            (parent, numbered(name)) for parent, name in zip(scopes.parents, scopes.names, strict=True)
        )
        self._known: dict[int, int] = {}

    def of(self, scope: int) -> int:
        if scope not in self._known:
            self._known[scope] = self._group(scope)
        return self._known[scope]

    def _group(self, scope: int) -> int:
        path, names = self._scopes.path(scope), self._scopes.names
        for row in path:
            masked = numbered(names[row])
            if masked != names[row] and self._alike[self._scopes.parents[row], masked] > 1 and "@" not in masked:
                return row
        named = (row for row in path if self._scopes.kinds[row] not in ("loop", "branch", "function"))
        return next(named, path[0] if path else ROOT)


def place_combined(placing: Placing, inputs: Inputs) -> None:
    """Moves combined collectives to the place that most of their bytes are for."""
    for kernel in sorted(inputs.combined):
        sizes: Counter[Place] = Counter()
        for served in find_served(kernel, inputs):
            sizes[placing.place(served.kernel)] += served.bytes
        if sizes:
            scope, phase = max(sizes, key=lambda place: sizes[place])
            placing.phase[kernel] = phase
            placing.put(kernel, scope, "combined")


def find_served(kernel: int, inputs: Inputs) -> tuple[Served, ...]:
    """The kernels that need (for sums: make) each operand of a combined collective, the nearest of each operand.

    () for one whose operands are pieces of one array.
    """
    kind = inputs.combined[kernel]
    if kind in _ONE_ARRAY:
        return ()
    served = []
    for operand, rows in sorted(inputs.by_operand[kernel].items()):
        makers = [source for source, *_ in rows if source >= 0]
        takers = inputs.takers[kernel].get(operand, [])
        near = [*makers, *takers] if kind in SUMS else [*takers, *makers]
        if near:
            served.append(Served(near[0], rows[0][3]))
    return tuple(served)
