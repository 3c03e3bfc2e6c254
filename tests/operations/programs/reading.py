"""Reading and writing by position: integer indexing, gathers, scatters, dynamic slices.

Not its job: programs as in training code (`everyday`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from causes.meshes import array

from operations.operation import LOOKS_UP, NEIGHBOURS, Operation, integers, operation

__all__ = ["OPERATIONS"]

OPERATIONS: list[Operation] = []

_POSITION = ("indexing", "halo")
"""One position known while tracing: JAX may lower it to a slice (halo) or to a dynamic slice (indexing)."""


@operation(
    OPERATIONS,
    "one row lies on one of four devices; the others need it",
    array((16, 32), "model", None),
    causes=_POSITION,
    never=NEIGHBOURS,
)
def row_of_constant_number(x):
    return x[3]


@operation(
    OPERATIONS,
    "one column lies on one device along model",
    array((16, 32), "data", "model"),
    causes=_POSITION,
    never=NEIGHBOURS,
)
def column_of_constant_number(x):
    return x[:, 5]


@operation(
    OPERATIONS,
    "the last row lies on the last device",
    array((16, 32), "model", None),
    causes=_POSITION,
    never=NEIGHBOURS,
)
def last_row(x):
    return x[-1]


@operation(
    OPERATIONS,
    "a row by a number known at run time",
    array((16, 32), "model", "data"),
    integers(()),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def row_by_number(x, i):
    return x[i]


@operation(
    OPERATIONS,
    "a column by a number known at run time",
    array((16, 32), "data", "model"),
    integers(()),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def column_by_number(x, i):
    return x[:, i]


@operation(
    OPERATIONS,
    "table and numbers are both sharded over model: devices look rows up in each other's pieces",
    array((64, 32), "model", None),
    integers((16,), "model"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def rows_by_numbers(x, idx):
    return x[idx]


@operation(
    OPERATIONS,
    "columns by number; the numbers have the axis that the rows have",
    array((16, 64), "data", "model"),
    integers((8,), "data"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def columns_by_numbers(x, idx):
    return x[:, idx]


@operation(
    OPERATIONS,
    "single elements by row and column",
    array((16, 32), "data", "model"),
    integers((16,), "model"),
    integers((16,), "data"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def elements_by_numbers(x, i, j):
    return x[i, j]


@operation(
    OPERATIONS,
    "the mask's rows are sharded over model, those of x over data",
    array((16, 32), "data", None),
    array((16,), "model", dtype=jnp.bool_),
    causes=("reshard_needed",),
    never=(*LOOKS_UP, *NEIGHBOURS),
)
def rows_by_mask(x, mask):
    return jnp.where(mask[:, None], x, 0.0)


@operation(
    OPERATIONS,
    "eight of sixteen rows: two on each device instead of four",
    array((16, 32), "model", None),
    causes=("halo",),
    never=LOOKS_UP,
)
def slice_of_rows(x):
    return x[2:10]


@operation(
    OPERATIONS,
    "every third row: the pieces no longer fall on the same devices",
    array((24, 32), "model", None),
    causes=("halo",),
    never=LOOKS_UP,
)
def every_third_row(x):
    return x[1::3]


@operation(
    OPERATIONS,
    "a new dimension, and a sum with an array whose rows are sharded over another axis",
    array((16,), "model"),
    array((16, 8), "data", "model"),
    causes=("reshard_needed",),
    backward=("reduction",),
    never=(*LOOKS_UP, *NEIGHBOURS),
)
def new_last_dimension(x, y):
    return x[..., None] + y


@operation(
    OPERATIONS,
    "columns by number from sharded columns",
    array((16, 64), "data", "model"),
    integers((8,)),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def take_columns(x, idx):
    return jnp.take(x, idx, axis=1)


@operation(
    OPERATIONS,
    "each row picks its columns: rows stay, columns are sharded",
    array((16, 64), "data", "model"),
    integers((16, 4), "data", None),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def take_along_columns(x, idx):
    return jnp.take_along_axis(x, idx, axis=1)


@operation(
    OPERATIONS,
    "a product with one-hot rows sums over the table's sharded rows",
    array((64, 32), "model", None),
    integers((16,), "data"),
    causes=("contraction",),
    never=LOOKS_UP,
)
def one_hot_product(table, idx):
    return jax.nn.one_hot(idx, 64) @ table


@operation(
    OPERATIONS,
    "updates are sharded over data, the rows they go to over model",
    array((64, 8), "model", None),
    integers((16,), "data"),
    array((16, 8), "data", None),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def set_rows(x, idx, v):
    return x.at[idx].set(v)


@operation(
    OPERATIONS,
    "each device adds its updates to a copy; copies are summed",
    array((64, 8)),
    integers((16,), "model"),
    array((16, 8), "model", None),
    causes=("indexing",),
    never=(*LOOKS_UP, *NEIGHBOURS),
)
def add_to_rows(x, idx, v):
    return x.at[idx].add(v)


@operation(
    OPERATIONS,
    "each device has the largest of its updates",
    array((64, 8)),
    integers((16,), "model"),
    array((16, 8), "model", None),
    causes=("indexing",),
    backward=("reduction",),
    never=(*LOOKS_UP, *NEIGHBOURS),
)
def max_into_rows(x, idx, v):
    return x.at[idx].max(v)


@operation(
    OPERATIONS,
    "the new row is sharded over model, the columns it goes to over data",
    array((16, 32), "model", "data"),
    array((32,), "model"),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def set_one_row(x, v):
    return x.at[3].set(v)


@operation(
    OPERATIONS,
    "columns by number are added to; columns are sharded",
    array((16, 32), "data", "model"),
    integers((4,)),
    array((16, 4), "data", None),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def add_to_columns(x, idx, v):
    return x.at[:, idx].add(v)


@operation(
    OPERATIONS,
    "where four rows start is known at run time",
    array((16, 32), "model", None),
    integers(()),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def dynamic_slice_of_rows(x, i):
    return jax.lax.dynamic_slice_in_dim(x, i, 4, axis=0)


@operation(
    OPERATIONS,
    "a block of rows and columns, both sharded",
    array((16, 32), "data", "model"),
    integers(()),
    integers(()),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def dynamic_slice_of_a_block(x, i, j):
    return jax.lax.dynamic_slice(x, (i, j), (4, 8))


@operation(
    OPERATIONS,
    "one position of a cache that is sharded along the sequence",
    array((8, 64, 16), "data", "model", None),
    array((8, 1, 16), "data", None, None),
    integers(()),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def update_one_position_of_a_cache(cache, new, i):
    return jax.lax.dynamic_update_slice_in_dim(cache, new, i, axis=1)


@operation(
    OPERATIONS,
    "four rows may lie across two devices",
    array((16, 32), "model", None),
    array((4, 32), None, "model"),
    integers(()),
    causes=("indexing", "reshard_needed"),
    never=NEIGHBOURS,
)
def update_four_rows(x, new, i):
    return jax.lax.dynamic_update_slice_in_dim(x, new, i, axis=0)


@operation(
    OPERATIONS,
    "one layer of stacked weights, stacked along a sharded dimension",
    array((8, 16, 32), "model", None, "data"),
    integers(()),
    causes=("indexing",),
    never=NEIGHBOURS,
)
def dynamic_index_of_layers(x, i):
    return jax.lax.dynamic_index_in_dim(x, i, 0, keepdims=False)
