"""A jit wrapper of another package: the user's function is the one it wraps, in all that is said of its program."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi

WRAPPERS = """
import jax

class Named:
    def __init__(self, function):
        def fun_wrapped(leaves):
            return function(*leaves)
        fun_wrapped.__name__ = function.__name__
        self.jitted = jax.jit(fun_wrapped)

    def __call__(self, *args):
        return self.jitted(args)

    def lower(self, *args):
        return self.jitted.lower(args)

def plain_jit(function):
    def wrapper(*args):
        return function(*args)
    return jax.jit(wrapper)

def half_jit(function):
    def wrapper(*args):
        return function(*args) / 2
    return jax.jit(wrapper)

def product(x, w):
    return x @ w
"""


@pytest.fixture
def wrappers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    home = tmp_path / "lib" / "site-packages" / "wrappers"
    home.mkdir(parents=True)
    (home / "__init__.py").write_text(WRAPPERS)
    monkeypatch.syspath_prepend(str(home.parent))
    monkeypatch.delitem(sys.modules, "wrappers", raising=False)
    import wrappers  # type: ignore[import-not-found]

    yield wrappers
    sys.modules.pop("wrappers", None)


def arrays():
    mesh = Mesh(np.array(jax.devices()), ("model",))
    x = jax.device_put(np.ones((16, 64), np.float32), NamedSharding(mesh, P(None, "model")))
    return x, jax.device_put(np.ones((64, 32), np.float32), NamedSharding(mesh, P("model", None)))


@pytest.mark.parametrize("wrapper", ["Named", "plain_jit"])
@pytest.mark.parametrize("is_captured", [True, False])
def test_what_a_packages_wrapper_hands_all_work_to_is_the_users_function(wrappers, wrapper, is_captured) -> None:
    def step(x, w):
        return jnp.sin(wrappers.product(jnp.cos(x), w))

    jitted = getattr(wrappers, wrapper)(step)
    if is_captured:
        with pi.capture() as log:
            jitted(*arrays())
        record = next(one for one in log if one.collectives)
    else:
        record = pi.inspect(jitted, *arrays())
    place = record.data.defined_at
    assert place is not None
    assert (place.file, place.line, place.function) == (__file__, step.__code__.co_firstlineno, "step")
    (collective,) = record.collectives
    assert collective.cause is not None
    assert collective.cause.operation.startswith("`wrappers.product(jnp.cos(x), w)`")


def test_a_wrapper_that_works_itself_is_the_function(wrappers) -> None:
    def step(x, w):
        return jnp.sin(wrappers.product(x, w))

    with pi.capture() as log:
        wrappers.half_jit(step)(*arrays())
    (place,) = {one.data.defined_at for one in log if one.collectives}
    assert place is not None
    assert place.file == wrappers.__file__
