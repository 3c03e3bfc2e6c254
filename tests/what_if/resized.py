"""Meshes of other sizes than a program was written for, so that the same program can be built anew on them.

A size is named; the environment variable `PJIT_INSPECT_MESH_SIZES` says which one the meshes of `causes.meshes` and
`corpus.arrays` have, before they are imported. Not its job: comparing (`equality`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

__all__ = ["SIZES", "VARIABLE", "devices_of", "order_of", "resized"]

VARIABLE = "PJIT_INSPECT_MESH_SIZES"

SIZES = ("same", "half", "turned", "x4", "x32")
"""
same: as written, 2 x 4.
half: half as many devices along the last axis that has an even number: 2 x 2.
turned: the sizes in another order, or where they are equal others with the same product: 4 x 2.
x4: 4 x 8. x32: 16 x 16.
"""


def resized(axes: Mapping[str, int], name: str | None = None) -> dict[str, int]:
    """The same axes, outermost first, with the sizes that `name` (by default the environment variable) says."""
    name = name or os.environ.get(VARIABLE, "same")
    sizes = list(axes.values())
    if name == "half":
        even = [place for place, size in enumerate(sizes) if size % 2 == 0]
        if even:
            sizes[even[-1]] //= 2
    elif name == "turned" and len(sizes) > 1:
        turned = sizes[1:] + sizes[:1]
        sizes = [sizes[0] * sizes[-1], *sizes[1:-1], 1] if turned == sizes else turned
    elif name in ("x4", "x32"):
        first, last = (2, 2) if name == "x4" else (8, 4)
        sizes[0] *= first
        sizes[-1] *= last
    return dict(zip(axes, sizes, strict=True))


def devices_of(name: str) -> int:
    """How many devices the largest mesh then has."""
    return {"x4": 32, "x32": 256}.get(name, 8)


def order_of(order: list[int], axes: Mapping[str, int]) -> list[int]:
    """An order of the first devices of a mesh as written, for another number of devices."""
    count = math.prod(axes.values())
    longer = [own + len(order) * turn for turn in range(-(-count // len(order))) for own in order]
    return [own for own in longer if own < count]
