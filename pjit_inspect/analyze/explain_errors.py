"""An error with which JAX refused a sharding, explained: what is wrong, and what would fit.

Not its job: each kind of error (the other modules `analyze.explain_*`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pjit_inspect.analyze.explain_divisibility import (
    explain_indivisible,
    explain_mesh_size,
    explain_rank,
    explain_repeated_axis,
    explain_unknown_axis,
)
from pjit_inspect.analyze.explain_elementwise import explain_operands
from pjit_inspect.analyze.explain_operations import (
    explain_indexing,
    explain_other_spec,
    explain_repeated_result,
    explain_reshape,
    explain_split_dimension,
)
from pjit_inspect.analyze.explain_placement import explain_devices, explain_mesh
from pjit_inspect.model.explained_error import ErrorFacts, ErrorKind, ErrorScene, ExplainedError

__all__ = ["explain_error"]

_EXPLAIN: dict[ErrorKind, Callable[[ErrorFacts, ErrorScene], ExplainedError]] = {
    "indivisible": explain_indivisible,
    "contraction": explain_operands,
    "conflict": explain_operands,
    "axis twice": explain_operands,
    "indexing": explain_indexing,
    "reshape": explain_reshape,
    "split dimension": explain_split_dimension,
    "other spec": explain_other_spec,
    "mesh": explain_mesh,
    "devices": explain_devices,
    "rank": explain_rank,
    "unknown axis": explain_unknown_axis,
    "repeated axis": explain_repeated_axis,
    "mesh size": explain_mesh_size,
}


_BARE = ("reshard(", "out_sharding=")
"""What takes a spec alone only where a mesh is set."""


def explain_error(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """What an error's message and its traceback say together."""
    explain = _EXPLAIN[facts.kind]
    if facts.kind == "repeated axis" and scene.operator == "[]" and scene.operands:
        explain = explain_repeated_result
    found = explain(facts, scene)
    return replace(found, frame=scene.frame, line=scene.line, notes=(*found.notes, *_mesh_notes(found, scene)))


def _mesh_notes(found: ExplainedError, scene: ErrorScene) -> list[str]:
    """What an edit with a bare spec needs, where no mesh is set."""
    if scene.is_mesh_set or not any(word in fit.edit for fit in found.fits for word in _BARE):
        return []
    wanted = next(((array.mesh.axes, array.mesh.types) for array in found.arrays if array.mesh is not None), None)
    held = [mesh.name for mesh in scene.meshes if mesh.name and (mesh.axes, mesh.types) == wanted]
    name = held[0] if len(held) == 1 else "mesh"
    return [
        f"a spec alone needs a mesh that is set, as by `jax.set_mesh({name})`; elsewhere write "
        f"`NamedSharding({name}, P(...))` for it"
    ]
