"""Suggestions for one record, and how each is checked.

Joins the rooms: options are thought of in `analyze`, tried and compiled in `observe`, counted in `analyze` again. Not
its job: any of those steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.counts import Counts, count_partitioned
from pjit_inspect.analyze.suggest.suggestions import compare_traffic, find_suggestions
from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.suggestion import Checked, Edit, Suggestion
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.parse.hlo_proto.verbatim import parse_program

if TYPE_CHECKING:
    from pjit_inspect.observe.shardy.what_if import WhatIf

__all__ = ["suggestions_of"]

_PATIENCE_S = 60.0
"""How long XLA's partitioner is waited for, each time it is asked."""


def suggestions_of(
    data: RecordData,
    collectives: Sequence[Collective],
    sources: Sequence[SourceText],
    cells: Mapping[str, str],
) -> tuple[Suggestion, ...]:
    """Changes that save communication, as far as XLA's partitioner tells, each with a way to check it; or ().

    Only for records that this process made: bytecode from a file is not trusted with a compiler. Raises CaptureError
    when the program cannot be propagated.
    """
    if data.stablehlo is None:
        raise CaptureError("the record has no program before optimization, so no change of it can be tried")
    from pjit_inspect.observe.live.library_names import with_paths
    from pjit_inspect.observe.shardy.propagation import propagate
    from pjit_inspect.observe.shardy.what_if import WhatIf

    what_if = WhatIf(data.stablehlo.read(), propagate)

    def try_change(change: Sequence[Edit]) -> tuple[ShardedProgram, Mapping[int, int]]:
        trial = what_if.propagate(change)
        return with_paths(trial.program, data), trial.trips

    names = ValueNames(try_change(())[0], sources, cells)
    is_cpu = any(device.platform == "cpu" for device in data.devices)

    def count(change: Sequence[Edit]) -> Counts:
        return _count(what_if, change, data, is_cpu)

    found = find_suggestions(names, collectives, try_change, is_cpu=is_cpu, count=count)
    return tuple(replace(one, checker=lambda s: _check(s, what_if, data, collectives)) for one in found)


def _count(what_if: WhatIf, change: Sequence[Edit], data: RecordData, is_cpu: bool) -> Counts:
    """What XLA's partitioner makes of the changed program. Raises CaptureError when it gives no answer."""
    from pjit_inspect.observe.partitioner.service import ask_partitioner

    answer = ask_partitioner(what_if.edited(change), devices=len(data.devices), flags=data.flags, timeout_s=_PATIENCE_S)
    ids = tuple(device.id for device in data.devices) or None
    try:
        return count_partitioned(parse_program(answer.after), data.mesh, ids, is_cpu=is_cpu)
    except ParseError as error:
        raise CaptureError(f"what XLA's partitioner made of the changed program is not understood: {error}") from error


def _check(suggestion: Suggestion, what_if: WhatIf, data: RecordData, before: Sequence[Collective]) -> Checked:
    program = parse_program(what_if.compile(suggestion.change, data.devices, data.flags))
    ids = tuple(device.id for device in data.devices) or None
    return compare_traffic(before, find_collectives(program, data.mesh, ids))
