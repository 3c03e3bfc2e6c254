"""JAX's profiler around a block, and what it wrote, summed per HLO instruction.

It is on before the block, and off after all that the block began has run.

JAX runs one profiler at a time. Where it cannot start, the block runs without it and `Profiler.missing` says why; where
the block starts one of its own, this one makes way. For code in the block, none of ours is running. Not its job:
whose runs they are (`analyze.report.kernel_times`).
"""

from __future__ import annotations

import re
import tempfile
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.profiler
import numpy as np

from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import Guard
from pjit_inspect.model.record.profile import ProfiledRun
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.watch.listener import unseen

__all__ = ["MAX_BYTES", "MAX_EVENTS", "Profiler", "read_profile", "sum_events"]

_STEP = "measured times of kernels"
_ONLY_HLO = 1
"""The profiler's level at which a host says when it runs HLO instructions, and little else."""


class Profiler:
    """One run of JAX's profiler. Its errors are warned of once and kept in `missing`; interrupts pass.

    Attributes:
      runs: what it saw, once it is closed.
      missing: why it saw nothing; "" while nothing went wrong.
    """

    _running: ClassVar[_jax.HiddenProfile | None] = None

    def __init__(self) -> None:
        self.runs: tuple[ProfiledRun, ...] = ()
        self.missing: str = ""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._fence: _Fence | None = None
        self._hidden: _jax.HiddenProfile | None = None

    def open(self) -> None:
        """Wait for what runs, and start the profiler. JAX's devices exist from then on."""
        guard = Guard()
        guard.run(_STEP, self._start, None)
        self._keep(guard)

    def close(self, *, is_interrupted: bool) -> None:
        """Wait for what the block began (not if it was interrupted), stop the profiler and read what it saw."""
        if self._folder is None:
            return
        guard = Guard()
        try:
            guard.run(_STEP, lambda: self._stop(wait=not is_interrupted), None)
            if is_interrupted:
                self.missing = self.missing or "the measured block was interrupted"
            elif not guard.failed:
                self.runs = guard.run(_STEP, self._read, ())
        finally:
            with suppress(Exception):
                # Whatever failed above, a user's profiler must be able to start.
                if self._bring_back() or _jax.profile_folder() == self._folder.name:
                    jax.profiler.stop_trace()
            self._folder.cleanup()
            self._folder = self._fence = None
            self._keep(guard)

    def _keep(self, guard: Guard) -> None:
        self.missing = self.missing or "".join(guard.failed.values())

    def _start(self) -> None:
        if _jax.profile_folder() is not None or Profiler._running is not None:
            raise CaptureError("JAX's profiler is running already, and it runs once at a time")
        self._fence = _Fence()
        self._fence.wait()
        self._folder = tempfile.TemporaryDirectory(prefix="pjit_inspect_", ignore_cleanup_errors=True)
        try:
            options = jax.profiler.ProfileOptions()
            options.python_tracer_level, options.host_tracer_level = 0, _ONLY_HLO
            jax.profiler.start_trace(self._folder.name, profiler_options=options)
            self._hidden = Profiler._running = _jax.HiddenProfile()
        except Exception:
            self._folder.cleanup()
            self._folder = None
            raise

    def _stop(self, *, wait: bool) -> None:
        try:
            if wait and self._fence is not None:
                self._fence.wait()
        finally:
            if not self._bring_back():
                # Whatever runs now, if anything, is the user's own.
                raise CaptureError("the measured block started a profiler of its own, and JAX runs one at a time")
            try:
                jax.profiler.stop_trace()
            except Exception:
                # JAX would take a profiler that failed to stop for one that still runs.
                _jax.forget_profile()
                raise

    def _bring_back(self) -> bool:
        hidden, self._hidden = self._hidden, None
        if hidden is None:
            return False
        Profiler._running = None
        return hidden.bring_back()

    def _read(self) -> tuple[ProfiledRun, ...]:
        if self._folder is None:
            return ()
        runs = read_profile(Path(self._folder.name))
        if not runs:
            # Our own program at least has run.
            self.missing = "JAX's profiler names no HLO instructions on this platform"
        return runs


class _Fence:
    """A way to wait for all that runs on the devices of this process, also what nobody holds the results of.

    A program of its own over all of them is queued behind the others. It is compiled here, unseen by captures.
    """

    def __init__(self) -> None:
        devices = np.array(jax.local_devices())
        mesh = jax.sharding.Mesh(devices, ("all",))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("all"))
        with unseen():
            self._given = jax.device_put(np.zeros(len(devices), np.float32), sharding)
            self._run: Any = jax.jit(_pjit_inspect_waits).lower(self._given).compile()

    def wait(self) -> None:
        """Return when everything that was begun before has run. Errors of the user's programs stay where they are."""
        for array in jax.live_arrays():
            with suppress(Exception):
                array.block_until_ready()
        self._run(self._given).block_until_ready()


def _pjit_inspect_waits(given: Any) -> Any:
    return given.sum()


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
    sums_of: dict[_Key, _Sums] = {}
    left = MAX_EVENTS
    for plane in planes:
        match = _DEVICE.search(plane.name)
        device = int(match[1]) if match else -1
        for line in plane.lines:
            for event in line.events:
                left -= 1
                if left < 0:
                    raise CaptureError(f"the profiler's trace has over {MAX_EVENTS:,} events: measure fewer calls")
                _add(sums_of, event, device)
    return tuple(sums.run(key) for key, sums in sums_of.items())


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
