"""The lists of a comparison: how the pairs of each share a row, and its columns in text, on the page and as JSON.

Not its job: joining the pairs (`analyze.diff`), drawing them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.model.diff.pairs import COMBINED, Pair, PairTable
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.sharding_table import ValueSharding
from pjit_inspect.model.words.layers import path_pattern, scope_pattern
from pjit_inspect.view.diff.status import (
    Both,
    Status,
    both_sizes,
    difference_words,
    rows_of,
    sent_once,
    side_words,
    status_of,
    touched_once,
)
from pjit_inspect.view.document.columns import codes, numbers, places
from pjit_inspect.view.document.document import (
    UNKNOWN,
    AxisLabel,
    Column,
    Prose,
    Quote,
    Spans,
    SpecLabel,
    dim,
    spans,
    strong,
)
from pjit_inspect.view.document.grouping import grouped
from pjit_inspect.view.document.notation import array_text, known_spec_text, operation_text, shape_text
from pjit_inspect.view.document.quantities import bytes_text, count_text
from pjit_inspect.view.record.cause_groups import schedule_words, written_words

Pairs = Sequence[Pair[Any]]

STATUSES: tuple[Status, ...] = ("removed", "added", "less", "more", "changed", "same")
_SIGNS = {"removed": "-", "added": "+", "changed": "~"}
_ASCII = str.maketrans({"\u2212": "-", "\u2013": "-"})
_FOLLOWS = ("payload_bytes", "wire_bytes", "count_min", "bytes_per_device", "pairs")
_MOST_CHANGES = 3
_SHAPES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ListKind:
    """One list: how its rows are grouped, sized, named and described.

    Attributes:
      key: the key that pairs of one row share.
      page_key: the same on the page, which has room for more rows.
      size: bytes of a row of the table; None when unknown.
      what: the meaning of the bytes.
      columns: the columns of text between the signs and the bytes; with `has_bytes`, bytes follow them.
      under: short facts under a row of text.
      glyph: the sign of a row on the page; "" for the kind of the row.
      name: the name of a row on the page.
      more: further words of a row on the page, of one side each; a change is drawn as an arrow.
      figures: label and words of one row, for the details of a selected row; "" leaves it out.
      fields: its fields in JSON; "name=attribute" where JSON has another name.
    """

    key: Callable[[Pair[Any]], Hashable]
    page_key: Callable[[Pair[Any]], Hashable]
    size: Callable[[Any], int | None]
    what: str
    columns: tuple[Column, ...]
    has_bytes: bool = False
    under: Callable[[Pairs], tuple[Spans, ...]] | None = None
    glyph: str = ""
    name: Callable[[Any], str]
    more: tuple[Callable[[Any], str], ...]
    figures: tuple[tuple[str, Callable[[Any], str]], ...]
    fields: str


def sized_rows(table: PairTable[Any], kind: ListKind, *, is_page: bool) -> list[tuple[Pairs, Both]]:
    """The rows with their bytes before and after, largest difference first."""

    def key(pair: Pair[Any]) -> Hashable:
        if pair.reason == COMBINED:
            return COMBINED, pair.row.kind, pair.row.axes
        return pair.status, kind.page_key(pair) if is_page else kind.key(pair)

    def rank(one: tuple[Pairs, Both]) -> tuple[int, int, int]:
        before, after = (size or 0 for size in one[1])
        return -abs(after - before), STATUSES.index(row_status(*one)), -max(before, after)

    return sorted(((pairs, both_sizes(pairs, kind.size)) for pairs in grouped(table.rows, key).values()), key=rank)


def row_status(pairs: Pairs, both: Both) -> Status:
    """The change of a row in one word."""
    before, after = rows_of(pairs)
    return status_of(bool(before), bool(after), both, is_same=pairs[0].status == "same")


def text_columns(kind: ListKind, unit: str) -> tuple[Column, ...]:
    """The columns of text for rows of `sized_rows`."""

    def side(at: int) -> Callable[[tuple[Pairs, Both]], str]:
        return lambda one: side_words(one[1][at], bool(rows_of(one[0])[at]), unit).translate(_ASCII)

    columns = [
        Column("", lambda one: strong("~" if _is_combined(one[0]) else _SIGNS[one[0][0].status])),
        numbers("n", lambda one: _number(one[0])),
        *kind.columns,
    ]
    if kind.has_bytes:
        columns += [
            numbers(f"{unit} before", side(0), "modelled"),
            numbers("after", side(1), "modelled"),
            numbers("difference", lambda one: difference_words(one[1], unit).translate(_ASCII), "modelled"),
        ]
    return tuple(columns)


def _is_combined(pairs: Pairs) -> bool:
    return pairs[0].reason == COMBINED


def _number(pairs: Pairs) -> str:
    """The number of pairs; before and after for collectives that combine equal arrays differently."""
    return " -> ".join(str(len(rows)) for rows in rows_of(pairs)) if _is_combined(pairs) else count_text(len(pairs))


def _first(get: Callable[[Any], Any]) -> Callable[[tuple[Pairs, Both]], Any]:
    """Gives a fact of the first row of a group; None where the rows of the group have nothing but arrays in common."""
    return lambda one: None if _is_combined(one[0]) else get(one[0][0].row)


# ---------------------------------------------------------------- changed fields


def value_words(value: object, between: str = ", ") -> str:
    """A value of a field."""
    if isinstance(value, tuple):
        return f"[{between.join(value_words(one, between) for one in value)}]"
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def field_words(name: str) -> str:
    """The name of a field."""
    return name.replace("_", " ")


def _changes_text(pair: Pair[Any]) -> str:
    """The first changed fields; fields that follow from shapes, as bytes, only if nothing else changed."""
    shown = [change for change in pair.changes if change.name not in _FOLLOWS] or pair.changes
    return ", ".join(
        f"{field_words(one.name)} {value_words(one.before, ',')} -> {value_words(one.after, ',')}"
        for one in shown[:_MOST_CHANGES]
    )


def _changed(pair: Pair[Any]) -> Hashable:
    return tuple((one.name, str(one.before), str(one.after)) for one in pair.changes)


# ---------------------------------------------------------------- collectives


def collective_name(row: Collective) -> str:
    """The name of the moved value: an argument or result, the computed expression, or the end of the op's name."""
    cause, written = row.cause, written_words(row.cause)
    if row.is_combined:
        return f"{len(row.causes)} arrays combined"
    if cause is not None and cause.value:
        return path_pattern(cause.value)
    if cause is not None and written:
        return f"{'the gradient of ' if cause.phase == 'backward' else ''}{path_pattern(written)}"
    return scope_pattern(row.op_name).rpartition("/")[2]


def _collective_key(pair: Pair[Collective]) -> Hashable:
    row = pair.row
    fields = tuple(change.name for change in pair.changes)
    return row.kind, row.axes, collective_name(row), row.source[:1], row.phase, pair.reason, fields


def _about(pairs: Pairs) -> tuple[Spans, ...]:
    """The moved value, the changes, and the reason."""
    pair = pairs[0]
    if _is_combined(pairs):
        return (spans("the same arrays, which XLA combines differently"),)
    name = collective_name(pair.row)
    because = (spans("because ", Prose(pair.reason)),) if pair.reason else ()
    if pair.changes:
        return (spans(Quote(name), f": {_changes_text(pair)}"), *because)
    # A reason that names the moved value says it all.
    return because if name in pair.reason else (spans(Quote(name)), *because)


def _shape(row: Collective | None) -> Hashable:
    return None if row is None else (row.dtype, row.local_shape)


def _place(row: Collective | ValueSharding | Fusion) -> str:
    return row.source[0].where if row.source else ""


def _runs(row: Collective | Fusion) -> str:
    return f"{count_text(row.count)} per call, each"


_COLLECTIVES = ListKind(
    key=_collective_key,
    page_key=lambda pair: (_collective_key(pair), _shape(pair.before), _shape(pair.after)),
    size=sent_once,
    what="sent per device and call, modelled: ring",
    columns=(
        Column("collective", lambda one: one[0][0].row.kind),
        Column("axes", lambda one: AxisLabel(one[0][0].row.axes)),
        Column("phase", _first(lambda row: dim(row.phase or ""))),
        Column(
            "where",
            _first(lambda row: Quote(row.source[0].where) if row.source else UNKNOWN),
            shrink=True,
            comfort=12,
        ),
    ),
    has_bytes=True,
    under=_about,
    name=collective_name,
    more=(lambda row: row.phase or "", _place),
    figures=(
        ("moves", lambda row: f"{row.dtype}{shape_text(row.local_shape)}"),
        ("array on a device", lambda row: f"{bytes_text(row.payload_bytes)} each"),
        ("runs", _runs),
        ("phase", lambda row: row.phase or ""),
        ("schedule", lambda row: schedule_words(row) or "synchronous"),
        ("place", _place),
    ),
    fields="kind axes dtype local_shape payload_bytes sent_bytes count phase op_name where=source cause",
)


# ---------------------------------------------------------------- arrays and values


def _array_key(pair: Pair[ArrayLayout]) -> Hashable:
    return path_pattern(pair.row.path, keep_first=True), _changes_text(pair)


def _path(pairs: Pairs) -> str:
    path = pairs[0].row.path
    return path_pattern(path, keep_first=True) if len(pairs) > 1 else path


def _layout(row: ArrayLayout | None, pair: Pair[ArrayLayout]) -> Spans:
    """The properties of one side that differ; type, shape and spec of an array of one program."""
    if row is None:
        return (dim("-"),)
    names = {change.name for change in pair.changes}
    parts: list[Any] = []
    if not pair.changes or names & {"dtype", "global_shape"}:
        parts = [Quote(f"{short_dtype(row.dtype)}{shape_text(row.global_shape)}"), " "]
    elif "local_shape" in names and "spec" not in names and row.local_shape is not None:
        parts = [Quote(shape_text(row.local_shape)), " on each device "]
    parts.append(None if row.spec is None else SpecLabel(row.spec))
    if "donated" in names:
        parts.append(" donated" if row.donated else " kept by the caller")
    if "kept" in names:
        parts.append(" used" if row.kept else " unused")
    if "aliases" in names:
        parts += [" in the memory of ", Quote(row.aliases)] if row.aliases else [" in memory of its own"]
    return spans(*parts)


_ARRAYS = ListKind(
    key=_array_key,
    page_key=lambda pair: (path_pattern(pair.row.path, keep_first=True), _changed(pair)),
    size=lambda row: row.bytes_per_device,
    what="on each device, counted",
    columns=(
        codes("path", lambda one: _path(one[0]), shrink=True, comfort=24),
        Column("before", lambda one: _layout(one[0][0].before, one[0][0]), shrink=True, comfort=20),
        Column("after", lambda one: _layout(one[0][0].after, one[0][0]), shrink=True, comfort=20),
    ),
    glyph="array",
    name=lambda row: path_pattern(row.path, keep_first=True),
    more=(lambda row: f"{array_text(row)} {known_spec_text(row.spec)}",),
    figures=(
        ("array", array_text),
        ("spec", lambda row: known_spec_text(row.spec) if row.sharding is not None else "unknown"),
        ("piece", lambda row: shape_text(row.local_shape) if row.local_shape is not None else "unknown"),
        ("size", lambda row: f"{bytes_text(row.bytes_per_device)} on each device, each"),
        ("donated", lambda row: "yes" if row.donated else ""),
        ("used", lambda row: "" if row.kept else "no: jit dropped it"),
        ("memory", lambda row: f"that of {row.aliases}" if row.aliases else ""),
    ),
    fields="path dtype shape=global_shape spec bytes_per_device donated",
)


def _value_key(pair: Pair[ValueSharding]) -> Hashable:
    sides = tuple(None if row is None else (row.spec, row.dtype, row.global_shape) for row in (pair.before, pair.after))
    return path_pattern(pair.row.name), pair.row.op, pair.row.source[:1], sides


def _value(pair: Pair[ValueSharding], side: str) -> Spans:
    """Type and spec on one side; the shape where both sides have the same of these."""
    row, before, after = getattr(pair, side), pair.before, pair.after
    if row is None:
        return (dim("-"),)
    if before is not None and after is not None and (before.spec, before.dtype) == (after.spec, after.dtype):
        return (Quote(f"{row.dtype}{shape_text(row.global_shape)}"),)
    return spans(Quote(row.dtype), " ", SpecLabel(row.spec))


_VALUES = ListKind(
    key=_value_key,
    page_key=_value_key,
    size=lambda row: row.bytes_per_device,
    what="on each device, counted",
    columns=(
        Column(
            "value", _first(lambda row: (Quote(path_pattern(row.name)), dim(f" {row.op}"))), shrink=True, comfort=24
        ),
        places("where", _first(lambda row: row.source), comfort=12),
        Column("before", lambda one: _value(one[0][0], "before"), shrink=True, comfort=20),
        Column("after", lambda one: _value(one[0][0], "after"), shrink=True, comfort=20),
    ),
    glyph="array",
    name=lambda row: path_pattern(row.name),
    more=(lambda row: known_spec_text(row.spec), _place),
    figures=(
        ("made by", lambda row: row.op),
        ("array", lambda row: f"{row.dtype}{shape_text(row.global_shape)}"),
        ("spec", lambda row: known_spec_text(row.spec)),
        ("piece", lambda row: shape_text(row.local_shape)),
        ("size", lambda row: f"{bytes_text(row.bytes_per_device)} on each device, each"),
        ("place", _place),
    ),
    fields="name op where=source dtype shape=global_shape spec",
)


# ---------------------------------------------------------------- kernels


def _kernel_key(pair: Pair[Fusion]) -> Hashable:
    """The key that kernels of one row share: their last operation, or else their contents."""
    row = pair.row
    return row.kind, row.target, scope_pattern(row.op_name) or row.instructions, row.source[:1]


def _kernel_contents(row: Fusion) -> str:
    """The contents of a kernel, or its name in a library."""
    called = row.routine if row.library else row.target
    return called or ", ".join(f"{n} {op}" if n > 1 else op for op, n in row.instructions)


def _kernel_name(row: Fusion) -> str:
    return scope_pattern(operation_text(row.op_name))


def _contents(pairs: Pairs) -> tuple[Spans, ...]:
    """The contents of a kernel that is called by another name, where all of the row have the same."""
    sides = [[_kernel_contents(row) for row in (pair.before, pair.after) if row is not None] for pair in pairs]
    contents = {" -> ".join(dict.fromkeys(side)) for side in sides}
    return (spans(*contents),) if len(contents) == 1 and _kernel_name(pairs[0].row) else ()


def _shapes(shapes: Sequence[str]) -> str:
    more = f", {len(shapes) - _SHAPES} more" if len(shapes) > _SHAPES else ""
    return ", ".join(shapes[:_SHAPES]) + more


_KERNELS = ListKind(
    key=_kernel_key,
    page_key=lambda pair: (pair.row.kind, pair.row.instructions, pair.row.target, _changed(pair)),
    size=touched_once,
    what="read and written per device and call, counted",
    columns=(
        Column("kernel", _first(lambda row: row.sort)),
        codes("what", _first(lambda row: _kernel_name(row) or _kernel_contents(row)), shrink=True, comfort=40),
        places("where", _first(lambda row: row.source), comfort=12),
    ),
    has_bytes=True,
    under=_contents,
    glyph="kernel",
    name=_kernel_contents,
    more=(lambda row: row.sort,),
    figures=(
        ("reads", lambda row: _shapes(row.inputs)),
        ("writes", lambda row: _shapes(row.outputs)),
        ("bytes read", lambda row: f"{bytes_text(row.bytes_read)} each"),
        ("bytes written", lambda row: f"{bytes_text(row.bytes_written)} each"),
        ("runs", _runs),
        ("place", _place),
    ),
    fields="kind contains=instructions target inputs outputs count op_name",
)

LISTS = {
    "collectives": _COLLECTIVES,
    "arguments": _ARRAYS,
    "results": _ARRAYS,
    "shardings": _VALUES,
    "kernels": _KERNELS,
}
"""Each list by the name of its table in `DiffData`, in the order of the display."""
