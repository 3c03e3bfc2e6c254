"""Requests that causes blame, left out of the captured program: what is there without them.

A constraint is found by the line that the cause points to, a result by the name in its sentence. Not its job: deciding
which causes must name one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from observe.programs import compiled_with, copied

import pjit_inspect
from causes.case import Case
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.parse.hlo_proto.hlo import parse_program

__all__ = ["Blamed", "blamed"]

_RESULT = re.compile(r"`([^`]*)` (?:must be|is returned|is computed as)")
_REQUESTS = ("sharding_constraint", "reshard")


@dataclass(frozen=True, slots=True, kw_only=True)
class Blamed:
    """One cause that blames a request.

    Attributes:
      kind, sentence: the cause's.
      edits: what leaves the request out of the program; () where it could not be found there.
      is_gone: whether there are fewer such collectives at that operation without it; None where that program could not
        be had.
      is_needed_anyway: whether another operation then needs as large a collective of that kind over those axes.
    """

    kind: str
    sentence: str
    edits: tuple[Edit, ...] = ()
    is_gone: bool | None = None
    is_needed_anyway: bool = False


def blamed(case: Case) -> tuple[Blamed, ...]:
    """Every cause of the case that blames a constraint or a result, with what came of leaving that out."""
    function, arguments = case.build()
    record = pjit_inspect.inspect(function, *arguments)
    data = record.data
    if data.stablehlo is None:
        return ()
    found, program = [], None
    for row in record.collectives:
        for cause in row.causes:
            if cause.kind in ("reshard_requested", "output") and cause.evidence == "sharding":
                program = program or copied(data).program
                edits = _edits(cause, program)
                found.append(_without(cause, row, edits, record))
    return tuple(found)


def _edits(cause: Cause, program: ShardedProgram) -> tuple[Edit, ...]:
    if cause.kind == "output":
        names = _RESULT.findall(cause.sentence)
        indices = [n for n, own in enumerate(program.outputs) if own.label in names and own.spec is not None]
        return tuple(Edit(kind="result", index=index) for index in indices)
    place = (cause.source[0].file, cause.source[0].line) if cause.source else None
    return tuple(
        Edit(kind="remove", index=index)
        for index, op in enumerate(program.ops)
        if op.kind in _REQUESTS and any((frame.file, frame.line) == place for frame in op.frames)
    )


def _without(cause: Cause, row: Collective, edits: tuple[Edit, ...], record: pjit_inspect.CompileRecord) -> Blamed:
    answer = Blamed(kind=cause.kind, sentence=cause.sentence, edits=edits)
    data = record.data
    try:
        changed = parse_program(compiled_with(data, edits)) if edits else None
    except CaptureError:
        changed = None
    if changed is None:
        return answer
    after = find_collectives(changed, data.mesh, [device.id for device in data.devices])
    return replace(
        answer,
        is_gone=_count(after, row, by_name=True) < _count(record.collectives, row, by_name=True),
        is_needed_anyway=_count(after, row) >= _count(record.collectives, row),
    )


def _count(rows: Iterable[Collective], like: Collective, *, by_name: bool = False) -> int:
    """How many have the kind, axes and shape of one (and JAX's name of the operation)."""
    return sum(
        (row.kind, row.axes, row.local_shape) == (like.kind, like.axes, like.local_shape)
        and (row.op_name == like.op_name or not by_name)
        for row in rows
    )
