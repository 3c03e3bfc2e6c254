"""Reads what JAX's profiler wrote: every run of every program on every device, summed per HLO instruction.

Not its job: running the profiler (`observe.profiler.profiler`), or which record a run belongs to
(`analyze.report.kernel_times`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pjit_inspect.errors import CaptureError
from pjit_inspect.model.record.profile import ProfiledRun

__all__ = ["MAX_BYTES", "MAX_EVENTS", "read_profile", "sum_events"]

MAX_BYTES = 1 << 30
"""The largest file of the profiler that is read; it takes about as much memory."""

MAX_EVENTS = 2_000_000
"""Events that are read at the most: about ten seconds."""

_DEVICE = re.compile(r"/device:\w+:(\d+)")
_Key = tuple[str, int | None, int | None, int]


def read_profile(folder: Path) -> tuple[ProfiledRun, ...]:
    """The runs in a folder that the profiler wrote to. Raises CaptureError when there is no trace or too large a one.

    What jaxlib raises on a damaged file passes through.
    """
    from jax.profiler import ProfileData

    files = sorted(folder.rglob("*.xplane.pb"))
    if not files:
        raise CaptureError("JAX's profiler wrote no trace")
    size = files[-1].stat().st_size
    if size > MAX_BYTES:
        raise CaptureError(f"the profiler's trace has {size:,} bytes, at most {MAX_BYTES:,} are read: measure less")
    with warnings.catch_warnings():
        # jaxlib 0.12 warns within C++ on Python 3.13, where a warning made an error ends the process.
        warnings.simplefilter("ignore", DeprecationWarning)
        return sum_events(ProfileData.from_file(str(files[-1])).planes)


def sum_events(planes: Iterable[Any]) -> tuple[ProfiledRun, ...]:
    """The runs that the events of a profile tell of. Raises CaptureError for more than `MAX_EVENTS` events."""
    found: dict[_Key, _Sums] = {}
    left = MAX_EVENTS
    for plane in planes:
        match = _DEVICE.search(plane.name)
        device = int(match[1]) if match else -1
        for line in plane.lines:
            for event in line.events:
                left -= 1
                if left < 0:
                    raise CaptureError(f"the profiler's trace has over {MAX_EVENTS:,} events: measure fewer calls")
                _add(found, event, device)
    return tuple(sums.run(key) for key, sums in found.items())


def _add(found: dict[_Key, _Sums], event: Any, device: int) -> None:
    stats = dict(event.stats)
    op, module = stats.get("hlo_op"), stats.get("hlo_module")
    if op is None or module is None:
        return
    key = (
        str(module),
        _number(stats, "program_id"),
        _number(stats, "run_id"),
        _number(stats, "device_ordinal", device),
    )
    sums = found.get(key)
    if sums is None:
        sums = found[key] = _Sums()
    sums.add(str(op), float(event.start_ns), float(event.duration_ns))


def _number(stats: dict[str, Any], name: str, default: Any = None) -> Any:
    value = stats.get(name)
    return default if value is None else int(value)


class _Sums:
    """What the events of one run on one device add up to."""

    __slots__ = ("began_ns", "ended_ns", "ops")

    def __init__(self) -> None:
        self.began_ns, self.ended_ns = float("inf"), float("-inf")
        self.ops: dict[str, tuple[int, float]] = {}

    def add(self, op: str, start_ns: float, duration_ns: float) -> None:
        count, total_ns = self.ops.get(op, (0, 0.0))
        self.ops[op] = (count + 1, total_ns + duration_ns)
        self.began_ns = min(self.began_ns, start_ns)
        self.ended_ns = max(self.ended_ns, start_ns + duration_ns)

    def run(self, key: _Key) -> ProfiledRun:
        module, program, run, device = key
        return ProfiledRun(
            module=module,
            program=program,
            run=run,
            device=device,
            began_ns=self.began_ns,
            ended_ns=self.ended_ns,
            ops=self.ops,
        )
