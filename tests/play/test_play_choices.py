"""What a dimension may be split over, with the arithmetic of what it may not; what is refused, and what to do then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import pjit_inspect as pi
from pjit_inspect.analyze.play.choices import choices_of, division_problem
from pjit_inspect.errors import CaptureError

MESH = (("data", 2), ("model", 4))
P = jax.sharding.PartitionSpec


def test_each_axis_and_both_in_either_order_are_offered():
    first, second = choices_of((16, 32), (None, "model"), MESH)
    assert [choice.axes for choice in first] == [(), ("data",), ("model",), ("data", "model"), ("model", "data")]
    assert [choice.axes for choice in second if choice.is_chosen] == [("model",)]


def test_what_another_dimension_has_is_not_allowed_and_says_so():
    first, _ = choices_of((16, 32), (None, "model"), MESH)
    refused = {choice.axes: choice.why_not for choice in first if not choice.allowed}
    assert refused == {
        ("model",): "model already splits dimension 1",
        ("data", "model"): "model already splits dimension 1",
        ("model", "data"): "model already splits dimension 1",
    }


def test_what_does_not_divide_says_the_arithmetic():
    (choices,) = choices_of((6,), (None,), MESH)
    why = {choice.axes: choice.why_not for choice in choices}
    assert why[("data",)] == ""
    assert why[("model",)] == "6 / 4 = 1.50: does not divide"
    assert why[("data", "model")] == "6 / 8 = 0.75: does not divide"


def test_a_constraint_may_be_padded():
    (choices,) = choices_of((6,), (None,), MESH, must_divide=False)
    padded = next(choice for choice in choices if choice.axes == ("model",))
    assert (padded.allowed, padded.why_not) == (True, "6 / 4 = 1.50: is padded")


def test_axes_of_one_device_are_not_offered():
    (choices,) = choices_of((8,), (None,), (("data", 1), ("model", 4)))
    assert [choice.axes for choice in choices] == [(), ("model",)]


def test_a_spec_that_does_not_divide_is_a_problem():
    assert division_problem((16, 6), (None, "model"), dict(MESH)) == "dimension 1: 6 / model=4 = 1.50, does not divide"
    words = "dimension 0: 12 / (data=2 x model=4) = 1.50, does not divide"
    assert division_problem((12,), (("data", "model"),), dict(MESH)) == words
    assert division_problem((16, 8), (None, "model"), dict(MESH)) == ""


@pytest.fixture
def play() -> Iterator[Any]:
    """`x @ w` on 2 x 4 devices, `w` split over both axes."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    place = lambda shape, *spec: jax.ShapeDtypeStruct(  # noqa: E731
        shape, jnp.float32, sharding=jax.sharding.NamedSharding(mesh, P(*spec))
    )
    own = pi.playground(jax.jit(lambda x, w: x @ w), place((16, 32), "data"), place((32, 64), "data", "model"))
    own.wait()
    yield own
    own.close()


def test_meshes_of_as_many_devices_come_first(play: Any):
    problem = play.set(mesh={"data": 32, "model": 2}).problem
    # 16 rows over 32 devices; 64 devices that divide: 16 x 4 is the nearest.
    assert problem.meshes[0] == (("data", 16), ("model", 4))


def test_where_none_of_as_many_devices_divides_one_axis_is_a_little_other(play: Any):
    problem = play.set(mesh={"data": 4, "model": 3}).problem
    # 64 columns over 3: no mesh of 12 devices divides 16, 32 and 64, and 4 is nearer to 3 than 2 is.
    assert problem.meshes == ((("data", 4), ("model", 4)), (("data", 4), ("model", 2)))
    assert problem.remedy.startswith("take a mesh data=4 x model=4 or data=4 x model=2")


def test_a_mesh_of_one_wrong_axis_of_many_devices_is_refused_at_once(play: Any):
    problem = play.set(mesh={"data": 1, "model": 1_000_003}).problem
    assert problem is not None
    assert problem.meshes == ()


def test_a_closed_playground_looks_at_what_was_answered_and_says_why_it_waits_no_more(play: Any):
    play.set(mesh={"data": 4, "model": 2})
    play.wait()
    asked = play.set(mesh={"data": 4, "model": 4})
    play.close()
    assert asked.number == 2
    assert play.is_closed
    # The one that nobody will answer any more is not looked at.
    assert play.variant.is_answered
    assert play.set(mesh={"data": 1, "model": 1}).stage == "arguments"
    with pytest.raises(CaptureError, match="this playground was closed"):
        play.wait()
    assert play.go_back(0).number == 0
    assert play.go_back(1).sent_bytes is not None


def test_the_page_of_a_closed_playground_says_so(play: Any):
    state = lambda: json.loads(play.widget._state)  # noqa: E731
    assert state()["closed"] == ""
    play.set(mesh={"data": 4, "model": 4})
    play.close()
    assert state()["closed"].startswith("Closed")
    assert [one["state"] for one in state()["stages"]][1:] == ["done", "todo"]


def test_a_message_of_the_page_is_drawn_once(play: Any):
    live = play._made_live()
    drawn = list[int]()
    draw = live._draw
    live._draw = lambda: (drawn.append(1), draw())
    play.go_back(0)
    drawn.clear()
    live._asked(play.widget, {"type": "set", "seq": 1, "mesh": [["data", 32], ["model", 2]]})
    assert play.variant.stage == "refused"
    assert len(drawn) == 1
