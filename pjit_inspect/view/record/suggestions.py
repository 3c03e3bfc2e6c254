"""Changes that may save communication, as a table: counts of XLA's partitioner, and of XLA.

Not its job: inventing changes (`analyze.suggest`), or trying them (`handles.suggest`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.suggestion import Suggestion, SuggestionTable
from pjit_inspect.model.words.sentence import ONE_TURN
from pjit_inspect.view.document.columns import table_of
from pjit_inspect.view.document.document import (
    Block,
    Code,
    Column,
    Number,
    Prose,
    Section,
    Span,
    Spans,
    dim,
    line,
    strong,
)
from pjit_inspect.view.document.quantities import bytes_text
from pjit_inspect.view.record.incomplete import reason_text

_FOOTER = (
    "sent per device and call, more or less; counted: what XLA's partitioner makes of both, before optimization; "
    "compiled: check() compiles it to the end"
)


def suggestion_blocks(suggestions: Sequence[Suggestion], *, with_sentences: bool = False) -> tuple[Block, ...]:
    """A row for each suggestion, and its sentence in full; () without suggestions."""
    if not suggestions:
        return ()
    priced = any(one.price for one in suggestions)
    columns = (
        Column("change", lambda one: Prose(one.title), shrink=True, comfort=40, least=24),
        Column("counted", lambda one: _change(one.counted_bytes), align="right"),
        Column("compiled", lambda one: _change(one.compiled_bytes), align="right"),
        Column("each device then", lambda one: one.price if priced else None, shrink=True, comfort=24),
    )
    sentences = tuple(line(Prose(one.sentence)) for one in suggestions) if with_sentences else ()
    figures = [figure for one in suggestions for figure in (one.counted, one.checked) if figure is not None]
    unsure = any(one.is_one_turn for one in suggestions) or any(figure.is_one_turn for figure in figures)
    footer = f"{_FOOTER}; {ONE_TURN}" if unsure else _FOOTER
    return (table_of(columns, suggestions), *sentences, line(footer, role="footer"))


def suggestion_section(suggestions: Sequence[Suggestion], *, with_sentences: bool = False) -> list[Block]:
    """The table under its title; [] without suggestions."""
    blocks = suggestion_blocks(suggestions, with_sentences=with_sentences)
    return [Section((strong("what could save some of it"),), blocks)] if blocks else []


def suggestions_untried(suggestions: SuggestionTable) -> tuple[Block, ...]:
    """A note that not every change was tried, with the reason; () if every one was."""
    if not suggestions.untried:
        return ()
    head = "" if suggestions.rows else "no suggestions by now: "
    return (line(f"{head}not every change was tried: {reason_text(suggestions.untried)}", role="note"),)


def _change(size: int | None) -> Span:
    return dim("-") if size is None else Number(change_text(size), provenance="counted")


def change_text(size: int) -> str:
    """Bytes with a sign."""
    return f"{'-' if size < 0 else '+' if size else ''}{bytes_text(abs(size))}"


def suggestion_hint(report: RecordReport) -> Spans:
    """A hint on searching for savings, if nobody has searched; else ()."""
    if report.are_suggestions_known or report.remedies == "none" or not report.collectives:
        return ()
    words = " asks XLA's partitioner about changes that could save some of it"
    return (Code("record.suggestions"), dim(words))
