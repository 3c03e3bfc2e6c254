"""What the user's line called when a program was compiled: a function of JAX's by its public name.

`jnp.where` compiles `_where`, `jax.device_put` compiles `_multi_slice`: names that nobody wrote. Not its job: the
function that is compiled (`observe.definitions`).
"""

from __future__ import annotations

from types import FrameType

from pjit_inspect.observe import _jax
from pjit_inspect.observe.frames import is_jax_file, is_user_file

__all__ = ["called_name"]


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
