"""Every private or version-dependent name of JAX this package relies on, in one place.

Read on JAX 0.8.1, 0.8.2, 0.9.2, 0.10.2, 0.11.0 and 0.12.0. Not its job: whether they are there
(`observe.contract.contract`), deciding what to record.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeVar

import jax
import jax.monitoring
import jaxlib.version
import numpy as np

from pjit_inspect.guard import shielded

try:
    from jax._src.util import register_cache as _register_cache
except ImportError:
    _register_cache = None

T = TypeVar("T")

TRACE_EVENT = "/jax/core/compile/jaxpr_trace_duration"
LOWER_EVENT = "/jax/core/compile/jaxpr_to_mlir_module_duration"
COMPILE_EVENT = "/jax/core/compile/backend_compile_duration"
CACHE_HIT_EVENT = "/jax/compilation_cache/cache_hits"
CACHE_REQUEST_EVENT = "/jax/compilation_cache/compile_requests_use_cache"


# ---------------------------------------------------------------- listening


def register(on_duration: Callable[..., None], on_event: Callable[..., None], on_start: Callable[..., None]) -> None:
    """Ask JAX to call `on_duration(event, seconds, **facts)` and `on_event(event, **facts)`.

    `on_start(event, time, **facts)` is called at the begin of work that `on_duration` reports later.
    """
    jax.monitoring.register_event_duration_secs_listener(on_duration)
    jax.monitoring.register_event_listener(on_event)
    jax.monitoring.register_scalar_listener(on_start)


def unregister(on_duration: Callable[..., None], on_event: Callable[..., None], on_start: Callable[..., None]) -> None:
    """Undo `register`; listeners that were cleared meanwhile are no error.

    JAX's functions are not used: they compare our listeners with the user's, whose `__eq__` would run.
    """
    from jax._src import monitoring

    own = (on_duration, on_event, on_start)
    every: tuple[Any, ...] = (
        monitoring._event_duration_secs_listeners,
        monitoring._event_listeners,
        monitoring._scalar_listeners,
    )
    for listeners in every:
        listeners[:] = [one for one in listeners if not any(one is mine for mine in own)]


# ---------------------------------------------------------------- reading the stack of a compile

_STAGES = {
    ("interpreters/pxla.py", "from_hlo"): "program",
    ("interpreters/pxla.py", "_cached_compilation"): "backend",
    ("interpreters/pxla.py", "compile"): "computation",
    ("interpreters/pxla.py", "_cached_lowering_to_hlo"): "lowering",
    ("pjit.py", "_pjit_call_impl_python"): "call",
    ("pjit.py", "_run_python_pjit"): "dispatch",
    ("pjit.py", "_python_pjit_helper"): "dispatch",
    ("pjit.py", "cache_miss"): "jit",
    ("pjit.py", "_infer_params"): "infer",
    ("stages.py", "compile"): "ahead",
    ("stages.py", "lower"): "ahead_lower",
    ("pjit.py", "_trace_for_jit"): "trace",
    ("pjit.py", "_create_pjit_jaxpr"): "trace",
    ("pjit.py", "_pjit_lower"): "lower",
    ("dispatch.py", "apply_primitive"): "eager",
    ("pjit.py", "_pjit_linearize"): "grad",
    ("pjit.py", "_pjit_jvp"): "jvp",
    ("pjit.py", "_pjit_transpose"): "grad",
    ("pjit.py", "_pjit_transpose_fancy"): "grad",
    ("interpreters/ad.py", "backward_pass"): "grad",
    ("interpreters/ad.py", "backward_pass3"): "grad",
    ("pjit.py", "_pjit_batcher"): "vmap",
    ("pmap.py", "wrapped"): "pmap",
    ("shard_map.py", "_shard_map_impl"): "shard_map",
}
_STAGE_NAMES = frozenset(name for _, name in _STAGES)


def stages_of(frame: FrameType | None, *, until: Collection[str] = ()) -> dict[str, FrameType]:
    """The innermost frame of each stage of a compile that is on the stack, by the stage's name.

    Outwards as far as the first of the stages `until`, which is among them.
    """
    stages: dict[str, FrameType] = {}
    while frame is not None:
        code = frame.f_code
        # A stack may have a hundred frames, and few have one of these names.
        name = code.co_name
        if name in _STAGE_NAMES and (stage := _STAGES.get(_place(code.co_filename, name))) is not None:
            stages.setdefault(stage, frame)
            if stage in until:
                break
        frame = frame.f_back
    return stages


# Frames under which JAX compiles programs that only cut arrays up and put them on devices.
_PLACING = {
    ("interpreters/pxla.py", "shard_args"),
    ("interpreters/pxla.py", "batched_device_put"),
    ("dispatch.py", "_device_put_impl"),
    ("dispatch.py", "_batched_device_put_impl"),
    ("api.py", "device_put"),
}
_TRACEBACKS = "traceback_util.py"


def _file_and_name(code: CodeType) -> tuple[str, str]:
    return _place(code.co_filename, code.co_name)


@functools.lru_cache(maxsize=4096)
def _place(file: str, name: str) -> tuple[str, str]:
    """The path of a function's file within JAX, "" for any other file, and its name."""
    head, _, tail = file.replace("\\", "/").rpartition("/jax/_src/")
    return tail if head else "", name


@functools.lru_cache(maxsize=4096)
def part_of(file: str, name: str) -> str:
    """The purpose of a JAX function, from the file and the name of its code.

    "placing" moves arrays and computes nothing; "stage" is a stage of a compile, not a function that users call;
    "traceback" is JAX's wrapper around public functions that shortens tracebacks; "" is anything else.
    """
    place = _place(file, name)
    if place in _PLACING:
        return "placing"
    if place in _STAGES:
        return "stage"
    return "traceback" if place[0] == _TRACEBACKS else ""


def checked_argument(frames: Sequence[FrameType]) -> str:
    """The argument (`params['w']`) or result whose sharding the frames of JAX refused; "" when it is not known."""
    for frame in frames:
        code = frame.f_code
        if code.co_name == "pjit_check_aval_sharding" and code.co_filename.replace("\\", "/").endswith(
            "/jax/_src/pjit.py"
        ):
            name, what = frame.f_locals.get("name"), frame.f_locals.get("what_aval")
            return str(name or "result" * (what == "pjit outputs"))
    return ""


def donated_arguments(function: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The positions and names of a jitted function's donated arguments; none for anything else."""
    if isinstance(function, jax.stages.Compiled):
        return _donated_of_compiled(function)
    places, names = _named_to_jit(function, "donate")
    if jax.__version_info__ < (0, 9) and places:
        # There they are counted without the static arguments.
        static = static_arguments(function)[0]
        counted = [place for place in range(max(places) + len(static) + 1) if place not in static]
        places = tuple(counted[place] for place in places)
    return places, names


def static_arguments(function: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The positions and names of a jitted function's static arguments; none for anything else."""
    return _named_to_jit(function, "static")


def is_jitted(function: Any) -> bool:
    """True if it is a result of `jax.jit`."""
    return type(function).__name__ == "PjitFunction"


def _named_to_jit(function: Any, what: str) -> tuple[tuple[int, ...], tuple[str, ...]]:
    info = getattr(function, "_jit_info", None) if is_jitted(function) else None
    places, names = (getattr(info, f"{what}_{kind}", None) or () for kind in ("argnums", "argnames"))
    return tuple(map(int, places)), tuple(map(str, names))


def _donated_of_compiled(compiled: jax.stages.Compiled) -> tuple[tuple[int, ...], tuple[str, ...]]:
    try:
        args, kwargs = compiled.args_info
        taken = {
            key: any(getattr(leaf, "donated", False) for leaf in jax.tree.leaves(value))
            for key, value in (*enumerate(args), *kwargs.items())
        }
    except (AttributeError, TypeError, ValueError):
        return (), ()
    return (
        tuple(key for key, is_taken in taken.items() if is_taken and isinstance(key, int)),
        tuple(key for key, is_taken in taken.items() if is_taken and isinstance(key, str)),
    )


def is_pmapped(function: Any) -> bool:
    """True if it is `jax.pmap`, or its result."""
    if function is jax.pmap or type(function).__name__ == "PmapFunction":
        return True
    code = getattr(function, "__code__", None)
    return str(getattr(code, "co_filename", "")).replace("\\", "/").endswith("/jax/_src/pmap.py")


def pmapped_function(frame: FrameType) -> FunctionType | None:
    """The user's function under a running `jax.pmap`, from the frame of its wrapper; None when it cannot be found."""
    infer = frame.f_locals.get("infer_params")
    if infer is None:
        return None
    held = {name: cell.cell_contents for name, cell in zip(infer.__code__.co_freevars, infer.__closure__, strict=True)}
    # 0.8 holds the function itself, later versions a `WrappedFun` around it.
    wrapped: Any = next((held[name] for name in ("fun", "f", "wrapped_fun") if name in held), None)
    found = inspect.unwrap(getattr(wrapped, "f", wrapped))
    return found if isinstance(found, FunctionType) else None


def partial_of(function: Any) -> tuple[str, tuple[Any, ...]]:
    """The function's name and the arguments of a JAX `HashablePartial`; ("", ()) for anything else."""
    if type(function).__name__ != "HashablePartial":
        return "", ()
    return str(getattr(function.f, "__name__", "")), tuple(function.args)


def shard_mapped(stages: dict[str, FrameType]) -> tuple[FunctionType | None, FrameType | None, str]:
    """The user's function under a running `shard_map` or `pmap`, the frame that called it, and which of the two it is.

    None where it does not show.
    """
    frame: FrameType | None = stages["shard_map"]
    while frame is not None and not (
        _file_and_name(frame.f_code) == ("shard_map.py", "wrapped") and "_shard_map." in frame.f_code.co_qualname
    ):
        frame = frame.f_back
    if frame is None:
        return None, None, "shard_map"
    outer = _running_pmap(frame)
    if outer is not None:
        return pmapped_function(outer), outer.f_back, "pmap"
    given: Any = frame.f_locals.get("f")
    found = inspect.unwrap(given)
    return (found if isinstance(found, FunctionType) else None), frame.f_back, "shard_map"


def _running_pmap(frame: FrameType) -> FrameType | None:
    """The frame of the `pmap` wrapper that called this one directly, or None."""
    caller = frame.f_back
    while caller is not None and part_of((code := caller.f_code).co_filename, code.co_name) == "traceback":
        caller = caller.f_back
    return caller if caller is not None and _STAGES.get(_file_and_name(caller.f_code)) == "pmap" else None


# ---------------------------------------------------------------- what caches are keyed on

# What `trace_context_names` gives where it exists (0.10 and later), as read from 0.8.2 and 0.9.2 for these.
_FLAGS_BEFORE_NAMES = (
    "jax_debug_key_reuse", "jax_check_static_indices", "jax_custom_vjp3", "jax_random_seed_offset",
    "jax_threefry_partitionable", "jax_threefry_gpu_kernel_lowering", "jax_use_direct_linearize",
    "jax_use_simplified_jaxpr_constants", "jax_remove_size_one_mesh_axis_from_type", "check_vma",
    "jax_softmax_custom_jvp", "jax_hlo_source_file_canonicalization_regex", "jax_enable_pgle",
    "jax_pgle_profiling_runs", "jax_explicit_x64_dtypes", "jax_numpy_dtype_promotion",
    "jax_error_checking_behavior_nan", "jax_error_checking_behavior_divide", "jax_error_checking_behavior_oob",
    "jax_enable_x64", "jax_default_device", "jax_disable_jit", "jax_numpy_rank_promotion",
    "jax_default_matmul_precision", "jax_allow_f16_reductions", "eager_constant_folding", "jax_no_execution",
    "jax_mutable_array_checks", "jax_xla_profile_version", "jax_use_shardy_partitioner",
    "jax_high_dynamic_range_gumbel",
)  # fmt: skip
_CONTEXTS = ("compute_on_context_manager", "xla_metadata_context_manager")


@functools.cache
def _config() -> Any:
    # To import within a function is slow right after XLA ran.
    from jax._src import config

    return config


@functools.cache
def _context_states() -> tuple[Any, ...]:
    return tuple(getattr(_config(), name) for name in _CONTEXTS if hasattr(_config(), name))


def tracing_key() -> tuple[Any, ...]:
    """The key of `tracing_flags`: equal keys give equal flags.

    Its first element is JAX's whole tracing cache key besides the call, named or not.
    """
    return _config().trace_context(), *[state.value for state in _context_states()]


def tracing_flags() -> tuple[tuple[str, Any], ...]:
    """The configuration that JAX's tracing cache is keyed on, as this thread sees it: (name, value).

    Meshes and bound axes are omitted: they are read elsewhere.
    """
    named = _named_values()
    if named is not None:
        return tuple(named)
    states = _config().config_states
    flags = [(name, states[name].value) for name in _FLAGS_BEFORE_NAMES if name in states]
    return (*flags, *[(name, getattr(_config(), name).value) for name in _CONTEXTS if hasattr(_config(), name)])


def _named_values() -> list[tuple[str, Any]] | None:
    """All parts of the cache key, if JAX names them (0.10 and later); None for earlier versions.

    Read anew each time: a module that is imported later may register more parts, and then everything is traced again.
    """
    try:
        names = _config().trace_context_names()
    except (AttributeError, NotImplementedError):
        return None
    pairs = list(zip(names, _config().trace_context(), strict=True))
    values = [value for name, value in pairs if name == _USER_CONTEXT]
    kept = [pair for pair in pairs if pair[0] not in _READ_ELSEWHERE]
    return [*kept, *[(f"{_USER_CONTEXT}[{number}]", value) for number, value in enumerate(values)]]


_USER_CONTEXT = "user_context"
_READ_ELSEWHERE = (_USER_CONTEXT, "mesh_context_manager", "abstract_mesh_context_manager", "axis_env_state")


def context_meshes() -> tuple[Any, ...]:
    """The meshes set in this thread: those of `with mesh`, innermost last, then that of `jax.set_mesh`."""
    held = _config().mesh_context_manager.value or ()
    meshes = held if isinstance(held, tuple) else (held,)
    return (*meshes, jax.sharding.get_abstract_mesh())


def distributed_place() -> tuple[int, int]:
    """The index of this process and the number of processes; starts no backend, unlike asking JAX."""
    from jax._src import distributed, xla_bridge

    if xla_bridge.backends_are_initialized():
        return jax.process_index(), jax.process_count()
    return int(distributed.global_state.process_id or 0), int(distributed.global_state.num_processes or 1)


def has_disk_cache() -> bool:
    """True if the compilation cache has a folder to keep programs in."""
    return bool(getattr(jax.config, "jax_compilation_cache_dir", None))


def cleared_with_jax(cache: T) -> T:
    """Makes JAX empty one of our caches (a `functools.lru_cache`) together with its caches.

    JAX objects in it, such as meshes with their devices and backend, are then released by `jax.clear_caches()`, and
    when backends are cleared.
    """
    # Weakly, and whatever the cache is of.
    if _register_cache is not None:
        _register_cache(cache, "pjit_inspect")
    return cache


def cache_clears() -> int:
    """A number that grows whenever `jax.clear_caches` was called since the last read."""
    return _clear_counter()()


@functools.cache
def _clear_counter() -> Callable[[], int]:
    from jax._src import util

    numbers = itertools.count()
    # JAX clears this function's cache together with its caches; then it is called again.
    return util.cache(max_size=1, trace_context_in_key=False)(lambda: next(numbers))


def traced_ahead(stages: dict[str, FrameType]) -> dict[str, Any] | None:
    """The function and arguments of a `.trace()` or `.lower()` whose tracing has just ended, else None.

    The keys are those of `_infer_params`: `fun`, `ji`, `args`, `kwargs`. None for a jit within the traced function.
    """
    frame = stages.get("infer")
    if frame is None or frame.f_back is None or frame.f_back.f_code.co_name != "jit_trace":
        return None
    return frame.f_locals


# ---------------------------------------------------------------- functions compiled before


OnKnown = Callable[[Any, Any, FrameType], None]
_watchers: list[OnKnown] = []
_watch_lock = threading.RLock()
_original: list[tuple[type, str, Callable[..., Any]]] = []


@contextmanager
def watched_calls(on_known: OnKnown) -> Iterator[None]:
    """While open, report calls of jitted functions whose executable exists already.

    `on_known(computation, jaxpr, frame)` runs before the call does. The C++ fast paths are cleared once, and each
    function's next call passes through Python; later calls are as fast as before. Nothing compiles again. Several may
    be open, in any order; JAX is as it was when the last one closes.
    """
    with _watch_lock:
        if not _watchers:
            for home, name, tell in _watched_methods():
                _original.append((home, name, getattr(home, name)))
                setattr(home, name, _Announced(getattr(home, name), tell))
        _watchers.append(on_known)
    forget_fast_paths()
    try:
        yield
    finally:
        with _watch_lock:
            _watchers.remove(on_known)
            while not _watchers and _original:
                setattr(*_original.pop())


class _Announced:
    """Replaces a method, and reports when a call looks it up; the method itself is then called.

    Therefore no frame of ours is on the stack while JAX lowers, compiles or runs, nor in a traceback of a failure
    there.
    """

    __slots__ = ("_method", "_tell")

    def __init__(self, method: Callable[..., Any], tell: Callable[[Any, FrameType], None]) -> None:
        self._method, self._tell = method, tell

    def __get__(self, holder: Any, kind: type | None = None) -> Any:
        frame = sys._getframe(1)
        # `Lowered.compile()` passes here too, but calls nothing.
        if holder is not None and frame.f_code.co_name == "_pjit_call_impl_python":
            with shielded("a call of a compiled function"):
                self._tell(holder, frame)
        return self._method.__get__(holder, kind)


def _watched_methods() -> list[tuple[type, str, Callable[[Any, FrameType], None]]]:
    from jax._src.interpreters import pxla

    methods: list[tuple[type, str, Callable[[Any, FrameType], None]]] = [(pxla.MeshComputation, "compile", _tell_known)]
    # A program that is lowered anew but whose executable JAX finds again, as one like it was compiled, is known only
    # after that. What runs then, from 0.10 on; before it such a call is not seen.
    if hasattr(pxla.MeshExecutable, "shard_const_args"):
        methods.append((pxla.MeshExecutable, "shard_const_args", _tell_found))
    return methods


def _tell_found(_: Any, frame: FrameType) -> None:
    _tell_known(frame.f_locals.get("computation"), frame)


def _tell_known(computation: Any, frame: FrameType) -> None:
    if known_computation(computation) is not None:
        for on_known in tuple(_watchers):
            on_known(computation, frame.f_locals.get("jaxpr"), frame)


def forget_fast_paths() -> None:
    """Empty the C++ caches that lead from a call straight to its executable; executables stay."""
    from jax._src import pjit

    pjit._cpp_pjit_cache_fun_only.clear()
    pjit._cpp_pjit_cache_explicit_attributes.clear()


def known_computation(computation: Any) -> Any:
    """The executable a lowered computation already has, or None."""
    return getattr(computation, "_executable", None)


# ---------------------------------------------------------------- what earlier programs returned


def results_of(computation: Any) -> list[tuple[Any, Any]]:
    """The type and sharding objects of each result of a computation, which its arrays share; [] when not compiled."""
    executable = known_computation(computation)
    avals, shardings = getattr(executable, "out_avals", None), getattr(executable, "_out_shardings", None)
    if not avals or not shardings:
        return []
    if jax.__version_info__ < (0, 8, 2):
        # Its arrays have a type with their sharding in it, which JAX caches by value.
        from jax._src import core

        avals = [core.update_aval_with_sharding(*pair) for pair in zip(avals, shardings, strict=False)]
    return list(zip(avals, shardings, strict=False))


def made_at(made: Any) -> list[tuple[CodeType, int]]:
    """The code and instruction of each frame that ran when an array, or what has this source, was made.

    Innermost first; [] when unknown.
    """
    traceback = getattr(made, "traceback", None)
    frames = getattr(traceback, "raw_frames", None)
    return list(zip(*frames(), strict=True)) if frames is not None else []


def transform_frame(stages: dict[str, FrameType], transform: str) -> tuple[list[Any], list[str]]:
    """Per argument, the data that `grad`'s, `jvp`'s or `vmap`'s rule received, and the names; empty if not visible.

    For `grad` and `jvp` whether it is differentiated, for `vmap` the dimension that is batched.
    """
    local = {"grad": "nzs", "jvp": "is_nz_tangents_in", "vmap": "dims_in"}.get(transform, "")
    variables = stages[transform].f_locals if transform in stages else {}
    told, info = variables.get(local), _debug_info(variables.get("jaxpr"))
    names = [str(name) for name in getattr(info, "arg_names", None) or ()]
    return (list(told), names) if isinstance(told, (list, tuple)) else ([], [])


def _debug_info(jaxpr: Any) -> Any:
    return getattr(getattr(jaxpr, "jaxpr", jaxpr), "debug_info", None)


# ---------------------------------------------------------------- facts of one program


def final_shardings(local: dict[str, Any], executable: Any) -> tuple[list[Any], list[Any]]:
    """The input and output shardings JAX itself will settle on, computed as `from_hlo` does after XLA returns.

    `local` holds the variables of `UnloadedMeshExecutable.from_hlo`.
    """
    from jax._src.interpreters import pxla

    devices, effects = local["device_list"], len(local["ordered_effects"])
    in_avals, out_avals = local["global_in_avals"], local["global_out_avals"]
    ins = local["in_shardings"]
    if not all(isinstance(own, jax.sharding.NamedSharding) for own in ins):
        # Shardings given by the user are kept.
        ins = pxla._maybe_get_and_check_in_shardings(executable, ins, devices, in_avals, effects)
    outs = pxla._maybe_get_and_check_out_shardings(executable, local["out_shardings"], devices, out_avals, effects)
    outs = pxla.maybe_recover_user_shardings(
        ins, outs, in_avals, out_avals, local["intermediate_shardings"], local["context_mesh"]
    )
    return list(pxla.finalize_shardings(ins, devices)), list(pxla.finalize_shardings(outs, devices))


def only_device(sharding: Any) -> int | None:
    """The id of the only device that holds an array of this sharding (XLA's "maximal"); None for any other sharding.

    JAX gives these shardings to results of host callbacks, and its own map of slices then names every device.
    """
    hlo = getattr(sharding, "_hlo_sharding", None)
    # A replicated sharding calls itself maximal too, on no device in particular.
    if hlo is None or hlo.is_replicated() or not hlo.is_maximal():
        return None
    return int(sharding._device_assignment[hlo.tile_assignment_devices()[0]].id)


def is_of_device(sharding: Any) -> bool:
    """True if jit made it from its old arguments `device` or `backend`."""
    return bool(getattr(sharding, "_device_backend", False))


def hlo_module(proto: bytes) -> Any:
    """A serialized `xla.HloModuleProto` as jaxlib's HloModule, which 0.10 moved to a separate module."""
    return _hlo_home().HloModule.from_serialized_hlo_module_proto(proto)


def hlo_header(module: Any) -> str:
    """The first line of one of jaxlib's HloModules as text."""
    options = _hlo_home().HloPrintOptions()
    options.print_metadata = options.print_backend_config = options.print_operand_shape = False
    return str(module.to_string(options)).partition("\n")[0]


@functools.cache
def _hlo_home() -> Any:
    try:
        return importlib.import_module("jaxlib._hlo")
    except ImportError:
        return importlib.import_module("jaxlib._jax")


_MISNUMBERED = ("0.8.2", "0.8.3")
"""Versions of jaxlib with unreliable frames: the numbers in Shardy's copy of a program refer to another frame table.

(0.8.1 has the same fault, but also has the places beside the numbers.)
"""


def lacks_lines(devices: int) -> str:
    """Why the source lines of a program for `devices` devices are unreliable; "" if they are reliable."""
    version = jaxlib.version.__version__
    if version not in _MISNUMBERED or devices < 2 or not getattr(jax.config, "jax_use_shardy_partitioner", False):
        return ""
    return f"jaxlib {version} numbers the source lines of programs on several devices unlike its table of them"


@functools.cache
def no_source() -> Any:
    """The source info of a jaxpr equation whose place in the user's code is unknown."""
    from jax._src import source_info_util

    return source_info_util.new_source_info()


# ---------------------------------------------------------------- chips


def tpu_memory(chip: str, cores: int) -> int | None:
    """Bytes of memory of `cores` cores of a TPU ("v5e") in JAX's table; None if it lacks the chip.

    `jax.experimental.pallas.tpu` is not imported: it registers configuration, which makes JAX trace and compile every
    user function again.
    """
    try:
        table = importlib.import_module("jax._src.pallas.mosaic.tpu_info")
        return cores * table.get_tpu_info_for_chip(table.ChipVersion(chip), cores).hbm_capacity_bytes
    except (ImportError, AttributeError, ValueError):
        return None


# ---------------------------------------------------------------- the profiler


def profile_folder() -> str | None:
    """The folder that the profiler of this process will write to; None when none is running."""
    from jax._src import profiler

    state: Any = profiler._profile_state
    # 0.12 keeps a session, earlier versions its parts.
    session = state.session if hasattr(state, "session") else state
    return getattr(session, "log_dir", None)


def forget_profile() -> None:
    """Make JAX take the profiler for stopped, after it failed to stop."""
    from jax._src import profiler

    with profiler._profile_state.lock:
        profiler._profile_state.reset()


class HiddenProfile:
    """The running profiler, hidden from JAX: the program may start another, or stop one it never started.

    JAX then behaves as it would without this one. If the program starts another, this one is ended first, because only
    one can run. It replaces JAX's lock, which is taken before any of these steps.
    """

    def __init__(self) -> None:
        from jax._src import profiler

        state: Any = profiler._profile_state
        with state.lock:
            self._held: dict[str, Any] | None = {key: value for key, value in vars(state).items() if key != "lock"}
            self._state, self._lock = state, state.lock
            state.reset()
            state.lock = self

    def __enter__(self) -> bool:
        self._lock.acquire()
        file, name = _file_and_name(sys._getframe(1).f_code)
        if file == "profiler.py" and name in ("start_trace", "start"):
            with shielded("the profiler of the program itself"):
                self._end()
        return True

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def _end(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            # 0.12 keeps a session around XLA's own.
            session = held.get("profile_session") or held["session"]._raw_session
            session.stop()

    def bring_back(self) -> bool:
        """Shows it to JAX again, which can then stop it; False if it was ended."""
        with self._lock:
            if self._state.lock is self:
                self._state.lock = self._lock
            held, self._held = self._held, None
            for key, value in (held or {}).items():
                setattr(self._state, key, value)
        return held is not None


# ---------------------------------------------------------------- compiling on request, unseen


def local_devices(platform: str, kind: str) -> list[Any]:
    """The devices of this process that are of a platform ("cpu") and a kind of hardware; [] when there are none."""
    try:
        devices = jax.local_devices(backend=platform)
    except RuntimeError:
        return []
    return [device for device in devices if device.device_kind == kind]


def cpu_devices(count: int) -> list[Any]:
    """Fake CPU devices of a separate client that JAX does not know."""
    from jaxlib import xla_client

    client = xla_client.make_cpu_client(asynchronous=False, num_devices=count)
    return list(client.devices())


def target_devices(platform: str, topology: str, options: dict[str, Any], mesh: Sequence[int]) -> list[Any]:
    """Devices of hardware that need not be attached, in the order in which `jax.make_mesh` lays a mesh over them.

    Errors of the platform's plugin pass through: an unknown topology, a plugin that is not installed. So do JAX's
    errors (NotImplementedError, ValueError) if it cannot lay the mesh.
    """
    from jax.experimental import topologies

    described = topologies.get_topology_desc(platform=platform, topology_name=topology, **options)
    names = tuple(f"axis{number}" for number in range(len(mesh)))
    return list(jax.make_mesh(tuple(mesh), names, devices=list(described.devices)).devices.flat)


def partition_rules() -> Any:
    """The rules of every call of `custom_partitioning` that an executable keeps: its key in the program -> the rule."""
    from jax._src import custom_partitioning

    return custom_partitioning._sharding_callbacks


def run_partition_rule(
    key: bytes, operands: Sequence[tuple[Any, bytes]], results: Sequence[Any], result: bytes, *, is_tuple: bool
) -> tuple[bytes, list[bytes], bytes]:
    """Asks a rule of `custom_partitioning` how to split a call, as XLA does; it is traced, and nothing runs.

    Arrays are pairs of a type and dimensions; shardings, in and out, are serialized `xla.OpSharding`s.
    """
    from jax._src import custom_partitioning
    from jaxlib import xla_client

    def shape(own: Any) -> Any:
        return xla_client.Shape.array_shape(np.dtype(own[0]), tuple(own[1]))

    shapes = [shape(own) for own in results]
    whole = xla_client.Shape.tuple_shape(shapes) if is_tuple else shapes[0]
    given = [shape(own) for own, _ in operands], [to_sharding(own) for _, own in operands]
    body, wanted, made = custom_partitioning._custom_partitioning_partition(*given, whole, to_sharding(result), key)
    return body, [own.to_proto().SerializeToString() for own in wanted], made.to_proto().SerializeToString()


def to_sharding(written: bytes) -> Any:
    """XLA's sharding from a serialized `xla.OpSharding`."""
    from jaxlib import xla_client

    proto = xla_client.OpSharding()
    proto.ParseFromString(written)
    return xla_client.HloSharding.from_proto(proto)


def register_partitioner(target: str, partition: Callable[..., Any]) -> None:
    """XLA asks `partition` how to split a custom call of this target. It asks nothing else if Shardy propagates."""
    from jaxlib import xla_client

    def propagate(*_: Any) -> Any:
        raise NotImplementedError

    xla_client.register_custom_call_partitioner(
        target, propagate, partition, propagate, can_side_effecting_have_replicated_sharding=True
    )


def compile_unseen(
    module: Any,
    devices: Sequence[Any],
    compiler_options: dict[str, Any],
    is_open: tuple[list[bool], list[bool]],
    *,
    replicas: int = 1,
    is_for_shardy: bool = True,
) -> Any:
    """XLA's executable for an MLIR module; `hlo_proto` is its program.

    Compiled as by JAX, but without it: no JAX cache is read or written, no event is sent, nothing runs. `is_open` says
    for each argument and each result whether the partitioner may choose its sharding; `devices` are in the order of
    partitions, replica by replica. XLA's errors pass through.
    """
    from jax._src import compiler
    from jaxlib import xla_client

    client = devices[0].client
    options = compiler.get_compile_options(
        num_replicas=replicas,
        num_partitions=len(devices) // replicas,
        device_assignment=np.array([device.id for device in devices]).reshape(replicas, -1),
        env_options_overrides=compiler_options,
        backend=client,
    )
    build = options.executable_build_options
    build.use_shardy_partitioner = is_for_shardy
    build.allow_spmd_sharding_propagation_to_parameters, build.allow_spmd_sharding_propagation_to_output = is_open
    where = xla_client.DeviceList(tuple(devices))
    return compiler.backend_compile_and_load(client, module, where, options, [])


def hlo_proto(executable: Any) -> bytes:
    """The optimized program of an executable, as a serialized `xla.HloModuleProto`."""
    return executable.hlo_modules()[0].as_serialized_hlo_module_proto()
