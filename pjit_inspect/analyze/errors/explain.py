"""An error of JAX's explained: what is wrong, and what would fit.

Not its job: each kind of error (the other modules of `analyze.errors`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath

from pjit_inspect.analyze.errors.divisibility import (
    explain_indivisible,
    explain_mesh_size,
    explain_rank,
    explain_repeated_axis,
    explain_unknown_axis,
)
from pjit_inspect.analyze.errors.elementwise import explain_operands
from pjit_inspect.analyze.errors.fits import mesh_named, needs_mesh, with_meshes
from pjit_inspect.analyze.errors.operations import (
    explain_indexing,
    explain_other_spec,
    explain_repeated_result,
    explain_reshape,
    explain_split_dimension,
)
from pjit_inspect.analyze.errors.placement import explain_devices, explain_mesh
from pjit_inspect.analyze.errors.proposals import Judge
from pjit_inspect.analyze.errors.rows.arguments import ARGUMENT_ROWS
from pjit_inspect.analyze.errors.rows.axes import AXIS_ROWS
from pjit_inspect.analyze.errors.rows.callbacks import CALLBACK_ROWS
from pjit_inspect.analyze.errors.rows.calls import CALL_ROWS
from pjit_inspect.analyze.errors.rows.functions import FUNCTION_ROWS
from pjit_inspect.analyze.errors.rows.loops import LOOP_ROWS
from pjit_inspect.analyze.errors.rows.meshless import MESHLESS_ROWS
from pjit_inspect.analyze.errors.rows.places import PLACE_ROWS
from pjit_inspect.analyze.errors.rows.pmap import PMAP_ROWS
from pjit_inspect.analyze.errors.rows.traced import TRACED_ROWS
from pjit_inspect.analyze.errors.rows.trees import TREE_ROWS
from pjit_inspect.analyze.errors.sizes import explain_convolution, explain_new_size, explain_update
from pjit_inspect.analyze.errors.table import ErrorRow, explain_row
from pjit_inspect.model.report.explained_error import ErrorFacts, ErrorKind, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import place, say

_ROWS: tuple[ErrorRow, ...] = (
    *PMAP_ROWS, *CALLBACK_ROWS, *AXIS_ROWS, *PLACE_ROWS, *CALL_ROWS, *FUNCTION_ROWS, *LOOP_ROWS, *TRACED_ROWS,
    *ARGUMENT_ROWS, *MESHLESS_ROWS, *TREE_ROWS,
)  # fmt: skip
_LONGEST = 20_000
_JUDGED: dict[ErrorKind, Callable[[ErrorFacts, ErrorScene, Judge], ExplainedError]] = {
    "contraction": explain_operands,
    "conflict": explain_operands,
    "axis twice": explain_operands,
    "new size": explain_new_size,
    "update": explain_update,
    "convolution": explain_convolution,
    "split dimension": explain_split_dimension,
}
"""Errors whose changes JAX judges one after the other until it takes one."""

_EXPLAIN: dict[ErrorKind, Callable[[ErrorFacts, ErrorScene], ExplainedError | None]] = {
    "indivisible": explain_indivisible,
    "indexing": explain_indexing,
    "reshape": explain_reshape,
    "other spec": explain_other_spec,
    "mesh": explain_mesh,
    "devices": explain_devices,
    "rank": explain_rank,
    "unknown axis": explain_unknown_axis,
    "repeated axis": explain_repeated_axis,
    "mesh size": explain_mesh_size,
}


def _unknown(fit: Fit) -> None:
    """The judge where nobody can be asked."""


def explain_error(facts: ErrorFacts, scene: ErrorScene, judge: Judge = _unknown) -> ExplainedError | None:
    """What an error's message and its traceback say together; None when it is another error of the same words."""
    if facts.kind in _JUDGED:
        explained = _JUDGED[facts.kind](facts, scene, judge)
        return replace(_with_mesh(explained, scene), frame=scene.frame, line=scene.line)
    explain = _EXPLAIN[facts.kind]
    if facts.kind == "repeated axis" and scene.operator == "[]" and scene.operands:
        explain = explain_repeated_result
    explained = explain(facts, scene)
    if explained is None:
        return None
    explained = _with_mesh(explained, scene)
    frame, line = scene.frame, scene.line
    file, _, number = facts.place.rpartition(":")
    if facts.kind == "devices" and number.isdigit() and frame is not None and file == frame.file:
        words = say("the sharding is at {}", place(f"{PurePath(file).name}:{number}"))
        explained = replace(explained, notes=(*explained.notes, words)) if int(number) != frame.line else explained
    return replace(explained, frame=frame, line=line)


def is_known(message: str) -> bool:
    """Whether a row of the table has this message."""
    return any(row.pattern.match(message[:_LONGEST]) for row in _ROWS)


def explain_message(message: str, scene: ErrorScene) -> ExplainedError | None:
    """What the table says of a message; None when no row has it. Raises nothing."""
    for row in _ROWS:
        with suppress(ValueError, KeyError, IndexError, SyntaxError, TypeError):
            explained = explain_row(row, message[:_LONGEST], scene)
            if explained is not None:
                return replace(_with_mesh(explained, scene), frame=scene.frame, line=scene.line)
    return None


def _with_mesh(explained: ExplainedError, scene: ErrorScene) -> ExplainedError:
    """Where no mesh is set, the edits that have a spec alone get theirs, or a note that tells what they need."""
    if scene.is_mesh_set or not any(map(needs_mesh, explained.fits)):
        return explained
    wanted = next((array.mesh for array in explained.arrays if array.mesh is not None), None)
    if mesh := mesh_named(wanted, scene):
        explained = replace(explained, fits=with_meshes(explained.fits, mesh))
    if not any(map(needs_mesh, explained.fits)):
        return explained
    note = say("a spec alone needs a mesh that is set, as by `jax.set_mesh`; elsewhere it goes into a `NamedSharding`")
    return replace(explained, notes=(*explained.notes, note))
