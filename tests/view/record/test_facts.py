"""A record's facts in a few lines: worked out by hand, and without what differs from session to session."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect


def array(shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("data", "model"))
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, P(*spec)))


def facts(function, *arguments, **options) -> list[list[str]]:
    """The words of each line."""
    record = pjit_inspect.inspect(jax.jit(function, **options), *arguments)
    return [line.split() for line in repr(record.show("facts")).splitlines() if line]


def mlp(x, w1, w2):
    return jax.nn.relu(x @ w1) @ w2


def test_arrays_and_the_one_sum_of_a_megatron_layer():
    # x: half of 16 rows, 8 x 32 x 4 B; weights: a quarter, 32 x 32 x 4 B. The sum is as large as a device's result, and
    # a ring over 4 sends 2 x 3/4 of it.
    found = facts(mlp, array((16, 32), "data"), array((32, 128), None, "model"), array((128, 32), "model", None))
    x = next(line for line in found if line[0] == "x")
    assert x == ["x", "f32[16,32]", "P('data',", "None)", "[8,32]", "1,024", "4"]
    w1 = next(line for line in found if line[0] == "w1")
    assert w1[-3:] == ["[32,32]", "4,096", "2"]
    assert ["1", "collective;", "each", "device", "sends", "1,536", "bytes", "per", "call"] in found
    assert ["1", "all-reduce", "model", "1,024", "1,536", "contraction"] in found


def test_what_sends_nothing_says_so_and_has_no_table():
    found = facts(jnp.tanh, array((16, 32), "data"))
    assert found[-1] == ["no", "collectives"]


def test_equal_collectives_are_one_row_and_a_loop_multiplies_them():
    def both(x):
        def turn(i, total):
            return total + x.sum(0) * total

        return jax.lax.fori_loop(0, 3, turn, jnp.ones(32))

    # The sum does not change with the turns, so it runs three times or is hoisted; either way one row.
    rows = [line for line in facts(both, array((16, 32), "data")) if "all-reduce" in line]
    assert len(rows) == 1
    assert rows[0][0] in {"1", "3"}


def test_donation_is_told_of_both_sides():
    found = facts(lambda cache: cache + 1, array((16, 32), "data"), donate_argnums=0)
    assert found[1][-1] == "donated"
    assert found[2][-2:] == ["reuses", "cache"]


def test_gradients_have_a_column_for_the_phase():
    # Forward a sum over `model`, backward sums over `data` for the weights: other axes, which XLA cannot combine.
    def loss(w1, w2, x):
        return (mlp(x, w1, w2) ** 2).sum()

    sizes = array((32, 128), None, "model"), array((128, 32), "model", None), array((16, 32), "data")
    found = facts(jax.grad(loss, argnums=(0, 1)), *sizes)
    head = next(line for line in found if line[0] == "n")
    assert head == ["n", "collective", "over", "phase", "puts", "in", "sends", "because"]
    assert ["1", "all-reduce", "model", "forward", "1,024", "1,536", "contraction"] in found


def test_the_text_is_the_same_in_every_session_and_of_a_file(tmp_path):
    record = pjit_inspect.inspect(mlp, array((16, 32)), array((32, 128)), array((128, 32)))
    record.save(tmp_path / "mlp.pjit")
    text = repr(record.show("facts"))
    assert repr(pjit_inspect.load(tmp_path / "mlp.pjit").show("facts")) == text
    assert "test_facts" not in text
    assert "compile" not in text


def test_a_view_that_is_none_names_those_there_are():
    record = pjit_inspect.inspect(jnp.tanh, array((16, 32)))
    with pytest.raises(ValueError, match="text, html, widget, tree, facts"):
        record.show("numbers")
