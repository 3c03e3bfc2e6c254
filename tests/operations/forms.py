"""The programs made of one operation: plain, with a matrix product after it, and its gradient.

Not its job: which kinds of causes they may have (`score`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
from causes.meshes import array

from operations.operation import Operation

__all__ = ["FORMS", "Form", "Program", "programs_of"]

Form = Literal["plain", "matmul", "gradient"]
FORMS: tuple[Form, ...] = ("plain", "matmul", "gradient")

_MODEL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program: the operation, the form, the function to compile and its arguments."""

    operation: Operation
    form: Form
    function: Callable[..., Any]
    arguments: tuple[jax.ShapeDtypeStruct, ...]

    @property
    def name(self) -> str:
        return f"{self.operation.name}-{self.form}"


def programs_of(operation: Operation) -> tuple[Program, ...]:
    """Every form that the operation has."""
    makers = {"plain": _plain, "matmul": _matmul, "gradient": _gradient}
    forms = [form for form in FORMS if _has(operation, form)]
    return tuple(_program(operation, form, *makers[form](operation)) for form in forms)


def _has(operation: Operation, form: Form) -> bool:
    return {"matmul": operation.takes_product, "gradient": operation.has_gradient}.get(form, True)


def _program(operation: Operation, form: Form, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Program:
    return Program(operation=operation, form=form, function=function, arguments=arguments)


def _plain(operation: Operation) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return operation.function, operation.arguments


def _matmul(operation: Operation) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The operation's first result times a weight whose rows are sharded over model, where they can be."""
    result = _first(jax.eval_shape(operation.function, *operation.arguments))
    rows = result.shape[-1] if result.shape else 2 * _MODEL
    weight = array((rows, 16), "model", None) if rows % _MODEL == 0 else array((rows, 16), None, "data")

    def with_product(*arguments: Any) -> jax.Array:
        *own, w = arguments
        y = _first(operation.function(*own)).real.astype(jnp.float32)
        y = y if y.ndim else jnp.full((rows,), y)
        return y @ w

    return _with_names(with_product, operation, "w"), (*operation.arguments, weight)


def _gradient(operation: Operation) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The gradient of a sum over all results of floating-point numbers, for all such arguments."""

    def loss(*arguments: Any) -> jax.Array:
        results = [leaf for leaf in jax.tree.leaves(operation.function(*arguments)) if _is_inexact(leaf)]
        return sum((jnp.sum(jnp.sin(leaf.real)) for leaf in results), jnp.zeros(()))

    numbers = tuple(index for index, leaf in enumerate(operation.arguments) if _is_inexact(leaf))
    return jax.grad(_with_names(loss, operation), argnums=numbers), operation.arguments


def _with_names(function: Callable[..., Any], operation: Operation, *further: str) -> Callable[..., Any]:
    """The function with the operation's names of arguments, which JAX reads from the signature."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = inspect.signature(operation.function).parameters.values()
    added = [inspect.Parameter(f"{name}_after", kind) for name in further]
    function.__signature__ = inspect.Signature([*own, *added])  # pyright: ignore[reportFunctionMemberAccess]
    return function


def _first(tree: Any) -> Any:
    return jax.tree.leaves(tree)[0]


def _is_inexact(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jnp.inexact)
