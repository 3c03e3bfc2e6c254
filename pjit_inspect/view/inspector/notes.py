"""Notes as data for the inspector: surprising facts, and the rows each is about, so that a click shows only those.

The report's sentences come first, then facts counted here, worded the same on every run. A note without rows is plain
text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import Note, RecordReport
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.document.text_spans import spans_text
from pjit_inspect.view.inspector.words import name_data
from pjit_inspect.view.record.answer import replication_spans
from pjit_inspect.view.record.arrays import ArrayGroup
from pjit_inspect.view.record.cause_groups import CollectiveGroup

_Fits = Callable[[Collective], bool]

_FACTS: tuple[tuple[str, str, _Fits], ...] = (
    ("combines several arrays", "combine several arrays", lambda row: row.operands > 1 and row.kind != "all-to-all"),
    ("runs more than once per call", "run more than once per call", lambda row: (row.count or 0) > 1),
    ("talks to another host", "talk to another host", lambda row: bool(row.is_cross_host)),
    ("runs beside other work", "run beside other work", lambda row: row.is_async and bool(row.overlap_count)),
    ("is a ring in place of another kind", "are rings in place of other kinds", lambda row: row.decomposed is not None),
)
"""Words for one, words for several, and the test for a row."""


def note_list(
    report: RecordReport, groups: Sequence[CollectiveGroup], arrays: Sequence[tuple[str, ArrayGroup]]
) -> list[dict[str, Any]]:
    """Every note: words, whether it is a warning, its list ("" for none) and the numbers of its rows.

    `groups` and `arrays` (with their roles) are the rows of the lists, in order.
    """
    notes = [_sentence(words, groups, arrays) for words in report.notes]
    notes += [_warning(warning, groups) for warning in report.warnings]
    return notes + _facts(groups) + _whole(report, arrays)


def _note(words: str, list_name: str, rows: Sequence[int], *, is_warning: bool = True) -> dict[str, Any]:
    return {
        "words": name_data(words, longest=2000),
        "list": list_name if rows else "",
        "rows": list(rows),
        "warns": is_warning,
    }


def _sentence(
    words: str, groups: Sequence[CollectiveGroup], arrays: Sequence[tuple[str, ArrayGroup]]
) -> dict[str, Any]:
    """A sentence of the report with its rows."""
    if not isinstance(words, Note):
        return _note(words, "", ())
    if words.instructions:
        return _note(words, "collectives", _fitting(groups, _among(frozenset(words.instructions))))
    paths = frozenset(words.paths)
    named = [
        number
        for number, (role, group) in enumerate(arrays)
        if role == "input" and any(one.path in paths for one in group.layouts)
    ]
    return _note(words, "arrays", named)


def _warning(warning: Any, groups: Sequence[CollectiveGroup]) -> dict[str, Any]:
    """A warning of XLA, with the collectives of the operation it names."""
    name = getattr(warning, "op_name", None)
    rows = _fitting(groups, lambda row: name in (row.op_name, *(cause.op_name for cause in row.causes))) if name else []
    return _note(str(getattr(warning, "sentence", warning)), "collectives", rows)


def _among(names: frozenset[str]) -> _Fits:
    return lambda row: not names.isdisjoint(row.instructions)


def _fitting(groups: Sequence[CollectiveGroup], fits: _Fits) -> list[int]:
    return [number for number, group in enumerate(groups) if any(map(fits, group.members))]


def _facts(groups: Sequence[CollectiveGroup]) -> list[dict[str, Any]]:
    notes = []
    for one, several, fits in _FACTS:
        number = sum(fits(row) for group in groups for row in group.members)
        if number:
            words = f"{plural(number, 'collective')} {one if number == 1 else several}"
            notes.append(_note(words, "collectives", _fitting(groups, fits), is_warning=False))
    return notes


def _whole(report: RecordReport, arrays: Sequence[tuple[str, ArrayGroup]]) -> list[dict[str, Any]]:
    """The note that says which inputs several devices hold, with the rows of those that every device holds."""
    words = replication_spans(report)
    devices = len(report.data.devices)
    rows = [
        number
        for number, (role, group) in enumerate(arrays)
        if role == "input" and devices > 1 and group.first.replication == devices
    ]
    return [_note(spans_text(words, 200), "arrays", rows, is_warning=False)] if words else []
