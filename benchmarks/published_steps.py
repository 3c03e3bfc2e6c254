"""Published steps of decoders on TPUs that are not here, against what `record.time` says of them.

    python benchmarks/published_steps.py --row v5e-16b     # compile one row (10 minutes or more), keep its record
    python benchmarks/published_steps.py                   # the table of all rows that were compiled
    python benchmarks/published_steps.py --row v5e-16b --kernels 20

Needs libtpu: `pip install libtpu==0.0.42.1`. Rows, flags and their sources are in `published_steps.json`; nothing that
predicts a row was fitted to published steps. The program is a decoder as MaxText has it (a scan over layers,
rematerialization as published, AdamW in float32, layers in bfloat16), not MaxText itself. Attention is an empty Pallas
call with the operands of the real one, which declares its causal operations: `record.time` takes them at the peak. The
columns "with attention" take the static instructions of the real kernel instead.

The guess beside each row is the median MFU of the other rows of its chip.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ.setdefault("TPU_SKIP_MDS_QUERY", "1")
os.environ.setdefault("TPU_WORKER_HOSTNAMES", "localhost")
os.environ.setdefault("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name as named
from jax.experimental import mesh_utils, topologies
from jax.experimental import pallas as pl
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.model.time.hardware import Hardware, first, hardware_of
from pjit_inspect.model.time.step_time import StepTime

TABLE: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
ROWS: dict[str, dict[str, Any]] = {row["row"]: row for row in TABLE["rows"]}
WEIGHTS = {
    "query": P("fsdp", "tensor", None),
    "key": P("fsdp", "tensor", None),
    "value": P("fsdp", "tensor", None),
    "qkv": P("fsdp", None, "tensor", None),
    "out": P("tensor", None, "fsdp"),
    "gate": P("fsdp", "tensor"),
    "up": P("fsdp", "tensor"),
    "mlp": P("fsdp", None, "tensor"),
    "down": P("tensor", "fsdp"),
    "norm_in": P("tensor"),
    "norm_out": P("tensor"),
}
MINIMAL = "query_proj", "key_proj", "value_proj", "out_proj", "mlpwi_0", "mlpwi_1", "mlpwi", "mlpwo"
EMBEDDING, HEAD = P("tensor", "fsdp"), P("fsdp", "tensor")
LOW = jnp.bfloat16


class Decoder:
    """One training step of a row, for the devices of its slice."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row
        # One device for each chip of a v4, as JAX has it where the chips are.
        options = {"chip_config_name": "megacore"} if row["chip"] == "v4" else {}
        name = f"{row['chip']}:{row['topology']}"
        topology = topologies.get_topology_desc(platform="tpu", topology_name=name, **options)
        sizes = row["mesh"]["fsdp"], row["mesh"]["tensor"]
        devices = np.array(topology.devices).reshape(sizes)
        if sizes[1] > 1:
            devices = mesh_utils.create_device_mesh(sizes, devices=topology.devices)
        self.mesh = Mesh(devices, ("fsdp", "tensor"), axis_types=(AxisType.Auto,) * 2)

    def sharding(self, spec: P) -> NamedSharding:
        return NamedSharding(self.mesh, spec)

    def lie(self, x: jax.Array, *spec: Any) -> jax.Array:
        return jax.lax.with_sharding_constraint(x, self.sharding(P(*spec)))

    def spread(self, x: jax.Array) -> jax.Array:
        """Activations between blocks: sequences over fsdp, features over tensor."""
        return self.lie(x, "fsdp", None, "tensor")

    # ------------------------------------------------------------ arguments

    def parameters(self) -> dict[str, Any]:
        row = self.row
        width, heads, kv, each, hidden = (row[k] for k in ("width", "heads", "kv_heads", "head_width", "hidden"))
        shapes = {
            "query": (width, heads, each),
            "key": (width, kv, each),
            "value": (width, kv, each),
            "qkv": (width, 3, heads, each),
            "out": (heads, each, width),
            "gate": (width, hidden),
            "up": (width, hidden),
            "mlp": (width, 2, hidden),
            "down": (hidden, width),
            "norm_in": (width,),
            "norm_out": (width,),
        }
        for unused in ("query", "key", "value", "gate", "up") if row.get("fused") else ("qkv", "mlp"):
            del shapes[unused]
        layers = {k: self.struct((row["layers"], *own), P(None, *WEIGHTS[k])) for k, own in shapes.items()}
        return {
            "embedding": self.struct((row["vocabulary"], width), EMBEDDING),
            "head": self.struct((width, row["vocabulary"]), HEAD),
            "norm": self.struct((width,), P("tensor")),
            "layers": layers,
        }

    def struct(self, shape: tuple[int, ...], spec: P, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, dtype, sharding=self.sharding(spec))

    def tokens(self) -> jax.ShapeDtypeStruct:
        sequences = round(self.row["sequences_per_device"] * self.mesh.size)
        return self.struct((sequences, self.row["length"]), P("fsdp", None), jnp.int32)

    # ------------------------------------------------------------ the step

    def cast(self, weight: jax.Array, spec: P) -> jax.Array:
        """A weight in bfloat16; its gradient lies as the weight does, before it is float32 again."""

        @jax.custom_vjp
        def cast(weight: jax.Array) -> jax.Array:
            return weight.astype(LOW)

        cast.defvjp(lambda w: (w.astype(LOW), None), lambda _, g: (self.lie(g, *spec).astype(jnp.float32),))
        return cast(weight)

    def layer(self, x: jax.Array, weights: dict[str, jax.Array]) -> jax.Array:
        w = {k: self.cast(own, WEIGHTS[k]) for k, own in weights.items()}
        x = named(x, "decoder_layer_input")
        h = self.spread(rms(x, w["norm_in"]))
        if "qkv" in w:
            both = self.lie(jnp.einsum("bse,ekhd->bskhd", h, w["qkv"]), "fsdp", None, None, "tensor")
            heads = [both[:, :, k] for k in range(3)]
        else:
            heads = [jnp.einsum("bse,ehd->bshd", h, w[name]) for name in ("query", "key", "value")]
        heads = [rotated(x) for x in heads[:2]] + heads[2:]
        q, k, v = (
            named(self.lie(x, "fsdp", None, "tensor"), f"{name}_proj")
            for name, x in zip(("query", "key", "value"), heads, strict=True)
        )
        mixed = named(self.attend(q, k, v), "context")
        x = x + named(self.spread(jnp.einsum("bqhd,hde->bqe", mixed, w["out"])), "out_proj")
        h = self.spread(rms(x, w["norm_out"]))
        if "mlp" in w:
            both = named(self.lie(jnp.einsum("bse,ekf->bskf", h, w["mlp"]), "fsdp", None, None, "tensor"), "mlpwi")
            gate, up = both[:, :, 0], both[:, :, 1]
        else:
            gate, up = named(h @ w["gate"], "mlpwi_0"), named(h @ w["up"], "mlpwi_1")
        inner = self.lie(jax.nn.silu(gate) * up, "fsdp", None, "tensor")
        return self.spread(x + self.spread(named(inner @ w["down"], "mlpwo")))

    def attend(self, q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        spec = P("fsdp", "tensor")
        heads_first = [x.transpose(0, 2, 1, 3) for x in (q, k, v)]
        apart = jax.shard_map(attention, mesh=self.mesh, in_specs=(spec,) * 3, out_specs=spec, check_vma=False)
        return apart(*heads_first).transpose(0, 2, 1, 3)

    def policy(self) -> Any:
        policies, remat = jax.checkpoint_policies, self.row["remat"]
        if remat == "full":
            return policies.nothing_saveable
        if remat == "minimal":
            return policies.save_only_these_names(*MINIMAL)
        return policies.save_and_offload_only_these_names(
            names_which_can_be_saved=remat["save"],
            names_which_can_be_offloaded=remat["offload"],
            offload_src="device",
            offload_dst="pinned_host",
        )

    def loss(self, params: dict[str, Any], tokens: jax.Array, targets: jax.Array) -> jax.Array:
        table = self.cast(params["embedding"], EMBEDDING)
        x = jax.nn.one_hot(tokens, self.row["vocabulary"], dtype=LOW) @ table
        x = self.spread(x)
        layer = jax.checkpoint(self.layer, policy=self.policy(), prevent_cse=False)
        x, _ = jax.lax.scan(lambda x, w: (layer(x, w), None), x, params["layers"])
        logits = rms(x, params["norm"]) @ self.cast(params["head"], HEAD)
        logits = self.spread(logits).astype(jnp.float32)
        place = jax.lax.broadcasted_iota(jnp.int32, logits.shape, 2)
        chosen = jnp.sum(jnp.where(place == targets[..., None], logits, 0), -1)
        return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)

    def train_step(self, params: Any, first: Any, second: Any, tokens: jax.Array, targets: jax.Array) -> Any:
        loss, grads = jax.value_and_grad(self.loss)(params, tokens, targets)
        norm = jnp.sqrt(sum(jnp.sum(jnp.square(g)) for g in jax.tree.leaves(grads)))
        grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm), grads)
        first = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g).astype(m.dtype), first, grads)
        second = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, second, grads)
        params = jax.tree.map(lambda p, m, v: p - 3e-5 * (m / (jnp.sqrt(v) + 1e-8) + 0.1 * p), params, first, second)
        return params, first, second, loss

    def record(self) -> pi.CompileRecord:
        """The step, compiled for the slice with the flags of its recipe."""
        params, tokens = self.parameters(), self.tokens()
        lies = jax.tree.map(lambda x: x.sharding, params)
        options = {k: {"true": True, "false": False}.get(v, v) for k, v in TABLE["options"][self.row["chip"]].items()}
        step = jax.jit(
            self.train_step,
            donate_argnums=(0, 1, 2),
            out_shardings=(lies, lies, lies, self.sharding(P())),
            compiler_options=options,
        )
        low = self.row.get("first_moment", jnp.float32)
        moment = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, low, sharding=x.sharding), params)
        with jax.set_mesh(self.mesh):
            return pi.inspect(step, params, moment, params, tokens, tokens)


def rms(x: jax.Array, weight: jax.Array) -> jax.Array:
    mean = jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True)
    return (x * jax.lax.rsqrt(mean + 1e-6)).astype(LOW) * weight.astype(LOW)


def rotated(x: jax.Array) -> jax.Array:
    """Queries or keys, turned by their positions."""
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] / 10000.0 ** (jnp.arange(half) / half)
    cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    a, b = jnp.split(x.astype(jnp.float32), 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(LOW)


# ---------------------------------------------------------------- attention: an empty kernel that declares its work


def opaque(name: str, flops: int, outs: list[tuple[tuple[int, ...], Any]], *args: jax.Array) -> Any:
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    moved = sum(x.size * x.dtype.itemsize for x in args)
    return pl.pallas_call(
        lambda *_: None,
        out_shape=[jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in outs],
        in_specs=[anywhere] * len(args),
        out_specs=[anywhere] * len(outs),
        name=name,
        cost_estimate=pl.CostEstimate(flops=flops, transcendentals=0, bytes_accessed=moved),
    )(*args)


def causal(q: jax.Array, products: int) -> int:
    """Operations of so many products of queries and keys, half of them hidden by the mask."""
    sequences, heads, length, each = q.shape
    return products * sequences * heads * length * length * each


@jax.custom_vjp
def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    return attention_forward(q, k, v)[0]


def attention_forward(q: jax.Array, k: jax.Array, v: jax.Array) -> Any:
    outs = [(q.shape, LOW), (q.shape[:3], jnp.float32)]
    out, sums = opaque("attention_forward", causal(q, 2), outs, q, k, v)
    return out, (q, k, v, out, sums)


def attention_backward(kept: Any, grad: jax.Array) -> Any:
    outs = [(x.shape, LOW) for x in kept[:3]]
    return tuple(opaque("attention_backward", causal(kept[0], 5), outs, *kept, grad))


attention.defvjp(attention_forward, attention_backward)


# ---------------------------------------------------------------- the table


def peak_s(row: dict[str, Any]) -> float:
    """Seconds of 6 x parameters x tokens, with attention in full, at the peak."""
    tokens = row["sequences_per_device"] * row["length"]
    attention_flops = 12 * row["layers"] * row["heads"] * row["head_width"] * row["length"]
    hardware = hardware_of(row["chip"])
    assert hardware is not None
    return tokens * (6 * row["parameters"] + attention_flops) / (hardware.peak("bf16") or 1.0)


def guess_s(row: dict[str, Any]) -> float:
    others = [own for own in ROWS.values() if own["chip"] == row["chip"] and own is not row]
    if not others:
        return float("nan")
    return peak_s(row) / statistics.median(peak_s(own) / own["published_s"] for own in others)


def attention_more_s(row: dict[str, Any], step: StepTime, hardware: Hardware) -> float | None:
    """What the real attention kernels take beyond the operations that they declare; None if nobody counted them."""
    counted, clock = TABLE["attention"].get(row["chip"]), first(hardware.clock_hz)
    if counted is None or clock is None or counted["length"] != row["length"]:
        return None
    heads = row["heads"] / row["mesh"]["tensor"] * row["sequences_per_device"] * row["mesh"]["tensor"]
    more = 0.0
    for kernel in step.kernels:
        for phase in ("forward", "backward"):
            if kernel.name.startswith(f"attention_{phase}"):
                more += (kernel.runs or 1) * heads * counted[f"{phase}_cycles"] / clock - (kernel.seconds or 0.0)
    return more


def counted_by_hand(row: dict[str, Any]) -> float:
    """Operations in products of the step on one device: what its layers, its head and its attention are made of."""
    width, heads, kv, each, hidden = (row[k] for k in ("width", "heads", "kv_heads", "head_width", "hidden"))
    weights = {
        "query_proj": width * heads * each,
        "key_proj": width * kv * each,
        "value_proj": width * kv * each,
        "out_proj": width * heads * each,
        "gate": width * hidden,
        "up": width * hidden,
    }
    remat, kept = row["remat"], set[str]()
    if remat == "minimal":
        kept = set(weights)
    elif remat != "full":
        kept = {*remat["save"], *remat["offload"]}
    again = sum(size for name, size in weights.items() if name not in kept)
    layer = 6 * (sum(weights.values()) + width * hidden) + 2 * again
    # Forward, again, backward; causal.
    attending = (2 + 2 + 5) * heads * each * row["length"]
    ends = (6 + 4) * row["vocabulary"] * width
    return row["sequences_per_device"] * row["length"] * (row["layers"] * (layer + attending) + ends)


def cell(found: float | None, row: dict[str, Any]) -> str:
    return "-" if found is None or found != found else f"{found:.2f} ({100 * (found / row['published_s'] - 1):+.1f} %)"


def compiled(row: dict[str, Any], folder: Path) -> pi.CompileRecord | None:
    path = folder / f"{row['row']}.pjit"
    return pi.load(path) if path.exists() else None


def predictions(row: dict[str, Any], step: StepTime) -> dict[str, float | None]:
    """Seconds of a row by each figure, and by two guesses that need no compile."""
    hardware = hardware_of(row["chip"])
    assert hardware is not None
    more = attention_more_s(row, step, hardware)
    both = (("kernels, attention", step.kernels_s), ("step, attention", step.step_s))
    return {
        "floor_s": step.floor_s,
        "kernels_s": step.kernels_s,
        "step_s": step.step_s,
        "serial_s": step.serial_s,
        **{name: None if more is None or own is None else own + more for name, own in both},
        "guess": guess_s(row),
        "6NT/peak": peak_s(row),
    }


def print_table(folder: Path) -> None:
    rows = {name: record.time for name, row in ROWS.items() if (record := compiled(row, folder)) is not None}
    found = {name: predictions(ROWS[name], step) for name, step in rows.items()}
    if not found:
        print(f"no row was compiled yet: there is no record in {folder}")
        return
    names = list(next(iter(found.values())))
    print(f"| row | published s | {' | '.join(names)} | products of those by hand |")
    print("|---|---|" + "---|" * (len(names) + 1))
    for name, own in found.items():
        row = ROWS[name]
        cells = " | ".join(cell(value, row) for value in own.values())
        print(
            f"| {name} | {row['published_s']:.3f} | {cells} | {rows[name].product_flops / counted_by_hand(row):.4f} |"
        )
    for name in names:
        pairs = [(own[name], ROWS[row]["published_s"]) for row, own in found.items()]
        errors = [abs(value / true - 1) for value, true in pairs if value is not None and value == value]
        if errors:
            mean, worst = 100 * statistics.mean(errors), 100 * max(errors)
            print(f"{name}: mean absolute error {mean:.1f} %, worst {worst:.1f} %, over {len(errors)} rows")
    print_pairs(found)


def print_pairs(found: dict[str, dict[str, float | None]]) -> None:
    """How well each figure tells which of two rows takes longer, and by how much."""
    for name in next(iter(found.values()), {}):
        errors, signs = [], []
        for before, after in itertools.combinations(found, 2):
            old, new = found[before][name], found[after][name]
            if old is None or new is None or old != old or new != new:
                continue
            said, true = new / old, ROWS[after]["published_s"] / ROWS[before]["published_s"]
            errors.append(abs(said / true - 1))
            if abs(true - 1) >= 0.05:
                signs.append((true > 1) == (said > 1))
        if errors:
            near = sum(error <= 0.08 for error in errors)
            mean = 100 * statistics.mean(errors)
            print(
                f"pairs by {name}: mean error of the ratio {mean:.1f} %, within 8 %: {near} of {len(errors)}, "
                f"sign right: {sum(signs)} of {len(signs)}"
            )


def print_kernels(step: StepTime, count: int) -> None:
    for note in step.notes:
        print(" note:", note)
    print(" known by:", {name: (rows, round(seconds, 3)) for name, (rows, seconds) in step.known_by.items()})
    print(f" exposed {step.exposed_s or 0.0:.3f} s, copies {step.copies_s or 0.0:.3f} s, MFU {step.mfu or 0.0:.3f}")
    for kernel in step.kernels[:count]:
        ideal = 1 / kernel.of_roofline if kernel.of_roofline else float("nan")
        print(f"  {kernel.seconds or 0:.3f} s, {ideal:.2f} x ideal, {kernel.runs} runs, {kernel.phase}, {kernel.name}")
    for own in step.collectives[:count]:
        print(
            f"  {own.exposed_s or 0:.3f} of {own.seconds or 0:.3f} s exposed, {own.runs} runs, {own.kind} over "
            f"{own.axes_text}, {own.formula}, {own.name}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", choices=ROWS, help="compile this row, unless that was done")
    parser.add_argument("--records", type=Path, default=Path(tempfile.gettempdir()) / "pjit_inspect_steps")
    parser.add_argument("--without", action="append", default=[], help="leave this flag of the recipes out")
    parser.add_argument("--kernels", type=int, default=0, help="print so many kernels and collectives of the row")
    given = parser.parse_args()
    given.records.mkdir(parents=True, exist_ok=True)
    for options in TABLE["options"].values():
        for flag in given.without:
            options.pop(flag, None)
    if given.row:
        row = ROWS[given.row]
        record = compiled(row, given.records)
        if record is None:
            begun, cpu = time.time(), time.process_time()
            record = Decoder(row).record()
            record.save(given.records / f"{row['row']}.pjit")
            took = f"{time.time() - begun:.0f} s, {time.process_time() - cpu:.0f} s of processors"
            print(f"{row['row']} compiled: {took}", flush=True)
        print_kernels(record.time, given.kernels)
    print_table(given.records)


if __name__ == "__main__":
    main()
