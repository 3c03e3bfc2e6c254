"""The records of this process that somebody still holds, newest last, to find the one that an error is about.

Nothing here keeps a record alive. Not its job: holding them (`handles.log`).
"""

from __future__ import annotations

import threading
import weakref
from collections import deque

from pjit_inspect.handles.record import CompileRecord

__all__ = ["recent_records", "remember"]

_MOST = 1_000
_lock = threading.RLock()
_known: deque[weakref.ref[CompileRecord]] = deque(maxlen=_MOST)


def remember(record: CompileRecord) -> None:
    """Take note of a record that was captured, within the user's call."""
    with _lock:
        _known.append(weakref.ref(record))


def recent_records() -> list[CompileRecord]:
    """Those that are still held, newest first."""
    with _lock:
        found = [known() for known in reversed(_known)]
    return [record for record in found if record is not None]
