"""Layouts of arguments and results: types, and the slice that each device holds.

Their sources are plain JAX data and can wait: layouts are made when a record is read, and most records never are. Not
its job: the other contents of a program (`observe.live.contents`), JAX's sharding objects (`observe.live.shardings`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import jax

from pjit_inspect.guard import read_fact
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.observe.live.program import LiveProgram
from pjit_inspect.observe.live.shardings import on_mesh, to_sharding
from pjit_inspect.observe.live.untouched import is_trusted

Asked = tuple[Sequence[dict[str, Any]], Sequence[dict[str, Any]]]
"""Fields of `ArrayLayout` about requested shardings: for each argument, and for each result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layouts:
    """The sources of a program's layouts: abstract values, shardings and names, but no arrays."""

    arguments: Sequence[str]
    results: Sequence[str]
    meshes: Sequence[Mesh]
    all_avals: Sequence[Any]
    in_avals: Sequence[Any]
    out_avals: Sequence[Any]
    in_shardings: Sequence[Any]
    out_shardings: Sequence[Any]
    kept: frozenset[int]
    donated: Sequence[bool]
    asked: Asked

    @classmethod
    def of(
        cls, program: LiveProgram, names: tuple[Sequence[str], Sequence[str]], meshes: Sequence[Mesh], asked: Asked
    ) -> Self:
        """The layouts' sources of a program; `names` are the paths of its arguments and its results.

        A sharding that XLA chose gets its spec in the axis names of the first of `meshes` that it follows.
        """
        return cls(
            arguments=names[0],
            results=names[1],
            meshes=meshes,
            all_avals=program.all_avals,
            in_avals=program.in_avals,
            out_avals=program.out_avals,
            in_shardings=program.in_shardings,
            out_shardings=program.out_shardings,
            kept=program.kept,
            donated=program.donated,
            asked=asked,
        )

    def can_wait(self) -> bool:
        """True if all parts are JAX's: a type or a sharding of a user's class may hold anything."""
        held = (self.all_avals, self.in_avals, self.out_avals, self.in_shardings, self.out_shardings)
        return all(item is None or is_trusted(item) for items in held for item in items)

    def read(self, missing: dict[str, str]) -> dict[str, tuple[ArrayLayout, ...]]:
        """The fields of a record with the layouts; failures are noted in `missing`."""
        layout = functools.partial(layout_of, missing, self.meshes)
        return {
            "inputs": read_fact(missing, "inputs", lambda: tuple(self._inputs(layout)), ()),
            "outputs": read_fact(missing, "outputs", lambda: tuple(self._outputs(layout)), ()),
        }

    def _inputs(self, layout: Callable[..., ArrayLayout]) -> Iterator[ArrayLayout]:
        """Every argument of the traced function in order, including those that jit dropped as unused."""
        if len(self.kept) != len(self.in_avals) or max(self.kept, default=-1) >= len(self.all_avals):
            # References and hoisted constants change the argument list; then names cannot be matched by position.
            names, avals, asked = argument_names(None, len(self.in_avals)), self.in_avals, ()
            position = {index: index for index in range(len(avals))}
        else:
            names, avals, asked = self.arguments, self.all_avals, self.asked[0]
            position = {index: place for place, index in enumerate(sorted(self.kept))}
        for index, aval in enumerate(avals):
            place = position.get(index)
            sharding, donated = _at(self.in_shardings, place), bool(_at(self.donated, place))
            more = _at(asked, index) or {}
            yield layout(names[index], aval, sharding, donated=donated, kept=place is not None, **more)

    def _outputs(self, layout: Callable[..., ArrayLayout]) -> Iterator[ArrayLayout]:
        """Every result of the function in order."""
        for place, (name, aval) in enumerate(zip(self.results, self.out_avals, strict=True)):
            yield layout(name, aval, _at(self.out_shardings, place), **(_at(self.asked[1], place) or {}))


def argument_names(debug_info: Any, count: int, constants: int = 0) -> list[str]:
    """JAX's paths of the arguments; `arg[3]` for those without.

    The first `constants` of them are closed-over arrays, which JAX may pass as arguments.
    """
    names = _names(getattr(debug_info, "arg_names", None), count, "arg")
    return [f"constant[{i}]" if i < constants else name for i, name in enumerate(names)]


def result_names(debug_info: Any, count: int) -> list[str]:
    """JAX's paths of the results; `result[0]` where it has none."""
    paths = getattr(debug_info, "result_paths", None)
    return _names(paths if isinstance(paths, tuple) else None, count, "result")


def layout_of(
    missing: dict[str, str], meshes: Sequence[Mesh], name: str, aval: Any, sharding: Any, **more: Any
) -> ArrayLayout:
    """The layout of one array of type `aval`; `more` are further fields."""
    shape = tuple(int(n) for n in getattr(aval, "shape", ()))
    placed = None
    if hasattr(sharding, "devices_indices_map"):
        try:
            placed = functools.reduce(on_mesh, meshes, to_sharding(sharding, shape))
        except Exception as error:
            missing[f"sharding of {name}"] = repr(error)
    return ArrayLayout(path=name, dtype=_dtype_name(aval), global_shape=shape, sharding=placed, **more)


def _dtype_name(aval: Any) -> str:
    dtype = getattr(aval, "dtype", None)
    return str(getattr(aval, "str_short", lambda: "unknown")()) if dtype is None else _name_of_dtype(dtype)


@functools.lru_cache(maxsize=256)
def _name_of_dtype(dtype: Any) -> str:
    # Gradients of integers have a numpy record type without fields, which prints as a list.
    return "float0" if dtype == jax.dtypes.float0 else str(dtype)


def _at(items: Sequence[Any], place: int | None) -> Any:
    return items[place] if place is not None and place < len(items) else None


def _names(known: Sequence[str] | None, count: int, fallback: str) -> list[str]:
    if known is None or len(known) != count:
        known = [""] * count
    return [" ".join(name.split()) or f"{fallback}[{index}]" for index, name in enumerate(known)]
