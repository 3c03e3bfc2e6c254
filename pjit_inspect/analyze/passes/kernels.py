"""Follows every fused kernel, copy and transpose of a program through XLA's passes, by its name.

Not its job: collectives (`analyze.passes.lives`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

from pjit_inspect.analyze.passes.steps import KernelSite, Path, Snapshot
from pjit_inspect.model.report.passes import EventKind, Life, LifeEvent


class KernelFollower:
    """The lives of all kernels, as far as they are known after one step.

    A kernel is the same after a pass if it has the same name and kind; or, where a pass renames, if it alone does the
    same operations.
    """

    def __init__(self, describe: Callable[[Path], str]) -> None:
        self._describe = describe
        self._before: dict[str, KernelSite] = {}
        self._events: dict[str, tuple[LifeEvent, ...]] = {}
        self._is_first = True

    def take(self, step: Snapshot) -> None:
        """Follows the kernels to the next step."""
        new = [own for name, own in step.kernels.items() if not self._stays(name, own)]
        fresh = {own.name for own in new}
        alike = _by_work([own for name, own in self._before.items() if name not in step.kernels or name in fresh])
        now: dict[str, tuple[LifeEvent, ...]] = {}
        for own in new:
            others = alike[_work(own)]
            if len(others) == 1 and own.paths:
                now[own.name] = self._events[others[0].name]
            elif others:
                now[own.name] = (self._event(step, "unknown", f"{own.kind} appears; unknown from which of several"),)
            else:
                now[own.name] = (self._beginning(own, step),)
        for name, own in step.kernels.items():
            if name in now:
                continue
            size = self._before[name].size
            grown = self._event(step, "changed", f"{own.size} operations instead of {size}")
            now[name] = (*self._events[name], grown) if own.size != size else self._events[name]
        self._before, self._events, self._is_first = dict(step.kernels), now, False

    def lives(self) -> tuple[Life, ...]:
        """The lives of the kernels of the last step, in the order of the program's bytes."""
        return tuple(Life(name=name, kind=own.kind, events=self._events[name]) for name, own in self._before.items())

    def _stays(self, name: str, own: KernelSite) -> bool:
        return name in self._before and self._before[name].kind == own.kind

    def _beginning(self, own: KernelSite, step: Snapshot) -> LifeEvent:
        words = "made of" if own.kind == "fusion" else "made for"
        if not own.paths:
            words = "made, unknown of what" if own.kind == "fusion" else "made, unknown for what"
        if self._is_first:
            words = "of the program itself"
        return self._event(step, "made", f"{own.kind} {words}", own.paths)

    def _event(self, step: Snapshot, kind: EventKind, words: str, paths: Sequence[Path] = ()) -> LifeEvent:
        return LifeEvent(
            number=step.number,
            pass_name=step.name,
            kind=kind,
            words=words,
            operations=tuple(map(self._describe, paths)),
            ids=tuple(path[-1] for path in paths),
        )


def _work(own: KernelSite) -> Hashable:
    return own.kind, own.shape, own.paths


def _by_work(sites: Sequence[KernelSite]) -> dict[Hashable, list[KernelSite]]:
    """Kernels by what they are and do."""
    found: dict[Hashable, list[KernelSite]] = defaultdict(list)
    for own in sites:
        found[_work(own)].append(own)
    return found
