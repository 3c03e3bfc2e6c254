"""JAX's profiler around a block: on before it, off after all that the block began has run.

JAX runs one profiler at a time. Where it cannot start, the block runs without it and `Profiler.missing` says why. Not
its job: reading what it wrote (`observe.profiler.profile_file`), or whose runs they are
(`analyze.report.kernel_times`).
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import jax
import jax.profiler
import numpy as np

from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import Guard
from pjit_inspect.model.record.profile import ProfiledRun
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.profiler.profile_file import read_profile
from pjit_inspect.observe.watch.listener import unseen

__all__ = ["Profiler"]

_STEP = "measured times of kernels"
_ONLY_HLO = 1
"""The profiler's level at which a host says when it runs HLO instructions, and little else."""


class Profiler:
    """One run of JAX's profiler. Its errors are warned of once and kept in `missing`; interrupts pass.

    Attributes:
      runs: what it saw, once it is closed.
      missing: why it saw nothing; "" while nothing went wrong.
    """

    def __init__(self) -> None:
        self.runs: tuple[ProfiledRun, ...] = ()
        self.missing = ""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._fence: _Fence | None = None

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
                if _jax.profile_folder() == self._folder.name:
                    jax.profiler.stop_trace()
            self._folder.cleanup()
            self._folder = self._fence = None
            self._keep(guard)

    def _keep(self, guard: Guard) -> None:
        self.missing = self.missing or "".join(guard.failed.values())

    def _start(self) -> None:
        if _jax.profile_folder() is not None:
            raise CaptureError("JAX's profiler is running already, and it runs once at a time")
        self._fence = _Fence()
        self._fence.wait()
        self._folder = tempfile.TemporaryDirectory(prefix="pjit_inspect_", ignore_cleanup_errors=True)
        try:
            options = jax.profiler.ProfileOptions()
            options.python_tracer_level, options.host_tracer_level = 0, _ONLY_HLO
            jax.profiler.start_trace(self._folder.name, profiler_options=options)
        except Exception:
            self._folder.cleanup()
            self._folder = None
            raise

    def _stop(self, *, wait: bool) -> None:
        try:
            if wait and self._fence is not None:
                self._fence.wait()
        finally:
            if self._folder is None or _jax.profile_folder() != self._folder.name:
                # Whatever runs now, if anything, is the user's own.
                raise CaptureError("JAX's profiler was stopped before the measured block ended")
            try:
                jax.profiler.stop_trace()
            except Exception:
                # JAX would take a profiler that failed to stop for one that still runs.
                _jax.forget_profile()
                raise

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
