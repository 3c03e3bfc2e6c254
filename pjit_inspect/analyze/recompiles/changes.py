"""The parts in which two keys differ: a key is a flat map of paths to the values JAX compares, a change is one path.

Only what JAX's caches look at counts: the place of an array that is not committed does not, nor whether it comes from
NumPy. Only what both keys know is compared. Not its job: saying it (`analyze.recompiles.key_differences`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from pjit_inspect.model.record.compile_key import ArgumentKey, CompileKey, Container, FunctionKey, NamedText


class KeyChange(NamedTuple):
    """One path with two values.

    `part` is the kind of path; `was` and `now` are the values that JAX compares, None where a key has no such path;
    `sides` holds further facts for the sentence: both arguments, the function, the number of a dimension.
    """

    part: str
    path: str = ""
    was: Any = None
    now: Any = None
    sides: Any = None


def find_changes(before: CompileKey, after: CompileKey) -> list[KeyChange]:
    """Every change, the most telling first; [] when nothing differs."""
    if before.transform != after.transform:
        # The arguments of a transformed program are others anyway.
        return [
            KeyChange("transform", "", before.transform, after.transform),
            *_function(before.function, after.function),
        ]
    is_alike = _paths(before) == _paths(after)
    if not is_alike and (is_derived(before) or is_derived(after)):
        return [KeyChange("derived", "", before.transform, after.transform, (before, after))]
    found = [
        *_named("over", before.over, after.over),
        *_named("config", before.config, after.config),
        *_function(before.function, after.function),
        *_named("parameter" if after.transform == "eager" else "static", before.statics, after.statics),
        *_keywords(before, after),
        *(_containers(before, after) if is_alike else _leaves(before, after)),
        *_arguments(before.arguments, after.arguments, is_alike=is_alike),
        *_named("out_shardings", before.outputs, after.outputs),
        *_donation(before, after),
        *_named("option", before.options, after.options),
        *_plain("context mesh", before.context_mesh or "none", after.context_mesh or "none"),
    ]
    # The devices of a program follow from all of this, and the whole context has most of it.
    return found or [
        *_plain("devices", before.devices or None, after.devices or None),
        *(KeyChange("context") for _ in _plain("", before.context, after.context)),
    ]


OF_ARRAYS = {
    "new leaf", "gone leaf", "length", "shape", "rank", "dtype", "weak type", "in_shardings", "mesh", "place",
    "type sharding", "layout", "out_shardings",
}  # fmt: skip
"""The parts of arguments and results: equal changes of several are reported as one."""


def count_changes(found: Sequence[KeyChange]) -> int:
    """About how many differences will be reported."""
    return len({(one.part, *_told_alike(one)) for one in found})


def _told_alike(change: KeyChange) -> tuple[object, ...]:
    if change.part not in OF_ARRAYS:
        return (change.path,)
    values = tuple(side.text if isinstance(side, NamedText) else side for side in (change.was, change.now))
    return () if change.part.endswith("leaf") else values


def is_derived(key: CompileKey) -> bool:
    """True if JAX derived the program from another one: its arguments have no names and are not those of a call.

    `jax.checkpoint` and custom derivatives run such a program as one of `jit`, but no call has brought its tree.
    """
    is_call = key.transform in ("pmap", "eager") or (key.transform == "jit" and key.tree is not None)
    return not is_call and any(argument.path.startswith("arg[") for argument in key.arguments)


def same_value(was: NamedText | None, now: NamedText | None) -> bool:
    """True if JAX takes two values for the same, as far as known; if only one has a number, their texts decide."""
    if was is None or now is None:
        return was is now
    numbers = {was.serial, now.serial} - {None}
    return (was.text, was.digest) == (now.text, now.digest) and len(numbers) < 2


def _named(part: str, old: Sequence[NamedText], new: Sequence[NamedText], sides: Any = None) -> Iterator[KeyChange]:
    if old is new or old == new:
        return
    before, after = {item.name: item for item in old}, {item.name: item for item in new}
    for path in dict.fromkeys((*after, *before)):
        if not same_value(before.get(path), after.get(path)):
            yield KeyChange(part, path, before.get(path), after.get(path), sides)


def _plain(part: str, was: object, now: object) -> Iterator[KeyChange]:
    if was is not None and now is not None and was != now:
        yield KeyChange(part, "", was, now)


def _function(old: FunctionKey | None, new: FunctionKey | None) -> Iterator[KeyChange]:
    if old is None or new is None or old.serial is None or new.serial is None or old.serial == new.serial:
        return
    if old.code != new.code:
        yield KeyChange("source", new.name, old, new)
        return
    held = [*_named("closure", old.bound, new.bound, new), *_named("default", old.defaults, new.defaults, new)]
    yield from held or [KeyChange("made anew", new.name, old, new)]


def same_definition(old: FunctionKey | None, new: FunctionKey | None) -> bool | None:
    """True if both functions come from one piece of source, perhaps edited in between; None if unknown.

    A name and a file are not enough: both branches of an `if` may define `f`, and one line may hold two lambdas.
    """
    if old is None or new is None:
        return None
    if old.serial is not None and old.serial == new.serial:
        return True
    if old.place is None or new.place is None:
        return None
    is_alone = old.twins == new.twins == 1
    if None in (old.version, new.version):
        return True if _place(old) == _place(new) and old.code == new.code else None
    if old.version == new.version:
        if _place(old) == _place(new):
            return True if old.code == new.code else is_alone or None
        # The text is read when a function is first called: with one definition in it, one of the two came from a text
        # that has gone since.
        return is_alone
    if old.code == new.code and "<lambda>" in old.name:
        return True
    return is_alone or None


def _place(function: FunctionKey) -> tuple[object, ...]:
    place = function.place
    return () if place is None else (place.line, place.columns)


def _keywords(before: CompileKey, after: CompileKey) -> Iterator[KeyChange]:
    if before.positional is None or after.positional is None:
        return
    for path in (*after.keywords, *before.keywords):
        if path not in before.keywords:
            yield KeyChange("to keyword" if path in _roots(before) else "new keyword", path, None, path)
        elif path not in after.keywords:
            yield KeyChange("to position" if path in _roots(after) else "gone keyword", path, path, None)


def _roots(key: CompileKey) -> set[str]:
    """The names of all arguments: the path of each leaf up to its first bracket or dot, and the static arguments."""
    traced = {argument.path.split("[")[0].split(".")[0] for argument in key.arguments}
    return traced | {static.name for static in key.statics}


def _donation(before: CompileKey, after: CompileKey) -> Iterator[KeyChange]:
    if before.donated != after.donated and set(_paths(before)) == set(_paths(after)):
        yield KeyChange("donation", "", before.donated, after.donated)


# ---------------------------------------------------------------- the tree


def _paths(key: CompileKey) -> list[str]:
    return [argument.path for argument in key.arguments]


def _leaves(before: CompileKey, after: CompileKey) -> Iterator[KeyChange]:
    """Leaves that only one of the calls has; if there are none, the first leaf whose place changed."""
    old, new = _paths(before), _paths(after)
    # What is passed by keyword for the first time, or no longer, is said of the keyword.
    both = {*before.keywords} ^ {*after.keywords}
    added = [path for path in new if path not in both.union(old)]
    gone = [path for path in old if path not in both.union(new)]
    yield from (KeyChange("new leaf", path, None, path) for path in added)
    yield from (KeyChange("gone leaf", path, path, None) for path in gone)
    if len(old) == len(new) and not {*old} ^ {*new}:
        was, now = next((a, b) for a, b in zip(old, new, strict=True) if a != b)
        yield KeyChange("order", now, was, now)


def _containers(before: CompileKey, after: CompileKey) -> Iterator[KeyChange]:
    """The same leaves in other containers, or with other static fields."""
    if before.tree == after.tree:
        return
    if len(before.containers) != len(after.containers):
        yield KeyChange("containers")
        return
    for number, (was, now) in enumerate(zip(before.containers, after.containers, strict=True)):
        if was == now:
            continue
        where = _container_path(after.arguments, after.containers, number)
        if was.type != now.type:
            yield KeyChange("container" if where else "outermost", where, was.type, now.type)
        else:
            for change in _named("field", was.data, now.data, (where, now.type)):
                yield change._replace(path=".".join(filter(None, (where, change.path))))


_STEP = re.compile(r"\['[^']*'\]|\[[^\]]*\]|\.?[^.\[]+")
"""One step of a path: `params`, `['layers.0']`, `[3]`, `.w`."""


def _container_path(arguments: Sequence[ArgumentKey], containers: Sequence[Container], place: int) -> str:
    """The path of an inner node; "" if it has no leaves.

    The common part of its leaves' paths leads to the innermost node that holds them all. The nodes are in order,
    outermost first, and each that holds the same leaves as an earlier one is one step further in.
    """
    own = containers[place]
    paths = [_STEP.findall(argument.path) for argument in arguments[own.leaf : own.leaf + own.leaves]]
    if not paths:
        # It is in the argument of the next leaf where an outer node holds that leaf, or the leaf before is in it too.
        roots = [_STEP.findall(argument.path)[0] for argument in arguments[max(own.leaf - 1, 0) : own.leaf + 1]]
        is_between = len(roots) == 2 and roots[0] == roots[1]
        is_within = any(outer.leaf <= own.leaf < outer.leaf + outer.leaves for outer in containers[:place])
        return roots[-1] if roots and (is_between or is_within) else ""
    alike = takewhile(lambda steps: len(set(steps)) == 1, zip(*paths, strict=False))
    shared = paths[0][:-1] if len(paths) == 1 else [steps[0] for steps in alike]
    inner = sum((other.leaf, other.leaves) == (own.leaf, own.leaves) for other in containers[place + 1 :])
    return "".join(shared[: max(len(shared) - inner, 1)] or paths[0][:1])


# ---------------------------------------------------------------- leaves


def _arguments(old: Sequence[ArgumentKey], new: Sequence[ArgumentKey], *, is_alike: bool) -> Iterator[KeyChange]:
    """The changes of each leaf that both calls have. Keys share most argument objects, so few are compared."""
    known = {} if is_alike else {argument.path: argument for argument in old}
    pairs = zip(old, new, strict=True) if is_alike else ((known.get(b.path, b), b) for b in new)
    for a, b in pairs:
        if a is not b and a != b:
            was, now = _facts(a), _facts(b)
            told: dict[str, str] = {}
            for part in was:
                if was[part] != now[part]:
                    told.setdefault(_TOLD_ONCE.get(part, part), part)
            for part in told.values():
                is_shape = part == "shape"
                yield _shape(a, b) if is_shape else KeyChange(part, b.path, was[part], now[part], (a, b))


_TOLD_ONCE = dict.fromkeys(("mesh", "place", "type sharding"), "in_shardings") | {"weak type": "dtype"}
"""jit's own sharding decides where an argument lies, then its placement; only the first that differs is reported."""


def _shape(was: ArgumentKey, now: ArgumentKey) -> KeyChange:
    old, new = was.shape, now.shape
    if len(old) != len(new):
        return KeyChange("rank", now.path, old, new)
    dims = [dim for dim, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    if len(dims) > 1:
        return KeyChange("shape", now.path, old, new)
    return KeyChange("length", now.path, old[dims[0]], new[dims[0]], dims[0])


def _facts(argument: ArgumentKey) -> dict[str, object]:
    """The facts of an argument that JAX's caches compare.

    If jit prescribes a sharding, the mesh in the argument's type counts and its place does not.
    """
    mesh = argument.mesh
    in_type = None if mesh is None else (mesh.axes, mesh.axis_types)
    place = (argument.given, mesh) if argument.committed else None
    return {
        "shape": argument.shape,
        "dtype": argument.dtype,
        "weak type": argument.weak_type,
        "in_shardings": argument.wanted,
        "mesh": in_type if argument.wanted else None,
        "place": None if argument.wanted else place,
        "type sharding": argument.type_spec,
        "layout": argument.layout or "default",
    }
