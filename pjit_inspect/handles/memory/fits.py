"""A record's program beside the memory of a chip.

Not its job: the arithmetic (`analyze.memory.fits`), or the chips' figures (`observe.partitioner.chips`).
"""

from __future__ import annotations

from pjit_inspect.analyze.memory.fits import find_fit
from pjit_inspect.errors import ChangeError
from pjit_inspect.model.memory.fit import MemoryFit
from pjit_inspect.model.memory.memory_use import MemoryUse
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import MemorySize, Platform
from pjit_inspect.model.time.hardware import CHIPS_OF_KINDS

_BEST, _OTHERS = ("libtpu", "XLA"), ("TpuInfo", "Google")
"""Sources of a chip's memory; those that give the part programs may use come first."""


def fit_of(data: RecordData, use: MemoryUse, target: str) -> MemoryFit:
    """The room of a program on the chips of a target. Raises ChangeError for a chip that is not known."""
    platform, chip = _chip(target)
    return find_fit(
        data,
        use,
        platform=platform,
        chip=chip,
        has=_memory(target, chip),
        is_compiled_for=_is_for(data, platform, chip),
    )


def memory_of_chip(target: str) -> int:
    """The part of a device's memory that programs may use. Raises ChangeError for an unknown chip."""
    return _memory(target, _chip(target)[1]).bytes


def _chip(target: str) -> tuple[Platform, str]:
    """The platform and chip in "tpu:v5e", "tpu:v5e:2x4" or "v5e"."""
    from pjit_inspect.observe.partitioner import chips, targets

    parts = target.split(":")
    chip = parts[1] if len(parts) > 1 else parts[0]
    if chip in chips.GPUS and parts[0] in ("cuda", chip):
        return "cuda", chip
    if chip in targets.TOPOLOGIES and parts[0] in ("tpu", chip):
        return "tpu", chip
    known = ", ".join([*(f"tpu:{name}" for name in targets.TOPOLOGIES), *(f"cuda:{name}" for name in chips.GPUS)])
    raise ChangeError(f"target {target!r}: there is no such chip; known are {known}")


def _memory(target: str, chip: str) -> MemorySize:
    from pjit_inspect.observe.partitioner import chips

    says = {size.source: size for size in chips.listed_memory_of(chip)}
    if says.keys().isdisjoint(_BEST):
        says = {size.source: size for size in chips.memory_of(chip)}
    found = next((says[source] for source in (*_BEST, *_OTHERS) if source in says), None)
    if found is None:
        raise ChangeError(f"target {target!r}: how much memory {chip} has is not known")
    return found


def own_chip(data: RecordData) -> str:
    """The chip that a program is for, "tpu:v5e"; "" for none that is known."""
    target = None if data.hypothesis is None else data.hypothesis.target
    if target is not None and target.chip:
        return f"{target.platform}:{target.chip}"
    kinds = {device.kind for device in data.devices}
    return CHIPS_OF_KINDS.get(kinds.pop(), "") if len(kinds) == 1 else ""


def _is_for(data: RecordData, platform: Platform, chip: str) -> bool:
    """True if a program was compiled to the end for a chip."""
    is_whole = data.hlo is not None or data.hypothesis is not None
    return own_chip(data) == f"{platform}:{chip}" and is_whole and not data.is_partial
