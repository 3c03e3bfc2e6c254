"""A program that Python functions of the user's process split: only that process can compile it, and that is said."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError, ChangeError

WHY = r"the program has custom_partitioning \(CustomSPMDPartitioning, 1 call\): XLA asks Python functions"


@pytest.fixture(scope="module")
def record() -> pi.CompileRecord:
    @custom_partitioning
    def double(x):
        return x * 2.0

    def infer(mesh, arguments, result):
        return arguments[0].sharding

    def partition(mesh, arguments, result):
        return mesh, lambda x: x * 2.0, result.sharding, (arguments[0].sharding,)

    double.def_partition(infer_sharding_from_operands=infer, partition=partition, sharding_rule="a b -> a b")
    mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
    x = jax.device_put(np.ones((16, 16), np.float32), NamedSharding(mesh, P("d")))
    with pi.capture() as log:
        jax.jit(lambda x: double(x).sum(0))(x)
    return log[-1]


def test_xla_is_not_asked_and_the_operation_is_named(record: pi.CompileRecord) -> None:
    with pytest.raises(CaptureError, match=WHY):
        record.ask_partitioner()
    shown = " ".join(str(record.show("text", times=False)).split())
    assert "custom_partitioning (CustomSPMDPartitioning, 1 call)" in shown
    assert "Traceback" not in shown


@pytest.mark.parametrize("asked", [{"target": "tpu:v5e:2x4", "effort": "full"}, {"mesh": {"d": 4}}])
def test_no_other_machine_or_mesh_is_offered_or_advised(record: pi.CompileRecord, asked: dict[str, object]) -> None:
    with pytest.raises(ChangeError, match=WHY) as raised:
        record.what_if(**asked)
    assert "inspect(" not in str(raised.value)
    assert "did not help" not in str(raised.value)
