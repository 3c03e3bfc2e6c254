"""Compares two programs as JAX lowered them: whether they are the same, and the operations that differ.

Not its job: reading StableHLO (`parse.messages.stablehlo_operations`), XLA's results.
"""

from __future__ import annotations

from collections import Counter

from pjit_inspect.model.diff.lowering import LoweringDiff, OperationChange

Alone = Counter[tuple[str, str]]
"""The name of an operation, and its text -> the number of such operations."""


def diff_lowerings(flows: tuple[Counter[str], Counter[str]], alone: tuple[Alone, Alone]) -> LoweringDiff:
    """Two programs compared by the keys of their operations: with all they are computed from, and by themselves."""
    sizes = alone[0].total(), alone[1].total()
    if flows[0] == flows[1]:
        return LoweringDiff(before=sizes[0], after=sizes[1], is_same=True)
    only = alone[0] - alone[1], alone[1] - alone[0]
    names = sorted({name for own in only for name, _ in own})
    changes = [_change(name, alone, only) for name in names]
    changes.sort(key=lambda one: -max(one.removed, one.added))
    return LoweringDiff(before=sizes[0], after=sizes[1], is_same=False, changes=tuple(changes))


def _change(name: str, alone: tuple[Alone, Alone], only: tuple[Alone, Alone]) -> OperationChange:
    before, after = (_of_name(own, name) for own in alone)
    removed, added = (_of_name(own, name) for own in only)
    most = (added or removed).most_common(1)[0][0]
    return OperationChange(
        name=name,
        before=before.total(),
        after=after.total(),
        removed=removed.total(),
        added=added.total(),
        example=most,
    )


def _of_name(operations: Alone, name: str) -> Counter[str]:
    return Counter({text: count for (own, text), count in operations.items() if own == name})
