"""Sharding rules for ops that Shardy knows only in the dialect that XLA turns them into first.

JAX writes some functions in the CHLO dialect (`erf`, `tan`, `square`, `top_k`, ...), of which Shardy knows nothing. XLA
has replaced them by others with rules before Shardy sees the program; jaxlib has no pass that does the same. Not its
job: the passes (`observe.shardy.propagation`).

*Source*: XLA's dumps of JAX 0.8.2, 0.9.2, 0.10.2 and 0.12.0 for `mhlo.topk` and `erf`; the others are computed for
each element.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax

from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.shardy_attributes import read_tensor

__all__ = ["add_missing_rules", "each_op"]

_RULE = "sdy.sharding_rule"
_FACTORS = "ijklmnopqrstuvwxyz"
"""Shardy's names of the first factors."""
_ERF, _ERF_HAS_RULE = "chlo.erf", (0, 12)
"""Until then XLA keeps `erf` as an op that Shardy has no rule for, and gathers its operand (0.8.2, 0.9.2, 0.10.2)."""


def add_missing_rules(module: Any) -> None:
    """Give every CHLO op of a module that needs one a sharding rule, in place."""
    for op in each_op(module.operation):
        if op.name.startswith("chlo.") and _RULE not in op.attributes:
            rule = _rule(op) if op.name != _ERF or jax.__version_info__ >= _ERF_HAS_RULE else None
            if rule is not None:
                op.attributes[_RULE] = _mlir.parse_attribute(module, rule)


def _rule(op: Any) -> str | None:
    """The rule of a top-k, whose last dimension must be whole, or of a function of each element; None for others."""
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


def each_op(op: Any) -> Iterator[Any]:
    """Every op in the regions of an op, at any depth."""
    border = [op]
    while border:
        for region in border.pop().regions:
            for block in region.blocks:
                for view in block.operations:
                    inner = view.operation
                    yield inner
                    if len(inner.regions):
                        border.append(inner)
