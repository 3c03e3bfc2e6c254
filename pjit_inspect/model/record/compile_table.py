"""Tables of compiles for other programs: a log compile by compile, a ledger by function and call site.

Not its job: gathering them (`handles.session.log`, `handles.ledger`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.program.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRow:
    """One compile of a log.

    Attributes:
      number: its number in the log, as `%pjit show` takes it.
      name: the function.
      transform: the transform that made the program ("jit", "grad", ...).
      origin: the origin of the compile: "user", "library" or "eager".
      where: the calling line; None without user code on the stack.
      mesh: its mesh; None if no input or output follows one.
      trace_s, lower_s, compile_s: seconds (measured); None for a stage that JAX skipped.
      reason: why it was compiled.
    """

    number: int
    name: str
    transform: str
    origin: str
    where: str | None
    mesh: str | None
    trace_s: float | None
    lower_s: float | None
    compile_s: float | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileTable(Table[CompileRow]):
    """The compiles of a log, in the order they ended.

    Attributes:
      rows: the compiles.
    """

    rows: tuple[CompileRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteRow:
    """The compiles of one function from one call site.

    Attributes:
      name: the function.
      origin: the origin of the compiles.
      where: the calling line of the newest compile; None without user code on the stack.
      compiles: number of programs compiled or loaded from disk.
      trace_s, lower_s, compile_s: seconds of each stage over all compiles (measured).
      reasons: why it was compiled again, the most frequent first.
    """

    name: str
    origin: str
    where: str | None
    compiles: int
    trace_s: float
    lower_s: float
    compile_s: float
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteTable(Table[SiteRow]):
    """The compiles of a ledger, the most expensive function first.

    Attributes:
      rows: the functions.
    """

    rows: tuple[SiteRow, ...]
