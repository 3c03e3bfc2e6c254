"""One `%pjit` run: a capture around the user's code, and the display of what it saw.

Not its job: running the code (`ipython.evaluate`) or deciding when to show (`ipython.cells`).
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from IPython.display import display

from pjit_inspect import api
from pjit_inspect.ipython.command import ShowOptions

__all__ = ["Run", "show_note"]


class Run:
    """An open capture. `close` ends it and keeps its records; `show` displays them."""

    def __init__(self, options: ShowOptions) -> None:
        self._options = options
        self._scope = ExitStack()
        self._was_open = False
        self._log = api.Log()
        try:
            self._log = self._scope.enter_context(api.capture(calls=True, measure=options.measure))
            self._was_open = True
        except Exception as error:
            # The user's code runs on, whatever it is that we cannot do.
            show_note(f"%pjit could not record this run: {error!r}. Your code runs as it would without it")

    def close(self) -> None:
        """End the capture and add its records to the session's log."""
        self._scope.close()
        session = api.session_log()
        # `%pjit on` may have logged the same compile already.
        known = {id(record.data) for record in session}
        session.extend(record for record in self._log if id(record.data) not in known)

    def show(self, failed: bool) -> None:
        """Display the user's records in full and count the others; a failed run that saw nothing stays silent."""
        mine = self._log.user_records()
        for record in mine:
            self._show_record(record)
        others = len(self._log) - len(mine)
        if others:
            show_note(_others_text(others, after=bool(mine)))
        elif not mine and not failed and self._was_open:
            nothing = "%pjit: nothing was compiled, and no compiled function was called"
            show_note(f"{nothing}; to run a function, call it: %pjit f(x)")

    def _show_record(self, record: api.CompileRecord) -> None:
        try:
            display(record.show(self._options.view, times=self._options.times))
        except Exception as error:
            # The user's cell has succeeded, and must not look as if it had not.
            show_note(f"%pjit could not show {record.name}: {error!r}. Your result is not affected")


def _others_text(count: int, *, after: bool) -> str:
    programs = "1 program" if count == 1 else f"{count} programs"
    if after:
        return f"and {programs} of eager operations and libraries: %pjit log"
    return f"{programs} of eager operations and libraries, none of your own functions: %pjit log"


def show_note(text: str) -> None:
    """Display one line of plain text."""
    bundle: dict[str, Any] = {"text/plain": text}
    display(bundle, raw=True)
