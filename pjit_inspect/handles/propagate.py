"""The program of a record before partitioning, with its shardings: from XLA, or predicted, or why there is none.

Joins the rooms: `observe` asks XLA, `parse` reads its modules, `analyze` joins them. Not its job: any of those steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from pjit_inspect.analyze.partition.edges import align, with_collectives
from pjit_inspect.analyze.sharding.axes import with_origins
from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.guard import gc_paused, is_interrupt, one_line
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.source import SOURCE_LINES
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.sharding.sharded_program import Place, ShardedProgram
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.sharding.propagated_hlo import Borders, NumberedNames, read_borders, read_propagated_hlo

if TYPE_CHECKING:
    from pjit_inspect.observe.partitioner.service import Partitioned

_PATIENCE_S = 60.0
"""Time a display waits for XLA's partitioner; beyond it, the display shows a prediction, and says so."""

_LONG_S = 5.0
"""Longest time a display waits if XLA was not asked before."""

_S_PER_ARRAY, _S_PER_INSTRUCTION = 1e-3, 1e-4
"""Time of XLA's partitioner per argument or result, and per instruction of the optimized program.

Measured on 2 cores and 8 fake devices: 0.2 s for 201 arrays and 507 instructions, 5.3 s for 6,001 and 15,007, 20.7 s
for 20,001 and 50,007; of train steps 1.0 s for 193 and 8,764, 3.7 s for 769 and 35,236.
"""

_NEVER_ASKED = "the record was saved by an earlier version of this package, which did not ask XLA"


def propagation_of(
    data: RecordData, *, live: bool, answered: Callable[[], ShardedProgram] | None = None
) -> tuple[ShardedProgram | None, str]:
    """The program of a record with the sharding of every value, or None and the reason.

    A record from a file has the program computed before saving; its bytecode is not trusted with a compiler. For a
    predicted program the reason says why XLA was not asked. `answered` makes the program if XLA has answered already.
    """
    if data.propagation is not None:
        return data.propagation, _reason_of_saved(data.propagation, data)
    if data.stablehlo is None:
        return None, data.missing.get("stablehlo") or "there is no program before optimization"
    if not live and answered is None:
        return None, "the record was saved before anybody looked at its shardings"
    reason = ""
    if _devices(data) > 1:
        try:
            return answered() if answered is not None else ask(data, timeout_s=_PATIENCE_S), ""
        except (CaptureError, ParseError) as error:
            reason = one_line(error).removeprefix(f"{type(error).__name__}: ")
    return _predicted(data, reason) if live else (None, reason)


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
    """Why a saved record has only a prediction; "" if it has XLA's shardings, or nothing was split."""
    if not program.is_predicted or _devices(data) <= 1:
        return ""
    return data.missing.get("partitioner") or _NEVER_ASKED


def ask(data: RecordData, *, timeout_s: float) -> ShardedProgram:
    """The program as XLA's partitioner received it, with the collectives that the partitioner made.

    Raises CaptureError if XLA cannot be asked, ParseError if its answer is not understood.
    """
    from pjit_inspect.observe.partitioner.service import ask_partitioner

    if data.stablehlo is None:
        raise CaptureError("the record has no program before optimization that XLA's partitioner could be asked about")
    answer = ask_partitioner(data.stablehlo.read(), devices=_devices(data), flags=data.flags, timeout_s=timeout_s)
    program = read_answer(answer, data)
    if contradiction := _contradiction(program, data):
        raise CaptureError(f"what XLA made of a copy is not the program that was captured: {contradiction}")
    return program


def _contradiction(program: ShardedProgram, data: RecordData) -> str:
    """An argument or result that XLA splits differently in the copy than in the captured program; "" for none."""
    sides = ((program.inputs, [own for own in data.inputs if own.kept]), (program.outputs, data.outputs))
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


def read_answer(found: Partitioned, data: RecordData) -> ShardedProgram:
    """XLA's partitioned program, with the record's names. Raises ParseError."""
    with gc_paused():
        return PartitionedProgram.of(found).explained(data)


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

    def explained(self, data: RecordData) -> ShardedProgram:
        """All of the program, with its collectives, by the meshes and names of a record's data. Raises ParseError."""
        from pjit_inspect.observe.live.library_names import with_paths
        from pjit_inspect.observe.shardy.numbering import read_places

        found, before, places = self.found, self.before, read_places(self.found.places)
        if SOURCE_LINES in data.missing:
            before, places = before.without_frames(), tuple(Place(name=own.name) for own in places)
        names = NumberedNames(places)
        read = read_propagated_hlo(
            before,
            data.meshes,
            _device_ids(data),
            free_inputs=found.free_inputs,
            free_outputs=found.free_outputs,
            result_names=found.result_names,
            names=names,
            partitions=found.partitions,
        )

        def pieces(index: int) -> tuple[tuple[int, ...], ...]:
            return tuple(map(read.program.local_shape, read.values_of.get(index, ())))

        alignment = align(self.before, parse_program(found.after), pieces)
        program = with_collectives(alignment, read.program, read.op_of, read.values_of)
        program = replace(program, partitioner=found.partitioner, compiler_log=names.in_text(found.warnings))
        return with_paths(with_origins(program), data)


def _device_ids(data: RecordData) -> list[int] | None:
    return [device.id for device in data.devices] or None


def _devices(data: RecordData) -> int:
    return len(data.devices) or math.prod(data.mesh.shape if data.mesh is not None else (1,))


def _predicted(data: RecordData, reason: str) -> tuple[ShardedProgram | None, str]:
    """The prediction for the program by a run of Shardy in this package."""
    from pjit_inspect.observe.live.library_names import with_paths
    from pjit_inspect.observe.shardy.propagation import propagate

    if data.stablehlo is None:
        return None, reason
    try:
        program = propagate(data.stablehlo.read())
    except Exception as error:
        if is_interrupt(error):
            raise
        # Whatever jaxlib does with an unknown program, the record must remain readable.
        return None, f"Shardy's propagation failed: {one_line(error)}"
    if program is None:
        return None, f"XLA splits the program by GSPMD, not by Shardy{f', and {reason}' if reason else ''}"
    return with_paths(program, data), reason
