"""The data of the inspector's memory pane: a separate column store, decoded on request.

`header`: `answer`, `provenance` (spans), `peak`, `kernels`, `source`, `missing` (why there is no curve), `kinds` and
`scopes` (of bands), `spaces` (each: name, peak, `nameless` buffers, the first and last value of it), `fits`,
`suggestions`, `groups` (rows: equal buffers of equal layers together, most bytes first), `axis_sets`, `shardings`.

Columns: `bytes.S` (alive in space S, kernel by kernel); for each value, those of a space together, by group:
`value.group`, `.kind`, `.scope`, `.maker`, `.user` (kernels; -1 for none), and spans of kernels in which it is alive,
ends included: `span.from`, `span.to`, `value.ends` (where the spans of each value end).
The values of a space and its nameless buffers add up to its curve at every kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pjit_inspect.model.memory.fit import MemoryFit
from pjit_inspect.model.memory.memory_use import LiveValue, MemoryCurve, MemoryTimeline, MemoryUse, TimedValue
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.view.document.colors import MEMORY_COLORS
from pjit_inspect.view.document.document import Line
from pjit_inspect.view.document.grouping import grouped
from pjit_inspect.view.document.notation import known_spec_text, shape_text
from pjit_inspect.view.document.quantities import bytes_text
from pjit_inspect.view.inspector.blob import ends_of, pack_blob
from pjit_inspect.view.inspector.rows import value_sharding
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data, spans_data
from pjit_inspect.view.memory.memory import answer_line, group_key, group_name, provenance_lines

_KINDS = tuple(MEMORY_COLORS)
_NAMES = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryInput:
    """The input of the pane.

    Attributes:
      use: the buffers alive at the peak.
      timelines: each memory over the schedule; () where there is no schedule.
      data: the record.
      fits: the chips to compare with.
      own_chip: whether these are the program's chip.
    """

    use: MemoryUse
    timelines: tuple[MemoryTimeline, ...]
    data: RecordData
    fits: tuple[MemoryFit, ...] = ()
    own_chip: bool = False


def memory_payload(given: MemoryInput) -> bytes:
    """The pane's data, as `pack_blob` writes them."""
    use, data = given.use, given.data
    tables = SharedTables(has_mesh=data.mesh is not None)
    timelines = given.timelines or (_still(use),)
    groups = _Groups(tables, data.mesh, use, has_specs=data.mesh is not None or len(data.devices) != 1)
    spaces, parts = [], []
    for timeline in timelines:
        ordered = groups.add(timeline.values)
        first = sum(len(part) for part in parts)
        spaces.append(_space(timeline, first, first + len(ordered), use))
        parts.append(ordered)
    of_values = groups.columns([one for part in parts for one in part])
    header = {
        **tables.header(),
        "answer": spans_data(answer_line(use).spans),
        "provenance": [spans_data(line.spans) for line in provenance_lines(use, data.memory) if isinstance(line, Line)],
        "peak": -1 if use.at is None else use.at.kernel,
        "kernels": len(timelines[0].curve.bytes),
        "source": use.source,
        "missing": name_data(use.missing, longest=500),
        "kinds": _KINDS,
        "scopes": [name_data(scope) for scope in groups.scopes],
        "spaces": spaces,
        "groups": groups.rows,
        "fits": [_fit(fit, is_own=given.own_chip) for fit in given.fits],
        "suggestions": [
            name_data(one, longest=500) for one in (*use.beside, *(own.sentence for own in use.suggestions))
        ],
    }
    columns = {f"bytes.{place}": np.array(one.curve.bytes, np.float64) for place, one in enumerate(timelines)}
    columns |= {name: column for name, column in tables.columns().items() if name.startswith("sharding")}
    return pack_blob(header, {**columns, **of_values}, {})


def _still(use: MemoryUse) -> MemoryTimeline:
    """Arguments and results of a program without a schedule: no curve, no known times."""
    values = tuple(TimedValue(value=row, spans=()) for row in use.live)
    return MemoryTimeline(curve=MemoryCurve(space=0, name="memory", bytes=()), values=values)


def _space(timeline: MemoryTimeline, first: int, end: int, use: MemoryUse) -> dict[str, Any]:
    curve = timeline.curve
    peak = use.at.kernel if use.at is not None and not curve.space else int(np.argmax(curve.bytes or [0]))
    return {
        "name": name_data(curve.name),
        "peak": peak,
        "most": float(curve.peak_bytes),
        "nameless": timeline.nameless,
        "first": first,
        "end": end,
    }


def _fit(fit: MemoryFit, *, is_own: bool) -> dict[str, Any]:
    return {
        "chip": name_data(fit.chip),
        "needed": float(fit.needed_bytes),
        "has": float(fit.available_bytes),
        "words": f"{fit.share} on {name_data(fit.chip)}",
        "how": fit.source,
        "sentence": name_data(str(fit), longest=600),
        "fits": fit.fits,
        "is_own": is_own,
    }


class _Groups:
    """Rows of equal buffers, and the number of each."""

    def __init__(self, tables: SharedTables, mesh: Mesh | None, use: MemoryUse, *, has_specs: bool) -> None:
        self._tables, self._mesh, self._use, self._has_specs = tables, mesh, use, has_specs
        self.rows: list[dict[str, Any]] = []
        self.scopes: dict[str, int] = {}
        self._of: dict[int, int] = {}

    def add(self, values: Sequence[TimedValue]) -> list[TimedValue]:
        """Makes rows of the values of one space; gives the values in the order of their rows."""
        groups = grouped(values, lambda one: group_key(one.value))
        ranked = sorted(groups.values(), key=lambda members: -sum(one.value.bytes for one in members))
        for members in ranked:
            for one in members:
                self._of[id(one)] = len(self.rows)
            self.rows.append(self._row(members))
        return [one for members in ranked for one in members]

    def _row(self, members: Sequence[TimedValue]) -> dict[str, Any]:
        first = members[0].value
        name = group_name([one.value for one in members])
        spec = first.spec if self._has_specs else None
        sharding = None if spec is None or first.global_shape is None else value_sharding(spec, self._mesh)
        layers = sorted({one.value.layers[0] for one in members if one.value.layers})
        return {
            "name": name_data(name),
            "kind": _KINDS.index(first.kind),
            "number": len(members),
            "each": bytes_text(first.bytes),
            "bytes": float(first.bytes),
            "unpadded": None if first.unpadded_bytes in (None, first.bytes) else bytes_text(first.unpadded_bytes),
            "spec": "not known" if spec is None else name_data(known_spec_text(spec)),
            "sharding": -1 if sharding is None else self._tables.sharding(sharding),
            "shape": [min(length, 2**53 - 1) for length in first.global_shape or ()],
            "array": "" if first.global_shape is None else name_data(f"{first.dtype}{shape_text(first.global_shape)}"),
            "local": name_data(f"{first.dtype}{shape_text(first.local_shape)}"),
            "place": name_data(first.source[0].where) if first.source else "",
            "scope": name_data(first.scope),
            "layers": f"{layers[0]} to {layers[-1]}" if len(layers) > 1 else "",
            "made": first.phase or "",
            "last": first.last_phase or "",
            "turns": first.turns,
            "names": [name_data(one.value.made_by) for one in members if one.value.made_by][:_NAMES],
            "users": [name_data(one.value.last_used_by) for one in members if one.value.last_used_by][:_NAMES],
            "could": [name_data(one.sentence, longest=500) for one in self._use.suggestions if one.name == name],
        }

    def columns(self, values: Sequence[TimedValue]) -> dict[str, np.ndarray]:
        """The columns of the values, in the order of their rows."""
        spans = [span for one in values for span in one.spans]
        return {
            "value.group": np.array([self._of[id(one)] for one in values], np.int32),
            "value.kind": np.array([_KINDS.index(one.value.kind) for one in values], np.uint8),
            "value.scope": np.array([self._scope(one.value) for one in values], np.int32),
            "value.maker": np.array([one.maker for one in values], np.int32),
            "value.user": np.array([one.last_user for one in values], np.int32),
            "value.ends": ends_of(one.spans for one in values),
            "span.from": np.array([start for start, _ in spans], np.int32),
            "span.to": np.array([end for _, end in spans], np.int32),
        }

    def _scope(self, value: LiveValue) -> int:
        return self.scopes.setdefault(value.scope.partition("/")[0], len(self.scopes))
