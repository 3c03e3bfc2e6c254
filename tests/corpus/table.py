"""The corpus, added up: what was compared with XLA and what differs.

Not its job: comparing (`checks`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import jax

import pjit_inspect
from corpus.checks import (
    Result,
    check_counterfactual,
    check_expected,
    check_kinds,
    check_names,
    check_shardings,
    check_sizes,
    count_unpaired,
)
from corpus.program import Program
from corpus.xla_truth import XlaTruth, compile_and_dump

__all__ = [
    "HEADING",
    "MOST_DIFFERENT",
    "MOST_UNKNOWN",
    "Measured",
    "compiled",
    "limits_of",
    "line_of",
    "lines_of_all",
    "measure",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One program, compared.

    Attributes:
      name: the program's.
      causes, unknown: how many causes there are, and how many are unknown.
      bytes, unknown_bytes: what they move per call, on one device; loops of unknown length count once.
      evidence: how many causes rest on what.
      unpaired: values that XLA's module has no counterpart of.
      unjoined: collectives of the record that XLA's own compile does not have.
      results: the outcome of each check.
    """

    name: str
    causes: int
    unknown: int
    bytes: int
    unknown_bytes: int
    evidence: Counter = field(default_factory=Counter)
    unpaired: int = 0
    unjoined: int = 0
    results: dict[str, Result] = field(default_factory=dict)


@cache
def compiled(program: Program) -> tuple[Any, XlaTruth]:
    """The record of a program, and what XLA says; compiled once per process, each."""
    # JAX traces an inner jitted function of its own once, and keeps the lines of whoever called it first.
    jax.clear_caches()
    function, arguments = program.build()
    truth = compile_and_dump(function, *arguments)
    return pjit_inspect.inspect(function, *arguments), truth


@cache
def without(program: Program, name: str) -> XlaTruth:
    """What XLA says of the program built without something."""
    jax.clear_caches()
    function, arguments = program.build(without=name)
    return compile_and_dump(function, *arguments)


@cache
def measure(program: Program) -> Measured:
    """All checks of one program."""
    record, truth = compiled(program)
    rows = list(record.collectives)
    causes = [(row, cause) for row in rows for cause in row.causes]
    unknown = [(row, cause) for row, cause in causes if cause.kind == "unknown"]
    results = {
        "shardings": check_shardings(record, truth),
        "sizes": check_sizes(record, truth),
        "names": check_names(record, truth),
        "kinds": check_kinds(record, truth),
        "expected": check_expected(program, record),
        "counterfactuals": _counterfactuals(program, record, truth),
    }
    return Measured(
        name=program.name,
        causes=len(causes),
        unknown=len(unknown),
        bytes=_bytes(causes),
        unknown_bytes=_bytes(unknown),
        evidence=Counter(cause.evidence for _, cause in causes),
        unpaired=count_unpaired(record, truth) if record.propagation else 0,
        unjoined=sum(not any(name in truth.collectives for name in row.instructions) for row in rows),
        results=results,
    )


def _counterfactuals(program: Program, record: Any, truth: XlaTruth) -> Result:
    found = [
        check_counterfactual(program, c, record, truth, without(program, c.without)) for c in program.counterfactuals
    ]
    return Result(
        compared=sum(result.compared for result in found),
        failures=tuple(failure for result in found for failure in result.failures),
    )


def _bytes(causes: Iterable[tuple[Any, Any]]) -> int:
    return sum(cause.payload_bytes * (row.count or 1) for row, cause in causes)


# ---------------------------------------------------------------- in words

MOST_DIFFERENT = 0.001
"""The share of values whose sharding may differ from XLA's."""

MOST_UNKNOWN = 0.02
"""The share of causes, and of their bytes, that may be unknown."""

_HEADS = "shardings", "sizes", "names", "kinds", "expected", "counterfactuals"


HEADING = (
    f"{'program':<44} {'values differ':>14} {'causes unknown':>15} {'bytes':>6} {'sizes':>7} {'names':>7} {'kinds':>7} "
    f"{'expected':>9} {'blamed':>7}"
)


def line_of(measured: Measured) -> str:
    """The program's line of the table: what differs or is wrong, of what was compared."""
    return _line(measured.name, [measured])


def lines_of_all(found: Iterable[Measured]) -> list[str]:
    """The sums, and what was not compared."""
    rows = list(found)
    evidence = sum((row.evidence for row in rows), Counter())
    return [
        _line(f"{len(rows)} programs, JAX {jax.__version__}", rows),
        "evidence: " + ", ".join(f"{name} {count}" for name, count in evidence.most_common()),
        f"values without a counterpart: {sum(row.unpaired for row in rows):,}; "
        f"collectives not found again: {sum(row.unjoined for row in rows)}",
    ]


def limits_of(found: Iterable[Measured]) -> list[tuple[str, str, str, bool]]:
    """What must hold: in words, what was found, what it must be, whether it holds."""
    rows = list(found)
    results = {head: [row.results[head] for row in rows] for head in _HEADS}
    unknown, causes = sum(row.unknown for row in rows), sum(row.causes for row in rows)
    lost, moved = sum(row.unknown_bytes for row in rows), sum(row.bytes for row in rows)
    different, compared = _sums(results["shardings"])
    return [
        (
            "values whose sharding differs from XLA's own dump",
            f"{different:,} of {compared:,} ({different / max(1, compared):.2%})",
            f"at most {MOST_DIFFERENT:.1%}",
            different <= MOST_DIFFERENT * compared,
        ),
        (
            "causes unknown",
            f"{unknown} of {causes} ({unknown / max(1, causes):.1%}; {lost / max(1, moved):.1%} of bytes)",
            f"at most {MOST_UNKNOWN:.0%}",
            unknown <= MOST_UNKNOWN * causes and lost <= MOST_UNKNOWN * moved,
        ),
        _none("causes that name another array, or another layer's", results["names"]),
        _none('causes with evidence "sharding" that name an array of impossible size', results["sizes"]),
        _none("all-reduces whose cause is of another kind than what XLA sums", results["kinds"]),
        _none("collectives and sentences worked out by hand that are missing or forbidden", results["expected"]),
        _none(
            "blamed requests and splits that change nothing when left out, or are not blamed",
            results["counterfactuals"],
        ),
    ]


def _none(words: str, results: list[Result]) -> tuple[str, str, str, bool]:
    wrong, compared = _sums(results)
    return words, f"{wrong} of {compared}", "0", not wrong


def _sums(results: list[Result]) -> tuple[int, int]:
    return sum(len(r.failures) for r in results), sum(r.compared for r in results)


def _line(name: str, rows: list[Measured]) -> str:
    cells = {head: _cell(row.results[head] for row in rows) for head in _HEADS}
    unknown, causes = sum(row.unknown for row in rows), sum(row.causes for row in rows)
    share = sum(row.unknown_bytes for row in rows) / max(1, sum(row.bytes for row in rows))
    return (
        f"{name:<44} {cells['shardings']:>14} {f'{unknown}/{causes}':>15} {share:>6.1%} {cells['sizes']:>7} "
        f"{cells['names']:>7} {cells['kinds']:>7} {cells['expected']:>9} {cells['counterfactuals']:>7}"
    )


def _cell(results: Iterable[Result]) -> str:
    return "{}/{}".format(*_sums(list(results)))
