"""Turns spans into one string, and wraps strings."""

from __future__ import annotations

from collections.abc import Iterable

from pjit_inspect.view.document.document import (
    AxisLabel,
    Bar,
    Cell,
    Number,
    Prose,
    Quote,
    Sign,
    Span,
    Spans,
    SpecLabel,
    Text,
    spans,
)
from pjit_inspect.view.document.notation import known_spec_text
from pjit_inspect.view.document.printable import cell_width, printable, shorten

_SIGNS = {"times": "x", "dot": "  ", "more": "..."}


def spans_text(parts: Spans, width: int) -> str:
    """The spans joined. A foreign name takes at most half of `width`."""
    return "".join(_span_text(span, width) for span in parts)


def joined_spans(parts: Iterable[Cell], between: Cell = ", ") -> Spans:
    """Parts in a row, with words between them."""
    return spans(*(one for number, part in enumerate(parts) for one in ((between, part) if number else (part,))))


def axes_text(axes: tuple[str, ...] | None) -> str:
    """Mesh axes by name: "data", "data x model", "no axis", "one device"."""
    if axes is None:
        return "no axis"
    return " x ".join(printable(axis) for axis in axes) or "one device"


def wrap(text: str, width: int, *, indent: str = "  ") -> list[str]:
    """Lines of at most `width` columns, broken at spaces; later lines start with `indent`.

    A longer single word is shortened in the middle.
    """
    if cell_width(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split(" "):
        room = width - (len(indent) if lines else 0)
        word = shorten(word, room)
        candidate = f"{line} {word}" if line else word
        if line and cell_width(candidate) > room:
            lines.append((indent if lines else "") + line.rstrip())
            line = shorten(word, width - len(indent))
        else:
            line = candidate
    return [*lines, (indent if lines else "") + line]


def _span_text(span: Span, width: int) -> str:
    match span:
        case Text(text=text) | Prose(text=text):
            return printable(text)
        case SpecLabel(spec=spec):
            return printable(known_spec_text(spec))
        case Quote(text=text):
            return shorten(printable(text), max(24, width // 2))
        case AxisLabel(axes=axes, size=size):
            name = shorten(axes_text(axes), max(24, width // 3))
            return name if size is None else f"{name}={size}"
        case Number(text=text, unit=unit):
            return f"{text} {unit}" if unit else text
        case Sign(kind=kind):
            return _SIGNS[kind]
        case Bar():
            return ""
