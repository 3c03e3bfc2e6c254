"""A propagated program as JSON and back, as stored in a `.pjit` file.

Not its job: the file (`parse.files.record_file`).
"""

from __future__ import annotations

import json
from typing import Any

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import AxisOrigin, ShardedProgram, ShardingRule, Span
from pjit_inspect.parse.files.json_fields import TableWriter, from_json, parse_json, to_json

_TABLES = (Frame, Span, AxisOrigin, ShardingRule)
_MAX_RANK = 64
_GONE = ("signature", "near")
"""Fields of each collective in files of earlier versions only: digests of its sources."""


def propagation_bytes(program: ShardedProgram) -> bytes:
    """The program as JSON; parts shared by many ops are written once, in tables. Equal programs give equal bytes."""
    tables = TableWriter(*_TABLES)
    body = to_json(program, ShardedProgram, tables, skip=("compiler_log",))
    whole = {"tables": tables.to_json(), "program": body}
    return json.dumps(whole, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def read_propagation(content: bytes, name: str) -> ShardedProgram:
    """The program that `propagation_bytes` wrote; `name` is its name in errors. Raises ParseError."""
    whole = parse_json(content, name)
    if not isinstance(whole, dict) or not isinstance(whole.get("tables"), dict):
        raise ParseError(f"{name} has no tables", expected="an object with `tables` and `program`")
    root = (None, f"{name}: $")
    tables: dict[type, tuple[Any, ...]] = {}
    for type_ in _TABLES:
        rows = whole["tables"].get(type_.__name__, [])
        tables[type_] = from_json(rows, tuple[type_, ...], ((root, "tables"), type_.__name__))
    _drop_gone(whole.get("program"))
    program = from_json(whole.get("program"), ShardedProgram, (root, "program"), tables)
    for index, value in enumerate(program.values):
        if len(value.shape) > _MAX_RANK or any(length < 0 for length in value.shape):
            message = f"{name}: $.program.values[{index}].shape is no shape"
            raise ParseError(message, expected=f"0 to {_MAX_RANK} lengths of 0 or more")
    return program


def _drop_gone(program: Any) -> None:
    for name in ("collectives", "written"):
        rows = program.get(name) if isinstance(program, dict) else None
        for row in rows if isinstance(rows, list) else ():
            for gone in _GONE if isinstance(row, dict) else ():
                row.pop(gone, None)
