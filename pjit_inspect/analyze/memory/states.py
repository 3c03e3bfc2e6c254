"""Which arguments are the state of an optimizer.

That only the update reads an argument does not say so: a mask, a learning rate and an unused parameter are read by
nothing else, too. So the step must also yield its next value, and nothing that stands beside it in its tree may be read
by the model. Not its job: who reads what (`analyze.memory.memory_use`).
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
    """The paths of the arguments that are optimizer state; those that may be something else are left out.

    Args:
      inputs: the arguments that the program reads.
      outputs: its results.
      users: path of an argument -> the phases of all that read it.
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
            # It has no path that a result could share; its buffer is given up for one.
            is_state = one.path in reused
        else:
            # Where more arguments than results are alike, some are no state, and which is not known.
            is_state = parent not in read_by_model and taken[_key(one)] <= yielded[_key(one)]
        if is_state:
            found.add(one.path)
    return frozenset(found)


def _parent(path: str) -> tuple[str, ...]:
    return split_path(path)[:-1]


def _key(one: ArrayLayout) -> _Key:
    """What an argument and its next value have in common: the last step of the path, the shape, the type."""
    return split_path(one.path)[-1], one.global_shape, one.dtype
