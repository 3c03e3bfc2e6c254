"""XLA's buffer assignment in any form that a record holds: the text of a dump, or the proto of the CPU client.

The proto is a serialised `xla.BufferAssignmentProto`; its values name their instruction by its number in the program's
proto. Not its job: the text (`parse.buffers.assignment_text`).

*Source*: `xla/service/hlo.proto` (BufferAssignmentProto, LogicalBufferProto, BufferAllocationProto).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from pjit_inspect.model.memory.buffer_assignment import Allocation, AssignedValue, BufferAssignment
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.parse.buffers.assignment_text import parse_buffer_assignment
from pjit_inspect.parse.wire.wire import Field, read_varint, split_message

_TEXT, _RANGES = b"BufferAssignment:", "\nHloLiveRange ("
_LOGICAL, _ALIASES, _ALLOCATIONS, _TRACES = 1, 2, 3, 4
_ID, _SIZE, _DEFINED_AT, _COLOR = 1, 2, 3, 4
_NAME, _INDEX, _INSTRUCTION_ID = 2, 3, 4
_ALLOCATION = {
    1: "number", 2: "bytes", 3: "is_thread_local", 5: "is_parameter", 6: "parameter", 7: "is_live_out", 8: "color",
    11: "is_tuple", 12: "is_constant",
}  # fmt: skip
_ASSIGNED, _PARAMETER_INDEX = 9, 10


class _Logical(NamedTuple):
    """A value, without its place in memory."""

    instruction: str
    index: tuple[int, ...]
    color: int


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
    unknown: Counter[str] = Counter()
    fields = list(split_message(data, 0, len(data)))
    logical = dict(_logical(data, field, names, unknown) for field in fields if field.number == _LOGICAL)
    allocations = [_allocation(data, field, logical, unknown) for field in fields if field.number == _ALLOCATIONS]
    for field in fields:
        unknown[f"field {field.number}"] += field.number not in (_LOGICAL, _ALIASES, _ALLOCATIONS, _TRACES)
    return BufferAssignment(allocations=tuple(allocations), unknown=dict(+unknown))


def _number(data: bytes, field: Field) -> int:
    return read_varint(data, field.start, field.end)[0]


def _numbers(data: bytes, field: Field) -> tuple[int, ...]:
    """The numbers of a packed field."""
    found, at = [], field.start
    while at < field.end:
        value, at = read_varint(data, at, field.end)
        found.append(value)
    return tuple(found)


def _logical(data: bytes, field: Field, names: Mapping[int, str], unknown: Counter[str]) -> tuple[int, _Logical]:
    number, color, instruction, index = 0, 0, "", ()
    for own in split_message(data, field.start, field.end):
        if own.number == _ID:
            number = _number(data, own)
        elif own.number == _COLOR:
            color = _number(data, own)
        elif own.number == _DEFINED_AT:
            instruction, index = _place(data, own, names)
        else:
            unknown[f"logical buffer field {own.number}"] += own.number != _SIZE
    return number, _Logical(instruction, index, color)


def _place(data: bytes, field: Field, names: Mapping[int, str]) -> tuple[str, tuple[int, ...]]:
    instruction, index = "", ()
    for own in split_message(data, field.start, field.end):
        if own.number == _INSTRUCTION_ID:
            instruction = names.get(_number(data, own), instruction)
        elif own.number == _NAME:
            # Versions before 2023 name the instruction.
            instruction = instruction or data[own.start : own.end].decode("utf-8", "replace")
        elif own.number == _INDEX:
            index = (*index, *_numbers(data, own))
    return instruction, index


def _allocation(data: bytes, field: Field, logical: Mapping[int, _Logical], unknown: Counter[str]) -> Allocation:
    found: dict[str, int] = {}
    values: list[AssignedValue] = []
    index: tuple[int, ...] = ()
    for own in split_message(data, field.start, field.end):
        if own.number in _ALLOCATION:
            found[_ALLOCATION[own.number]] = _number(data, own)
        elif own.number == _ASSIGNED:
            values.append(_assigned(data, own, logical))
        elif own.number == _PARAMETER_INDEX:
            index = (*index, *_numbers(data, own))
        else:
            unknown[f"allocation field {own.number}"] += 1
    return Allocation(
        number=found.get("number", 0),
        bytes=found.get("bytes", 0),
        color=found.get("color", 0),
        parameter=found.get("parameter", 0) if found.get("is_parameter") else None,
        parameter_index=index,
        is_constant=bool(found.get("is_constant")),
        is_thread_local=bool(found.get("is_thread_local")),
        is_live_out=bool(found.get("is_live_out")),
        is_tuple=bool(found.get("is_tuple")),
        values=tuple(values),
    )


def _assigned(data: bytes, field: Field, logical: Mapping[int, _Logical]) -> AssignedValue:
    numbers = {own.number: _number(data, own) for own in split_message(data, field.start, field.end)}
    number = numbers.get(1, 0)
    value = logical.get(number, _Logical("", (), 0))
    return AssignedValue(
        id=number,
        instruction=value.instruction,
        index=value.index,
        bytes=numbers.get(3, 0),
        offset=numbers.get(2, 0),
        color=value.color,
    )
