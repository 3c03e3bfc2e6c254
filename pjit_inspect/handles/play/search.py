"""A search for a better sharding: textbooks' layouts first, then the loop of advice from the best of them.

Its questions are settings of a playground, whose history has them all. Not its job: the layouts
(`analyze.play.presets`), the loop (`analyze.advice.climb`), or the answers (`subject`).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from pjit_inspect.analyze.advice.climb import Climb
from pjit_inspect.analyze.advice.judge import Saved
from pjit_inspect.analyze.advice.lines import Lines
from pjit_inspect.analyze.advice.site import Site
from pjit_inspect.analyze.advice.stakes import Counted
from pjit_inspect.analyze.play.controls import argument_specs
from pjit_inspect.analyze.play.layouts import Kept, kept_paths
from pjit_inspect.analyze.play.settings import (
    changed_setting,
    meshes_like,
    results_set_apart,
    with_results_returned,
)
from pjit_inspect.errors import CaptureError, ChangeError, RecordNotFoundError
from pjit_inspect.guard import Guard
from pjit_inspect.handles.play.history import History, best_of
from pjit_inspect.model.play.search import SearchProgress, SearchReport
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.play.variant import Goal, Variant
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.observe.partitioner.service import LANES, LaneTicket, stop_server

Playground = Any
"""A `Playground`, whose module imports this one for its widget."""

_TICK_S = 1.0
"""Seconds between two tellings of how far it is, also where nothing was answered meanwhile."""
_MOST_KNOWN = 4
"""Variants of the history that a search goes on from."""


@dataclass(frozen=True, slots=True)
class _Proposal:
    """A setting that may be better, with what it is of: a layout's name, and the number of the variant it changes."""

    setting: PlaySetting
    origin: str = "search"
    parent: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rules:
    """Limits that a setting must keep.

    Attributes:
      goal: the quantity to minimise.
      most_work: limit of products on each device, relative to an equal share.
      most_memory: limit of bytes of arguments and results on a device; None for no limit.
    """

    goal: Goal
    most_work: float
    most_memory: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Valued(Counted):
    """An answer, and the quantity to minimise; None for a variant that breaks a rule."""

    value: float | None


def _saved(first: Counted, before: Counted, answer: Counted, _: Sequence[Edit]) -> Saved | None:
    """The part of the quantity to minimise that an answer saves; None where it breaks a rule."""
    start, base, value = (one.value if isinstance(one, _Valued) else None for one in (first, before, answer))
    if value is None:
        return None
    return Saved(sent=1.0 if base is None else (base - value) / max(1.0, start or base), products=0, made=0, held=0)


class Search:
    """One search over a playground's settings; its variants are in the playground's history."""

    def __init__(
        self,
        play: Playground,
        *,
        goal: Goal = "bytes",
        budget_s: float = 30.0,
        keep: Mapping[str, Any] | Collection[str] = (),
        most_work: float = 1.1,
        most_memory: int | None = None,
        on_progress: Callable[[SearchProgress], object] | None = None,
    ) -> None:
        """Begin from the playground's current variant; `pjit_inspect.search` explains the arguments.

        Raises ChangeError for a name in `keep` that there is none of, where the program's operations are not known, and
        for a playground that was closed.
        """
        self._play, self._subject = play, play.subject
        if play.is_closed:
            raise ChangeError("this playground was closed, so that XLA is asked nothing more; open another")
        if self._subject.roles() is None:
            raise ChangeError("the operations of the program are not known: XLA gives no answer about it")
        if goal not in ("bytes", "memory", "time"):
            raise ChangeError(f"goal is 'bytes', 'memory' or 'time', not {goal!r}")
        self._budget_s = budget_s
        self._on_progress = on_progress
        kept = dict(keep) if isinstance(keep, Mapping) else dict.fromkeys(keep)
        given = {name: spec for name, spec in kept.items() if spec is not None and name not in ("mesh", "constraints")}
        before = dict(results_set_apart(self._subject.facts, play.setting_of(play.variant.number)))
        if given or kept.get("mesh") is not None:
            play.set(mesh=kept.get("mesh"), specs=given)
        start = play.setting_of(play.variant.number)
        names = [name for name in kept if name not in ("mesh", "constraints")]
        paths, kept_results = kept_paths(self._subject.facts, names, start)
        # Results that come back as their arguments go in do so in every setting, whatever it splits them over; but
        # those that somebody has set otherwise, and those that are to stay as they are.
        own = dict(start.results)
        apart = (path for path, _ in results_set_apart(self._subject.facts, start) if path in before)
        results = tuple((path, own.get(path)) for path in sorted({*apart, *kept_results}))
        self._start: PlaySetting = with_results_returned(self._subject.facts, start, results)
        self._start_number: int = play.variant.number
        self._kept = Kept(
            paths=paths,
            mesh="mesh" in kept,
            constraints="constraints" in kept,
            results=results,
        )
        self._rules = _Rules(goal=goal, most_work=most_work, most_memory=most_memory)
        self._lock = threading.RLock()
        self._is_stopped = False
        self._tickets: set[LaneTicket] = set()
        self._seen: set[PlaySetting] = set()
        self._waiting: list[_Proposal] = []
        self._asked = self._skipped = self._refused = self._left = 0
        self._best: int | None = None
        self._allowed: set[int] = set()
        self._latest: int | None = None
        self._began = 0.0
        self._is_over_now = threading.Event()

    # ------------------------------------------------------------ what users call

    def stop(self) -> None:
        """End the search with its present results."""
        with self._lock:
            self._is_stopped = True
            tickets = list(self._tickets)
        for ticket in tickets:
            ticket.cancel()

    def run(self) -> History:
        """Search until the budget is spent, nothing is left to try, or it is stopped; then the best variant is chosen.

        The history says in its notes the settings tried and not tried.
        """
        self._began = time.monotonic()
        forget = self._play.stops(self.stop)
        threading.Thread(target=self._tick, name="pjit_inspect search tells", daemon=True).start()
        try:
            if self._ask_start():
                self._work()
        except BaseException:
            self.stop()
            raise
        finally:
            self._is_over_now.set()
            forget()
            for lane in range(1, LANES):
                stop_server(lane)
        report = self.report()
        if report.best is not None and not self._is_stopped:
            self._play.go_back(report.best)
        history = replace(self._play.history, among=frozenset(self._allowed))
        # What the notes call best is what `history.best` gives, whatever was asked about meanwhile.
        with suppress(RecordNotFoundError):
            report = replace(report, best=history.best(self._rules.goal).number)
        return replace(history, notes=report.lines)

    def report(self) -> SearchReport:
        """The settings tried and not tried."""
        with self._lock:
            return SearchReport(
                goal=self._rules.goal,
                asked=self._asked,
                refused=self._refused,
                skipped=self._skipped,
                waiting=len(self._waiting) + self._left,
                seconds=time.monotonic() - self._began,
                is_stopped=self._is_stopped,
                most_work=self._rules.most_work,
                most_memory=self._rules.most_memory,
                best=self._best,
                start=self._start_number,
                runs_once=any(row.runs_once for row in self._play.history),
            )

    # ------------------------------------------------------------ what to ask

    def _ask_start(self) -> bool:
        """Ask about the program as it was chosen, with results that come back as their arguments go in.

        Returns whether the search goes on: it was not stopped meanwhile.
        """
        if self._rules.most_memory is None:
            start = self._play.add(self._start, origin="search", is_chosen=False)
            if not start.is_answered and not self._ask_round([_Proposal(self._start)]):
                return False
            self._start_number = start.number
            found = next(row for row in self._play.history if row.number == start.number)
            limits = [own for own in (found.available_bytes, found.counted_bytes) if own is not None]
            # A chip's memory has to hold temporaries, too; else no more than the program as it is.
            self._rules = replace(self._rules, most_memory=limits[0] if limits else None)
        return not self._is_stopped

    def _work(self) -> None:
        """Asks about what is known already, then about textbooks' layouts, and goes on from the best in the loop.

        Rounds have as many settings as there are workers, and a fixed order, so a slow machine asks about the first of
        those that a fast one does.
        """
        self._ask_all([*self._known(), *self._layouts(self._start.mesh)])
        if not self._kept.mesh:
            others = [mesh for mesh in meshes_like(self._start.mesh) if mesh != self._start.mesh]
            self._ask_all([own for mesh in others for own in self._layouts(mesh)])
        before = None
        while self._best is not None and self._best != before and not self._is_over():
            before = self._best
            self._climb(before)
            if not self._kept.mesh:
                setting = self._play.setting_of(self._best)
                meshes = [mesh for mesh in meshes_like(setting.mesh) if mesh != setting.mesh]
                self._ask_all([_Proposal(replace(setting, mesh=mesh), "search", self._best) for mesh in meshes])

    def _known(self) -> list[_Proposal]:
        """The start, and the best known settings that have the parts to keep."""
        known = [(value, row.number) for row in self._play.history if (value := self._value(row)) is not None]
        settings = [self._play.setting_of(number) for _, number in sorted(known)[:_MOST_KNOWN]]
        returned = [with_results_returned(self._subject.facts, own, self._kept.results) for own in settings]
        return [_Proposal(own) for own in (self._start, *filter(self._keeps, returned))]

    def _keeps(self, setting: PlaySetting) -> bool:
        """True if a setting has everything that is to be kept as the start has it."""
        kept, start = self._kept, self._start
        if setting.target != start.target or (kept.mesh and setting.mesh != start.mesh):
            return False
        if kept.constraints and (setting.constraints, setting.added) != (start.constraints, start.added):
            return False
        own, its = (argument_specs(self._subject.facts, one) for one in (setting, start))
        return all(own[path] == its[path] for path in kept.paths)

    def _layouts(self, mesh: tuple[tuple[str, int], ...]) -> list[_Proposal]:
        """The textbooks' layouts on a mesh, of all that is not kept."""
        facts, kept, found = self._subject.facts, self._kept, list[_Proposal]()
        base = replace(self._start, mesh=mesh)
        for preset in self._subject.presets(mesh, self._start.target):
            if preset.setting is None:
                continue
            specs = argument_specs(facts, preset.setting)
            constraints = {} if kept.constraints else dict(preset.setting.constraints)
            added = base.added if kept.constraints else preset.setting.added
            with suppress(ChangeError):
                own = changed_setting(
                    facts,
                    base,
                    specs={path: spec for path, spec in specs.items() if path not in kept.paths and spec is not None},
                    constraints=constraints,
                    alone=kept.paths,
                )
                own = with_results_returned(facts, replace(own, added=added), kept.results)
                found.append(_Proposal(own, preset.name))
        return found

    def _climb(self, number: int) -> None:
        """The loop of advice, from a variant: its changes are those that controls can make."""
        begin = self._play.setting_of(number)
        with suppress(CaptureError):
            own = self._subject.edited(begin)
            if own is None:
                return
            self._subject.named(own, list(Lines(own).find()))
            climb = Climb(
                own=own,
                ask=lambda edits: self._counted(self._changed(begin, edits), number),
                most=None,
                allows=self._allows,
                judge=_saved,
                is_any_layout=True,
            )
            while not self._is_over():
                if climb.advance() is None:
                    break
                self._left = climb.proposed - climb.asked

    def _allows(self, site: Site) -> bool:
        """True if a place is a control, and none that is to be kept."""
        arguments = self._subject.facts.arguments
        if site.kind != "argument":
            return not self._kept.constraints and self._subject.is_control(site)
        paths = {arguments[index].path for kind, index, _ in site.places if kind == "argument"}
        return not paths & self._kept.paths

    def _changed(self, setting: PlaySetting, edits: Sequence[Edit]) -> PlaySetting:
        found = self._subject.with_edits(setting, edits, self._kept.paths) if edits else setting
        return with_results_returned(self._subject.facts, found, self._kept.results)

    def _counted(self, setting: PlaySetting, parent: int) -> Counted:
        """XLA's answer about a setting, as the loop is told it. Raises CaptureError where there is none."""
        if not self._is_allowed(setting):
            self._skipped += 1
            raise CaptureError("its arguments take more memory than there is")
        self._ask_round([_Proposal(setting, "search", parent)])
        variant = self._play.add(setting, origin="search", is_chosen=False)
        record = self._play.record_of(variant.number)
        if record is None or record.hlo is None:
            raise CaptureError("XLA refuses it")
        answer = self._subject.counted(record)
        return _Valued(counts=answer.counts, moved=answer.moved, value=self._value(variant))

    def _is_allowed(self, setting: PlaySetting) -> bool:
        """True if its arguments fit, which is counted before XLA is asked."""
        limit = self._rules.most_memory
        held = self._subject.argument_bytes(setting)
        return limit is None or held is None or held <= limit

    # ------------------------------------------------------------ asking

    def _ask_all(self, proposals: Sequence[_Proposal]) -> None:
        """Asks about new settings whose arguments fit, as many at once as there are workers."""
        new = list({own.setting: own for own in reversed(proposals) if own.setting not in self._seen}.values())[::-1]
        self._seen |= {own.setting for own in new}
        fitting = [own for own in new if self._is_allowed(own.setting)]
        self._skipped += len(new) - len(fitting)
        self._waiting += fitting
        while self._waiting and not self._is_over():
            begin = [self._waiting.pop(0) for _ in self._waiting[:LANES]]
            if not self._ask_round(begin):
                return

    def _is_over(self) -> bool:
        return self._is_stopped or time.monotonic() - self._began >= self._budget_s

    def _ask_round(self, proposals: Sequence[_Proposal]) -> bool:
        """Asks about settings such that `stop` can withdraw the questions; returns whether all were answered."""
        begun = [
            self._play.add(own.setting, origin=own.origin, is_chosen=False, parent=own.parent) for own in proposals
        ]
        answers: dict[int, Any] = {}
        threads = [
            threading.Thread(
                target=self._ask,
                args=(own, row, LaneTicket(lane), answers),
                name=f"pjit_inspect search {lane}",
                daemon=True,
            )
            for lane, (own, row) in enumerate(zip(proposals, begun, strict=True))
            if not row.is_answered
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        is_whole = True
        for row in begun:
            if row.number in answers:
                self._answered(answers[row.number])
            elif row.is_answered and row.stage != "refused":
                self._judge(row)
            elif row.is_answered:
                self._refused += 1
            else:
                self._play.drop(row.number)
                is_whole = False
        return is_whole

    def _ask(self, proposal: _Proposal, begun: Variant, ticket: LaneTicket, answers: dict[int, Any]) -> None:
        """Ask about one; no answer where it was taken back."""
        with self._lock:
            if self._is_stopped:
                return
            self._tickets.add(ticket)
        try:
            answers[begun.number] = self._subject.ask(proposal.setting, begun, effort="partition", ticket=ticket)
        except CaptureError:
            pass
        finally:
            with self._lock:
                self._tickets.discard(ticket)

    def _answered(self, answer: Any) -> None:
        self._play.answered(answer.variant, answer.record)
        with self._lock:
            self._asked += 1
            self._refused += answer.variant.stage == "refused"
            self._latest = answer.variant.number
        self._judge(answer.variant)
        self._tell()

    def _judge(self, variant: Variant) -> None:
        """Take a variant for the best if it is."""
        if self._value(variant) is not None:
            with self._lock:
                self._allowed.add(variant.number)
                rows = [row for row in self._play.history if row.number in self._allowed]
                self._best = best_of(rows, self._rules.goal, math.inf).number

    def _value(self, variant: Variant) -> float | None:
        """The quantity to minimise; None for a variant that breaks a limit."""
        limit, held = self._rules.most_memory, variant.counted_bytes
        if variant.stage not in ("partitioned", "full") or variant.fits is False:
            return None
        if variant.work is not None and variant.work > self._rules.most_work:
            return None
        if limit is not None and held is not None and held > limit:
            return None
        if self._rules.goal == "bytes":
            return None if variant.sent_bytes is None else float(variant.sent_bytes)
        if self._rules.goal == "memory":
            return None if held is None else float(held)
        return None if variant.time_s is None else variant.time_s[1]

    def _tick(self) -> None:
        while not self._is_over_now.wait(_TICK_S):
            Guard().run("the progress of a search", self._tell, None)

    def _tell(self) -> None:
        if self._on_progress is not None and not self._is_stopped:
            self._on_progress(self.progress())

    def progress(self) -> SearchProgress:
        """The progress of the search."""
        with self._lock:
            return SearchProgress(
                asked=self._asked,
                waiting=len(self._waiting) + self._left,
                seconds=time.monotonic() - self._began,
                budget_s=self._budget_s,
                latest=self._latest,
                best=self._best,
            )
