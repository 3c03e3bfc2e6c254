"""What XLA makes of a program before Shardy sees it, as far as it changes what Shardy does.

Not its job: rules for ops that XLA replaces (`observe.shardy.missing_rules`), or the passes
(`observe.shardy.propagation`).

*Source*: XLA's dumps `*.before_propagation` of JAX 0.8.2, 0.10.2 and 0.12.0.
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.missing_rules import each_op
from pjit_inspect.observe.shardy.shardy_attributes import read_tensor

__all__ = ["rewrite_as_xla"]


def rewrite_as_xla(module: Any) -> None:
    """A broadcast that only adds dimensions of size 1 becomes a reshape, which propagates earlier; in place."""
    for op in list(each_op(module.operation)):
        if op.name == "stablehlo.broadcast_in_dim" and _only_adds_ones(op):
            _mlir.replace_op(op, "stablehlo.reshape")


def _only_adds_ones(op: Any) -> bool:
    given, made = (read_tensor(str(value.type)) for value in (op.operands[0], op.results[0]))
    if given is None or made is None:
        return False
    kept = tuple(map(int, op.attributes["broadcast_dimensions"]))
    others = (length for dimension, length in enumerate(made[1]) if dimension not in kept)
    return list(kept) == sorted(kept) and given[1] == tuple(made[1][k] for k in kept) and set(others) <= {1}
