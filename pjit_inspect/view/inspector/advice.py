"""Advice as data for the inspector's head and pane, also for one that is already drawn.

Not its job: the words (`view.record.advice`), drawing (`view/front/src/panes/advice.js`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pjit_inspect.model.report.advice import Advice, AdviceTable
from pjit_inspect.view.document.quantities import bytes_text
from pjit_inspect.view.document.text_spans import axes_text
from pjit_inspect.view.inspector.words import name_data, sentence_data, spans_data
from pjit_inspect.view.record.advice import (
    AdviceFigure,
    advice_answer,
    advice_code,
    advice_figures,
    advice_summary,
    changes_of,
    cost_words,
    is_code,
    saving,
    stage_words,
    why_not_all,
)


def advice_data(
    advice: AdviceTable | None,
    *,
    compiling: int | None = None,
    errors: Mapping[int, str] | None = None,
) -> dict[str, Any] | None:
    """The line of the head, and the rows; None where nobody looked.

    `compiling` is the number of the row that is being compiled, and `errors` say why one could not be.
    """
    if advice is None:
        return None
    rows = [_row(one, is_compiling=compiling == at, error=(errors or {}).get(at, "")) for at, one in enumerate(advice)]
    first, second = advice_answer(advice)
    notes = [words for words in (stage_words(advice), why_not_all(advice) if rows else "") if words]
    return {
        "answer": spans_data(first),
        "summary": spans_data(advice_summary(advice)),
        "asked": name_data(second, longest=500),
        "rows": rows,
        "notes": [name_data(note, longest=1000) for note in notes],
        "waits": advice.is_asking,
    }


def _row(one: Advice, *, is_compiling: bool, error: str) -> dict[str, Any]:
    is_fact = one.state == "fact"
    return {
        "saving": "" if is_fact else saving(one),
        "is_layout": one.kind == "layout",
        "is_after_others": bool(one.with_edits),
        "sentence": sentence_data(one.sentence),
        "place": name_data(one.source[0].where) if one.source else "",
        "change": sentence_data(one.change) if one.change and not is_code(one) else [],
        "code": name_data(advice_code(one), longest=2000),
        "is_code": is_code(one),
        "figures": [] if is_fact else [_figure(change) for change in changes_of(one)],
        "cost": spans_data(advice_figures(one)) if is_fact else name_data(cost_words(one)),
        "state": "compiling" if is_compiling else one.state,
        "removes": [name_data(name) for name in one.removes],
        "brings": [
            {
                "axes": None if axes is None else list(axes),
                "words": axes_text(axes),
                "number": number,
                "sent": bytes_text(size),
            }
            for axes, number, size in one.brings
        ],
        "can_check": one.state == "counted" and bool(one.edits),
        "error": name_data(error, longest=500),
    }


def _figure(change: AdviceFigure) -> list[Any]:
    """Name, before, after, the change in words, and both as shares of the larger."""
    most = max(change.before, change.after) or 1
    return [change.name, *change.texts, change.words, change.before / most, change.after / most]
