"""Which arguments follow which: the state of an optimizer is a tree of arrays like that of its parameters.

Two witnesses: the trees have the same paths below their roots, and the same shapes at them. Which of several such trees
are the parameters is told by the program: they alone are used by code that was differentiated. Not its job: how arrays
of equal layers are joined (`controls`), or which results are the next values of which (`next_values`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pjit_inspect.analyze.program.paths import split_path

__all__ = ["find_followed"]

Shape = tuple[int, ...]


def find_followed(shapes: Mapping[str, Shape], differentiated: Collection[str]) -> dict[str, str]:
    """Path -> the path of the parameter it follows.

    Args:
      shapes: path of each argument -> its shape (global).
      differentiated: the paths that differentiated code uses.
    """
    trees = _trees(shapes)
    alike: dict[frozenset[tuple[tuple[str, ...], Shape]], list[tuple[str, ...]]] = {}
    for root, leaves in trees.items():
        if len(leaves) > 1 or any(below for below, _ in leaves):
            alike.setdefault(frozenset(leaves), []).append(root)
    found: dict[str, str] = {}
    done = set[str]()
    for leaves, roots in sorted(alike.items(), key=lambda item: -len(item[0])):
        free = [root for root in roots if not any("".join(root + below) in done for below, _ in leaves)]
        leading = [root for root in free if _is_used(root, leaves, differentiated)]
        if len(free) < 2 or len(leading) != 1:
            continue
        for root in free:
            for below, _ in leaves:
                path = "".join(root + below)
                done.add(path)
                if root != leading[0]:
                    found[path] = "".join(leading[0] + below)
    return found


def _trees(shapes: Mapping[str, Shape]) -> dict[tuple[str, ...], list[tuple[tuple[str, ...], Shape]]]:
    """Every root -> the arrays below it, each by its steps from there."""
    trees: dict[tuple[str, ...], list[tuple[tuple[str, ...], Shape]]] = {}
    for path, shape in shapes.items():
        steps = split_path(path)
        for depth in range(1, len(steps)):
            trees.setdefault(steps[:depth], []).append((steps[depth:], shape))
    return trees


def _is_used(
    root: tuple[str, ...], leaves: Collection[tuple[tuple[str, ...], Shape]], differentiated: Collection[str]
) -> bool:
    """Whether most arrays of a tree are used by differentiated code."""
    used = sum("".join(root + below) in differentiated for below, _ in leaves)
    return 2 * used > len(leaves)
