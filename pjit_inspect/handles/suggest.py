"""Suggestions for one record, and their checks.

Joins the rooms: `analyze` finds options, `observe` tries and compiles them, `analyze` counts the results. Not its job:
any of those steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from pjit_inspect.analyze.advice.stakes import Counted, MovedBytes
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.program.explicit_axes import find_explicit_axes
from pjit_inspect.analyze.program.source import UserFiles
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.counts import Counts, count_partitioned
from pjit_inspect.analyze.suggest.suggestions import compare_traffic, find_suggestions
from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.handles.background import wait_for_idle
from pjit_inspect.handles.exports import OfRecord
from pjit_inspect.handles.propagate import CopiedProgram, ask_about_copy
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.suggestion import Checked, Edit, Suggestion, SuggestionTable
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.sharding.propagated_hlo import NumberedNames

_PATIENCE_S = 600.0
"""Time limit for each answer of XLA's partitioner; an ended process is not waited for."""
_MOST_QUESTIONS = 29
_OPS_EACH = 6_000
"""Operations of a program up to which all questions are asked; twice as many operations allow half of them."""


class Trials:
    """Changed copies of one record's program: partitioned, and compiled to the end."""

    def __init__(self, data: RecordData, collectives: Sequence[Collective], module: HloModule | None) -> None:
        """`module` is the optimized program, which has the collectives; None where it is not at hand.

        Raises CaptureError when there is no program to change.
        """
        if data.stablehlo is None:
            raise CaptureError("the record has no program before optimization, so no change of it can be tried")
        self._data, self._collectives, self._module = data, collectives, module
        self._stablehlo = data.stablehlo.read()
        self._copied: CopiedProgram | None = None
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

    def count(self, change: Sequence[Edit]) -> Counts:
        """Counts in the partitioned changed program. Raises CaptureError if XLA's partitioner gives no answer."""
        return self.answer(change).counts

    def answer(self, change: Sequence[Edit]) -> Counted:
        """The partitioned changed program. Raises CaptureError if XLA's partitioner gives no answer."""
        from pjit_inspect.observe.partitioner.service import ask_partitioner
        from pjit_inspect.observe.shardy.numbering import read_places
        from pjit_inspect.observe.shardy.what_if import edit_program

        data, edited = self._data, edit_program(self._stablehlo, self.copied().placed(change))
        found = ask_partitioner(edited, devices=len(data.devices), flags=data.flags, timeout_s=_PATIENCE_S)
        try:
            counts = count_partitioned(parse_program(found.after), data.mesh, self._device_ids, is_cpu=self.is_cpu)
        except ParseError as error:
            what = f"what XLA's partitioner made of the changed program is not understood: {error}"
            raise CaptureError(what) from error
        # Numbers are those of the changed copy: by name and line its operations are those of the program.
        names = NumberedNames(read_places(found.places))
        moved = []
        for name, axes, shape, size in counts.moved:
            own = names.place(name)
            moved.append(MovedBytes(bytes=size, axes=axes, shape=shape, op_name=own.name, frames=own.frames))
        return Counted(counts=counts, moved=tuple(moved))

    def check(self, change: tuple[Edit, ...]) -> Checked:
        """Compares the traffic of the compiled changed program's collectives with that of the record."""
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


@dataclass(slots=True, kw_only=True)
class Budget:
    """Asks XLA's partitioner about a limited number of changed programs, in order: the same number on every machine.

    Attributes:
      count: asks the partitioner.
      most: most changed programs it is asked about; None for no limit.
      why: why it gives no answer about the unchanged program; "" if it does.
    """

    count: Callable[[Sequence[Edit]], Counts]
    most: int | None
    why: str = ""
    _asked: int = 0
    _failed: int = 0
    _first_failure: str = ""

    @classmethod
    def of(cls, trials: Trials, most: int, operations: int) -> Budget:
        """At most `most` questions; fewer about a program of many operations, as each takes longer."""
        return cls(count=trials.count, most=max(1, min(most, most * _OPS_EACH // max(operations, 1))))

    def __call__(self, change: Sequence[Edit]) -> Counts:
        """As `Trials.count`; raises CaptureError also when the limit is reached."""
        wait_for_idle()
        self._asked += bool(change)
        if change and self.most is not None and self._asked > self.most:
            raise CaptureError("XLA's partitioner was asked often enough")
        try:
            return self.count(change)
        except CaptureError as error:
            self._failed += bool(change)
            self._first_failure = self._first_failure or str(error)
            # Without the unchanged program there is nothing to compare with.
            self.why = self.why if change else str(error)
            raise

    @property
    def untried(self) -> str:
        """The number of changes that were not tried, and why; "" if all were."""
        if self.why:
            return self.why
        left = 0 if self.most is None else max(0, self._asked - self.most)
        parts = [f"{left} of {self._asked} changes were left out, as at most {self.most} are tried"] if left else []
        if self._failed:
            parts.append(f"{self._failed} of {self._asked} got no answer: {self._first_failure}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecordSuggestion(OfRecord, Suggestion):
    """A suggestion for a record, which can be checked."""

    _trials: Trials

    def check(self) -> Self:
        """As `Suggestion.check`; afterwards the record's explanation includes the result."""
        return replace(self, checked=self._trials.check(self.change))

    def as_known(self) -> Self:
        """The suggestion with the result of its compile, if there is one."""
        return replace(self, checked=self._trials.checked.get(self.change))


def check_change(trials: Trials | None, change: tuple[Edit, ...]) -> Checked:
    """As `Trials.check`. Raises CaptureError for a change of code, which no copy of the program can have."""
    if trials is None or not change:
        raise CaptureError(
            "this is no change that can be made in a copy of the program, but a change of code: make it and inspect"
        )
    return trials.check(change)


def suggestions_of(
    data: RecordData,
    module: HloModule | None,
    collectives: Sequence[Collective],
    sources: Sequence[SourceText],
    files: UserFiles,
) -> SuggestionTable:
    """Changes that save communication, as far as XLA's partitioner shows.

    Only for records that this process made: bytecode from a file is not trusted with a compiler. Raises CaptureError
    when XLA gives no answer about the program.
    """
    trials = Trials(data, collectives, module)
    copied = trials.copied()
    budget = Budget.of(trials, _MOST_QUESTIONS, len(copied.program.ops))
    names = ValueNames(copied.program, sources, files)
    found = find_suggestions(
        names, collectives, copied.trips, is_cpu=trials.is_cpu, is_explicit=bool(find_explicit_axes(data)), count=budget
    )
    rows = tuple(RecordSuggestion.made_of(suggestion, _trials=trials) for suggestion in found)
    return SuggestionTable(rows, untried=budget.untried)
