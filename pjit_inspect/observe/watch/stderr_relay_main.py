"""A process that stands between a pipe and where standard error leads, and remembers what went through.

Started as a script by `observe.watch.stderr_relay`, it detaches itself, so that it is no child of the user's process.
It lives for as long as anybody holds the pipe's other end, so that a process which got that as its standard error keeps
it, whatever becomes of the process that compiles. It imports nothing of this package: it has to be there at once. Not
its job: what the text means (`observe.watch.xla_stderr`).
"""

from __future__ import annotations

import mmap
import os
import select
import struct
import sys
import time

__all__ = ["Relay", "main"]

_STDERR = 2
_CHUNK = 1 << 16
_ATOMIC = 4096
"""A pipe that can be written to has room for as much."""
_KEPT = 8 << 20
"""Bytes that are remembered at the most."""
_QUEUED = 64 << 20
"""Bytes that may wait for whoever reads standard error; then writers wait, as they would without this process."""
_PATIENCE_S = 1.0
_MORE = select.POLLIN | select.POLLHUP | select.POLLERR
_COUNTED = struct.Struct("@Q")


class Relay:
    """Passes on what comes through `source`, and answers what is asked through `requests`.

    A request is a line: its number, from where on the text is wanted (-1 for none), whether all may be forgotten then.
    It is answered when all that was written before has been passed on, or could not be for a second: a line with its
    number, the bytes that came in all, this process and its parent, and how many bytes of text follow.

    Who shares `count` (a descriptor of memory; -1 for none) need not ask when nothing came: it holds twice the bytes
    that came in all, and one more from before some are read until they have been passed on.
    """

    def __init__(self, source: int, requests: int, replies: int, count: int = -1) -> None:
        self._source, self._requests, self._replies = source, requests, replies
        self._count = mmap.mmap(count, _COUNTED.size) if count >= 0 else bytearray(_COUNTED.size)
        self._asked = b""
        self._queue = bytearray()
        self._kept, self._kept_from, self._total = bytearray(), 0, 0
        self._is_read, self._is_open = True, True
        for descriptor in (source, requests, replies):
            os.set_blocking(descriptor, False)

    def run(self) -> None:
        """Return when nobody writes any more, or when nobody reads and the process that asks is gone."""
        while (self._is_open or self._queue) and (self._is_read or self._requests >= 0):
            poll = select.poll()
            if self._is_open and len(self._queue) < _QUEUED:
                poll.register(self._source, select.POLLIN)
            if self._requests >= 0:
                poll.register(self._requests, select.POLLIN)
            if self._queue:
                poll.register(_STDERR, select.POLLOUT)
            ready = dict(poll.poll())
            if ready.get(self._source, 0) & _MORE:
                self._take()
            if _STDERR in ready:
                self._pass_on()
            self._tell()
            if ready.get(self._requests, 0) & _MORE:
                self._listen()

    def _tell(self, *, reads: bool = False) -> None:
        # In one piece, as somebody may be reading it: it is aligned.
        _COUNTED.pack_into(self._count, 0, self._total << 1 | (reads or bool(self._queue)))

    def _take(self) -> bool:
        """Whether there was something to read."""
        self._tell(reads=True)
        try:
            part = os.read(self._source, _CHUNK)
        except BlockingIOError:
            return False
        self._is_open = bool(part)
        self._total += len(part)
        if self._is_read:
            self._queue += part
        if self._total - self._kept_from <= _KEPT:
            self._kept += part
        return self._is_open

    def _pass_on(self) -> None:
        try:
            count = os.write(_STDERR, self._queue[:_ATOMIC])
        except BlockingIOError:
            return
        except OSError:
            # Nobody reads it any more: a writer would have been told so, and would have gone on.
            self._is_read, count = False, len(self._queue)
        del self._queue[:count]

    def _listen(self) -> None:
        try:
            part = os.read(self._requests, _CHUNK)
        except BlockingIOError:
            return
        if not part:
            self._requests = -1
            return
        *lines, self._asked = (self._asked + part).split(b"\n")
        for line in lines:
            if self._requests >= 0:
                self._answer(*map(int, line.split()))

    def _answer(self, number: int, start: int, forget: int) -> None:
        self._settle()
        self._tell()
        text = self._kept[max(0, start - self._kept_from) :] if start >= 0 else b""
        self._reply(f"{number} {self._total} {os.getpid()} {os.getppid()} {len(text)}\n".encode() + text)
        if forget:
            self._kept, self._kept_from = bytearray(), self._total

    def _reply(self, answer: bytes) -> None:
        rest, poll = memoryview(answer), select.poll()
        poll.register(self._replies, select.POLLOUT)
        try:
            while rest and poll.poll(_PATIENCE_S * 1000):
                rest = rest[os.write(self._replies, rest) :]
        except OSError:
            pass
        if rest:
            # Nobody wants it any more; the end of the replies says so to whoever should ask again.
            os.close(self._replies)
            self._requests = self._replies = -1

    def _settle(self) -> None:
        """Take what has been written by now and pass it on, unless somebody writes or reads too slowly for that."""
        until = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until and self._take():
            pass
        while self._queue and (left := until - time.monotonic()) > 0:
            poll = select.poll()
            poll.register(_STDERR, select.POLLOUT)
            if poll.poll(left * 1000):
                self._pass_on()


def main() -> None:
    """Detach, and relay. The arguments: the descriptors of the pipe, the requests, the replies and the count."""
    if os.fork():
        os._exit(0)
    # In a session of its own, as Ctrl-C and the end of a terminal's job are for the program alone.
    os.setsid()
    try:
        Relay(*map(int, sys.argv[1:5])).run()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
