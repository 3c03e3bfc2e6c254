"""The display of a comparison: the answer, the figures, then every row that was added, removed or changed.

Equal rows of several layers are one line with their number. Not its job: comparing (`analyze.diff`), the columns of the
rows (`view.diff.kinds`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pjit_inspect.model.diff.diff import AxisDiff, DiffData, Figure, LoweringDiff, Setting, SideFacts, Stages
from pjit_inspect.model.diff.pairs import PairTable
from pjit_inspect.model.words.sentence import Sentence, code, say
from pjit_inspect.view.diff.kinds import LISTS, ListKind, sized_rows, text_columns
from pjit_inspect.view.diff.status import counts_once, figure_words
from pjit_inspect.view.document.columns import codes, more_lines, numbers, sizes, table_of
from pjit_inspect.view.document.document import (
    AxisLabel,
    Beside,
    Block,
    Column,
    Document,
    Prose,
    Quote,
    Section,
    Sign,
    Spans,
    TableBlock,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.quantities import change_words, count_text, share_unit
from pjit_inspect.view.document.text_spans import joined_spans
from pjit_inspect.view.record.answer import mesh_spans

_ROWS = 24
_OPERATIONS = 16
_NOTED = 4
FIGURES = (
    "sent",
    "temporary memory",
    "arguments",
    "kernels",
    "kernels read and write",
    "matrix products",
    "compiling",
)
_STAGE_FIGURES = ("sent", "collectives", "temporary memory", "kernels", "kernels read and write", "matrix products")


def diff_view(data: DiffData) -> Document:
    """All differences, most important first."""
    blocks: list[Block] = []
    if data.parity:
        blocks.append(line(strong("Not the same work: "), joined_spans(map(Prose, data.parity), "; "), role="note"))
    blocks += [line(title_spans(data), role="title"), line(Prose(data.answer), role="answer")]
    blocks.append(Beside(tuple(table for table in (_figures(data), _axes(data)) if table.rows)))
    blocks += _stages(data)
    for name, kind in LISTS.items():
        blocks += _list(name, kind, getattr(data, name), data)
    blocks += _settings(data) + _source(data)
    blocks += [line(Prose(note), role="note") for note in data.notes]
    words = "sends: modelled (ring); seconds are measured, the rest is counted; bytes and FLOP are per device and call"
    if counts_once(data.collectives, data.kernels):
        words += "; what is in loops of unknown length counts once"
    return Document(axes=diff_axes(data), blocks=(*blocks, line(words, role="footer")))


def diff_axes(data: DiffData) -> tuple[str, ...]:
    """The mesh axes of both programs."""
    meshes = (side.mesh for side in (data.before, data.after) if side.mesh is not None)
    return tuple(dict.fromkeys(name for mesh in meshes for name in mesh.axis_names))


def title_spans(data: DiffData) -> Spans:
    """The compared programs, their mesh and devices."""
    before, after = data.before, data.after
    parts: list[Any] = [Quote(after.name, strong=True), Sign("dot"), _both_sides(before, after)]
    if after.mesh is not None:
        parts += [Sign("dot"), "mesh "]
        parts += [mesh_spans(before.mesh), " -> "] if before.mesh not in (None, after.mesh) else []
        parts.append(mesh_spans(after.mesh))
    return spans(*parts, f", {after.devices}" if after.devices else None)


def _both_sides(before: SideFacts, after: SideFacts) -> Spans:
    """The source places of both sides; for one function under two versions of JAX, the versions."""
    is_upgrade = before.jax and after.jax and before.jax != after.jax
    jax = (f" by JAX {before.jax}", f" by JAX {after.jax}") if is_upgrade else ("", "")
    if is_upgrade and before.where == after.where and not before.asked and not after.asked:
        where = None if after.where is None else (Quote(after.where.where), *spans(", "))
        return spans(where, f"JAX {before.jax} -> {after.jax}")
    return spans("before ", _side(before), f"{jax[0]}, after ", _side(after), jax[1])


def _side(side: SideFacts) -> Spans:
    if side.asked:
        return spans("what if ", Quote("; ".join(side.asked)))
    return (Quote(side.name if side.where is None else side.where.where),)


# ---------------------------------------------------------------- figures


def _figures(data: DiffData) -> TableBlock:
    shown = [figure for name in FIGURES for figure in data.figures if figure.name == name]
    return table_of(
        (
            Column("", lambda figure: figure_words(figure)[0]),
            numbers("before", lambda figure: figure_words(figure)[1]),
            numbers("after", lambda figure: figure_words(figure)[2]),
            Column("change", _change, align="right"),
            Column("known by", lambda figure: dim(figure.provenance)),
        ),
        shown,
    )


def _change(figure: Figure) -> str:
    return change_words(figure.before, figure.after) if figure.is_comparable else ""


def _axes(data: DiffData) -> TableBlock:
    there = ", in the part that is there" if data.is_incomplete else ""

    def change(one: AxisDiff) -> str:
        return "" if there else change_words(one.before_bytes, one.after_bytes)

    return table_of(
        (
            Column(f"{{unit}} sent over{there}", lambda one: AxisLabel(one.axes)),
            sizes("before", lambda one: one.before_bytes, "modelled"),
            sizes("after", lambda one: one.after_bytes, "modelled"),
            Column("change", change, align="right"),
            Column("number", lambda one: f"{one.before_count} -> {one.after_count}", align="right"),
        ),
        data.axes,
    )


# ---------------------------------------------------------------- JAX's share and XLA's


def _stages(data: DiffData) -> list[Block]:
    """JAX's share and XLA's share of the change; [] where nobody asked."""
    stages = data.stages
    if stages is None:
        return []
    lowering = stages.lowering
    if lowering.is_same:
        words = f": the same {count_text(lowering.before)} operations of StableHLO; all that differs is XLA's doing"
        return [line(strong("JAX's lowering"), words)]
    counts = f": {count_text(lowering.before)} -> {count_text(lowering.after)} operations of StableHLO, not the same"
    wired = line("the same operations, of the same types, take other values")
    shown = _operations(lowering) if lowering.changes else wired
    return [_whose(data, stages), Section(spans(strong("JAX's lowering"), dim(counts)), (shown,))]


def _figures_by_stage(data: DiffData, by_xla: DiffData) -> list[tuple[Figure, Figure]]:
    """Each figure before and with the new XLA alone, and of the whole comparison."""
    known, whole = ({figure.name: figure for figure in one.figures} for one in (by_xla, data))
    return [(known[name], whole[name]) for name in _STAGE_FIGURES if name in known and name in whole]


def stage_notes(data: DiffData) -> tuple[Sentence, ...]:
    """The same in sentences, unless the lowering is equal: then the answer says it all."""
    stages = data.stages
    if stages is None or stages.lowering.is_same:
        return ()
    lowering = stages.lowering
    counts = f"{count_text(lowering.before)} -> {count_text(lowering.after)}"
    found = [say("JAX's lowering: {} operations of StableHLO", counts)]
    for one in lowering.changes[:_NOTED]:
        found.append(say("{} {} -> {}", code(one.name), count_text(one.before), count_text(one.after)))
    if stages.by_xla is None:
        return (*found, say("what of it is XLA's is not known: {}", stages.missing))
    for by_xla, whole in _figures_by_stage(data, stages.by_xla):
        (name, before, between), (_, _, after) = figure_words(by_xla), figure_words(whole)
        if len({before, between, after}) > 1:
            found.append(say("{}: {} before, {} with the XLA after alone, {} after", name, before, between, after))
    return tuple(found)


def _whose(data: DiffData, stages: Stages) -> Block:
    if stages.by_xla is None or stages.by_jax is None:
        return line(strong("what of it is XLA's is not known"), f": {stages.missing}")
    columns = (
        Column("", lambda pair: figure_words(pair[0])[0]),
        numbers("before", lambda pair: figure_words(pair[0])[1]),
        Column("by XLA", lambda pair: change_words(pair[0].before, pair[0].after), align="right"),
        numbers("with its XLA", lambda pair: figure_words(pair[0])[2]),
        Column("by JAX", lambda pair: change_words(pair[0].after, pair[1].after), align="right"),
        numbers("after", lambda pair: figure_words(pair[1])[2]),
    )
    note = (
        f"with its XLA: what JAX {data.before.jax} lowered, compiled by the XLA of JAX {data.after.jax}; by XLA: what "
        f"that alone changed; by JAX: what the lowering changed"
    )
    table = table_of(columns, _figures_by_stage(data, stages.by_xla))
    return Section(spans(strong("whose change it is")), (table, line(dim(note))))


def _operations(lowering: LoweringDiff) -> TableBlock:
    columns = (
        codes("operation", lambda one: one.name),
        numbers("before", lambda one: one.before),
        numbers("after", lambda one: one.after),
        numbers("gone", lambda one: one.removed),
        numbers("new", lambda one: one.added),
        codes("such as", lambda one: one.example.removeprefix(one.name).strip(), shrink=True, comfort=40),
    )
    return table_of(columns, lowering.changes[:_OPERATIONS])


# ---------------------------------------------------------------- lists


def _list(name: str, kind: ListKind, table: PairTable[Any], data: DiffData) -> list[Block]:
    """A section with the rows that differ; one line if all are equal; nothing without rows."""
    if not table.rows:
        return []
    counts = {status: sum(pair.status == status for pair in table.rows) for status in ("removed", "added", "changed")}
    verbs = _verbs(data) if kind.has_bytes else {}
    words = ", ".join(f"{n:,} {verbs.get(one, one)}" for one, n in {**counts, "same": table.same}.items() if n)
    if table.is_empty:
        return [line(strong(name), f": {words}")]
    differing = replace(table, rows=tuple(pair for pair in table.rows if pair.status != "same"))
    rows = sized_rows(differing, kind, is_page=False)
    unit = share_unit(size for _, both in rows for size in both)
    under = kind.under
    shown = table_of(text_columns(kind, unit), rows[:_ROWS], under=None if under is None else lambda one: under(one[0]))
    return [Section(spans(strong(name), dim(f": {words}")), (shown, *more_lines(len(rows) - _ROWS, "kind")))]


def _verbs(data: DiffData) -> dict[str, str]:
    """Words for rows of optimized programs: rows missing from an incomplete program are not known to be gone."""
    lacking = {"removed": ("after", data.after.incomplete), "added": ("before", data.before.incomplete)}
    return {status: f"not in the part that is there {side}" for status, (side, why) in lacking.items() if why}


# ---------------------------------------------------------------- what was chosen


def _settings(data: DiffData) -> list[Block]:
    def value(side: str) -> Callable[[Setting], str]:
        return lambda one: getattr(one, side) or ("not installed" if one.kind == "version" else "not set")

    columns = (
        Column("", lambda one: one.kind),
        codes("setting", lambda one: one.name),
        codes("before", value("before"), shrink=True, comfort=20),
        codes("after", value("after"), shrink=True, comfort=20),
    )
    return _section("set otherwise", columns, data.settings, "setting")


def _source(data: DiffData) -> list[Block]:
    columns = (
        Column("", lambda one: strong("-" if one.after is None else "+")),
        codes("source", lambda one: (one.before or one.after).where),
        codes("line", lambda one: one.text, shrink=True, comfort=40),
    )
    return _section("source", columns, [one for one in data.source if one.before or one.after], "line")


def _section(title: str, columns: tuple[Column, ...], rows: Any, noun: str) -> list[Block]:
    if not rows:
        return []
    return [Section((strong(title),), (table_of(columns, rows[:_ROWS]), *more_lines(len(rows) - _ROWS, noun)))]
