"""Chooses the sharding of an array that a function returns with another one than it got, by counted bytes.

Both ways are there as programs: one takes it as it starts, one as it came back. The second is what runs from then on,
so that to start there costs no later call anything; what is to be kept as it started must be better, in memory and in
what is sent. Not its job: how it is said (`analyze.recompiles.fed_back`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

from pjit_inspect.analyze.advice.updates import root_of
from pjit_inspect.model.program.layout import Sharding

Way = Literal["start", "keep", "either", ""]
"""
start: it is to start as it comes back.
keep: it is to come back as it starts.
either: one way takes less memory, and the other sends less, or that is not known.
"": nothing is known to be better.
"""

_Label = TypeVar("_Label", bound=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two ways.

    Attributes:
      held_bytes: what the arrays take on a device.
      sent_bytes: what the busiest device sends per call of the program that takes them so; None when unknown.
      is_possible: whether one change makes every call get them so.
    """

    held_bytes: int
    sent_bytes: int | None
    is_possible: bool


def which_way(start: Side, back: Side) -> Way:
    """The one of two shardings, at the start or on return, that is better and in nothing worse."""
    is_larger = back.held_bytes > start.held_bytes
    if not back.is_possible:
        return "keep" if start.is_possible and start.held_bytes <= back.held_bytes else ""
    if not start.is_possible:
        return "start"
    if start.sent_bytes is None or back.sent_bytes is None:
        return "either" if is_larger else "start"
    if not is_larger and back.sent_bytes <= start.sent_bytes:
        return "start"
    # A smaller piece is cut from what a device has: to come back so sends nothing more.
    return "keep" if is_larger and start.sent_bytes <= back.sent_bytes else "either"


def is_spread(sharding: Sharding | None) -> bool:
    """True if it lies on several devices, in pieces or in full."""
    return sharding is not None and len(sharding.device_ids) > 1


def is_split(sharding: Sharding | None) -> bool:
    """True if it lies there in pieces: `P()` and `P(None, None)` are specs, and split nothing."""
    return sharding is not None and math.prod(sharding.tiles) > 1


def counterparts(arrays: Mapping[_Label, tuple[tuple[int, ...], bool]], among: Collection[_Label]) -> dict[str, str]:
    """For each of `among` an array that is split, of the same shape and place in another tree: its parameter.

    `arrays` have the shape of each argument, and whether it is split, by its path: `opt['mu']['w1']` goes with
    `params['w1']`.
    """
    split = {
        (label[len(root_of(label)) :], shape): label for label, (shape, is_cut) in arrays.items() if is_cut and shape
    }
    found: dict[str, str] = {}
    for label in among:
        shape, root = arrays[label][0], root_of(label)
        places = (place for place, letter in enumerate(label) if place >= len(root) and letter in "[.")
        peers = (split.get((label[place:], shape)) for place in places)
        if (peer := next((peer for peer in peers if peer and root_of(peer) != root), None)) is not None:
            found[label] = peer
    return found
