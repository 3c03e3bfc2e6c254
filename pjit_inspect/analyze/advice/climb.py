"""The loop of advice: propose changes, ask XLA about the most promising, take the best of what helped, go on from it.

Two orders take turns: what has most at stake, and where along the dataflow an axis gets lost first. It ends when little
is at stake in what is left, when many questions in a row gave nothing, or at a limit. Not its job: what one question
costs or who waits (`handles.advice`), or how a change is said (`advice_words`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.analyze.advice.judge import NOTICEABLE, Saved, find_saved
from pjit_inspect.analyze.advice.site import Site
from pjit_inspect.analyze.advice.sites import Sites
from pjit_inspect.analyze.advice.specs import specs_for
from pjit_inspect.analyze.advice.stakes import Ask, Counted, ProposedChange, Stakes, batch_bytes
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.report.edit import Edit

Judge = Callable[[Counted, Counted, Counted, Sequence[Edit]], Saved | None]
"""What the last of three answers saves over the second, as shares of the first, for the edits made; None if unknown."""

_QUIET = 24
"""After so many questions in a row that gave nothing, nothing more is asked."""
_PATIENCE = 6
"""After the first answer that helps, so many more questions are asked before the best is taken."""
_FAILED, _FAILED_HERE, _HELPED_ALIKE = 0.6, 0.8, 1.5
"""What a proposal's score is multiplied by for each failure of what it supposes, and at its place; and where something
helped that has the same place, or puts the same axis on the same dimensions."""
_MORE_OF_BATCH = 0.01
"""More bytes sent of what grows with the batch, as a share of all, make a change another layout."""
_MOST_FAILED = 2
"""Failures at a place after which an axis that is lost there is no reason to ask."""
_AS_MUCH = 0.95
"""A change that saves this share of what the best saves is as good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedChange:
    """One question and its answer.

    Attributes:
      proposal: the change that was asked about, on top of those taken before.
      number: the number of the question.
      edits: the change, with results that it would move kept as they are, where that was asked.
      answer: the answer; None where XLA refuses the changed program.
      saved: what it saves over the changes taken before; None without an answer.
      is_layout: whether it undoes what somebody asked of an argument or a result, or sends less of weights and more of
        what grows with the batch: then it depends on their sizes whether it helps, and small programs say that it does.
      failure: why there is no answer.
    """

    proposal: ProposedChange
    number: int
    edits: tuple[Edit, ...]
    answer: Counted | None = None
    saved: Saved | None = None
    is_layout: bool = False
    failure: str = ""

    @property
    def worth(self) -> float:
        """As `Saved.worth`; 0 without an answer, and for another layout."""
        return 0.0 if self.saved is None or self.is_layout else self.saved.worth


@dataclass(frozen=True, slots=True, kw_only=True)
class ClimbStep:
    """A change that was taken, and what else helped in its place."""

    taken: TriedChange
    instead: tuple[TriedChange, ...]


@dataclass(slots=True)
class Climb:
    """The search for changes of one program; each `advance` asks one question.

    Attributes:
      own: the program.
      ask: asks XLA.
      most: most questions; None for no limit.
      further: more places to change, beside those of the program.
      allows: whether a place may be changed.
      judge: says what an answer saves.
      is_any_layout: whether another layout is as good as a line that is missing.
      start: the program as it is.
      steps: the changes taken by now, each on top of those before.
      tried: all changes that were asked about by now.
      proposed: number of changes that were thought of.
      asked: number of questions.
    """

    own: EditedProgram
    ask: Ask
    most: int | None
    further: Sequence[Site] = ()
    allows: Callable[[Site], bool] = lambda _: True
    judge: Judge = find_saved
    is_any_layout: bool = False
    start: Counted = field(init=False)
    steps: list[ClimbStep] = field(default_factory=list)
    tried: list[TriedChange] = field(default_factory=list)
    proposed: int = 0
    asked: int = 0
    _waiting: list[ProposedChange] = field(default_factory=list)
    _helped: list[TriedChange] = field(default_factory=list)
    _failed: Counter[object] = field(default_factory=Counter)
    _since: int = 0
    _quiet: int = 0
    _batch_bytes: int = 0

    def __post_init__(self) -> None:
        """Asks about the program as it is. Raises CaptureError where there is no answer."""
        self.start = self.ask(())
        stakes, found = Stakes(self.own, self.start.counts, self.start), dict[tuple[Edit, ...], ProposedChange]()
        for site in filter(self.allows, (*self.further, *Sites(self.own).find())):
            for spec in specs_for(self.own, site):
                one = stakes.proposal(site, spec)
                if one.put or one.gone:
                    found.setdefault(one.edits, one)
        self._batch_bytes = batch_bytes(self.own, self.start)
        self._waiting = list(found.values())
        self.proposed = len(self._waiting)

    @property
    def now(self) -> Counted:
        """The program with all changes that were taken."""
        taken = self.steps[-1].taken.answer if self.steps else None
        return self.start if taken is None else taken

    @property
    def foremost(self) -> TriedChange | None:
        """The best of what helped since a change was taken; None if nothing did."""
        return self._best() if self._helped else None

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The changes that were taken."""
        return tuple(edit for step in self.steps for edit in step.taken.edits)

    @property
    def left_out(self) -> int:
        """Number of changes with a noticeable part at stake that were not tried for want of questions."""
        is_at_limit = self.most is not None and self.asked >= self.most
        return sum(one.most >= NOTICEABLE for one in self._waiting) if is_at_limit else 0

    @property
    def untried(self) -> str:
        """Why changes with a noticeable part at stake were not tried; "" if none was left out."""
        if left := self.left_out:
            return f"{left} of {left + len(self.tried)} changes were left out, as at most {self.most} are tried"
        failed = [one for one in self.tried if one.answer is None]
        # XLA refuses some changed programs for good reasons.
        if failed and len(failed) == len(self.tried):
            return f"{len(failed)} of {len(failed)} got no answer: {failed[0].failure}"
        return ""

    def advance(self) -> TriedChange | None:
        """Asks the next question; None where the search is over."""
        if (self.most is not None and self.asked >= self.most) or self._quiet >= _QUIET:
            self._take()
            return None
        rest = [one for one in self._waiting if one.most >= NOTICEABLE]
        if self._helped and (self._since >= _PATIENCE or not rest):
            self._take()
            return self.advance()
        if not rest:
            return None
        proposal = self._next(rest)
        self._waiting.remove(proposal)
        tried = self.try_change(proposal)
        self.tried.append(tried)
        self._failed.update((self._supposed(proposal), proposal.site.places))
        if tried.worth:
            self._helped.append(tried)
        self._since += bool(self._helped)
        self._quiet = 0 if tried.worth else self._quiet + 1
        return tried

    def _next(self, rest: list[ProposedChange]) -> ProposedChange:
        """The next change to ask about: in turn by what is at stake, and by where an axis gets lost first."""
        lost = [one for one in rest if self._is_lost_first(one)]
        if lost and len(self.tried) % 2:
            return min(lost, key=lambda one: (one.lost_at or 0, -one.score))
        return max(rest, key=self._promise)

    def _is_lost_first(self, one: ProposedChange) -> bool:
        """True if a line loses an axis that the change puts back, and nothing like it was in vain."""
        is_new = not self._failed[self._supposed(one)] and self._failed[one.site.places] < _MOST_FAILED
        return one.site.kind == "value" and one.lost_at is not None and is_new

    def _promise(self, one: ProposedChange) -> float:
        """The score of a change; less where the same was supposed in vain, more where something helped already."""
        promise = one.score * _FAILED ** min(4, self._failed[self._supposed(one)])
        helped = [other.proposal for other in self._helped]
        if any(other.site.places == one.site.places or other.put & one.put for other in helped):
            return promise * _HELPED_ALIKE
        return promise * _FAILED_HERE ** min(6, self._failed[one.site.places])

    @staticmethod
    def _supposed(one: ProposedChange) -> object:
        return one.put, one.gone

    def try_change(self, proposal: ProposedChange) -> TriedChange:
        """Asks about a change on top of those taken by now."""
        tried = self._judged(proposal, proposal.edits)
        if tried.answer is None or tried.saved is None or tried.worth:
            return tried
        # Nobody has asked how some results are returned: what they became may hide what the change saves, or cause it.
        less = self.now.counts.bytes - tried.answer.counts.bytes
        kept = self._kept_results(proposal, tried.answer)
        if less < NOTICEABLE * self.start.counts.bytes or not kept:
            return tried
        again = self._judged(proposal, (*proposal.edits, *kept))
        return again if again.worth else tried

    def _kept_results(self, proposal: ProposedChange, answer: Counted) -> tuple[Edit, ...]:
        """Edits by which the results that a change moves are returned as they are now."""
        pairs = enumerate(zip(self.now.counts.results, answer.counts.results, strict=False))
        outputs, asked = self.own.program.outputs, {index for kind, index in proposal.site.touched if kind == "result"}
        return tuple(
            Edit(kind="result", index=index, spec=self.own.spec(outputs[index].value))
            for index, (before, after) in pairs
            if before != after and index not in asked and outputs[index].spec is None
        )

    def _judged(self, proposal: ProposedChange, edits: tuple[Edit, ...]) -> TriedChange:
        self.asked += 1
        number = len(self.tried) + 1
        try:
            answer = self.ask((*self.edits, *edits))
        except CaptureError as error:
            return TriedChange(proposal=proposal, number=number, edits=edits, failure=str(error))
        saved = self.judge(self.start, self.now, answer, edits)
        grows = batch_bytes(self.own, answer) > self._batch_bytes + _MORE_OF_BATCH * self.start.counts.bytes
        is_layout = not self.is_any_layout and (proposal.site.is_on_purpose or grows)
        return TriedChange(
            proposal=proposal, number=number, edits=edits, answer=answer, saved=saved, is_layout=is_layout
        )

    def _best(self) -> TriedChange:
        """Of those that save nearly as much as the best, the one that is easiest to explain, then the smallest."""
        most = max(one.worth for one in self._helped)

        def rank(one: TriedChange) -> tuple[bool, bool, int, bool, int, float]:
            own = one.proposal
            is_lost = own.lost_at is not None
            return bool(own.site.fact), is_lost, -own.size, own.spec is not None, -len(one.edits), one.worth

        return max((one for one in self._helped if one.worth >= _AS_MUCH * most), key=rank)

    def _take(self) -> None:
        """Takes the best of what helped; all else is weighed again, and may be asked again on top of it."""
        if not self._helped:
            return
        best = self._best()
        others = tuple(one for one in self._helped if one is not best)
        self.steps.append(ClimbStep(taken=best, instead=others))
        stakes = Stakes(self.own, self.start.counts, self.now)
        self._batch_bytes = batch_bytes(self.own, self.now)
        left = (*self._waiting, *(one.proposal for one in others))
        taken = best.proposal.site.touched
        self._waiting = [stakes.proposal(one.site, one.spec) for one in left if taken.isdisjoint(one.site.touched)]
        self._helped, self._since = [], 0
        self._failed.clear()
