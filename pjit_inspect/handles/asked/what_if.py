"""Makes a record of a program that was changed in a copy, or compiled for other devices, and never ran.

Joins the rooms: the change is made in `observe.shardy`, XLA asked in `observe.partitioner`, its answer read in `parse`.
Not its job: any of those steps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.collectives.traffic import total_by_axes
from pjit_inspect.analyze.program.explicit_axes import find_explicit_axes
from pjit_inspect.analyze.report.report import sent_over
from pjit_inspect.errors import CaptureError, ChangeError, ParseError
from pjit_inspect.handles.asked.answered import Layer, compiled_fields, misfit_of, on_one, unchecked_misfit
from pjit_inspect.handles.asked.change_specs import find_edits, plain_spec
from pjit_inspect.handles.asked.pass_steps import AskedPasses, asked_passes
from pjit_inspect.handles.hlo_layouts import given_mesh
from pjit_inspect.handles.propagate import CopiedProgram, EarlyProgram, PartitionedProgram, ask_about_copy
from pjit_inspect.model.program.mesh import Mesh, MeshAxes, spec_text
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData, Timings
from pjit_inspect.model.record.target import Effort, Hypothesis, KeyFigures, Target
from pjit_inspect.model.report.edit import PlacedEdit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.observe.partitioner.service import LaneTicket, Partitioned
from pjit_inspect.parse.hlo_proto.hlo import parse_program

_MOST_SHOWN = 3
_CONSTRAINTS_S = 600.0
"""Time limit for XLA's program in which constraints are looked for."""

Again = Callable[..., RecordData]
"""Traces the function of a record on a mesh of these axes for a platform: `LiveFunction`."""


def ask_changed(
    data: RecordData,
    change: ChangedProgram,
    before: Callable[[bool], KeyFigures],
    *,
    effort: Effort,
    timeout_s: float,
    began: float,
    ticket: LaneTicket | None = None,
    take_passes: Callable[[AskedPasses], object] | None = None,
) -> tuple[RecordData, Callable[[], ShardedProgram] | None]:
    """The record of a changed program, and the maker of that program before partitioning.

    A program for one device is not partitioned: there is no maker.

    Args:
      data: the record whose program was changed.
      change: the changed program.
      before: gives the key figures of that record at the same stage of compiling; its argument: whether after
        partitioning only.
      effort: as `CompileRecord.what_if` takes it.
      timeout_s: time limit.
      began: when the change was begun (`time.monotonic`).
      ticket: withdraws the question.
      take_passes: called with the programs between XLA's passes; None if nobody wants them.

    Raises as `CompileRecord.what_if` does.
    """
    if effort not in ("partition", "full"):
        raise ChangeError(f"effort is 'partition' or 'full', not {effort!r}")
    if take_passes is not None and effort != "full":
        raise ChangeError("passes are those of a compile to the end: what_if(..., effort='full', passes=True)")
    origin, data = _origin(data), change.base
    sizes, edited, where = change.sizes, change.program, change.target
    count = math.prod(sizes.values())
    _check_effort(count, where, effort)
    early = EarlyProgram()
    answer = _ask(change, data.flags, effort, timeout_s, ticket, early, passes=take_passes is not None)
    if take_passes is not None:
        take_passes(asked_passes(data, answer.passes, answer.places, answer.failure))
    device_ids = tuple(device.id for device in answer.devices)
    axes = Mesh(axis_names=tuple(sizes), shape=tuple(sizes.values()), device_ids=device_ids) if sizes else None
    changed = replace(
        data,
        mesh=axes,
        meshes=() if axes is None else (axes,),
        devices=answer.devices,
        process_index=None,
        process_count=None,
        stablehlo=Blob(edited),
        stablehlo_text=None,
        propagation=None,
        compiler_log=None,
        timings=Timings(),
        kernel_times=None,
        cached=None,
        key=None,
        reason=None,
        **compiled_fields(answer, data),
    )
    partitioned = PartitionedProgram.of(answer, early) if answer.after else None
    seconds = time.monotonic() - began
    hypothesis = Hypothesis(
        changes=change.said,
        target=where,
        effort="full" if answer.compiled is not None else "partition",
        seconds=seconds,
        origin=origin,
        before=before(answer.compiled is None),
        misfit=misfit_of(answer.failure) or unchecked_misfit(answer, where),
    )
    if partitioned is None or axes is None:
        only = answer.devices[0].id
        inputs = tuple(on_one(own, only) if own.kept else replace(own, sharding=None) for own in data.inputs)
        outputs = tuple(on_one(own, only) for own in data.outputs)
        return replace(changed, hypothesis=hypothesis, inputs=inputs, outputs=outputs), None
    borders = partitioned.borders(changed)
    kept = data.parameters
    if len(kept) != len(borders.inputs) or len(data.outputs) != len(borders.outputs):
        raise CaptureError("the changed program has other arguments or results than the record; report this, please")
    specs_of, lay = iter(borders.inputs), Layer(axes)
    made = replace(
        changed,
        hypothesis=hypothesis,
        inputs=tuple(lay(own, next(specs_of)) if own.kept else replace(own, sharding=None) for own in data.inputs),
        outputs=tuple(lay(own, spec) for own, spec in zip(data.outputs, borders.outputs, strict=True)),
    )
    return made, lambda: partitioned.explained(made)


# ---------------------------------------------------------------- the question


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedProgram:
    """A captured program that was changed in a copy, but not compiled.

    Attributes:
      program: the copy, MLIR bytecode.
      sizes: the axes of its mesh, outermost first.
      target: its machine.
      said: the changes, in words.
      base: the record whose program was changed; of the retraced function, if only that could be changed.
    """

    program: bytes
    sizes: dict[str, int]
    target: Target
    said: tuple[str, ...]
    base: RecordData


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Edits of a captured program.

    Attributes:
      edits: the edits.
      said: the changes, in words, including the mesh.
      axes: the axes of its mesh, outermost first.
    """

    edits: tuple[PlacedEdit, ...]
    said: tuple[str, ...]
    axes: tuple[tuple[str, int], ...]


def change_program(
    data: RecordData,
    *,
    mesh: Mapping[str, int] | None = None,
    specs: Mapping[str, Any] | None = None,
    target: str | Target | None = None,
    again: Again | None = None,
    planned: Planned | None = None,
) -> ChangedProgram:
    """A record's program on another mesh, with other specs, or for another machine; see `CompileRecord.what_if`.

    With `planned`, `specs` are the source of its edits, for a program that has to be retraced. Raises ChangeError if it
    cannot be changed, and retracing with `again` does not help.
    """
    from pjit_inspect.observe.partitioner import targets
    from pjit_inspect.observe.shardy import remesh
    from pjit_inspect.observe.shardy.how_compiled import why_as_traced
    from pjit_inspect.observe.shardy.what_if import edit_program

    if data.stablehlo is None:
        raise ChangeError("the record has no program before optimization, so no change of it can be tried")
    if specs and (explicit := find_explicit_axes(data)):
        raise ChangeError(
            f"specs: {data.name} was traced with Explicit axes ({explicit}), where shardings are part of the types of "
            f"arrays: with others JAX would trace another program; inspect the function with arguments sharded so: "
            f"pjit_inspect.inspect(fn, *args)"
        )
    edited = data.stablehlo.read()
    known = remesh.mesh_axes(edited) if planned is None else dict(planned.axes)
    sizes = dict(known) if mesh is None else given_sizes(mesh)
    where = _target(target, data, math.prod(sizes.values()))
    _check_fits(sizes, where, targets.device_count(where))
    if (sizes != known or where.platform != "cpu") and (why := why_as_traced(edited)):
        raise ChangeError(why)
    said, base = _changes(known, sizes, specs or {}) if planned is None else planned.said, data
    try:
        edited = remesh.remeshed(edited, sizes) if sizes != known else edited
        _check_platform(edited, data, where)
    except ChangeError as refused:
        if again is None:
            raise
        base, note = _traced_again(data, sizes, where, again, refused)
        edited, said = base.stablehlo.read() if base.stablehlo is not None else b"", (*said, note)
    edits = planned.edits if planned is not None and base is data else _edits(base, edited, sizes, specs or {})
    edited = edit_program(edited, edits, names=_names(base))
    return ChangedProgram(program=edited, sizes=sizes, target=where, said=said, base=base)


def _edits(
    data: RecordData, stablehlo: bytes, sizes: Mapping[str, int], specs: Mapping[str, Any]
) -> tuple[PlacedEdit, ...]:
    """Edits of a program that give arrays these specs; XLA is asked where constraints are, if a spec names one."""
    asked: list[CopiedProgram] = []

    def program() -> ShardedProgram:
        if not asked:
            asked.append(ask_about_copy(data, stablehlo, sizes=sizes, timeout_s=_CONSTRAINTS_S))
        return asked[0].program

    edits = find_edits(specs, data, sizes, program)
    return asked[0].placed(edits) if asked else tuple(PlacedEdit(edit=edit, number=edit.index) for edit in edits)


def _traced_again(
    data: RecordData, sizes: Mapping[str, int], target: Target, again: Again, refused: ChangeError
) -> tuple[RecordData, str]:
    """The record of the function traced on the new mesh, and a note about it."""
    from pjit_inspect.observe.shardy import remesh

    try:
        made = again(sizes, target.platform)
        if made.stablehlo is None or data.stablehlo is None:
            raise ChangeError("JAX gives no program of it")
        traced = made.stablehlo.read()
        found = remesh.mesh_axes(traced)
        if not found:
            traced, found = remesh.remeshed(traced, sizes), sizes
            made = replace(made, stablehlo=Blob(traced))
        if _without_ones(found) != _without_ones(sizes):
            axes = MeshAxes(axis_names=tuple(found), shape=tuple(found.values()))
            raise ChangeError(f"it is traced for the mesh {axes} all the same, which is named in it")
        if [own.path for own in made.inputs] != [own.path for own in data.inputs]:
            raise ChangeError("it has other arguments then")
    except ChangeError as error:
        raise ChangeError(f"{refused}. To trace the function again did not help: {error}") from error
    is_same = remesh.operations(traced) == remesh.operations(data.stablehlo.read())
    note = "function traced again" if is_same else "function traced again, which gave other operations"
    fields = ("stablehlo", "jaxpr", "inputs", "outputs")
    return replace(data, **{name: getattr(made, name) for name in fields}), note


def _without_ones(sizes: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(name, size) for name, size in sizes.items() if size > 1]


def _ask(
    change: ChangedProgram,
    flags: Mapping[str, str],
    effort: Effort,
    timeout_s: float,
    ticket: LaneTicket | None,
    early: EarlyProgram,
    *,
    passes: bool,
) -> Partitioned:
    from pjit_inspect.observe.partitioner import targets
    from pjit_inspect.observe.partitioner.service import ask_partitioner

    sizes = tuple(change.sizes.values()) or (1,)
    target = targets.question(change.target, sizes)
    try:
        return ask_partitioner(
            change.program,
            devices=math.prod(sizes),
            flags=flags,
            target=target,
            effort=effort,
            passes=passes,
            timeout_s=timeout_s,
            ticket=ticket,
            on_before=early.read,
        )
    except ChangeError as error:
        raise ChangeError(f"target {str(change.target)!r}: {error}; {_what_fits(change)}") from error


def _what_fits(change: ChangedProgram) -> str:
    """Meshes that fit a target's devices, or the available sizes of such targets."""
    from pjit_inspect.observe.partitioner.mesh_sizes import is_laid
    from pjit_inspect.observe.partitioner.targets import TOPOLOGIES

    target = change.target
    if not is_laid(tuple(change.sizes.values()), target):
        return f"these fit: {', '.join(_meshes_of(change.sizes, target, _MOST_SHOWN))}"
    return f"there are {', '.join(TOPOLOGIES.get(target.chip, ())) or 'others'}"


def _meshes_of(sizes: Mapping[str, int], target: Target, most: int) -> list[str]:
    """Meshes of all devices of a target with the same axes, the most similar first, as Python text."""
    from pjit_inspect.observe.partitioner.mesh_sizes import nearest_meshes
    from pjit_inspect.observe.partitioner.targets import device_count

    found = nearest_meshes(tuple(sizes.values()), target, device_count(target), most)
    return [f"mesh={dict(zip(sizes, own, strict=True))}" for own in found]


def given_sizes(mesh: Mapping[str, int]) -> dict[str, int]:
    """The axes of a mesh that a user gives, with their sizes. Raises ChangeError if it is none."""
    try:
        return given_mesh(mesh).sizes
    except ValueError as error:
        raise ChangeError(str(error)) from error


def _target(target: str | Target | None, data: RecordData, devices: int) -> Target:
    from pjit_inspect.observe.partitioner.targets import find_target

    if target is not None:
        return target if isinstance(target, Target) else find_target(target)
    before = None if data.hypothesis is None else data.hypothesis.target
    if before is not None and devices == len(data.devices):
        return before
    return Target(platform="cpu", topology=str(devices))


def _check_fits(sizes: Mapping[str, int], target: Target, devices: int) -> None:
    count = math.prod(sizes.values())
    axes = MeshAxes(axis_names=tuple(sizes), shape=tuple(sizes.values()))
    if count != devices and not sizes:
        raise ChangeError(
            f"the program is for one device, as no mesh is in it, and {target} has {devices:,}; take a target of one "
            f"device, or give a mesh of {devices:,}, as in mesh={{'data': {devices}}}, and specs over its axes"
        )
    if count != devices:
        raise ChangeError(
            f"the mesh {axes} has {count:,} devices, and {target} has {devices:,}; give a mesh of {devices:,}, as in "
            f"{_meshes_of(sizes, target, 1)[0]}{_slice_of(target, count)}"
        )


def _slice_of(target: Target, devices: int) -> str:
    """The slice of the same chip with `devices` devices, as the end of a sentence; "" if unknown."""
    from pjit_inspect.observe.partitioner.targets import TOPOLOGIES, device_count

    own = (replace(target, topology=sizes) for sizes in TOPOLOGIES.get(target.chip, ()))
    found = next((one for one in own if device_count(one) == devices), None)
    return "" if found is None else f", or take target={str(found)!r}"


def _check_effort(count: int, target: Target, effort: Effort) -> None:
    if count == 1 and effort == "partition":
        raise ChangeError(
            f"the program is for one device of {target}, so that XLA's partitioner has nothing to do; compile it to "
            f'the end with effort="full"'
        )


def _check_platform(edited: bytes, data: RecordData, target: Target) -> None:
    """Custom calls that JAX lowered for one platform mean nothing to the compiler of another."""
    from pjit_inspect.observe.shardy.remesh import custom_calls

    before = next((device.platform for device in data.devices), "cpu")
    if target.platform == "cpu" or before in (target.platform, "gpu" if target.platform == "cuda" else ""):
        return
    foreign = custom_calls(edited)
    if foreign:
        names = ", ".join(f"{name} ({count})" for name, count in foreign.most_common(3))
        raise ChangeError(
            f"the program was lowered for {before} and calls what only that has: {names}; lower the function for the "
            f"target with pjit_inspect.inspect(fn, *args, target={str(target)!r})"
        )


def _names(data: RecordData) -> dict[str, str]:
    kept = [own.path for own in data.parameters]
    return {f"argument {index}": path for index, path in enumerate(kept)} | {
        f"result {index}": own.path for index, own in enumerate(data.outputs)
    }


def _changes(before: Mapping[str, int], after: Mapping[str, int], specs: Mapping[str, Any]) -> tuple[str, ...]:
    said = []
    if dict(before) != dict(after) or list(before) != list(after):
        said.append(f"mesh {MeshAxes(axis_names=tuple(after), shape=tuple(after.values()))}")
    for path, spec in specs.items():
        plain = plain_spec(spec)
        text = "left to XLA" if plain is None else spec_text(plain)
        said.append(f"{path}: {text}")
    return tuple(said)


def _origin(data: RecordData) -> str:
    if data.hypothesis is not None:
        own = data.hypothesis
        changes = ", ".join(own.changes)
        return f"what if: {changes + ', ' if changes else ''}{own.target.words}, {own.effort} effort"
    if data.hlo is None:
        return ""
    platforms = "/".join(sorted({device.platform for device in data.devices})) or "unknown"
    mesh = f"mesh {data.mesh}, " if data.mesh is not None else ""
    count = len(data.devices)
    return f"{mesh}{count:,} {platforms} device{'s' * (count != 1)}, compiled to run"


def as_partitioned(data: RecordData, figures: KeyFigures, *, timeout_s: float) -> KeyFigures:
    """The figures of a compiled record as XLA's partitioner left it: only equal stages can be compared."""
    from pjit_inspect.observe.partitioner.service import ask_partitioner

    if data.is_partial or data.stablehlo is None or data.hlo is None:
        return figures
    count = len(data.devices)
    try:
        answer = ask_partitioner(data.stablehlo.read(), devices=count, flags=data.flags, timeout_s=timeout_s)
        module = parse_program(answer.after)
    except (CaptureError, ParseError):
        return replace(figures, collectives=None, sent=())
    rows = find_collectives(module, data.mesh, tuple(device.id for device in data.devices))
    return replace(figures, collectives=len(rows), sent=sent_over(total_by_axes(rows, count)))
