"""Which arguments follow which: the state of an optimizer is a tree of arrays like that of its parameters.

Two witnesses: the trees have the same paths below their roots, and the same shapes at them. Which of several such trees
are the parameters is told by the program: they alone are used by code that was differentiated. Not its job: how arrays
of equal layers are joined (`groups`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pjit_inspect.analyze.program.paths import split_path

__all__ = ["find_followed", "returned_arguments"]

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


def returned_arguments(
    results: Sequence[tuple[str, Shape]], arguments: Mapping[str, Shape], reused: Mapping[str, str]
) -> dict[str, str]:
    """Path of a result -> the path of the argument that it is the next value of.

    Args:
      results: path and shape of each, in order.
      arguments: path -> shape, in order.
      reused: path of a result -> the donated argument whose memory it takes.

    A tree of results that is like a tree of arguments, path by path and shape by shape, is its next value; of several
    alike, the one of the same name, or else of the same place among them.
    """
    found = dict(reused)
    own = _trees(dict(results))
    theirs = _trees(arguments)
    taken = set(reused.values())
    for root, leaves in sorted(own.items(), key=lambda item: -len(item[1])):
        paths = ["".join(root + below) for below, _ in leaves]
        if any(path in found for path in paths):
            continue
        alike = [
            other
            for other, below in theirs.items()
            if len(below) == len(leaves)
            and set(below) == set(leaves)
            and not any("".join(other + steps) in taken for steps, _ in below)
        ]
        if not alike or (len(leaves) == 1 and not any(below for below, _ in leaves)):
            continue
        chosen = next((other for other in alike if other[-1] == root[-1]), alike[0])
        for below, _ in leaves:
            found["".join(root + below)] = "".join(chosen + below)
            taken.add("".join(chosen + below))
    return found
