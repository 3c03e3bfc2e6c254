"""An MLIR location's text: JAX's name of the op, its source frames, and the piece of text it was written as.

Text, because jaxlib shows the parts of a location only from 0.10 on. XLA keeps where a piece begins, not where it
ends; the captured StableHLO knows both. Not its job: names of enclosing calls
(`observe.shardy.propagation`).
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import Pieces, Span, SpanKey, span_key
from pjit_inspect.observe.shardy import _mlir

_BROADCAST = frozenset(("stablehlo.constant", "stablehlo.broadcast_in_dim"))
"""What JAX makes of an operand first, or not."""
_STRING = r'"((?:[^"\\]|\\.)*)"'
_FRAME = re.compile(rf"{_STRING}\({_STRING}:(\d+):(\d+)(?: to (\d*):(\d+))?\)")
_BARE = re.compile(rf"{_STRING}:(\d+):(\d+)(?: to (\d*):(\d+))?")
_PLACE = re.compile(rf"(?:{_STRING}\()?{_STRING}:(\d+):(\d+)(?: to (\d*):(\d+))?\)?")
_NAME = re.compile(rf"(?:loc\(|fused(?:<.*?>)?\[)*{_STRING}(?=\(|\)|$)")
_ON_ELEMENTS = frozenset(
    f"stablehlo.{kind}"
    for kind in (
        "all_reduce",
        "map",
        "reduce",
        "reduce_scatter",
        "reduce_window",
        "scatter",
        "select_and_scatter",
        "sort",
    )
)
"""Ops whose regions say what is done with two elements: that is no array, and was written as the op itself."""
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{2})|(.))")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What a location says.

    Attributes:
      name: the op's name; "" when it has none.
      frames: innermost first; ().
      spans: for each frame, the piece of its text that was being run; None where the location does not say.
    """

    name: str = ""
    frames: tuple[Frame, ...] = ()
    spans: tuple[Span | None, ...] = ()


def read_location(text: str) -> Place:
    """The parts of a location as MLIR prints it, such as `loc("jit(f)/add"("f"("a.py":3:4 to :9)))`."""
    frames = list(_FRAME.finditer(text)) or list(_BARE.finditer(text))[:1]
    pairs = [_frame(match[0]) for match in frames]
    return Place(
        name=_name(text, frames[0].start() if frames else len(text)),
        frames=tuple(frame for frame, _ in pairs),
        spans=tuple(span for _, span in pairs),
    )


@functools.lru_cache(maxsize=16384)
def _frame(text: str) -> tuple[Frame, Span | None]:
    """One frame, `"f"("a.py":3:4 to :9)`; most stand in many locations."""
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
    """The string that MLIR printed with backslashes; those of UTF-8 bytes are joined again."""
    if "\\" not in text:
        return text
    raw = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], text)
    try:
        return raw.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return raw


def read_spans(stablehlo: bytes) -> dict[SpanKey, Pieces]:
    """The pieces of text that ops were written as, by the primitive and where they begin.

    Several that begin at one place, and do not make as many ops each, are left out.

    Args:
      stablehlo: the program as MLIR bytecode, as JAX gave it to XLA.

    Raises RuntimeError when jaxlib cannot read it.
    """
    spans_of: dict[SpanKey, dict[Span, int]] = {}
    with _mlir.open_module(stablehlo) as module:
        functions = [
            Counter((str(op.location), op.name) for op in _mlir.each_op(view.operation, _ON_ELEMENTS))
            for view in module.body.operations
        ]
    for place, number in chain.from_iterable(map(_own_places, functions)):
        primitive = place.name.rpartition("/")[2]
        for frame, span in zip(place.frames, place.spans, strict=True):
            if span is not None and frame.columns:
                numbers = spans_of.setdefault(span_key(primitive, place.frames[0], frame), {})
                numbers[span] = max(numbers.get(span, 0), number)
    # `x @ w` and `x @ w + b` begin at one place; the primitive tells most of these apart.
    alike = ((key, own, set(own.values())) for key, own in spans_of.items())
    return {key: Pieces(tuple(sorted(own, key=_end)), *each) for key, own, each in alike if len(each) == 1}


def _end(span: Span) -> tuple[int, int]:
    return span.end_line, span.end_column


def _own_places(ops: Counter[tuple[str, str]]) -> Iterator[tuple[Place, int]]:
    """The places of a function's ops that have names of their own, and how many ops of one name have each.

    `ops` counts them by location and name.

    JAX lowers an argmax, say, to a call of a function, and names it as the scope it stands in: that of all around it.
    """
    numbers: dict[str, int] = {}
    for (text, name), number in ops.items():
        if name != "func.return":
            numbers[text] = max(numbers.get(text, 1), 1 if name in _BROADCAST else number)
    places = [read_location(text) for text in numbers]
    scopes: set[str] = set()
    for place in places:
        scope = place.name.rpartition("/")[0]
        while scope and scope not in scopes:
            scopes.add(scope)
            scope = scope.rpartition("/")[0]
    pairs = zip(places, numbers.values(), strict=True)
    return (pair for pair in pairs if not (pair[0].name.endswith(")") and pair[0].name in scopes))
