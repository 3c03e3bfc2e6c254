"""Every kind of advice that a suggestion can print appears for a program, is applied to it, compiled, and helps.

`record.suggestions` is what users get: XLA's partitioner has been asked about each. Not its job: what the model alone
says of options (`analyze/test_suggestions`).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from causes.corpus import CASES
from corpus.programs import PROGRAMS
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from observe.programs import compiled_with, copied

import pjit_inspect as pi
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.constraints import ConstraintOptions
from pjit_inspect.analyze.suggest.cost import cost_of
from pjit_inspect.errors import CaptureError
from pjit_inspect.handles import suggest
from pjit_inspect.model.report.suggestion import Suggestion
from pjit_inspect.parse.hlo_proto.hlo import parse_program

KIB = 1024


def named(*spec: Any) -> NamedSharding:
    return NamedSharding(Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model")), PartitionSpec(*spec))


def array(shape: tuple[int, ...], *spec: Any, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype, sharding=named(*spec))


def constrained(x: jax.Array, *spec: Any) -> jax.Array:
    return jax.lax.with_sharding_constraint(x, named(*spec))


def offered(title: str, function: Any, *arguments: Any, **options: Any) -> Suggestion:
    """The suggestion whose title contains the words, compiled."""
    record = pi.inspect(jax.jit(function, **options), *arguments)
    found = [one for one in record.suggestions if title in one.title]
    assert found, [one.title for one in record.suggestions]
    return found[0].check()


def helps(one: Suggestion) -> bool:
    """Whether both say so: XLA's partitioner when it was asked, and XLA when it compiled the changed program."""
    assert one.counted is not None
    assert one.checked is not None
    assert one.mark == "counted before optimization"
    return one.counted.verdict == one.checked.verdict == "helps"


# ---------------------------------------------------------------- arguments


def test_an_argument_without_an_axis() -> None:
    one = offered(
        "pass `w` as P(None, 'model')",
        lambda x, w: x @ w,
        array((512, 256), "data"),
        array((256, 128), "data", "model"),
    )
    assert helps(one)
    assert one.checked is not None
    assert one.checked.after_bytes == 0


def test_an_argument_with_an_axis_on_another_dimension() -> None:
    # Both are split where they are summed over and where they are kept: the axes meet on no side.
    one = offered(
        "pass `w` as", lambda x, w: x @ w, array((512, 256), "data", "model"), array((256, 512), "data", "model")
    )
    assert helps(one)


def test_two_weights_in_a_row() -> None:
    weights = {"w1": array((256, 1024), "model", None), "w2": array((1024, 256), None, "model")}
    one = offered(
        "pass `p['w1']` as P(None, 'model') and `p['w2']` as P('model', None)",
        lambda p, x: jnp.tanh(x @ p["w1"]) @ p["w2"],
        weights,
        array((512, 256), "data"),
        out_shardings=named("data", None),
    )
    assert helps(one)


# ---------------------------------------------------------------- what is asked for


def test_a_constraint_left_out() -> None:
    one = offered(
        "leave out the constraint",
        lambda x, w: jnp.tanh(constrained(x @ w, None, None)) * 2,
        array((512, 256), "data"),
        array((256, 512), None, "model"),
    )
    assert helps(one)


def gradient_of_a_replicated_product(x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.grad(lambda w: (jnp.tanh(constrained(x @ w, None, None)) ** 2).sum())(w)


def test_a_constraint_is_left_out_in_the_backward_pass_too() -> None:
    one = offered(
        "leave out the constraint",
        gradient_of_a_replicated_product,
        array((512, 256), "data"),
        array((256, 512), None, "model"),
    )
    # One line asks for two: what is computed, and its gradient.
    assert [edit.kind for edit in one.change] == ["remove", "remove"]
    assert "the gradient of" not in one.title
    assert helps(one)


def test_a_constraint_that_asks_for_what_there_is() -> None:
    # Leaving it out is one edit less and saves as much, so it is offered only where propagation would choose worse.
    record = pi.inspect(lambda x: jnp.tanh(constrained(x, None, "data")), array((64, 64), "data", None))
    program = copied(record.data).program
    options = ConstraintOptions(program, ValueNames(program)).find(cost_of(program, {}, is_cpu=True))
    one = next(option for option in options if option.title.startswith("constrain to P('data', None)"))
    assert one.words.startswith("ask for `P('data', None)` instead of `P(None, 'data')`")
    changed = parse_program(compiled_with(record.data, one.edits))
    assert record.collectives
    assert not find_collectives(changed)


def test_a_result_as_it_is_computed() -> None:
    one = offered(
        "let `result` be P('data', 'model')",
        lambda x, w: x @ w,
        array((512, 256), "data"),
        array((256, 512), None, "model"),
        out_shardings=named(None, None),
    )
    assert helps(one)


# ---------------------------------------------------------------- new constraints


def test_a_step_in_between() -> None:
    one = offered(
        "go through `P('data', None, 'model')`",
        lambda x: constrained(x * 2, ("data", "model"), None, None),
        array((16, 64, 64), None, "data", "model"),
    )
    assert helps(one)


@pytest.mark.parametrize("name", ["one_hot_embedding", "involuntary_full_rematerialization"])
def test_an_array_is_made_as_it_is_needed_later(name: str) -> None:
    function, arguments = next(case for case in CASES if case.name == name).build()
    found = [one for one in pi.inspect(function, *arguments).suggestions if one.title.startswith("constrain `")]
    assert {edit.kind for one in found for edit in one.change} == {"constrain"}
    assert all(helps(one.check()) for one in found)


def test_the_axis_of_the_batch_is_kept_where_tokens_are_looked_up() -> None:
    one = _of_corpus("fsdp_tp_decoder", "constrain `params")
    assert one.title.endswith("to P('fsdp', None, None)")
    assert helps(one)
    assert one.checked is not None
    # Everything after the lookup was exchanged: less than half is left.
    assert 2 * one.checked.after_bytes < one.checked.before_bytes
    assert "binds its gradient too" in one.sentence


@pytest.mark.parametrize("name", ["llama_like"])
def test_it_is_so_for_the_other_ordinary_steps(name: str, pytestconfig: pytest.Config) -> None:
    if not pytestconfig.getoption("--all"):
        pytest.skip("with --all")
    one = _of_corpus(name, "constrain `params")
    assert helps(one)


def _of_corpus(name: str, title: str) -> Suggestion:
    program = next(program for program in PROGRAMS if program.name == name)
    function, arguments = program.build()
    record = pi.inspect(function, *arguments)
    found = [one for one in record.suggestions if title in one.title]
    assert found, [one.title for one in record.suggestions]
    return found[0].check()


# ---------------------------------------------------------------- when XLA is not asked


def test_where_xla_gives_no_answer_there_are_none_and_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_answer(*_: Any) -> Any:
        raise CaptureError("no answer")

    monkeypatch.setattr(suggest.Trials, "count", no_answer)
    record = pi.inspect(lambda x, w: x @ w, array((512, 256), "data"), array((256, 128), "data", "model"))
    assert (len(record.suggestions), record.suggestions.untried) == (0, "no answer")


def test_figures_that_were_counted_say_so() -> None:
    record = pi.inspect(lambda x, w: x @ w, array((512, 256), "data"), array((256, 128), "data", "model"))
    (one,) = record.suggestions
    # The shard of w, 128 x 32 floats, goes to the one other device along `data`.
    assert one.modelled_bytes == -16 * KIB
    assert "counted before optimization: -16 KiB" in str(one)
    assert "XLA's partitioner then makes each device send 16 KiB less per call" in one.sentence
    assert one.removes == ("all-gather",)
