"""Follows the running cells, so that records are shown above the cell's value or at its end.

IPython displays a cell's value after its code has run. Displays that belong above the value are shown when the display
hook begins. All others, and all of a cell without a value, are shown at `post_run_cell`. Not its job: choosing what is
shown (`ipython.run`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect import api
from pjit_inspect.guard import Guard

WhenDone = Callable[[bool], None]
"""Called when a cell has ended, with True when it failed."""

OnError = Callable[[BaseException, bool], None]
"""Called when a cell has failed, with its error and whether any action waited for the cell's end."""


@dataclass(slots=True, kw_only=True)
class _Cell:
    """A running cell.

    Attributes:
      actions: actions to run at its end, in order.
      early: the `actions` to run before its value is displayed, if it has one.
      result: the id of the newest value of a recorded line; no reference, which would keep arrays alive.
      is_recorded: whether the whole cell is recorded, its value too.
      had_actions: whether any action was ever added.
    """

    actions: list[WhenDone] = field(default_factory=list)
    early: list[WhenDone] = field(default_factory=list)
    result: int | None = None
    is_recorded: bool = False
    had_actions: bool = False


class Cells:
    """The running cells, innermost last, and the actions that wait for each.

    Cells nest (`%%capture`, `%run notebook.ipynb`), and several threads of a kernel may run one each.
    """

    def __init__(self, shell: Any, on_error: OnError | None = None) -> None:
        self._shell = shell
        self._on_error = on_error
        self._local = threading.local()
        self._undo = ExitStack()

    def watch(self) -> None:
        """Begin to follow the shell's cells. May be called while one is running."""
        if getattr(self._shell.displayhook, "exec_result", None) is not None:
            # `%load_ext` runs in a cell whose start was not seen.
            self._begin()
        self._shell.events.register("pre_run_cell", self._on_start)
        self._shell.events.register("post_run_cell", self._on_end)
        self._follow_displayhook(self._shell.displayhook)

    def unwatch(self) -> None:
        """Stop following; run at once what still waits in this thread."""
        self._shell.events.unregister("pre_run_cell", self._on_start)
        self._shell.events.unregister("post_run_cell", self._on_end)
        self._undo.close()
        while self._running:
            self._end(failed=False)

    @property
    def is_running(self) -> bool:
        """True while a cell runs in this thread."""
        return bool(self._running)

    def when_done(self, action: WhenDone, *, failed: bool = False, first: bool = False, early: bool = False) -> None:
        """Call `action` when the innermost running cell has ended; at once, with `failed`, when none runs.

        Actions run in the order they were added. Those marked `first` run before all others, newest first: what was
        opened last is closed first. Those marked `early` run before the cell's value is displayed, if it has one.
        """
        if not self._running:
            action(failed)
            return
        cell = self._running[-1]
        cell.had_actions = True
        cell.actions.insert(0 if first else len(cell.actions), action)
        if early:
            cell.early.append(action)

    def note_result(self, value: Any) -> None:
        """Notes the value of a recorded line of the innermost running cell."""
        if self._running:
            self._running[-1].result = id(value)

    def note_recorded(self) -> bool:
        """Marks the innermost running cell as recorded to its end.

        False if it may display several values on the way.
        """
        if not self._running or self._shell.ast_node_interactivity == "all":
            return False
        self._running[-1].is_recorded = True
        return True

    @property
    def _running(self) -> list[_Cell]:
        if not hasattr(self._local, "cells"):
            self._local.cells = []
        return self._local.cells

    def _follow_displayhook(self, hook: Any) -> None:
        """Wraps the hook's two steps; `unwatch` restores them."""
        start, compute = hook.start_displayhook, hook.compute_format_data

        def start_displayhook() -> None:
            self._before_value()
            start()

        def compute_format_data(value: Any) -> Any:
            short = self._short_text(value)
            return compute(value) if short is None else ({"text/plain": short}, {})

        for step in (start_displayhook, compute_format_data):
            before = vars(hook).get(step.__name__)
            vars(hook)[step.__name__] = step
            self._undo.callback(_restore, vars(hook), step.__name__, before)

    def _before_value(self) -> None:
        if not self._running:
            return
        cell = self._running[-1]
        early, cell.early = cell.early, []
        # In the same order as at the end of the cell, where those marked `first` come first.
        now = [action for action in cell.actions if action in early]
        cell.actions = [action for action in cell.actions if action not in early]
        _run_all(now, failed=False)

    def _short_text(self, value: Any) -> str | None:
        """Short text for a large value of a recorded run; None for all other values."""
        cell = self._running[-1] if self._running else None
        if cell is None or not (cell.is_recorded or cell.result == id(value)):
            return None
        return Guard().run("the short form of a large result", lambda: api.result_text(value), None)

    def _begin(self) -> None:
        self._running.append(_Cell())
        api.user_code_begins()

    def _on_start(self, info: Any) -> None:
        self._begin()

    def _on_end(self, result: Any) -> None:
        # IPython announces the end of a blank cell, but never its start.
        code = getattr(getattr(result, "info", None), "raw_cell", None)
        if self._running and (code is None or code.strip()):
            self._end(failed=result is None or not result.success, error=getattr(result, "error_in_exec", None))

    def _end(self, *, failed: bool, error: BaseException | None = None) -> None:
        with ExitStack() as stack:
            cell = self._running.pop()
            stack.callback(api.user_code_ends)
            stack.callback(_run_all, cell.actions, failed=failed)
            if error is not None and self._on_error is not None:
                # An explanation is shown right under its traceback.
                stack.callback(self._on_error, error, cell.had_actions)


def _run_all(actions: list[WhenDone], *, failed: bool) -> None:
    """Runs every action, even when one raises."""
    with ExitStack() as stack:
        # The stack runs the last one first.
        for action in reversed(actions):
            stack.callback(action, failed)


def _restore(attributes: dict[str, Any], name: str, before: Any) -> None:
    if before is None:
        attributes.pop(name, None)
    else:
        attributes[name] = before
