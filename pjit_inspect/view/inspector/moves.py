"""Two shard pictures of one collective: one array before and after, within one group of devices.

They follow from the instruction alone: its kind, the shapes of its operand and result on a device, and its dimension.
The cause deals with the array outside the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.model.program.hlo import Instruction
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.notation import ranges_text, shape_text
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.inspector.words import axes_data, name_data

_MOST_DEVICES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """The array that a group of devices holds, before or after.

    Attributes:
      shape: its lengths; for pieces, their numbers.
      caption: the device's share, in a word or two.
      words: its type.
      split: the dimension that is split over the group; None where every holder has the whole array.
      held: (member of the group, its tile) pairs; None when member i holds tile i.
      is_partial: whether each device holds a partial sum.
      only_first: whether only the first member holds it.
    """

    shape: tuple[int, ...]
    caption: str
    words: str
    split: int | None = None
    held: tuple[tuple[int, int], ...] | None = None
    is_partial: bool = False
    only_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Move:
    """Both sides, and a note for what the pictures cannot show."""

    before: _Side
    after: _Side
    note: str = ""


def move_data(report: RecordReport, row: Collective, running: RunningInstructions | None) -> dict[str, Any] | None:
    """Both pictures and their captions; None if the instruction lacks the data, or there is nothing to draw."""
    if not row.groups or row.decomposed:
        return None
    groups = _chains(row.groups) if row.kind == "collective-permute" else row.groups
    members = groups[0]
    if len(members) < 2:
        return None
    op = running.find(row.instructions[0]) if running is not None and row.instructions else None
    move = _move(row, op, members)
    if move is None:
        return None
    devices, axes = _devices(report, members)[:_MOST_DEVICES], axes_data(row.axes or ())
    are_alike = len(groups) > 1 and len({len(group) for group in groups}) == 1
    do = "does" if len(groups) == 2 else "do"
    alike = f" {plural(len(groups) - 1, 'other group')} {do} the same." if are_alike else ""
    more = f" {move.note[0].upper()}{move.note[1:]}." if move.note else ""
    return {
        "before": _side_data(move.before, devices, axes),
        "after": _side_data(move.after, devices, axes),
        "note": f"Drawn: {plural(len(members), 'device')}, {ranges_text(devices, limit=4)}.{alike}{more}",
    }


def _devices(report: RecordReport, group: tuple[int, ...]) -> list[int]:
    """Device ids of a group's positions; the positions themselves where the mesh is unknown."""
    mesh = report.data.mesh or next(iter(report.data.meshes), None)
    if mesh is None or max(group, default=0) >= mesh.size:
        return list(group)
    return [mesh.device_ids[position] for position in group]


def _side_data(side: _Side, devices: list[int], axes: list[str]) -> dict[str, Any]:
    """A side as data: its tiles, and the device of each."""
    number = len(devices)
    held = [(devices[0], 0)] if side.only_first else [(device, 0) for device in devices]
    if side.split is not None:
        pairs = [(member, member) for member in range(number)] if side.held is None else side.held
        held = [(devices[member], tile) for member, tile in pairs if member < number and tile < number]
    return {
        "shape": list(side.shape),
        "tiles": [number if dim == side.split else 1 for dim in range(len(side.shape))],
        "spec": [axes if dim == side.split else [] for dim in range(len(side.shape))],
        "devices": [device for device, _ in held],
        "tile_of": [tile for _, tile in held],
        "partial": axes if side.is_partial else [],
        "is_partial": side.is_partial,
        "caption": side.caption,
        "words": name_data(side.words),
    }


# ---------------------------------------------------------------- the kinds


def _move(row: Collective, op: Instruction | None, members: tuple[int, ...]) -> _Move | None:
    """Both sides of a collective; None for a kind or an instruction that cannot be drawn.

    A ragged all-to-all is not drawn: its operands decide at run time how much moves.
    """
    shape, number, dim = row.local_shape, len(members), _dimension(row, op)
    partial = _side(row, shape, f"\u03a3 partial \u00d7{number}", is_partial=True)
    match row.kind:
        case "all-reduce":
            return _Move(before=partial, after=_side(row, shape, f"{number} copies"))
        case "all-gather" if dim is not None:
            whole = tuple(n * number if position == dim else n for position, n in enumerate(shape))
            parts = _side(row, whole, f"split {number} ways", split=dim)
            return _Move(before=parts, after=_side(row, whole, f"{number} copies"))
        case "reduce-scatter" if dim is not None and shape[dim] % number == 0:
            return _Move(before=partial, after=_side(row, shape, f"split {number} ways", split=dim))
        case "all-to-all":
            return _all_to_all(row, _piece(row, op, number), number)
        case "collective-permute":
            return _permute(row, members)
        case "collective-broadcast":
            one = _side(row, shape, "one has it", only_first=True)
            return _Move(before=one, after=_side(row, shape, f"{number} copies"))
        case _:
            return None


def _side(row: Collective, shape: tuple[int, ...], caption: str, **more: Any) -> _Side:
    return _Side(shape=shape, caption=caption, words=f"{row.dtype}{shape_text(shape)}", **more)


def _all_to_all(row: Collective, piece: tuple[int, ...] | None, number: int) -> _Move | None:
    """A square of pieces: each device has a row before, and a column after."""
    if piece is None:
        return None
    words = f"{number:,} \u00d7 {number:,} pieces {row.dtype}{shape_text(piece)}"
    square = (number, number)
    return _Move(
        before=_Side(shape=square, split=0, caption="each has a row", words=words),
        after=_Side(shape=square, split=1, caption="each has a column", words=words),
        note="each device cuts its array into one piece for each device",
    )


def _piece(row: Collective, op: Instruction | None, number: int) -> tuple[int, ...] | None:
    """The piece that one device sends another.

    XLA has two forms: an operand for each device, or one operand that is cut.
    """
    if op is None:
        return None
    if not op.details.dimensions:
        return row.local_shape if row.operands == number else None
    dim = _dimension(row, op)
    if dim is None or row.local_shape[dim] % number:
        return None
    return tuple(n // number if position == dim else n for position, n in enumerate(row.local_shape))


def _permute(row: Collective, members: tuple[int, ...]) -> _Move:
    """One block for each device: its place before, and its holder after. Devices that get none have zeros."""
    number, at = len(members), {position: i for i, position in enumerate(members)}
    held = tuple((at[target], at[source]) for source, target in row.groups if source in at)
    passed, empty = sum(member != tile for member, tile in held), number - len({member for member, _ in held})
    words = f"{number:,} \u00d7 {row.dtype}{shape_text(row.local_shape)}"
    many = "1 device gets none, and then has" if empty == 1 else f"{empty:,} devices get none, and then have"
    return _Move(
        before=_Side(shape=(number,), split=0, caption="each has its own", words=words),
        after=_Side(shape=(number,), split=0, held=held, words=words, caption=f"{passed:,} passed on"),
        note=f"{many} zeros" if empty else "",
    )


def _chains(pairs: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Sets of devices that pairs connect, each in the order of positions; the largest set first."""
    parent: dict[int, int] = {}

    def root(one: int) -> int:
        while parent.setdefault(one, one) != one:
            parent[one] = one = parent[parent[one]]
        return one

    for source, target in pairs:
        parent[root(source)] = root(target)
    found: dict[int, list[int]] = {}
    for position in sorted(parent):
        found.setdefault(root(position), []).append(position)
    return sorted(map(tuple, found.values()), key=lambda group: -len(group)) or [()]


def _dimension(row: Collective, op: Instruction | None) -> int | None:
    """The collective's dimension in its largest operand; None if unknown."""
    if op is None:
        return None
    dimensions = op.details.dimensions
    if len(dimensions) != 1 or not 0 <= dimensions[0] < len(row.local_shape):
        return None
    return dimensions[0]
