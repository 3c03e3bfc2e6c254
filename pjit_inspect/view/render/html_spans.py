"""Lowers spans to HTML."""

from __future__ import annotations

import re
from html import escape

from pjit_inspect.model.program.mesh import SpecEntry
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.model.words.sentence import Phrase
from pjit_inspect.view.document.colors import Palette
from pjit_inspect.view.document.document import (
    AxisLabel,
    Bar,
    Code,
    Number,
    Prose,
    Sign,
    Span,
    Spans,
    SpecLabel,
    Text,
)
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.text_spans import axes_text

_SIGNS = {"times": "&times;", "dot": " &middot; ", "more": "&hellip;"}
_LONGEST = 90
_LONGEST_LINE = 160
_LONGEST_PROSE = 4_000
_BREAK = re.compile(r"(?<=[(),.=\]])(?=\w)")
_HOW = {"modelled": "modelled (ring)", "measured": "measured on this machine", "unknown": "unknown"}


def spans_html(spans: Spans, palette: Palette) -> str:
    """The spans joined."""
    return "".join(_span_html(span, palette) for span in spans)


def breakable_html(spans: Spans, palette: Palette) -> str:
    """The spans joined, with optional line breaks after punctuation in code, for narrow columns."""
    return "".join(_breakable(span.text) if isinstance(span, Code) else _span_html(span, palette) for span in spans)


def _breakable(code: str) -> str:
    parts = _BREAK.split(shorten(printable(code), _LONGEST_LINE))
    return f"<tt>{'<wbr>'.join(map(escape, parts))}</tt>"


def escaped(text: str, *, longest: int = _LONGEST) -> str:
    """Foreign text safe for HTML: characters without a shape made visible, shortened, escaped."""
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
            # take a style on each.
            code = f"<tt>{escaped(text)}</tt>"
            return f"<b>{code}</b>" if strong else code
        case AxisLabel(axes=axes, size=size):
            name = axes_text(axes).replace(" x ", " \u00d7 ")
            return chip_html(name if size is None else f"{name} {size}", palette.of(axes))
        case Number():
            return _number(span)
        case Prose():
            return "".join(_phrase(phrase, palette) for phrase in span.phrases)
        case SpecLabel(spec=spec, origins=origins):
            return _spec(spec, dict(origins), palette)
        case Sign(kind=kind):
            return _SIGNS[kind]
        case Bar(share=share, axes=axes):
            width = max(1, round(110 * share))
            style = f"background:{palette.of(axes)};width:{width}px;height:9px;display:inline-block"
            return f'<span style="{style}"></span>'


def _phrase(phrase: Phrase, palette: Palette) -> str:
    match phrase.kind:
        case "axis" if axis_name(phrase.text) in palette.axes:
            return chip_html(phrase.text, palette.of((axis_name(phrase.text),)))
        case "name" | "spec" | "code" | "axis" if not phrase.is_bare:
            return f"<tt>{escaped(phrase.text)}</tt>"
        case _:
            return escaped(phrase.text, longest=_LONGEST_PROSE)


def _spec(spec: tuple[SpecEntry, ...], origins: dict[str, str], palette: Palette) -> str:
    return f"<tt>P({', '.join(_spec_entry(entry, origins, palette) for entry in spec)})</tt>"


def _spec_entry(entry: SpecEntry, origins: dict[str, str], palette: Palette) -> str:
    if entry is None:
        return "None"
    axes = (entry,) if isinstance(entry, str) else entry
    chips = ", ".join(_spec_chip(axis, origins.get(axis_name(axis), ""), palette) for axis in axes)
    return chips if isinstance(entry, str) else f"({chips})"


def _spec_chip(axis: str, origin: str, palette: Palette) -> str:
    chip = chip_html(axis, palette.of((axis_name(axis),)))
    return f'<span title="from {escaped(origin.replace("`", ""), longest=300)}">{chip}</span>' if origin else chip


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
