"""The rules read from HLO's attributes are those that Shardy has for the same operation: two independent sources."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib.mlir import passmanager

import pjit_inspect
from pjit_inspect.model.sharding.sharded_program import ShardedProgram, ShardingRule
from pjit_inspect.observe.shardy import _mlir

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


_PASSES = "builtin.module(sdy-import-pipeline,sdy-user-priority-propagate{keep-sharding-rules=true})"
_RULE = re.compile(r"<\((.*?)\)->\((.*?)\) \{(.*?)\}(.*)>", re.DOTALL)
_FACTOR = re.compile(r"[a-z](?:_\d+)?")


def _rules(program: ShardedProgram, kind: str) -> list[ShardingRule]:
    return [op.rule for op in program.ops if op.kind == kind and op.rule is not None]


def _shardys(stablehlo: bytes, kind: str) -> list[ShardingRule]:
    """The rules that Shardy gives the operations of a kind when it runs here."""
    with _mlir.open_module(stablehlo) as module:
        passmanager.PassManager.parse(_PASSES, context=module.context).run(module.operation)
        ops = [op for op in _mlir.each_op(module.operation) if op.name == f"stablehlo.{kind}"]
        return [_read(str(op.attributes["sdy.sharding_rule"])) for op in ops if "sdy.sharding_rule" in op.attributes]


def _read(text: str) -> ShardingRule:
    match = _RULE.search(text)
    assert match is not None
    sets = {name: tuple(_FACTOR.findall(own)) for name, own in re.findall(r"(\w+)=\{([^}]*)\}", match[4])}
    return ShardingRule(
        operands=_arrays(match[1]),
        results=_arrays(match[2]),
        sizes={name: int(size) for name, size in re.findall(r"([a-z](?:_\d+)?)=(\d+)", match[3])},
        reduction=sets.get("reduction", ()),
        need_replication=sets.get("need_replication", ()),
        permutation=sets.get("permutation", ()),
    )


def _arrays(text: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(
        tuple(tuple(_FACTOR.findall(dimension)) for dimension in array.split(",")) if array.strip() else ()
        for array in re.findall(r"\[(.*?)\]", text)
    )


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
    ours = [_canonical(rule) for rule in _rules(record.propagation, kind)]
    theirs = [_canonical(rule) for rule in _shardys(record.data.stablehlo.read(), kind)]
    assert ours
    assert [rule for rule in ours if rule not in theirs] == [], theirs
