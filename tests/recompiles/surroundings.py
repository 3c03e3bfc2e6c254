"""What stands around a call: configuration, meshes in context, transforms, threads, caches."""

from __future__ import annotations

import threading
import time
import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh

from recompiles.scenario import scenario

X = np.arange(4, dtype=np.float32)


# ---------------------------------------------------------------- configuration


@scenario("configuration `jax_enable_x64`: False -> True; `x`: dtype float32 -> float64")
def x64(_):
    f = jax.jit(lambda x: x * 2)
    x = np.ones(3, np.float64)
    f(x)
    with jax.enable_x64(True):
        f(x)


@scenario("configuration `jax_enable_x64`: False -> True")
def x64_with_float32(_):
    f = jax.jit(lambda x: x * 2)
    f(X)
    with jax.enable_x64(True):
        f(X)


@scenario("configuration `jax_default_matmul_precision`: None -> 'float32'")
def matmul_precision(_):
    f = jax.jit(lambda x: x @ x)
    f(X)
    with jax.default_matmul_precision("float32"):
        f(X)


@scenario("configuration `jax_default_device`: None -> CpuDevice(id=1)")
def default_device(_):
    f = jax.jit(lambda x: x * 2)
    f(X)
    with jax.default_device(jax.devices()[1]):
        f(X)


@scenario("configuration `jax_numpy_rank_promotion`: 'allow' -> 'warn'")
def rank_promotion(_):
    f = jax.jit(lambda x: x * 2)
    f(X)
    with jax.numpy_rank_promotion("warn"):
        f(X)


@scenario("configuration `jax_threefry_partitionable`: True -> False")
def a_flag_that_is_updated(_):
    f = jax.jit(lambda x: x * 2)
    f(X)
    jax.config.update("jax_threefry_partitionable", False)
    try:
        f(X)
    finally:
        jax.config.update("jax_threefry_partitionable", True)


def user_context(_):
    context = jax.make_user_context(default_value="a")
    f = jax.jit(lambda x: x * 2)
    f(X)
    with context("b"):
        f(X)


_UNNAMED = "JAX's trace context differs: a user context, or something else that this version does not name"
scenario("user context: 'a' -> 'b'", jax=">=0.10")(user_context)
scenario(_UNNAMED, jax="<0.10")(user_context)


# ---------------------------------------------------------------- meshes in context


def mesh(*shape, names=("data", "model")):
    return Mesh(np.array(jax.devices()).reshape(shape), names[: len(shape)])


@scenario("context mesh: none -> data=8 on devices 0-7")
def a_mesh_is_set(_):
    f = jax.jit(lambda x: x * 2)
    f(X)
    with jax.set_mesh(mesh(8)):
        f(X)


@scenario("context mesh: data=8 -> data=2 x model=4")
def another_mesh_is_set(_):
    f = jax.jit(lambda x: x * 2)
    for over in (mesh(8), mesh(2, 4)):
        with jax.set_mesh(over):
            f(X)


@scenario("context mesh: data=8 on devices 0-7 -> none")
def no_mesh_any_more(_):
    f = jax.jit(lambda x: x * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with mesh(8):
            f(X)
    f(X)


@scenario("context mesh: data=8 -> data=8 (explicit): the axis types differ")
def axes_became_explicit(_):
    f = jax.jit(lambda x: x * 2)
    for kind in (AxisType.Auto, AxisType.Explicit):
        with jax.set_mesh(jax.make_mesh((8,), ("data",), axis_types=(kind,))):
            f(X)


# ---------------------------------------------------------------- transforms


@scenario("first compile under `grad` (forward pass)", record=-2, compiles=3)
def grad(_):
    f = jax.jit(lambda x: (x**2).sum())
    f(X)
    jax.grad(f)(X)


@scenario("first compile under `grad` (backward pass)", compiles=3)
def grad_backward(_):
    f = jax.jit(lambda x: (x**2).sum())
    f(X)
    jax.grad(f)(X)


@scenario("`x`: length 4 -> 5 (dimension 0)", record=-2, compiles=4)
def grad_with_another_length(_):
    f = jax.jit(lambda x: (x**2).sum())
    jax.grad(f)(X), jax.grad(f)(np.ones(5, np.float32))


@scenario("a new `<lambda>` object with the same code", record=-1, compiles=4)
def grad_of_a_new_lambda_backward(_):
    for _ in range(2):
        jax.grad(jax.jit(lambda x: (x**2).sum()))(X)


@scenario("first compile under `vmap`")
def vmap(_):
    f = jax.jit(lambda x: (x**2).sum())
    f(X)
    jax.vmap(f)(np.ones((2, 4), np.float32))


@scenario("`x`: length 2 -> 3 (dimension 0)")
def vmap_with_another_batch(_):
    f = jax.vmap(jax.jit(lambda x: (x**2).sum()))
    f(np.ones((2, 4), np.float32)), f(np.ones((3, 4), np.float32))


@scenario("`x`: length 3 -> 4 (dimension 1)")
def pmap_with_another_length(_):
    f = jax.pmap(lambda x: x * 2)
    f(np.ones((2, 3), np.float32)), f(np.ones((2, 4), np.float32))


@scenario("a new `<lambda>` object with the same code")
def pmap_made_anew(_):
    for _ in range(2):
        jax.pmap(lambda x: x * 2)(np.ones((2, 3), np.float32))


# ---------------------------------------------------------------- eager operations


@scenario(
    "parameter `permutation`: (0, 2, 1) -> (1, 0, 2)",
    of="all",
    revised="`lax.slice` and its `limit_indices` were expected; JAX runs it as `dynamic_slice`, which has none",
)
def eager_parameter(_):
    x = np.ones((2, 2, 2), np.float32)
    jax.lax.transpose(x, (0, 2, 1)), jax.lax.transpose(x, (1, 0, 2))


@scenario("`args[0]`: length 3 -> 4 (dimension 0)", of="all")
def eager_length(_):
    for x in (np.ones(3, np.float32), np.ones(4, np.float32)):
        jax.lax.tanh(x)


@scenario("first compile of eager operation `asinh`", of="all", compiles=1)
def eager_first(_):
    jax.lax.asinh(X)


# ---------------------------------------------------------------- caches and threads


@scenario("first compile of `<lambda>`", compiles=1)
def first_compile(_):
    jax.jit(lambda x: x * 2)(X)


@scenario("nothing differs: JAX's caches were cleared (`jax.clear_caches`)")
def caches_cleared(_):
    f = jax.jit(lambda x: x * 2)
    f(X)
    jax.clear_caches()
    f(X)


@scenario("nothing differs: JAX had dropped the earlier program (`clear_cache` of the function, or an eviction)")
def cache_of_the_function_cleared(_):
    f = jax.jit(lambda x: x * 2)
    f(X)
    f.clear_cache()
    f(X)


@scenario("`x`: length 4 -> 5 (dimension 0)", compiles=3)
def caches_cleared_and_another_length(_):
    f = jax.jit(lambda x: x * 2)
    f(X)
    jax.clear_caches()
    f(X), f(np.ones(5, np.float32))


@scenario(
    "nothing differs: JAX's caches were cleared (`jax.clear_caches`); "
    "the program came from the compilation cache on disk, so its source lines may be stale"
)
def compilation_cache_on_disk(folder):
    from jax.experimental.compilation_cache import compilation_cache

    names = ("jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs")
    names += ("jax_persistent_cache_min_entry_size_bytes", "jax_enable_compilation_cache")
    before = {name: jax.config.values[name] for name in names}
    for name, value in zip(names, (str(folder / "cache"), 0.0, -1, True), strict=True):
        jax.config.update(name, value)
    compilation_cache.reset_cache()
    try:
        f = jax.jit(lambda x: jnp.sin(x) * 2)
        f(X)
        jax.clear_caches()
        f(X)
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
        compilation_cache.reset_cache()


@scenario("`x`: length 4 -> 5 (dimension 0)")
def in_another_thread(_):
    f = jax.jit(lambda x: x * 2)
    f(X)
    thread = threading.Thread(target=f, args=(np.ones(5, np.float32),))
    thread.start(), thread.join()


@scenario(
    None,
    compiles=1,
    revised="two compiles of the same program were expected; JAX lets the second thread wait for the first",
)
def two_threads_at_once_are_one_compile(_):
    start = threading.Barrier(2)

    @jax.jit
    def slow(x):
        time.sleep(0.1)
        return x * 2

    def call():
        start.wait(5)
        slow(X)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@scenario("`x`: length 5 -> 4 (dimension 0)|`x`: length 4 -> 5 (dimension 0)")
def two_threads_with_a_length_each(_):
    f = jax.jit(lambda x: x * 2)
    threads = [threading.Thread(target=f, args=(np.ones(n, np.float32),)) for n in (4, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _loss(w, x):
    return ((x @ w) ** 2).sum()


@scenario("another program that JAX derived from it; the arguments it takes: 2 -> 2", record=1, compiles=None)
def the_gradient_of_a_checkpointed_function(_):
    f, x = jax.jit(_loss), np.ones((4, 4), np.float32)
    f(x, x), jax.grad(jax.checkpoint(f))(x, x)


@scenario("another program that JAX derived from it; the arguments it takes: 1 -> 1", record=1, compiles=None)
def a_function_within_a_custom_jvp(_):
    inner = jax.jit(lambda x: jnp.sin(x).sum())
    f = jax.custom_jvp(lambda x: inner(x))
    f.defjvp(lambda primals, tangents: (f(*primals), inner(primals[0]) * tangents[0].sum()))
    inner(jnp.ones(4)), jax.grad(f)(jnp.ones(4))
