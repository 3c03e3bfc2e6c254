"""A search for a better sharding: asks XLA's partitioner about many settings, two at once.

It begins with textbook layouts, and continues with changes of the best one found; a cheap estimate decides the order.
Not its job: the layouts (`analyze.play.layouts`), or the answers (`subject`).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from pjit_inspect.analyze.play.controls import argument_specs
from pjit_inspect.analyze.play.estimate import Estimate, estimate, rank_correlation
from pjit_inspect.analyze.play.layouts import Kept, Proposal, kept_paths, moves, seeds
from pjit_inspect.analyze.play.roles import Roles
from pjit_inspect.analyze.play.settings import results_set_apart, with_results_returned
from pjit_inspect.errors import CaptureError, ChangeError, RecordNotFoundError
from pjit_inspect.guard import Guard
from pjit_inspect.handles.play.history import History, best_of
from pjit_inspect.model.play.search import SearchProgress, SearchReport
from pjit_inspect.model.play.setting import PlaySetting
from pjit_inspect.model.play.variant import Goal, Variant
from pjit_inspect.observe.partitioner.service import LANES, LaneTicket, stop_server

Playground = Any
"""A `Playground`, whose module imports this one for its widget."""

_MOST_WAITING = 400
_TICK_S = 1.0
"""Seconds between two tellings of how far it is, also where nothing was answered meanwhile."""
_LOST_LINES = 6
_MOST_KNOWN = 4
"""Variants of the history that a search goes on from."""
_TRUST = 4.0
"""A setting whose estimate is above this multiple of the best one's is not asked about first."""


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
        roles = self._subject.roles()
        if roles is None:
            raise ChangeError("the operations of the program are not known: XLA gives no answer about it")
        if goal not in ("bytes", "memory", "time"):
            raise ChangeError(f"goal is 'bytes', 'memory' or 'time', not {goal!r}")
        self._roles: Roles = roles
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
        self._waiting: list[tuple[float, int, Proposal, int | None]] = []
        self._guesses: dict[int, Estimate] = {}
        self._asked = self._skipped = self._refused = 0
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
                self._feed_history()
                self._feed_seeds()
                self._work_in_rounds()
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
        """The settings tried and not tried, and the quality of the estimate compared with XLA."""
        with self._lock:
            rows = {row.number: row for row in self._play.history}
            known = [
                (self._guesses[number].sent_bytes, rows[number].sent_bytes)
                for number in self._guesses
                if number in rows and rows[number].sent_bytes is not None
            ]
            return SearchReport(
                goal=self._rules.goal,
                asked=self._asked,
                refused=self._refused,
                skipped=self._skipped,
                waiting=len(self._waiting),
                seconds=time.monotonic() - self._began,
                is_stopped=self._is_stopped,
                most_work=self._rules.most_work,
                most_memory=self._rules.most_memory,
                correlation=rank_correlation([float(own) for own, _ in known], [float(its or 0) for _, its in known]),
                best=self._best,
                start=self._start_number,
                runs_once=any(row.runs_once for row in rows.values()),
            )

    # ------------------------------------------------------------ what to ask

    def _ask_start(self) -> bool:
        """Ask about the program as it was chosen, with results that come back as their arguments go in.

        Returns whether the search goes on: it was not stopped meanwhile.
        """
        if self._rules.most_memory is None:
            start = self._play.add(self._start, origin="search", is_chosen=False)
            own = Proposal(setting=self._start, origin="search")
            if not start.is_answered and not self._ask_round([(own, None)]):
                return False
            self._start_number = start.number
            found = next(row for row in self._play.history if row.number == start.number)
            limits = [own for own in (found.available_bytes, found.counted_bytes) if own is not None]
            # A chip's memory has to hold temporaries, too; else no more than the program as it is.
            self._rules = replace(self._rules, most_memory=limits[0] if limits else None)
        return not self._is_stopped

    def _feed_history(self) -> None:
        """Offers the best known settings, if they have the parts to keep."""
        known = [(value, row.number) for row in self._play.history if (value := self._value(row)) is not None]
        for rank, (_, number) in enumerate(sorted(known)[:_MOST_KNOWN]):
            setting = with_results_returned(self._subject.facts, self._play.setting_of(number), self._kept.results)
            if self._keeps(setting):
                self._offer(Proposal(setting=setting, origin="search"), rank - 1e7)

    def _keeps(self, setting: PlaySetting) -> bool:
        """True if a setting has everything that is to be kept as the start has it."""
        kept, start = self._kept, self._start
        if setting.target != start.target or (kept.mesh and setting.mesh != start.mesh):
            return False
        if kept.constraints and (setting.constraints, setting.added) != (start.constraints, start.added):
            return False
        own, its = (argument_specs(self._subject.facts, one) for one in (setting, start))
        return all(own[path] == its[path] for path in kept.paths)

    def _feed_seeds(self) -> None:
        facts = self._subject.facts
        pins = () if self._kept.constraints else self._subject.pins(self._roles)
        proposals = seeds(facts, self._roles, self._start, self._kept, self._subject.first_ops(), pins)
        # The cheapest variant of each textbook layout first: none is omitted.
        by_guess = sorted(proposals, key=lambda own: self._guess(own.setting).sent_bytes)
        firsts: dict[str, Proposal] = {}
        for own in by_guess:
            is_near = self._guess(own.setting).work <= self._rules.most_work * _TRUST
            if is_near and self._is_allowed(own.setting):
                firsts.setdefault(own.origin, own)
        for rank, own in enumerate(firsts.values()):
            self._offer(own, rank - 1e6)
        for own in by_guess:
            self._offer(own)
        self._offer_lost_axes(self._start, self._start_number)

    def _feed_moves(self, setting: PlaySetting, parent: int) -> None:
        for own in moves(self._subject.facts, setting, self._kept):
            if self._is_stopped:
                return
            self._offer(own, parent=parent)
        self._offer_lost_axes(setting, parent)

    def _offer_lost_axes(self, setting: PlaySetting, parent: int) -> None:
        if self._kept.constraints:
            return
        try:
            lost = self._subject.lost_axes(setting, _LOST_LINES)
        except CaptureError:
            return
        for rank, (name, spec) in enumerate(lost):
            added = tuple(sorted({**dict(setting.added), name: spec}.items()))
            # They are few, and only XLA knows whether one helps.
            self._offer(Proposal(setting=replace(setting, added=added), origin="constraint"), rank - 1e5, parent)

    def _offer(self, proposal: Proposal, rank: float | None = None, parent: int | None = None) -> None:
        setting = proposal.setting
        with self._lock:
            if setting in self._seen:
                return
            self._seen.add(setting)
            if not self._is_allowed(setting):
                self._skipped += 1
                return
            guess = self._guess(setting)
            if guess.work > self._rules.most_work * _TRUST:
                self._skipped += 1
                return
            own = self._rank(guess, setting) * proposal.patience if rank is None else rank
            self._waiting.append((own, len(self._seen), proposal, parent))
            self._waiting.sort(key=lambda one: one[:2])
            self._skipped += len(self._waiting[_MOST_WAITING:])
            del self._waiting[_MOST_WAITING:]

    def _is_allowed(self, setting: PlaySetting) -> bool:
        """True if its arguments fit, which is counted before XLA is asked."""
        limit = self._rules.most_memory
        held = self._subject.argument_bytes(setting)
        return limit is None or held is None or held <= limit

    def _rank(self, guess: Estimate, setting: PlaySetting) -> float:
        if self._rules.goal == "memory":
            return float(self._subject.argument_bytes(setting) or 0)
        # Products that are done several times are paid for as if sent: the rule is soft before XLA has counted.
        return guess.sent_bytes * max(1.0, guess.work / self._rules.most_work) ** 2

    def _guess(self, setting: PlaySetting) -> Estimate:
        return estimate(self._roles, argument_specs(self._subject.facts, setting), setting.sizes)

    # ------------------------------------------------------------ asking

    def _work_in_rounds(self) -> None:
        """Ask about as many settings at once as there are workers, and go on from their answers in a fixed order.

        So a slow machine asks about the first of the settings that a fast one does.
        """
        while self._waiting and not self._is_over():
            with self._lock:
                begin = [self._waiting.pop(0)[2:] for _ in range(min(LANES, len(self._waiting)))]
            if not self._ask_round(begin):
                return

    def _is_over(self) -> bool:
        return self._is_stopped or time.monotonic() - self._began >= self._budget_s

    def _ask_round(self, proposals: Sequence[tuple[Proposal, int | None]]) -> bool:
        """Asks about settings such that `stop` can withdraw the questions; returns whether all were answered."""
        begun = [
            self._play.add(own.setting, origin=own.origin, is_chosen=False, parent=parent) for own, parent in proposals
        ]
        answers: dict[int, Any] = {}
        threads = [
            threading.Thread(
                target=self._ask,
                args=(own, row, LaneTicket(lane), answers),
                name=f"pjit_inspect search {lane}",
                daemon=True,
            )
            for lane, ((own, _), row) in enumerate(zip(proposals, begun, strict=True))
            if not row.is_answered
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        is_whole = True
        for (own, _), row in zip(proposals, begun, strict=True):
            if row.number in answers:
                self._answered(own, answers[row.number].variant)
            elif row.is_answered and row.stage != "refused":
                self._judge(row, own.setting)
            elif row.is_answered:
                self._refused += 1
            else:
                self._play.drop(row.number)
                is_whole = False
        return is_whole

    def _ask(self, proposal: Proposal, begun: Variant, ticket: LaneTicket, answers: dict[int, Any]) -> None:
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

    def _answered(self, proposal: Proposal, variant: Variant) -> None:
        self._play.answered(variant, None)
        with self._lock:
            self._asked += 1
            self._refused += variant.stage == "refused"
            self._guesses[variant.number] = self._guess(proposal.setting)
            self._latest = variant.number
        self._judge(variant, proposal.setting)
        self._tell()

    def _judge(self, variant: Variant, setting: PlaySetting) -> None:
        """Take a variant for the best if it is, and go on from it."""
        if self._value(variant) is None:
            return
        with self._lock:
            self._allowed.add(variant.number)
            rows = [row for row in self._play.history if row.number in self._allowed]
            best: int = best_of(rows, self._rules.goal, math.inf).number
            is_better = best == variant.number != self._best
            self._best = best
        if is_better:
            self._feed_moves(setting, variant.number)

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
                waiting=len(self._waiting),
                seconds=time.monotonic() - self._began,
                budget_s=self._budget_s,
                latest=self._latest,
                best=self._best,
            )
