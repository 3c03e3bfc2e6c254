"""In what one compile's key differs from another's: one `Difference` for each part, each a sentence.

Pure: two frozen keys in, differences out. Not its job: which earlier compile to compare with
(`analyze.recompiles.recompiles`).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Sequence

from pjit_inspect.analyze.recompiles.argument_differences import argument_differences, group_alike, same_value
from pjit_inspect.analyze.recompiles.placement_words import placement_change
from pjit_inspect.analyze.recompiles.same_definition import same_definition
from pjit_inspect.model.record.compile_key import CompileKey, FunctionKey, NamedText
from pjit_inspect.model.record.reason import Difference
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, name, place, say, word

_CONTEXT_NAMES = {
    "compute_on_context_manager": code("jax.experimental.compute_on"),
    "xla_metadata_context_manager": code("set_xla_metadata"),
    "user_context": word("user context"),
}
_REGISTERED = "a module that was imported since has registered {}: JAX traces everything again"
_UNNAMED = "JAX's trace context differs: a user context, or something else that this version does not name"


def key_differences(before: CompileKey, after: CompileKey) -> tuple[Difference, ...]:
    """What differs, the most telling first; () when nothing does. Only what both keys know is compared."""
    if before.transform != after.transform:
        # The arguments of a transformed program are others anyway.
        return (*_transform(before, after), *_function(before, after))
    if _takes_other_arguments(before, after):
        sentence = say(
            "another program {}; the arguments it takes: {} -> {}",
            _made_by(after), len(before.arguments), len(after.arguments),
        )  # fmt: skip
        return (Difference(kind="transform", before=before.transform, after=after.transform, sentence=sentence),)
    found = (
        *_over(before, after),
        *_config(before, after),
        *_function(before, after),
        *_statics(before, after),
        *_keywords(before, after),
        *group_alike(argument_differences(before, after)),
        *_outputs(before, after),
        *_donation(before, after),
        *_options(before, after),
        *_context_mesh(before, after),
    )
    # The devices of a program follow from all of this, and the whole context has most of it.
    return found or (*_devices(before, after), *_context(before, after))


def _transform(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    sentence = say("first compile under {}", _transform_words(after.transform))
    yield Difference(kind="transform", before=before.transform, after=after.transform, sentence=sentence)


def _takes_other_arguments(before: CompileKey, after: CompileKey) -> bool:
    """Whether a transform made one of two programs, so that their arguments cannot be compared."""
    paths = [[argument.path for argument in key.arguments] for key in (before, after)]
    return paths[0] != paths[1] and (_is_derived(before) or _is_derived(after))


def _is_derived(key: CompileKey) -> bool:
    """Whether JAX made it of another program, where its arguments have lost their names: they are not those of a call.

    `jax.checkpoint` and custom derivatives run such a program as one of `jit`, but no call has brought its tree.
    """
    is_call = key.transform in ("pmap", "eager") or (key.transform == "jit" and key.tree is not None)
    return not is_call and any(argument.path.startswith("arg[") for argument in key.arguments)


def _made_by(key: CompileKey) -> Sentence:
    if key.transform != "jit":
        return say("under {}", _transform_words(key.transform))
    return say("that JAX derived from it" if _is_derived(key) else "than one that JAX derived from it")


def _over(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    for what, was, now in _changed(before.over, after.over):
        sentence = say("{} {}", word(what), _values(was, now, absent="nothing", read=_with_names))
        yield Difference(kind="transform", before=_text(was), after=_text(now), sentence=sentence)


def _with_names(text: str) -> Sentence:
    """What a transform is over; `observe.key.compile_key` has put the arguments' paths in backticks."""
    return Sentence.of(name(phrase.text) if phrase.kind == "code" else phrase for phrase in Sentence(text).phrases)


def _transform_words(transform: str) -> Sentence:
    made_by, _, direction = transform.partition(" ")
    if direction:
        return say("{} ({} pass)", code(made_by), word(direction))
    return say("`jit` alone") if made_by == "jit" else say("{}", code(made_by))


# ---------------------------------------------------------------- the function object


def _function(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    old, new = before.function, after.function
    if old is None or new is None or old.serial is None or new.serial is None or old.serial == new.serial:
        return
    if old.code != new.code:
        yield _other_code(old, new)
        return
    changed = [*_closure(old, new), *_defaults(old, new)]
    yield from changed
    if not changed:
        yield _made_anew(old, new)


def _other_code(old: FunctionKey, new: FunctionKey) -> Difference:
    where = new.place.where if new.place is not None else ""
    what = say("{} ({})", _name(new), place(where)) if where else say("{}", _name(new))
    if not same_definition(old, new):
        return Difference(kind="source", path=new.name, sentence=say("another {}, with other code", what))
    number, was, now = _first_changed_line(old.lines, new.lines)
    again = say("{} was defined again with other code", what)
    if number is None or old.version == new.version:
        return Difference(kind="source", path=new.name, sentence=again)
    count = _changed_lines(old.lines, new.lines)
    more = f", and {count - 1} more" if count > 1 else ""
    # Two cells may each have a function of that name; one file has changed.
    said = again if new.place is not None and new.place.cell else say("{} was edited", what)
    sentence = say("{}: line {} of it {}{}", said, number, _line_words(was, now), more)
    return Difference(kind="source", path=new.name, before=was, after=now, sentence=sentence)


def _line_words(was: str, now: str) -> Sentence:
    if was and now:
        return say("{} -> {}", code(was), code(now))
    return say("{} is new", code(now)) if now else say("{} is gone", code(was))


def _first_changed_line(old: Sequence[str], new: Sequence[str]) -> tuple[int | None, str, str]:
    """The first line that differs, counted from 1 in the function, before and after; (None, "", "") when none does."""
    for tag, i, _, j, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            was = old[i].strip() if tag != "insert" else ""
            return j + 1, was, new[j].strip() if j < end else ""
    return None, "", ""


def _changed_lines(old: Sequence[str], new: Sequence[str]) -> int:
    opcodes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in opcodes if tag != "equal")


def _closure(old: FunctionKey, new: FunctionKey) -> Iterator[Difference]:
    for path, was, now in _changed(old.bound, new.bound):
        sentence = say("{}, {}: {}", name(path), _owner(new, path), _values(was, now))
        yield Difference(kind="closure", path=path, before=_text(was), after=_text(now), sentence=sentence)


def _owner(new: FunctionKey, path: str) -> Sentence:
    if new.kind == "partial":
        return say("which the partial of {} holds", _name(new))
    return say("whose method {} is" if path == "self" else "which {} closes over", _name(new))


def _defaults(old: FunctionKey, new: FunctionKey) -> Iterator[Difference]:
    for path, was, now in _changed(old.defaults, new.defaults):
        sentence = say("the default of {} in {}: {}", name(path), _name(new), _values(was, now))
        yield Difference(kind="closure", path=path, before=_text(was), after=_text(now), sentence=sentence)


def _name(function: FunctionKey) -> Phrase:
    """The name without the functions it is defined in; a method keeps its class."""
    return name(function.name.rsplit(".<locals>.", 1)[-1])


def _made_anew(old: FunctionKey, new: FunctionKey) -> Difference:
    moved = old.place is not None and new.place is not None and old.place.file != new.place.file
    if moved and old.place is not None and new.place is not None and new.kind in ("function", "lambda"):
        places = (place(_cell(each.cell, each.file)) for each in (old.place, new.place))
        sentence = say("{} was defined again with the same code ({} -> {})", _name(new), *places)
    else:
        sentence = _new_object(old, new)
    return Difference(kind="function", path=new.name, sentence=sentence)


def _cell(cell: str | None, file: str) -> str:
    return cell or os.path.basename(file)


def _new_object(old: FunctionKey, new: FunctionKey) -> Sentence:
    if new.kind == "lambda":
        return say("a new `<lambda>` object with the same code")
    if new.kind == "wrapper":
        return say("a new wrapper object ({}) around {}", code(new.wrapper), _name(new))
    other = "{} was defined again with the same code" if same_definition(old, new) else "another {}, with the same code"
    return say(_NEW_OBJECT.get(new.kind, other), _name(new))


_NEW_OBJECT = {
    "partial": "a new `functools.partial` of {} with the same values",
    "method": "a new bound method object of {}",
    "object": "a new {} object",
}


# ---------------------------------------------------------------- named values


def _changed(
    old: Sequence[NamedText], new: Sequence[NamedText]
) -> Iterator[tuple[str, NamedText | None, NamedText | None]]:
    """Each name whose values differ, with both; None where a name is only on one side."""
    if old is new or old == new:
        return
    before, after = {item.name: item for item in old}, {item.name: item for item in new}
    for path in dict.fromkeys((*after, *before)):
        if not same_value(before.get(path), after.get(path)):
            yield path, before.get(path), after.get(path)


def _text(value: NamedText | None) -> str:
    return "" if value is None else value.text


def _values(
    was: NamedText | None, now: NamedText | None, *, absent: str = "unset",
    read: Callable[[str], Phrase | Sentence] = word,
) -> Sentence:  # fmt: skip
    """Both values. They are the user's and may be any text, so that backticks in them are not read."""
    if was is None or now is None or was.text != now.text:
        return say("{} -> {}", *(read(side.text) if side is not None else absent for side in (was, now)))
    if now.unequal:
        return say("{}, which is not equal to itself", read(now.text))
    if was.serial != now.serial and was.serial is not None and now.serial is not None:
        return say("another object, {} both times", read(now.text))
    return say("another value, {} both times", read(now.text))


def _statics(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    what = "parameter" if after.transform == "eager" else "static argument"
    for path, was, now in _changed(before.statics, after.statics):
        sentence = say("{} {}: {}", what, name(path), _values(was, now))
        yield Difference(kind="static", path=path, before=_text(was), after=_text(now), sentence=sentence)


def _config(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    for path, was, now in _changed(before.config, after.config):
        shown = _CONTEXT_NAMES.get(path.split("[")[0]) or say("configuration {}", code(path))
        sentence = say("{}: {}", shown, _values(was, now))
        if was is None and path.split("[")[0] not in _CONTEXT_NAMES:
            sentence = say(_REGISTERED, shown)
        yield Difference(kind="config", path=path, before=_text(was), after=_text(now), sentence=sentence)


def _options(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    for path, was, now in _changed(before.options, after.options):
        what = "jit's option" if path == "keep_unused" else "compiler option"
        sentence = say("{} {}: {}", what, code(path), _values(was, now))
        yield Difference(kind="option", path=path, before=_text(was), after=_text(now), sentence=sentence)


# ---------------------------------------------------------------- the whole call


def _keywords(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    if before.positional is None or after.positional is None or before.keywords == after.keywords:
        return
    gone = [path for path in before.keywords if path not in after.keywords]
    new = [path for path in after.keywords if path not in before.keywords]
    roots_before, roots_after = (_roots(key) for key in (before, after))
    for path in new:
        is_known = path in roots_before
        words = "{} is passed by keyword, before by position" if is_known else "keyword argument {} is new"
        yield Difference(kind="keywords", path=path, after=path, sentence=say(words, name(path)))
    for path in gone:
        is_known = path in roots_after
        words = "{} is passed by position, before by keyword" if is_known else "keyword argument {} is gone"
        yield Difference(kind="keywords", path=path, before=path, sentence=say(words, name(path)))


def _roots(key: CompileKey) -> set[str]:
    """The names of arguments: what stands before the first bracket or dot of each leaf, and the static ones."""
    traced = {argument.path.split("[")[0].split(".")[0] for argument in key.arguments}
    return traced | {static.name for static in key.statics}


def _outputs(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    groups: dict[tuple[str, str], list[str]] = {}
    for path, was, now in _changed(before.outputs, after.outputs):
        groups.setdefault((_text(was), _text(now)), []).append(path)
    for (was, now), paths in groups.items():
        more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        pair = placement_change(was or "unspecified", now or "unspecified")
        sentence = say("out_shardings of {}{}: {}", name(paths[0]), more, pair)
        yield Difference(kind="out_shardings", path=paths[0], before=was, after=now, sentence=sentence)


def _donation(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    if before.donated == after.donated or {a.path for a in before.arguments} != {a.path for a in after.arguments}:
        return
    was, now = _paths(before.donated), _paths(after.donated)
    sentence = say("donated arguments: {} -> {}", was, now)
    yield Difference(kind="donation", before=str(was), after=str(now), sentence=sentence)


def _paths(paths: Sequence[str]) -> Sentence:
    if not paths:
        return say("none")
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return say("{}{}", joined([name(path) for path in paths[:3]], ", "), more)


def _context(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    if None not in (before.context, after.context) and before.context != after.context:
        yield Difference(kind="config", sentence=say(_UNNAMED))


def _context_mesh(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    was, now = before.context_mesh or "none", after.context_mesh or "none"
    if was != now:
        sentence = say("context mesh: {}", placement_change(was, now))
        yield Difference(kind="context mesh", before=was, after=now, sentence=sentence)


def _devices(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    was, now = before.devices, after.devices
    if was and now and was != now:
        sentence = say("devices of the program: {} -> {}", word(was), word(now))
        yield Difference(kind="device", before=was, after=now, sentence=sentence)
