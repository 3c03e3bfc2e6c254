"""Compares two programs: joins their rows and figures, and writes the answer.

Not its job: any of these steps (the other modules of this room), making the compared analyses (`handles`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pjit_inspect.analyze.diff.collectives import diff_collectives
from pjit_inspect.analyze.diff.combined import with_combined
from pjit_inspect.analyze.diff.edits import find_edits, join_requests
from pjit_inspect.analyze.diff.figures import diff_axes, diff_figures, diff_settings, side_facts
from pjit_inspect.analyze.diff.parity import find_parity
from pjit_inspect.analyze.diff.places import source_changes
from pjit_inspect.analyze.diff.reasons import with_reasons
from pjit_inspect.analyze.diff.recomputed import with_recomputed
from pjit_inspect.analyze.diff.sentence import diff_answer
from pjit_inspect.analyze.diff.side import DiffSide, ProgramNames, names_of_both, with_renamed
from pjit_inspect.analyze.diff.tables import (
    diff_arguments,
    diff_kernels,
    diff_results,
    diff_shardings,
    diff_warnings,
)
from pjit_inspect.model.diff.diff import DiffData, LoweringDiff, SourceChange, Stages
from pjit_inspect.model.diff.pairs import COMBINED, CollectiveDiff
from pjit_inspect.model.words.sentence import Sentence, say


def diff_programs(before: DiffSide, after: DiffSide, lowering: LoweringDiff | None = None) -> DiffData:
    """All differences between two programs; `lowering` has the differences between their lowerings."""
    names = names_of_both(before, after)
    arguments = diff_arguments(before, after, names)
    results = diff_results(before, after, names, arguments)
    names = with_renamed(names, (arguments, results))
    shardings = diff_shardings(before, after, names)
    renamed = names[0].renamed_axes
    # With renamed axes every spec reads differently: other edits cannot be distinguished.
    edits = () if renamed else find_edits(before, after, arguments, results, join_requests(before, after, names))
    collectives = diff_collectives(before, after, names)
    collectives = with_reasons(collectives, edits, shardings, (before.program, after.program))
    collectives = with_combined(with_recomputed(collectives, names), names)
    collectives = _without_guesses(collectives, before, after)
    figures = diff_figures(before, after)
    data = DiffData(
        before=side_facts(before),
        after=side_facts(after),
        parity=find_parity(before, after, names, arguments, figures),
        collectives=collectives,
        kernels=diff_kernels(before, after, names),
        shardings=shardings,
        arguments=arguments,
        results=results,
        warnings=diff_warnings(before, after, names),
        figures=figures,
        axes=diff_axes(before, after, names),
        renamed_axes=tuple(renamed.items()),
        settings=diff_settings(before.data, after.data),
        source=_source(before, after, names),
        notes=tuple(_notes(before, after)),
        stages=None if lowering is None else Stages(lowering=lowering),
    )
    return replace(data, answer=diff_answer(data))


def _without_guesses(collectives: CollectiveDiff, before: DiffSide, after: DiffSide) -> CollectiveDiff:
    """The collectives; those missing from an incomplete program get no reason, because they may not be gone."""
    lacking = {"removed": after.report.incomplete, "added": before.report.incomplete}
    if not any(lacking.values()):
        return collectives
    rows = (
        replace(pair, reason=Sentence()) if lacking.get(pair.status) and pair.reason != COMBINED else pair
        for pair in collectives.rows
    )
    return replace(collectives, rows=tuple(rows))


def _source(before: DiffSide, after: DiffSide, names: tuple[ProgramNames, ProgramNames]) -> tuple[SourceChange, ...]:
    functions = [own.places.functions(side.stacks()) for side, own in zip((before, after), names, strict=True)]
    return source_changes(functions[0], functions[1])


def _notes(before: DiffSide, after: DiffSide) -> Iterator[Sentence]:
    for side, when in ((before, "before"), (after, "after")):
        report = side.report
        if report.collectives is None:
            yield say("there is no optimized program {}: its collectives and kernels are not known", when)
        elif report.incomplete:
            yield say("what the program {} lacks may be in the part that is missing: it is not known to be gone", when)
        if report.beside:
            yield say("beside the HLO collectives {}, {}: that is in no figure", when, report.beside)
        if not side.shardings.rows and not side.data.is_partial:
            yield say("shardings between arguments and results are not known {}", when)
    if before.data.is_partial != after.data.is_partial:
        which = "before" if before.data.is_partial else "after"
        yield say("the program {} is as XLA's partitioner left it: not combined, fused or scheduled", which)
