"""One live program and the stack it was compiled under, turned into a frozen record.

Each fact is read on its own: one that fails is named in `RecordData.missing` and costs no other. Not its job: when to
record (`listener`).
"""

from __future__ import annotations

import functools
import importlib.metadata
import io
import linecache
import platform
from collections.abc import Callable
from types import FrameType
from typing import Any, TypeVar

import jax

from pjit_inspect.model.blob import Blob
from pjit_inspect.model.record import MemoryStats, Origin, RecordData, Timings
from pjit_inspect.model.source import Frame, SourceText
from pjit_inspect.observe import _jax
from pjit_inspect.observe.arrays import argument_names, input_layouts, output_layouts, result_names
from pjit_inspect.observe.frames import (
    caller_of_jax,
    cell_name,
    is_jax_file,
    is_user_file,
    read_source,
    to_frame,
    user_frame,
)
from pjit_inspect.observe.library_names import restore_names
from pjit_inspect.observe.program import LiveProgram
from pjit_inspect.observe.shardings import find_meshes, to_device

__all__ = ["make_record"]

T = TypeVar("T")

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
) -> RecordData:
    """Freeze one program. Nothing of `program` or the frames stays alive in the result."""
    missing = program.missing

    def read(name: str, get: Callable[[], T], default: T) -> T:
        try:
            return get()
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            return default

    read("pmap", lambda: _look_through_pmap(program, stages), None)
    defined_at = read("defined_at", lambda: None if "eager" in stages else _definition(program.debug_info), None)
    caller = to_frame(user_frame(frame))
    meshes = read("mesh", lambda: find_meshes((*program.in_shardings, *program.out_shardings), program.meshes), ())
    arguments = argument_names(program.debug_info, len(program.all_avals))
    results = result_names(program.debug_info, len(program.out_avals))
    names = (arguments, results)
    arguments, results = read("names", lambda: restore_names(frame, *_trees(stages), *names), names)
    return RecordData(
        name=_name(program),
        transform=_transform(stages),
        primitive=read("primitive", lambda: _primitive(stages), None),
        origin=read("origin", lambda: _origin(stages, frame, program.debug_info), "user"),
        user_frame=caller,
        defined_at=defined_at,
        inputs=read("inputs", lambda: input_layouts(program, arguments, meshes), ()),
        outputs=read("outputs", lambda: output_layouts(program, results, meshes), ()),
        mesh=meshes[0] if meshes else None,
        meshes=meshes,
        devices=read("devices", lambda: tuple(to_device(d) for d in program.devices), ()),
        jaxpr=read("jaxpr", lambda: _jaxpr_text(program.jaxpr), None),
        stablehlo=read("stablehlo", lambda: _stablehlo(program.module), None),
        hlo=read("hlo", lambda: _hlo(program.executable), None),
        cost=read("cost", lambda: _cost(program.executable), {}),
        memory=read("memory", lambda: _memory(program.executable), None),
        timings=timings,
        cached=cached,
        versions=read("versions", _versions, {}),
        flags=read("flags", lambda: _flags(program), {}),
        sources=read("sources", lambda: _sources(caller, defined_at), ()),
        missing=missing,
    )


# ---------------------------------------------------------------- who and where


def _name(program: LiveProgram) -> str:
    info = program.debug_info
    name = str(getattr(info, "func_name", "") or "")
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
    """`jax.pmap` compiles a wrapper of its own; the record speaks of the function the user gave it."""
    info = program.debug_info
    # JAX 0.8 compiles a method of `linear_util`, later versions a function of `pmap.py`.
    if "pmap" not in stages or not str(getattr(info, "func_filename", "")).endswith(("pmap.py", "linear_util.py")):
        stages.pop("pmap", None)
        return
    function = _jax.pmapped_function(stages["pmap"])
    if function is not None:
        code = function.__code__
        place = f"{function.__name__} at {code.co_filename}:{code.co_firstlineno}"
        program.debug_info = info._replace(func_src_info=place, arg_names=None)


def _transform(stages: dict[str, FrameType]) -> str:
    return next((name for name in ("eager", "grad", "vmap", "pmap", "shard_map") if name in stages), "jit")


def _primitive(stages: dict[str, FrameType]) -> str | None:
    return str(stages["eager"].f_locals["prim"].name) if "eager" in stages else None


def _definition(info: Any) -> Frame | None:
    """Where the compiled function is defined; None when JAX compiled a wrapper that carries another's name."""
    file, line = getattr(info, "func_filename", None), getattr(info, "func_lineno", None)
    if not file or _is_renamed(file, line or 0, str(info.func_name)):
        return None
    return Frame(file=file, line=line or 0, function=str(info.func_name), cell=cell_name(file))


def _is_renamed(file: str, line: int, name: str) -> bool:
    """True for a package's wrapper that took over the name of the user's function, as `equinox.filter_jit` does.

    A decorated function begins at its first decorator, so the `def` may stand a few lines lower.
    """
    if is_user_file(file) or is_jax_file(file) or not name.isidentifier():
        return False
    lines = [linecache.getline(file, number) for number in range(line, line + 12)]
    return any(lines) and not any(f"def {name}" in text for text in lines)


def _origin(stages: dict[str, FrameType], frame: FrameType | None, info: Any) -> Origin:
    """Whose compile this is.

    A function defined in the user's code is the user's, however it came to be compiled. One that a package defines is
    the user's when the user's own line called it and it is not part of JAX (`jax.jit(optimizer.update)(...)`), or when
    it wraps a function of the user's and bears its name.
    """
    if "eager" in stages:
        return "eager"
    file, line = str(getattr(info, "func_filename", None) or ""), getattr(info, "func_lineno", None)
    if not file or is_jax_file(file):
        return "library" if file else "user"
    if is_user_file(file) or _is_renamed(file, line or 0, str(info.func_name)):
        return "user"
    caller = caller_of_jax(frame)
    return "user" if caller is not None and is_user_file(caller.f_code.co_filename) else "library"


def _sources(*frames: Frame | None) -> tuple[SourceText, ...]:
    files = {frame.file: None for frame in frames if frame is not None and is_user_file(frame.file)}
    texts = (read_source(file) for file in files)
    return tuple(text for text in texts if text is not None)


# ---------------------------------------------------------------- what was compiled


def _jaxpr_text(jaxpr: Any) -> str | None:
    return None if jaxpr is None else jaxpr.pretty_print(use_color=False)


def _stablehlo(module: Any) -> Blob | None:
    if module is None:
        return None
    out = io.BytesIO()
    module.operation.write_bytecode(file=out)
    return Blob(out.getvalue())


def _hlo(executable: Any) -> Blob | None:
    if executable is None:
        return None
    # The module, not the executable: it holds no device memory. Serialising waits until somebody looks.
    module = executable.hlo_modules()[0]
    return Blob(make=module.as_serialized_hlo_module_proto)


def _cost(executable: Any) -> dict[str, float]:
    """Per-operand entries ("bytes accessed0{}") are left out: they are derived, and thousands."""
    found = executable.cost_analysis()
    found = found[0] if isinstance(found, list) else found or {}
    return {str(key): float(value) for key, value in sorted(found.items()) if not str(key).endswith("}")}


def _memory(executable: Any) -> MemoryStats:
    stats = executable.get_compiled_memory_stats()
    return MemoryStats(
        argument_bytes=stats.argument_size_in_bytes,
        output_bytes=stats.output_size_in_bytes,
        alias_bytes=stats.alias_size_in_bytes,
        temporary_bytes=stats.temp_size_in_bytes,
        code_bytes=stats.generated_code_size_in_bytes,
    )


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
    values = {name: jax.config.values[name] for name in _FLAGS if name in jax.config.values}
    return {name: str(value) for name, value in (values | program.compiler_options).items()}
