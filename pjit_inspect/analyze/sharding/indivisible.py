"""Constraints over mesh axes that do not divide the dimension: what was asked, and what XLA made of it.

JAX takes such a constraint. A result it cannot give so comes back otherwise; a value in between is padded. Both are
said only where the compiled program shows them. Not its job: errors that JAX raises (`analyze.errors.facts.specs`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from pjit_inspect.analyze.program.source import UserFiles, user_frames
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.sharding.sharded_program import ShardedProgram, ShardedValue

_CONSTRAINTS = frozenset(("sharding_constraint", "reshard"))
_MOST = 3


def indivisible_notes(
    data: RecordData, module: HloModule, program: ShardedProgram | None, files: UserFiles
) -> tuple[str, ...]:
    """One sentence for each, equal ones of a line together; at most three, and how many more there are."""
    counts = Counter(_find(data, module, program, files)) if program is not None else Counter[tuple[str, str]]()
    notes = [
        f"the constraint {where} asks for {asked}" if count == 1 else f"{count} constraints {where} ask for {asked}"
        for (where, asked), count in list(counts.items())[:_MOST]
    ]
    more = len(counts) - _MOST
    rest = f"{more} more constraint{'s' * (more != 1)} over axes that do not divide a dimension"
    return (*notes, *((rest,) if more > 0 else ()))


def _find(data: RecordData, module: HloModule, program: ShardedProgram, files: UserFiles) -> Iterator[tuple[str, str]]:
    """Yield where each constraint stands, and what it asks of which array and what came of that."""
    results = {boundary.value: number for number, boundary in enumerate(program.outputs)}
    shapes: frozenset[str] | None = None
    for op in program.ops:
        if op.kind not in _CONSTRAINTS or op.manual or len(op.results) != 1:
            continue
        value = program.values[op.results[0]]
        dimension = _odd_dimension(program, value)
        if dimension is None:
            continue
        frames = user_frames(op.frames, files)
        shapes = _shapes(module) if shapes is None else shapes
        came = _came(data, program, op.results[0], results, shapes)
        where = f"at {frames[0].where}" if frames else "without a place in the source"
        yield where, f"{_asked(program, value, dimension)}{came}"


def _odd_dimension(program: ShardedProgram, value: ShardedValue) -> int | None:
    """The first dimension that the axes of a constraint do not divide."""
    pieces = map(program.pieces, _wanted(value))
    return next((k for k, (length, n) in enumerate(zip(value.shape, pieces, strict=True)) if length % n), None)


def _wanted(value: ShardedValue) -> Dimensions:
    """The axes that the constraint itself names: an open dimension may have got more."""
    if len(value.closed) != len(value.spec):
        return value.spec
    return tuple(axes if closed else () for axes, closed in zip(value.spec, value.closed, strict=True))


def _asked(program: ShardedProgram, value: ShardedValue, dimension: int) -> str:
    axes = value.spec[dimension]
    named = " and ".join(f"`{axis}`" for axis in axes)
    do = "does" if len(axes) == 1 else "do"
    pieces = program.pieces(axes)
    array = f"{value.dtype}[{','.join(map(str, value.shape))}]"
    spec = spec_text(_wanted(value))
    return f"`{spec}` of {array}, but {named} ({pieces} devices) {do} not divide dimension {dimension}"


def _came(
    data: RecordData, program: ShardedProgram, index: int, results: Mapping[int, int], shapes: frozenset[str]
) -> str:
    """The result of the constraint in the compiled program, in words; "" where it does not show."""
    value = program.values[index]
    if index in results and len(data.outputs) == len(program.outputs):
        layout = data.outputs[results[index]]
        if layout.spec is not None and layout.global_shape == value.shape:
            got = tuple(entry if isinstance(entry, tuple) else (entry,) if entry else () for entry in layout.spec)
            return f": `{layout.path}` comes back as `{spec_text(got)}`" if got != _wanted(value) else ""
    local = f"{value.dtype}[{','.join(map(str, program.local_shape(index)))}]"
    return f": XLA pads the pieces to {local}" if local in shapes else ""


def _shapes(module: HloModule) -> frozenset[str]:
    """The types of all values of the compiled program."""
    rows = int(module.instructions.shape.max(initial=-1)) + 1
    return frozenset(str(module.reader.shape(row)) for row in range(rows))
