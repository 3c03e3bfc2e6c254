"""In what one compile's key differs from another's: one `Difference` for each part, each a sentence.

Pure: two frozen keys in, differences out. Not its job: which parts differ (`analyze.recompiles.changes`), or which
earlier compile to compare with (`analyze.recompiles.recompiles`).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from typing import NamedTuple

from pjit_inspect.analyze.recompiles.changes import OF_ARRAYS, Change, find_changes, is_derived
from pjit_inspect.analyze.recompiles.placement_words import place_change, place_text, place_words, placement_change
from pjit_inspect.analyze.recompiles.same_definition import same_definition
from pjit_inspect.model.record.compile_key import ArgumentKey, CompileKey, FunctionKey, NamedText
from pjit_inspect.model.record.reason import Difference, DifferenceKind
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, name, place, say, word


class _Said(NamedTuple):
    """What is said of a change: its subject stands in the first place of the template, `parts` in the others."""

    kind: DifferenceKind
    before: str
    after: str
    template: str
    parts: tuple[object, ...] = ()
    dimension: int | None = None


def key_differences(before: CompileKey, after: CompileKey) -> tuple[Difference, ...]:
    """What differs, the most telling first; () when nothing does. Arguments that changed alike are one difference."""
    groups: dict[object, list[tuple[Change, _Said]]] = {}
    for number, change in enumerate(find_changes(before, after)):
        said = _WORDS.get(change.part, _plain)(change)
        alike = (said.template, said.parts) if change.part in OF_ARRAYS else number
        groups.setdefault(alike, []).append((change, said))
    return tuple(_difference(*group[0], len(group) - 1) for group in groups.values())


def _difference(change: Change, said: _Said, more: int) -> Difference:
    subject: object = _SUBJECTS.get(change.part, name)(change.path)
    template = said.template
    if more:
        subject, template = say("{} and {} more", subject, more), template.replace("{} is ", "{} are ")
    is_named = template.count("{}") > len(said.parts)
    return Difference(
        kind=said.kind,
        path="" if change.part == "over" else change.path,
        before=said.before,
        after=said.after,
        dimension=said.dimension,
        sentence=say(template, *[subject] * is_named, *said.parts),
    )


# ---------------------------------------------------------------- two values

_PLAIN: dict[str, tuple[DifferenceKind, str, str]] = {
    "over": ("transform", "{} {}", "nothing"),
    "config": ("config", "{}: {}", "unset"),
    "static": ("static", "static argument {}: {}", "unset"),
    "parameter": ("static", "parameter {}: {}", "unset"),
    "closure": ("closure", "{}, {}: {}", "unset"),
    "default": ("closure", "the default of {} in {}: {}", "unset"),
    "option": ("option", "compiler option {}: {}", "unset"),
    "jit's option": ("option", "jit's option {}: {}", "unset"),
    "in_shardings": ("in_shardings", "in_shardings of {}: {}", "unspecified"),
    "out_shardings": ("out_shardings", "out_shardings of {}: {}", "unspecified"),
    "type sharding": ("type sharding", "{}: sharding in its type {}", "none"),
    "context mesh": ("context mesh", "context mesh: {}", "none"),
    "layout": ("layout", "{}: layout {}", ""),
    "devices": ("device", "devices of the program: {}", ""),
    "container": ("tree", "argument tree: {}: {}", ""),
}
"""Of each part its kind, what is said of it, and what stands for no value."""

_PLACED = ("in_shardings", "out_shardings", "type sharding", "context mesh")


def _plain(change: Change) -> _Said:
    """What is said of two values. They are the user's and may be any text, so that backticks in them are not read."""
    kind, template, absent = _PLAIN[change.part]
    was, now = (side.text if isinstance(side, NamedText) else side or "" for side in (change.was, change.now))
    read = _with_names if change.part == "over" else word
    if change.part in _PLACED:
        pair = placement_change(was or absent, now or absent)
    elif was == now:
        pair = _another(change.was, change.now)
    else:
        sides = (absent if side is None else read(text) for side, text in ((change.was, was), (change.now, now)))
        pair = say("{} -> {}", *sides)
    return _Said(kind, was, now, template, (*_owner(change), pair))


def _another(was: NamedText, now: NamedText) -> Sentence:
    if now.unequal:
        return say("{}, which is not equal to itself", word(now.text))
    is_object = None not in (was.serial, now.serial) and was.serial != now.serial
    return say("another {}, {} both times", "object" if is_object else "value", word(now.text))


def _with_names(text: str) -> Sentence:
    """What a transform is over; `observe.key.compile_key` has put the arguments' paths in backticks."""
    return Sentence.of(name(phrase.text) if phrase.kind == "code" else phrase for phrase in Sentence(text).phrases)


def _owner(change: Change) -> tuple[Phrase | Sentence, ...]:
    """The function that holds the value."""
    if change.part not in ("closure", "default"):
        return ()
    owner: FunctionKey = change.sides[1]
    if change.part == "default":
        return (_name(owner),)
    words = "whose method {} is" if change.path == "self" else "which {} closes over"
    return (say("which the partial of {} holds" if owner.kind == "partial" else words, _name(owner)),)


_CONTEXT_NAMES = {
    "compute_on_context_manager": code("jax.experimental.compute_on"),
    "xla_metadata_context_manager": code("set_xla_metadata"),
    "user_context": word("user context"),
}
_ORDER = "argument tree: the same leaves in another order, {} where {} was"
_REGISTERED = "a module that was imported since has registered {}: JAX traces everything again"
_UNNAMED = "JAX's trace context differs: a user context, or something else that this version does not name"


def _configuration(path: str) -> Phrase | Sentence:
    return _CONTEXT_NAMES.get(path.split("[")[0]) or say("configuration {}", code(path))


def _config(change: Change) -> _Said:
    is_new = change.was is None and change.path.split("[")[0] not in _CONTEXT_NAMES
    return _Said("config", "", change.now.text, _REGISTERED) if is_new else _plain(change)


def _field(change: Change) -> _Said:
    where, kind = change.sides
    path, field = name(change.path), (change.now or change.was).name
    if where:
        what = say("static field {}", path) if field else say("static data of {} ({})", path, word(kind))
    else:
        what = say("static {} of a {} without arrays", say("field {}", path) if field else "data", word(kind))
    was, now = ("none" if side is None else side.text for side in (change.was, change.now))
    pair = f"{was} -> {now}" if was != now else f"another object, {now} both times"
    return _Said("tree", was, now, "{}: {}", (what, word(pair)))


# ---------------------------------------------------------------- the function


def _source(change: Change) -> _Said:
    old, new = change.was, change.now
    where = new.place.where if new.place is not None else ""
    what = say("{} ({})", _name(new), place(where)) if where else say("{}", _name(new))
    if not same_definition(old, new):
        return _Said("source", "", "", "another {}, with other code", (what,))
    opcodes = difflib.SequenceMatcher(None, old.lines, new.lines, autojunk=False).get_opcodes()
    changed = [each for each in opcodes if each[0] != "equal"]
    # Two cells may each have a function of that name; one file has changed.
    is_file = bool(changed) and old.version != new.version and not (new.place is not None and new.place.cell)
    said = say("{} was edited" if is_file else "{} was defined again with other code", what)
    if not changed or old.version == new.version:
        return _Said("source", "", "", "{}", (said,))
    tag, i, _, j, end = changed[0]
    was = old.lines[i].strip() if tag != "insert" else ""
    now = new.lines[j].strip() if j < end else ""
    count = sum(max(i2 - i1, j2 - j1) for _, i1, i2, j1, j2 in changed)
    more = f", and {count - 1} more" if count > 1 else ""
    both = say("{} -> {}", code(was), code(now)) if was and now else None
    line = both or (say("{} is new", code(now)) if now else say("{} is gone", code(was)))
    return _Said("source", was, now, "{}: line {} of it {}{}", (said, j + 1, line, more))


def _name(function: FunctionKey) -> Phrase:
    """The name without the functions it is defined in; a method keeps its class."""
    return name(function.name.rsplit(".<locals>.", 1)[-1])


_NEW_OBJECT = {
    "lambda": "a new `<lambda>` object with the same code",
    "wrapper": "a new wrapper object ({}) around {}",
    "partial": "a new `functools.partial` of {} with the same values",
    "method": "a new bound method object of {}",
    "object": "a new {} object",
}


def _made_anew(change: Change) -> _Said:
    old, new = change.was, change.now
    again, parts = "{} was defined again with the same code", (_name(new),)
    if new.kind in ("function", "lambda") and old.place and new.place and old.place.file != new.place.file:
        places = (place(each.cell or os.path.basename(each.file)) for each in (old.place, new.place))
        return _Said("function", "", "", f"{again} ({{}} -> {{}})", (*parts, *places))
    if new.kind == "wrapper":
        parts = (code(new.wrapper), *parts)
    template = _NEW_OBJECT.get(new.kind) or (again if same_definition(old, new) else "another {}, with the same code")
    return _Said("function", "", "", template, parts[: template.count("{}")])


# ---------------------------------------------------------------- the whole call


def _transform(change: Change) -> _Said:
    template = "first compile under {}"
    return _Said("transform", change.was, change.now, template, (_transform_words(change.now),))


def _transform_words(transform: str) -> Sentence:
    made_by, _, direction = transform.partition(" ")
    if direction:
        return say("{} ({} pass)", code(made_by), word(direction))
    return say("`jit` alone") if made_by == "jit" else say("{}", code(made_by))


def _derived(change: Change) -> _Said:
    was, now = change.sides
    made = say("that JAX derived from it" if is_derived(now) else "than one that JAX derived from it")
    made = made if now.transform == "jit" else say("under {}", _transform_words(now.transform))
    counts = len(was.arguments), len(now.arguments)
    template = "another program {}; the arguments it takes: {} -> {}"
    return _Said("transform", change.was, change.now, template, (made, *counts))


_KEYWORDS = {
    ("position", "keyword"): "{} is passed by keyword, before by position",
    ("keyword", "position"): "{} is passed by position, before by keyword",
    (None, "keyword"): "keyword argument {} is new",
    ("keyword", None): "keyword argument {} is gone",
}


def _keyword(change: Change) -> _Said:
    is_new = change.now == "keyword"
    return _Said(
        "keywords", "" if is_new else change.path, change.path if is_new else "", _KEYWORDS[change.was, change.now]
    )


def _donation(change: Change) -> _Said:
    was, now = _listed(change.was), _listed(change.now)
    return _Said("donation", str(was), str(now), "donated arguments: {} -> {}", (was, now))


def _listed(paths: tuple[str, ...]) -> Sentence:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return say("{}{}", joined([name(path) for path in paths[:3]], ", "), more) if paths else say("none")


def _leaf(change: Change) -> _Said:
    if change.was is None:
        return _Said("tree", "", change.path, "argument tree: {} is new")
    return _Said("tree", change.path, "", "argument tree: {} is gone")


# ---------------------------------------------------------------- arguments


def _shape(change: Change) -> _Said:
    was, now = change.was, change.now
    before, after = (f"[{', '.join(map(str, shape))}]" for shape in (was, now))
    changed = [i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b]
    if len(was) != len(now):
        return _Said("shape", before, after, "{}: rank {} -> {}, shape {} -> {}", (len(was), len(now), before, after))
    if len(changed) > 1:
        dims = " and ".join(map(str, changed))
        return _Said("shape", before, after, "{}: shape {} -> {} (dimensions {})", (before, after, dims))
    (dim,) = changed
    lengths = str(was[dim]), str(now[dim])
    return _Said("shape", *lengths, "{}: length {} -> {} (dimension {})", (*lengths, dim), dim)


def _dtype(change: Change) -> _Said:
    (was, was_weak), (now, now_weak) = change.was, change.now
    sides = _strength(change.sides[0]), _strength(change.sides[1])
    if was == now:
        return _Said("weak type", *sides, "{}: {} -> {}, both {}", (*map(word, sides), word(now)))
    if was_weak == now_weak:
        return _Said("dtype", was, now, "{}: dtype {} -> {}", (word(was), word(now)))
    return _Said("dtype", was, now, "{}: dtype {} -> {} ({} -> {})", tuple(map(word, (was, now, *sides))))


def _strength(argument: ArgumentKey) -> str:
    is_number = argument.type in ("int", "float", "complex", "bool")
    kind = f"Python {argument.type}" if is_number else (argument.type or "array")
    return f"{kind} (weak type)" if argument.weak_type else f"{kind} (not weak)"


def _place(change: Change) -> _Said:
    was, now = change.sides
    before, after = (place_text(side.given, side.mesh) for side in (was, now))
    if bool(was.committed) != bool(now.committed):
        pair = (_commitment(was, before), _commitment(now, after))
        return _Said("committed", before, after, "{}: {} -> {}", pair)
    on_one = [text.startswith("device ") for text in (before, after)]
    kind = "device" if all(on_one) and before != after else "sharding"
    return _Said(kind, before, after, "{}: {}" if any(on_one) else "{}: sharding {}", (place_change(was, now),))


def _commitment(argument: ArgumentKey, text: str) -> Sentence:
    kind = word(argument.type or "array")
    return say("{} committed to {}", kind, place_words(text)) if argument.committed else say("uncommitted {}", kind)


def _mesh(change: Change) -> _Said:
    said = _place(change)
    return said._replace(template=f"{said.template}, and a mesh is part of an array's type")


_SUBJECTS: dict[str, Callable[[str], Phrase | Sentence]] = {
    "over": word, "config": _configuration, "option": code, "jit's option": code,
}  # fmt: skip
_WORDS: dict[str, Callable[[Change], _Said]] = {
    "transform": _transform,
    "derived": _derived,
    "config": _config,
    "context": lambda _: _Said("config", "", "", _UNNAMED),
    "source": _source,
    "made anew": _made_anew,
    "keyword": _keyword,
    "leaf": _leaf,
    "order": lambda change: _Said("tree", change.was, change.now, _ORDER, (name(change.was),)),
    "containers": lambda _: _Said("tree", "", "", "argument tree: the same leaves in other containers"),
    "field": _field,
    "shape": _shape,
    "dtype": _dtype,
    "mesh": _mesh,
    "place": _place,
    "donation": _donation,
}
