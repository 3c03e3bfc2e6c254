"""The code to write: what it says, and that it gives the variant's collectives when it is run."""

from __future__ import annotations

from dataclasses import replace

import jax
import pytest
from jax.sharding import PartitionSpec as P
from what_if.programs import BUILDS

import pjit_inspect as pi
from play.steps import mlp, transformer
from play.written_code import run_written

NAMES = ("step transformer_scanned", "step experts", "rows_and_columns", "one_axis_on_both_free_dimensions")


@pytest.mark.parametrize("name", NAMES)
def test_written_code_gives_the_variants_collectives_when_run(name: str):
    jax.clear_caches()
    outcome = run_written(*BUILDS[name](), turn=NAMES.index(name))
    assert outcome.change
    assert outcome.found == outcome.wanted
    assert outcome.proof == "equal"


def test_changed_lines_are_marked_with_what_was_there():
    play = pi.playground(*_spread(mlp((2, 4), is_by_hand=True)))
    play.set(mesh={"data": 4, "model": 2}, specs={"params['w1']": P("data", "model")})
    code = play.code()
    assert code.text.splitlines()[5:12] == [
        "mesh = jax.make_mesh((4, 2), ('data', 'model'), axis_types=(AxisType.Auto,) * 2)  # was data=2, model=4",
        "",
        "specs = {",
        "    \"params['w1']\": P('data', 'model'),  # was P(None, 'model')",
        "    \"params['w2']\": P('model'),",
        "    'x': P('data'),",
        "}",
    ]
    assert "# was" not in code.plain
    assert [line.was for line in code.lines if line.is_changed] == ["data=2, model=4", "P(None, 'model')"]
    play.close()


def test_constraints_are_named_at_their_lines_and_proved_in_the_copy():
    play = pi.playground(*_spread(transformer((2, 4), is_by_hand=True)))
    place = play.controls.constraints[0].place
    play.set(constraints={place: P("data", "model", None)})
    play.wait()
    code = play.code(prove=True)
    asked = "P('data', None, None)"
    wanted = f"# {place}: with_sharding_constraint(..., NamedSharding(mesh, P('data', 'model', None)))  # was {asked}"
    assert code.text.splitlines()[-1] == wanted
    assert code.proof is not None
    assert code.proof.outcome == "equal"
    assert "constraints and results changed in the copy" in code.proof.sentence
    play.close()


def test_a_new_constraint_has_the_order_of_dimensions_of_the_source():
    """JAX writes such an einsum as a product with other dimensions, and a transpose of that."""
    play = pi.playground(*heads())
    subject = play.subject
    (pin,) = subject.pins(subject.roles())
    assert pin.shape == (16, 4, 8, 64)
    made = _made_by(subject.program, subject.places[pin.name])
    assert made != pin.shape
    setting = replace(subject.base, added=((pin.name, ("data", "model", None, None)),))
    assert "mesh, P('data', 'model', None, None)))" in str(subject.code(setting, 1))
    (edit,) = subject._edits(setting)
    assert dict(zip(made, edit.spec, strict=True)) == {16: ("data",), 4: ("model",), 8: (), 64: ()}
    play.close()


def test_a_new_constraint_under_vmap_says_which_dimensions_it_has():
    play = pi.playground(*heads(is_vmapped=True))
    subject = play.subject
    (pin,) = subject.pins(subject.roles())
    setting = replace(subject.base, added=((pin.name, ("data", None, None, None)),))
    assert "without the dimensions that `vmap` adds" in str(subject.code(setting, 1))
    play.close()


def heads(*, is_vmapped: bool = False) -> tuple[object, ...]:
    """What heads of attention are made of, with the heads outermost."""
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x, w = jax.numpy.ones((16, 8, 32)), jax.numpy.ones((32, 4, 64))

    def step(w, x):
        if is_vmapped:
            return jax.vmap(lambda one: jax.numpy.tanh(jax.numpy.einsum("sd,dhk->hsk", one, w)))(x)
        return jax.numpy.tanh(jax.numpy.einsum("bsd,dhk->bhsk", x, w))

    specs = (P(None, None, "model"), P("data"))
    return jax.jit(step), *(
        jax.device_put(own, jax.sharding.NamedSharding(mesh, spec)) for own, spec in zip((w, x), specs, strict=True)
    )


def _made_by(program, place) -> tuple[int, ...]:
    ((_, index, number),) = place.edits
    return program.values[program.ops[index].results[number]].shape


def test_what_cannot_be_traced_again_is_said_and_not_claimed():
    function, arguments = mlp((2, 4), is_by_hand=True)
    play = pi.inspect(jax.jit(function).trace(*arguments), effort="partition").playground()
    play.set(specs={"x": P()})
    play.wait()
    proof = play.code(prove=True).proof
    assert proof is not None
    assert (proof.outcome, proof.wanted) == ("untried", ())
    assert "the function is not at hand" in proof.sentence
    play.close()


def _spread(built):
    return built[0], *built[1]
