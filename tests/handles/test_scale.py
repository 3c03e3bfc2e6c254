"""One program on more and more chips: an axis grows, XLA is asked, and what cannot be says why."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.handles.time.scale import RecordScaling
from pjit_inspect.model.time.scaling import ScalingRow


def record(batch: int = 64) -> pi.CompileRecord:
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))

    def place(shape, *spec):
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    return pi.inspect(jax.jit(lambda x, w: x @ w), place((batch, 32), "data"), place((32, 16), None, "model"))


def test_each_device_multiplies_less():
    found = record().scale([4, 16], "cpu")
    assert [row.devices for row in found] == [4, 16]
    assert [row.mesh for row in found] == ["data=2 x model=2", "data=8 x model=2"]
    assert found[0].flops == 4 * (found[1].flops or 0)
    assert found.network_bound_from is None
    assert "data=8 x model=2" in str(found)


def test_what_cannot_be_says_why():
    found = record().scale([3, 100], "tpu:v5e")
    assert [row.missing for row in found] == ["there is no tpu:v5e of 3 chips", "there is no tpu:v5e of 100 chips"]
    assert record().scale([3], "cpu")[0].missing == "3 devices are no multiple of the other axes' 2"
    with pytest.raises(pi.ChangeError, match="no mesh axis 'nothing'; <lambda> has data, model"):
        record().scale([4], "cpu", axis="nothing")


def test_it_says_where_the_network_takes_over():
    rows = (
        ScalingRow(devices=4, target="", step_s=2.0, exposed_s=0.5, bound_by="compute"),
        ScalingRow(devices=8, target="", step_s=1.5, exposed_s=0.9, bound_by="network"),
    )
    table = RecordScaling(rows)
    assert table.network_bound_from == 8
    assert "network-bound from 8 devices on" in str(table)
    assert rows[1].exposed_share == pytest.approx(0.6)


def test_each_number_of_chips_may_have_a_call_of_its_own():
    asked = []

    def made(chips: int) -> pi.CompileRecord:
        asked.append(chips)
        return record(batch=16 * chips)

    found = record().scale([4, 16], "cpu", weak=made)
    assert asked == [4, 16]
    assert found.is_weak
    assert not record().scale([4], "cpu").is_weak
    # A device has as much to do on 16 chips as on 4.
    assert found[0].flops == found[1].flops
