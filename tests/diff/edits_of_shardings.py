"""Pairs whose shardings differ: specs of arguments and results, constraints, meshes, what is written in `shard_map`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from causes.case import A2A, AG, AR, CP, RS
from causes.meshes import LINE, MESH, array, named
from jax.lax import with_sharding_constraint
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from diff.pair import ADDED, CHANGED, REMOVED, Build, EditPair, Move, pair

__all__ = ["PAIRS"]

PAIRS: list[EditPair] = []

Both = tuple[Build, Build]


def line(shape: tuple[int, ...], *spec: object, dtype: object = jnp.float32) -> jax.ShapeDtypeStruct:
    return array(shape, *spec, mesh=LINE, dtype=dtype)


@pair(
    PAIRS,
    "a product whose contracted dimension becomes sharded on both sides sums over that axis",
    Move(ADDED, AR, "model", because="x"),
)
def contracted_dimension_sharded() -> Both:
    def step(x, w):
        return x @ w

    f = jax.jit(step)
    return (
        lambda: (f, (array((64, 256), "data", None), array((256, 512)))),
        lambda: (f, (array((64, 256), "data", "model"), array((256, 512), "model", None))),
    )


@pair(PAIRS, "the same edit taken back", Move(REMOVED, AR, "model", because="x"))
def contracted_dimension_replicated() -> Both:
    before, after = contracted_dimension_sharded()
    return after, before


@pair(
    PAIRS,
    "a weight sharded over the batch's axis is gathered before the product; replicated it need not be",
    Move(REMOVED, AG, "x", because="w"),
)
def weight_no_longer_gathered() -> Both:
    def step(x, w):
        return jnp.tanh(x @ w)

    f = jax.jit(step)
    x = line((64, 256), "x", None)
    return lambda: (f, (x, line((256, 512), "x", None))), lambda: (f, (x, line((256, 512))))


@pair(
    PAIRS,
    "of two gathered weights one becomes replicated: its gather goes, that of the other stays",
    Move(REMOVED, AG, "x", because="w1"),
)
def one_of_two_weights() -> Both:
    def step(x, w1, w2):
        h = jnp.tanh(x @ w1)
        return h @ w2

    f = jax.jit(step)
    x, w2 = line((64, 128), "x", None), line((256, 128), "x", None)
    return lambda: (f, (x, line((128, 256), "x", None), w2)), lambda: (f, (x, line((128, 256)), w2))


@pair(
    PAIRS,
    "rows then columns become columns then rows: the sum after the first product goes, one after the second comes",
    Move(REMOVED, AR, "model"),
    Move(ADDED, AR, "model"),
)
def megatron_turned() -> Both:
    def step(x, w1, w2):
        h = jnp.tanh(x @ w1)
        return h @ w2

    f = jax.jit(step)
    x = array((64, 256), "data", None)
    return (
        lambda: (f, (array((64, 256), "data", "model"), array((256, 512), "model", None), array((512, 256)))),
        lambda: (f, (x, array((256, 512), None, "model"), array((512, 256), "model", None))),
    )


@pair(
    PAIRS,
    "a constraint asks for the whole array in the middle of elementwise work",
    Move(ADDED, AG, "x", because="constraint"),
)
def constraint_added() -> Both:
    def before():
        def step(x):
            y = jnp.tanh(x)
            return jnp.sin(y)

        return jax.jit(step), (line((64, 128), "x", None),)

    def after():
        def step(x):
            y = jnp.tanh(x)
            y = with_sharding_constraint(y, named(None, None, mesh=LINE))
            return jnp.sin(y)

        return jax.jit(step), (line((64, 128), "x", None),)

    return before, after


@pair(PAIRS, "the constraint is taken away again", Move(REMOVED, AG, "x", because="constraint"))
def constraint_removed() -> Both:
    before, after = constraint_added()
    return after, before


@pair(
    PAIRS,
    "a constraint to the whole array becomes one to the other dimension: all-to-all in place of all-gather",
    Move(REMOVED, AG, "x", because="constraint"),
    Move(ADDED, A2A, "x", because="constraint"),
)
def constraint_changed() -> Both:
    def with_spec(*spec):
        def step(x):
            y = jnp.tanh(x)
            y = with_sharding_constraint(y, named(*spec, mesh=LINE))
            return jnp.sin(y)

        return jax.jit(step), (line((64, 128), "x", None),)

    return lambda: with_spec(None, None), lambda: with_spec(None, "x")


@pair(PAIRS, "a result asked for whole must be gathered", Move(ADDED, AG, "x", because="result"))
def result_asked_whole() -> Both:
    def step(x):
        return jnp.tanh(x)

    x = line((64, 128), "x", None)
    return (
        lambda: (jax.jit(step, out_shardings=named("x", None, mesh=LINE)), (x,)),
        lambda: (jax.jit(step, out_shardings=named(None, None, mesh=LINE)), (x,)),
    )


@pair(
    PAIRS,
    "a sum over the rows needs no exchange once the columns are what is split",
    Move(REMOVED, AR, "x", because="x"),
)
def reduced_dimension_replicated() -> Both:
    def step(x):
        return (x * x).sum(axis=0)

    f = jax.jit(step)
    return lambda: (f, (line((64, 128), "x", None),)), lambda: (f, (line((64, 128), None, "x"),))


@pair(
    PAIRS,
    "a softmax over a sharded dimension takes a maximum and a sum; over a dimension of one device neither",
    Move(REMOVED, AR, "x", 2, because="x"),
)
def softmax_over_a_sharded_dimension() -> Both:
    def step(x):
        return jax.nn.softmax(x, axis=-1)

    f = jax.jit(step)
    return lambda: (f, (line((64, 128), None, "x"),)), lambda: (f, (line((64, 128), "x", None),))


@pair(
    PAIRS,
    "rows looked up in a table that is split along them are summed over the axis; in a replicated one they are there",
    Move(REMOVED, AR, "x", because="table"),
)
def table_replicated() -> Both:
    def step(table, tokens):
        return table[tokens]

    f = jax.jit(step)
    tokens = line((32,), dtype=jnp.int32)
    return lambda: (f, (line((1024, 64), "x", None), tokens)), lambda: (f, (line((1024, 64)), tokens))


@pair(
    PAIRS,
    "the axes change sizes: the same sum runs over groups of 2 in place of 4, of arrays of another shape",
    Move(CHANGED, AR, "model"),
)
def mesh_transposed() -> Both:
    def step(x, w1, w2):
        h = jnp.tanh(x @ w1)
        return h @ w2

    f = jax.jit(step)

    def on(shape):
        mesh = Mesh(np.array(jax.devices()).reshape(shape), ("data", "model"))
        specs = ((64, 256), ("data", None)), ((256, 512), (None, "model")), ((512, 256), ("model", None))
        return f, tuple(array(size, *spec, mesh=mesh) for size, spec in specs)

    return lambda: on((2, 4)), lambda: on((4, 2))


@pair(
    PAIRS,
    "the devices of the mesh stand in another order: groups follow the same axes",
)
def devices_in_another_order() -> Both:
    def step(x, w1, w2):
        h = jnp.tanh(x @ w1)
        return h @ w2

    f = jax.jit(step)

    def on(order):
        mesh = Mesh(np.array(jax.devices())[order].reshape(2, 4), ("data", "model"))
        specs = ((64, 256), ("data", None)), ((256, 512), (None, "model")), ((512, 256), ("model", None))
        return f, tuple(array(size, *spec, mesh=mesh) for size, spec in specs)

    return lambda: on([0, 1, 2, 3, 4, 5, 6, 7]), lambda: on([3, 1, 7, 5, 0, 2, 6, 4])


def _mapped(function, *arguments, out, mesh=MESH, specs=None, check_vma=True):
    specs = tuple(own.sharding.spec for own in arguments) if specs is None else specs
    mapped = jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=out, check_vma=check_vma)

    def step(*given):
        return mapped(*given)

    return jax.jit(step), arguments


@pair(
    PAIRS,
    "a written sum over the other axis is another sum",
    Move(REMOVED, AR, "data"),
    Move(ADDED, AR, "model"),
)
def written_axis_changed() -> Both:
    x = array((64, 128), "data", "model")
    return (
        lambda: _mapped(lambda x: jax.lax.psum(x, "data"), x, out=P(None, "model")),
        lambda: _mapped(lambda x: jax.lax.psum(x, "model"), x, out=P("data", None)),
    )


@pair(
    PAIRS,
    "a written sum that is scattered at once is another kind",
    Move(REMOVED, AR, "x"),
    Move(ADDED, RS, "x"),
)
def sum_becomes_scattered_sum() -> Both:
    x = line((64, 128), "x", None)
    return (
        lambda: _mapped(lambda x: jax.lax.psum(x, "x"), x, out=P(None, None), mesh=LINE),
        lambda: _mapped(lambda x: jax.lax.psum_scatter(x, "x", tiled=True), x, out=P("x", None), mesh=LINE),
    )


@pair(PAIRS, "a ring that goes two devices on: the same exchange between other pairs", Move(CHANGED, CP, "x"))
def ring_goes_farther() -> Both:
    def shifted(by):
        pairs = [(k, (k + by) % 8) for k in range(8)]
        return _mapped(
            lambda x: jax.lax.ppermute(x, "x", pairs), line((64, 128), "x", None), out=P("x", None), mesh=LINE
        )

    return lambda: shifted(1), lambda: shifted(2)


@pair(PAIRS, "whether values are checked to be equal on devices changes names of primitives, not the program")
def check_vma_switched() -> Both:
    def mapped(check_vma):
        def part(x):
            y = jnp.tanh(x)
            return jax.lax.psum(y, "x")

        return _mapped(part, line((64, 128), "x", None), out=P(None, None), mesh=LINE, check_vma=check_vma)

    return lambda: mapped(True), lambda: mapped(False)


@pair(
    PAIRS,
    "one of two sums goes, that of the line whose operands are replicated now",
    Move(REMOVED, AR, "x", because="b"),
)
def one_of_two_sums() -> Both:
    def step(a, b):
        first = jnp.sin(a).sum(axis=0)
        second = jnp.cos(b).max(axis=0)
        return first, second

    f = jax.jit(step)
    a = line((64, 128), "x", None)
    return lambda: (f, (a, line((64, 96), "x", None))), lambda: (f, (a, line((64, 96))))


@pair(
    PAIRS,
    "an activation is gathered at the line where a weight of the same shape was: another value, so one gone, one new",
    Move(REMOVED, AG, "x", because="b"),
    Move(ADDED, AG, "x", because="a"),
)
def another_operand_gathered() -> Both:
    def step(a, b):
        return with_sharding_constraint(a @ b, NamedSharding(LINE, P(None, None)))

    def before():
        return jax.jit(step), (line((256, 256)), line((256, 256), None, "x"))

    return before, lambda: (jax.jit(step), (line((256, 256), "x", None), line((256, 256))))


def _of_mesh(names: tuple[str, str], shape: tuple[int, int] = (2, 4)):
    """A step with a gather over the first axis, a sum over the second, and a constraint, on a mesh of these names."""
    one, two = names
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(shape), names)

    def step(x, w):
        h = with_sharding_constraint(jnp.tanh(x) @ w, NamedSharding(mesh, P(one, None)))
        return with_sharding_constraint(h, NamedSharding(mesh, P()))

    return jax.jit(step), (array((64, 256), one, two, mesh=mesh), array((256, 512), two, None, mesh=mesh))


@pair(
    PAIRS, "mesh axes of other names over the same devices: the same collectives, over axes that are called otherwise"
)
def axes_renamed() -> Both:
    return lambda: _of_mesh(("data", "model")), lambda: _of_mesh(("fsdp", "tensor"))


@pair(
    PAIRS,
    "the same names over other devices: the sum and the gather have groups of another size, and move other shapes",
    Move(CHANGED, AR, "model"),
    Move(CHANGED, AG, "data"),
)
def mesh_turned() -> Both:
    return lambda: _of_mesh(("data", "model")), lambda: _of_mesh(("data", "model"), (4, 2))
