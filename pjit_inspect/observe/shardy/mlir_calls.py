"""Calls of functions as regions, for versions of jaxlib that have no pass for it (before 0.10).

Shardy does not propagate across a `func.call`; JAX's own pipeline turns each into a `sdy.named_computation` first, and
so does this. Not its job: the passes (`observe.shardy.propagation`).
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.observe.shardy import _mlir

__all__ = ["calls_to_regions"]

_MOST_CALLS = 20_000
"""Calls of calls multiply; a program with more than these is given up."""


def calls_to_regions(module: Any) -> None:
    """Replace every call by a region with a copy of what it calls, in place. RuntimeError when there are too many."""
    functions = {_symbol(op): op for op in module.body.operations if op.operation.name == "func.func"}
    border = [functions['"main"']] if '"main"' in functions else []
    seen = 0
    while border:
        for call in _calls(border.pop()):
            seen += 1
            if seen > _MOST_CALLS:
                raise RuntimeError(f"the program makes more than {_MOST_CALLS} calls")
            callee = str(call.attributes["callee"]).removeprefix("@")
            border.append(_to_region(module, call, functions[f'"{_unquoted(callee)}"']))
    for name, function in functions.items():
        if name != '"main"':
            function.operation.erase()


def _symbol(op: Any) -> str:
    return str(op.attributes["sym_name"])


def _unquoted(name: str) -> str:
    return name[1:-1] if name.startswith('"') else name


def _calls(op: Any) -> list[Any]:
    """Every call in the regions of an op."""
    found = []
    border = [op.operation]
    while border:
        for region in border.pop().regions:
            for block in region.blocks:
                for inner in block.operations:
                    (found if inner.operation.name == "func.call" else border).append(inner.operation)
    return found


def _to_region(module: Any, call: Any, callee: Any) -> Any:
    """The call's replacement: an op with a copy of the callee's body."""
    copy = callee.operation.clone(_mlir.insertion_point_before(call))
    body = copy.regions[0].blocks[0]
    region_op = _mlir.named_computation(module, call, name=_unquoted(_symbol(callee)))
    body.append_to(region_op.regions[0])
    _mlir.return_from_region(list(body.operations)[-1].operation)
    for old, new in zip(call.results, region_op.results, strict=True):
        old.replace_all_uses_with(new)
    call.erase()
    copy.erase()
    return region_op
