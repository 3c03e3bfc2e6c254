"""The purpose of each buffer, and which arguments are optimizer state, from the phases in which they are used.

An argument read only by the update need not be state: a mask, a learning rate and an unused parameter are also read
only there. The step must also return its next value, and the model may not read any argument beside it in its tree. Not
its job: finding the phases (`analyze.memory.memory_use`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from pjit_inspect.analyze.memory.occupancy import Buffer
from pjit_inspect.analyze.program.paths import split_path
from pjit_inspect.model.memory.memory_use import MemoryKind
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.report.collective import Phase

_BEHIND: tuple[Phase, ...] = ("backward", "recompute")
_MODEL = frozenset(("forward", *_BEHIND))
_UPDATE = frozenset(("optimizer",))


def kind_of(buffer: Buffer, made: Phase, last: Phase, collective: str | None, *, is_state: bool) -> MemoryKind:
    """The purpose of a buffer.

    Args:
      buffer: the buffer.
      made: the phase in which it is made; None for unknown.
      last: the phase in which it is used last; likewise.
      collective: the kind of the collective that makes it; None for none.
      is_state: whether it is an argument that is optimizer state.
    """
    if buffer.kind != "temporary":
        return "optimizer state" if is_state else buffer.kind
    if collective != "all-gather" and made == "forward" and last in _BEHIND:
        return "saved for backward"
    # A gradient may be summed over devices; a gathered or moved array is one that the update needs.
    if made in _BEHIND and last == "optimizer" and collective in (None, "all-reduce", "reduce-scatter"):
        return "gradient"
    return "temporary" if collective is None else "collective buffer"


def find_states(
    inputs: Sequence[ArrayLayout], outputs: Sequence[ArrayLayout], users: Mapping[str, AbstractSet[Phase]]
) -> frozenset[str]:
    """The paths of the arguments that are optimizer state; doubtful arguments are omitted.

    Args:
      inputs: the arguments that the program reads.
      outputs: its results.
      users: path of an argument -> the phases of its readers.
    """
    read_by_model = {_parent(path) for path, phases in users.items() if not _MODEL.isdisjoint(phases)}
    taken, yielded = Counter(map(_key, inputs)), Counter(map(_key, outputs))
    reused = {one.aliases for one in outputs}

    def is_state(one: ArrayLayout) -> bool:
        if users.get(one.path) != _UPDATE:
            return False
        if not (parent := _parent(one.path)):
            # It has no path that a result could share; it is state if a result reuses its buffer.
            return one.path in reused
        # If more arguments than results are alike, some are no state, and it is unknown which.
        return parent not in read_by_model and taken[_key(one)] <= yielded[_key(one)]

    return frozenset(one.path for one in inputs if is_state(one))


def _parent(path: str) -> tuple[str, ...]:
    return split_path(path)[:-1]


def _key(one: ArrayLayout) -> tuple[str, tuple[int, ...], str]:
    """Properties shared by an argument and its next value: the last step of the path, the shape, the type."""
    return split_path(one.path)[-1], one.global_shape, one.dtype
