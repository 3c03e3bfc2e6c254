"""Steps with few constraints, whose shardings meet awkwardly: each once had a wrong sentence, or a misleading one.

Not its job: models for their own sake (the other files).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax

from corpus.arrays import grid, one, placed, state_of
from corpus.program import Built, Counterfactual, Expected, Never, Program, program

PROGRAMS: list[Program] = []


@program(
    PROGRAMS,
    "decode",
    "grouped queries",
    "cache split over the sequence",
    "sub-axes",
    # XLA splits two key heads and their features over parts of `s`; a result may not be split so.
    expected=(
        Expected(kind="all-gather", axes="s:(1)2", cause="output", says=("result[1]['k']", "parts of an axis")),
        Expected(kind="all-gather", axes="s:(2)2", cause="output", says=("result[1]['v']", "parts of an axis")),
        # The cache is written where it lies, over the sequence, and all of `s` is then moved to heads and features.
        Expected(kind="all-gather", axes="s", cause="reshard_needed", shape=(2, 16, 2, 8)),
    ),
    never=(Never(axes="s", cause="output"),),
    counterfactuals=(Counterfactual(without="result", blame="parts of an axis", kinds="all-gather"),),
)
def grouped_queries_with_sequence_split_cache(without: str = "") -> Built:
    mesh = grid([7, 6, 5, 4, 3, 2, 1, 0], b=2, s=4)
    d, heads, groups, size, length = 64, 8, 2, 8, 64
    p = placed(
        mesh,
        {
            "wq": ((d, heads * size), None, "s"),
            "wk": ((d, groups * size), None, "s"),
            "wv": ((d, groups * size), None, "s"),
            "wo": ((heads * size, d), "s"),
        },
    )
    cache = placed(
        mesh,
        {"k": ((4, length, groups, size), "b", "s"), "v": ((4, length, groups, size), "b", "s")},
        dtype=jnp.bfloat16,
    )

    def turned(x, pos):
        angle = pos[..., None] / 10000 ** (jnp.arange(0, size, 2) / size)
        sin, cos = jnp.sin(angle)[..., None, :], jnp.cos(angle)[..., None, :]
        a, b = jnp.split(x, 2, -1)
        return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    @jax.jit
    def decode(p, cache, x, pos):
        batch = x.shape[0]
        q = turned((x @ p["wq"]).reshape(batch, 1, heads, size), pos[:, None])
        k = turned((x @ p["wk"]).reshape(batch, 1, groups, size), pos[:, None])
        v = (x @ p["wv"]).reshape(batch, 1, groups, size)
        write = jax.vmap(lambda c, n, i: lax.dynamic_update_slice(c, n, (i, 0, 0)))
        ck, cv = write(cache["k"], k.astype(jnp.bfloat16), pos), write(cache["v"], v.astype(jnp.bfloat16), pos)
        q = q.reshape(batch, groups, heads // groups, size)
        s = jnp.einsum("bkgd,bskd->bkgs", q, ck.astype(jnp.float32)) / np.sqrt(size)
        s = jnp.where((jnp.arange(length)[None] <= pos[:, None])[:, None, None], s, -1e30)
        o = jnp.einsum("bkgs,bskd->bkgd", jax.nn.softmax(s, -1), cv.astype(jnp.float32))
        y = o.reshape(batch, heads * size) @ p["wo"]
        return y if without == "result" else (y, {"k": ck, "v": cv})

    return decode, (p, cache, one(mesh, (4, d), "b"), one(mesh, (4,), "b", dtype=jnp.int32))


@program(
    PROGRAMS,
    "U-Net",
    "images split over both sides",
    "transposed convolution",
    "group norm",
    expected=(
        Expected(kind="collective-permute", axes="h", cause="halo", says=("along dimension 1 of `x`",)),
        Expected(
            kind="collective-permute", axes="w", cause="halo", says=("the gradient of", "along dimension 2 of `x`")
        ),
        Expected(kind="all-reduce", axes="h w", cause="contraction", says=("the gradient of",)),
    ),
    # The window of a kernel's gradient is the other gradient: it slides along the image, which is what moves.
    never=(Never(cause="halo", says="of the gradient of `x.reshape"),),
    counterfactuals=(Counterfactual(without="w", blame="over `w`", kinds="collective-permute"),),
)
def unet_split_over_height_and_width(without: str = "") -> Built:
    mesh = grid(dp=2, h=2, w=2)
    p = placed(
        mesh,
        {
            "first": ((3, 3, 3, 8),),
            "down": ((3, 3, 8, 16),),
            "up": ((2, 2, 16, 8),),
            "last": ((3, 3, 16, 2),),
            "scale": ((8,),),
        },
    )
    layout = ("NHWC", "HWIO", "NHWC")

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout)

    def norm(x, scale):
        groups = x.reshape(*x.shape[:3], 4, -1)
        mean, var = groups.mean((1, 2, 4), keepdims=True), groups.var((1, 2, 4), keepdims=True)
        return ((groups - mean) * lax.rsqrt(var + 1e-5)).reshape(x.shape) * scale

    @jax.jit
    def step(p, x, y):
        def loss(p):
            a = jax.nn.silu(norm(conv(x, p["first"]), p["scale"]))
            d = lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
            d = jax.nn.silu(conv(d, p["down"]))
            u = lax.conv_transpose(d, p["up"], (2, 2), "SAME", dimension_numbers=layout)
            logp = jax.nn.log_softmax(conv(jnp.concatenate([u, a], -1), p["last"]))
            return -(logp * jax.nn.one_hot(y, 2)).sum(-1).mean()

        value, g = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, g), value

    w = None if without == "w" else "w"
    return step, (p, one(mesh, (4, 16, 16, 3), "dp", "h", w), one(mesh, (4, 16, 16), "dp", "h", w, dtype=jnp.int32))


@program(
    PROGRAMS,
    "stencil",
    "roll",
    "scan",
    "permuted devices",
    expected=(
        Expected(kind="collective-permute", axes="y", cause="halo", says=("`jnp.roll(u, 1, 0)`", "shifts")),
        Expected(kind="collective-permute", axes="x", cause="halo", says=("shifts", "along dimension 1"), shape=(8, 2)),
        Expected(kind="all-reduce", axes="x", cause="reduction"),
    ),
    # Every device hands an edge on to the next: it is not one device that has the only row.
    never=(Never(says="takes one element"), Never(kind="all-gather")),
    counterfactuals=(Counterfactual(without="y", blame="over `y`", kinds="collective-permute"),),
)
def waves_on_a_plate_with_fixed_edges(without: str = "") -> Built:
    mesh = grid([1, 0, 3, 2, 5, 4, 7, 6], y=4, x=2)

    @jax.jit
    def simulate(u, v):
        def bend(u):
            return jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, (3, -2), (0, 1)) - 4 * u

        def tick(carry, _):
            u, v = carry
            v = v + 0.1 * bend(u)
            u = (u + 0.1 * v).at[0].set(0.0).at[-1].set(0.0).at[:, 0].set(0.0)
            return (u, v), (u**2).sum()

        return lax.scan(tick, (u, v), None, length=5)

    plate = one(mesh, (32, 32), None if without == "y" else "y", "x")
    return simulate, (plate, plate)


@program(
    PROGRAMS,
    "pipeline",
    "vmap",
    "roll",
    "no shard_map",
    "gradient of a scan",
    expected=(
        Expected(kind="collective-permute", axes="stage", cause="halo", says=("`jnp.roll(buf, 1, 0)`", "shifts")),
        Expected(kind="all-reduce", axes="stage", cause="halo|reshard_needed", says=("`buf[-1]`", "takes one element")),
        Expected(kind="all-reduce", axes="dp", cause="contraction", shape=(1, 16, 16)),
    ),
    never=(Never(says="`jnp.roll(buf, 1, 0)` (awkward.py:{roll}) takes one element"),),
)
def pipeline_of_stages_by_vmap_and_roll() -> Built:
    mesh = grid(stage=4, dp=2)
    stages, batches, size, d = 4, 6, 4, 16

    @jax.jit
    def step(ws, x):
        def loss(ws):
            def tick(carry, t):
                buf, outs = carry
                buf = buf.at[0].set(x[jnp.minimum(t, batches - 1)])
                buf = jax.vmap(lambda w, h: jnp.tanh(h @ w))(ws, buf)
                outs = outs.at[jnp.clip(t - stages + 1, 0, batches - 1)].set(buf[-1])
                return (jnp.roll(buf, 1, 0), outs), None  # @roll

            start = jnp.zeros((stages, size, d)), jnp.zeros((batches, size, d))
            (_, outs), _ = lax.scan(tick, start, jnp.arange(batches + stages - 1))
            return (outs**2).mean()

        return jax.value_and_grad(loss)(ws)

    return step, (one(mesh, (stages, d, d), "stage"), one(mesh, (batches, size, d), None, "dp"))


@program(
    PROGRAMS,
    "RNN-T",
    "time split",
    "scan in a scan",
    expected=(
        Expected(kind="collective-permute", axes="t", cause="halo", says=("`emit[:, 1:]`", "takes a part")),
        Expected(kind="all-gather", axes="t", cause="indexing", says=("dimension 0 of `blank",)),
        Expected(kind="all-reduce", axes="t", cause="halo|reshard_needed", says=("`emit[:, 0]`", "takes one element")),
    ),
    # The row that `emit[:, 0]` takes is also the edge of each piece that `emit[:, 1:]` moves.
    never=(Never(kind="collective-permute", says="`emit[:, 0]` (awkward"),),
)
def transducer_loss_over_split_time() -> Built:
    mesh = grid(b=2, t=4)

    @jax.jit
    def step(w, encoded, predicted, labels):
        def loss(w):
            logp = jax.nn.log_softmax(jnp.tanh(encoded[:, :, None] + predicted[:, None]) @ w, -1)
            blank = logp[..., 0]
            places = jnp.broadcast_to(labels[:, None, :, None], (*logp[:, :, :-1].shape[:-1], 1))
            emit = jnp.take_along_axis(logp[:, :, :-1], places, -1)[..., 0]

            def frame(alpha, now):
                stay, go = now
                a = alpha + stay

                def label(c, now):
                    c = jnp.logaddexp(now[0], c + now[1])
                    return c, c

                _, rest = lax.scan(label, a[:, 0], (a[:, 1:].T, go.T))
                return jnp.concatenate([a[:, :1], rest.T], 1), None

            start = jnp.concatenate([jnp.zeros((logp.shape[0], 1)), jnp.cumsum(emit[:, 0], 1)], 1)
            rows = blank[:, :-1].transpose(1, 0, 2), emit[:, 1:].transpose(1, 0, 2)
            a, _ = lax.scan(frame, start, rows)
            return -(a[:, -1] + blank[:, -1, -1]).mean()

        return jax.value_and_grad(loss)(w)

    encoded, predicted = one(mesh, (4, 16, 32), "b", "t"), one(mesh, (4, 5, 32), "b")
    return step, (one(mesh, (32, 24)), encoded, predicted, one(mesh, (4, 4), "b", dtype=jnp.int32))


@program(
    PROGRAMS,
    "LAPACK",
    "2-D split",
    "slice",
    expected=(
        Expected(kind="collective-permute", axes="c", cause="halo", says=("`a[:, :8]`", "dimension 1 of `a`")),
        Expected(kind="all-gather", axes="c", cause="no_sharding_rule", says=("qr",)),
        Expected(kind="all-gather", axes="r", cause="no_sharding_rule", says=("solve", "`a`")),
    ),
    # That half of the columns lie elsewhere is the slice's, whatever takes them.
    never=(Never(kind="collective-permute", cause="no_sharding_rule"),),
    counterfactuals=(
        Counterfactual(without="slice", blame=r"`a\[:, :8\]` .* takes a part", kinds="collective-permute"),
    ),
)
def factors_of_half_a_split_matrix(without: str = "") -> Built:
    mesh = grid(r=4, c=2)

    @jax.jit
    def solve(a, b):
        x = jnp.linalg.solve(a, b)
        q, r = jnp.linalg.qr(a if without == "slice" else a[:, :8])
        return x, jnp.linalg.norm(a @ x - b), q, r, jnp.linalg.eigvalsh(a + a.T)[-1]

    return solve, (one(mesh, (16, 16), "r", "c"), one(mesh, (16,), "r"))


@program(
    PROGRAMS,
    "FSDP",
    "tied embedding",
    "four axes",
    "permuted devices",
    "scan",
    "remat",
    "optax",
    expected=(
        # The features are split over `fs`, as the batch is: no position says anything of features.
        Expected(kind="all-gather", axes="fs", cause="reshard_needed", says=('`p["emb"][ids]`', "p['emb']")),
        Expected(kind="all-reduce", axes="pod dp fs", cause="indexing", says=("the gradient of",)),
        Expected(kind="all-reduce", axes="fs", cause="reduction", says=("tx.update",), shape=()),
    ),
    never=(Never(kind="all-gather", cause="indexing"),),
    counterfactuals=(Counterfactual(without="fs", blame=r'`p\["emb"\]\[ids\]`.* needs', kinds="all-gather"),),
)
def tied_embedding_on_four_axes(without: str = "") -> Built:
    mesh = grid([0, 4, 2, 6, 1, 5, 3, 7], pod=2, dp=2, fs=2, tp=1)
    layers, d, f = 3, 32, 64
    p = placed(
        mesh,
        {
            "up": ((layers, d, f), None, "fs", "tp"),
            "down": ((layers, f, d), None, "tp", "fs"),
            "scale": ((layers, d),),
            "emb": ((64, d), "tp", None if without == "fs" else "fs"),
        },
    )
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))

    @jax.jit
    def step(p, state, ids):
        def loss(p):
            @jax.checkpoint
            def block(x, w):
                y = (x - x.mean(-1, keepdims=True)) * w["scale"]
                return x + jax.nn.silu(y @ w["up"]) @ w["down"], None

            x = p["emb"][ids]
            x, _ = lax.scan(block, x, {name: p[name] for name in ("up", "down", "scale")})
            logits = x @ p["emb"].T
            return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], ids[:, 1:]).mean()

        value, g = jax.value_and_grad(loss)(p)
        updates, state = tx.update(g, state, p)
        return optax.apply_updates(p, updates), state, value

    return step, (p, state_of(mesh, tx, p), one(mesh, (8, 16), ("pod", "dp", "fs"), dtype=jnp.int32))


@program(
    PROGRAMS,
    "recommendation",
    "vmap over tables",
    "one axis for tables and batch",
    expected=(
        Expected(kind="all-gather", axes="x", cause="reshard_needed", says=("`t[i]`", "`tables`"), shape=(1, 64, 8)),
        Expected(kind="all-reduce", axes="x", cause="indexing", says=("the gradient of `t[i]`",), shape=(8, 64, 8)),
    ),
    never=(Never(kind="all-gather", cause="indexing"),),
    counterfactuals=(Counterfactual(without="x", blame="needs `tables`", kinds="all-gather"),),
)
def tables_looked_up_under_vmap(without: str = "") -> Built:
    mesh = grid(x=8)
    count, rows, d = 8, 64, 8

    @jax.jit
    def step(tables, dense, ids, features, y):
        def loss(tables, dense):
            e = jax.vmap(lambda t, i: t[i])(tables, ids)
            z = jnp.concatenate([e.transpose(1, 0, 2), jax.nn.relu(features @ dense["in"])[:, None]], 1)
            pairs = jnp.einsum("bid,bjd->bij", z, z)
            one_side = jnp.triu_indices(count + 1, 1)
            logits = (pairs[:, one_side[0], one_side[1]] @ dense["out"])[:, 0]
            return jnp.mean(jax.nn.softplus(logits) - y * logits)

        return jax.value_and_grad(loss, (0, 1))(tables, dense)

    dense = placed(mesh, {"in": ((13, d),), "out": (((count + 1) * count // 2, 1),)})
    tables = one(mesh, (count, rows, d), None if without == "x" else "x")
    ids = one(mesh, (count, 16), None, "x", dtype=jnp.int32)
    return step, (tables, dense, ids, one(mesh, (16, 13), "x"), one(mesh, (16,), "x"))


@program(
    PROGRAMS,
    "library functions",
    "scan",
    "remat",
    "features split",
    expected=(
        Expected(kind="all-reduce", axes="tp", cause="reduction", says=("`jax.nn.standardize(x)`",)),
        Expected(kind="all-reduce", axes="tp", cause="contraction", says=("sums over dimension 2",)),
    ),
    # The product with `w["scale"]` begins where the library's function does; it reduces nothing itself.
    never=(Never(axes="tp", cause="reduction", says="`jax.nn.standardize(x) * w"),),
    revised="forbidden over any axis: but the gradient of `w['scale']` does reduce that product, over `dp`",
)
def standardized_features_in_a_scan() -> Built:
    mesh = grid(dp=2, tp=4)
    d, f = 32, 64
    p = placed(
        mesh,
        {"scale": ((2, d), None, "tp"), "up": ((2, d, f), None, "tp"), "down": ((2, f, d), None, None, "tp")},
    )

    @jax.jit
    def step(p, x):
        def loss(p):
            def block(x, w):
                y = jax.nn.standardize(x) * w["scale"]
                return x + jax.nn.gelu(y @ w["up"]) @ w["down"], None

            return (lax.scan(jax.checkpoint(block), x, p)[0] ** 2).mean()

        value, g = jax.value_and_grad(loss)(p)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, g), value

    return step, (p, one(mesh, (4, 16, d), "dp", None, "tp"))


@program(
    PROGRAMS,
    "MoE",
    "capacity by rank",
    "scatter into slots",
    "three axes",
    "permuted devices",
    expected=(
        Expected(kind="all-gather", axes="dp ep", cause="indexing", says=("accumulates along dimension 0",)),
        Expected(kind="all-reduce", axes="tp", cause="indexing", says=("looks up positions", "XLA's partitioner")),
        Expected(kind="all-reduce", axes="tp", cause="contraction", says=("`p['down']`",), shape=(2, 16, 16)),
    ),
    # A lookup adds nothing up, though XLA sums what devices find, zeros but for one.
    never=(Never(says=": `y[jnp.minimum(slot, experts * room - 1)]` (awkward.py:{taken}) adds up"),),
    revised="forbidden of its gradient, too: but that is a scatter, which does add up",
)
def experts_with_slots_by_rank() -> Built:
    mesh = grid([0, 2, 1, 3, 4, 6, 5, 7], dp=2, ep=2, tp=2)
    d, f, experts, room = 16, 32, 4, 16
    p = placed(
        mesh,
        {"router": ((d, experts),), "up": ((experts, d, f), "ep", None, "tp"), "down": ((experts, f, d), "ep", "tp")},
    )

    @jax.jit
    def step(p, x):
        def loss(p):
            tokens = x.reshape(-1, d)
            logits = tokens @ p["router"]
            e = jnp.argmax(logits, -1)
            ranks = jnp.cumsum(jax.nn.one_hot(e, experts, dtype=jnp.int32), 0)
            rank = ranks[jnp.arange(tokens.shape[0]), e] - 1
            slot = jnp.where(rank < room, e * room + rank, experts * room)
            slots = jnp.zeros((experts * room + 1, d)).at[slot].set(tokens)[:-1].reshape(experts, room, d)
            h = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", slots, p["up"]))
            y = jnp.einsum("ecf,efd->ecd", h, p["down"]).reshape(experts * room, d)
            taken = y[jnp.minimum(slot, experts * room - 1)]  # @taken
            gate = jnp.max(jax.nn.softmax(logits), -1, keepdims=True)
            return ((jnp.where((slot < experts * room)[:, None], taken, 0) * gate - tokens) ** 2).mean()

        return jax.value_and_grad(loss)(p)

    return step, (p, one(mesh, (8, 8, d), ("dp", "ep")))


@program(
    PROGRAMS,
    "optimal transport",
    "scan",
    "rows and columns split",
    "permuted devices",
    expected=(
        Expected(kind="all-reduce", axes="n", cause="reduction", says=("dimension 1 of `k + g[None]`",)),
        Expected(kind="all-reduce", axes="m", cause="reduction", says=("dimension 0 of `k + f[:, None]`",)),
        Expected(kind="all-reduce", axes="n", cause="contraction", says=("`plan @ y`",), shape=(16, 4)),
    ),
    never=(Never(kind="all-gather"), Never(kind="all-to-all")),
    counterfactuals=(Counterfactual(without="n", blame="over `n`", kinds="all-reduce"),),
)
def sinkhorn_on_rows_and_columns(without: str = "") -> Built:
    mesh = grid([5, 4, 7, 6, 1, 0, 3, 2], m=4, n=2)

    @jax.jit
    def transport(x, y, eps):
        cost = ((x[:, None] - y[None]) ** 2).sum(-1)
        k = -cost / eps

        def turn(carry, _):
            _, g = carry
            f = -jax.nn.logsumexp(k + g[None], 1)
            g = -jax.nn.logsumexp(k + f[:, None], 0)
            return (f, g), None

        (f, g), _ = lax.scan(turn, (jnp.zeros(x.shape[0]), jnp.zeros(y.shape[0])), None, length=4)
        plan = jnp.exp(k + f[:, None] + g[None])
        return (plan * cost).sum(), plan @ y

    y = one(mesh, (32, 4), None if without == "n" else "n")
    return transport, (one(mesh, (64, 4), "m"), y, one(mesh, ()))
