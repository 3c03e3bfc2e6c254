"""Finds the mesh axes that each dimension of an array can be split over, and why not others, with the arithmetic.

Not its job: finding the arrays (`groups`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pjit_inspect.model.play.controls import Choice
from pjit_inspect.model.program.mesh import PartitionSpec, axes_of

_MOST_PAIRED = 4
"""With more axes than this, pairs of axes are offered in mesh order only."""


@functools.lru_cache(maxsize=4096)
def choices_of(
    shape: tuple[int, ...],
    spec: PartitionSpec | None,
    mesh: tuple[tuple[str, int], ...],
    *,
    must_divide: bool = True,
    why_fixed: str = "",
) -> tuple[tuple[Choice, ...], ...]:
    """For each dimension, none, each axis, and several axes in an order.

    Args:
      shape: the array's (global).
      spec: how it is split; None where that is not known, which keeps no axis from any dimension.
      mesh: axes with their sizes. Arrays of one shape share their choices, as a session has thousands of variants.
      must_divide: whether `jax.jit` refuses dimensions that the axes do not divide; a constraint is padded instead.
      why_fixed: why there is no other choice; "" if there is.
    """
    sizes = dict(mesh)
    given = spec or (None,) * len(shape)
    own = [axes_of(entry) for entry in given]
    offered = _offered([axis for axis, size in sizes.items() if size > 1])
    found = tuple(
        tuple(_choice(axes, place, shape, own, sizes, must_divide) for axes in _with(offered, own[place]))
        for place in range(len(shape))
    )
    return tuple(tuple(_fixed(choice, why_fixed) for choice in row) for row in found) if why_fixed else found


def _fixed(choice: Choice, why: str) -> Choice:
    return choice if choice.is_chosen else replace(choice, allowed=False, why_not=why)


def _offered(axes: Sequence[str]) -> list[tuple[str, ...]]:
    pairs = itertools.permutations(axes, 2) if len(axes) <= _MOST_PAIRED else itertools.combinations(axes, 2)
    found = [(), *((axis,) for axis in axes), *pairs]
    return [*found, tuple(axes)] if len(axes) > 2 else found


def _with(offered: list[tuple[str, ...]], chosen: tuple[str, ...]) -> list[tuple[str, ...]]:
    return offered if chosen in offered else [*offered, chosen]


def _choice(
    axes: tuple[str, ...],
    place: int,
    shape: Sequence[int],
    given: Sequence[tuple[str, ...]],
    sizes: Mapping[str, int],
    must_divide: bool,
) -> Choice:
    taken = next(
        ((axis, other) for axis in axes for other, own in enumerate(given) if other != place and axis in own), None
    )
    pieces = math.prod(sizes.get(axis, 1) for axis in axes)
    why = f"{taken[0]} already splits dimension {taken[1]}" if taken else ""
    if not why and shape[place] % pieces:
        why = f"{ratio(shape[place], pieces)}: {'does not divide' if must_divide else 'is padded'}"
    return Choice(
        axes=axes,
        allowed=not taken and (not must_divide or not shape[place] % pieces),
        why_not=why,
        is_chosen=axes == given[place],
    )


def ratio(length: int, pieces: int) -> str:
    """A division that does not come out even: "16 / 32 = 0.50"."""
    return f"{length:,} / {pieces} = {length / pieces:.2f}"


def division_problem(shape: Sequence[int], spec: PartitionSpec | None, sizes: Mapping[str, int]) -> str:
    """Why `jax.jit` rejects a spec: "dimension 1: 16 / model=32 = 0.50, does not divide"; "" if it does not."""
    for place, entry in enumerate(spec or ()):
        axes = axes_of(entry)
        pieces = math.prod(sizes.get(axis, 1) for axis in axes)
        if place < len(shape) and shape[place] % pieces:
            named = " x ".join(f"{axis}={sizes.get(axis, 1)}" for axis in axes)
            words = f"({named})" if len(axes) > 1 else named
            return f"dimension {place}: {shape[place]:,} / {words} = {shape[place] / pieces:.2f}, does not divide"
    return ""
