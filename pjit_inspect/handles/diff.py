"""Two records compared: the handle users hold.

Not its job: comparing (`analyze.diff`), laying it out (`view.diff`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar, Literal

from pjit_inspect.analyze.diff.diff import diff_programs
from pjit_inspect.analyze.diff.edits import find_requests
from pjit_inspect.analyze.diff.side import DiffSide
from pjit_inspect.analyze.diff.tables import diff_lowerings
from pjit_inspect.analyze.passes.apart import first_apart
from pjit_inspect.analyze.program.loops import find_running_instructions
from pjit_inspect.guard import Guard, gc_paused
from pjit_inspect.handles.analyses import Analyses
from pjit_inspect.model.diff.diff import DiffData, LoweringDiff
from pjit_inspect.model.diff.pairs import ArrayDiff, CollectiveDiff, KernelDiff, ShardingDiff, WarningDiff
from pjit_inspect.model.report.passes import PassTable
from pjit_inspect.model.words.sentence import Sentence
from pjit_inspect.parse.files.whole_file import write_whole
from pjit_inspect.parse.messages.stablehlo_operations import read_operations
from pjit_inspect.view.diff.as_json import diff_json
from pjit_inspect.view.diff.diff import diff_view
from pjit_inspect.view.diff.payload import (
    DiffInput,
    DiffPayload,
    DiffSideInput,
    compare_frame,
    compare_page,
    diff_page,
    diff_payload,
)
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.html import to_html
from pjit_inspect.view.render.shown import Shown, drawn
from pjit_inspect.view.render.text import to_text

DiffShown = Literal["text", "html"]


class Diff(Displayable):
    """The differences between two programs: rows joined in pairs, figures side by side, the answer first.

    In a notebook it displays itself. `bool(diff)` is True if anything differs.
    """

    def __init__(self, data: DiffData, programs: tuple[Analyses, Analyses] | None = None) -> None:
        self._programs = programs
        self.data = data
        """The frozen data under it: axes, figures, settings, source, parity, and notes too."""

    def with_data(self, data: DiffData) -> Diff:
        """The same two programs with other data of their comparison."""
        return Diff(data, self._programs)

    @property
    def sentence(self) -> Sentence:
        """The answer: the figures that rose, those that fell, and the causes, as far as facts prove them.

        If the two do not do the same work, it begins with these differences.
        """
        return self.data.sentence

    @property
    def is_empty(self) -> bool:
        """True if the counted figures, flags and versions are equal."""
        return self.data.is_empty

    @property
    def collectives(self) -> CollectiveDiff:
        """The collectives: `.added`, `.removed`, `.changed` (pairs), `.same` (number)."""
        return self.data.collectives

    @property
    def kernels(self) -> KernelDiff:
        """The fused kernels, joined by content."""
        return self.data.kernels

    @property
    def shardings(self) -> ShardingDiff:
        """The values before partitioning; empty where one of the programs does not know them."""
        return self.data.shardings

    @property
    def arguments(self) -> ArrayDiff:
        """The flattened arguments, joined by path."""
        return self.data.arguments

    @property
    def results(self) -> ArrayDiff:
        """The flattened results, joined by path."""
        return self.data.results

    @property
    def warnings(self) -> WarningDiff:
        """XLA's warnings."""
        return self.data.warnings

    def show(self, view: DiffShown = "html") -> Shown:
        """An object to display: the answer, the figures, and every row that was added, removed or changed.

        "html" is one page with both programs: lists, graph, causes and pictures before and after. Where no script
        may run, it is the still display. Raises ValueError for a view that is neither "text" nor "html".
        """
        if view not in ("text", "html"):
            raise ValueError(f"there is no view {view!r}; the views are text, html")
        document = diff_view(self.data)
        if view == "text":
            return Shown({"text/plain": to_text(document)})
        bundle = drawn(document)
        still = bundle["text/html"]
        frame = self._made(lambda payload: compare_frame(payload, still), bundle["text/plain"])
        return Shown(bundle if frame is None else {**bundle, "text/html": frame})

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the comparison as one HTML page that loads nothing: lists, graph, causes and pictures of both programs.

        Where no script may run, it shows the still display.
        """
        document = diff_view(self.data)
        still = to_html(document)
        page = self._made(lambda payload: compare_page(payload, still=still), to_text(document))
        page = diff_page(self.data, still) if page is None else page
        write_whole(path, page)

    def _made(self, make: Callable[[DiffPayload], str], text: str) -> str | None:
        """The result of `make` for the page's data; None if the programs are unavailable, or if it fails (reported)."""
        if self._programs is None:
            return None
        before, after = self._programs

        def made() -> str:
            given = DiffInput(data=self.data, before=_shown(before), after=_shown(after), text=text)
            return make(diff_payload(given))

        with gc_paused():
            return Guard().run("the page that compares two programs", made, None)

    def to_json(self) -> str:
        """The comparison as JSON: the answer, figures, and every row that was added, removed or changed."""
        return diff_json(self.data)

    def __str__(self) -> str:
        return to_text(diff_view(self.data))

    def __bool__(self) -> bool:
        return not self.is_empty

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Diff) and self.data == other.data

    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        state = "the same" if self.is_empty else repr(self.collectives)
        return f"<Diff {self.data.before.name} -> {self.data.after.name}: {state}>"


def diff_analyses(before: Analyses, after: Analyses) -> Diff:
    """Two records compared."""
    sides, lowering = (_side(before), _side(after)), _lowering(before, after)
    with gc_paused():
        data = diff_programs(*sides, lowering)
    one, two = _passes(before), _passes(after)
    if one is not None and two is not None:
        data = replace(data, notes=(*data.notes, first_apart(one, two)))
    return Diff(data, (before, after))


def _passes(own: Analyses) -> PassTable | None:
    """XLA's passes over a program; None if nobody asked for them."""
    return own.asked.passes if {"passes", "pass_steps"} & own.asked.known.keys() else None


def _lowering(before: Analyses, after: Analyses) -> LoweringDiff | None:
    """Both programs as JAX lowered them, where another JAX did; None where it is the same JAX, or one is not known."""
    versions = [own.data.versions.get("jax") for own in (before, after)]
    texts = before.stablehlo, after.stablehlo
    if versions[0] == versions[1] or None in versions or texts[0] is None or texts[1] is None:
        return None
    one, two = read_operations(texts[0]), read_operations(texts[1])
    return diff_lowerings((one.flows, two.flows), (one.alone, two.alone))


def _shown(analyses: Analyses) -> DiffSideInput:
    """The page's input for one program."""
    module = analyses.readable_hlo
    graph, why = analyses.graph_and_reason
    running = None if module is None else find_running_instructions(module)
    return DiffSideInput(report=analyses.report, running=running, graph=graph, no_graph=why)


def _side(analyses: Analyses) -> DiffSide:
    report = analyses.report
    names = analyses.names
    return DiffSide(
        report=report,
        module=analyses.readable_hlo,
        program=analyses.propagation,
        shardings=analyses.shardings,
        requests=() if names is None else find_requests(names),
        sources=(*analyses.sources, *report.data.sources),
        warnings=analyses.warnings,
    )
