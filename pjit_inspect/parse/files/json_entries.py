"""The entries of a `.pjit` file that are JSON beside the record: the propagated program, and measured times.

Not its job: the file (`parse.files.record_file`).
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.model.sharding.sharded_program import AxisOrigin, ShardedProgram, ShardingRule, Span
from pjit_inspect.parse.files.json_fields import (
    TableWriter,
    from_json,
    json_bytes,
    parse_json,
    tables_from_json,
    to_json,
)

_TABLES = (Frame, Span, AxisOrigin, ShardingRule)
_MAX_RANK = 64
_GONE = ("signature", "near")
"""Fields of each collective in files of earlier versions only: digests of its sources."""


def times_bytes(times: KernelTimes) -> bytes:
    """The times as JSON. Equal times give equal bytes."""
    return json_bytes(to_json(times, KernelTimes, TableWriter()))


def read_times(content: bytes, name: str) -> KernelTimes:
    """The times that `times_bytes` wrote; `name` is their name in errors. Raises ParseError."""
    return from_json(parse_json(content, name), KernelTimes, f"{name}: $")


def propagation_bytes(program: ShardedProgram) -> bytes:
    """The program as JSON; parts shared by many ops are written once, in tables. Equal programs give equal bytes."""
    tables = TableWriter(*_TABLES)
    body = to_json(program, ShardedProgram, tables, skip=("compiler_log",))
    return json_bytes({"tables": tables.to_json(), "program": body})


def read_propagation(content: bytes, name: str) -> ShardedProgram:
    """The program that `propagation_bytes` wrote; `name` is its name in errors. Raises ParseError."""
    whole = from_json(parse_json(content, name), dict[str, Any], f"{name}: $")
    tables = tables_from_json(whole.get("tables"), _TABLES, f"{name}: $.tables")
    _drop_gone(whole.get("program"))
    program = from_json(whole.get("program"), ShardedProgram, f"{name}: $.program", tables)
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
