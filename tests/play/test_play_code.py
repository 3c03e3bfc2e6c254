"""The code to write: what it says, and that it gives the variant's collectives when it is run."""

from __future__ import annotations

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
