"""How a constraint on a value is told: the order of dimensions is that of the value's own text.

Not its job: whether the constraint helps (`tests/findings`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.analyze.advice.constraint_words import value_constraint_words
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.mesh import spec_text


def test_what_a_loop_carries_has_its_own_dimensions_and_not_those_of_its_first_result():
    """JAX counts turns in the first thing that a loop carries, a scalar."""
    mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))

    def run(w, xs):
        return jax.lax.scan(lambda w, x: (jnp.tanh(w @ x), None), w, xs)[0]

    def given(shape: tuple[int, ...], *spec: str) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    record = pi.inspect(run, given((64, 32), "data"), given((4, 32, 32)))
    names = ValueNames(record.propagation, record.data.sources)
    program = names.program
    carried = [
        index
        for index, value in enumerate(program.values)
        if value.op is not None and program.ops[value.op].kind == "while" and value.axes
    ]
    assert carried
    for index in carried:
        spec = program.values[index].spec
        words = value_constraint_words(names, index, spec, names.value(index))
        assert f"with_sharding_constraint(..., {spec_text(spec)})" in str(words)
