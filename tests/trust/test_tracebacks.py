"""An error in the user's program has the same traceback, frame by frame, whether somebody watches or not."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

X = np.ones((8, 8), np.float32)


class MyError(Exception):
    """Raised by the user's own code."""


def fail(*_: Any, **__: Any) -> Any:
    raise MyError("mine")


def mesh() -> jax.sharding.Mesh:
    return jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)


def sharded(*spec: Any) -> jax.Array:
    return jax.device_put(X, NamedSharding(mesh(), P(*spec)))


def primitive(lowering: Callable[..., Any] | None) -> Callable[..., Any]:
    made = Primitive("made")
    made.def_abstract_eval(lambda x: x)
    if lowering is not None:
        mlir.register_lowering(made, lowering)
    batching.primitive_batchers[made] = fail
    return made.bind


# ---------------------------------------------------------------- while it is traced


def plain() -> Any:
    return jax.jit(fail)(X)


def within_another() -> Any:
    return jax.jit(lambda x: jax.jit(fail)(x) + 1)(X)


def shapes() -> Any:
    return jax.jit(lambda x: jnp.dot(x, np.ones((3, 3))))(X)


def truth() -> Any:
    return jax.jit(lambda x: 1 if x.sum() > 0 else 2)(X)


def to_numpy() -> Any:
    return jax.jit(np.asarray)(X)


def concrete_length() -> Any:
    return jax.jit(jnp.ones)(3)


def result_that_is_no_array() -> Any:
    return jax.jit(lambda x: "text")(X)


def argument_that_is_no_array() -> Any:
    return jax.jit(lambda x: x)("text")


def static_without_hash() -> Any:
    return jax.jit(lambda x, n: x, static_argnums=1)(X, [1])


def too_few_arguments() -> Any:
    return jax.jit(lambda x, y: x)(X)


def scan_carry() -> Any:
    return jax.jit(lambda x: jax.lax.scan(lambda c, _: (c[0], None), x, None, length=3))(X)


def scan_body() -> Any:
    return jax.jit(lambda x: jax.lax.scan(fail, x, None, length=3))(X)


def branches() -> Any:
    return jax.jit(lambda x: jax.lax.cond(True, lambda: x, lambda: x[0]))(X)


def gradient_of_no_scalar() -> Any:
    return jax.jit(jax.grad(lambda x: x))(X)


def gradient_of_integers() -> Any:
    return jax.jit(jax.grad(lambda x: x.sum()))(np.ones(3, np.int32))


def batched_axes() -> Any:
    return jax.jit(jax.vmap(lambda x, y: x + y))(X, X[:3])


def unknown_axis() -> Any:
    return jax.jit(lambda x: jax.lax.psum(x, "nowhere"))(X)


def custom_rule() -> Any:
    f = jax.custom_vjp(lambda x: x.sum())
    f.defvjp(fail, fail)
    return jax.jit(jax.grad(f))(X)


def mapped_over_shards() -> Any:
    return jax.jit(jax.shard_map(fail, mesh=mesh(), in_specs=P("data"), out_specs=P("data")))(X)


def mapped_over_too_many() -> Any:
    return jax.jit(jax.shard_map(lambda x: x, mesh=mesh(), in_specs=P("data"), out_specs=P("data")))(X[:3])


def uneven_constraint() -> Any:
    sharding = NamedSharding(mesh(), P("model", None, None))
    return jax.jit(lambda x: jax.lax.with_sharding_constraint(x, sharding))(X)


def uneven_input() -> Any:
    return jax.jit(lambda x: x, in_shardings=NamedSharding(mesh(), P("model")))(np.ones(3, np.float32))


def devices_apart() -> Any:
    return jax.jit(lambda x, y: x + y)(sharded("data"), jax.device_put(X, jax.devices()[7]))


def shape_only() -> Any:
    return jax.eval_shape(jax.jit(fail), X)


def ahead_of_time() -> Any:
    return jax.jit(fail).lower(X)


# ---------------------------------------------------------------- while it is lowered


def no_lowering_rule() -> Any:
    return jax.jit(primitive(None))(X)


def lowering_rule() -> Any:
    return jax.jit(primitive(fail))(X)


def lowering_rule_within() -> Any:
    bind = primitive(fail)
    return jax.jit(lambda x: jax.jit(lambda y: bind(y) + 1)(x * 2))(X)


def lowering_rule_that_traces() -> Any:
    return jax.jit(primitive(mlir.lower_fun(fail, multiple_results=False)))(X)


def lowering_rule_ahead() -> Any:
    return jax.jit(primitive(fail)).lower(X)


def lowering_rule_of_a_gradient() -> Any:
    bind = primitive(fail)
    f = jax.custom_vjp(lambda x: x.sum())
    f.defvjp(lambda x: (x.sum(), x), lambda x, g: (bind(x) * g,))
    return jax.grad(jax.jit(f))(X)


def batching_rule() -> Any:
    return jax.jit(jax.vmap(primitive(None)))(X)


# ---------------------------------------------------------------- while it is compiled


def no_such_call() -> Any:
    return jax.jit(lambda x: jax.ffi.ffi_call("no_such_call", x)(x))(X)


def no_such_call_sharded() -> Any:
    return jax.jit(lambda x: jax.ffi.ffi_call("no_such_call", x)(x).sum())(sharded("data"))


def no_such_option() -> Any:
    return jax.jit(lambda x: x + 1, compiler_options={"xla_no_such_option": True})(X)


def no_such_option_ahead() -> Any:
    return jax.jit(lambda x: x + 1).lower(X).compile(compiler_options={"xla_no_such_option": True})


# ---------------------------------------------------------------- while it runs, and in callbacks


def callback() -> Any:
    return jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(fail, x, x))(X))


def ordered_callback() -> Any:
    return jax.block_until_ready(jax.jit(lambda x: io_callback(fail, x, x, ordered=True))(X))


def callback_of_another_shape() -> Any:
    return jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(lambda y: y[0], x, x))(X))


def callback_that_compiles() -> Any:
    host = jax.jit(fail)
    return jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(host, x, x))(X))


def no_numbers() -> Any:
    with jax.debug_nans(True):
        return jax.jit(lambda x: jnp.log(x - 2))(X)


def donated_twice() -> Any:
    x = jnp.asarray(X)
    f = jax.jit(lambda x: x + 1, donate_argnums=0)
    f(x)
    return f(x)


def compiled_for_another_shape() -> Any:
    return jax.jit(lambda x: x + 1).lower(X).compile()(X[:3])


def compiled_for_another_place() -> Any:
    return jax.jit(lambda x: x + 1).lower(sharded("data")).compile()(sharded(None, "data"))


def eager() -> Any:
    return jnp.add(X, X[:3])


def raised_beside_a_call() -> Any:
    return fail(jax.jit(lambda x: x + 1)(X))


CASES = [
    *(plain, within_another, shapes, truth, to_numpy, concrete_length, result_that_is_no_array),
    *(argument_that_is_no_array, static_without_hash, too_few_arguments, scan_carry, scan_body, branches),
    *(gradient_of_no_scalar, gradient_of_integers, batched_axes, unknown_axis, custom_rule, mapped_over_shards),
    *(mapped_over_too_many, uneven_constraint, uneven_input, devices_apart, shape_only, ahead_of_time),
    *(no_lowering_rule, lowering_rule, lowering_rule_within, lowering_rule_that_traces, lowering_rule_ahead),
    *(lowering_rule_of_a_gradient, batching_rule, no_such_call, no_such_call_sharded, no_such_option),
    *(no_such_option_ahead, callback, ordered_callback, callback_of_another_shape, callback_that_compiles, no_numbers),
    *(donated_twice, compiled_for_another_shape, compiled_for_another_place, eager, raised_beside_a_call),
]


def frames(error: BaseException | None) -> list[object]:
    """The kind, the notes and every frame of an error, and of what it came from."""
    found: list[object] = []
    while error is not None:
        found += [type(error).__name__, len(getattr(error, "__notes__", ()))]
        traceback = error.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            is_hidden = "__tracebackhide__" in traceback.tb_frame.f_locals
            found.append((code.co_filename, traceback.tb_lineno, code.co_name, is_hidden))
            traceback = traceback.tb_next
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return found


def traceback_of(run: Callable[[], Any], scope: Callable[[], contextlib.AbstractContextManager[Any]]) -> list[object]:
    jax.clear_caches()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with scope():
                run()
        except Exception as error:
            return frames(error)
    raise AssertionError("it did not fail")


@pytest.fixture(params=["quiet_remove_frames", "remove_frames", "tracebackhide", "off"])
def filtering(request: pytest.FixtureRequest) -> Iterator[str]:
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", request.param)
    yield request.param
    jax.config.update("jax_traceback_filtering", before)


SCOPES = {"capture": pi.capture, "calls": lambda: pi.capture(calls=True)}


def test_there_are_forty_errors_at_every_stage() -> None:
    assert len(set(CASES)) == len(CASES) >= 40


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_an_error_has_the_same_frames_watched_and_not(scope: Callable[[], Any], filtering: str) -> None:
    different = {}
    for case in CASES:
        bare, watched = traceback_of(case, contextlib.nullcontext), traceback_of(case, scope)
        if bare != watched:
            different[case.__name__] = [frame for frame in watched if frame not in bare]
    assert different == {}
