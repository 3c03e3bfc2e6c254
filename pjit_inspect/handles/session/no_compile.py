"""A block in which nothing may be compiled; what is compiled all the same is told with its reason and its place.

Not its job: watching (`observe.watch.listener`), or reasons (`handles.session.history`).
"""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

from pjit_inspect.errors import UnexpectedCompileError
from pjit_inspect.handles.session.captured import Captured
from pjit_inspect.handles.session.history import HISTORY
from pjit_inspect.handles.session.log import Log, LogLimit
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData

Action = Literal["raise", "warn", "record"]

_MOST_LISTED = 4


class NoCompile:
    """A block in which nothing may be compiled, as far as it was watched by now.

    Attributes:
      name: what the block is, for messages.
      compiles: the records of what was compiled in it, allowed or not.
      unexpected: the messages of those that were not allowed.
      slow_calls: function -> number of its calls that missed JAX's fastest path and passed through Python, though
        nothing was compiled; {} unless `no_compile` counts them.
    """

    def __init__(
        self, name: str, *, first: int, most: int, action: Action, eager: bool, only: threading.Thread | None
    ) -> None:
        self.name = name
        self.compiles: Log = Log(limit=LogLimit())
        self.unexpected: tuple[str, ...] = ()
        self.slow_calls: Counter[str] = Counter()
        self._first, self._most, self._action, self._eager, self._only = first, most, action, eager, only
        self._of_function, self._more = Counter[object](), 0
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return f"<no_compile{name}: {len(self.compiles)} compiled, {len(self.unexpected)} of them not allowed>"

    def _on_slow(self, function: str) -> None:
        with self._lock:
            self.slow_calls[function] += 1

    def _on_record(self, data: RecordData, finish: Callable[[RecordData], RecordData]) -> None:
        """Within the user's call, in the thread that compiled."""
        HISTORY.add(data)
        is_other = self._only is not None and threading.current_thread() is not self._only
        if is_other or data.cached == "memory" or not (self._eager or data.origin == "user"):
            return
        with self._lock:
            self.compiles._add(Captured(data, finish))  # noqa: SLF001
            function = _function(data)
            self._of_function[function] += 1
            if self._of_function[function] <= self._first:
                return
            self._more += 1
            if self._more <= self._most:
                return
            message = _words(self.name, data, HISTORY.reason(data), self._allowed)
            self.unexpected = (*self.unexpected, message)
        if self._action == "raise":
            from pjit_inspect.observe.watch import listener

            listener.refuse(UnexpectedCompileError(message))
        elif self._action == "warn":
            warnings.warn(message, stacklevel=2)

    @property
    def _allowed(self) -> str:
        parts = [f"the first {self._first} of each function"] if self._first else []
        parts += [f"{self._most} more" if parts else f"{self._most}"] if self._most else []
        return " and ".join(parts) or "none"


@contextmanager
def no_compile(
    name: str = "",
    *,
    after: Callable[[], Any] | int = 0,
    max_compiles: int = 0,
    threads: Literal["all", "this"] = "all",
    eager: bool = False,
    slow_calls: bool = False,
    action: Action = "raise",
) -> Iterator[NoCompile]:
    """A block in which the user's functions must not be compiled: `with pi.no_compile("serving") as guard:`.

    A compile in it ends the call that needed it with UnexpectedCompileError, which says why it was compiled, where, and
    what was different. JAX keeps no program of such a call. `guard.compiles` has the records, `guard.unexpected` the
    messages. A program that comes from JAX's cache on disk was compiled, too.

    Args:
      name: what the block is, for messages.
      after: a function that is called before the block, and may compile; or how many compiles of each function are
        allowed first.
      max_compiles: the number of compiles beyond these that are allowed in all.
      threads: "this" watches the thread that enters the block alone.
      eager: watch operations outside of jitted functions and compiles of libraries, too.
      slow_calls: count in `guard.slow_calls` the calls that miss JAX's fastest path and compile nothing. JAX's fastest
        paths are emptied for it when the block begins; the first call of each program after that is not counted.
      action: "raise" the error in the call; "warn", which lets it go on; or "record", which says nothing.

    Raises ValueError for another action, or other threads.
    """
    if action not in ("raise", "warn", "record"):
        raise ValueError(f"action={action!r}: expected 'raise', 'warn' or 'record'")
    if threads not in ("all", "this"):
        raise ValueError(f"threads={threads!r}: expected 'all' or 'this'")
    from pjit_inspect.observe.watch.listener import observed, observed_slow_calls

    first = 0
    if callable(after):
        # Its compiles are remembered, so that the reason of a later one can say what differs.
        with observed(lambda data, _: HISTORY.add(data)):
            after()
    else:
        first = after
    only = threading.current_thread() if threads == "this" else None
    guard = NoCompile(name, first=first, most=max_compiles, action=action, eager=eager, only=only)
    try:
        slow = observed_slow_calls(guard._on_slow) if slow_calls else nullcontext()  # noqa: SLF001
        with observed(guard._on_record), slow:  # noqa: SLF001
            yield guard
    finally:
        guard.compiles.complete()


def _function(data: RecordData) -> object:
    """The identity of a function: its name and the place of its definition, so that one made anew is the same."""
    own = None if data.key is None else data.key.function
    return data.name if own is None else (own.name, own.place)


def _words(name: str, data: RecordData, reason: Reason, allowed: str) -> str:
    """The message of an unexpected compile: what, why, what was different, and where."""
    where = "" if data.user_frame is None else data.user_frame.where
    took = data.timings.compile_s
    seconds = "" if took is None else f", {took:.2g} s"
    block = f" in {name}" if name else ""
    lines = [
        f"{data.name} was compiled{block}{seconds}",
        "",
        f"  allowed    {allowed}",
        f"  because    {reason.sentence}",
    ]
    others = [str(one.sentence) for one in reason.differences if one.sentence not in reason.sentence]
    lines += [f"             {other}" for other in others[:_MOST_LISTED]]
    if len(others) > _MOST_LISTED:
        lines.append(f"             and {len(others) - _MOST_LISTED} more differences")
    return "\n".join([*lines, *([f"  where      {where}"] if where else [])])
