"""PartitionSpecs that a user gives by path or place, as edits of a captured program.

Not its job: making the edits (`observe.shardy.what_if`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pjit_inspect.analyze.play.settings import checked_spec, path_matcher, unknown_name
from pjit_inspect.errors import ChangeError
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Dimensions, PartitionSpec, axes_of
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.edit import Edit, EditKind
from pjit_inspect.model.sharding.sharded_program import ShardedProgram

_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+)")
_CONSTRAINT = "sharding_constraint"


def find_edits(
    specs: Mapping[str, Any], data: RecordData, axes: Iterable[str], program: Callable[[], ShardedProgram]
) -> tuple[Edit, ...]:
    """Edits that give arrays these specs.

    Args:
      specs: by the path of an argument or result ("params['w1']", "result[0]"), where `*` is any key and a path
        includes everything beneath it; or by the place of a `with_sharding_constraint` ("train.py:41"). A spec is a
        `jax.sharding.PartitionSpec`, or a tuple like one; None leaves the sharding to XLA, and removes a constraint.
      data: the record.
      axes: axes of the program's mesh after the change.
      program: gives the captured program with its operations, to find constraints in.

    Raises ChangeError for an unknown path or place, and for a spec that does not fit.
    """
    known = tuple(axes)
    # A later entry overrides an earlier one: a subtree may be given first, and one of its arrays after it.
    edits: dict[tuple[EditKind, int], Edit] = {}
    for path, spec in specs.items():
        for edit in _edits_of(path, spec, data, known, program):
            edits[edit.kind, edit.index] = edit
    return tuple(edits.values())


def _edits_of(
    path: str, spec: Any, data: RecordData, axes: Sequence[str], program: Callable[[], ShardedProgram]
) -> list[Edit]:
    pattern = path_matcher(path)
    kept = data.parameters
    sides: tuple[tuple[EditKind, Sequence[ArrayLayout]], ...] = (("argument", kept), ("result", data.outputs))
    for kind, layouts in sides:
        found = [(index, layout) for index, layout in enumerate(layouts) if pattern.match(layout.path)]
        if found:
            return [
                Edit(kind=kind, index=index, spec=_dimensions(layout.path, spec, len(layout.global_shape), axes))
                for index, layout in found
            ]
    if any(pattern.match(layout.path) for layout in data.inputs):
        raise ChangeError(f"specs: {path!r} is an argument that the compiled program does not use")
    if place := _PLACE.fullmatch(path):
        return _constraints(path, place["file"], int(place["line"]), spec, axes, program())
    error = unknown_name(data.name, "argument or result", path, [layout.path for layout in (*kept, *data.outputs)])
    raise ChangeError(f"{error}. A constraint is named by its place, as in 'train.py:41'")


def _dimensions(name: str, spec: Any, rank: int, axes: Sequence[str]) -> Dimensions | None:
    plain = plain_spec(spec)
    return None if plain is None else tuple(map(axes_of, checked_spec(name, plain, rank, axes)))


def plain_spec(spec: Any) -> PartitionSpec | None:
    """A `jax.sharding.PartitionSpec`, or a tuple or list like one, as plain data; None stays None."""
    if spec is None:
        return None
    if isinstance(spec, (tuple, list)) and not hasattr(spec, "unreduced"):
        return tuple(tuple(own) if isinstance(own, list) else own for own in spec)
    from pjit_inspect.observe.live.shardings import full_spec

    return full_spec(spec, 0)


def _constraints(
    path: str, file: str, line: int, spec: Any, axes: Sequence[str], program: ShardedProgram
) -> list[Edit]:
    places = []
    edits = []
    for index, op in enumerate(program.ops):
        if op.kind != _CONSTRAINT:
            continue
        places += [frame.where for frame in op.frames[:1]]
        if any(
            frame.where == path or (frame.line == line and (frame.file == file or frame.file.endswith(f"/{file}")))
            for frame in op.frames
        ):
            rank = len(program.values[op.results[0]].shape)
            dimensions = _dimensions(f"the constraint at {path}", spec, rank, axes)
            edits.append(Edit(kind="remove" if dimensions is None else "respec", index=index, spec=dimensions))
    if not edits:
        shown = ", ".join(dict.fromkeys(places)) or "none"
        raise ChangeError(f"specs: there is no with_sharding_constraint at {path}; the program has {shown}")
    return edits
