"""Compiles a function on request, without running it, and without compiling twice.

Not its job: other compiles (`listener`).
"""

from __future__ import annotations

import dataclasses
import gc
import inspect
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import jax

from pjit_inspect.errors import CaptureError
from pjit_inspect.guard import read_fact
from pjit_inspect.model.program.source import SOURCE_LINES, Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.key.compile_key import call_facts, passed_as
from pjit_inspect.observe.live.contents import Finish, jaxpr_text
from pjit_inspect.observe.live.frames import cell_name, wrapped_function
from pjit_inspect.observe.live.library_names import names_of_call
from pjit_inspect.observe.live.program import program_of_computation
from pjit_inspect.observe.watch.listener import observed
from pjit_inspect.observe.watch.record import make_record


def compile_record(fn: Callable[..., Any] | Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RecordData:
    """The record of `fn` for these arguments, compiled now unless JAX holds its executable already.

    `fn` is a jitted function, a plain one (jitted here), or a `jax.stages.Traced` or `Lowered` (then without
    arguments); arguments are arrays or `ShapeDtypeStruct`s. Tracing and compile errors of `fn` pass through. Raises
    CaptureError when the compile gives nothing to record.
    """
    made: list[tuple[RecordData, Finish]] = []
    with observed(lambda data, finish: made.append((data, finish))):
        traced, lowered = _lower(fn, args, kwargs)
        compiled = lowered.compile()
    own = [(data, finish) for data, finish in made if data.origin != "eager"]
    if own:
        # Tracing may compile small functions on the way; the one asked for compiles last.
        data, finish = own[-1]
        return _with_passed(_with_jaxpr(finish(data), traced, lowered), fn, args, kwargs)
    computation = _computation_of(lowered)
    if _jax.known_computation(computation) is None:
        raise CaptureError(f"{fn!r} compiled to {compiled!r}, of which this version of JAX shows no executable")
    program = program_of_computation(computation, getattr(traced, "jaxpr", None))
    frame = sys._getframe(1)  # noqa: SLF001
    # Nothing was lowered just now: the requested shardings were not seen.
    call = None if traced is None else call_facts({}, traced=traced)
    data, finish = make_record(program, {}, frame, cached="memory", call=call)
    return _with_passed(_with_jaxpr(finish(data), traced, lowered), fn, args, kwargs)


def _with_passed(data: RecordData, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RecordData:
    """The record with the types of the passed arguments, of which JAX keeps only descriptions."""
    data = _with_names(data, fn, args, kwargs)
    if data.key is None or (hasattr(fn, "lower") and not _jax.is_jitted(fn)):
        # Wrappers of other packages pass what they like.
        return data
    places, names = _jax.static_arguments(fn)
    static = {place % len(args) for place in places if -len(args) <= place < len(args)}
    by_place = [arg for place, arg in enumerate(args) if place not in static]
    leaves = jax.tree.leaves((by_place, {name: arg for name, arg in kwargs.items() if name not in names}))
    hoisted = len(data.inputs) - len(leaves)
    if hoisted < 0 or len(leaves) != len(data.key.arguments):
        return data
    passed = [*[""] * hoisted, *(passed_as(type(leaf)) for leaf in leaves)]
    inputs = (dataclasses.replace(one, passed=kind) for one, kind in zip(data.inputs, passed, strict=True))
    return dataclasses.replace(data, inputs=tuple(inputs))


def _with_names(data: RecordData, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RecordData:
    """The record with the user's names of arguments and results, where a wrapper hides them from JAX."""
    names = [layout.path for layout in data.inputs], [layout.path for layout in data.outputs]
    missing = dict(data.missing)
    named = read_fact(missing, "names", lambda: names_of_call(fn, args, kwargs, *names), names)
    data = dataclasses.replace(data, missing=missing)
    inputs, outputs = (
        tuple(dataclasses.replace(layout, path=path) for layout, path in zip(layouts, paths, strict=True))
        for layouts, paths in zip((data.inputs, data.outputs), named, strict=True)
    )
    data = dataclasses.replace(data, inputs=inputs, outputs=outputs)
    return _of_pmap(data, fn) if _jax.is_pmapped(fn) else data


def _of_pmap(data: RecordData, fn: Any) -> RecordData:
    """The record as one of a call of `pmap` is: it speaks of the function that was given to it."""
    function = inspect.unwrap(fn)
    if not isinstance(function, FunctionType):
        return dataclasses.replace(data, transform="pmap")
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    place = Frame(file=file, line=line, cell=cell_name(file))
    return dataclasses.replace(data, name=function.__name__, transform="pmap", defined_at=place)


def lower_record(
    fn: Callable[..., Any] | Any, args: tuple[Any, ...], kwargs: dict[str, Any], platform: str
) -> RecordData:
    """The record of `fn` lowered for a platform that may be absent, without compiling; else as `compile_record`."""
    traced, lowered = _lower(fn, args, kwargs, platform)
    program = program_of_computation(_computation_of(lowered), getattr(traced, "jaxpr", None))
    frame = sys._getframe(1)  # noqa: SLF001
    data, finish = make_record(program, {}, frame)
    missing = dict.fromkeys(("hlo", "cost", "memory", "hlo_header"), "it was lowered only, and not compiled")
    missing |= {name: reason for name, reason in data.missing.items() if name == SOURCE_LINES}
    return _with_jaxpr(dataclasses.replace(finish(data), missing=missing), traced, lowered)


def _with_jaxpr(data: RecordData, traced: Any, lowered: Any) -> RecordData:
    """The record with its jaxpr, if its tracing was not seen."""
    if data.jaxpr is not None:
        return data
    missing = dict(data.missing)
    jaxpr = getattr(traced, "jaxpr", None) or _live_jaxpr(lowered)
    text = read_fact(missing, "jaxpr", lambda: jaxpr_text(jaxpr), None)
    place = read_fact(missing, "defined_at", lambda: wrapped_function(jaxpr), None) or data.defined_at
    if text is None:
        missing.setdefault("jaxpr", "it was not seen being traced, and JAX shows it no more")
    return dataclasses.replace(data, jaxpr=text, defined_at=place, missing=missing)


def _live_jaxpr(lowered: Any) -> Any:
    """The jaxpr that has the same debug information object as the lowered program; None if JAX keeps none, or several.

    A lowered program does not hold the jaxpr it came from, but JAX's cache of traces does, while the function lives.
    """
    arguments = getattr(_computation_of(lowered), "compile_args", {})
    info = getattr(arguments.get("all_args_info"), "debug_info", None)
    if info is None:
        return None
    found = [held for held in gc.get_referrers(info) if type(held).__name__ == "Jaxpr" and held.debug_info is info]
    # From JAX 0.12 on there are two, which read the same.
    return found[0] if len({str(jaxpr) for jaxpr in found}) == 1 else None


def _lower(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], platform: str | None = None) -> tuple[Any, Any]:
    """The traced (None where a wrapper hides it) and the lowered program, for a platform or where the arrays are."""
    if platform is not None:
        return _lower_for(platform, fn, args, kwargs)
    if isinstance(fn, (jax.stages.Lowered, jax.stages.Traced)):
        if args or kwargs:
            raise CaptureError(f"a {type(fn).__name__} takes no arguments: it has its own")
        return (fn, fn.lower()) if isinstance(fn, jax.stages.Traced) else (None, fn)
    if isinstance(fn, jax.stages.Compiled):
        raise CaptureError("inspect cannot look into a Compiled: pass the function with its arguments, or the Lowered")
    if not callable(fn):
        raise CaptureError(
            f"inspect needs a function, not a {type(fn).__name__}: pass the function, then its arguments"
        )
    jitted = fn if hasattr(fn, "lower") else jax.jit(fn)
    if not hasattr(jitted, "trace"):
        return None, jitted.lower(*args, **kwargs)
    traced = jitted.trace(*args, **kwargs)
    return traced, traced.lower()


def _lower_for(platform: str, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    if isinstance(fn, (jax.stages.Lowered, jax.stages.Compiled)):
        raise CaptureError(
            f"a {type(fn).__name__} is lowered already: pass the function with its arguments, so that it can be "
            f"lowered for {platform}"
        )
    if isinstance(fn, jax.stages.Traced):
        traced = fn
    elif callable(fn):
        traced = (fn if hasattr(fn, "trace") else jax.jit(fn)).trace(*args, **kwargs)
    else:
        raise CaptureError(
            f"inspect needs a function, not a {type(fn).__name__}: pass the function, then its arguments"
        )
    return traced, traced.lower(lowering_platforms=(platform,))


def _computation_of(lowered: Any) -> Any:
    # equinox and flax wrap `jax.stages.Lowered` in a class of their own.
    inner = getattr(lowered, "lowered", lowered)
    return getattr(inner, "_lowering", None)
