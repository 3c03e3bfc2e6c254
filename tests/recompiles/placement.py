"""Arrays that lie elsewhere: committed, moved, sharded in another way, fed back; donation and jit's own shardings."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from recompiles.scenario import scenario

X = np.arange(64, dtype=np.float32).reshape(8, 8)


def mesh(shape=(2, 4), names=("data", "model"), devices=None):
    devices = np.array(jax.devices() if devices is None else devices)
    return Mesh(devices.reshape(shape), names)


def put(*spec, over=None, x=X):
    return jax.device_put(x, NamedSharding(over or mesh(), P(*spec)))


def double(x):
    return x * 2


@scenario("`x`: uncommitted numpy.ndarray -> jax.Array committed to device 0")
def numpy_and_then_committed(_):
    f = jax.jit(lambda x: x * 2)
    f(X), f(jax.device_put(X, jax.devices()[0]))


@scenario("`x`: uncommitted jax.Array -> jax.Array committed to device 0")
def uncommitted_and_then_committed(_):
    f = jax.jit(lambda x: x * 2)
    f(jnp.asarray(X)), f(jax.device_put(X, jax.devices()[0]))


@scenario("`x`: jax.Array committed to device 0 -> uncommitted numpy.ndarray")
def committed_and_then_numpy(_):
    f = jax.jit(lambda x: x * 2)
    f(jax.device_put(X, jax.devices()[0])), f(X)


@scenario(None, compiles=1)
def numpy_and_then_uncommitted_is_no_compile(_):
    f = jax.jit(lambda x: x * 2)
    f(X), f(jnp.asarray(X))


@scenario("`x`: device 0 -> device 3")
def another_device(_):
    f = jax.jit(lambda x: x * 2)
    f(jax.device_put(X, jax.devices()[0])), f(jax.device_put(X, jax.devices()[3]))


@scenario("`x`: sharding P('data', None) -> P(None, 'model')")
def another_spec(_):
    f = jax.jit(lambda x: x * 2)
    f(put("data", None)), f(put(None, "model"))


@scenario("`x`: sharding P('x', None) on x=8 -> P('x', None) on x=4")
def another_mesh(_):
    f = jax.jit(lambda x: x * 2)
    f(put("x", None, over=mesh(8, ("x",)))), f(put("x", None, over=mesh(4, ("x",), jax.devices()[:4])))


@scenario("`x`: sharding P('x', None) on x=8, over devices in another order")
def another_device_order(_):
    f = jax.jit(lambda x: x * 2)
    f(put("x", None, over=mesh(8, ("x",)))), f(put("x", None, over=mesh(8, ("x",), jax.devices()[::-1])))


@scenario("`x`: device 0 -> P('data', None) on data=2 x model=4")
def from_one_device_to_a_mesh(_):
    f = jax.jit(lambda x: x * 2)
    f(jax.device_put(X, jax.devices()[0])), f(put("data", None))


@scenario("`params['w1']` and 1 more: sharding P('data', None) -> P(None, 'model')")
def all_parameters_sharded_in_another_way(_):
    f = jax.jit(lambda params, x: x @ params["w1"] @ params["w2"])
    for spec in (("data", None), (None, "model")):
        f({"w1": put(*spec), "w2": put(*spec)}, put())


@scenario("`state`: sharding P('data', None) -> P(None, None)")
def a_result_comes_back_with_another_sharding(_):
    f = jax.jit(lambda state: state + 1, out_shardings=NamedSharding(mesh(), P()))
    state = put("data", None)
    for _ in range(2):
        state = f(state)


@scenario("`state`: uncommitted jax.Array -> jax.Array committed to P('data', None) on data=2 x model=4")
def a_result_comes_back_committed(_):
    split = NamedSharding(mesh(), P("data", None))

    @jax.jit
    def step(state):
        return jax.lax.with_sharding_constraint(state + 1, split)

    state = jnp.asarray(X)
    for _ in range(2):
        state = step(state)


@scenario("`x`: sharding P('x', None) -> P(None, 'x')")
def explicit_axes(_):
    over = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Explicit,))
    f = jax.jit(lambda x: x * 2)
    f(put("x", None, over=over)), f(put(None, "x", over=over))


@scenario(
    "`x`: layout default -> major_to_minor=(1, 0)",
    compiles=None,
    revised="two programs were expected; `jax.device_put` to another layout compiles one too",
)
def layout(_):
    f = jax.jit(lambda x: x * 2)
    x = jax.device_put(X, jax.devices()[0])
    f(x), f(jax.device_put(x, Format(Layout((1, 0)), x.sharding)))


# ---------------------------------------------------------------- jit's own options


@scenario(
    "`state`: uncommitted jax.Array -> jax.Array committed to P('data', None) on data=2 x model=4, "
    "and a mesh is part of an array's type"
)
def a_result_comes_back_where_in_shardings_ask(_):
    split = NamedSharding(mesh(), P("data", None))
    step = jax.jit(lambda state: state + 1, in_shardings=split, out_shardings=split)
    state = jnp.asarray(X)
    for _ in range(3):
        state = step(state)


@scenario(None, compiles=1)
def numpy_and_then_uncommitted_where_in_shardings_ask_is_no_compile(_):
    f = jax.jit(lambda x: x * 2, in_shardings=NamedSharding(mesh(), P("data", None)))
    f(X), f(jnp.asarray(X))


@scenario(
    "`x`: sharding P('x', None) on x=8 -> P(('data', 'model'), None) on data=2 x model=4, "
    "and a mesh is part of an array's type"
)
def the_same_pieces_on_another_mesh_where_in_shardings_ask(_):
    f = jax.jit(lambda x: x * 2, in_shardings=NamedSharding(mesh(), P(("data", "model"), None)))
    f(put("x", None, over=mesh(8, ("x",)))), f(put(("data", "model"), None))


@scenario("donated arguments: none -> `x`")
def donation(_):
    jax.jit(double)(jnp.asarray(X)), jax.jit(double, donate_argnums=0)(jnp.asarray(X))


@scenario("out_shardings of `result`: unspecified -> device 1", compiles=3)
def what_else_an_earlier_compile_differs_in_is_not_told(_):
    jax.jit(double)(jnp.asarray(X)), jax.jit(double, donate_argnums=0)(jnp.asarray(X))
    jax.jit(double, out_shardings=jax.sharding.SingleDeviceSharding(jax.devices()[1]))(jnp.asarray(X))


@scenario("donated arguments: `x` -> none")
def no_donation_any_more(_):
    jax.jit(double, donate_argnames="x")(jnp.asarray(X)), jax.jit(double)(jnp.asarray(X))


@scenario(None, compiles=1)
def donated_buffers_in_a_loop_are_one_compile(_):
    f = jax.jit(lambda state: state + 1, donate_argnums=0)
    state = jnp.asarray(X)
    for _ in range(3):
        state = f(state)


@scenario("out_shardings of `result`: unspecified -> P('data') on data=2 x model=4")
def out_shardings(_):
    jax.jit(double)(X), jax.jit(double, out_shardings=NamedSharding(mesh(), P("data")))(X)


@scenario("out_shardings of `result`: P('data') -> P('model')")
def other_out_shardings(_):
    for axis in ("data", "model"):
        jax.jit(double, out_shardings=NamedSharding(mesh(), P(axis)))(X)


@scenario("in_shardings of `x`: P('data') -> P(None, 'model')")
def in_shardings(_):
    for spec in (P("data"), P(None, "model")):
        jax.jit(double, in_shardings=NamedSharding(mesh(), spec))(X)


@scenario("in_shardings of `x`: unspecified -> P('data') on data=2 x model=4")
def first_in_shardings(_):
    jax.jit(double)(X), jax.jit(double, in_shardings=NamedSharding(mesh(), P("data")))(X)


@scenario("compiler option `xla_cpu_enable_fast_math`: unset -> True")
def compiler_options_of_jit(_):
    jax.jit(double)(X), jax.jit(double, compiler_options={"xla_cpu_enable_fast_math": True})(X)


@scenario("compiler option `xla_cpu_enable_fast_math`: unset -> True")
def compiler_options_of_compile(_):
    lowered = jax.jit(double).lower(X)
    lowered.compile(), lowered.compile({"xla_cpu_enable_fast_math": True})


@scenario(
    "jit's option `keep_unused`: unset -> True",
    revised="calls were made, of which the second compiled nothing: JAX's fast path does not look at `keep_unused`",
)
def keep_unused(_):
    def first(x, y):
        return x * 2

    jax.jit(first).lower(X, X).compile(), jax.jit(first, keep_unused=True).lower(X, X).compile()
