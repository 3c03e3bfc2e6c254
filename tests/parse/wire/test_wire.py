"""Walking many messages at once finds what walking each by itself finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.wire.hlo_schema import message_class
from pjit_inspect.parse.wire.wire import read_packed, scan_messages, split_message

messages = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "name": st.text(max_size=200),
            "id": st.integers(-(2**63), 2**63 - 1),
            "operand_ids": st.lists(st.integers(0, 2**40), max_size=5),
            "is_stable": st.booleans(),
            "epsilon": st.floats(width=32),
        },
    ),
    max_size=80,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(messages)
def test_fields_of_many_messages_are_those_protobuf_wrote(contents: list[dict[str, object]]):
    written = [message_class("Instruction")(**content).SerializeToString() for content in contents]
    data = b"\xff" + b"".join(written)
    ends = 1 + np.cumsum([len(part) for part in written], dtype=np.int64)
    starts = ends - np.array([len(part) for part in written], np.int64)
    fields = scan_messages(np.frombuffer(data, np.uint8), starts, ends)
    found: list[list[tuple[int, int, int]]] = [[] for _ in contents]
    for owner, *field in zip(
        fields.owner.tolist(), fields.number.tolist(), fields.start.tolist(), fields.end.tolist(), strict=True
    ):
        found[owner].append((field[0], field[1], field[2]))
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    assert found == [[(f.number, f.start, f.end) for f in split_message(data, a, b)] for a, b in spans]


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=6), min_size=1, max_size=40))
def test_packed_numbers_are_those_protobuf_wrote(rows: list[list[int]]):
    # `dimensions` is written unpacked in proto2, so each number is a field of its own: a row is one packed run of them.
    contents = [b"".join(_varint(value) for value in row) for row in rows]
    ends = np.cumsum([len(content) for content in contents], dtype=np.int64)
    starts = ends - np.array([len(content) for content in contents], np.int64)
    packed = read_packed(np.frombuffer(b"".join(contents) or b"\0", np.uint8), starts, ends)
    assert packed.counts.tolist() == [len(row) for row in rows]
    assert packed.values.tolist() == [value for row in rows for value in row]


def _varint(value: int) -> bytes:
    message = message_class("Instruction")(id=value)
    return message.SerializeToString()[2:]


@pytest.mark.parametrize(
    ("data", "offset"),
    [
        (b"\x0a\x05ab", 0),  # five bytes claimed, two there
        (b"\x08", 0),  # a number without a byte
        (b"\x08\xff", 0),  # a number that does not end
        (b"\x08\x01\x0b", 2),  # a group, which nobody writes
        (b"\x02\x00", 0),  # field number 0
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 0),  # 9 exabytes claimed
        (b"\x08" + b"\xff" * 11 + b"\x01", 0),  # a number of 12 bytes
    ],
)
@pytest.mark.parametrize("copies", [1, 100])
def test_damage_is_found_where_it_stands(data: bytes, offset: int, copies: int):
    whole = b"\x08\x01" * 3
    content = whole + data
    buffer = np.frombuffer(content * copies, np.uint8)
    starts = np.arange(copies) * len(content)
    with pytest.raises(ParseError) as caught:
        scan_messages(buffer, starts, starts + len(content))
    assert caught.value.offset is not None
    assert len(whole) + offset <= caught.value.offset <= len(content)


def test_a_packed_field_that_ends_within_a_number_is_refused():
    with pytest.raises(ParseError):
        read_packed(np.frombuffer(b"\x01\x80", np.uint8), np.array([0]), np.array([2]))
