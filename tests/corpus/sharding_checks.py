"""Shardings of a record's propagated program, beside those in XLA's own dump, as tiles.

Tiles, not axes, are compared: who holds which piece. Not its job: causes (`checks`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpus.xla_text import Tiles
from corpus.xla_truth import XlaTruth
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, ShardedValue

__all__ = ["Result", "check_shardings", "count_unpaired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How many things were compared, and each that differs, in words."""

    compared: int = 0
    failures: tuple[str, ...] = ()


def check_shardings(record: Any, truth: XlaTruth) -> Result:
    """Every array of the propagated program has the tiles that XLA's module before partitioning has.

    Values are joined by opcode (where the program was read from HLO), JAX's name, place and type, as multisets. What
    one side alone has is not compared: see `count_unpaired`.
    """
    program = record.propagation
    if program is None:
        return Result(failures=("there is no propagated program",))
    ours, theirs = _joined(record, program, truth)
    compared, failures = 0, []
    for key, specs in ours.items():
        others = Counter(theirs.get(key, ()))
        mine = Counter(tiles for tiles, _ in specs)
        pairs = min(len(specs), others.total())
        wrong = pairs - (mine & others).total()
        compared += pairs
        failures += list(_sharding_failures(key, specs, others))[:wrong]
    return Result(compared=compared, failures=tuple(failures))


def count_unpaired(record: Any, truth: XlaTruth) -> int:
    """How many of the propagated program's arrays have no counterpart of their name, place and type."""
    ours, theirs = _joined(record, record.propagation, truth)
    return sum(max(0, len(specs) - len(theirs.get(key, ()))) for key, specs in ours.items())


def _joined(record: Any, program: ShardedProgram, truth: XlaTruth) -> tuple[dict[Any, list], dict[Any, list[Tiles]]]:
    is_hlo = any(op.opcode.startswith("hlo.") for op in program.ops)
    meshes = record.data.meshes
    theirs: dict[Any, list[Tiles]] = defaultdict(list)
    for (opcode, *rest), tiles in truth.values.items():
        if rest[-1]:
            theirs[_key(opcode, tuple(rest), is_hlo)] += tiles
    ours: dict[Any, list] = defaultdict(list)
    for (opcode, *rest), value in _values(program):
        key, (name, _, *kind) = _key(opcode, tuple(rest), is_hlo), rest
        # Where XLA made one instruction of two operations, it forgets where they stand; the numbered copy does not.
        if key not in theirs:
            key = _key(opcode, (name, "", *kind), is_hlo)
        ours[key].append((_tiles(value, meshes, truth.devices), str(value.spec)))
    for boundary in program.inputs:
        value = program.values[boundary.value]
        if value.shape and boundary.name in truth.inputs:
            key = "argument", boundary.name
            ours[key].append((_tiles(value, meshes, truth.devices), str(value.spec)))
            theirs[key].append(truth.inputs[boundary.name])
    return ours, theirs


def _values(program: ShardedProgram) -> Iterator[tuple[Any, ShardedValue]]:
    is_hlo = any(op.opcode.startswith("hlo.") for op in program.ops)
    for index, value in enumerate(program.values):
        if value.op is None or not value.shape:
            continue
        op = program.ops[value.op]
        if not is_hlo and not op.op_name:
            continue
        opcode = _xlas_opcode(op) if index in op.results else "inside"
        if opcode == "inside" and op.kind not in ("while", "conditional", "call", "case"):
            continue
        yield (opcode, op.op_name, _place(op), value.dtype, value.shape), value


def _key(opcode: str, rest: tuple[Any, ...], is_hlo: bool) -> Any:
    # StableHLO has other opcodes than HLO, and one op of it may be several instructions.
    return (opcode, *rest) if is_hlo or opcode == "inside" else rest


def _xlas_opcode(op: ShardedOp) -> str:
    """XLA's opcode: the package writes underscores, and calls what a user's request became after the request."""
    name = op.opcode.removeprefix("hlo.").replace("_", "-")
    return "copy" if name in ("sharding-constraint", "reshard") else name


def _place(op: ShardedOp) -> str:
    return f"{op.frames[0].file}:{op.frames[0].line}" if op.frames else ""


def _tiles(value: ShardedValue, meshes: tuple[Mesh, ...], devices: tuple[int, ...]) -> Tiles | None:
    axes = {axis.partition(":(")[0] for axis in value.axes}
    if not axes:
        return ((0,) * len(value.shape),) * len(devices)
    mesh = next((mesh for mesh in meshes if axes <= set(mesh.axis_names)), None)
    if mesh is None:
        return None
    where = {device: np.unravel_index(k, mesh.shape) for k, device in enumerate(mesh.device_ids)}
    return tuple(
        tuple(_tile(dict(zip(mesh.axis_names, where[device], strict=True)), mesh, named) for named in value.spec)
        for device in devices
    )


def _tile(along: dict[str, Any], mesh: Mesh, named: tuple[str, ...]) -> int:
    tile = 0
    for text in named:
        axis, _, part = text.partition(":(")
        size, index = mesh.shape[mesh.axis_names.index(axis)], int(along[axis])
        if part:
            before, _, count = part.partition(")")
            index = index // (size // (int(before) * int(count))) % int(count)
            size = int(count)
        tile = tile * size + index
    return tile


def _sharding_failures(key: Any, specs: list, others: Counter) -> Iterator[str]:
    left = Counter(others)
    for tiles, spec in specs:
        if left[tiles] > 0:
            left[tiles] -= 1
        else:
            theirs = ", ".join(sorted({str(_counts(tiles)) for tiles in others}))
            yield f"{key}: {spec}; XLA's tiles: {theirs}"


def _counts(tiles: Tiles) -> tuple[int, ...]:
    return tuple(1 + max(column) for column in zip(*tiles, strict=True))
