"""The timeline as strips: loops open one turn each, waits are pieces, and every lane of kernels is full."""

from __future__ import annotations

import pytest

from pjit_inspect.model.time.rows import TimedCollective, TimedKernel, TimelineSpan
from pjit_inspect.model.time.strips import Strip, strips_of

# 1 s before a loop of 4 turns of 2 s, each 0.5 s of work, a wait of 1 s for a gather, 0.5 s of work; 1 s after it.
TIMELINE = (
    TimelineSpan(lane="compute", name="before", label="embed", begin_s=0.0, end_s=1.0),
    TimelineSpan(lane="loops", name="while", label="while", begin_s=1.0, end_s=9.0, turns=4),
    TimelineSpan(lane="compute", name="first", label="dot", begin_s=1.0, end_s=1.5),
    TimelineSpan(lane="fsdp", name="gather", label="all-gather", begin_s=1.0, end_s=2.5),
    TimelineSpan(lane="compute", name="second", label="dot", begin_s=2.5, end_s=3.0),
    TimelineSpan(lane="compute", name="after", label="loss", begin_s=9.0, end_s=10.0),
)


def kernel(name: str, phase: str) -> TimedKernel:
    return TimedKernel(
        name=name, label=name, runs=1, flops=1, product_flops=1, flops_from="shapes", bytes_read=1, bytes_written=1,
        seconds=1.0, floor_s=1.0, known_by="modelled", bound_by="compute", phase=phase,
    )  # fmt: skip


KERNELS = tuple(kernel(name, phase) for name, phase in (("before", ""), ("first", "forward"), ("second", "forward")))
GATHER = TimedCollective(
    collective=0, name="gather", kind="all-gather", axes=("fsdp",), runs=4, sent_bytes=1, seconds=6.0, exposed_s=4.0,
    known_by="modelled", phase="forward",
)  # fmt: skip


def strips(*more: TimelineSpan, step_s: float = 10.0) -> tuple[Strip, ...]:
    return strips_of((*TIMELINE, *more), KERNELS, (GATHER,), step_s)


def test_the_call_has_a_loop_as_sums_and_the_loop_has_one_turn():
    call, turn = strips()
    assert [(one.kind, one.phase, one.begin_s, one.end_s) for one in call.lanes[0].pieces] == [
        ("kernel", "", 0.0, 1.0),
        ("kernel", "forward", 1.0, 5.0),
        ("wait", "forward", 5.0, 9.0),
        ("kernel", "", 9.0, 10.0),
    ]
    assert [(loop.begin_s, loop.end_s, loop.turns, loop.strip) for loop in call.loops] == [(1.0, 9.0, 4, 1)]
    assert (turn.length_s, turn.turns, turn.phase) == (2.0, 4, "forward")
    assert [(one.kind, one.begin_s, one.end_s) for one in turn.lanes[0].pieces] == [
        ("kernel", 0.0, 0.5),
        ("wait", 0.5, 1.5),
        ("kernel", 1.5, 2.0),
    ]


def test_a_wait_says_what_is_waited_for():
    _, turn = strips()
    wait = turn.lanes[0].pieces[1]
    assert (wait.label, wait.axes, wait.name) == ("all-gather", ("fsdp",), "gather")
    [lane] = turn.lanes[1:]
    assert (lane.name, [(one.begin_s, one.end_s) for one in lane.pieces]) == ("fsdp", [(0.0, 1.5)])


def test_what_is_exposed_and_what_is_moved_is_added_up_over_turns():
    call, turn = strips()
    assert (call.exposed_s, call.transfer_s) == pytest.approx((4.0, 6.0))
    assert (turn.exposed_s, turn.transfer_s) == pytest.approx((1.0, 1.5))


def test_a_gap_that_nothing_explains_is_a_wait_for_nothing_known():
    strip = strips_of((TIMELINE[0],), KERNELS, (), 3.0)[0]
    gap = strip.lanes[0].pieces[-1]
    assert (gap.kind, gap.axes, gap.number, gap.begin_s, gap.end_s) == ("wait", (), 0, 1.0, 3.0)
    assert strip.exposed_s == 0.0


def test_a_transfer_that_was_begun_just_before_a_loop_is_not_of_the_loop():
    early = TimelineSpan(lane="fsdp", name="early", label="all-gather", begin_s=1.0, end_s=6.0)
    call, turn = strips(early)
    assert [piece.name for lane in call.lanes[1:] for piece in lane.pieces] == ["early"]
    assert all(piece.name != "early" for lane in turn.lanes for piece in lane.pieces)


def test_loops_in_loops_are_sums_of_all_turns():
    inner = TimelineSpan(lane="loops", name="inner", label="while", begin_s=1.0, end_s=1.5, turns=5)
    own = TimelineSpan(lane="compute", name="deep", label="dot", begin_s=1.0, end_s=1.1)
    timeline = tuple(span for span in TIMELINE if span.name != "first")
    call, outer, deep = strips_of((*timeline, inner, own), KERNELS, (GATHER,), 10.0)
    assert deep.turns == 5
    assert deep.length_s == pytest.approx(0.1)
    assert outer.lanes[0].pieces[0].end_s == pytest.approx(0.5)
    for strip in (call, outer, deep):
        assert sum(piece.seconds for piece in strip.lanes[0].pieces) == pytest.approx(strip.length_s)


def test_thousands_of_short_kernels_are_few_pieces():
    many = tuple(
        TimelineSpan(lane="compute", name=f"k{at}", label="add", begin_s=at * 1e-4, end_s=(at + 1) * 1e-4)
        for at in range(50_000)
    )
    kernels = tuple(kernel(f"k{at}", "forward" if at % 2 else "backward") for at in range(50_000))
    [strip] = strips_of(many, kernels, (), 5.0)
    pieces = strip.lanes[0].pieces
    assert len(pieces) <= 2_400
    assert sum(piece.number for piece in pieces) == 50_000


def test_without_a_timeline_there_is_none():
    assert strips_of((), KERNELS, (), 1.0) == ()
    assert strips_of(TIMELINE, KERNELS, (), 0.0) == ()
