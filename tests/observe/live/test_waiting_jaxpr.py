"""The jaxpr of a small program is printed when it is read, says what it said, and keeps nothing alive till then."""

from __future__ import annotations

import gc
import importlib.util
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.observe.live import waiting_jaxpr as waiting
from pjit_inspect.observe.live.contents import Printed, jaxpr_text
from pjit_inspect.observe.live.waiting_jaxpr import waiting_jaxpr


@jax.custom_vjp
def doubled(x):
    return x * 2


doubled.defvjp(lambda x: (x * 2, None), lambda _, g: (g * 2,))


class Shouting:
    """A callback whose printing would be the user's own code."""

    def __call__(self, x):
        return np.asarray(x)

    def __repr__(self) -> str:
        raise AssertionError("it was printed")


def called_back(x):
    return jax.pure_callback(Shouting(), jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def placed(x):
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(8), ("data",))
    return jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data"))) + 1


def shard_mapped(x):
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(8), ("data",))
    return jax.shard_map(lambda y: jax.lax.psum(y, "data"), mesh=mesh, in_specs=P("data"), out_specs=P())(x)


def random(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)


def looped(x):
    return jax.lax.scan(lambda carry, _: (carry @ carry, None), x, None, length=3)[0]


def branched(x):
    return jax.lax.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, x)


inner = jax.jit(lambda x: jnp.tanh(x) * 3)


@pytest.mark.parametrize(
    ("function", "waits"),
    [
        (lambda x: x * 3 + 1, True),
        (lambda x: jnp.where(x > 0, x, 0).sum(), True),
        (lambda x: inner(x) + inner(x + 1), True),
        (jax.grad(lambda x: jnp.tanh(x @ x).sum()), True),
        # From JAX 0.12 on a loop has trees of its own, which may hold anything.
        (looped, importlib.util.find_spec("jax._src.flattree") is None),
        (branched, True),
        (placed, True),
        (shard_mapped, True),
        (random, True),
        # Each of these holds a function.
        (doubled, False),
        (jax.grad(lambda x: doubled(x).sum()), True),
        (jax.nn.relu, False),
        (called_back, False),
        (lambda x: (jax.debug.print("{}", x), x)[1], False),
    ],
)
def test_a_jaxpr_that_waits_prints_what_it_would_have_printed(function, waits: bool):
    jaxpr = jax.jit(function).trace(jnp.ones((8, 8))).jaxpr
    found = waiting_jaxpr(jaxpr, jaxpr_text)
    assert (found is not None) is waits
    if found is not None:
        assert found.text() == jaxpr_text(jaxpr) == found.text()


def test_an_array_that_is_closed_over_is_not_kept():
    held = jnp.arange(64.0).reshape(8, 8)
    assert waiting_jaxpr(jax.jit(lambda x: x + held).trace(jnp.ones((8, 8))).jaxpr, jaxpr_text) is None


def test_a_record_has_its_jaxpr_however_late_it_is_read_and_keeps_neither_program_nor_function_alive():
    def computations():
        return {id(o): o for o in gc.get_objects() if type(o).__name__ == "MeshComputation"}

    def made():
        def small(x):
            return x * 2 + 1

        jitted, argument = jax.jit(small), jnp.ones((4,))
        # Other tests in this process may keep some alive.
        earlier = computations()
        with pi.capture() as log:
            jitted(argument)
            own = [o for key, o in computations().items() if key not in earlier]
        text = jaxpr_text(jitted.trace(argument).jaxpr)
        assert own
        return log, text, [weakref.ref(o) for o in (small, argument, *own)]

    log, text, references = made()
    assert len(log) == 1
    assert log[0].state._finish is not None
    jax.clear_caches()
    gc.collect()
    assert {reference() for reference in references} == {None}
    assert log[0].state._finish is not None
    assert log["small"].jaxpr == text
    assert "mul" in text


def test_no_code_of_the_users_is_kept():
    def compiled():
        names: dict[str, object] = {}
        exec(compile("def made(x):\n    return x * 2 + 1\n", "<made>", "exec"), names)
        with pi.capture() as log:
            jax.jit(names["made"])(jnp.ones((4,)))
        return log, weakref.ref(names["made"].__code__)

    log, code = compiled()
    assert log[0].state._finish is not None
    jax.clear_caches()
    gc.collect()
    assert code() is None
    assert "mul" in (log["made"].jaxpr or "")


def test_a_record_that_nobody_looked_at_is_saved_with_its_jaxpr(tmp_path):
    with pi.capture() as log:
        jax.jit(lambda x: x * 5)(jnp.ones((4,)))
    log[-1].save(tmp_path / "a.pjit")
    assert "mul" in (pi.load(tmp_path / "a.pjit").jaxpr or "")


def test_the_oldest_are_printed_when_too_many_wait(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(waiting, "_MOST_WAITING", 5)
    monkeypatch.setattr(waiting, "_waiting", type(waiting._waiting)())
    monkeypatch.setattr(waiting, "_equations", 0)
    printed: list[str] = []

    def text_of(jaxpr) -> str:
        printed.append(text := jaxpr_text(jaxpr) or "")
        return text

    # Two equations each: of three, one must go.
    made = [waiting_jaxpr(jax.jit(lambda x, n=n: x * n + 1).trace(jnp.ones(4)).jaxpr, text_of) for n in (2.0, 3.0, 4.0)]
    assert len(printed) == 1
    assert "2.0" in printed[0]
    texts = [found.text() for found in made if found is not None]
    assert texts[0] == printed[0]
    assert len(printed) == 3


def test_a_large_jaxpr_does_not_wait():
    def large(x):
        for _ in range(waiting._MOST_EQUATIONS + 1):
            x = jnp.sin(x)
        return x

    assert waiting_jaxpr(jax.jit(large).trace(jnp.ones(4)).jaxpr, jaxpr_text) is None


def test_a_jaxpr_that_cannot_be_printed_is_named_missing():
    def fails(_):
        raise ValueError("no text")

    found = waiting_jaxpr(jax.jit(lambda x: x + 1).trace(jnp.ones(4)).jaxpr, fails)
    assert found is not None
    with pi.capture() as log:
        jax.jit(lambda x: x + 1)(jnp.ones(4))
    data = Printed(found)(log[-1].data)
    assert data.jaxpr is None
    assert data.missing["jaxpr"] == "ValueError: no text"
