"""Arguments that cost more than they must: held in full, kept beside what replaces them, or copied on every call.

Not its job: whether a remedy helps (`analyze.findings.findings`), or collectives inside the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.findings.candidate import Candidate, Remedy, Subject
from pjit_inspect.analyze.program.phases import LATER, find_phase
from pjit_inspect.analyze.recompiles.resharded import find_resharded, maker_of
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.sizes import bytes_as, local_bytes
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.program.spec import Dimensions, spec_text
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.model.words.byte_words import bytes_in_words
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, place, say, spec

__all__ = ["not_donated", "replicated_arguments", "resharded_arguments"]

_NOTICEABLE = 0.05
_MOST_NAMED = 3
_ROOT = re.compile(r"[\[.]")
_RESULT = re.compile(r"^result(\[\d+\])?")
_UPDATES = frozenset(("dynamic_update_slice", "scatter"))
_STEPS = frozenset(("add", "subtract", "multiply", "select", "convert", "copy", "reshape", "transpose"))
_DEEPEST = 64
"""Of deeper paths only as many endings are compared."""


# ---------------------------------------------------------------- held in full


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """An argument that is held in full, and how it may be split: as another of its shape and path, or as it is used."""

    index: int
    wanted: Dimensions
    like: str


def replicated_arguments(subject: Subject) -> Iterator[Candidate]:
    """Large arguments on every device in full whose counterpart, or whose only use, is split."""
    names = subject.copy
    if names is None:
        return
    program = names.program
    by_root: dict[str, list[_Split]] = {}
    for split in _splittable(program):
        by_root.setdefault(_root(program.inputs[split.index].label), []).append(split)
    for root, splits in by_root.items():
        saved = sum(_saved(program, split) for split in splits)
        if saved > _NOTICEABLE * subject.held_bytes:
            yield _in_full(subject, program, root, splits, saved)


def _in_full(subject: Subject, program: ShardedProgram, root: str, splits: list[_Split], saved: int) -> Candidate:
    size = sum(local_bytes(program, program.inputs[split.index].value) for split in splits)
    own = [program.inputs[split.index].label for split in splits]
    first = splits[0]
    pairs = [say("{} as {}", name(own[n]), spec(spec_text(split.wanted))) for n, split in enumerate(splits)]
    more = f" and {len(pairs) - _MOST_NAMED} more likewise" if len(pairs) > _MOST_NAMED else ""
    asked = tuple(edit for split in splits for edit in _edits(program, split))
    return Candidate(
        kind="replicated_argument",
        is_proven=False,
        sentence=say(
            "{} {} held in full by every device, {}: {} is {}",
            _named(own),
            "is" if len(own) == 1 else "are",
            bytes_in_words(size),
            name(first.like) if first.like else "its only use",
            spec(spec_text(first.wanted)),
        ),
        source=(subject.data.user_frame,) if subject.data.user_frame else (),
        unit="held",
        cost_bytes=saved,
        remedies=(Remedy(words=say("pass {}{}", joined([*pairs[:_MOST_NAMED]], comma=", "), more), edits=asked),),
        about=("argument", root),
    )


def _splittable(program: ShardedProgram) -> Iterator[_Split]:
    split = {
        (_tail(boundary.label), program.values[boundary.value].shape): boundary
        for boundary in program.inputs
        if _tail(boundary.label) and program.values[boundary.value].axes
    }
    for index, boundary in enumerate(program.inputs):
        value = program.values[boundary.value]
        if value.axes or not value.shape or not boundary.label:
            continue
        peer = next(
            (
                other
                for (tail, shape), other in split.items()
                if shape == value.shape
                and boundary.label.endswith(tail)
                and _root(other.label) != _root(boundary.label)
            ),
            None,
        )
        if peer is not None:
            yield _Split(index=index, wanted=program.values[peer.value].spec, like=peer.label)
        elif (asked := _only_use(program, boundary.value)) is not None:
            yield _Split(index=index, wanted=asked, like="")


def _only_use(program: ShardedProgram, value: int) -> Dimensions | None:
    """The sharding that every use of a value asks for; None where one takes it as it is."""
    users = [program.ops[index] for index, _ in program.users.get(value, ())]
    asked = {program.values[user.results[0]].spec for user in users if user.kind in REQUESTS}
    if not users or any(user.kind not in REQUESTS for user in users) or len(asked) != 1:
        return None
    wanted = asked.pop()
    return wanted if any(wanted) else None


def _edits(program: ShardedProgram, split: _Split) -> Iterator[Edit]:
    """The argument, and the result that is the same argument of the next call."""
    yield Edit(kind="argument", index=split.index, spec=split.wanted)
    own = program.inputs[split.index]
    for index, boundary in enumerate(program.outputs):
        same = program.values[boundary.value].shape == program.values[own.value].shape
        if same and boundary.spec is not None and not any(boundary.spec) and boundary.label.endswith(_tail(own.label)):
            yield Edit(kind="result", index=index, spec=split.wanted)


def _saved(program: ShardedProgram, split: _Split) -> int:
    value = program.inputs[split.index].value
    return local_bytes(program, value) - bytes_as(program, value, split.wanted)


# ---------------------------------------------------------------- kept beside what replaces them


def not_donated(subject: Subject) -> Iterator[Candidate]:
    """Trees of arguments that come out changed, of the same shapes and shardings, while the old ones stay."""
    names = subject.names or subject.copy
    if names is None:
        return
    outputs, results = subject.data.outputs, _by_ending(subject.data.outputs)
    groups = {
        root: pairs
        for root, layouts in _by_root(subject.data.inputs).items()
        if (pairs := _replaced(layouts, outputs, results))
    }
    changed = {root: pairs for root, pairs in groups.items() if _is_update(names, pairs)}
    size = sum(own.bytes_per_device or 0 for pairs in changed.values() for own, _ in pairs)
    if changed and size > _NOTICEABLE * subject.held_bytes:
        roots = list(changed)
        one = len(roots) == 1
        what, old = ("the argument comes", "the old one is") if one else ("the arguments come", "the old ones are")
        donated = f"donate_argnames=({', '.join(map(repr, roots))}{',' if one else ''})"
        frame = subject.data.defined_at or subject.data.user_frame
        yield Candidate(
            kind="not_donated",
            sentence=say(
                "{}: {} back changed, of the same shapes and shardings, and {} not given up: when the call ends, "
                "each device holds {} twice",
                joined(list(map(name, roots))),
                what,
                old,
                bytes_in_words(size),
            ),
            source=(frame,) if frame else (),
            unit="held",
            cost_bytes=size,
            remedies=(
                Remedy(
                    words=say(
                        "if nobody reads {} after the call, give {} {} (or the number in {})",
                        "the old one" if one else "the old ones",
                        code("jax.jit"),
                        code(donated),
                        code("donate_argnums"),
                    )
                ),
            ),
            about=("donation",),
        )


def _by_root(inputs: Sequence[ArrayLayout]) -> dict[str, list[ArrayLayout]]:
    """The arguments by the name of the tree they belong to, without single numbers and what is not read."""
    found: dict[str, list[ArrayLayout]] = {}
    for layout in inputs:
        if layout.global_shape and layout.kept:
            found.setdefault(_root(layout.path), []).append(layout)
    return found


def _by_ending(outputs: Sequence[ArrayLayout]) -> dict[str, list[int]]:
    """The results that may replace an argument, by every ending of their paths; "" for one that has none."""
    found: dict[str, list[int]] = {}
    for number, out in enumerate(outputs):
        if out.aliases is None and out.sharding is not None:
            for place in list(_ROOT.finditer(out.path))[-_DEEPEST:]:
                found.setdefault(out.path[place.start() :], []).append(number)
            if not _RESULT.sub("", out.path):
                found.setdefault("", []).append(number)
    return found


def _replaced(
    layouts: list[ArrayLayout], outputs: Sequence[ArrayLayout], results: Mapping[str, Sequence[int]]
) -> list[tuple[ArrayLayout, int]]:
    """Each argument of a tree with the result that replaces it; [] unless all have one and none is donated."""
    pairs: list[tuple[ArrayLayout, int]] = []
    used: set[int] = set()
    for own in layouts:
        alike = (k for k in results.get(_tail(own.path), ()) if k not in used and _is_like(outputs[k], own))
        number = next(alike, None)
        if own.donated or number is None:
            return []
        used.add(number)
        pairs.append((own, number))
    return pairs


def _is_like(result: ArrayLayout, own: ArrayLayout) -> bool:
    if (result.dtype, result.global_shape) != (own.dtype, own.global_shape) or own.sharding is None:
        return False
    assert result.sharding is not None
    return (own.sharding.tiles, own.sharding.tile_of) == (result.sharding.tiles, result.sharding.tile_of)


def _is_update(names: ValueNames, pairs: Sequence[tuple[ArrayLayout, int]]) -> bool:
    """Whether the results are the arguments, changed: by a step of training, or written in at a place."""
    program = names.program
    arguments = {program.inputs[k].label: boundary.value for k, boundary in enumerate(program.inputs)}
    if any(number >= len(program.outputs) for _, number in pairs):
        return False
    is_trained = any(find_phase(op.op_name) in LATER for op in program.ops)
    return all(
        own.path in arguments and _is_made_of(names, program.outputs[number].value, arguments[own.path], is_trained)
        for own, number in pairs
    )


def _is_made_of(names: ValueNames, value: int, argument: int, is_trained: bool) -> bool:
    """Whether a value is an argument with something written into it, or in training added to it."""
    program, border, seen = names.program, [value], set[int]()
    for _ in range(64):
        if not border:
            return False
        index = names.seen_through(border.pop(0))
        if index == argument:
            return index != names.seen_through(value)
        maker = program.values[index].op
        op = None if maker is None else program.ops[maker]
        if op is None or index in seen:
            continue
        seen.add(index)
        if op.kind in _UPDATES:
            border.append(op.operands[0])
        elif is_trained and op.kind in _STEPS:
            border += op.operands
    return False


# ---------------------------------------------------------------- copied on every call


def resharded_arguments(subject: Subject) -> Iterator[Candidate]:
    """Arrays that arrive otherwise than the program takes them."""
    found = find_resharded(subject.data)
    layouts = {layout.path: layout for layout in subject.data.inputs}
    if not found:
        return
    size = sum(layouts[one.path].bytes_per_device or 0 for one in found if one.path in layouts)
    given = list(dict.fromkeys(one.given for one in found))
    roots = list(dict.fromkeys(_root(one.path) for one in found))
    number = f"{len(found)} argument{'s' * (len(found) != 1)}"
    where = say(" ({})", place(given[0])) if len(given) == 1 else Sentence()
    maker = maker_of(subject.data, [one.path for one in found])
    once = say("place them once before: {}", code(f"{roots[0]} = jax.device_put({roots[0]}, shardings)"))
    made = say("{} returned them: {}", name(maker), code(f"jax.jit({maker}, out_shardings=shardings)"))
    yield Candidate(
        kind="resharded_argument",
        sentence=say(
            "{} of {} {} otherwise than the program takes {}{}: each call that gets them so copies {} to every device",
            number,
            joined(list(map(name, roots[:_MOST_NAMED]))),
            "arrive" if len(found) != 1 else "arrives",
            "them" if len(found) != 1 else "it",
            where,
            bytes_in_words(size),
        ),
        source=(subject.data.user_frame,) if subject.data.user_frame else (),
        unit="copied",
        cost_bytes=size,
        remedies=(
            Remedy(
                words=say("{}, as in {} as {}", made if maker else once, name(found[0].path), code(found[0].wanted))
            ),
        ),
        about=("resharded",),
    )


# ---------------------------------------------------------------- names


def _root(label: str) -> str:
    """The argument's own name: `params` of `params['w1']`."""
    return label[: _root_ends(label)]


def _tail(label: str) -> str:
    """What follows it: `['w1']`."""
    return label[_root_ends(label) :]


def _root_ends(label: str) -> int:
    found = _ROOT.search(label)
    return found.start() if found else len(label)


def _named(labels: list[str]) -> Sentence:
    shown = list(map(name, labels[: _MOST_NAMED if len(labels) > _MOST_NAMED + 1 else None]))
    left = len(labels) - len(shown)
    return joined([*shown, f"{left} more"]) if left else joined(shown)
