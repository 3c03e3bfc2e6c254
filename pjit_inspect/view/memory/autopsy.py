"""An out-of-memory report as text and page: XLA's largest buffers, buffers alive at the peak, possible remedies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pjit_inspect.model.memory.autopsy import Autopsy, ReportedValue
from pjit_inspect.model.memory.memory_use import MemoryUse
from pjit_inspect.view.document.columns import codes, numbers, places, sizes, spec_or, table_of
from pjit_inspect.view.document.document import Block, Code, Column, Section, Spans, Text, dim, line
from pjit_inspect.view.document.notation import shape_text
from pjit_inspect.view.document.quantities import bytes_text, plural
from pjit_inspect.view.memory.memory import live_table

_ROWS, _SUMS, _PADDED = 12, 8, 3


def autopsy_blocks(autopsy: Autopsy) -> list[Block]:
    """XLA's report joined to the program, and the program's buffers at its peak."""
    blocks: list[Block] = _sums(autopsy.shortage.sums)
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


def _sums(sums: Mapping[str, int]) -> list[Block]:
    shown = sorted(((size, key) for key, size in sums.items() if size), key=lambda pair: -pair[0])[:_SUMS]
    if not shown:
        return []
    return [line(f"XLA counts {', '.join(f'{key} {bytes_text(size)}' for size, key in shown)}")]


def _largest(rows: Sequence[ReportedValue]) -> Block:
    found = sum(row.is_found for row in rows)
    groups = list(Counter(replace(row, instruction="") for row in rows).items())
    table = table_of(
        _COLUMNS,
        groups,
        text_rows=_ROWS,
        rest=lambda hidden: f"and {len(groups) - _ROWS:,} more kinds",
    )
    words = f"XLA lists {plural(len(rows), 'buffer')}, of which {found:,} were found in the program"
    return Section((Text(words),), (*_sizes(rows), table))


def _sizes(rows: Sequence[ReportedValue]) -> list[Block]:
    """The shape of the largest buffer, and buffers that padding enlarges much: a narrow table has no room for them."""
    shaped = [row for row in rows if row.dtype]
    padded = [row for row in shaped if _is_padded(row)][:_PADDED]
    return [
        line(Code(row.dtype + shape_text(row.local_shape)), f" takes {bytes_text(row.bytes)}{_padding(row)}")
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
    return (Code(row.dtype + shape_text(row.local_shape)), Text(times)) if row.dtype else ()


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
