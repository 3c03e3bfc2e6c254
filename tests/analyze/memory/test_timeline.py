"""When buffers are alive, counted in kernels; what is alive at each kernel adds up to the curve.

Not its job: which buffers there are (`test_live_ranges`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.analyze.memory.memory_use import MOST_NAMED, _in_kernels, moments

PROGRAMS = sorted(path.name.removesuffix(".hlo.gz") for path in fixtures.HERE.glob("*.hlo.gz"))


def test_a_kernel_stands_for_the_moment_with_most_alive_until_the_next_begins():
    # Kernels at places 2, 3 and 6; what stands before the first belongs to it.
    total = np.array([5, 9, 1, 2, 7, 7, 3, 4])
    assert moments(total, [2, 3, 6]).tolist() == [1, 4, 7]
    assert moments(total, []).tolist() == []


def test_spans_become_those_of_the_kernels_whose_moments_lie_in_them():
    places = np.array([1, 4, 7])
    assert _in_kernels([(0, 4)], places) == ((0, 1),)
    assert _in_kernels([(2, 3)], places) == ()  # alive only between two moments
    assert _in_kernels([(0, 2), (7, 9)], places) == ((0, 0), (2, 2))
    assert _in_kernels([(0, 2), (3, 5)], places) == ((0, 1),)  # they touch


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_alive_at_each_kernel_adds_up_to_the_curve(name: str):
    record = pi.open(fixtures.HERE / f"{name}.hlo.gz")
    assert isinstance(record, pi.CompileRecord)
    analyses = record.state.analyses
    use, timelines = analyses.memory_use, analyses.memory_timelines
    assert tuple(one.curve for one in timelines) == use.curves
    graph, _ = analyses.graph_and_reason
    assert graph is not None
    for timeline in timelines:
        size = len(timeline.curve.bytes)
        assert size == len(graph.kernels.instruction)
        change = np.zeros(size + 1, np.int64)
        for one in timeline.values:
            for start, end in one.spans:
                change[start] += one.value.bytes
                change[end + 1] -= one.value.bytes
        rest = np.array(timeline.curve.bytes) - np.cumsum(change)[:-1]
        # Only what has no name is left, and none of it is larger than what has one.
        assert (rest == 0).all() if not timeline.nameless else (rest >= 0).all() and len(timeline.values) == MOST_NAMED
        assert timeline.phases == () or len(timeline.phases) == size


def test_what_is_alive_at_the_peak_is_what_the_table_of_the_peak_has():
    record = pi.open(fixtures.HERE / "transformer_step.v5e_2x4.hlo.gz")
    assert isinstance(record, pi.CompileRecord)
    use, [timeline] = record.memory_use, record.state.analyses.memory_timelines
    assert use.at is not None
    peak = use.at.kernel
    alive = [one.value for one in timeline.values if any(start <= peak <= end for start, end in one.spans)]
    assert sorted(map(repr, alive)) == sorted(map(repr, use.live))
