"""Why memory was too small for a program: XLA's report beside the record of the program it is of.

Joins the rooms: the report is read in `parse`, the program found among the records that were captured, and `analyze`
puts them side by side. Not its job: any of those steps.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pjit_inspect.analyze.memory.autopsy import explain_shortage, wanted_piece
from pjit_inspect.analyze.memory.reported import join_reported
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
    """What was too small for what, what is known of that, and its record; None where no record is of it.

    Args:
      shortage: what XLA reported.
      scene: the user's line.
      places: file and line of each frame of the user's that the error went through.
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
    """Pieces of captured programs that have the size which could not be had.

    JAX runs ahead: an error may be raised on the line that waits for a result, and the call stands elsewhere.
    """
    if shortage.kind != "allocation":
        return []
    data = [cleaned(record.state.captured.data) for record in recent_records()]
    found = [(piece, own) for own in data if (piece := wanted_piece(shortage, own))]
    return found[:_MOST_ALIKE]


def find_record(shortage: MemoryShortage, places: Collection[tuple[str, int]]) -> CompileRecord | None:
    """The newest record of the program that an error is about.

    Its call stands in the traceback, and a second witness says that it is this program: it has none, as the compiler
    refused; or XLA's name is its name; or the piece that could not be had is one of its own. JAX runs ahead, so that
    the call may stand elsewhere: then both its name and the piece are its own. Where several programs fit, none is it.
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
    """Whether XLA calls the program so: JAX gives it a name without what is no letter (`jit__lambda`)."""
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
