"""The rules read from HLO's attributes are those that Shardy has for the same operation: two independent sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import pjit_inspect
from pjit_inspect.model.sharding.sharded_program import ShardedProgram, ShardingRule
from pjit_inspect.observe.shardy.propagation import propagate

_PROGRAMS: dict[str, tuple[str, Callable[..., Any], tuple[tuple[int, ...], ...]]] = {
    "matrix product": ("dot_general", lambda x, w: x @ w, ((16, 32), (32, 64))),
    "batched product": ("dot_general", lambda x, w: jnp.einsum("bij,bjk->bik", x, w), ((8, 16, 32), (8, 32, 64))),
    "sum": ("reduce", lambda x: x.sum(1), ((16, 32, 8),)),
    "transpose": ("transpose", lambda x: jnp.sin(x).T, ((16, 32),)),
    "merged dimensions": ("reshape", lambda x: jnp.sin(x).reshape(16, 256), ((16, 32, 8),)),
    "split dimension": ("reshape", lambda x: jnp.sin(x).reshape(16, 4, 8, 8), ((16, 32, 8),)),
    "embedding": ("gather", lambda x: jnp.take(x, jnp.array([[1, 5], [2, 3]]), axis=0), ((16, 32),)),
    "joined": ("concatenate", lambda x, y: jnp.concatenate([x, y], 1), ((16, 32), (16, 8))),
    "padded": ("pad", lambda x: jnp.pad(x, ((0, 0), (2, 2))), ((16, 32),)),
    "turned": ("reverse", lambda x: x[:, ::-1], ((16, 32),)),
    "sorted": ("sort", lambda x: jnp.sort(x, axis=1), ((16, 32),)),
    "transform": ("fft", lambda x: jnp.fft.fft(x).real, ((16, 32),)),
}
"""Two rules of ours say more than Shardy's, which only has to say how shardings spread: an update at a place known only
when it runs needs its dimension of the array, too (XLA gathers it), and a convolution sums over its window."""


def _rules(program: ShardedProgram, kind: str) -> list[ShardingRule]:
    return [op.rule for op in program.ops if op.kind == kind and op.rule is not None]


def _canonical(rule: ShardingRule) -> object:
    """A rule whose factors are numbered as they appear; those of length 1, which nothing splits, left out."""
    numbers: dict[str, int] = {}

    def numbered(arrays: Any) -> Any:
        return tuple(
            tuple(tuple(numbers.setdefault(f, len(numbers)) for f in d if rule.sizes.get(f, 1) > 1) for d in array)
            for array in arrays
        )

    operands, results = numbered(rule.operands), numbered(rule.results)
    special = {*rule.need_replication, *rule.permutation}
    sizes = {numbers[f]: rule.sizes[f] for f in numbers}
    return operands, results, sizes, {numbers.get(f) for f in rule.reduction} - {None}, {
        numbers.get(f) for f in special
    } - {None}  # fmt: skip


@pytest.mark.parametrize("name", list(_PROGRAMS))
def test_the_rule_of_an_operation_is_shardys(name: str) -> None:
    kind, function, shapes = _PROGRAMS[name]
    mesh = Mesh(np.array(jax.devices()).reshape(8), ("x",))
    arguments = [
        jax.ShapeDtypeStruct(
            shape, np.float32, sharding=NamedSharding(mesh, PartitionSpec("x" if shape[0] % 8 == 0 else None))
        )
        for shape in shapes
    ]
    record = pjit_inspect.inspect(jax.jit(function), *arguments)
    assert record.propagation is not None
    assert not record.propagation.is_predicted
    assert record.data.stablehlo is not None
    shardys = propagate(record.data.stablehlo.read())
    assert shardys is not None
    ours = [_canonical(rule) for rule in _rules(record.propagation, kind)]
    theirs = [_canonical(rule) for rule in _rules(shardys, kind)]
    assert ours
    assert [rule for rule in ours if rule not in theirs] == [], theirs
