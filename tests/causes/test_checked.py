"""What a cause claims holds against what is counted: pieces, element types, and the axes of what is summed."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import pjit_inspect as pi
from causes.meshes import CUBE, LINE, MESH, array, named
from causes.told import sentences


def test_the_result_of_a_concatenate_goes_back_into_its_pieces_for_the_concatenate_and_not_for_a_slice_of_it():
    """66 rows over 8 devices: the pieces are padded."""

    def f(u):
        e = jnp.concatenate([u[-1:] * 0.5, u, u[:1] * 2], axis=0)
        return e[2:] + e[:-2] - 2 * e[1:-1]

    record = pi.inspect(f, array((64, 64), "x", mesh=LINE))
    found = [str(cause.sentence) for row in record.collectives if row.kind == "all-to-all" for cause in row.causes]
    assert found
    assert all(text.startswith("`jnp.concatenate([u[-1:] * 0.5, u, u[:1] * 2], axis=0)`") for text in found)


def test_numbers_that_differentiation_gives_to_what_is_written_are_not_what_the_text_writes():
    def loss(buf, upd, idx):
        return (buf.at[idx].set(upd) ** 2).sum()

    arguments = (
        array((64, 32), "x", mesh=LINE),
        array((16, 32), "x", mesh=LINE),
        array((16,), mesh=LINE, dtype=jnp.int32),
    )
    found = sentences(jax.grad(loss, (0, 1)), *arguments)
    (numbers,) = (text for text in found if "writes the `add` inside it" in text)
    assert numbers.startswith("`scatter` in `buf.at[idx].set(upd)`")
    assert any(
        text.startswith("`buf.at[idx].set(upd)`") and "writes the `select_n` inside it" in text for text in found
    )


def test_a_derivative_that_a_custom_rule_takes_is_not_told_as_the_value():
    @jax.custom_vjp
    def product(x, w):
        return x @ jnp.round(w)

    def forward(x, w):
        return product(x, w), (x, w)

    def backward(kept, g):
        x, w = kept
        return g @ w.T, jnp.einsum("bi,bo->io", x, g)

    product.defvjp(forward, backward)

    def loss(w, x):
        return (product(jnp.tanh(x), w) ** 2).sum()

    found = sentences(jax.grad(loss), array((64, 32), mesh=LINE), array((16, 64), "x", mesh=LINE))
    (text,) = found
    assert "dimension 0 of the derivative of `product(jnp.tanh(x), w) ** 2`" in text


def test_a_view_that_jax_moves_out_of_a_loop_is_told_by_what_it_is_of():
    def loss(p, x):
        padded = jnp.pad(x, ((0, 0), (3, 0), (0, 0)))
        y = jnp.asarray(sum(padded[:, i : i + x.shape[1]] * p["k"][i] for i in range(4)))

        def step(c, t):
            c = c * p["d"] + t
            return c, c

        _, z = jax.lax.scan(step, jnp.zeros(x.shape[::2]), y.transpose(1, 0, 2))
        return (z.transpose(1, 0, 2) @ p["o"]).mean()

    p = {"k": array((4, 32), mesh=LINE), "d": array((32,), mesh=LINE), "o": array((32, 16), "x", mesh=LINE)}
    found = sentences(jax.grad(loss), p, array((8, 64, 32), "x", mesh=LINE))
    assert not [text for text in found if 'needs `c * p["d"]`' in text]


def test_elements_are_split_over_those_axes_alone_that_split_them():
    """JAX 0.10.2's XLA adds up over `data`, too, though all devices along it have the same: a fault of its own."""

    def loss(k, x):
        return jnp.sum(jnp.sin(jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")))

    found = sentences(jax.grad(loss), array((4, 3, 3, 3)), array((2, 3, 16, 16), None, None, "model", None))
    (text,) = (text for text in found if "sums over" in text)
    assert "split over `model`, so" in text


@pytest.mark.parametrize(
    ("x", "w", "asked", "mesh"),
    [
        ((None, "data"), (None, "data"), ("data",), MESH),
        (("fsdp", None, "data"), ("tp", None, "data"), ("tp", None, "data"), CUBE),
    ],
)
def test_a_constraint_is_not_blamed_for_what_operands_at_odds_need_without_it(x, w, asked, mesh):
    """Both bring an axis, each to a dimension of its own: one of them must give it up, whatever is asked for."""

    def f(x, w):
        q = jnp.einsum("btd,dhk->bthk", x, w)
        q = jax.lax.with_sharding_constraint(q, named(*asked, mesh=mesh))
        return jnp.einsum("bthk,bshk->bhts", q, q)

    record = pi.inspect(f, array((8, 16, 32), *x, mesh=mesh), array((32, 8, 16), *w, mesh=mesh))
    causes = [cause for row in record.collectives for cause in row.causes]
    moved = {str(cause.moved) for cause in causes if cause.asked_at}
    assert causes
    assert not moved & {"`x`", "`w`"}
