"""A collective that was written is called as it was written, in sentences and in lists."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.model.program.primitive import users_word
from pjit_inspect.view.document.notation import operation_text


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("psum_invariant", "psum"),
        ("layer/psum_invariant", "layer/psum"),
        ("psum2", "psum"),
        ("all_gather_invariant", "all_gather"),
        ("psum", "psum"),
        ("psum_invariant/dot_general", "psum_invariant/dot_general"),  # a scope of the user
        ("", ""),
    ],
)
def test_the_primitive_is_called_as_the_function_that_made_it(name: str, word: str):
    assert users_word(name) == word


def test_names_that_xla_joined_are_in_the_users_words_too():
    joined = "jit(f)/(shard_map/psum_invariant:reduce_sum)"
    assert operation_text(joined) == "shard_map/psum, reduce_sum"
    assert operation_text("jit(f)/jvp(layer)/psum_invariant") == "layer/psum"


def test_no_display_calls_a_psum_otherwise():
    mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
    summed = jax.shard_map(lambda v: jax.lax.psum(v, "d"), mesh=mesh, in_specs=P("d"), out_specs=P())
    x = jax.device_put(np.ones((16, 4), np.float32), NamedSharding(mesh, P("d")))
    record = pi.inspect(lambda x: summed(jnp.sin(x)) + x[:2].sum(), x)
    for shown in (record, record.collectives, record.explain(), record.shardings, *record.report.notes):
        assert "psum_invariant" not in str(shown)
    assert "psum" in str(record.collectives)
    assert "psum" in {row.op for row in record.shardings}
    graph = record.state.analyses.graph_and_reason[0]
    assert graph is not None
    assert "psum_invariant" not in str(graph)
