"""What the ledger does not say: advice that would not help, results that nobody fed back, operations nobody wrote.

Not its job: advice that helps (test_advice.py).
"""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from pjit_inspect.model.record.ledger import Pattern
from recompiles.advice import programs_of

X = np.arange(8, dtype=np.float32)


def split() -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()[:8]), ("x",)), P("x"))


def patterns_of(run) -> tuple[Pattern, ...]:
    return programs_of(run, "all")[0].patterns


def split_twice(a, b):
    return jax.lax.with_sharding_constraint(a * 2, split()), jax.lax.with_sharding_constraint(b + 1, split())


# ---------------------------------------------------------------- padding and arguments


@pytest.mark.parametrize("lengths", [(3, 5, 9), (1, 2, 3, 5), (4, 8, 16, 32)])
def test_padding_that_saves_no_program_is_not_advised(lengths: tuple[int, ...]) -> None:
    def run():
        f = jax.jit(lambda x: x * 2)
        for length in lengths:
            f(np.ones(length, np.float32))

    (pattern,) = patterns_of(run)
    assert (pattern.kind, pattern.advice, pattern.buckets) == ("varying dimension", "", ())


def test_lengths_of_calls_and_of_batches_under_vmap_are_not_added_up() -> None:
    def run():
        f = jax.jit(lambda x: x * 2)
        for length in (3, 4):
            f(np.ones(length, np.float32))
        for batch in (2, 5):
            jax.vmap(f)(np.ones((batch, 4), np.float32))

    assert patterns_of(run) == ()


@pytest.mark.parametrize(("cells", "times"), [(2, None), (3, 2)])
def test_a_function_is_made_anew_as_often_as_it_is_however_many_programs_it_has(cells: int, times: int | None) -> None:
    """As where a cell of a notebook is run again: it has two lengths each time."""

    def make():
        return lambda x: x * 2

    def run():
        for _ in range(cells):
            f = jax.jit(make())
            f(np.ones(3, np.float32)), f(np.ones(4, np.float32))

    said = [f"a lambda is made anew, and jitted, {times} times"] if times else []
    assert [pattern.sentence for pattern in patterns_of(run)] == said


def test_a_static_argument_that_is_no_number_is_not_to_be_traced() -> None:
    def run():
        f = jax.jit(lambda x, mode: x * len(mode), static_argnums=1)
        for mode in ("train", "evaluate", "test"):
            f(X, mode)

    (pattern,) = patterns_of(run)
    assert (pattern.kind, pattern.advice) == ("static argument", "")


def test_a_static_argument_that_decides_shapes_is_not_to_be_traced() -> None:
    def run():
        f = jax.jit(lambda x, n: x[:n], static_argnums=1)
        for n in (2, 3, 4):
            f(X, n)

    (pattern,) = patterns_of(run)
    assert (pattern.kind, pattern.advice) == ("static argument", "")


def test_a_closed_over_text_is_not_to_be_passed() -> None:
    def make(mode):
        return lambda x: x * len(mode)

    def run():
        for mode in ("train", "evaluate", "test"):
            jax.jit(make(mode))(X)

    (pattern,) = patterns_of(run)
    assert (pattern.kind, pattern.advice) == ("made anew", "")


def test_a_closed_over_number_that_decides_shapes_is_not_to_be_passed() -> None:
    def make(n):
        return lambda x: x[:n]

    def run():
        for n in (2, 3, 4):
            jax.jit(make(n))(X)

    (pattern,) = patterns_of(run)
    assert (pattern.kind, pattern.advice) == ("made anew", "")


def test_a_number_that_decides_the_program_is_not_to_be_passed_though_no_shape_shows_it() -> None:
    def repeated(n):
        return lambda x: jax.lax.scan(lambda c, _: (c * 2, None), x, None, length=n)[0]

    def closed_over():
        for n in (2, 3, 4):
            jax.jit(repeated(n))(X)

    def static():
        f = jax.jit(lambda x, n: sum(x for _ in range(n)), static_argnums=1)
        for n in (2, 3, 4):
            f(X, n)

    assert [pattern.advice for run in (closed_over, static) for pattern in patterns_of(run)] == ["", ""]


def test_two_dimensions_that_vary_promise_no_number_of_programs() -> None:
    def run():
        f = jax.jit(lambda x: x.sum())
        for shape in ((3, 5), (3, 6), (4, 6), (4, 7), (5, 7)):
            f(np.ones(shape, np.float32))

    # What costs most comes first; which of the two that is, the clock decides.
    assert {pattern.advice for pattern in patterns_of(run)} == {
        "pad it to 4 or 8 and mask the padding: 2 lengths instead of 3",
        "pad it to 8 and mask the padding: 1 length instead of 3",
    }


def test_two_lambdas_on_one_line_are_not_made_anew() -> None:
    def run():
        jax.jit(lambda x: x + 1)(X), jax.jit(lambda x: x + 2)(X), jax.jit(lambda x: x + 3)(X)

    assert patterns_of(run) == ()


# ---------------------------------------------------------------- nothing comes back


def test_an_array_that_the_user_put_somewhere_is_not_a_result() -> None:
    def run():
        step = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, split()))
        step(jnp.ones(8)), step(jax.device_put(X, split()))

    assert [pattern.kind for pattern in patterns_of(run)] == []


def test_the_sharding_that_out_shardings_has_is_not_a_result_either() -> None:
    over = split()

    def run():
        step = jax.jit(lambda x, y: x * 2 + y, out_shardings=over)
        step(jnp.ones(8), jnp.ones(8)), step(jax.device_put(X, over), jnp.ones(8))

    assert [pattern.kind for pattern in patterns_of(run)] == []


def test_a_result_that_was_moved_before_it_was_passed_did_not_come_back_so() -> None:
    def run():
        step = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, split()))
        y = step(jnp.ones(8))
        step(jax.device_put(y, NamedSharding(split().mesh, P())))

    assert [pattern.kind for pattern in patterns_of(run)] == []


def test_the_result_of_another_function_does_not_come_back() -> None:
    def run():
        start = jax.jit(lambda: jnp.ones(8), out_shardings=split())
        step = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, split()))
        step(jnp.ones(8))
        step(start())

    assert [pattern.kind for pattern in patterns_of(run)] == []


def test_one_of_two_results_that_look_the_same_is_not_named() -> None:
    def run():
        step, a, b = jax.jit(split_twice), jnp.ones(8), jnp.ones(8)
        for _ in range(3):
            _, b = step(a, b)

    (pattern,) = patterns_of(run)
    assert pattern.sentence == "`b` comes back with another sharding: a result of an earlier call has P('x')"


def test_one_of_two_results_that_differ_is_named() -> None:
    def run():
        step = jax.jit(lambda a, b: (a.sum(), jax.lax.with_sharding_constraint(b + a, split())))
        a, b = jnp.ones(8), jnp.ones(8)
        for _ in range(3):
            _, b = step(a, b)

    (pattern,) = patterns_of(run)
    assert pattern.sentence == "`b` comes back with another sharding: `result[1]` of an earlier call has P('x')"


# ---------------------------------------------------------------- operations outside jit


def test_arrays_that_are_put_on_devices_are_no_operations() -> None:
    def run():
        for length in (8, 16, 24, 32, 40):
            jax.device_put(lengths[length], split())

    lengths = {length: jnp.asarray(np.ones(length, np.float32)) for length in (8, 16, 24, 32, 40)}
    assert patterns_of(run) == ()


def test_arrays_that_jit_puts_on_devices_are_no_operations() -> None:
    arrays = [jnp.asarray(np.ones(length, np.float32)) for length in (8, 16, 24, 32, 40)]

    def run():
        f = jax.jit(lambda x: x * 2, in_shardings=split())
        for x in arrays:
            f(x)

    assert [pattern.kind for pattern in patterns_of(run)] == ["varying dimension"]


def test_an_operation_has_the_name_the_user_wrote() -> None:
    def run():
        for length in (3, 4, 5, 6):
            jnp.where(np.ones(length, bool), 1.0, 0.0)

    (pattern,) = patterns_of(run)
    assert pattern.name == "where"
    assert "runs `where` outside any jit" in pattern.sentence


def test_an_operation_without_a_public_name_has_none() -> None:
    arrays = [jnp.asarray(np.ones(length, np.float32)) for length in (3, 4, 5, 6)]

    def run():
        for x in arrays:
            x.sum()

    (pattern,) = patterns_of(run)
    assert (pattern.name, pattern.sentence.split(" runs ")[1][:10]) == ("operations", "operations")


def test_programs_of_an_operation_without_a_public_name_are_not_said_to_be_of_the_one_beside_it() -> None:
    x = jnp.asarray(np.ones(16, np.float32))

    def run():
        for length in (3, 4, 5, 6):
            x[:length].sum()

    (pattern,) = patterns_of(run)
    assert re.search(r" runs `\w+`, \.\.\. outside any jit", pattern.sentence)


def test_a_line_that_runs_once_is_no_loop_whatever_it_computes() -> None:
    def run():
        jnp.linspace(0, 1, 5).sum() + jax.random.normal(jax.random.key(0), (3, 4)).sum() + jnp.eye(3).sum()

    assert patterns_of(run) == ()


def test_what_another_package_runs_for_a_line_is_no_loop() -> None:
    nnx = pytest.importorskip("flax.nnx")

    def run():
        [nnx.Linear(length, length + 1, rngs=nnx.Rngs(0)) for length in (3, 4, 5, 6)]

    assert patterns_of(run) == ()


def test_what_a_transform_made_is_no_argument_to_change() -> None:
    def run():
        f = jax.jit(lambda x: (x**3).sum())
        jax.grad(f)(X), jax.vjp(f, X)[1](1.0)

    assert patterns_of(run) == ()
