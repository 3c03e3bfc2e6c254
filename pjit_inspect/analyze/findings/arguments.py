"""Arguments that cost more than necessary: held in full, kept beside their replacements, or copied on every call.

Not its job: whether a remedy helps (`analyze.findings.findings`), or collectives inside the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pjit_inspect.analyze.advice.placement import counterparts
from pjit_inspect.analyze.advice.updates import root_of
from pjit_inspect.analyze.findings.candidate import Candidate, Remedy, Subject
from pjit_inspect.analyze.recompiles.resharded import find_resharded, maker_of
from pjit_inspect.analyze.suggest.sizes import bytes_as, local_bytes
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.model.words.sentence import Sentence, bytes_in_words, code, joined, name, place, say, spec

_NOTICEABLE = 0.05
_MOST_NAMED = 3


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
        by_root.setdefault(root_of(program.inputs[split.index].label), []).append(split)
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
    specs = {boundary.label: program.values[boundary.value] for boundary in program.inputs if boundary.label}
    whole = {label for label, value in specs.items() if value.shape and not value.axes}
    likes = counterparts({label: (value.shape, bool(value.axes)) for label, value in specs.items()}, whole)
    for index, boundary in enumerate(program.inputs):
        if boundary.label in likes:
            like = likes[boundary.label]
            yield _Split(index=index, wanted=specs[like].spec, like=like)
        elif boundary.label in whole and (asked := _only_use(program, boundary.value)) is not None:
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
    """Trees of arguments that come out with new values, of the same form, while the old ones stay."""
    changed = subject.replaced
    size = sum(own.bytes_per_device or 0 for tree in changed.values() for own in tree)
    if changed and size > _NOTICEABLE * subject.held_bytes:
        roots = list(changed)
        one = len(roots) == 1
        what, old = ("the argument comes", "the old one is") if one else ("the arguments come", "the old ones are")
        old_ones = "the old one" if one else "the old ones"
        donated = code(f"donate_argnames=({', '.join(map(repr, roots))}{',' if one else ''})")
        given = say("give {} {} (or the number in {})", code("jax.jit"), donated, code("donate_argnums"))
        if subject.data.transform == "pmap":
            given = say(
                "give {} {} in {}", code("jax.pmap"), "its number" if one else "their numbers", code("donate_argnums")
            )
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
            remedies=(Remedy(words=say("if nobody reads {} after the call, {}", old_ones, given)),),
            about=("donation",),
        )


# ---------------------------------------------------------------- copied on every call


def resharded_arguments(subject: Subject) -> Iterator[Candidate]:
    """Arguments that arrive with another sharding than the program takes."""
    # Nobody can name the mesh of `pmap`, to place arrays on it.
    found = () if subject.data.transform == "pmap" else find_resharded(subject.data)
    layouts = {layout.path: layout for layout in subject.data.inputs}
    if not found:
        return
    size = sum(layouts[one.path].bytes_per_device or 0 for one in found if one.path in layouts)
    given = list(dict.fromkeys(one.given for one in found))
    roots = list(dict.fromkeys(root_of(one.path) for one in found))
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


def _tail(label: str) -> str:
    """The part of a path after the argument's name: `['w1']`."""
    return label[len(root_of(label)) :]


def _named(labels: list[str]) -> Sentence:
    shown = list(map(name, labels[: _MOST_NAMED if len(labels) > _MOST_NAMED + 1 else None]))
    left = len(labels) - len(shown)
    return joined([*shown, f"{left} more"]) if left else joined(shown)
