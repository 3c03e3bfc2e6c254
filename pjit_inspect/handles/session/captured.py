"""One compile in a log; its record is made on demand.

Records import every analysis and view, which takes most of a second: too long within the user's call. Not its job:
holding the captures (`handles.session.log`), or records (`handles.record`).
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from pjit_inspect.handles.session.programs import held_bytes, without_programs
from pjit_inspect.model.record.record import RecordData

if TYPE_CHECKING:
    from pjit_inspect.handles.record import CompileRecord

_MOST = 1_000
_lock = threading.RLock()
_numbers = itertools.count()
_captured: weakref.WeakValueDictionary[int, Captured] = weakref.WeakValueDictionary()
_records: weakref.WeakValueDictionary[int, CompileRecord] = weakref.WeakValueDictionary()
"""Compile number -> its entry in a log, and its record, which may outlive the log."""


class Captured:
    """A compile captured but not yet turned into a CompileRecord; reads the rest lazily.

    `finish` reads the facts that capture left for later, as in `CompileRecord`.
    """

    __slots__ = ("__weakref__", "_data", "_finish", "_lock", "_number", "_record")

    def __init__(self, data: RecordData, finish: Callable[[RecordData], RecordData] | None) -> None:
        self._data, self._finish = data, finish
        self._record: CompileRecord | None = None
        self._lock = threading.RLock()
        with _lock:
            self._number = next(_numbers)
            _captured[self._number] = self

    @property
    def record(self) -> CompileRecord:
        """The record, the same each time."""
        if self._record is None:
            from pjit_inspect.handles.record import CompileRecord

            with self._lock:
                if self._record is None:
                    made = CompileRecord(self._data, live=True, finish=self._finish)
                    with _lock:
                        _records[self._number] = made
                    self._record, self._finish = made, None
        return self._record

    @property
    def held_bytes(self) -> int:
        """As `CompileRecord.held_bytes`."""
        return held_bytes(self._data) if self._record is None else self._record.held_bytes

    def forget_programs(self, reason: str) -> None:
        """As `CompileRecord.forget_programs`."""
        with self._lock:
            if self._record is None:
                self._data = without_programs(self._data, reason)
                return
        self._record.forget_programs(reason)

    def secure(self) -> None:
        """Read the facts that are lost once JAX drops the program."""
        with self._lock:
            if self._record is None:
                if self._finish is not None and not getattr(self._finish, "can_wait", False):
                    self._data, self._finish = self._finish(self._data), None
                return
        self._record.state.secure()


def remember(record: CompileRecord) -> None:
    """Take note of a record that no log holds: of a program that was compiled, or lowered, on request."""
    with _lock:
        _records[next(_numbers)] = record


def recent_records() -> list[CompileRecord]:
    """The records of this process that are still held, newest first."""
    with _lock:
        held = {**_captured, **_records}
    newest = sorted(held, reverse=True)[:_MOST]
    return [one.record if isinstance(one := held[number], Captured) else one for number in newest]
