"""A program traced with Explicit axes, which `jax.make_mesh` makes since JAX 0.10: what can be changed and what not."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError


@pytest.fixture(scope="module")
def play() -> Iterator[pi.Playground]:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)

    def array(*shape: int, spec: P) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))

    def mlp(x, w1, w2):
        hidden = jax.nn.relu(jnp.dot(x, w1, out_sharding=P("data", "model")))
        return jnp.dot(hidden, w2, out_sharding=P("data", None))

    with jax.set_mesh(mesh):
        own = pi.playground(
            jax.jit(mlp),
            array(64, 32, spec=P("data", None)),
            array(32, 128, spec=P(None, "model")),
            array(128, 32, spec=P("model", None)),
        )
    own.wait()
    yield own
    own.close()


def test_every_other_choice_is_grey_and_says_why(play):
    choices = [choice for group in play.controls.groups for row in group.choices for choice in row]
    choices += [choice for result in play.controls.results for row in result.choices for choice in row]
    others = [choice for choice in choices if not choice.is_chosen]
    assert others
    assert not any(choice.allowed for choice in others)
    assert {choice.why_not for choice in others} == {
        "traced with Explicit axes (data, model), so specs are part of the program: trace it with others"
    }


def test_no_preset_is_one_and_each_says_why(play):
    assert all("Explicit axes" in own.why_not for own in play.presets)
    with pytest.raises(ChangeError, match="Explicit axes"):
        play.apply("FSDP")


def test_the_mesh_can_be_changed_where_its_sizes_divide(play):
    play.set(mesh={"data": 4, "model": 2})
    assert play.wait().stage == "partitioned"


def test_the_written_code_makes_a_mesh_of_explicit_axes_in_whose_context_the_function_is_called():
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Explicit, AxisType.Auto))

    def product(x, w):
        return jnp.dot(x, w, out_sharding=P("data", None))

    with jax.set_mesh(mesh):
        arrays = [
            jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))
            for shape, spec in (((64, 32), P("data", None)), ((32, 128), P(None, None)))
        ]
        own = pi.playground(jax.jit(product), *arrays)
    own.set(mesh={"data": 4, "model": 2})
    own.wait()
    code = own.code().plain
    own.close()
    assert "jax.make_mesh((4, 2), ('data', 'model'), axis_types=(AxisType.Explicit, AxisType.Auto))" in code
    before = jax.sharding.get_mesh()
    names = {"x": jnp.ones((64, 32)), "w": jnp.ones((32, 128))}
    try:
        exec(compile(code, "written", "exec"), names)
        found = jax.jit(product).lower(names["x"], names["w"]).out_info
    finally:
        jax.set_mesh(before)
    assert (found.sharding.spec[0], dict(found.sharding.mesh.shape)) == ("data", {"data": 4, "model": 2})
