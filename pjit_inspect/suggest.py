"""Suggestions for one record, and how each is checked.

Joins the rooms: options are thought of in `analyze`, tried and compiled in `observe`, counted in `analyze` again. Not
its job: any of those steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pjit_inspect.analyze.collectives import find_collectives
from pjit_inspect.analyze.suggestions import compare_traffic, find_suggestions
from pjit_inspect.analyze.value_names import ValueNames
from pjit_inspect.errors import CaptureError
from pjit_inspect.model.collective import Collective
from pjit_inspect.model.propagation import Propagation
from pjit_inspect.model.record import RecordData
from pjit_inspect.model.source import SourceText
from pjit_inspect.model.suggestion import Checked, Edit, Suggestion
from pjit_inspect.parse.hlo_verbatim import parse_program

if TYPE_CHECKING:
    from pjit_inspect.observe.what_if import WhatIf

__all__ = ["suggestions_of"]


def suggestions_of(
    data: RecordData,
    collectives: Sequence[Collective],
    sources: Sequence[SourceText],
    cells: Mapping[str, str],
) -> tuple[Suggestion, ...]:
    """Changes that may save communication, each with a way to check it; () when none is known.

    Only for records that this process made: bytecode from a file is not trusted with a compiler. Raises CaptureError
    when the program cannot be propagated.
    """
    if data.stablehlo is None:
        raise CaptureError("the record has no program before optimization, so no change of it can be tried")
    from pjit_inspect.observe.library_names import with_paths
    from pjit_inspect.observe.propagation import propagate
    from pjit_inspect.observe.what_if import WhatIf

    what_if = WhatIf(data.stablehlo.read(), propagate)

    def try_change(change: Sequence[Edit]) -> tuple[Propagation, Mapping[int, int]]:
        trial = what_if.propagate(change)
        return with_paths(trial.program, data), trial.trips

    names = ValueNames(try_change(())[0], sources, cells)
    is_cpu = any(device.platform == "cpu" for device in data.devices)
    found = find_suggestions(names, collectives, try_change, is_cpu=is_cpu)
    return tuple(replace(one, checker=lambda s: _check(s, what_if, data, collectives)) for one in found)


def _check(suggestion: Suggestion, what_if: WhatIf, data: RecordData, before: Sequence[Collective]) -> Checked:
    program = parse_program(what_if.compile(suggestion.change, data.devices, data.flags))
    ids = tuple(device.id for device in data.devices) or None
    return compare_traffic(before, find_collectives(program, data.mesh, ids))
