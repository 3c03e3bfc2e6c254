"""The text of XLA's dumps: `*-buffer-assignment.txt`.

A line of unknown form is counted by that form, never dropped silently. Not its job: finding the files.

*Source*: `BufferAssignment::ToString`, `BufferAllocation::ToString`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from pjit_inspect.errors import ParseError
from pjit_inspect.model.memory.buffer_assignment import Allocation, AssignedValue, BufferAssignment

_HEAD = "BufferAssignment:"
_ALLOCATION = re.compile(r"allocation (\d+): size (\d+)(.*):")
_FLAGS = re.compile(
    r"(?P<color>, color (?P<number>\d+))|(?P<page>, page \d+)"
    r"|(?P<parameter>, parameter (?P<argument>\d+), shape \|[^|]*\| at ShapeIndex (?P<index>\{[\d,]*\}))"
    r"|(?P<output>, output shape is \|[^|]*\|)"
    r"|(?P<word>, (?:maybe-live-out|constant|thread-local|preallocated-temp|tuple|readonly))"
)
_VALUE = re.compile(r" value: <(\d+) (\S+?)(\{[\d,]*\})?(?: \(phi\))? @(\d+)> \(size=(\d+),offset=(\d+)\): (.*)")
_DIGITS = re.compile(r"\d+")
_MOST_FORM = 60


def parse_buffer_assignment(text: str) -> BufferAssignment:
    """The assignment in a `*-buffer-assignment.txt`. Raises `ParseError` for any other text."""
    lines = text.split("\n")
    if lines[0] != _HEAD:
        raise ParseError("this is no buffer assignment", offset=0, expected=f"a text that begins with {_HEAD!r}")
    unknown: Counter[str] = Counter()
    found: list[Allocation] = []
    values: list[list[AssignedValue]] = []
    for line in lines[1:]:
        if match := _VALUE.fullmatch(line):
            if values:
                values[-1].append(_value(match))
                continue
        elif match := _ALLOCATION.fullmatch(line):
            found.append(_allocation(match, unknown))
            values.append([])
            continue
        unknown[_form(line)] += bool(line)
    allocations = (replace(one, values=tuple(own)) for one, own in zip(found, values, strict=True))
    return BufferAssignment(allocations=tuple(allocations), unknown=dict(+unknown))


def _value(match: re.Match[str]) -> AssignedValue:
    number, name, index, color, size, offset, shape = match.groups()
    return AssignedValue(
        id=int(number),
        instruction=name,
        index=_index(index),
        bytes=int(size),
        offset=int(offset),
        color=int(color),
        shape=shape,
    )


def _index(text: str | None) -> tuple[int, ...]:
    return tuple(map(int, _DIGITS.findall(text or "")))


def _allocation(match: re.Match[str], unknown: Counter[str]) -> Allocation:
    number, size, rest = match.groups()
    flags = {"maybe-live-out": False, "constant": False, "thread-local": False, "tuple": False}
    color, parameter, index, at = 0, None, (), 0
    while at < len(rest):
        flag = _FLAGS.match(rest, at)
        if flag is None:
            unknown[_form(rest[at:])] += 1
            break
        at = flag.end()
        color = int(flag["number"]) if flag["color"] else color
        if flag["parameter"]:
            parameter, index = int(flag["argument"]), _index(flag["index"])
        if flag["word"]:
            flags[flag["word"][2:]] = True
    return Allocation(
        number=int(number),
        bytes=int(size),
        color=color,
        parameter=parameter,
        parameter_index=index,
        is_constant=flags["constant"],
        is_thread_local=flags["thread-local"],
        is_live_out=flags["maybe-live-out"],
        is_tuple=flags["tuple"],
    )


def _form(line: str) -> str:
    """The beginning of a line, with its numbers replaced by N."""
    return _DIGITS.sub("N", line.strip())[:_MOST_FORM]
