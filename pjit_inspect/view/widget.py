"""A live view of one record with ipywidgets: tabs, a filter by axis, and the groups of the collective one selects.

Not its job: what a record's display says (`view.record_view`); a picture for a notebook without a kernel (`view.html`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pjit_inspect.model.report import RecordReport
from pjit_inspect.view.answer_view import axis_span
from pjit_inspect.view.arrays_view import array_blocks
from pjit_inspect.view.cause_groups import group_by_cause
from pjit_inspect.view.collectives_view import CollectiveGroup, group_collectives, source_line
from pjit_inspect.view.findings import finding_of
from pjit_inspect.view.html import to_html, to_pre
from pjit_inspect.view.kernels_view import kernel_blocks
from pjit_inspect.view.notation import groups_text, shape_text
from pjit_inspect.view.printable import printable, shorten
from pjit_inspect.view.quantities import bytes_text, plural
from pjit_inspect.view.record_view import ViewOptions, document_axes, record_view
from pjit_inspect.view.text_spans import axes_text
from pjit_inspect.view.tree import Block, Code, Document, Line, MeshSubject, Picture, Sign, Spans, Text

__all__ = ["record_widget"]

_EVERY_AXIS = "every axis"


def record_widget(report: RecordReport, texts: Mapping[str, str] | None = None) -> Any:
    """A widget with the tabs Summary, Arrays, Collectives, Kernels and one per text (title -> text).

    Its text form is one line of facts without id or time; its HTML form is the static display, for a notebook that is
    read without a kernel.
    """
    import ipywidgets

    summary = record_view(report, options=ViewOptions(show_times=False))

    class RecordTabs(ipywidgets.Tab):
        def __repr__(self) -> str:
            return _one_line(report)

        def _repr_mimebundle_(self, **kwargs: Any) -> Any:
            bundle = super()._repr_mimebundle_(**kwargs)
            return None if bundle is None else {**bundle, "text/plain": repr(self), "text/html": to_html(summary)}

    pages = {"Summary": ipywidgets.HTML(to_html(summary))}
    pages["Arrays"] = _page(ipywidgets, report, array_blocks(report.data))
    if report.collectives:
        pages["Collectives"] = _collectives(ipywidgets, report)
    pages["Kernels"] = _page(ipywidgets, report, kernel_blocks(report))
    for title, text in (texts or {}).items():
        pages[title] = ipywidgets.HTML(to_pre(text))
    return RecordTabs(children=tuple(pages.values()), titles=tuple(pages))


def _one_line(report: RecordReport) -> str:
    name = shorten(printable(report.data.name), 60)
    number = "unknown collectives" if report.collectives is None else plural(len(report.collectives), "collective")
    return f"<pjit_inspect widget: {name}, {number}>"


def _page(ipywidgets: Any, report: RecordReport, blocks: list[Block]) -> Any:
    return ipywidgets.HTML(_html(report, tuple(blocks) or (Line((Text("nothing to show"),)),)))


def _html(report: RecordReport, blocks: tuple[Block, ...]) -> str:
    return to_html(Document(axes=document_axes(report.data), blocks=blocks))


def _collectives(ipywidgets: Any, report: RecordReport) -> Any:
    """A filter by axis, the list it leaves, and the details of the selected row."""
    groups = group_collectives(report.collectives or ())
    names = dict.fromkeys(axes_text(group.first.axes) for group in groups)
    axis = ipywidgets.Dropdown(options=[_EVERY_AXIS, *names], description="over")
    wide = ipywidgets.Layout(width="98%")
    rows = ipywidgets.Select(options=_options(groups, _EVERY_AXIS), rows=10, layout=wide)
    details = ipywidgets.HTML()

    def show(_: object = None) -> None:
        details.value = "" if rows.value is None else _html(report, _details(report, groups[rows.value]))

    def narrow(_: object) -> None:
        rows.options = _options(groups, axis.value)
        show()

    axis.observe(narrow, names="value")
    rows.observe(show, names="value")
    show()
    return ipywidgets.VBox([axis, rows, details])


def _options(groups: tuple[CollectiveGroup, ...], axis: str) -> list[tuple[str, int]]:
    """What the list shows of each collective, and its number."""
    return [
        (f"{number + 1:>3}  {_title(group)}", number)
        for number, group in enumerate(groups)
        if axis in (_EVERY_AXIS, axes_text(group.first.axes))
    ]


def _title(group: CollectiveGroup) -> str:
    times = f"{len(group.members)} x " if len(group.members) > 1 else ""
    place = f", {group.first.source[0].where}" if group.first.source else ""
    words = f"{times}{group.first.kind} over {axes_text(group.first.axes)}: {bytes_text(group.sent_bytes)} sent"
    return shorten(printable(f"{words}{place}  {group.what}"), 140)


def _details(report: RecordReport, group: CollectiveGroup) -> tuple[Block, ...]:
    first = group.first
    runs = "an unknown number of times" if group.runs is None else plural(group.runs, "time")
    title: Spans = (
        Code(first.kind, strong=True),
        Text(" over "),
        axis_span(first.axes, report.data),
        Text(f", {runs} per call"),
    )
    sizes = f"payload {bytes_text(group.payload_bytes)} (counted), wire {bytes_text(group.sent_bytes)} (modelled: ring)"
    blocks: list[Block] = [Line(title), Line((Text(f"{sizes}, per device and call"),))]
    if first.causes:
        blocks += [finding_of(report, reasons, is_open=True) for reasons in group_by_cause(group.members)]
    blocks.append(Line((Text("moves "), Code(f"{first.dtype}{shape_text(first.local_shape)}"), *_more_operands(group))))
    blocks.append(Line((Text("groups "), Code(groups_text(first.groups, limit=16)))))
    for frame in first.source:
        line = source_line(report.data, (frame,))
        source: Spans = (Text("  "), Code(line)) if line else ()
        blocks.append(Line((Text("at "), Code(frame.where), *source)))
    mesh = report.data.mesh
    if mesh is not None and mesh.size > 1 and first.groups:
        blocks.append(
            Line((Text("the first group on the mesh"), Sign("dot"), Text(plural(len(first.groups), "group"))))
        )
        lit = MeshSubject(mesh=mesh, groups=(first.groups[0],))
        blocks.append(Picture(subject=lit, alt=f"Devices {groups_text(first.groups[:1])} of the mesh"))
    return tuple(blocks)


def _more_operands(group: CollectiveGroup) -> Spans:
    more = group.first.operands - 1
    return (Text(f" and {plural(more, 'array')} more in one"),) if more else ()
