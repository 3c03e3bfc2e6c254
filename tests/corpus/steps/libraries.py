"""The same steps by libraries: flax nnx, flax Linen, Equinox, optax's wrappers.

Not its job: bare JAX (the other files).
"""

from __future__ import annotations

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from flax import nnx
from flax.training.train_state import TrainState
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from corpus.arrays import described, grid, one, state_of
from corpus.program import Built, Expected, Never, Program, program

PROGRAMS: list[Program] = []


class LinenBlock(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x)
        h = nn.MultiHeadDotProductAttention(num_heads=4)(h, h)
        x = x + h
        h = nn.Dense(4 * self.width)(nn.LayerNorm()(x))
        return x + nn.Dense(self.width)(nn.gelu(h))


class LinenModel(nn.Module):
    @nn.compact
    def __call__(self, ids):
        x = nn.Embed(64, 32)(ids)
        for _ in range(2):
            x = LinenBlock(32)(x)
        return nn.Dense(64)(nn.LayerNorm()(x))


class LinenConv(nn.Module):
    @nn.compact
    def __call__(self, x, train: bool):
        for width in (8, 16):
            x = nn.Conv(width, (3, 3), use_bias=False)(x)
            x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
            x = nn.max_pool(nn.relu(x), (2, 2), strides=(2, 2))
        x = nn.Dense(32)(x.reshape(x.shape[0], -1))
        return nn.Dense(10)(nn.Dropout(0.5, deterministic=not train)(nn.relu(x)))


def fsdp_rule(axis, size):
    """The first dimension that divides is split, as `fsdp` helpers do."""

    def rule(path, leaf):
        fits = [k for k, n in enumerate(leaf.shape) if n % size == 0 and n >= 2 * size]
        return P(*[None] * fits[0], axis) if fits and leaf.ndim > 1 else P()

    return rule


@program(PROGRAMS, "Linen", "FSDP", "TrainState", "adamw", "attention")
def linen_transformer_fsdp() -> Built:
    mesh = grid(fsdp=8)
    model, tx = LinenModel(), optax.adamw(1e-3)
    ids = one(mesh, (8, 16), "fsdp", dtype=jnp.int32)

    def create(key):
        params = model.init(key, jnp.zeros((1, 16), jnp.int32))["params"]
        return TrainState.create(apply_fn=model.apply, params=params, tx=tx)

    state = described(mesh, jax.eval_shape(create, jax.random.key(0)), fsdp_rule("fsdp", 8))

    @jax.jit
    def train_step(state, ids):
        def loss_fn(params):
            logits = state.apply_fn({"params": params}, ids)
            return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], ids[:, 1:]).mean()

        loss, grads = jax.value_and_grad(loss_fn)(state.params)
        return state.apply_gradients(grads=grads), loss

    return train_step, (state, ids)


@program(
    PROGRAMS,
    "Linen",
    "DP",
    "BatchNorm",
    "Dropout",
    "sgd",
    expected=(Expected(kind="all-reduce", axes="batch", cause="reduction", shape=(8,)),),
    never=(Never(kind="all-gather"), Never(cause="halo")),
)
def linen_convnet_with_batch_statistics() -> Built:
    mesh = grid(batch=8)
    model, tx = LinenConv(), optax.sgd(0.1, momentum=0.9)
    shapes = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 8, 8, 3)), train=False))
    variables = described(mesh, shapes, lambda path, leaf: P())

    @jax.jit
    def step(variables, opt, images, labels, key):
        def loss(params):
            logits, new = model.apply(
                {"params": params, "batch_stats": variables["batch_stats"]},
                images,
                train=True,
                mutable=["batch_stats"],
                rngs={"dropout": key},
            )
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), new

        (value, new), g = jax.value_and_grad(loss, has_aux=True)(variables["params"])
        u, opt = tx.update(g, opt)
        return {"params": optax.apply_updates(variables["params"], u), **new}, opt, value

    images, labels = one(mesh, (16, 8, 8, 3), "batch"), one(mesh, (16,), "batch", dtype=jnp.int32)
    key = one(mesh, (2,), dtype=jnp.uint32)
    return step, (variables, state_of(mesh, tx, variables["params"]), images, labels, key)


@program(PROGRAMS, "Linen", "nn.scan", "logical axes", "TP", "FSDP", "remat")
def linen_scanned_with_logical_axes() -> Built:
    mesh = grid(fsdp=2, tp=4)
    rules = (("embed", "fsdp"), ("mlp", "tp"), ("batch", "fsdp"), ("layers", None))
    kernel = lambda *names: nn.with_logical_partitioning(nn.initializers.lecun_normal(), names)  # noqa: E731

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, _):
            h = nn.relu(nn.Dense(64, kernel_init=kernel("embed", "mlp"), use_bias=False)(x))
            return x + nn.Dense(32, kernel_init=kernel("mlp", "embed"), use_bias=False)(h), None

    class Stack(nn.Module):
        @nn.compact
        def __call__(self, x):
            scanned = nn.scan(
                nn.remat(Layer, prevent_cse=False),
                variable_axes={"params": 0},
                split_rngs={"params": True},
                length=3,
                metadata_params={nn.PARTITION_NAME: "layers"},
            )
            return scanned()(x, None)[0]

    model = Stack()
    boxed = jax.eval_shape(lambda: model.init(jax.random.key(0), jnp.zeros((1, 32))))
    specs = nn.logical_to_mesh(nn.get_partition_spec(boxed), rules)
    params = jax.tree.map(
        lambda leaf, spec: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=NamedSharding(mesh, spec)),
        nn.unbox(boxed),
        specs,
    )

    def step(params, x):
        value, g = jax.value_and_grad(lambda p: (model.apply(p, x) ** 2).mean())(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, g), value

    return jax.jit(step), (params, one(mesh, (16, 32), "fsdp"))


class NnxMlp(nnx.Module):
    def __init__(self, rngs):
        self.inp = nnx.Linear(32, 128, rngs=rngs)
        self.norm = nnx.LayerNorm(128, rngs=rngs)
        self.blocks = nnx.List([nnx.Linear(128, 128, rngs=rngs) for _ in range(2)])
        self.out = nnx.Linear(128, 8, rngs=rngs)

    def __call__(self, x):
        x = self.norm(nnx.relu(self.inp(x)))
        for block in self.blocks:
            x = x + nnx.gelu(block(x))
        return self.out(x)


@program(PROGRAMS, "nnx", "FSDP", "adam", "split and merge")
def nnx_fsdp_by_split() -> Built:
    mesh = grid([0, 1, 4, 5, 2, 3, 6, 7], fsdp=8)
    graph, shapes = nnx.split(nnx.eval_shape(lambda: NnxMlp(nnx.Rngs(0))), nnx.Param)
    params = described(mesh, nnx.to_pure_dict(shapes), fsdp_rule("fsdp", 8))
    tx = optax.adam(1e-3)

    @jax.jit
    def step(params, opt, x, y):
        def loss(params):
            state = shapes.__class__.merge(shapes)
            nnx.replace_by_pure_dict(state, params)
            return ((nnx.merge(graph, state)(x) - y) ** 2).mean()

        value, g = jax.value_and_grad(loss)(params)
        u, opt = tx.update(g, opt, params)
        return optax.apply_updates(params, u), opt, value

    x, y = one(mesh, (16, 32), "fsdp"), one(mesh, (16, 8), "fsdp")
    return step, (params, state_of(mesh, tx, params), x, y)


@program(
    PROGRAMS,
    "nnx",
    "TP",
    "nnx.jit",
    "Optimizer",
    expected=(Expected(kind="all-reduce", axes="model", cause="contraction"),),
)
def nnx_tensor_parallel_with_optimizer() -> Built:
    mesh = grid(data=2, model=4)

    class Block(nnx.Module):
        def __init__(self, rngs):
            init = nnx.initializers.lecun_normal()
            self.up = nnx.Linear(32, 64, kernel_init=nnx.with_partitioning(init, (None, "model")), rngs=rngs)
            self.down = nnx.Linear(64, 32, kernel_init=nnx.with_partitioning(init, ("model", None)), rngs=rngs)

        def __call__(self, x):
            return x + self.down(nnx.relu(self.up(x)))

    with jax.set_mesh(mesh):
        model = nnx.eval_shape(lambda: Block(nnx.Rngs(0)))
    graph, state = nnx.split(model)
    specs = {"up": {"kernel": P(None, "model")}, "down": {"kernel": P("model", None)}}

    def rule(path, leaf):
        return next((specs[n]["kernel"] for n in specs if n in path and "kernel" in path), P())

    params = described(mesh, nnx.to_pure_dict(state), rule)

    @jax.jit
    def train_step(params, x, y):
        def loss_fn(params):
            nnx.replace_by_pure_dict(state, params)
            model = nnx.merge(graph, state)
            return jnp.mean((model(model(x)) - y) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss

    x = one(mesh, (16, 32), "data")
    return train_step, (params, x, x)


@program(PROGRAMS, "Equinox", "filter_value_and_grad", "FSDP", "vmap", "adabelief")
def equinox_mlp_fsdp() -> Built:
    mesh = grid(fsdp=8)
    model = eqx.filter_eval_shape(eqx.nn.MLP, 32, 8, 64, 3, key=jax.random.PRNGKey(0))
    arrays, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
    params = described(mesh, arrays, fsdp_rule("fsdp", 8))
    tx = optax.adabelief(1e-3)

    def loss(params, x, y):
        model = eqx.combine(params, static)
        return jnp.mean((jax.vmap(model)(x) - y) ** 2)

    @jax.jit
    def step(params, opt, x, y):
        value, grads = jax.value_and_grad(loss)(params, x, y)
        updates, opt = tx.update(grads, opt, params)
        return eqx.apply_updates(params, updates), opt, value

    x, y = one(mesh, (16, 32), "fsdp"), one(mesh, (16, 8), "fsdp")
    return step, (params, state_of(mesh, tx, params), x, y)
