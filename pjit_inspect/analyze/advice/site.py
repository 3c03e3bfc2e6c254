"""One place where a change of the source changes how a program splits its arrays.

Not its job: finding places (`sites`, `lines`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.advice import AdviceKind
from pjit_inspect.model.report.edit import Edit, EditKind
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.model.words.sentence import Sentence

SMALLEST = 0.02
"""Arrays of fewer bytes than this share of the largest one's are no place to change."""

SiteKind = Literal["value", "request", "argument", "result"]
Place = tuple[EditKind, int, int]
"""The kind of an edit, and its index and number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place to change.

    Attributes:
      kind: what it is.
      words: its name for a reader.
      places: the edits that a change of it makes, the gradients' last.
      arrays: the values it is about, each with how it is split, or asked to be.
      fixed: the one sharding to propose of each array, for places that are many arrays; () for any.
      ops: the operations that make the values, in program order; () for arguments and results.
      gradients: number of the places that only bind gradients.
      source: the user's frames of its line, innermost first.
      count: number of arrays that it is about.
      is_on_purpose: whether a constraint asks for it on an argument or a result itself: to change it is another layout.
      fact, sentence, change: the kind of the fact that its one change is a remedy for, and how to say both; "" for any
        other place.
    """

    kind: SiteKind
    words: Sentence
    places: tuple[Place, ...]
    arrays: tuple[tuple[int, Dimensions], ...]
    fixed: tuple[Dimensions, ...] = ()
    ops: tuple[int, ...] = ()
    gradients: int = 0
    source: tuple[Frame, ...] = ()
    count: int = 1
    is_on_purpose: bool = False
    fact: AdviceKind | Literal[""] = ""
    sentence: Sentence | Literal[""] = ""
    change: str = ""

    @property
    def value(self) -> int:
        """The first of its arrays."""
        return self.arrays[0][0]

    @property
    def touched(self) -> frozenset[tuple[str, int]]:
        """The arguments, results and operations that a change of it edits."""
        return frozenset((kind if kind in ("argument", "result") else "", index) for kind, index, _ in self.places)

    @property
    def now(self) -> Dimensions:
        """The spec of the first of its arrays."""
        return self.arrays[0][1]

    def edits(self, spec: Dimensions | None) -> tuple[Edit, ...]:
        """The change of it to a sharding; None leaves a constraint out."""
        specs = self.fixed or (spec,) * len(self.places)
        return tuple(
            Edit(kind="remove" if kind == "respec" and own is None else kind, index=index, number=number, spec=own)
            for (kind, index, number), own in zip(self.places, specs, strict=True)
        )

    def pairs(self, spec: Dimensions | None) -> Iterator[tuple[int, Dimensions, Dimensions]]:
        """Each array, how it is split now, and how the change splits it."""
        for number, (value, now) in enumerate(self.arrays):
            yield value, now, self.fixed[number] if self.fixed else ((),) * len(now) if spec is None else spec


def site_of_edits(own: EditedProgram, edits: Sequence[Edit], **said: Any) -> Site:
    """The place of one change inside a program that is known already; `said` are other fields of the place."""
    values = []
    for edit in edits:
        op = own.program.ops[edit.index]
        values.append((op.results if edit.kind == "constrain" else op.operands)[edit.number])
    return Site(
        kind="value",
        places=tuple((edit.kind, edit.index, edit.number) for edit in edits),
        arrays=tuple((value, own.spec(value)) for value in values),
        fixed=tuple(edit.spec or () for edit in edits),
        ops=tuple(sorted({edit.index for edit in edits})),
        **said,
    )


def is_large(own: EditedProgram, value: int, times: int = 1) -> bool:
    """True if so many arrays like a value are worth a look."""
    return own.whole_bytes(value) * times >= SMALLEST * own.largest_bytes


def site_names(program: ShardedProgram, sites: Sequence[Site]) -> list[str]:
    """A name for each place of a line, all different: "train.py:6 dot_general".

    Those of a line with several callers have the line of the call, too, and what is then alike a number.
    """
    ops = [program.ops[site.ops[0]] for site in sites]
    names = [f"{op.frames[0].where} {op.kind}" for op in ops]
    alike: dict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(names):
        alike[name].append(index)
    for rivals in alike.values():
        calls = zip(*(ops[index].frames[1:] for index in rivals), strict=False)
        callers = next((own for own in calls if len({frame.where for frame in own}) > 1), ())
        for index, frame in zip(rivals, callers, strict=False):
            names[index] += f" called in {frame.where}"
    several = Counter(names)
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        seen[name] += 1
        names[index] = f"{name} #{seen[name]}" if several[name] > 1 else name
    return names
