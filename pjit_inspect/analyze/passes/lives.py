"""Follows every collective of a program through XLA's passes: made, combined, changed, moved, removed.

Not its job: which collective became which (`analyze.passes.join`), or reading programs (`analyze.passes.steps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from pjit_inspect.analyze.passes.join import JoinedSites, is_of_same, join
from pjit_inspect.analyze.passes.steps import PassSite, Path, Snapshot
from pjit_inspect.model.report.passes import EventKind, Life, LifeEvent, Pass

Describe = Callable[[Path], str]
"""Words for an operation."""


def find_passes(steps: Sequence[Snapshot]) -> tuple[Pass, ...]:
    """A row for each step that changed the program; the first step is the program before all passes."""
    return tuple(
        Pass(
            number=step.number,
            name=step.name,
            pipeline=step.pipeline,
            instructions_before=before.instructions,
            instructions_after=step.instructions,
            collectives_before=before.collectives,
            collectives_after=step.collectives,
            fusions_before=before.fusions,
            fusions_after=step.fusions,
            copies_before=before.copies,
            copies_after=step.copies,
        )
        for before, step in pairwise(steps)
    )


def find_lives(steps: Iterable[Snapshot], describe: Describe) -> tuple[Life, ...]:
    """The life of every collective: first those of the last program, in its order, then those removed."""
    follower = _Follower(describe)
    for step in steps:
        follower.take(step)
    return follower.lives()


class _Follower:
    """All lives, as far as they are known after one step."""

    def __init__(self, describe: Describe) -> None:
        self._describe = describe
        self._events: dict[PassSite, tuple[LifeEvent, ...]] = {}
        self._removed: list[Life] = []
        self._is_first = True

    def take(self, step: Snapshot) -> None:
        """Follows the collectives to the next step."""
        joined = join(tuple(self._events), step.sites)
        for site in joined.gone:
            self._removed.append(_life(site, (*self._events[site], self._end(site, step, joined)), is_removed=True))
        now: dict[PassSite, tuple[LifeEvent, ...]] = {}
        for site in step.sites:
            parents = joined.parents[site]
            past = [event for parent in parents for event in self._events[parent]]
            events = self._changes(site, parents, step) if parents else (self._beginning(site, step, joined),)
            now[site] = (*past, *events)
        self._events, self._is_first = now, False

    def lives(self) -> tuple[Life, ...]:
        return (*(_life(site, events) for site, events in self._events.items()), *self._removed)

    def _event(self, step: Snapshot, kind: EventKind, words: str, sites: Sequence[PassSite] = ()) -> LifeEvent:
        operations = tuple(dict.fromkeys(path for site in sites for path in site.paths))
        return LifeEvent(
            number=step.number,
            pass_name=step.name,
            kind=kind,
            words=words,
            operations=tuple(map(self._describe, operations)),
            ids=tuple(path[-1] for path in operations),
        )

    def _beginning(self, site: PassSite, step: Snapshot, joined: JoinedSites) -> LifeEvent:
        if self._is_first:
            return self._event(step, "made", f"{site.kind} of the program itself", (site,))
        if site in joined.twins:
            return self._event(step, "copied", f"copied from another {site.kind} of the same operation", (site,))
        if site.paths:
            return self._event(step, "made", f"{site.kind} made for", (site,))
        return self._event(step, "unknown", f"{site.kind} appears; unknown from what, as XLA gave it no operation")

    def _changes(self, site: PassSite, parents: Sequence[PassSite], step: Snapshot) -> tuple[LifeEvent, ...]:
        first, found = parents[0], []
        kinds = tuple(dict.fromkeys(parent.kind for parent in parents))
        if len(parents) > 1:
            found.append(self._event(step, "combined", f"{len(parents)} combined into one", parents))
        elif len(site.shapes) > len(first.shapes):
            found.append(self._event(step, "unknown", "combined with others, unknown which"))
        elif site.shapes != first.shapes:
            words = f"moves {_shapes(site)} instead of {_shapes(first)}"
            found.append(self._event(step, "changed", words))
        if kinds != (site.kind,):
            found.append(self._event(step, "changed", f"{' and '.join(kinds)} became {site.kind}"))
        if site.is_async != first.is_async:
            words = "made asynchronous" if site.is_async else "no longer asynchronous"
            found.append(self._event(step, "asynchronous", words))
        if site.depth != first.depth:
            words = "moved out of a loop" if site.depth < first.depth else "moved into a loop"
            found.append(self._event(step, "moved", words))
        return tuple(found)

    def _end(self, site: PassSite, step: Snapshot, joined: JoinedSites) -> LifeEvent:
        """Removed, if nothing in the program after the pass can be what became of it."""
        if any(is_of_same(site, other) for other in step.sites):
            return self._event(step, "unknown", "gone; unknown whether into another of the same operation")
        if not joined.is_whole:
            return self._event(step, "unknown", "gone; unknown whether into one that appears in the same pass")
        return self._event(step, "removed", "removed")


def _shapes(site: PassSite) -> str:
    return ", ".join(site.shapes)


def _life(site: PassSite, events: Sequence[LifeEvent], *, is_removed: bool = False) -> Life:
    """A life; events of one pass that differ only in their operations become one."""
    merged: dict[tuple[int, str], LifeEvent] = {}
    for event in sorted(events, key=lambda one: one.number):
        known = merged.get((event.number, event.words))
        if known is not None:
            event = replace(known, operations=known.operations + event.operations, ids=known.ids + event.ids)
        merged[event.number, event.words] = event
    return Life(
        name=site.name, kind=site.kind, events=tuple(merged.values()), is_removed=is_removed, held_by=site.held_by
    )
