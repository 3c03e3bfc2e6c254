"""The other process between descriptor 2 and where it leads, as this process sees it: started, asked, let go.

Not its job: what that process does (`observe.watch.stderr_relay_main`), or when (`observe.watch.stderr_copy`).
"""

from __future__ import annotations

import importlib
import itertools
import mmap
import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["Relay", "duplicate", "identity", "moved"]

# Windows has none of this.
_fcntl: Any = importlib.import_module("fcntl") if os.name == "posix" else None
_termios: Any = importlib.import_module("termios") if os.name == "posix" else None
_resource: Any = importlib.import_module("resource") if os.name == "posix" else None

_SCRIPT = str(Path(__file__).with_name("stderr_relay_main.py"))
_PIPE_BYTES = 1 << 20
_START_S, _ANSWER_S = 5.0, 3.0
_CHUNK = 1 << 16
_COUNTED = struct.Struct("@Q")


def duplicate(descriptor: int) -> int:
    """A second descriptor, not inherited, and never one of the first three, should the program have closed those."""
    if _fcntl is None:
        raise OSError("descriptors are duplicated on POSIX systems only")
    return _fcntl.fcntl(descriptor, _fcntl.F_DUPFD_CLOEXEC, 10)


def moved(descriptor: int) -> int:
    """The same under a number that is none of the first three."""
    try:
        return duplicate(descriptor)
    finally:
        os.close(descriptor)


def identity(descriptor: int) -> tuple[int, int, int]:
    """What tells two open files apart."""
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_rdev


class Relay:
    """A pipe whose other end a process of its own reads, which passes everything on to where `target` leads.

    Raises OSError when there can be none: no pipe, no process, one that does not answer, or one that would be a child
    of this process.

    Attributes:
      pipe: the end to write to.
      identity: what that end is.
      target: what it passes on to, as `identity` names it.
      is_lost: True when it does not answer any more; then `rescue` does its work.
    """

    def __init__(self, target: int) -> None:
        self.target = self.identity = identity(target)
        self.is_lost = False
        self.pipe = self._source = self._requests = self._replies = -1
        self._numbers = itertools.count(1)
        self._unread = b""
        self._count: mmap.mmap | None = None
        self._forgotten = 0
        try:
            self._start(target)
        except BaseException:
            self.close()
            raise

    def _start(self, target: int) -> None:
        _check_for_reapers()
        self._source, self.pipe = _new_pipe()
        self.identity = identity(self.pipe)
        reading, self._requests = _new_pipe()
        try:
            self._replies, writing = _new_pipe()
        except OSError:
            os.close(reading)
            raise
        with suppress(AttributeError, OSError):
            _fcntl.fcntl(self.pipe, _fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        ends = [self._source, reading, writing]
        try:
            if (shared := _shared_memory()) >= 0:
                ends.append(shared)
                self._count = mmap.mmap(shared, _COUNTED.size)
            starter = _started(target, ends)
        finally:
            for descriptor in ends[1:]:
                os.close(descriptor)
        try:
            # It has detached itself when it answers; whoever started it ends right then.
            self._ask(-1, False, _START_S)
            starter.wait(_ANSWER_S)
        except BaseException as error:
            starter.kill()
            starter.wait()
            if isinstance(error, subprocess.TimeoutExpired):
                raise OSError("the process that passes standard error on did not detach itself") from None
            raise
        process, parent = self._ask(-1, False, _ANSWER_S)[1]
        if parent == os.getpid():
            # Who adopts orphans, as the first process of a container does, would find it among its children.
            self.close()
            with suppress(ChildProcessError):
                os.waitpid(process, 0)
            raise OSError("this process adopts the processes that others leave, and would find one of ours among them")

    def position(self, *, forget: bool = False) -> int:
        """How many bytes have come through, all of them passed on by now; `forget` ends that they are remembered."""
        known = self._told()
        if known is not None and (not forget or known == self._forgotten):
            return known
        position = self._ask(-1, forget, _ANSWER_S)[0]
        self._forgotten = position if forget else self._forgotten
        return position

    def text(self, start: int) -> tuple[bytes, int]:
        """What came through from `start` on, as far as it is remembered, and where it ends."""
        if self._told() == start:
            return b"", start
        position, _, text = self._ask(start, False, _ANSWER_S)
        return text, position

    def _told(self) -> int | None:
        """How many bytes have come through, where nothing is under way and the memory that is shared tells; else None.

        Most compiles write nothing, and to ask would take two changes of processes. The order matters: what has left
        the pipe is marked as under way before it is read.
        """
        if self._count is None:
            return None
        waiting = _fcntl.ioctl(self._source, _termios.FIONREAD, bytes(4))
        (count,) = _COUNTED.unpack_from(self._count)
        return None if any(waiting) or count & 1 else count >> 1

    def _ask(self, start: int, forget: bool, patience_s: float) -> tuple[int, tuple[int, int], bytes]:
        """The bytes that came in all, the process and its parent, and the text.

        Raises OSError when there is no answer.
        """
        if self.is_lost:
            raise OSError("the process that passes standard error on is gone")
        number, until = next(self._numbers), time.monotonic() + patience_s
        try:
            os.write(self._requests, f"{number} {start} {forget:d}\n".encode())
            while True:
                found, position, process, parent, size = map(int, self._read_line(until).split())
                text = self._read(size, until)
                # An answer that an interrupt left unread is not the one.
                if found == number:
                    return position, (process, parent), text
        except (OSError, ValueError) as error:
            self.is_lost = True
            raise OSError(f"the process that passes standard error on does not answer: {error}") from None

    def _read_line(self, until: float) -> bytes:
        while b"\n" not in self._unread:
            self._read_more(until)
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def _read(self, size: int, until: float) -> bytes:
        while len(self._unread) < size:
            self._read_more(until)
        text, self._unread = self._unread[:size], self._unread[size:]
        return text

    def _read_more(self, until: float) -> None:
        poll = select.poll()
        poll.register(self._replies, select.POLLIN)
        if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
            raise OSError("it takes too long")
        part = os.read(self._replies, _CHUNK)
        if not part:
            raise OSError("it has ended")
        self._unread += part

    def has_ended(self) -> bool:
        """True when the process is gone: it closes its end of the replies before that only."""
        poll = select.poll()
        poll.register(self._replies, 0)
        self.is_lost = self.is_lost or bool(poll.poll(0))
        return self.is_lost

    def rescue(self, target: int) -> None:
        """Pass on what is in the pipe, in the place of the process that should have."""
        with suppress(OSError):
            while part := os.read(self._source, _CHUNK):
                _write_all(target, part)

    def close(self) -> None:
        """Let it go: it ends when nobody else holds the pipe any more. To do so in a forked child changes nothing."""
        for name in ("pipe", "_source", "_requests", "_replies"):
            descriptor: int = getattr(self, name)
            # Never twice: an exception of a signal handler's may come in between.
            setattr(self, name, -1)
            if descriptor >= 0:
                os.close(descriptor)
        if self._count is not None:
            self._count.close()
            self._count = None


def _shared_memory() -> int:
    """A descriptor of memory that another process can have, too; -1 where this system has none without a file."""
    descriptor = -1
    try:
        if 0 <= _resource.getrlimit(_resource.RLIMIT_FSIZE)[0] < _COUNTED.size:
            # To try would end a program that may write no files at all.
            return -1
        descriptor = moved(os.memfd_create("pjit_inspect stderr"))
        os.ftruncate(descriptor, _COUNTED.size)
    except (AttributeError, OSError):
        if descriptor >= 0:
            os.close(descriptor)
        return -1
    return descriptor


def _started(target: int, ends: Sequence[int]) -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise OSError("Python does not know its own path, so that no process can be started")
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-W", "ignore", _SCRIPT, *map(str, ends)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=target,
        pass_fds=ends,
        cwd="/",
    )


def _new_pipe() -> tuple[int, int]:
    reading, writing = os.pipe()
    try:
        reading = moved(reading)
        return reading, moved(writing)
    except OSError:
        os.close(reading)
        raise


def _check_for_reapers() -> None:
    """Refuse where the program is told of the end of every child: the process that starts ours is one for a moment."""
    known = signal.getsignal(signal.SIGCHLD)
    if known not in (signal.SIG_DFL, signal.SIG_IGN):
        raise OSError("the program handles the end of its children (SIGCHLD) itself, and would be told of one of ours")


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            poll = select.poll()
            poll.register(descriptor, select.POLLOUT)
            if not poll.poll(1000):
                return
