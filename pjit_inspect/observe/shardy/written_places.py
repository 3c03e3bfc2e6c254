"""The pieces of source text that the ops of a captured program were written as.

XLA keeps where a piece begins, not where it ends; the captured StableHLO knows both. Not its job: which op of XLA's
program has which place (`parse.sharding.propagated_hlo`).
"""

from __future__ import annotations

from pjit_inspect.model.sharding.sharded_program import Span, SpanKey, span_key
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.missing_rules import each_op
from pjit_inspect.observe.shardy.mlir_locations import read_location

__all__ = ["read_spans"]


def read_spans(stablehlo: bytes) -> dict[SpanKey, Span]:
    """The piece of text each op was written as, by its primitive and where the piece begins; unclear ones are left out.

    Args:
      stablehlo: the program as MLIR bytecode, as JAX gave it to XLA.

    Raises RuntimeError when jaxlib cannot read it.
    """
    found: dict[SpanKey, set[Span]] = {}
    with _mlir.open_module(stablehlo) as module:
        texts = {str(op.location) for op in each_op(module.operation)}
    for text in texts:
        place = read_location(text)
        primitive = place.name.rpartition("/")[2]
        for frame, span in zip(place.frames, place.spans, strict=True):
            if span is not None and frame.columns:
                found.setdefault(span_key(primitive, place.frames[0], frame), set()).add(span)
    # `x @ w` and `x @ w + b` begin at one place; the primitive tells most of these apart.
    return {key: next(iter(spans)) for key, spans in found.items() if len(spans) == 1}
