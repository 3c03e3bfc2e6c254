"""The display of one compilation: a report becomes a view tree.

It answers questions in their natural order: the compiled program, the reason for a recompile, communication, advice,
axes, each collective, the devices' slices, each fused kernel, oddities, times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.guard import Guard
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.document import Block, Document, Legend, LegendEntry, Line, Quote, line
from pjit_inspect.view.document.quantities import seconds_text
from pjit_inspect.view.record.advice import advice_head
from pjit_inspect.view.record.answer import (
    answer_line,
    hypothesis_blocks,
    memory_line,
    overview_blocks,
    reason_blocks,
    reason_text,
    title_line,
)
from pjit_inspect.view.record.arrays import array_blocks
from pjit_inspect.view.record.collectives import collective_blocks
from pjit_inspect.view.record.kernels import callback_lines, kernel_blocks, measured_lines, times_blocks

_CACHED = {
    "memory": "JAX already held the executable",
    "persistent": "the executable came from the compilation cache on disk",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """Options of a display.

    Attributes:
      show_times: show compile times, measured times, and the reason for a recompile. All depend on the session, so a
        notebook whose outputs are compared leaves them out.
    """

    show_times: bool = True


def record_view(
    report: RecordReport, *, options: ViewOptions | None = None, misfit: Callable[[], Sequence[Block]] = tuple
) -> Document:
    """The display of one record. A part that fails costs the others nothing, and is named at the end.

    `misfit` makes the blocks that explain why a program does not fit.
    """
    data, guard = report.data, Guard()
    show_times = (options or ViewOptions()).show_times
    report = report if show_times else replace(report, time=None)
    parts: dict[str, Callable[[], Sequence[Block]]] = {
        "the head": lambda: [title_line(data)],
        "the reason": lambda: reason_blocks(data.reason) if show_times else (),
        "the question": lambda: hypothesis_blocks(report, show_times=show_times),
        "what does not fit": misfit,
        "the answer": lambda: [answer_line(report)],
        "the measured times": lambda: measured_lines(data) if show_times else (),
        "the advice": lambda: advice_head(report.advice),
        "the overview": lambda: overview_blocks(report),
        "the memory": lambda: memory_line(data),
        "the callbacks": lambda: callback_lines(report),
        "the collectives": lambda: collective_blocks(report),
        "the arrays": lambda: array_blocks(data),
        "the legend": lambda: _legend(report),
        "the kernels": lambda: kernel_blocks(report),
        "the times of kernels": lambda: times_blocks(report) if show_times else (),
        "the notes": lambda: _notes(report, show_times=show_times),
        "the footer": lambda: [_footer(report)],
        "the times": lambda: [times_line(data)] if show_times and data.hypothesis is None else (),
    }
    blocks = [block for name, make in parts.items() for block in guard.run(f"{name} of a display", make, ())]
    blocks += [line(f"{name} failed: ", Quote(reason), role="note") for name, reason in guard.failed.items()]
    return Document(axes=document_axes(data), blocks=tuple(blocks))


def times_line(data: RecordData) -> Line:
    """Seconds of each stage, as measured on this machine."""
    times = data.timings
    stages = (("trace", times.trace_s), ("lower", times.lower_s), ("compile", times.compile_s))
    seen = any(seconds is not None for _, seconds in stages)
    words = ", ".join(f"{name} {seconds_text(seconds)}" for name, seconds in stages) if seen else "seconds unknown"
    cached = f"; {_CACHED[data.cached]}" if data.cached else ""
    return line(f"{words}{' (measured)' if seen else ''}{cached}", role="footer")


def _legend(report: RecordReport) -> list[Block]:
    """The legend of this record's pictures."""
    data = report.data
    every = dict.fromkeys(layout.sharding for layout in (*data.inputs, *data.outputs))
    shardings = [sharding for sharding in every if sharding is not None]
    if not shardings:
        return []
    entries = [LegendEntry("device", "devices that hold the block")]
    axes = () if data.mesh is None else data.mesh.axis_names
    if axes:
        entries.append(LegendEntry("axis", "mesh axis a dimension is split over", axes[:4]))
    if len(axes) > 1:
        entries.append(LegendEntry("several", "axes", axes[:2]))
    entries.append(LegendEntry("none", "not split"))
    if len(data.devices) > 1:
        entries.append(LegendEntry("copies", "copies on several devices"))
    partial = next((sharding.unreduced for sharding in shardings if sharding.unreduced), ())
    if partial:
        entries.append(LegendEntry("partial", "partial sums", partial))
    if data.mesh is not None and report.totals:
        entries.append(LegendEntry("link", "link, as thick as the root of what it sends"))
    return [Legend(tuple(entries))]


def _notes(report: RecordReport, *, show_times: bool) -> list[Block]:
    notes: list[Block] = [line(note, role="note") for note in report.notes]
    said = set() if show_times else {"kernel_times"}
    said |= {field for field in ("inputs", "outputs") if not getattr(report.data, field)}
    # The table at the head shows them as unknown, and how to get them.
    said |= {"cost", "memory"} if report.data.is_partial else set()
    said |= {"hlo"} if report.collectives is None or report.incomplete else set()
    for mesh in report.data.meshes[1:]:
        notes.append(line("the program also uses the mesh ", Quote(str(mesh)), role="note"))
    for field, reason in sorted(report.data.missing.items()):
        if field in said:
            continue
        notes.append(line(f"{field} unknown: {reason_text(reason)}", role="note"))
    return notes


def _footer(report: RecordReport) -> Line:
    there = ", of the part that is there" if report.incomplete else ""
    if not report.collectives:
        return line(f"bytes counted, per device{there}", role="footer")
    more = any(len(row.groups) > 2 for row in report.collectives)
    signs = "n = times per call" + (", +3 = three more groups" if more else "")
    return line(f"sends: modelled (ring), per device{there}; {signs}", role="footer")
