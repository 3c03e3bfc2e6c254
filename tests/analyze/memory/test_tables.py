"""Tables of pointers of small programs, counted by hand."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import pjit_inspect as pi
from pjit_inspect.analyze.memory.memory_use import model_occupancy
from pjit_inspect.analyze.memory.tables import find_tables


def test_a_loop_has_one_table_from_what_enters_it_to_what_leaves_it():
    def loop(x: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 100, lambda _, y: jnp.sin(y @ y), x)

    record = pi.inspect(jax.jit(loop), jax.ShapeDtypeStruct((64, 64), jnp.float32))
    module = record.state.analyses.readable_hlo
    assert module is not None
    widths = find_tables(model_occupancy(module, "cpu").ranges.nodes)
    loops = [index for index in range(len(module)) if module.instruction(index).opcode == "while"]
    assert widths == [len(module.instruction(loops[0]).shape.elements)]
    use = record.memory_use
    # Whether tables lie before or behind all else is less than the 64 bytes that places are multiples of.
    assert use.modelled_bytes is not None
    assert use.reserved_bytes is not None
    assert abs(use.modelled_bytes - use.reserved_bytes) < 64


def test_results_of_the_program_have_theirs_elsewhere():
    record = pi.inspect(jax.jit(lambda x: (x + 1, x @ x)), jax.ShapeDtypeStruct((8, 8), jnp.float32))
    module = record.state.analyses.readable_hlo
    assert module is not None
    assert find_tables(model_occupancy(module, "cpu").ranges.nodes) == []
