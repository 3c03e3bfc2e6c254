"""The result of a call as frozen facts: its trees and arrays, without their values.

Not its job: words for it (`view.pages.result`), the results of the compiled program (`observe.live.layouts`).
"""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np

from pjit_inspect.model.record.record import ResultTree
from pjit_inspect.observe.live.layouts import layout_of

_MOST_NUMBERS = 1_000
_MOST_ARRAYS = 8


def is_large(value: Any) -> bool:
    """True if it holds more arrays, or more numbers in them, than a reader wants printed."""
    arrays = [leaf for leaf in jax.tree_util.tree_leaves(value) if isinstance(leaf, jax.Array)]
    return len(arrays) > _MOST_ARRAYS or sum(math.prod(array.shape) for array in arrays) > _MOST_NUMBERS


def result_trees(value: Any) -> tuple[ResultTree, ...]:
    """The trees of a result: the entries of the returned value, or the value itself if it is one array."""
    entries, _ = jax.tree_util.tree_flatten_with_path(value, is_leaf=lambda part: part is not value)
    return tuple(_tree(jax.tree_util.keystr(path), part) for path, part in entries)


def _tree(path: str, value: Any) -> ResultTree:
    leaves = jax.tree_util.tree_leaves(value)
    arrays = [leaf for leaf in leaves if isinstance(leaf, jax.Array)]
    is_array = isinstance(value, jax.Array)
    return ResultTree(
        path=path,
        kind="array" if is_array else type(value).__name__,
        arrays=tuple(layout_of({}, (), "", array, array.sharding) for array in arrays),
        others=len(leaves) - len(arrays),
        number=_number(value) if is_array and value.size == 1 else "",
    )


def _number(array: Any) -> str:
    try:
        return str(np.asarray(array).item())
    except Exception:
        # Random keys are no numbers, and another process may hold the only copy.
        return ""
