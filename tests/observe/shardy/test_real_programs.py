"""Real training programs, sharded over 2 x 4 devices, wrapped by nobody's hand."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh, counted_compiles, recorded

from pjit_inspect import capture
from pjit_inspect.model.record.record import RecordData

BATCH, LENGTH, WIDTH, HEADS, VOCABULARY = 8, 16, 32, 4, 64


def transformer_step() -> tuple[Any, tuple[Any, ...]]:
    """A flax nnx + optax train step of a two-layer transformer, its matrices sharded over `data` and `model`."""
    nnx, optax = pytest.importorskip("flax.nnx"), pytest.importorskip("optax")
    mesh = auto_mesh()

    class Block(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.norm = nnx.LayerNorm(WIDTH, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(HEADS, WIDTH, rngs=rngs, decode=False)
            self.up = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
            self.down = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = x + self.attention(self.norm(x))
            return x + self.down(nnx.gelu(self.up(x)))

    class Model(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.embed = nnx.Embed(VOCABULARY, WIDTH, rngs=rngs)
            self.first, self.second = Block(rngs), Block(rngs)
            self.head = nnx.Linear(WIDTH, VOCABULARY, rngs=rngs)

        def __call__(self, tokens: Any) -> Any:
            return self.head(self.second(self.first(self.embed(tokens))))

    def place(leaf: Any) -> Any:
        spec = P("data", "model") if leaf.ndim == 2 else P()
        return jax.device_put(leaf, NamedSharding(mesh, spec))

    model = Model(nnx.Rngs(0))
    nnx.update(model, jax.tree.map(place, nnx.state(model, nnx.Param)))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    tokens = jax.device_put(np.zeros((BATCH, LENGTH), np.int32), NamedSharding(mesh, P("data")))

    @nnx.jit
    def train_step(model: Any, optimizer: Any, tokens: Any) -> Any:
        def loss(model: Any) -> Any:
            logits = model(tokens[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

        value, gradients = nnx.value_and_grad(loss)(model)
        optimizer.update(model, gradients)
        return value

    return train_step, (model, optimizer, tokens)


def records_of(step: Any, args: tuple[Any, ...]) -> list[RecordData]:
    records: list[RecordData] = []
    with counted_compiles() as compiles, recorded(records):
        jax.block_until_ready(step(*args))
    assert len(records) == len(compiles)
    return [r for r in records if r.origin == "user"]


def test_a_flax_transformer_step_is_recorded_with_the_names_of_its_parameters() -> None:
    step, args = transformer_step()
    (record,) = records_of(step, args)
    assert record.name == "train_step"
    assert record.missing == {}
    assert record.mesh is not None
    assert record.mesh.sizes == {"data": 2, "model": 4}
    by_path = {a.path: a for a in record.inputs}
    # The names are the attributes of the user's module, not nnx's numbered leaves.
    up = by_path["model.first.up.kernel"]
    assert (up.spec, up.global_shape, up.local_shape) == (("data", "model"), (32, 128), (16, 32))
    assert by_path["optimizer.opt_state[0].mu.second.down.kernel"].spec == ("data", "model")
    # nnx returns the updated modules beside the loss.
    assert {a.path for a in record.outputs} >= {"updated[0].first.up.kernel", "result"}
    assert by_path["tokens"].spec == ("data", None)


def test_causes_and_shardings_call_flax_parameters_what_the_user_does() -> None:
    step, args = transformer_step()
    with capture() as log:
        step(*args)
    record = log["train_step"]
    told = " ".join(cause.sentence for row in record.collectives for cause in row.causes)
    assert "`model.first.up.kernel`" in told
    assert ".states[" not in told
    assert record.shardings.of("model.first.up.kernel")
    assert not any(".states[" in row.name for row in record.shardings)


def test_an_equinox_step_is_recorded_as_the_users() -> None:
    equinox, optax = pytest.importorskip("equinox"), pytest.importorskip("optax")
    mesh = auto_mesh()
    model = equinox.nn.MLP(WIDTH, WIDTH, 4 * WIDTH, 2, key=jax.random.key(0))
    model = jax.tree.map(lambda v: jax.device_put(v, NamedSharding(mesh, P())) if equinox.is_array(v) else v, model)
    optimizer = optax.sgd(1e-2)
    state = optimizer.init(equinox.filter(model, equinox.is_array))
    x = jax.device_put(np.ones((BATCH, WIDTH), np.float32), NamedSharding(mesh, P("data")))

    @equinox.filter_jit
    def make_step(model: Any, state: Any, x: Any) -> Any:
        def loss(model: Any) -> Any:
            return jnp.mean(jax.vmap(model)(x) ** 2)

        value, gradients = equinox.filter_value_and_grad(loss)(model)
        updates, state = optimizer.update(gradients, state)
        return equinox.apply_updates(model, updates), state, value

    (record,) = records_of(make_step, (model, state, x))
    assert record.name == "make_step"
    assert record.missing == {}
    assert record.mesh is not None
    by_path = {a.path: a for a in record.inputs}
    assert by_path["x"].spec == ("data", None)
    assert by_path["model.layers[1].weight"].global_shape == (4 * WIDTH, 4 * WIDTH)
    assert by_path["model.layers[1].weight"].replication == 8
