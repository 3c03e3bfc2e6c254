"""The first pass after which two programs differ, on tables made by hand."""

from __future__ import annotations

from typing import Any

from pjit_inspect.analyze.passes.apart import first_apart
from pjit_inspect.model.report.passes import Pass, PassTable


def table(*rows: tuple[str, int, dict[str, int]], first: int = 0) -> PassTable:
    found: list[Pass] = []
    for number, (name, looks, kinds) in enumerate(rows, 1):
        given: dict[str, Any] = {
            f"{what}_{when}": 5 for what in ("instructions", "fusions", "copies") for when in ("before", "after")
        }
        before = found[-1].looks_after if found else first
        counts = {"collectives_before": (), "collectives_after": tuple(kinds.items())}
        found.append(
            Pass(number=number, name=name, pipeline="", looks_before=before, looks_after=looks, **given, **counts)
        )
    return PassTable(tuple(found))


DCE = ("dce", 1, {})


def test_the_pass_and_the_counts_are_said() -> None:
    one, two = table(DCE, ("combine", 2, {"all-gather": 6})), table(DCE, ("combine", 3, {"all-gather": 14}))
    assert str(first_apart(one, two)) == (
        "XLA's passes: the same through 1 pass; first apart after combine (pass 2 before, 2 after): all-gather 6 and 14"
    )


def test_a_pass_that_changes_one_program_only() -> None:
    one, two = table(DCE, ("cse", 4, {})), table(DCE, ("extra", 3, {}), ("cse", 4, {}))
    assert str(first_apart(one, two)) == (
        "XLA's passes: the same through 1 pass; then extra changes the program after only"
    )
    assert str(first_apart(two, one)) == (
        "XLA's passes: the same through 1 pass; then extra changes the program before only"
    )
    assert str(first_apart(table(DCE), table(DCE, ("cse", 4, {})))) == (
        "XLA's passes: the same through 1 pass; then cse changes the program after only"
    )


def test_programs_that_differ_from_the_start() -> None:
    assert "differ before the first pass (5 and 5 instructions)" in str(first_apart(table(DCE), table(DCE, first=9)))


def test_programs_that_never_differ() -> None:
    words = "XLA's passes: both programs have the same operations after each of 1 passes"
    assert str(first_apart(table(DCE), table(DCE))) == words
