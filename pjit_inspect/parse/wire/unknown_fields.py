"""Counts the fields of messages that our schema does not have, at any depth.

Not its job: the schema (`parse.wire.hlo_schema`), and the fields of messages (`parse.wire.wire`).
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
"""The deepest nesting of messages that is searched for unknown fields."""


def count_messages(data: bytes, name: str, starts: Any, ends: Any, uses: Any) -> Counter[str]:
    """The unknown fields of messages `name` at `data[starts[k]:ends[k]]`, and of all messages in them.

    Those of message k count `uses[k]` times. A message that cannot be read counts as one.
    """
    spans = np.asarray(starts, np.int64), np.asarray(ends, np.int64)
    return _count_messages(np.frombuffer(data, np.uint8), name, *spans, np.asarray(uses, np.int64), 0)


def _count_messages(
    buffer: np.ndarray, name: str, starts: np.ndarray, ends: np.ndarray, uses: np.ndarray, depth: int
) -> Counter[str]:
    try:
        fields = scan_messages(buffer, starts, ends)
    except ParseError:
        return Counter({f"{_words(name)} that cannot be read": int(uses.sum())})
    return count_fields(buffer, name, fields, uses, depth=depth)


def count_fields(
    buffer: np.ndarray,
    name: str,
    fields: Fields,
    uses: np.ndarray,
    *,
    skip: frozenset[int] = frozenset(),
    depth: int = 0,
) -> Counter[str]:
    """The same for the `fields` of messages `name`; nothing is searched within fields with a number in `skip`."""
    counts: Counter[str] = Counter()
    known, nested = known_fields(name), _nested(name)
    for number in fields.numbers():
        if number in known and (number not in nested or number in skip):
            continue
        inner = fields.of(number)
        if number not in known:
            counts[f"{_words(name)} field {number}"] = int(uses[inner.owner].sum())
            continue
        there = np.flatnonzero(inner.end > inner.start)
        if there.size and depth < _DEEPEST:
            spans = inner.start[there], inner.end[there], uses[inner.owner[there]]
            counts += _count_messages(buffer, nested[number], *spans, depth + 1)
    return counts


@cache
def _nested(name: str) -> dict[int, str]:
    """The fields of a message that are messages: number -> name of the inner one."""
    fields = message_class(name).DESCRIPTOR.fields
    return {field.number: field.message_type.name for field in fields if field.message_type is not None}


def _words(name: str) -> str:
    """`DotDimensions` -> `dot dimensions`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()
