"""The user's names of JAX primitives, and the parts of JAX's names that are not the user's.

Not its job: the meaning of a primitive.
"""

from __future__ import annotations

JAX_SCOPES = frozenset((
    "while", "body", "cond", "closed_call", "eval_jaxpr", "core_call", "checkpoint", "remat", "remat2",
    "rematted_computation", "custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr",
))  # fmt: skip
"""Scopes that JAX adds to the names of operations for loops, branches, differentiation and calls.

`eval_jaxpr` is what 0.11.2 and later have where earlier ones have `closed_call`.
"""

_WORDS = {
    "psum2": "psum",
    "psum_invariant": "psum",
    "unreduced_psum": "psum",
    "reduce_scatter": "psum_scatter",
    "unreduced_reduce_scatter": "psum_scatter",
    "all_gather_invariant": "all_gather",
    "all_gather_reduced": "all_gather",
}
"""Primitive that JAX makes from one of its functions -> that function (`jax.lax.psum`)."""


def users_word(name: str) -> str:
    """A primitive, or the name of an operation that ends in one, in the user's words: "a/psum2" -> "a/psum"."""
    scope, slash, primitive = name.rpartition("/")
    return f"{scope}{slash}{_WORDS.get(primitive, primitive)}"
