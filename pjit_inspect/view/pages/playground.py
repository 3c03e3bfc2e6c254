"""A playground and its history as text and tables.

Not its job: asking XLA, or the live controls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pjit_inspect.model.play.controls import ArgumentGroup, Controls, ResultControl
from pjit_inspect.model.play.variant import HistoryTable, MemorySource, Variant
from pjit_inspect.model.program.mesh import MeshAxes, spec_text
from pjit_inspect.view.document.document import (
    UNKNOWN,
    AxisLabel,
    Block,
    Code,
    Column,
    Document,
    Line,
    Number,
    Provenance,
    Row,
    Section,
    Spans,
    SpecLabel,
    Table,
    Text,
)
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import bytes_in, bytes_number, plural, seconds_text, share_unit

_MOST_ROWS = 30
_MEMORY: dict[MemorySource | None, str] = {
    None: "unknown",
    "arguments": "arguments",
    "arguments and results": "arguments and results",
    "xla": "XLA, peak",
}
_FOOTER = (
    "per device and call; sent: counted collectives as XLA's partitioner made them, bytes of a ring (modelled); "
    "work: products on each device against an equal share"
)


def playground_view(base: Variant, variant: Variant, history: HistoryTable, name: str) -> Document:
    """The selected variant beside the base, its controls, and the history."""
    controls = variant.controls
    blocks: list[Block] = [
        Line(
            (Code(name, strong=True), Text("  playground: mesh "), Text(_mesh(controls)), Text(f", {controls.target}"))
        ),
        Line((Text(f"variant {variant.number}: "), Code(variant.title), Text(f"; {_stage(variant)}")), "answer"),
    ]
    if variant.problem is not None:
        blocks.append(Line((Text("problem  ", "strong"), Code(str(variant.problem))), "note"))
    blocks += [Line((Text(note),), "note") for note in _beside((base, variant))]
    blocks += [
        _compared(base, variant),
        Section((Text("arguments"),), (_groups(controls.groups),)),
    ]
    if controls.constraints:
        blocks.append(Section((Text("constraints"),), (_constraints(controls),)))
    if controls.results:
        blocks.append(Section((Text("results"),), (_results(controls.results),)))
    blocks += [Section((Text("history"),), (_history(history),)), _footer(history)]
    return Document(blocks=tuple(blocks))


def history_view(history: HistoryTable, notes: Iterable[str] = ()) -> Document:
    """The table of variants, and notes on it."""
    blocks: list[Block] = [Line((Text(plural(len(history), "variant"), "strong"),), "answer"), _history(history)]
    blocks += [Line((Text(note),), "note") for note in (*notes, *_beside(history))]
    return Document(blocks=(*blocks, _footer(history)))


def _beside(variants: Iterable[Variant]) -> list[str]:
    """Other communication than HLO collectives, and the number of variants that have it."""
    counts = Counter(one.beside for one in variants if one.beside)
    return [f"{plural(n, 'variant')}: beside HLO collectives, {printable(words)}" for words, n in counts.items()]


def _footer(history: HistoryTable) -> Line:
    once = "; what is in loops of unknown length counts once" if any(row.runs_once for row in history) else ""
    return Line((Text(f"{_FOOTER}{once}"),), "footer")


def _mesh(controls: Controls) -> str:
    return str(
        MeshAxes(axis_names=tuple(name for name, _ in controls.mesh), shape=tuple(size for _, size in controls.mesh))
    )


def _stage(variant: Variant) -> str:
    return {
        "asked": "XLA is being asked",
        "arguments": "XLA is being asked",
        "partitioned": "counted as XLA's partitioner left it",
        "full": "compiled to the end",
        "refused": "cannot be",
    }[variant.stage]


def _compared(base: Variant, variant: Variant) -> Table:
    rows = [_figures("collectives", variant.collectives, base.collectives, "")]
    sent = [own.sent_bytes for one in (variant, base) for own in one.by_axis]
    unit = share_unit([*sent, variant.sent_bytes, base.sent_bytes])
    rows.append(_figures("sent", variant.sent_bytes, base.sent_bytes, unit, "modelled"))
    ours, theirs = ({own.axes: own.sent_bytes for own in one.by_axis} for one in (variant, base))
    for axes in dict.fromkeys([*ours, *theirs]):
        if variant.sent_bytes is not None and base.sent_bytes is not None:
            rows.append(_figures(AxisLabel(axes), ours.get(axes, 0), theirs.get(axes, 0), unit, "modelled"))
    held = share_unit([variant.argument_bytes, base.argument_bytes, variant.memory_bytes, base.memory_bytes])
    rows.append(_figures("arguments", variant.argument_bytes, base.argument_bytes, held))
    if variant.memory_source == "xla":
        known = base.memory_bytes if base.memory_source == "xla" else None
        rows.append(_figures("memory", variant.memory_bytes, known, held))
    elif variant.result_bytes is not None:
        rows.append(_figures("results", variant.result_bytes, base.result_bytes, held))
    columns = (
        Column(title=""),
        Column(title="this", align="right"),
        Column(title="base", align="right"),
        Column(title="change", align="right"),
    )
    return Table(columns=columns, rows=tuple(rows))


def _figures(
    title: str | AxisLabel, ours: int | None, theirs: int | None, unit: str, provenance: Provenance = "counted"
) -> Row:
    def figure(value: int | None) -> Number:
        if value is None:
            return Number("unknown", provenance="unknown")
        return Number(bytes_in(value, unit) if unit else f"{value:,}", unit, provenance)

    first: Spans = (Text("  "), title) if isinstance(title, AxisLabel) else (Text(title),)
    return Row((first, (figure(ours),), (figure(theirs),), (Text(_change(ours, theirs)),)))


def _change(ours: int | None, theirs: int | None) -> str:
    if ours is None or theirs is None or ours == theirs:
        return ""
    if not theirs:
        return "new"
    if not ours:
        return "gone"
    times = ours / theirs
    return f"x {times:.1f}" if times >= 3 else f"{(times - 1) * 100:+.0f} %"


def _groups(groups: Sequence[ArgumentGroup]) -> Table:
    columns = (
        Column(title=""),
        Column(title="shape"),
        Column(title="spec"),
        Column(title="on a device", align="right"),
        Column(title="copies", align="right"),
        Column(title=""),
    )
    rows = [_group(own) for own in groups[:_MOST_ROWS]]
    if len(groups) > _MOST_ROWS:
        rows.append(Row(((Text(f"{len(groups) - _MOST_ROWS} more"),), (), (), (), (), ())))
    return Table(columns=columns, rows=tuple(rows))


def _group(own: ArgumentGroup) -> Row:
    spec: Spans = (SpecLabel(own.spec),) if own.spec is not None else (Text("left to XLA", "dim"),)
    note: Spans = ()
    if own.problem:
        note = (Text(own.problem, "strong"),)
    elif own.follows is not None:
        note = (Text("cut loose from " if own.is_cut_loose else "follows ", "dim"), Code(own.follows))
    copies = "" if own.copies is None else f"{own.copies:,}"
    return Row(((Code(own.label),), (_shape(own),), spec, (bytes_number(own.bytes_per_device),), (Text(copies),), note))


def _results(results: Sequence[ResultControl]) -> Table:
    """A table of results; set results come before those that XLA chooses."""
    columns = Column(title=""), Column(title="shape"), Column(title="spec"), Column(title="on a device", align="right")
    shown = sorted(results, key=lambda own: own.is_free)
    rows = [_result(own) for own in shown[:_MOST_ROWS]]
    if len(results) > _MOST_ROWS:
        rows.append(Row(((Text(f"{len(results) - _MOST_ROWS} more"),), (), (), (), ())))
    return Table(columns=(*columns, Column(title="")), rows=tuple(rows))


def _result(own: ResultControl) -> Row:
    spec: Spans = (SpecLabel(own.spec),) if own.spec is not None else UNKNOWN
    note: Spans = (Text("as XLA chooses", "dim"),) if own.is_free else ()
    if own.problem:
        note = (Text(own.problem, "strong"),)
    return Row(((Code(own.label),), (_shape(own),), spec, (bytes_number(own.bytes_per_device),), note))


def _shape(own: ArgumentGroup | ResultControl) -> Code:
    times = f"{len(own.paths)} x " if len(own.paths) > 1 else ""
    return Code(f"{times}{own.dtype}[{','.join(map(str, own.shape))}]")


def _constraints(controls: Controls) -> Table:
    columns = Column(title=""), Column(title="times", align="right"), Column(title="spec"), Column(title="asked for")
    rows = [
        Row(
            (
                (Code(own.place),),
                (Number(f"{own.count:,}"),),
                (SpecLabel(own.spec),)
                if own.spec is not None and own.is_on
                else (Text("out" if not own.is_on else ""),),
                (Code("" if own.asked is None else spec_text(own.asked)),),
            )
        )
        for own in controls.constraints
    ]
    return Table(columns=columns, rows=tuple(rows))


def _history(history: HistoryTable) -> Table:
    rows = history.rows
    columns = (
        Column(title="", align="right"),
        Column(title="what"),
        Column(title="devices", align="right"),
        Column(title="sent", align="right"),
        Column(title="n", align="right"),
        Column(title="memory", align="right"),
        Column(title="known by"),
        Column(title="work", align="right"),
        Column(title="time", align="right"),
        Column(title="fits"),
    )
    shown = rows if len(rows) <= _MOST_ROWS else _most_telling(history)
    lines = [_variant(row, row.number == history.chosen) for row in shown]
    if len(shown) < len(rows):
        more = plural(len(rows) - len(shown), "more variant")
        lines.append(Row(((), (Text(more, "dim"),), *[()] * (len(columns) - 2))))
    return Table(columns=columns, rows=tuple(lines))


def _most_telling(history: HistoryTable) -> list[Variant]:
    """The base, the selected variant, and those that send least, in order of their numbers."""
    known = sorted(
        (row for row in history if row.sent_bytes is not None and row.fits is not False),
        key=lambda row: (row.sent_bytes or 0, row.number),
    )
    numbers = {0, history.chosen, *(row.number for row in known[: _MOST_ROWS - 2])}
    return [row for row in history if row.number in numbers]


def _variant(row: Variant, is_chosen: bool) -> Row:
    seconds = "" if row.time_s is None else f"{seconds_text(row.time_s[0])} - {seconds_text(row.time_s[1])}"
    fits = {True: "yes", False: "no", None: ""}[row.fits]
    title = row.problem.text if row.stage == "refused" and row.problem is not None else row.title
    return Row(
        (
            (Number(f"{'> ' if is_chosen else ''}{row.number}"),),
            (Code(title),),
            (Number(f"{row.devices:,}"),),
            (bytes_number(row.sent_bytes, "modelled"),),
            (Number("" if row.collectives is None else f"{row.collectives:,}"),),
            (bytes_number(row.memory_bytes),),
            (Text("refused" if row.stage == "refused" else _MEMORY[row.memory_source], "dim"),),
            (Number("" if row.work is None else f"{row.work:.2f}"),),
            (Number(seconds, provenance="modelled"),),
            (Text(fits),),
        )
    )
