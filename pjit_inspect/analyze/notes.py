"""Short sentences about what a reader of a record could trip over. Each is proven by the program, or not said.

Not its job: drawing them (`view`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pjit_inspect.analyze.collective_sites import find_sites
from pjit_inspect.analyze.dataflow import MOVES, Value
from pjit_inspect.analyze.site import Site
from pjit_inspect.model.collective import Collective
from pjit_inspect.model.hlo import HloModule, Instruction
from pjit_inspect.model.mesh import Mesh
from pjit_inspect.model.record import RecordData

__all__ = ["collective_notes", "program_notes", "record_notes"]

_HALF = ("bf16", "f16")


def collective_notes(rows: Sequence[Collective], data: RecordData) -> tuple[str, ...]:
    """What is unusual about the collectives of a record."""
    aside = sum(row.axes is None for row in rows) if data.mesh is not None else 0
    unknown = sum(row.count is None for row in rows)
    notes = []
    if aside:
        notes.append(f"{_counted(aside, 'collective')} {'follows' if aside == 1 else 'follow'} no mesh axis")
    notes += _torn(rows, data.meshes)
    nowhere = sum(not row.groups for row in rows if row.kind != "collective-permute")
    if nowhere:
        who = "names no devices that are known: its" if nowhere == 1 else "name no devices that are known: their"
        notes.append(f"{_counted(nowhere, 'collective')} {who} bytes on the wire are not counted")
    if unknown:
        notes.append(f"the loop around {_counted(unknown, 'collective')} has no known trip count")
    return tuple(notes)


def _torn(rows: Sequence[Collective], meshes: Sequence[Mesh]) -> list[str]:
    """One note for each mesh that collectives are named after though axes of another fit them too."""
    counts = Counter(row.mesh for row in rows if row.other_axes and row.mesh < len(meshes))
    return [
        f"{_counted(count, 'collective')} {'fits' if count == 1 else 'fit'} axes of several meshes; "
        f"{'it is' if count == 1 else 'they are'} named after {meshes[mesh]}"
        for mesh, count in sorted(counts.items())
    ]


def program_notes(module: HloModule, data: RecordData) -> tuple[str, ...]:
    """What is unusual about the optimized program of a record."""
    notes = list(_widened(module, data))
    notes += [f"not understood, but kept: {what} ({count})" for what, count in sorted(module.unknown.items())]
    return tuple(notes)


def record_notes(data: RecordData) -> tuple[str, ...]:
    """What is unusual about how a record was made."""
    if data.cached == "persistent":
        return ("source lines may be stale: executable came from the persistent cache",)
    return ()


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _widened(module: HloModule, data: RecordData) -> list[str]:
    """One note for each 16-bit type whose values are sent in f32."""
    sites = find_sites(module)
    backend = " (CPU backend)" if any(device.platform == "cpu" for device in data.devices) else ""
    notes = []
    for narrow in _HALF:
        count = sum(_is_widened(site, narrow) for site in sites)
        if count:
            sends = "sends" if count == 1 else "send"
            notes.append(f"{_counted(count, 'collective')} {sends} f32 where the program has {narrow}{backend}")
    return notes


def _is_widened(site: Site, narrow: str) -> bool:
    """Whether a collective moves f32 values that were of type `narrow` right before, for any of its operands."""
    moved = [operand for operand in site.op.operands if operand.shape.dtype == "f32"]
    return any(_was(operand, narrow) for operand in moved)


def _was(operand: Instruction, narrow: str) -> bool:
    value = Value(operand).settled(MOVES)
    return value.instruction.opcode == "convert" and value.operand(0).instruction.shape.dtype == narrow
