"""Reads from a captured StableHLO module and a record's flags how XLA was asked to compile it.

XLA uses GSPMD instead of Shardy, even with `sdy.mesh`, if any GSPMD attribute or operation is left: a function exported
with `jax_use_shardy_partitioner` off and called under Shardy has them. The test is XLA's, `hasGspmdAttrsOrOps`.

Not its job: compiling (`observe.contract._jax`), or XLA's result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pjit_inspect.errors import CaptureError
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.mlir_locations import read_location
from pjit_inspect.observe.shardy.shardy_attributes import read_names

_SPLIT_BY_PYTHON = "CustomSPMDPartitioning"
_NUMBER = re.compile(r"-?\d+")


def open_borders(module: Any) -> tuple[list[bool], list[bool]]:
    """For each argument and each result of a captured module, whether JAX left its sharding to the partitioner."""
    main = _main(module)
    return [_is_open(own) for own in _inputs(main)], [_is_open(own) for own in _results(main)]


def result_names(module: Any) -> tuple[str, ...]:
    """JAX's name of each result of a captured module (`result[0]`); "" where it has none."""
    return tuple(_result_name(own) for own in _results(_main(module)))


def count_partitions(module: Any) -> int:
    """The number of partitions of a captured module; 1 if it does not say."""
    return _count(module, "mhlo.num_partitions")


def count_replicas(module: Any) -> int:
    """The number of replicas of a captured module, as in `jax.pmap`; 1 if it does not say."""
    return _count(module, "mhlo.num_replicas")


def read_borders(module: Any) -> dict[str, Any]:
    """A module's arguments, results, meshes and number of partitions, as MLIR prints them.

    Each argument and each result is its name ("" for none), its type, and its sharding ("" for none).
    """
    main = _main(module)
    block = main.regions[0].blocks[0]
    returned = block.operations[len(block.operations) - 1].operation.operands
    named = [(read_location(str(one.location)).name, one) for one in block.arguments]
    results = zip(_results(main), returned, strict=True)
    return {
        "partitions": count_partitions(module) * count_replicas(module),
        "meshes": {
            read_names(str(op.attributes["sym_name"]))[0]: str(op.attributes["mesh"])
            for op in module.body.operations
            if op.operation.name == "sdy.mesh"
        },
        "arguments": [
            (name, str(one.type), _written_sharding(own)) for (name, one), own in zip(named, _inputs(main), strict=True)
        ],
        "results": [(_result_name(own), str(one.type), _written_sharding(own)) for own, one in results],
    }


def _written_sharding(attributes: Any) -> str:
    return next((str(attributes[name]) for name in (_SHARDY_SHARDING, _SHARDING) if name in attributes), "")


def rule_calls(module: Any) -> list[Any]:
    """The calls of a module that a rule of the user splits, as `custom_partitioning` makes them."""
    calls = (op for op in _mlir.each_op(module.operation) if op.name == _CUSTOM_CALL)
    return [op for op in calls if _target(op) == _SPLIT_BY_PYTHON]


def why_as_traced(bytecode: bytes) -> str:
    """The reason why a program can only be compiled for CPU devices and the mesh it was traced for; "" if not."""
    # Bytecode holds names as they are; few programs have this one.
    if _SPLIT_BY_PYTHON.encode() not in bytecode:
        return ""
    with _mlir.open_module(bytecode) as module:
        calls = len(rule_calls(module))
    if not calls:
        return ""
    which = "1 call of custom_partitioning, whose partition rule is"
    which = which if calls == 1 else f"{calls} calls of custom_partitioning, whose partition rules are"
    return f"the program has {which} traced for one mesh, and asked for CPU devices alone"


def _count(module: Any, name: str) -> int:
    attributes = module.operation.attributes
    match = _NUMBER.match(str(attributes[name])) if name in attributes else None
    return max(int(match[0]), 1) if match else 1


def is_for_shardy(module: Any, flags: Mapping[str, str]) -> bool:
    """True if JAX asked XLA for Shardy. XLA may still not use it (`observe.shardy.how_compiled`)."""
    if "jax_use_shardy_partitioner" in flags:
        return flags["jax_use_shardy_partitioner"] == "True"
    return any(op.operation.name == "sdy.mesh" for op in module.body.operations)


def compiler_options(flags: Mapping[str, str]) -> dict[str, Any]:
    """The compiler options among a record's flags, as the values they were given as."""
    return {name: _typed(value) for name, value in flags.items() if not name.startswith("jax_")}


def _typed(value: str) -> Any:
    if value in ("True", "False"):
        return value == "True"
    return int(value) if _NUMBER.fullmatch(value) else value


def _main(module: Any) -> Any:
    main = _mlir.main_function(module)
    if main is None:
        raise CaptureError("the captured StableHLO has no function 'main' that could be compiled again")
    return main


def _inputs(main: Any) -> list[Any]:
    return _attributes(main, "arg_attrs", len(main.regions[0].blocks[0].arguments))


def _results(main: Any) -> list[Any]:
    block = main.regions[0].blocks[0]
    return _attributes(main, "res_attrs", len(block.operations[len(block.operations) - 1].operation.operands))


def _attributes(main: Any, name: str, count: int) -> list[Any]:
    """The attributes of each argument or result; MLIR leaves the list out where all are empty."""
    attributes = list(main.attributes[name]) if name in main.attributes else []
    return attributes if len(attributes) == count else [{}] * count


def _is_open(attributes: Any) -> bool:
    if "mhlo.sharding" in attributes:
        return False
    return "sdy.sharding" not in attributes or "?" in str(attributes["sdy.sharding"])


def _result_name(attributes: Any) -> str:
    names = read_names(str(attributes["jax.result_info"])) if "jax.result_info" in attributes else ()
    return names[0] if names else ""


_SHARDING, _SHARDY_SHARDING, _SHARDY_AS_TEXT = "mhlo.sharding", "sdy.sharding", "xla.sdy.sharding"
_FRONTEND, _RESULTS_AS_TEXT = "mhlo.frontend_attributes", "xla.sdy.tuple_results_shardings"
_FUNCTION, _CUSTOM_CALL = "func.func", "stablehlo.custom_call"
_RESULT_TARGET = "xla.sdy.FuncResultSharding"


def has_gspmd_marks(module: Any, bytecode: bytes) -> bool:
    """True if any function of a module has a sharding that only GSPMD understands.

    As in XLA, the arguments of `main` do not count, nor do results if the module has their shardings as text.
    `bytecode` is the module's: names are in it verbatim, and most programs need not be walked.
    """
    if _SHARDING.encode() not in bytecode:
        return False
    says_results = _has_frontend(module.operation.attributes, _RESULTS_AS_TEXT)
    functions = [view.operation for view in module.body.operations if view.operation.name == _FUNCTION]
    return any(
        _has_marked_argument(function)
        or (not says_results and _has_marked_result(function))
        or any(map(_is_marked_call, _mlir.each_op(function)))
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
    """True if a result comes from the call that holds its Shardy sharding."""
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
    return _mlir.text_of(call.attributes["call_target_name"])


def _each(function: Any, name: str) -> Iterator[Any]:
    return iter(function.attributes[name]) if name in function.attributes else iter(())
