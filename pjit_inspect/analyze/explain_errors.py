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


def explain_error(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """What an error's message and its traceback say together."""
    explain = _EXPLAIN[facts.kind]
    if facts.kind == "repeated axis" and scene.operator == "[]" and scene.operands:
        explain = explain_repeated_result
    return replace(explain(facts, scene), frame=scene.frame, line=scene.line)
