"""Calls that the partitioner cannot look into: callbacks to Python, FFI calls, Pallas kernels.

Not its job: factorizations, which are such calls inside (`numeric`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from causes.meshes import array
from jax.experimental import io_callback
from jax.experimental import pallas as pl

from operations.operation import LOOKS_UP, NEIGHBOURS, Operation, operation

__all__ = ["OPERATIONS"]

OPERATIONS: list[Operation] = []

_NOWHERE = (*LOOKS_UP, *NEIGHBOURS)
_X = array((16, 32), "data", "model")
_UNSPLIT = ("no_sharding_rule",)


@operation(
    OPERATIONS, "Python sees the whole array, on one device", _X, causes=_UNSPLIT, never=_NOWHERE, has_gradient=False
)
def pure_callback(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(lambda x: np.asarray(x) * 2, shape, x)


@operation(OPERATIONS, "the same with effects", _X, causes=_UNSPLIT, never=_NOWHERE, has_gradient=False)
def callback_with_effects(x):
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return io_callback(lambda x: np.asarray(x) * 2, shape, x)


@operation(OPERATIONS, "what is printed is shown to Python as a whole", _X, causes=_UNSPLIT, never=_NOWHERE)
def debug_callback(x):
    jax.debug.callback(lambda x: None, x)
    return x * 2.0


@operation(
    OPERATIONS,
    "the mean to print is reduced; a single number goes to Python",
    _X,
    causes=("reduction", "no_sharding_rule"),
    never=_NOWHERE,
)
def debug_print_of_a_mean(x):
    jax.debug.print("mean {}", jnp.mean(x))
    return x * 2.0


@operation(
    OPERATIONS,
    "a call by name, of which XLA knows nothing: every device needs all matrices",
    array((4, 16, 16), "data", "model", None),
    causes=_UNSPLIT,
    never=_NOWHERE,
    has_gradient=False,
)
def foreign_function(x):
    results = (jax.ShapeDtypeStruct(x.shape, x.dtype), jax.ShapeDtypeStruct(x.shape[:1], jnp.int32))
    return jax.ffi.ffi_call("lapack_spotrf_ffi", results)(x, uplo=np.uint8(ord("L")))[0]


def _double(source, target):
    target[...] = source[...] * 2.0


@operation(
    OPERATIONS,
    "interpreted, a kernel without a grid is its body: element by element",
    _X,
    causes=_UNSPLIT,
    never=_NOWHERE,
    has_gradient=False,
)
def pallas_kernel(x):
    return pl.pallas_call(_double, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x)


@operation(
    OPERATIONS,
    "interpreted, a grid is a loop that reads and writes blocks at positions along sharded dimensions",
    _X,
    causes=("indexing", "no_sharding_rule"),
    has_gradient=False,
)
def pallas_kernel_with_a_grid(x):
    block = pl.BlockSpec((4, 32), lambda i: (i, 0))
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(_double, out_shape=shape, grid=(4,), in_specs=[block], out_specs=block, interpret=True)(x)
