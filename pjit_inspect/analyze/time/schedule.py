"""Runs XLA's schedule on a clock: kernels one after the other, transfers beside them from start to done.

One stream computes, one moves arrays within memory, and the links along a dimension of a torus in one direction are a
stream of the network, as are those inside and outside of hosts; a mesh axis is one where links are unknown. A transfer
begins when it is started and all the streams that it needs are free; at its done, kernels wait for it. What runs on its
streams during that wait, itself or those before it, is *exposed*. A loop is the time of its body, times its
turns; of a conditional, the dearest branch counts: the longest, or without seconds that of the most operations. Unknown
times are 0, an unknown number of turns is 1, and both are counted. Not its job: the time of a kernel (`kernel_seconds`)
or of a transfer (`network`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pjit_inspect.analyze.program.loops import MOST_TRIPS, find_trip_count
from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.opcodes import REGIONS
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.report.collective import Collective

Role = Literal["sync", "start", "update", "done"]
COMPUTE, LOOPS = "compute", "loops"
"""The streams of kernels, and of the loops around them."""
_MOST_SPANS = 200_000
_LONGEST_S = 1e100
"""Longer than any program takes; sums of such times stay numbers."""
MEMORY = "memory"
"""The stream of copies, beside those of mesh axes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransferSite:
    """The part of an instruction in a collective: all of it, its start, its end, or between.

    Attributes:
      collective: its number.
      role: as said.
      start: the instruction that started it, for a "done".
    """

    collective: int
    role: Role
    start: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The seconds of one run of everything.

    Attributes:
      kernel: instruction -> seconds of a kernel, None if unknown; raises KeyError for what is no kernel.
      copy_s: instruction -> seconds of a copy that is started and awaited.
      flops: instruction -> operations of a kernel, as far as they are known; they decide where no seconds are known.
      transfers: seconds of each collective; None if unknown.
      streams: the streams that each collective needs.
      lanes: the lanes of the timeline that each is drawn in.
    """

    kernel: Mapping[int, float | None]
    copy_s: Callable[[int], float]
    flops: Mapping[int, int]
    transfers: Sequence[float | None]
    streams: Sequence[tuple[str, ...]]
    lanes: Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledSpan:
    """One instruction on the clock.

    Attributes:
      lane: "compute", "loops", `MEMORY`, or a mesh axis.
      instruction: the instruction; of a transfer, the one that starts it.
      begin, end: seconds since the beginning of the computation.
      turns: turns of a loop; 1 for anything else.
    """

    lane: str
    instruction: int
    begin: float
    end: float
    turns: int = 1

    def moved(self, seconds: float) -> ScheduledSpan:
        """The same, later."""
        return replace(self, begin=self.begin + seconds, end=self.end + seconds)


@dataclass(slots=True, kw_only=True)
class Schedule:
    """The result of following a schedule.

    Attributes:
      step_s: seconds of the whole.
      runs: instruction -> runs per call of each kernel.
      transfer_runs: collective -> runs per call.
      exposed_s: collective -> seconds per call that kernels wait for it.
      copies_s: seconds per call that kernels wait for copies.
      uncertain: kernels and collectives in loops with an unknown number of turns, which count once.
      loops: number of these loops.
      branches: conditionals whose branches differ: of each, the one that counts is the dearest.
      spans: what runs when, in order of beginning; of a loop its whole, and what is in its first turn.
    """

    step_s: float = 0.0
    runs: Counter[int] = field(default_factory=Counter)
    transfer_runs: Counter[int] = field(default_factory=Counter)
    exposed_s: Counter[int] = field(default_factory=Counter)
    copies_s: float = 0.0
    uncertain: set[tuple[str, int]] = field(default_factory=set)
    loops: int = 0
    branches: set[int] = field(default_factory=set)
    spans: list[ScheduledSpan] = field(default_factory=list)

    def add(self, other: Schedule, times: int) -> None:
        """Adds the result of another, several times."""
        for own, its in ((self.runs, other.runs), (self.transfer_runs, other.transfer_runs)):
            # Only a damaged program runs more often.
            own.update({key: min(count * times, MOST_TRIPS) for key, count in its.items()})
        self.exposed_s.update({key: seconds * times for key, seconds in other.exposed_s.items()})  # type: ignore[arg-type]
        self.copies_s += other.copies_s * times
        self.uncertain |= other.uncertain
        self.loops += other.loops
        self.branches |= other.branches

    def place(self, other: Schedule, begin: float) -> None:
        """Places the timeline of another, once, from a beginning on."""
        room = max(0, _MOST_SPANS - len(self.spans))
        self.spans += [own.moved(begin) for own in other.spans[:room]]


NOTHING = Schedule()
"""What a computation comes to that nothing runs."""


def find_sites(rows: Sequence[Collective], running: RunningInstructions) -> dict[int, TransferSite]:
    """The part of each instruction in a collective."""
    sites: dict[int, TransferSite] = {}
    for number, row in enumerate(rows):
        found = [running.find(name) for name in row.instructions]
        indices = {one.index for one in found if one is not None}
        sites |= _sites(number, row, indices, running.module)
    return sites


def _sites(number: int, row: Collective, indices: set[int], module: HloModule) -> dict[int, TransferSite]:
    if row.is_async and len(indices) == 2:
        first, last = sorted(indices, key=lambda index: int(module.places[index]))
        if module.instructions.computation[first] == module.instructions.computation[last]:
            return {
                first: TransferSite(collective=number, role="start"),
                last: TransferSite(collective=number, role="done", start=first),
            }
    # A ring has many; its halves are told by who takes whose result.
    before = {index: _operand_among(index, indices, module) for index in indices}
    taken = {start for start in before.values() if start is not None}
    sites = {}
    for index, start in before.items():
        role: Role = (
            ("start" if index in taken else "sync") if start is None else "update" if index in taken else "done"
        )
        while start is not None and before[start] is not None:
            start = before[start]
        sites[index] = TransferSite(collective=number, role=role, start=-1 if start is None else start)
    return sites


def _operand_among(index: int, indices: set[int], module: HloModule) -> int | None:
    return next((own for own in module.instructions.operands[index].tolist() if own in indices), None)


class Clock:
    """Runs one program.

    Args:
      module: the program.
      sites: as `find_sites` gives them.
      costs: the seconds of everything.
    """

    def __init__(self, module: HloModule, sites: Mapping[int, TransferSite], costs: Costs) -> None:
        self.module: HloModule = module
        self.sites: Mapping[int, TransferSite] = sites
        self.costs: Costs = costs
        self._known: dict[int, Schedule] = {}

    def run(self, computations: Sequence[int]) -> Schedule:
        """One call; `computations` are those that run, those that are called before those that call them."""
        for computation in computations:
            self._known[computation] = _Run(self, computation).schedule
        return self.computation(self.module.entry)

    def computation(self, computation: int) -> Schedule:
        """One run of a computation."""
        return self._known.get(computation, NOTHING)


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnderWay:
    """A transfer on its streams.

    Attributes:
      begin, end: seconds since the computation began.
      collective: its number; -1 for a copy.
      before: the transfer that it had to wait for; None if its streams were free.
    """

    begin: float
    end: float
    collective: int
    before: _UnderWay | None


class _Run:
    """One run of one computation."""

    def __init__(self, clock: Clock, computation: int) -> None:
        self._clock, self._module = clock, clock.module
        self._costs, self._sites = clock.costs, clock.sites
        self.schedule = Schedule()
        self._last: dict[str, _UnderWay] = {}
        self._under_way: dict[int, _UnderWay] = {}
        self._now = 0.0
        for index in self._module.computation(computation).order.tolist():
            self._instruction(index)
        for start in tuple(self._under_way):
            self._wait(start)
        self.schedule.step_s = self._now

    def _instruction(self, index: int) -> None:
        opcode = self._module.opcodes[self._module.instructions.opcode[index]]
        if (site := self._sites.get(index)) is not None:
            self._at_site(index, site)
        elif index in self._costs.kernel:
            self.schedule.runs[index] += 1
            begin, self._now = self._now, self._now + (self._costs.kernel[index] or 0.0)
            self._show(COMPUTE, index, begin, self._now)
        elif opcode in REGIONS:
            self._region(index, opcode)
        elif opcode.endswith("-start"):
            self._begin(index, (MEMORY,), self._costs.copy_s(index))
        elif opcode.endswith("-done"):
            for operand in self._module.instructions.operands[index].tolist():
                self._wait(operand)

    def _at_site(self, index: int, site: TransferSite) -> None:
        if site.role == "done":
            self._wait(site.start)
        elif site.role != "update":
            number = site.collective
            self.schedule.transfer_runs[number] += 1
            self._begin(index, self._costs.streams[number], self._costs.transfers[number] or 0.0)
            if site.role == "sync":
                self._wait(index)

    def _begin(self, index: int, streams: tuple[str, ...], seconds: float) -> None:
        before = [self._last[stream] for stream in streams if stream in self._last]
        blocker = max(before, key=lambda one: one.end, default=None)
        begin = self._now if blocker is None else max(self._now, blocker.end)
        site = self._sites.get(index)
        under_way = _UnderWay(
            begin=begin,
            end=begin + seconds,
            collective=-1 if site is None else site.collective,
            before=blocker if begin > self._now else None,
        )
        self._last.update(dict.fromkeys(streams, under_way))
        for lane in streams if site is None else self._costs.lanes[site.collective]:
            self._show(lane, index, under_way.begin, under_way.end)
        self._under_way[index] = under_way

    def _wait(self, start: int) -> None:
        waited_for = self._under_way.pop(start, None)
        if waited_for is None or waited_for.end <= self._now:
            return
        now, self._now = self._now, waited_for.end
        # Back through those that had to end before it could begin.
        while waited_for is not None and waited_for.end > now:
            seconds = waited_for.end - max(now, waited_for.begin)
            if waited_for.collective < 0:
                self.schedule.copies_s += seconds
            else:
                self.schedule.exposed_s[waited_for.collective] += seconds  # type: ignore[assignment]
            waited_for = waited_for.before

    def _region(self, index: int, opcode: str) -> None:
        called = list(dict.fromkeys(self._module.instructions.called[index].tolist()))
        inside = [self._clock.computation(computation) for computation in called]
        if not inside:
            return
        if opcode == "while":
            self._loop(index, inside)
        elif opcode == "conditional":
            prices = [self._price(one) for one in inside]
            if len(set(prices)) > 1:
                self.schedule.branches.add(index)
            self._add(inside[prices.index(max(prices))], 1)
        else:
            self._add(inside[0], 1)

    def _price(self, inside: Schedule) -> tuple[float, int]:
        """The cost of a computation: its seconds, and its operations."""
        return inside.step_s, sum(self._costs.flops.get(index, 0) * runs for index, runs in inside.runs.items())

    def _loop(self, index: int, inside: list[Schedule]) -> None:
        try:
            trips = find_trip_count(self._module.instruction(index))
        except ParseError:
            trips = None
        if trips is None:
            self.schedule.loops += 1
            for one in inside:
                self.schedule.uncertain |= {("kernel", key) for key in one.runs}
                self.schedule.uncertain |= {("collective", key) for key in one.transfer_runs}
        turns = 1 if trips is None else trips
        begin = self._now
        # The body, then the condition, which is asked once more.
        for number, one in enumerate(inside):
            self._add(one, turns + number)
        self._show(LOOPS, index, begin, self._now, turns)

    def _show(self, lane: str, index: int, begin: float, end: float, turns: int = 1) -> None:
        if end > begin and len(self.schedule.spans) < _MOST_SPANS:
            self.schedule.spans.append(ScheduledSpan(lane=lane, instruction=index, begin=begin, end=end, turns=turns))

    def _add(self, inside: Schedule, times: int) -> None:
        self.schedule.add(inside, times)
        if times:
            self.schedule.place(inside, self._now)
        self._now = min(self._now + inside.step_s * times, _LONGEST_S)
