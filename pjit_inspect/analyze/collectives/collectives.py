"""The collectives of an optimized program, in the user's mesh axes and source lines.

XLA gives most collectives the name and source frames of the operation they were made for. Some have less: combined ones
lose both, and from JAX 0.12 on a resharded value is named after itself and has no frame. What is missing is then taken
from the nearest instruction that has it: for a sum, the maker of the summed value; for others, the user of the moved
value.

Not its job: why each is there (`analyze.causes.causes`), how it is spread over instructions
(`analyze.collectives.collective_sites`), what it costs (`analyze.collectives.traffic`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pjit_inspect.analyze.causes.causes import CauseFinder
from pjit_inspect.analyze.collectives.collective_sites import find_sites
from pjit_inspect.analyze.collectives.traffic import OverlapFinder, wire_bytes, with_hosts
from pjit_inspect.analyze.program.collective_op import CollectiveOp
from pjit_inspect.analyze.program.dataflow import MOVES, settled
from pjit_inspect.analyze.program.device_groups import (
    MOST_MEMBERS,
    Groups,
    logical_groups,
    logical_pairs,
    with_bounded_groups,
)
from pjit_inspect.analyze.program.loops import NEVER, UNKNOWN, Runs, count_runs
from pjit_inspect.analyze.program.mesh_axes import find_axes_in, positions_of
from pjit_inspect.analyze.program.phases import find_implicit, find_phase
from pjit_inspect.analyze.program.source import UNKNOWN_FILES, UserFiles, user_frames
from pjit_inspect.model.program.hlo import Computation, HloModule
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.program.shape import Shape, total
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.collective import Collective, CollectiveTable

_MOST_BYTES = 1 << 63
"""More bytes than any program moves in a call; a larger claim is unknown."""


def find_collectives(
    module: HloModule,
    mesh: Mesh | None = None,
    device_ids: Sequence[int] | None = None,
    *,
    other_meshes: Sequence[Mesh] = (),
    files: UserFiles = UNKNOWN_FILES,
    causes: CauseFinder | None = None,
    hosts: Sequence[int] | None = None,
) -> CollectiveTable:
    """Every collective of `module`, most bytes sent first, then in the order of the program's bytes.

    Args:
      module: the optimized program.
      mesh: the user's mesh; None for none: groups are then logical ids, and follow no axes.
      device_ids: the device of each logical id (replica times partitions plus partition); None if ids are positions in
        `mesh`.
      other_meshes: the other meshes of the program, also searched for axes. If groups follow axes of several meshes,
        the first decides; parts of axes count only if no mesh has complete axes that fit.
      files: the user's files.
      causes: finds the causes; None leaves `Collective.causes` empty.
      hosts: the host (process) of each position in `mesh`; None if unknown.
    """
    module = with_bounded_groups(module)
    sites = find_sites(module)
    if not sites:
        return CollectiveTable(())
    context = _Context(
        mesh=mesh,
        meshes=tuple(m for m in (mesh, *other_meshes) if m is not None),
        device_ids=None if device_ids is None else tuple(device_ids),
        runs=count_runs(module),
        overlaps=OverlapFinder(module),
        files=files,
    )
    rows = [_collective(site, context) for site in sites]
    if causes is not None:
        rows = [_with_phase_of_cause(row) for row in causes.explain(sites, rows)]
    if hosts is not None:
        rows = with_hosts(rows, hosts)
    return CollectiveTable(tuple(sorted(rows, key=lambda row: -((row.wire_bytes or 0) * (row.count or 1)))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Context:
    """Facts shared by all collectives of one program.

    `found` caches results for equal groups, `members` the number of devices they name, for permutes and for others.
    """

    mesh: Mesh | None
    meshes: tuple[Mesh, ...]
    device_ids: tuple[int, ...] | None
    runs: tuple[Runs, ...]
    overlaps: OverlapFinder
    files: UserFiles
    found: dict[tuple[bool, Groups], _Place] = field(default_factory=dict)
    members: Counter[bool] = field(default_factory=Counter)

    @property
    def devices(self) -> int | None:
        """The number of the program's devices; None if unknown."""
        if self.device_ids is not None:
            return len(self.device_ids)
        return self.mesh.size if self.mesh else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Axes and groups of a collective, as in `Collective`; `size` is that of the largest group, None if unknown."""

    axes: tuple[str, ...] | None
    groups: Groups
    size: int | None
    mesh: int = 0
    other_axes: tuple[tuple[str, ...], ...] = ()


_UNKNOWN = _Place(axes=None, groups=(), size=None)


def _collective(site: CollectiveOp, context: _Context) -> Collective:
    op, details, origin = site.op, site.op.details, find_origin(site)
    arrays = _operands(site)
    payload = total(_possible_bytes(shape) for shape in arrays)
    place, overlap = _place(site, context), context.overlaps.find(site)
    wire = None if payload is None or place.size is None else wire_bytes(site.kind, payload, place.size)
    runs = _possible(_runs(site, context), max(payload or 0, wire or 0))
    return Collective(
        kind=site.kind,
        axes=place.axes,
        groups=place.groups,
        mesh=place.mesh,
        other_axes=place.other_axes,
        dtype=", ".join(dict.fromkeys(shape.dtype for shape in arrays)),
        local_shape=max(arrays, key=lambda shape: _possible_bytes(shape) or 0).dimensions if arrays else (),
        operands=len(arrays),
        payload_bytes=payload,
        wire_bytes=wire,
        count=runs.most,
        count_min=runs.least,
        implicit=find_implicit(op.op_name, details.frontend_attributes, site.kind, _channels(site)),
        # The frames of a combined collective are those of one of its parts.
        phase=find_phase(origin.op_name, origin.frames if len(arrays) == 1 else ()),
        op_name=origin.op_name,
        moved="" if origin.op_name else _moved(site, arrays),
        source=user_frames(origin.frames, context.files),
        instructions=tuple(part.name for part in site.instructions),
        channel_id=op.channel_id,
        is_async=site.is_async,
        overlaps=overlap.names,
        overlap_count=overlap.count,
        decomposed=site.decomposed,
    )


def _with_phase_of_cause(row: Collective) -> Collective:
    """Gives a collective that XLA named after the moved argument the phase of the operation that needs it."""
    if row.phase is not None or "/" in row.op_name or any(cause.evidence != "sharding" for cause in row.causes):
        return row
    phases = {find_phase(cause.op_name) for cause in row.causes}
    return replace(row, phase=phases.pop()) if len(phases) == 1 else row


def _possible_bytes(shape: Shape) -> int | None:
    """Bytes of an array; None when they are unknown, or more than any machine has."""
    size = shape.bytes
    return None if size is None or size > _MOST_BYTES else size


def _possible(runs: Runs, size: int) -> Runs:
    """The number of runs of an operation that moves `size` bytes; unknown if the total would be impossibly large."""
    return UNKNOWN if runs.most is not None and runs.most * size > _MOST_BYTES else runs


def _channels(site: CollectiveOp) -> set[int | None]:
    """The channels of its instructions that move data, including a ring's permutes; None for one without."""
    members = site.members or (site,)
    sends = (part for member in members for part in member.instructions if part.opcode == "send")
    return {part.channel_id for part in (*(member.op for member in members), *sends)}


def _runs(site: CollectiveOp, context: _Context) -> Runs:
    """The number of runs; for a ring, the runs of its permutes."""
    runs = NEVER
    for member in site.members or (site,):
        if member.instructions:
            runs = runs.plus(context.runs[member.instructions[0].computation.index])
    return runs


def _operands(site: CollectiveOp) -> list[Shape]:
    """The shapes of the arrays it moves."""
    operands = site.op.operands
    if site.kind == "ragged-all-to-all":
        # The other operands give the places of pieces.
        operands = operands[:1]
    return [leaf for operand in operands for leaf in operand.shape.leaves if leaf.is_array]


def _moved(site: CollectiveOp, arrays: Sequence[Shape]) -> str:
    """The moved array by type, shape, and maker; "" if unknown."""
    if not arrays or not site.op.operands:
        return ""
    largest = max(arrays, key=lambda shape: _possible_bytes(shape) or 0)
    maker = settled(site.op.operands[0], MOVES | {"convert"})
    if maker.opcode == "get-tuple-element" and maker.operands and maker.operands[0].opcode == "parameter":
        made = f"element {maker.number} of {maker.operands[0].name}"
    elif maker.opcode == "parameter":
        named = maker.op_name if maker.op_name and "/" not in maker.op_name else maker.name
        made = f"parameter {named}"
    else:
        made = maker.opcode
    lengths = ",".join(map(str, largest.dimensions))
    return f"{largest.dtype}[{lengths}] of {made}"


def _place(site: CollectiveOp, context: _Context) -> _Place:
    op, details, counts = site.op, site.op.details, site.op.module.device_counts
    moves = site.kind == "collective-permute"
    if moves:
        # Without pairs, they may be what was not understood.
        is_unclear = not site.pairs and (bool(details.unknown) or "source_target_pairs" in details.other)
        ids = None if is_unclear else logical_pairs(site.pairs, op.channel_id, counts)
    else:
        kind = op.opcode.removesuffix("-start")
        ids = (
            None
            if context.members.total() > MOST_MEMBERS
            else logical_groups(kind, details, op.channel_id, counts, context.devices)
        )
    if ids is None:
        return _UNKNOWN
    key = (moves, ids)
    if key not in context.found:
        context.members[moves] += sum(map(len, ids))
        if context.members.total() > MOST_MEMBERS:
            return _UNKNOWN
        context.found[key] = _find_place(ids, moves, context)
    return context.found[key]


def _find_place(ids: Groups, moves: bool, context: _Context) -> _Place:
    groups = _in_mesh(ids if ids or moves else _everyone(context), context)
    if moves:
        size = 2 if any(source != target for source, target in ids) else 1
    else:
        # Empty groups mean all devices, whose number may be unknown.
        size = max((len(group) for group in groups), default=None)
    axes_in = find_axes_in(ids, context.meshes, context.device_ids, is_permute=moves)
    if not axes_in:
        return _Place(axes=None, groups=groups, size=size)
    # A group list may name a mesh (JAX 0.12), but not always the one the user meant: XLA rewrites one into another. A
    # permute moves along some axes of every mesh, and along the fewest axes of the intended one.
    mesh = min(axes_in, key=lambda number: (len(axes_in[number]) if moves else 0, number))
    others = tuple(dict.fromkeys(axes for axes in axes_in.values() if axes != axes_in[mesh]))
    return _Place(axes=axes_in[mesh], groups=groups, size=size, mesh=mesh, other_axes=others)


def _everyone(context: _Context) -> Groups:
    return (tuple(range(context.devices)),) if context.devices else ()


def _in_mesh(ids: Groups, context: _Context) -> Groups:
    """The groups as positions in the mesh; as they are when there is no mesh or a device is not in it."""
    if context.mesh is None or context.device_ids is None or not ids:
        return ids
    flat = np.array([i for group in ids for i in group], np.int64)
    positions = positions_of(flat, context.mesh, context.device_ids)
    if positions is None:
        return ids
    if np.array_equal(positions, flat):
        return ids
    places = iter(positions.tolist())
    return tuple(tuple(itertools.islice(places, len(group))) for group in ids)


_MOST_CALLS = 200
"""Calls within calls, where a program is damaged and calls itself."""

_HOPS = 6
_MOST = 256
"""Farther or more neighbours than these say nothing about a collective."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The operation that a collective belongs to.

    Attributes:
      op_name: JAX's name of the operation; several joined by ";" for a combined collective; "" if unknown.
      frames: source frames, innermost first (libraries included); () if unknown.
    """

    op_name: str
    frames: tuple[Frame, ...]


def find_origin(site: CollectiveOp) -> Origin:
    """The operation a collective belongs to: by its name and frames, or those of its nearest neighbours."""
    module = site.op.module
    own = [site.op.index, *(part.index for part in site.instructions)]
    names = _names(module, own)[:1]
    frames = _frames(module, own)
    for neighbours in _directions(site):
        if names and frames:
            break
        names = names or _names(module, _nearest(module, own, neighbours, module.instructions.op_name))
        frames = frames or _frames(module, _nearest(module, own, neighbours, module.instructions.frame))
    outer = _outer_name(site.op.computation)
    return Origin(op_name=";".join(_within(outer, name) for name in names), frames=frames)


def _outer_name(computation: Computation) -> str:
    """XLA's prefix for names in a computation once it is inlined; "" for the entry.

    The body of a `shard_map` is inlined only after XLA's partitioner: until then its operations have names without the
    prefix. Also "" for several callers, which have different names.
    """
    name = ""
    for _ in range(_MOST_CALLS):
        callers = computation.callers
        if len(callers) != 1:
            return "" if callers else name
        if callers[0].opcode == "call":
            name = _within(callers[0].op_name, name)
        computation = callers[0].computation
    return ""


def _within(outer: str, name: str) -> str:
    """XLA's name of an operation after inlining its computation."""
    if not outer or name.partition("/")[0] == outer.partition("/")[0]:
        return name
    return f"{outer}/{name}" if name else outer


def _names(module: HloModule, indices: Iterable[int]) -> list[str]:
    """The distinct names of these instructions, in order."""
    names = (module.op_names[module.instructions.op_name[index]] for index in indices)
    return list(dict.fromkeys(name for name in names if name))


def _frames(module: HloModule, indices: Iterable[int]) -> tuple[Frame, ...]:
    """The frames of the first of these instructions that has any."""
    return next((frames for frames in map(module.frames, indices) if frames), ())


_Neighbours = Callable[[int], list[int]]


def _directions(site: CollectiveOp) -> tuple[_Neighbours, _Neighbours]:
    operands, users = site.op.module.instructions.operands, site.op.module.users
    back, on = (lambda index: operands[index].tolist()), (lambda index: users[index].tolist())
    # A sum belongs to what makes the parts (the product), a gather to what needs the result; the other way is second.
    return (back, on) if site.kind in SUMS else (on, back)


def _nearest(module: HloModule, start: list[int], neighbours: _Neighbours, column: np.ndarray) -> list[int]:
    """The first instructions with an entry in `column` on each way from `start`, not counting `start`."""
    seen, nearest, border = set(start), [], start
    for _ in range(_HOPS):
        around = list(dict.fromkeys(near for index in border for near in neighbours(index) if near not in seen))
        seen.update(around)
        # A way ends at the first instruction with an entry: anything behind it belongs to another operation of the
        # user.
        nearest += [index for index in around if column[index]]
        border = [index for index in around if not column[index]]
        if not border or len(seen) > _MOST:
            break
    return nearest
