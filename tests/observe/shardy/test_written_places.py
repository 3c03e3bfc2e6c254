"""Which piece of the source each op of a captured program was written as.

Not its job: how a location of MLIR's reads (`test_mlir_locations`).
"""

from __future__ import annotations

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
        innermost[1] - line: span
        for (primitive, innermost, (file, line, _)), span in read_spans(stablehlo.read()).items()
        if primitive == "reduce_sum" and file == __file__ and line == total_of_totals.__code__.co_firstlineno + 1
    }
    # `total(x)` is made four lines above, by `total`; `total(x).sum()` on the line itself. "return " ends at column 11.
    line = total_of_totals.__code__.co_firstlineno + 1
    assert spans == {
        -4: Span(line=line, column=11, end_line=line, end_column=19),
        0: Span(line=line, column=11, end_line=line, end_column=25),
    }
