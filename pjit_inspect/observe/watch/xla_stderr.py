"""What XLA writes to file descriptor 2 while it compiles one program: its warnings come no other way.

JAX tells when XLA begins (a scalar event) and when it is done, also where the compile fails; in between, descriptor 2
is listened to. It is process-wide, so several compiles share one `observe.watch.stderr_copy`, and their messages are
told apart by the name of the function. Where descriptor 2 would have to be replaced for it, this is done for programs
of several devices only: most of what XLA warns of is how it splits them. JAX announces no end where a second Ctrl-C or
another listener's error comes in between: then a thread sees within 50 ms that the compile has left the stack, and
descriptor 2 is what it was.

Not its job: reading descriptor 2 (`observe.watch.stderr_copy`), or what a message says (`parse.messages.xla_warnings`).
"""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType

from pjit_inspect.observe.watch.stderr_copy import InPlace, Redirect

__all__ = ["CompilerLog", "begin", "close", "end"]

_MOST_BYTES = 4 << 20
_MOST_LINES = 50

_HEADER = re.compile(
    rb"(?:([IWEF])\d{4} [\d:.]+ +(\d+) ([^\s:\]]+):\d+\]|\d{4}-\d\d-\d\d [\d:.]+: ([IWEF]) ([^\s:\]]+):\d+\])"
)
"""What absl, and before it TSL, writes before each message: severity, time, thread and place."""

_SEVERITIES = frozenset((b"W", b"E", b"F"))
_CPP = (b".cc", b".cpp", b".cu", b".h")
_OP_NAME = re.compile(rb'op_name="((?:[^"\\]|\\.)*+)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilerLog:
    """What XLA wrote during one compile.

    Attributes:
      text: its warnings and errors as they were written, one after the other; "" when there were none; None when
        nobody listened.
      missing: why nobody could listen, or what `text` may lack; None when it is whole, and when nobody wanted to
        listen, as the program is for one device.
    """

    text: str | None = None
    missing: str | None = None


@dataclass(slots=True, eq=False)
class _Compile:
    """One compile that is running."""

    frame: FrameType
    name: str
    thread: int = field(default_factory=threading.get_ident)
    start: int = 0
    listens: bool = True
    failure: str | None = None
    system_thread: int = field(default_factory=threading.get_native_id)
    rivals: list[tuple[str, int]] = field(default_factory=list)
    """The names and system threads of the compiles that ran at the same time."""

    @property
    def owner(self) -> tuple[str, int]:
        """What its messages can be told by."""
        return self.name, self.system_thread

    def is_running(self) -> bool:
        """False when its frame has left the stack of its thread."""
        frame = sys._current_frames().get(self.thread)  # noqa: SLF001
        while frame is not None and frame is not self.frame:
            frame = frame.f_back
        return frame is not None


# A signal handler may compile while the same thread is in here.
_lock = threading.RLock()
_running: list[_Compile] = []
_copy: InPlace | Redirect | None = None
_redirect: Redirect | None = None
_is_exiting = False


def begin(frame: FrameType, name: str, devices: int | None = None) -> None:
    """Listen from now on: the function `name` begins to compile, in `frame`, for so many devices.

    None is an unknown number of devices. Raises no Exception.
    """
    compiling = _Compile(frame=frame, name=name)
    with _lock:
        try:
            _start(compiling, is_worth_it=devices is None or devices > 1)
        except Exception as error:
            compiling.failure = f"file descriptor 2 cannot be listened to: {error}"


def _start(compiling: _Compile, *, is_worth_it: bool) -> None:
    _forget_dead()
    for other in _running:
        other.rivals.append(compiling.owner)
        compiling.rivals.append(other.owner)
    # Before anything changes, so that the thread that looks after it finds nothing that belongs to nobody.
    _running.append(compiling)
    # Until it is sure, so that nothing stays for its sake where this fails.
    compiling.listens = False
    if _is_exiting:
        raise RuntimeError("the process is about to end")
    copy = _copy or _open(may_redirect=is_worth_it)
    if copy is not None and (is_worth_it or isinstance(copy, InPlace)):
        compiling.listens = True
        compiling.start = copy.begin()


def _open(*, may_redirect: bool) -> InPlace | Redirect | None:
    global _copy, _redirect
    if _redirect is not None:
        # Somebody who had found the pipe in the place of descriptor 2 may have put it back there.
        _redirect.stop()
    try:
        _copy = InPlace()
    except OSError:
        if not may_redirect:
            return None
        if _redirect is None:
            atexit.register(_close_at_exit)
            _redirect = Redirect(_tick)
        _copy = _redirect
    return _copy


def end(frame: FrameType) -> CompilerLog:
    """What XLA wrote since `begin(frame, ...)`; whatever was redirected for it is as it was. Raises no Exception."""
    with _lock:
        compiling = next((other for other in _running if other.frame is frame), None)
        if compiling is None:
            return CompilerLog(missing="JAX did not tell when this compile began, or the capture began later")
        try:
            return _log(compiling, *_finish(compiling))
        except Exception as error:
            return CompilerLog(missing=compiling.failure or f"what was written could not be read: {error}")


def _finish(compiling: _Compile) -> tuple[bytes, bool]:
    try:
        if not compiling.listens:
            return b"", False
        if _copy is None:
            raise OSError("nobody listened")
        return _copy.since(compiling.start, _MOST_BYTES)
    finally:
        _running.remove(compiling)
        _settle()


def _settle() -> None:
    """End what no compile needs."""
    global _copy
    if _copy is None:
        if _redirect is not None:
            _redirect.stop()
    elif not any(compiling.listens for compiling in _running):
        copy, _copy = _copy, None
        copy.stop()


def _forget_dead() -> None:
    if _running:
        _running[:] = [compiling for compiling in _running if compiling.is_running()]
        _settle()


def _tick() -> None:
    with suppress(Exception), _lock:
        _forget_dead()
        _settle()
        if _redirect is not None:
            _redirect.check()


def close() -> None:
    """End whatever is left, for good."""
    global _redirect
    with _lock:
        _running.clear()
        try:
            _settle()
        finally:
            if _redirect is not None:
                # Again, where a signal handler's exception ended it half-way.
                _redirect.close()
                _redirect = None
                # Python compares it with what the user registered, whose `__eq__` may raise.
                with suppress(Exception):
                    atexit.unregister(_close_at_exit)


def _close_at_exit() -> None:
    global _is_exiting
    _is_exiting = True
    close()


def _forget_in_child() -> None:
    # A forked child has its parent's descriptors but none of its threads, and the lock may be one of theirs.
    global _lock, _copy, _redirect
    _lock = threading.RLock()
    copy, _copy, redirect, _redirect = _copy, None, _redirect, None
    _running.clear()
    with suppress(OSError):
        if isinstance(copy, InPlace):
            copy.stop()
        if redirect is not None:
            redirect.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)


# ---------------------------------------------------------------- whose message it is


def _log(compiling: _Compile, written: bytes, is_cut: bool) -> CompilerLog:
    if not compiling.listens:
        return CompilerLog(missing=compiling.failure)
    if not written:
        reason = _silenced()
        return CompilerLog(text="" if reason is None else None, missing=reason)
    mine, unclear = [], 0
    for thread, message in _messages(written):
        owner = _is_mine(thread, message, compiling)
        unclear += owner is None
        if owner:
            mine.append(message)
    if not mine and not unclear and (reason := _silenced()):
        return CompilerLog(missing=reason)
    return CompilerLog(text=b"".join(mine).decode("utf-8", "replace"), missing=_lacks(unclear, is_cut))


def _messages(written: bytes) -> list[tuple[int, bytes]]:
    """The warnings and errors of XLA among what was written, each with its prefix and its line ends.

    The number of the thread that wrote it comes first; 0 where the prefix has none.
    """
    headers = list(_HEADER.finditer(written))
    ends = (*(header.start() for header in headers), len(written))
    found = []
    for header, stop in zip(headers, ends[1:], strict=True):
        severity, file = header[1] or header[4], header[3] or header[5]
        # Python's absl writes the same prefix; and what follows a carriage return is a progress bar.
        if severity in _SEVERITIES and file.endswith(_CPP):
            text = written[header.start() : stop].partition(b"\r")[0]
            text = b"".join(text.splitlines(keepends=True)[:_MOST_LINES]).rstrip(b"\n") + b"\n"
            found.append((int(header[2] or 0), text))
    return found


def _is_mine(thread: int, message: bytes, compiling: _Compile) -> bool | None:
    """Whether it is about the program of this compile; None when that cannot be told.

    JAX 0.8 and 0.12 compile in the thread that asked for it, the versions between in a thread of XLA's own.
    """
    if not compiling.rivals:
        return True
    owners = [compiling.owner, *compiling.rivals]
    named = [name[1] for name in _OP_NAME.finditer(message)]
    by_thread = [i for i, (_, other) in enumerate(owners) if other == thread]
    by_name = [i for i, (other, _) in enumerate(owners) if any(name.startswith(f"{other}/".encode()) for name in named)]
    for found in (by_thread, by_name):
        if len(found) == 1:
            return found == [0]
    return None


def _silenced() -> str | None:
    level = os.environ.get("TF_CPP_MIN_LOG_LEVEL", "")
    if level.isdecimal() and int(level) >= 2:
        return f"TF_CPP_MIN_LOG_LEVEL={level} keeps XLA from writing warnings"
    return None


def _lacks(unclear: int, is_cut: bool) -> str | None:
    reasons = []
    if unclear:
        several = f"{unclear} messages" if unclear > 1 else "a message"
        reasons.append(f"{several} of XLA came while several functions compiled, and could be any one's")
    if is_cut:
        reasons.append(f"XLA wrote more than {_MOST_BYTES >> 20} MiB; only the beginning is kept")
    return "; ".join(reasons) or None
