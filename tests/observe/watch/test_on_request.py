"""What was lowered or traced before is looked at with its jaxpr, where JAX still has that."""

from __future__ import annotations

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError


def twice(x):
    return jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=2)[0] * 2


def test_a_lowered_program_has_the_jaxpr_it_came_from():
    function = jax.jit(twice)
    small, large = function.lower(np.ones(3)), function.lower(np.ones((4, 5)))
    texts = [str(function.trace(np.ones(shape)).jaxpr) for shape in (3, (4, 5))]
    assert [pi.inspect(one).jaxpr for one in (small, large)] == texts


def test_a_lowered_program_that_was_compiled_already_has_it_too():
    function = jax.jit(twice)
    lowered = function.lower(np.ones(6))
    lowered.compile()
    assert pi.inspect(lowered).jaxpr == str(function.trace(np.ones(6)).jaxpr)


def test_a_traced_program_is_lowered_and_compiled_with_its_jaxpr():
    traced = jax.jit(twice).trace(np.ones(7))
    record = pi.inspect(traced)
    assert record.jaxpr == str(traced.jaxpr)
    assert [one.global_shape for one in record.inputs] == [(7,)]
    assert record.hlo is not None
    with pytest.raises(CaptureError, match="takes no arguments"):
        pi.inspect(traced, np.ones(7))


def test_a_jaxpr_that_jax_has_dropped_is_unknown():
    lowered = jax.jit(lambda x: x + 1).lower(np.ones(3))
    jax.clear_caches()
    gc.collect()
    record = pi.inspect(lowered)
    assert record.jaxpr is None
    assert record.data.missing["jaxpr"] == "it was not seen being traced, and JAX shows it no more"
    assert record.hlo is not None


def total(params, batch):
    return params["w"] * batch + params["b"]


def test_arguments_that_pmap_flattens_have_the_users_names():
    mapped = jax.pmap(total, in_axes=(None, 0))
    record = pi.inspect(mapped, {"w": np.ones(3), "b": np.ones(3)}, np.ones((8, 3)))
    assert (record.name, record.transform) == ("total", "pmap")
    assert [one.path for one in record.inputs] == ["params['b']", "params['w']", "batch"]


def test_arguments_that_equinox_flattens_have_the_users_names():
    equinox = pytest.importorskip("equinox")
    record = pi.inspect(equinox.filter_jit(total), {"w": np.ones(3), "b": np.ones(3)}, np.ones((8, 3)))
    assert [one.path for one in record.inputs] == ["params['b']", "params['w']", "batch"]
