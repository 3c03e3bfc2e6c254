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
from typing import NamedTuple

from pjit_inspect.analyze.graph.facts import KernelFacts
from pjit_inspect.analyze.graph.placing import Place, Placing
from pjit_inspect.analyze.graph.scopes import FORWARD, RECOMPUTE, ROOT, UPDATE, Scopes, numbered
from pjit_inspect.model.program.opcodes import operations

SMALL = 64
"""Bytes up to which a value does not show where its users belong, such as a step number or a norm."""
_UPDATES = frozenset(("optimizer", "optim", "optax", "adam", "adamw", "sgd", "apply_updates", "apply_gradients"))
"""Scopes that say no more of an update than that it is one."""
_MOST_STEPS = 12
"""Parts of an argument's path that are compared."""
_PARTS = re.compile(r"[A-Za-z_]\w*|\d+")
_ONE_ARRAY = operations("pieces")
"""Kinds whose operands are pieces of one array."""


class Served(NamedTuple):
    """A kernel that one operand of a combined collective is for, or from; and the operand's bytes."""

    kernel: int
    bytes: int


@functools.lru_cache(maxsize=8192)
def argument_path(name: str) -> tuple[str, ...]:
    """The path of an argument: `params['layers'][3]['w1']` is params, layers, 3, w1."""
    return tuple(_PARTS.findall(name))


def place_updates(placing: Placing) -> None:
    """Moves updates that say nothing, or only that they are updates, to the group whose array they change."""
    scopes, homes = placing.scopes, _find_homes(placing)
    group = functools.cache(functools.partial(_group_of, scopes, _layers_of(scopes)))
    # Names such as `optimizer` and `adam` only repeat the column.
    is_free = functools.cache(lambda scope: all(scopes.names[row] in _UPDATES for row in scopes.path(scope)))
    for kernel, phase in enumerate(placing.phase):
        if phase != UPDATE:
            continue
        if is_free(placing.scope[kernel]):
            scope = _home_of(kernel, placing, homes)
            if scope != ROOT:
                placing.put(kernel, scope, "array")
        placing.scope[kernel] = group(placing.scope[kernel])


def _layers_of(scopes: Scopes) -> frozenset[int]:
    """Scopes beside others whose names differ in their numbers only."""
    masked = [(parent, numbered(name)) for parent, name in zip(scopes.parents, scopes.names, strict=True)]
    alike = Counter(masked)
    names = zip(scopes.names, masked, strict=True)
    return frozenset(
        row for row, (name, key) in enumerate(names) if alike[key] > 1 and name != key[1] and "@" not in name
    )


def _group_of(scopes: Scopes, layers: frozenset[int], scope: int) -> int:
    """The group that shows an update of a scope: its outermost layer, or else its outermost scope."""
    path = scopes.path(scope)
    named = [row for row in path if scopes.kinds[row] not in ("loop", "branch", "function")]
    return next(iter([row for row in path if row in layers] or named or path), ROOT)


def _find_homes(placing: Placing) -> dict[int, int]:
    """The scope each argument belongs to: of most forward kernels that read it, or of the argument that ends alike.

    Arguments without a scope are omitted.
    """
    paths: dict[int, tuple[str, ...]] = {}
    readers: dict[int, Counter[int]] = {}
    for kernel, inputs in enumerate(placing.facts.inputs):
        is_reader = placing.scope[kernel] != ROOT and placing.phase[kernel] in (FORWARD, RECOMPUTE)
        for argument in (argument for _, _, argument, _ in inputs if argument >= 0):
            if argument not in paths:
                paths[argument] = argument_path(placing.facts.argument_name(argument))[-_MOST_STEPS:]
            if is_reader:
                readers.setdefault(argument, Counter())[placing.scope[kernel]] += 1
    homes = {argument: scopes.most_common(1)[0][0] for argument, scopes in readers.items()}
    # The longest path ending that decides: that of all arguments with it belong to one scope.
    ends: dict[tuple[str, ...], int | None] = {}
    for argument, home in homes.items():
        path = paths[argument]
        for end in (path[start:] for start in range(len(path))):
            ends[end] = home if ends.get(end, home) == home else None
    for argument, path in paths.items():
        known = next((ends[path[k:]] for k in range(len(path)) if path[k:] in ends), None)
        if known is not None:
            homes.setdefault(argument, known)
    return homes


def _home_of(kernel: int, placing: Placing, homes: dict[int, int]) -> int:
    """The scope around the homes of the values an update takes; `ROOT` if they do not tell."""
    large, small = Counter[int](), Counter[int]()
    is_shared = False
    for taken in placing.facts.inputs[kernel]:
        source, argument = placing.facts.origin(taken)
        scope = homes.get(argument, ROOT) if source < 0 else placing.scope[source]
        if scope != ROOT:
            (large if taken[3] > SMALL else small)[scope] += taken[3]
        is_shared |= scope == ROOT and taken[3] <= SMALL
    # Small values (steps, norms, scales) are shared by all layers: they decide only if no large one does, and only if
    # all of them belong to a layer.
    readers = large or (Counter() if is_shared else small)
    return placing.scopes.common(sorted(readers)) if readers else ROOT


def place_combined(placing: Placing) -> None:
    """Moves combined collectives to the place that most of their bytes are for."""
    for kernel in sorted(placing.facts.combined):
        sizes: Counter[Place] = Counter()
        for served in find_served(kernel, placing.facts):
            sizes[placing.place(served.kernel)] += served.bytes
        if sizes:
            scope, phase = max(sizes, key=lambda place: sizes[place])
            placing.phase[kernel] = phase
            placing.put(kernel, scope, "combined")


def find_served(kernel: int, facts: KernelFacts) -> tuple[Served, ...]:
    """The kernels that need (for sums: make) each operand of a combined collective, the nearest of each operand.

    () for one whose operands are pieces of one array.
    """
    if facts.kinds[kernel] in _ONE_ARRAY:
        return ()
    served = []
    for operand, inputs in sorted(facts.by_operand[kernel].items()):
        makers = [source for source, *_ in inputs if source >= 0]
        takers = facts.takers[kernel].get(operand, [])
        near = [*makers, *takers] if facts.is_sum(kernel) else [*takers, *makers]
        if near:
            served.append(Served(near[0], inputs[0][3]))
    return tuple(served)
