"""Shardings that may be written at a place: those that the program has elsewhere for the same dimensions.

No rule knows a layout: what the program does with a class of dimensions in one place is proposed in all others, and so
is what is there with one axis less. Not its job: places (`sites`), or what is at stake (`stakes`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pjit_inspect.analyze.advice.edited_program import Axes, EditedProgram
from pjit_inspect.analyze.advice.site import Site
from pjit_inspect.model.program.mesh import Dimensions


def specs_for(own: EditedProgram, site: Site) -> tuple[Dimensions | None, ...]:
    """The shardings to propose at a place, each once; None for a constraint that is left out."""
    if site.fixed:
        return site.fixed[:1]
    return tuple(spec for spec in dict.fromkeys(_specs(own, site)) if is_change(own, site, spec))


def is_change(own: EditedProgram, site: Site, spec: Dimensions | None) -> bool:
    """True if a sharding can be written at a place, and is a change of it; None leaves a constraint out.

    A value may be told to stay as it is: what hangs together with it then follows. For any other place that is none.
    """
    if spec is None:
        return site.kind == "request"
    # One constraint may be on arrays of several shapes, as on all leaves of a tree.
    values = {own.shape(value): value for value, _ in site.arrays}.values()
    is_for_all = all(len(own.shape(value)) == len(spec) and own.fits(value, spec) for value in values)
    return is_for_all and (spec != site.now or bool(site.ops))


def _specs(own: EditedProgram, site: Site) -> Iterator[Dimensions | None]:
    if site.kind == "result":
        yield from _as_arguments(own, site)
        return
    if site.kind == "request":
        yield None
    if site.kind == "value":
        yield site.now
    yield from _without_an_axis(site.now)
    classes = own.classes(site.value)
    for dimension, own_class in enumerate(classes):
        for axes in own.splits.get(own_class, ()):
            if axes and axes != site.now[dimension]:
                yield from _with(site.now, dimension, axes)
    yield from own.specs_alike.get(classes, ())
    yield _as_mostly(own, classes)


def _as_arguments(own: EditedProgram, site: Site) -> Iterator[Dimensions]:
    """A result may be as it is computed, or, as it is an argument of another call, as one of the same dimensions is."""
    yield own.spec(site.value)
    classes = own.classes(site.value)
    for argument in own.program.inputs:
        if own.classes(argument.value) == classes:
            yield own.spec(argument.value)


def _without_an_axis(now: Dimensions) -> Iterator[Dimensions]:
    for dimension, axes in enumerate(now):
        for axis in axes:
            yield (*now[:dimension], tuple(one for one in axes if one != axis), *now[dimension + 1 :])


def _with(now: Dimensions, dimension: int, axes: Axes) -> Iterator[Dimensions]:
    """With one dimension split differently, or further; others as they are, but for these axes, or not at all."""
    bare = tuple(tuple(one for one in entry if one not in axes) for entry in now)
    yield (*bare[:dimension], axes, *bare[dimension + 1 :])
    if bare[dimension]:
        # What splits the outer part of the dimension elsewhere goes before what splits it here.
        yield (*bare[:dimension], (*axes, *bare[dimension]), *bare[dimension + 1 :])
    empty: Dimensions = ((),) * len(now)
    yield (*empty[:dimension], axes, *empty[dimension + 1 :])


def with_axis(now: Dimensions, dimension: int, axis: str) -> Dimensions:
    """A sharding with an axis on one dimension, after those that are there, and on no other."""
    bare = tuple(tuple(one for one in entry if one != axis) for entry in now)
    return now if axis in now[dimension] else (*bare[:dimension], (*bare[dimension], axis), *bare[dimension + 1 :])


def _as_mostly(own: EditedProgram, classes: tuple[int, ...]) -> Dimensions:
    """Every dimension as its class is split in most bytes, the largest first; an axis is used once."""
    best = {
        dimension: max(((size, axes) for axes, size in own.splits.get(c, {}).items() if axes), default=(0, ()))
        for dimension, c in enumerate(classes)
    }
    spec: list[Axes] = [()] * len(classes)
    used = set[str]()
    for dimension, (_, axes) in sorted(best.items(), key=lambda item: -item[1][0]):
        spec[dimension] = tuple(one for one in axes if one not in used)
        used |= set(axes)
    return tuple(spec)
