"""Live values at the peak of a program's memory, and over its schedule.

Joins the steps: live ranges, places, purposes, names. Not its job: any of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from pjit_inspect.analyze.memory.could import find_suggestions
from pjit_inspect.analyze.memory.live_ranges import Value
from pjit_inspect.analyze.memory.occupancy import Buffer, Occupancy, find_beside, joined_spans
from pjit_inspect.analyze.memory.values_named import Describer, MemoryFacts, scope_of
from pjit_inspect.analyze.program.array_flow import PLUMBING
from pjit_inspect.analyze.program.paths import split_path
from pjit_inspect.analyze.program.source import user_frames
from pjit_inspect.model.memory.memory_use import (
    LiveTable,
    LiveValue,
    MemoryCurve,
    MemoryKind,
    MemoryTimeline,
    MemoryUse,
    Moment,
    TimedValue,
)
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.report.collective import Phase
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.model.words.layers import layers_of
from pjit_inspect.model.words.sentence import bytes_in_words

MOST_NAMED = 2000
"""Most named buffers of a timeline, the largest ones. More would take longer than the rest of a display."""
_LARGEST = 50
_SPACES = {"tpu": {0: "HBM", 5: "host"}, "gpu": {0: "device memory", 5: "host"}}
"""Memories with a curve. On-chip memory has none: live ranges exceed that of a v5e, so other rules apply."""
_PHASE: dict[str, Phase] = {
    "forward": "forward",
    "recompute": "recompute",
    "backward": "backward",
    "update": "optimizer",
}
"""Columns of the graph -> phases of training."""
_BEHIND: tuple[Phase, ...] = ("backward", "recompute")
_MODEL = frozenset(("forward", *_BEHIND))
_UPDATE = frozenset(("optimizer",))
_NOT_MADE = PLUMBING | operations("broadcast", "given", "made")
_KEYS: dict[str, Callable[[LiveValue], str]] = {
    "by_kind": lambda row: row.kind,
    "by_scope": lambda row: row.scope.partition("/")[0],
    "by_layer": lambda row: str(row.layers[0]) if row.layers else "",
    "by_source": lambda row: row.source[0].where if row.source else "",
}
"""For each sum of a table's bytes the key of a row."""


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
    live = LiveTable(rows=_sorted(rows))
    return MemoryUse(
        live=live,
        by_kind=_sums(live, "by_kind"),
        by_layer=_sums(live, "by_layer"),
        source="counted",
        temporary_bytes=facts.xla_temporary_bytes,
        unknown=sum(one.bytes_per_device is None for _, one in held),
        missing=missing,
    )


class MemoryFinder:
    """Finds the memory use of one program with a schedule."""

    def __init__(self, occupancy: Occupancy, facts: MemoryFacts) -> None:
        self._all, self._facts = occupancy, facts
        self._ranges, self._module = occupancy.ranges, occupancy.ranges.module
        self._names = Describer(self._ranges, facts)
        self._phases = _phases(facts.graph)
        self._kernel_times = self._times()
        self._states = self._find_states()
        self._rows_known: dict[tuple[int, int | None], LiveValue] = {}
        self._total = occupancy.curve(lambda buffer: buffer.space == 0)
        self._peak = int(np.argmax(self._total)) if len(self._total) else 0

    def _times(self) -> list[int]:
        """The place of each kernel in the schedule."""
        graph, time = self._facts.graph, self._ranges.time
        if graph is None:
            return sorted(time.values())
        return sorted(time[index] for index in graph.kernels.instruction.tolist() if index in time)

    def found(self) -> MemoryUse:
        """The live values at the peak, their sums, and the curves."""
        facts, main = self._facts, [buffer for buffer in self._all.buffers if buffer.space == 0]
        counted = facts.assignment if self._all.source == "counted" else None
        # What XLA reserves for temporaries; if unknown, the most temporary bytes alive at once.
        said = facts.xla_temporary_bytes if counted is None else counted.temporary_bytes()
        apart = self._most(lambda buffer: buffer.is_apart)
        # An upper bound of additional bytes if no temporary used the buffer of a result.
        placed = self._most(lambda buffer: buffer.kind == "temporary") - (apart if counted is not None else said or 0)
        alive = [buffer for buffer in main if buffer.is_alive(self._peak)]
        live = LiveTable(rows=self._rows(alive, self._peak))
        return MemoryUse(
            peak_bytes=int(self._total.max(initial=0)),
            total_bytes=None if counted is None else counted.by_color.get(0, 0),
            temporary_bytes=apart if said is None else said,
            source=self._all.source,
            at=self._moment(self._peak),
            live=live,
            largest=LiveTable(rows=self._rows(sorted(main, key=lambda one: -one.bytes)[:_LARGEST], None)),
            curves=tuple(curve for curve, _ in self._moments_of()),
            by_kind=_sums(live, "by_kind"),
            by_scope=_sums(live, "by_scope"),
            by_layer=_sums(live, "by_layer"),
            by_source=_sums(live, "by_source"),
            suggestions=find_suggestions(live, facts, max(0, placed)),
            beside=tuple(self._beside(alive)),
            unknown=self._all.unknown,
        )

    def _beside(self, alive: list[Buffer]) -> Iterator[str]:
        """Sentences that explain why temporaries do not use the free memory of a donated argument."""
        for buffer, argument, why in find_beside(self._all, alive):
            names = [self._row(one, self._peak).name for one in (buffer, argument)]
            size = bytes_in_words(buffer.bytes)
            yield f"{names[0]}, {size}, does not lie in the memory of the donated {names[1]}: {why}"

    def _most(self, wanted: Callable[[Buffer], bool]) -> int:
        """The most that is alive at once of some buffers of the main memory."""
        return int(self._all.curve(lambda buffer: buffer.space == 0 and wanted(buffer)).max(initial=0))

    # ------------------------------------------------------------ moments

    def _kernel(self, place: int) -> int:
        """The kernel that runs at a place of the schedule, or ran last before it."""
        return max(0, bisect_right(self._kernel_times, place) - 1)

    def _moment(self, place: int) -> Moment:
        kernel, times = self._kernel(place), self._kernel_times
        index = self._ranges.running.order[times[kernel] if times else place]
        name, frames = self._module.reader.name(index), self._module.frames(index)
        source = user_frames(frames, self._facts.files) if frames else ()
        return Moment(kernel=kernel, kernels=len(times), name=name, phase=self._phases.get(index), source=source)

    def _moments_of(self) -> Iterator[tuple[MemoryCurve, np.ndarray]]:
        """The curve of each memory, and for each kernel the place at which most is alive before the next begins."""
        names = _SPACES.get(self._facts.platform, {0: "memory", 5: "host"})
        for space in sorted({0, *(buffer.space for buffer in self._all.buffers)} & names.keys()):
            total = self._all.curve(lambda buffer, space=space: buffer.space == space)
            places = moments(total, self._kernel_times)
            yield MemoryCurve(space=space, name=names[space], bytes=tuple(total[places].tolist())), places

    def timelines(self) -> tuple[MemoryTimeline, ...]:
        """Each memory over the schedule, as in `MemoryUse.curves`; names are those of the peak.

        The buffers alive at the moments of kernels add up exactly to the curve.
        """
        kernels = [self._ranges.running.order[place] for place in self._kernel_times]
        kernel_of = {name: kernel for kernel, name in enumerate(self._module.reader.names(kernels))}
        phases: list[Phase] = [self._phases.get(kernel) for kernel in kernels] if self._phases else []
        found = []
        for curve, places in self._moments_of():
            own = [one for one in self._all.buffers if one.space == curve.space and one.bytes and one.spans]
            own.sort(key=lambda one: -one.bytes)
            values = [self._timed(one, places, kernel_of) for one in own[:MOST_NAMED]]
            values.sort(key=lambda one: (-one.value.bytes, one.value.begins, one.value.name))
            nameless = max(0, len(own) - MOST_NAMED)
            found.append(MemoryTimeline(curve=curve, values=tuple(values), nameless=nameless, phases=tuple(phases)))
        return tuple(found)

    def _timed(self, buffer: Buffer, places: np.ndarray, kernel_of: Mapping[str, int]) -> TimedValue:
        value = self._row(buffer, self._peak if buffer.is_alive(self._peak) else None)
        maker, user = (kernel_of.get(name, -1) for name in (value.made_by, value.last_used_by))
        return TimedValue(value=value, spans=_in_kernels(buffer.spans, places), maker=maker, last_user=user)

    # ------------------------------------------------------------ rows

    def _rows(self, buffers: Iterable[Buffer], at: int | None) -> tuple[LiveValue, ...]:
        return _sorted(self._row(buffer, at) for buffer in buffers if buffer.bytes)

    def _row(self, buffer: Buffer, at: int | None) -> LiveValue:
        """One buffer in the user's terms; `at` is the place at which it is looked at, None for any."""
        key = id(buffer), at if len(buffer.values) > 1 else None
        if key not in self._rows_known:
            self._rows_known[key] = self._new_row(buffer, at)
        return self._rows_known[key]

    def _new_row(self, buffer: Buffer, at: int | None) -> LiveValue:
        value = self._representative(buffer, at)
        names, maker, shape = self._names, self._ranges.owner[value.node], self._ranges.shape(value.node)
        told, origin = names.describe(value.node), names.maker(value.node)
        collective = names.collective(origin.kernel)
        # A copy belongs to the phase in which its elements were computed, whichever operation wants it.
        made = self._phases.get(origin.kernel) or told.phase
        user = max((self._ranges.values[row] for row in buffer.values), key=lambda one: one.ends).last_user
        last = self._phases.get(user)
        kind = _purpose(made, last, collective and collective.kind) if buffer.kind == "temporary" else buffer.kind
        is_state = kind == "argument" and told.name in self._states
        # A value without a spec gets no advice about specs.
        is_advised = told.spec is not None and buffer.kind == "temporary"
        return LiveValue(
            name=told.name,
            bytes=buffer.bytes,
            kind="optimizer state" if is_state else kind,
            spec=told.spec,
            source=told.source,
            dtype=shape.dtype,
            local_shape=told.local_shape or shape.dimensions,
            global_shape=told.global_shape,
            scope=scope_of(told.op_name),
            layers=layers_of(told.op_name or told.name),
            begins=self._kernel(buffer.spans[0][0] if buffer.spans else value.begins),
            ends=self._kernel(buffer.spans[-1][1] if buffer.spans else value.ends),
            phase=made,
            last_phase=last,
            made_by=self._module.reader.name(maker),
            last_used_by="" if user < 0 else self._module.reader.name(user),
            turns=self._turns(maker, shape.dimensions),
            space=buffer.space,
            lies_in=buffer.lies_in,
            written_dtype=names.written_dtype(value.node, told.op_name),
            collective_axes=names.collective_axes(value.node) if is_advised else (),
            unpadded_bytes=shape.bytes,
        )

    def _representative(self, buffer: Buffer, at: int | None) -> Value:
        """The value that names a buffer: its argument, or else the value that is computed, not only passed on."""
        values, ranges = [self._ranges.values[row] for row in buffer.values], self._ranges
        if len(values) == 1:
            return values[0]
        if buffer.kind == "argument":
            return next(value for value in values if value.node in ranges.given)
        makers = [value for value in values if ranges.opcode(value.node) not in _NOT_MADE] or values
        now = [value for value in makers if at is not None and value.begins <= at <= value.ends]
        named = [value for value in now or makers if self._module.instruction(ranges.owner[value.node]).op_name]
        return (named or now or makers)[-1]

    def _find_states(self) -> frozenset[str]:
        """The paths of the arguments that are optimizer state."""
        graph, inputs, users = self._facts.graph, self._facts.inputs, dict[str, set[Phase]]()
        if graph is None or not self._phases:
            return frozenset()
        phases = [self._phases.get(index) for index in graph.kernels.instruction.tolist()]
        for number, kernel in zip(graph.reads.argument.tolist(), graph.reads.target.tolist(), strict=True):
            if 0 <= number < len(inputs):
                users.setdefault(inputs[number].path, set()).add(phases[kernel])
        return find_states(inputs, self._facts.outputs, users)

    def _turns(self, maker: int, dimensions: tuple[int, ...]) -> int | None:
        """The turns of the loop in which a part of an array is written in each, when there are as many parts."""
        running = self._ranges.running
        loop = running.loop_of.get(int(self._module.instructions.computation[maker]), -1)
        trips = running.loops[loop].trips if loop >= 0 else None
        return trips if trips and dimensions and dimensions[0] == trips else None


def moments(total: np.ndarray, starts: Sequence[int]) -> np.ndarray:
    """For each kernel, the position of the schedule with most live bytes (`total`) before the next kernel begins.

    `starts` are the kernels' positions, ascending; earlier ones (constants, copies) belong to the first kernel.
    """
    if not starts:
        return np.zeros(0, np.int64)
    edges = np.array([0, *starts[1:]])
    kernel = np.repeat(np.arange(len(edges)), np.diff(edges, append=len(total)))
    highest = np.flatnonzero(total == np.maximum.reduceat(total, edges)[kernel])
    _, first = np.unique(kernel[highest], return_index=True)
    return highest[first]


def _in_kernels(spans: Sequence[tuple[int, int]], places: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Converts spans of positions to spans of kernels whose moments are in them."""
    first = np.searchsorted(places, [begins for begins, _ in spans], "left").tolist()
    last = np.searchsorted(places, [ends for _, ends in spans], "right").tolist()
    return tuple(joined_spans((begins, after - 1) for begins, after in zip(first, last, strict=True)))


def _phases(graph: ProgramGraph | None) -> dict[int, Phase]:
    """Instruction of a kernel -> its phase; {} for a program without differentiation."""
    if graph is None or not graph.is_differentiated:
        return {}
    kernels = graph.kernels
    phase = [_PHASE[PHASES[box.phase]] for box in graph.boxes]
    boxes = zip(kernels.instruction.tolist(), kernels.box.tolist(), strict=True)
    return {index: phase[box] for index, box in boxes if box >= 0}


def _sorted(rows: Iterable[LiveValue]) -> tuple[LiveValue, ...]:
    """Rows, largest first."""
    return tuple(sorted(rows, key=lambda row: (-row.bytes, row.begins, row.name)))


def _sums(live: LiveTable, name: str) -> dict[str, int]:
    """Bytes of all rows by one of `_KEYS`, largest first."""
    total: Counter[str] = Counter()
    for row in live:
        total[_KEYS[name](row)] += row.bytes
    return dict(total.most_common())


# ------------------------------------------------------------ purposes


def _purpose(made: Phase, last: Phase, collective: str | None) -> MemoryKind:
    """The purpose of a temporary, by the phases in which it is made and used last, and a collective that makes it."""
    if collective != "all-gather" and made == "forward" and last in _BEHIND:
        return "saved for backward"
    # A gradient may be summed over devices; a gathered or moved array is one that the update needs.
    if made in _BEHIND and last == "optimizer" and collective in (None, "all-reduce", "reduce-scatter"):
        return "gradient"
    return "temporary" if collective is None else "collective buffer"


def find_states(
    inputs: Sequence[ArrayLayout], outputs: Sequence[ArrayLayout], users: Mapping[str, AbstractSet[Phase]]
) -> frozenset[str]:
    """The paths of the arguments that are optimizer state; doubtful arguments are omitted.

    An argument read only by the update need not be state: a mask, a learning rate and an unused parameter are also read
    only there. The step must also return its next value, and the model may not read any argument beside it in its tree.

    Args:
      inputs: the arguments that the program reads.
      outputs: its results.
      users: path of an argument -> the phases of its readers.
    """
    read_by_model = {_parent(path) for path, phases in users.items() if not _MODEL.isdisjoint(phases)}
    taken, yielded = Counter(map(_key, inputs)), Counter(map(_key, outputs))
    reused = {one.aliases for one in outputs}

    def is_state(one: ArrayLayout) -> bool:
        if users.get(one.path) != _UPDATE:
            return False
        if not (parent := _parent(one.path)):
            # It has no path that a result could share; it is state if a result reuses its buffer.
            return one.path in reused
        # If more arguments than results are alike, some are no state, and it is unknown which.
        return parent not in read_by_model and taken[_key(one)] <= yielded[_key(one)]

    return frozenset(one.path for one in inputs if is_state(one))


def _parent(path: str) -> tuple[str, ...]:
    return split_path(path)[:-1]


def _key(one: ArrayLayout) -> tuple[str, tuple[int, ...], str]:
    """Properties shared by an argument and its next value: the last step of the path, the shape, the type."""
    return split_path(one.path)[-1], one.global_shape, one.dtype
