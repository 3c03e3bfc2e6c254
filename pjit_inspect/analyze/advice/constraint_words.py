"""Writes a constraint on a value as source code.

The source may have the dimensions in another order, as in `einsum`, and lacks those that `jax.vmap` adds. Not its job:
choosing a constraint (`climb`, `analyze.findings`).
"""

from __future__ import annotations

from pjit_inspect.analyze.program.phases import is_vmapped
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.sharding.sharded_program import ShardedOp
from pjit_inspect.model.words.sentence import Sentence, code, say


def value_constraint_words(names: ValueNames, value: int, spec: Dimensions, where: Sentence) -> Sentence | None:
    """Advice to shard a value as `spec`; None if the order of dimensions in its text is unknown."""
    maker = names.program.values[value].op
    op = None if maker is None else names.program.ops[maker]
    # For an argument, a loop's carry or one of several results, no text has other dimensions.
    if op is None or op.results != (value,):
        return _put(spec, where)
    told = names.told_spec(op, spec)
    return None if told is None else constraint_words(names, op, told, where)


def constraint_words(names: ValueNames, op: ShardedOp, told: Dimensions, where: Sentence | str) -> Sentence:
    """Advice to shard an op's result as `told`, in the order of dimensions of its text (`ValueNames.told_spec`)."""
    # The position of a batch dimension depends on the operation: the reader knows it.
    without = " (without the dimensions that `vmap` adds, which its `spmd_axis_name` splits)"
    return _put(told, say("{}{}", where, without if any(map(is_vmapped, names.scopes(op))) else ""))


def _put(spec: Dimensions, where: Sentence) -> Sentence:
    return say("put {} on {}", code(f"with_sharding_constraint(..., {spec_text(spec)})"), where)
