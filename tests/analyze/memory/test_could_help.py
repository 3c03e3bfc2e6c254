"""Each kind of advice is followed, and the peak is lower: on CPUs where these can show it.

Where they cannot: CPUs compute bfloat16 as float32, so that activations of that type save nothing; they have one
memory, so that host memory is the same; and their schedule of unrolled layers makes all that is recomputed before the
backward pass begins. Of host memory the compiler for TPUs is asked, where it is installed.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.model.memory.memory_use import MemorySuggestion, SuggestionKind
from pjit_inspect.observe.partitioner import targets

MIB = 1 << 20
ROWS, WIDTH, HIDDEN, LAYERS = 1024, 256, 1024, 4
needs_tpu = pytest.mark.skipif(bool(targets.why_missing("tpu")), reason=targets.why_missing("tpu") or "ready")


def shaped(*shape: int, spec: P = P(), dtype: Any = jnp.float32) -> Any:  # noqa: B008
    mesh = jax.sharding.AbstractMesh((8,), ("data",), axis_types=(jax.sharding.AxisType.Auto,))
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, spec))


def weights(spec: P = P(), dtype: Any = jnp.float32) -> list[dict[str, Any]]:  # noqa: B008
    how = {"spec": spec, "dtype": dtype}
    return [{"in": shaped(WIDTH, HIDDEN, **how), "out": shaped(HIDDEN, WIDTH, **how)} for _ in range(LAYERS)]


def batch(rows: int = ROWS) -> Any:
    return shaped(rows, WIDTH, spec=P("data"))


def layer(x: Any, p: Any) -> Any:
    return jnp.tanh(x @ p["in"]) @ p["out"]


def loss(params: Any, x: Any) -> Any:
    for number, p in enumerate(params):
        with jax.named_scope(f"layer{number}"):
            x = layer(x, p)
    return (x * x).sum()


def step(params: Any, moments: Any, x: Any) -> Any:
    grads = jax.grad(loss)(params, x)
    with jax.named_scope("optimizer"):
        moments = jax.tree.map(lambda m, g: (0.9 * m + g).astype(m.dtype), moments, grads)
        return jax.tree.map(lambda p, m: p - 0.1 * m.astype(p.dtype), params, moments), moments


def peak(record: pi.CompileRecord) -> int:
    found = record.memory_use.peak_bytes
    assert found is not None
    return found


def advice(record: pi.CompileRecord, kind: SuggestionKind, name: str = "") -> MemorySuggestion:
    found = [one for one in record.memory_use.suggestions if one.kind == kind and one.name.startswith(name)]
    assert found, [one.sentence for one in record.memory_use.suggestions]
    return found[0]


def compiled(function: Any, *args: Any, target: str = "cpu:8") -> pi.CompileRecord:
    return pi.inspect(function, *args, target=target, effort="full")


def test_at_most_two_of_a_kind_are_told():
    """Moments, parameters and gradients are whole on each device: two of them are told, and other ways."""
    told = [one.kind for one in compiled(jax.jit(step), weights(), weights(), batch()).memory_use.suggestions]
    assert sorted(told) == ["donate", "shard", "shard", "smaller type"]


def test_an_axis_that_is_not_used_saves_what_is_said():
    """Moments of 8 MiB over `data` (8) are 1 MiB."""
    function = jax.jit(step, donate_argnums=(0, 1))
    before = compiled(function, weights(), weights(), batch())
    found = advice(before, "shard", "moments")
    assert (found.count, found.saved_bytes) == (2 * LAYERS, 7 * MIB)
    assert sorted(found.specs)[0] == "moments[0]['in']"
    after = before.what_if(specs=found.specs, effort="full")
    # What is gathered for the update is alive beside them, if only for a while.
    assert peak(before) - peak(after) >= found.saved_bytes // 2


def reserved(record: pi.CompileRecord) -> int:
    """Arguments, results and temporaries, as XLA counts them."""
    stats = record.memory
    assert stats is not None
    parts = stats.argument_bytes, stats.output_bytes, stats.temporary_bytes
    return sum(part or 0 for part in parts) - (stats.alias_bytes or 0)


def test_donation_saves_what_is_said():
    """Results are not alive at this peak: what is saved is what XLA reserves for them."""
    before = compiled(jax.jit(step), weights(), weights(), batch())
    found = advice(before, "donate")
    assert found.bytes == 16 * MIB
    after = compiled(jax.jit(step, donate_argnums=(0, 1)), weights(), weights(), batch())
    assert reserved(before) - reserved(after) >= found.saved_bytes


def test_what_is_donated_saves_all_of_it_where_no_temporary_lies_there():
    """A cache of 8 MiB in which each call writes one row: its next value is all there is to give memory to."""
    cache, row, place = shaped(8192, WIDTH), shaped(WIDTH), shaped(dtype=jnp.int32)
    found = advice(compiled(jax.jit(lambda cache, row, place: cache.at[place].set(row)), cache, row, place), "donate")
    assert found.saved_bytes == 8 * MIB
    assert found.sentence == (
        "donate cache: 1 result of 8 MiB could lie in an argument of its shape and spec; that saves 8 MiB (modelled)"
    )


def test_optimizer_state_of_a_smaller_type_saves_what_is_said():
    """8 MiB of float32 are 4 MiB of bfloat16."""
    function = jax.jit(step, donate_argnums=(0, 1))
    before = compiled(function, weights(), weights(), batch())
    found = advice(before, "smaller type", "optimizer state")
    assert (found.count, found.bytes, found.saved_bytes) == (2 * LAYERS, 8 * MIB, 4 * MIB)
    after = compiled(function, weights(), weights(dtype=jnp.bfloat16), batch())
    assert peak(before) - peak(after) == found.saved_bytes


def scanned(one_layer: Any, rows: int, target: str = "cpu:8") -> pi.CompileRecord:
    def total(params: Any, x: Any) -> Any:
        x, _ = jax.lax.scan(lambda x, p: (one_layer(x, p), None), x, params)
        return (x * x).sum()

    stacked = {"in": shaped(LAYERS, WIDTH, HIDDEN), "out": shaped(LAYERS, HIDDEN, WIDTH)}
    return compiled(jax.jit(jax.grad(total)), stacked, batch(rows), target=target)


def test_recomputing_a_scan_saves_less_for_the_backward_pass():
    """On each of 8 devices 2,048 rows: a turn saves 8 MiB of tanh's results, and its input, 2 MiB, which stays."""
    before = scanned(layer, 8 * 2048)
    found = advice(before, "recompute")
    after = scanned(jax.checkpoint(layer), 8 * 2048)
    assert peak(before) - peak(after) >= (LAYERS - 1) * 8 * MIB
    assert found.saved_bytes >= (LAYERS - 1) * 8 * MIB
    assert "recompute" not in {one.kind for one in after.memory_use.suggestions}


def test_recomputing_a_scan_costs_no_more_than_is_said():
    """The second product of a layer is not computed again, as nothing of the backward pass needs it."""
    before, after = scanned(layer, 8 * 2048), scanned(jax.checkpoint(layer), 8 * 2048)
    products = {figure.name: figure for figure in pi.diff(before, after).data.figures}["matrix products"]
    found = advice(before, "recompute")
    assert found.flops is not None
    assert 0 < products.after - products.before <= found.flops
    assert f"for at most {found.flops:.3g} FLOPs more" in found.sentence


def test_host_memory_is_told_with_what_crosses():
    """4 turns save 8 MiB of tanh's results each, of which one turn's stay; what is saved crosses twice."""
    found = advice(scanned(layer, 8 * 2048), "offload")
    assert found.bytes - found.saved_bytes == found.bytes // LAYERS
    assert found.bytes >= LAYERS * 8 * MIB
    crosses = f"{2 * found.bytes // MIB} MiB cross to the host and back in each call (modelled)"
    assert crosses in found.sentence


@needs_tpu
def test_host_memory_saves_what_is_said_on_a_tpu():
    """On each of 8 devices 16,384 rows: a turn saves 64 MiB. Less than 128 MiB in all XLA keeps on the chip."""

    def named(x: Any, p: Any) -> Any:
        return checkpoint_name(jnp.tanh(x @ p["in"]), "inner") @ p["out"]

    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["inner"],
        offload_src="device",
        offload_dst="pinned_host",
    )
    before = scanned(layer, 8 * 16_384, "tpu:v5e:2x4")
    after = scanned(jax.checkpoint(named, policy=policy), 8 * 16_384, "tpu:v5e:2x4")
    assert peak(before) - peak(after) >= (LAYERS - 1) * 64 * MIB
    assert {curve.name for curve in after.memory_use.curves} == {"HBM", "host"}
