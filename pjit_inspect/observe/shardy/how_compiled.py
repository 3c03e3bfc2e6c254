"""What a captured StableHLO module and a record's flags say about how XLA was asked to compile it.

Not its job: compiling (`observe.contract._jax`), or what XLA made of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pjit_inspect.errors import CaptureError
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.shardy_attributes import read_names

__all__ = ["compiler_options", "count_partitions", "is_for_shardy", "open_borders", "result_names"]

_NUMBER = re.compile(r"-?\d+")


def open_borders(module: Any) -> tuple[list[bool], list[bool]]:
    """For each argument and each result of a captured module, whether JAX left its sharding to the partitioner."""
    main = _main(module)
    return [_is_open(own) for own in _inputs(main)], [_is_open(own) for own in _results(main)]


def result_names(module: Any) -> tuple[str, ...]:
    """JAX's name of each result of a captured module (`result[0]`); "" where it has none."""
    return tuple(_result_name(own) for own in _results(_main(module)))


def count_partitions(module: Any) -> int:
    """How many partitions a captured module is to be split into; 1 where it does not say."""
    attributes = module.operation.attributes
    found = _NUMBER.match(str(attributes["mhlo.num_partitions"])) if "mhlo.num_partitions" in attributes else None
    return max(int(found[0]), 1) if found else 1


def is_for_shardy(module: Any, flags: Mapping[str, str]) -> bool:
    """Whether JAX asked XLA for Shardy. XLA itself may still leave it (`observe.shardy.gspmd_marks`)."""
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
    found = list(main.attributes[name]) if name in main.attributes else []
    return found if len(found) == count else [{}] * count


def _is_open(attributes: Any) -> bool:
    if "mhlo.sharding" in attributes:
        return False
    return "sdy.sharding" not in attributes or "?" in str(attributes["sdy.sharding"])


def _result_name(attributes: Any) -> str:
    names = read_names(str(attributes["jax.result_info"])) if "jax.result_info" in attributes else ()
    return names[0] if names else ""
