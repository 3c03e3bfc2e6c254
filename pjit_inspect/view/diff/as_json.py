"""A comparison as JSON, for other programs and for CI.

Equal rows are counted, not listed. Not its job: reading it back.
"""

from __future__ import annotations

import json
from typing import Any

from pjit_inspect.model.diff.diff import DiffData, SideFacts, Stages
from pjit_inspect.model.diff.pairs import Pair, PairTable
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.program.source import Frame
from pjit_inspect.view.diff.kinds import LISTS

VERSION = 1


def diff_json(data: DiffData) -> str:
    """The comparison, with the keys in a fixed order."""
    found = {
        "version": VERSION,
        "sentence": data.sentence,
        "is_empty": data.is_empty,
        "not_the_same_work": data.parity,
        "before": _side(data.before),
        "after": _side(data.after),
        "figures": [
            {
                "name": f.name,
                "unit": f.unit,
                "before": f.before,
                "after": f.after,
                "known_by": f.provenance,
                "at_least": f.at_least,
            }
            for f in data.figures
        ],
        "axes": [
            {"axes": a.axes, "count": [a.before_count, a.after_count], "sent_bytes": [a.before_bytes, a.after_bytes]}
            for a in data.axes
        ],
        **{name: _table(getattr(data, name), kind.fields) for name, kind in LISTS.items()},
        "warnings": _table(data.warnings, "kind sentence count"),
        "renamed_axes": data.renamed_axes,
        "settings": [{"kind": s.kind, "name": s.name, "before": s.before, "after": s.after} for s in data.settings],
        "source": [
            {"before": _where(line.before), "after": _where(line.after), "text": line.text} for line in data.source
        ],
        "notes": data.notes,
        "stages": None if data.stages is None else _stages(data.stages),
    }
    return json.dumps(found, indent=1, ensure_ascii=True, default=_plain)


def _plain(value: object) -> Any:
    return sorted(value, key=str) if isinstance(value, (set, frozenset)) else str(value)


def _side(side: SideFacts) -> dict[str, Any]:
    mesh = None if side.mesh is None else side.mesh.sizes
    return {
        "name": side.name, "where": _where(side.where), "mesh": mesh, "devices": side.devices,
        "asked": side.asked, "is_partial": side.is_partial, "jax": side.jax,
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


def _table(table: PairTable[Any], fields: str) -> dict[str, Any]:
    return {
        "added": [_pair(pair, fields) for pair in table.rows if pair.status == "added"],
        "removed": [_pair(pair, fields) for pair in table.rows if pair.status == "removed"],
        "changed": [_pair(pair, fields) for pair in table.changed],
        "same": table.same,
    }


def _pair(pair: Pair[Any], fields: str) -> dict[str, Any]:
    found = {}
    for field in fields.split():
        name, _, attribute = field.partition("=")
        found[name] = _value(name, getattr(pair.row, attribute or name))
    if pair.changes:
        found["joined_by"] = list(pair.by)
        found["changes"] = {one.name: [one.before, one.after] for one in pair.changes}
    return {**found, "because": str(pair.reason)} if pair.reason else found


def _value(name: str, value: Any) -> Any:
    """The value of a field; lists and numbers stay as they are."""
    match name:
        case "where":
            return value[0].where if value else None
        case "cause":
            return None if value is None else str(value.sentence)
        case "spec":
            return None if value is None else spec_text(value)
        case "contains":
            return dict(value)
        case _:
            return value
