"""Opens a file for reading, if it is a regular one.

A pipe would block until something writes to it, and a device may never end. Not its job: the contents of the file
(`parse.files.recognise`, `parse.files.record_file`).
"""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from pjit_inspect.errors import ParseError

# Opening must not wait for a pipe's writer, nor make a terminal the controlling one. Windows has neither flag.
_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)


def open_regular(path: str | os.PathLike[str], expected: str) -> BinaryIO:
    """The file at `path`, open to read its bytes; the caller closes it.

    Raises `ParseError`, which names `expected`, for a pipe, a device or the like, and `OSError` as `open` does.
    """
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | _FLAGS))  # noqa: SIM115
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise ParseError("this is no regular file", path=os.fspath(path), expected=expected)
