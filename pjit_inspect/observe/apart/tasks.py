"""The tasks of helpers: a fixed table of functions of this package, by name.

A question names a row of this table and never a function. Functions are named as text, because they are in rooms that
use this one. Not its job: the work (the functions), or the scheduling (`server`).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

_LONGEST_LINE, _LONGEST_WORDS = 500, 300
_NO_REASON = ("WARNING: All log messages before absl", "ERROR: ld.so: object")
"""Beginnings of lines that precede the error output and do not describe the error."""
_GIB = 1 << 30


class Made(NamedTuple):
    """The result of a task's function: facts as JSON data, and bytes that go with them."""

    said: dict[str, Any]
    blobs: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One kind of question. Each function is "module:name".

    Attributes:
      function: receives the question and its blobs, and returns `Made`; it runs in a process forked for it.
      imports: modules that are imported once, before any process is forked.
      ahead: receives the question's `fit` in a process forked before its question comes; "" for none.
      watch: makes an object that finds the answer in the process's files, while it still runs; "" for none.
      most_memory: bytes that the process may reserve, plus some per byte of the question; 0 for no limit.
    """

    function: str
    imports: tuple[str, ...] = ()
    ahead: str = ""
    watch: str = ""
    most_memory: int = 0


_MLIR, _CHILD = "pjit_inspect.observe.shardy.mlir_child", "pjit_inspect.observe.partitioner.child"
_COPIES = "pjit_inspect.handles.asked.copies"
_JAX = ("jax", "jaxlib.mlir.dialects.stablehlo", "jax._src.compiler", "jax._src.interpreters.mlir")

TASKS: dict[str, Task] = {
    "print": Task(function=f"{_MLIR}:print_hlo", imports=(_MLIR,), most_memory=2 * _GIB),
    "borders": Task(function=f"{_MLIR}:read_borders", imports=(_MLIR,), most_memory=2 * _GIB),
    "partition": Task(
        function=f"{_CHILD}:compile_one",
        imports=(*_JAX, _CHILD),
        ahead=f"{_CHILD}:make_devices",
        watch="pjit_inspect.observe.partitioner.answers:Watch",
    ),
    "copy": Task(function=f"{_COPIES}:answer", imports=(*_JAX, _COPIES)),
}


def load(name: str) -> Any:
    """The function that the table names as "module:name"."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def first_words(said: str) -> str:
    """The first line of a process's error output that may be a reason; "" for none."""
    lines = (line.strip()[:_LONGEST_WORDS] for line in said.splitlines())
    return next((line for line in lines if line and not line.startswith(_NO_REASON)), "")


def last_line(error: BaseException) -> str:
    """The kind of an error and one line of its text: the last (the reason) with a traceback, or else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    has_traceback = any("Traceback (most recent call last)" in line for line in lines)
    return f"{type(error).__name__}: {lines[-1 if has_traceback else 0][:_LONGEST_LINE]}"
