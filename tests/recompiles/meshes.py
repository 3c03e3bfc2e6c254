"""Meshes that look alike: other axis types, other devices, another order, one device."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from recompiles.scenario import scenario

X = np.arange(64, dtype=np.float32).reshape(8, 8)


def mesh(devices, name="x"):
    return Mesh(np.array(devices), (name,))


def put(*spec, over):
    return jax.device_put(X, NamedSharding(over, P(*spec)))


def typed(kind):
    return jax.make_mesh((8,), ("x",), axis_types=(kind,))


def double(x):
    return x * 2


@scenario("`x`: sharding P('x', None) on x=8 -> P('x', None) on x=8 (explicit): the axis types differ")
def explicit_axes_after_auto(_):
    f = jax.jit(double)
    for kind in (AxisType.Auto, AxisType.Explicit):
        f(put("x", over=typed(kind)))


@scenario("`x`: sharding P('x', None) on x=4, on devices 0-3 -> 4-7")
def the_other_half_of_the_devices(_):
    f = jax.jit(double)
    f(put("x", over=mesh(jax.devices()[:4]))), f(put("x", over=mesh(jax.devices()[4:])))


@scenario("`x`: sharding P('a', None) on a=8 -> P('b', None) on b=8")
def the_axis_has_another_name(_):
    f = jax.jit(double)
    f(put("a", over=mesh(jax.devices(), "a"))), f(put("b", over=mesh(jax.devices(), "b")))


@scenario(None, compiles=1)
def specs_that_mean_the_same_are_no_compile(_):
    f, over = jax.jit(double), mesh(jax.devices())
    f(put("x", over=over)), f(put("x", None, over=over)), f(put(("x",), over=over))


@scenario("in_shardings of `x`: P('x') on x=8, over devices in another order")
def in_shardings_over_devices_in_another_order(_):
    for devices in (jax.devices(), jax.devices()[::-1]):
        jax.jit(double, in_shardings=NamedSharding(mesh(devices), P("x")))(X)


@scenario("out_shardings of `result`: P('x') on x=4, on devices 0-3 -> 4-7")
def out_shardings_on_other_devices(_):
    for devices in (jax.devices()[:4], jax.devices()[4:]):
        jax.jit(double, out_shardings=NamedSharding(mesh(devices), P("x")))(X)


def out_shardings_on_explicit_axes(_):
    for kind in (AxisType.Auto, AxisType.Explicit):
        jax.jit(double, out_shardings=NamedSharding(typed(kind), P("x")))(X)


scenario(
    None, compiles=1, jax="<0.12", revised="two programs were expected; until 0.12 such out_shardings are equal to JAX"
)(out_shardings_on_explicit_axes)
scenario("out_shardings of `result`: P('x') on x=8 -> P('x') on x=8 (explicit): the axis types differ", jax=">=0.12")(
    out_shardings_on_explicit_axes
)


@scenario("context mesh: data=8, over devices in another order")
def a_context_mesh_over_devices_in_another_order(_):
    f = jax.jit(double)
    for devices in (jax.devices(), jax.devices()[::-1]):
        with jax.set_mesh(mesh(devices, "data")):
            f(X)


@scenario("`x`: sharding P('x', None) -> P(None, None)")
def replicated_after_sharded(_):
    f, over = jax.jit(double), mesh(jax.devices())
    f(put("x", over=over)), f(put(over=over))


@scenario("`x`: SingleDeviceSharding on device 0 -> NamedSharding P('x', None) on x=1")
def one_device_and_a_mesh_of_it(_):
    f = jax.jit(double)
    f(jax.device_put(X, jax.devices()[0])), f(put("x", over=mesh(jax.devices()[:1])))


@scenario("`x`: P('x', None) on x=8 -> device 2")
def from_a_mesh_to_one_device(_):
    f = jax.jit(double)
    f(put("x", over=mesh(jax.devices()))), f(jax.device_put(X, jax.devices()[2]))


@scenario(None, compiles=1)
def an_uncommitted_array_on_another_device_is_no_compile(_):
    f = jax.jit(double)
    f(X), f(jnp.asarray(X))
    with jax.default_device(None):
        f(X)


# ---------------------------------------------------------------- transforms


@scenario("batched over dimension 0 of `x` -> dimension 1 of `x`")
def vmap_over_another_dimension(_):
    f = jax.jit(lambda x: (x**2).sum())
    for axis in (0, 1):
        jax.vmap(f, in_axes=axis)(X)


@scenario("batched over dimension 0 of `x` -> dimension 0 of `x`, `y`; `y`: rank 1 -> 2, shape [8] -> [8, 8]")
def vmap_over_one_more_argument(_):
    f = jax.jit(lambda x, y: (x * y).sum())
    jax.vmap(f, in_axes=(0, None))(X, X[0]), jax.vmap(f, in_axes=(0, 0))(X, X)


@scenario("differentiated with respect to `x` -> `y`", record=-2, compiles=4)
def grad_with_respect_to_another_argument(_):
    f = jax.jit(lambda x, y: (x * y * y).sum())
    for number in (0, 1):
        jax.grad(f, argnums=number)(X, X)


@scenario("differentiated with respect to `x` -> `y`")
def jvp_with_respect_to_another_argument(_):
    f = jax.jit(lambda x, y: (x * y * y).sum())
    jax.jvp(lambda x: f(x, X), (X,), (X,)), jax.jvp(lambda y: f(X, y), (X,), (X,))


# ---------------------------------------------------------------- what changes nothing


@scenario(None, compiles=1)
def a_name_scope_is_no_compile(_):
    f = jax.jit(double)
    f(X)
    with jax.named_scope("layer"):
        f(X)


@scenario(None, compiles=1)
def lowering_twice_is_one_compile(_):
    f = jax.jit(double)
    f.lower(X).compile(), f.lower(X).compile()


@scenario(
    "first compile of `PjitFunction` around `double`",
    revised="one program was expected; the outer jit has another function than the inner one",
)
def jit_of_jit(_):
    f = jax.jit(double)
    f(X), jax.jit(jax.jit(double))(X)


@scenario("first compile of `grad` around `cube`")
def grad_of_a_function_that_was_compiled_by_itself(_):
    def cube(x):
        return (x**3).sum()

    jax.jit(cube)(X), jax.jit(jax.grad(cube))(X)


@scenario("first compile of `cube`", compiles=1)
def grad_of_a_function_that_was_not(_):
    def cube(x):
        return (x**3).sum()

    jax.jit(jax.grad(cube))(X)
