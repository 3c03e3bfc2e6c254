"""The file of JAX's profiler, an `XSpace`: its programs, the nesting of its events, and the events of instructions.

Read here and not by jaxlib: a file may be of anybody, and damaged bytes must not reach native code of this process.
Not its job: the runs that the events add up to (`parse.profile.runs`).

*Source*: `tsl/profiler/protobuf/xplane.proto` of XLA, in files of jaxlib 0.8.1, 0.10.2 and 0.11.2 (the last of a
GPU too). For TPUs: XProf's `xprof/utils/xplane_schema` names the lines and stats; no file of one was read here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pjit_inspect.parse.wire.hlo_schema import decode, text
from pjit_inspect.parse.wire.wire import split_message

_PLANE, _PLANE_NAME = 1, 2
_PROGRAMS = b"/host:metadata"
_SCOPES = b"/host:__ScopeRangeCallStack__"
_NUMBERED = re.compile(r"(.*)\((\d+)\)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceNotes:
    """The notes of one profiler file besides its events.

    Attributes:
      programs: module name -> XLA's number of the program -> the optimized HLO as a serialised proto, of every program
        in the process. Programs compiled later have larger numbers.
      parents: scope -> the scope around it. On a GPU every run of a program, and of every instruction in it, is a
        scope, and events name theirs (stat `scope_range_id`). Empty elsewhere.
    """

    programs: Mapping[str, Mapping[int, bytes]] = field(default_factory=dict)
    parents: Mapping[int, int] = field(default_factory=dict)


def read_trace_notes(trace: bytes) -> TraceNotes:
    """The notes in a serialised `XSpace`. Raises ParseError for damaged bytes."""
    programs: dict[str, dict[int, bytes]] = {}
    parents: dict[int, int] = {}
    for one in split_message(trace, 0, len(trace)):
        if one.number != _PLANE:
            continue
        fields = split_message(trace, one.start, one.end)
        name = next((trace[own.start : own.end] for own in fields if own.number == _PLANE_NAME), b"")
        # The planes with events are large; they are not decoded here.
        if name in (_PROGRAMS, _SCOPES):
            plane = decode("TracePlane", trace[one.start : one.end], offset=one.start)
            if name == _SCOPES:
                parents |= _parents(plane)
            for module, number, content in _programs(plane) if name == _PROGRAMS else ():
                programs.setdefault(module, {})[number] = content
    return TraceNotes(programs=programs, parents=parents)


def _programs(plane: Any) -> Iterator[tuple[str, int, bytes]]:
    """Name, number and HLO of each program: names of events such as "jit_step(705860)" that have a proto."""
    for entry in plane.event_metadata:
        contents = [stat.bytes_value for stat in entry.value.stats if stat.HasField("bytes_value")]
        if contents and (match := _NUMBERED.fullmatch(text(entry.value.name))):
            yield match[1], int(match[2]), contents[0]


def _parents(plane: Any) -> dict[int, int]:
    """Scope -> the scope around it, from the plane's stats: a stat's number and its value."""
    # Stats with a name describe the plane, for example the process's number.
    named = {entry.value.id for entry in plane.stat_metadata if entry.value.name}
    found: dict[int, int] = {}
    for stat in plane.stats:
        if stat.metadata_id not in named and (stat.HasField("uint64_value") or stat.HasField("int64_value")):
            found[stat.metadata_id] = stat.uint64_value if stat.HasField("uint64_value") else stat.int64_value
    return found


# ---------------------------------------------------------------- events


class Event(NamedTuple):
    """A time that one HLO instruction ran for. `stats` are those of `_STATS`; `name` is a GPU's kernel."""

    name: str
    start_ns: float
    duration_ns: float
    stats: Mapping[str, Any]


class Plane(NamedTuple):
    """The events of a host or a device that name an HLO instruction."""

    name: str
    events: Iterable[Event]


_STATS = {
    *("hlo_op", "hlo_module", "program_id", "run_id"),
    *("device_ordinal", "scope_range_id", "cuda_graph_node_id"),
}
_CALLS, _OPS = "XLA Modules", "XLA Ops"
"""The lines of a TPU: its programs' calls, and the instructions, which name neither."""


def read_planes(trace: bytes) -> Iterator[Plane]:
    """The planes in a serialised `XSpace`, one at a time. Raises ParseError for damaged bytes."""
    for one in split_message(trace, 0, len(trace)):
        if one.number == _PLANE:
            plane = decode("TracePlane", trace[one.start : one.end], offset=one.start)
            yield Plane(text(plane.name), _events(plane))


def _events(plane: Any) -> Iterator[Event]:
    names = {entry.key: text(entry.value.name) for entry in plane.stat_metadata}
    kinds = {entry.key: entry.value for entry in plane.event_metadata}
    lines = {text(line.name): line for line in plane.lines}
    if _CALLS in lines and _OPS in lines:
        yield from _events_in_calls(lines[_CALLS], lines[_OPS], names, kinds)
    elif "hlo_op" in names.values():
        for line in plane.lines:
            for event in line.events:
                if "hlo_op" in (stats := _stats(event.stats, names)):
                    name = text(kinds[event.metadata_id].name) if event.metadata_id in kinds else ""
                    yield Event(name, _start_ns(line, event), event.duration_ps / 1e3, stats)


def _start_ns(line: Any, event: Any) -> float:
    return line.timestamp_ns + event.offset_ps / 1e3


def _stats(stats: Iterable[Any], names: Mapping[int, str]) -> dict[str, Any]:
    """Name -> value, of stats that say whose an event is."""
    found: dict[str, Any] = {}
    for stat in stats:
        name = names.get(stat.metadata_id)
        if name in _STATS:
            found[name] = _value(stat, names)
    return found


def _value(stat: Any, names: Mapping[int, str]) -> Any:
    if stat.HasField("ref_value"):
        return names.get(stat.ref_value, "")
    if stat.HasField("str_value"):
        return text(stat.str_value)
    return stat.int64_value if stat.HasField("int64_value") else stat.uint64_value


def _events_in_calls(calls: Any, ops: Any, names: Mapping[int, str], kinds: Mapping[int, Any]) -> Iterator[Event]:
    """A TPU's events: each instruction is of the call during which it began."""
    begun: list[tuple[float, float, dict[str, Any]]] = []
    for event in calls.events:
        match = _NUMBERED.fullmatch(text(kinds[event.metadata_id].name)) if event.metadata_id in kinds else None
        if match:
            start = _start_ns(calls, event)
            whose = {"hlo_module": match[1], "program_id": int(match[2])} | _stats(event.stats, names)
            begun.append((start, start + event.duration_ps / 1e3, whose))
    begun.sort(key=lambda call: call[:2])
    starts = [start for start, _, _ in begun]
    for event in ops.events:
        start = _start_ns(ops, event)
        at = bisect_right(starts, start) - 1
        if event.metadata_id in kinds and at >= 0 and start < begun[at][1]:
            op = _instruction(kinds[event.metadata_id])
            yield Event(op, start, event.duration_ps / 1e3, begun[at][2] | {"hlo_op": op})


def _instruction(kind: Any) -> str:
    """The name of an instruction, from "%fusion.3 = f32[8]{0} fusion(...)"."""
    return text(kind.display_name) or text(kind.name).partition(" = ")[0].lstrip("%")
