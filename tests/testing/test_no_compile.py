"""A block in which nothing may be compiled: what ends a call, what is allowed, and what is only told."""

from __future__ import annotations

import threading
import warnings

import jax
import numpy as np
import pytest

import pjit_inspect as pi
from pjit_inspect.errors import UnexpectedCompileError


def test_a_compile_ends_the_call_with_its_reason_and_the_next_call_works() -> None:
    double = jax.jit(lambda x: 2 * x)
    with pi.no_compile("serving", after=lambda: double(np.ones(3, np.float32))) as guard:
        double(np.ones(3, np.float32))
        with pytest.raises(UnexpectedCompileError) as caught:
            double(np.ones(4, np.float32))
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("<lambda> was compiled in serving, ")
    assert lines[2:4] == ["  allowed    none", "  because    `x`: length 3 -> 4 (dimension 0)"]
    assert lines[-1].startswith("  where      test_no_compile.py:")
    assert len(guard.compiles) == len(guard.unexpected) == 1
    assert repr(guard) == "<no_compile 'serving': 1 compiled, 1 of them not allowed>"
    assert double(np.ones(4, np.float32)).tolist() == [2.0] * 4


def test_so_many_are_allowed() -> None:
    def fresh() -> None:
        jax.jit(lambda x: x + 1)(np.ones(3))

    with pi.no_compile(max_compiles=1):
        fresh()
    # A lambda that is made anew is the same function.
    with pi.no_compile(after=1):
        fresh()
        with pytest.raises(UnexpectedCompileError, match="allowed    the first 1 of each function"):
            fresh()


def test_it_warns_or_records_where_it_is_told_to() -> None:
    with pi.no_compile(action="warn"), pytest.warns(UserWarning, match="was compiled"):
        assert jax.jit(lambda x: x + 2)(1) == 3
    with warnings.catch_warnings(), pi.no_compile(action="record") as guard:
        warnings.simplefilter("error")
        assert jax.jit(lambda x: x + 3)(1) == 4
    assert len(guard.unexpected) == 1


def test_other_threads_are_watched_unless_this_one_alone_is() -> None:
    def run() -> None:
        jax.jit(lambda x: x + 4)(1)

    for threads, number in (("this", 0), ("all", 1)):
        with pi.no_compile(threads=threads, action="record") as guard:
            thread = threading.Thread(target=run)
            thread.start()
            thread.join()
        assert len(guard.unexpected) == number


def test_eager_operations_are_watched_on_request() -> None:
    import jax.numpy as jnp

    with pi.no_compile(action="record") as guard:
        jnp.hypot(jnp.ones(1001), 2.0)
    assert guard.unexpected == ()
    jax.clear_caches()
    with pi.no_compile(eager=True, action="record") as guard:
        jnp.hypot(jnp.ones(1001), 2.0)
    assert guard.unexpected


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 'raise', 'warn' or 'record'"), pi.no_compile(action="fail"):  # pyright: ignore
        pass
    with pytest.raises(ValueError, match="expected 'all' or 'this'"), pi.no_compile(threads="other"):  # pyright: ignore
        pass


def test_calls_that_miss_the_fastest_path_are_counted() -> None:
    from jax.experimental import io_callback

    quick = jax.jit(lambda x: x + 5)

    # An ordered effect keeps a function from the fastest path for good.
    @jax.jit
    def slow(x):
        io_callback(lambda: None, None, ordered=True)
        return x

    x = np.ones(3, np.float32)
    for function in (quick, slow):
        function(x)
    with pi.no_compile(slow_calls=True) as guard:
        for _ in range(4):
            quick(x)
            slow(x)
    assert dict(guard.slow_calls) == {"slow": 3}
