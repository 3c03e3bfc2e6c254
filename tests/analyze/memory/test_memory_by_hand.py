"""Five programs worked out by hand before they ran: what is alive at the peak of each, and why.

On each of 8 devices there are 128 of 1,024 rows. One layer is `tanh(x @ w1) @ w2`: its input has 128 x 256 numbers of 4
bytes, 128 KiB; what tanh yields has 128 x 1,024, 512 KiB.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.model.memory.memory_use import LiveValue

KIB = 1024
ROWS, WIDTH, HIDDEN, LAYERS = 1024, 256, 1024, 4
INPUT, INNER = 128 * KIB, 512 * KIB
WEIGHTS = 2 * WIDTH * HIDDEN * 4


def shaped(*shape: int, spec: P = P()) -> Any:
    mesh = jax.make_mesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))


def batch() -> Any:
    return shaped(ROWS, WIDTH, spec=P("data"))


def weights(spec: P = P()) -> list[dict[str, Any]]:
    return [{"w1": shaped(WIDTH, HIDDEN, spec=spec), "w2": shaped(HIDDEN, WIDTH, spec=spec)} for _ in range(LAYERS)]


def layer(x: Any, p: Any) -> Any:
    return jnp.tanh(x @ p["w1"]) @ p["w2"]


def loss(params: Any, x: Any, *, one_layer: Any = layer) -> Any:
    for number, p in enumerate(params):
        with jax.named_scope(f"layer{number}"):
            x = one_layer(x, p)
    return (x * x).sum()


def saved(record: pi.CompileRecord, size: int) -> list[LiveValue]:
    return [row for row in record.memory_use.live if row.kind == "saved for backward" and row.bytes == size]


def test_what_is_alive_adds_up_to_the_peak():
    record = pi.inspect(jax.jit(jax.grad(loss)), weights(), batch())
    use = record.memory_use
    assert use.live.bytes == use.peak_bytes == sum(use.by_kind.values()) == use.curve.peak_bytes  # type: ignore[union-attr]


def test_each_layer_saves_what_its_tanh_yields():
    """The gradient of tanh needs its result, that of `@ w2` too: 4 x 512 KiB; the gradient of `@ w1` needs the layer's
    input: 3 x 128 KiB, as the first layer's is the batch, an argument. All are there when the backward pass begins."""
    record = pi.inspect(jax.jit(jax.grad(loss)), weights(), batch())
    inner = saved(record, INNER)
    assert len(inner) == LAYERS
    assert {row.layers for row in inner} == {(0,), (1,), (2,), (3,)}
    assert {(row.phase, row.last_phase) for row in inner} == {("forward", "backward")}
    assert all(row.begins <= record.memory_use.at.kernel <= row.ends for row in inner)  # type: ignore[union-attr]
    assert len(saved(record, INPUT)) >= LAYERS - 1


def test_with_remat_a_layer_saves_its_input_alone():
    """Only the layers' inputs are saved; what tanh yields is made again, one layer at a time."""
    step = jax.jit(jax.grad(lambda params, x: loss(params, x, one_layer=jax.checkpoint(layer))))
    record = pi.inspect(step, weights(), batch())
    plain = pi.inspect(jax.jit(jax.grad(loss)), weights(), batch())
    assert len(saved(record, INNER)) <= 1
    assert record.memory_use.temporary_peak_bytes < plain.memory_use.temporary_peak_bytes  # type: ignore[operator]
    made_again = [
        row for row in record.memory_use.largest if row.bytes == INNER and row.phase in ("recompute", "backward")
    ]
    assert made_again


def update(params: Any, x: Any) -> Any:
    grads = jax.grad(loss)(params, x)
    with jax.named_scope("optimizer"):
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def test_a_forgotten_donation_is_named():
    """The new weights have the shape and spec of the old ones: 4 x 2 MiB that could lie in the same buffers."""
    record = pi.inspect(jax.jit(update), weights(), batch())
    found = [one for one in record.memory_use.suggestions if one.kind == "donate"]
    assert [(one.name, one.count, one.bytes) for one in found] == [("params", 2 * LAYERS, LAYERS * WEIGHTS)]
    donated = pi.inspect(jax.jit(update, donate_argnums=0), weights(), batch())
    assert not [one for one in donated.memory_use.suggestions if one.kind == "donate"]
    assert donated.memory.alias_bytes == LAYERS * WEIGHTS  # type: ignore[union-attr]


def momentum(params: Any, moments: Any, x: Any) -> Any:
    grads = jax.grad(loss)(params, x)
    with jax.named_scope("optimizer"):
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, grads)
        return jax.tree.map(lambda p, m: p - 0.1 * m, params, moments), moments


def test_replicated_optimizer_state_could_be_split():
    """The moments are whole on each device: 8 MiB, of which 7/8 would go if they were split over `data`."""
    record = pi.inspect(jax.jit(momentum, donate_argnums=(0, 1)), weights(), weights(), batch())
    state = [row for row in record.memory_use.live if row.kind == "optimizer state"]
    assert sum(row.bytes for row in state) == LAYERS * WEIGHTS
    assert all(row.name.startswith("moments[") and row.spec == (None, None) for row in state)
    found = [one for one in record.memory_use.suggestions if one.kind == "shard" and one.name.startswith("moments[")]
    assert sum(one.saved_bytes for one in found) == LAYERS * WEIGHTS * 7 // 8
    assert sorted(spec for one in found for spec in one.specs) == sorted(row.name for row in state)


@pytest.mark.parametrize("turns", [6])
def test_a_scan_saves_what_each_turn_needs(turns: int):
    """Each turn writes 512 KiB of tanh's results into one array of all turns, which is there until it has been read."""
    stacked = {"w1": shaped(turns, WIDTH, HIDDEN), "w2": shaped(turns, HIDDEN, WIDTH)}

    def scanned(params: Any, x: Any) -> Any:
        x, _ = jax.lax.scan(lambda x, p: (layer(x, p), None), x, params)
        return (x * x).sum()

    record = pi.inspect(jax.jit(jax.grad(scanned)), stacked, batch())
    rows = [row for row in record.memory_use.live if row.turns == turns]
    assert turns * INNER in {row.bytes for row in rows}
    stack = next(row for row in rows if row.bytes == turns * INNER)
    assert (stack.kind, stack.local_shape[0]) == ("saved for backward", turns)
