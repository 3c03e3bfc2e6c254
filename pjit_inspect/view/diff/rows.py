"""The lists of a comparison as data: similar pairs share a row, largest difference of bytes first.

Not its job: joining the pairs (`analyze.diff`), the details of a selected row (`view.diff.sides`), drawing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.model.diff.pairs import COMBINED, Pair, PairTable
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.sharding_table import ValueSharding
from pjit_inspect.model.words.layers import path_pattern
from pjit_inspect.view.diff.diff import collective_key, collective_name, kernel_contents
from pjit_inspect.view.diff.matrix import BoxNumbers
from pjit_inspect.view.diff.sides import SideWriter
from pjit_inspect.view.diff.status import (
    Both,
    Status,
    both_sizes,
    counts_once,
    difference_words,
    sent_once,
    side_words,
    status_of,
    touched_once,
)
from pjit_inspect.view.document.notation import array_text, known_spec_text
from pjit_inspect.view.document.quantities import share_unit
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data, sentence_data

_MOST_ROWS = 600
"""The most rows of a list; larger comparisons are read in Python (`d.kernels.to_csv()`)."""
_MOST_SAME = 200
_ONCE = "What is in loops of unknown length counts once."
_MOST_CHANGES = 10
_ORDER: tuple[Status, ...] = ("removed", "added", "less", "more", "changed", "same")

Write = Callable[[Sequence[Any], SideWriter], dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """The rules of one list: how its rows are grouped, sized, named and described.

    Attributes:
      key: the key that pairs in one row share.
      size: bytes of a row of the table; None when unknown.
      name: the row's name and further words.
      write: the details of one side's rows.
      what: the meaning of the bytes.
    """

    key: Callable[[Pair[Any]], Hashable]
    size: Callable[[Any], int | None]
    name: Callable[[Pair[Any]], dict[str, Any]]
    write: Write
    what: str


def diff_lists(
    tables: Mapping[str, PairTable[Any]],
    boxes: Mapping[str, tuple[BoxNumbers, BoxNumbers]],
    writers: tuple[SideWriter, SideWriter],
    shared: SharedTables,
) -> dict[str, Any]:
    """Each list by its name: its unit, rows, number of rows left out, counts by status, and a note.

    `boxes`, for lists whose rows are in the graph: their boxes before and after.
    """
    nowhere: tuple[BoxNumbers, BoxNumbers] = ({}, {})
    return {
        name: {
            **_list(table, _kind(name, shared), boxes.get(name, nowhere), writers),
            "note": _ONCE if name in ("collectives", "kernels") and counts_once(table) else "",
        }
        for name, table in tables.items()
    }


def _kind(name: str, shared: SharedTables) -> _Kind:
    if name == "collectives":
        return _Kind(
            key=lambda pair: (collective_key(pair), _shape(pair)),
            size=sent_once,
            name=lambda pair: _collective(pair, shared),
            write=lambda rows, writer: writer.collectives(rows),
            what="sent per device and call, modelled: ring",
        )
    if name in ("arguments", "results"):
        return _Kind(
            key=lambda pair: (path_pattern(pair.row.path, keep_first=True), _changed(pair)),
            size=lambda row: row.bytes_per_device,
            name=_array,
            write=lambda rows, writer: writer.arrays(rows),
            what="on each device, counted",
        )
    if name == "shardings":
        return _Kind(
            key=_value_key,
            size=lambda row: row.bytes_per_device,
            name=_value,
            write=lambda rows, writer: writer.values(rows),
            what="on each device, counted",
        )
    return _Kind(
        key=lambda pair: (pair.row.kind, pair.row.instructions, pair.row.target, _changed(pair)),
        size=touched_once,
        name=_kernel,
        write=lambda rows, writer: writer.kernels(rows),
        what="read and written per device and call, counted",
    )


def _list(
    table: PairTable[Any], kind: _Kind, boxes: tuple[BoxNumbers, BoxNumbers], writers: tuple[SideWriter, SideWriter]
) -> dict[str, Any]:
    groups: dict[Hashable, list[Pair[Any]]] = {}
    for pair in table.rows:
        groups.setdefault(_group_key(pair, kind), []).append(pair)
    sized = [(pairs, both_sizes(pairs, kind.size)) for pairs in groups.values()]
    sized.sort(key=lambda one: _rank(*one))
    unit = share_unit(size for _, both in sized for size in both)
    changed = [one for one in sized if one[0][0].status != "same"]
    same = [one for one in sized if one[0][0].status == "same"]
    counts: dict[Status, int] = dict.fromkeys(_ORDER, 0)
    for pairs, both in sized:
        counts[_status(pairs, both)] += len(pairs)
    return {
        "unit": unit,
        "what": kind.what,
        "counts": counts,
        "left_out": [max(0, len(changed) - _MOST_ROWS), max(0, len(same) - _MOST_SAME)],
        "rows": [
            _row(pairs, both, kind, unit, boxes, writers) for pairs, both in (*changed[:_MOST_ROWS], *same[:_MOST_SAME])
        ],
    }


def _group_key(pair: Pair[Any], kind: _Kind) -> Hashable:
    """The key that pairs in one row share; kind and axes for equal arrays that are combined differently."""
    if pair.reason == COMBINED:
        return COMBINED, pair.row.kind, pair.row.axes
    return pair.status, kind.key(pair)


def _rank(pairs: Sequence[Pair[Any]], both: Both) -> tuple[int, int, int]:
    """The sort key: largest difference first, then by status (equal rows last), then the larger size."""
    before, after = (size or 0 for size in both)
    return -abs(after - before), _ORDER.index(_status(pairs, both)), -max(before, after)


def _status(pairs: Sequence[Pair[Any]], both: Both) -> Status:
    sides = (any(pair.before is not None for pair in pairs), any(pair.after is not None for pair in pairs))
    return status_of(*sides, both, is_same=pairs[0].status == "same")


def _row(
    pairs: Sequence[Pair[Any]],
    both: Both,
    kind: _Kind,
    unit: str,
    boxes: tuple[BoxNumbers, BoxNumbers],
    writers: tuple[SideWriter, SideWriter],
) -> dict[str, Any]:
    first = pairs[0]
    sides = [[row for pair in pairs if (row := getattr(pair, side)) is not None] for side in ("before", "after")]
    is_same = first.status == "same"
    return {
        **kind.name(first),
        "status": _status(pairs, both),
        "number": len(pairs),
        "before": side_words(both[0], bool(sides[0]), unit),
        "after": side_words(both[1], bool(sides[1]), unit),
        "difference": difference_words(both, unit),
        "bytes": float((both[1] or 0) - (both[0] or 0)),
        "boxes": _boxes(sides, boxes),
        "reason": sentence_data(first.reason),
        "by": list(first.by),
        "changes": [[_words(one.name), *_values(one.before, one.after)] for one in first.changes[:_MOST_CHANGES]],
        # Equal rows have their details once.
        "sides": [
            kind.write(rows, writer) if rows and not (is_same and side == 0) else None
            for side, (rows, writer) in enumerate(zip(sides, writers, strict=True))
        ],
        **(_combined_name(sides) if first.reason == COMBINED else {}),
    }


def _combined_name(sides: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The name of collectives that combine equal arrays differently: their numbers before and after."""
    words = f"{len(sides[0])} \u2192 {len(sides[1])} combined otherwise"
    return {"name": words, "number": 1, "more": [], "changes": []}


def _boxes(sides: Sequence[Sequence[Any]], boxes: tuple[BoxNumbers, BoxNumbers]) -> list[int]:
    """The graph's boxes of collectives and kernels; [] for everything else."""
    found = {
        number
        for rows, of in zip(sides, boxes, strict=True)
        for row in rows
        if isinstance(row, (Collective, Fusion))
        for number in of.get(row.name if isinstance(row, Fusion) else next(iter(row.instructions), ""), ())
    }
    return sorted(found)


def _changed(pair: Pair[Any]) -> tuple[tuple[str, str, str], ...]:
    return tuple((one.name, str(one.before), str(one.after)) for one in pair.changes)


def _words(field: str) -> str:
    return field.replace("_", " ")


def _values(*values: object) -> list[str]:
    return [name_data(_value_words(value)) for value in values]


def _value_words(value: object) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value_words, value))}]"
    if value is None:
        return "none"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


# ---------------------------------------------------------------- names of rows


def _shape(pair: Pair[Collective]) -> Hashable:
    return tuple(None if row is None else (row.dtype, row.local_shape) for row in (pair.before, pair.after))


def _collective(pair: Pair[Collective], shared: SharedTables) -> dict[str, Any]:
    row = pair.row
    places = [where for one in (pair.before, pair.after) if one is not None and (where := _where(one))]
    return {
        "glyph": name_data(row.kind),
        "name": name_data(collective_name(row)),
        "kind": name_data(row.kind),
        "axes": shared.axis_set(row.axes),
        "more": [word for word in (row.phase or "", _moved(places)) if word],
    }


def _where(row: Collective | ValueSharding) -> str:
    return name_data(row.source[0].where) if row.source else ""


def _moved(places: Sequence[str]) -> str:
    """One place, or both with an arrow where it moved."""
    return " \u2192 ".join(dict.fromkeys(places))


def _array(pair: Pair[ArrayLayout]) -> dict[str, Any]:
    texts = [f"{array_text(one)} {known_spec_text(one.spec)}" for one in (pair.before, pair.after) if one is not None]
    name = path_pattern(pair.row.path, keep_first=True)
    return {"glyph": "array", "name": name_data(name), "more": [_moved(list(map(name_data, texts)))]}


def _value_key(pair: Pair[ValueSharding]) -> Hashable:
    specs = tuple(None if row is None else (row.spec, row.dtype, row.global_shape) for row in (pair.before, pair.after))
    return path_pattern(pair.row.name), pair.row.op, pair.row.source[:1], specs


def _value(pair: Pair[ValueSharding]) -> dict[str, Any]:
    rows = [one for one in (pair.before, pair.after) if one is not None]
    specs = [name_data(known_spec_text(one.spec)) for one in rows]
    more = [_moved(specs), _moved([where for one in rows if (where := _where(one))])]
    return {"glyph": "array", "name": name_data(path_pattern(pair.row.name)), "more": [word for word in more if word]}


def _kernel(pair: Pair[Fusion]) -> dict[str, Any]:
    row = pair.row
    return {"glyph": "kernel", "name": name_data(kernel_contents(row)), "more": [name_data(row.sort)]}
