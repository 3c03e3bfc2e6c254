"""PartitionSpecs as plain data, and how they are written.

An entry is None, a mesh axis, or several axes, outermost first, as in JAX; `("a",)` and `"a"` are the same. Where a
program is analyzed, every entry is a tuple of axes (`Dimensions`). Not its job: meshes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

SpecEntry = str | tuple[str, ...] | None
"""The mesh axes of one dimension: none, one, or several (outermost first)."""

PartitionSpec = tuple[SpecEntry, ...]

Dimensions = tuple[tuple[str, ...], ...]
"""The mesh axes each dimension is split over, outermost first; () for a dimension that is not split."""


def axes_of(entry: SpecEntry) -> tuple[str, ...]:
    """The axes of one entry, outermost first."""
    return () if entry is None else (entry,) if isinstance(entry, str) else entry


def entry_of(axes: Sequence[str]) -> SpecEntry:
    """Axes as one entry: nothing, a name, or a tuple of names."""
    return tuple(axes) if len(axes) > 1 else axes[0] if axes else None


def spec_text(spec: Iterable[SpecEntry], *, unreduced: Iterable[str] = ()) -> str:
    """A spec as the user would write it: "P('data', None)"."""
    entries = [repr(entry_of(axes_of(entry))) for entry in spec]
    partial = sorted(unreduced)
    return f"P({', '.join([*entries, *([f'unreduced={partial}'] if partial else [])])})"


def local_shape(shape: Sequence[int], pieces: Sequence[int]) -> tuple[int, ...]:
    """The shape of the largest piece of an array that is split into `pieces` along each dimension."""
    return tuple(-(-length // number) for length, number in zip(shape, pieces, strict=True))
