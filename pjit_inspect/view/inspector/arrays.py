"""The inspector's rows of arrays: inputs, outputs and values inside the program, and their shards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Mesh, PartitionSpec
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.sharding_table import ShardingTable, ValueSharding
from pjit_inspect.model.sharding.laid import laid
from pjit_inspect.model.words.sentence import axis, say
from pjit_inspect.view.document.notation import array_text, known_spec_text, shape_text
from pjit_inspect.view.document.quantities import bytes_text, plural
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data, sentence_data
from pjit_inspect.view.record.arrays import ArrayGroup, donated_in_vain, fate_words, group_arrays, spec_words

_VALUES = 400


def array_groups(data: RecordData) -> list[tuple[str, ArrayGroup]]:
    """Role and arrays of each row: inputs, then outputs; equal arrays of equal layers share a row."""
    inputs = [("input", group) for group in group_arrays(data.inputs, in_vain=donated_in_vain(data))]
    return inputs + [("output", group) for group in group_arrays(data.outputs, keep_first=True)]


def array_rows(groups: Sequence[tuple[str, ArrayGroup]], tables: SharedTables) -> list[dict[str, Any]]:
    """One row for each group."""
    return [_row(role, group, tables) for role, group in groups]


def _row(role: str, group: ArrayGroup, tables: SharedTables) -> dict[str, Any]:
    layout = group.first
    return {
        **_entry(role, group.name, layout, layout.sharding, tables),
        "number": len(group.layouts),
        "array": name_data(array_text(layout)),
        "spec": name_data(spec_words(layout)),
        "all": bytes_text(group.bytes_per_device if layout.bytes_per_device is not None else None),
        "bytes": float(group.bytes_per_device),
        "fate": list(map(sentence_data, [*fate_words(group), *([f"sharding: {group.asked}"] if group.asked else [])])),
        "names": [name_data(one.path) for one in group.layouts[:100]] if len(group.layouts) > 1 else [],
    }


def _entry(
    role: str, name: str, row: ArrayLayout | ValueSharding, sharding: Sharding | None, tables: SharedTables
) -> dict[str, Any]:
    """The fields that arrays and values share."""
    each = row.bytes_per_device
    return {
        "role": role,
        "name": name_data(name),
        "number": 1,
        "array": name_data(f"{row.dtype}{shape_text(row.global_shape)}"),
        # JavaScript cannot hold longer lengths; a damaged file may have any.
        "shape": [min(length, 2**53 - 1) for length in row.global_shape],
        "sharding": -1 if sharding is None else tables.sharding(sharding),
        "spec": name_data(known_spec_text(row.spec)),
        "local": "unknown" if row.local_shape is None else shape_text(row.local_shape),
        "each": bytes_text(each),
        "all": bytes_text(each),
        "bytes": float(each or 0),
        "copies": row.replication,
        "names": [],
        "spots": [],
    }


def value_rows(data: RecordData, table: ShardingTable | None, tables: SharedTables) -> tuple[list[dict[str, Any]], str]:
    """Values inside the program, most wasted bytes first, and words for values left out or unknown."""
    if table is None or not table.rows:
        return [], "" if table is None else table.missing
    values = [row for row in table.rows if row.op]
    rows = [_value(row, tables, data.mesh) for row in values[:_VALUES]]
    more = len(values) - len(rows)
    return rows, f"{plural(more, 'more value')}; record.shardings has all" if more else ""


def _value(row: ValueSharding, tables: SharedTables, mesh: Mesh | None) -> dict[str, Any]:
    sharding = None if row.is_per_shard else value_sharding(row.spec, mesh)
    spot = tables.spot(row.source)
    words = ["one shard of a shard_map"] if row.is_per_shard else []
    words += [say("{} from {}", axis(name), origin) for name, origin in row.origins.items()]
    return {
        **_entry("value", row.name, row, sharding, tables),
        "fate": list(map(sentence_data, words)),
        "place": name_data(row.source[0].where) if row.source else "",
        "phase": row.phase or "",
        "spots": [spot] if spot >= 0 else [],
    }


def value_sharding(spec: PartitionSpec, mesh: Mesh | None) -> Sharding | None:
    """The spec of a value as a sharding over a mesh; None where the mesh is unknown or lacks an axis."""
    try:
        return None if mesh is None else laid(mesh, spec)
    except ValueError:
        return None
