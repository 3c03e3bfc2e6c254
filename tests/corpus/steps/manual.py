"""Steps with `shard_map`: pipeline, ring attention, experts by all-to-all, data parallel by hand, hand-made layers.

Not its job: experts left to the partitioner (`routing`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.sharding import PartitionSpec as P

from corpus.arrays import grid, one, placed, state_of
from corpus.program import Built, Expected, Never, Program, program

PROGRAMS: list[Program] = []


@program(
    PROGRAMS,
    "pipeline",
    "ppermute",
    "shard_map",
    expected=(Expected(kind="collective-permute", axes="stage", cause="written", says=("ppermute",)),),
    never=(Never(kind="collective-permute", cause="unknown"), Never(kind="collective-permute", cause="halo")),
)
def pipeline_by_ppermute() -> Built:
    mesh = grid(stage=8)
    d, micro = 32, 4
    ws = placed(mesh, {"w1": ((8, d, d), "stage"), "w2": ((8, d, d), "stage")})

    def stage(w, x):
        return x + jnp.tanh(x @ w["w1"][0]) @ w["w2"][0]

    def run(w, xs):
        me, n = lax.axis_index("stage"), 8
        state = jnp.zeros(xs.shape[1:])
        out = jnp.zeros_like(xs)

        def tick(carry, t):
            state, out = carry
            state = jnp.where(me == 0, xs[jnp.minimum(t, micro - 1)], state)
            state = stage(w, state)
            at = jnp.maximum(t - n + 1, 0)
            out = jnp.where((me == n - 1) & (t >= n - 1), out.at[at].set(state), out)
            state = lax.ppermute(state, "stage", [(i, (i + 1) % n) for i in range(n)])
            return (state, out), None

        start = lax.pcast((state, out), ("stage",), to="varying") if hasattr(lax, "pcast") else (state, out)
        (_, out), _ = lax.scan(tick, start, jnp.arange(micro + n - 1))
        return lax.psum(jnp.where(me == n - 1, out, 0.0), "stage")

    forward = jax.shard_map(run, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P(), check_vma=False)

    @jax.jit
    def step(ws, xs, ys):
        loss, g = jax.value_and_grad(lambda w: ((forward(w, xs) - ys) ** 2).mean())(ws)
        return jax.tree.map(lambda w, g: w - 0.1 * g, ws, g), loss

    xs = one(mesh, (micro, 8, d))
    return step, (ws, xs, xs)


@program(
    PROGRAMS,
    "ring attention",
    "ppermute",
    "sequence split",
    "shard_map",
    expected=(Expected(kind="collective-permute", axes="sp", cause="written", says=("ppermute",)),),
)
def ring_attention_forward_and_back() -> Built:
    mesh = grid([0, 4, 1, 5, 2, 6, 3, 7], dp=2, sp=4)
    d, heads = 32, 4
    params = placed(mesh, {"qkv": ((d, 3, heads, 8),), "out": ((heads, 8, d),), "mlp": ((d, d),)})

    def ring(q, k, v):
        def fold(i, carry):
            o, m, z, k, v = carry
            s = jnp.einsum("bqhd,bkhd->bhqk", q, k)
            new = jnp.maximum(m, s.max(-1))
            p = jnp.exp(s - new[..., None])
            scale = jnp.exp(m - new)
            o = o * scale.transpose(0, 2, 1)[..., None] + jnp.einsum("bhqk,bkhd->bqhd", p, v)
            k, v = (lax.ppermute(a, "sp", [(j, (j + 1) % 4) for j in range(4)]) for a in (k, v))
            return o, new, z * scale + p.sum(-1), k, v

        b, t = q.shape[:2]
        carry = jnp.zeros_like(q), jnp.full((b, heads, t), -1e30), jnp.zeros((b, heads, t)), k, v
        for i in range(4):
            carry = fold(i, carry)
        o, _, z, *_ = carry
        return o / z.transpose(0, 2, 1)[..., None]

    spec = P("dp", "sp", None, None)
    attend = jax.shard_map(ring, mesh=mesh, in_specs=(spec,) * 3, out_specs=spec, check_vma=False)

    def loss(params, x):
        q, k, v = jnp.moveaxis(jnp.einsum("btd,dchk->btchk", x, params["qkv"]), 2, 0)
        x = x + jnp.einsum("bthk,hkd->btd", attend(q, k, v), params["out"])
        return ((x + jax.nn.relu(x @ params["mlp"])) ** 2).mean()

    tx = optax.adam(1e-3)

    @jax.jit
    def step(params, opt, x):
        value, g = jax.value_and_grad(loss)(params, x)
        u, opt = tx.update(g, opt)
        return optax.apply_updates(params, u), opt, value

    return step, (params, state_of(mesh, tx, params), one(mesh, (4, 32, d), "dp", "sp"))


@program(
    PROGRAMS,
    "MoE",
    "all-to-all",
    "shard_map",
    expected=(Expected(kind="all-to-all", axes="expert", cause="written", says=("all_to_all",)),),
    never=(Never(kind="all-to-all", cause="reshard_needed"),),
)
def moe_with_written_all_to_all() -> Built:
    mesh = grid(data=2, expert=4)
    d, f, experts, cap = 32, 64, 8, 8
    params = placed(
        mesh, {"gate": ((d, experts),), "up": ((experts, d, f), "expert"), "down": ((experts, f, d), "expert")}
    )

    def layer(gate, up, down, x):
        scores = jax.nn.softmax(x @ gate)
        best = scores.argmax(-1)
        onehot = jax.nn.one_hot(best, experts)
        place = (jnp.cumsum(onehot, 0) - 1) * onehot
        slot = jax.nn.one_hot(place.sum(-1).astype(int), cap) * (place.sum(-1) < cap)[:, None]
        dispatch = onehot[:, :, None] * slot[:, None]
        sent = jnp.einsum("tec,td->ecd", dispatch, x)
        got = lax.all_to_all(sent, "expert", 0, 1, tiled=True)
        h = jax.nn.relu(jnp.einsum("ecd,edf->ecf", got, up))
        back = lax.all_to_all(jnp.einsum("ecf,efd->ecd", h, down), "expert", 1, 0, tiled=True)
        y = jnp.einsum("tec,ecd->td", dispatch * scores.max(-1)[:, None, None], back)
        balance = lax.pmean((scores.mean(0) * onehot.mean(0)).sum(), ("data", "expert"))
        return x + y, balance

    tokens = P(("data", "expert"))
    moe = jax.shard_map(
        layer,
        mesh=mesh,
        in_specs=(P(), P("expert"), P("expert"), tokens),
        out_specs=(tokens, P()),
        check_vma=False,
    )

    @jax.jit
    def step(p, x, y):
        def loss(p):
            out, balance = moe(p["gate"], p["up"], p["down"], x)
            return ((out - y) ** 2).mean() + 0.01 * balance

        value, g = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda w, g: w - 0.1 * g, p, g), value

    x = one(mesh, (64, d), ("data", "expert"))
    return step, (params, x, x)


@program(
    PROGRAMS,
    "DP",
    "pmean",
    "shard_map",
    "momentum",
    expected=(Expected(kind="all-reduce", axes="batch", cause="written", says=(":{pmean}",)),),
    never=(Never(cause="contraction"), Never(cause="reduction")),
)
def data_parallel_by_hand() -> Built:
    mesh = grid(batch=8)
    params = placed(mesh, {"w0": ((16, 32),), "w1": ((32, 4),)})

    def loss(p, x, y):
        return ((jnp.sin(x @ p["w0"]) @ p["w1"] - y) ** 2).mean()

    def replica(p, m, x, y):
        value, g = jax.value_and_grad(loss)(p, x, y)
        g = lax.pmean(g, "batch")  # @pmean
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
        return jax.tree.map(lambda p, m: p - 0.1 * m, p, m), m, lax.pmean(value, axis_name="batch")

    specs = P(), P(), P("batch"), P("batch")
    step = jax.shard_map(replica, mesh=mesh, in_specs=specs, out_specs=(P(), P(), P()), check_vma=False)
    x, y = one(mesh, (32, 16), "batch"), one(mesh, (32, 4), "batch")
    return jax.jit(step, donate_argnums=(0, 1)), (params, params, x, y)


@program(
    PROGRAMS,
    "FSDP",
    "all_gather",
    "psum_scatter",
    "shard_map",
    "scan",
    expected=(
        Expected(kind="all-gather", axes="fsdp", cause="written", says=("all_gather",)),
        Expected(kind="reduce-scatter|all-reduce", axes="fsdp", cause="written"),
    ),
)
def fsdp_by_hand_scanned() -> Built:
    mesh = grid(fsdp=8)
    d = 32
    ws = placed(mesh, {"a": ((4, d, d), None, "fsdp"), "b": ((4, d, d), None, "fsdp")})

    def local_loss(ws, x):
        def layer(x, w):
            a, b = (lax.all_gather(v, "fsdp", axis=0, tiled=True) for v in (w["a"], w["b"]))
            return x + jax.nn.relu(x @ a) @ b, None

        y, _ = lax.scan(jax.checkpoint(layer), x, ws)
        return lax.pmean((y**2).mean(), "fsdp")

    loss = jax.shard_map(local_loss, mesh=mesh, in_specs=(P(None, "fsdp"), P("fsdp")), out_specs=P(), check_vma=False)

    @jax.jit
    def step(ws, x):
        value, g = jax.value_and_grad(loss)(ws, x)
        return jax.tree.map(lambda w, g: w - 0.01 * g, ws, g), value

    return step, (ws, one(mesh, (16, d), "fsdp"))


@program(PROGRAMS, "TP", "shard_map in part", "FSDP", "mixed manual and automatic")
def manual_tensor_axis_inside_automatic_step() -> Built:
    mesh = grid(data=2, tensor=4)
    params = placed(mesh, {"embed": ((64, 32), "data"), "up": ((32, 64), "data", "tensor"),
                           "down": ((64, 32), "tensor", "data"), "head": ((32, 64), "data", "tensor")})  # fmt: skip

    def mlp(x, up, down):
        return lax.psum(jax.nn.gelu(x @ up) @ down, "tensor")

    manual = jax.shard_map(
        mlp,
        mesh=mesh,
        in_specs=(P(), P(None, "tensor"), P("tensor", None)),
        out_specs=P(),
        axis_names={"tensor"},
        check_vma=False,
    )

    def loss(p, ids):
        x = p["embed"][ids]
        x = x + manual(x, p["up"], p["down"])
        return optax.softmax_cross_entropy_with_integer_labels(x @ p["head"], ids).mean()

    def step(p, ids):
        value, g = jax.value_and_grad(loss)(p, ids)
        return jax.tree.map(lambda w, g: w - 0.1 * g, p, g), value

    return jax.jit(step), (params, one(mesh, (8, 16), "data", dtype=jnp.int32))
