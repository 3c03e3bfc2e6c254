"""One record and its analyses, for a display; its few figures that are compared with those of another.

Not its job: the analyses themselves, or drawing them (`view`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from pjit_inspect.analyze.causes.causes import CauseFinder
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.collectives.traffic import total_by_axes
from pjit_inspect.analyze.program.custom_calls import find_callbacks
from pjit_inspect.analyze.program.device_groups import with_bounded_groups
from pjit_inspect.analyze.program.device_memory import with_places
from pjit_inspect.analyze.program.fusions import find_fusions
from pjit_inspect.analyze.program.other_communication import find_other_communication
from pjit_inspect.analyze.program.source import UNKNOWN_FILES, UserFiles, package_of, user_frames
from pjit_inspect.analyze.recompiles.resharded import resharded_notes
from pjit_inspect.analyze.report.notes import Widened, collective_notes, find_widened, program_notes, record_notes
from pjit_inspect.analyze.sharding.indivisible import indivisible_notes
from pjit_inspect.guard import Guard
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.incomplete import NO_ENTRY, why_incomplete
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import KeyFigures, SentOver
from pjit_inspect.model.report.collective import AxisTotal, Collective, CollectiveTable, Least
from pjit_inspect.model.report.fusion import FusionTable
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

Explained = tuple[CollectiveTable | None, dict[str, str]]
"""The collectives of a program; None where they could not be found. And which steps to them failed, and why."""


def report(
    data: RecordData,
    module: HloModule | None,
    program: ShardedProgram | None = None,
    sources: Sequence[SourceText] = (),
    *,
    unasked: str = "",
    explained: Explained | None = None,
) -> RecordReport:
    """The record with everything its optimized program tells; without one, the record and its notes alone.

    Args:
      data: the record.
      module: the record's optimized program, parsed; None when the record has none.
      program: the program before partitioning, with its shardings; None when they are not known.
      sources: texts of files that the record does not hold itself.
      unasked: why XLA has not been asked for the program before partitioning yet. Then nothing is said of causes:
        without it they would rest on names.
      explained: its collectives, where they are known.

    An analysis that fails costs what it finds: that is then empty, and named in the `missing` of the report's data.
    """
    guard = Guard()
    if module is None:
        notes = guard.run("notes", lambda: (*record_notes(data), *resharded_notes(data)), ())
        figures = guard.run("figures", partial(find_figures, data, None, (), None), KeyFigures())
        return RecordReport(data=_without(data, guard), notes=notes, figures=figures)
    module = guard.run("group lists", partial(with_bounded_groups, module), module)
    data = guard.run("arrays", partial(with_places, data, module), data)
    files = guard.run("user files", partial(user_files_of, data, sources), UNKNOWN_FILES)
    collectives, failed = explained or explain(data, module, program, sources, unasked=unasked)
    guard.failed |= failed
    data = _with_unsized(data, module, collectives or ())
    totals = guard.run("totals", partial(total_by_axes, collectives or (), len(data.devices)), ())
    # What XLA's partitioner leaves has not been fused, and not been rewritten for the machine.
    is_whole = not data.is_partial
    fusions = guard.run("kernels", partial(find_fusions, module, files=files), None) if is_whole else None
    widened = guard.run("notes", partial(find_widened, module), ()) if is_whole else ()
    notes = guard.run("notes", partial(_notes, collectives, module, data, widened), ())
    odd = guard.run("constraints", partial(indivisible_notes, data, module, program, files), ())
    return RecordReport(
        data=_without(data, guard),
        collectives=collectives,
        totals=totals,
        least=guard.run("least", partial(find_least, collectives or (), module, len(data.devices)), None),
        figures=guard.run("figures", partial(find_figures, data, collectives, totals, fusions), KeyFigures()),
        fusions=fusions,
        callbacks=guard.run("callbacks", lambda: find_callbacks(module, files).rows, ()),
        others=guard.run(
            "other communication", partial(find_other_communication, module, len(data.devices) or None), ()
        ),
        instructions=len(module),
        timed=guard.run("measured instructions", partial(_timed, data, module, files), {}),
        notes=(*notes, *odd),
        unasked=unasked,
    )


def explain(
    data: RecordData,
    module: HloModule,
    program: ShardedProgram | None,
    sources: Sequence[SourceText],
    *,
    unasked: str = "",
) -> Explained:
    """The collectives with their causes, as in `report`."""
    guard = Guard()
    files = guard.run("user files", partial(user_files_of, data, sources), UNKNOWN_FILES)
    find = partial(collectives_of, data, module, files)
    returned = [layout.spec for layout in data.outputs]
    causes = partial(CauseFinder, program, (*data.sources, *sources), files, returned)
    found = None if unasked else guard.run("causes", lambda: find(causes=causes()), None)
    return guard.run("collectives", find, None) if found is None else found, guard.failed


def collectives_of(
    data: RecordData,
    module: HloModule,
    files: UserFiles = UNKNOWN_FILES,
    causes: CauseFinder | None = None,
) -> CollectiveTable:
    """The collectives of a record's program; without `causes`, none that says why it is there."""
    return find_collectives(
        module,
        data.mesh,
        tuple(device.id for device in data.devices) or None,
        other_meshes=data.meshes[1:] if data.meshes[:1] == (data.mesh,) else data.meshes,
        files=files,
        causes=causes,
        hosts=_hosts(data),
    )


def _notes(
    collectives: CollectiveTable | None, module: HloModule, data: RecordData, widened: Widened
) -> tuple[str, ...]:
    return (
        *collective_notes(collectives or (), data),
        *program_notes(module, data, widened),
        *record_notes(data),
        *resharded_notes(data),
    )


def _timed(data: RecordData, module: HloModule, files: UserFiles) -> dict[str, tuple[str, tuple[Frame, ...]]]:
    """The operation and the source position of each measured instruction."""
    wanted = {row.instruction for row in data.kernel_times or ()}
    timed: dict[str, tuple[str, tuple[Frame, ...]]] = {}
    for index, name in enumerate(module.reader.names(range(len(module) if wanted else 0))):
        if name in wanted:
            timed[name] = (module.instruction(index).op_name, user_frames(module.frames(index), files))
    return timed


def _with_unsized(data: RecordData, module: HloModule, collectives: Iterable[Collective]) -> RecordData:
    """The record, with what its program lacks named where the bytes of a collective are unknown."""
    unsized = sum(row.is_unsized for row in collectives)
    if not unsized:
        return data
    return replace(data, missing={**data.missing, "hlo": why_incomplete(module.unknown, unsized=unsized)})


def _without(data: RecordData, guard: Guard) -> RecordData:
    """The record, with what could not be found named among what is missing."""
    return replace(data, missing={**data.missing, **guard.failed}) if guard.failed else data


def _hosts(data: RecordData) -> tuple[int, ...] | None:
    """The host of each position in the mesh; None when one is unknown."""
    hosts = {device.id: device.process for device in data.devices}
    if data.mesh is None or any(device not in hosts for device in data.mesh.device_ids):
        return None
    return tuple(hosts[device] for device in data.mesh.device_ids)


def user_files_of(data: RecordData, sources: Sequence[SourceText] = ()) -> UserFiles:
    """The files of the user, with the notebook's names for them; `sources` as in `report`."""
    frames = (data.user_frame, data.defined_at)
    cells = {frame.file: frame.cell for frame in frames if frame is not None and frame.cell}
    cells |= {source.file: source.cell for source in (*data.sources, *sources) if source.cell}
    return UserFiles(cells, package_of(data.defined_at.file) if data.defined_at is not None else None)


def find_least(rows: Sequence[Collective], module: HloModule, devices: int) -> Least | None:
    """The least that the complete program has; None if `module` is complete and the bytes of all `rows` are known.

    Without the entry computation nothing is known to run.
    """
    if not why_incomplete(module.unknown, unsized=sum(row.is_unsized for row in rows)):
        return None
    if module.unknown.get(NO_ENTRY):
        return Least()
    certain = [row for row in rows if row.count_min]
    # Several permutes may turn out to be one ring, as soon as the rest of it is there.
    whole = [row for row in certain if row.kind != "collective-permute" and row.decomposed is None]
    totals = [total for row in certain for total in total_by_axes((row,), devices)]
    return Least(
        collectives=len(whole) + (len(whole) < len(certain)),
        sent_bytes=sum(total.sent_bytes for total in totals if not total.is_bound),
    )


def find_figures(
    data: RecordData, collectives: CollectiveTable | None, totals: Sequence[AxisTotal], fusions: FusionTable | None
) -> KeyFigures:
    """The figures of a record; `collectives` and `fusions` are None where there are none to count."""
    memory = data.memory
    parts = () if memory is None else (memory.argument_bytes, memory.output_bytes, memory.temporary_bytes)
    total = None if not parts or None in parts else sum(part or 0 for part in parts)
    sizes = [own.bytes_per_device for own in data.parameters if own.is_on_device]
    return KeyFigures(
        collectives=None if collectives is None else len(collectives),
        sent=sent_over(totals),
        memory_bytes=None if total is None or memory is None else total - (memory.alias_bytes or 0),
        argument_bytes=None if None in sizes or not data.inputs else sum(size or 0 for size in sizes),
        kernels=None if fusions is None else len(fusions),
    )


def sent_over(totals: Sequence[AxisTotal]) -> tuple[SentOver, ...]:
    """The bytes sent of totals by axes."""
    sums: dict[tuple[str, ...] | None, int] = {}
    for own in totals:
        sums[own.axes] = sums.get(own.axes, 0) + own.sent_bytes
    return tuple(SentOver(axes=axes, sent_bytes=size) for axes, size in sums.items())
