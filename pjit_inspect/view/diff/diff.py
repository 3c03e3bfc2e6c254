"""The display of a comparison: the answer, the figures, then every row that was added, removed or changed.

Equal rows of several layers are one line with their number. Not its job: comparing (`analyze.diff`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any

from pjit_inspect.model.diff.diff import DiffData, Figure, Setting, SideFacts
from pjit_inspect.model.diff.pairs import COMBINED, ArrayDiff, Pair, PairTable
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.report.cause import Cause
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.sharding_table import ValueSharding
from pjit_inspect.model.words.layers import path_pattern, scope_pattern
from pjit_inspect.view.diff.figures import change_words, figure_words
from pjit_inspect.view.diff.stages import stage_blocks
from pjit_inspect.view.diff.status import Both, both_sizes, counts_once, difference_words, sent_once, touched_once
from pjit_inspect.view.document.document import (
    UNKNOWN,
    AxisLabel,
    Beside,
    Block,
    Code,
    Column,
    Document,
    Line,
    Number,
    Prose,
    Row,
    Section,
    Sign,
    Span,
    Spans,
    SpecLabel,
    Table,
    Text,
)
from pjit_inspect.view.document.notation import operation_text, shape_text
from pjit_inspect.view.document.quantities import bytes_in, plural, share_unit
from pjit_inspect.view.record.answer import mesh_spans

_SIGNS = {"removed": "-", "added": "+", "changed": "~", "same": "="}
_ROWS = 24
_GRADIENT = "the gradient of "
_MOST_CHANGES = 3
_FOLLOWS = ("payload_bytes", "wire_bytes", "count_min", "bytes_per_device", "pairs")
_SHRINK = {"where": 12, "value": 24, "path": 24, "what": 40, "line": 40, "before": 20, "after": 20}
"""Columns of text that may be shortened, and the width each keeps as long as another can shrink."""
FIGURES = (
    "sent",
    "temporary memory",
    "arguments",
    "kernels",
    "kernels read and write",
    "matrix products",
    "compiling",
)


def diff_view(data: DiffData) -> Document:
    """All differences, most important first."""
    other_work = Line((Text("Not the same work: ", "strong"), *_joined(data.parity)), "note")
    blocks: list[Block] = [*([other_work] if data.parity else []), Line(title_spans(data), "title")]
    blocks.append(Line((Prose(data.answer),), "answer"))
    tables = tuple(table for table in (_figures(data.figures), _axes(data)) if table.rows)
    blocks.append(Beside(tables))
    blocks += stage_blocks(data)
    blocks += _section("collectives", data.collectives, _collectives(data.collectives), data)
    blocks += _section("arguments", data.arguments, _arrays(data.arguments))
    blocks += _section("results", data.results, _arrays(data.results))
    blocks += _section("shardings", data.shardings, _shardings(data.shardings))
    blocks += _section("kernels", data.kernels, _kernels(data.kernels), data)
    blocks += _settings(data)
    blocks += _source(data)
    blocks += [Line((Prose(note),), "note") for note in data.notes]
    words = "sent is modelled (ring), seconds are measured, the rest is counted; bytes and FLOP are per device and call"
    if counts_once(data.collectives, data.kernels):
        words += "; what is in loops of unknown length counts once"
    blocks.append(Line((Text(words),), "footer"))
    meshes = [side.mesh for side in (data.before, data.after) if side.mesh is not None]
    return Document(axes=tuple(dict.fromkeys(n for mesh in meshes for n in mesh.axis_names)), blocks=tuple(blocks))


def _joined(sentences: Sequence[Any]) -> Spans:
    spans: list[Span] = []
    for number, sentence in enumerate(sentences):
        spans += [Text("; ")] if number else []
        spans.append(Prose(sentence))
    return tuple(spans)


def title_spans(data: DiffData) -> Spans:
    """The compared programs, their mesh and devices."""
    before, after = data.before, data.after
    spans: list[Span] = [Code(after.name, strong=True), Sign("dot")]
    spans += _both_sides(before, after)
    if after.mesh is not None:
        spans += [Sign("dot"), Text("mesh ")]
        spans += (
            [*mesh_spans(before.mesh), Text(" -> ")] if before.mesh is not None and before.mesh != after.mesh else []
        )
        spans += mesh_spans(after.mesh)
    return (*spans, *([Text(f", {after.devices}")] if after.devices else []))


def _both_sides(before: SideFacts, after: SideFacts) -> list[Span]:
    """The source places of both sides; for one function under two versions of JAX, the versions."""
    is_upgrade = before.jax and after.jax and before.jax != after.jax
    jax = (f" by JAX {before.jax}", f" by JAX {after.jax}") if is_upgrade else ("", "")
    places = [None if side.where is None else side.where.where for side in (before, after)]
    if is_upgrade and places[0] == places[1] and not before.asked and not after.asked:
        where = [Code(places[0]), Text(", ")] if places[0] else []
        return [*where, Text(f"JAX {before.jax} -> {after.jax}")]
    return [Text("before "), *_side(before), Text(f"{jax[0]}, after "), *_side(after), Text(jax[1])]


def _side(side: SideFacts) -> Spans:
    if side.asked:
        return (Text("what if "), Code("; ".join(side.asked)))
    return (Code(side.where.where),) if side.where is not None else (Code(side.name),)


# ---------------------------------------------------------------- figures


def _figures(figures: Sequence[Figure]) -> Table:
    shown = [figure for name in FIGURES for figure in figures if figure.name == name]
    columns = tuple(
        Column(title=title, align="right" if n in (1, 2, 3) else "left")
        for n, title in enumerate(("", "before", "after", "change", "known by"))
    )
    return Table(columns=columns, rows=tuple(map(_figure, shown)))


def _figure(figure: Figure) -> Row:
    name, *sides = figure_words(figure)
    cells = tuple((Number(side),) for side in sides)
    change = change_words(figure.before, figure.after) if figure.is_comparable else ""
    return Row(((Text(name),), *cells, (Text(change),), (Text(figure.provenance, "dim"),)))


def _axes(data: DiffData) -> Table:
    axes, there = data.axes, ", in the part that is there" if data.is_incomplete else ""
    unit = share_unit(size for one in axes for size in (one.before_bytes, one.after_bytes))
    columns = tuple(
        Column(title=title, align="left" if not n else "right")
        for n, title in enumerate((f"{unit} sent over{there}", "before", "after", "change", "number"))
    )
    rows = [
        Row(
            (
                (AxisLabel(one.axes),),
                (Number(bytes_in(one.before_bytes, unit), provenance="modelled"),),
                (Number(bytes_in(one.after_bytes, unit), provenance="modelled"),),
                (Text("" if there else change_words(one.before_bytes, one.after_bytes)),),
                (Text(f"{one.before_count} -> {one.after_count}"),),
            )
        )
        for one in axes
    ]
    return Table(columns=columns, rows=tuple(rows))


# ---------------------------------------------------------------- rows


def _section(name: str, table: PairTable[Any], blocks: Sequence[Block], of: DiffData | None = None) -> list[Block]:
    """A section with the rows that differ; one line if all are equal; nothing without rows.

    `of` is the comparison if the rows are of the optimized programs: an incomplete program may lack some of them.
    """
    if not table.rows:
        return []
    counts = {status: sum(pair.status == status for pair in table.rows) for status in _SIGNS}
    words = ", ".join(f"{count:,} {_verb(status, of)}" for status, count in counts.items() if count)
    if table.is_empty:
        return [Line((Text(name, "strong"), Text(f": {words}")))]
    return [Section((Text(name, "strong"), Text(f": {words}", "dim")), tuple(blocks))]


def _verb(status: str, of: DiffData | None) -> str:
    """The status in words; rows missing from an incomplete program are not known to be gone."""
    lacking = {} if of is None else {"removed": of.after.incomplete, "added": of.before.incomplete}
    side = "after" if status == "removed" else "before"
    return f"not in the part that is there {side}" if lacking.get(status) else status


def _grouped(table: PairTable[Any], key: Callable[[Pair[Any]], Hashable]) -> list[list[Pair[Any]]]:
    """The pairs that differ, similar ones grouped, in order of appearance."""
    groups: dict[Hashable, list[Pair[Any]]] = {}
    for pair in table.rows:
        if pair.status != "same":
            groups.setdefault((pair.status, key(pair)), []).append(pair)
    return list(groups.values())


def _table(titles: Sequence[tuple[str, bool]], rows: Sequence[Row], noun: str) -> list[Block]:
    """A table of the first rows, and a line with the number of the others."""
    columns = tuple(
        Column(title=title, align="right" if right else "left", shrink=title in _SHRINK, comfort=_SHRINK.get(title, 16))
        for n, (title, right) in enumerate(titles)
    )
    blocks: list[Block] = [Table(columns=columns, rows=tuple(rows[:_ROWS]))]
    left = len(rows) - _ROWS
    return [*blocks, Line((Sign("more"), Text(f" and {plural(left, f'more {noun}')}")))] if left > 0 else blocks


def _collectives(table: PairTable[Collective]) -> list[Block]:
    groups = _grouped(replace(table, rows=tuple(p for p in table.rows if p.reason != COMBINED)), collective_key)
    groups.sort(key=lambda pairs: (_largest_first(_sent(pairs)), _SIGNS[pairs[0].status]))
    combined = _combined(table)
    unit = share_unit(size for pairs in (*groups, *combined) for size in _sent(pairs))
    rows = [*(_combined_row(pairs, unit) for pairs in combined), *(_collective_row(pairs, unit) for pairs in groups)]
    titles = (
        ("", False), ("n", True), ("collective", False), ("axes", False), ("phase", False), ("where", False),
        (f"{unit} before", True), ("after", True), ("difference", True),
    )  # fmt: skip
    return _table(titles, rows, "kind")


def collective_key(pair: Pair[Collective]) -> Hashable:
    """The key that collectives of one row share; their layer may differ."""
    row = pair.row
    fields = tuple(change.name for change in pair.changes)
    return row.kind, row.axes, collective_name(row), row.source[:1], row.phase, pair.reason, fields


def collective_name(row: Collective) -> str:
    """The name of the moved value: an argument or result, the computed expression, or the end of the op's name."""
    cause = row.cause
    if row.is_combined:
        return f"{len(row.causes)} arrays combined"
    if cause is not None and cause.value:
        return path_pattern(cause.value)
    return (_subject(cause) if cause is not None else "") or scope_pattern(row.op_name).rpartition("/")[2]


def _subject(cause: Cause) -> str:
    """The operation of a cause as the user wrote it: `x @ w`, or its gradient; "" where it is not known."""
    if cause.evidence != "sharding":
        return ""
    written = next((p.text for p in cause.operation.phrases if p.kind in ("code", "name")), "")
    return f"{_GRADIENT if cause.phase == 'backward' else ''}{path_pattern(written)}" if written else ""


def _combined(table: PairTable[Collective]) -> list[list[Pair[Collective]]]:
    """The collectives of equal arrays that XLA combines differently, by kind and axes."""
    groups: dict[Hashable, list[Pair[Collective]]] = {}
    for pair in table.rows:
        if pair.reason == COMBINED:
            groups.setdefault((pair.row.kind, pair.row.axes), []).append(pair)
    return sorted(groups.values(), key=lambda pairs: -max(size or 0 for size in _sent(pairs)))


def _combined_row(pairs: Sequence[Pair[Collective]], unit: str) -> Row:
    row, (before, after) = pairs[0].row, _sent(pairs)
    counts = [sum(getattr(pair, side) is not None for pair in pairs) for side in ("before", "after")]
    return Row(
        (
            (Text(_SIGNS["changed"], "strong"),),
            (Number(f"{counts[0]} -> {counts[1]}"),),
            (Text(row.kind),),
            (AxisLabel(row.axes),),
            (),
            (),
            (Number(bytes_in(before, unit), provenance="modelled"),),
            (Number(bytes_in(after, unit), provenance="modelled"),),
            (Number(_signed((before, after), unit), provenance="modelled"),),
        ),
        items=((Text("the same arrays, which XLA combines differently"),),),
    )


def _sent(pairs: Sequence[Pair[Collective]]) -> Both:
    return both_sizes(pairs, sent_once)


def _largest_first(both: Both) -> tuple[int, int]:
    before, after = (size or 0 for size in both)
    return -abs(after - before), -max(before, after)


def _collective_row(pairs: Sequence[Pair[Collective]], unit: str) -> Row:
    pair, row = pairs[0], pairs[0].row
    before, after = _sent(pairs)
    return Row(
        (
            (Text(_SIGNS[pair.status], "strong"),),
            (Number(str(len(pairs))),),
            (Text(row.kind),),
            (AxisLabel(row.axes),),
            (Text(row.phase or "", "dim"),),
            (Code(row.source[0].where),) if row.source else UNKNOWN,
            (Number(bytes_in(before, unit) if pair.before is not None else "-", provenance="modelled"),),
            (Number(bytes_in(after, unit) if pair.after is not None else "-", provenance="modelled"),),
            (Number(_signed((before, after), unit), provenance="modelled"),),
        ),
        items=_about(pair),
    )


def _about(pair: Pair[Collective]) -> tuple[Spans, ...]:
    """The moved value, the changes, and the reason."""
    name = collective_name(pair.row)
    because = ((Text("because "), Prose(pair.reason)),) if pair.reason else ()
    if pair.changes:
        return ((Code(name), Text(f": {_changes_text(pair)}")), *because)
    # A reason that names the moved value says it all.
    return because if name in pair.reason else ((Code(name),), *because)


def _signed(sizes: Both, unit: str) -> str:
    """`difference_words` with an ASCII minus sign."""
    return difference_words(sizes, unit).replace("\u2212", "-")


def _changes_text(pair: Pair[Any]) -> str:
    """The first changed fields; fields that follow from shapes, as bytes, only if nothing else changed."""
    told = [change for change in pair.changes if change.name not in _FOLLOWS] or list(pair.changes)
    changes = (
        f"{_words(change.name)} {_short(change.before)} -> {_short(change.after)}" for change in told[:_MOST_CHANGES]
    )
    return ", ".join(changes)


def _words(field: str) -> str:
    return field.replace("_", " ")


def _short(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{','.join(map(str, value))}]"
    return (
        "none"
        if value is None
        else f"{value:,}"
        if isinstance(value, int) and not isinstance(value, bool)
        else str(value)
    )


def _arrays(table: ArrayDiff) -> list[Block]:
    groups = _grouped(table, lambda pair: (path_pattern(pair.row.path, keep_first=True), _changes_text(pair)))
    return _table((("", False), ("n", True), ("path", False), ("before", False), ("after", False)), [
        Row((
            (Text(_SIGNS[pairs[0].status], "strong"),),
            (Number(str(len(pairs))),),
            (Code(path_pattern(pairs[0].row.path, keep_first=True) if len(pairs) > 1 else pairs[0].row.path),),
            _layout_spans(pairs[0].before, pairs[0]),
            _layout_spans(pairs[0].after, pairs[0]),
        ))
        for pairs in groups
    ], "kind")  # fmt: skip


def _layout_spans(row: ArrayLayout | None, pair: Pair[ArrayLayout]) -> Spans:
    if row is None:
        return (Text("-", "dim"),)
    shape = f"{short_dtype(row.dtype)}[{','.join(map(str, row.global_shape))}]"
    names = {change.name for change in pair.changes}
    spans: list[Span] = []
    if not pair.changes or names & {"dtype", "global_shape"}:
        spans += [Code(shape), Text(" ")]
    elif "local_shape" in names and "spec" not in names and row.local_shape is not None:
        spans += [Code(f"[{','.join(map(str, row.local_shape))}]"), Text(" on each device ")]
    spans += [SpecLabel(row.spec)] if row.spec is not None else []
    spans += [Text(" donated" if row.donated else " kept by the caller")] if "donated" in names else []
    spans += [Text(" unused" if not row.kept else " used")] if "kept" in names else []
    if "aliases" in names:
        spans += [Text(" in the memory of "), Code(row.aliases)] if row.aliases else [Text(" in memory of its own")]
    return tuple(spans)


def _shardings(table: PairTable[ValueSharding]) -> list[Block]:
    groups = _grouped(table, _value_key)
    groups.sort(key=lambda pairs: -sum(pair.row.bytes_per_device or 0 for pair in pairs))
    rows = [
        Row(
            (
                (Text(_SIGNS[pairs[0].status], "strong"),),
                (Number(str(len(pairs))),),
                (Code(path_pattern(pairs[0].row.name)), Text(f" {pairs[0].row.op}", "dim")),
                (Code(pairs[0].row.source[0].where),) if pairs[0].row.source else (),
                *_spec_spans(pairs[0]),
            )
        )
        for pairs in groups
    ]
    titles = (("", False), ("n", True), ("value", False), ("where", False), ("before", False), ("after", False))
    return _table(titles, rows, "kind")


def _value_key(pair: Pair[ValueSharding]) -> Hashable:
    specs = tuple(None if row is None else (row.spec, row.dtype, row.global_shape) for row in (pair.before, pair.after))
    return path_pattern(pair.row.name), pair.row.op, pair.row.source[:1], specs


def _spec_spans(pair: Pair[ValueSharding]) -> list[Spans]:
    """Type and spec on both sides; the shapes where type and spec are equal."""
    before, after = pair.before, pair.after
    if before is not None and after is not None and (before.spec, before.dtype) == (after.spec, after.dtype):
        return [(Code(f"{row.dtype}{shape_text(row.global_shape)}"),) for row in (before, after)]
    return [
        (Text("-", "dim"),) if row is None else (Code(row.dtype), Text(" "), SpecLabel(row.spec))
        for row in (before, after)
    ]


def _kernels(table: PairTable[Fusion]) -> list[Block]:
    groups = _grouped(table, _kernel_key)
    groups.sort(key=lambda pairs: _largest_first(_touched(pairs)))
    unit = share_unit(size for pairs in groups for size in _touched(pairs))
    titles = (
        ("", False), ("n", True), ("kernel", False), ("what", False), ("where", False), (f"{unit} before", True),
        ("after", True), ("difference", True),
    )  # fmt: skip
    return _table(titles, [_kernel_row(pairs, unit) for pairs in groups], "kind")


def _kernel_key(pair: Pair[Fusion]) -> Hashable:
    """The key that kernels of one row share: their last operation, or else their contents."""
    row = pair.row
    return row.kind, row.target, scope_pattern(row.op_name) or row.instructions, row.source[:1]


def _kernel_row(pairs: Sequence[Pair[Fusion]], unit: str) -> Row:
    pair, row = pairs[0], pairs[0].row
    before, after = _touched(pairs)
    contents = list(dict.fromkeys(_contents(one) for one in pairs))
    name = scope_pattern(operation_text(row.op_name))
    return Row(
        (
            (Text(_SIGNS[pair.status], "strong"),),
            (Number(str(len(pairs))),),
            (Text(row.sort),),
            (Code(name or kernel_contents(row)),),
            (Code(row.source[0].where),) if row.source else (),
            (Number(bytes_in(before, unit) if pair.before is not None else "-"),),
            (Number(bytes_in(after, unit) if pair.after is not None else "-"),),
            (Number(_signed((before, after), unit)),),
        ),
        items=((Text(contents[0]),),) if name and len(contents) == 1 else (),
    )


def _contents(pair: Pair[Fusion]) -> str:
    sides = [kernel_contents(row) for row in (pair.before, pair.after) if row is not None]
    return " -> ".join(dict.fromkeys(sides))


def kernel_contents(row: Fusion) -> str:
    """The contents of a kernel, or its name in a library."""
    called = row.routine if row.library else row.target
    return called or ", ".join(f"{n} {op}" if n > 1 else op for op, n in row.instructions)


def _touched(pairs: Sequence[Pair[Fusion]]) -> Both:
    return both_sizes(pairs, touched_once)


# ---------------------------------------------------------------- what was chosen


def _settings(data: DiffData) -> list[Block]:
    rows = [
        Row(
            (
                (Text(one.kind),),
                (Code(one.name),),
                (Code(one.before or _absent(one)),),
                (Code(one.after or _absent(one)),),
            )
        )
        for one in data.settings
    ]
    titles = (("", False), ("setting", False), ("before", False), ("after", False))
    return [Section((Text("set otherwise", "strong"),), tuple(_table(titles, rows, "setting")))] if rows else []


def _absent(one: Setting) -> str:
    return "not installed" if one.kind == "version" else "not set"


def _source(data: DiffData) -> list[Block]:
    rows = [
        Row(((Text("-" if one.after is None else "+", "strong"),), (Code(where.where),), (Code(one.text),)))
        for one in data.source
        if (where := one.before or one.after) is not None
    ]
    titles = (("", False), ("source", False), ("line", False))
    return [Section((Text("source", "strong"),), tuple(_table(titles, rows, "line")))] if rows else []
