"""Writes protocol-buffer messages piece by piece: for the few fields that every instruction has.

A message can be written as its fields one after another, so repeated pieces are made once. Not its job: rare fields,
which the message classes of `parse.wire.hlo_schema` write.

*Source*: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterable

_SMALL = tuple(bytes((value,)) for value in range(128))
_MASK = (1 << 64) - 1


def varint(value: int) -> bytes:
    """A number in wire format; negative ones as 64 bits."""
    if 0 <= value < 128:
        return _SMALL[value]
    value &= _MASK
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int) -> bytes:
    """Field `number` with a number in it."""
    return varint(number << 3) + varint(value)


def content_field(number: int, content: bytes) -> bytes:
    """Field `number` with a string, bytes, or a message in it."""
    return b"".join((varint(number << 3 | 2), varint(len(content)), content))


def packed_field(number: int, values: Iterable[int]) -> bytes:
    """Field `number` with a list of numbers in it; nothing for an empty list."""
    content = b"".join(map(varint, values))
    return content_field(number, content) if content else b""
