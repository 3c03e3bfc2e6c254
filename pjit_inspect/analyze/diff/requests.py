"""The shardings that the user's code asks for inside the function: `with_sharding_constraint` and `reshard`.

A constraint that changes nothing any more, as propagation has made everything before it agree, is one, too. Not its
job: their effects (`analyze.diff.reasons`).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from pjit_inspect.analyze.diff.match import Joined, Tier, join_rows
from pjit_inspect.analyze.diff.side import DiffSide, ProgramNames, Request, Stack
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.mesh import entry_of
from pjit_inspect.model.program.opcodes import REQUESTS


def find_requests(names: ValueNames) -> tuple[Request, ...]:
    """Every request of a program, in its order."""
    program = names.program
    found = []
    for op in program.ops:
        # In Explicit mode every operation is held to its type; those that somebody wrote have this name.
        if op.kind not in REQUESTS or op.op_name.rpartition("/")[2] not in REQUESTS or not op.results:
            continue
        value = program.values[op.results[0]]
        found.append(
            Request(
                op_name=op.op_name,
                source=names.frames(op),
                values=(*op.operands, *op.results),
                type=(value.dtype, value.shape),
                spec=tuple(map(entry_of, value.spec)),
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Known:
    operation: str
    line: Stack
    loose_line: Stack
    type: Hashable
    spec: Hashable


def join_requests(before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames]) -> list[Joined]:
    """Pairs the requests of both programs that are the same one, even if they ask for different shardings."""
    known = tuple(
        [
            _Known(own.scope(r.op_name), own.stack(r.source), own.stack(r.source, is_loose=True), r.type, r.spec)
            for r in side.requests
        ]
        for side, own in zip((before, after), names, strict=True)
    )
    tiers: tuple[Tier[_Known], ...] = (
        Tier(("operation", "line", "spec"), lambda k: (k.operation, k.line, k.type, k.spec)),
        Tier(("operation", "line without names", "spec"), lambda k: (k.operation, k.loose_line, k.type, k.spec)),
        Tier(("operation", "spec"), lambda k: (k.operation, k.type, k.spec)),
        Tier(("operation", "line"), lambda k: (k.operation, k.loose_line[:1], k.type)),
        Tier(("operation", "shape"), lambda k: (k.operation, k.type)),
        Tier(("operation", "line without shape"), lambda k: (k.operation, k.loose_line[:1])),
    )
    return join_rows(known[0], known[1], tiers)
