"""The parts of a changed program's record that XLA's answer gives: its program, the layouts of arrays, a misfit.

Not its job: asking XLA, or the rest of the record (`what_if`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.program.mesh import Dimensions, Mesh, entry_of
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import Misfit, Target
from pjit_inspect.model.sharding.laid import laid
from pjit_inspect.observe.partitioner.service import Partitioned
from pjit_inspect.parse.messages.memory_errors import parse_memory_shortage
from pjit_inspect.parse.sharding.propagated_hlo import NumberedNames

_FULL = 'needs effort="full"'
_PARTIAL_LACKS = {
    "cost": "operations are counted in the compiled program, which " + _FULL,
    "memory": "what a device needs is known of the compiled program, which " + _FULL,
}


def compiled_fields(answer: Partitioned, data: RecordData) -> dict[str, Any]:
    """The fields of a record about the compiled program."""
    from pjit_inspect.observe.shardy.numbering import read_places

    kept = {name: why for name, why in data.missing.items() if name in ("jaxpr", "inputs", "outputs", "key")}
    own, names = answer.compiled, NumberedNames(read_places(answer.places))
    if own is None:
        lacks = dict(_PARTIAL_LACKS)
        if answer.failure:
            lacks = dict.fromkeys(lacks, "the program does not fit, so XLA did not compile it to the end")
        if not answer.after:
            lacks["hlo"] = lacks["memory"]
        hlo = Blob(names.in_program(answer.after)) if answer.after else None
        return {"hlo": hlo, "hlo_header": None, "cost": {}, "memory": None, "missing": kept | lacks}
    return {
        "hlo": Blob(names.in_program(own.hlo)), "buffers": Blob(own.buffers) if own.buffers else None,
        "hlo_header": own.header, "cost": own.cost, "memory": own.memory,
        "missing": kept | own.missing,
    }  # fmt: skip


class Layer:
    """Lays arrays over a mesh as XLA's partitioner begins or ends with them; equal layouts share one `Sharding`."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self._known: dict[tuple[Dimensions, str | None], Sharding] = {}

    def __call__(self, layout: ArrayLayout, dimensions: Dimensions) -> ArrayLayout:
        """The layout of an array whose dimensions are split over these axes."""
        spec = dimensions[: len(layout.global_shape)]
        if any(axis not in self._mesh.sizes for own in spec for axis in own):
            # A part of an axis, or tiles that follow none.
            return replace(layout, sharding=None)
        key = spec, None if layout.sharding is None else layout.sharding.memory_kind
        if key not in self._known:
            self._known[key] = self._sharding(*key)
        sharding = self._known[key]
        # Shardings that this change sets, or that follow from it, were not asked for.
        return replace(layout, sharding=sharding, asked=layout.asked if sharding.spec == layout.spec else None)

    def _sharding(self, spec: Dimensions, memory_kind: str | None) -> Sharding:
        return replace(laid(self._mesh, tuple(map(entry_of, spec))), memory_kind=memory_kind)


def on_one(layout: ArrayLayout, device: int) -> ArrayLayout:
    """The layout on a device that has all of every array."""
    rank = len(layout.global_shape)
    kind = "SingleDeviceSharding"
    sharding = Sharding(spec=None, tiles=(1,) * rank, device_ids=(device,), tile_of=(0,), kind=kind)
    return replace(layout, sharding=sharding, asked=None)


def misfit_of(failure: str) -> Misfit | None:
    """XLA's report of a memory shortage: bytes needed and bytes available."""
    if not failure:
        return None
    report = parse_memory_shortage(failure)
    if report is None:
        return Misfit(needed_bytes=None, available_bytes=None, sentence=failure)
    # Another memory, of one kernel, may be short: its figures are not the chip's.
    is_main = report.space == "hbm"
    return Misfit(
        needed_bytes=report.needed_bytes if is_main else None,
        available_bytes=report.available_bytes if is_main else None,
        sentence=report.sentence,
        report=report,
    )


def unchecked_misfit(answer: Partitioned, target: Target) -> Misfit | None:
    """A misfit on a GPU: XLA compiles for GPUs without regard to memory, and its count is compared with the chip's."""
    from pjit_inspect.observe.partitioner.chips import GPUS

    memory = answer.compiled and answer.compiled.memory
    if target.chip not in GPUS or not memory:
        return None
    parts = memory.argument_bytes, memory.output_bytes, memory.temporary_bytes
    needed = sum(part or 0 for part in parts) - (memory.alias_bytes or 0)
    available = GPUS[target.chip].memory_bytes
    if needed <= available:
        return None
    return Misfit(
        needed_bytes=needed,
        available_bytes=available,
        sentence="XLA compiled the program, and its arguments, results and temporaries are more than the GPU has",
    )
