"""Findings, suggestions and notes as data for the inspector; findings also for one that is already drawn.

Notes are surprising facts, and the rows each is about, so that a click shows only those rows. The report's sentences
come first, then facts counted here, worded the same on every run. A note without rows is plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.finding import Finding
from pjit_inspect.model.report.report import Note, RecordReport
from pjit_inspect.model.report.suggestion import Suggestion
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.view.document.document import Spans, Text, dim
from pjit_inspect.view.document.quantities import bytes_text, plural
from pjit_inspect.view.inspector.words import name_data, sentence_data, spans_data
from pjit_inspect.view.record.arrays import ArrayGroup
from pjit_inspect.view.record.cause_groups import CollectiveGroup
from pjit_inspect.view.record.collectives import unasked_words
from pjit_inspect.view.record.findings import change_text, figures_of, looked_for

_MEMBERS = 400


def findings_data(report: RecordReport, *, is_under_way: bool = False) -> dict[str, Any]:
    """The panel of findings: its rows, and one line about the search.

    `is_under_way` says that remedies are being tried and that the inspector gets their results later.
    """
    words = (dim("findings: remedies are being tried"),) if is_under_way else looked_for(report)
    return {
        "rows": finding_rows(report.findings or ()),
        "words": spans_data((*_not_asked(report), *words)),
        "waits": is_under_way,
    }


def _not_asked(report: RecordReport) -> Spans:
    """The note that the causes are not known yet; the page does not have the text table that says so."""
    if not report.unasked:
        return ()
    return Text("why the collectives are there is "), *unasked_words(report.unasked), Text(". ")


def finding_rows(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """One row for each finding: words, figures, and the instructions that a click selects."""
    return [_finding_row(one) for one in findings]


def suggestions_data(
    report: RecordReport, *, is_under_way: bool = False, error: str = "", errors: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """The changes found so far that could save something.

    `can_be_asked` says whether there is a program to try changes in. `error` says why there are none, and `errors` why
    one could not be compiled, by its number.
    """
    return {
        "rows": [_suggestion(one, (errors or {}).get(n, "")) for n, one in enumerate(report.suggestions)],
        "known": report.are_suggestions_known,
        "can_be_asked": report.remedies != "none",
        "waits": is_under_way,
        "error": name_data(error, longest=500),
    }


def _suggestion(one: Suggestion, error: str) -> dict[str, Any]:
    once = ", one turn" if one.is_one_turn else ""
    compiled = ", one turn" if one.checked is not None and one.checked.is_one_turn else ""
    figures = (
        (f"counted{once}", one.counted_bytes),
        (f"compiled{compiled}", one.compiled_bytes),
    )
    return {
        "title": sentence_data(one.title),
        "sentence": sentence_data(one.sentence),
        "figures": [[label, "" if size is None else change_text(size)] for label, size in figures],
        "verdict": "" if one.checked is None else one.checked.verdict,
        "error": name_data(error, longest=500),
        "names": [name_data(name) for name in one.removes[:_MEMBERS]],
    }


def _finding_row(one: Finding) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "sentence": sentence_data(one.sentence),
        "plain": name_data(str(one.sentence), longest=2000),
        "place": name_data(one.source[0].where) if one.source else "",
        "remedy": sentence_data(one.remedy) if one.remedy else [],
        "code": name_data(_code(one), longest=2000),
        "figures": spans_data(figures_of(one)),
        "state": "tried" if one.tried is not None else "",
        "bars": _bars(one),
        "names": [name_data(name) for name in one.instructions[:_MEMBERS]],
    }


def _code(one: Finding) -> str:
    """The part of the remedy that is code for the user's file; all words if there is no code."""
    if not one.remedy:
        return ""
    return next((phrase.text for phrase in Sentence(one.remedy).phrases if phrase.kind == "code"), str(one.remedy))


def _bars(one: Finding) -> list[list[Any]]:
    """Words, share of the larger, figure: without and with the remedy; [] where nothing was tried."""
    if one.tried is None:
        return []
    most = max(one.tried.before_bytes, one.tried.after_bytes) or 1
    return [
        ["as it is", one.tried.before_bytes / most, bytes_text(one.tried.before_bytes)],
        ["with it", one.tried.after_bytes / most, bytes_text(one.tried.after_bytes)],
    ]


# ---------------------------------------------------------------- notes

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
    """A note about inputs that are replicated on every device."""
    devices = len(report.data.devices)
    rows = [
        number
        for number, (role, group) in enumerate(arrays)
        if role == "input" and devices > 1 and group.first.replication == devices
    ]
    if not rows:
        return []
    groups = [arrays[number][1] for number in rows]
    count = sum(len(group.layouts) for group in groups)
    size = bytes_text(sum(group.bytes_per_device for group in groups))
    words = f"{plural(count, 'input')} {'is' if count == 1 else 'are'} replicated on every device: {size} on each"
    return [_note(words, "arrays", rows, is_warning=False)]
