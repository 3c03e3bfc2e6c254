"""The cheap estimate knows the sums of matrix products, and its distance from XLA is a rank correlation."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.play.estimate import estimate, rank_correlation
from pjit_inspect.analyze.play.roles import Operand, Product, Roles

BATCH, WIDTH, HIDDEN = 0, 1, 2
SIZES = {"data": 2, "model": 4}


def roles() -> Roles:
    """One product of x (64, 32) with w (32, 16), in float32."""
    product = Product(
        lhs=Operand(classes=(BATCH, WIDTH), shape=(64, 32), argument="x", bytes=4),
        rhs=Operand(classes=(WIDTH, HIDDEN), shape=(32, 16), argument="w", bytes=4),
        out=Operand(classes=(BATCH, HIDDEN), shape=(64, 16), argument=None, bytes=4),
        summed=frozenset({WIDTH}),
        runs=1,
    )
    return Roles(
        arguments={"x": (BATCH, WIDTH), "w": (WIDTH, HIDDEN)},
        parameters=frozenset({"w"}),
        batch=(BATCH,),
        inner=(WIDTH, HIDDEN),
        products=(product,),
        constraints={},
        makers={},
    )


def test_a_product_of_shards_that_fit_sends_nothing():
    guess = estimate(roles(), {"x": ("data", None), "w": (None, "model")}, SIZES)
    assert (guess.sent_bytes, guess.work) == (0.0, 1.0)


def test_a_sum_over_an_axis_is_an_all_reduce_of_the_result():
    # 64 x 16 of 4 bytes on each device, 2 * 3/4 of it over 4 devices.
    guess = estimate(roles(), {"x": (None, "model"), "w": ("model", None)}, SIZES)
    assert guess.sent_bytes == 64 * 16 * 4 * 2 * 3 / 4
    assert guess.work == 2.0


def test_an_axis_that_splits_two_things_is_gathered_where_that_is_cheaper():
    # w, 32 x 16 of 4 bytes over 2, is smaller than x.
    guess = estimate(roles(), {"x": ("data", None), "w": ("data", None)}, SIZES)
    assert guess.sent_bytes == 32 * 16 * 4 / 2


def test_nothing_split_is_all_the_work_everywhere():
    assert estimate(roles(), {"x": (None, None), "w": (None, None)}, SIZES).work == 8.0


def test_ranks_that_agree_correlate_to_one_and_reversed_ones_to_minus_one():
    assert rank_correlation([1.0, 2.0, 3.0], [10.0, 20.0, 90.0]) == pytest.approx(1.0)
    assert rank_correlation([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]) == pytest.approx(-1.0)


def test_equal_values_share_a_rank():
    # Ranks 1.5, 1.5, 3 beside 1, 2, 3: the correlation is cos 30 degrees.
    assert rank_correlation([5.0, 5.0, 7.0], [1.0, 2.0, 3.0]) == pytest.approx(3**0.5 / 2)


def test_two_values_tell_nothing():
    assert rank_correlation([1.0, 2.0], [1.0, 2.0]) is None
    assert rank_correlation([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is None
