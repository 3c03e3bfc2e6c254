"""The least that an incomplete program communicates.

Not its job: what is missing (`model.program.incomplete`), or saying it (`view.record.incomplete`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.collectives.traffic import total_by_axes
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.incomplete import NO_ENTRY, why_incomplete
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.least import Least


def find_least(rows: Sequence[Collective], module: HloModule, devices: int) -> Least | None:
    """The least that the complete program has; None if `module` is complete and the bytes of all `rows` are known.

    Without the entry computation nothing is known to run.
    """
    if not why_incomplete(module.unknown, unsized=sum(row.is_unsized for row in rows)):
        return None
    if module.unknown.get(NO_ENTRY):
        return Least()
    certain = [row for row in rows if row.count_min]
    # Several permutes may turn out to be one ring, as soon as the rest of it is there.
    whole = [row for row in certain if row.kind != "collective-permute" and row.decomposed is None]
    totals = [total for row in certain for total in total_by_axes((row,), devices)]
    return Least(
        collectives=len(whole) + (len(whole) < len(certain)),
        sent_bytes=sum(total.sent_bytes for total in totals if not total.is_bound),
    )
