"""Programs that JAX compiles for single operations: their function, and the function the user's line called.

`shard_map` and `pmap`, called outside jit, run operations one by one, each a small program under a name of JAX's
(`HashablePartial`); here each is an operation of the user's function. `jnp.where` compiles `_where`, `jax.device_put`
compiles `_multi_slice`: names that nobody wrote. Not its job: jitted functions (`observe.key.definitions`).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import CodeType, FrameType, FunctionType
from typing import Any

from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.frames import is_jax_file, is_our_file, is_user_file

_STEPS = {"_unmatch": "splitting of arguments", "_unmatch2": "splitting of arguments", "_match": "joining of results",
          "_match2": "joining of results"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation outside jit. Live: looked at once, never kept.

    Attributes:
      function: the user's function it belongs to.
      name: the operation, or JAX's step around the function.
      parameters: its parameters.
      caller: the frame that called the function returned by `shard_map` or `pmap`.
      transform: "shard_map" or "pmap".
    """

    function: FunctionType
    name: str
    parameters: tuple[tuple[str, Any], ...]
    caller: FrameType | None
    transform: str


def operation_outside_jit(stages: dict[str, FrameType]) -> Operation | None:
    """The operation of a compile; None for any other program."""
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


def called_from(frame: FrameType | None) -> tuple[str, int | None]:
    """The public function of JAX's that the user's line called, and a place, of the compile that runs in `frame`.

    The name is "" if there is no such function: the line called a jitted function, or used an operator or an index. It
    is "device_put" for programs that only put arrays on devices, whoever asked for that.

    The place is a hash of the instructions from the user's line to the stage of the compile; None if they lead through
    another package, or no user's line is there.
    """
    outermost: CodeType | None = None
    is_placing, is_of_jax = False, True
    place: list[tuple[str, int, int]] = []
    while frame is not None and not is_user_file(file := (code := frame.f_code).co_filename):
        if is_jax_file(file):
            part = _jax.part_of(file, code.co_name)
            is_placing = is_placing or part == "placing"
            if part != "traceback":
                outermost = code
            if part == "stage":
                # Which way JAX takes after that depends on its caches.
                place.clear()
            else:
                place.append((file, code.co_firstlineno, frame.f_lasti))
        elif not is_our_file(file):
            is_of_jax = False
        frame = frame.f_back
    name = "device_put" if is_placing else "" if frame is None else _public_name(outermost)
    if frame is None or not is_of_jax:
        return name, None
    place.append((frame.f_code.co_filename, frame.f_code.co_firstlineno, frame.f_lasti))
    return name, hash(tuple(place)) & 0xFFFF_FFFF_FFFF


def _public_name(code: CodeType | None) -> str:
    if code is None or _jax.part_of(code.co_filename, code.co_name) == "stage":
        return ""
    name = code.co_qualname
    return name if name.isidentifier() and not name.startswith("_") else ""
