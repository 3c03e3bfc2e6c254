"""Runs JAX's profiler around a block.

It starts before the block, and stops after all work begun in the block has run. JAX runs one profiler at a time. If it
cannot start, the block runs without it and `Profiler.missing` says why; if the block starts another profiler, this one
is ended. Code in the block does not see this profiler. Not its job: reading the file (`parse.profile`).
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.profiler
import numpy as np

from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import Guard
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.watch.listener import unseen

_STEP = "measured times of kernels"
_ONLY_HLO = 1
"""Profiler level at which a host reports its runs of HLO instructions, and little else."""


class Profiler:
    """One run of JAX's profiler. Errors are reported in one warning and kept in `missing`; interrupts pass.

    Attributes:
      trace: its output, a serialised `XSpace`, once it is closed.
      missing: why it wrote nothing; "" if nothing failed.
    """

    _running: ClassVar[_jax.HiddenProfile | None] = None

    def __init__(self) -> None:
        self.trace: bytes = b""
        self.missing: str = ""
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._fence: _Fence | None = None
        self._hidden: _jax.HiddenProfile | None = None

    def open(self) -> None:
        """Wait for running work, and start the profiler. JAX's devices exist afterwards."""
        guard = Guard()
        guard.run(_STEP, self._start, None)
        self._keep(guard)

    def close(self, *, is_interrupted: bool) -> None:
        """Wait for the block's work (unless interrupted), stop the profiler and read its output."""
        folder = self._folder
        if folder is None:
            return
        guard = Guard()
        try:
            guard.run(_STEP, lambda: self._stop(wait=not is_interrupted), None)
            if is_interrupted:
                self.missing = self.missing or "the measured block was interrupted"
            elif not guard.failed:
                self.trace = guard.run(_STEP, lambda: read_trace(Path(folder.name)), b"")
        finally:
            with suppress(Exception):
                # Whatever failed above, a user's profiler must be able to start.
                if self._bring_back() or _jax.profile_folder() == folder.name:
                    jax.profiler.stop_trace()
            folder.cleanup()
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
                # Any profiler that runs now is the user's.
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


class _Fence:
    """Waits for all work on the devices of this process, including work whose results nobody holds.

    A separate program over all devices is queued behind the others. It is compiled here, unseen by captures.
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
        for held in jax.live_arrays():
            with suppress(Exception):
                held.block_until_ready()
        self._run(self._given).block_until_ready()


def _pjit_inspect_waits(given: Any) -> Any:
    return given.sum()


MAX_BYTES = 1 << 30
"""The largest file of the profiler that is read; it takes about as much memory."""


def read_trace(folder: Path) -> bytes:
    """The file that the profiler wrote to a folder. Raises CaptureError when there is none, or too large a one."""
    files = sorted(folder.rglob("*.xplane.pb"))
    if not files:
        raise CaptureError("JAX's profiler wrote no trace")
    size = files[-1].stat().st_size
    if size > MAX_BYTES:
        raise CaptureError(f"the profiler's trace has {size:,} bytes, at most {MAX_BYTES:,} are read: measure less")
    return files[-1].read_bytes()
