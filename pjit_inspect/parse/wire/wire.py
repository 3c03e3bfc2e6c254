"""Protocol-buffer wire format, for many messages at once.

A module of half a million instructions is half a million small messages. Here all are read in step with numpy, one
field of each at a time: several times faster than each by itself in Python, and every field number is seen, known or
not. Not its job: the meaning of the fields (`parse.hlo_proto.hlo`), nor single messages (`parse.wire.hlo_schema`).

*Source*: https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pjit_inspect.errors import ParseError

_MAX_FIELD = 2**29 - 1
_FEW = 32
"""With fewer messages left than this, a plain loop is faster than numpy."""


class Field(NamedTuple):
    """One field of one message: its number, its start, and the place of its content in the bytes.

    The content of a varint or a fixed-width number is the number itself; for anything else it follows the length.
    """

    number: int
    tag: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fields:
    """The fields of many messages, as columns.

    Attributes:
      owner: the message of each field. The fields of one message are in their order in the bytes.
      number: the field's number.
      start, end: the place of its content, as in `Field`.
    """

    owner: np.ndarray
    number: np.ndarray
    start: np.ndarray
    end: np.ndarray

    def numbers(self) -> dict[int, int]:
        """Each number that occurs, with its count."""
        # With counts, NumPy sorts them, which is several times faster than its way for the numbers alone.
        numbers, counts = np.unique(self.number, return_counts=True)
        return dict(zip(numbers.tolist(), counts.tolist(), strict=True))

    def of(self, number: int) -> Fields:
        """Only the fields with this number."""
        return self._picked(np.flatnonzero(self.number == number))

    def in_order(self) -> Fields:
        """The same, grouped by message, in the order of the bytes."""
        return self._picked(np.argsort(self.owner, kind="stable"))

    def _picked(self, rows: np.ndarray) -> Fields:
        return Fields(owner=self.owner[rows], number=self.number[rows], start=self.start[rows], end=self.end[rows])

    def last(self, number: int, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Start and end of this field in each of `count` messages: its last occurrence, or -1 without one."""
        start, end = np.full(count, -1, np.int32), np.full(count, -1, np.int32)
        fields = self.of(number)
        start[fields.owner], end[fields.owner] = fields.start, fields.end
        return start, end


class Packed(NamedTuple):
    """Numbers of many fields: all `values` in order, and the number (`counts`) of each field's values."""

    values: np.ndarray
    counts: np.ndarray


def split_message(data: bytes, start: int, end: int) -> Iterator[Field]:
    """The fields of the one message in `data[start:end]`. Raises `ParseError` for other bytes."""
    numbers = iter(_read_fields(data, start, end))
    return map(Field, numbers, numbers, numbers, numbers)


def _read_fields(data: bytes | memoryview, at: int, end: int) -> list[int]:
    """The four numbers of a `Field` for each field of one message, in one flat list: it may have 100,000 fields."""
    numbers: list[int] = []
    while at < end:
        start = at + 1
        if start < end and (tag := data[at]) & 0x87 == 2 and tag > 7:
            # Most fields are text or a message, with a tag of one byte, and a length of one or two.
            length = data[start]
            start += 1
            if length >= 0x80:
                if start < end and data[start] < 0x80:
                    length = length & 0x7F | data[start] << 7
                    start += 1
                else:
                    length, start = _read_varint(data, start - 1, end)
            number, stop = tag >> 3, start + length
        else:
            number, start, stop = _read_field(data, at, end)
        if stop > end:
            raise _broken(at)
        numbers += (number, at, start, stop)
        at = stop
    return numbers


def _read_field(data: bytes | memoryview, at: int, end: int) -> tuple[int, int, int]:
    """Number, start and end of the field at `at`; an unreadable one ends beyond the data."""
    tag, start = _read_varint(data, at, end)
    number, wire, beyond = tag >> 3, tag & 7, len(data) + 1
    if not 0 < number <= _MAX_FIELD:
        return number, start, beyond
    if wire == 2:
        length, start = _read_varint(data, start, end)
        return number, start, start + length
    stop = _read_varint(data, start, end)[1] if wire == 0 else start + {1: 8, 5: 4}.get(wire, beyond)
    return number, start, stop


def _read_varint(data: bytes | memoryview, pos: int, end: int) -> tuple[int, int]:
    """The varint at `pos`, and the position after it. Raises `ParseError` when it does not end before `end`."""
    # Most have one byte: tags, and short lengths.
    if pos < end and data[pos] < 0x80:
        return data[pos], pos + 1
    value = 0
    for shift in range(0, 70, 7):
        if pos >= end:
            break
        byte = data[pos]
        pos += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, pos
    raise _broken(pos)


def _broken(offset: int) -> ParseError:
    return ParseError("the bytes are cut short or damaged", offset=offset, expected="a protocol-buffer field")


def scan_messages(buffer: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> Fields:
    """All fields of the messages at `buffer[starts[k]:ends[k]]`.

    `buffer` is the bytes as uint8. Raises `ParseError` with the offset of the first invalid field.
    """
    active = np.flatnonzero(starts < ends)
    pos = starts[active].astype(np.int64)
    limit = ends[active].astype(np.int64)
    columns: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    while active.size > _FEW:
        number, begin, stop = _next_fields(buffer, pos, limit)
        columns.append((active, number, begin, stop))
        going = np.flatnonzero(stop < limit)
        active, pos, limit = active[going], stop[going], limit[going]
    columns.append(_rest(buffer, active, pos, limit))
    owner, number, start, end = (np.concatenate(column).astype(np.int32) for column in zip(*columns, strict=True))
    return Fields(owner=owner, number=number, start=start, end=end)


def _next_fields(buffer: np.ndarray, pos: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number, start and end of the field at each of `pos`."""
    tag, begin = _varints_at(buffer, pos)
    number, wire = tag >> 3, tag & 7
    stop = np.full(begin.shape, np.iinfo(np.int64).max)
    for kind, size in ((1, 8), (5, 4)):
        fixed = np.flatnonzero(wire == kind)
        stop[fixed] = begin[fixed] + size
    varint = np.flatnonzero(wire == 0)
    stop[varint] = _varints_at(buffer, begin[varint])[1]
    sized = np.flatnonzero(wire == 2)
    length, after = _varints_at(buffer, begin[sized])
    begin[sized] = after
    # A length beyond the data must not overflow the sum.
    stop[sized] = np.where((length < 0) | (length > limit[sized] - after), np.iinfo(np.int64).max, after + length)
    wrong = np.flatnonzero((stop > limit) | (number < 1) | (number > _MAX_FIELD))
    if wrong.size:
        raise _broken(int(pos[wrong].min()))
    return number, begin, stop


def _varints_at(buffer: np.ndarray, pos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The varint at each of `pos`, and the position after it; a varint of over 10 bytes ends beyond the buffer."""
    byte = buffer.take(pos, mode="clip").astype(np.int64)
    value, pos = byte & 0x7F, pos + 1
    more = np.flatnonzero(byte & 0x80)
    for shift in range(7, 70, 7):
        if not more.size:
            break
        byte = buffer.take(pos[more], mode="clip").astype(np.int64)
        value[more] |= (byte & 0x7F) << shift
        pos[more] += 1
        more = more[(byte & 0x80) != 0]
    pos[more] = np.iinfo(np.int64).max
    return value, pos


def _rest(
    buffer: np.ndarray, active: np.ndarray, pos: np.ndarray, limit: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The remaining fields of the few messages that have many."""
    data = buffer.data
    spans = zip(pos.tolist(), limit.tolist(), strict=True)
    found = [np.array(_read_fields(data, start, end), np.int64).reshape(-1, 4) for start, end in spans]
    number, _, start, end = np.concatenate([np.zeros((0, 4), np.int64), *found]).T
    return np.repeat(active, [len(fields) for fields in found]), number, start, end


def read_packed(buffer: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> Packed:
    """All varints in `buffer[starts[k]:ends[k]]`, as signed 64-bit numbers.

    Reads packed fields and single numbers alike. Raises `ParseError` when a field ends within a number.
    """
    single, after = _varints_at(buffer, starts.astype(np.int64))
    if (after == ends).all():
        # Nearly always; then nothing has to be divided.
        return Packed(single, np.ones(len(starts), np.int64))
    lengths = (ends - starts).astype(np.int64)
    total = int(lengths.sum())
    if not total:
        return Packed(np.zeros(0, np.int64), np.zeros(len(starts), np.int64))
    first = np.cumsum(lengths) - lengths
    content = buffer[np.arange(total) + np.repeat(starts - first, lengths)]
    last = np.flatnonzero(content < 0x80)
    closed = content[np.cumsum(lengths)[lengths > 0] - 1] < 0x80
    if not closed.all():
        raise _broken(int(ends[lengths > 0][~closed][0]))
    begin = np.concatenate(([0], last[:-1] + 1))
    if int((last - begin).max()) > 9:
        raise _broken(int(starts[0]))
    values = np.zeros(len(last), np.int64)
    for k in range(int((last - begin).max()) + 1):
        here = np.flatnonzero(begin + k <= last)
        values[here] |= (content[begin[here] + k].astype(np.int64) & 0x7F) << (7 * k)
    seen = np.concatenate(([0], np.cumsum(content < 0x80)))
    return Packed(values, seen[first + lengths] - seen[first])
