"""Whether XLA leaves Shardy for GSPMD on a program: the same test as its own, `hasGspmdAttrsOrOps`.

XLA does so, also beside `sdy.mesh`, when any GSPMD attribute or operation is left: a function exported with
`jax_use_shardy_partitioner` off and called under Shardy has them. Not its job: what JAX asked for
(`observe.shardy.how_compiled`), or what XLA says about it (`Partitioned.notice`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["has_gspmd_marks"]

_SHARDING, _SHARDY_SHARDING, _SHARDY_AS_TEXT = "mhlo.sharding", "sdy.sharding", "xla.sdy.sharding"
_FRONTEND, _RESULTS_AS_TEXT = "mhlo.frontend_attributes", "xla.sdy.tuple_results_shardings"
_FUNCTION, _CUSTOM_CALL = "func.func", "stablehlo.custom_call"
_RESULT_TARGET = "xla.sdy.FuncResultSharding"


def has_gspmd_marks(module: Any, bytecode: bytes) -> bool:
    """Whether any function of a module has a sharding that only GSPMD understands.

    As in XLA, the arguments of `main` do not count, nor results where a module says theirs as text. `bytecode` is the
    module's: names are in it as they are, so that most programs need not be walked.
    """
    if _SHARDING.encode() not in bytecode:
        return False
    says_results = _has_frontend(module.operation.attributes, _RESULTS_AS_TEXT)
    functions = [view.operation for view in module.body.operations if view.operation.name == _FUNCTION]
    return any(
        _has_marked_argument(function)
        or (not says_results and _has_marked_result(function))
        or any(map(_is_marked_call, _operations(function)))
        for function in functions
    )


def _has_marked_argument(function: Any) -> bool:
    return str(function.attributes["sym_name"]) != '"main"' and any(
        _is_marked(own) for own in _each(function, "arg_attrs")
    )


def _has_marked_result(function: Any) -> bool:
    marked = [number for number, own in enumerate(_each(function, "res_attrs")) if _SHARDING in own]
    if not marked:
        return False
    attributes = list(_each(function, "res_attrs"))
    return any(_SHARDY_SHARDING not in attributes[k] and not _is_result_call(function, k) for k in marked)


def _is_result_call(function: Any, number: int) -> bool:
    """Whether a result comes from the call by which Shardy's sharding of it is said."""
    blocks = function.regions[0].blocks
    if not len(blocks):
        return False
    operations = blocks[0].operations
    owner = operations[len(operations) - 1].operation.operands[number].owner
    made_by = getattr(owner, "operation", owner)
    return getattr(made_by, "name", "") == _CUSTOM_CALL and _target(made_by) == _RESULT_TARGET


def _is_marked_call(op: Any) -> bool:
    return op.name == _CUSTOM_CALL and _target(op) == "Sharding" and _is_marked(op.attributes)


def _is_marked(attributes: Any) -> bool:
    return (
        _SHARDING in attributes
        and _SHARDY_SHARDING not in attributes
        and not _has_frontend(attributes, _SHARDY_AS_TEXT)
    )


def _has_frontend(attributes: Any, name: str) -> bool:
    return _FRONTEND in attributes and name in attributes[_FRONTEND]


def _target(call: Any) -> str:
    return str(call.attributes["call_target_name"]).strip('"')


def _each(function: Any, name: str) -> Iterator[Any]:
    return iter(function.attributes[name]) if name in function.attributes else iter(())


def _operations(op: Any) -> Iterator[Any]:
    """Every operation in another one, at any depth."""
    found = [op]
    while found:
        for region in found.pop().regions:
            for block in region.blocks:
                for view in block.operations:
                    yield view.operation
                    found.append(view.operation)
