"""In what the arguments of two calls differ, leaf by leaf.

Only what JAX's caches look at counts: the place of an array that is not committed does not, nor whether it comes from
NumPy. Not its job: the rest of the key (`analyze.recompiles.key_differences`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from pjit_inspect.analyze.recompiles.placement_words import Place, place_change, place_of, placement_change
from pjit_inspect.model.record.compile_key import ArgumentKey, CompileKey, Container, NamedText
from pjit_inspect.model.record.reason import Difference
from pjit_inspect.model.words.sentence import Phrase, Sentence, name, say, word


def argument_differences(before: CompileKey, after: CompileKey) -> list[Difference]:
    """What differs in the arguments: their tree first, then each leaf that both calls have."""
    old, new = before.arguments, after.arguments
    if len(old) == len(new) and all(a is b or a.path == b.path for a, b in zip(old, new, strict=True)):
        pairs: Sequence[tuple[ArgumentKey, ArgumentKey]] = [(a, b) for a, b in zip(old, new, strict=True) if a is not b]
        tree = [] if before.tree == after.tree else list(_containers(before, after))
    else:
        keywords = set(before.keywords) ^ set(after.keywords)
        pairs, tree = _matched(old, new), list(_leaves(old, new, keywords) or _reordered(old, new))
    return tree + [found for a, b in pairs if a != b for found in _leaf(a, b)]


def count_argument_differences(before: CompileKey, after: CompileKey) -> int:
    """About how many `argument_differences` are once `group_alike` has joined them, without making their words."""
    old, new = before.arguments, after.arguments
    if len(old) == len(new) and all(a is b or a.path == b.path for a, b in zip(old, new, strict=True)):
        pairs: Sequence[tuple[ArgumentKey, ArgumentKey]] = [(a, b) for a, b in zip(old, new, strict=True) if a is not b]
        in_tree = int(before.tree != after.tree)
    else:
        keywords = set(before.keywords) ^ set(after.keywords)
        paths = {a.path for a in old}, {a.path for a in new}
        pairs, in_tree = _matched(old, new), bool(paths[0] - paths[1] - keywords) + bool(paths[1] - paths[0] - keywords)
    return in_tree + len({change for a, b in pairs if a is not b and a != b for change in _changes(a, b)})


def _changes(was: ArgumentKey, now: ArgumentKey) -> Iterator[object]:
    """What differs of one leaf, as `_leaf` tells it: equal for leaves that it tells alike."""
    if was.shape != now.shape:
        lengths = [(i, a, b) for i, (a, b) in enumerate(zip(was.shape, now.shape, strict=False)) if a != b]
        is_one = len(was.shape) == len(now.shape) and len(lengths) == 1
        yield ("shape", *lengths) if is_one else ("shape", was.shape, now.shape)
    if (was.dtype, was.weak_type) != (now.dtype, now.weak_type):
        yield "dtype", was.dtype, was.weak_type, now.dtype, now.weak_type
    if was.wanted or now.wanted:
        moved = (was.wanted, _type_mesh(was)), (now.wanted, _type_mesh(now))
    elif was.committed or now.committed:
        moved = (was.committed, was.given, was.mesh), (now.committed, now.given, now.mesh)
    else:
        moved = was.type_spec, now.type_spec
    if moved[0] != moved[1]:
        yield "placement", *moved
    if was.layout != now.layout:
        yield "layout", was.layout, now.layout


def _matched(old: Sequence[ArgumentKey], new: Sequence[ArgumentKey]) -> list[tuple[ArgumentKey, ArgumentKey]]:
    known = {argument.path: argument for argument in old}
    return [(known[argument.path], argument) for argument in new if argument.path in known]


# ---------------------------------------------------------------- the tree


def _reordered(old: Sequence[ArgumentKey], new: Sequence[ArgumentKey]) -> list[Difference]:
    """The same leaves in another order, as an OrderedDict may have them; [] when they are others."""
    if len(old) != len(new) or {a.path for a in old} != {a.path for a in new}:
        return []
    was, now = next((a.path, b.path) for a, b in zip(old, new, strict=True) if a.path != b.path)
    sentence = say("argument tree: the same leaves in another order, {} where {} was", name(now), name(was))
    return [Difference(kind="tree", path=now, before=was, after=now, sentence=sentence)]


def _leaves(old: Sequence[ArgumentKey], new: Sequence[ArgumentKey], keywords: set[str]) -> list[Difference]:
    """Leaves that only one of the calls has."""
    found = []
    known, now = {a.path for a in old}, {a.path for a in new}
    # What is passed by keyword for the first time, or no longer, is said of the keyword.
    added = [a.path for a in new if a.path not in known and a.path not in keywords]
    gone = [a.path for a in old if a.path not in now and a.path not in keywords]
    for paths, what in ((added, "new"), (gone, "gone")):
        if paths:
            more = f" and {len(paths) - 1} more are {what}" if len(paths) > 1 else f" is {what}"
            sentence = say("argument tree: {}{}", name(paths[0]), more)
            before, after = ("", paths[0]) if what == "new" else (paths[0], "")
            found.append(Difference(kind="tree", path=paths[0], before=before, after=after, sentence=sentence))
    return found


def _containers(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    """The same leaves in other containers, or with other static fields."""
    if len(before.containers) != len(after.containers):
        yield Difference(kind="tree", sentence=say("argument tree: the same leaves in other containers"))
        return
    for place, (was, now) in enumerate(zip(before.containers, after.containers, strict=True)):
        if was == now:
            continue
        where = _container_path(after.arguments, after.containers, place)
        if was.type != now.type:
            path = say("{}: ", name(where)) if where else ""
            sentence = say("argument tree: {}{} -> {}", path, word(was.type), word(now.type))
            yield Difference(kind="tree", path=where, before=was.type, after=now.type, sentence=sentence)
        else:
            yield from _static_fields(where, was, now)


def _static_fields(where: str, was: Container, now: Container) -> Iterator[Difference]:
    old, new = {item.name: item for item in was.data}, {item.name: item for item in now.data}
    for field in dict.fromkeys((*new, *old)):
        a, b = old.get(field), new.get(field)
        if same_value(a, b):
            continue
        texts = (a.text if a else "none", b.text if b else "none")
        same = f"another object, {texts[1]} both times"
        pair = word(f"{texts[0]} -> {texts[1]}" if texts[0] != texts[1] else same)
        path = f"{where}.{field}" if where and field else where or field
        sentence = say("{}: {}", _static_data(where, field, now.type), pair)
        yield Difference(kind="tree", path=path, before=texts[0], after=texts[1], sentence=sentence)


def _static_data(where: str, field: str, kind: str) -> Sentence:
    if not where:
        what = say("field {}", name(field)) if field else "data"
        return say("static {} of a {} without arrays", what, word(kind))
    return (
        say("static field {}", name(f"{where}.{field}"))
        if field
        else say("static data of {} ({})", name(where), word(kind))
    )


def same_value(was: NamedText | None, now: NamedText | None) -> bool:
    """Whether two values are the same to JAX, as far as is known: where only one has a number, their texts decide."""
    if was is None or now is None:
        return was is now
    numbers = {was.serial, now.serial} - {None}
    return (was.text, was.digest) == (now.text, now.digest) and len(numbers) < 2


_PART = re.compile(r"\['[^']*'\]|\[[^\]]*\]|\.?[^.\[]+")
"""One step of a path: `params`, `['layers.0']`, `[3]`, `.w`."""


def _container_path(arguments: Sequence[ArgumentKey], containers: Sequence[Container], place: int) -> str:
    """The path of an inner node; "" where it has no leaves by which to tell.

    What the paths of its leaves share leads to the innermost node that holds them all. The nodes are in order,
    outermost first, and each that holds the same leaves as an earlier one is one step further in.
    """
    own = containers[place]
    paths = [_PART.findall(argument.path) for argument in arguments[own.leaf : own.leaf + own.leaves]]
    if not paths:
        # It is in the argument of the next leaf where an outer node holds that leaf, or the leaf before is in it too.
        roots = [_PART.findall(argument.path)[0] for argument in arguments[max(own.leaf - 1, 0) : own.leaf + 1]]
        is_between = len(roots) == 2 and roots[0] == roots[1]
        is_within = any(outer.leaf <= own.leaf < outer.leaf + outer.leaves for outer in containers[:place])
        return roots[-1] if roots and (is_between or is_within) else ""
    alike = takewhile(lambda steps: len(set(steps)) == 1, zip(*paths, strict=False))
    shared = paths[0][:-1] if len(paths) == 1 else [steps[0] for steps in alike]
    inner = sum((other.leaf, other.leaves) == (own.leaf, own.leaves) for other in containers[place + 1 :])
    return "".join(shared[: max(len(shared) - inner, 1)] or paths[0][:1])


# ---------------------------------------------------------------- one leaf


def _leaf(was: ArgumentKey, now: ArgumentKey) -> Iterator[Difference]:
    if was.shape != now.shape:
        yield _shape(was, now)
    if was.dtype != now.dtype:
        yield _dtype(was, now)
    elif was.weak_type != now.weak_type:
        yield _weak_type(was, now)
    moved = list(_placement(was, now))
    if was.type_spec != now.type_spec and not moved:
        pair = placement_change(was.type_spec or "none", now.type_spec or "none")
        sentence = say("{}: sharding in its type {}", name(now.path), pair)
        yield Difference(
            kind="type sharding", path=now.path, before=was.type_spec, after=now.type_spec, sentence=sentence
        )
    yield from moved
    if was.layout != now.layout:
        texts = (was.layout or "default", now.layout or "default")
        sentence = say("{}: layout {} -> {}", name(now.path), *map(word, texts))
        yield Difference(kind="layout", path=now.path, before=texts[0], after=texts[1], sentence=sentence)


def _shape(was: ArgumentKey, now: ArgumentKey) -> Difference:
    before, after = (f"[{', '.join(map(str, shape))}]" for shape in (was.shape, now.shape))
    changed = [i for i, (a, b) in enumerate(zip(was.shape, now.shape, strict=False)) if a != b]
    if len(was.shape) != len(now.shape):
        ranks = len(was.shape), len(now.shape)
        sentence = say("{}: rank {} -> {}, shape {} -> {}", name(now.path), *ranks, before, after)
    elif len(changed) == 1:
        dim = changed[0]
        sentence = say("{}: length {} -> {} (dimension {})", name(now.path), was.shape[dim], now.shape[dim], dim)
        return Difference(
            kind="shape", path=now.path, dimension=dim, before=str(was.shape[dim]), after=str(now.shape[dim]),
            sentence=sentence,
        )  # fmt: skip
    else:
        dims = " and ".join(map(str, changed))
        sentence = say("{}: shape {} -> {} (dimensions {})", name(now.path), before, after, dims)
    return Difference(kind="shape", path=now.path, before=before, after=after, sentence=sentence)


def _dtype(was: ArgumentKey, now: ArgumentKey) -> Difference:
    sentence = say("{}: dtype {} -> {}", name(now.path), word(was.dtype), word(now.dtype))
    if was.weak_type != now.weak_type:
        sentence = say("{} ({} -> {})", sentence, word(_strength(was)), word(_strength(now)))
    return Difference(kind="dtype", path=now.path, before=was.dtype, after=now.dtype, sentence=sentence)


def _weak_type(was: ArgumentKey, now: ArgumentKey) -> Difference:
    before, after = _strength(was), _strength(now)
    sentence = say("{}: {} -> {}, both {}", name(now.path), *map(word, (before, after, now.dtype)))
    return Difference(kind="weak type", path=now.path, before=before, after=after, sentence=sentence)


_SCALARS = {"int", "float", "complex", "bool"}


def _strength(argument: ArgumentKey) -> str:
    kind = f"Python {argument.type}" if argument.type in _SCALARS else (argument.type or "array")
    return f"{kind} (weak type)" if argument.weak_type else f"{kind} (not weak)"


def _placement(was: ArgumentKey, now: ArgumentKey) -> Iterator[Difference]:
    if was.wanted != now.wanted:
        pair = placement_change(was.wanted or "unspecified", now.wanted or "unspecified")
        sentence = say("in_shardings of {}: {}", name(now.path), pair)
        yield Difference(kind="in_shardings", path=now.path, before=was.wanted, after=now.wanted, sentence=sentence)
    if was.wanted or now.wanted:
        # What jit prescribes decides, and the array's type; where else it lies does not.
        if was.wanted == now.wanted and _type_mesh(was) != _type_mesh(now):
            for found in _lies(was, now):
                yield replace(found, sentence=say("{}, and a mesh is part of an array's type", found.sentence))
        return
    yield from _lies(was, now)


def _type_mesh(argument: ArgumentKey) -> tuple[object, ...] | None:
    """The mesh in an argument's type, which JAX's tracing cache is keyed on: that of its NamedSharding."""
    mesh = argument.mesh
    return None if mesh is None else (mesh.axes, mesh.axis_types)


def _lies(was: ArgumentKey, now: ArgumentKey) -> Iterator[Difference]:
    before, after = bool(was.committed), bool(now.committed)
    if not before and not after:
        return
    places = place_of(was), place_of(now)
    if before != after:
        pair = _commitment(was, places[0]), _commitment(now, places[1])
        sentence = say("{}: {} -> {}", name(now.path), *pair)
        yield Difference(
            kind="committed", path=now.path, before=places[0].text, after=places[1].text, sentence=sentence
        )
    elif was.given != now.given or was.mesh != now.mesh:
        yield _moved(was, now, places)


def _commitment(argument: ArgumentKey, place: Place) -> Sentence:
    kind = word(argument.type or "array")
    return say("{} committed to {}", kind, place.words) if argument.committed else say("uncommitted {}", kind)


def _moved(was: ArgumentKey, now: ArgumentKey, places: tuple[Place, Place]) -> Difference:
    before, after = (place.text for place in places)
    on_one = [place.is_one_device for place in places]
    sentence = say("{}: {}{}", name(now.path), "" if any(on_one) else "sharding ", place_change(was, now))
    kind = "device" if all(on_one) and before != after else "sharding"
    return Difference(kind=kind, path=now.path, before=before, after=after, sentence=sentence)


# ---------------------------------------------------------------- many leaves


def group_alike(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """Leaves that changed in the same way become one difference: "`w1` and 99 more: dtype ..."."""
    groups: dict[tuple[object, ...], list[Difference]] = {}
    for difference in found:
        about = difference.kind, difference.before, difference.after, difference.dimension
        groups.setdefault((*about, _said_of(difference, name(""))), []).append(difference)
    return tuple(_one(group) for group in groups.values())


def _one(group: list[Difference]) -> Difference:
    if len(group) == 1:
        return group[0]
    first, more = group[0], f" and {len(group) - 1} more"
    return replace(first, sentence=_said_of(first, name(first.path), word(more)))


def _said_of(difference: Difference, *instead: Phrase) -> Sentence:
    """The difference's sentence with other phrases where it first names what it is about."""
    phrases = difference.sentence.phrases
    path = name(difference.path)
    if path not in phrases:
        return difference.sentence
    place = phrases.index(path)
    return Sentence.of((*phrases[:place], *instead, *phrases[place + 1 :]))
