"""The memory of one device, in text and as a page: how much, when, which buffers, and what an error says of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from pjit_inspect.model.memory.autopsy import Autopsy, ReportedValue
from pjit_inspect.model.memory.memory_use import LiveTable, LiveValue, MemoryCurve, MemoryUse
from pjit_inspect.model.record.record import MemoryStats, RecordData
from pjit_inspect.model.words.layers import scope_pattern
from pjit_inspect.view.document.chart import AreaChart
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.columns import codes, numbers, places, sizes, spec_or, table_of
from pjit_inspect.view.document.document import (
    Block,
    ChartSubject,
    Column,
    Document,
    Line,
    Picture,
    Quote,
    Section,
    Spans,
    Text,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.grouping import grouped, shared_name
from pjit_inspect.view.document.notation import shape_text
from pjit_inspect.view.document.quantities import byte_unit, bytes_in, bytes_number, bytes_text, plural
from pjit_inspect.view.record.answer import title_line
from pjit_inspect.view.svg.chart_parts import chart_sentence

_ROWS, _TEXT_ROWS, _FOLDED_ROWS = 16, 10, 80
_SUMS = 6
_CURVE_COLUMNS, _CURVE_ROWS = 72, 5

_Group = tuple[LiveValue, ...]
"""Buffers that differ only in their layer, and in when they are alive."""


def memory_head(use: MemoryUse, data: RecordData) -> Document:
    """The compiled program, the answer, and how it is known."""
    blocks: list[Block] = [title_line(data), answer_line(use), *provenance_lines(use, data.memory)]
    return Document(axes=document_axes(data), blocks=tuple(blocks))


def memory_after(use: MemoryUse, data: RecordData, fit: str = "") -> Document:
    """The table of buffers alive at the peak, its sums, possible remedies, and whether it fits (`fit`, in words)."""
    title = "at the peak" if use.at is not None else "arguments and results"
    is_on_one = data.mesh is None and len(data.devices) == 1
    blocks: list[Block] = [live_table(use.live, title, specs=not is_on_one)]
    blocks += [one for name, sums in (("kind", use.by_kind), ("line", use.by_source)) for one in _sums(name, sums)]
    blocks += [line(one) for one in use.beside]
    blocks += [line("could help: ", one.sentence) for one in use.suggestions]
    blocks += [line(one) for one in fit.splitlines()]
    return Document(axes=document_axes(data), blocks=tuple(blocks))


def memory_page(head: Document, chart: AreaChart, after: Document) -> Document:
    """The whole display as a page, with the curve as a picture."""
    picture = () if chart.missing else (Picture(subject=ChartSubject(chart=chart), alt=chart_sentence(chart)),)
    notes = tuple(line(dim(note)) for note in chart.notes) if picture else ()
    return Document(axes=head.axes, blocks=(*head.blocks, *picture, *notes, *after.blocks))


def answer_line(use: MemoryUse) -> Line:
    """The bytes alive at the peak, with its time and place."""
    if use.peak_bytes is None:
        return line(strong("the peak is not known: "), use.missing, role="answer")
    size, words = (
        bytes_number(use.peak_bytes, use.source, strong=True),
        f" alive at the peak on each device ({use.source})",
    )
    if use.at is None:
        return line(size, words, role="answer")
    place = spans(", ", Quote(use.at.source[0].where)) if use.at.source else None
    phase = f", {use.at.phase}" if use.at.phase else None
    return line(size, words, f": kernel {use.at.kernel:,} of {use.at.kernels:,}", phase, place, role="answer")


def provenance_lines(use: MemoryUse, stats: MemoryStats | None) -> list[Block]:
    """XLA's sums, and how the rest is known."""
    lines: list[Block] = [line(_reserved(use, stats))] if stats is not None else []
    inside = sum(row.bytes for row in use.live if row.lies_in)
    if inside:
        words = f"{bytes_text(inside)} of what is temporary at the peak lies in memory of results or donated arguments"
        lines.append(line(dim(words)))
    if use.source == "modelled" and use.peak_bytes is not None:
        lines.append(line(dim("modelled from the schedule and the shapes: XLA's own buffer assignment is not there")))
    is_host_counted = stats is not None and bool(stats.host_temporary_bytes)
    for curve in use.curves[1:]:
        if curve.peak_bytes and not (curve.name == "host" and is_host_counted):
            words = f"{bytes_text(curve.peak_bytes)} alive at the peak in {curve.name} memory ({use.source})"
            lines.append(line(dim(words)))
    if use.unknown:
        lines.append(line(f"{plural(use.unknown, 'buffer')} of unknown size, counted as nothing", role="note"))
    return lines


def _reserved(use: MemoryUse, stats: MemoryStats) -> str:
    """The memory that XLA reserves, in words."""
    sizes = {
        "in": stats.argument_bytes,
        "out": stats.output_bytes,
        "temporary": stats.temporary_bytes,
        "temporary in host memory": stats.host_temporary_bytes or None,
    }
    parts = ", ".join(f"{bytes_text(size)} {what}" for what, size in sizes.items() if size is not None)
    shared = f", {bytes_text(stats.alias_bytes)} of it in donated arguments" if stats.alias_bytes else ""
    # CPUs have one memory, for which XLA has one sum.
    is_one = len(use.curves) > 1 and use.curves[0].name == "memory"
    included = "constants and host memory included" if is_one else "constants included"
    total = "" if use.total_bytes is None else f"; {bytes_text(use.total_bytes)} in all, {included}"
    return f"XLA reserves {parts}{shared}{total} (counted)"


def _sums(name: str, sums: Mapping[str, int]) -> list[Line]:
    """One line with the largest sums."""
    if len(sums) < 2:
        return []
    parts = [f"{key or f'no {name}'} {bytes_text(size)}" for key, size in list(sums.items())[:_SUMS]]
    if rest := sum(list(sums.values())[_SUMS:]):
        parts.append(f"other {bytes_text(rest)}")
    return [line(f"by {name}: {', '.join(parts)}")]


def curve_lines(curve: MemoryCurve, peak: int) -> list[str]:
    """Memory over the schedule as text, with its scale on the left and a mark under the peak; [] if it is empty.

    A column is a run of kernels, and shows their maximum.

    Args:
      curve: the curve.
      peak: the kernel of the peak.
    """
    kernels = len(curve.bytes)
    count = min(_CURVE_COLUMNS, kernels)
    edges = [k * kernels // count for k in range(count + 1)] if count else []
    columns = [max(curve.bytes[start:end]) for start, end in pairwise(edges)]
    top = max(columns, default=0)
    if not top:
        return []

    def cell(value: int, row: int) -> str:
        height = value / top * _CURVE_ROWS
        return "#" if height >= row - 0.25 else "." if height > row - 1 else " "

    unit, lines = byte_unit(top), []
    for row in range(_CURVE_ROWS, 0, -1):
        figure = bytes_in(top * row // _CURVE_ROWS, unit).rjust(9)
        lines.append(f"{figure} {''.join(cell(value, row) for value in columns)}".rstrip())
    at = min(count - 1, peak * count // kernels)
    return [*lines, f"{unit.rjust(9)} {' ' * at}^ kernel {peak:,}"]


# ---------------------------------------------------------------- buffers alive together


def live_table(live: LiveTable, title: str, *, specs: bool = True) -> Block:
    """Buffers alive together, with or without their specs; equal buffers of several layers share a row."""
    groups = sorted(
        grouped(live.rows, group_key).values(), key=lambda group: (-_bytes(group), _begins(group), group_name(group))
    )
    if not groups:
        return line("nothing is alive")
    return table_of(
        (
            numbers("n", len),
            codes(title, group_name, shrink=True, comfort=40),
            Column("kind", lambda group: _kind(group[0])),
            *((Column("spec", lambda group: spec_or(group[0].spec), optional=True, shrink=True),) if specs else ()),
            sizes("each {unit}", lambda group: group[0].bytes),
            sizes("all", _bytes),
            Column("kernels", lambda group: f"{_begins(group):,}-{max(one.ends for one in group):,}", align="right"),
            places("where", lambda group: group[0].source),
        ),
        groups,
        shown=_ROWS,
        text_rows=_TEXT_ROWS,
        folded=_FOLDED_ROWS,
        rest=_rest,
    )


def group_key(row: LiveValue) -> Hashable:
    """The key that buffers of one group share: all but layer and time."""
    place = (row.source[0].file, row.source[0].line) if row.source else None
    return scope_pattern(row.name), row.kind, row.bytes, row.spec, row.dtype, row.local_shape, row.turns, place


def group_name(members: Sequence[LiveValue]) -> str:
    """The name of a group: layer numbers are starred when there are several."""
    return shared_name((member.name for member in members), scope_pattern)


def _bytes(group: _Group) -> int:
    """Bytes of all members, on one device."""
    return sum(member.bytes for member in group)


def _begins(group: _Group) -> int:
    """The first kernel at which any is alive."""
    return min(member.begins for member in group)


def _kind(row: LiveValue) -> str:
    return row.kind if row.turns is None else f"{row.kind}, {row.turns:,} turns"


def _rest(groups: Sequence[_Group]) -> str:
    size = bytes_text(sum(map(_bytes, groups)))
    return f"{plural(sum(map(len, groups)), 'more buffer')}, {size}; record.memory_use.live has all"


# ---------------------------------------------------------------- an error of a memory that was too small

_REPORT_ROWS, _REPORT_SUMS, _PADDED = 12, 8, 3


def autopsy_blocks(autopsy: Autopsy) -> list[Block]:
    """XLA's report joined to the program, and the program's buffers at its peak."""
    blocks: list[Block] = _autopsy_sums(autopsy.shortage.sums)
    if autopsy.largest.rows:
        blocks.append(_largest(autopsy.largest.rows))
    if autopsy.use is not None:
        blocks += peak_blocks(autopsy.use)
    return blocks


def peak_blocks(use: MemoryUse) -> list[Block]:
    """The buffers alive at a program's peak, and possible remedies."""
    if not use.live.rows:
        return []
    peak = "" if use.peak_bytes is None else f": {bytes_text(use.peak_bytes)} at the peak ({use.source})"
    title = f"what each device holds{peak}" if peak else "what each device holds at least: arguments and results"
    helps = [line("could help: ", one.sentence) for one in use.suggestions]
    return [Section((Text(title),), (live_table(use.live, "at the peak" if peak else "array"), *helps))]


def _autopsy_sums(sums: Mapping[str, int]) -> list[Block]:
    shown = sorted(((size, key) for key, size in sums.items() if size), key=lambda pair: -pair[0])[:_REPORT_SUMS]
    if not shown:
        return []
    return [line(f"XLA counts {', '.join(f'{key} {bytes_text(size)}' for size, key in shown)}")]


def _largest(rows: Sequence[ReportedValue]) -> Block:
    found = sum(row.is_found for row in rows)
    groups = list(Counter(replace(row, instruction="") for row in rows).items())
    table = table_of(
        _COLUMNS,
        groups,
        text_rows=_REPORT_ROWS,
        rest=lambda hidden: f"and {len(groups) - _REPORT_ROWS:,} more kinds",
    )
    words = f"XLA lists {plural(len(rows), 'buffer')}, of which {found:,} were found in the program"
    return Section((Text(words),), (*_sizes(rows), table))


def _sizes(rows: Sequence[ReportedValue]) -> list[Block]:
    """The shape of the largest buffer, and buffers that padding enlarges much: a narrow table has no room for them."""
    shaped = [row for row in rows if row.dtype]
    padded = [row for row in shaped if _is_padded(row)][:_PADDED]
    return [
        line(Quote(row.dtype + shape_text(row.local_shape)), f" takes {bytes_text(row.bytes)}{_padding(row)}")
        for row in dict.fromkeys((*shaped[:1], *padded))
    ]


def _is_padded(row: ReportedValue) -> bool:
    return row.unpadded_bytes is not None and row.bytes >= 1.5 * row.unpadded_bytes > 0


def _padding(row: ReportedValue) -> str:
    plain = row.unpadded_bytes
    if not plain or not _is_padded(row):
        return ""
    extra = bytes_text(row.bytes - plain)
    return f", {extra} of it padding of tiles: {row.bytes / plain:.1f} times the {bytes_text(plain)} of its elements"


def _shape(row: ReportedValue) -> Spans:
    times = f", {row.bytes / row.unpadded_bytes:.1f} x by padding" if _is_padded(row) and row.unpadded_bytes else ""
    return (Quote(row.dtype + shape_text(row.local_shape)), Text(times)) if row.dtype else ()


_COLUMNS = (
    numbers("n", lambda counted: counted[1]),
    codes("largest in XLA's report", lambda counted: counted[0].name, shrink=True, comfort=40),
    Column("kind", lambda counted: counted[0].kind or dim("not known")),
    Column("spec", lambda counted: spec_or(counted[0].spec), optional=True, shrink=True),
    Column("each device", lambda counted: _shape(counted[0]), optional=True),
    sizes("each {unit}", lambda counted: counted[0].bytes),
    places("where", lambda counted: counted[0].source),
)
"""Columns of equal buffers: one of them, and their number."""
