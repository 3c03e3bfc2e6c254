"""Compiling a function because somebody asked for it, without running it, and without compiling twice.

Not its job: compiles that happen anyway (`listener`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax

from pjit_inspect.errors import CaptureError
from pjit_inspect.model.record import RecordData
from pjit_inspect.observe import _jax
from pjit_inspect.observe.contents import Finish
from pjit_inspect.observe.listener import observed
from pjit_inspect.observe.program import program_of_computation
from pjit_inspect.observe.record import make_record

__all__ = ["compile_record"]


def compile_record(fn: Callable[..., Any] | Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RecordData:
    """The record of `fn` for these arguments, compiled now unless JAX holds its executable already.

    `fn` is a jitted function, a plain one (jitted here), or a `jax.stages.Lowered` (then without arguments); arguments
    are arrays or `ShapeDtypeStruct`s. Tracing and compile errors of `fn` pass through. Raises CaptureError when the
    compile gives nothing to record.
    """
    made: list[tuple[RecordData, Finish]] = []
    with observed(lambda data, finish: made.append((data, finish))):
        traced, lowered = _lower(fn, args, kwargs)
        compiled = lowered.compile()
    own = [(data, finish) for data, finish in made if data.origin != "eager"]
    if own:
        # Tracing may compile small functions on the way; the one asked for compiles last.
        data, finish = own[-1]
        return finish(data)
    computation = _computation_of(lowered)
    if _jax.known_computation(computation) is None:
        raise CaptureError(f"{fn!r} compiled to {compiled!r}, of which this version of JAX shows no executable")
    program = program_of_computation(computation, getattr(traced, "jaxpr", None))
    frame = sys._getframe(1)  # noqa: SLF001
    data, finish = make_record(program, {}, frame, cached="memory")
    return finish(data)


def _lower(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The traced (None where a wrapper hides it) and the lowered program."""
    if isinstance(fn, jax.stages.Lowered):
        return None, fn
    if isinstance(fn, jax.stages.Compiled):
        raise CaptureError("inspect cannot look into a Compiled: pass the function with its arguments, or the Lowered")
    if not callable(fn):
        raise CaptureError(
            f"inspect needs a function, not a {type(fn).__name__}: pass the function, then its arguments"
        )
    if hasattr(fn, "trace"):
        traced = fn.trace(*args, **kwargs)
        return traced, traced.lower()
    jitted = fn if hasattr(fn, "lower") else jax.jit(fn)
    return None, jitted.lower(*args, **kwargs)


def _computation_of(lowered: Any) -> Any:
    # equinox and flax wrap `jax.stages.Lowered` in a class of their own.
    inner = getattr(lowered, "lowered", lowered)
    return getattr(inner, "_lowering", None)
