"""`%pjit on --watch` and `--limit N`: a line per compile as it happens, a warning when one function has many.

While XLA compiles, a line under the cell counts the seconds; it ends empty, so that a saved notebook does not have it.
Not its job: finding the reason (`analyze.recompiles.recompiles`), wording the line (`view.record.answer`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pjit_inspect import api
from pjit_inspect.analyze.recompiles.recompiles import family_of
from pjit_inspect.ipython.cells import Cells
from pjit_inspect.ipython.progress import begin_progress
from pjit_inspect.ipython.run import show_note
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.view.document.printable import printable
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.record.answer import watch_line


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """Options for output while compiles happen.

    Attributes:
      lines: whether to print a line for each compile of the user's functions.
      limit: the compile of one function at which to warn; None for never.
      times: whether the lines show seconds.
    """

    lines: bool = False
    limit: int | None = None
    times: bool = True


class CompileWatch:
    """Watches compiles until `close`. A function's compiles count from the first in the session's log."""

    def __init__(self, shell: Any, cells: Cells, options: WatchOptions) -> None:
        self._shell, self._cells, self._options = shell, cells, options
        mine = api.session_log().user_records()
        self._counts = Counter(family_of(record.data) for record in mine if record.data.cached != "memory")
        self._warned: set[tuple[str, ...]] = set()
        self._others = 0
        self._stop = api.watch(self._on_compile, self._on_begin if options.lines else None)

    def close(self) -> None:
        """Stops watching; safe to call twice."""
        self._stop()

    def _on_begin(self, name: str) -> Callable[[], None]:
        words = printable(name.removeprefix("jit(").removesuffix(")"))
        return begin_progress(self._shell, f"XLA is compiling {words}")

    def _on_compile(self, data: RecordData, reason: Reason) -> None:
        if data.origin != "user":
            self._count_other()
            return
        family = family_of(data)
        self._counts[family] += 1
        number = self._counts[family]
        if self._options.lines:
            seconds = _seconds(data) if self._options.times else None
            show_note(watch_line(data.name, number, seconds, reason))
        limit = self._options.limit
        if limit is not None and number >= limit and family not in self._warned:
            self._warned.add(family)
            show_note(
                f"%pjit: {printable(data.name)} has been compiled {plural(number, 'time')}; %pjit ledger tells why"
            )

    def _count_other(self) -> None:
        if not self._options.lines or not self._cells.is_running:
            return
        if not self._others:
            self._cells.when_done(self._show_others)
        self._others += 1

    def _show_others(self, _: bool) -> None:
        count, self._others = self._others, 0
        show_note(f"and {plural(count, 'program')} of eager operations and libraries: %pjit log")


def _seconds(data: RecordData) -> float:
    timings = data.timings
    return sum(seconds or 0.0 for seconds in (timings.trace_s, timings.lower_s, timings.compile_s))
