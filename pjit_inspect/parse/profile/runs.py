"""The runs of programs that a profile tells of: its events, summed for each HLO instruction.

Not its job: the file (`parse.profile.xplane`), assigning runs to programs (`analyze.measured.kernel_times`).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.model.record.kernel_times import GraphNode, ProfiledRun, Spans
from pjit_inspect.parse.profile.xplane import Event, Plane, TraceNotes, read_planes

MAX_EVENTS = 2_000_000
"""Events of instructions that are read at the most: about ten seconds."""

_DEVICE = re.compile(r"/device:\w+:(\d+)")
_Key = tuple[str, int | None, int | None, int]


def read_runs(trace: bytes, notes: TraceNotes) -> tuple[ProfiledRun, ...]:
    """The runs in a serialised `XSpace`, whose `notes` are known. Raises ParseError for damaged bytes."""
    return sum_events(read_planes(trace), notes.parents)


def sum_events(planes: Iterable[Plane], parents: Mapping[int, int]) -> tuple[ProfiledRun, ...]:
    """The runs that the events of a profile tell of. Raises ParseError for more than `MAX_EVENTS` events."""
    sums_of: dict[_Key, _Sums] = {}
    scopes, left = _Scopes(parents), MAX_EVENTS
    for plane in planes:
        match = _DEVICE.search(plane.name)
        device = int(match[1]) if match else -1
        for event in plane.events:
            left -= 1
            if left < 0:
                raise ParseError(f"the profiler's trace has over {MAX_EVENTS:,} events: measure fewer calls")
            _add(sums_of, event, device, scopes, on_host=match is None)
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


def _add(found: dict[_Key, _Sums], event: Event, device: int, scopes: _Scopes, *, on_host: bool) -> None:
    stats = event.stats
    op, module = stats.get("hlo_op"), stats.get("hlo_module")
    if op is None or module is None:
        return
    scope = _number(stats, "scope_range_id")
    run = _number(stats, "run_id", None if scope is None else scopes.outermost(scope))
    key = (str(module), _number(stats, "program_id"), run, _number(stats, "device_ordinal", device))
    sums = found.get(key)
    if sums is None:
        sums = found[key] = _Sums(is_scoped=scope is not None, on_host=on_host)
    node = _number(stats, "cuda_graph_node_id")
    what = str(op) if node is None else (str(op), node, event.name)
    sums.add(what, scope, event.start_ns, event.duration_ns)


def _number(stats: Mapping[str, Any], name: str, default: Any = None) -> Any:
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

    __slots__ = ("_began", "_lasted", "_places", "_scopes", "_what", "is_scoped", "on_host")

    def __init__(self, *, is_scoped: bool, on_host: bool) -> None:
        self.is_scoped, self.on_host = is_scoped, on_host
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
            on_host=self.on_host,
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
