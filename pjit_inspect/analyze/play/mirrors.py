"""Finds arguments that follow others: optimizer state is a tree of arrays like that of its parameters.

Two facts are needed: the trees have the same paths below their roots, and the same shapes at these paths. The state of
one parameter may also be in a separate place, each array at the same step from there. Among several such trees, the
parameters are those used by differentiated code. Not its job: grouping equal layers (`controls`), or finding next
values (`next_values`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pjit_inspect.analyze.program.paths import split_path

Shape = tuple[int, ...]
Steps = tuple[str, ...]
Leaf = tuple[Steps, Shape]
Place = tuple[Steps, Steps]
"""Place of a tree: its root, and the last step of each of its paths, as in `state['w1']['m']`; () for none."""


def find_followed(shapes: Mapping[str, Shape], differentiated: Collection[str]) -> dict[str, str]:
    """Path -> the path of the parameter it follows.

    Args:
      shapes: path of each argument -> its shape (global).
      differentiated: the paths that differentiated code uses.
    """
    alike: dict[frozenset[Leaf], list[Place]] = {}
    for place, leaves in _trees(shapes).items():
        if len(leaves) > 1 or (not place[1] and any(below for below, _ in leaves)):
            alike.setdefault(frozenset(leaves), []).append(place)
    found: dict[str, str] = {}
    done = set[str]()
    # Large trees first; among equally large ones, those in one place.
    for leaves, places in sorted(alike.items(), key=lambda item: (-len(item[0]), min(len(own[1]) for own in item[1]))):
        free = [place for place in places if not any(_path(place, below) in done for below, _ in leaves)]
        leading = [place for place in free if _is_used(place, leaves, differentiated)]
        if len(free) < 2 or len(leading) != 1:
            continue
        for place in free:
            for below, _ in leaves:
                path = _path(place, below)
                done.add(path)
                if place != leading[0]:
                    found[path] = _path(leading[0], below)
    return found


def _trees(shapes: Mapping[str, Shape]) -> dict[Place, list[Leaf]]:
    """Every root, and step that ends a path -> the arrays between both, each by its steps from the root."""
    trees: dict[Place, list[Leaf]] = {}
    for path, shape in shapes.items():
        steps = split_path(path)
        for depth in range(1, len(steps)):
            trees.setdefault((steps[:depth], ()), []).append((steps[depth:], shape))
            if depth < len(steps) - 1:
                trees.setdefault((steps[:depth], steps[-1:]), []).append((steps[depth:-1], shape))
    return trees


def _path(place: Place, below: Steps) -> str:
    return "".join(place[0] + below + place[1])


def _is_used(place: Place, leaves: Collection[Leaf], differentiated: Collection[str]) -> bool:
    """True if most arrays of a tree are used by differentiated code."""
    used = sum(_path(place, below) in differentiated for below, _ in leaves)
    return 2 * used > len(leaves)
