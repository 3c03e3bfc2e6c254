"""Rows of a record's advice as settings of its playground: one click makes the change.

Not its job: the advice (`handles.advice`), or what a setting means (`subject`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.advice.lines import Lines
from pjit_inspect.errors import ChangeError
from pjit_inspect.handles.play.subject import PlayedProgram
from pjit_inspect.model.play.setting import PlaySetting, Preset
from pjit_inspect.model.report.advice import Advice
from pjit_inspect.model.report.edit import Edit


def presets_of(subject: PlayedProgram, rows: Sequence[Advice]) -> tuple[Preset, ...]:
    """The changes among the rows of advice, each with those before it, as it was counted; others say why not."""
    found = list[Preset]()
    for number, row in enumerate(rows, 1):
        if not row.edits:
            continue
        name, words = f"advice {number}", f"{row.sentence}: {row.change}"
        try:
            setting = _setting(subject, (*row.with_edits, *row.edits))
        except ChangeError as error:
            found.append(Preset(name=name, why_not=f"{error}: {words}"))
        else:
            found.append(Preset(name=name, sentence=words, setting=setting))
    return tuple(found)


def _setting(subject: PlayedProgram, edits: Sequence[Edit]) -> PlaySetting:
    """The program as captured, with the controls set that make all edits. Raises ChangeError where there are none."""
    own, program = subject.edited(), subject.program
    if own is None or program is None or subject.facts.explicit:
        raise ChangeError("there are no controls for operations of this program")
    places = {(edit.kind, edit.index, edit.number) for edit in edits}
    subject.named(own, [site for site in Lines(own).find() if places.issuperset(site.places)])
    asked = {edit.index for edit in edits if edit.kind in ("respec", "remove")}
    lines = {program.ops[index].frames[0].where if program.ops[index].frames else "" for index in asked}
    if asked != {index for line in lines for index in subject.constraint_ops(line)}:
        raise ChangeError("a control sets all constraints of a line, and this is not all of one")
    return subject.with_edits(subject.base, edits, (), are_results_set=True)
