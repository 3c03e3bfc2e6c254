"""In what one compile's key differs from another's: one `Difference` for each part, each a sentence.

Pure: two frozen keys in, differences out. Not its job: which earlier compile to compare with
(`analyze.recompiles.recompiles`).
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence

from pjit_inspect.analyze.recompiles.argument_differences import argument_differences, group_alike, same_value
from pjit_inspect.analyze.recompiles.placement_words import placement_change
from pjit_inspect.analyze.recompiles.same_definition import same_definition
from pjit_inspect.model.record.compile_key import CompileKey, FunctionKey, NamedText
from pjit_inspect.model.record.reason import Difference

__all__ = ["key_differences"]

_CONTEXT_NAMES = {
    "compute_on_context_manager": "`jax.experimental.compute_on`",
    "xla_metadata_context_manager": "`set_xla_metadata`",
    "user_context": "user context",
}
_UNNAMED = "JAX's trace context differs: a user context, or something else that this version does not name"


def key_differences(before: CompileKey, after: CompileKey) -> tuple[Difference, ...]:
    """What differs, the most telling first; () when nothing does. Only what both keys know is compared."""
    if before.transform != after.transform:
        # The arguments of a transformed program are others anyway.
        return (*_transform(before, after), *_function(before, after))
    if _takes_other_arguments(before, after):
        counts = f"{len(before.arguments)} -> {len(after.arguments)}"
        sentence = f"another program under {_transform_text(after.transform)}; the arguments it takes: {counts}"
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
    sentence = f"first compile under {_transform_text(after.transform)}"
    yield Difference(kind="transform", before=before.transform, after=after.transform, sentence=sentence)


def _takes_other_arguments(before: CompileKey, after: CompileKey) -> bool:
    """Whether a transform made two programs whose arguments cannot be compared: they are not those of the call."""
    if after.transform in ("jit", "pmap", "eager"):
        return False
    paths = [[argument.path for argument in key.arguments] for key in (before, after)]
    return paths[0] != paths[1] and any(path.startswith("arg[") for path in (*paths[0], *paths[1]))


def _over(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    for name, was, now in _changed(before.over, after.over):
        sentence = f"{name} {_values(was, now, absent='nothing')}"
        yield Difference(kind="transform", before=_text(was), after=_text(now), sentence=sentence)


def _transform_text(transform: str) -> str:
    name, _, direction = transform.partition(" ")
    if direction:
        return f"`{name}` ({direction} pass)"
    return "`jit` alone" if name == "jit" else f"`{name}`"


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
    name = f"`{_short(new)}`" + (f" ({where})" if where else "")
    if not same_definition(old, new):
        return Difference(kind="source", path=new.name, sentence=f"another {name}, with other code")
    number, was, now = _first_changed_line(old.lines, new.lines)
    again = f"{name} was defined again with other code"
    if number is None or old.version == new.version:
        return Difference(kind="source", path=new.name, sentence=again)
    count = _changed_lines(old.lines, new.lines)
    more = f", and {count - 1} more" if count > 1 else ""
    lines = f"line {number} of it `{was}` -> `{now}`" if was and now else _one_sided(number, was, now)
    # Two cells may each have a function of that name; one file has changed.
    said = again if new.place is not None and new.place.cell else f"{name} was edited"
    return Difference(kind="source", path=new.name, before=was, after=now, sentence=f"{said}: {lines}{more}")


def _one_sided(number: int, was: str, now: str) -> str:
    return f"line {number} of it `{now}` is new" if now else f"line {number} of it `{was}` is gone"


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
    for name, was, now in _changed(old.bound, new.bound):
        sentence = f"`{name}`, {_owner(new, name)}: {_values(was, now)}"
        yield Difference(kind="closure", path=name, before=_text(was), after=_text(now), sentence=sentence)


def _owner(new: FunctionKey, name: str) -> str:
    if new.kind == "partial":
        return f"which the partial of `{_short(new)}` holds"
    return f"whose method `{_short(new)}` is" if name == "self" else f"which `{_short(new)}` closes over"


def _defaults(old: FunctionKey, new: FunctionKey) -> Iterator[Difference]:
    for name, was, now in _changed(old.defaults, new.defaults):
        sentence = f"the default of `{name}` in `{_short(new)}`: {_values(was, now)}"
        yield Difference(kind="closure", path=name, before=_text(was), after=_text(now), sentence=sentence)


def _short(function: FunctionKey) -> str:
    """The name without the functions it is defined in; a method keeps its class."""
    return function.name.rsplit(".<locals>.", 1)[-1]


def _made_anew(old: FunctionKey, new: FunctionKey) -> Difference:
    moved = old.place is not None and new.place is not None and old.place.file != new.place.file
    if moved and old.place is not None and new.place is not None and new.kind in ("function", "lambda"):
        places = f"{_cell(old.place.cell, old.place.file)} -> {_cell(new.place.cell, new.place.file)}"
        sentence = f"`{_short(new)}` was defined again with the same code ({places})"
    else:
        again = "`{name}` was defined again with the same code"
        other = again if same_definition(old, new) else "another `{name}`, with the same code"
        sentence = _NEW_OBJECT.get(new.kind, other).format(name=_short(new), wrapper=new.wrapper)
    return Difference(kind="function", path=new.name, sentence=sentence)


def _cell(cell: str | None, file: str) -> str:
    return cell or os.path.basename(file)


_NEW_OBJECT = {
    "lambda": "a new `<lambda>` object with the same code",
    "partial": "a new `functools.partial` of `{name}` with the same values",
    "method": "a new bound method object of `{name}`",
    "object": "a new `{name}` object",
    "wrapper": "a new wrapper object (`{wrapper}`) around `{name}`",
}


# ---------------------------------------------------------------- named values


def _changed(
    old: Sequence[NamedText], new: Sequence[NamedText]
) -> Iterator[tuple[str, NamedText | None, NamedText | None]]:
    """Each name whose values differ, with both; None where a name is only on one side."""
    if old is new or old == new:
        return
    before, after = {item.name: item for item in old}, {item.name: item for item in new}
    for name in dict.fromkeys((*after, *before)):
        if not same_value(before.get(name), after.get(name)):
            yield name, before.get(name), after.get(name)


def _text(value: NamedText | None) -> str:
    return "" if value is None else value.text


def _values(was: NamedText | None, now: NamedText | None, *, absent: str = "unset") -> str:
    if was is None or now is None:
        return f"{was.text if was else absent} -> {now.text if now else absent}"
    if was.text != now.text:
        return f"{was.text} -> {now.text}"
    if now.unequal:
        return f"{now.text}, which is not equal to itself"
    if was.serial != now.serial and was.serial is not None and now.serial is not None:
        return f"another object that prints the same, {now.text}"
    return f"another value that prints the same, {now.text}"


def _statics(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    word = "parameter" if after.transform == "eager" else "static argument"
    for name, was, now in _changed(before.statics, after.statics):
        sentence = f"{word} `{name}`: {_values(was, now)}"
        yield Difference(kind="static", path=name, before=_text(was), after=_text(now), sentence=sentence)


def _config(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    for name, was, now in _changed(before.config, after.config):
        shown = _CONTEXT_NAMES.get(name.split("[")[0], f"configuration `{name}`")
        sentence = f"{shown}: {_values(was, now)}"
        yield Difference(kind="config", path=name, before=_text(was), after=_text(now), sentence=sentence)


def _options(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    for name, was, now in _changed(before.options, after.options):
        word = "jit's option" if name == "keep_unused" else "compiler option"
        sentence = f"{word} `{name}`: {_values(was, now)}"
        yield Difference(kind="option", path=name, before=_text(was), after=_text(now), sentence=sentence)


# ---------------------------------------------------------------- the whole call


def _keywords(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    if before.positional is None or after.positional is None or before.keywords == after.keywords:
        return
    gone = [name for name in before.keywords if name not in after.keywords]
    new = [name for name in after.keywords if name not in before.keywords]
    roots_before, roots_after = (_roots(key) for key in (before, after))
    for name in new:
        was = f"`{name}` is passed by keyword, before by position"
        sentence = was if name in roots_before else f"keyword argument `{name}` is new"
        yield Difference(kind="keywords", path=name, after=name, sentence=sentence)
    for name in gone:
        was = f"`{name}` is passed by position, before by keyword"
        sentence = was if name in roots_after else f"keyword argument `{name}` is gone"
        yield Difference(kind="keywords", path=name, before=name, sentence=sentence)


def _roots(key: CompileKey) -> set[str]:
    """The names of arguments: what stands before the first bracket or dot of each leaf, and the static ones."""
    traced = {argument.path.split("[")[0].split(".")[0] for argument in key.arguments}
    return traced | {static.name for static in key.statics}


def _outputs(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    found = [
        Difference(kind="out_shardings", path=name, before=_text(was), after=_text(now), sentence="")
        for name, was, now in _changed(before.outputs, after.outputs)
    ]
    for first, count in _alike(found):
        more = f" and {count - 1} more" if count > 1 else ""
        pair = placement_change(first.before or "unspecified", first.after or "unspecified")
        sentence = f"out_shardings of `{first.path}`{more}: {pair}"
        yield Difference(
            kind="out_shardings", path=first.path, before=first.before, after=first.after, sentence=sentence
        )


def _alike(found: list[Difference]) -> list[tuple[Difference, int]]:
    groups: dict[tuple[str, str], list[Difference]] = {}
    for difference in found:
        groups.setdefault((difference.before, difference.after), []).append(difference)
    return [(group[0], len(group)) for group in groups.values()]


def _donation(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    if before.donated == after.donated or {a.path for a in before.arguments} != {a.path for a in after.arguments}:
        return
    was, now = _paths(before.donated), _paths(after.donated)
    yield Difference(kind="donation", before=was, after=now, sentence=f"donated arguments: {was} -> {now}")


def _paths(paths: Sequence[str]) -> str:
    if not paths:
        return "none"
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(f"`{path}`" for path in paths[:3]) + more


def _context(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    if None not in (before.context, after.context) and before.context != after.context:
        yield Difference(kind="config", sentence=_UNNAMED)


def _context_mesh(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    was, now = before.context_mesh or "none", after.context_mesh or "none"
    if was != now:
        sentence = f"context mesh: {placement_change(was, now)}"
        yield Difference(kind="context mesh", before=was, after=now, sentence=sentence)


def _devices(before: CompileKey, after: CompileKey) -> Iterator[Difference]:
    was, now = before.devices, after.devices
    if was and now and was != now:
        yield Difference(kind="device", before=was, after=now, sentence=f"devices of the program: {was} -> {now}")
