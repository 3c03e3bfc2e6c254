"""A line under a cell with the seconds that something has taken so far; it ends empty.

A saved notebook therefore does not have it. Not its job: what is running (`ipython.run`, `ipython.watch`,
`ipython.target`).
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from IPython.display import display

_PATIENCE_S = 1.0
"""Seconds before the line appears, and between its updates."""
_LAST_WORD_S = 5.0
"""Seconds to wait until the line is emptied, on a busy machine; after its cell has ended it can't be emptied."""


@contextmanager
def progress(shell: Any, words: str) -> Iterator[None]:
    """Shows progress while the block runs."""
    end = begin_progress(shell, words)
    try:
        yield
    finally:
        end()


def begin_progress(shell: Any, words: str) -> Callable[[], None]:
    """Shows progress until the returned function is called. Does nothing outside a kernel."""
    if not hasattr(shell, "kernel"):
        # A terminal prints every update on a line of its own.
        return _nothing
    ended = threading.Event()
    # The kernel finds the cell of an output by a context variable, which threads do not inherit.
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(_tick, words, ended), daemon=True, name="pjit_inspect progress")
    thread.start()

    def end() -> None:
        ended.set()
        thread.join(_LAST_WORD_S)

    return end


def _tick(words: str, ended: threading.Event) -> None:
    began = time.monotonic()
    if ended.wait(_PATIENCE_S):
        return
    handle = display(_line(""), raw=True, display_id=True)
    if handle is None:
        return
    while not ended.is_set():
        handle.update(_line(f"{words}: {time.monotonic() - began:.0f} s"), raw=True)
        ended.wait(_PATIENCE_S)
    handle.update(_line(""), raw=True)


def _line(text: str) -> dict[str, str]:
    return {"text/plain": text}


def _nothing() -> None:
    return None
