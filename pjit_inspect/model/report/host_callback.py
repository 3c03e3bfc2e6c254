"""One call from a running program back into Python, and the table of all of them.

Not its job: finding them (`analyze.program.custom_calls`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.program.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCallback:
    """One call back into Python. The device waits for it if its result is used or its order is kept.

    Attributes:
      kind: "pure" (`jax.pure_callback`: XLA may drop, repeat or move it), "io" (`io_callback`), "debug"
        (`jax.debug.callback`, `jax.debug.print`); None if its name does not say.
      ordered: whether it waits for the ordered callbacks before it.
      name: the HLO instruction.
      target: the name of the call target ("xla_ffi_python_cpu_callback").
      op_name: JAX's name of it, with scopes.
      source: the user's frames, innermost first.
      count: upper bound of runs per call on the device that runs it (a conditional may skip it); None if a loop's trip
        count is unknown. A callback for one device only is in a conditional.
      count_min: the lower bound.
      operand_bytes: bytes passed to Python per run (counted); None if a width is unknown.
      result_bytes: bytes returned; likewise.
    """

    kind: Literal["pure", "io", "debug"] | None
    ordered: bool = False
    name: str
    target: str = ""
    op_name: str = ""
    source: tuple[Frame, ...] = ()
    count: int | None = 1
    count_min: int | None = 1
    operand_bytes: int | None = None
    result_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class CallbackTable(Table[HostCallback]):
    """All calls of one program back into Python, in schedule order. A sequence of `HostCallback`.

    Attributes:
      rows: the callbacks.
    """

    rows: tuple[HostCallback, ...]

    def __repr__(self) -> str:
        return f"CallbackTable({len(self.rows)} host callback{'s' * (len(self.rows) != 1)})"
