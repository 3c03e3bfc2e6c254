"""A cheap guess of the bytes a setting sends, from matrix products alone; the search orders its questions by it.

It is never shown as a number of a variant. Every search reports its correlation with XLA's answers. Not its job: asking
XLA about a setting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pjit_inspect.analyze.play.roles import Operand, Product, Roles
from pjit_inspect.model.program.mesh import PartitionSpec, axes_of

Places = dict[str, int]
"""Axis -> the class that it splits in one array."""

_FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A guess about a setting.

    Attributes:
      sent_bytes: per device and call.
      work: products on each device against an equal share.
    """

    sent_bytes: float
    work: float


def estimate(roles: Roles, specs: Mapping[str, PartitionSpec | None], sizes: Mapping[str, int]) -> Estimate:
    """A guess for these specs of the arguments on a mesh of these sizes."""
    layouts = {path: _places(roles.arguments[path], specs.get(path)) for path in roles.arguments}
    flowing = _flowing(roles, layouts)
    devices = math.prod(sizes.values())
    sent, own, whole = 0.0, 0.0, 0
    for product in roles.products:
        bytes_sent, share = _product(product, layouts, flowing, sizes)
        sent += (bytes_sent + _stacked(product, layouts, sizes)) * product.runs
        own += product.flops * share
        whole += product.flops
    return Estimate(sent_bytes=sent, work=own * devices / whole if whole else 1.0)


def _places(classes: Sequence[int], spec: PartitionSpec | None) -> Places:
    if spec is None:
        return {}
    return {axis: own for own, entry in zip(classes, spec, strict=False) for axis in axes_of(entry)}


def _flowing(roles: Roles, layouts: Mapping[str, Places]) -> Places:
    """Axis -> the class it splits in activations: of the data first, then of the weights."""
    found: Places = {}
    for path, places in layouts.items():
        if path not in roles.parameters:
            found |= {axis: own for axis, own in places.items() if own in roles.batch}
    votes: dict[str, dict[int, int]] = {}
    for path, places in layouts.items():
        for axis, own in places.items() if path in roles.parameters else ():
            if axis not in found:
                votes.setdefault(axis, {})[own] = votes.get(axis, {}).get(own, 0) + 1
    return found | {axis: max(own, key=lambda one: own[one]) for axis, own in votes.items()}


def _product(
    product: Product, layouts: Mapping[str, Places], flowing: Places, sizes: Mapping[str, int]
) -> tuple[float, float]:
    """Bytes sent each time it runs, and the share of its operations that each device does."""
    lhs, rhs = (_split(own, layouts, flowing) for own in (product.lhs, product.rhs))
    sent = 0.0
    used: Places = {}
    for axis, size in sizes.items():
        left, right = lhs.get(axis), rhs.get(axis)
        if left is not None and right is not None and left != right:
            # One of them must be whole along it.
            sides = (product.lhs, lhs), (product.rhs, rhs)
            sent += min(_local(own, places, sizes) * (size - 1) for own, places in sides)
            weight_first = product.lhs.argument is not None and product.rhs.argument is None
            used[axis] = right if weight_first else left
        elif left is not None or right is not None:
            used[axis] = left if left is not None else right  # pyright: ignore[reportArgumentType]
    out = {axis: own for axis, own in used.items() if own in product.out.classes}
    for axis, own in used.items():
        if own in product.summed:
            sent += 2 * (sizes[axis] - 1) / sizes[axis] * _local(product.out, out, sizes)
    return sent, 1 / math.prod(sizes[axis] for axis in used)


def _stacked(product: Product, layouts: Mapping[str, Places], sizes: Mapping[str, int]) -> float:
    """Bytes sent to give all devices a layer that only some have: stacked weights split over the layers."""
    sent = 0.0
    for own in (product.lhs, product.rhs, product.out):
        places = layouts.get(own.argument or "", {})
        for axis, one in places.items():
            if one not in own.classes and axis in sizes:
                sent += _local(own, places, sizes) * (sizes[axis] - 1)
    return sent


def _split(own: Operand, layouts: Mapping[str, Places], flowing: Places) -> Places:
    places = flowing if own.argument is None else layouts.get(own.argument, flowing)
    return {axis: one for axis, one in places.items() if one in own.classes}


def _local(own: Operand, places: Places, sizes: Mapping[str, int]) -> float:
    split = math.prod(sizes[axis] for axis, one in places.items() if one in own.classes and axis in sizes)
    return math.prod(own.shape) * own.bytes / split


# ---------------------------------------------------------------- beside the answers


def rank_correlation(own: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's rank correlation, -1 to 1; equal values share a rank. None for fewer than three, or all equal."""
    if len(own) != len(other):
        raise ValueError(f"{len(own)} values beside {len(other)}")
    if len(own) < _FEWEST:
        return None
    ranks = [_ranks(np.asarray(values, float)) for values in (own, other)]
    spread = [float(one.std()) for one in ranks]
    if not all(spread):
        return None
    return float(((ranks[0] - ranks[0].mean()) * (ranks[1] - ranks[1].mean())).mean() / (spread[0] * spread[1]))


def _ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]
