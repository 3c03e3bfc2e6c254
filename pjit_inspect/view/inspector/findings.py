"""Findings and suggestions as data for the inspector, also for one that is already drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pjit_inspect.model.report.finding import Finding
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.suggestion import Suggestion
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.view.document.document import Spans, Text, dim
from pjit_inspect.view.document.quantities import bytes_text
from pjit_inspect.view.inspector.words import name_data, sentence_data, spans_data
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
    return [_row(one) for one in findings]


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


def _row(one: Finding) -> dict[str, Any]:
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
