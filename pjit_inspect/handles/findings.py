"""Finds the problems of one record's program: its facts, and the changes of its advice.

Joins the rooms: `analyze` finds problems, `handles.advice` tried the changes. Not its job: any of those steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.advice.updates import replaced_trees
from pjit_inspect.analyze.collectives.collective_sites import find_sites
from pjit_inspect.analyze.findings.candidate import Subject
from pjit_inspect.analyze.findings.findings import find_facts, find_findings
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RecordFinding(OfRecord, Finding):
    """A finding of a record, whose remedy can be compiled."""

    _trials: Trials | None

    def check(self) -> Checked:
        """As `Finding.check`."""
        return check_change(self._trials, self.change)


def why_untried(data: RecordData, *, live: bool) -> str | None:
    """Why remedies cannot be made in a copy of the program; "" where there is nothing to try, None where they can."""
    if len(data.devices) == 1:
        # Nothing is sent, and everything is held in full.
        return ""
    if not live:
        return "the record is from a file"
    if data.stablehlo is None:
        return f"no program before optimization: {data.missing.get('stablehlo', 'it was not captured')}"
    return None if data.devices else "the devices are unknown"


def findings_of(subject: Subject, advice: AdviceTable | None, *, untried: str = "") -> FindingTable:
    """At most three findings, dearest first.

    Without `advice` only facts are found: that takes milliseconds. So it is for a record from a file, too, as bytecode
    from there is not trusted with a compiler (`why_untried`); `untried` says why. Of a program that is there in part
    nothing is proven.
    """
    data, module = subject.data, subject.module
    unsized = sum(row.is_unsized for row in subject.collectives)
    if module is not None and (lacks := why_incomplete(module.unknown, unsized=unsized)):
        return FindingTable((), missing=f"the program is {lacks}")
    rows = () if advice is None else tuple(advice)
    trials = Trials(data, subject.collectives, module) if any(row.edits for row in rows) else None
    found = tuple(RecordFinding.made_of(o, _trials=trials) for o in find_findings(find_facts(subject), rows))
    missing = _missing(data, module, subject, is_all=advice is not None or bool(untried))
    if advice is not None:
        untried = f"{advice.untried}; record.findings.try_all() tries all" if advice.left_out else advice.untried
    return FindingTable(found, missing=missing, untried=untried)


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


def _missing(data: RecordData, module: HloModule | None, subject: Subject, *, is_all: bool) -> str:
    """The checks that were not made, and why; "" if all were made, or more will be made later."""
    if module is None:
        return f"no optimized program: {data.missing.get('hlo', 'it was not captured')}"
    # Without the program before optimization nobody can ask; `untried` says that of a record from a file.
    can_be_heard = data.stablehlo is not None and len(data.devices) > 1
    if is_all and subject.names is None and subject.collectives and can_be_heard:
        return f"XLA's partitioner was not heard: {data.missing.get('partitioner', 'nobody has asked it yet')}"
    return ""


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
