"""Operations of a copy, numbered: each has a name of its own, and the place that it had is known by its number.

Not its job: how a location of MLIR's reads (`test_mlir_locations`), or what XLA makes of the names
(`tests/parse/sharding/test_numbered_names.py`).
"""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np

import pjit_inspect as pi
from pjit_inspect.model.sharding.sharded_program import Place, Span
from pjit_inspect.observe.shardy import _mlir
from pjit_inspect.observe.shardy.mlir_locations import read_location
from pjit_inspect.observe.shardy.numbering import Numbering, read_places

_NUMBER = re.compile(r"#(\d+)/([\w.-]*)$")


def total(x):
    return jnp.sum(x, axis=1)


def total_of_totals(x):
    return total(x).sum()


def numbered(function, *arguments) -> list[tuple[str, Place, Place]]:
    """For each operation of the copy: its kind, what the copy says of it, and the place that it had."""
    stablehlo = pi.inspect(function, *arguments).data.stablehlo
    assert stablehlo is not None
    with _mlir.open_module(stablehlo.read()) as module:
        before = [(op.name, read_location(str(op.location))) for op in _mlir.each_op(module.operation)]
        numbers = Numbering()
        numbers.number(module)
        places = read_places(numbers.text().encode())
        after = [read_location(str(op.location)) for op in _mlir.each_op(module.operation)]
        _mlir.verify(module)
    rows = []
    for (kind, had), has in zip(before, after, strict=True):
        if match := _NUMBER.match(has.name):
            assert places[int(match[1])] == had
            assert match[2] == re.sub(r"[^\w.-]", "_", had.name.rpartition("/")[2])
            rows.append((kind, has, had))
        else:
            assert kind in ("func.func", "sdy.mesh")
    assert len({has.name for _, has, _ in rows}) == len(rows) == len(places)
    return rows


def test_every_operation_has_a_name_of_its_own_and_keeps_its_place_in_the_source() -> None:
    def layers(x):
        for _ in range(3):
            x = x + jnp.cos(x) + jnp.sin(x)
        return jax.lax.scan(lambda c, _: (jax.nn.relu(c), c.sum()), x, None, length=2)

    rows = numbered(layers, np.ones((4, 4), np.float32))
    assert {"stablehlo.while", "func.call", "stablehlo.reduce"} <= {kind for kind, _, _ in rows}
    assert all(has.frames == had.frames for _, has, had in rows)


def test_two_sums_that_begin_at_one_place_have_a_piece_of_text_each() -> None:
    rows = numbered(total_of_totals, np.ones((4, 4), np.float32))
    line = total_of_totals.__code__.co_firstlineno + 1
    spans = [
        span for kind, _, had in rows if kind == "stablehlo.reduce"
        for frame, span in zip(had.frames, had.spans, strict=True) if frame.line == line and frame.file == __file__
    ]  # fmt: skip
    # "return " ends at column 11.
    assert spans == [
        Span(line=line, column=11, end_line=line, end_column=19),
        Span(line=line, column=11, end_line=line, end_column=25),
    ]


def test_terms_of_a_chain_have_a_piece_of_text_each() -> None:
    def chain(a, b):
        return a + b + a

    rows = numbered(chain, np.ones(4, np.float32), np.ones(4, np.float32))
    ends = [had.spans[0].end_column for kind, _, had in rows if kind == "stablehlo.add" if had.spans[0] is not None]
    assert ends == [20, 24]
