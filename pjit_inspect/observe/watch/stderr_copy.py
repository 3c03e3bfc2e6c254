"""Reading what the process writes to file descriptor 2, which still arrives where it was meant to go.

A regular file is read back in place: nothing is changed. Anything else (a terminal, a pipe) is replaced for a while by
a temporary file, whose content is passed on unchanged and in order: every 50 ms, and at the end. Not a pipe: a compiler
that fills one while it holds Python's lock would wait for ever. A process that dies meanwhile takes nothing with it: a
second one waits for its end and passes on what is left.

Not its job: when to read, and what the text means (`observe.watch.xla_stderr`).
"""

from __future__ import annotations

import importlib
import os
import select
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["InPlace", "Redirect"]

# Windows has neither this nor `os.pread`.
_fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None

_STDERR = 2
_CHUNK = 1 << 16
_BUSY_S, _IDLE_S = 0.05, 1.0
_PATIENCE_MS = 1000


def _duplicate(descriptor: int) -> int:
    """A second descriptor, not inherited, and never one of the first three, should the program have closed those."""
    if _fcntl is None:
        raise OSError("descriptors are duplicated on POSIX systems only")
    return _fcntl.fcntl(descriptor, _fcntl.F_DUPFD_CLOEXEC, 10)


def _moved(descriptor: int) -> int:
    try:
        return _duplicate(descriptor)
    finally:
        os.close(descriptor)


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _read(descriptor: int, start: int, end: int) -> bytes:
    """The bytes from `start` to `end`, without moving the file's offset, which writers share."""
    parts = []
    while start < end and (part := os.pread(descriptor, min(end - start, 1 << 20), start)):
        parts.append(part)
        start += len(part)
    return b"".join(parts)


class InPlace:
    """Reads back the regular file that descriptor 2 writes to.

    Raises OSError where descriptor 2 is closed, is no regular file, or is a file that may not be read.
    """

    def __init__(self) -> None:
        if not stat.S_ISREG(os.fstat(_STDERR).st_mode):
            raise OSError("file descriptor 2 is no regular file")
        # It shares the offset with descriptor 2, and stays when somebody replaces that.
        self._written = _duplicate(_STDERR)
        try:
            self._file = _moved(os.open(f"/dev/fd/{_STDERR}", os.O_RDONLY))
            flags = _fcntl.fcntl(self._file, _fcntl.F_GETFL)
            if flags & os.O_ACCMODE == os.O_WRONLY:
                os.close(self._file)
                raise OSError("file descriptor 2 is a file that this system does not open for reading")
        except OSError:
            os.close(self._written)
            raise
        self._appends = bool(_fcntl.fcntl(self._written, _fcntl.F_GETFL) & os.O_APPEND)

    def start(self) -> None:
        """Nothing has to be done before it can be read."""

    def position(self) -> int:
        """Where the next byte will be written."""
        return os.fstat(self._file).st_size if self._appends else os.lseek(self._written, 0, os.SEEK_CUR)

    def read(self, start: int, end: int) -> bytes:
        """What was written between two positions."""
        return _read(self._file, start, end)

    def pass_on(self) -> None:
        """Everything is where it belongs already."""

    def stop(self) -> None:
        """Let the file go."""
        for descriptor in (self._file, self._written):
            os.close(descriptor)


class Redirect:
    """Puts a temporary file in the place of descriptor 2 from `start` to `stop`, again and again until `close`.

    While it is there a thread calls `tick` every 50 ms, so that what others write in a long compile is seen soon, and
    so that somebody looks whether it may be there still; otherwise every second, as processes that were started
    meanwhile go on writing into it. Whoever calls its methods holds a lock, which `tick` takes too.

    Every method may be called again after one that a signal handler's exception ended half-way.
    """

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._path = ""
        self._file = self._original = -1
        self._identity: tuple[int, int] | None = None
        self._passed = 0
        self._thread: threading.Thread | None = None
        self._guard: _Guard | None = None
        self._busy, self._closed = threading.Event(), threading.Event()

    def prepare(self) -> None:
        """Make the file and the thread, if they are not there.

        Raises OSError where descriptor 2 is closed or no temporary file can be made, RuntimeError where no thread can.
        """
        os.fstat(_STDERR)
        if sys.__stderr__ is None:
            raise OSError("the program was started without standard error, so that descriptor 2 is something else")
        if self._identity is None:
            file, self._path = tempfile.mkstemp(prefix="pjit_inspect_", suffix=".stderr")
            self._file = _moved(file)
            # Writers must not overwrite each other when one has an offset of its own.
            _fcntl.fcntl(self._file, _fcntl.F_SETFL, os.O_APPEND)
            self._identity = _identity(self._file)
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._watch, name="pjit_inspect stderr", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while not self._closed.is_set():
            if self._busy.wait(_IDLE_S):
                self._closed.wait(_BUSY_S)
            self._tick()

    def is_installed(self) -> bool:
        """True while descriptor 2 is the temporary file."""
        try:
            return _identity(_STDERR) == self._identity
        except OSError:
            return False

    def start(self) -> None:
        """Redirect descriptor 2, if it is not redirected."""
        if self.is_installed():
            return
        # Anew each time: the program may have changed descriptor 2 since.
        previous, self._original = self._original, _duplicate(_STDERR)
        if previous >= 0:
            os.close(previous)
        if self._guard is None:
            self._guard = _Guard()
            self._guard.start(self._path, self._original)
        self._busy.set()
        os.dup2(self._file, _STDERR, inheritable=os.get_inheritable(_STDERR))

    def position(self) -> int:
        """Where the next byte will be written."""
        return os.fstat(self._file).st_size

    def read(self, start: int, end: int) -> bytes:
        """What was written between two positions."""
        return _read(self._file, start, end)

    def pass_on(self) -> None:
        """Hand what was written since the last time to the original."""
        before = self._passed
        while chunk := os.pread(self._file, _CHUNK, self._passed):
            self._hand_over(memoryview(chunk))
        if self._guard is not None and self._passed > before:
            self._guard.tell(f"{self._passed}")

    def _hand_over(self, rest: memoryview) -> None:
        while rest:
            try:
                count = os.write(self._original, rest)
            except BlockingIOError:
                if _becomes_writable(self._original):
                    continue
                count = len(rest)
            except OSError:
                # Nobody reads it any more. The writer would have been told so, and would have gone on.
                count = len(rest)
            self._passed += count
            rest = rest[count:]

    def stop(self) -> None:
        """Put the original back in its place, if it is not there, with everything that was written meanwhile."""
        if self._original < 0:
            return
        # First what is there, then the switch, then what came in between: so the order is kept.
        try:
            self.pass_on()
        finally:
            self._restore()
        self._busy.clear()
        self.pass_on()

    def _restore(self) -> None:
        # When somebody else has replaced descriptor 2 meanwhile, it is theirs to put back.
        if self.is_installed():
            os.dup2(self._original, _STDERR, inheritable=os.get_inheritable(_STDERR))

    def close(self) -> None:
        """Stop for good."""
        self._closed.set()
        self._busy.set()
        self.stop()
        if self._guard is not None:
            self._guard.end()
        self._release()
        with suppress(OSError):
            os.unlink(self._path)

    def abandon(self) -> None:
        """Stop in a forked child: the file, and what is in it, are the parent's, and so was the thread."""
        if self._original >= 0:
            self._restore()
        if self._guard is not None:
            self._guard.abandon()
        self._release()

    def _release(self) -> None:
        for descriptor in (self._file, self._original):
            if descriptor >= 0:
                os.close(descriptor)


def _becomes_writable(descriptor: int) -> bool:
    """Wait for whoever reads a descriptor that does not wait by itself."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(_PATIENCE_MS))


# It reads how many bytes were passed on. When its input ends without a last word, the process has died.
_LAST_WORDS = """
import os, sys
passed = 0
for line in sys.stdin.buffer:
    if line == b"done\\n":
        sys.exit()
    passed = int(line)
try:
    with open(sys.argv[1], "rb") as file:
        file.seek(passed)
        while chunk := file.read(1 << 16):
            os.write(2, chunk)
    os.unlink(sys.argv[1])
except OSError:
    pass
"""


class _Guard:
    """A small process that passes on the rest of a temporary file when this one dies before it could.

    XLA ends the process where a check of its own fails, and what it says then is the only hint at the reason. Where no
    process can be started there is no guard, and everything else works.
    """

    def __init__(self) -> None:
        self._pipe = -1
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, path: str, original: int) -> None:
        reading, writing = os.pipe()
        self._pipe = _moved(writing)
        os.set_blocking(self._pipe, False)
        try:
            # In a session of its own, as Ctrl-C and the end of a terminal's job are for the program alone.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _LAST_WORDS, path],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=original,
                cwd="/",
                start_new_session=True,
            )
        except OSError:
            pass
        finally:
            os.close(reading)

    def tell(self, line: str) -> None:
        with suppress(OSError):
            os.write(self._pipe, f"{line}\n".encode())

    def end(self) -> None:
        self.tell("done")
        self.abandon()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=1)

    def abandon(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
