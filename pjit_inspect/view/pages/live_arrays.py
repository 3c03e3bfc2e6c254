"""The arrays that a process holds: totals per device, how much are copies, and the arrays.

Not its job: finding them (`observe.key.live_arrays`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.model.memory.live_arrays import DeviceHolding, LiveArray, LiveArrayTable
from pjit_inspect.model.words.layers import path_pattern
from pjit_inspect.view.document.document import (
    Block,
    Code,
    Column,
    Document,
    Line,
    Number,
    Rest,
    Row,
    Spans,
    SpecLabel,
    Table,
    Text,
)
from pjit_inspect.view.document.notation import ranges_text, shape_text
from pjit_inspect.view.document.quantities import bytes_in, bytes_text, plural, share_unit
from pjit_inspect.view.record.answer import place_spans

_ROWS, _TEXT_ROWS, _FOLDED_ROWS = 24, 16, 200
_GROUPS = 4
_ON_DEVICE = ("", "device", "unpinned_host")
_FOOTER = "bytes counted, of the elements, without padding of tiles; what programs hold while they run is not there"


def live_arrays_view(table: LiveArrayTable) -> Document:
    """The display of the table."""
    blocks: list[Block] = [_answer(table)]
    blocks += [Line((Text(words),)) for words in _devices(table.devices)]
    if table.rows:
        blocks.append(_table(table.rows))
    if table.unread:
        blocks.append(Line((Text(f"{plural(table.unread, 'array')} could not be read"),), "note"))
    blocks.append(Line((Text(_FOOTER),), "footer"))
    return Document(axes=table.mesh_axes, blocks=tuple(blocks))


def _answer(table: LiveArrayTable) -> Line:
    if not table.rows:
        return Line((Text("this process holds no array"),), "answer")
    copies = f", {bytes_text(table.copied_bytes)} of it copies" if table.copied_bytes else ""
    return Line(
        (
            Text(plural(len(table), "array"), "strong"),
            Text(f": {bytes_text(table.held_bytes)} on {plural(len(table.devices), 'device')} together{copies}"),
        ),
        "answer",
    )


def _devices(devices: Sequence[DeviceHolding]) -> list[str]:
    """A line for each set of devices that hold the same, most bytes first."""
    groups: dict[tuple[object, ...], list[DeviceHolding]] = {}
    for one in devices:
        groups.setdefault((one.platform, one.bytes, one.arrays, one.in_use_bytes, one.limit_bytes), []).append(one)
    order = sorted(groups.values(), key=lambda own: -own[0].bytes)
    lines = [_held(own) for own in order[:_GROUPS]]
    rest = [one for own in order[_GROUPS:] for one in own]
    return [*lines, f"{plural(len(rest), 'more device')}: .devices has all"] if rest else lines


def _held(group: Sequence[DeviceHolding]) -> str:
    first = group[0]
    each = " each" if len(group) > 1 else ""
    words = f"{first.platform} {ranges_text([one.id for one in group], limit=4)}: "
    words += f"{bytes_text(first.bytes)} in {plural(first.arrays, 'array')}{each}"
    if first.in_use_bytes is not None:
        words += f"; {bytes_text(first.in_use_bytes)} given out by its allocator (measured)"
    return f"{words} of {bytes_text(first.limit_bytes)}" if first.limit_bytes is not None else words


# ---------------------------------------------------------------- the arrays


def _table(rows: Sequence[LiveArray]) -> Table:
    groups = _grouped(rows)
    unit = share_unit(own[0].bytes for own in groups)
    shown, hidden, unseen = groups[:_ROWS], groups[_ROWS:], groups[_TEXT_ROWS:]
    return Table(
        columns=(
            Column(title="n", align="right"),
            Column(title="array", shrink=True, comfort=30),
            Column(title="of", shrink=True),
            Column(title="type", shrink=True),
            Column(title="spec", shrink=True),
            Column(title="copies", align="right"),
            Column(title=f"each {unit}", align="right"),
            Column(title="all", align="right"),
            Column(title="devices", optional=True),
            Column(title="made at", shrink=True),
        ),
        rows=tuple(_row(own, unit) for own in shown),
        text_rows=_TEXT_ROWS,
        text_rest=_rest(unseen) if unseen else (),
        rest=Rest(summary=_rest(hidden), rows=tuple(_row(own, unit) for own in hidden[:_FOLDED_ROWS]))
        if hidden
        else None,
    )


def _grouped(rows: Sequence[LiveArray]) -> list[list[LiveArray]]:
    """Arrays grouped by everything but their layer, most bytes on a device first."""
    groups: dict[object, list[LiveArray]] = {}
    for row in rows:
        key = (
            path_pattern(row.name), row.program, row.role, row.dtype, row.global_shape, row.spec, row.device_ids,
            row.memory_kind, row.source,
        )  # fmt: skip
        groups.setdefault(key, []).append(row)
    return sorted(groups.values(), key=lambda own: -sum(row.bytes or 0 for row in own))


def _row(group: Sequence[LiveArray], unit: str) -> Row:
    first = group[0]
    names = {row.name for row in group}
    name = names.pop() if len(names) == 1 else path_pattern(first.name)
    known = first.name or ("a result" if first.role == "result" else "")
    total = None if first.bytes is None else sum(row.bytes or 0 for row in group)
    where = "" if first.memory_kind in _ON_DEVICE else f" {first.memory_kind}"
    spec: Spans = (SpecLabel(first.spec),) if first.spec is not None else (Text("on no mesh", "dim"),)
    return Row(
        (
            (Number(f"{len(group):,}"),),
            (Code(name or known),) if known else (Text("not known", "dim"),),
            (Code(first.program),) if first.program else (),
            (Code(first.dtype + shape_text(first.global_shape)),),
            spec,
            (Number(_copies(first)),),
            (Number(bytes_in(first.bytes, unit)),),
            (Number(bytes_in(total, unit)),),
            (Text(f"{ranges_text(first.device_ids, limit=4)}{where}"),),
            place_spans(first.source) if first.source else (),
        )
    )


def _copies(row: LiveArray) -> str:
    """The number of devices of the process that have each element; "unknown" where pieces are unequal."""
    if row.held_bytes is None or row.copied_bytes is None:
        return "unknown"
    once = row.held_bytes - row.copied_bytes
    return f"{row.held_bytes / once:.3g}" if once else "1"


def _rest(groups: Sequence[Sequence[LiveArray]]) -> Spans:
    number = sum(map(len, groups))
    size = bytes_text(sum(row.bytes or 0 for own in groups for row in own))
    return (Text(f"{plural(number, 'more array')}, {size} on each of their devices; the table has all"),)
