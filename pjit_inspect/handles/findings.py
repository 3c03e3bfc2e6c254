"""The findings of one record: the rows of its advice that are clear faults; and what facts are found from.

Joins the rooms: `analyze` finds problems, `handles.advice` tried the changes. Not its job: any of those steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.advice.updates import replaced_trees
from pjit_inspect.analyze.collectives.collective_sites import find_sites
from pjit_inspect.analyze.findings.candidate import Subject
from pjit_inspect.analyze.findings.findings import find_findings
from pjit_inspect.analyze.partition.join import join
from pjit_inspect.analyze.program.source import UserFiles
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.handles.exports import OfRecord
from pjit_inspect.handles.trials import Trials, check_change
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.incomplete import why_incomplete
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.advice import AdviceTable
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.edit import Checked
from pjit_inspect.model.report.finding import Finding, FindingTable
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedProgram

_UNHEARD = "XLA's partitioner was not heard"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecordFinding(OfRecord, Finding):
    """A finding of a record, whose remedy can be compiled."""

    _trials: Trials | None

    def check(self) -> Checked:
        """As `Finding.check`."""
        return check_change(self._trials, self.change)


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


def findings_of(
    data: RecordData,
    module: HloModule | None,
    collectives: Sequence[Collective],
    advice: AdviceTable,
    *,
    untried: str | None,
    is_heard: bool,
) -> FindingTable:
    """At most three rows of the advice, dearest first.

    `untried` is what `why_untried` says, and `is_heard` whether XLA's partitioner has answered. Of a program that is
    there in part nothing is proven.
    """
    unsized = sum(row.is_unsized for row in collectives)
    if module is not None and (lacks := why_incomplete(module.unknown, unsized=unsized)):
        return FindingTable((), missing=f"the program is {lacks}")
    trials = Trials(data, collectives, module) if any(row.edits for row in advice) else None
    found = tuple(RecordFinding.made_of(one, _trials=trials) for one in find_findings(advice))
    if untried is None:
        more = f"{advice.untried}; record.findings.try_all() tries all" if advice.left_out else advice.untried
        untried = advice.missing or more
    missing = "" if is_heard or not collectives or data.stablehlo is None or len(data.devices) < 2 else _UNHEARD
    why = data.missing.get("partitioner", "nobody has asked it yet")
    if module is None:
        missing, why = "no optimized program", data.missing.get("hlo", "it was not captured")
    return FindingTable(found, missing=missing and f"{missing}: {why}", untried=untried)


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
