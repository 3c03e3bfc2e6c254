"""The sharding between which and a known one a collective-permute exchanges pieces of one size.

Its pairs say on which device each piece lies before and after. Not its job: which of the two is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pjit_inspect.analyze.program.device_groups import Groups
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.sharding.sharded_program import axis_name

_MOST_AXES = 6


def other_end(
    spec: Dimensions, pairs: Groups, meshes: Sequence[Mapping[str, int]], *, is_source: bool
) -> Dimensions | None:
    """The sharding at the other end of a collective-permute; None where no axes of a mesh give it.

    Args:
      spec: the sharding at one end.
      pairs: the devices that send, each with the one that it sends to.
      meshes: the program's meshes, as the size of each axis.
      is_source: whether `spec` is the sharding before the exchange; else it is the one behind it.
    """
    here, there = (0, 1) if is_source else (1, 0)
    sent_to = {pair[here]: pair[there] for pair in pairs}
    for sizes in meshes:
        known = _pieces(spec, sizes)
        if known is None or not len(known) == len(pairs) == len(sent_to):
            continue
        wanted = {sent_to[device]: piece for device, piece in enumerate(known) if device in sent_to}
        axes = {name: size for name, size in sizes.items() if size > 1}
        if len(wanted) < len(known) or len(axes) > _MOST_AXES:
            continue
        counts = [1 + max(piece[number] for piece in known) for number in range(len(spec))]
        layout = [wanted.get(device) for device in range(len(known))]
        found = next((own for own in _splits(counts, axes) if _pieces(own, sizes) == layout), None)
        if found is not None:
            return found
    return None


def _pieces(spec: Dimensions, sizes: Mapping[str, int]) -> list[tuple[int, ...]] | None:
    """The piece that each device has, counted along every dimension; None for axes that the mesh does not have."""
    if not {axis_name(axis) for axes in spec for axis in axes} <= sizes.keys():
        return None
    coordinates: list[dict[str, int]] = [{}]
    for name, size in sizes.items():
        coordinates = [{**own, name: place} for own in coordinates for place in range(size)]
    return [tuple(_number(axes, own, sizes) for axes in spec) for own in coordinates]


def _number(axes: Sequence[str], coordinates: Mapping[str, int], sizes: Mapping[str, int]) -> int:
    number = 0
    for axis in axes:
        name, _, part = axis.partition(":")
        before, _, count = part[1:].partition(")") if part else ("1", "", str(sizes[name]))
        size, stride = int(count), sizes[name] // (int(before) * int(count))
        number = number * size + coordinates[name] // stride % size
    return number


def _splits(counts: Sequence[int], axes: Mapping[str, int]) -> Iterator[Dimensions]:
    """Every way to split dimensions into these numbers of pieces over whole axes."""
    if not counts:
        yield ()
        return
    for own in _products(counts[0], axes):
        rest = {name: size for name, size in axes.items() if name not in own}
        for others in _splits(counts[1:], rest):
            yield (own, *others)


def _products(count: int, axes: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """Every row of axes whose sizes give this product."""
    if count == 1:
        yield ()
        return
    for name, size in axes.items():
        if count % size == 0:
            rest = {other: length for other, length in axes.items() if other != name}
            for others in _products(count // size, rest):
                yield (name, *others)
