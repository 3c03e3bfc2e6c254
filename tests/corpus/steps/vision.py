"""Vision steps: ViT, ResNet, diffusion U-Net, CLIP, GAN, segmentation by convolutions over a split image.

Not its job: text (`transformers`, `sequence`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import optax
from jax import lax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import described, grid, one, placed, state_of
from corpus.program import Built, Counterfactual, Expected, Never, Program, program

PROGRAMS: list[Program] = []


def conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program(PROGRAMS, "ViT", "FSDP", "TP", "dropout", "adamw")
def vision_transformer() -> Built:
    mesh = grid(data=4, model=2)
    d, heads, patch, classes = 32, 4, 4, 10
    block = {
        "norm": ((d,),),
        "qkv": ((d, 3 * d), "data", "model"),
        "proj": ((d, d), "model", "data"),
        "fc1": ((d, 4 * d), "data", "model"),
        "b1": ((4 * d,), "model"),
        "fc2": ((4 * d, d), "model", "data"),
    }
    params = placed(
        mesh,
        {
            "patch": ((patch, patch, 3, d), None, None, None, "data"),
            "cls": ((1, 1, d),),
            "pos": ((1, 17, d),),
            "blocks": [block, block],
            "head": ((d, classes),),
        },
    )

    def norm(x, g):
        m = x.mean(-1, keepdims=True)
        return (x - m) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-6) * g

    def forward(params, images, key):
        x = lax.conv_general_dilated(images, params["patch"], (patch, patch), "VALID",
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))  # fmt: skip
        x = x.reshape(x.shape[0], -1, d)
        x = jnp.concatenate([jnp.broadcast_to(params["cls"], (x.shape[0], 1, d)), x], axis=1) + params["pos"]
        for i, p in enumerate(params["blocks"]):
            qkv = (norm(x, p["norm"]) @ p["qkv"]).reshape(*x.shape[:2], 3, heads, d // heads)
            q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
            a = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // heads) ** -0.5, axis=-1)
            x = x + jnp.einsum("bhqk,bkhd->bqhd", a, v).reshape(x.shape) @ p["proj"]
            keep = jax.random.bernoulli(jax.random.fold_in(key, i), 0.9, x.shape)
            x = jnp.where(keep, x / 0.9, 0.0)
            x = x + jax.nn.gelu(x @ p["fc1"] + p["b1"]) @ p["fc2"]
        return x[:, 0] @ params["head"]

    tx = optax.adamw(1e-3)

    @jax.jit
    def step(params, opt_state, images, labels, key):
        def loss(p):
            logits = forward(p, images, key)
            acc = (logits.argmax(-1) == labels).mean()
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), acc

        (value, acc), grads = jax.value_and_grad(loss, has_aux=True)(params)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, value, acc

    images, labels = one(mesh, (16, 16, 16, 3), "data"), one(mesh, (16,), "data", dtype=jnp.int32)
    key = one(mesh, (2,), dtype=jnp.uint32)
    return step, (params, state_of(mesh, tx, params), images, labels, key)


@program(
    PROGRAMS,
    "ResNet",
    "DP",
    "batchnorm",
    "momentum",
    expected=(
        Expected(kind="all-reduce", axes="batch", cause="reduction", shape=(8,)),
        Expected(kind="all-reduce", axes="batch", cause="contraction", says=("gradient",), shape=(3, 3, 8, 16)),
    ),
    never=(Never(kind="all-gather"), Never(kind="collective-permute"), Never(cause="halo")),
)
def resnet_data_parallel() -> Built:
    mesh = grid([0, 1, 3, 2, 6, 7, 5, 4], batch=8)
    shapes = {"stem": ((3, 3, 3, 8),), "a1": ((3, 3, 8, 8),), "a2": ((3, 3, 8, 8),), "b1": ((3, 3, 8, 16),),
              "b2": ((3, 3, 16, 16),), "skip": ((1, 1, 8, 16),), "fc": ((16, 10),)}  # fmt: skip
    params = placed(mesh, shapes)
    tx = optax.sgd(0.1, momentum=0.9)

    def bn(x):
        mean = jnp.mean(x, axis=(0, 1, 2))
        var = jnp.mean(jnp.square(x - mean), axis=(0, 1, 2))
        return (x - mean) * lax.rsqrt(var + 1e-5)

    def net(p, x):
        x = jax.nn.relu(bn(conv(x, p["stem"])))
        x = jax.nn.relu(x + bn(conv(jax.nn.relu(bn(conv(x, p["a1"]))), p["a2"])))
        y = bn(conv(jax.nn.relu(bn(conv(x, p["b1"], 2))), p["b2"]))
        x = jax.nn.relu(conv(x, p["skip"], 2) + y)
        return x.mean((1, 2)) @ p["fc"]

    @jax.jit
    def step(params, opt, x, y):
        def loss(p):
            return -(jax.nn.one_hot(y, 10) * jax.nn.log_softmax(net(p, x))).sum(-1).mean()

        value, g = jax.value_and_grad(loss)(params)
        u, opt = tx.update(g, opt)
        return optax.apply_updates(params, u), opt, value

    x, y = one(mesh, (16, 16, 16, 3), "batch"), one(mesh, (16,), "batch", dtype=jnp.int32)
    return step, (params, state_of(mesh, tx, params), x, y)


@program(PROGRAMS, "U-Net", "diffusion", "FSDP", "EMA", "adam")
def diffusion_unet() -> Built:
    mesh = grid(fsdp=8)
    c = 16
    shapes = {"in": (3, 3, 3, c), "d1": (3, 3, c, 2 * c), "mid": (3, 3, 2 * c, 2 * c), "t1": (32, 2 * c),
              "u1": (3, 3, 3 * c, c), "out": (3, 3, c, 3)}  # fmt: skip
    largest = {name: max(range(len(s)), key=lambda k: s[k] if s[k] % 8 == 0 else 0) for name, s in shapes.items()}
    params = {n: one(mesh, s, *([None] * largest[n] + ["fsdp"])) for n, s in shapes.items()}
    tx = optax.adam(2e-4)

    def unet(p, x, t):
        freqs = jnp.exp(-jnp.log(10000.0) * jnp.arange(16) / 16)
        emb = jnp.concatenate([jnp.sin(t[:, None] * freqs), jnp.cos(t[:, None] * freqs)], -1)
        h0 = jax.nn.silu(conv(x, p["in"]))
        h1 = jax.nn.silu(conv(h0, p["d1"], 2) + (emb @ p["t1"])[:, None, None])
        b, h, w, ch = h1.shape
        g = h1.reshape(b, h, w, 4, ch // 4)
        g = (g - g.mean((1, 2, 4), keepdims=True)) / jnp.sqrt(g.var((1, 2, 4), keepdims=True) + 1e-5)
        h1 = h1 + jax.nn.silu(conv(g.reshape(h1.shape), p["mid"]))
        up = jax.image.resize(h1, (b, 2 * h, 2 * w, ch), "nearest")
        return conv(jax.nn.silu(conv(jnp.concatenate([up, h0], -1), p["u1"])), p["out"])

    def step(params, ema, opt_state, x0, key):
        kt, kn = jax.random.split(key)
        t = jax.random.uniform(kt, (x0.shape[0],))
        noise = jax.random.normal(kn, x0.shape)
        a = jnp.cos(t * jnp.pi / 2)[:, None, None, None]
        xt = a * x0 + jnp.sqrt(1 - a**2) * noise
        loss, g = jax.value_and_grad(lambda p: ((unet(p, xt, t) - noise) ** 2).mean())(params)
        u, opt_state = tx.update(g, opt_state)
        params = optax.apply_updates(params, u)
        ema = jax.tree.map(lambda e, p: 0.9999 * e + 0.0001 * p, ema, params)
        return params, ema, opt_state, loss

    x0, key = one(mesh, (16, 8, 8, 3), "fsdp"), one(mesh, (2,), dtype=jnp.uint32)
    return jax.jit(step, donate_argnums=(0, 1, 2)), (params, params, state_of(mesh, tx, params), x0, key)


@program(
    PROGRAMS,
    "CLIP",
    "DP",
    "contrastive",
    expected=(Expected(kind="all-gather", axes="data", cause="reshard_needed|contraction", shape=(4, 32)),),
)
def clip_all_pairs() -> Built:
    mesh = grid(data=8)
    params = placed(mesh, {"image": ((48, 64),), "image2": ((64, 32),), "text": ((64, 32),), "proj": ((32, 32),)})
    params["scale"] = one(mesh, ())

    @jax.jit
    def train_step(params, images, texts):
        def loss_fn(p):
            img = jax.nn.gelu(images @ p["image"]) @ p["image2"]
            txt = p["text"][texts].mean(1) @ p["proj"]
            img = img / jnp.linalg.norm(img, axis=-1, keepdims=True)
            txt = txt / jnp.linalg.norm(txt, axis=-1, keepdims=True)
            logits = jnp.exp(p["scale"]) * img @ txt.T
            labels = jnp.arange(logits.shape[0])
            a = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
            b = optax.softmax_cross_entropy_with_integer_labels(logits.T, labels)
            return (a + b).mean() / 2

        loss, g = jax.value_and_grad(loss_fn)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, g), loss

    return train_step, (params, one(mesh, (32, 48), "data"), one(mesh, (32, 8), "data", dtype=jnp.int32))


@program(PROGRAMS, "GAN", "TP", "two optimizers", "rmsprop", "3-D")
def gan_step() -> Built:
    mesh = grid(dp=2, fsdp=2, tp=2)
    rule = lambda path, leaf: P("fsdp", "tp") if leaf.ndim == 2 and leaf.shape[1] > 1 else P()  # noqa: E731
    gen = {f"g{i}": jax.ShapeDtypeStruct(s, jnp.float32) for i, s in enumerate([(16, 64), (64, 64), (64, 48)])}
    dis = {f"d{i}": jax.ShapeDtypeStruct(s, jnp.float32) for i, s in enumerate([(48, 64), (64, 32), (32, 1)])}
    gen, dis = described(mesh, gen, rule), described(mesh, dis, rule)
    tx_g, tx_d = optax.rmsprop(1e-4), optax.adam(2e-4, b1=0.5)

    def generate(g, z):
        return jnp.tanh(jax.nn.relu(jax.nn.relu(z @ g["g0"]) @ g["g1"]) @ g["g2"])

    def judge(d, x):
        return (jax.nn.leaky_relu(jax.nn.leaky_relu(x @ d["d0"]) @ d["d1"]) @ d["d2"])[:, 0]

    @jax.jit
    def step(gen, dis, sg, sd, real, key):
        z = jax.random.normal(key, (real.shape[0], 16))

        def d_loss(d):
            fake = lax.stop_gradient(generate(gen, z))
            return jax.nn.softplus(-judge(d, real)).mean() + jax.nn.softplus(judge(d, fake)).mean()

        ld, gd = jax.value_and_grad(d_loss)(dis)
        ud, sd = tx_d.update(gd, sd)
        dis = optax.apply_updates(dis, ud)
        lg, gg = jax.value_and_grad(lambda g: jax.nn.softplus(-judge(dis, generate(g, z))).mean())(gen)
        ug, sg = tx_g.update(gg, sg)
        return optax.apply_updates(gen, ug), dis, sg, sd, ld, lg

    real, key = one(mesh, (16, 48), ("dp", "fsdp")), one(mesh, (2,), dtype=jnp.uint32)
    return step, (gen, dis, state_of(mesh, tx_g, gen), state_of(mesh, tx_d, dis), real, key)


@program(
    PROGRAMS,
    "convolution",
    "spatial",
    "halo",
    expected=(Expected(kind="collective-permute", axes="rows", cause="halo"),),
    counterfactuals=(Counterfactual(without="rows", blame=r"rows", kinds="collective-permute"),),
)
def segmentation_of_split_images(without: str = "") -> Built:
    mesh = grid(batch=2, rows=4)
    ws = [one(mesh, s) for s in ((3, 3, 3, 16), (5, 5, 16, 16), (1, 1, 16, 4))]

    def loss(ws, images, masks):
        x = images
        for w in ws[:-1]:
            x = jax.nn.relu(conv(x, w))
        logits = conv(x, ws[-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, masks).mean()

    def step(ws, images, masks):
        value, grads = jax.value_and_grad(loss)(ws, images, masks)
        return [w - 0.05 * g for w, g in zip(ws, grads, strict=True)], value

    spec = ("batch",) if without == "rows" else ("batch", "rows")
    images, masks = one(mesh, (4, 32, 16, 3), *spec), one(mesh, (4, 32, 16), *spec, dtype=jnp.int32)
    whole = NamedSharding(mesh, P())
    return jax.jit(step, out_shardings=([whole] * 3, whole)), (ws, images, masks)
