"""Sums of several terms, and products of several factors: one text begins where the next does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from causes.meshes import array
from causes.told import another_before_jax_0_10, sentences


def _reduced(function: Callable[..., Any], *given: Any) -> list[str]:
    """What is reduced over `data`, as it is called."""
    pattern = re.compile(r"reduces dimension 0 of (`.*?`)( \(line \d+\))?\. These \d+ elements are split over `data`")
    told = map(pattern.search, sentences(function, *given))
    return [match[1] for match in told if match]


def test_a_sum_of_several_terms_is_told_by_all_of_its_own_text():
    def loss(a, b):
        return (a - 0.9 * b - 0.1 * a).mean(0), b

    assert _reduced(loss, array((16, 8), "data"), array((16, 8), "data")) == ["`a - 0.9 * b - 0.1 * a`"]


def test_terms_of_another_sign_between_them_do_not_end_it():
    def loss(a, b):
        return (a + b - a * b + a).mean(0)

    assert _reduced(loss, array((16, 8), "data"), array((16, 8), "data")) == ["`a + b - a * b + a`"]


def test_a_factor_is_told_by_the_text_up_to_it():
    def model(a, b):
        part = a * 2.0
        return (part * b * part).sum(0), (part * b).sum(0)

    told = _reduced(model, array((16, 8), "data"), array((16, 8), "data"))
    assert sorted(told) == ["`part * b * part`", "`part * b`"]


def test_layers_in_a_python_loop_have_it_each():
    def model(ws, x):
        for up, down in ws:
            x = x + jnp.tanh(x @ up) @ down + jnp.sin(x)
        return x.sum(0)

    ws = ((array((8, 32)), array((32, 8))),) * 3
    assert _reduced(model, ws, array((16, 8), "data")) == ["`x + jnp.tanh(x @ up) @ down + jnp.sin(x)`"]


def test_a_term_that_xla_takes_away_is_not_taken_for_another():
    def model(x):
        for _ in range(2):
            x = x + jnp.zeros_like(x) + jnp.sin(x)
        return x.sum(0)

    (told,) = _reduced(model, array((16, 8), "data"))
    assert told in ("`x + jnp.zeros_like(x) + jnp.sin(x)`", "`x = x + jnp.zeros_like(x) + jnp.sin(x)`")


def test_a_call_in_the_first_term_does_not_hide_it():
    """`logsumexp` subtracts the maximum, and begins where the difference does."""

    def loss(z, own):
        return (jax.nn.logsumexp(z, -1) - own).sum(0)

    (told,) = _reduced(loss, array((16, 8), "data"), array((16,), "data"))
    assert told == "`jax.nn.logsumexp(z, -1) - own`"


@another_before_jax_0_10
def test_what_is_recomputed_is_told_by_all_of_its_own_text():
    def loss(w, x, g):
        @jax.checkpoint
        def layer(x):
            scaled = x * g * jnp.tanh(x)
            return jnp.sin(scaled @ w)

        return layer(x).mean()

    given = array((8, 8)), array((16, 8), "data"), array((8,))
    (text,) = (text for text in sentences(jax.grad(loss), *given) if "gradient of `w` in `scaled @ w`" in text)
    assert "dimension 0 of the recomputed `x * g * jnp.tanh(x)`" in text


def test_what_begins_where_a_call_that_divides_too_begins_is_told_by_its_own_text():
    """`logpdf` divides twice, and begins where the quotient does."""

    def model(x, y):
        return (jax.scipy.stats.norm.logpdf(x) / y).sum(0)

    (told,) = _reduced(model, array((16, 8), "data"), array((16, 8), "data"))
    assert told == "`jax.scipy.stats.norm.logpdf(x) / y`"
