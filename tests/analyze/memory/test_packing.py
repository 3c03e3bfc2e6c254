"""Buffers placed as XLA's heap places them."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pjit_inspect.analyze.memory.packing import Chunk, packed_bytes


def chunk(size: int, *spans: tuple[int, int]) -> Chunk:
    return Chunk(bytes=size, spans=spans)


def test_what_is_not_alive_together_shares_memory():
    assert packed_bytes([chunk(100, (0, 3)), chunk(80, (4, 6))]) == 100


def test_what_is_alive_together_does_not():
    assert packed_bytes([chunk(100, (0, 4)), chunk(80, (4, 6))]) == 180


def test_places_are_aligned():
    assert packed_bytes([chunk(100, (0, 4)), chunk(80, (4, 6))], alignment=64) == 128 + 80


def test_a_gap_in_time_is_free():
    assert packed_bytes([chunk(100, (0, 2), (6, 8)), chunk(100, (3, 5))]) == 100


def test_a_gap_in_memory_may_not_fit():
    """30 lies between 50 and 40; when 30 is free, 35 has no room there."""
    chunks = [chunk(50, (0, 9)), chunk(40, (0, 9)), chunk(30, (0, 4)), chunk(35, (5, 9))]
    assert packed_bytes(chunks) == 125


spans = st.tuples(st.integers(0, 20), st.integers(0, 6)).map(lambda pair: (pair[0], sum(pair)))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.integers(1, 100), spans), max_size=20))
def test_it_is_never_less_than_what_is_alive_nor_more_than_all(drawn: list[tuple[int, tuple[int, int]]]):
    chunks = [chunk(size, span) for size, span in drawn]
    alive = [sum(size for size, (begin, end) in drawn if begin <= at <= end) for at in range(30)]
    assert max(alive) <= packed_bytes(chunks) <= sum(size for size, _ in drawn)


def test_of_equal_size_the_one_that_is_there_longer_itself_is_placed_first():
    """Both are 9 long with what takes their place over: alone, one is there for 1, the other for 4."""
    assert (chunk(10, (0, 1), (1, 9)).own_length, chunk(10, (0, 4), (4, 9)).own_length) == (1, 4)
    assert chunk(10, (0, 1), (1, 9)).length == 9
