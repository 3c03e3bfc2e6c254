"""Which piece of the source each op of a captured program was written as.

Not its job: how a location of MLIR's reads (`test_mlir_locations`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import pjit_inspect as pi
from pjit_inspect.model.sharding.sharded_program import Span
from pjit_inspect.observe.shardy.mlir_locations import read_spans


def total(x):
    return jnp.sum(x, axis=1)


def total_of_totals(x):
    return total(x).sum()


def test_two_sums_that_begin_at_one_place_are_told_apart_by_where_they_were_made() -> None:
    stablehlo = pi.inspect(total_of_totals, np.ones((4, 4), np.float32)).data.stablehlo
    assert stablehlo is not None
    spans = {
        innermost[1] - line: pieces.spans
        for (primitive, innermost, (file, line, _)), pieces in read_spans(stablehlo.read()).items()
        if primitive == "reduce_sum" and file == __file__ and line == total_of_totals.__code__.co_firstlineno + 1
    }
    # `total(x)` is made four lines above, by `total`; `total(x).sum()` on the line itself. "return " ends at column 11.
    line = total_of_totals.__code__.co_firstlineno + 1
    assert spans == {
        -4: (Span(line=line, column=11, end_line=line, end_column=19),),
        0: (Span(line=line, column=11, end_line=line, end_column=25),),
    }


def layers(x):
    for _ in range(3):
        x = x + jnp.cos(x) + jnp.sin(x)
    return jax.scipy.stats.norm.logpdf(x) / x


def test_pieces_that_only_broadcast_make_one_op_each_at_the_least() -> None:
    stablehlo = pi.inspect(lambda x: x[None][:, None] + 1, np.ones(4, np.float32)).data.stablehlo
    assert stablehlo is not None
    found = [own for key, own in read_spans(stablehlo.read()).items() if key[2][0] == __file__]
    assert any(len(own.spans) == 2 for own in found)
    assert all(own.each for own in found)


def test_pieces_that_begin_at_one_place_make_as_many_ops_each() -> None:
    stablehlo = pi.inspect(layers, np.ones((4, 4), np.float32)).data.stablehlo
    assert stablehlo is not None
    line = layers.__code__.co_firstlineno + 2
    found = {key: own for key, own in read_spans(stablehlo.read()).items() if key[2][0] == __file__}
    (added,) = (own for (primitive, _, place), own in found.items() if primitive == "add" and place[1] == line)
    ends = [(span.column, span.end_column) for span in added.spans]
    assert (ends, added.each) == ([(12, 26), (12, 39)], 3)
    # The logarithm of a density divides twice, the quotient once.
    assert not any(primitive == "div" and place[1] == line + 1 for primitive, _, place in found)
