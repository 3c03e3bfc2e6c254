"""XLA's passes over a record's program as users hold them, with their displays: text, the page in a cell, in a file.

Not its job: the programs between passes (`handles.asked.pass_steps`), or the layout (`view.passes`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from pjit_inspect.errors import CaptureError, ParseError
from pjit_inspect.guard import Guard
from pjit_inspect.handles.asked.pass_steps import Lines, PassSteps
from pjit_inspect.handles.exports import OfRecord
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.passes import ChangedLine, PassTable
from pjit_inspect.parse.files.whole_file import write_whole
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.inspector.page import still_page
from pjit_inspect.view.passes.page import PassesInput, passes_frame, passes_page
from pjit_inspect.view.passes.passes import passes_view
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn

_SOON = 80_000
"""Instructions, of all programs between passes together, whose text a display under a cell has."""
_MOST = 3_000_000
"""The same for a page in a file."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordPasses(OfRecord, Displayable, PassTable):
    """The passes over a record's program."""

    _data: RecordData = field(kw_only=True)
    _steps: PassSteps = field(kw_only=True)

    def show(self) -> Shown:
        """An object to display: these passes, the life of every collective, and in a notebook what each changed."""
        bundle = drawn(self._view())
        still = bundle["text/html"]

        def made() -> str | None:
            return passes_frame(self._input(bundle["text/plain"], most=_SOON), still)

        frame = Guard().run("the page of the passes", made, None)
        return Shown(bundle if frame is None else {**bundle, "text/html": frame})

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the page of these passes as one HTML file that loads nothing from a network.

        It has the text of every program between passes; of a program of many layers, that is some MB.
        """
        bundle = drawn(self._view())
        guard, still = Guard(), bundle["text/html"]

        def made() -> str | None:
            return passes_page(self._input(bundle["text/plain"], most=_MOST), still=still)

        page = guard.run("the page of the passes", made, None)
        write_whole(path, page or still_page(self._data.name, still, why="".join(guard.failed.values())))

    def changed(self, number: int, since: int | None = None) -> tuple[ChangedLine, ...]:
        """The instructions that differ between the program after pass `number` and the one after `since`.

        `since` is by default the pass before; 0 is the program before all passes. In the order of the later program,
        then those that are gone. Raises ValueError for a number that XLA did not dump.
        """
        steps = self._steps
        known = [0, *(row.number for row in self)]
        before = max((own for own in known if own < number), default=0) if since is None else since
        for own in (number, before):
            if not 0 <= own < len(steps.written):
                raise ValueError(f"there is no pass {own}; the numbers are those of record.passes, and 0")
        return steps.changed(before, number)

    def _view(self) -> Document:
        return passes_view(self, self._data.name, document_axes(self._data))

    def _input(self, text: str, *, most: int) -> PassesInput:
        lines, why = _lines(self, self._steps, most)
        data = self._data
        return PassesInput(
            table=self,
            name=data.name,
            what=_what(data),
            axes=tuple((data.mesh.sizes if data.mesh else {}).items()),
            written=len(self._steps.written),
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
            'record.passes.to_html("passes.html") writes a page with it, and record.passes.changed(number) lists what '
            "a pass changed."
        )
    try:
        known: dict[str, tuple[str, str]] = {}
        return {number: steps.lines(number, known) for number in (0, *(row.number for row in table))}, ""
    except (CaptureError, ParseError, RuntimeError) as error:
        return {}, f"There is no text of these programs: {error}"


def _what(data: RecordData) -> str:
    where = f" at {data.user_frame.where}" if data.user_frame else ""
    target = None if data.hypothesis is None else data.hypothesis.target
    devices = f"{len(data.devices)} {data.devices[0].platform} devices" if data.devices else "unknown devices"
    return f"{data.transform}{where}, compiled for {target or devices}"
