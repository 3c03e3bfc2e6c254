"""The table that `scripts/causes --operations` prints: what was compared, what differs, what is unknown.

Not its job: judging one program (`score`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from operations.forms import FORMS, Program, programs_of
from operations.operations import OPERATIONS
from operations.score import Score, score

__all__ = ["judge", "print_operations", "programs", "summary"]


def programs() -> tuple[Program, ...]:
    """Every form of every operation."""
    return tuple(program for operation in OPERATIONS for program in programs_of(operation))


def judge(program: Program) -> Score:
    """The score of a program; one that fails to compile is an error of the table, and says so."""
    try:
        return score(program)
    except Exception as error:
        # One program that JAX refuses must not hide the others.
        text = str(error).strip().splitlines() or [""]
        return Score(name=program.name, error=f"{type(error).__name__}: {text[0][:200]}")


def print_operations(name: str = "") -> int:
    """Judge every program whose name contains `name`, print details and the table; the exit status."""
    found = []
    for program in programs():
        if name in program.name:
            found.append((program, judge(program)))
            print(*_details(found[-1][1]), sep="", end="", flush=True)  # noqa: T201
    print(*_rows(found), sep="\n")  # noqa: T201
    return int(not all(result.is_right for _, result in found))


def summary(results: Iterable[Score]) -> str:
    """The figures in one line."""
    results = list(results)
    compared, different = sum(r.compared for r in results), sum(len(r.different) for r in results)
    causes, unknown = sum(r.causes for r in results), sum(len(r.unknown) for r in results)
    total, lost = sum(r.cause_bytes for r in results), sum(r.unknown_bytes for r in results)
    return (
        f"{len(results)} programs: {compared:,} values compared, {different:,} different ({_share(different, compared)}); "
        f"{causes:,} causes, {unknown:,} unknown ({_share(unknown, causes)}; {_share(lost, total)} of bytes), "
        f"{sum(len(r.unacceptable) for r in results):,} unacceptable; {sum(bool(r.error) for r in results)} errors; "
        f"{sum(r.is_right for r in results)} programs all right"
    )


def _rows(found: list[tuple[Program, Score]]) -> Iterator[str]:
    for form in FORMS:
        yield f"{form:9}{summary(result for program, result in found if program.form == form)}"
    yield f"{'all':9}{summary(result for _, result in found)}"


def _details(result: Score) -> Iterator[str]:
    if result.is_right:
        return
    yield f"{result.name}\n"
    yield from (f"    different: {line}\n" for line in result.different)
    yield from (f"    unknown: {line}\n" for line in result.unknown)
    yield from (f"    unacceptable: {line}\n" for line in result.unacceptable)
    if result.error:
        yield f"    error: {result.error}\n"


def _share(part: int, total: int) -> str:
    return f"{part / max(total, 1):.1%}"
