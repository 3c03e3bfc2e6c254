"""What is kept of earlier programs: which are gone, which returned an argument; nothing is kept alive."""

from __future__ import annotations

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from observe.programs import recorded

from pjit_inspect.model.record.compile_key import CompileKey, FedBack, MadeBy

X = np.arange(8, dtype=np.float32)


def keys_of(run) -> list[CompileKey]:
    records: list = []
    with recorded(records):
        run()
    return [data.key for data in records if data.origin == "user"]


def split() -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()[:8]), ("x",)), P("x"))


def test_a_result_that_is_passed_again_is_known_by_the_compile_that_made_it() -> None:
    @jax.jit
    def step(x):
        return jax.lax.with_sharding_constraint(x + 1, split())

    def run():
        x = jnp.ones(8)
        for _ in range(3):
            x = step(x)

    first, second = keys_of(run)
    assert second.fed == (FedBack(path="x", serial=first.serial, result="result"),)
    assert first.fed == ()


def test_a_result_is_known_after_calls_that_compile_nothing() -> None:
    step = jax.jit(lambda x, n: jax.lax.with_sharding_constraint(x * n, split()), static_argnums=1)

    def run():
        x = jax.device_put(X, split())
        for n in (1, 1, 1, 2):
            x = step(x, n)

    first, second = keys_of(run)
    assert second.fed == (FedBack(path="x", serial=first.serial, result="result"),)


def test_an_array_that_looks_like_a_result_is_none() -> None:
    over = split()
    step = jax.jit(lambda x: x * 2, out_shardings=over)

    def run():
        step(jnp.ones(8))
        step(jax.device_put(X, over))

    assert [key.fed for key in keys_of(run)] == [(), ()]


def init():
    return {"a": jnp.ones(8), "b": jnp.zeros(8)}


def test_arguments_that_another_function_returned_on_one_device_are_known() -> None:
    step = jax.jit(lambda params: jax.tree.map(jnp.sin, params), in_shardings=split())

    def run():
        step(jax.jit(init)())

    first, second = keys_of(run)
    made = [MadeBy(path=f"params['{name}']", serial=first.serial, function="init") for name in "ab"]
    assert second.made == tuple(made)


def test_an_array_that_nobody_of_the_users_returned_is_nobodys() -> None:
    step = jax.jit(lambda x: x * 2, in_shardings=split())

    def run():
        made = jax.jit(init)()
        step(jnp.ones(8))
        step(made["a"] + 1)
        step(jax.device_put(X))

    assert all(key.made == () for key in keys_of(run))


def test_arguments_that_arrive_where_the_program_runs_are_not_looked_at() -> None:
    step = jax.jit(lambda params: jax.tree.map(jnp.sin, params))

    def run():
        step(jax.jit(init, out_shardings=split())())

    assert [key.made for key in keys_of(run)] == [(), ()]


def test_a_program_that_jax_dropped_is_seen_to_be_gone() -> None:
    f = jax.jit(lambda x: x * 2)

    def run():
        f(X)
        f.clear_cache()
        f(X), f(X[:4])

    first, second, third = keys_of(run)
    assert (second.dropped, third.dropped) == ((first.serial,), (first.serial,))


def test_neither_the_program_nor_the_function_is_kept() -> None:
    functions = [jax.jit(lambda x: x * 2)]
    keys_of(lambda: functions[0](X))
    held = weakref.ref(functions.pop())
    jax.clear_caches()
    gc.collect()
    assert held() is None
