"""Finds the arguments that are optimizer state.

An argument read only by the update need not be state: a mask, a learning rate and an unused parameter are also read
only there. The step must also return its next value, and the model may not read any argument beside it in its tree. Not
its job: finding the readers (`analyze.memory.memory_use`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pjit_inspect.analyze.program.paths import split_path
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.report.collective import Phase

_MODEL = frozenset(("forward", "backward", "recompute"))
_UPDATE = frozenset(("optimizer",))
_Key = tuple[str, tuple[int, ...], str]


def find_states(
    inputs: Sequence[ArrayLayout], outputs: Sequence[ArrayLayout], users: Mapping[str, frozenset[Phase]]
) -> frozenset[str]:
    """The paths of the arguments that are optimizer state; doubtful arguments are omitted.

    Args:
      inputs: the arguments that the program reads.
      outputs: its results.
      users: path of an argument -> the phases of its readers.
    """
    read_by_model = {_parent(path) for path, phases in users.items() if not _MODEL.isdisjoint(phases)}
    taken = Counter(_key(one) for one in inputs)
    yielded = Counter(_key(one) for one in outputs)
    reused = {one.aliases for one in outputs}
    found = set[str]()
    for one in inputs:
        parent = _parent(one.path)
        if users.get(one.path) != _UPDATE:
            continue
        if not parent:
            # It has no path that a result could share; it is state if a result reuses its buffer.
            is_state = one.path in reused
        else:
            # If more arguments than results are alike, some are no state, and it is unknown which.
            is_state = parent not in read_by_model and taken[_key(one)] <= yielded[_key(one)]
        if is_state:
            found.add(one.path)
    return frozenset(found)


def _parent(path: str) -> tuple[str, ...]:
    return split_path(path)[:-1]


def _key(one: ArrayLayout) -> _Key:
    """Properties shared by an argument and its next value: the last step of the path, the shape, the type."""
    return split_path(one.path)[-1], one.global_shape, one.dtype
