"""Making any function of the package fail, once, wherever it is called from.

Python's profiler hook sees every call begin; an exception that it raises is raised in the function that was called. So
every function can be made to fail, also those that nothing can be put in the place of (methods, closures, lambdas).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pjit_inspect

__all__ = ["failing", "functions_of", "title"]

PACKAGE = str(Path(pjit_inspect.__file__).parent)


def functions_of(run: Callable[[], object], room: str = "") -> list[CodeType]:
    """The functions of the package, or of one room ("observe/"), that a call runs; in the order they first run."""
    found: dict[CodeType, None] = {}
    folder = f"{PACKAGE}/{room}"

    def see(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(folder):
            found.setdefault(frame.f_code)

    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
    # The guard itself is what is tested. What a generator raises while it is closed, Python keeps to itself.
    return [c for c in found if not c.co_filename.endswith("/guard.py") and c.co_name != "<genexpr>"]


@contextmanager
def failing(code: CodeType, error: BaseException) -> Iterator[list[bool]]:
    """Inside, the next run of a function raises `error` at its begin; the list is [True] once it has."""
    hit = [False]

    def fail(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code is code and not hit[0]:
            hit[0] = True
            raise error

    sys.setprofile(fail)
    try:
        yield hit
    finally:
        sys.setprofile(None)


def title(code: CodeType) -> str:
    """Where a function is, and its name: "observe/watch/record.py:51 make_record"."""
    return f"{code.co_filename.removeprefix(PACKAGE + '/')}:{code.co_firstlineno} {code.co_qualname}"
