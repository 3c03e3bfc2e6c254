"""Short sentences about what a reader of a record could trip over. Each is proven by the program, or not said.

Not its job: drawing them (`view`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.collectives.collective_sites import find_sites
from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.dataflow import MOVES, operand, settled
from pjit_inspect.analyze.program.phases import find_implicit
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.layout import WRITTEN
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.report import Note

_HALF = ("bf16", "f16")
Widened = tuple[tuple[str, tuple[str, ...]], ...]
"""A 16-bit type, and the first instruction of each collective that sends values of it as f32."""
_MOST_STEPS = 1000
"""Uses of one value, moved and through fusions, that are looked at."""


def collective_notes(rows: Sequence[Collective], data: RecordData) -> tuple[str, ...]:
    """Notes on unusual collectives of a record."""
    notes: list[Note] = []
    aside = [row for row in rows if row.axes is None] if data.mesh is not None else []
    if aside:
        verb = "follows" if len(aside) == 1 else "follow"
        notes.append(_about(aside, f"{_counted(len(aside), 'collective')} {verb} no mesh axis"))
    notes += _torn(rows, data.meshes)
    nowhere = [row for row in rows if not row.groups and row.kind != "collective-permute"]
    if nowhere:
        who = "names no devices that are known: its" if len(nowhere) == 1 else "name no devices that are known: their"
        notes.append(_about(nowhere, f"{_counted(len(nowhere), 'collective')} {who} bytes on the wire are not counted"))
    unknown = [row for row in rows if row.count is None]
    if unknown:
        words = f"the loop around {_counted(len(unknown), 'collective')} has no known trip count"
        notes.append(_about(unknown, words))
    return tuple(notes)


def _about(rows: Sequence[Collective], words: str) -> Note:
    return Note.about(words, instructions=tuple(row.instructions[0] for row in rows if row.instructions))


def _torn(rows: Sequence[Collective], meshes: Sequence[Mesh]) -> list[Note]:
    """One note for each mesh that collectives are named after though axes of another fit them too."""
    torn: dict[int, list[Collective]] = {}
    for row in rows:
        if row.other_axes and row.mesh < len(meshes):
            torn.setdefault(row.mesh, []).append(row)
    return [
        _about(
            own,
            f"{_counted(len(own), 'collective')} {'fits' if len(own) == 1 else 'fit'} axes of several meshes; "
            f"{'it is' if len(own) == 1 else 'they are'} named after {meshes[mesh]}",
        )
        for mesh, own in sorted(torn.items())
    ]


def program_notes(module: HloModule, data: RecordData, widened: Widened = ()) -> tuple[str, ...]:
    """Notes on the optimized program of a record; `widened` is the result of `find_widened`."""
    notes = _widened_notes(widened, data)
    notes += [f"not understood, but kept: {what} ({count})" for what, count in sorted(module.unknown.items())]
    return tuple(notes)


def record_notes(data: RecordData) -> tuple[str, ...]:
    """Notes on an unusual way in which a record was made."""
    notes = []
    if data.cached == "persistent":
        notes.append("source lines may be stale: executable came from the persistent cache")
    if "partitioner" in data.missing:
        notes.append(f"causes rest on names, not on XLA's own shardings: {data.missing['partitioner']}")
    if any(one.sharding is not None and one.sharding.kind == WRITTEN for one in (*data.inputs, *data.outputs)):
        unnamed = data.mesh is not None and any(name.startswith("axis_") for name in data.mesh.axis_names)
        words = "; axes that have no names there are called axis_0, axis_1, ..." if unnamed else ""
        notes.append(f"shardings and devices are read from the program in the file{words}")
    return tuple(notes)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def find_widened(module: HloModule) -> Widened:
    """For each 16-bit type that is sent as f32: its name, and the first instruction of each such collective."""
    sites = find_sites(module)
    widened = [(narrow, [site for site in sites if _is_widened(site, narrow)]) for narrow in _HALF]
    return tuple((narrow, tuple(one.instructions[0].name for one in sent)) for narrow, sent in widened if sent)


def _widened_notes(widened: Widened, data: RecordData) -> list[str]:
    """One note for each type."""
    backend = " (CPU backend)" if any(device.platform == "cpu" for device in data.devices) else ""
    notes = []
    for narrow, names in widened:
        sends = "sends" if len(names) == 1 else "send"
        words = f"{_counted(len(names), 'collective')} {sends} f32 where the program has {narrow}{backend}"
        notes.append(Note.about(words, instructions=names))
    return notes


def _is_widened(site: CollectiveOp, narrow: str) -> bool:
    """True if a collective moves f32 values that were of type `narrow` right before and are so again right after.

    Only then has the backend widened them: a program that asks for f32 goes on with f32. What the user wrote is sent as
    it was written.
    """
    op = site.op
    if find_implicit(op.op_name, op.details.frontend_attributes, site.kind, {op.channel_id}) is False:
        return False
    results = _results(site)
    moved = [(k, operand) for k, operand in enumerate(op.operands) if operand.shape.dtype == "f32"]
    return any(_was(operand, narrow) and _becomes(results.get(k, ()), narrow) for k, operand in moved)


def _results(site: CollectiveOp) -> dict[int, tuple[Instruction, ...]]:
    """Operand number -> the instructions that yield what it became; of combined collectives, those that pick it."""
    last = site.instructions[-1]
    if len(site.op.operands) == 1:
        return {0: (last,)}
    picked: dict[int, tuple[Instruction, ...]] = {}
    for user in last.users:
        if user.opcode == "get-tuple-element":
            number = user.number
            picked[number] = (*picked.get(number, ()), user)
    return picked


def _was(given: Instruction, narrow: str) -> bool:
    value = settled(given, MOVES)
    return value.opcode == "convert" and operand(value, 0).shape.dtype == narrow


def _becomes(results: Sequence[Instruction], narrow: str) -> bool:
    """True if these values are used, and only to make `narrow` ones of them."""
    border = [(result, user) for result in results for user in result.users]
    seen = set(border)
    if not border:
        return False
    while border:
        value, user = border.pop()
        if user.opcode == "convert" and user.shape.dtype == narrow:
            continue
        uses = _uses(user, value)
        fresh = [use for use in uses if use not in seen]
        seen.update(fresh)
        border.extend(fresh)
        if not uses or len(seen) > _MOST_STEPS:
            return False
    return True


def _uses(user: Instruction, value: Instruction) -> list[tuple[Instruction, Instruction]]:
    """The next users of `value` after `user`, which only moves it or is a fusion; [] for any other user."""
    if user.opcode == "fusion":
        inside = [part for k, operand in enumerate(user.operands) if operand == value for part in _parameter(user, k)]
        return [(part, inner) for part in inside for inner in part.users]
    return [(user, after) for after in user.users] if user.opcode in MOVES else []


def _parameter(fusion: Instruction, number: int) -> list[Instruction]:
    """The parameter of a fusion's body that stands for operand `number`."""
    body = fusion.called[0] if fusion.called else ()
    return [part for part in body if part.opcode == "parameter" and part.number == number]
