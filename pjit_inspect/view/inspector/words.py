"""Spans of the view tree as data for the inspector: Python words them, JavaScript only draws.

Not its job: choosing the words; escaping (the inspector sets text, never markup).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from pjit_inspect.model.program.mesh import SpecEntry
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.model.words.sentence import Phrase, Sentence
from pjit_inspect.view.document.document import (
    AxisLabel,
    Number,
    Prose,
    Quote,
    Sign,
    Span,
    Spans,
    SpecLabel,
    TableBlock,
    Text,
)
from pjit_inspect.view.document.notation import spec_text
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.text_spans import axes_text

_LONGEST = 200
_LONGEST_PROSE = 4_000
_SIGNS = {"times": "\u00d7", "dot": " \u00b7 ", "more": "\u2026"}


def name_data(text: str, *, longest: int = _LONGEST) -> str:
    """A foreign name in a safe form: characters without a shape made visible, a long name shortened in the middle."""
    is_plain = len(text) <= longest and text.isascii() and text.isprintable()
    return text if is_plain else shorten(printable(text), longest)


def spans_data(spans: Spans) -> list[Any]:
    """Spans in order; a plain string is words without emphasis."""
    drawn = (sentence_data(span.text) if isinstance(span, Prose) else [_span(span)] for span in spans)
    return [data for data in itertools.chain.from_iterable(drawn) if data is not None]


def table_data(table: TableBlock) -> dict[str, Any]:
    """A table: titles, which columns are numbers, and rows of cells."""
    return {
        "titles": [column.title for column in table.columns],
        "right": [column.align == "right" for column in table.columns],
        "rows": [list(map(spans_data, row.cells)) for row in table.rows],
    }


def sentence_data(sentence: str) -> list[Any]:
    """The phrases of a sentence, as spans."""
    return [_phrase(phrase) for phrase in Sentence(sentence).phrases]


def _phrase(phrase: Phrase) -> Any:
    match phrase.kind:
        case "axis":
            # A part of an axis has the axis's colour.
            return {"axis": name_data(phrase.text), "axes": axes_data((axis_name(phrase.text),)), "size": None}
        case "name" | "spec" | "code" if not phrase.is_bare:
            return {"code": name_data(phrase.text)}
        case _:
            return name_data(phrase.text, longest=_LONGEST_PROSE)


def spec_data(spec: Sequence[SpecEntry] | None) -> list[list[str]] | None:
    """The axes of each dimension; None when the tiling follows no mesh axes."""
    if spec is None:
        return None
    entries = (() if entry is None else (entry,) if isinstance(entry, str) else entry for entry in spec)
    return [axes_data(entry) for entry in entries]


def axes_data(axes: Sequence[str]) -> list[str]:
    """Names of axes; equal names get equal words, so that their colour is found."""
    return [name_data(axis) for axis in axes]


def _span(span: Span) -> Any:
    match span:
        case Text(text=text, emphasis="none"):
            return name_data(text, longest=_LONGEST_PROSE)
        case Text(text=text, emphasis=emphasis):
            return {emphasis: name_data(text, longest=_LONGEST_PROSE)}
        case Quote(text=text, strong=strong):
            return {"name" if strong else "code": name_data(text)}
        case AxisLabel(axes=axes, size=size):
            words = axes_text(axes).replace(" x ", " \u00d7 ")
            return {"axis": name_data(words), "axes": None if axes is None else axes_data(axes), "size": size}
        case Number(text=text, unit=unit, provenance=provenance, strong=strong):
            return {"number": text, "unit": unit, "how": provenance, "strong": strong}
        case Sign(kind=kind):
            return _SIGNS[kind]
        case SpecLabel(spec=spec):
            return {"code": name_data(spec_text(spec))}
        case _:
            return None
