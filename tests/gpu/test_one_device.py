"""What a GPU could do otherwise than a CPU: each test is one body, run on a CPU here and on a GPU with `--gpu`.

Expectations are worked out by hand and are the same for both, so that a pass on the CPU says that the test works, and a
failure on the GPU what differs there. Not its job: programs compiled for GPUs that are not attached (`tests/what_if`),
several GPUs, times (`test_measured.py`).
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.errors import JaxRuntimeError
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

Keep = Callable[[pi.CompileRecord, str], None]


CPU_LIMIT = 2**47
"""Bytes: all that a process can address."""

FORESEEN: dict[str, frozenset[str]] = {"cpu": frozenset(), "gpu": frozenset()}
"""Platform -> facts of a record that it is known not to give. Add a name with the reason that `data.missing` gives."""


def step(w: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    hidden = jnp.tanh(x @ w["in"])
    return jnp.sum(jax.nn.relu(hidden @ w["out"]) * 2.0)


def put(device: jax.Device, *shape: int) -> jax.Array:
    return jax.device_put(np.full(shape, 0.01, np.float32), device)


def step_record(device: jax.Device) -> pi.CompileRecord:
    """The record of `step` with its gradient, which was run."""
    w, x = {"in": put(device, 64, 128), "out": put(device, 128, 32)}, put(device, 16, 64)
    with pi.capture() as log:
        jax.block_until_ready(jax.jit(jax.value_and_grad(step))(w, x))
    return log["step"]


def test_a_jitted_step_has_all_facts_and_its_inputs_their_device(device: jax.Device, keep: Keep, tmp_path: Path):
    record = step_record(device)
    keep(record, "step")
    assert set(record.data.missing) <= FORESEEN[device.platform], record.data.missing
    assert record.hlo is not None
    assert record.stablehlo is not None
    assert "dot_general" in record.stablehlo
    assert record.jaxpr is not None
    assert "tanh" in record.jaxpr
    (own,) = record.data.devices
    assert (own.id, own.platform, own.kind) == (device.id, device.platform, device.device_kind)
    assert [(one.path, one.global_shape) for one in record.inputs] == [
        ("w['in']", (64, 128)),
        ("w['out']", (128, 32)),
        ("x", (16, 64)),
    ]
    for one in record.inputs:
        assert one.sharding is not None
        assert one.sharding.device_ids == (device.id,)
        assert one.sharding.memory_kind == device.default_memory().kind
    # 4 bytes each of 64 x 128, 128 x 32 and 16 x 64; of the gradients as many as of the weights, and the loss.
    assert record.memory is not None
    assert (record.memory.argument_bytes or 0) >= 4 * (8192 + 4096 + 1024)
    assert (record.memory.output_bytes or 0) >= 4 * (8192 + 4096 + 1)
    assert record.cost["flops"] > 0
    assert record.cost["bytes accessed"] >= 4 * (8192 + 4096 + 1024)
    assert device.device_kind in " ".join(str(record).split())
    record.save(tmp_path / "step.pjit")
    assert pi.load(tmp_path / "step.pjit") == record


def test_every_fused_kernel_names_a_line_of_the_step(device: jax.Device):
    record = step_record(device)
    assert record.hlo is not None
    lines, first = inspect.getsourcelines(step)
    assert record.fusions
    for kernel in record.fusions:
        assert record.hlo.find(kernel.name) is not None
        assert kernel.source, kernel
        assert kernel.source[0].file == __file__
        assert first < kernel.source[0].line < first + len(lines), kernel


def test_collectives_of_fake_cpu_devices_are_counted_whatever_the_default_backend_is(device: jax.Device, keep: Keep):
    assert jax.devices()[0].platform == device.platform
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2, devices=jax.devices("cpu"))

    def sharded(shape: tuple[int, int], *spec: str | None) -> jax.Array:
        return jax.device_put(np.ones(shape, np.float32), NamedSharding(mesh, P(*spec)))

    @jax.jit(out_shardings=NamedSharding(mesh, P("data")))
    def contracted(x: jax.Array, w: jax.Array) -> jax.Array:
        return x @ w

    with pi.capture() as log:
        contracted(sharded((16, 128), "data", "model"), sharded((128, 32), "model", None)).block_until_ready()
    record = log["contracted"]
    assert [(one.platform, one.id) for one in record.data.devices] == [("cpu", k) for k in range(8)]
    (one,) = record.collectives
    # Each device has a partial sum of 16 / 2 rows and 32 columns; a ring of four sends 2 x 3/4 of it.
    assert (one.kind, one.axes, one.payload_bytes, one.wire_bytes) == ("all-reduce", ("model",), 1024, 1536)
    assert one.cause is not None
    assert one.cause.kind == "contraction"
    # XLA's partitioner was asked, in a process that must leave the GPU alone.
    assert record.propagation is not None
    assert not record.propagation.is_predicted, record.data.missing
    if device.platform != "cpu":
        keep(record, "fake_cpu_beside")


def test_a_sum_over_a_mesh_of_one_device_is_not_called_communication(device: jax.Device, keep: Keep):
    mesh = jax.make_mesh((1,), ("x",), axis_types=(AxisType.Auto,), devices=[device])

    def total(a: jax.Array) -> jax.Array:
        return jax.lax.psum(a * 2, "x")

    mapped = jax.jit(jax.shard_map(total, mesh=mesh, in_specs=P("x"), out_specs=P()))
    with pi.capture() as log:
        mapped(jax.device_put(np.ones((8, 8), np.float32), NamedSharding(mesh, P("x")))).block_until_ready()
    record = log["total"]
    keep(record, "psum_of_one")
    assert [(one.axes, one.groups, one.wire_bytes, one.count) for one in record.collectives] in (
        [],
        [((), ((0,),), 0, 1)],
    )
    words = " ".join(f"{record.show('text')} {record.explain()}".split())
    sent = re.findall(r"sends (?:at most )?([\d.,]+ \w+)", words) + re.findall(r"([\d.,]+ \w+) sent", words)
    if record.collectives:
        assert set(sent) == {"0 B"}
    else:
        assert not sent
        assert "One device: nothing to communicate." in words
    assert "communicate" not in words.replace("nothing to communicate", "")


def test_a_program_for_which_memory_is_too_small_is_explained_by_its_largest_buffer(device: jax.Device):
    stats = device.memory_stats()
    limit = CPU_LIMIT if device.platform == "cpu" else stats["bytes_limit"]
    # n x n numbers of 4 bytes are more than the device has; XLA runs no trials of it, as it does of products.
    n = math.isqrt(limit // 4) + 1

    def outer(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        squares = x[:, None] * x[None, :]
        return squares, squares.sum(axis=0)

    x = put(device, n)
    with pi.capture() as log, pytest.raises(JaxRuntimeError) as caught:
        jax.block_until_ready(jax.jit(outer)(x))
    explained = pi.explain_error(caught.value)
    assert explained.kind == "out of memory"
    assert explained.record is log["outer"]
    assert explained.memory is not None
    assert explained.memory.program == "outer"
    assert explained.memory.shortage.unknown == ()
    assert explained.memory.use is not None
    # XLA's list where it printed one, else what is alive at the peak.
    largest = (explained.memory.largest or explained.memory.use.live)[0]
    assert largest.name in ("x[:, None] * x[None, :]", "result[0]")
    assert largest.name in " ".join(str(explained).split())
    # XLA rounds its list to two decimals of a unit.
    assert largest.bytes >= 0.99 * limit
    assert largest.source[0].file == __file__
    # The device is as good as before.
    assert float(jnp.sum(put(device, 8) * 0)) == 0
