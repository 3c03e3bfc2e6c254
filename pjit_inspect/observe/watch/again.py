"""Traces an available function again on a mesh of other sizes, for another platform.

For programs whose copies cannot be changed: they have the old sizes in their shapes, or calls that only one platform
has. Neither the function nor an array is kept alive, and no user code is called before a request. Not its job: the
requests (`handles.asked.what_if`), or functions that were seen compiling (`listener`).
"""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

from pjit_inspect.errors import ChangeError
from pjit_inspect.model.play.code import Call
from pjit_inspect.model.program.mesh import PartitionSpec as SpecTuple
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.watch.on_request import lower_record

_PLAIN = (bool, int, float, complex, str, bytes)
_MOST_SHOWN = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveFunction:
    """A function and the arguments of its call.

    Attributes:
      function: refers to it as long as anybody else does.
      leaves, tree: its arguments, arrays as `jax.ShapeDtypeStruct`s.
      context: the axes of the mesh in the context it was traced in, with their types; {} where there was none.
    """

    function: Callable[[], Any]
    leaves: tuple[Any, ...]
    tree: Any
    context: dict[str, AxisType]

    @property
    def call(self) -> Call | None:
        """The function's call as Python text; None if the function is gone, or has no signature."""
        function = self.function()
        if function is None:
            return None
        args, kwargs = jax.tree.unflatten(self.tree, self.leaves)
        try:
            parameters = inspect.signature(function).bind(*args, **kwargs)
        except (TypeError, ValueError):
            return None
        options = tuple(_options(function))
        return Call(arguments=tuple(_written(parameters)), options=options, is_in_mesh=bool(self.context))

    def __call__(
        self, sizes: Mapping[str, int], platform: str, specs: Sequence[SpecTuple | None] | None = None
    ) -> RecordData:
        """The record of the function traced on a mesh of these axes, outermost first, and lowered for a platform.

        `specs` has another spec for each argument that is an array, in order; None leaves one without a sharding.
        Raises ChangeError if the function is gone, or with its or JAX's error.
        """
        function = self.function()
        if function is None:
            raise ChangeError("the function is gone: nothing refers to it any more")
        leaves = [_moved(leaf, sizes) for leaf in self.leaves] if specs is None else self._split(sizes, specs)
        args, kwargs = jax.tree.unflatten(self.tree, leaves)

        def lower() -> RecordData:
            if not self.context:
                return lower_record(function, args, kwargs, platform)
            with jax.sharding.use_abstract_mesh(_mesh(sizes, self.context)):
                return lower_record(function, args, kwargs, platform)

        return _in_thread(lower)

    def _split(self, sizes: Mapping[str, int], specs: Sequence[SpecTuple | None]) -> list[Any]:
        """The arguments with these specs. On a mesh of the same sizes they keep the user's mesh."""
        arrays = [leaf for leaf in self.leaves if isinstance(leaf, jax.ShapeDtypeStruct)]
        if len(arrays) != len(specs):
            raise ChangeError(f"it has {len(arrays)} arrays as arguments, and the program {len(specs)}")
        meshes = [leaf.sharding.mesh for leaf in arrays if leaf.sharding is not None]
        own = next((mesh for mesh in meshes if list(mesh.shape.items()) == list(sizes.items())), None)
        kinds = {name: kind for mesh in meshes for name, kind in zip(mesh.axis_names, mesh.axis_types, strict=True)}
        mesh = own if own is not None else _mesh(sizes, kinds)
        given = iter(specs)
        return [
            _with_spec(leaf, next(given), mesh) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf
            for leaf in self.leaves
        ]


def _written(bound: inspect.BoundArguments) -> Iterator[str]:
    """The arguments of a call by the names of their parameters."""
    is_by_place = True
    for name, parameter in bound.signature.parameters.items():
        if name not in bound.arguments:
            # Arguments after an omitted one must be named.
            is_by_place = False
        elif parameter.kind is parameter.VAR_POSITIONAL:
            yield f"*{name}"
        elif parameter.kind is parameter.VAR_KEYWORD:
            yield f"**{name}"
        else:
            yield name if is_by_place and parameter.kind is not parameter.KEYWORD_ONLY else f"{name}={name}"


def _options(function: Any) -> Iterator[str]:
    """The `jax.jit` options about arguments: by name, and by position for arguments without a name."""
    parameters = inspect.signature(function).parameters.values()
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    known = [own.name for own in parameters if own.kind in by_place]
    for what, (places, names) in (
        ("static", _jax.static_arguments(function)),
        ("donate", _jax.donated_arguments(function)),
    ):
        named = tuple(dict.fromkeys((*(known[own] for own in places if 0 <= own < len(known)), *names)))
        nameless = tuple(own for own in places if not 0 <= own < len(known))
        if nameless:
            yield f"{what}_argnums={nameless!r}"
        if named:
            yield f"{what}_argnames={named!r}"


def _with_spec(leaf: Any, spec: SpecTuple | None, mesh: Any) -> Any:
    if spec is None:
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=leaf.weak_type)
    kind = None if leaf.sharding is None else leaf.sharding.memory_kind
    sharding = NamedSharding(mesh, PartitionSpec(*spec), memory_kind=kind)
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding, weak_type=leaf.weak_type)


def live_function(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LiveFunction | None:
    """A function that may be traced again; None where it, or an argument, cannot be kept without keeping it alive."""
    if isinstance(fn, (jax.stages.Traced, jax.stages.Lowered)):
        return None
    try:
        leaves, tree = jax.tree.flatten((args, kwargs))
        described = tuple(map(_described, leaves))
        function = weakref.WeakMethod(fn) if hasattr(fn, "__self__") else weakref.ref(fn)
    except Exception:
        # Whatever the arguments are, what JAX makes of them comes first.
        return None
    mesh = jax.sharding.get_abstract_mesh()
    context = dict(zip(mesh.axis_names, mesh.axis_types, strict=True)) if mesh.axis_names else {}
    return LiveFunction(function=function, leaves=described, tree=tree, context=context)


def _described(leaf: Any) -> Any:
    """An argument without its contents. Raises TypeError for one that has no description."""
    if type(leaf) in _PLAIN:
        return leaf
    if not isinstance(leaf, (jax.Array, jax.ShapeDtypeStruct, np.ndarray, np.generic)):
        raise TypeError(f"a {type(leaf).__name__} may hold anything")
    sharding = getattr(leaf, "sharding", None)
    return jax.ShapeDtypeStruct(
        leaf.shape,
        leaf.dtype,
        sharding=sharding if isinstance(sharding, NamedSharding) else None,
        weak_type=bool(getattr(leaf, "weak_type", False)),
    )


def _moved(leaf: Any, sizes: Mapping[str, int]) -> Any:
    """An argument that is sharded alike over a mesh of other sizes."""
    sharding = getattr(leaf, "sharding", None)
    if sharding is None:
        return leaf
    mesh = _mesh(sizes, dict(zip(sharding.mesh.axis_names, sharding.mesh.axis_types, strict=True)))
    spec = PartitionSpec(*sharding.spec)
    moved = NamedSharding(mesh, spec, memory_kind=sharding.memory_kind)
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=moved, weak_type=leaf.weak_type)


def _mesh(sizes: Mapping[str, int], types: Mapping[str, AxisType]) -> AbstractMesh:
    # The function may name an axis that is left out, which then has one device.
    every = {**sizes, **{name: 1 for name in types if name not in sizes}}
    kinds = tuple(types.get(name, AxisType.Auto) for name in every)
    return AbstractMesh(tuple(every.values()), tuple(every), axis_types=kinds)


def _in_thread(lower: Callable[[], RecordData]) -> RecordData:
    """Runs a function in a separate thread, in which no mesh is set, and returns its result."""
    made: list[RecordData] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            made.append(lower())
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run, name="pjit_inspect traces again", daemon=True)
    thread.start()
    thread.join()
    if made:
        return made[0]
    said = " ".join(str(failed[0]).split())[:_MOST_SHOWN]
    raise ChangeError(f"{type(failed[0]).__name__}: {said}") from failed[0]
