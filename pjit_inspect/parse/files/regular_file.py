"""Opens a file to read it, if it is a regular one.

A pipe would block until somebody writes into it, and a device may never end. Not its job: what the file holds
(`parse.files.recognise`, `parse.files.record_file`).
"""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from pjit_inspect.errors import ParseError

# Opening a pipe must not wait for its writer, nor a terminal become ours. Windows has neither.
_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def open_regular(path: str | os.PathLike[str], expected: str) -> BinaryIO:
    """The file at `path`, open to read its bytes; the caller closes it.

    Raises `ParseError`, which names `expected`, when it is a pipe, a device or the like, and `OSError` as `open` does.
    """
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | _FLAGS))  # noqa: SIM115
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise ParseError("this is no regular file", path=os.fspath(path), expected=expected)
