"""XLA's buffer assignment from the CPU client: a serialised `xla.BufferAssignmentProto`.

Values name their instruction by its number in the program's proto. Not its job: the texts of dumps
(`parse.buffers.assignment_text`).

*Source*: `xla/service/hlo.proto` (BufferAssignmentProto, LogicalBufferProto, BufferAllocationProto).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pjit_inspect.model.memory.buffer_assignment import Allocation, AssignedValue, BufferAssignment
from pjit_inspect.parse.wire.hlo_schema import decode, message_class, text
from pjit_inspect.parse.wire.unknown_fields import count_messages


def parse_buffer_assignment_proto(data: bytes, names: Mapping[int, str]) -> BufferAssignment:
    """The assignment in a serialised proto. Raises `ParseError` for other bytes.

    Args:
      data: the proto.
      names: the number of each of the program's instructions -> its name.
    """
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
