"""A comparison as JSON, for other programs and for CI.

Equal rows are counted, not listed. Not its job: reading it back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pjit_inspect.model.diff.diff import DiffData, SideFacts, Stages
from pjit_inspect.model.diff.pairs import Pair, PairTable
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.xla_warning import XlaWarning
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.sharding_table import ValueSharding

VERSION = 1


def diff_json(data: DiffData) -> str:
    """The comparison, with the keys in a fixed order."""
    found = {
        "version": VERSION,
        "sentence": str(data.sentence),
        "is_empty": data.is_empty,
        "not_the_same_work": list(map(str, data.parity)),
        "before": _side(data.before),
        "after": _side(data.after),
        "figures": [
            {
                "name": f.name,
                "unit": f.unit,
                "before": f.before,
                "after": f.after,
                "known_by": f.provenance,
                "at_least": list(f.at_least),
            }
            for f in data.figures
        ],
        "axes": [
            {
                "axes": None if a.axes is None else list(a.axes),
                "count": [a.before_count, a.after_count],
                "sent_bytes": [a.before_bytes, a.after_bytes],
            }
            for a in data.axes
        ],
        "collectives": _table(data.collectives, _collective),
        "arguments": _table(data.arguments, _array),
        "results": _table(data.results, _array),
        "shardings": _table(data.shardings, _value),
        "kernels": _table(data.kernels, _kernel),
        "warnings": _table(data.warnings, _warning),
        "renamed_axes": [list(one) for one in data.renamed_axes],
        "settings": [{"kind": s.kind, "name": s.name, "before": s.before, "after": s.after} for s in data.settings],
        "source": [
            {"before": _where(line.before), "after": _where(line.after), "text": line.text} for line in data.source
        ],
        "notes": list(map(str, data.notes)),
        "stages": None if data.stages is None else _stages(data.stages),
    }
    return json.dumps(found, indent=1, ensure_ascii=True, default=_plain)


def _plain(value: object) -> Any:
    return sorted(value, key=str) if isinstance(value, (set, frozenset)) else str(value)


def _side(side: SideFacts) -> dict[str, Any]:
    mesh = None if side.mesh is None else side.mesh.sizes
    return {
        "name": side.name, "where": _where(side.where), "mesh": mesh, "devices": side.devices,
        "asked": list(side.asked), "is_partial": side.is_partial, "jax": side.jax,
        "incomplete": side.incomplete,
    }  # fmt: skip


def _stages(stages: Stages) -> dict[str, Any]:
    lowering = stages.lowering
    operations = [
        {"name": one.name, "count": [one.before, one.after], "removed": one.removed, "added": one.added}
        for one in lowering.changes
    ]
    return {
        "same_lowering": lowering.is_same,
        "operations": [lowering.before, lowering.after],
        "changes": operations,
        "by_xla": _part(stages.by_xla),
        "by_jax": _part(stages.by_jax),
        "missing": stages.missing,
    }


def _part(data: DiffData | None) -> dict[str, Any] | None:
    if data is None:
        return None
    figures = {one.name: [one.before, one.after] for one in data.figures if one.provenance != "measured"}
    return {"is_same_program": data.is_same_program, "figures": figures}


def _where(frame: Frame | None) -> str | None:
    return None if frame is None else frame.where


def _table(table: PairTable[Any], row: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    return {
        "added": [_pair(pair, row) for pair in table.rows if pair.status == "added"],
        "removed": [_pair(pair, row) for pair in table.rows if pair.status == "removed"],
        "changed": [_pair(pair, row) for pair in table.changed],
        "same": table.same,
    }


def _pair(pair: Pair[Any], row: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    found = row(pair.row)
    if pair.changes:
        found["joined_by"] = list(pair.by)
        found["changes"] = {one.name: [_value_of(one.before), _value_of(one.after)] for one in pair.changes}
    if pair.reason:
        found["because"] = str(pair.reason)
    return found


def _value_of(value: Any) -> Any:
    return [_value_of(one) for one in value] if isinstance(value, tuple) else value


def _collective(row: Collective) -> dict[str, Any]:
    return {
        "kind": row.kind, "axes": None if row.axes is None else list(row.axes), "dtype": row.dtype,
        "local_shape": list(row.local_shape), "payload_bytes": row.payload_bytes, "sent_bytes": row.sent_bytes,
        "count": row.count, "phase": row.phase, "op_name": row.op_name,
        "where": _where(row.source[0]) if row.source else None,
        "cause": str(row.cause.sentence) if row.cause is not None else None,
    }  # fmt: skip


def _array(row: ArrayLayout) -> dict[str, Any]:
    return {
        "path": row.path, "dtype": row.dtype, "shape": list(row.global_shape),
        "spec": None if row.spec is None else spec_text(row.spec), "bytes_per_device": row.bytes_per_device,
        "donated": row.donated,
    }  # fmt: skip


def _value(row: ValueSharding) -> dict[str, Any]:
    return {
        "name": row.name, "op": row.op, "where": _where(row.source[0]) if row.source else None, "dtype": row.dtype,
        "shape": list(row.global_shape), "spec": spec_text(row.spec),
    }  # fmt: skip


def _kernel(row: Fusion) -> dict[str, Any]:
    return {
        "kind": row.kind, "contains": dict(row.instructions), "target": row.target, "inputs": list(row.inputs),
        "outputs": list(row.outputs), "count": row.count, "op_name": row.op_name,
    }  # fmt: skip


def _warning(row: XlaWarning) -> dict[str, Any]:
    return {"kind": row.kind, "sentence": row.sentence, "count": row.count}
