"""What a newcomer brings to a playground: arrays on no mesh, random keys, dataclasses, scans, one device, nothing."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError, ChangeError

MESH = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def split(value: Any, *spec: Any) -> Any:
    return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=NamedSharding(MESH, P(*spec)))


def mlp(x, w1, w2):
    return jax.nn.relu(x @ w1) @ w2


X, W1, W2 = jnp.ones((64, 32)), jnp.ones((32, 128)), jnp.ones((128, 32))
WHOLE = "captured without a mesh: here devices=8, every argument replicated"


class Pair(NamedTuple):
    w1: Any
    w2: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    w1: Any
    w2: Any
    name: str = dataclasses.field(default="layer", metadata={"static": True})


# ---------------------------------------------------------------- without a mesh


@pytest.mark.parametrize(
    "make",
    [
        lambda: pi.playground(mlp, X, W1, W2),
        lambda: pi.inspect(mlp, X, W1, W2).playground(),
        lambda: pi.playground(mlp, np.ones((64, 32)), W1, W2),
        lambda: pi.playground(mlp, *(jax.ShapeDtypeStruct(own.shape, own.dtype) for own in (X, W1, W2))),
    ],
    ids=["function", "record", "numpy", "shapes"],
)
def test_a_program_without_a_mesh_opens_on_all_attached_devices_with_everything_whole(make: Callable[[], Any]):
    play = make()
    base = play.wait()
    assert (base.sentence, base.stage, base.sent_bytes, base.work) == (WHOLE, "partitioned", 0, 8.0)
    assert base.argument_bytes == 4 * (64 * 32 + 2 * 32 * 128)
    assert {group.spec for group in play.controls.groups} == {(None, None)}
    play.set(specs={"w1": P(None, "devices"), "w2": P("devices")})
    found = play.wait()
    assert ([own.kind for own in found.by_kind], found.work) == (["all-reduce"], 1.0)
    play.close()


def test_the_given_mesh_is_said_in_the_record_and_is_new_in_the_code():
    play = pi.playground(mlp, X, W1, W2)
    play.wait()
    assert play.base.record.data.hypothesis.changes == ("mesh devices=8",)
    assert "mesh = jax.make_mesh((8,), ('devices',), axis_types=(AxisType.Auto,) * 1)  # new" in play.code().text
    play.set(mesh={"data": 2, "model": 4}, specs={"x": P("data"), "w1": P(None, "model")})
    play.wait()
    proof = play.code(prove=True).proof
    assert proof is not None
    assert (proof.outcome, proof.sentence) == ("equal", "traced again with these shardings: the same 1 collective")
    play.close()


def test_the_page_says_that_there_was_no_mesh(tmp_path: Path):
    play = pi.playground(mlp, X, W1, W2)
    play.wait()
    play.to_html(tmp_path / "play.html")
    assert "captured without a mesh, here on " in (tmp_path / "play.html").read_text(encoding="utf-8")
    play.close()


def test_a_mesh_too_large_for_a_slice_names_the_slice_that_fits():
    play = pi.playground(mlp, X, W1, W2)
    play.set(target="tpu:v5e:2x4", mesh={"data": 4, "model": 8})
    problem = play.wait().problem
    assert problem is not None
    assert problem.control == "mesh"
    assert problem.text.endswith("give a mesh of 8, as in mesh={'data': 4, 'model': 2}, or take target='tpu:v5e:4x8'")
    play.close()


def test_where_one_device_is_attached_there_are_eight_all_the_same(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("pjit_inspect.observe.live.shardings.attached_devices", lambda: 1)
    play = pi.playground(mlp, X, W1, W2)
    assert play.wait().controls.mesh == (("devices", 8),)
    play.close()


def test_a_program_without_a_mesh_can_be_searched():
    history = pi.search(pi.inspect(mlp, X, W1, W2), budget_s=3)
    best = history.best("bytes")
    assert best.work is not None
    assert best.work <= 1.1
    assert best.sent_bytes == 0


def test_work_is_counted_for_a_record_that_was_only_partitioned():
    # A search on it keeps to its rule of work, which says nothing where work is not known.
    play = pi.inspect(mlp, split(X, "data"), split(W1), split(W2), effort="partition").playground()
    assert play.wait().work == 4.0
    play.close()


def test_arrays_under_a_mesh_that_is_set_lie_on_that():
    with jax.set_mesh(jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)):
        play = pi.playground(mlp, X, W1, W2)
    assert play.wait().sentence == "as captured: mesh data=2 x model=4, cpu:8"
    play.set(specs={"x": P("data")})
    assert play.wait().stage == "partitioned"
    play.close()


def test_what_if_takes_a_mesh_for_a_program_without_one():
    record = pi.inspect(mlp, X, W1, W2)
    found = record.what_if(mesh={"data": 2, "model": 4}, specs={"w1": P(None, "model"), "w2": P("model")})
    assert [(row.kind, row.axes) for row in found.collectives] == [("all-reduce", ("model",))]
    with pytest.raises(ChangeError, match=r"give a mesh of 8, as in mesh=\{'data': 8\}, and specs over its axes"):
        record.what_if(target="cpu:8")


# ---------------------------------------------------------------- arguments of all kinds


@functools.partial(jax.jit, static_argnums=(1,), static_argnames=("kind",))
def with_static(x, count, *, kind="sum"):
    return x * count if kind == "sum" else x @ x.T


def by_keyword(*, x, w):
    return x @ w


def of_tree(params, x):
    return mlp(x, params.w1, params.w2)


def descend(params, x):
    return jax.tree.map(lambda w, g: w - g, params, jax.grad(lambda p: mlp(x, **p).sum())(params))


def dropped(key, x):
    return x * jax.random.bernoulli(key, 0.5, x.shape)


def dropped_each(keys, x):
    return jax.vmap(lambda key, row: row * jax.random.normal(key, row.shape))(keys, x)


def scanned(weights, x):
    return jax.lax.scan(jax.checkpoint(lambda c, w: (jnp.tanh(c @ w), None)), x, weights)[0].sum()


def by_hand(x):
    return jax.shard_map(
        lambda own: jax.lax.psum(own, "data"), mesh=MESH, in_specs=P("data", "model"), out_specs=P(None, "model")
    )(x)


BIG = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024)
KEY = jax.random.key(0)
LAYERS, EMPTY = jnp.ones((4, 32, 32)), jnp.ones((0, 8))


@pytest.mark.parametrize(
    ("make", "label", "spec"),
    [
        (lambda: pi.playground(with_static, split(X), 3, kind="square"), "x", P("data")),
        (lambda: pi.playground(by_keyword, x=split(X), w=split(W1)), "w", P("data")),
        (lambda: pi.playground(of_tree, Pair(split(W1), split(W2)), split(X)), "params.w1", P("data")),
        (lambda: pi.playground(of_tree, Layer(split(W1), split(W2)), split(X)), "params.w1", P(None, "model")),
        (
            lambda: pi.playground(
                jax.jit(descend, donate_argnums=0), {"w1": split(W1), "w2": split(W2)}, split(X, "data")
            ),
            "params['w2']",
            P("model"),
        ),
        (lambda: pi.playground(dropped, split(KEY), split(X)), "x", P("data")),
        (lambda: pi.playground(dropped, jax.random.PRNGKey(0), split(X)), "x", P("data")),
        (lambda: pi.playground(dropped_each, split(jax.random.split(KEY, 64)), split(X)), "keys", P("data")),
        (lambda: pi.playground(jax.grad(scanned), split(LAYERS), split(X, "data")), "weights", P("data")),
        (lambda: pi.playground(by_hand, split(X)), "x", P("data")),
        (lambda: pi.playground(lambda x: (x @ jnp.ones((32, 1024))) @ BIG, split(X, "data")), "x", P("model")),
        (lambda: pi.playground(lambda x, z: x.sum() + z.sum(), split(X), split(EMPTY)), "z", P(None, "model")),
        (lambda: pi.playground(jax.jit(mlp).trace(split(X), W1, W2)), "x", P("data")),
    ],
    ids=[
        "static", "keywords", "namedtuple", "dataclass", "donated", "key", "old-key", "keys", "scan", "shard_map",
        "constant", "empty", "traced",
    ],
)  # fmt: skip
def test_it_opens_and_a_change_is_answered(make: Callable[[], Any], label: str, spec: Any):
    play = make()
    assert play.wait().stage == "partitioned"
    play.set(specs={label: spec})
    found = play.wait()
    assert (found.stage, found.problem) == ("partitioned", None)
    group = found.controls.group(label)
    assert group is not None
    assert group.spec == (*spec, *[None] * (len(group.shape) - len(spec)))
    play.close()


def test_a_batch_of_keys_is_counted_by_the_words_of_each():
    play = pi.playground(dropped_each, split(jax.random.split(KEY, 64), "data"), split(X, "data"))
    play.wait()
    keys = play.controls.group("keys")
    assert keys is not None
    assert (keys.spec, keys.global_bytes, keys.bytes_per_device) == (("data",), 64 * 8, 32 * 8)
    play.close()


def test_no_arguments_are_no_groups_but_results_can_be_split():
    play = pi.playground(lambda: {"w": jnp.zeros((64, 32)), "b": jnp.zeros(32)})
    assert play.wait().controls.groups == ()
    play.set(specs={"result['w']": P("devices")})
    found = play.wait()
    assert (found.stage, found.result_bytes) == ("partitioned", 4 * (64 * 32 // 8 + 32))
    play.close()


def test_a_mesh_of_one_device_is_compiled_to_the_end_and_sends_nothing():
    mesh = AbstractMesh((1,), ("x",), axis_types=(AxisType.Auto,))
    arrays = [jax.ShapeDtypeStruct(own.shape, own.dtype, sharding=NamedSharding(mesh, P())) for own in (X, W1, W2)]
    play = pi.playground(mlp, *arrays)
    base = play.wait()
    assert (base.stage, base.sent_bytes, base.collectives, base.problem) == ("full", 0, 0, None)
    assert base.record.hlo is not None
    play.set(mesh={"x": 8}, specs={"x": P("x")})
    assert play.wait().stage == "partitioned"
    play.set(mesh={"x": 1})
    assert play.wait().stage == "full"
    play.close()


def test_what_is_no_function_is_refused_with_what_to_pass():
    with pytest.raises(CaptureError, match="pass the function, then its arguments"):
        pi.playground(3)
    with pytest.raises(CaptureError, match="pass the function with its arguments"):
        pi.playground(jax.jit(mlp).lower(X, W1, W2))
