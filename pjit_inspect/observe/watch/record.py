"""Turns one live program and the stack of its compile into a frozen record.

Each fact is read separately: one that fails is named in `RecordData.missing` and affects no other. Not its job:
deciding when to record (`listener`).
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import linecache
import platform
import re
import sys
import threading
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import jax

from pjit_inspect.guard import read_fact
from pjit_inspect.model.program.source import SOURCE_LINES, Frame, SourceText
from pjit_inspect.model.record.compile_key import CompileKey
from pjit_inspect.model.record.record import Origin, RecordData, Timings
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.key.asked import asked_of
from pjit_inspect.observe.key.compile_key import CallFacts, call_facts, key_of
from pjit_inspect.observe.key.outside_jit import Operation, named_for, operation_outside_jit
from pjit_inspect.observe.live.contents import (
    Finish,
    hlo_at_once,
    hlo_of,
    printed,
    printed_later,
    slow_facts,
    slow_facts_later,
    stablehlo_of,
)
from pjit_inspect.observe.live.frames import (
    caller_of_jax,
    cell_name,
    is_jax_file,
    is_user_file,
    read_source,
    to_frame,
    user_frame,
    wrapped_function,
)
from pjit_inspect.observe.live.layouts import Layouts, argument_names, result_names
from pjit_inspect.observe.live.library_names import pmap_names, restore_names
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.shardings import find_meshes, to_devices
from pjit_inspect.observe.live.untouched import plain_attribute, type_name

# Files of packages that define nothing but wrappers around functions of others, whatever these are called.
_WRAPPER_FILES = ("/equinox/_jit.py",)

_FLAGS = (
    "jax_use_shardy_partitioner",
    "jax_enable_x64",
    "jax_default_matmul_precision",
    "jax_threefry_partitionable",
    "jax_numpy_dtype_promotion",
    "jax_disable_jit",
)


def make_record(
    program: LiveProgram,
    stages: dict[str, FrameType],
    frame: FrameType | None,
    *,
    timings: Timings = Timings(),  # noqa: B008  (frozen)
    cached: Any = None,
    call: CallFacts | None = None,
    disk: Any = None,
) -> tuple[RecordData, Finish]:
    """Freeze one program, and a way to complete the record when the call is over.

    `call` holds what its lowering showed, for a program that is compiled ahead of time; `disk` says what the
    compilation cache on disk gave.

    Nothing of `program` or the frames stays alive in either.
    """
    missing = program.missing
    read = functools.partial(read_fact, missing)
    read("pmap", lambda: _look_through_pmap(program, stages), None)
    read("callable", lambda: _name_callable(program, stages), None)
    operation = read("operation", lambda: operation_outside_jit(stages), None)
    if operation is not None:
        program.debug_info = named_for(operation, program.debug_info)
    defined_at = read(
        "defined_at", lambda: None if "eager" in stages else _definition(program.debug_info, program.jaxpr), None
    )
    caller = to_frame(user_frame(operation.caller if operation is not None else frame))
    meshes = read("mesh", lambda: find_meshes((*program.in_shardings, *program.out_shardings), program.meshes), ())
    arguments = argument_names(program.debug_info, len(program.all_avals), program.constants)
    results = result_names(program.debug_info, len(program.out_avals))
    names = (arguments, results)
    arguments, results = read("names", lambda: restore_names(frame, *_trees(stages), *names), names)
    stablehlo = read("stablehlo", lambda: stablehlo_of(program.module), None)

    transform = _transform(stages) if operation is None else operation.transform

    facts = call or read("key", lambda: call_facts(stages), None)

    def key() -> CompileKey | None:
        if facts is None:
            return None
        shown = _direction(stages, transform)
        return key_of(
            program, stages, frame, facts, (arguments, results), transform=shown, timings=timings, disk=disk,
            operation=operation,
        )  # fmt: skip

    seen = (facts.leaves, facts.results) if facts is not None else ((), ())
    asked = read("asked", lambda: asked_of(program, arguments, transform, *seen), ((), ()))
    layouts = Layouts.of(program, (arguments, results), meshes, asked)
    can_wait = read("layouts", layouts.can_wait, False)
    later = read("later", lambda: slow_facts_later(program, stablehlo), None)
    rest = later or printed_later(program)
    hlo = hlo_at_once if later is None else hlo_of
    data = RecordData(
        name=_name(program),
        transform=transform,
        primitive=read("primitive", lambda: _primitive(stages), None),
        origin=read("origin", lambda: _origin(stages, frame, program.debug_info, operation), "user"),
        user_frame=caller,
        defined_at=defined_at,
        mesh=meshes[0] if meshes else None,
        meshes=meshes,
        devices=read("devices", lambda: to_devices(tuple(program.devices)), ()),
        process_index=read("process_index", jax.process_index, None),
        process_count=read("process_count", jax.process_count, None),
        stablehlo=stablehlo,
        hlo=read("hlo", lambda: hlo(program.executable), None),
        timings=timings,
        cached=cached,
        versions=read("versions", _versions, {}),
        flags=read("flags", lambda: _flags(program), {}),
        sources=read("sources", lambda: _sources(caller, defined_at), ()),
        key=read("key", key, None),
        missing=missing,
        **({} if can_wait else layouts.read(missing)),
        **({} if later is not None else slow_facts(program.executable, missing)),
        **({} if rest is not None else printed(program.jaxpr, program.jaxpr_text, missing)),
    )
    if reason := _jax.lacks_lines(len(program.devices)):
        missing[SOURCE_LINES] = reason
    return data, _Once(layouts if can_wait else None, rest)


class _Once:
    """Completes a record with the facts left for later, once: all logs with the compile then have the same data.

    It keeps no record alive: a full log releases programs, and others may have released the record.
    """

    def __init__(self, layouts: Layouts | None, rest: Finish | None) -> None:
        self.can_wait: bool = rest is None or getattr(rest, "can_wait", False)
        self._layouts, self._rest = layouts, rest
        self._lock = threading.RLock()
        self._given: Callable[[], RecordData | None] = _nothing
        self._begun: Callable[[], RecordData | None] = _nothing
        self._made: Callable[[], RecordData | None] = _nothing

    def with_layouts(self, data: RecordData) -> RecordData:
        """The record with its inputs and outputs, which are quick to read and needed to list and compare records."""
        with self._lock:
            # What is complete has them, too, and is the same for all.
            begun = self._made() or self._begun()
            if begun is None or not any(data is one() for one in (self._given, self._begun, self._made)):
                begun = self._laid_out(data)
                self._given, self._begun, self._made = weakref.ref(data), weakref.ref(begun), _nothing
            return begun

    def __call__(self, data: RecordData) -> RecordData:
        with self._lock:
            begun = self.with_layouts(data)
            made = self._made()
            if made is None:
                made = begun if self._rest is None else self._rest(begun)
                self._made = weakref.ref(made)
            return made

    def _laid_out(self, data: RecordData) -> RecordData:
        if self._layouts is None:
            return data
        missing = dict(data.missing)
        return dataclasses.replace(data, **self._layouts.read(missing), missing=missing)


def _nothing() -> None:
    return None


# ---------------------------------------------------------------- who and where


def _name(program: LiveProgram) -> str:
    name = _place(program.debug_info)[0]
    if name and name != "<unknown>":
        return name
    return program.name.removeprefix("jit_").removeprefix("pmap_") or "<unknown>"


def _trees(stages: dict[str, FrameType]) -> tuple[Any, Any]:
    """The tree structures of the call's arguments and results; None where no frame shows them."""
    if "dispatch" in stages:
        call = stages["dispatch"].f_locals.get("p")
    else:
        call = stages["ahead"].f_locals.get("self") if "ahead" in stages else None
    return getattr(call, "in_tree", None), getattr(call, "out_tree", None)


def _look_through_pmap(program: LiveProgram, stages: dict[str, FrameType]) -> None:
    """Replaces the wrapper that `jax.pmap` compiles by the function the user gave to it."""
    info = program.debug_info
    # JAX 0.8 compiles a method of `linear_util`, later versions a function of `pmap.py`.
    if "pmap" not in stages or not str(getattr(info, "func_filename", "")).endswith(("pmap.py", "linear_util.py")):
        stages.pop("pmap", None)
        return
    function = _jax.pmapped_function(stages["pmap"])
    if function is not None:
        code = function.__code__
        place = f"{function.__name__} at {code.co_filename}:{code.co_firstlineno}"
        names = pmap_names(stages["pmap"], function)
        arguments = tuple(names) if len(names) == len(program.all_avals) else None
        program.debug_info = info._replace(func_src_info=place, arg_names=arguments)


def _name_callable(program: LiveProgram, stages: dict[str, FrameType]) -> None:
    """JAX has no name for an object with `__call__`; the record calls it by its class."""
    function = _jitted_function(stages)
    if function is None or plain_attribute(function, "__name__") is not None or _place(program.debug_info)[1]:
        return
    code = plain_attribute(plain_attribute(type(function), "__call__"), "__code__")
    place = f" at {code.co_filename}:{code.co_firstlineno}" if code is not None else ""
    program.debug_info = program.debug_info._replace(func_src_info=type_name(type(function)) + place)


def _jitted_function(stages: dict[str, FrameType]) -> Any:
    """The object given to `jax.jit`, if a frame shows it."""
    return stages["dispatch"].f_locals.get("fun") if "dispatch" in stages else None


def _transform(stages: dict[str, FrameType]) -> str:
    return next((name for name in ("eager", "grad", "jvp", "vmap", "pmap", "shard_map") if name in stages), "jit")


def _direction(stages: dict[str, FrameType], transform: str) -> str:
    """Distinguishes `grad`'s forward and backward programs in the key."""
    if transform != "grad":
        return transform
    return "grad forward" if stages["grad"].f_code.co_name == "_pjit_linearize" else "grad backward"


def _primitive(stages: dict[str, FrameType]) -> str | None:
    return str(stages["eager"].f_locals["prim"].name) if "eager" in stages else None


def _definition(info: Any, jaxpr: Any) -> Frame | None:
    """The place where the compiled function is defined, or the one that it wraps.

    None for a wrapper that carries another function's name, which does not show.
    """
    name, file, line = _place(info)
    if (wrapped := wrapped_function(jaxpr)) is not None:
        return wrapped
    if not file or _is_renamed(file, line, name):
        return None
    return Frame(file=file, line=line, function=name, cell=cell_name(file))


_MAX_PLACES = 2_000
_places: dict[str, tuple[str, str, int]] = {}


def _place(info: Any) -> tuple[str, str, int]:
    """The name, file and line of the compiled function as JAX knows them; "" and 0 where it does not.

    JAX reads them from one text, each time anew; here it is done once for each text.
    """
    text = getattr(info, "func_src_info", None)
    known = _places.get(text) if type(text) is str else None
    if known is None:
        found = [getattr(info, f"func_{part}", None) for part in ("name", "filename", "lineno")]
        known = str(found[0] or ""), str(found[1] or ""), int(found[2] or 0)
        if type(text) is str:
            if len(_places) >= _MAX_PLACES:
                _places.clear()
            _places[text] = known
    return known


def _is_renamed(file: str, line: int, name: str) -> bool:
    """True for a package's wrapper that took over the name of the user's function, as `equinox.filter_jit` does.

    A decorated function begins at its first decorator, and the `def` may be a few lines lower.
    """
    if is_user_file(file) or is_jax_file(file):
        return False
    if file.replace("\\", "/").endswith(_WRAPPER_FILES):
        return True
    lines = [linecache.getline(file, number) for number in range(line, line + 12)]
    own = r"\blambda\b" if name == "<lambda>" else rf"\bdef {re.escape(name)}\b"
    return any(lines) and not any(re.search(own, text) for text in lines)


def _origin(stages: dict[str, FrameType], frame: FrameType | None, info: Any, operation: Operation | None) -> Origin:
    """The origin of a compile.

    A function defined in the user's code is the user's, however it was compiled. A package's function counts as the
    user's if the user's line called it (`jax.jit(optimizer.update)(...)`) and JAX does not jit it itself, or if it
    wraps a user's function and has its name.
    """
    if operation is not None:
        return "user" if is_user_file(operation.function.__code__.co_filename) else "library"
    if "eager" in stages:
        return "eager"
    name, file, line = _place(info)
    caller = caller_of_jax(frame)
    is_direct = caller is not None and is_user_file(caller.f_code.co_filename)
    if not file or is_jax_file(file):
        return (
            "user" if not file or (is_direct and not _is_jitted_by_its_module(_jitted_function(stages))) else "library"
        )
    if is_user_file(file) or _is_renamed(file, line, name):
        return "user"
    return "user" if is_direct else "library"


def _is_jitted_by_its_module(function: Any) -> bool:
    """True for functions that JAX jits itself (`jnp.convolve`), False for JAX functions that others gave to jit."""
    if function is None or plain_attribute(function, "lower") is not None:
        # A jitted function that is jitted again; without a frame that shows it, JAX's own is the likelier.
        return function is None
    home, name = plain_attribute(function, "__module__"), plain_attribute(function, "__name__")
    found = getattr(sys.modules.get(home), name, None) if type(home) is str and type(name) is str else None
    return found is not function


def _sources(*frames: Frame | None) -> tuple[SourceText, ...]:
    files = {frame.file: None for frame in frames if frame is not None and is_user_file(frame.file)}
    texts = (read_source(file) for file in files)
    return tuple(text for text in texts if text is not None)


# ---------------------------------------------------------------- under what


@functools.lru_cache(maxsize=1)
def _package_versions() -> dict[str, str]:
    names = ("jax", "jaxlib", "pjit-inspect", "flax", "equinox", "optax")
    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found | {"python": platform.python_version()}


def _versions() -> dict[str, str]:
    return dict(_package_versions())


def _flags(program: LiveProgram) -> dict[str, str]:
    try:
        known = _flag_texts(_jax.tracing_key())
    except TypeError:  # A value that has no hash.
        known = _flag_texts.__wrapped__(())
    return known | {name: str(value) for name, value in program.compiler_options.items()}


@_jax.cleared_with_jax
@functools.lru_cache(maxsize=64)
def _flag_texts(_: tuple[Any, ...]) -> dict[str, str]:
    """The present flags; cached by key, because JAX traces anew when one of them changes."""
    # One by one: JAX makes the dictionary of all of them anew each time.
    return {name: str(getattr(jax.config, name)) for name in _FLAGS if hasattr(jax.config, name)}
