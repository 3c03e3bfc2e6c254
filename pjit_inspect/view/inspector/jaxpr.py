"""The StableHLO operation of each equation of a jaxpr, whose place the equation's line gets.

A printed jaxpr has no places. Both texts are in program order: an equation matches the next operation whose JAX name
ends in its primitive and whose result has its type. Equations without a match nearby stay without a place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pjit_inspect.view.inspector.lines import LinkedText, count_lines

_EQUATION = re.compile(r"^\s*[a-z_][\w]*:([a-z]+\d*\w*)\[([\d,]*)\][^=]*? = ([a-z_][\w-]*)\b")
_TENSOR = re.compile(r"tensor<((?:\d+x)*)([a-z]+\d*\w*)>")
_DTYPES = {"i1": "bool", "ui8": "u8", "ui16": "u16", "ui32": "u32", "ui64": "u64"}
_AHEAD = 60
_MOST_LINES = 20_000
_HOW = (
    "A printed jaxpr does not say which line of source an equation came from. Each equation gets the place of the next "
    "StableHLO operation with its primitive and its type: a good guess, not a fact."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """One StableHLO operation: the primitive it came from, the type of its result, its place and phase."""

    primitive: str
    type: tuple[str, str]
    spot: int
    phase: int


def lowered_op(line: str, name: str, spot: int, phase: int) -> Lowered | None:
    """An operation's line of StableHLO; None where it names no primitive or no type."""
    found = _TENSOR.findall(line)
    primitive = name.rpartition("/")[2].partition("[")[0]
    if not found or not primitive:
        return None
    return Lowered(primitive=primitive, type=_type(*found[-1]), spot=spot, phase=phase)


def _type(dimensions: str, dtype: str) -> tuple[str, str]:
    return _DTYPES.get(dtype, dtype), dimensions.rstrip("x").replace("x", ",")


def jaxpr_lines(source: str, lowered: list[Lowered]) -> LinkedText:
    """The jaxpr's lines, with the places of the matched operations."""
    text, at = LinkedText(name="jaxpr", total=count_lines(source), how=_HOW), 0
    spot = phase = -1
    for number, line in enumerate(source.split("\n")[:_MOST_LINES], 1):
        found = _EQUATION.match(line)
        if found:
            partner = _partner(lowered, at, found[3], (found[1], found[2]))
            spot, phase = (-1, 0) if partner is None else (lowered[partner].spot, lowered[partner].phase)
            at = at if partner is None else partner + 1
        elif not line.strip() or "lambda" in line:
            spot, phase = -1, 0
        text.add(number, line, spot, max(0, phase))
    if source.count("\n") >= _MOST_LINES:
        text.note = f"the first {_MOST_LINES:,} lines; record.jaxpr has all"
    return text


def _partner(lowered: list[Lowered], at: int, primitive: str, type: tuple[str, str]) -> int | None:
    for position in range(at, min(at + _AHEAD, len(lowered))):
        if lowered[position].primitive == primitive and lowered[position].type == type:
            return position
    return None
