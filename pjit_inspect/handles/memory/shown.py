"""A record's memory as it is shown: text, a page, the inspector's pane, and the chips it may fit.

Not its job: finding live values (`analyze.memory`), or drawing them (`view.memory`).
"""

from __future__ import annotations

from pjit_inspect.errors import ChangeError
from pjit_inspect.guard import Guard
from pjit_inspect.handles.analyses import Analyses
from pjit_inspect.handles.memory.fits import fit_of, own_chip
from pjit_inspect.model.memory.fit import MemoryFit
from pjit_inspect.view.charts.memory_curve import memory_curve_chart
from pjit_inspect.view.memory.memory import curve_lines, memory_after, memory_head, memory_page
from pjit_inspect.view.memory.payload import MemoryInput, memory_payload
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.shown import Shown
from pjit_inspect.view.render.text import to_text

_USUAL = ("tpu:v5e", "tpu:v6e", "tpu:v5p", "cuda:h100")
"""Chips to compare with for a program that is for none of them."""


def memory_shown(analyses: Analyses) -> Shown:
    """Live values in memory: text with a curve, and a page."""
    use, data = analyses.memory_use, analyses.report.data
    chip = own_chip(data)
    fit = str(fit_of(data, use, chip)) if chip else ""
    head, after = memory_head(use, data), memory_after(use, data, fit)
    lines = [] if use.curve is None or use.at is None else curve_lines(use.curve, use.at.kernel)
    text = "\n".join([to_text(head), *lines, to_text(after)])
    chart = memory_curve_chart(use, analyses.memory_timelines)
    return Shown({"text/plain": text, "text/html": to_html(memory_page(head, chart, after))})


def memory_blob(analyses: Analyses) -> bytes:
    """The data of the inspector's pane; b"" where they cannot be made."""

    def made() -> bytes:
        use = analyses.memory_use
        given = MemoryInput(
            use=use,
            timelines=analyses.memory_timelines,
            data=analyses.report.data,
            fits=_fits(analyses),
            own_chip=own_chip(analyses.report.data) != "",
        )
        return memory_payload(given)

    return Guard().run("the memory pane", made, b"")


def _fits(analyses: Analyses) -> tuple[MemoryFit, ...]:
    """The room of the program on its chip, or on the usual ones; () if its arguments are unknown."""
    data, found = analyses.report.data, []
    if "inputs" in data.missing:
        return ()
    own = own_chip(data)
    for target in (own,) if own else _USUAL:
        try:
            found.append(fit_of(data, analyses.memory_use, target))
        except ChangeError:  # a chip whose memory nobody knows
            continue
    return tuple(found)
