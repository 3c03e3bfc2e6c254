"""The differences between the keys of two compiles: one `Difference` for each part, each a sentence.

Pure: two frozen keys in, differences out. Not its job: which parts differ (`analyze.recompiles.changes`), or which
earlier compile to compare with (`analyze.recompiles.recompiles`).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from typing import Any, NamedTuple

from pjit_inspect.analyze.recompiles.changes import OF_ARRAYS, KeyChange, find_changes, is_derived, same_definition
from pjit_inspect.analyze.recompiles.placement_words import place_change, place_text, place_words, placement_change
from pjit_inspect.model.record.compile_key import ArgumentKey, CompileKey, FunctionKey, NamedText
from pjit_inspect.model.record.reason import Difference, DifferenceKind
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, name, place, say, word

_PARTS: dict[str, tuple[DifferenceKind, str]] = {
    "transform": ("transform", "first compile under {}"),
    "derived": ("transform", "another program {}; the arguments it takes: {} -> {}"),
    "over": ("transform", "@ {}"),
    "config": ("config", "@: {}"),
    "registered": ("config", "a module that was imported since has registered @: JAX traces everything again"),
    "context": (
        "config",
        "JAX's trace context differs: a user context, or something else that this version does not name",
    ),
    "source": ("source", "{}"),
    "made anew": ("function", "{}"),
    "closure": ("closure", "@, {}: {}"),
    "default": ("closure", "the default of @ in {}: {}"),
    "static": ("static", "static argument @: {}"),
    "parameter": ("static", "parameter @: {}"),
    "to keyword": ("keywords", "@ is passed by keyword, before by position"),
    "to position": ("keywords", "@ is passed by position, before by keyword"),
    "new keyword": ("keywords", "keyword argument @ is new"),
    "gone keyword": ("keywords", "keyword argument @ is gone"),
    "new leaf": ("tree", "argument tree: @ is new"),
    "gone leaf": ("tree", "argument tree: @ is gone"),
    "order": ("tree", "argument tree: the same leaves in another order, @ where {} was"),
    "containers": ("tree", "argument tree: the same leaves in other containers"),
    "container": ("tree", "argument tree: @: {}"),
    "outermost": ("tree", "argument tree: {}"),
    "field": ("tree", "{}: {}"),
    "length": ("shape", "@: length {} (dimension {})"),
    "shape": ("shape", "@: shape {} (dimensions {})"),
    "rank": ("shape", "@: rank {}, shape {}"),
    "dtype": ("dtype", "@: dtype {}{}"),
    "weak type": ("weak type", "@: {}, both {}"),
    "place": ("sharding", "@: {}"),
    "mesh": ("sharding", "@: {}, and a mesh is part of an array's type"),
    "in_shardings": ("in_shardings", "in_shardings of @: {}"),
    "out_shardings": ("out_shardings", "out_shardings of @: {}"),
    "type sharding": ("type sharding", "@: sharding in its type {}"),
    "layout": ("layout", "@: layout {}"),
    "donation": ("donation", "donated arguments: {}"),
    "option": ("option", "@: {}"),
    "context mesh": ("context mesh", "context mesh: {}"),
    "devices": ("device", "devices of the program: {}"),
}
"""For each part the kind of difference and a sentence; "@" stands for the changed thing."""
_ABSENT = {
    "over": "nothing", "field": "none", "type sharding": "none", "context mesh": "none", "in_shardings": "unspecified",
    "out_shardings": "unspecified",
}  # fmt: skip
"""Words for a missing value; "unset" for all other parts."""


class _Worded(NamedTuple):
    """The parts of a template beside its subject; kind and values of the difference if they are not the change's."""

    parts: tuple[object, ...]
    kind: DifferenceKind | None = None
    values: tuple[str, str] | None = None


def key_differences(before: CompileKey, after: CompileKey) -> tuple[Difference, ...]:
    """All differences, the most telling first; () for none. Equal changes of several arguments are one difference."""
    groups: dict[object, list[tuple[KeyChange, _Worded]]] = {}
    for number, change in enumerate(find_changes(before, after)):
        said = _WORDS.get(change.part, _pair)(change)
        alike = (change.part, said.parts) if change.part in OF_ARRAYS else number
        groups.setdefault(alike, []).append((change, said))
    return tuple(_difference(*group[0], len(group) - 1) for group in groups.values())


def _difference(change: KeyChange, said: _Worded, more: int) -> Difference:
    subject: object = _SUBJECTS.get(change.part, name)(change.path)
    is_registered = change.part == "config" and change.was is None and isinstance(subject, Sentence)
    kind, template = _PARTS["registered" if is_registered else change.part]
    if more:
        subject, template = say("{} and {} more", subject, more), template.replace("@ is ", "@ are ")
    parts = [*[subject] * ("@" in template), *said.parts]
    before, after = said.values or (_text(change.was), _text(change.now))
    return Difference(
        kind=said.kind or kind,
        path="" if change.part == "over" else change.path,
        before=before,
        after=after,
        dimension=change.sides if change.part == "length" else None,
        sentence=say(template.replace("@", "{}"), *parts[: template.count("@") + template.count("{}")]),
    )


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return value.text if isinstance(value, NamedText) else "" if value is None else str(value)


# ---------------------------------------------------------------- two values


def _pair(change: KeyChange) -> _Worded:
    """Both values. They are the user's and may be any text: backticks in them are not read."""
    was, now, absent = _text(change.was), _text(change.now), _ABSENT.get(change.part, "unset")
    if change.part in ("in_shardings", "out_shardings", "type sharding", "context mesh"):
        return _Worded((placement_change(was or absent, now or absent),))
    if was != now or change.was is None or change.now is None:
        read = _with_names if change.part == "over" else word
        return _Worded((say("{} -> {}", *(absent if v is None else read(_text(v)) for v in (change.was, change.now))),))
    if change.now.unequal:
        return _Worded((say("{}, which is not equal to itself", word(now)),))
    is_object = None not in (change.was.serial, change.now.serial) and change.was.serial != change.now.serial
    return _Worded((say("another {}, {} both times", "object" if is_object else "value", word(now)),))


def _with_names(text: str) -> Sentence:
    """The arguments of a transform; `observe.key.compile_key` has put their paths in backticks."""
    return Sentence.of(name(phrase.text) if phrase.kind == "code" else phrase for phrase in Sentence(text).phrases)


_CONTEXT_NAMES = {
    "compute_on_context_manager": code("jax.experimental.compute_on"),
    "xla_metadata_context_manager": code("set_xla_metadata"),
    "user_context": word("user context"),
}


def _configuration(path: str) -> Phrase | Sentence:
    return _CONTEXT_NAMES.get(path.split("[")[0]) or say("configuration {}", code(path))


def _option(path: str) -> Sentence:
    return say("{} option {}", "jit's" if path == "keep_unused" else "compiler", code(path))


def _field(change: KeyChange) -> _Worded:
    where, kind = change.sides
    path, field = name(change.path), (change.now or change.was).name
    if where:
        what = say("static field {}", path) if field else say("static data of {} ({})", path, word(kind))
    else:
        what = say("static {} of a {} without arrays", say("field {}", path) if field else "data", word(kind))
    was, now = (_text(side) if side is not None else "none" for side in (change.was, change.now))
    pair = f"{was} -> {now}" if was != now else f"another object, {now} both times"
    return _Worded((what, word(pair)), values=(was, now))


def _donation(change: KeyChange) -> _Worded:
    sides = _listed(change.was), _listed(change.now)
    return _Worded((say("{} -> {}", *sides),), values=(str(sides[0]), str(sides[1])))


def _listed(paths: tuple[str, ...]) -> Sentence:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return say("{}{}", joined([name(path) for path in paths[:3]], ", "), more) if paths else say("none")


def _transform_words(transform: str) -> Sentence:
    made_by, _, direction = transform.partition(" ")
    if direction:
        return say("{} ({} pass)", code(made_by), word(direction))
    return say("`jit` alone") if made_by == "jit" else say("{}", code(made_by))


def _derived(change: KeyChange) -> _Worded:
    was, now = change.sides
    made = say("that JAX derived from it" if is_derived(now) else "than one that JAX derived from it")
    made = made if now.transform == "jit" else say("under {}", _transform_words(now.transform))
    return _Worded((made, len(was.arguments), len(now.arguments)))


# ---------------------------------------------------------------- the function


def _name(function: FunctionKey) -> Phrase:
    """A function's name without the functions around it; a method keeps its class."""
    return name(function.name.rsplit(".<locals>.", 1)[-1])


def _held(change: KeyChange) -> _Worded:
    """A value that a function carries, and in which way."""
    owner: FunctionKey = change.sides
    words = "whose method {} is" if change.path == "self" else "which {} closes over"
    words = "which the partial of {} holds" if owner.kind == "partial" else words
    how = _name(owner) if change.part == "default" else say(words, _name(owner))
    return _Worded((how, *_pair(change).parts))


def _source(change: KeyChange) -> _Worded:
    old, new = change.was, change.now
    where = new.place.where if new.place is not None else ""
    what = say("{} ({})", _name(new), place(where)) if where else say("{}", _name(new))
    if not same_definition(old, new):
        return _Worded((say("another {}, with other code", what),), values=("", ""))
    opcodes = difflib.SequenceMatcher(None, old.lines, new.lines, autojunk=False).get_opcodes()
    changed = [each for each in opcodes if each[0] != "equal"] if old.version != new.version else []
    # Two cells may each have a function of that name; one file has changed.
    is_file = bool(changed) and not (new.place is not None and new.place.cell)
    said = say("{} was edited" if is_file else "{} was defined again with other code", what)
    if not changed:
        return _Worded((said,), values=("", ""))
    tag, i, _, j, end = changed[0]
    was, now = old.lines[i].strip() if tag != "insert" else "", new.lines[j].strip() if j < end else ""
    count = sum(max(i2 - i1, j2 - j1) for _, i1, i2, j1, j2 in changed)
    line = (
        say("{} -> {}", code(was), code(now))
        if was and now
        else say("{} is {}", code(now or was), "new" if now else "gone")
    )
    more = f", and {count - 1} more" if count > 1 else ""
    return _Worded((say("{}: line {} of it {}{}", said, j + 1, line, more),), values=(was, now))


_AGAIN = "{} was defined again with the same code"
_NEW_OBJECT = {
    "lambda": "a new `<lambda>` object with the same code",
    "wrapper": "a new wrapper object ({}) around {}",
    "partial": "a new `functools.partial` of {} with the same values",
    "method": "a new bound method object of {}",
    "object": "a new {} object",
}


def _made_anew(change: KeyChange) -> _Worded:
    old, new = change.was, change.now
    parts = (*[code(new.wrapper)] * (new.kind == "wrapper"), _name(new))
    template = _NEW_OBJECT.get(new.kind) or (_AGAIN if same_definition(old, new) else "another {}, with the same code")
    if new.kind in ("function", "lambda") and old.place and new.place and old.place.file != new.place.file:
        places = (place(each.cell or os.path.basename(each.file)) for each in (old.place, new.place))
        template, parts = f"{_AGAIN} ({{}} -> {{}})", (*parts, *places)
    return _Worded((say(template, *parts[: template.count("{}")]),), values=("", ""))


# ---------------------------------------------------------------- arguments


def _shape(change: KeyChange) -> _Worded:
    was, now = change.was, change.now
    pair = say("{} -> {}", _text(was), _text(now))
    if change.part == "rank":
        return _Worded((say("{} -> {}", len(was), len(now)), pair))
    return _Worded((pair, " and ".join(str(i) for i, (a, b) in enumerate(zip(was, now, strict=True)) if a != b)))


def _dtype(change: KeyChange) -> _Worded:
    strengths = _strength(change.sides[0]), _strength(change.sides[1])
    pair = say("{} -> {}", *map(word, strengths))
    if change.part == "weak type":
        return _Worded((pair, word(change.sides[1].dtype)), values=strengths)
    is_weak = [side.weak_type for side in change.sides]
    return _Worded((*_pair(change).parts, say(" ({})", pair) if is_weak[0] != is_weak[1] else ""))


def _strength(argument: ArgumentKey) -> str:
    is_number = argument.type in ("int", "float", "complex", "bool")
    kind = f"Python {argument.type}" if is_number else (argument.type or "array")
    return f"{kind} (weak type)" if argument.weak_type else f"{kind} (not weak)"


def _place(change: KeyChange) -> _Worded:
    was, now = change.sides
    values = place_text(was.given, was.mesh), place_text(now.given, now.mesh)
    if bool(was.committed) != bool(now.committed):
        pair = say("{} -> {}", _commitment(was, values[0]), _commitment(now, values[1]))
        return _Worded((pair,), "committed", values)
    on_one = [text.startswith("device ") for text in values]
    kind = "device" if all(on_one) and values[0] != values[1] else "sharding"
    return _Worded((say("{}{}", "" if any(on_one) else "sharding ", place_change(was, now)),), kind, values)


def _commitment(argument: ArgumentKey, text: str) -> Sentence:
    kind = word(argument.type or "array")
    return say("{} committed to {}", kind, place_words(text)) if argument.committed else say("uncommitted {}", kind)


_SUBJECTS: dict[str, Callable[[str], Phrase | Sentence]] = {
    "over": word, "config": _configuration, "option": _option,
}  # fmt: skip
_WORDS: dict[str, Callable[[KeyChange], _Worded]] = {
    "transform": lambda change: _Worded((_transform_words(change.now),)),
    "derived": _derived,
    "source": _source,
    "made anew": _made_anew,
    "closure": _held,
    "default": _held,
    "new leaf": lambda _: _Worded(()),
    "gone leaf": lambda _: _Worded(()),
    "order": lambda change: _Worded((name(change.was),)),
    "field": _field,
    "length": lambda change: _Worded((*_pair(change).parts, change.sides)),
    "shape": _shape,
    "rank": _shape,
    "dtype": _dtype,
    "weak type": _dtype,
    "mesh": _place,
    "place": _place,
    "donation": _donation,
}
