"""Messages between `observe.partitioner.service` and its server, over a socket that only the two hold.

Not its job: what a message says.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

__all__ = ["close_all", "receive", "send"]

_MOST_FILES = 4
"""That go with one message: a program before and after partitioning, and compiled."""


def send(link: socket.socket, message: Mapping[str, Any], files: list[int] | None = None) -> None:
    """One message: its length in four bytes, then JSON; open files go with it."""
    text = json.dumps(message).encode()
    data = len(text).to_bytes(4, "big") + text
    sent = socket.send_fds(link, [data], files) if files else link.send(data)
    link.sendall(data[sent:])


def receive(link: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """The next message and the files that came with it. Raises EOFError when the other end is closed."""
    head, files, _, _ = socket.recv_fds(link, 4, _MOST_FILES)
    try:
        length = int.from_bytes(head + _exactly(link, 4 - len(head)), "big") if head else 0
        if not length:
            raise EOFError("the other end is closed")
        return json.loads(_exactly(link, length)), list(files)
    except BaseException:
        close_all(files)
        raise


def _exactly(link: socket.socket, length: int) -> bytes:
    parts = []
    while length:
        part = link.recv(length)
        if not part:
            raise EOFError("the other end is closed")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def close_all(files: Any) -> None:
    """Close open files, given by their numbers."""
    for file in files:
        with suppress(OSError):
            os.close(file)
