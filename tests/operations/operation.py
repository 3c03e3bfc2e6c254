"""One operation of the table: a small function, its arguments with shardings that meet badly, and what may follow.

The expectations are worked out from how SPMD partitioning must work, before a program runs.
Not its job: the programs made of it (`forms`), or comparing (`score`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from causes.meshes import MESH, array

__all__ = ["LOOKS_UP", "NEIGHBOURS", "Operation", "integers", "operation"]

LOOKS_UP = ("looks up", "look up")
NEIGHBOURS = ("neighbours",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation.

    Attributes:
      name: unique in the table.
      why: what must be moved, in a line.
      function: the operation as people write it.
      arguments: `jax.ShapeDtypeStruct`s with shardings.
      causes: the kinds that a collective of the plain form may have; () when it must have none.
      backward: further kinds that the gradient may have.
      never: words that must not occur in a sentence about the plain form.
      has_gradient: whether `jax.grad` can go through it.
      takes_product: whether a matrix product may follow it; False where a program must end with it.
      revised: what had been expected before the program ran and why that was wrong; "" when it held.
    """

    name: str
    why: str
    function: Callable[..., Any]
    arguments: tuple[jax.ShapeDtypeStruct, ...]
    causes: tuple[str, ...]
    backward: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    has_gradient: bool = True
    takes_product: bool = True
    revised: str = ""


def operation(
    table: list[Operation],
    why: str,
    *arguments: jax.ShapeDtypeStruct,
    causes: tuple[str, ...] = (),
    backward: tuple[str, ...] = (),
    never: tuple[str, ...] = (),
    has_gradient: bool = True,
    takes_product: bool = True,
    revised: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Append the decorated function to `table`; the operation is named after it."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        entry = Operation(
            name=function.__name__,
            why=why,
            function=function,
            arguments=arguments,
            causes=causes,
            backward=backward,
            never=never,
            has_gradient=has_gradient,
            takes_product=takes_product,
            revised=revised,
        )
        table.append(entry)
        return function

    return add


def integers(shape: tuple[int, ...], *spec: object) -> jax.ShapeDtypeStruct:
    """An argument of 32-bit integers on the mesh (data 2, model 4)."""
    return array(shape, *spec, mesh=MESH, dtype=jnp.int32)
