"""Explains a memory shortage: XLA's report beside the record of the program.

Joins the rooms: `parse` reads the report, the program is found among the captured records, and `analyze` joins both.
Not its job: any of those steps.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pjit_inspect.analyze.memory.autopsy import explain_shortage, join_reported, wanted_piece
from pjit_inspect.errors import ParseError
from pjit_inspect.handles.memory.joined import known_autopsy
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.handles.session.captured import recent_records
from pjit_inspect.model.memory.autopsy import Autopsy
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.shortage import MemoryShortage
from pjit_inspect.model.report.explained_error import ErrorScene, ExplainedError
from pjit_inspect.parse.wire.clean import clean_line, cleaned

_MOST_ALIKE = 2


def autopsy_of(
    shortage: MemoryShortage, scene: ErrorScene, places: Collection[tuple[str, int]]
) -> tuple[ExplainedError, Autopsy, CompileRecord | None]:
    """Explains an out-of-memory error: the explanation, known facts, and the program's record (None if none matches).

    Args:
      shortage: XLA's report.
      scene: the user's line.
      places: file and line of each user frame that the error passed through.
    """
    record = find_record(shortage, places)
    if record is None:
        largest = join_reported(shortage.largest)
        return (
            explain_shortage(shortage, scene, alike=_alike(shortage)),
            Autopsy(shortage=shortage, largest=largest),
            None,
        )
    now = record.state.analyses
    piece = wanted_piece(shortage, now.data)
    name = clean_line(now.data.name)
    explained = explain_shortage(shortage, scene, program=name, piece=piece)
    return explained, replace(known_autopsy(shortage, now), program=name, what=piece), record


def _alike(shortage: MemoryShortage) -> list[tuple[str, RecordData]]:
    """Pieces of captured programs that have the size of the failed allocation.

    JAX runs ahead: the error may be raised on a line that waits for a result, far from the call.
    """
    if shortage.kind != "allocation":
        return []
    data = [cleaned(record.state.captured.data) for record in recent_records()]
    found = [(piece, own) for own in data if (piece := wanted_piece(shortage, own))]
    return found[:_MOST_ALIKE]


def find_record(shortage: MemoryShortage, places: Collection[tuple[str, int]]) -> CompileRecord | None:
    """The newest record of the program that an error is about.

    Its call is in the traceback, and a second fact confirms it: it has no optimized program, because the compiler
    refused; or XLA's name is its name; or the failed allocation has the size of one of its pieces. JAX runs ahead, and
    the call may be elsewhere: then both name and size must match. If several programs fit, the result is None.
    """
    records = recent_records()
    here = [record for record in records if _is_called_at(record, places)]
    if shortage.kind in ("compile", "tuning"):
        return next((record for record in here if record.state.captured.data.hlo is None), None)
    if not shortage.program:
        return next((record for record in here if _has_piece(record, shortage)), None)
    named = [record for record in here if _is_named(record, shortage.program)]
    if not named:
        having = [record for record in records if _has_piece(record, shortage)]
        return _only_one([record for record in having if _is_named(record, shortage.program)])
    return _only_one(named) or _only_one([record for record in named if _has_piece(record, shortage)])


def _is_called_at(record: CompileRecord, places: Collection[tuple[str, int]]) -> bool:
    frame = record.state.captured.data.user_frame
    return frame is not None and (frame.file, frame.line) in places


def _has_piece(record: CompileRecord, shortage: MemoryShortage) -> bool:
    return bool(wanted_piece(shortage, record.state.captured.data))


def _is_named(record: CompileRecord, program: str) -> bool:
    """True if XLA calls the program by this name: JAX replaces characters that are no letters (`jit__lambda`)."""
    try:
        module = record.hlo
    except ParseError:
        module = None
    name = record.state.captured.data.name
    return program == module.name if module is not None else program in (name, f"jit_{name}", f"pmap_{name}")


def _only_one(records: Sequence[CompileRecord]) -> CompileRecord | None:
    """The newest, if all are of one program."""
    programs = [record.state.captured.data.hlo for record in records]
    return records[0] if records and all(program == programs[0] for program in programs) else None
