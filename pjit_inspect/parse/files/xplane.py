"""The parts of a profiler's file that `jax.profiler.ProfileData` leaves out: programs, and nesting of events.

Not its job: the events (`observe.profiler.profiler`).

*Source*: `tsl/profiler/protobuf/xplane.proto` of XLA, in files of jaxlib 0.8.1, 0.10.2 and 0.11.2 (the last of a
GPU too).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pjit_inspect.parse.wire.wire import read_varint, split_message

_PLANE, _PLANE_NAME, _EVENT_NAMES, _STAT_NAMES, _STATS = 1, 2, 4, 5, 6
_VALUE, _NAMED, _NAME_STATS = 2, 2, 5
_STAT_ID, _UNSIGNED, _SIGNED, _BYTES = 1, 3, 4, 6

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
    for plane in split_message(trace, 0, len(trace)):
        if plane.number != _PLANE:
            continue
        name = next((trace[at:end] for at, end in _fields(trace, plane.start, plane.end, _PLANE_NAME)), b"")
        if name == _PROGRAMS:
            for module, number, content in _programs(trace, plane.start, plane.end):
                programs.setdefault(module, {})[number] = content
        elif name == _SCOPES:
            parents |= _parents(trace, plane.start, plane.end)
    return TraceNotes(programs=programs, parents=parents)


def _fields(data: bytes, start: int, end: int, number: int) -> Iterator[tuple[int, int]]:
    return ((one.start, one.end) for one in split_message(data, start, end) if one.number == number)


def _programs(data: bytes, start: int, end: int) -> Iterator[tuple[str, int, bytes]]:
    """Name, number and HLO of each program: names of events such as "jit_step(705860)" that have a proto."""
    for entry in _fields(data, start, end, _EVENT_NAMES):
        for at, stop in _fields(data, *entry, _VALUE):
            name = b"".join(data[a:b] for a, b in _fields(data, at, stop, _NAMED)).decode("utf-8", "replace")
            contents = [
                data[a:b] for stat in _fields(data, at, stop, _NAME_STATS) for a, b in _fields(data, *stat, _BYTES)
            ]
            if contents and (match := _NUMBERED.fullmatch(name)):
                yield match[1], int(match[2]), contents[0]


def _parents(data: bytes, start: int, end: int) -> dict[int, int]:
    """Scope -> the scope around it, from the plane's stats: a stat's number and its value."""
    found, named = dict[int, int](), _named(data, start, end)
    for at, stop in _fields(data, start, end, _STATS):
        numbers = {
            one.number: read_varint(data, one.start, one.end)[0]
            for one in split_message(data, at, stop)
            if one.number in (_STAT_ID, _UNSIGNED, _SIGNED)
        }
        parent = numbers.get(_UNSIGNED, numbers.get(_SIGNED))
        scope = numbers.get(_STAT_ID, 0)
        # Stats with a name describe the plane, for example the process's number.
        if parent is not None and scope not in named:
            found[scope] = parent
    return found


def _named(data: bytes, start: int, end: int) -> set[int]:
    """The numbers of stats that have a name."""
    found: set[int] = set()
    for entry in _fields(data, start, end, _STAT_NAMES):
        for at, stop in _fields(data, *entry, _VALUE):
            parts = {one.number: one for one in split_message(data, at, stop)}
            if _NAMED in parts and parts[_NAMED].end > parts[_NAMED].start and _STAT_ID in parts:
                found.add(read_varint(data, parts[_STAT_ID].start, parts[_STAT_ID].end)[0])
    return found
