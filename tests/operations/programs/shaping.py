"""Operations that move elements to other places: rolls, pads, concatenations, reshapes, broadcasts.

Not its job: places known only at run time (`reading`).
"""

from __future__ import annotations

import jax.numpy as jnp
from causes.meshes import array

from operations.operation import LOOKS_UP, NEIGHBOURS, Operation, integers, operation

__all__ = ["OPERATIONS"]

OPERATIONS: list[Operation] = []

_NOWHERE = (*LOOKS_UP, *NEIGHBOURS)


@operation(
    OPERATIONS,
    "the last row of each device becomes the first of the next",
    array((16, 32), "model", None),
    causes=("halo",),
    never=LOOKS_UP,
)
def roll_rows(x):
    return jnp.roll(x, 1, axis=0)


@operation(
    OPERATIONS,
    "how far is known at run time",
    array((16, 32), "model", None),
    integers(()),
    causes=("halo", "indexing"),
)
def roll_by_number(x, n):
    return jnp.roll(x, n, axis=0)


@operation(OPERATIONS, "edges go along both axes", array((16, 32), "data", "model"), causes=("halo",), never=LOOKS_UP)
def roll_rows_and_columns(x):
    return jnp.roll(x, (1, 2), axis=(0, 1))


@operation(
    OPERATIONS,
    "the first device's rows become the last one's: pieces change places, no edges are exchanged",
    array((16, 32), "model", None),
    causes=("halo",),
    never=_NOWHERE,
)
def flip_rows(x):
    return jnp.flip(x, axis=0)


@operation(
    OPERATIONS,
    "pieces change places along both axes",
    array((16, 32), "data", "model"),
    causes=("halo",),
    never=_NOWHERE,
)
def flip_both(x):
    return x[::-1, ::-1]


@operation(
    OPERATIONS,
    "rows are reversed, then rows become columns",
    array((16, 16), "data", "model"),
    causes=("halo", "reshard_needed"),
    never=_NOWHERE,
)
def rotate_by_90_degrees(x):
    return jnp.rot90(x)


@operation(
    OPERATIONS, "20 rows instead of 16, moved by four", array((16, 32), "model", None), causes=("halo",), never=LOOKS_UP
)
def pad_in_front(x):
    return jnp.pad(x, ((4, 0), (0, 0)))


@operation(
    OPERATIONS,
    "the first and the last row are repeated outside: slices and a concatenation",
    array((16, 32), "model", None),
    causes=("halo",),
    never=LOOKS_UP,
)
def pad_with_edges(x):
    return jnp.pad(x, ((4, 4), (0, 0)), mode="edge")


@operation(
    OPERATIONS,
    "the first half of the result is all of x",
    array((16, 32), "model", None),
    array((16, 32), "model", None),
    causes=("halo",),
    never=_NOWHERE,
)
def concatenate_rows(x, y):
    return jnp.concatenate([x, y], axis=0)


@operation(
    OPERATIONS,
    "the same, and y is sharded over another axis",
    array((16, 32), "model", None),
    array((16, 32), "data", "model"),
    causes=("halo", "reshard_needed"),
    never=_NOWHERE,
)
def stack_vertically(x, y):
    return jnp.vstack([x, y])


@operation(
    OPERATIONS,
    "rows meet columns",
    array((16, 32), "model", None),
    array((16, 32), None, "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def stack_along_a_new_dimension(x, y):
    return jnp.stack([x, y])


@operation(
    OPERATIONS,
    "each half lies on two of four devices",
    array((16, 64), "data", "model"),
    causes=("halo",),
    never=LOOKS_UP,
)
def product_of_two_halves(x):
    a, b = jnp.split(x, 2, axis=1)
    return a * b


@operation(
    OPERATIONS,
    "every row twice, side by side: each device repeats its own; JAX makes it by a gather or a broadcast and a reshape",
    array((16, 32), "model", None),
    causes=("indexing", "reshard_needed"),
    backward=("reduction",),
    never=NEIGHBOURS,
)
def repeat_rows(x):
    return jnp.repeat(x, 2, axis=0)


@operation(
    OPERATIONS,
    "all rows twice, one after the other: the copies fall on other devices",
    array((16, 32), "model", None),
    causes=("reshard_needed", "halo"),
    backward=("reduction",),
    never=_NOWHERE,
)
def tile_rows(x):
    return jnp.tile(x, (2, 1))


@operation(
    OPERATIONS,
    "the inner of two merged dimensions is sharded",
    array((16, 32), None, "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def merge_dimensions(x):
    return x.reshape(512)


@operation(
    OPERATIONS,
    "four pieces cannot follow a dimension of two",
    array((64, 8), "model", None),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def split_a_dimension(x):
    return x.reshape(2, 32, 8)


@operation(
    OPERATIONS,
    "16 rows of 32 become 64 rows of 8: columns' pieces are rows",
    array((16, 32), "data", "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def reshape_to_other_rows(x):
    return x.reshape(64, 8)


@operation(
    OPERATIONS,
    "six heads cannot be split over four devices",
    array((16, 48), "data", "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def split_into_six_heads(x):
    return x.reshape(16, 6, 8)


@operation(
    OPERATIONS,
    "columns turned rows meet rows",
    array((16, 16), "data", "model"),
    array((16, 16), "data", "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def transposed_sum(x, y):
    return x.T + y


@operation(
    OPERATIONS,
    "a vector along columns meets columns sharded over another axis",
    array((32,), "model"),
    array((16, 32), "model", "data"),
    causes=("reshard_needed",),
    backward=("reduction",),
    never=_NOWHERE,
)
def broadcast_along_columns(x, y):
    return jnp.broadcast_to(x, (16, 32)) * y


@operation(
    OPERATIONS,
    "an outer dimension made inner meets its own old place",
    array((8, 16, 32), "data", "model", None),
    array((16, 32, 8), "data", None, "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def moved_first_dimension(x, y):
    return jnp.moveaxis(x, 0, -1) + y


@operation(
    OPERATIONS,
    "rows are moved by one against themselves",
    array((16, 32), "model", None),
    causes=("halo",),
    never=LOOKS_UP,
)
def difference_of_rows(x):
    return jnp.diff(x, axis=0)


@operation(
    OPERATIONS,
    "both vectors have the same axis, which only one dimension of the result can keep",
    array((16,), "model"),
    array((32,), "model"),
    causes=("reshard_needed",),
    backward=("reduction", "contraction"),
    never=_NOWHERE,
)
def outer_product(a, b):
    return jnp.outer(a, b)


@operation(
    OPERATIONS,
    "both matrices have model on their rows, which are merged",
    array((8, 4), "model", None),
    array((8, 4), "model", None),
    causes=("reshard_needed",),
    backward=("reduction", "contraction"),
    never=_NOWHERE,
)
def kronecker_product(a, b):
    return jnp.kron(a, b)


@operation(
    OPERATIONS,
    "both sides of the grid have the same axis",
    array((16,), "model"),
    array((32,), "model"),
    causes=("reshard_needed",),
    backward=("reduction",),
    never=_NOWHERE,
)
def grid_of_two(a, b):
    x, y = jnp.meshgrid(a, b)
    return x + y


@operation(OPERATIONS, "each device makes its own part of the mask", array((16, 32), "data", "model"), never=_NOWHERE)
def upper_triangle(x):
    return jnp.triu(x)


@operation(
    OPERATIONS,
    "the mask is local; rows meet columns",
    array((16, 16), "data", "model"),
    array((16, 16), "model", "data"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def lower_triangle_of_a_product(x, y):
    return jnp.tril(x * y)


@operation(
    OPERATIONS,
    "pairs of columns are made of two arrays sharded alike: the pieces of one dimension merge with the new one",
    array((16, 32), "data", "model"),
    array((16, 32), "data", "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def interleave_columns(x, y):
    return jnp.stack([x, y], axis=-1).reshape(16, 64)


@operation(
    OPERATIONS,
    "a condition, a value and another, all sharded otherwise",
    array((16, 32), "data", None, dtype=jnp.bool_),
    array((16, 32), "model", None),
    array((16, 32), None, "model"),
    causes=("reshard_needed",),
    never=_NOWHERE,
)
def where_of_three(c, x, y):
    return jnp.where(c, x, y)


@operation(
    OPERATIONS,
    "limits are sharded along the dimension that x has whole",
    array((16, 32), "model", None),
    array((32,), "model"),
    causes=("reshard_needed",),
    backward=("reduction",),
    never=_NOWHERE,
)
def clip_by_limits(x, top):
    return jnp.clip(x, 0.0, top)
