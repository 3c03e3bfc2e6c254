"""How a constraint on a value is written in the source.

The source may have the array in another order of dimensions, as `einsum` does, and without those that `jax.vmap` adds.
Not its job: which constraint helps (`analyze.suggest.constraints`, `analyze.findings`).
"""

from __future__ import annotations

from pjit_inspect.analyze.program.phases import is_vmapped
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.spec import Dimensions, spec_text
from pjit_inspect.model.sharding.sharded_program import ShardedOp
from pjit_inspect.model.words.sentence import Sentence, code, say


def value_constraint_words(names: ValueNames, value: int, spec: Dimensions, where: Sentence) -> Sentence | None:
    """Advice to shard a value so; None where it is not known in which order its text has the dimensions."""
    maker = names.program.values[value].op
    op = None if maker is None else names.program.ops[maker]
    # Of an argument, of what a loop carries and of one result of several no text has other dimensions.
    if op is None or op.results != (value,):
        return _put(spec, where)
    told = names.told_spec(op, spec)
    return None if told is None else constraint_words(names, op, told, where)


def constraint_words(names: ValueNames, op: ShardedOp, told: Dimensions, where: Sentence | str) -> Sentence:
    """Advice to shard so what an operation makes, in the order of dimensions of its text (`ValueNames.told_spec`)."""
    # Where the dimension of a batch is depends on the operation: the reader knows which of them it is.
    without = " (without the dimensions that `vmap` adds, which its `spmd_axis_name` splits)"
    return _put(told, say("{}{}", where, without if any(map(is_vmapped, names.scopes(op))) else ""))


def _put(spec: Dimensions, where: Sentence) -> Sentence:
    return say("put {} on {}", code(f"with_sharding_constraint(..., {spec_text(spec)})"), where)
