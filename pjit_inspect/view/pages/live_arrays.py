"""The arrays that a process holds: totals per device, how much are copies, and the arrays."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pjit_inspect.model.memory.live_arrays import DeviceHolding, LiveArray, LiveArrayTable
from pjit_inspect.model.words.layers import path_pattern
from pjit_inspect.view.document.columns import codes, numbers, places, sizes, spec_or, table_of
from pjit_inspect.view.document.document import (
    Block,
    Column,
    Document,
    Line,
    Quote,
    Span,
    TableBlock,
    dim,
    line,
    strong,
)
from pjit_inspect.view.document.grouping import grouped, shared_name
from pjit_inspect.view.document.notation import ranges_text, shape_text
from pjit_inspect.view.document.quantities import bytes_text, plural, share_unit

_ROWS, _TEXT_ROWS, _FOLDED_ROWS = 24, 16, 200
_GROUPS = 4
_ON_DEVICE = ("", "device", "unpinned_host")
_FOOTER = "bytes counted, of the elements, without padding of tiles; what programs hold while they run is not there"


def live_arrays_view(table: LiveArrayTable) -> Document:
    """The display of the table."""
    blocks: list[Block] = [_answer(table)]
    blocks += [line(words) for words in _devices(table.devices)]
    if table.rows:
        blocks.append(_table(table.rows))
    if table.unread:
        blocks.append(line(f"{plural(table.unread, 'array')} could not be read", role="note"))
    blocks.append(line(_FOOTER, role="footer"))
    return Document(axes=table.mesh_axes, blocks=tuple(blocks))


def _answer(table: LiveArrayTable) -> Line:
    if not table.rows:
        return line("this process holds no array", role="answer")
    copies = f", {bytes_text(table.copied_bytes)} of it copies" if table.copied_bytes else ""
    held = f": {bytes_text(table.held_bytes)} on {plural(len(table.devices), 'device')} together{copies}"
    return line(strong(plural(len(table), "array")), held, role="answer")


def _devices(devices: Sequence[DeviceHolding]) -> list[str]:
    """A line for each set of devices that hold the same, most bytes first."""
    groups = grouped(devices, lambda one: (one.platform, one.bytes, one.arrays, one.in_use_bytes, one.limit_bytes))
    order = sorted(groups.values(), key=lambda group: -group[0].bytes)
    lines = [_held(group) for group in order[:_GROUPS]]
    rest = [one for group in order[_GROUPS:] for one in group]
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


def _table(rows: Sequence[LiveArray]) -> TableBlock:
    groups = _grouped(rows)
    return table_of(
        _COLUMNS,
        groups,
        shown=_ROWS,
        text_rows=_TEXT_ROWS,
        folded=_FOLDED_ROWS,
        rest=_rest,
        unit=share_unit(group[0].bytes for group in groups),
    )


def _grouped(rows: Sequence[LiveArray]) -> list[tuple[LiveArray, ...]]:
    """Arrays grouped by everything but their layer, most bytes on a device first."""

    def key(row: LiveArray) -> Hashable:
        kind = row.dtype, row.global_shape, row.spec, row.device_ids, row.memory_kind
        return path_pattern(row.name), row.program, row.role, kind, row.source

    return sorted(grouped(rows, key).values(), key=lambda group: -sum(row.bytes or 0 for row in group))


def _name(group: Sequence[LiveArray]) -> Span:
    first = group[0]
    name = shared_name((row.name for row in group), path_pattern)
    known = first.name or ("a result" if first.role == "result" else "")
    return Quote(name or known) if known else dim("not known")


def _devices_words(row: LiveArray) -> str:
    where = "" if row.memory_kind in _ON_DEVICE else f" {row.memory_kind}"
    return f"{ranges_text(row.device_ids, limit=4)}{where}"


def _copies(row: LiveArray) -> str:
    """The number of devices of the process that have each element; "unknown" where pieces are unequal."""
    if row.held_bytes is None or row.copied_bytes is None:
        return "unknown"
    once = row.held_bytes - row.copied_bytes
    return f"{row.held_bytes / once:.3g}" if once else "1"


def _rest(groups: Sequence[Sequence[LiveArray]]) -> str:
    number = sum(map(len, groups))
    size = bytes_text(sum(row.bytes or 0 for group in groups for row in group))
    return f"{plural(number, 'more array')}, {size} on each of their devices; the table has all"


def _sum(group: Sequence[LiveArray]) -> int | None:
    return None if group[0].bytes is None else sum(row.bytes or 0 for row in group)


_COLUMNS = (
    numbers("n", len),
    Column("array", _name, shrink=True, comfort=30),
    codes("of", lambda group: group[0].program, shrink=True),
    codes("type", lambda group: group[0].dtype + shape_text(group[0].global_shape), shrink=True),
    Column("spec", lambda group: spec_or(group[0].spec, "on no mesh"), shrink=True),
    numbers("copies", lambda group: _copies(group[0])),
    sizes("each {unit}", lambda group: group[0].bytes),
    sizes("all", _sum),
    Column("devices", lambda group: _devices_words(group[0]), optional=True),
    places("made at", lambda group: group[0].source),
)
