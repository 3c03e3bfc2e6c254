"""Arithmetic of specs for explained errors: what divides, what is used twice, what a change of spec moves.

Not its job: which error it is (`analyze.errors.explain`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from pjit_inspect.model.program.spec import PartitionSpec, SpecEntry, axes_of, entry_of
from pjit_inspect.model.report.explained_error import ErrorArray, MeshAxes

__all__ = [
    "axes_words",
    "carried_over",
    "divides",
    "fitting_entries",
    "has_repeats",
    "is_legal",
    "over_words",
    "parts_of",
    "reshard_words",
    "shape_words",
    "usable_axes",
    "without_repeats",
]

_MOST_AXES = 8


def parts_of(entry: SpecEntry, sizes: Mapping[str, int]) -> int:
    """Into how many parts an entry splits a dimension; 0 when an axis is not known."""
    return math.prod(sizes.get(axis, 0) for axis in axes_of(entry))


def divides(entry: SpecEntry, length: int, sizes: Mapping[str, int]) -> bool:
    """Whether the axes of an entry split a dimension of this length evenly."""
    parts = parts_of(entry, sizes)
    return parts > 0 and length % parts == 0


def is_legal(spec: PartitionSpec, shape: Sequence[int], sizes: Mapping[str, int]) -> bool:
    """Whether a spec fits a shape: no more entries than dimensions, all divide, no axis stands twice."""
    if len(spec) > len(shape) or has_repeats(spec):
        return False
    return all(divides(entry, length, sizes) for entry, length in zip(spec, shape, strict=False))


def has_repeats(spec: PartitionSpec) -> bool:
    """Whether an axis stands in it twice."""
    axes = [axis for entry in spec for axis in axes_of(entry)]
    return len(set(axes)) < len(axes)


def without_repeats(spec: PartitionSpec, *, last: bool = False) -> PartitionSpec:
    """The spec with each axis where it stands first only, or with `last` where it stands last."""
    if last:
        return without_repeats(spec[::-1])[::-1]
    seen: set[str] = set()
    kept: list[SpecEntry] = []
    for entry in spec:
        kept.append(entry_of([axis for axis in dict.fromkeys(axes_of(entry)) if axis not in seen]))
        seen.update(axes_of(entry))
    return tuple(kept)


def usable_axes(mesh: MeshAxes) -> tuple[tuple[str, int], ...]:
    """The axes that a spec on this mesh can name: of more than one device, of one type, not Manual."""
    types = mesh.types or ("",) * len(mesh.axes)
    # What an operation's type says may name Explicit axes only.
    wanted = {"explicit"} if "explicit" in types else {"auto", ""}
    kept = [axis for axis, kind in zip(mesh.axes, types, strict=True) if axis[1] > 1 and kind in wanted]
    return tuple(kept[:_MOST_AXES])


def fitting_entries(length: int, axes: Sequence[tuple[str, int]]) -> list[SpecEntry]:
    """The entries over some axes that split a length evenly: into most parts first, then of fewest axes."""
    found: list[tuple[int, int, SpecEntry]] = []
    for count in range(1, len(axes) + 1):
        for chosen in itertools.combinations(axes, count):
            parts = math.prod(size for _, size in chosen)
            if parts and length % parts == 0:
                found.append((-parts, count, entry_of([name for name, _ in chosen])))
    return [entry for _, _, entry in sorted(found, key=lambda item: item[:2])]


def carried_over(array: ErrorArray, mesh: MeshAxes) -> PartitionSpec:
    """The array's spec on another mesh: entries whose axes it has, and which divide there, stay."""
    shape, spec = array.shape or (), array.spec or ()
    sizes = mesh.sizes
    kept = [
        entry if set(axes_of(entry)) <= set(sizes) and divides(entry, length, sizes) else None
        for entry, length in zip(spec, shape, strict=False)
    ]
    return tuple(kept) if len(kept) == len(shape) else (None,) * len(shape)


# ---------------------------------------------------------------- words


def shape_words(shape: Sequence[int]) -> str:
    """A shape: `[6,8]`."""
    return f"[{','.join(map(str, shape))}]"


def axes_words(axes: Sequence[str], sizes: Mapping[str, int]) -> str:
    """Axes with their sizes, in backticks: "`model` (4)", "`data` x `model` (2 x 4 = 8)"."""
    names = " x ".join(f"`{axis}`" for axis in axes)
    known = [sizes[axis] for axis in axes if sizes.get(axis)]
    if len(known) < len(axes) or not axes:
        return names
    return (
        f"{names} ({known[0]})" if len(known) == 1 else f"{names} ({' x '.join(map(str, known))} = {math.prod(known)})"
    )


def over_words(entry: SpecEntry) -> str:
    """The axes of an entry: "`data` x `model`"; "nothing" for none."""
    return " x ".join(f"`{axis}`" for axis in axes_of(entry)) or "nothing"


def reshard_words(name: str, before: PartitionSpec, after: PartitionSpec) -> str:
    """What it takes to bring an array from one spec to another, in words."""
    pairs = list(itertools.zip_longest(before, after))
    lost = [axis for old, new in pairs for axis in axes_of(old) if axis not in axes_of(new)]
    gained = [axis for old, new in pairs for axis in axes_of(new) if axis not in axes_of(old)]
    if not lost:
        return f"each device keeps a slice of `{name}`; nothing is sent" if gained else f"`{name}` stays as it is"
    over = " and ".join(f"`{axis}`" for axis in dict.fromkeys(lost))
    if not gained:
        return f"gathers `{name}` over {over}"
    into = " and ".join(f"`{axis}`" for axis in dict.fromkeys(gained))
    return (
        f"moves `{name}` between devices: off {over}, onto {into}"
        if sorted(lost) != sorted(gained)
        else f"moves `{name}` along {over}"
    )
