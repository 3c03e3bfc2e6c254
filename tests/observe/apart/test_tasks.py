"""The table of what helpers can be asked, and the reason that is kept of an error."""

from __future__ import annotations

import importlib

import pytest

import pjit_inspect
from pjit_inspect.observe.apart.tasks import TASKS, last_line


def test_every_task_is_a_function_of_this_package() -> None:
    for task in TASKS.values():
        for name in filter(None, (task.function, task.ahead, task.watch)):
            module, _, function = name.partition(":")
            assert module.startswith(f"{pjit_inspect.__name__}.")
            assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("no such option\nFor more, see the log", "ValueError: no such option"),
        (
            "INTERNAL: partitioner: Traceback (most recent call last):\n  File 'a.py', line 3\nKeyError: 'rows'\n",
            "ValueError: KeyError: 'rows'",
        ),
        ("", "ValueError"),
    ],
)
def test_of_a_traceback_the_last_line_is_the_reason(said: str, kept: str) -> None:
    assert last_line(ValueError(said)) == kept


def test_tasks_of_mlir_need_no_jax() -> None:
    assert not any(name.partition(".")[0] == "jax" for kind in ("print", "borders") for name in TASKS[kind].imports)
