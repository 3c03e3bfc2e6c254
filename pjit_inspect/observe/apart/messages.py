"""Messages between the two ends of a socket that only they hold: numbered questions and answers, with open files.

A descriptor of ours in the user's process may be closed by the program and opened again as something else:
`os.closerange(3, 4096)` closes ours too, and the numbers are given to the user's next files. So what a descriptor is
gets noted when it is made, and is looked at again before each use. Not its job: what a message says (`call`, `server`).
"""

from __future__ import annotations

import json
import os
import select
import socket
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from pjit_inspect.standard import load_standard

_MOST_FILES = 8
_MOST_BYTES = 1 << 28
_HEAD = 4
# A program that wants to be ended by SIGPIPE must not be by ours; files are not passed on to its children.
_SENDING = getattr(socket, "MSG_NOSIGNAL", 0) | getattr(socket, "MSG_DONTWAIT", 0)
_RECEIVING = getattr(socket, "MSG_CMSG_CLOEXEC", 0) | getattr(socket, "MSG_DONTWAIT", 0)

_FIRST = 10
"""Lower numbers are left to the program, which may have closed the first three."""


def identity(descriptor: int) -> tuple[int, int, int]:
    """An identifier of an open file. Raises OSError if nothing is open."""
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino, status.st_rdev


def above_standard(descriptor: int) -> int:
    """The same open file under a number of 10 or more, not inherited; the number that was given is closed."""
    fcntl = load_standard("fcntl")
    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST)
    finally:
        os.close(descriptor)


class Owned:
    """A descriptor, with the identity of the socket, pipe or file that was open when it became ours.

    Not for event descriptors and the like, which all are one file to the system.

    Attributes:
      number: the descriptor; -1 once it is closed or given up.
    """

    __slots__ = ("_identity", "number")

    def __init__(self, number: int) -> None:
        self._identity = identity(number)
        self.number = number

    def __del__(self) -> None:
        """Close it when it is no longer held."""
        with suppress(Exception):
            self.close()

    def is_ours(self) -> bool:
        """True if the number still refers to the file that was opened."""
        with suppress(OSError):
            return self.number >= 0 and identity(self.number) == self._identity
        return False

    def checked(self) -> int:
        """The number, for one use right now. Raises OSError where it is not ours any more."""
        if not self.is_ours():
            raise OSError("the program closed a file descriptor of this package, as os.closerange does")
        return self.number

    @contextmanager
    def as_socket(self) -> Iterator[socket.socket]:
        """The Unix socket that it is, for one use; afterwards no object is left that would close the number."""
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0, fileno=self.checked())
        try:
            yield link
        finally:
            link.detach()

    def close(self) -> None:
        """Close it if it is ours; never twice, as an exception of a signal handler's may come in between."""
        is_ours, number, self.number = self.is_ours(), self.number, -1
        if is_ours:
            os.close(number)


def pair() -> tuple[Owned, Owned]:
    """Two connected ends; neither has one of the first ten descriptor numbers."""
    near, far = socket.socketpair()
    return Owned(above_standard(near.detach())), Owned(above_standard(far.detach()))


def send(link: Owned, message: Mapping[str, Any], files: Sequence[int] = (), *, deadline: float | None = None) -> None:
    """Sends one message: its length in four bytes, then JSON, with open files. Raises OSError (also TimeoutError)."""
    text = json.dumps(message).encode()
    rest = memoryview(len(text).to_bytes(_HEAD, "big") + text)
    given = list(files)
    while rest:
        _wait(link, select.POLLOUT, deadline)
        with link.as_socket() as end, suppress(BlockingIOError):
            rest = rest[socket.send_fds(end, [rest], given, _SENDING) if given else end.send(rest, _SENDING) :]
            given = []


def receive(link: Owned, *, deadline: float | None = None) -> tuple[dict[str, Any], list[int]]:
    """The next message and the files that came with it.

    Raises EOFError if the other end is closed, TimeoutError if none comes in time, ValueError for an invalid message.
    After an error the socket is unusable: half a message may have been read.
    """
    files: list[int] = []

    def first(end: socket.socket, length: int) -> bytes:
        part, found, _, _ = socket.recv_fds(end, length, _MOST_FILES, _RECEIVING)
        files.extend(found)
        return part

    try:
        length = int.from_bytes(_exactly(link, _HEAD, first, deadline), "big")
        if not 0 < length <= _MOST_BYTES:
            raise ValueError("this is no message")
        message = json.loads(_exactly(link, length, lambda end, size: end.recv(size, _RECEIVING), deadline))
        if not isinstance(message, dict):
            raise ValueError("this is no message")
        return message, files
    except BaseException:
        close_all(files)
        raise


def _exactly(link: Owned, length: int, read: Callable[[socket.socket, int], bytes], deadline: float | None) -> bytes:
    parts = []
    while length:
        _wait(link, select.POLLIN, deadline)
        with link.as_socket() as end:
            try:
                part = read(end, length)
            except BlockingIOError:
                continue
        if not part:
            raise EOFError("the other end is closed")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _wait(link: Owned, event: int, deadline: float | None) -> None:
    """Until something can be done. Not `select`, which takes no file above 1,023."""
    waiting = select.poll()
    waiting.register(link.checked(), event)
    left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1e3
    if not waiting.poll(left):
        raise TimeoutError


def new_file(content: bytes) -> int:
    """An open file without a name, at its beginning."""
    memory = getattr(os, "memfd_create", None)
    if memory is not None:
        file = above_standard(memory("pjit_inspect"))
    else:
        with tempfile.TemporaryFile() as opened:
            file = above_standard(os.dup(opened.fileno()))
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(file, rest) :]
        os.lseek(file, 0, os.SEEK_SET)
    except BaseException:
        os.close(file)
        raise
    return file


def read_file(file: int) -> bytes:
    """The rest of an open file. Raises ValueError for a file that is not regular."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        raise ValueError("what came with a message is no file")
    with os.fdopen(file, "rb", closefd=False) as opened:
        return opened.read()


def close_all(files: Iterable[int]) -> None:
    """Close open files, given by their numbers."""
    for file in files:
        with suppress(OSError):
            os.close(file)
