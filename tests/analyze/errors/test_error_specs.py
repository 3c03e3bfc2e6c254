"""The arithmetic of explained errors: what divides, by brute force."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.analyze.errors.specs import fitting_entries, reshard_words, usable_axes, without_repeats
from pjit_inspect.model.program.mesh import MeshAxes, axes_of

AXES = (("a", 2), ("b", 3), ("c", 4))


@given(st.integers(0, 200))
def test_the_entries_that_fit_are_exactly_the_products_that_divide(length):
    found = {axes_of(entry) for entry in fitting_entries(length, AXES)}
    expected = {
        tuple(name for name, _ in chosen)
        for count in (1, 2, 3)
        for chosen in itertools.combinations(AXES, count)
        if length % math.prod(size for _, size in chosen) == 0
    }
    assert found == expected


def test_entries_of_most_parts_come_first():
    # 24 = 2 x 3 x 4; 3 x 4 = 12; 2 x 4 = 8; 2 x 3 = 6
    assert fitting_entries(24, AXES) == [("a", "b", "c"), ("b", "c"), ("a", "c"), ("a", "b"), "c", "b", "a"]
    assert fitting_entries(5, AXES) == []


def test_axes_of_one_device_and_of_another_type_are_not_offered():
    mesh = MeshAxes(axis_names=("one", "x", "y"), shape=(1, 2, 4), axis_types=("auto", "auto", "manual"))
    assert usable_axes(mesh) == (("x", 2),)
    mixed = MeshAxes(axis_names=("x", "y"), shape=(2, 4), axis_types=("auto", "explicit"))
    assert usable_axes(mixed) == (("y", 4),)


def test_a_spec_without_repeats_has_each_axis_in_its_first_or_last_place():
    assert without_repeats((("x", "y"), "x")) == (("x", "y"), None)
    assert without_repeats((("x", "y"), "x"), last=True) == ("y", "x")


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (("x", None), (None, None), "gathers `w` over `x`"),
        ((None, None), ("x", None), "each device keeps a slice of `w`; nothing is sent"),
        (("x", None), (None, "x"), "moves `w` along `x`"),
        (("x", None), ("y", None), "moves `w` between devices: off `x`, onto `y`"),
    ],
)
def test_a_reshard_is_told_by_the_axes_it_loses_and_gains(before, after, words):
    assert reshard_words("w", before, after) == words
