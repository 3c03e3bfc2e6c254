"""Budgets: the most that a program may send, hold and take, and how many collectives and compiles it may have.

Not its job: words (`testing.budget_words`), the programs (`testing.budget_subject`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

from pjit_inspect.errors import ParseError
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.program.mesh import MeshAxes
from pjit_inspect.model.report.collective import KINDS, Collective
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.standard import load_standard
from pjit_inspect.testing.collectives import sent_over
from pjit_inspect.testing.subjects import size_of, why_unread

TABLES = ("sent_bytes", "memory_bytes", "compiles", "collectives", "seconds")
TOTAL = "total"
_MEMORY = ("peak", "temporaries", "arguments")
_SIZES = ("sent_bytes", "memory_bytes")

State = Literal["ok", "exceeded", "unknown", "nothing matched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One line of a budget.

    Attributes:
      part: its table, one of `TABLES`.
      name: its key: mesh axes ("data x model"), a kind of collective, a function, or "total".
      most: the most that is allowed: bytes, seconds or a number.
    """

    part: str
    name: str
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The verdict on a limit.

    Attributes:
      limit: the limit.
      value: what the program has; None if unknown. With `is_least` the program has at least so much.
      known_by: how it is known ("counted", "modelled, ring").
      is_least: whether it is a lower bound.
      missing: why it is unknown, or a lower bound; "" if it is not.
      near: names that exist, where the limit's does not; None where it does.
      base: the same of the program before; None if unknown, or without one.
      over: the collectives that it is about.
    """

    limit: Limit
    value: float | None = None
    known_by: str = "counted"
    is_least: bool = False
    missing: str = ""
    near: tuple[str, ...] | None = None
    base: float | None = None
    over: tuple[Collective, ...] = ()

    @property
    def state(self) -> State:
        """The state of the limit: within, over, or unknown. A lower bound can prove the contrary alone."""
        if self.near is not None:
            return "nothing matched"
        if self.value is not None and self.value > self.limit.most:
            return "exceeded"
        return "unknown" if self.value is None or self.is_least else "ok"


def read_budget(text: str, path: str) -> tuple[Limit, ...]:
    """The limits of a `budget.toml`, in its order.

    Raises ParseError for what is no TOML, an unknown table or key, and a figure that is none.
    """
    toml = load_standard("tomllib")
    try:
        tables = toml.loads(text)
    except toml.TOMLDecodeError as error:
        raise ParseError(f"it is no TOML: {error}", path=path) from None
    limits = [limit for part, table in tables.items() for limit in _limits(part, table, path)]
    if not limits:
        raise ParseError("it has no limit", path=path, expected="a table, as in [sent_bytes] and total = '2 MiB'")
    return tuple(limits)


def _limits(part: str, table: Any, path: str) -> list[Limit]:
    if part not in TABLES or not isinstance(table, dict):
        raise ParseError(f"{part!r} is no table of a budget", path=path, expected=f"one of {', '.join(TABLES)}")
    fixed: Sequence[str] = {"memory_bytes": _MEMORY, "seconds": ("step",)}.get(part, ())
    for name in table:
        if fixed and name not in fixed:
            raise ParseError(f"[{part}] has no {name!r}", path=path, expected=f"one of {', '.join(fixed)}")
    return [Limit(part=part, name=name, most=_most(part, name, value, path)) for name, value in table.items()]


def _most(part: str, name: str, value: Any, path: str) -> float:
    if part in _SIZES and isinstance(value, str):
        try:
            return size_of(value)
        except ValueError as error:
            raise ParseError(f"[{part}] {name}: {error}", path=path) from None
    is_number = isinstance(value, int | float if part == "seconds" else int) and not isinstance(value, bool)
    if not is_number or not 0 <= value < float("inf"):
        wanted = "a size, as in '2 MiB'" if part in _SIZES else "a number, 0 or more"
        raise ParseError(f"[{part}] {name} is {value!r}", path=path, expected=wanted)
    return value


# ---------------------------------------------------------------- judging


def judge(
    record: CompileRecord, limits: Sequence[Limit], compiles: Mapping[str, int] | None = None
) -> tuple[Judged, ...]:
    """The verdicts on the limits of a budget.

    Args:
      record: the program.
      limits: the budget.
      compiles: number of compiles of each of the user's functions; None if unknown.
    """
    judges: dict[str, Callable[[Limit], Judged]] = {
        "sent_bytes": lambda limit: _sent(record, limit),
        "memory_bytes": lambda limit: _memory(record, limit),
        "collectives": lambda limit: _count(record, limit),
        "seconds": lambda limit: _seconds(record, limit),
        "compiles": lambda limit: _compiles(compiles, limit),
    }
    return tuple(judges[limit.part](limit) for limit in limits)


def with_base(rows: Sequence[Judged], before: Sequence[Judged]) -> tuple[Judged, ...]:
    """The rows with what the program before had, of the same budget."""
    return tuple(
        replace(row, base=None if old.is_least or old.near is not None else old.value)
        for row, old in zip(rows, before, strict=True)
    )


def _sent(record: CompileRecord, limit: Limit) -> Judged:
    known_by = "modelled, ring"
    meshes: Sequence[MeshAxes] = record.data.meshes
    axes = list(dict.fromkeys(name for mesh in meshes for name in mesh.axis_names))
    sent = sent_over(record.collectives, "" if limit.name == TOTAL else limit.name)
    is_named = limit.name == TOTAL or all(axis_name(own) in axes for own in limit.name.split(" x "))
    if not sent.rows and not is_named and not why_unread(record):
        return Judged(limit=limit, known_by=known_by, near=_near(limit.name, axes))
    return _of_rows(limit, sent.rows, sent.least_bytes, _unread(record) or sent.missing, known_by)


def _count(record: CompileRecord, limit: Limit) -> Judged:
    if limit.name not in (TOTAL, *KINDS):
        return Judged(limit=limit, near=_near(limit.name, KINDS))
    rows = [row for row in record.collectives if limit.name in (TOTAL, row.kind)]
    return _of_rows(limit, rows, len(rows), _unread(record), "counted")


def _of_rows(limit: Limit, rows: Sequence[Collective], value: int, missing: str, known_by: str) -> Judged:
    # Of a program that is not all there, or that also communicates otherwise, what is counted is a lower bound.
    return Judged(
        limit=limit,
        value=value if value or not missing else None,
        known_by=known_by,
        is_least=bool(missing),
        missing=missing,
        over=tuple(rows),
    )


def _unread(record: CompileRecord) -> str:
    return why_unread(record) or record.report.beside


def _memory(record: CompileRecord, limit: Limit) -> Judged:
    if limit.name == "peak":
        use = record.memory_use
        missing = "" if use.peak_bytes is not None else use.missing or "the program has no schedule"
        return Judged(limit=limit, value=use.peak_bytes, known_by=use.source, missing=missing)
    memory = record.memory
    if limit.name == "arguments":
        value = record.report.figures.argument_bytes
        return Judged(limit=limit, value=value, missing="" if value is not None else "their sizes are unknown")
    value = None if memory is None else memory.temporary_bytes
    missing = "" if value is not None else "XLA does not say what temporaries need"
    return Judged(limit=limit, value=value, known_by="counted by XLA", missing=missing)


def _seconds(record: CompileRecord, limit: Limit) -> Judged:
    time = record.time
    missing = "" if time.step_s is not None else time.missing or "the speed of its devices is unknown"
    known_by = "measured" if time.is_measured else "modelled"
    return Judged(limit=limit, value=time.step_s, known_by=known_by, missing=missing)


def _compiles(compiles: Mapping[str, int] | None, limit: Limit) -> Judged:
    if compiles is None:
        return Judged(limit=limit, missing="a file holds one compile; name a function, as in train.py:step")
    if limit.name not in (TOTAL, *compiles):
        return Judged(limit=limit, near=_near(limit.name, list(compiles)))
    return Judged(limit=limit, value=sum(n for name, n in compiles.items() if limit.name in (TOTAL, name)))


def _near(name: str, known: Sequence[str]) -> tuple[str, ...]:
    return tuple(get_close_matches(name, known, n=3, cutoff=0.5)) or tuple(known)
