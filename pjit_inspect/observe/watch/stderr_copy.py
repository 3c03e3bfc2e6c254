"""Reading what the process writes to file descriptor 2, which still arrives where it was meant to go.

A regular file is read back in place: nothing is changed. Anything else (a terminal, a pipe) is replaced for a while by
a pipe, which a process of its own reads and passes on at once (`observe.watch.stderr_relay`). Not a pipe that this
process reads: a compiler that fills it while it holds Python's lock would wait for ever. Nor a temporary file: nobody
would read it for a process that was started meanwhile and goes on writing, or for this one when it dies.

Not its job: when to read, and what the text means (`observe.watch.xla_stderr`).
"""

from __future__ import annotations

import importlib
import os
import stat
import sys
import threading
from collections.abc import Callable
from typing import Any

from pjit_inspect.observe.watch.stderr_relay import Relay, duplicate, identity, moved

__all__ = ["InPlace", "Redirect"]

# Windows has neither this nor `os.pread`.
_fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None

_STDERR = 2
_BUSY_S, _IDLE_S = 0.05, 1.0
_MOST_QUIET = 40
"""After so many looks with nothing redirected the thread looks every second."""


_MOST_FILES = 64
_readable: set[tuple[int, int]] = set()
"""Files that could be opened for reading when descriptor 2 was one of them."""


class InPlace:
    """Reads back the regular file that descriptor 2 writes to. It is opened when there is something to read.

    Raises OSError where descriptor 2 is closed, is no regular file, or is a file that may not be read.
    """

    def __init__(self) -> None:
        status = os.fstat(_STDERR)
        if not stat.S_ISREG(status.st_mode):
            raise OSError("file descriptor 2 is no regular file")
        # It shares the offset with descriptor 2, and stays when somebody replaces that.
        self._written = duplicate(_STDERR)
        try:
            self._appends = bool(_fcntl.fcntl(self._written, _fcntl.F_GETFL) & os.O_APPEND)
            if (status.st_dev, status.st_ino) not in _readable:
                os.close(self._open())
                if len(_readable) >= _MOST_FILES:
                    _readable.clear()
                _readable.add((status.st_dev, status.st_ino))
        except OSError:
            os.close(self._written)
            raise

    def _open(self) -> int:
        file = moved(os.open(f"/dev/fd/{self._written}", os.O_RDONLY))
        if _fcntl.fcntl(file, _fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY:
            os.close(file)
            raise OSError("file descriptor 2 is a file that this system does not open for reading")
        return file

    def begin(self) -> int:
        """Where the next byte will be written."""
        return os.fstat(self._written).st_size if self._appends else os.lseek(self._written, 0, os.SEEK_CUR)

    def since(self, start: int, most: int) -> tuple[bytes, bool]:
        """At most `most` bytes that were written from `start` on, and whether that is not all of them."""
        size = self.begin() - start
        if size < 0:
            raise OSError("the file was cut meanwhile")
        return self._read(start, start + min(size, most)), size > most

    def _read(self, start: int, end: int) -> bytes:
        if start >= end:
            return b""
        file, parts = self._open(), []
        try:
            # Without moving the file's offset, which writers share.
            while start < end and (part := os.pread(file, min(end - start, 1 << 20), start)):
                parts.append(part)
                start += len(part)
        finally:
            os.close(file)
        return b"".join(parts)

    def stop(self) -> None:
        """Let the file go."""
        os.close(self._written)


class Redirect:
    """Puts a pipe in the place of descriptor 2 from `begin` to `stop`, again and again until `close`.

    While it is there, and for two seconds after, a thread calls `tick` every 50 ms, so that somebody looks whether it
    may be there still; otherwise every second, as somebody may put it back there. To wake it for each of many compiles
    would cost more than that. Whoever calls its methods holds a lock, which `tick` takes too; `tick` calls `check`.

    Every method may be called again after one that a signal handler's exception ended half-way.
    """

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._original = -1
        self._relay: Relay | None = None
        self._failure = ""
        self._thread: threading.Thread | None = None
        self._is_begun, self._quiet = False, 0
        self._awake, self._closed = threading.Event(), threading.Event()

    def begin(self) -> int:
        """Redirect descriptor 2, if it is not redirected; where in what comes through the next byte will be.

        Raises OSError where descriptor 2 is closed or nobody can pass on what comes, RuntimeError where no thread can
        be started. Descriptor 2 is what it was then.
        """
        now = identity(_STDERR)
        if sys.__stderr__ is None:
            raise OSError("the program was started without standard error, so that descriptor 2 is something else")
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._watch, name="pjit_inspect stderr", daemon=True)
            self._thread.start()
        if self._relay is not None and now == self._relay.identity:
            return self._relay.position()
        relay = self._relay_to(now)
        # It is looked at before it is relied on.
        if relay.has_ended():
            raise OSError("the process that passes standard error on is gone")
        position = relay.position(forget=True)
        self._is_begun, self._quiet = True, 0
        if not self._awake.is_set():
            self._awake.set()
        os.dup2(relay.pipe, _STDERR, inheritable=os.get_inheritable(_STDERR))
        return position

    def _relay_to(self, target: tuple[int, int, int]) -> Relay:
        # Anew each time: the program may have changed descriptor 2 since.
        previous, self._original = self._original, duplicate(_STDERR)
        if previous >= 0:
            os.close(previous)
        if self._failure:
            raise OSError(self._failure)
        if self._relay is not None and self._relay.target != target:
            relay, self._relay = self._relay, None
            relay.close()
        try:
            self._relay = self._relay or Relay(self._original)
        except OSError as error:
            # It would fail each time, and take its time for that.
            self._failure = str(error)
            raise
        return self._relay

    def _watch(self) -> None:
        while not self._closed.is_set():
            if self._awake.wait(_IDLE_S):
                self._closed.wait(_BUSY_S)
            self._tick()

    def is_installed(self) -> bool:
        """True while descriptor 2 is the pipe."""
        try:
            return self._relay is not None and identity(_STDERR) == self._relay.identity
        except OSError:
            return False

    def since(self, start: int, most: int) -> tuple[bytes, bool]:
        """At most `most` bytes that came through from `start` on, and whether that is not all of them."""
        if self._relay is None:
            raise OSError("nobody listened")
        text, end = self._relay.text(start)
        text = text[:most]
        return text, len(text) < end - start

    def check(self) -> None:
        """Put descriptor 2 back, and pass on what is in the pipe, when the process that does so is gone.

        Where it has been back for a while, the thread that calls this may rest.
        """
        self._quiet = 0 if self._is_begun else self._quiet + 1
        if self._quiet >= _MOST_QUIET:
            self._awake.clear()
        if self._relay is not None and self._relay.has_ended():
            self._failure = self._failure or "the process that passed standard error on was ended"
            self._restore()
            self._relay.rescue(self._original)

    def stop(self) -> None:
        """Put the original back in its place, if it is not there, with everything that was written meanwhile."""
        if self._original < 0:
            return
        if is_there := self.is_installed():
            self._put_back()
        if (is_there or self._is_begun) and self._relay is not None:
            try:
                # What came in between is passed on before anything is written past it.
                self._relay.position(forget=True)
            except OSError:
                self.check()
        self._is_begun = False

    def _restore(self) -> None:
        # When somebody else has replaced descriptor 2 meanwhile, it is theirs to put back.
        if self.is_installed():
            self._put_back()

    def _put_back(self) -> None:
        os.dup2(self._original, _STDERR, inheritable=os.get_inheritable(_STDERR))

    def close(self) -> None:
        """Stop for good."""
        self._closed.set()
        self._awake.set()
        try:
            self.stop()
        finally:
            self._release()

    def abandon(self) -> None:
        """Stop in a forked child: the pipe, and what is in it, are the parent's, and so was the thread."""
        self._restore()
        self._release()

    def _release(self) -> None:
        if self._relay is not None:
            self._relay.close()
        if self._original >= 0:
            os.close(self._original)
        self._relay, self._original = None, -1
