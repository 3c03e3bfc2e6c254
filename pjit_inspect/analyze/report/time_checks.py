"""What the profiler's events of one program must agree with: its counts of runs, and loops with what they run.

On CPU the event of a loop ends when the loop first has to wait, while what it runs goes on; then the loop took what it
ran. Not its job: whose events they are (`analyze.report.kernel_times`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pjit_inspect.model.record.profile import ProfiledRun

__all__ = ["Settled", "miscounted", "settled"]

_ROUNDING = 1.001
"""The profiler's clock has picoseconds, our sums of nanoseconds have floats."""

_OVERLAP = "its event ends before what it runs, and what it runs overlaps in time"
_SHARED = "what it runs is run by other instructions too"


@dataclass(slots=True)
class Settled:
    """The times of one run on one device.

    Attributes:
      times_ns: instruction -> nanoseconds; of a region at least those of what it runs.
      unknown: region -> why its time is not known.
    """

    times_ns: dict[str, float]
    unknown: dict[str, str] = field(default_factory=dict)


def miscounted(op: str, runs: Sequence[ProfiledRun], counts: Mapping[str, tuple[int, int]], pieces: int = 1) -> str:
    """What is wrong with how often an instruction ran in some call; "" when nothing is, or nobody knows.

    `pieces` is how many events one run of it has at most, the same number in all runs.
    """
    if op not in counts:
        return ""
    least, most = counts[op]
    seen = [run.ops[op][0] if op in run.ops else 0 for run in runs]
    if pieces > 1 and least != most:
        return "one run of it is several events, and the profiler does not say how often it ran"
    if any(all(least * k <= number <= most * k for number in seen) for k in range(1, pieces + 1)):
        return ""
    odd = next(number for number in seen if not least <= number <= most)
    wanted = f"{'at most ' if least != most else ''}{_times(most)}"
    return f"the profiler saw it {_times(odd)} in a call, but the program runs it {wanted}"


def _times(number: int) -> str:
    return {0: "never", 1: "once", 2: "twice"}.get(number, f"{number:,} times")


def settled(run: ProfiledRun, contents: Mapping[str, frozenset[str] | None], once: Collection[str]) -> Settled:
    """The times of a run; `contents` are in the order of `MeasuredProgram.contents`, `once` as there."""
    times = {op: total for op, (_, total) in run.ops.items()}
    unknown, replaced = dict[str, str](), set[str]()
    for region, inside in contents.items():
        if region not in times:
            continue
        if inside is None:
            unknown[region] = _SHARED
            continue
        held = sum(times[op] for op in inside if op in times)
        if held > times[region]:
            times[region] = held
            replaced.add(region)
    # One thing after another takes no longer than the call; where it does, things ran at once, and no sum is a time.
    if replaced and sum(times[op] for op in once if op in times) > (run.ended_ns - run.began_ns) * _ROUNDING:
        unknown |= dict.fromkeys(replaced, _OVERLAP)
    return Settled(times_ns=times, unknown=unknown)
