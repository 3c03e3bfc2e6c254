"""JAX's profiler around a block, and the events that it wrote, summed per HLO instruction.

It is on before the block, and off after all that the block began has run.

JAX runs one profiler at a time. Where it cannot start, the block runs without it and `Profiler.missing` says why; where
the block starts one of its own, this one makes way. For code in the block, none of ours is running. Not its job:
what the file has beside events (`parse.files.xplane`), whose runs they are (`analyze.report.profiled_programs`).
"""

from __future__ import annotations

import re
import tempfile
import warnings
from array import array
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.profiler
import numpy as np

from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import Guard
from pjit_inspect.model.record.profile import GraphNode, ProfiledRun
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.watch.listener import unseen

__all__ = ["MAX_BYTES", "MAX_EVENTS", "Profiler", "read_runs", "read_trace", "sum_events"]

_STEP = "measured times of kernels"
_ONLY_HLO = 1
"""The profiler's level at which a host says when it runs HLO instructions, and little else."""


class Profiler:
    """One run of JAX's profiler. Its errors are warned of once and kept in `missing`; interrupts pass.

    Attributes:
      trace: what it wrote, a serialised `XSpace`, once it is closed.
      missing: why it wrote nothing; "" while nothing went wrong.
    """

    _running: ClassVar[_jax.HiddenProfile | None] = None

    def __init__(self) -> None:
        self.trace: bytes = b""
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
        """Wait for what the block began (not if it was interrupted), stop the profiler and read what it wrote."""
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

    What jaxlib raises on a damaged file passes through.
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
    node = stats.get("cuda_graph_node_id")
    what = str(op) if node is None else _node(str(op), int(node), event.name)
    sums.add(what, scope, float(event.start_ns), float(event.duration_ns))


def _node(op: str, number: int, kernel: str) -> GraphNode:
    # CUDA's number of a node: that of its graph in the upper half.
    return GraphNode(buffer=op, graph=number >> 32, number=number & 0xFFFFFFFF, kernel=kernel)


def _number(stats: dict[str, Any], name: str, default: Any = None) -> Any:
    value = stats.get(name)
    return default if value is None else int(value)


def _numbered(found: dict[_Key, _Sums]) -> dict[_Key, _Sums]:
    """The same, where a run that is known by its scope has the number that it has on all devices.

    A scope is of one device. Each device runs the calls of a program in one order, so that they are counted there.
    Where devices ran it unequally often, nobody knows which run belongs to which, and they have no number.
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


class _Sums:
    """What the events of one run on one device add up to.

    With scopes, an instruction ran as often as there are scopes of it: one run of it can be several kernels. Without,
    each event is a run.
    """

    __slots__ = ("_scopes", "_spans", "began_ns", "ended_ns", "is_scoped", "nodes", "ops")

    def __init__(self, *, is_scoped: bool) -> None:
        self.began_ns, self.ended_ns = float("inf"), float("-inf")
        self.ops: dict[str, tuple[int, float]] = {}
        self.nodes: dict[GraphNode, tuple[int, float]] = {}
        self.is_scoped = is_scoped
        self._scopes: set[tuple[str | GraphNode, int]] = set()
        self._spans: dict[str | GraphNode, tuple[array[float], array[float]]] = {}

    def add(self, what: str | GraphNode, scope: int | None, start_ns: float, duration_ns: float) -> None:
        sums: dict[Any, tuple[int, float]] = self.nodes if isinstance(what, GraphNode) else self.ops
        count, total_ns = sums.get(what, (0, 0.0))
        is_new_run = scope is None or (what, scope) not in self._scopes
        sums[what] = (count + is_new_run, total_ns + duration_ns)
        if scope is not None:
            self._scopes.add((what, scope))
        if scope is not None or isinstance(what, GraphNode):
            began, ended = self._spans.setdefault(what, (array("d"), array("d")))
            began.append(start_ns)
            ended.append(start_ns + duration_ns)
        self.began_ns = min(self.began_ns, start_ns)
        self.ended_ns = max(self.ended_ns, start_ns + duration_ns)

    def run(self, key: _Key) -> ProfiledRun:
        module, program, run, device = key
        spans = {what: (np.array(began), np.array(ended)) for what, (began, ended) in self._spans.items()}
        # Events come by stream, and one stream may be told of before another that ran first.
        nodes = sorted(self.nodes, key=lambda node: float(spans[node][0].min()))
        return ProfiledRun(
            module=module,
            program=program,
            run=run,
            device=device,
            began_ns=self.began_ns,
            ended_ns=self.ended_ns,
            ops=self.ops,
            nodes={node: self.nodes[node] for node in nodes},
            spans=spans if self.is_scoped else None,
        )
