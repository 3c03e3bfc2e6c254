"""Joins the programs of several processes, run by run, and finds where each first leaves the common order.

Processes that share a program wait for each other in it: all must reach the same programs in the same order. The
algorithm walks all processes in step, each through its shared programs in the order it first compiled them. A program
is passed when all its processes have reached it. If none can go on, one of them differs: it is named and left behind,
and the others walk on. Pure. Not its job: reading records (`merged`), comparing two programs
(`analyze.processes.program_differences`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pjit_inspect.analyze.processes.program_differences import shortened
from pjit_inspect.model.record.merged import (
    DifferenceKind,
    MergedData,
    MergedProcess,
    MergedProgram,
    ProcessDifference,
    ProgramFacts,
)
from pjit_inspect.model.words.sentence import Sentence, name, place, say

Compare = Callable[[ProgramFacts, ProgramFacts], tuple[Sentence, ...]]
"""Differences between the programs of two records, each in a sentence; () for none found."""


def merge_programs(
    records: Iterable[ProgramFacts],
    processes: Iterable[MergedProcess] = (),
    *,
    compare: Compare = lambda *_: (),
    compare_optimized: Compare = lambda *_: (),
) -> MergedData:
    """Join the records of all processes, each process's in the order it made them.

    Args:
      records: the facts read.
      processes: facts about processes besides their records: files that were not read, empty folders.
      compare: for two programs of one name that differ.
      compare_optimized: for two records of one program whose optimized programs are not the same bytes.
    """
    ordered = sorted(records, key=lambda facts: (facts.process, facts.position))
    shared = _queues(ordered)
    known = _processes(ordered, shared, processes)
    walk = _Merging(shared, known, compare, compare_optimized)
    walk.run()
    joined = _join(ordered)
    passed = {fingerprint: place for place, fingerprint in enumerate(walk.order)}
    programs = sorted((p for p in joined if p.is_shared), key=lambda p: passed.get(p.fingerprint, len(passed)))
    return MergedData(
        processes=tuple(known.values()),
        programs=tuple(programs),
        local=tuple(program for program in joined if not program.is_shared),
        differences=tuple(sorted(walk.found, key=lambda d: (d.position, d.process))),
    )


_Queue = dict[str, ProgramFacts]
"""The shared programs of one process by their fingerprint, in the order it first compiled them."""


def _queues(ordered: Sequence[ProgramFacts]) -> dict[int, _Queue]:
    queues: dict[int, _Queue] = {}
    for facts in ordered:
        if facts.is_shared:
            # A process that compiles a program again runs a program that others have in their caches.
            queues.setdefault(facts.process, {}).setdefault(facts.fingerprint, facts)
    return queues


def _processes(
    ordered: Sequence[ProgramFacts], shared: Mapping[int, _Queue], known: Iterable[MergedProcess]
) -> dict[int, MergedProcess]:
    """Every process with records, with expected records, or known from other facts."""
    found = {process.index: process for process in known}
    concerned = {process for facts in ordered for process in facts.processes if facts.is_shared}
    for index in concerned - found.keys() - {facts.process for facts in ordered}:
        found[index] = MergedProcess(index=index, has_saved=False)
    counts: dict[int, int] = {}
    for facts in ordered:
        counts[facts.process] = counts.get(facts.process, 0) + 1
    for index, count in counts.items():
        process = found.get(index, MergedProcess(index=index))
        found[index] = replace(process, records=count, shared=len(shared.get(index, ())), has_saved=True)
    return dict(sorted(found.items()))


def _join(ordered: Sequence[ProgramFacts]) -> list[MergedProgram]:
    """The records of one fingerprint together, in the order of their first records."""
    groups: dict[tuple[bool, str], list[ProgramFacts]] = {}
    for facts in ordered:
        groups.setdefault((facts.is_shared, facts.fingerprint), []).append(facts)
    return [
        MergedProgram(
            name=first.name,
            transform=first.transform,
            where=first.where,
            fingerprint=first.fingerprint,
            processes=first.processes,
            records=(first, *more),
        )
        for first, *more in groups.values()
    ]


# ---------------------------------------------------------------- walking in step


@dataclass(slots=True)
class _Merging:
    """The processes on their way through the shared programs."""

    queues: dict[int, _Queue]
    processes: Mapping[int, MergedProcess]
    compare: Compare
    compare_optimized: Compare
    order: list[str] = field(default_factory=list)
    found: list[ProcessDifference] = field(default_factory=list)
    _at: dict[int, list[str]] = field(default_factory=dict)

    def run(self) -> None:
        """Find the order of the programs, and the first difference of each process."""
        # Backwards, so that the next program is the last of its list.
        self._at = {process: list(queue)[::-1] for process, queue in sorted(self.queues.items())}
        self._note_absent()
        while any(self._at.values()):
            passed = next((head for head in self._heads() if not self._lacking(head)), None)
            if passed is None:
                self._leave_behind()
            else:
                self._pass(passed)

    def _heads(self) -> list[str]:
        return list(dict.fromkeys(ahead[-1] for ahead in self._at.values() if ahead))

    def _concerned(self, program: str) -> list[int]:
        """The processes that are still walking and take part in it."""
        return [p for p in self._facts(program).processes if p in self._at]

    def _facts(self, program: str) -> ProgramFacts:
        return next(queue[program] for queue in self.queues.values() if program in queue)

    def _lacking(self, program: str) -> list[int]:
        """The processes of a program that have not reached it."""
        return [p for p in self._concerned(program) if not self._at[p] or self._at[p][-1] != program]

    def _arrived(self, program: str) -> list[int]:
        return [p for p, ahead in self._at.items() if ahead and ahead[-1] == program]

    def _pass(self, program: str) -> None:
        arrived = self._arrived(program)
        self._compare_optimized(program, arrived)
        self.order.append(program)
        for process in arrived:
            if process in self._at:
                self._at[process].pop()

    def _leave_behind(self) -> None:
        """Names the processes that do not reach the program most wait for, and continues without them."""
        expected = max(self._heads(), key=self._weight)
        arrived, lacking = self._arrived(expected), self._lacking(expected)
        ended = [process for process in lacking if not self._at[process]]
        if len(ended) >= len(arrived):
            # At least as many are through: those that go on have one program more.
            found = [self._one_more(process, ended[0], expected) for process in arrived]
        else:
            found = [self._difference(process, arrived[0], expected) for process in lacking]
        self.found += found
        for difference in found:
            del self._at[difference.process]

    def _weight(self, program: str) -> tuple[int, int, int]:
        """Rank of a program that processes wait for: most waiting, then fewest lacking it, then the lowest process."""
        arrived = self._arrived(program)
        # For a process with unreadable files the missing programs are unknown.
        whole = (p for p in self._concerned(program) if not self.processes[p].unread)
        without = sum(program not in self._at[p] for p in whole)
        return len(arrived), -without, -arrived[0]

    # ------------------------------------------------------------ what differs

    def _note_absent(self) -> None:
        absent = {p for queue in self.queues.values() for facts in queue.values() for p in facts.processes}
        for process in sorted(absent - self.queues.keys()):
            first = next(f for queue in self.queues.values() for f in queue.values() if process in f.processes)
            words = "{}, and takes part in {}, which process {} has"
            sentence = say(words, self._nothing_of(process), _name(first), first.process)
            self._add("no records", process, first, first, sentence)

    def _nothing_of(self, process: int) -> str:
        known = self.processes[process]
        if known.unread:
            return f"process {process} has no readable record ({known.unread} could not be read)"
        if known.records:
            return f"process {process} has records, but none of a program on several processes"
        if known.has_saved:
            return f"process {process} saved a log without records"
        return f"process {process} has no file or folder among those given"

    def _add(
        self, kind: DifferenceKind, process: int, reference: ProgramFacts, at: ProgramFacts, sentence: Sentence
    ) -> None:
        position = list(self.queues[reference.process]).index(reference.fingerprint)
        self.found.append(
            ProcessDifference(
                process=process,
                other=reference.process,
                kind=kind,
                position=position,
                name=at.name,
                where=at.where,
                sentence=sentence,
            )
        )

    def _difference(self, process: int, reference: int, expected: str) -> ProcessDifference:
        """The difference of a process that has not reached the program in which `reference` waits."""
        wanted = self.queues[reference][expected]
        ahead = self._at[process]
        here = self.queues[process][ahead[-1]] if ahead else None
        kind = self._kind(process, reference, wanted, here)
        details = self.compare(wanted, here) if kind == "program" and here is not None else ()
        shown = wanted if here is None or kind == "missing" else here
        sentence = _sentence(kind, process, wanted, here)
        if kind == "missing" and here is not None and here.fingerprint in self.queues[reference]:
            sentence = say("{}, to which process {} comes at another time", sentence, reference)
        return ProcessDifference(
            process=process,
            other=reference,
            kind=kind,
            position=list(self.queues[reference]).index(expected),
            name=shown.name,
            where=shown.where,
            sentence=sentence + self._caveat(wanted),
            details=details,
        )

    def _one_more(self, process: int, reference: int, program: str) -> ProcessDifference:
        """A program behind the last of `reference`'s."""
        here = self.queues[process][program]
        is_alone = sum(program in queue for queue in self.queues.values()) == 1
        others = "no other process did" if is_alone else f"process {reference} did not"
        sentence = say("process {} compiled {} at the end, which {}", process, _name(here), others)
        return ProcessDifference(
            process=process,
            other=reference,
            kind="extra",
            position=len(self.queues[reference]),
            name=here.name,
            where=here.where,
            sentence=sentence + self._caveat(here),
        )

    def _caveat(self, wanted: ProgramFacts) -> str:
        """The unreadable files of processes that take part in a program; "" for none."""
        unread = [(p, self.processes[p].unread) for p in wanted.processes if self.processes[p].unread]
        found = [f"{count} file{'s' * (count != 1)} of process {p} could not be read" for p, count in unread]
        return f"; but {', '.join(found)}" if found else ""

    def _kind(self, process: int, reference: int, wanted: ProgramFacts, here: ProgramFacts | None) -> DifferenceKind:
        has_it = wanted.fingerprint in self._at[process]
        if here is None:
            return "missing"
        is_elsewhere = any(here.fingerprint in queue for p, queue in self.queues.items() if p != process)
        if has_it:
            return "order" if is_elsewhere else "extra"
        is_twin = (here.name, here.transform) == (wanted.name, wanted.transform)
        return "program" if is_twin and here.fingerprint not in self.queues[reference] else "missing"

    def _compare_optimized(self, program: str, arrived: Sequence[int]) -> None:
        first = self.queues[arrived[0]][program]
        for process in arrived[1:]:
            facts = self.queues[process][program]
            if not first.optimized or not facts.optimized or first.optimized == facts.optimized:
                continue
            details = self.compare_optimized(first, facts)
            if details:
                self._leave_for_optimized(first, facts, details)

    def _leave_for_optimized(self, first: ProgramFacts, facts: ProgramFacts, details: tuple[Sentence, ...]) -> None:
        sentence = say(
            "process {} compiled {} to other collectives than process {}, from the same program",
            facts.process, _name(facts), first.process,
        )  # fmt: skip
        self._add("compiled differently", facts.process, first, facts, sentence)
        self.found[-1] = replace(self.found[-1], details=details)
        del self._at[facts.process]


def _sentence(kind: DifferenceKind, process: int, wanted: ProgramFacts, here: ProgramFacts | None) -> Sentence:
    other = say("process {} compiled {}", wanted.process, _name(wanted))
    if here is None:
        return say("process {} compiled nothing more, where {}", process, other)
    mine = say("process {} compiled {}", process, _name(here))
    if kind == "order":
        return say("{} first, where {}", mine, other)
    if kind == "extra":
        return say("{}, which no other process did, where {}", mine, other)
    if kind == "program":
        return say("process {} compiled another program for {} than process {}", process, _name(here), wanted.process)
    return say(
        "process {} did not compile {}, as process {} did; in its place it compiled {}",
        process, _name(wanted), wanted.process, _name(here),
    )  # fmt: skip


def _name(facts: ProgramFacts) -> Sentence:
    what = name(shortened(facts.name))
    return say("{}", what) if facts.where is None else say("{} ({})", what, place(shortened(facts.where.where)))


_APART_S = 300.0
"""Hosts' clocks differ by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One Python process that made records.

    Two are equal if they are the same Python process; times do not count.

    Attributes:
      process, count: `jax.process_index()` and `jax.process_count()`.
      name: an identifier of the Python process; "" if unknown.
      began_s, ended_s: begin of its first compile and end of its last, in seconds since 1970; 0.0 if unknown.
    """

    process: int
    count: int
    name: str = ""
    began_s: float = field(default=0.0, compare=False)
    ended_s: float = field(default=0.0, compare=False)


def choose_sessions(records: Iterable[Session]) -> tuple[frozenset[Session], tuple[str, ...]]:
    """The sessions of the newest run, and a sentence for each that is left out or looks like one of another run.

    `records` has the session of each record. Of several with one process index the newest counts.
    """
    sessions, counts = _together(records)
    if not sessions:
        return frozenset(), ()
    newest = max(sessions, key=lambda session: session.ended_s)
    chosen: dict[int, Session] = {}
    for session in sorted(sessions, key=lambda session: session.ended_s):
        if session.count == newest.count:
            chosen[session.process] = session
    left_out = [session for session in sessions if session not in chosen.values()]
    notes = [_left_out(session, counts[session], newest) for session in left_out]
    return frozenset(chosen.values()), (*notes, *_apart(list(chosen.values())))


def _together(records: Iterable[Session]) -> tuple[list[Session], dict[Session, int]]:
    """Each session once, with the times of all its records, and its number of records."""
    found: dict[Session, Session] = {}
    counts: dict[Session, int] = {}
    for one in records:
        before = found.get(one, one)
        span = (min(before.began_s, one.began_s), max(before.ended_s, one.ended_s))
        found[one] = replace(before, began_s=span[0], ended_s=span[1])
        counts[one] = counts.get(one, 0) + 1
    return list(found.values()), counts


def _left_out(session: Session, records: int, newest: Session) -> str:
    what = f"{records} record{'s' * (records != 1)} of process {session.process}"
    if session.count != newest.count:
        return f"left out: {what} of {session.count}, as the newest run has {newest.count}"
    return f"left out: {what}, made by another Python process than its newest records: another run"


def _apart(chosen: Sequence[Session]) -> list[str]:
    """A sentence for each process that had ended long before the newest began."""
    known = [session for session in chosen if session.began_s > 0.0]
    if not known:
        return []
    newest = max(known, key=lambda session: session.began_s)
    return [
        f"process {session.process} made its last record {(newest.began_s - session.ended_s) / 60:,.0f} minutes before "
        f"process {newest.process} made its first: they may be of different runs, or their clocks differ"
        for session in sorted(known, key=lambda session: session.process)
        if newest.began_s - session.ended_s > _APART_S
    ]
