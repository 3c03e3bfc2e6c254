"""The inspector's rows of arrays: inputs, outputs and values inside the program, and how each is cut.

Not its job: the picture (JavaScript draws it from the sharding's tiles), shardings of values (`analyze`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.spec import SpecEntry
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.model.words.sentence import axis, say
from pjit_inspect.view.document.notation import array_text, known_spec_text, shape_text
from pjit_inspect.view.document.quantities import bytes_text, plural
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data, sentence_data
from pjit_inspect.view.record.arrays import (
    ArrayGroup,
    asked_words,
    donated_in_vain,
    fate_words,
    group_arrays,
    spec_words,
)

_VALUES = 400


def array_groups(data: RecordData) -> list[tuple[str, ArrayGroup]]:
    """Role and arrays of each row: inputs, then outputs; equal arrays of equal layers in one."""
    inputs = [("input", group) for group in group_arrays(data.inputs, in_vain=donated_in_vain(data))]
    return inputs + [("output", group) for group in group_arrays(data.outputs, keep_first=True)]


def array_rows(groups: Sequence[tuple[str, ArrayGroup]], tables: SharedTables) -> list[dict[str, Any]]:
    """One row for each group."""
    return [_row(role, group, tables) for role, group in groups]


def _row(role: str, group: ArrayGroup, tables: SharedTables) -> dict[str, Any]:
    layout = group.first
    sharding = layout.sharding
    local = layout.local_shape
    fate = fate_words(group)
    if layout.asked is not None and layout.kept:
        fate.append(say("sharding {}", asked_words(layout.asked)))
    return {
        "role": role,
        "name": name_data(group.name),
        "number": len(group.layouts),
        "array": name_data(array_text(layout)),
        "shape": _lengths(layout.global_shape),
        "sharding": -1 if sharding is None else tables.sharding(sharding),
        "spec": name_data(spec_words(layout)),
        "local": "unknown" if local is None else shape_text(local),
        "each": bytes_text(layout.bytes_per_device),
        "all": bytes_text(group.bytes_per_device if layout.bytes_per_device is not None else None),
        "bytes": float(group.bytes_per_device),
        "copies": layout.replication,
        "fate": list(map(sentence_data, fate)),
        "names": [name_data(one.path) for one in group.layouts[:100]] if len(group.layouts) > 1 else [],
        "spots": [],
    }


def _lengths(shape: Sequence[int]) -> list[int]:
    """Lengths as JavaScript can hold them; a damaged file may say anything."""
    return [min(length, 2**53 - 1) for length in shape]


def value_rows(data: RecordData, table: ShardingTable | None, tables: SharedTables) -> tuple[list[dict[str, Any]], str]:
    """Values inside the program, most wasted bytes first, and the words for what is left out or unknown."""
    if table is None or not table.rows:
        return [], "" if table is None else table.missing
    values = [row for row in table.rows if row.op]
    shown = values[:_VALUES]
    sharder = ValueSharder(data.mesh)
    rows = [_value(row, tables, sharder) for row in shown]
    more = len(values) - len(shown)
    return rows, f"{plural(more, 'more value')}; record.shardings has all" if more else ""


def _value(row: ValueSharding, tables: SharedTables, sharder: ValueSharder) -> dict[str, Any]:
    sharding = None if row.is_per_shard else sharder.sharding(row.spec)
    spot = tables.spot(row.source)
    words = ["one shard of a shard_map"] if row.is_per_shard else []
    words += [say("{} from {}", axis(own), origin) for own, origin in row.origins.items()]
    return {
        "role": "value",
        "name": name_data(row.name),
        "number": 1,
        "array": name_data(f"{row.dtype}{shape_text(row.global_shape)}"),
        "shape": _lengths(row.global_shape),
        "sharding": -1 if sharding is None else tables.sharding(sharding),
        "spec": name_data(known_spec_text(row.spec)),
        "local": shape_text(row.local_shape),
        "each": bytes_text(row.bytes_per_device),
        "all": bytes_text(row.bytes_per_device),
        "bytes": float(row.bytes_per_device or 0),
        "copies": row.replication,
        "fate": [sentence_data(word) for word in words],
        "names": [],
        "place": name_data(row.source[0].where) if row.source else "",
        "phase": row.phase or "",
        "spots": [spot] if spot >= 0 else [],
    }


class ValueSharder:
    """Specs of values as shardings over the record's mesh; the same spec gives the same object."""

    def __init__(self, mesh: Mesh | None) -> None:
        self._mesh = mesh
        self._made: dict[tuple[SpecEntry, ...], Sharding | None] = {}

    def sharding(self, spec: tuple[SpecEntry, ...]) -> Sharding | None:
        """The sharding; None where the mesh is unknown or lacks an axis."""
        if spec not in self._made:
            self._made[spec] = self._make(spec)
        return self._made[spec]

    def _make(self, spec: tuple[SpecEntry, ...]) -> Sharding | None:
        if self._mesh is None:
            return None
        entries = [() if e is None else (e,) if isinstance(e, str) else e for e in spec]
        parts = [[_part(own, self._mesh) for own in entry] for entry in entries]
        if any(part is None for entry in parts for part in entry):
            return None
        known = [[part for part in entry if part is not None] for entry in parts]
        tiles = tuple(math.prod(size for _, _, size in entry) for entry in known)
        tile_of = tuple(_tile(position, known, tiles) for position in range(self._mesh.size))
        return Sharding(spec=spec, tiles=tiles, device_ids=self._mesh.device_ids, tile_of=tile_of)


_Part = tuple[int, int, int]
"""How a position yields an index: divide by the first number, take it modulo the third (after the second)."""


def _part(axis: str, mesh: Mesh) -> _Part | None:
    """An axis, or the part "x:(1)2" of one."""
    name = axis_name(axis)
    if name not in mesh.axis_names:
        return None
    at = mesh.axis_names.index(name)
    stride, size = math.prod(mesh.shape[at + 1 :]), mesh.shape[at]
    if name == axis:
        return stride, at, size
    before, _, count = axis.removeprefix(f"{name}:(").partition(")")
    if not (before.isdigit() and count.isdigit()) or not int(before) * int(count) or size % (int(before) * int(count)):
        return None
    return stride * (size // (int(before) * int(count))), at, int(count)


def _tile(position: int, entries: list[list[_Part]], tiles: tuple[int, ...]) -> int:
    tile = 0
    for entry, count in zip(entries, tiles, strict=True):
        index = 0
        for stride, _, size in entry:
            index = index * size + position // stride % size
        tile = tile * count + index
    return tile
