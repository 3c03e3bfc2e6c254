"""Suggestions for one record, and how each is checked.

Joins the rooms: options are thought of in `analyze`, tried and compiled in `observe`, counted in `analyze` again. Not
its job: any of those steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.counts import Counts, count_partitioned
from pjit_inspect.analyze.suggest.suggestions import compare_traffic, find_suggestions
from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.handles.background import wait_for_idle
from pjit_inspect.handles.of_record import OfRecord
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.suggestion import Checked, Edit, Suggestion
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.parse.hlo_proto.verbatim import parse_program

__all__ = ["Patience", "RecordSuggestion", "Trials", "suggestions_of"]

_PATIENCE_S = 60.0
"""How long XLA's partitioner is waited for, each time it is asked."""
_MOST_QUESTIONS = 29
_LONGEST_S = 30.0
"""For how long questions about one record's suggestions begin."""


class Trials:
    """Changed copies of one record's program: propagated, partitioned, compiled to the end."""

    def __init__(self, data: RecordData, collectives: Sequence[Collective], module: HloModule | None) -> None:
        """`module` is the optimized program, which has the collectives; None where it is not at hand.

        Raises CaptureError when there is no program to change.
        """
        if data.stablehlo is None:
            raise CaptureError("the record has no program before optimization, so no change of it can be tried")
        from pjit_inspect.observe.shardy.propagation import propagate
        from pjit_inspect.observe.shardy.what_if import WhatIf

        self._data, self._collectives, self._module = data, collectives, module
        self._what_if = WhatIf(data.stablehlo.read(), propagate)
        self.is_cpu: bool = any(device.platform == "cpu" for device in data.devices)
        self.checked: dict[tuple[Edit, ...], Checked] = {}
        """What came of the changes that were compiled."""

    def propagate(self, change: Sequence[Edit]) -> tuple[ShardedProgram, Mapping[int, int]]:
        """The changed program with its shardings, and how often its loops run."""
        from pjit_inspect.observe.live.library_names import with_paths

        trial = self._what_if.propagate(change)
        return with_paths(trial.program, self._data), trial.trips

    def count(self, change: Sequence[Edit]) -> Counts:
        """What XLA's partitioner makes of the changed program. Raises CaptureError when it gives no answer."""
        from pjit_inspect.observe.partitioner.service import ask_partitioner

        data, edited = self._data, self._what_if.edited(change)
        answer = ask_partitioner(edited, devices=len(data.devices), flags=data.flags, timeout_s=_PATIENCE_S)
        try:
            return count_partitioned(parse_program(answer.after), data.mesh, self._device_ids, is_cpu=self.is_cpu)
        except ParseError as error:
            what = f"what XLA's partitioner made of the changed program is not understood: {error}"
            raise CaptureError(what) from error

    def check(self, change: tuple[Edit, ...]) -> Checked:
        """What the collectives of the compiled changed program send, beside those of the record."""
        program = parse_program(self._what_if.compile(change, self._data.devices, self._data.flags))
        after = find_collectives(program, self._data.mesh, self._device_ids)
        modules = None if self._module is None else (self._module, program)
        self.checked[change] = compare_traffic(self._collectives, after, modules)
        return self.checked[change]

    @property
    def _device_ids(self) -> tuple[int, ...] | None:
        return tuple(device.id for device in self._data.devices) or None


@dataclass(slots=True, kw_only=True)
class Patience:
    """Asks XLA's partitioner for some seconds, those of waiting aside; an unchanged program is asked about at any time.

    Attributes:
      count: asks it.
      most: about how many changed programs it is asked.
      longest_s: for how many seconds questions begin.
      ended: why it asks no more; "" while it does.
    """

    count: Callable[[Sequence[Edit]], Counts]
    most: int
    longest_s: float
    ended: str = ""
    _asked: int = 0
    _since: float = field(default_factory=time.monotonic)

    def __call__(self, change: Sequence[Edit]) -> Counts:
        """As `Trials.count`; raises CaptureError too when the time is up."""
        self._since += wait_for_idle()
        if change:
            self._asked += 1
        if change and (self._asked > self.most or time.monotonic() - self._since > self.longest_s):
            self.ended = "there was no time for another question to XLA's partitioner"
            raise CaptureError(self.ended)
        try:
            return self.count(change)
        except CaptureError as error:
            # Without the program as it is there is nothing to compare with.
            self.ended = self.ended if change else str(error)
            raise


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecordSuggestion(OfRecord, Suggestion):
    """A suggestion for a record, which can be checked."""

    _trials: Trials

    def check(self) -> Self:
        """As `Suggestion.check`; the record's explanation says from then on what came of it."""
        return replace(self, checked=self._trials.check(self.change))

    def as_known(self) -> Self:
        """The same with what came of compiling it, if anybody did."""
        return replace(self, checked=self._trials.checked.get(self.change))


def suggestions_of(
    data: RecordData,
    module: HloModule | None,
    collectives: Sequence[Collective],
    sources: Sequence[SourceText],
    cells: Mapping[str, str],
) -> tuple[RecordSuggestion, ...]:
    """Changes that save communication, as far as XLA's partitioner tells; or ().

    Only for records that this process made: bytecode from a file is not trusted with a compiler. Raises CaptureError
    when the program cannot be propagated.
    """
    trials = Trials(data, collectives, module)
    names = ValueNames(trials.propagate(())[0], sources, cells)
    count = Patience(count=trials.count, most=_MOST_QUESTIONS, longest_s=_LONGEST_S)
    suggestions = find_suggestions(names, collectives, trials.propagate, is_cpu=trials.is_cpu, count=count)
    return tuple(RecordSuggestion.made_of(suggestion, _trials=trials) for suggestion in suggestions)
