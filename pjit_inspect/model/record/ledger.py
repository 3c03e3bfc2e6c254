"""The ledger of compiles: the cost of each function and call site, and cheaper ways.

Not its job: adding it up (`analyze.recompiles.ledger`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import Origin, Timings
from pjit_inspect.model.words.sentence import Sentence

PatternKind = Literal[
    "varying dimension", "static argument", "made anew", "weak type", "numpy and jax.Array", "feedback", "eager loop",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One compile in the ledger.

    Attributes:
      index: its position in the log.
      name: the function.
      transform: the transform that made it.
      timings: seconds and begin of each stage.
      disk: True when the program came from the compilation cache on disk.
      thread: the thread that compiled.
      cell: the notebook cell it was called from ("In [7]"); None outside notebooks.
      reason: the reason of the compile.
    """

    index: int
    name: str
    transform: str
    timings: Timings
    disk: bool
    thread: str
    cell: str | None
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedReason:
    """A reason shared by compiles of one row.

    Attributes:
      sentence: the sentence of the newest compile.
      count: the number of compiles.
      same: True if their sentences are equal, False if the values in them differ.
    """

    sentence: Sentence
    count: int
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """The compiles of one function from one call site.

    Attributes:
      name: the function as the user wrote it.
      origin: the origin of the compiles.
      where: the calling line of the newest compile; None without user code on the stack.
      entries: the compiles, oldest first.
      trace_s, lower_s, compile_s: seconds of each stage over all compiles (measured); stages that JAX skipped count 0.
      missed: number of compiles by the first of JAX's caches that they missed.
      from_disk: number of programs loaded from the compilation cache on disk.
      missed_disk: number of programs the disk cache lacked; 0 if it is off.
      reasons: why it was compiled again, the most frequent first; without the first compile's reason.
    """

    name: str
    origin: Origin
    where: Frame | None
    entries: tuple[LedgerEntry, ...]
    trace_s: float
    lower_s: float
    compile_s: float
    missed: tuple[tuple[str, int], ...] = ()
    from_disk: int = 0
    missed_disk: int = 0
    reasons: tuple[RepeatedReason, ...] = ()

    @property
    def compiles(self) -> int:
        """The number of programs compiled or loaded from disk."""
        return len(self.entries)

    @property
    def untimed(self) -> int:
        """The number of compiles without known seconds, such as programs from a dump; they count 0 in the sums."""
        return sum(_is_untimed(entry.timings) for entry in self.entries)

    @property
    def total_s(self) -> float:
        """Seconds of all stages of all compiles (measured)."""
        return self.trace_s + self.lower_s + self.compile_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A habit of the program that makes JAX compile again and again.

    Attributes:
      kind: the kind of habit.
      name: the function; for eager operations, all of their names.
      where: the call site; None if unknown.
      path: the argument, static argument or closed-over value it is about; "" for none.
      compiles: number of compiles it explains.
      cost_s: seconds of these compiles (measured).
      values: the values seen, by size or in order of appearance, at most 64; for "eager loop" the reasons of its
        compiles, each a `Sentence`.
      buckets: lengths to pad to, one program each; () if padding does not apply or would save none.
      sentence: the pattern in words.
      advice: a remedy; "" if none is known.
    """

    kind: PatternKind
    name: str
    where: Frame | None = None
    path: str = ""
    compiles: int
    cost_s: float
    values: tuple[str, ...] = ()
    buckets: tuple[int, ...] = ()
    sentence: Sentence
    advice: Sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerData:
    """Every compile of a log, added up.

    Attributes:
      rows: per function and call site, the most expensive first.
      patterns: repeating patterns, the most expensive first.
      known: functions that were called but not compiled, as JAX had them already; no row counts these.
    """

    rows: tuple[LedgerRow, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    known: int = 0

    @property
    def compiles(self) -> int:
        """The number of programs compiled or loaded from disk."""
        return sum(row.compiles for row in self.rows)

    @property
    def total_s(self) -> float:
        """Seconds of all stages of all compiles (measured)."""
        return sum(row.total_s for row in self.rows)

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """Every compile, in the order of the log."""
        return tuple(sorted((entry for row in self.rows for entry in row.entries), key=lambda entry: entry.index))


def _is_untimed(timings: Timings) -> bool:
    return timings.trace_s is timings.lower_s is timings.compile_s is None
