"""Programs on which Shardy ends the process when it is asked where shardings come from.

`sdy-user-priority-propagate{debug-sharding-origins=true}` of JAX 0.10.2 and 0.12 gets a segmentation fault at a reshape
of one dimension split over an axis into three or more, when another dimension is split too and the axis fits none of
the leading new ones. Without the option it passes. So these are not in `corpus.CASES` and need a process of their own.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from causes.case import A2A, AG, Case, Want, case
from causes.meshes import array

CASES: list[Case] = []


@case(
    CASES,
    "96 columns over model are 24 each; three of four heads of eight do not divide by four: whole before the reshape",
    Want(f"{AG}|{A2A}", "model", "reshard_needed", at="heads"),
)
def fused_query_key_value():
    def f(x, w):
        h = x @ w
        q, k, v = jnp.moveaxis(h.reshape(4, 16, 3, 4, 8), 2, 0)  # @heads
        return jnp.einsum("bqhd,bkhd->bhqk", q, k), v

    return jax.jit(f), (array((4, 16, 32), "data", None, None), array((32, 96), None, "model"))
