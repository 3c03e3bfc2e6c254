"""Changed copies of one record's program, counted and compiled.

Joins the rooms: `observe` partitions and compiles copies, `analyze` counts the results. Not its job: any of those
steps, or the advice (`handles.advice`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.advice.compiled import compare_traffic
from pjit_inspect.analyze.advice.counts import count_partitioned
from pjit_inspect.analyze.advice.stakes import Counted, MovedBytes
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.handles.propagate import CopiedProgram, ask_about_copy
from pjit_inspect.handles.time.quick import quick_range
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.edit import Checked, Edit, PlacedEdit
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.sharding.propagated_hlo import NumberedNames

_PATIENCE_S = 600.0
"""Time limit for each answer of XLA's partitioner; an ended process is not waited for."""


class Trials:
    """Changed copies of one record's program: partitioned, and compiled to the end."""

    def __init__(
        self, data: RecordData, collectives: Sequence[Collective], module: HloModule | None, *, is_live: bool = True
    ) -> None:
        """`module` is the optimized program, which has the collectives; None where it is not at hand.

        The program of a record that is not live is from a file, and is changed in a process apart.
        Raises CaptureError when there is no program to change.
        """
        if data.stablehlo is None:
            raise CaptureError("the record has no program before optimization, so no change of it can be tried")
        self._data, self._collectives, self._module = data, collectives, module
        self._stablehlo = data.stablehlo.read()
        self._is_live = is_live
        self._copied: CopiedProgram | None = None
        self._chip: str = data.devices[0].kind if data.devices else ""
        self.is_cpu: bool = any(device.platform == "cpu" for device in data.devices)
        self.checked: dict[tuple[Edit, ...], Checked] = {}
        """The results of the changes that were compiled."""

    def copied(self) -> CopiedProgram:
        """The program before partitioning, which edits refer to. Raises CaptureError if XLA gives no answer."""
        if self._copied is None:
            try:
                self._copied = ask_about_copy(self._data, self._stablehlo, timeout_s=_PATIENCE_S)
            except ParseError as error:
                raise CaptureError(f"the program that XLA's partitioner got is not understood: {error}") from error
        return self._copied

    def answer(self, change: Sequence[Edit]) -> Counted:
        """The partitioned changed program. Raises CaptureError if XLA's partitioner gives no answer."""
        from pjit_inspect.observe.partitioner.service import ask_partitioner
        from pjit_inspect.observe.shardy.numbering import read_places

        data, edited = self._data, self._edited(self.copied().placed(change))
        found = ask_partitioner(edited, devices=len(data.devices), flags=data.flags, timeout_s=_PATIENCE_S)
        try:
            module = parse_program(found.after)
            counts = count_partitioned(module, data.mesh, self._device_ids, is_cpu=self.is_cpu)
            range_s = quick_range(data, module, find_collectives(module, data.mesh, self._device_ids), self._chip)
        except ParseError as error:
            what = f"what XLA's partitioner made of the changed program is not understood: {error}"
            raise CaptureError(what) from error
        # Numbers are those of the changed copy: by name and line its operations are those of the program.
        names = NumberedNames(read_places(found.places))
        moved = []
        for name, axes, shape, size, channel in counts.moved:
            own = names.place(name)
            moved.append(
                MovedBytes(bytes=size, axes=axes, shape=shape, op_name=own.name, frames=own.frames, channel=channel)
            )
        return Counted(counts=counts, moved=tuple(moved), seconds=None if range_s is None else range_s[1])

    def _edited(self, edits: tuple[PlacedEdit, ...]) -> bytes:
        if not self._is_live:
            from pjit_inspect.handles.asked.copies import CopyChange, change_apart

            axes = () if self._data.mesh is None else tuple(self._data.mesh.sizes.items())
            return change_apart(self._data, CopyChange(mesh=None, target=None, specs={}), edits, axes).program
        from pjit_inspect.observe.shardy.what_if import edit_program

        return edit_program(self._stablehlo, edits)

    def check(self, change: tuple[Edit, ...]) -> Checked:
        """Compares the traffic of the compiled changed program's collectives with that of the record.

        Raises CaptureError for a record from a file, of which this process compiles nothing.
        """
        if not self._is_live:
            raise CaptureError("the record is from a file, whose program this process does not compile")
        from pjit_inspect.observe.shardy.what_if import compile_edited

        data, edits = self._data, self.copied().placed(change)
        program = parse_program(compile_edited(self._stablehlo, edits, data.devices, data.flags))
        after = find_collectives(program, data.mesh, self._device_ids)
        modules = None if self._module is None else (self._module, program)
        self.checked[change] = compare_traffic(self._collectives, after, modules)
        return self.checked[change]

    @property
    def _device_ids(self) -> tuple[int, ...] | None:
        return tuple(device.id for device in self._data.devices) or None


def check_change(trials: Trials | None, change: tuple[Edit, ...]) -> Checked:
    """As `Trials.check`. Raises CaptureError for a change of code, which no copy of the program can have."""
    if trials is None or not change:
        raise CaptureError(
            "this is no change that can be made in a copy of the program, but a change of code: make it and inspect"
        )
    return trials.check(change)
