"""A playground and its history as text and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pjit_inspect.model.play.controls import ArgumentGroup, ConstraintControl, Controls, ResultControl
from pjit_inspect.model.play.variant import HistoryTable, MemorySource, Variant
from pjit_inspect.model.program.mesh import MeshAxes, spec_text
from pjit_inspect.view.document.columns import Compared, codes, compared_table, numbers, only_cells, spec_or, table_of
from pjit_inspect.view.document.document import (
    UNKNOWN,
    AxisLabel,
    Block,
    Cell,
    Column,
    Document,
    Line,
    Quote,
    Section,
    SpecLabel,
    TableBlock,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.notation import shape_text
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import bytes_number, plural, seconds_text, share_unit

_MOST_ROWS = 30
_MEMORY: dict[MemorySource | None, str] = {
    None: "unknown",
    "arguments": "arguments",
    "arguments and results": "arguments and results",
    "xla": "XLA, peak",
}
_STAGES = {
    "asked": "XLA is being asked",
    "arguments": "XLA is being asked",
    "partitioned": "counted as XLA's partitioner left it",
    "full": "compiled to the end",
    "refused": "cannot be",
}
_FOOTER = (
    "per device and call; sends: counted collectives as XLA's partitioner made them, bytes of a ring (modelled); "
    "work: products on each device against an equal share"
)


def playground_view(base: Variant, variant: Variant, history: HistoryTable, name: str) -> Document:
    """The selected variant beside the base, its controls, and the history."""
    controls = variant.controls
    sizes = dict(controls.mesh)
    mesh = MeshAxes(axis_names=tuple(sizes), shape=tuple(sizes.values()))
    blocks: list[Block] = [
        line(Quote(name, strong=True), "  playground: mesh ", str(mesh), f", {controls.target}"),
        line(f"variant {variant.number}: ", Quote(variant.title), f"; {_STAGES[variant.stage]}", role="answer"),
    ]
    if variant.problem is not None:
        blocks.append(line(strong("problem  "), Quote(str(variant.problem)), role="note"))
    blocks += [line(note, role="note") for note in _beside((base, variant))]
    blocks.append(_compared(base, variant))
    sections = {
        "arguments": _groups(controls.groups),
        "constraints": _constraints(controls) if controls.constraints else None,
        "results": _results(controls.results) if controls.results else None,
        "history": _history(history),
    }
    blocks += [Section(spans(title), (table,)) for title, table in sections.items() if table is not None]
    return Document(axes=history.axes, blocks=(*blocks, _footer(history)))


def history_view(history: HistoryTable, notes: Iterable[str] = ()) -> Document:
    """The table of variants, and notes on it."""
    blocks: list[Block] = [line(strong(plural(len(history), "variant")), role="answer"), _history(history)]
    blocks += [line(note, role="note") for note in (*notes, *_beside(history))]
    return Document(axes=history.axes, blocks=(*blocks, _footer(history)))


def _beside(variants: Iterable[Variant]) -> list[str]:
    """Other communication than HLO collectives, and the number of variants that have it."""
    counts = Counter(one.beside for one in variants if one.beside)
    return [f"{plural(n, 'variant')}: beside HLO collectives, {printable(words)}" for words, n in counts.items()]


def _footer(history: HistoryTable) -> Line:
    once = "; what is in loops of unknown length counts once" if any(row.runs_once for row in history) else ""
    return line(f"{_FOOTER}{once}", role="footer")


def _compared(base: Variant, variant: Variant) -> TableBlock:
    sent = [total.sent_bytes for one in (variant, base) for total in one.by_axis]
    unit = share_unit([*sent, variant.sent_bytes, base.sent_bytes])
    held = share_unit([variant.argument_bytes, base.argument_bytes, variant.memory_bytes, base.memory_bytes])
    rows = [
        Compared("collectives", variant.collectives, base.collectives),
        Compared(f"sends {unit}", variant.sent_bytes, base.sent_bytes, unit),
    ]
    ours, theirs = ({total.axes: total.sent_bytes for total in one.by_axis} for one in (variant, base))
    if variant.sent_bytes is not None and base.sent_bytes is not None:
        for axes in dict.fromkeys([*ours, *theirs]):
            rows.append(Compared(spans("  over ", AxisLabel(axes)), ours.get(axes, 0), theirs.get(axes, 0), unit))
    rows.append(Compared(f"arguments {held}", variant.argument_bytes, base.argument_bytes, held))
    if variant.memory_source == "xla":
        known = base.memory_bytes if base.memory_source == "xla" else None
        rows.append(Compared(f"memory {held}", variant.memory_bytes, known, held))
    elif variant.result_bytes is not None:
        rows.append(Compared(f"results {held}", variant.result_bytes, base.result_bytes, held))
    return compared_table(rows, "base")


def _groups(groups: Sequence[ArgumentGroup]) -> TableBlock:
    columns = (
        codes("", lambda group: group.label),
        Column("shape", _shape),
        Column("spec", lambda group: spec_or(group.spec, "left to XLA")),
        Column("on a device", lambda group: bytes_number(group.bytes_per_device), align="right"),
        Column("copies", lambda group: "" if group.copies is None else f"{group.copies:,}", align="right"),
        Column("", _group_note),
    )
    return _first_rows(columns, groups)


def _group_note(group: ArgumentGroup) -> Cell:
    if group.problem:
        return strong(group.problem)
    if group.follows is None:
        return None
    return spans(dim("cut loose from " if group.is_cut_loose else "follows "), Quote(group.follows))


def _results(results: Sequence[ResultControl]) -> TableBlock:
    """A table of results; set results come before those that XLA chooses."""

    def note(result: ResultControl) -> Cell:
        return strong(result.problem) if result.problem else dim("as XLA chooses") if result.is_free else None

    columns = (
        codes("", lambda result: result.label),
        Column("shape", _shape),
        Column("spec", lambda result: UNKNOWN if result.spec is None else SpecLabel(result.spec)),
        Column("on a device", lambda result: bytes_number(result.bytes_per_device), align="right"),
        Column("", note),
    )
    return _first_rows(columns, sorted(results, key=lambda result: result.is_free))


def _first_rows(columns: Sequence[Column], items: Sequence[Any]) -> TableBlock:
    table = table_of(columns, items[:_MOST_ROWS])
    if len(items) <= _MOST_ROWS:
        return table
    return replace(table, rows=(*table.rows, only_cells(columns, {0: f"{len(items) - _MOST_ROWS} more"})))


def _shape(group: ArgumentGroup | ResultControl) -> Quote:
    times = f"{len(group.paths)} x " if len(group.paths) > 1 else ""
    return Quote(f"{times}{group.dtype}{shape_text(group.shape)}")


def _constraints(controls: Controls) -> TableBlock:
    def spec(constraint: ConstraintControl) -> Cell:
        if not constraint.is_on:
            return "out"
        return "" if constraint.spec is None else SpecLabel(constraint.spec)

    columns = (
        codes("", lambda constraint: constraint.place),
        numbers("times", lambda constraint: constraint.count),
        Column("spec", spec),
        codes("asked for", lambda constraint: "" if constraint.asked is None else spec_text(constraint.asked)),
    )
    return table_of(columns, controls.constraints)


def _history(history: HistoryTable) -> TableBlock:
    rows = history.rows if len(history.rows) <= _MOST_ROWS else _most_telling(history)
    columns = (
        numbers("", lambda row: f"{'> ' if row.number == history.chosen else ''}{row.number}"),
        Column("what", _what),
        numbers("devices", lambda row: row.devices),
        Column("sends", lambda row: bytes_number(row.sent_bytes, "modelled"), align="right"),
        numbers("n", lambda row: "" if row.collectives is None else row.collectives),
        Column("memory", lambda row: bytes_number(row.memory_bytes), align="right"),
        Column("known by", lambda row: dim("refused" if row.stage == "refused" else _MEMORY[row.memory_source])),
        numbers("work", lambda row: "" if row.work is None else f"{row.work:.2f}"),
        numbers(
            "time",
            lambda row: "" if row.time_s is None else " - ".join(map(seconds_text, row.time_s)),
            "modelled",
        ),
        Column("fits", lambda row: {True: "yes", False: "no", None: ""}[row.fits]),
    )
    table = table_of(columns, rows)
    if len(rows) == len(history.rows):
        return table
    more = plural(len(history.rows) - len(rows), "more variant")
    return replace(table, rows=(*table.rows, only_cells(columns, {1: dim(more)})))


def _what(row: Variant) -> Quote:
    return Quote(row.problem.text if row.stage == "refused" and row.problem is not None else row.title)


def _most_telling(history: HistoryTable) -> list[Variant]:
    """The base, the selected variant, and those that send least, in order of their numbers."""
    known = sorted(
        (row for row in history if row.sent_bytes is not None and row.fits is not False),
        key=lambda row: (row.sent_bytes or 0, row.number),
    )
    numbers = {0, history.chosen, *(row.number for row in known[: _MOST_ROWS - 2])}
    return [row for row in history if row.number in numbers]
