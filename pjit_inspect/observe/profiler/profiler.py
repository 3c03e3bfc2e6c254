"""Runs JAX's profiler around a block, and sums its events per HLO instruction.

It starts before the block, and stops after all work begun in the block has run. JAX runs one profiler at a time. If it
cannot start, the block runs without it and `Profiler.missing` says why; if the block starts another profiler, this one
is ended. Code in the block does not see this profiler. Not its job: other contents of the file (`parse.files.xplane`),
assigning runs to programs (`analyze.measured.kernel_times`).
"""

from __future__ import annotations

import re
import tempfile
import warnings
from array import array
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.profiler
import numpy as np

from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import Guard
from pjit_inspect.model.record.kernel_times import GraphNode, ProfiledRun, Spans
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

MAX_EVENTS = 2_000_000
"""Events that are read at the most: about ten seconds."""

_DEVICE = re.compile(r"/device:\w+:(\d+)")
_Key = tuple[str, int | None, int | None, int]


def read_trace(folder: Path) -> bytes:
    """The file that the profiler wrote to a folder. Raises CaptureError when there is none, or too large a one."""
    files = sorted(folder.rglob("*.xplane.pb"))
    if not files:
        raise CaptureError("JAX's profiler wrote no trace")
    size = files[-1].stat().st_size
    if size > MAX_BYTES:
        raise CaptureError(f"the profiler's trace has {size:,} bytes, at most {MAX_BYTES:,} are read: measure less")
    return files[-1].read_bytes()


def read_runs(trace: bytes, parents: Mapping[int, int]) -> tuple[ProfiledRun, ...]:
    """The runs in a trace; `parents` are those of `parse.files.xplane.TraceNotes`.

    Errors of jaxlib on a damaged file pass through.
    """
    from jax.profiler import ProfileData

    with warnings.catch_warnings():
        # jaxlib 0.12 warns within C++ on Python 3.13, where a warning made an error ends the process.
        warnings.simplefilter("ignore", DeprecationWarning)
        return sum_events(ProfileData.from_serialized_xspace(trace).planes, parents)


def sum_events(planes: Iterable[Any], parents: Mapping[int, int]) -> tuple[ProfiledRun, ...]:
    """The runs that the events of a profile tell of. Raises CaptureError for more than `MAX_EVENTS` events."""
    sums_of: dict[_Key, _Sums] = {}
    scopes, left = _Scopes(parents), MAX_EVENTS
    for plane in planes:
        match = _DEVICE.search(plane.name)
        device = int(match[1]) if match else -1
        for line in plane.lines:
            for event in line.events:
                left -= 1
                if left < 0:
                    raise CaptureError(f"the profiler's trace has over {MAX_EVENTS:,} events: measure fewer calls")
                _add(sums_of, event, device, scopes)
    return tuple(sums.run(key) for key, sums in _numbered(sums_of).items())


class _Scopes:
    """The outermost scope around each scope: on a GPU that is the run of a program."""

    def __init__(self, parents: Mapping[int, int]) -> None:
        self._parents = parents
        self._outermost: dict[int, int] = {}

    def outermost(self, scope: int) -> int | None:
        """The outermost scope around this one; None where nothing is known around it."""
        if scope not in self._parents:
            return None
        if scope not in self._outermost:
            at, left = scope, len(self._parents)
            while at in self._parents and left:
                at, left = self._parents[at], left - 1
            self._outermost[scope] = at
        return self._outermost[scope]


def _add(found: dict[_Key, _Sums], event: Any, device: int, scopes: _Scopes) -> None:
    stats = dict(event.stats)
    op, module = stats.get("hlo_op"), stats.get("hlo_module")
    if op is None or module is None:
        return
    scope = _number(stats, "scope_range_id")
    run = _number(stats, "run_id", None if scope is None else scopes.outermost(scope))
    key = (str(module), _number(stats, "program_id"), run, _number(stats, "device_ordinal", device))
    sums = found.get(key)
    if sums is None:
        sums = found[key] = _Sums(is_scoped=scope is not None)
    node = _number(stats, "cuda_graph_node_id")
    what = str(op) if node is None else (str(op), node, event.name)
    sums.add(what, scope, float(event.start_ns), float(event.duration_ns))


def _number(stats: dict[str, Any], name: str, default: Any = None) -> Any:
    value = stats.get(name)
    return default if value is None else int(value)


def _numbered(found: dict[_Key, _Sums]) -> dict[_Key, _Sums]:
    """The sums, where runs identified by scope get the number they share on all devices.

    A scope belongs to one device. Each device runs the calls of a program in the same order, and they are counted in
    that order. If devices have different numbers of runs, the runs cannot be matched and get no number.
    """
    runs_of: dict[tuple[str, int | None], dict[int, list[_Key]]] = {}
    for key in sorted((key for key, sums in found.items() if sums.is_scoped), key=lambda key: found[key].began_ns):
        runs_of.setdefault(key[:2], {}).setdefault(key[3], []).append(key)
    number_of: dict[_Key, int | None] = {}
    for of_device in runs_of.values():
        is_equal = len({len(keys) for keys in of_device.values()}) == 1
        for keys in of_device.values():
            number_of |= {key: number if is_equal and key[2] is not None else None for number, key in enumerate(keys)}
    return {(*key[:2], number_of.get(key, key[2]), key[3]): sums for key, sums in found.items()}


_NO_SCOPE = -1
_LARGEST = (1 << 63) - 1
"""The largest number of a column. A damaged file may have larger ones."""


class _Sums:
    """The events of one run on one device, as columns, and their sums.

    With scopes, the number of an instruction's runs is the number of its scopes: one run can be several kernels.
    Without scopes, each event is a run.
    """

    __slots__ = ("_began", "_lasted", "_places", "_scopes", "_what", "is_scoped")

    def __init__(self, *, is_scoped: bool) -> None:
        self.is_scoped = is_scoped
        self._places: dict[str | tuple[str, int, str], int] = {}
        self._what, self._scopes = array("q"), array("q")
        self._began, self._lasted = array("d"), array("d")

    def add(self, what: str | tuple[str, int, str], scope: int | None, start_ns: float, duration_ns: float) -> None:
        """Adds an event of an instruction; or of a graph node: the name in the event, its number and its kernel."""
        self._what.append(self._places.setdefault(what, len(self._places)))
        self._scopes.append(_NO_SCOPE if scope is None else scope & _LARGEST)
        self._began.append(start_ns)
        self._lasted.append(duration_ns)

    @property
    def began_ns(self) -> float:
        return min(self._began)

    def run(self, key: _Key) -> ProfiledRun:
        module, program, run, device = key
        what, began = np.array(self._what), np.array(self._began)
        ended = began + np.array(self._lasted)
        numbers = zip(self._counts(what).tolist(), np.bincount(what, self._lasted).tolist(), strict=True)
        sums = dict(zip(map(_named, self._places), numbers, strict=True))
        first = np.full(len(sums), np.inf)
        np.minimum.at(first, what, began)
        # Events come by stream, and one stream may be told of before another that ran first.
        nodes = [one for _, one in sorted(zip(first.tolist(), sums, strict=True), key=lambda pair: pair[0])]
        return ProfiledRun(
            module=module,
            program=program,
            run=run,
            device=device,
            began_ns=float(began.min()),
            ended_ns=float(ended.max()),
            ops={one: found for one, found in sums.items() if isinstance(one, str)},
            nodes={one: sums[one] for one in nodes if isinstance(one, GraphNode)},
            spans=_spans(sums, what, began, ended) if self.is_scoped else None,
        )

    def _counts(self, what: np.ndarray) -> np.ndarray:
        scopes, number = np.array(self._scopes), len(self._places)
        plain = scopes == _NO_SCOPE
        scoped = np.unique(np.stack([what[~plain], scopes[~plain]]), axis=1)[0]
        return np.bincount(what[plain], minlength=number) + np.bincount(scoped, minlength=number)


def _named(what: str | tuple[str, int, str]) -> str | GraphNode:
    if isinstance(what, str):
        return what
    op, number, kernel = what
    # CUDA's number of a node: that of its graph in the upper half.
    return GraphNode(buffer=op, graph=number >> 32, number=number & 0xFFFFFFFF, kernel=kernel)


def _spans(
    names: Iterable[str | GraphNode], what: np.ndarray, began: np.ndarray, ended: np.ndarray
) -> dict[str | GraphNode, Spans]:
    """The events of each name; `what` is the index of each event's name."""
    order = np.argsort(what, kind="stable")
    sides = [of[order] for of in (began, ended)]
    cuts = pairwise((0, *np.cumsum(np.bincount(what)).tolist()))
    return {name: (sides[0][at:end], sides[1][at:end]) for name, (at, end) in zip(names, cuts, strict=True)}
