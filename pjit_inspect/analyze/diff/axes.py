"""Mesh axes of two programs that are one and the same under other names, by the groups of devices along them.

Not its job: the data that moves over an axis.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from pjit_inspect.model.program.mesh import Mesh, PartitionSpec
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.sharding.sharded_program import axis_name

_MOST_DEVICES = 65_536

Groups = frozenset[frozenset[int]]


def find_renamed(before: Mesh | None, after: Mesh | None) -> dict[str, str]:
    """Axes with another name in the new program -> that name; {} if the meshes' groups of devices differ.

    Each axis of one must have a counterpart in the other: only names may differ.
    """
    if before is None or after is None or max(before.size, after.size) > _MOST_DEVICES:
        return {}
    sides = _groups(before), _groups(after)
    if sides[0].keys() != sides[1].keys() or len(sides[0]) < len([size for size in before.shape if size > 1]):
        return {}
    renamed = {sides[0][own]: sides[1][own] for own in sides[0] if sides[0][own] != sides[1][own]}
    # A name that another axis has there is no renaming.
    is_free = not set(renamed.values()) & set(before.axis_names) and not set(renamed) & set(after.axis_names)
    return renamed if is_free else {}


def _groups(mesh: Mesh) -> dict[Groups, str]:
    """The groups of devices along each axis of more than one device -> its name."""
    found: dict[Groups, str] = {}
    for position, (name, size) in enumerate(mesh.axes):
        if size > 1:
            step = prod(mesh.shape[position + 1 :])
            starts = [
                outer * step * size + inner for outer, inner in product(range(mesh.size // (step * size)), range(step))
            ]
            groups = (frozenset(mesh.device_ids[start + k * step] for k in range(size)) for start in starts)
            found[frozenset(groups)] = name
    return found


def called_after(axis: str, renamed: Mapping[str, str]) -> str:
    """An axis, or a part of one, by its name in the program after."""
    name = axis_name(axis)
    return renamed.get(name, name) + axis[len(name) :]


def spec_after(spec: PartitionSpec | None, renamed: Mapping[str, str]) -> PartitionSpec | None:
    """A spec with the axes' names in the program after."""
    if spec is None or not renamed:
        return spec
    return tuple(
        called_after(entry, renamed)
        if isinstance(entry, str)
        else tuple(called_after(own, renamed) for own in entry)
        if isinstance(entry, tuple)
        else entry
        for entry in spec
    )


def source_after(sources: Sequence[SourceText], renamed: Mapping[str, str]) -> Sequence[SourceText]:
    """Source texts with quoted axis names replaced by those of the new program."""
    if not renamed:
        return sources
    return [replace(source, lines=tuple(code_after(line, renamed) for line in source.lines)) for source in sources]


def code_after(text: str, renamed: Mapping[str, str]) -> str:
    """A piece of code likewise."""
    if not renamed:
        return text
    names = "|".join(map(re.escape, renamed))
    return re.sub(rf"(['\"])({names})\1", lambda found: f"{found[1]}{renamed[found[2]]}{found[1]}", text)
