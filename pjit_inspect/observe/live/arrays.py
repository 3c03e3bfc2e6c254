"""Inputs and outputs of a program: names, shapes and the slice on every device.

Not its job: JAX's sharding objects (`observe.live.shardings`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.shardings import on_mesh, to_sharding

__all__ = ["argument_names", "input_layouts", "output_layouts", "result_names"]


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
        layout = _layout(names[index], aval, _at(program.in_shardings, place), program, meshes)
        donated = bool(_at(program.donated, place))
        layouts.append(dataclasses.replace(layout, donated=donated, kept=place is not None))
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


def _layout(name: str, aval: Any, sharding: Any, program: LiveProgram, meshes: Sequence[Mesh]) -> ArrayLayout:
    shape = tuple(int(n) for n in getattr(aval, "shape", ()))
    found = None
    if hasattr(sharding, "devices_indices_map"):
        try:
            found = functools.reduce(on_mesh, meshes, to_sharding(sharding, shape))
        except Exception as error:
            program.missing[f"sharding of {name}"] = repr(error)
    return ArrayLayout(path=name, dtype=_dtype_name(aval), global_shape=shape, sharding=found)


def _dtype_name(aval: Any) -> str:
    dtype = getattr(aval, "dtype", None)
    if dtype is None:
        return str(getattr(aval, "str_short", lambda: "unknown")())
    # The type of gradients of integers is a numpy record without fields, which prints as a list.
    return "float0" if dtype == jax.dtypes.float0 else str(dtype)


def _at(items: Sequence[Any], place: int | None) -> Any:
    return items[place] if place is not None and place < len(items) else None


def _names(known: Sequence[str] | None, count: int, fallback: str) -> list[str]:
    if known is None or len(known) != count:
        known = [""] * count
    return [" ".join(name.split()) or f"{fallback}[{index}]" for index, name in enumerate(known)]
