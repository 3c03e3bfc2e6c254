"""Runs `what_if` for a record from a file in a separate process, because damaged programs may crash MLIR and XLA.

The process reads the record as this one does, asks, and answers with a record, which is trusted no more than the first.
Not its job: the process (`observe.apart`), or asking (`handles.asked.what_if`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from pjit_inspect.analyze.report.report import report
from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import Effort, Target
from pjit_inspect.observe.apart.call import Channel, RefusedError
from pjit_inspect.observe.apart.tasks import Made
from pjit_inspect.parse.files.record_file import read_record, write_record
from pjit_inspect.parse.hlo_proto.hlo import parse_program

_GRACE_S = 30.0
"""Additional time for the imports of that process, besides its question's limit."""

_channel = Channel("the process that reads the program from its file")


def ask_what_if_apart(
    data: RecordData,
    *,
    mesh: Mapping[str, int] | None,
    specs: Mapping[str, Any] | None,
    target: str | Target | None,
    effort: Effort,
    timeout_s: float,
) -> RecordData:
    """As `handles.asked.what_if.ask_what_if`, for a record from another process; the result includes the program."""
    if data.stablehlo is None:
        raise ChangeError("the record has no program before optimization, so no change of it can be tried")
    question = {
        "mesh": None if mesh is None else dict(mesh),
        "specs": {path: _plain(spec) for path, spec in (specs or {}).items()},
        "target": None if target is None else str(target),
        "effort": effort,
        "timeout_s": timeout_s,
    }
    try:
        json.dumps(question)
    except (TypeError, ValueError) as error:
        raise ChangeError(f"a mesh has names with sizes, and specs are PartitionSpecs: {error}") from error
    record = io.BytesIO()
    write_record(data, record)
    try:
        made = _channel.ask("what_if", question, [record.getvalue()], timeout_s=timeout_s + _GRACE_S)
    except RefusedError as error:
        raise CaptureError(f"{error}; the file may be damaged") from error
    return read_record(io.BytesIO(made.blobs[0]))


def _plain(spec: Any) -> list[Any] | None:
    if spec is None:
        return None
    if not isinstance(spec, (tuple, list)):
        from pjit_inspect.observe.live.shardings import full_spec

        spec = full_spec(spec, 0)
    return list(spec)


# ---------------------------------------------------------------- in that process


def answer(question: dict[str, Any], blobs: list[bytes]) -> Made:
    """Read the record, ask, and return the answer as a record."""
    from pjit_inspect.handles.asked.what_if import as_partitioned, ask_what_if

    data = read_record(io.BytesIO(blobs[0]))
    figures = report(data, None if data.hlo is None else parse_program(data.hlo.read())).figures
    at_stage = partial(as_partitioned, data, figures, timeout_s=question["timeout_s"])
    made, program = ask_what_if(data, lambda is_partitioned: at_stage() if is_partitioned else figures, **question)
    record = io.BytesIO()
    write_record(replace(made, propagation=None if program is None else program()), record)
    return Made({}, (record.getvalue(),))
