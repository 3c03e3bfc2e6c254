"""Values that are computed once: by the first who looks, for everybody."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pjit_inspect.handles.analyses import Computed, once


class Sums(Computed):
    """Counts how often each of its values was computed."""

    def __init__(self) -> None:
        super().__init__({"given": 7})
        self.runs: list[str] = []
        self.may_end = threading.Event()
        self.has_begun = threading.Event()

    @once
    def slow(self) -> int:
        self.runs.append("slow")
        self.has_begun.set()
        assert self.may_end.wait(60)
        return 2

    @once
    def quick(self) -> int:
        self.runs.append("quick")
        return 3

    @once
    def both(self) -> int:
        self.runs.append("both")
        return self.slow * self.quick

    @once
    def given(self) -> int:
        self.runs.append("given")
        return 0

    @once
    def failing(self) -> int:
        self.runs.append("failing")
        if len(self.runs) == 1:
            raise ValueError("the first time")
        return 5


def test_eight_threads_that_look_at_once_have_one_value_computed():
    sums = Sums()
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(lambda: sums.both) for _ in range(8)]
        assert sums.has_begun.wait(60)
        sums.may_end.set()
        assert [future.result(60) for future in found] == [6] * 8
    assert sorted(sums.runs) == ["both", "quick", "slow"]


def test_a_value_that_takes_long_keeps_nobody_from_another():
    sums = Sums()
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(lambda: sums.slow)
        assert sums.has_begun.wait(60)
        assert sums.quick == 3
        assert "slow" not in sums.known
        sums.may_end.set()
        assert found.result(60) == 2


def test_what_is_given_is_not_computed():
    sums = Sums()
    assert sums.given == 7
    assert sums.runs == []


def test_what_failed_is_computed_again():
    sums = Sums()
    with pytest.raises(ValueError, match="the first time"):
        _ = sums.failing
    assert sums.failing == 5
    assert sums.failing == 5
    assert sums.runs == ["failing", "failing"]
