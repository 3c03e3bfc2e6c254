"""An MLIR location's text: JAX's name of the op, its source frames, and the piece of text it was written as.

Text, because jaxlib shows the parts of a location only from 0.10 on. Not its job: names of enclosing calls
(`Place.within`).
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import Place, Span

_STRING = r'"((?:[^"\\]|\\.)*)"'
_FRAME = re.compile(rf"{_STRING}\({_STRING}:(\d+):(\d+)(?: to (\d*):(\d+))?\)")
_BARE = re.compile(rf"{_STRING}:(\d+):(\d+)(?: to (\d*):(\d+))?")
_PLACE = re.compile(rf"(?:{_STRING}\()?{_STRING}:(\d+):(\d+)(?: to (\d*):(\d+))?\)?")
_NAME = re.compile(rf"(?:loc\(|fused(?:<.*?>)?\[)*{_STRING}(?=\(|\)|$)")
_ALONE = re.compile(rf"loc\({_STRING}\({_STRING}:")
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{2})|(.))")


def read_location(text: str) -> Place:
    """The parts of a location as MLIR prints it, such as `loc("jit(f)/add"("f"("a.py":3:4 to :9)))`."""
    frames = list(_FRAME.finditer(text)) or list(_BARE.finditer(text))[:1]
    pairs = [_frame(match[0]) for match in frames]
    name = _name(text, frames[0].start() if frames else len(text))
    if not name and pairs and _ALONE.match(text):
        # JAX without full tracebacks names no function: what stands before the file is the name, as it is to XLA.
        name, pairs[0] = pairs[0][0].function, (replace(pairs[0][0], function=""), pairs[0][1])
    return Place(
        name=name,
        frames=tuple(frame for frame, _ in pairs),
        spans=tuple(span for _, span in pairs),
    )


@functools.lru_cache(maxsize=16384)
def _frame(text: str) -> tuple[Frame, Span | None]:
    """One frame, `"f"("a.py":3:4 to :9)`; most occur in many locations."""
    match = _PLACE.fullmatch(text)
    groups = match.groups() if match is not None else ("", "", "0", "0", "", "")
    function, file, line, column, end_line, end_column = (group or "" for group in groups)
    columns = (int(column), int(end_column)) if end_column else ()
    frame = Frame(file=unescaped(file), line=int(line), function=unescaped(function), columns=columns)
    if not end_column:
        return frame, None
    span = Span(line=int(line), column=int(column), end_line=int(end_line or line), end_column=int(end_column))
    return frame, span


def _name(text: str, end: int) -> str:
    """The outermost name before the frames. One that ends in a colon is the kind of op, not its name."""
    position = 0
    while match := _NAME.match(text, position, end):
        name = unescaped(match[1])
        if not name.endswith(":"):
            return name
        position = match.end() + 1
    return ""


def unescaped(text: str) -> str:
    """The string that MLIR printed with backslashes; UTF-8 bytes are joined again."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], text)
    try:
        return raw.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return raw
