"""Follows every collective of a program through XLA's passes: made, combined, changed, moved, removed.

Not its job: which collective became which (`analyze.passes.join`), or reading programs (`analyze.passes.steps`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.analyze.passes.join import JoinedSites, is_of_same, join
from pjit_inspect.analyze.passes.kernels import KernelFollower
from pjit_inspect.analyze.passes.steps import PassSite, Path, Snapshot
from pjit_inspect.model.report.passes import EventKind, Life, LifeEvent, Pass, Stage, StagedCollective

Describe = Callable[[Path], str]
"""Words for an operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassHistory:
    """All that XLA's passes did to one program; its parts are as in `PassTable`, `last` is the last step."""

    rows: tuple[Pass, ...]
    lives: tuple[Life, ...]
    stages: tuple[Stage, ...]
    kernels: tuple[Life, ...]
    last: Snapshot | None


def find_history(steps: Iterable[Snapshot], describe: Describe) -> PassHistory:
    """The passes, lives and stages; the first step is the program before all passes. One step is held at a time.

    Lives are first those of the last program, in its order, then those removed.
    """
    follower, kernels = _Follower(describe), KernelFollower(describe)
    rows: list[Pass] = []
    before: Snapshot | None = None
    for step in steps:
        did = follower.take(step)
        kernels.take(step)
        if before is not None:
            rows.append(_pass(before, step, did))
        before = step
    return PassHistory(
        rows=tuple(rows), lives=follower.lives(), stages=follower.stages(), kernels=kernels.lives(), last=before
    )


def _pass(before: Snapshot, step: Snapshot, did: str) -> Pass:
    return Pass(
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
        did=did,
        looks_before=before.looks,
        looks_after=step.looks,
    )


class _Follower:
    """All lives, as far as they are known after one step.

    `_places` has the places, in the last stage, of those that each collective was made of; `_gone` the same for those
    that are removed.
    """

    def __init__(self, describe: Describe) -> None:
        self._describe = describe
        self._events: dict[PassSite, tuple[LifeEvent, ...]] = {}
        self._removed: list[Life] = []
        self._stages: list[tuple[int, tuple[PassSite, ...], tuple[tuple[int, ...], ...]]] = []
        self._places: dict[PassSite, tuple[int, ...]] = {}
        self._gone: list[tuple[int, tuple[int, ...]]] = []
        self._is_first = True

    def take(self, step: Snapshot) -> str:
        """Follows the collectives to the next step; what it did to them, in words."""
        joined = join(tuple(self._events), step.sites)
        said: dict[str, Counter[str]] = defaultdict(Counter)
        results = Counter[str]()
        for site in joined.gone:
            end = self._end(site, step, joined)
            said["removed" if end.kind == "removed" else "gone, unknown where"][site.kind] += 1
            self._removed.append(_life(site, (*self._events[site], end), is_removed=True))
            self._gone.append((len(self._stages) - 1, self._places[site]))
        now: dict[PassSite, tuple[LifeEvent, ...]] = {}
        places: dict[PassSite, tuple[int, ...]] = {}
        for site in step.sites:
            parents = joined.parents[site]
            past = [event for parent in parents for event in self._events[parent]]
            events = self._changes(site, parents, step) if parents else (self._beginning(site, step, joined),)
            now[site] = (*past, *events)
            places[site] = tuple(sorted({place for parent in parents for place in self._places[parent]}))
            for event in events:
                is_joint = event.kind == "combined"
                said["combined into" if is_joint else _short(event)][site.kind] += len(parents) if is_joint else 1
                results[site.kind] += is_joint
        self._events, self._is_first, self._places = now, False, places
        if said:
            self._stages.append((step.number, step.sites, tuple(places[site] for site in step.sites)))
            self._places = {site: (place,) for place, site in enumerate(step.sites)}
        joint = said.pop("combined into", Counter())
        words = [f"{_several(count, kind)} combined into {results[kind]}" for kind, count in joint.items()]
        for what, counts in said.items():
            kind, became, other = what.rpartition(" became ")
            # What it became says of which kind it was.
            counts = Counter({kind: counts.total()}) if became else counts
            each = ", ".join(_several(count, kind) for kind, count in counts.most_common())
            words.append(f"{each}{became}{other}" if became else f"{each} {what}")
        return ", ".join(words)

    def lives(self) -> tuple[Life, ...]:
        """The lives of those that are there, then of those removed."""
        return (*(_life(site, events) for site, events in self._events.items()), *self._removed)

    def stages(self) -> tuple[Stage, ...]:
        """All collectives after each step that changed one."""
        ends = [[-1] * len(sites) for _, sites, _ in self._stages]
        last = [(len(ends) - 1, places) for places in self._places.values()]
        for life, (stage, places) in enumerate([*last, *self._gone]):
            for place in places:
                ends[stage][place] = life
        for stage in range(len(ends) - 1, 0, -1):
            for place, parents in enumerate(self._stages[stage][2]):
                for parent in parents:
                    ends[stage - 1][parent] = ends[stage][place]
        return tuple(
            Stage(
                number=number,
                collectives=tuple(
                    StagedCollective(name=site.name, kind=site.kind, parents=parents, life=life)
                    for site, parents, life in zip(sites, before, own, strict=True)
                ),
            )
            for (number, sites, before), own in zip(self._stages, ends, strict=True)
        )

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
        elif len(site.shapes) > len(first.shapes) and site.kind == first.kind == "all-to-all":
            # Its array as one piece for each device.
            found.append(self._event(step, "changed", f"moves {len(site.shapes)} pieces instead of {_shapes(first)}"))
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
        """Removed, if nothing in the program after the pass can be what became of it.

        One that is as it was before is only itself.
        """
        if any(is_of_same(site, other) and not _is_as_before(other, joined.parents[other]) for other in step.sites):
            return self._event(step, "unknown", "gone; unknown whether into another of the same operation")
        if not joined.is_whole:
            return self._event(step, "unknown", "gone; unknown whether into one that appears in the same pass")
        return self._event(step, "removed", "removed")


def _is_as_before(site: PassSite, parents: Sequence[PassSite]) -> bool:
    return len(parents) == 1 and (parents[0].name, parents[0].facts) == (site.name, site.facts)


def _short(event: LifeEvent) -> str:
    """What happened, without what is special to one collective."""
    match event.kind:
        case "made":
            return "made" if event.number else "of the program itself"
        case "copied":
            return "copied"
        case "changed" if event.words.startswith("moves "):
            return "in pieces" if " pieces " in event.words else "of other shapes"
        case "unknown" if "appears" in event.words:
            return "made, unknown of what"
        case _:
            return event.words


def _several(count: int, kind: str) -> str:
    return f"{count} {kind}{'s' * (count != 1)}"


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
