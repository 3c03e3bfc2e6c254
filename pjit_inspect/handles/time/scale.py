"""A record's program on more and more chips: one axis of its mesh grows, and XLA compiles it for each number.

Not its job: one compile (`asked.what_if`), or the time of one program (`time.step`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.handles.exports import OfRecord
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.time.scaling import ScalingRow, ScalingTable, scaling_row
from pjit_inspect.view.document.document import Document
from pjit_inspect.view.render.displayable import Displayable
from pjit_inspect.view.render.shown import Shown, drawn
from pjit_inspect.view.time.scaling import scaling_blocks


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordScaling(OfRecord, Displayable, ScalingTable):
    """A record's program on more and more chips."""

    def show(self) -> Shown:
        """An object to display: a row for each number of chips, and where the network takes over."""
        return Shown(drawn(Document(blocks=scaling_blocks(self))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaling:
    """The program that is scaled.

    Attributes:
      record: the `CompileRecord` of the call.
      target: the kind of chips.
      axis: the axis that grows; None for the outermost.
      weak: gives the record of the call for a number of chips; None if it is the same for all.
    """

    record: Any
    target: str
    axis: str | None = None
    weak: Callable[[int], Any] | None = None


def scaling_of(asked: Scaling, chips: Sequence[int]) -> ScalingTable:
    """The program on each number of chips; a number that cannot be has the reason in its row.

    Raises ChangeError for a program without a mesh, or an axis that it has not.
    """
    rows = tuple(_row(asked, number) for number in sorted(set(chips)))
    return RecordScaling(rows, is_weak=asked.weak is not None)


def _row(asked: Scaling, chips: int) -> ScalingRow:
    target, record = asked.target, asked.record if asked.weak is None else asked.weak(chips)
    sizes, axis = _axes(record.data, asked.axis)
    machine, devices = _machine(target, chips)
    others = math.prod(size for name, size in sizes.items() if name != axis)
    mesh = dict(sizes) | {axis: devices // others}
    if not machine:
        return ScalingRow(devices=devices, target=target, missing=f"there is no {target} of {chips:,} chips")
    if devices % others:
        why = f"{devices:,} devices are no multiple of the other axes' {others:,}"
        return ScalingRow(devices=devices, target=machine, missing=why)
    words = " x ".join(f"{name}={size}" for name, size in mesh.items())
    try:
        made = record.what_if(mesh=mesh, target=machine, effort="full")
    except (CaptureError, ChangeError) as error:
        return ScalingRow(devices=devices, target=machine, mesh=words, missing=str(error))
    return scaling_row(devices, machine, words, made.time, _memory(made.data))


def _axes(data: RecordData, axis: str | None) -> tuple[dict[str, int], str]:
    """The axes of a program's mesh, and the one that grows."""
    if data.mesh is None:
        raise ChangeError(f"{data.name} is on no mesh: nothing can grow")
    sizes = dict(data.mesh.sizes)
    grown = axis or next(iter(sizes))
    if grown not in sizes:
        raise ChangeError(f"there is no mesh axis {grown!r}; {data.name} has {', '.join(sizes)}")
    return sizes, grown


def _machine(target: str, chips: int) -> tuple[str, int]:
    """The target with so many chips, "" for none that is sold; and its number of JAX devices."""
    from pjit_inspect.observe.partitioner.chips import DEVICES_OF_A_CHIP
    from pjit_inspect.observe.partitioner.targets import TOPOLOGIES

    parts = target.split(":")
    chip = parts[1] if len(parts) > 1 else ""
    if parts[0] == "cpu":
        return f"cpu:{chips}", chips
    if parts[0] == "cuda":
        hosts, rest = divmod(chips, _GPUS_OF_A_HOST)
        each = chips if not hosts else 0 if rest else _GPUS_OF_A_HOST
        return (f"{target}:{max(1, hosts)}x{each}" if each else ""), chips
    found = next((one for one in TOPOLOGIES.get(chip, ()) if math.prod(map(int, one.split("x"))) == chips), "")
    return (f"{target}:{found}" if found else ""), chips * DEVICES_OF_A_CHIP.get(chip, 1)


_GPUS_OF_A_HOST = 8


def _memory(data: RecordData) -> int | None:
    stats: Any = data.memory
    if data.hypothesis is not None and data.hypothesis.misfit is not None:
        return data.hypothesis.misfit.needed_bytes
    if stats is None or stats.temporary_bytes is None or stats.argument_bytes is None:
        return None
    return stats.argument_bytes + (stats.output_bytes or 0) + stats.temporary_bytes - (stats.alias_bytes or 0)
