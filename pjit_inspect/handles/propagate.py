"""The program of a record before partitioning, with the shardings that XLA gave it, or the reason why it is not known.

Joins the rooms: `observe` asks XLA, `parse` reads its modules, `analyze` joins them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from pjit_inspect.analyze.partition.edges import align, with_collectives
from pjit_inspect.analyze.program.loops import find_trip_count
from pjit_inspect.analyze.sharding.axes import with_origins
from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.guard import gc_paused, one_line
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.source import SOURCE_LINES
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.edit import Edit, PlacedEdit
from pjit_inspect.model.sharding.sharded_program import Place, ShardedProgram
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.sharding.propagated_hlo import (
    Borders,
    NumberedNames,
    PropagatedHlo,
    read_borders,
    read_propagated_hlo,
)

if TYPE_CHECKING:
    from pjit_inspect.observe.partitioner.service import Partitioned

_PATIENCE_S = 60.0
"""Time a display waits for XLA's partitioner; beyond it, the display says that shardings are not known, and why."""

_LONG_S = 5.0
"""Longest time a display waits if XLA was not asked before."""

_S_PER_ARRAY, _S_PER_INSTRUCTION = 1e-3, 1e-4
"""Time of XLA's partitioner per argument or result, and per instruction of the optimized program.

Measured on 2 cores and 8 fake devices: 0.2 s for 201 arrays and 507 instructions, 5.3 s for 6,001 and 15,007, 20.7 s
for 20,001 and 50,007; of train steps 1.0 s for 193 and 8,764, 3.7 s for 769 and 35,236.
"""

_NEVER_ASKED = "the record was saved by an earlier version of this package, which did not ask XLA"
_NOT_LOOKED_AT = "the record was saved before anybody looked at its shardings"


def propagation_of(
    data: RecordData, *, live: bool, answered: Callable[[], ShardedProgram] | None = None
) -> tuple[ShardedProgram | None, str]:
    """The program of a record with the sharding of every value, or None and the reason.

    A record from a file has the program that was known when it was saved; its bytecode is not trusted with a compiler.
    `answered` makes the program if XLA has answered already.
    """
    if data.propagation is not None:
        return data.propagation, _reason_of_saved(data.propagation, data)
    if data.stablehlo is None:
        return None, data.missing.get("stablehlo") or "there is no program before optimization"
    if not live and answered is None:
        return None, data.missing.get("partitioner") or _NOT_LOOKED_AT
    try:
        return answered() if answered is not None else ask(data, timeout_s=_PATIENCE_S), ""
    except (CaptureError, ParseError) as error:
        return None, one_line(error).removeprefix(f"{type(error).__name__}: ")


def why_unasked(data: RecordData, module: HloModule) -> str:
    """Why a display does not wait for XLA's partitioner, whose answer would take long (modelled); "" where it does."""
    if data.stablehlo is None or _devices(data) < 2:
        return ""
    arrays, instructions = len(data.inputs) + len(data.outputs), len(module)
    wait_s = arrays * _S_PER_ARRAY + instructions * _S_PER_INSTRUCTION
    if wait_s < _LONG_S:
        return ""
    return (
        f"XLA's partitioner needs about {wait_s:.0f} s (modelled) for a program of {arrays:,} arrays and "
        f"{instructions:,} instructions"
    )


def _reason_of_saved(program: ShardedProgram, data: RecordData) -> str:
    """Why a record of an earlier version has predicted shardings; "" if they are XLA's, or nothing was split."""
    if not program.is_predicted or _devices(data) <= 1:
        return ""
    return data.missing.get("partitioner") or _NEVER_ASKED


def ask(data: RecordData, *, timeout_s: float) -> ShardedProgram:
    """The program as XLA's partitioner received it, with the collectives that the partitioner made.

    Raises CaptureError if XLA cannot be asked, ParseError if its answer is not understood.
    """
    if data.stablehlo is None:
        raise CaptureError("the record has no program before optimization that XLA's partitioner could be asked about")
    found = _asked(data, data.stablehlo.read(), _devices(data), timeout_s)
    with gc_paused():
        program = PartitionedProgram.of(found).explained(data)
    if contradiction := _contradiction(program, data):
        raise CaptureError(f"what XLA made of a copy is not the program that was captured: {contradiction}")
    return program


def ask_about_copy(
    data: RecordData, stablehlo: bytes, *, timeout_s: float, sizes: Mapping[str, int] | None = None
) -> CopiedProgram:
    """A copy of a record's program, perhaps changed, as XLA's partitioner receives it.

    Args:
      data: the record, which has the names of arguments and results.
      stablehlo: the copy as MLIR bytecode.
      timeout_s: time limit.
      sizes: the axes of the copy's mesh, outermost first; None for the record's meshes and devices.

    Raises CaptureError if XLA cannot be asked, ParseError if its answer is not understood.
    """
    found = _asked(data, stablehlo, _devices(data) if sizes is None else math.prod(sizes.values()), timeout_s)
    if sizes is not None:
        numbers = tuple(device.id for device in found.devices)
        mesh = Mesh(axis_names=tuple(sizes), shape=tuple(sizes.values()), device_ids=numbers)
        data = replace(data, meshes=(mesh,), devices=found.devices)
    with gc_paused():
        return PartitionedProgram.of(found).copied(data)


def _asked(data: RecordData, stablehlo: bytes, devices: int, timeout_s: float) -> Partitioned:
    from pjit_inspect.observe.partitioner.service import ask_partitioner

    return ask_partitioner(stablehlo, devices=devices, flags=data.flags, timeout_s=timeout_s)


def _contradiction(program: ShardedProgram, data: RecordData) -> str:
    """An argument or result that XLA splits differently in the copy than in the captured program; "" for none."""
    sides = ((program.inputs, data.parameters), (program.outputs, data.outputs))
    for boundaries, layouts in sides:
        for boundary, layout in zip(boundaries, layouts, strict=False) if len(boundaries) == len(layouts) else ():
            # A result that its axes do not divide is computed padded and returned replicated.
            if layout.local_shape is None or (boundaries is program.outputs and boundary.spec is None):
                continue
            value = program.values[boundary.value]
            # What is returned may be computed otherwise: it is moved at the end, to the sharding it must have.
            piece = program.local_shape(boundary.value, boundary.spec)
            if value.shape == layout.global_shape and piece != layout.local_shape:
                return f"`{boundary.label}` is {list(piece)} on each device, not {list(layout.local_shape)}"
    return ""


class EarlyProgram:
    """A program before partitioning that is read while XLA still partitions it."""

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._content: bytes | None = None
        self._module: HloModule | None = None

    def read(self, content: bytes) -> None:
        """Read it, as `on_before` of `ask_partitioner`."""
        # Reading errors are reported with the answer.
        with suppress(ParseError):
            self._content, self._module = content, parse_program(content)

    def of(self, content: bytes) -> HloModule:
        """The program of an answer. Raises ParseError."""
        return self._module if self._module is not None and content == self._content else parse_program(content)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedProgram:
    """A program before partitioning, and the operations of the captured program that its operations are.

    Attributes:
      program: the program, without its collectives.
      numbers: for each of `program.ops`, the number of the operation (`observe.shardy.numbering`); None if XLA added
        it.
      trips: index of a loop in `program.ops` -> its turns; loops of unknown length are omitted.
    """

    program: ShardedProgram
    numbers: tuple[int | None, ...]
    trips: dict[int, int]

    def placed(self, edits: Sequence[Edit]) -> tuple[PlacedEdit, ...]:
        """Edits of `program` at their places in the captured program. Raises CaptureError where XLA added the place."""
        return tuple(map(self._placed, edits))

    def _placed(self, edit: Edit) -> PlacedEdit:
        if edit.kind in ("argument", "result"):
            return PlacedEdit(edit=edit, number=edit.index)
        index = edit.index
        number = self.numbers[index] if 0 <= index < len(self.numbers) else None
        if number is None:
            raise CaptureError(f"operation {index} is none of the captured program, so it cannot be changed")
        op = self.program.ops[index]
        # What a loop returns is known by what it is given.
        values = op.results if edit.kind == "constrain" and op.kind != "while" else op.operands
        if edit.kind not in ("constrain", "hop") or edit.number >= len(values):
            return PlacedEdit(edit=edit, number=number)
        value = self.program.values[self._source(values[edit.number])]
        return PlacedEdit(edit=edit, number=number, shape=value.shape, argument=value.argument)

    def _source(self, value: int) -> int:
        """The value that XLA's own copies were made of."""
        maker = self.program.values[value].op
        while maker is not None and self.numbers[maker] is None and self.program.ops[maker].kind == "copy":
            value = self.program.ops[maker].operands[0]
            maker = self.program.values[value].op
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionedProgram:
    """An answer of XLA's partitioner, read only as far as needed.

    Attributes:
      found: the answer.
      before: the program before partitioning.
    """

    found: Partitioned
    before: HloModule

    @classmethod
    def of(cls, found: Partitioned, early: EarlyProgram | None = None) -> Self:
        """An answer about a program whose first half may have been read already. Raises ParseError."""
        return cls(found=found, before=(early or EarlyProgram()).of(found.before))

    def borders(self, data: RecordData) -> Borders:
        """The shardings of arguments and results, by the meshes of a record's data. Raises ParseError."""
        return read_borders(self.before, data.meshes, _device_ids(data), partitions=self.found.partitions)

    def copied(self, data: RecordData) -> CopiedProgram:
        """All of the program before partitioning, by the meshes and names of a record's data. Raises ParseError."""
        names = self._names(data)
        read = self._read(data, names)
        program = replace(read.program, is_predicted=False, partitioner=self.found.partitioner)
        numbers: list[int | None] = [None] * len(program.ops)
        trips: dict[int, int] = {}
        for index, op in read.op_of.items():
            instruction = self.before.instruction(index)
            numbers[op] = names.number(instruction.op_name)
            turns = find_trip_count(instruction) if instruction.opcode == "while" else None
            if turns is not None:
                trips[op] = turns
        return CopiedProgram(program=_with_names(program, data), numbers=tuple(numbers), trips=trips)

    def explained(self, data: RecordData) -> ShardedProgram:
        """All of the program, with its collectives, by the meshes and names of a record's data. Raises ParseError."""
        names = self._names(data)
        read = self._read(data, names)
        program, found = replace(read.program, is_predicted=False), self.found
        if found.after:

            def pieces(index: int) -> tuple[tuple[int, ...], ...]:
                return tuple(map(read.program.local_shape, read.values_of.get(index, ())))

            after = parse_program(found.after)
            alignment = align(self.before, after, pieces)
            rules = names.of_rules(after) if found.rules else {}
            program = with_collectives(alignment, program, read.op_of, read.values_of, rules)
        warnings = names.in_text(found.warnings)
        return _with_names(replace(program, partitioner=found.partitioner, compiler_log=warnings), data)

    def _names(self, data: RecordData) -> NumberedNames:
        from pjit_inspect.observe.shardy.numbering import read_places

        places = read_places(self.found.places)
        if SOURCE_LINES in data.missing:
            places = tuple(Place(name=own.name) for own in places)
        return NumberedNames(places)

    def _read(self, data: RecordData, names: NumberedNames) -> PropagatedHlo:
        found = self.found
        return read_propagated_hlo(
            self.before.without_frames() if SOURCE_LINES in data.missing else self.before,
            data.meshes,
            _device_ids(data),
            free_inputs=found.free_inputs,
            free_outputs=found.free_outputs,
            result_names=found.result_names,
            names=names,
            partitions=found.partitions,
            rules=found.rules,
        )


def _with_names(program: ShardedProgram, data: RecordData) -> ShardedProgram:
    from pjit_inspect.observe.live.library_names import with_paths

    return with_paths(with_origins(program), data)


def _device_ids(data: RecordData) -> list[int] | None:
    return [device.id for device in data.devices] or None


def _devices(data: RecordData) -> int:
    return len(data.devices) or math.prod(data.mesh.shape if data.mesh is not None else (1,))
