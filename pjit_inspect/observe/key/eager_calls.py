"""What the user's line called when a program was compiled: a function of JAX's by its public name.

`jnp.where` compiles `_where`, `jax.device_put` compiles `_multi_slice`: names that nobody wrote. Not its job: the
function that is compiled (`observe.key.definitions`).
"""

from __future__ import annotations

from types import CodeType, FrameType

from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.frames import is_jax_file, is_our_file, is_user_file


def called_from(frame: FrameType | None) -> tuple[str, int | None]:
    """What is between the user's line and the compile that runs in `frame`: a public function of JAX's, and a place.

    The name is "" when there is no such function: the line called a jitted function, or used an operator or an index;
    it is "device_put" for programs that only put arrays on devices, whoever asked for that.

    The place is a hash of the instructions from the user's line to the stage of the compile; None when they do not lead
    through JAX alone, or no user's line is there.
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
