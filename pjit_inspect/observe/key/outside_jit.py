"""Operations that `shard_map` and `pmap` run one by one, when they are called outside jit.

JAX then compiles a small program for each operation, all under one name of its own (`HashablePartial`). Here each is an
operation of the user's function. Not its job: operations on ordinary arrays, which JAX calls eager.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FrameType, FunctionType
from typing import Any

from pjit_inspect.model.record.compile_key import FunctionKey, NamedText
from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.short_text import static_text

_STEPS = {"_unmatch": "splitting of arguments", "_unmatch2": "splitting of arguments", "_match": "joining of results",
          "_match2": "joining of results"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation that runs so. Live: looked at once, never kept.

    Attributes:
      function: the user's function it belongs to.
      name: the operation, or what JAX does around the function.
      parameters: its parameters.
      caller: the frame that called what `shard_map` or `pmap` returned.
      transform: "shard_map" or "pmap".
    """

    function: FunctionType
    name: str
    parameters: tuple[tuple[str, Any], ...]
    caller: FrameType | None
    transform: str


def operation_outside_jit(stages: dict[str, FrameType]) -> Operation | None:
    """The operation that a compile is of; None for any other program."""
    if "shard_map" not in stages or "dispatch" not in stages:
        return None
    step, arguments = _jax.partial_of(stages["dispatch"].f_locals.get("fun"))
    function, caller, transform = _jax.shard_mapped(stages)
    if step == "" or function is None:
        return None
    name, parameters = _STEPS.get(step, step.strip("_")), ()
    if step == "_prim_applier":
        name = str(getattr(arguments[0], "name", step))
        parameters = next((item for item in arguments if isinstance(item, tuple)), ())
        if name in ("jit", "pjit"):
            # An operation that JAX jits itself, such as `multiply`.
            name, parameters = str(dict(parameters).get("name", name)), ()
    return Operation(function, name, parameters, caller, transform)


def named_for(operation: Operation, info: Any) -> Any:
    """JAX's facts of the program's function, with the name and place of the user's."""
    code = operation.function.__code__
    place = f"{operation.function.__name__} at {code.co_filename}:{code.co_firstlineno}"
    return info._replace(func_src_info=place, arg_names=None)


def function_of(operation: Operation) -> FunctionKey:
    """The operation as what was compiled."""
    return FunctionKey(name=operation.name, kind="primitive", wrapper=operation.function.__qualname__)


def parameters_of(operation: Operation) -> tuple[NamedText, ...]:
    """Its parameters as text."""
    return tuple(
        static_text(str(name), value) for name, value in sorted(operation.parameters, key=lambda pair: pair[0])
    )
