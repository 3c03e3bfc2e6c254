"""What a dimension may be split over, with the arithmetic of what it may not."""

from __future__ import annotations

from pjit_inspect.analyze.play.choices import choices_of, division_problem

MESH = (("data", 2), ("model", 4))


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
