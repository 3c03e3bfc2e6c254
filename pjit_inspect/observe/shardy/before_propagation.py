"""Applies to a copy the rewrites of XLA and JAX before Shardy, as far as they change Shardy's result.

JAX writes some functions in the CHLO dialect (`erf`, `tan`, `square`, `top_k`, ...), which Shardy does not know. XLA
replaces them by operations with rules before Shardy sees the program; jaxlib has no equivalent pass. Not its job: the
passes (`observe.shardy.propagation`).

*Source*: XLA's dumps `*.before_propagation` of JAX 0.8.2, 0.9.2, 0.10.2 and 0.12.0; rules of `mhlo.topk` and `erf` are
those, the others are computed for each element.
"""

from __future__ import annotations

from typing import Any

import jax

from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.shardy_attributes import read_tensor

_RULE = "sdy.sharding_rule"
_FACTORS = "ijklmnopqrstuvwxyz"
"""Shardy's names of the first factors."""
_ERF, _ERF_HAS_RULE = "chlo.erf", (0, 12)
"""Until then XLA keeps `erf` as an op that Shardy has no rule for, and gathers its operand (0.8.2, 0.9.2, 0.10.2)."""


def add_missing_rules(module: Any) -> None:
    """Give every CHLO op of a module that needs one a sharding rule, in place."""
    for op in _mlir.each_op(module.operation):
        if op.name.startswith("chlo.") and _RULE not in op.attributes:
            rule = _rule(op) if op.name != _ERF or jax.__version_info__ >= _ERF_HAS_RULE else None
            if rule is not None:
                op.attributes[_RULE] = _mlir.parse_attribute(module, rule)


def _rule(op: Any) -> str | None:
    """The rule of a top-k, whose last dimension must be whole, or of an elementwise function; None for others."""
    tensors = [read_tensor(str(value.type)) for value in (*op.operands, *op.results)]
    shapes = [tensor[1] for tensor in tensors if tensor is not None]
    if len(shapes) != len(tensors) or not shapes or not 0 < len(shapes[0]) <= len(_FACTORS):
        return None
    is_top_k = op.name == "chlo.top_k"
    if not is_top_k and len(set(shapes)) > 1:
        return None
    factors = _FACTORS[: len(shapes[0])]
    array = f"[{', '.join(factors)}]"
    sizes = ", ".join(f"{factor}={size}" for factor, size in zip(factors, shapes[0], strict=True))
    operands, results = (", ".join([array] * len(values)) for values in (op.operands, op.results))
    last = f" need_replication={{{factors[-1]}}} blocked_propagation={{{factors[-1]}}}" if is_top_k else ""
    return f"#sdy.op_sharding_rule<({operands})->({results}) {{{sizes}}}{last}>"


def rewrite_as_xla(module: Any) -> None:
    """A broadcast that only adds dimensions of size 1 becomes a reshape, which propagates earlier; in place."""
    for op in list(_mlir.each_op(module.operation)):
        if op.name == "stablehlo.broadcast_in_dim" and _only_adds_ones(op):
            _mlir.replace_op(op, "stablehlo.reshape")


def _only_adds_ones(op: Any) -> bool:
    given, made = (read_tensor(str(value.type)) for value in (op.operands[0], op.results[0]))
    if given is None or made is None:
        return False
    kept = tuple(map(int, op.attributes["broadcast_dimensions"]))
    others = (length for dimension, length in enumerate(made[1]) if dimension not in kept)
    return list(kept) == sorted(kept) and given[1] == tuple(made[1][k] for k in kept) and set(others) <= {1}


_MOST_CALLS = 20_000
"""Calls of calls multiply; a program with more than these is given up."""


def calls_to_regions(module: Any) -> None:
    """Replace every call by a region with a copy of the called function, in place. RuntimeError for too many calls."""
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
    calls = []
    border = [op.operation]
    while border:
        for region in border.pop().regions:
            for block in region.blocks:
                for inner in block.operations:
                    (calls if inner.operation.name == "func.call" else border).append(inner.operation)
    return calls


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
