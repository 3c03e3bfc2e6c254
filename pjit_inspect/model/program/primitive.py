"""What the user calls a primitive of JAX.

Not its job: what a primitive does.
"""

from __future__ import annotations

__all__ = ["users_word"]

_WORDS = {
    "psum2": "psum",
    "psum_invariant": "psum",
    "unreduced_psum": "psum",
    "reduce_scatter": "psum_scatter",
    "unreduced_reduce_scatter": "psum_scatter",
    "all_gather_invariant": "all_gather",
    "all_gather_reduced": "all_gather",
}
"""The primitive JAX makes of a function of its own -> that function (`jax.lax.psum`)."""


def users_word(name: str) -> str:
    """A primitive, or the name of an operation that ends in one, in the user's words: "a/psum2" -> "a/psum"."""
    scope, slash, primitive = name.rpartition("/")
    return f"{scope}{slash}{_WORDS.get(primitive, primitive)}"
