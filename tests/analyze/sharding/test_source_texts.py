"""Pieces of source: cut where the span says, and the whole line where that cuts through words."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.sharding.source_texts import text_of
from pjit_inspect.model.program.source import SourceText
from pjit_inspect.model.sharding.sharded_program import Span

CELL = SourceText(file="nb.py", lines=("    def f(x, w):", "        y = g(x)", "        return g(x) @ w"))


@pytest.mark.parametrize(
    ("line", "columns", "text"),
    [
        (3, (15, 23), "g(x) @ w"),
        # As in memory, where the cell is not indented.
        (3, (11, 19), "return g(x) @ w"),
        (2, (8, 12), "y = g(x)"),
        (2, (4, 12), "y = g(x)"),
        (2, (8, 16), "y = g(x)"),
        (2, (12, 16), "g(x)"),
    ],
)
def test_a_piece_is_python_or_its_line(line: int, columns: tuple[int, int], text: str):
    span = Span(line=line, column=columns[0], end_line=line, end_column=columns[1])
    assert text_of(CELL, line, span) == text


def test_a_piece_of_several_lines_is_whole():
    source = SourceText(file="a.py", lines=("    y = f(", "        x,", "    ) + 1"))
    assert text_of(source, 1, Span(line=1, column=8, end_line=3, end_column=5)) == "f(\n        x,\n    )"
