"""One sharding must become another: because the user asks, an operand does not fit, or the result must be so."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.lax import with_sharding_constraint

from causes.case import A2A, AG, CP, Case, Want, case
from causes.meshes import LINE, array, named

CASES: list[Case] = []

SOME_MOVE = f"{AG}|{A2A}|{CP}"
SOME_AXES = "data|model|data model"


@case(
    CASES,
    "x has model on its rows, y on its columns: one must take the other's",
    Want(f"{A2A}|{AG}", "model", "reshard_needed", at="add"),
)
def sum_of_rows_and_columns():
    def f(x, y):
        return x + y  # @add

    return jax.jit(f), (array((16, 32), "model", None), array((16, 32), None, "model"))


@case(CASES, "data on the rows and model on the columns fit together: both operands are sliced")
def sum_of_shardings_that_fit():
    def f(x, y):
        return x + y

    return jax.jit(f), (array((16, 32), "data", None), array((16, 32), None, "model"))


@case(
    CASES,
    "the same dimension is split two ways in x and four ways in y",
    Want(SOME_MOVE, SOME_AXES, "reshard_needed", at="add"),
)
def sum_of_one_dimension_split_differently():
    def f(x, y):
        return x + y  # @add

    return jax.jit(f), (array((16, 32), "data", None), array((16, 32), "model", None))


@case(CASES, "the bias is replicated; every device slices its part")
def replicated_bias():
    def f(x, b):
        return x + b

    return jax.jit(f), (array((16, 32), "data", "model"), array((32,)))


@case(
    CASES,
    "every device holds one block before and after, only of other rows: blocks are exchanged pairwise",
    Want(CP, "data model", "reshard_requested", at="swap"),
)
def order_of_two_axes():
    def f(x):
        return with_sharding_constraint(x * 2, named(("model", "data"), None))  # @swap

    return jax.jit(f), (array((16, 8), ("data", "model"), None),)


@case(
    CASES,
    "model moves from columns to rows (all-to-all); there it comes before data, which permutes blocks",
    Want(A2A, "model", "reshard_requested", at="merge"),
    Want(CP, "data model", "reshard_requested", at="merge"),
)
def two_dimensions_onto_one():
    def f(x):
        return with_sharding_constraint(x * 2, named(("model", "data"), None))  # @merge

    return jax.jit(f), (array((16, 8), "data", "model"),)


@case(
    CASES,
    "the constraint moves model from rows to columns; that XLA may name it after tanh does not change who asked",
    Want(A2A, "model", "reshard_requested", at="ask"),
)
def constraint_behind_tanh():
    def f(x):
        y = jnp.tanh(x)
        return with_sharding_constraint(y, named(None, "model"))  # @ask

    return jax.jit(f), (array((16, 8), "model", None),)


@case(CASES, "the user asks for the whole array everywhere", Want(AG, "model", "reshard_requested", at="ask"))
def constraint_to_replicated():
    def f(x):
        y = with_sharding_constraint(jnp.tanh(x), named(None, None))  # @ask
        return y * 2

    return jax.jit(f), (array((16, 8), "model", None),)


@case(CASES, "from replicated to split, everybody keeps a slice")
def constraint_that_only_slices():
    def f(x):
        return with_sharding_constraint(jnp.tanh(x), named("data", "model"))

    return jax.jit(f), (array((16, 8)),)


@case(
    CASES, "the constraint is in a function called by the jitted one", Want(AG, "data", "reshard_requested", at="ask")
)
def constraint_in_an_inner_function():
    @jax.jit
    def inner(x):
        return with_sharding_constraint(jnp.sin(x), named(None, "model"))  # @ask

    def f(x):
        return inner(x) * 2

    return jax.jit(f), (array((16, 8), "data", "model"),)


@case(
    CASES,
    "two hops asked for by the user: model leaves the columns for the rows, then everything is gathered",
    Want(A2A, "model", "reshard_requested", at="first"),
    Want(AG, "model", "reshard_requested", at="second"),
)
def two_constraints_in_a_row():
    def f(x):
        y = with_sharding_constraint(jnp.sin(x), named("model", None))  # @first
        return with_sharding_constraint(jnp.cos(y), named(None, None))  # @second

    return jax.jit(f), (array((16, 32), None, "model"),)


@case(
    CASES,
    "forward the user asks for rows; backward the cotangent (rows) meets cos(x) (columns), as the result",
    Want(A2A, "model", "reshard_requested", at="ask"),
    Want(A2A, "model", "reshard_needed", at="sin", phase="backward"),
)
def gradient_of_a_constraint():
    def loss(x, y):
        rows = jnp.sin(x)  # @sin
        rows = with_sharding_constraint(rows, named("model", None))  # @ask
        return jnp.sum(jnp.tanh(rows) * y)

    arguments = array((16, 32), None, "model"), array((16, 32), "model", None)
    return jax.jit(jax.grad(loss), out_shardings=named(None, "model")), arguments


@case(
    CASES,
    "the user's out_shardings want every device to have all of it",
    Want(AG, SOME_AXES, "output", at="out"),
)
def output_replicated():
    def f(x):
        return jnp.tanh(x) * 2  # @out

    return jax.jit(f, out_shardings=named()), (array((16, 8), "data", "model"),)


@case(CASES, "the result is wanted split by columns but is split by rows", Want(A2A, "model", "output", at="out"))
def output_split_differently():
    def f(x):
        return jnp.tanh(x) * 2  # @out

    return jax.jit(f, out_shardings=named(None, "model")), (array((16, 8), "model", None),)


@case(CASES, "the same blocks on other devices", Want(CP, "data model", "output", at="out"))
def output_order_of_axes():
    def f(x):
        return jnp.tanh(x) * 2  # @out

    return jax.jit(f, out_shardings=named(("model", "data"), None)), (array((16, 8), ("data", "model"), None),)


@case(
    CASES,
    "the transpose has x on its columns; the result is wanted with x on its rows",
    Want(A2A, "x", "output", at="out"),
)
def output_of_a_transpose():
    def f(x):
        return x.T  # @out

    split = named("x", None, mesh=LINE)
    return jax.jit(f, out_shardings=split), (array((16, 32), "x", None, mesh=LINE),)


@case(CASES, "only one of two results is wanted whole", Want(AG, "model", "output", at="whole"))
def one_of_two_outputs():
    def f(x):
        y = jnp.sin(x)
        return y, jnp.cos(x)  # @whole

    return jax.jit(f, out_shardings=(named("model"), named())), (array((16,), "model"),)


@case(
    CASES,
    "15 rows do not divide by 4, and nobody said how they shall lie: JAX returns them replicated",
    Want(AG, "model", "output", at="out"),
)
def output_that_does_not_divide():
    def f(x):
        return jnp.tanh(x[:15])  # @out

    return jax.jit(f), (array((16, 8), "model", None),)


@case(CASES, "16 rows over model are 4 x 4: the first of the new dimensions is split")
def reshape_splits_evenly():
    def f(x):
        return x.reshape(4, 4, 8) * 2

    return jax.jit(f), (array((16, 8), "model", None),)


@case(
    CASES,
    "24 rows over 4 devices are 6 each, but the new dimensions are 3 and 8: no split of 3 by 4 exists",
    Want(AG, "model", "reshard_needed", at="reshape"),
)
def reshape_splits_unevenly():
    def f(x):
        return x.reshape(3, 8, 4) * 2  # @reshape

    return jax.jit(f), (array((24, 4), "model", None),)


@case(CASES, "the merged dimension is split like its major part")
def reshape_merges_the_major_part():
    def f(x):
        return x.reshape(64, 8) * 2

    return jax.jit(f), (array((4, 16, 8), "model", None, None),)


@case(
    CASES,
    "the minor part is split: its pieces are no contiguous blocks of the merged dimension",
    Want(f"{AG}|{A2A}", "model", "reshard_needed", at="reshape"),
)
def reshape_merges_the_minor_part():
    def f(x):
        return x.reshape(128) * 2  # @reshape

    return jax.jit(f), (array((8, 16), None, "model"),)


@case(CASES, "a transpose is a relabelling of dimensions")
def transpose_is_free():
    def f(x):
        return jnp.transpose(x, (2, 0, 1)) * 2

    return jax.jit(f), (array((8, 4, 16), "data", None, "model"),)


@case(CASES, "each device draws its own block of random bits from the same key")
def random_bits():
    def f(key):
        return jax.random.uniform(key, (16, 32))

    return jax.jit(f, out_shardings=named("data", "model")), (array((2,), dtype=jnp.uint32),)


@case(
    CASES,
    "both axes leave their dimensions for a third: XLA has no such step; it warns, gathers everything and slices",
    Want(AG, SOME_AXES, "full_replication", at="ask"),
)
def involuntary_full_rematerialization():
    def f(x):
        y = jnp.tanh(x)
        return with_sharding_constraint(y, named(("data", "model"), None, None)) * 2  # @ask

    return jax.jit(f), (array((8, 8, 8), None, "data", "model"),)


@case(
    CASES,
    "a constraint asked for by the user in the middle; the result's own wish (P()) is another reason",
    Want(A2A, "model", "reshard_requested", at="ask"),
    Want(AG, "model", "output", at="out"),
)
def constraint_and_output():
    def f(x):
        y = with_sharding_constraint(jnp.tanh(x), named(None, "model"))  # @ask
        return jnp.sin(y)  # @out

    return jax.jit(f, out_shardings=named()), (array((16, 8), "model", None),)


@case(
    CASES,
    "data and model change places: no single collective does that, so XLA takes several steps",
    Want(SOME_MOVE, f"{SOME_AXES}|model:(1)2|model:(2)2", "reshard_requested", at="ask"),
    revised="steps along axes, or full replication; XLA also exchanges within halves of model",
)
def two_axes_change_places():
    def f(x):
        return with_sharding_constraint(jnp.tanh(x), named("model", "data"))  # @ask

    return jax.jit(f), (array((16, 8), "data", "model"),)
