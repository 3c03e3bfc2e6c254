"""Live values at the peak of a program's memory, and over its schedule.

Joins the steps: live ranges, places, kinds, names. Not its job: any of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pjit_inspect.analyze.memory.beside import find_beside
from pjit_inspect.analyze.memory.could import find_suggestions
from pjit_inspect.analyze.memory.counted import find_counted
from pjit_inspect.analyze.memory.kinds import kind_of
from pjit_inspect.analyze.memory.live_ranges import Value, find_live_ranges
from pjit_inspect.analyze.memory.occupancy import Buffer, Occupancy, find_occupancy
from pjit_inspect.analyze.memory.passing import Nodes
from pjit_inspect.analyze.memory.states import find_states
from pjit_inspect.analyze.memory.timeline import find_timeline
from pjit_inspect.analyze.memory.values_named import Describer, scope_of
from pjit_inspect.analyze.program.loops import find_running
from pjit_inspect.analyze.program.source import UserFiles, user_frames
from pjit_inspect.model.memory.buffer_assignment import BufferAssignment
from pjit_inspect.model.memory.memory_use import LiveTable, LiveValue, MemoryCurve, MemoryKind, MemoryUse, Moment
from pjit_inspect.model.memory.timeline import MemoryTimeline
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.report.collective import CollectiveTable, Phase
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.model.words.layers import layers_of

_LARGEST = 50
_SPACES = {"tpu": {0: "HBM", 5: "host"}, "gpu": {0: "device memory", 5: "host"}}
"""Memories with a curve. On-chip memory has none: live ranges exceed that of a v5e, so other rules apply."""
_PHASE: dict[str, Phase] = {
    "forward": "forward",
    "recompute": "recompute",
    "backward": "backward",
    "update": "optimizer",
}
_NOT_MADE = frozenset(
    ("parameter", "constant", "while", "broadcast", "iota", "tuple", "get-tuple-element", "conditional")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFacts:
    """Further facts about a program.

    Attributes:
      inputs: the arguments that it reads, in order.
      outputs: the results, with the arguments they take over.
      graph: its kernels with their phases; None if there is none.
      collectives: its collectives.
      shardings: the values of the program before partitioning.
      mesh: the mesh of the specs.
      platform: "cpu", "tpu", "gpu", or "" for unknown.
      files: the user's files.
      xla_temporary_bytes: bytes that XLA reserves for temporaries; None if it does not say.
      assignment: XLA's buffer assignment; None if unknown.
      replaced: the arguments that are returned with new values, by the name of their tree (`analyze.advice`).
    """

    inputs: Sequence[ArrayLayout] = ()
    outputs: Sequence[ArrayLayout] = ()
    graph: ProgramGraph | None = None
    collectives: CollectiveTable = field(default_factory=lambda: CollectiveTable(()))
    shardings: ShardingTable = field(default_factory=ShardingTable)
    mesh: Mesh | None = None
    platform: str = ""
    files: UserFiles = field(default_factory=UserFiles)
    xla_temporary_bytes: int | None = None
    assignment: BufferAssignment | None = None
    replaced: Mapping[str, Sequence[ArrayLayout]] = field(default_factory=dict)


def arguments_alone(facts: MemoryFacts, missing: str) -> MemoryUse:
    """Arguments and results of a program whose schedule is not known, for the reason `missing`."""
    held: list[tuple[MemoryKind, ArrayLayout]] = []
    held.extend(("argument", one) for one in facts.inputs if one.is_on_device)
    held.extend(("result", one) for one in facts.outputs if one.aliases is None and one.is_on_device)
    rows = [
        LiveValue(
            name=one.path,
            bytes=one.bytes_per_device,
            kind=kind,
            spec=one.spec,
            dtype=short_dtype(one.dtype),
            local_shape=one.local_shape or (),
            global_shape=one.global_shape,
            layers=layers_of(one.path),
        )
        for kind, one in held
        if one.bytes_per_device
    ]
    live = LiveTable(rows=tuple(sorted(rows, key=lambda row: (-row.bytes, row.name))))
    return MemoryUse(
        live=live,
        by_kind=_sums((row.kind, row.bytes) for row in live),
        by_layer=_sums((str(row.layers[0]) if row.layers else "", row.bytes) for row in live),
        source="counted",
        temporary_bytes=facts.xla_temporary_bytes,
        unknown=sum(one.bytes_per_device is None for _, one in held),
        missing=missing,
    )


def occupancy_of(module: HloModule, assignment: BufferAssignment | None = None) -> Occupancy:
    """The buffers of a program with a schedule, and from where to where each is alive.

    Counted if XLA's buffer assignment is available and fits this program; if not, modelled.
    """
    ranges = find_live_ranges(Nodes(module, find_running(module)))
    counted = None if assignment is None else find_counted(ranges, assignment)
    found = counted or find_occupancy(ranges)
    found.place_by_caller()
    return found


class MemoryFinder:
    """Finds the memory use of one program with a schedule."""

    def __init__(self, occupancy: Occupancy, facts: MemoryFacts) -> None:
        self._all, self._facts = occupancy, facts
        self._ranges, self._nodes = occupancy.ranges, occupancy.ranges.nodes
        self._module = self._nodes.module
        self._names = Describer(
            nodes=self._nodes,
            inputs=facts.inputs,
            collectives=facts.collectives,
            shardings=facts.shardings,
            mesh=facts.mesh,
            files=facts.files,
        )
        self._phases = _phases(facts.graph)
        self._kernel_times = self._times()
        self._states = self._find_states()
        self._told: dict[tuple[int, int | None], LiveValue] = {}

    def _times(self) -> list[int]:
        """The place of each kernel in the schedule."""
        graph, time = self._facts.graph, self._nodes.time
        if graph is None:
            return sorted(time.values())
        return sorted(time[index] for index in graph.kernels.instruction.tolist() if index in time)

    def found(self) -> MemoryUse:
        """The live values at the peak, their sums, and the curves."""
        total = self._all.curve(lambda buffer: buffer.space == 0)
        at = int(np.argmax(total)) if len(total) else 0
        alive = [buffer for buffer in self._all.buffers if buffer.space == 0 and _is_alive(buffer, at)]
        live = LiveTable(rows=self._rows(alive, at))
        return MemoryUse(
            peak_bytes=int(total.max(initial=0)),
            total_bytes=self._total(),
            temporary_bytes=self._temporary(),
            source=self._all.source,
            at=self._moment(at),
            live=live,
            largest=LiveTable(rows=self._rows(self._largest(), None)),
            curves=self._curves(),
            by_kind=_sums((row.kind, row.bytes) for row in live),
            by_scope=_sums((row.scope.partition("/")[0], row.bytes) for row in live),
            by_layer=_sums((str(row.layers[0]) if row.layers else "", row.bytes) for row in live),
            by_source=_sums((row.source[0].where if row.source else "", row.bytes) for row in live),
            suggestions=find_suggestions(
                live,
                self._facts.mesh,
                self._facts.graph,
                self._placed(),
                self._facts.replaced,
                self._facts.inputs,
            ),
            beside=find_beside(self._all, alive, lambda buffer: self._row(buffer, at)),
            unknown=self._all.unknown,
        )

    def _most(self, wanted: Callable[[Buffer], bool]) -> int:
        """The most that is alive at once of some buffers of the main memory."""
        return int(self._all.curve(lambda buffer: buffer.space == 0 and wanted(buffer)).max(initial=0))

    def _total(self) -> int | None:
        assignment = self._facts.assignment
        if assignment is None or self._all.source != "counted":
            return None
        return assignment.by_color.get(0, 0)

    def _temporary(self) -> int:
        """Bytes XLA reserves for temporaries; if unknown, the most temporary bytes alive at once."""
        assignment, said = self._facts.assignment, self._facts.xla_temporary_bytes
        if assignment is not None and self._all.source == "counted":
            return assignment.temporary_bytes()
        return self._most(_is_apart) if said is None else said

    def _placed(self) -> int:
        """Upper bound of additional bytes if no temporary used the buffer of a result."""
        every, said = self._most(lambda buffer: buffer.kind == "temporary"), self._facts.xla_temporary_bytes
        if self._all.source == "counted":
            return every - self._most(_is_apart)
        return every if said is None else max(0, every - said)

    # ------------------------------------------------------------ moments

    def _kernel(self, place: int) -> int:
        """The kernel that runs at a place of the schedule, or ran last before it."""
        return max(0, bisect_right(self._kernel_times, place) - 1)

    def _moment(self, place: int) -> Moment:
        kernel = self._kernel(place)
        times = self._kernel_times
        index = self._nodes.running.order[times[kernel] if times else place]
        instruction = self._module.instruction(index)
        frames = instruction.frames
        return Moment(
            kernel=kernel,
            kernels=len(times),
            name=instruction.name,
            phase=self._phases.get(index),
            source=user_frames(frames, self._facts.files) if frames else (),
        )

    def _curves(self) -> tuple[MemoryCurve, ...]:
        names = _SPACES.get(self._facts.platform, {0: "memory", 5: "host"})
        spaces = sorted({0, *(buffer.space for buffer in self._all.buffers)} & names.keys())
        curves = []
        for space in spaces:
            total = self._all.curve(lambda buffer, space=space: buffer.space == space)
            starts = self._kernel_times
            # Instructions before the first kernel (constants, copies) belong to it.
            most = np.maximum.reduceat(total, [0, *starts[1:]]) if starts else total[:0]
            curves.append(MemoryCurve(space=space, name=names[space], bytes=tuple(most.tolist())))
        return tuple(curves)

    def timelines(self) -> tuple[MemoryTimeline, ...]:
        """Each memory over the schedule, as in `MemoryUse.curves`; names are those of the peak."""
        total = self._all.curve(lambda buffer: buffer.space == 0)
        at = int(np.argmax(total)) if len(total) else 0
        order, name = self._nodes.running.order, self._module.reader.name
        kernel_of = {name(order[place]): kernel for kernel, place in enumerate(self._kernel_times)}

        def row_of(buffer: Buffer) -> LiveValue:
            return self._row(buffer, at if _is_alive(buffer, at) else None)

        times = self._kernel_times
        found: list[Phase] = [self._phases.get(order[place]) for place in times] if self._phases else []
        phases = tuple(found)
        curves = self._curves()
        return tuple(find_timeline(self._all, one, times, row_of, kernel_of, phases) for one in curves)

    # ------------------------------------------------------------ rows

    def _largest(self) -> list[Buffer]:
        return sorted((one for one in self._all.buffers if one.space == 0), key=lambda one: -one.bytes)[:_LARGEST]

    def _rows(self, buffers: Iterable[Buffer], at: int | None) -> tuple[LiveValue, ...]:
        rows = [self._row(buffer, at) for buffer in buffers if buffer.bytes]
        return tuple(sorted(rows, key=lambda row: (-row.bytes, row.begins, row.name)))

    def _row(self, buffer: Buffer, at: int | None) -> LiveValue:
        key = id(buffer), at if len(buffer.values) > 1 else None
        if key not in self._told:
            self._told[key] = self._tell(buffer, at)
        return self._told[key]

    def _tell(self, buffer: Buffer, at: int | None) -> LiveValue:
        value = self._representative(buffer, at)
        nodes, names = self._nodes, self._names
        maker = nodes.owner[value.node]
        told, origin = names.describe(value.node), names.maker(value.node)
        shape = nodes.shapes[value.node]
        collective = names.collective(origin.kernel)
        values = [self._ranges.values[row] for row in buffer.values]
        # A copy belongs to the phase in which its elements were computed, whichever operation wants it.
        made = self._phases.get(origin.kernel) or told.phase
        user = max(values, key=lambda one: one.ends).last_user
        last = self._phase_of_user(user)
        op_name = told.op_name
        return LiveValue(
            name=told.name,
            bytes=buffer.bytes,
            kind=kind_of(
                buffer,
                made,
                last,
                None if collective is None else collective.kind,
                is_state=buffer.kind == "argument" and told.name in self._states,
            ),
            spec=told.spec,
            source=told.source,
            dtype=shape.dtype,
            local_shape=told.local_shape or shape.dimensions,
            global_shape=told.global_shape,
            scope=scope_of(op_name),
            layers=layers_of(op_name or told.name),
            begins=self._kernel(buffer.spans[0][0] if buffer.spans else value.begins),
            ends=self._kernel(buffer.spans[-1][1] if buffer.spans else value.ends),
            phase=made,
            last_phase=last,
            made_by=self._module.reader.name(maker),
            last_used_by="" if user < 0 else self._module.reader.name(user),
            turns=self._turns(maker, shape.dimensions),
            space=buffer.space,
            lies_in=buffer.lies_in,
            written_dtype=names.written_dtype(value.node, op_name),
            # A value without a spec gets no advice about specs.
            collective_axes=names.collective_axes(value.node)
            if told.spec is not None and buffer.kind == "temporary"
            else (),
            unpadded_bytes=shape.bytes,
        )

    def _representative(self, buffer: Buffer, at: int | None) -> Value:
        """The value that names a buffer: its argument, or else the value that is computed, not only passed on."""
        values = [self._ranges.values[row] for row in buffer.values]
        if len(values) == 1:
            return values[0]
        opcode = [self._nodes.opcode(self._nodes.owner[value.node]) for value in values]
        if buffer.kind == "argument":
            return next(value for value in values if self._is_argument(value))
        makers = [value for value, code in zip(values, opcode, strict=True) if code not in _NOT_MADE] or values
        now = [value for value in makers if at is not None and value.begins <= at <= value.ends]
        named = [value for value in now or makers if self._module.instruction(self._nodes.owner[value.node]).op_name]
        return (named or now or makers)[-1]

    def _is_argument(self, value: Value) -> bool:
        maker = self._nodes.owner[value.node]
        is_entry = int(self._module.instructions.computation[maker]) == self._module.entry
        return is_entry and self._nodes.opcode(maker) == "parameter"

    def _phase_of_user(self, user: int) -> Phase:
        return self._phases.get(user) if user >= 0 else None

    def _find_states(self) -> frozenset[str]:
        """The paths of the arguments that are optimizer state."""
        users: dict[str, frozenset[Phase]] = {}
        for buffer in self._all.buffers if self._phases else ():
            if buffer.kind == "argument":
                value = self._representative(buffer, None)
                layout = self._names.argument(value.node)
                if layout is not None:
                    users[layout.path] = self._users(value)
        return find_states(self._facts.inputs, self._facts.outputs, users)

    def _users(self, value: Value) -> frozenset[Phase]:
        """The phases of all kernels that take an argument, traced through instructions that pass it on."""
        nodes, found, seen = self._nodes, set[Phase](), set[int]()
        border = [nodes.owner[value.node]]
        while border:
            for user in self._module.users[border.pop()].tolist():
                if user in seen:
                    continue
                seen.add(user)
                if user in self._phases:
                    found.add(self._phases[user])
                elif nodes.opcode(user) != "tuple":
                    border.append(user)
                elif user != nodes.root(self._module.entry):
                    return frozenset((None,))
        return frozenset(found)

    def _turns(self, maker: int, dimensions: tuple[int, ...]) -> int | None:
        """The turns of the loop in which a part of an array is written in each, when there are as many parts."""
        running = self._nodes.running
        loop = running.loop_of.get(int(self._module.instructions.computation[maker]), -1)
        trips = running.loops[loop].trips if loop >= 0 else None
        return trips if trips and dimensions and dimensions[0] == trips else None


def _phases(graph: ProgramGraph | None) -> dict[int, Phase]:
    """Instruction of a kernel -> its phase; {} for a program without differentiation."""
    if graph is None or not graph.is_differentiated:
        return {}
    kernels = graph.kernels
    phase = [_PHASE[PHASES[box.phase]] for box in graph.boxes]
    return {
        index: phase[box]
        for index, box in zip(kernels.instruction.tolist(), kernels.box.tolist(), strict=True)
        if box >= 0
    }


def _is_alive(buffer: Buffer, at: int) -> bool:
    return any(begins <= at <= ends for begins, ends in buffer.spans)


def _is_apart(buffer: Buffer) -> bool:
    """Whether it is a temporary outside the memory of an argument or result."""
    return buffer.kind == "temporary" and not buffer.lies_in


def _sums(pairs: Iterable[tuple[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for key, size in pairs:
        total[key] += size
    return dict(total.most_common())
