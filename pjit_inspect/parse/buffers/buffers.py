"""XLA's account of a program's memory, in any form that a record holds.

Not its job: the forms (`assignment_proto`, `assignment_text`).
"""

from __future__ import annotations

from pjit_inspect.model.memory.buffer_assignment import BufferAssignment
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.parse.buffers.assignment_proto import parse_buffer_assignment_proto
from pjit_inspect.parse.buffers.assignment_text import parse_buffer_assignment

_TEXT, _RANGES = b"BufferAssignment:", "\nHloLiveRange ("


def parse_buffers(content: bytes, module: HloModule) -> BufferAssignment:
    """The assignment, from the text of a dump or from a proto. Raises `ParseError` for anything else."""
    if content.startswith(_TEXT):
        # Records of earlier versions have a list of live ranges after it.
        return parse_buffer_assignment(content.decode("utf-8", "replace").partition(_RANGES)[0])
    reader = module.reader
    names = dict(zip(reader.ids().tolist(), reader.names(range(len(module))), strict=True))
    return parse_buffer_assignment_proto(content, names)
