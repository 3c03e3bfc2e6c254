"""What the user's line called when a program was compiled: a function of JAX's by its public name.

`jnp.where` compiles `_where`, `jax.device_put` compiles `_multi_slice`: names that nobody wrote. Not its job: the
function that is compiled (`observe.key.definitions`).
"""

from __future__ import annotations

from types import FrameType

from pjit_inspect.observe.contract import _jax
from pjit_inspect.observe.live.frames import is_jax_file, is_our_file, is_user_file

__all__ = ["call_site", "called_name"]


def called_name(frame: FrameType | None) -> str:
    """The public function of JAX's between the user's line and the compile that runs in `frame`.

    "" when there is none: the line called a jitted function, or used an operator or an index; "device_put" for programs
    that only put arrays on devices, whoever asked for that.
    """
    outermost = None
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        if is_jax_file(frame.f_code.co_filename):
            if _jax.places_arrays(frame.f_code):
                return "device_put"
            if not _jax.is_traceback_wrapper(frame.f_code):
                outermost = frame
        frame = frame.f_back
    if outermost is None or frame is None:
        return ""
    name = outermost.f_code.co_qualname
    is_public = name.isidentifier() and not name.startswith("_")
    return name if is_public and not _jax.is_stage(outermost.f_code) else ""


def call_site(frame: FrameType | None) -> int | None:
    """A hash of the instructions from the user's line to the stage of a compile that runs in `frame`.

    None when they do not lead through JAX alone, or no user's line is there.
    """
    place: list[tuple[str, int, int]] = []
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        code = frame.f_code
        if not is_jax_file(code.co_filename):
            if not is_our_file(code.co_filename):
                return None
        elif _jax.is_stage(code):
            # Which way JAX takes after that depends on its caches.
            place.clear()
        else:
            place.append((code.co_filename, code.co_firstlineno, frame.f_lasti))
        frame = frame.f_back
    if frame is None:
        return None
    place.append((frame.f_code.co_filename, frame.f_code.co_firstlineno, frame.f_lasti))
    return hash(tuple(place)) & 0xFFFF_FFFF_FFFF
