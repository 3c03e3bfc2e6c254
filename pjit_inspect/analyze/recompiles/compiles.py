"""Compiles with their reasons, and the making of a pattern from some of them, for all searches for patterns.

Not its job: any pattern (`analyze.recompiles.patterns`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pjit_inspect.model.record.compile_key import ArgumentKey, CompileKey, FedBack
from pjit_inspect.model.record.ledger import Pattern, PatternKind
from pjit_inspect.model.record.reason import Difference, Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, say

SEVERAL = 3
"""This many values or compiles count as a habit."""

MAX_VALUES = 64
"""At most this many values are listed."""

_UNSEEN = CompileKey(serial=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compile:
    """One record of a log with its reason; `index` is its position there, and `sent` counts what it sends."""

    index: int
    data: RecordData
    reason: Reason
    sent: Callable[[], int | None] = field(default=lambda: None)

    @property
    def key(self) -> CompileKey:
        """The key JAX looked up; an empty one where that was not seen."""
        return self.data.key or _UNSEEN

    @property
    def seconds(self) -> float:
        """Seconds of all stages (measured); stages that JAX skipped count 0."""
        timings = self.data.timings
        return (timings.trace_s or 0.0) + (timings.lower_s or 0.0) + (timings.compile_s or 0.0)

    def argument(self, path: str) -> ArgumentKey | None:
        """The argument of this path."""
        return next((argument for argument in self.key.arguments if argument.path == path), None)

    def fed(self, path: str) -> FedBack | None:
        """The argument of this path as a result of an earlier program of the function; None if it is none."""
        return next((back for back in self.key.fed if back.path == path), None)


Found = list[tuple[Compile, Difference]]
"""Differences, each with the compile whose reason has it, oldest first."""


def make_pattern(
    kind: PatternKind, found: Found, sentence: Sentence, advice: Sentence, *, values: Iterable[str] = (),
    buckets: tuple[int, ...] = (),
) -> Pattern:  # fmt: skip
    """A pattern made of some differences; its compiles are the ones that have them."""
    compiles = list({id(one): one for one, _ in found}.values())
    newest = compiles[-1].data
    return Pattern(
        kind=kind,
        name=newest.name,
        where=newest.user_frame,
        path=found[0][1].path,
        compiles=len(compiles),
        cost_s=sum(one.seconds for one in compiles),
        values=tuple(values)[:MAX_VALUES],
        buckets=buckets,
        sentence=sentence,
        advice=advice,
    )


def advise(template: str, *parts: Phrase | str | int) -> Sentence:
    """An advice with each "{}" replaced by a part.

    Text in backticks is one phrase: "`{}`" the part itself, "`jnp.asarray({}, dtype)`" code with the part's text.
    """
    left = iter(parts)
    pieces: list[Phrase | Sentence] = []
    for number, piece in enumerate(template.split("`")):
        mine = [next(left) for _ in range(piece.count("{}"))]
        if number % 2 == 0:
            pieces.append(say(piece, *mine))
        elif piece == "{}" and isinstance(mine[0], Phrase):
            pieces.append(mine[0])
        else:
            pieces.append(code(piece.format(*mine)))
    return joined(pieces, "", comma="")


def values_of(found: Found) -> list[str]:
    """Both sides of each difference, each once, in the order they appeared."""
    return list(dict.fromkeys(value for _, d in found for value in (d.before, d.after) if value))
