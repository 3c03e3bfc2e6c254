"""Knows when the cell that is running has ended, so that records can be shown under its result.

IPython displays a cell's value after its code has run; what should stand below must wait for `post_run_cell`. Not its
job: what waits (`ipython.run`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

__all__ = ["Cells", "OnError", "WhenDone"]

WhenDone = Callable[[bool], None]
"""Called when a cell has ended, with True when it failed."""

OnError = Callable[[BaseException, bool], None]
"""Called when a cell has failed, with its error and whether anything waited for its end."""


class Cells:
    """The cells that are running, innermost last, and what each is waited for.

    Cells nest (`%%capture`, `%run notebook.ipynb`), and several threads of a kernel may run one each.
    """

    def __init__(self, shell: Any, on_error: OnError | None = None) -> None:
        self._shell = shell
        self._on_error = on_error
        self._local = threading.local()

    def watch(self) -> None:
        """Begin to follow the shell's cells. May be called while one is running."""
        if getattr(self._shell.displayhook, "exec_result", None) is not None:
            # `%load_ext` runs in a cell whose start was not seen.
            self._running.append([])
        self._shell.events.register("pre_run_cell", self._on_start)
        self._shell.events.register("post_run_cell", self._on_end)

    def unwatch(self) -> None:
        """Stop following; whatever this thread still waits for happens now."""
        self._shell.events.unregister("pre_run_cell", self._on_start)
        self._shell.events.unregister("post_run_cell", self._on_end)
        while self._running:
            self._end(failed=False)

    @property
    def is_running(self) -> bool:
        """True while a cell runs in this thread."""
        return bool(self._running)

    def when_done(self, action: WhenDone, *, failed: bool = False, first: bool = False) -> None:
        """Call `action` when the innermost running cell has ended; at once, with `failed`, when none runs.

        Actions happen in the order they came, but those marked `first` happen before all others and the newest of them
        first: what was opened last is closed first.
        """
        if not self._running:
            action(failed)
        elif first:
            self._running[-1].insert(0, action)
        else:
            self._running[-1].append(action)

    @property
    def _running(self) -> list[list[WhenDone]]:
        if not hasattr(self._local, "cells"):
            self._local.cells = []
        return self._local.cells

    def _on_start(self, info: Any) -> None:
        self._running.append([])

    def _on_end(self, result: Any) -> None:
        # IPython announces the end of a blank cell, but never its start.
        code = getattr(getattr(result, "info", None), "raw_cell", None)
        if self._running and (code is None or code.strip()):
            self._end(failed=result is None or not result.success, error=getattr(result, "error_in_exec", None))

    def _end(self, *, failed: bool, error: BaseException | None = None) -> None:
        with ExitStack() as stack:
            actions = self._running.pop()
            # Every action runs even when one raises; the stack runs its last one first.
            for action in reversed(actions):
                stack.callback(action, failed)
            if error is not None and self._on_error is not None:
                # What explains a traceback stands right under it.
                stack.callback(self._on_error, error, bool(actions))
