"""Arguments and results in the host's memory are the host's bytes in every view and sum. CPUs have `pinned_host`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from data import hlo_fixtures as fixtures
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.analyze.program.device_memory import find_device_memory

KIB = 1 << 10
EACH = 128 * KIB
"""512 x 512 numbers of 4 bytes, of which each of 8 devices has an eighth."""


def shaped(kind: str | None = None) -> Any:
    mesh = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
    return jax.ShapeDtypeStruct((512, 512), jnp.float32, sharding=NamedSharding(mesh, P("x"), memory_kind=kind))


@jax.jit
def sent_out(x: Any) -> Any:
    return jax.device_put(x, jax.memory.Space.Host), x * 2


@jax.jit
def brought_in(x: Any, kept: Any) -> Any:
    return x + jax.device_put(kept, jax.memory.Space.Device)


HOW = [{}, {"target": "cpu:8"}, {"target": "cpu:8", "effort": "full"}]


@pytest.mark.parametrize("how", HOW)
def test_a_result_in_host_memory_is_marked_and_takes_no_device_memory(how: dict[str, str]):
    record = pi.inspect(sent_out, shaped(), **how)
    kinds = [one.sharding.memory_kind for one in record.outputs if one.sharding is not None]
    assert kinds[0] == "pinned_host"
    assert kinds[1] in (None, "device")
    assert "outputs 2 arrays, 256 KiB per device, 128 KiB of it in pinned_host" in " ".join(
        str(record.show("text", times=False)).split()
    )
    held = find_device_memory(record.data if not how else record.state.analyses.report.data)
    assert set(held.outputs.bytes.tolist()) == {float(EACH)}
    assert record.memory_use.live.bytes == 2 * EACH
    assert record.fits("tpu:v5e").result_bytes == EACH


@pytest.mark.parametrize("how", HOW)
def test_an_argument_in_host_memory_takes_no_device_memory(how: dict[str, str]):
    record = pi.inspect(brought_in, shaped(), shaped("pinned_host"), **how)
    assert [one.sharding.memory_kind for one in record.inputs if one.sharding is not None][1] == "pinned_host"
    use = record.memory_use
    assert sum(size for kind, size in use.by_kind.items() if kind == "argument") == EACH
    assert record.state.analyses.report.figures.argument_bytes == EACH
    if use.peak_bytes is not None:
        assert {curve.name: curve.peak_bytes for curve in use.curves} == {"memory": use.peak_bytes, "host": EACH}
        assert "128 KiB alive at the peak in host memory (counted)" in str(record.show("memory"))


def test_what_an_h200_has_in_host_memory_is_apart_as_jax_says():
    use = fixtures.on_h200("offloaded").memory_use
    assert [curve.name for curve in use.curves] == ["device memory", "host"]
    assert not any(row.name == "m" for row in use.live)
