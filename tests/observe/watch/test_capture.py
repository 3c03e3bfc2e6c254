"""Every compile is seen, once, whoever called jit, and none is caused."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import auto_mesh, counted_compiles, put, recorded

from pjit_inspect.model.record.record import RecordData

X = np.ones((8, 8), np.float32)


def captured(run: Callable[[], Any], name: str | None = None) -> list[RecordData]:
    """The user's records of running it twice; one record for each compile that JAX itself reports."""
    records: list[RecordData] = []
    with counted_compiles() as compiles, recorded(records):
        jax.block_until_ready(run())
        jax.block_until_ready(run())
    assert len(records) == len(compiles)
    return [r for r in records if r.origin == "user" and (name is None or r.name == name)]


def complete(record: RecordData) -> None:
    assert record.missing == {}
    assert record.jaxpr
    assert record.stablehlo is not None
    assert record.stablehlo.read()[:4] == b"ML\xefR"
    assert record.hlo is not None
    assert record.hlo.read()
    assert record.timings.compile_s is not None
    assert record.timings.compile_s > 0
    assert record.user_frame is not None
    assert record.user_frame.file == __file__


def test_a_jitted_function_is_recorded_with_names_specs_and_slices() -> None:
    mesh = auto_mesh()
    params = {"w1": put(mesh, np.ones((32, 64), np.float32), None, "model"), "b": np.float32(1)}
    x = put(mesh, np.ones((16, 32), np.float32), "data")

    @jax.jit
    def layer(params, x):
        return {"y": x @ params["w1"] + params["b"]}

    (record,) = captured(lambda: layer(params, x))
    complete(record)
    assert (record.name, record.transform, record.origin) == ("layer", "jit", "user")
    assert record.mesh is not None
    assert record.mesh.axis_names == ("data", "model")
    assert record.mesh.shape == (2, 4)
    assert [a.path for a in record.inputs] == ["params['b']", "params['w1']", "x"]
    bias, w1, batch = record.inputs
    assert w1.spec == (None, "model")
    assert w1.local_shape == (32, 16)
    # Device 6 is row 1, column 2 of the mesh: its columns are the third quarter of 64.
    assert w1.shards[6] == (slice(0, 32), slice(32, 48))
    assert w1.replication == 2
    assert w1.bytes_per_device == 32 * 16 * 4
    assert batch.spec == ("data", None)
    assert bias.replication == 8
    (out,) = record.outputs
    assert out.path == "result['y']"
    assert out.spec == ("data", "model")
    assert all(s is not None for s in (record.timings.trace_s, record.timings.lower_s))


def test_unused_and_donated_arguments_are_told_apart() -> None:
    def update(state, unused, step):
        return state + step

    jitted = jax.jit(update, donate_argnums=0)
    (record,) = captured(lambda: jitted(jnp.ones((8, 8)), X, 1.0), "update")
    assert [(a.path, a.kept, a.donated) for a in record.inputs] == [
        ("state", True, True),
        ("unused", False, False),
        ("step", True, False),
    ]


def test_static_arguments_make_one_record_each() -> None:
    def scale(x, n, mode="x"):
        return x * n if mode == "x" else x + n

    jitted = jax.jit(scale, static_argnums=1, static_argnames="mode")
    assert len(captured(lambda: (jitted(X, 2, mode="x"), jitted(X, 3, mode="y")))) == 2


def test_grad_and_vmap_of_a_jitted_function_say_so() -> None:
    @jax.jit
    def loss(x):
        return jnp.sin(x).sum()

    assert {r.transform for r in captured(lambda: jax.grad(loss)(X), "loss")} == {"grad"}
    assert {r.transform for r in captured(lambda: jax.vmap(loss)(X), "loss")} == {"vmap"}
    gradient = jax.jit(jax.grad(loss))
    (record,) = captured(lambda: gradient(X))
    assert record.transform == "jit"


def test_shard_map_and_pmap_are_recorded_under_the_users_name() -> None:
    mesh = auto_mesh((8,), ("x",))

    def total(a):
        return jax.lax.psum(a, "x")

    mapped = jax.jit(jax.shard_map(total, mesh=mesh, in_specs=P("x"), out_specs=P()))
    (record,) = captured(lambda: mapped(X))
    complete(record)
    assert record.name == "total"

    def everywhere(a):
        return jax.lax.psum(a, "i")

    pmapped = jax.pmap(everywhere, axis_name="i")
    (record,) = captured(lambda: pmapped(X), "everywhere")
    complete(record)
    assert record.transform == "pmap"


def test_a_spec_under_a_mesh_context_and_an_explicit_mesh() -> None:
    explicit = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    jitted = jax.jit(lambda a: jnp.tanh(a) * 2)
    placed = jax.device_put(X, NamedSharding(explicit, P("x", "y")))

    def run():
        with jax.set_mesh(explicit):
            return jitted(placed)

    (record,) = captured(run)
    complete(record)
    assert record.mesh is not None
    assert record.mesh.axis_types == ("explicit", "explicit")
    assert record.outputs[0].spec == ("x", "y")

    auto = auto_mesh((4, 2), ("x", "y"))
    by_spec = jax.jit(lambda a: a * 2, in_shardings=P("x"), out_shardings=P(None, "y"))

    def run_spec():
        with jax.set_mesh(auto):
            return by_spec(X)

    (record,) = captured(run_spec)
    assert record.inputs[0].spec == ("x", None)
    assert record.outputs[0].spec == (None, "y")


def test_the_old_name_pjit_is_jit() -> None:
    from jax.experimental import pjit

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        jitted = pjit.pjit(lambda a: a * 5)
        (record,) = captured(lambda: jitted(X))
    complete(record)


def test_ahead_of_time_then_call_is_one_compile() -> None:
    jitted = jax.jit(lambda a: a * 7)

    def run():
        compiled = jitted.lower(X).compile()
        return compiled(X), jitted(X)

    (record,) = captured(run)
    complete(record)


def test_abstract_arguments_are_recorded_like_arrays() -> None:
    mesh = auto_mesh()
    spec = jax.ShapeDtypeStruct((16, 32), jnp.bfloat16, sharding=NamedSharding(mesh, P("data", "model")))
    jitted = jax.jit(lambda a: a + 1)
    records: list[RecordData] = []
    with recorded(records):
        jitted.lower(spec).compile()
    assert records[0].inputs[0].local_shape == (8, 8)
    assert records[0].inputs[0].bytes_per_device == 8 * 8 * 2


def test_an_eager_operation_is_marked_eager_and_jnp_internals_library() -> None:
    records: list[RecordData] = []
    odd = np.ones((3, 5, 7), np.float32)
    with recorded(records):
        jax.lax.cos(odd)
        jnp.convolve(odd[0, 0], odd[0, 1])
    by_origin = {r.origin for r in records}
    assert by_origin == {"eager", "library"}
    assert next(r for r in records if r.origin == "eager").primitive == "cos"


def test_compiles_of_four_threads_are_all_recorded_with_their_own_names() -> None:
    functions = []
    for k in range(4):
        namespace: dict[str, Any] = {}
        exec(f"def worker_{k}(a): return a * {k} + {k}", namespace)
        functions.append(jax.jit(namespace[f"worker_{k}"]))
    records: list[RecordData] = []
    with recorded(records):
        threads = [threading.Thread(target=f, args=(X,)) for f in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert {r.name for r in records} >= {f"worker_{k}" for k in range(4)}


def test_nested_scopes_each_get_the_record_and_the_listener_leaves_with_the_last() -> None:
    from jax._src import monitoring

    before = list(monitoring.get_event_duration_listeners())
    outer: list[RecordData] = []
    inner: list[RecordData] = []
    with recorded(outer):
        with recorded(inner):
            jax.jit(lambda a: a - 3)(X)
        jax.jit(lambda a: a - 4)(X)
    assert (len(outer), len(inner)) == (2, 1)
    assert list(monitoring.get_event_duration_listeners()) == before


def test_a_persistent_cache_hit_is_marked(tmp_path: Any) -> None:
    from jax.experimental.compilation_cache import compilation_cache

    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    old = {name: jax.config.values[name] for name in names}
    jax.config.update(names[0], str(tmp_path))
    jax.config.update(names[1], 0.0)
    compilation_cache.reset_cache()
    try:
        records: list[RecordData] = []
        with recorded(records):
            for _ in range(2):
                jax.jit(lambda a: jnp.tanh(a) @ a)(X)
        cached = [r.cached for r in records if r.name == "<lambda>"]
        assert cached == [None, "persistent"]
    finally:
        for name, value in old.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()


@pytest.mark.parametrize("wrapper", ["equinox", "nnx"])
def test_wrappers_of_libraries_are_recorded_as_the_users(wrapper: str) -> None:
    if wrapper == "equinox":
        equinox = pytest.importorskip("equinox")

        @equinox.filter_jit
        def doubled(a):
            return a * 2
    else:
        nnx = pytest.importorskip("flax.nnx")

        @nnx.jit
        def doubled(a):
            return a * 2

    (record,) = captured(lambda: doubled(X), "doubled")
    complete(record)


def test_seconds_of_a_stage_are_told_once() -> None:
    mesh = auto_mesh()
    jitted = jax.jit(lambda a: a @ a + 43)
    records = captured(lambda: (jitted(put(mesh, X, "data")), jitted(put(mesh, X, "model"))))
    # One trace serves both layouts.
    assert [r.timings.trace_s is None for r in records] == [False, True]
    assert [r.timings.lower_s is None for r in records] == [False, False]


def test_lowering_ahead_of_time_keeps_the_jaxpr_and_its_seconds() -> None:
    records: list[RecordData] = []
    with recorded(records):
        jax.jit(lambda a: jnp.sin(a) + 47).lower(X).compile()
    complete(records[-1])
    assert "sin" in (records[-1].jaxpr or "")
    assert records[-1].timings.trace_s is not None


def test_a_function_of_jax_that_the_user_jits_is_the_users() -> None:
    matmul = jax.jit(jnp.matmul)
    (record,) = captured(lambda: matmul(X, X))
    assert record.name == "matmul"
    softmax = jax.jit(jax.nn.softmax)
    assert [r.name for r in captured(lambda: softmax(X))] == ["softmax"]


def test_an_object_with_call_is_named_by_its_class() -> None:
    class Model:
        def __call__(self, a):
            return a * 53

    jitted = jax.jit(Model())
    (record,) = captured(lambda: jitted(X))
    assert record.name == "Model"
    assert record.defined_at is not None
    assert record.defined_at.file == __file__


def test_jvp_is_not_called_grad() -> None:
    loss = jax.jit(lambda a: jnp.sin(a).sum())
    assert {r.transform for r in captured(lambda: jax.jvp(loss, (X,), (X,)), "<lambda>")} == {"jvp"}


def test_a_result_on_one_device_is_not_called_replicated() -> None:
    mesh = auto_mesh()
    x = put(mesh, X, "data", "model")

    def through_the_host(a):
        return jax.pure_callback(lambda v: np.asarray(v) * 2, jax.ShapeDtypeStruct(a.shape, a.dtype), a)

    jitted = jax.jit(through_the_host)
    (record,) = captured(lambda: jitted(x))
    # XLA puts the result of a host callback on one device; JAX's own sharding of it says so.
    (device,) = record.outputs[0].shards
    assert f"maximal device={device}" in str(jitted(x).sharding)
    assert record.outputs[0].replication == 1


def test_a_mesh_axis_nobody_named_has_no_made_up_name() -> None:
    def shifted(a):
        return a + 59

    mapped = jax.pmap(shifted)
    (record,) = captured(lambda: mapped(X), "shifted")
    assert record.mesh is not None
    assert record.mesh.axis_names == ("unnamed",)
    assert record.inputs[0].spec == ("unnamed", None)


def test_gradients_of_integers_have_a_type_without_bytes() -> None:
    @jax.jit
    def scaled(a, n):
        return (a * n).sum()

    gradient = jax.jit(jax.grad(scaled, argnums=(0, 1), allow_int=True))
    (record,) = captured(lambda: gradient(X, np.int32(3)))
    assert [(a.dtype, a.bytes_per_device) for a in record.outputs] == [("float32", 256), ("float0", 0)]


def test_equinox_names_variadic_arguments_as_python_does() -> None:
    equinox = pytest.importorskip("equinox")

    @equinox.filter_jit
    def forward(net, x, *rest, flag=True, **more):
        return net["w"] @ x, rest[1] * 2, more["bias"]

    run = lambda: forward({"w": X}, X, np.ones(5), np.ones(6), flag=False, bias=np.ones(7))  # noqa: E731
    (record,) = captured(run, "forward")
    paths = {a.path: a.global_shape for a in record.inputs}
    assert paths == {"net['w']": (8, 8), "x": (8, 8), "rest[0]": (5,), "rest[1]": (6,), "bias": (7,)}


def test_unreduced_axes_of_a_result_are_told() -> None:
    explicit = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
    x = jax.device_put(X, NamedSharding(explicit, P("data", "model")))
    w = jax.device_put(X, NamedSharding(explicit, P("model", None)))
    try:
        partial_sums = P("data", None, unreduced={"model"})
    except TypeError:
        pytest.skip("this JAX has no unreduced axes")

    jitted = jax.jit(lambda x, w: jnp.einsum("ij,jk->ik", x, w, out_sharding=partial_sums))

    def run():
        with jax.set_mesh(explicit):
            return jitted(x, w)

    (record,) = captured(run)
    assert record.outputs[0].sharding is not None
    assert record.outputs[0].sharding.unreduced == ("model",)
    assert record.outputs[0].spec == ("data", None)


def test_numpy_arrays_where_a_mesh_is_set_are_replicated_over_it() -> None:
    mesh = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
    jitted = jax.jit(lambda a: a * 61)

    def run():
        with jax.set_mesh(mesh):
            return jitted(X)

    (record,) = captured(run)
    complete(record)
    assert (record.inputs[0].spec, record.inputs[0].replication) == ((None, None), 8)
