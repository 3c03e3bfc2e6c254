"""The displays of a record's passes: text, the page under a cell, and the page in a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.guard import Guard
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.passes import PassTable
from pjit_inspect.parse.files.whole_file import write_whole
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.inspector.page import still_page
from pjit_inspect.view.passes.page import PassesInput, passes_frame, passes_page
from pjit_inspect.view.passes.passes import passes_view
from pjit_inspect.view.render.shown import Shown, drawn

if TYPE_CHECKING:
    from pjit_inspect.handles.asked.passes import Lines, PassSteps

_SOON = 30_000
"""Instructions, of all programs between passes together, whose text a display under a cell has."""
_MOST = 3_000_000
"""The same for a page in a file."""


def passes_shown(table: PassTable, data: RecordData, steps: PassSteps) -> Shown:
    """As `RecordPasses.show`."""
    bundle = drawn(passes_view(table, data.name, document_axes(data)))
    still = bundle["text/html"]

    def made() -> str | None:
        return passes_frame(_input(table, data, steps, bundle["text/plain"], most=_SOON), still)

    frame = Guard().run("the page of the passes", made, None)
    return Shown(bundle if frame is None else {**bundle, "text/html": frame})


def write_passes(table: PassTable, data: RecordData, steps: PassSteps, path: str | os.PathLike[str]) -> None:
    """As `RecordPasses.to_html`."""
    bundle = drawn(passes_view(table, data.name, document_axes(data)))
    guard, still = Guard(), bundle["text/html"]

    def made() -> str | None:
        return passes_page(_input(table, data, steps, bundle["text/plain"], most=_MOST), still=still)

    page = guard.run("the page of the passes", made, None)
    write_whole(path, page or still_page(data.name, still, why="".join(guard.failed.values())))


def _input(table: PassTable, data: RecordData, steps: PassSteps, text: str, *, most: int) -> PassesInput:
    lines, why = _lines(table, steps, most)
    return PassesInput(
        table=table,
        name=data.name,
        what=_what(data),
        axes=tuple((data.mesh.sizes if data.mesh else {}).items()),
        written=len(steps.written),
        lines=lines,
        no_lines=why,
        sources=data.sources,
        text=text,
    )


def _lines(table: PassTable, steps: PassSteps, most: int) -> tuple[dict[int, Lines], str]:
    """The instructions after each pass, and why there are none."""
    if not table.rows:
        return {}, "no pass changed the program"
    count = table[0].instructions_before + sum(row.instructions_after for row in table)
    if count > most:
        return {}, (
            f"The programs have {count:,} instructions together, whose text is not in this page. "
            'record.passes.to_html("passes.html") writes a page with it, and record.passes.changed(number) lists what a '
            "pass changed."
        )
    try:
        return {number: steps.lines(number) for number in (0, *(row.number for row in table))}, ""
    except (CaptureError, ParseError, RuntimeError) as error:
        return {}, f"There is no text of these programs: {error}"


def _what(data: RecordData) -> str:
    where = f" at {data.user_frame.where}" if data.user_frame else ""
    target = None if data.hypothesis is None else data.hypothesis.target
    devices = f"{len(data.devices)} {data.devices[0].platform} devices" if data.devices else "unknown devices"
    return f"{data.transform}{where}, compiled for {target or devices}"
