"""The memory of one device, in text and as a page: how much, when, which buffers, and how it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pjit_inspect.model.memory.memory_use import LiveTable, LiveValue, MemoryUse
from pjit_inspect.model.record.record import MemoryStats, RecordData
from pjit_inspect.view.document.chart import AreaChart
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.columns import codes, numbers, places, sizes, spec_or, table_of
from pjit_inspect.view.document.document import (
    Block,
    ChartSubject,
    Code,
    Column,
    Document,
    Line,
    Picture,
    Span,
    Text,
)
from pjit_inspect.view.document.quantities import bytes_number, bytes_text, plural
from pjit_inspect.view.memory.groups import LiveGroup, group_live
from pjit_inspect.view.record.answer import title_line
from pjit_inspect.view.svg.chart_words import chart_sentence

_ROWS, _TEXT_ROWS, _FOLDED_ROWS = 16, 10, 80
_SUMS = 6


def memory_head(use: MemoryUse, data: RecordData) -> Document:
    """The compiled program, the answer, and how it is known."""
    blocks: list[Block] = [title_line(data), answer_line(use), *provenance_lines(use, data.memory)]
    return Document(axes=document_axes(data), blocks=tuple(blocks))


def memory_after(use: MemoryUse, data: RecordData, fit: str = "") -> Document:
    """The table of buffers alive at the peak, its sums, possible remedies, and whether it fits (`fit`, in words)."""
    title = "at the peak" if use.at is not None else "arguments and results"
    is_on_one = data.mesh is None and len(data.devices) == 1
    blocks: list[Block] = [live_table(use.live, title, specs=not is_on_one)]
    blocks += [line for name, sums in (("kind", use.by_kind), ("line", use.by_source)) for line in _sums(name, sums)]
    blocks += [Line((Text(one),)) for one in use.beside]
    blocks += [Line((Text("could help: "), Text(one.sentence))) for one in use.suggestions]
    blocks += [Line((Text(one),)) for one in fit.splitlines()]
    return Document(axes=document_axes(data), blocks=tuple(blocks))


def memory_page(head: Document, chart: AreaChart, after: Document) -> Document:
    """The whole display as a page, with the curve as a picture."""
    picture = () if chart.missing else (Picture(subject=ChartSubject(chart=chart), alt=chart_sentence(chart)),)
    notes = tuple(Line((Text(note, "dim"),)) for note in chart.notes) if picture else ()
    return Document(axes=head.axes, blocks=(*head.blocks, *picture, *notes, *after.blocks))


def answer_line(use: MemoryUse) -> Line:
    """The bytes alive at the peak, with its time and place."""
    if use.peak_bytes is None:
        return Line((Text("the peak is not known: ", "strong"), Text(use.missing)), role="answer")
    spans: list[Span] = [
        bytes_number(use.peak_bytes, use.source, strong=True),
        Text(f" alive at the peak on each device ({use.source})"),
    ]
    if use.at is not None:
        spans.append(Text(f": kernel {use.at.kernel:,} of {use.at.kernels:,}"))
        spans += [Text(f", {use.at.phase}")] if use.at.phase else []
        spans += [Text(", "), Code(use.at.source[0].where)] if use.at.source else []
    return Line(tuple(spans), role="answer")


def provenance_lines(use: MemoryUse, stats: MemoryStats | None) -> list[Block]:
    """XLA's sums, and how the rest is known."""
    lines: list[Block] = []
    if stats is not None:
        parts = [
            f"{bytes_text(size)} {what}"
            for size, what in (
                (stats.argument_bytes, "in"),
                (stats.output_bytes, "out"),
                (stats.temporary_bytes, "temporary"),
                (stats.host_temporary_bytes or None, "temporary in host memory"),
            )
            if size is not None
        ]
        shared = f", {bytes_text(stats.alias_bytes)} of it in donated arguments" if stats.alias_bytes else ""
        # CPUs have one memory, for which XLA has one sum.
        is_one = len(use.curves) > 1 and use.curves[0].name == "memory"
        included = "constants and host memory included" if is_one else "constants included"
        total = "" if use.total_bytes is None else f"; {bytes_text(use.total_bytes)} in all, {included}"
        lines.append(Line((Text(f"XLA reserves {', '.join(parts)}{shared}{total} (counted)"),)))
    inside = sum(row.bytes for row in use.live if row.lies_in)
    if inside:
        words = f"{bytes_text(inside)} of what is temporary at the peak lies in memory of results or donated arguments"
        lines.append(Line((Text(words, "dim"),)))
    if use.source == "modelled" and use.peak_bytes is not None:
        words = "modelled from the schedule and the shapes: XLA's own buffer assignment is not there"
        lines.append(Line((Text(words, "dim"),)))
    is_host_counted = stats is not None and bool(stats.host_temporary_bytes)
    for curve in use.curves[1:]:
        if curve.peak_bytes and not (curve.name == "host" and is_host_counted):
            words = f"{bytes_text(curve.peak_bytes)} alive at the peak in {curve.name} memory ({use.source})"
            lines.append(Line((Text(words, "dim"),)))
    if use.unknown:
        lines.append(Line((Text(f"{plural(use.unknown, 'buffer')} of unknown size, counted as nothing"),), role="note"))
    return lines


def live_table(live: LiveTable, title: str, *, specs: bool = True) -> Block:
    """Buffers alive together, with or without their specs; equal buffers of several layers share a row."""
    groups = group_live(live.rows)
    if not groups:
        return Line((Text("nothing is alive"),))
    return table_of(
        (
            numbers("n", lambda group: len(group.members)),
            codes(title, lambda group: group.name, shrink=True, comfort=40),
            Column("kind", lambda group: _kind(group.first)),
            *((Column("spec", lambda group: spec_or(group.first.spec), optional=True, shrink=True),) if specs else ()),
            sizes("each {unit}", lambda group: group.first.bytes),
            sizes("all", lambda group: group.bytes),
            Column("kernels", lambda group: f"{group.begins:,}-{group.ends:,}", align="right"),
            places("where", lambda group: group.first.source),
        ),
        groups,
        shown=_ROWS,
        text_rows=_TEXT_ROWS,
        folded=_FOLDED_ROWS,
        rest=_rest,
    )


def _kind(row: LiveValue) -> str:
    return row.kind if row.turns is None else f"{row.kind}, {row.turns:,} turns"


def _rest(groups: Sequence[LiveGroup]) -> str:
    number = sum(len(group.members) for group in groups)
    size = bytes_text(sum(group.bytes for group in groups))
    return f"{plural(number, 'more buffer')}, {size}; record.memory_use.live has all"


def _sums(name: str, sums: Mapping[str, int]) -> list[Line]:
    """One line with the largest sums."""
    if len(sums) < 2:
        return []
    shown = [(key or f"no {name}", size) for key, size in sums.items()][:_SUMS]
    rest = sum(list(sums.values())[_SUMS:])
    parts = [f"{key} {bytes_text(size)}" for key, size in shown] + ([f"other {bytes_text(rest)}"] if rest else [])
    return [Line((Text(f"by {name}: {', '.join(parts)}"),))]
