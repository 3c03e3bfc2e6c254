"""XLA's buffer assignment in any form that a record holds: the text of a dump, or the proto of the CPU client.

The proto is a serialised `xla.BufferAssignmentProto`; its values name their instruction by its number in the program's
proto. Not its job: the text (`parse.buffers.assignment_text`).

*Source*: `xla/service/hlo.proto` (BufferAssignmentProto, LogicalBufferProto, BufferAllocationProto).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pjit_inspect.model.memory.buffer_assignment import Allocation, AssignedValue, BufferAssignment
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.parse.buffers.assignment_text import parse_buffer_assignment
from pjit_inspect.parse.wire.hlo_schema import count_messages, decode, message_class, text

_TEXT, _RANGES = b"BufferAssignment:", "\nHloLiveRange ("


def parse_buffers(content: bytes, module: HloModule) -> BufferAssignment:
    """The assignment, from the text of a dump or from a proto. Raises `ParseError` for anything else."""
    if content.startswith(_TEXT):
        # Records of earlier versions have a list of live ranges after it.
        return parse_buffer_assignment(content.decode("utf-8", "replace").partition(_RANGES)[0])
    reader = module.reader
    names = dict(zip(reader.ids().tolist(), reader.names(range(len(module))), strict=True))
    return _parse_proto(content, names)


def _parse_proto(data: bytes, names: Mapping[int, str]) -> BufferAssignment:
    """The assignment in a serialised proto; `names` has the name of each instruction, by number in the program."""
    message = decode("BufferAssignment", data, offset=0)
    values = {value.id: value for value in message.logical_buffers}
    return BufferAssignment(
        allocations=tuple(_allocation(one, values, names) for one in message.buffer_allocations),
        unknown=count_messages(data, "BufferAssignment", [0], [len(data)], [1]),
    )


def _allocation(message: Any, values: Mapping[int, Any], names: Mapping[int, str]) -> Allocation:
    return Allocation(
        number=message.index,
        bytes=message.size,
        color=message.color,
        parameter=message.parameter_number if message.is_entry_computation_parameter else None,
        parameter_index=tuple(message.parameter_shape_index),
        is_constant=message.is_constant,
        is_thread_local=message.is_thread_local,
        is_live_out=message.maybe_live_out,
        is_tuple=message.is_tuple,
        values=tuple(_assigned(one, values, names) for one in message.assigned),
    )


def _assigned(message: Any, values: Mapping[int, Any], names: Mapping[int, str]) -> AssignedValue:
    value = values.get(message.logical_buffer_id) or message_class("LogicalBuffer")()
    place = value.defined_at
    return AssignedValue(
        id=message.logical_buffer_id,
        # Versions before 2023 name the instruction.
        instruction=names.get(place.instruction_id) or text(place.instruction_name),
        index=tuple(place.shape_index),
        bytes=message.size,
        offset=message.offset,
        color=value.color,
    )
