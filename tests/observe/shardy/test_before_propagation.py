"""What XLA rewrites before Shardy sees a program is rewritten before it is predicted, so both choose alike.

XLA is the witness: its own partitioner says how each value is sharded. In each program the rewrite decides: without it
another axis would win.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.observe.live.shardings import find_meshes
from pjit_inspect.observe.partitioner.service import ask_partitioner
from pjit_inspect.observe.shardy.numbering import read_places
from pjit_inspect.observe.shardy.propagation import propagate
from pjit_inspect.parse.hlo_proto.hlo import parse_program
from pjit_inspect.parse.sharding.propagated_hlo import NumberedNames, read_propagated_hlo

Program = Callable[..., Any]


def array(shape: tuple[int, ...], *spec: Any, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(mesh, PartitionSpec(*spec)))


def by_name(program: ShardedProgram) -> dict[tuple[str, tuple[int, ...]], set[Any]]:
    """JAX's name of an op and the shape it makes -> its specs."""
    found: dict[tuple[str, tuple[int, ...]], set[Any]] = defaultdict(set)
    for op in program.ops:
        for value in (program.values[index] for index in op.results):
            found[op.op_name, value.shape].add(value.spec)
    return found


def both(function: Program, *arguments: jax.ShapeDtypeStruct) -> tuple[Any, Any]:
    """The predicted shardings and XLA's, of the values that both have."""
    out = io.BytesIO()
    jax.jit(function).lower(*arguments).compiler_ir().operation.write_bytecode(file=out)
    predicted = propagate(out.getvalue())
    assert predicted is not None
    found = ask_partitioner(out.getvalue(), devices=8)
    module, names = parse_program(found.before), NumberedNames(read_places(found.places))
    theirs = by_name(read_propagated_hlo(module, find_meshes([arguments[0].sharding], ()), names=names).program)
    ours = by_name(predicted)
    joined = ours.keys() & theirs.keys()
    assert joined
    return {key: ours[key] for key in joined}, {key: theirs[key] for key in joined}


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (
            lambda e, t, w: e[t] @ w,
            (array((64, 32)), array((16,), "data", dtype=jnp.int32), array((32, 8), "data", None)),
        ),
        (lambda x, b: x + b, (array((16, 64), "data", None), array((64,), "data"))),
        (
            lambda x, s: x * jnp.mean(s, axis=-1, keepdims=True),
            (array((16, 64), None, "data"), array((16, 64), "data", None)),
        ),
        (lambda x, v: x @ v[:, None], (array((16, 64), "data", None), array((64,), "data"))),
    ],
    ids=["integer indices", "a bias", "keepdims", "a new axis"],
)
def test_a_broadcast_that_only_adds_dimensions_propagates_as_a_reshape(function: Program, arguments: Any) -> None:
    ours, theirs = both(function, *arguments)
    assert ours == theirs


@pytest.mark.parametrize(
    "function", [lambda x: jax.lax.erf(x) + 1, lambda x: jax.lax.erf(x) @ x.T], ids=["alone", "in a product"]
)
def test_erf_is_as_xla_has_it_on_this_version(function: Program) -> None:
    ours, theirs = both(function, array((8, 16), "data", "model"))
    assert ours == theirs
