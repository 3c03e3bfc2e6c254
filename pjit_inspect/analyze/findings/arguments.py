"""Arguments that cost more than necessary: kept beside their replacements, or copied on every call.

Not its job: those that every device holds in full (`analyze.advice`), or collectives inside the program.
"""

from __future__ import annotations

from collections.abc import Iterator

from pjit_inspect.analyze.advice.updates import root_of
from pjit_inspect.analyze.findings.candidate import Candidate, Remedy, Subject
from pjit_inspect.analyze.recompiles.resharded import find_resharded, maker_of
from pjit_inspect.model.words.sentence import Sentence, bytes_in_words, code, joined, name, place, say

_NOTICEABLE = 0.05
_MOST_NAMED = 3


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
    )


# ---------------------------------------------------------------- names


def _tail(label: str) -> str:
    """The part of a path after the argument's name: `['w1']`."""
    return label[len(root_of(label)) :]


def _named(labels: list[str]) -> Sentence:
    shown = list(map(name, labels[: _MOST_NAMED if len(labels) > _MOST_NAMED + 1 else None]))
    left = len(labels) - len(shown)
    return joined([*shown, f"{left} more"]) if left else joined(shown)
