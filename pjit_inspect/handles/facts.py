"""Gathers what facts of one record are found from, and says why no change of it can be tried.

Not its job: finding facts (`analyze.findings`), or trying changes (`handles.advice`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.advice.updates import replaced_trees
from pjit_inspect.analyze.collectives.collective_sites import find_sites
from pjit_inspect.analyze.findings.candidate import Subject
from pjit_inspect.analyze.partition.join import join
from pjit_inspect.analyze.program.source import UserFiles
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedProgram


def why_untried(data: RecordData, *, live: bool) -> str | None:
    """Why remedies cannot be made in a copy of the program; "" where there is nothing to try, None where they can.

    With `live` as it is where somebody waits for an answer about a file, too: its copies are made in a process apart.
    """
    if len(data.devices) == 1:
        # Nothing is sent, and everything is held in full.
        return ""
    if not live:
        return "the record is from a file"
    if data.stablehlo is None:
        return f"no program before optimization: {data.missing.get('stablehlo', 'it was not captured')}"
    return None if data.devices else "the devices are unknown"


def subject_of(
    data: RecordData,
    module: HloModule | None,
    collectives: Sequence[Collective],
    program: ShardedProgram | None,
    sources: Sequence[SourceText],
    files: UserFiles,
    copy: ValueNames | None,
) -> Subject:
    """One program with all facts; `copy` is the program that is edited, None where nothing can be tried."""
    is_xlas = program is not None and not program.is_predicted
    known = program if is_xlas else copy.program if copy is not None else None
    return Subject(
        data=data,
        module=module,
        collectives=tuple(collectives),
        edges=_edges(module, program) if module and program and is_xlas and _may_repeat(collectives) else {},
        names=ValueNames(program, sources, files) if program is not None and is_xlas else None,
        copy=copy,
        replaced={} if known is None else replaced_of(data, known),
        files=files,
    )


def replaced_of(data: RecordData, program: ShardedProgram) -> dict[str, tuple[ArrayLayout, ...]]:
    """The arguments that come back with new values, by the name of their tree."""
    seen = () if data.key is None else data.key.fed
    return replaced_trees(program, data.inputs, data.outputs, {one.path: one.result for one in seen if one.result})


def _edges(module: HloModule, program: ShardedProgram) -> dict[str, tuple[PartitionedCollective, ...]]:
    """Name of a collective's first instruction -> the partitioner's for its arrays, where one alone fits each."""
    sites = find_sites(module)
    return {
        site.instructions[0].name: tuple(array.edges[0] for array in arrays)
        for site, arrays in zip(sites, join(program, sites), strict=True)
        if arrays and all(len(array.edges) == 1 for array in arrays)
    }


def _may_repeat(rows: Sequence[Collective]) -> bool:
    """True if one collective runs more than once, or several gather over the same axes.

    For other collectives no check needs to know their sources.
    """
    gathers = [row.axes for row in rows if row.kind == "all-gather"]
    return len(set(gathers)) < len(gathers) or any((row.count or 0) > 1 for row in rows)
