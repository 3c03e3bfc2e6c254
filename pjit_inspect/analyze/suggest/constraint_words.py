"""How a constraint on what an operation makes is written in the source.

The source may have the array in another order of dimensions, as `einsum` does, and without those that `jax.vmap` adds.
Not its job: which constraint helps (`analyze.suggest.constraints`, `analyze.findings`).
"""

from __future__ import annotations

from pjit_inspect.analyze.program.phases import is_vmapped
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.spec import Dimensions, spec_text
from pjit_inspect.model.sharding.sharded_program import ShardedOp
from pjit_inspect.model.words.sentence import Sentence, code, say

__all__ = ["constraint_words"]


def constraint_words(names: ValueNames, op: ShardedOp, told: Dimensions, where: str) -> Sentence:
    """Advice to shard so what an operation makes, in the order of dimensions of its text (`ValueNames.told_spec`)."""
    # Where the dimension of a batch is depends on the operation: the reader knows which of them it is.
    without = " (without the dimensions that `vmap` adds, which its `spmd_axis_name` splits)"
    return say(
        "put {} on {}{}",
        code(f"with_sharding_constraint(..., {spec_text(told)})"),
        where,
        without if any(map(is_vmapped, names.scopes(op))) else "",
    )
