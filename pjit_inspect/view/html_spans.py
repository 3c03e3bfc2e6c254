"""Lower spans to HTML.

Not its job: blocks (`view.html_blocks`).
"""

from __future__ import annotations

from html import escape

from pjit_inspect.view.colors import Palette
from pjit_inspect.view.printable import printable, shorten
from pjit_inspect.view.text_spans import axes_text
from pjit_inspect.view.tree import AxisLabel, Bar, Code, Number, Sign, Span, Spans, Text

__all__ = ["chip_html", "escaped", "spans_html"]

_SIGNS = {"times": "&times;", "dot": " &middot; ", "more": "&hellip;"}
_LONGEST = 90
_HOW = {"modelled": "modelled (ring)", "measured": "measured on this machine", "unknown": "unknown"}


def spans_html(spans: Spans, palette: Palette) -> str:
    """The spans in a row."""
    return "".join(_span_html(span, palette) for span in spans)


def escaped(text: str, *, longest: int = _LONGEST) -> str:
    """Foreign text as it can stand in HTML: characters without a shape made visible, shortened, escaped."""
    return escape(shorten(printable(text), longest))


def chip_html(text: str, color: str) -> str:
    """A label in white on an axis' colour."""
    style = f"background:{color};color:#fff;border-radius:3px;padding:0 5px;white-space:nowrap"
    return f'<span style="{style}">{escaped(text, longest=40)}</span>'


def _span_html(span: Span, palette: Palette) -> str:
    match span:
        case Text(text=text, emphasis=emphasis):
            return _words(escaped(text, longest=400), emphasis)
        case Code(text=text, strong=strong):
            # Not <code> or <samp>: JupyterLab gives them a background, a size or lets them wrap, and undoing that would
            # cost a style on each.
            code = f"<tt>{escaped(text)}</tt>"
            return f"<b>{code}</b>" if strong else code
        case AxisLabel(axes=axes, size=size):
            name = axes_text(axes).replace(" x ", " \u00d7 ")
            return chip_html(name if size is None else f"{name} {size}", palette.of(axes))
        case Number():
            return _number(span)
        case Sign(kind=kind):
            return _SIGNS[kind]
        case Bar(share=share, axes=axes):
            width = max(1, round(110 * share))
            style = f"background:{palette.of(axes)};width:{width}px;height:9px;display:inline-block"
            return f'<span style="{style}"></span>'


def _words(text: str, emphasis: str) -> str:
    if emphasis == "strong":
        return f"<b>{text}</b>"
    return f'<span style="opacity:0.7">{text}</span>' if emphasis == "dim" else text


def _number(number: Number) -> str:
    text = escape(f"{number.text}\u00a0{number.unit}" if number.unit else number.text)
    if number.strong:
        text = f"<b>{text}</b>"
    if number.provenance == "counted" or not number.unit:
        return text
    return f'<span title="{_HOW[number.provenance]}">{text}</span>'
