"""What was compiled: the program's texts and bytes, XLA's figures about it.

The jaxpr's text and XLA's figures take time that grows with the program (measured: up to a twentieth of its compile).
Of a large program they are therefore read later, by `Later`, when the user's call is over. Not its job: who compiled
and where (`observe.watch.record`).
"""

from __future__ import annotations

import dataclasses
import io
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from pjit_inspect.guard import one_line
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import MemoryStats, RecordData
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.program import LiveProgram

__all__ = [
    "Finish",
    "hlo_at_once",
    "hlo_of",
    "jaxpr_text",
    "read_fact",
    "slow_facts",
    "slow_facts_later",
    "stablehlo_of",
]

T = TypeVar("T")

Finish = Callable[[RecordData], RecordData]
"""Completes a record with what was left for later; it may be called in any thread, once."""

_LARGE_BYTES = 32 * 1024
"""StableHLO of more bytes than this makes a program large; its compile takes about a second or more."""

_GONE = "the program was large and JAX had dropped it before anybody looked"


def read_fact(missing: dict[str, str], name: str, get: Callable[[], T], default: T) -> T:
    """What `get` returns, or `default` with the error noted in `missing`: one fact that fails costs no other."""
    try:
        return get()
    except Exception as error:
        missing[name] = one_line(error)
        return default


def stablehlo_of(module: Any) -> Blob | None:
    """An MLIR module as bytecode; None when there is no module."""
    if module is None:
        return None
    out = io.BytesIO()
    module.operation.write_bytecode(file=out)
    return Blob(out.getvalue())


def hlo_of(executable: Any) -> Blob | None:
    """The optimized program of an executable, serialised when somebody reads it; None when there is no executable."""
    if executable is None:
        return None
    # The module, not the executable: it holds no device memory.
    module = executable.hlo_modules()[0]
    return Blob(make=module.as_serialized_hlo_module_proto)


def hlo_at_once(executable: Any) -> Blob | None:
    """The same, serialised: XLA's module of a small program takes 70 KB of memory, its bytes one."""
    blob = hlo_of(executable)
    if blob is not None:
        blob.read()
    return blob


def slow_facts(executable: Any, jaxpr: Any, text: str | None, missing: dict[str, str]) -> dict[str, Any]:
    """The fields of a record that take time; `text` is the jaxpr's, where it was printed already."""
    return {
        "jaxpr": text or read_fact(missing, "jaxpr", lambda: jaxpr_text(jaxpr), None),
        "cost": read_fact(missing, "cost", lambda: _cost(executable), {}),
        "memory": read_fact(missing, "memory", lambda: _memory(executable), None),
        "hlo_header": read_fact(missing, "hlo_header", lambda: _header(executable), None),
    }


def slow_facts_later(program: LiveProgram, stablehlo: Blob | None) -> Finish | None:
    """A way to read them when the call is over, or None when they are to be read at once.

    They can wait only where JAX keeps the program: it does so for as long as the jitted function lives, except for
    executables made with options of their own.
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
        missing = dict(data.missing)
        executable = getattr(_jax.known_computation(self.computation()), "xla_executable", None)
        jaxpr = self.jaxpr()
        facts = slow_facts(executable, jaxpr, self.text, missing) if executable is not None else {"jaxpr": self.text}
        absent = {"cost": executable, "memory": executable, "jaxpr": self.text or jaxpr}
        missing |= {name: _GONE for name, source in absent.items() if source is None}
        return dataclasses.replace(data, **facts, missing=missing)


def jaxpr_text(jaxpr: Any) -> str | None:
    """A jaxpr as JAX prints it, without colours; None when there is none."""
    return None if jaxpr is None else jaxpr.pretty_print(use_color=False)


def _cost(executable: Any) -> dict[str, float]:
    """Per-operand entries ("bytes accessed0{}") are left out: they are derived, and thousands."""
    found = executable.cost_analysis()
    found = found[0] if isinstance(found, list) else found or {}
    return {str(key): float(value) for key, value in sorted(found.items()) if not str(key).endswith("}")}


def _header(executable: Any) -> str | None:
    """XLA prints its configuration of a module, which the proto lacks, on the first line.

    Printing takes a third of the time that serialising does (measured), and less without what is cut off here.
    """
    return None if executable is None else _jax.hlo_header(executable.hlo_modules()[0])


def _memory(executable: Any) -> MemoryStats:
    stats = executable.get_compiled_memory_stats()
    return MemoryStats(
        argument_bytes=stats.argument_size_in_bytes,
        output_bytes=stats.output_size_in_bytes,
        alias_bytes=stats.alias_size_in_bytes,
        temporary_bytes=stats.temp_size_in_bytes,
        code_bytes=stats.generated_code_size_in_bytes,
    )
