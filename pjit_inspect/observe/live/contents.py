"""What was compiled: the program's texts and bytes, XLA's figures about it, its inputs and outputs.

The jaxpr's text and XLA's figures take time that grows with the program (measured: up to a twentieth of its compile).
Of a large program they are therefore read later, by `Later`, when the user's call is over; of a small one the jaxpr is
printed when somebody reads it (`observe.live.waiting_jaxpr`). Not its job: who compiled
and where (`observe.watch.record`), JAX's sharding objects (`observe.live.shardings`).
"""

from __future__ import annotations

import dataclasses
import functools
import io
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

import jax

from pjit_inspect.guard import one_line
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import MemoryStats, RecordData
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.foreign_parameters import without_foreign
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.shardings import on_mesh, to_sharding
from pjit_inspect.observe.live.waiting_jaxpr import WaitingJaxpr, waiting_jaxpr

__all__ = [
    "Finish",
    "argument_names",
    "hlo_at_once",
    "hlo_of",
    "input_layouts",
    "jaxpr_text",
    "output_layouts",
    "printed",
    "printed_later",
    "read_fact",
    "result_names",
    "slow_facts",
    "slow_facts_later",
    "stablehlo_of",
]

T = TypeVar("T")

Finish = Callable[[RecordData], RecordData]
"""Completes a record with what was left for later; it may be called in any thread, once.

One with a true attribute `can_wait` holds what it needs; of any other that is lost when JAX drops the program.
"""

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
    return None if executable is None else Blob(executable.hlo_modules()[0].as_serialized_hlo_module_proto())


def slow_facts(executable: Any, missing: dict[str, str]) -> dict[str, Any]:
    """The fields of a record that take time to ask XLA for."""
    stats = read_fact(missing, "memory", lambda: executable.get_compiled_memory_stats(), None)
    return {
        "cost": read_fact(missing, "cost", lambda: _cost(executable), {}),
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
        missing = dict(data.missing)
        text = read_fact(missing, "jaxpr", self.waiting.text, None)
        return dataclasses.replace(data, jaxpr=text, missing=missing)


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
        facts: dict[str, Any] = {"jaxpr": self.text}
        if executable is not None:
            facts = slow_facts(executable, missing) | printed(jaxpr, self.text, missing)
        absent = {"cost": executable, "memory": executable, "jaxpr": self.text or jaxpr}
        missing |= {name: _GONE for name, source in absent.items() if source is None}
        return dataclasses.replace(data, **facts, missing=missing)


def jaxpr_text(jaxpr: Any) -> str | None:
    """A jaxpr as JAX prints it, without colours; None when there is none.

    Parameters of a class of the user's that has a `__repr__` of its own stand there as `<Class>`: JAX would run it.
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
    )


def _buffers(stats: Any) -> Blob | None:
    """XLA's buffer assignment, which it gives for CPUs; None elsewhere."""
    content = getattr(stats, "serialized_buffer_assignment_proto", b"")
    return Blob(content) if content else None


def input_layouts(program: LiveProgram, names: Sequence[str], meshes: Sequence[Mesh] = ()) -> tuple[ArrayLayout, ...]:
    """Every argument of the traced function in order, those that jit dropped as unused included.

    A sharding that XLA chose gets its spec in the axis names of the first of `meshes` that it follows.
    """
    if len(program.kept) != len(program.in_avals) or max(program.kept, default=-1) >= len(program.all_avals):
        # References and hoisted constants change the argument list; then names cannot be matched by position.
        names, avals = argument_names(None, len(program.in_avals)), program.in_avals
        position = {index: index for index in range(len(avals))}
    else:
        avals = program.all_avals
        position = {index: place for place, index in enumerate(sorted(program.kept))}
    layouts = []
    for index, aval in enumerate(avals):
        place = position.get(index)
        sharding, donated = _at(program.in_shardings, place), bool(_at(program.donated, place))
        kept = place is not None
        layouts.append(_layout(names[index], aval, sharding, program, meshes, donated=donated, kept=kept))
    return tuple(layouts)


def output_layouts(program: LiveProgram, names: Sequence[str], meshes: Sequence[Mesh] = ()) -> tuple[ArrayLayout, ...]:
    """Every result of the function in order; `meshes` as in `input_layouts`."""
    return tuple(
        _layout(name, aval, _at(program.out_shardings, place), program, meshes)
        for place, (name, aval) in enumerate(zip(names, program.out_avals, strict=True))
    )


def argument_names(debug_info: Any, count: int, constants: int = 0) -> list[str]:
    """JAX's paths of the arguments; `arg[3]` where it has none.

    The first `constants` of them are arrays the function closes over, which JAX may pass as arguments.
    """
    names = _names(getattr(debug_info, "arg_names", None), count, "arg")
    return [f"constant[{i}]" if i < constants else name for i, name in enumerate(names)]


def result_names(debug_info: Any, count: int) -> list[str]:
    """JAX's paths of the results; `result[0]` where it has none."""
    paths = getattr(debug_info, "result_paths", None)
    return _names(paths if isinstance(paths, tuple) else None, count, "result")


def _layout(
    name: str, aval: Any, sharding: Any, program: LiveProgram, meshes: Sequence[Mesh], *,
    donated: bool = False, kept: bool = True,
) -> ArrayLayout:  # fmt: skip
    shape = tuple(int(n) for n in getattr(aval, "shape", ()))
    placed = None
    if hasattr(sharding, "devices_indices_map"):
        try:
            placed = functools.reduce(on_mesh, meshes, to_sharding(sharding, shape))
        except Exception as error:
            program.missing[f"sharding of {name}"] = repr(error)
    dtype = _dtype_name(aval)
    return ArrayLayout(path=name, dtype=dtype, global_shape=shape, sharding=placed, donated=donated, kept=kept)


def _dtype_name(aval: Any) -> str:
    dtype = getattr(aval, "dtype", None)
    return str(getattr(aval, "str_short", lambda: "unknown")()) if dtype is None else _name_of_dtype(dtype)


@functools.lru_cache(maxsize=256)
def _name_of_dtype(dtype: Any) -> str:
    # The type of gradients of integers is a numpy record without fields, which prints as a list.
    return "float0" if dtype == jax.dtypes.float0 else str(dtype)


def _at(items: Sequence[Any], place: int | None) -> Any:
    return items[place] if place is not None and place < len(items) else None


def _names(known: Sequence[str] | None, count: int, fallback: str) -> list[str]:
    if known is None or len(known) != count:
        known = [""] * count
    return [" ".join(name.split()) or f"{fallback}[{index}]" for index, name in enumerate(known)]
