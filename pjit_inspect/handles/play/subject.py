"""One record as the playground's subject: its facts, the copies that are changed, and the evaluation of answers.

Joins the rooms: `analyze.play` judges settings, `observe.shardy` changes copies, `handles.asked.what_if` asks XLA,
`analyze` counts its answer. Not its job: deciding when to ask (`playground`, `search`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pjit_inspect.analyze.advice.counts import count_partitioned, product_work
from pjit_inspect.analyze.advice.edited_program import EditedProgram, split_as
from pjit_inspect.analyze.advice.lines import Lines
from pjit_inspect.analyze.advice.site import Place, Site, site_names
from pjit_inspect.analyze.advice.stakes import Counted, MovedBytes
from pjit_inspect.analyze.play.code import code_for
from pjit_inspect.analyze.play.controls import argument_specs, bytes_on_device, find_controls
from pjit_inspect.analyze.play.facts import Facts, find_facts
from pjit_inspect.analyze.play.presets import find_presets
from pjit_inspect.analyze.play.roles import Pin, Roles, find_roles
from pjit_inspect.analyze.play.settings import changed_setting, first_problem, said_changes
from pjit_inspect.analyze.program.phases import is_vmapped as is_vmapped_scope
from pjit_inspect.analyze.report.report import user_files_of
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.errors import CaptureError, ChangeError, ParseError
from pjit_inspect.guard import Guard
from pjit_inspect.handles.analyses import Analyses
from pjit_inspect.handles.asked.copies import Copies, CopiesApart, CopyChange
from pjit_inspect.handles.asked.what_if import Again, ask_changed
from pjit_inspect.handles.memory.fits import memory_of_chip
from pjit_inspect.handles.play.figures import with_figures
from pjit_inspect.handles.time.step import known_step_time
from pjit_inspect.model.play.code import Code
from pjit_inspect.model.play.setting import PlaySetting, Preset
from pjit_inspect.model.play.variant import Problem, Variant
from pjit_inspect.model.program.mesh import MeshAxes, PartitionSpec, axes_of, entry_of
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import Effort
from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.model.report.edit import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.observe.partitioner.service import LaneTicket, ask_partitioner
from pjit_inspect.parse.hlo_proto.hlo import parse_program

_T = TypeVar("_T")

Record = Any
"""A `CompileRecord`; the module of that imports this room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRecord:
    """The record that a playground is made from.

    Attributes:
      analyses: its analyses.
      again: traces its function on another mesh; None if it is unavailable.
      make: makes a record of other data; also takes the maker of its program before partitioning, if this process
        asked.
    """

    analyses: Analyses
    again: Again | None
    make: Callable[[RecordData, Callable[[], ShardedProgram] | None], Record]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantAnswer:
    """The result of a question.

    Attributes:
      variant: the variant with its known facts.
      record: the record of the changed program; None if it was refused.
    """

    variant: Variant
    record: Record | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintPlace:
    """The place of a new constraint.

    Attributes:
      edits: the edits of the program that it makes.
      order: for each dimension of its arrays, its number in the source text, as in written specs.
      is_vmapped: whether the source has it without the dimensions that `jax.vmap` adds.
    """

    edits: tuple[Place, ...]
    order: tuple[int, ...]
    is_vmapped: bool

    def from_text(self, spec: PartitionSpec) -> PartitionSpec:
        """A spec as written in the source, in the order of the operations' dimensions."""
        return tuple(spec[place] for place in self.order)

    def to_text(self, own: Sequence[_T]) -> tuple[_T, ...]:
        """Entries per dimension of the operations, in the order of the source text."""
        return tuple(own[self.order.index(place)] for place in range(len(self.order)))


class PlayedProgram:
    """A record whose program is changed in copies that XLA is asked about."""

    def __init__(self, source: PlayedRecord, *, chip: str | None = None, timeout_s: float = 600.0) -> None:
        """`chip` is the one whose memory variants are judged by, as in "tpu:v5e", where they are for another machine.

        A program that names no mesh gets one of all attached devices, with every argument replicated.
        Raises ChangeError when the record has no program to change, or one whose mesh cannot be changed.
        """
        self._source = source
        self._copies: Copies = _copies_of(source)
        self.data: RecordData = self._copies.data
        mesh = self._copies.mesh
        self._timeout_s = timeout_s
        self._chip = chip
        if chip is not None:
            memory_of_chip(chip)
        copied = self._copies.copied
        self.program: ShardedProgram | None = None if copied is None else copied.program
        devices = math.prod(size for _, size in mesh)
        before = self.data.hypothesis
        target = f"cpu:{devices}" if before is None else str(before.target)
        self.facts: Facts = find_facts(
            self.data,
            self.program,
            mesh,
            target,
            is_mesh_given=self._copies.is_mesh_given,
            call=getattr(source.again, "call", None),
        )
        self.base: PlaySetting = PlaySetting(mesh=mesh, target=target)
        self._whole_work: int | None = None
        self._roles: Roles | None = None
        self._presets: dict[tuple[tuple[tuple[str, int], ...], str], tuple[Preset, ...]] = {}
        self.places: dict[str, ConstraintPlace] = {}
        """Name of a new constraint -> where it goes."""

    def advice(self) -> AdviceTable:
        """The advice on the record, as far as it is known by now."""
        return self._source.analyses.advice_by_now()

    @property
    def donates(self) -> bool:
        """True if the program takes over arguments."""
        return any(own.donated for own in self.data.inputs)

    def close(self) -> None:
        """End the process that changes copies of a program from a file; the next question starts another."""
        self._copies.close()

    # ------------------------------------------------------------ at once

    def begun(
        self, setting: PlaySetting, number: int, *, origin: str = "user", parent: tuple[int, PlaySetting] | None = None
    ) -> Variant:
        """A variant with the facts known without asking: bytes of its arguments, and reasons why `jax.jit` refuses.

        `parent` is the variant it is made from: its number and its setting.
        """
        controls = find_controls(self.facts, setting)
        change = said_changes(self.facts, self.base, setting, controls)
        arguments = self.argument_bytes(setting)
        available = self.available_bytes(setting.target)
        variant = Variant(
            number=number,
            sentence=self._sentence(setting, change),
            change=change,
            controls=controls,
            stage="arguments",
            argument_bytes=arguments,
            memory_bytes=arguments,
            memory_source=None if arguments is None else "arguments",
            available_bytes=available,
            fits=False if available is not None and arguments is not None and arguments > available else None,
            parent=None if parent is None else parent[0],
            step=() if parent is None else said_changes(self.facts, parent[1], setting, controls),
            origin=origin,
        )
        problem = first_problem(controls)
        return variant if problem is None else replace(variant, stage="refused", problem=problem)

    def argument_bytes(self, setting: PlaySetting) -> int | None:
        """Bytes of the arguments on one device, counted."""
        return bytes_on_device(self.facts.arguments, argument_specs(self.facts, setting), setting.sizes)

    def available_bytes(self, target: str) -> int | None:
        """The part of a device's memory that programs may use; None if there is no limit."""
        chip = self._chip or target
        return None if chip.startswith("cpu") else memory_of_chip(chip)

    def _sentence(self, setting: PlaySetting, change: tuple[str, ...]) -> str:
        if change:
            return "; ".join(change)
        if self.facts.is_mesh_given:
            return f"captured without a mesh: here {_axes(setting)}, every argument replicated"
        return f"as captured: mesh {_axes(setting)}, {setting.target}"

    def code(self, setting: PlaySetting, number: int) -> Code:
        """Code to write to turn the program into a variant."""
        vmapped = {name for name, place in self.places.items() if place.is_vmapped}
        return code_for(self.facts, self.base, setting, number, vmapped)

    # ------------------------------------------------------------ XLA

    def ask(self, setting: PlaySetting, begun: Variant, *, effort: Effort, ticket: LaneTicket) -> VariantAnswer:
        """XLA's answer for a setting. Raises CaptureError if the question was withdrawn."""
        began = time.monotonic()
        try:
            record = self.asked(setting, ticket, effort=effort, said=begun.change)
            answer = VariantAnswer(variant=self._counted(begun, setting, record), record=record)
        except Exception as error:  # whatever it is, it belongs where the user asked
            if ticket.is_cancelled:
                raise CaptureError("the question was taken back") from error
            answer = VariantAnswer(variant=replace(begun, stage="refused", problem=_problem(error, setting)))
        return replace(answer, variant=replace(answer.variant, seconds=time.monotonic() - began))

    def platform(self, setting: PlaySetting) -> str:
        """For which a setting is lowered."""
        return setting.target.partition(":")[0]

    def asked(
        self, setting: PlaySetting, ticket: LaneTicket, *, effort: Effort = "partition", said: tuple[str, ...] = ()
    ) -> Record:
        """The record of a setting. Raises CaptureError where XLA gives no answer."""
        began = time.monotonic()
        copies = self._copies
        data, program = ask_changed(
            self.data,
            copies.changed(self._change(setting, said)),
            self._source.analyses.figures_at,
            # On one device XLA's partitioner has nothing to do.
            effort="full" if setting.devices == 1 else effort,
            timeout_s=self._timeout_s,
            began=began,
            ticket=ticket,
        )
        return self._source.make(data, program)

    def _change(self, setting: PlaySetting, said: tuple[str, ...] = ()) -> CopyChange:
        if self.facts.is_mesh_given and setting.mesh == self.base.mesh:
            said = (f"mesh {_axes(setting)}", *said)
        return CopyChange(
            mesh=setting.sizes,
            target=setting.target,
            specs=self._specs(setting),
            edits=None if self.program is None else self._edits(setting),
            said=said,
        )

    def _specs(self, setting: PlaySetting) -> dict[str, PartitionSpec | None]:
        sizes = setting.sizes
        named = (*setting.arguments, *setting.results, *setting.constraints)
        return {path: None if spec is None else _on(spec, sizes) for path, spec in named}

    def _edits(self, setting: PlaySetting) -> tuple[Edit, ...]:
        """The setting as edits of the copy."""
        sizes = setting.sizes
        arguments = {own.path: index for index, own in enumerate(self.facts.arguments)}
        results = {own.path: index for index, own in enumerate(self.facts.results)}
        edits = [_edit("argument", arguments[path], spec, sizes) for path, spec in setting.arguments]
        edits += [_edit("result", results[path], spec, sizes) for path, spec in setting.results]
        for place, spec in setting.constraints:
            kind = "remove" if spec is None else "respec"
            edits += [_edit(kind, index, spec, sizes) for index in self.constraint_ops(place)]
        for name, spec in setting.added:
            place = self.places[name]
            edits += [
                replace(_edit(kind, index, place.from_text(spec), sizes), number=number)
                for kind, index, number in place.edits
            ]
        return tuple(edits)

    # ------------------------------------------------------------ for the search

    def roles(self) -> Roles | None:
        """The roles of its arrays' dimensions; None if its operations are unknown."""
        copied = self._copies.copied
        if self._roles is None and copied is not None:
            self._roles = find_roles(
                copied.program,
                [own.path for own in self.facts.arguments],
                copied.trips,
                self.facts.differentiated,
                {path for path in self.facts.returns.values() if path not in self.facts.follows},
            )
        return self._roles

    def presets(self, mesh: tuple[tuple[str, int], ...], target: str) -> tuple[Preset, ...]:
        """The textbook layouts on a mesh; layouts that do not apply to this program have the reason."""
        if (mesh, target) not in self._presets:
            roles = self.roles()
            pins = () if roles is None else self.pins(roles)
            self._presets[mesh, target] = find_presets(self.facts, roles, mesh, target, self.first_ops(), pins)
        return self._presets[mesh, target]

    def first_ops(self) -> dict[str, int]:
        """Place of a constraint -> the first operation of the copy that is one of that line's."""
        return {own.place: index for own in self.facts.constraints for index in self.constraint_ops(own.place)[:1]}

    def pins(self, roles: Roles) -> tuple[Pin, ...]:
        """Places for new constraints on activations; adds each place to `places`."""
        own = self.edited()
        if own is None or self.facts.explicit:
            return ()
        lines, sites = Lines(own), dict[int, Site]()
        for index in roles.makers:
            taken = {op for site in sites.values() for op in site.ops}
            # JAX binds the gradient of what is constrained: without it the copy is a program that nobody can write.
            site = None if index in taken else lines.at(index)
            if site is not None and (site.gradients or not own.is_differentiated):
                sites[index] = site
        found = list[Pin]()
        for index, name in zip(sites, self.named(own, list(sites.values())), strict=True):
            if name:
                (classes, is_lookup), to_text = roles.makers[index], self.places[name].to_text
                shape = own.shape(own.program.ops[index].results[0])
                found.append(Pin(name=name, classes=to_text(classes), shape=to_text(shape), is_lookup=is_lookup))
        return tuple(found)

    def edited(self, setting: PlaySetting | None = None) -> EditedProgram | None:
        """The program of a setting, or as captured, as edits refer to it; None if its operations are not known.

        Raises CaptureError if XLA gives no answer about the setting.
        """
        copied = self._copies.copied
        if copied is None:
            return None
        program = copied.program
        if setting is not None:
            program = split_as(program, self._copies.propagated(self._change(setting)).program)
        names = ValueNames(program, self.data.sources, user_files_of(self.data))
        return EditedProgram(names, copied.numbers, copied.trips)

    def named(self, own: EditedProgram, sites: Sequence[Site]) -> list[str]:
        """The names of places for new constraints, each added to `places`; "" where their text's order is unknown."""
        found = []
        for site, name in zip(sites, site_names(own.program, sites), strict=True):
            op = own.program.ops[site.ops[0]]
            order = own.names.told_order(op)
            known = next((key for key, other in self.places.items() if other.edits == site.places), None)
            if known is None and order is not None:
                number = sum(key.partition(" (")[0] == name for key in self.places)
                known = f"{name} ({number + 1})" if number else name
                is_vmapped = any(map(is_vmapped_scope, own.names.scopes(op)))
                self.places[known] = ConstraintPlace(edits=site.places, order=order, is_vmapped=is_vmapped)
            found.append(known or "")
        return found

    def is_control(self, site: Site) -> bool:
        """True if controls can make the change of a place, alone."""
        if site.kind == "argument":
            return True
        if site.kind == "value":
            return not self.facts.explicit and any(other.edits == site.places for other in self.places.values())
        where = None if self.program is None or site.kind != "request" else self.program.ops[site.ops[0]].frames[:1]
        return bool(where) and set(site.ops) == set(self.constraint_ops(where[0].where))

    def with_edits(
        self, setting: PlaySetting, edits: Sequence[Edit], alone: Collection[str], *, are_results_set: bool = False
    ) -> PlaySetting:
        """The setting with the controls changed as edits change the program; `alone` are arguments that follow nothing.

        Those of results are left to the setting, unless `are_results_set`. Raises ChangeError where controls cannot.
        """
        specs, constraints, added = dict[str, Any](), dict[str, Any](), dict(setting.added)
        results = dict[str, Any]()
        names = {edit: name for name, place in self.places.items() for edit in place.edits}
        for edit in edits:
            spec = None if edit.spec is None else tuple(map(entry_of, edit.spec))
            if edit.kind == "argument":
                specs[self.facts.arguments[edit.index].path] = spec
            elif edit.kind in ("respec", "remove") and self.program is not None:
                constraints[self.program.ops[edit.index].frames[0].where] = spec
            elif edit.kind == "result":
                results |= {self.facts.results[edit.index].path: spec} if are_results_set else {}
            elif (name := names.get((edit.kind, edit.index, edit.number))) is not None:
                added[name] = self.places[name].to_text(spec or ())
            else:
                raise ChangeError("there is no control for this line")
        alone = {*alone, *specs}
        found = changed_setting(self.facts, setting, specs=specs, results=results, constraints=constraints, alone=alone)
        return replace(found, added=tuple(sorted(added.items())))

    def counted(self, record: Record) -> Counted:
        """A setting as XLA's partitioner made it, which changes of it are judged by."""
        data, ids = record.data, tuple(device.id for device in record.data.devices)
        counts = count_partitioned(record.hlo, data.mesh, ids or None, is_cpu=True)
        return Counted(
            counts=counts,
            moved=tuple(
                MovedBytes(bytes=size, axes=axes, shape=shape, op_name=name, frames=(), channel=channel)
                for name, axes, shape, size, channel in counts.moved
            ),
        )

    def constraint_ops(self, place: str) -> list[int]:
        """The operations of the copy that are the constraints of a line."""
        ops = () if self.program is None else self.program.ops
        return [
            index
            for index, op in enumerate(ops)
            if op.kind == "sharding_constraint" and any(frame.where == place for frame in op.frames[:1])
        ]

    def _counted(self, begun: Variant, setting: PlaySetting, record: Record) -> Variant:
        """The variant with the figures of XLA's answer."""
        data = record.data
        answered = {own.path: own.spec for own in (*data.inputs, *data.outputs)}
        known = replace(begun, controls=find_controls(self.facts, setting, answered))
        chip = self._chip or setting.target
        times = Guard().run("the time of a call", lambda: known_step_time(record.state.analyses), None)
        step_s = None if times is None else times.step_s
        return with_figures(known, data, record.hlo, whole=self._whole, chip=chip, step_s=step_s)

    def _whole(self) -> int | None:
        """Operations of all products of the program before it is split; None where that is not known."""
        if self._whole_work is None and self.program is not None:
            stablehlo = self.data.stablehlo
            try:
                answer = ask_partitioner(
                    stablehlo.read() if stablehlo is not None else b"",
                    devices=self.base.devices,
                    flags=self.data.flags,
                    timeout_s=self._timeout_s,
                )
                self._whole_work = product_work(parse_program(answer.before))
            except (CaptureError, ParseError):
                self._whole_work = 0
        return self._whole_work


def _copies_of(source: PlayedRecord) -> Copies:
    data = source.analyses.data
    if not source.analyses.is_live:
        return CopiesApart(data)
    from pjit_inspect.observe.live.shardings import attached_devices

    return Copies(data, source.again, attached_devices)


def _axes(setting: PlaySetting) -> MeshAxes:
    return MeshAxes(axis_names=tuple(setting.sizes), shape=tuple(setting.sizes.values()))


def _problem(error: Exception, setting: PlaySetting) -> Problem:
    """Why XLA was not asked, or gave no answer, and the control at fault."""
    text = " ".join(str(error).split())
    control = "target" if text.startswith("target") else "mesh" if text.startswith("the mesh") else ""
    named = (path for path, _ in (*setting.arguments, *setting.results, *setting.constraints) if path in text)
    may_pass = isinstance(error, CaptureError) and not isinstance(error, ChangeError)
    return Problem(text=text, control=control or next(named, ""), may_pass=may_pass)


def _on(spec: PartitionSpec, sizes: Mapping[str, int]) -> PartitionSpec:
    from pjit_inspect.analyze.play.controls import on_mesh

    return on_mesh(spec, sizes) or ()


def _edit(kind: Any, index: int, spec: PartitionSpec | None, sizes: Mapping[str, int]) -> Edit:
    dimensions = None if spec is None else tuple(axes_of(entry) for entry in _on(spec, sizes))
    return Edit(kind=kind, index=index, spec=dimensions)
