"""The first of XLA's passes after which two programs differ, and what differs there.

Not its job: the differences at the end (`analyze.diff`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pjit_inspect.model.report.passes import Pass, PassTable
from pjit_inspect.model.words.sentence import Sentence, say


def first_apart(before: PassTable, after: PassTable) -> Sentence:
    """The first pass after which two programs differ, in a sentence.

    Programs are taken for equal if they have the same operations on the same shapes.
    """
    if before.rows and after.rows and before[0].looks_before != after[0].looks_before:
        counts = before[0].instructions_before, after[0].instructions_before
        return say("XLA's passes: the programs differ before the first pass ({} and {} instructions)", *_texts(counts))
    for place, (one, two) in enumerate(zip(before, after, strict=False)):
        if one.name != two.name:
            later = {row.name for row in before[place:]}
            only = ("after", two) if two.name not in later else ("before", one)
            return say("XLA's passes: {}; then {} changes the program {} only", _same(place), only[1].name, only[0])
        if one.looks_after != two.looks_after:
            return say(
                "XLA's passes: {}; first apart after {} (pass {} before, {} after): {}",
                _same(place), one.name, str(one.number), str(two.number), ", ".join(_differences(one, two)),
            )  # fmt: skip
    if len(before) != len(after):
        longer, which = (after, "after") if len(after) > len(before) else (before, "before")
        place = min(len(before), len(after))
        return say("XLA's passes: {}; then {} changes the program {} only", _same(place), longer[place].name, which)
    return say("XLA's passes: both programs have the same operations after each of {} passes", str(len(before)))


def _same(count: int) -> str:
    return f"the same through {count} pass{'es' * (count != 1)}"


def _differences(one: Pass, two: Pass) -> Iterator[str]:
    kinds = dict.fromkeys(kind for row in (one, two) for kind, _ in row.collectives_after)
    figures = {kind: tuple(dict(row.collectives_after).get(kind, 0) for row in (one, two)) for kind in kinds}
    figures |= {
        name: (getattr(one, f"{name}_after"), getattr(two, f"{name}_after"))
        for name in ("instructions", "fusions", "copies")
    }
    differ = {name: counts for name, counts in figures.items() if counts[0] != counts[1]}
    for name, counts in differ.items():
        yield "{} {} and {}".format(name, *_texts(counts))
    if not differ:
        yield "the shapes of the same number of instructions"


def _texts(counts: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"{count:,}" for count in counts)
