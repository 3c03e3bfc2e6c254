"""Fields within messages that this package has no name for, counted at any depth.

They stay in the bytes (`HloReader.raw`); counting them says that a program has something that is not shown.
Not its job: fields of instructions, computations and modules themselves, which their readers count.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.wire.hlo_schema import known_fields, message_class
from pjit_inspect.parse.wire.wire import Fields, scan_messages

_DEEPEST = 32


def count_messages(data: bytes, name: str, starts: Any, ends: Any, uses: Any) -> Counter[str]:
    """The unknown fields of messages `name` that stand at `data[starts[k]:ends[k]]`, and of all messages in them.

    Each counts `uses[k]` times.
    """
    buffer = np.frombuffer(data, np.uint8)
    spans = np.asarray(starts, np.int64), np.asarray(ends, np.int64)
    return _count(buffer, name, *spans, np.asarray(uses, np.int64), 0)


def count_nested(buffer: np.ndarray, name: str, fields: Fields, skip: frozenset[int]) -> Counter[str]:
    """The unknown fields within `fields` of messages `name`, leaving out those with a number in `skip`."""
    return _count_inside(buffer, name, fields, np.ones(int(fields.owner.max(initial=-1)) + 1, np.int64), 0, skip)


def _count(
    buffer: np.ndarray, name: str, starts: np.ndarray, ends: np.ndarray, uses: np.ndarray, depth: int
) -> Counter[str]:
    try:
        fields = scan_messages(buffer, starts, ends)
    except ParseError:
        return Counter({f"{_words(name)} that cannot be read": int(uses.sum())})
    counts: Counter[str] = Counter()
    for number in fields.numbers().keys() - known_fields(name):
        counts[f"{_words(name)} field {number}"] = int(uses[fields.owner[fields.number == number]].sum())
    return counts + _count_inside(buffer, name, fields, uses, depth, frozenset())


def _count_inside(
    buffer: np.ndarray, name: str, fields: Fields, uses: np.ndarray, depth: int, skip: frozenset[int]
) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number in sorted((fields.numbers().keys() & _nested(name).keys()) - skip):
        inner = fields.of(number)
        there = np.flatnonzero(inner.end > inner.start)
        if there.size and depth < _DEEPEST:
            spans = inner.start[there], inner.end[there], uses[inner.owner[there]]
            counts += _count(buffer, _nested(name)[number], *spans, depth + 1)
    return counts


@cache
def _nested(name: str) -> dict[int, str]:
    """The fields of a message that are messages: number -> name of the inner one."""
    fields = message_class(name).DESCRIPTOR.fields
    return {field.number: field.message_type.name for field in fields if field.message_type is not None}


def _words(name: str) -> str:
    """`DotDimensions` -> `dot dimensions`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
