"""Whether a program is all there, and if not, what it lacks.

A file that was cut off may still read as a program: without its last computations, or without the one it begins with.
One that is damaged within a line may leave the bytes of a collective unknown, and one that holds several programs is
read as the first. Sums over such a program are least ones.
Not its job: reading it (`parse.hlo_proto.hlo`, `parse.hlo_text.hlo_text`), which leaves what it missed in
`HloModule.unknown`; what it has at least (`analyze.report.least`).
"""

from __future__ import annotations

from collections.abc import Mapping

MISSING = "missing"
"""The opcode that stands for an instruction or a computation that is referred to and not there."""

MISSING_INSTRUCTIONS = "missing instructions"
"""How `HloModule.unknown` calls those."""

NO_ENTRY = "ENTRY that is missing"
"""How it calls that no computation is the one the program begins with."""

NO_END = "end that is missing"
"""How it calls computations that are not closed."""

NO_BEGINNING = "beginning that is missing"
"""How it calls computations whose first line is missing."""

UNREADABLE_LINES = "unreadable lines"
"""How it calls lines of computations that could not be read."""

MORE_PROGRAMS = "programs that follow"
"""How it calls programs that stand in the same file after this one."""


def why_incomplete(unknown: Mapping[str, int], *, unsized: int = 0) -> str:
    """What a program lacks, for `RecordData.missing["hlo"]`; "" when it is all there.

    Args:
      unknown: its `HloModule.unknown`.
      unsized: how many of its collectives move nobody knows how much (`Collective.is_unsized`), as far as these have
        been looked for.
    """
    referred = unknown.get(MISSING_INSTRUCTIONS, 0) + unknown.get(f"opcode {MISSING}", 0)
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
