"""A file descriptor of ours in the user's process, which the program may close and open again as something else.

`os.closerange(3, 4096)` closes ours too, and the numbers are given to the user's next files. So what a descriptor is
gets noted when it is made, and is looked at again before each use. Not its job: what is written to it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pjit_inspect.standard import load_standard

_FIRST = 10
"""Lower numbers are left to the program, which may have closed the first three."""


def identity(descriptor: int) -> tuple[int, int, int]:
    """What tells two open files apart. Raises OSError where nothing is open."""
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
    """A descriptor with what was open under its number when it became ours: a socket, a pipe or a file.

    Not for event descriptors and the like, which all are one file to the system.

    Attributes:
      number: the descriptor; -1 once it is closed or given up.
    """

    __slots__ = ("_identity", "number")

    def __init__(self, number: int) -> None:
        self._identity = identity(number)
        self.number = number

    def __del__(self) -> None:
        """Close what nobody holds any more."""
        with suppress(Exception):
            self.close()

    def is_ours(self) -> bool:
        """Whether the number still leads to what was opened."""
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
