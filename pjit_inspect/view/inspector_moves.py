"""What one collective does to one array, as two shard pictures: before and after, within one group of devices.

It follows from the instruction alone: its kind, its operand's and its result's shape on a device, and the dimension it
works on. How the array lies outside the group is the cause's matter. Not its job: drawing.
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.model.collective import Collective
from pjit_inspect.model.hlo import Instruction
from pjit_inspect.model.report import RecordReport
from pjit_inspect.view.inspector_running import RunningInstructions
from pjit_inspect.view.inspector_words import axes_data, name_data
from pjit_inspect.view.notation import shape_text
from pjit_inspect.view.quantities import plural

__all__ = ["move_data"]

_MOST_DEVICES = 64


def move_data(report: RecordReport, row: Collective, running: RunningInstructions | None) -> dict[str, Any] | None:
    """Both pictures and their captions; None where the instruction does not tell, or there is nothing to draw."""
    if not row.groups or row.decomposed or row.kind not in _MOVES:
        return None
    devices = _devices(report, row.groups[0])
    if len(devices) < 2:
        return None
    shown = devices[:_MOST_DEVICES]
    move = _MOVES[row.kind](row, _found(row, running), len(devices))
    if move is None:
        return None
    before, after = move
    axes = axes_data(row.axes or ())
    alike = f"; {plural(len(row.groups) - 1, 'group')} more alike" if len(row.groups) > 1 else ""
    return {
        "before": _side(before, row, shown, axes),
        "after": _side(after, row, shown, axes),
        "note": f"one group of {plural(len(devices), 'device')}{alike}; numbers in blocks are devices",
    }


def _devices(report: RecordReport, group: tuple[int, ...]) -> list[int]:
    """Device ids of a group's positions; the positions themselves where the mesh is unknown."""
    mesh = report.data.mesh or next(iter(report.data.meshes), None)
    if mesh is None or max(group, default=0) >= mesh.size:
        return list(group)
    return [mesh.device_ids[position] for position in group]


def _found(row: Collective, running: RunningInstructions | None) -> Instruction | None:
    return running.find(row.instructions[0]) if running is not None and row.instructions else None


def _side(
    side: tuple[tuple[int, ...], int | None, str], row: Collective, devices: list[int], axes: list[str]
) -> dict[str, Any]:
    """A side as an array of its own: split along one dimension, or whole in every device, or partial sums."""
    shape, split, state = side
    number = len(devices)
    tiles = [number if dim == split else 1 for dim in range(len(shape))]
    return {
        "shape": list(shape),
        "tiles": tiles,
        "spec": [axes if dim == split else [] for dim in range(len(shape))],
        "devices": devices,
        "tile_of": list(range(number)) if split is not None else [0] * number,
        "partial": axes if state == "partial" else [],
        "is_partial": state == "partial",
        "caption": _CAPTIONS[state].format(number),
        "words": name_data(f"{row.dtype}{shape_text(shape)}"),
    }


_CAPTIONS = {"partial": "\u03a3 partial \u00d7{}", "copies": "{} copies", "split": "split {} ways", "one": "one has it"}
_Side = tuple[tuple[int, ...], int | None, str]
_Move = tuple[_Side, _Side] | None


def _all_reduce(row: Collective, op: Instruction | None, number: int) -> _Move:
    return (row.local_shape, None, "partial"), (row.local_shape, None, "copies")


def _all_gather(row: Collective, op: Instruction | None, number: int) -> _Move:
    dim = _dimension(row, op)
    if dim is None:
        return None
    whole = _scaled(row.local_shape, dim, number)
    return (whole, dim, "split"), (whole, None, "copies")


def _reduce_scatter(row: Collective, op: Instruction | None, number: int) -> _Move:
    dim = _dimension(row, op)
    if dim is None or row.local_shape[dim] % number:
        return None
    return (row.local_shape, None, "partial"), (row.local_shape, dim, "split")


def _dimension(row: Collective, op: Instruction | None) -> int | None:
    """The dimension of the largest operand that the collective works on."""
    if op is None:
        return None
    dimensions = op.details.dimensions
    if len(dimensions) != 1 or not 0 <= dimensions[0] < len(row.local_shape):
        return None
    return dimensions[0]


def _scaled(shape: tuple[int, ...], dim: int, number: int) -> tuple[int, ...]:
    return tuple(length * number if position == dim else length for position, length in enumerate(shape))


_MOVES = {
    "all-reduce": _all_reduce,
    "all-gather": _all_gather,
    "reduce-scatter": _reduce_scatter,
}
"""An all-to-all moves pieces between two dimensions that the instruction alone does not name; permutes are arrows."""
