"""The facts of one compile's cache key, read from the frames of the call that missed.

A call is read when it compiles; a program compiled ahead of time (`lower`, then `compile`) when it is lowered, because
its arguments are gone later. Nothing read keeps an array, a tracer or a function alive. Not its job: comparing keys
(`analyze.recompiles.key_differences`).
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
import threading
import time
import weakref
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from pjit_inspect.guard import read_fact
from pjit_inspect.model.record.compile_key import ArgumentKey, CompileKey, FunctionKey, NamedText
from pjit_inspect.model.record.record import Timings
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.key.asked import Request, in_layouts, requests_of
from pjit_inspect.observe.key.definitions import describe_function
from pjit_inspect.observe.key.outside_jit import Operation, called_from
from pjit_inspect.observe.key.past_programs import (
    dropped_before,
    fed_back,
    made_by,
    remember_arguments,
    remember_program,
)
from pjit_inspect.observe.key.sharding_text import device_ranges, mesh_text, sharding_text
from pjit_inspect.observe.key.static_arguments import passed, static_facts, tree_facts
from pjit_inspect.observe.live.library_names import pmap_names
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.shardings import has_devices, to_mesh, to_sharding
from pjit_inspect.observe.live.short_text import named_text, short_text, static_text
from pjit_inspect.observe.live.untouched import once_for_each_type, type_name

_PROCESS = f"{os.getpid()}-{os.urandom(4).hex()}"
_serials = itertools.count(1)
# What was traced, by the jaxpr that came of it: a later lowering of the same jaxpr is of the same function.
_traced: weakref.WeakKeyDictionary[Any, _Traced] = weakref.WeakKeyDictionary()
# The newest function of a name and place in each thread: a backward pass shows no function, but follows its forward.
_newest = threading.local()
_MAX_NEWEST = 256


@dataclasses.dataclass(frozen=True, slots=True)
class _Traced:
    """The function and static arguments of one trace."""

    function: FunctionKey | None
    statics: tuple[NamedText, ...] = ()
    keywords: tuple[str, ...] = ()


_Leaf = tuple[Any, Any, "bool | None", str, Any]
"""An argument: its abstract value, sharding, whether it is committed, its type's name, jit's sharding for it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CallFacts:
    """The facts of a key that its call shows. Holds shardings and abstract values, no arrays.

    `leaves` have no names yet; `donated` has a flag for each of them; `own` are finished fields of the key.
    """

    leaves: tuple[_Leaf, ...] = ()
    donated: tuple[bool, ...] = ()
    results: tuple[tuple[Any, Any, Request | int | None], ...] = ()
    traced: _Traced | None = None
    own: dict[str, Any]


def call_facts(stages: dict[str, FrameType], jaxpr: Any = None, traced: Any = None) -> CallFacts:
    """The facts of a call, from the frames of its `stages`, or of a program `traced` ahead of time to `jaxpr`."""
    local: Any = {}
    types = args = ()
    if "call" in stages:
        local = stages["call"].f_locals
        types, args = local.get("arg_types") or (), local.get("args") or ()
    elif traced is not None or "ahead_lower" in stages:
        traced = traced or stages["ahead_lower"].f_locals["self"]
        local, types = getattr(traced, "_params", {}), getattr(traced, "_meta_tys_flat", ())
        args = types
    # The shardings of `pmap` follow from the arguments, and its axis has a name made up for each.
    is_pmap = "pmap" in stages and "call" in stages
    tree, key = _tree(stages), _jax.tracing_key()
    positional, keywords = passed(tree)
    number, containers = tree_facts(tree)
    return CallFacts(
        leaves=_leaves(types, args, () if is_pmap else local.get("in_shardings") or ()),
        donated=tuple(bool(flag) for flag in local.get("donated_invars") or ()),
        results=read_fact({}, "results", lambda: _results(local), ()) if local and not is_pmap else (),
        traced=_traced.get(jaxpr) if jaxpr is not None else None,
        own={
            "positional": positional,
            "keywords": keywords,
            "tree": number,
            "containers": containers,
            "options": (named_text("keep_unused", True),) if local.get("keep_unused") else (),
            "config": _config(key),
            "context": _context(key),
            "context_mesh": _context_mesh(local.get("ctx_mesh")) if local else "",
            "clears": _jax.cache_clears(),
        },
    )


def _tree(stages: dict[str, FrameType]) -> Any:
    if "dispatch" in stages and "call" in stages:
        parameters = stages["dispatch"].f_locals.get("p")
        traced = (getattr(parameters, "params", None) or {}).get("jaxpr")
        # Transforms run programs of their own while a call is dispatched.
        is_of_call = traced is not None and stages["call"].f_locals.get("jaxpr") is traced
        return getattr(parameters, "in_tree", None) if is_of_call else None
    return getattr(stages["ahead_lower"].f_locals.get("self"), "in_tree", None) if "ahead_lower" in stages else None


def _leaves(types: Sequence[Any], arguments: Sequence[Any], wanted: Sequence[Any]) -> tuple[_Leaf, ...]:
    """The leaves of a call, one for each argument; there may be thousands."""
    asked = [sharding if isinstance(sharding, jax.sharding.Sharding) else None for sharding in wanted[: len(types)]]
    asked += [None] * (len(types) - len(asked))
    # JAX calls what has no sharding committed too.
    return tuple(
        (
            t.aval,
            t.sharding,
            None if t.sharding is None else bool(t.committed),
            "numpy.ndarray" if t.is_np_array else passed_as(type(argument)),
            sharding,
        )
        for t, argument, sharding in zip(types, arguments, asked, strict=True)
    )


def _results(local: Any) -> tuple[tuple[Any, Any, Request | int | None], ...]:
    """For each result jit's sharding and layout, and the request for a sharding within the function."""
    return tuple(zip(local["out_shardings"], local["out_layouts"], requests_of(local["jaxpr"]), strict=True))


@once_for_each_type
def passed_as(kind: type) -> str:
    """The name for an argument of this type; "" for JAX's description of an argument passed to `lower`."""
    if issubclass(kind, Tracer):
        return "tracer"
    if issubclass(kind, jax.Array):
        return "jax.Array"
    if issubclass(kind, np.ndarray):
        return "numpy.ndarray"
    if issubclass(kind, np.generic):
        return f"numpy.{kind.__name__}"
    if kind.__module__.startswith("jax.") and issubclass(kind, (int, float, complex)):
        # JAX's own `TypedInt`, which stands for the number.
        return next(plain.__name__ for plain in (int, float, complex) if issubclass(kind, plain))
    # What `lower` got is described already.
    return "" if type_name(kind) == "MetaTy" else type_name(kind)


# ---------------------------------------------------------------- configuration


def _config(key: tuple[Any, ...]) -> tuple[NamedText, ...]:
    try:
        return _config_texts(key)
    except TypeError:  # A value that has no hash.
        return _config_texts.__wrapped__(())


def _context(key: tuple[Any, ...]) -> int | None:
    """A hash of the context in JAX's tracing key; None if it has no hash."""
    try:
        return hash(key[0]) & 0xFFFF_FFFF_FFFF
    except TypeError:
        return None


@_jax.cleared_with_jax
@functools.lru_cache(maxsize=64)
def _config_texts(_: tuple[Any, ...]) -> tuple[NamedText, ...]:
    """The present configuration, which is the same for equal keys."""
    return tuple(NamedText(name=name, text=short_text(value)) for name, value in _jax.tracing_flags())


def _context_mesh(given: Any) -> str:
    meshes = (given, *reversed(_jax.context_meshes()))
    return next((mesh_text(mesh) for mesh in meshes if mesh is not None and not mesh.empty), "")


# ---------------------------------------------------------------- functions


def remember_trace(stages: dict[str, FrameType], jaxpr: Any, frame: FrameType) -> None:
    """Notes the function of a trace ahead of time, which made `jaxpr`."""
    local = _jax.traced_ahead(stages)
    if local is not None:
        _remember(jaxpr, local, local["ji"], frame, "")


def _remember(
    jaxpr: Any, local: dict[str, Any], info: Any, frame: FrameType | None, name: str, given: Any = None
) -> _Traced:
    """Notes a trace with its static arguments: of the function in a frame of jit, or of the `given` one."""
    statics = static_facts(info, local.get("args", ()), local.get("kwargs", {}), frame)
    function = next(each for each in (given, statics.function, local["fun"]) if each is not None)
    traced = _Traced(describe_function(function, name), statics.arguments, statics.keywords)
    if jaxpr is not None:
        _traced[jaxpr] = traced
    return traced


def _primitive(name: str, parameters: Iterable[tuple[Any, Any]], wrapper: str = "") -> _Traced:
    """One operation with its parameters, which JAX compiles by itself."""
    texts = tuple(static_text(str(key), value) for key, value in sorted(parameters, key=lambda pair: pair[0]))
    return _Traced(FunctionKey(name=name, kind="primitive", wrapper=wrapper), texts)


def _function(
    program: LiveProgram, stages: dict[str, FrameType], frame: FrameType | None, known: _Traced | None
) -> _Traced | None:
    """The compiled primitive, or the function of the call or of the trace; None if unknown."""
    if "eager" in stages:
        local = stages["eager"].f_locals
        return _primitive(str(local["prim"].name), local["params"].items())
    place = str(getattr(program.debug_info, "func_src_info", ""))
    jaxpr = getattr(program.jaxpr, "jaxpr", program.jaxpr)
    if "dispatch" in stages:
        info = stages["jit"].f_locals.get("jit_info") if "jit" in stages else None
        # `pmap` jits a wrapper of its own around the user's function, as `equinox.filter_jit` does.
        given = _jax.pmapped_function(stages["pmap"]) if "pmap" in stages else None
        name = str(getattr(program.debug_info, "func_name", ""))
        traced = _remember(jaxpr, stages["dispatch"].f_locals, info, frame, name, given)
    else:
        traced = known or (_traced.get(jaxpr) if jaxpr is not None else None) or _newest_of_thread().get(place)
    if traced is not None:
        if len(_newest_of_thread()) >= _MAX_NEWEST:
            _newest_of_thread().clear()
        _newest_of_thread()[place] = traced
    return traced


def _newest_of_thread() -> dict[str, _Traced]:
    return _newest.__dict__.setdefault("functions", {})


# ---------------------------------------------------------------- the key


def key_of(
    program: LiveProgram,
    stages: dict[str, FrameType],
    frame: FrameType | None,
    facts: CallFacts,
    names: tuple[Sequence[str], Sequence[str]],
    *,
    transform: str,
    timings: Timings,
    disk: Any = None,
    operation: Operation | None = None,
) -> CompileKey:
    """The key of one program; `names` are the paths of its arguments and results, `facts` those of its call.

    `operation` is the operation that it runs for `pmap` or `shard_map` outside jit; None for other programs.
    """
    if operation is None:
        traced = _function(program, stages, frame, facts.traced) or _Traced(None)
    else:
        traced = _primitive(operation.name, operation.parameters, operation.function.__qualname__)
    arguments = _arguments(program, facts, _paths(names[0], stages, transform))
    paths, given = [argument.path for argument in arguments], _given(stages, transform)
    options = (named_text(str(key), value) for key, value in sorted(program.compiler_options.items()))
    serial, which = next(_serials), f"{program.name} {getattr(program.debug_info, 'func_src_info', '')}"
    dropped, fed = dropped_before(which), fed_back(which, paths, given)
    made = made_by(paths, given, devices=len(program.devices)) if len(program.devices) > 1 else ()
    called, site = called_from(frame)
    name, own = str(getattr(program.debug_info, "func_name", "")), facts.own
    remember_program(which, serial, program, names[1], frame, called=name if transform == "jit" and not called else "")
    remember_arguments(name or program.name, paths, given)
    return CompileKey(
        **own
        | {"keywords": tuple(sorted({*own["keywords"], *traced.keywords})), "options": (*options, *own["options"])},
        serial=serial,
        process=_PROCESS,
        thread=threading.current_thread().name,
        began_s=_began_s(timings),
        ended_s=time.time(),
        missed=_missed(timings),
        disk=disk,
        transform=transform,
        over=_over(stages, transform, paths),
        function=traced.function,
        statics=traced.statics,
        arguments=arguments,
        outputs=_outputs([result[0] for result in facts.results], names[1]),
        donated=tuple(path for path, flag in zip(paths, facts.donated, strict=False) if flag),
        devices=device_ranges(tuple(program.devices)),
        dropped=dropped,
        fed=fed,
        made=made,
        called=called,
        site=site,
    )


def _given(stages: dict[str, FrameType], transform: str) -> Sequence[Any]:
    """The arguments of the call itself; () if a transform or `lower` replaced them."""
    return (stages["call"].f_locals.get("args") or ()) if transform == "jit" and "call" in stages else ()


_MAX_OVER = 3


def _over(stages: dict[str, FrameType], transform: str, paths: Sequence[str]) -> tuple[NamedText, ...]:
    """The arguments that a transform is over, in words; () if unknown."""
    kind = transform.split()[0]
    told, names = _jax.transform_frame(stages, kind)
    # Of `jvp`, the tangents come after the arguments they belong to.
    names = names if len(names) == len(told) else paths[: len(told)]
    if not told or len(told) != len(names):
        return ()
    about: dict[Any, list[str]] = {}
    for name, one in zip(names, told, strict=True):
        about.setdefault(one, []).append(f"`{name}`")
    if kind == "vmap":
        what = "batched over"
        text = ", ".join(f"dimension {dim} of {_listed(about[dim])}" for dim in about if isinstance(dim, int))
    else:
        what, text = "differentiated with respect to", _listed(about.get(True, ()))
    return (NamedText(name=what, text=text, digest=hash(tuple(told)) & 0xFFFF_FFFF_FFFF),)


def _listed(paths: Sequence[str]) -> str:
    more = len(paths) - _MAX_OVER
    return ", ".join(paths[:_MAX_OVER]) + (f" and {more} more" if more > 0 else "")


def _began_s(timings: Timings) -> float:
    known = (timings.trace_began_s, timings.lower_began_s, timings.compile_began_s)
    return min((began for began in known if began is not None), default=time.time())


def _missed(timings: Timings) -> Any:
    spent = {"tracing": timings.trace_s, "lowering": timings.lower_s, "compilation": timings.compile_s}
    return next((layer for layer, seconds in spent.items() if seconds is not None), None)


def _arguments(program: LiveProgram, facts: CallFacts, names: Sequence[str]) -> tuple[ArgumentKey, ...]:
    leaves = facts.leaves or tuple((aval, None, None, "", None) for aval in program.all_avals)
    # Constants that JAX hoisted stand first and are no arguments of the call.
    own = list(names)[len(names) - len(leaves) :] if len(leaves) <= len(names) else []
    paths = own or [f"arg[{i}]" for i in range(len(leaves))]
    layouts = in_layouts(program)[-len(leaves) :] if own else [""] * len(leaves)
    return tuple(
        _argument(path, *leaf, layout, _jax.only_device(leaf[1]))
        for path, leaf, layout in zip(paths, leaves, layouts, strict=True)
    )


def _paths(names: Sequence[str], stages: dict[str, FrameType], transform: str) -> Sequence[str]:
    """The names of the arguments; if the forward program of a transform has lost them, those of the call."""
    is_lost = any(name.startswith("arg[") for name in names)
    if transform in ("jit", "grad backward") or "dispatch" not in stages or not is_lost:
        return names
    pmap, call = stages.get("pmap"), stages["dispatch"].f_locals.get("p")
    known = pmap_names(pmap, _jax.pmapped_function(pmap)) if pmap else getattr(call, "arg_names", None) or ()
    return known if len(known) == len(names) else names


@_jax.cleared_with_jax
@functools.lru_cache(maxsize=16_384)
def _argument(
    path: str, aval: Any, sharding: Any, committed: bool | None, type_: str, wanted: Any, layout: str, _: int | None
) -> ArgumentKey:
    """One argument. Cached: compiles that share arguments share these objects.

    The last parameter is the only device that holds it: to JAX such a sharding equals a replicated one.
    """
    shape = tuple(int(length) for length in getattr(aval, "shape", ()))
    given = to_sharding(sharding, shape) if has_devices(sharding) else None
    return ArgumentKey(
        path=path,
        shape=shape,
        dtype=str(getattr(aval, "dtype", type(aval).__name__)),
        weak_type=bool(getattr(aval, "weak_type", False)),
        type=type_,
        committed=committed,
        given=given,
        mesh=to_mesh(sharding.mesh) if given is not None and given.spec is not None else None,
        type_spec=_type_spec(aval, sharding),
        wanted=sharding_text(wanted) if wanted is not None else "",
        layout=layout,
    )


def _type_spec(aval: Any, given: Any) -> str:
    """The sharding in an argument's type (of a mesh with explicit axes), or a sharding without devices; "" for none."""
    if given is not None and not has_devices(given):
        return sharding_text(given)
    sharding = getattr(aval, "sharding", None)
    mesh = getattr(sharding, "mesh", None)
    if mesh is None or mesh.empty or not getattr(mesh, "explicit_axes", ()):
        return ""
    return sharding_text(sharding)


def _outputs(shardings: Sequence[Any], names: Sequence[str]) -> tuple[NamedText, ...]:
    named = itertools.zip_longest(shardings, names[: len(shardings)], fillvalue="result")
    return tuple(
        NamedText(name=name, text=sharding_text(sharding), digest=hash(sharding) & 0xFFFF_FFFF_FFFF)
        for sharding, name in named
        if isinstance(sharding, jax.sharding.Sharding)
    )
