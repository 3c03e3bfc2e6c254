"""Every exception this package raises on purpose.

    PjitInspectError
    ├── CaptureError            a compile could not be observed or made on request
    │   └── ChangeError         a captured program cannot be changed as asked
    ├── ParseError              bytes or text are not what they claim to be
    │   └── VersionError        a record file of a version this package cannot read
    ├── RecordNotFoundError     no record matches a name (also a KeyError)
    └── CheckFailedError        a program is not as a test expects it (also an AssertionError)
        ├── NothingMatchedError what a test is about does not exist
        ├── UnknownAnswerError  what a test asks is not known
        └── UnexpectedCompileError  something was compiled where nothing may be

Not its job: the user's own errors, which always pass through unchanged.
"""

from __future__ import annotations

import linecache

__all__ = [
    "CaptureError",
    "ChangeError",
    "CheckFailedError",
    "NothingMatchedError",
    "ParseError",
    "PjitInspectError",
    "RecordNotFoundError",
    "UnexpectedCompileError",
    "UnknownAnswerError",
    "VersionError",
]


class PjitInspectError(Exception):
    """The base of every error raised by `pjit_inspect`."""


class CaptureError(PjitInspectError):
    """A compile could not be observed, or a function could not be compiled on request."""


class ChangeError(CaptureError):
    """A captured program cannot be changed as asked; the message says why, and what to do instead."""


class ParseError(PjitInspectError, ValueError):
    """Bytes or text are not what they claim to be.

    Attributes:
      path: the file, or None when the bytes came from memory.
      offset: the byte (or, for text, line) at which reading stopped, or None when it is not known.
      expected: what should have stood there, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        offset: int | None = None,
        expected: str | None = None,
    ) -> None:
        message, expected = _printable(message), _printable(expected) if expected else expected
        self.message: str = message
        self.path: str | None = path
        self.offset: int | None = offset
        self.expected: str | None = expected
        where = ":".join(str(part) for part in (path, offset) if part is not None)
        text = f"{_printable(where)}: {message}" if where else message
        super().__init__(f"{text} (expected {expected})" if expected else text)


def _printable(text: str) -> str:
    """Text with escapes for what has no shape of its own: messages quote files, which may hold terminal escapes."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


class VersionError(ParseError):
    """The record file was written in a format version this package cannot read."""


class RecordNotFoundError(PjitInspectError, KeyError):
    """No captured record matches the name that was asked for."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)

    def __str__(self) -> str:
        # KeyError would print the message's repr, with quotes and escapes.
        return self.message


class CheckFailedError(PjitInspectError, AssertionError):
    """A program is not as a test expects it; the message says what was expected and found, and because of what.

    Attributes:
      sentence: the first line of the message.
      because: the causes, each in a sentence or two; () if none is known.
      remove: the change that removes them, and what it saves; () if none is known.
    """

    def __init__(
        self, message: str, *, sentence: str = "", because: tuple[str, ...] = (), remove: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message)
        self.sentence: str = sentence or message.partition("\n")[0]
        self.because: tuple[str, ...] = because
        self.remove: tuple[str, ...] = remove

    def _render_traceback_(self, *_: object) -> list[str]:
        """The lines that IPython shows: the user's line that called the check, and the message."""
        frame, at = None, self.__traceback__
        while at is not None and at.tb_frame.f_locals.get("__tracebackhide__") is not True:
            frame, at = at, at.tb_next
        called = "" if frame is None else linecache.getline(frame.tb_frame.f_code.co_filename, frame.tb_lineno).strip()
        return [
            *([f"line {frame.tb_lineno}: {called}", ""] if frame and called else []),
            f"{type(self).__name__}: {self}",
        ]


class NothingMatchedError(CheckFailedError):
    """The subject of a test does not exist: no such argument, axis or record. A check of nothing says nothing."""


class UnknownAnswerError(CheckFailedError):
    """The answer that a test asks for is not known, as where a program is there in part; unknown is no success."""


class UnexpectedCompileError(CheckFailedError):
    """Something was compiled in `pjit_inspect.no_compile`; the message has the reason and the place of the call."""
