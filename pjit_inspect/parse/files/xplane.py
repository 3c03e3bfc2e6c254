"""The parts of a profiler's file that `jax.profiler.ProfileData` leaves out: programs, and nesting of events.

Not its job: the events (`observe.profiler.profiler`).

*Source*: `tsl/profiler/protobuf/xplane.proto` of XLA, in files of jaxlib 0.8.1, 0.10.2 and 0.11.2 (the last of a
GPU too).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

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
