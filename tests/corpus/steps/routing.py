"""Experts, embedding tables and towers that the partitioner routes by itself: no `shard_map`.

Not its job: routing by hand (`manual`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import grid, one, placed, state_of
from corpus.program import Built, Counterfactual, Expected, Never, Program, program

PROGRAMS: list[Program] = []


@program(
    PROGRAMS,
    "MoE",
    "GShard",
    "einsum dispatch",
    "constraints",
    counterfactuals=(Counterfactual(without="dispatch", blame=r"(:|line ){dispatch}\b", must=False),),
)
def moe_by_einsum_dispatch(without: str = "") -> Built:
    mesh = grid(data=2, expert=4)
    d, f, e, c = 32, 64, 4, 8
    params = placed(mesh, {"router": ((d, e),), "wi": ((e, d, f), "expert"), "wo": ((e, f, d), "expert"),
                           "emb": ((64, d),)})  # fmt: skip

    def moe(p, x):
        probs = jax.nn.softmax(x @ p["router"])
        best = jax.nn.one_hot(probs.argmax(-1), e)
        position = jnp.cumsum(best, axis=1) * best
        within = position < c
        combine = jnp.einsum("gs,gse,gsec->gsec", probs.max(-1), best * within, jax.nn.one_hot(position.astype(int), c))
        dispatch = (combine > 0).astype(x.dtype)
        h = jnp.einsum("gsec,gsd->egcd", dispatch, x)
        if without != "dispatch":
            h = jax.lax.with_sharding_constraint(h, NamedSharding(mesh, P("expert", "data")))  # @dispatch
        h = jnp.einsum("egcf,efd->egcd", jax.nn.relu(jnp.einsum("egcd,edf->egcf", h, p["wi"])), p["wo"])
        return jnp.einsum("gsec,egcd->gsd", combine, h), (probs.mean(1) * best.mean(1)).sum()

    def loss(p, ids):
        x = p["emb"][ids]
        y, aux = moe(p, x)
        return optax.softmax_cross_entropy_with_integer_labels((x + y) @ p["emb"].T, ids).mean() + 0.01 * aux

    tx = optax.adam(1e-3)

    @jax.jit
    def step(p, s, ids):
        value, g = jax.value_and_grad(loss)(p, ids)
        u, s = tx.update(g, s)
        return optax.apply_updates(p, u), s, value

    return step, (params, state_of(mesh, tx, params), one(mesh, (8, 16), ("data", "expert"), dtype=jnp.int32))


@program(PROGRAMS, "MoE", "top-k", "sort", "gather", "FSDP")
def moe_by_sorting_tokens() -> Built:
    mesh = grid(fsdp=2, ep=4)
    d, f, e, k = 32, 64, 8, 2
    params = placed(
        mesh, {"gate": ((d, e), "fsdp"), "w1": ((e, d, f), "ep", "fsdp"), "w2": ((e, f, d), "ep", None, "fsdp")}
    )

    def block(p, x):
        flat = x.reshape(-1, d)
        weights, chosen = jax.lax.top_k(jax.nn.softmax(flat @ p["gate"]), k)
        order = jnp.argsort(chosen.reshape(-1))
        rows = flat[order // k]
        per = rows.reshape(e, -1, d)
        h = jax.nn.silu(jnp.einsum("ecd,edf->ecf", per, p["w1"]))
        out = jnp.einsum("ecf,efd->ecd", h, p["w2"]).reshape(-1, d)
        out = jnp.zeros((flat.shape[0] * k, d)).at[order].set(out).reshape(-1, k, d)
        return x + (out * weights[..., None]).sum(1).reshape(x.shape)

    def step(p, x, y):
        value, g = jax.value_and_grad(lambda p: ((block(p, x) - y) ** 2).mean())(p)
        return jax.tree.map(lambda w, g: w - 1e-2 * g, p, g), value

    x = one(mesh, (4, 16, d), "fsdp")
    return jax.jit(step), (params, x, x)


@program(PROGRAMS, "MoE", "expert choice", "TP", "scan over layers")
def expert_choice_layers() -> Built:
    mesh = grid(data=4, expert=2)
    d, f, e, c, layers = 32, 32, 4, 8, 2
    params = placed(mesh, {"router": ((layers, d, e),), "wi": ((layers, e, d, f), None, "expert"),
                           "wo": ((layers, e, f, d), None, "expert")})  # fmt: skip

    def layer(x, p):
        scores = jax.nn.softmax(x @ p["router"])
        g, idx = jax.lax.top_k(scores.transpose(0, 2, 1), c)
        picked = jnp.take_along_axis(x[:, None], idx[..., None], axis=2)
        h = jnp.einsum("becd,edf->becf", picked, p["wi"])
        h = jnp.einsum("becf,efd->becd", jax.nn.gelu(h), p["wo"]) * g[..., None]
        onehot = jax.nn.one_hot(idx, x.shape[1])
        return x + jnp.einsum("becd,bect->btd", h, onehot), scores.std()

    @jax.jit
    def step(params, x, y):
        def loss(params):
            out, stats = jax.lax.scan(layer, x, params)
            return jnp.abs(out - y).mean() + 1e-3 * stats.sum()

        value, g = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda w, g: w - 1e-2 * g, params, g), value

    x = one(mesh, (8, 16, d), "data")
    return step, (params, x, x)


@program(
    PROGRAMS,
    "DLRM",
    "embedding tables",
    "adagrad",
    expected=(
        Expected(kind="all-reduce", axes="all", cause="contraction", says=("gradient",), shape=(13, 32)),
        Expected(kind="all-reduce|all-gather|all-to-all", axes="all", cause="indexing|reshard_needed"),
    ),
)
def dlrm_tables_split_by_rows() -> Built:
    mesh = grid([0, 4, 1, 5, 2, 6, 3, 7], all=8)
    sizes = [64, 128, 256]
    params = {
        "tables": [one(mesh, (n, 16), "all", None) for n in sizes],
        "bottom": [one(mesh, (13, 32)), one(mesh, (32, 16))],
        "top": [one(mesh, (22, 32)), one(mesh, (32, 1))],
    }
    tx = optax.adagrad(1e-2)

    def forward(p, dense, sparse):
        x = jax.nn.relu(jax.nn.relu(dense @ p["bottom"][0]) @ p["bottom"][1])
        rows = [jnp.take(t, sparse[:, i], axis=0) for i, t in enumerate(p["tables"])]
        z = jnp.stack([x, *rows], axis=1)
        pairs = jnp.einsum("bid,bjd->bij", z, z)
        i, j = jnp.tril_indices(4, -1)
        z = jnp.concatenate([x, pairs[:, i, j]], axis=1)
        return (jax.nn.relu(z @ p["top"][0]) @ p["top"][1])[:, 0]

    @jax.jit
    def step(p, s, dense, sparse, clicks):
        def loss(p):
            return optax.sigmoid_binary_cross_entropy(forward(p, dense, sparse), clicks).mean()

        value, g = jax.value_and_grad(loss)(p)
        u, s = tx.update(g, s)
        return optax.apply_updates(p, u), s, value

    b = 32
    batch = one(mesh, (b, 13), "all"), one(mesh, (b, 3), "all", dtype=jnp.int32), one(mesh, (b,), "all")
    return step, (params, state_of(mesh, tx, params), *batch)


@program(PROGRAMS, "two towers", "two meshes", "retrieval", "in-batch negatives")
def two_towers_on_two_meshes() -> Built:
    users, items = grid(u=4, v=2), grid(p=2, q=4)
    params = {
        "user": placed(users, {"emb": ((128, 32), "u"), "w": ((32, 32), None, "v")}),
        "item": placed(items, {"emb": ((128, 32), "q"), "w": ((32, 32), None, "p")}),
    }

    def step(params, uid, iid):
        def loss(p):
            a = p["user"]["emb"][uid] @ p["user"]["w"]
            b = p["item"]["emb"][iid] @ p["item"]["w"]
            a = jax.lax.with_sharding_constraint(a, NamedSharding(users, P("u", None)))
            logits = a @ b.T
            return optax.softmax_cross_entropy_with_integer_labels(logits, jnp.arange(a.shape[0])).mean()

        value, g = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda w, g: w - 0.1 * g, params, g), value

    ids = one(users, (32,), "u", dtype=jnp.int32), one(items, (32,), "q", dtype=jnp.int32)
    split = jax.tree.map(lambda a: a.sharding, params)
    return jax.jit(step, out_shardings=(split, NamedSharding(users, P()))), (params, *ids)


@program(
    PROGRAMS,
    "GNN",
    "segment_sum",
    "edges split",
    expected=(
        Expected(kind="all-reduce|reduce-scatter|all-gather", axes="edges", cause="indexing|reduction|contraction"),
    ),
    never=(Never(cause="halo"),),
)
def graph_network_with_split_edges() -> Built:
    mesh = grid(edges=8)
    n, d = 64, 16
    params = [placed(mesh, {"self": ((d, d),), "msg": ((d, d),)}) for _ in range(2)]

    @jax.jit
    def step(params, nodes, senders, receivers, labels):
        def loss(params):
            h = nodes
            for p in params:
                msgs = h[senders] @ p["msg"]
                agg = jax.ops.segment_sum(msgs, receivers, num_segments=n)
                h = jax.nn.relu(h @ p["self"] + agg)
            return optax.softmax_cross_entropy_with_integer_labels(h, labels).mean()

        value, g = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda w, g: w - 0.1 * g, params, g), value

    edge = one(mesh, (256,), "edges", dtype=jnp.int32)
    return step, (params, one(mesh, (n, d)), edge, edge, one(mesh, (n,), dtype=jnp.int32))
