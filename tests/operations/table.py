"""The table that `scripts/causes --operations` prints: what was compared, what differs, what is unknown.

Not its job: judging one program (`score`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from operations.forms import FORMS, Program, programs_of
from operations.operation import Operation
from operations.operations import OPERATIONS
from operations.programs.everyday import EVERYDAY
from operations.score import Score, score

__all__ = ["SETS", "all_programs", "judge", "print_operations", "summary"]

SETS: dict[str, tuple[Operation, ...]] = {"single operations": OPERATIONS, "everyday indexing": EVERYDAY}

_Found = list[tuple[Program, Score]]


def all_programs(operations: Iterable[Operation]) -> tuple[Program, ...]:
    """Every form of these operations."""
    return tuple(program for operation in operations for program in programs_of(operation))


def judge(program: Program) -> Score:
    """The score of a program; that one does not compile is an error in the table, and hides no other program."""
    try:
        return score(program)
    except Exception as error:
        text = str(error).strip().splitlines() or [""]
        return Score(name=program.name, error=f"{type(error).__name__}: {text[0][:200]}")


def print_operations(name: str = "") -> int:
    """Judge every program whose name contains `name`, print details and the tables; the exit status."""
    found = {title: _judged(operations, name) for title, operations in SETS.items()}
    for title, results in found.items():
        if results:
            print(f"\n{title}", *_rows(results), sep="\n")  # noqa: T201
    return int(not all(result.is_right for results in found.values() for _, result in results))


def _judged(operations: Iterable[Operation], name: str) -> _Found:
    found: _Found = []
    for program in all_programs(operations):
        if name in program.name:
            found.append((program, judge(program)))
            print(*_details(found[-1][1]), sep="", end="", flush=True)  # noqa: T201
    return found


# ---------------------------------------------------------------- figures


def summary(results: Iterable[Score]) -> str:
    """The figures in one line."""
    results = list(results)
    compared, different = sum(r.compared for r in results), sum(len(r.different) for r in results)
    causes, unknown = sum(r.causes for r in results), sum(len(r.unknown) for r in results)
    total, lost = sum(r.cause_bytes for r in results), sum(r.unknown_bytes for r in results)
    contradicted, elsewhere = sum(len(r.contradicted) for r in results), sum(len(r.elsewhere) for r in results)
    unacceptable, errors = sum(len(r.unacceptable) for r in results), sum(bool(r.error) for r in results)
    parts = (
        f"{len(results)} programs, {sum(r.is_right for r in results)} all right",
        f"{compared:,} values compared, {different:,} different ({_share(different, compared)})",
        f"{sum(r.unmatched for r in results):,} without counterpart",
        f"{causes:,} causes, {unknown:,} unknown ({_share(unknown, causes)}; {_bytes(lost, total)})",
        f"{unacceptable:,} unacceptable, {contradicted:,} contradicted by XLA's operation",
        f"{elsewhere:,} found elsewhere" + (f"; {errors} errors" if errors else ""),
    )
    return "; ".join(parts)


def _rows(found: _Found) -> Iterator[str]:
    for form in FORMS:
        yield f"  {form:9}{summary(result for program, result in found if program.form == form)}"
    yield f"  {'all':9}{summary(result for _, result in found)}"
    kinds = Counter(kind for _, result in found for kind in result.kinds)
    yield f"  kinds    {', '.join(f'{kind} {count:,}' for kind, count in kinds.most_common())}"


def _details(result: Score) -> Iterator[str]:
    if result.is_right and not result.elsewhere:
        return
    yield f"{result.name}\n"
    yield from (f"    different: {line}\n" for line in result.different)
    yield from (f"    unknown: {line}\n" for line in result.unknown)
    yield from (f"    unacceptable: {line}\n" for line in result.unacceptable)
    yield from (f"    contradicted: {line}\n" for line in result.contradicted)
    yield from (f"    elsewhere: {line}\n" for line in result.elsewhere)
    if result.error:
        yield f"    error: {result.error}\n"


def _share(part: int, total: int) -> str:
    return f"{part / max(total, 1):.1%}"


def _bytes(part: int, total: int) -> str:
    return f"{part:,} of {total:,} bytes, {_share(part, total)}"
