"""Finds the caller: the user's frames on the stack of a compile, and the owner of the compiled function.

Not its job: the contents of JAX's frames (`_jax.stages_of`).
"""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import os
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.observe.contract import _jax

_PACKAGE = str(Path(__file__).absolute().parents[2]) + os.sep
_SITE = tuple(
    os.path.abspath(_path) + os.sep
    for key in ("stdlib", "platstdlib", "purelib", "platlib")
    if (_path := sysconfig.get_paths().get(key))
)
_MAX_LINES = 20_000
_MAX_TEXTS = 64
_MOST_EQUATIONS = 64
_FRAME_AND_US = 3  # the frame, a variable, and the argument of `getrefcount`


@functools.lru_cache(maxsize=4096)
def is_user_file(file: str) -> bool:
    """True for user code: a notebook cell, a script, a module outside every installed package."""
    if file.startswith("<") and not file.startswith(("<ipython-input", "<stdin", "<string")):
        return False
    path = os.path.abspath(file)
    if path.startswith(_PACKAGE):
        return False
    parts = path.replace("\\", "/")
    return not (path.startswith(_SITE) or "/site-packages/" in parts or "/dist-packages/" in parts)


@functools.lru_cache(maxsize=4096)
def is_jax_file(file: str) -> bool:
    """True for a file of the packages jax and jaxlib."""
    parts = file.replace("\\", "/")
    return "/jax/_src/" in parts or "/site-packages/jax/" in parts or "/jaxlib/" in parts


def is_our_file(file: str) -> bool:
    """True for a file of this package."""
    return file.startswith(_PACKAGE)


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of user code, or None if there is none (a library's thread)."""
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def caller_of_jax(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is neither JAX's nor ours: whoever called the compiled function."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not is_jax_file(file) and not file.startswith((_PACKAGE, "<frozen")):
            return frame
        frame = frame.f_back
    return None


def to_frame(frame: FrameType | None) -> Frame | None:
    """A live frame as frozen facts that keep nothing alive."""
    if frame is None:
        return None
    file = frame.f_code.co_filename
    return Frame(file=file, line=frame.f_lineno or 0, function=frame.f_code.co_qualname, cell=cell_name(file))


def wrapped_function(jaxpr: Any) -> Frame | None:
    """The place of the user's function that a package's wrapper leaves all work to.

    None where the wrapper works itself, or wraps nothing.

    Source: the stacks of the operations JAX has traced. All of them go through that function, right within the wrapper.
    """
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    info = getattr(jaxpr, "debug_info", None)
    file, name = str(getattr(info, "func_filename", None) or ""), getattr(info, "func_name", None)
    if not file or is_user_file(file) or is_jax_file(file):
        return None
    wrapper, found = (file, getattr(info, "func_lineno", None)), set[CodeType | None]()
    for equation in jaxpr.eqns[:: len(jaxpr.eqns) // _MOST_EQUATIONS + 1]:
        codes = [code for code, _ in _jax.made_at(equation.source_info)]
        inner = list(itertools.takewhile(lambda code: (code.co_filename, code.co_firstlineno) != wrapper, codes))
        own = (code for code in reversed(inner) if is_user_file(code.co_filename) or code.co_name == name)
        found.add(next(own, None) if len(inner) < len(codes) else None)
    code = found.pop() if len(found) == 1 else None
    if code is None:
        return None
    file, line = code.co_filename, code.co_firstlineno
    return Frame(file=file, line=line, function=code.co_name, cell=cell_name(file))


def read_variables(frame: FrameType) -> dict[str, Any]:
    """A copy of the variables visible in a frame, locals before globals; no value is kept in the frame.

    Before Python 3.13 a function's frame keeps the dict made by `f_locals`, with every value in it, as long as the
    function runs. A dict with another reference (the user's `locals()`) is not touched.
    """
    is_function = frame.f_code.co_flags & inspect.CO_OPTIMIZED
    if not is_function or sys.version_info >= (3, 13):
        return {**frame.f_globals, **frame.f_locals}
    made = frame.f_locals
    variables = {**frame.f_globals, **made}
    if sys.getrefcount(made) <= _FRAME_AND_US:
        made.clear()
    return variables


def cell_name(file: str) -> str | None:
    """The notebook's name ("In [7]") of the cell whose code has this file name, or None."""
    if (shell := _shell()) is None:
        return None
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", {})
    number = numbers.get(file)
    return None if number is None else f"In [{number}]"


def _shell() -> object | None:
    # Never import IPython for it: where it is not loaded there is no cell.
    ipython = sys.modules.get("IPython")
    get = getattr(ipython, "get_ipython", None)
    return get() if get else None


def read_source(file: str) -> SourceText | None:
    """The text of a user's file or cell as Python knows it now, at most 20,000 lines; None when there is none."""
    lines = linecache.getlines(file)
    if not lines or len(lines) > _MAX_LINES:
        return None
    return SourceText(file=file, cell=cell_name(file), lines=source_lines(file, lines))


_texts: dict[str, tuple[list[str], tuple[str, ...]]] = {}


def source_lines(file: str, lines: list[str]) -> tuple[str, ...]:
    """The lines that `linecache` has of a file, without line ends; shared by all records of it.

    When the file changes, `linecache` makes a new list.
    """
    known = _texts.get(file)
    if known is None or known[0] is not lines:
        if len(_texts) >= _MAX_TEXTS:
            _texts.clear()
        known = _texts[file] = lines, tuple(line.rstrip("\r\n") for line in lines)
    return known[1]
