"""The arithmetic of explained errors: what divides, by brute force; which dimensions a product contracts."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.analyze.errors.explain import explain_error
from pjit_inspect.analyze.errors.product_labels import Product, find_product
from pjit_inspect.analyze.errors.specs import fitting_entries, is_legal, reshard_words, usable_axes, without_repeats
from pjit_inspect.model.program.spec import axes_of
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene
from pjit_inspect.model.sharding.mesh import MeshAxes

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


def test_a_spec_is_legal_when_everything_divides_and_no_axis_repeats():
    sizes = {"x": 2, "y": 4}
    assert is_legal(("x", "y"), (6, 8), sizes)
    assert not is_legal(("y", "x"), (6, 8), sizes)
    assert not is_legal(("x", "x"), (6, 8), sizes)
    assert not is_legal(("x", "y"), (6,), sizes)
    assert not is_legal(("z",), (6,), sizes)
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


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (((4, 8), (8, 16)), "contracts 1, 0"),
        (((8,), (8, 16)), "contracts 0, 0"),
        (((4, 8), (8,)), "contracts 1, 0"),
        (((8,), (8,)), "contracts 0, 0"),
        (((2, 4, 8), (2, 8, 16)), "contracts 2, 1"),
        (((2, 4, 8), (8, 16)), "contracts 2, 0"),
        (((4, 8), (2, 8, 16)), "contracts 1, 1"),
    ],
)
def test_the_labels_of_a_matmul_are_those_of_an_einsum_that_gives_the_same(shapes, expected):
    product = find_product("@", shapes[0], shapes[1], "")
    assert product is not None
    (label,) = product.contracted
    assert expected == f"contracts {product.lhs.index(label)}, {product.rhs.index(label)}"
    x, w = (np.arange(np.prod(shape), dtype=float).reshape(shape) for shape in shapes)
    np.testing.assert_array_equal(np.einsum(f"{product.lhs},{product.rhs}->{product.out}", x, w), x @ w)


@pytest.mark.parametrize(
    ("operator", "lhs", "rhs", "subscripts"),
    [
        ("@", (2, 4, 8), (3, 8, 16), ""),
        ("@", (), (8,), ""),
        ("dot", (2, 4, 8), (8, 16), ""),
        ("tensordot", (4, 8), (8, 16), ""),
        ("einsum", (4, 8), (8, 16), "ij,jk"),
        ("einsum", (4, 8), (8, 16), "...j,jk->...k"),
        ("einsum", (4, 4), (4, 16), "ii,ik->k"),
        ("einsum", (4, 8), (8, 16), "ij,jk->k"),
        ("einsum", (4, 8), (8, 16), "ijl,jk->ik"),
    ],
)
def test_a_product_that_is_not_known_for_sure_is_not_known(operator, lhs, rhs, subscripts):
    assert find_product(operator, lhs, rhs, subscripts) is None


def test_an_einsum_may_have_spaces():
    assert find_product("einsum", (4, 8), (8, 16), "ij, jk -> ik") == Product("ij", "jk", "ik")


def test_operands_that_the_message_does_not_quote_are_not_explained():
    # The line multiplies x and w, but what failed has other specs: a library's own product.
    mesh = MeshAxes(axis_names=("x", "y"), shape=(2, 4))
    operands = tuple(ErrorArray(name=name, shape=(8, 8), spec=("x", None), mesh=mesh) for name in "ab")
    facts = ErrorFacts(kind="contraction", operation="dot_general", specs=(("y",), ("y",)))
    found = explain_error(facts, ErrorScene(operator="@", operands=operands))
    assert (found.arrays, found.fits) == ((), ())
    assert found.sentence == ("a product sums over dimensions that are split in both operands: `P('y')` and `P('y')`")
    assert found.notes


def test_a_sharding_without_a_spec_still_has_its_next_multiple():
    facts = ErrorFacts(kind="indivisible", arrays=(ErrorArray(name="", shape=(10, 3)),), dimension=0, count=7)
    found = explain_error(facts, ErrorScene())
    # 10 = 7 + 3, and the next multiple of 7 is 14.
    assert found.sentence == (
        "dimension 0 of the array [10,3] is 10, and its sharding splits it into 7 parts: 10 / 7 leaves 3"
    )
    assert [fit.edit for fit in found.fits] == ["pad dimension 0 from 10 to 14"]
