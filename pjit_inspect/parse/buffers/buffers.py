"""XLA's own account of a program's memory, in whichever form a record holds it.

Not its job: the forms (`assignment_proto`, `assignment_text`).
"""

from __future__ import annotations

from dataclasses import replace

from pjit_inspect.model.memory.buffer_assignment import BufferAssignment
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.parse.buffers.assignment_proto import parse_buffer_assignment_proto
from pjit_inspect.parse.buffers.assignment_text import parse_buffer_assignment, parse_live_ranges

__all__ = ["parse_buffers"]

_TEXT, _RANGES = b"BufferAssignment:", "\nHloLiveRange ("


def parse_buffers(content: bytes, module: HloModule) -> BufferAssignment:
    """The assignment: from the texts of a dump (live ranges behind it, where there are some), or from a proto.

    Raises `ParseError` where it is neither.
    """
    if not content.startswith(_TEXT):
        reader = module.reader
        names = dict(zip(reader.ids().tolist(), reader.names(range(len(module))), strict=True))
        return parse_buffer_assignment_proto(content, names)
    text = content.decode("utf-8", "replace")
    assignment, found, ranges = text.partition(_RANGES)
    parsed = parse_buffer_assignment(assignment)
    return replace(parsed, live=parse_live_ranges(found[1:] + ranges)) if found else parsed
