"""Single operations and everyday indexing: shardings are XLA's, causes are known and possible, sentences fit.

A sample runs always, all programs with `--all`; `scripts/causes --operations` prints the table. Not its job: training
steps, or the lines that causes point to (`tests/causes`).
"""

from __future__ import annotations

from functools import cache

import pytest

from operations.forms import Program
from operations.known import NOT_YET
from operations.score import Score, score
from operations.table import SETS, all_programs, summary

_ALL = tuple(program for operations in SETS.values() for program in all_programs(operations))
_SAMPLE = 20
_MOST_DIFFERENT, _MOST_UNKNOWN = 0.001, 0.02
"""Shares of the values compared, and of the causes."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "program" in metafunc.fixturenames:
        metafunc.parametrize("program", [_parameter(program) for program in _chosen(metafunc.config)])


def _chosen(config: pytest.Config) -> tuple[Program, ...]:
    return _ALL if config.getoption("--all", default=False) else _ALL[:: -(-len(_ALL) // _SAMPLE)]


def _parameter(program: Program) -> object:
    """A program that is known to be wrong must be so: whoever repairs it takes it off the list."""
    reason = NOT_YET.get(program.name)
    marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
    return pytest.param(program, id=program.name, marks=marks)


@cache
def _score(program: Program) -> Score:
    return score(program)


def test_shardings_are_xlas_and_causes_are_known_and_possible(program: Program) -> None:
    found = _score(program)
    assert not found.different
    assert not found.unknown
    assert not found.unacceptable
    assert not found.contradicted


def test_few_values_differ_and_few_causes_are_unknown(
    pytestconfig: pytest.Config, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [_score(program) for program in _chosen(pytestconfig) if program.name not in NOT_YET]
    with capsys.disabled():
        print(f"\n{summary(found)}; {len(NOT_YET)} programs known to be wrong")  # noqa: T201
    assert sum(len(result.different) for result in found) <= _MOST_DIFFERENT * sum(r.compared for r in found)
    assert sum(len(result.unknown) for result in found) <= _MOST_UNKNOWN * sum(r.causes for r in found)


# ---------------------------------------------------------------- the table itself


def test_names_are_unique() -> None:
    names = [program.name for program in _ALL]
    assert len(names) == len(set(names))


def test_what_is_known_to_be_wrong_is_in_the_table() -> None:
    assert set(NOT_YET) <= {program.name for program in _ALL}


def test_at_least_207_programs_of_69_operations_and_60_everyday_ones() -> None:
    single, everyday = SETS.values()
    assert len(single) >= 69
    assert len(all_programs(single)) >= 207
    assert len(everyday) >= 60
