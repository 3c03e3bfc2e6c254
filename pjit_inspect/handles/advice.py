"""Advice on one record: asks XLA about changed copies of its program, and keeps what helps.

Joins the rooms: `analyze` proposes and judges, `observe` asks. Not its job: any of those steps.
"""

from __future__ import annotations

from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.handles.analyses import Analyses
from pjit_inspect.handles.suggest import Trials


def edited_program_of(trials: Trials, analyses: Analyses) -> EditedProgram:
    """The program that advice is about. Raises CaptureError if XLA gives no answer about it."""
    copied = trials.copied()
    return EditedProgram(ValueNames(copied.program, analyses.sources, analyses.files), copied.numbers, copied.trips)
