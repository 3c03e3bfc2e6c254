"""A loop that carries one array: its body is not its condition, whatever the two return."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import pjit_inspect as pi


def _record(body, condition, carry: np.ndarray) -> pi.CompileRecord:
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
    x = jax.device_put(carry, NamedSharding(mesh, PartitionSpec("data", "model")))
    return pi.inspect(jax.jit(lambda x: jax.lax.while_loop(condition, body, x)), x)


def _in_condition(record: pi.CompileRecord) -> set[str]:
    program = record.propagation
    assert program is not None
    return {op.op_name.rpartition("/")[2] for op in program.ops if op.in_condition and op.op_name}


LOOPS = {
    "a product": (lambda v: v @ v * 0.5, lambda v: v.sum() < 1e9, np.ones((64, 64), np.float32)),
    "truth values": (lambda v: v ^ v.T, lambda v: v.any(), np.ones((8, 8), bool)),
}


@pytest.mark.parametrize("name", LOOPS)
def test_only_what_decides_is_for_the_condition(name):
    record = _record(*LOOPS[name])
    assert not _in_condition(record) & {"dot_general", "transpose", "xor", "mul"}
    # XLA's own name of an operation says whose it is; the causes do not rest on it.
    rows = {row.op_name: {cause.kind for cause in row.causes} for row in record.collectives if row.op_name}
    assert any("/while/body/" in name for name in rows)
    for op_name, kinds in rows.items():
        assert ("loop_predicate" in kinds) == ("/while/cond/" in op_name), (op_name, kinds)


def test_one_truth_value_is_carried():
    mesh = Mesh(np.array(jax.devices()), ("x",))
    x = jax.device_put(np.ones((64, 8), np.float32), NamedSharding(mesh, PartitionSpec("x")))
    # What the body closed over would be carried, too.
    record = pi.inspect(jax.jit(lambda x: jax.lax.while_loop(lambda go: go, jnp.logical_not, x.sum() > 0)), x)
    assert any(op.op_name.endswith("/while/body/not") for op in record.propagation.ops)
    assert "not" not in _in_condition(record)


def test_no_finding_blames_the_condition_for_what_the_body_sends():
    record = _record(*LOOPS["a product"])
    # Gathers of the body are nearly all of it; of the condition there are sums of one number.
    assert sum(row.least_sent_bytes for row in record.collectives) > 8_000
    assert sum(one.cost_bytes or 0 for one in record.findings if one.kind == "loop_predicate") < 64
