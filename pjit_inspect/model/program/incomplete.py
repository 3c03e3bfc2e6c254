"""Programs of which a part is missing, and which part.

A truncated file may still read as a program, without its last computations or without its entry. A file damaged within
a line may leave the bytes of a collective unknown. A file with several programs is read as the first. Sums over an
incomplete program are lower bounds. Not its job: reading the file (`parse.hlo_proto.hlo`, `parse.hlo_text.hlo_text`),
which lists missing parts in `HloModule.unknown`; finding lower bounds (`analyze.report.report`).
"""

from __future__ import annotations

from collections.abc import Mapping

MISSING = "missing"
"""Opcode of an instruction or a computation that is referenced and missing."""

MISSING_INSTRUCTIONS = "missing instructions"
"""Key in `HloModule.unknown` for instructions and stack frames that are referred to, and missing."""

NO_ENTRY = "ENTRY that is missing"
"""Key in `HloModule.unknown` for a missing entry computation."""

NO_END = "end that is missing"
"""Key in `HloModule.unknown` for computations that are not closed."""

NO_BEGINNING = "beginning that is missing"
"""Key in `HloModule.unknown` for computations whose first line is missing."""

UNREADABLE_LINES = "unreadable lines"
"""Key in `HloModule.unknown` for lines of computations that could not be read."""

MORE_PROGRAMS = "programs that follow"
"""Key in `HloModule.unknown` for further programs in the same file."""


def why_incomplete(unknown: Mapping[str, int], *, unsized: int = 0) -> str:
    """The missing parts of a program, for `RecordData.missing["hlo"]`; "" if it is complete.

    Args:
      unknown: its `HloModule.unknown`.
      unsized: the number of its collectives of unknown size (`Collective.is_unsized`), if they have been looked for.
    """
    referred = unknown.get(MISSING_INSTRUCTIONS, 0)
    unread = unknown.get(UNREADABLE_LINES, 0)
    lacks = [
        *(["its entry computation is missing"] if unknown.get(NO_ENTRY) else []),
        *(["a computation has no beginning"] if unknown.get(NO_BEGINNING) else []),
        *(["a computation has no end"] if unknown.get(NO_END) else []),
        *([f"{unread:,} of its lines cannot be read"] if unread else []),
        *([f"{referred:,} of what its instructions refer to {_is(referred)} missing"] if referred else []),
        *(["the file holds more than one program, and this is the first"] if unknown.get(MORE_PROGRAMS) else []),
        *([f"the bytes of {unsized:,} of its collectives are unknown"] if unsized else []),
    ]
    return f"incomplete: {' and '.join(lacks)}" if lacks else ""


def _is(number: int) -> str:
    return "is" if number == 1 else "are"
