"""The still twin of the playground: shown in notebooks without scripts, and in a page until its script runs.

The answer, every variant, memory against bytes, and the code to write. Not its job: lowering it to HTML
(`view.render`), the text form in a terminal (`view.pages.playground`).
"""

from __future__ import annotations

from pjit_inspect.model.play.variant import Variant
from pjit_inspect.view.document.chart import ScatterChart
from pjit_inspect.view.document.document import (
    Block,
    ChartSubject,
    Column,
    Document,
    Fold,
    Line,
    Listing,
    Number,
    Picture,
    Quote,
    Rest,
    Row,
    Spans,
    TableBlock,
    Text,
)
from pjit_inspect.view.document.quantities import bytes_number, bytes_text, plural, time_text
from pjit_inspect.view.play.given import PlayGiven
from pjit_inspect.view.play.history import Units, fits_words, memory_words, sent_words, time_words, units_of
from pjit_inspect.view.play.scatter import scatter_chart
from pjit_inspect.view.play.words import caveat_words, mesh_words, short_words
from pjit_inspect.view.svg.chart_parts import chart_sentence

_MOST_ROWS = 25
_FOOTER = (
    "sends: modelled (ring) from counted collectives. memory: XLA's own where it was compiled in full, else at least "
    "arguments and results. best: no other variant on as many devices beats it on both."
)


def play_still(given: PlayGiven) -> Document:
    """The last state as a document."""
    name = Quote(given.name, strong=True)
    title = (name, Text(" playground, last state. Never run: compiled ahead of time for "), Quote(_target(given)))
    blocks: list[Block] = [Line(title), Line(_answer(given), "answer")]
    if given.now.problem is not None:
        blocks.append(Line((Text("Problem: ", "strong"), Text(str(given.now.problem))), "note"))
    blocks.append(_table(given))
    chart = scatter_chart(given.history, against=given.against, donates=given.donates)
    if not chart.missing:
        blocks.append(Picture(subject=ChartSubject(chart=chart), alt=chart_sentence(chart), lines=_lines(chart)))
    blocks.append(Line((Text(_FOOTER),), "footer"))
    if given.code is not None and given.code.number == given.now.number:
        listing = Listing(tuple(given.code.text.splitlines()))
        blocks.append(Fold(summary=(Text("Code to write"),), blocks=(listing,)))
    return Document(axes=given.axes, blocks=tuple(blocks))


def _target(given: PlayGiven) -> str:
    return given.now.controls.target


def _answer(given: PlayGiven) -> Spans:
    """The figures of the variant, beside the base's."""
    now, base = given.now, given.base
    start = (Text(f"#{now.number} ", "strong"), Text(f"{short_words(now)}, on {plural(now.devices, 'device')}"))
    if now.stage == "refused":
        return (*start, Text(": refused"))
    if now.sent_bytes is None:
        return (*start, Text(": XLA has not answered"))
    other = "" if now is base or base.sent_bytes is None else f" (#{base.number}: {bytes_text(base.sent_bytes)})"
    least = "holds " if now.memory_source == "xla" else "holds at least "
    of = f" of {bytes_text(now.available_bytes)}" if now.available_bytes else ""
    time = () if now.time_s is None else (Text(f", at least {time_text(now.time_s[0] * 1e6)}"),)
    sent = bytes_number(now.sent_bytes, "modelled", strong=True)
    memory = bytes_number(now.memory_bytes, strong=True)
    return (
        *start,
        Text(": each sends "),
        sent,
        Text(f" per call{other}{caveat_words(now)}, {least}"),
        memory,
        Text(of),
        *time,
    )


def _table(given: PlayGiven) -> TableBlock:
    units = units_of(given.history)
    front = {row.number for row in given.history.front}
    rows = given.history.rows
    has_time = any(row.time_s is not None for row in rows)
    shown = [_row(row, units, given, has_time=has_time, is_front=row.number in front) for row in rows]
    titles = ["#", "mesh", f"sends {units[0]}", f"memory {units[1]}", f"time {units[2]}", "fits", "change"]
    columns = [
        Column(title=one, align="left" if one == "change" else "right", shrink=one == "change") for one in titles
    ]
    if not has_time:
        del columns[4]
    rest = shown[_MOST_ROWS:]
    more = Rest(summary=(Text(plural(len(rest), "more variant")),), rows=tuple(rest)) if rest else None
    return TableBlock(columns=tuple(columns), rows=tuple(shown[:_MOST_ROWS]), rest=more)


def _row(row: Variant, units: Units, given: PlayGiven, *, has_time: bool, is_front: bool) -> Row:
    strong = row.number == given.now.number
    mark = "\u25b2 " if row.stage == "refused" or row.fits is False else ""
    words = short_words(row, most=2)
    words = f"{row.name}: {words}" if row.name else words
    cells: list[Spans] = [
        (Number(str(row.number), strong=strong),),
        (Text(mesh_words(row.controls.mesh)),),
        (Number(sent_words(row, units[0]), provenance="modelled", strong=strong),),
        (Number(memory_words(row, units[1]), strong=strong),),
        (Number(time_words(row, units[2]), provenance="modelled", strong=strong),),
        (Text(f"{mark}{fits_words(row, is_front)}"),),
        # Last, as it may be longer than its room.
        (Text(words, "strong" if strong else "none"),),
    ]
    if not has_time:
        del cells[4]
    return Row(tuple(cells))


def _lines(chart: ScatterChart) -> tuple[str, ...]:
    return tuple("; ".join(point.words) for point in chart.points if point.is_best)


_TWIN = (
    # Only in the same cell, where a notebook marks its outputs: a copy of the notebook may be on the page, too.
    '<div><style>.jp-OutputArea:has([data-pjit-play="{key}"]) .pjit-play-{key},'
    'body:not(:has(.jp-OutputArea)):has([data-pjit-play="{key}"]) .pjit-play-{key}{{display:none}}'
    # Notebook 7 puts outputs of more than 100 lines into a box of 24 lines: here the box is as tall as the window.
    '.jp-CodeCell.jp-mod-outputsScrolled .jp-OutputArea:has([data-pjit-play="{key}"]){{max-height:92vh}}'
    # Sticky parts stick to the nearest scrolling box; these elements would be such boxes, and never scroll.
    ':is(.jp-OutputArea-child,.jp-OutputArea-output):has([data-pjit-play="{key}"]),'
    '.jp-CodeCell:not(.jp-mod-outputsScrolled) .jp-OutputArea:has([data-pjit-play="{key}"]){{overflow:visible}}</style>'
    '<div class="pjit-play-{key}">{still}</div></div>'
)


def twin_html(still: str, key: str) -> str:
    """The still HTML as a separate output under the widget, hidden while the page draws the widget.

    An untrusted notebook drops the style and does not draw the widget. `key` is one word of letters and digits.
    """
    return _TWIN.format(still=still, key=key)
