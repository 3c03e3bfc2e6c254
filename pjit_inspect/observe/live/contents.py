"""The content of a compile: the program's texts and bytes, and XLA's figures about it.

The jaxpr's text and XLA's figures take time that grows with the program (measured: up to a twentieth of its compile).
For a large program they are therefore read later, by `Later`, after the user's call; for a small one the jaxpr is
printed on demand (`observe.live.waiting_jaxpr`). Not its job: the origin of the compile (`observe.watch.record`), its
inputs and outputs (`observe.live.layouts`).
"""

from __future__ import annotations

import dataclasses
import io
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

from pjit_inspect.guard import read_fact
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import MemoryStats, RecordData
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.foreign_parameters import without_foreign
from pjit_inspect.observe.live.partition_rules import remember_rules
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.waiting_jaxpr import WaitingJaxpr, waiting_jaxpr

Finish = Callable[[RecordData], RecordData]
"""Completes a record with the facts left for later; it may be called in any thread, once.

One with a true attribute `can_wait` holds what it needs; of any other that is lost when JAX drops the program.
"""

_LARGE_BYTES = 32 * 1024
"""StableHLO of more bytes than this makes a program large; its compile takes about a second or more."""

_NOT_ATTACHED = "XLA counts operations only in programs for hardware that is attached"
_GONE = "the program was large and JAX had dropped it before anybody looked"


def stablehlo_of(module: Any) -> Blob | None:
    """An MLIR module as bytecode; None when there is no module."""
    if module is None:
        return None
    out = io.BytesIO()
    module.operation.write_bytecode(file=out)
    remember_rules(out.getvalue())
    return Blob(out.getvalue())


def hlo_of(executable: Any) -> Blob | None:
    """The optimized program of an executable, serialised on first read; None without an executable."""
    if executable is None:
        return None
    # The module, not the executable: it holds no device memory.
    module = executable.hlo_modules()[0]
    return Blob(make=module.as_serialized_hlo_module_proto)


def hlo_at_once(executable: Any) -> Blob | None:
    """The same, serialised: XLA's module of a small program takes 70 KB of memory, its bytes one."""
    return None if executable is None else Blob(executable.hlo_modules()[0].as_serialized_hlo_module_proto())


def slow_facts(executable: Any, missing: dict[str, str]) -> dict[str, Any]:
    """The fields of a record that take time to ask XLA for."""
    stats = read_fact(missing, "memory", lambda: executable.get_compiled_memory_stats(), None)
    cost = read_fact(missing, "cost", lambda: _cost(executable), {})
    if "GetCostAnalysis is not supported" in missing.get("cost", ""):
        missing["cost"] = _NOT_ATTACHED
    return {
        "cost": cost,
        "memory": None if stats is None else read_fact(missing, "memory", lambda: _memory(stats), None),
        "buffers": read_fact(missing, "buffers", lambda: _buffers(stats), None),
        "hlo_header": read_fact(missing, "hlo_header", lambda: _header(executable), None),
    }


def printed(jaxpr: Any, text: str | None, missing: dict[str, str]) -> dict[str, Any]:
    """The field with the jaxpr's text; `text` is that, where it was printed already."""
    return {"jaxpr": text or read_fact(missing, "jaxpr", lambda: jaxpr_text(jaxpr), None)}


def printed_later(program: LiveProgram) -> Finish | None:
    """A way to read the jaxpr's text whenever it is wanted, or None when it is to be printed at once."""
    if program.jaxpr is None or program.jaxpr_text:
        return None
    waiting = read_fact({}, "jaxpr", lambda: waiting_jaxpr(program.jaxpr, jaxpr_text), None)
    return None if waiting is None else Printed(waiting)


@dataclasses.dataclass(frozen=True, slots=True)
class Printed:
    """Prints the jaxpr of a small program. It can wait for ever."""

    waiting: WaitingJaxpr
    can_wait: ClassVar[bool] = True

    def __call__(self, data: RecordData) -> RecordData:
        """The record with its jaxpr, or with why it has none."""
        missing = dict(data.missing)
        text = read_fact(missing, "jaxpr", self.waiting.text, None)
        return dataclasses.replace(data, jaxpr=text, missing=missing)


def slow_facts_later(program: LiveProgram, stablehlo: Blob | None) -> Finish | None:
    """A function to read the slow facts after the call, or None if they must be read at once.

    They can wait only if JAX keeps the program: it does so as long as the jitted function lives, except for executables
    made with separate options.
    """
    if stablehlo is None or len(stablehlo.read()) <= _LARGE_BYTES or not program.is_kept:
        return None
    jaxpr = weakref.ref(program.jaxpr) if program.jaxpr is not None else _nothing
    return Later(weakref.ref(program.computation), jaxpr, program.jaxpr_text)


def _nothing() -> None:
    return None


@dataclasses.dataclass(frozen=True, slots=True)
class Later:
    """Reads the slow facts of a program that JAX keeps, without keeping it alive."""

    computation: Callable[[], Any]
    jaxpr: Callable[[], Any]
    text: str | None

    def __call__(self, data: RecordData) -> RecordData:
        """The record with the slow facts of its executable."""
        missing = dict(data.missing)
        executable = getattr(_jax.known_computation(self.computation()), "xla_executable", None)
        jaxpr = self.jaxpr()
        facts: dict[str, Any] = {"jaxpr": self.text}
        if executable is not None:
            facts = slow_facts(executable, missing) | printed(jaxpr, self.text, missing)
        if data.hlo is not None:
            # XLA's module takes megabytes for kilobytes of StableHLO, and whoever looks needs its bytes.
            read_fact(missing, "hlo", data.hlo.read, b"")
        absent = {"cost": executable, "memory": executable, "jaxpr": self.text or jaxpr}
        missing |= {name: _GONE for name, source in absent.items() if source is None}
        return dataclasses.replace(data, **facts, missing=missing)


def jaxpr_text(jaxpr: Any) -> str | None:
    """A jaxpr as JAX prints it, without colours; None if there is none.

    Parameters of a user's class with a `__repr__` are printed as `<Class>`, because JAX would run it.
    """
    return None if jaxpr is None else without_foreign(jaxpr).pretty_print(use_color=False)


def _cost(executable: Any) -> dict[str, float]:
    """Per-operand entries ("bytes accessed0{}") are left out: they are derived, and thousands."""
    figures = executable.cost_analysis()
    figures = figures[0] if isinstance(figures, list) else figures or {}
    return {str(key): float(value) for key, value in sorted(figures.items()) if not str(key).endswith("}")}


def _header(executable: Any) -> str | None:
    """XLA prints its configuration of a module, which the proto lacks, on the first line.

    Printing takes a third of the time that serialising does (measured), and less without what is cut off here.
    """
    return None if executable is None else _jax.hlo_header(executable.hlo_modules()[0])


def _memory(stats: Any) -> MemoryStats:
    return MemoryStats(
        argument_bytes=stats.argument_size_in_bytes,
        output_bytes=stats.output_size_in_bytes,
        alias_bytes=stats.alias_size_in_bytes,
        temporary_bytes=stats.temp_size_in_bytes,
        code_bytes=stats.generated_code_size_in_bytes,
        host_temporary_bytes=stats.host_temp_size_in_bytes,
    )


def _buffers(stats: Any) -> Blob | None:
    """XLA's buffer assignment, which it gives for CPUs; None elsewhere."""
    content = getattr(stats, "serialized_buffer_assignment_proto", b"")
    return Blob(content) if content else None
