"""What holds of every comparison: nothing differs from itself, turning it turns its signs, no row is lost."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import jax
import pytest
from causes.case import Case
from causes.corpus import CASES

import pjit_inspect
from pjit_inspect import Diff
from pjit_inspect.model.diff.pairs import PairTable

_STEP = 8
_TABLES = ("collectives", "kernels", "shardings", "arguments", "results", "warnings")
_TURNED = {"added": "removed", "removed": "added", "changed": "changed", "same": "same"}


def record(case: Case) -> pjit_inspect.CompileRecord:
    jax.clear_caches()
    function, arguments = case.build()
    return pjit_inspect.inspect(function, *arguments)


def rows_of(table: PairTable, side: str) -> Counter:
    return Counter(repr(row) for pair in table if (row := getattr(pair, side)) is not None)


def check(one: pjit_inspect.CompileRecord, two: pjit_inspect.CompileRecord) -> None:
    there, back = pjit_inspect.diff(one, two), pjit_inspect.diff(two, one)
    assert_conserved(there, one, two)
    for name in _TABLES:
        forth, turned = getattr(there, name), getattr(back, name)
        assert turned_of(turned) == pairs_of(forth), name
    for figure, other in zip(there.data.figures, back.data.figures, strict=True):
        assert (figure.before, figure.after) == (other.after, other.before)
    assert there.is_empty == back.is_empty
    assert len(there.data.parity) == len(back.data.parity)


def pairs_of(table: PairTable) -> Counter:
    return Counter((p.status, repr(p.before), repr(p.after), p.by, bool(p.reason)) for p in table)


def turned_of(table: PairTable) -> Counter:
    return Counter((_TURNED[p.status], repr(p.after), repr(p.before), p.by, bool(p.reason)) for p in table)


def assert_conserved(diff: Diff, one: pjit_inspect.CompileRecord, two: pjit_inspect.CompileRecord) -> None:
    for name in ("collectives", "shardings"):
        table = getattr(diff, name)
        assert rows_of(table, "before") == Counter(map(repr, getattr(one, name)))
        assert rows_of(table, "after") == Counter(map(repr, getattr(two, name)))
    assert rows_of(diff.kernels, "before") == Counter(map(repr, one.fusions))
    assert rows_of(diff.arguments, "before") == Counter(map(repr, one.inputs))
    assert rows_of(diff.results, "after") == Counter(map(repr, two.outputs))
    for table in (getattr(diff, name) for name in _TABLES):
        assert len(table.removed) + len(table.changed) + table.same == sum(pair.before is not None for pair in table)
        assert len(table.added) + len(table.changed) + table.same == sum(pair.after is not None for pair in table)


@pytest.fixture(scope="module")
def records(request: pytest.FixtureRequest) -> list[pjit_inspect.CompileRecord]:
    """Programs of the corpus of causes: all with `--all`, else every eighth."""
    step = 1 if request.config.getoption("--all") else _STEP
    return [record(case) for case in CASES[::step]]


def test_a_program_does_not_differ_from_itself(records: list[pjit_inspect.CompileRecord]):
    for one in records:
        diff = pjit_inspect.diff(one, one)
        assert diff.is_empty, str(diff)
        assert_conserved(diff, one, one)


def test_turning_a_comparison_turns_its_signs_and_no_row_is_lost(records: list[pjit_inspect.CompileRecord]):
    for one, two in pairwise(records):
        check(one, two)


def test_a_program_compiled_twice_does_not_differ():
    one, two = record(CASES[0]), record(CASES[0])
    assert pjit_inspect.diff(one, two).is_empty
