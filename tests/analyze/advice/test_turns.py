"""Two programs with loops of unknown length: which has less, whatever the numbers of turns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.advice.turns import Parts, TurnFigure
from pjit_inspect.analyze.program.unknown_loops import count_turns, loop_names, pair_loops, unknown_loops
from pjit_inspect.model.report.edit import Checked

LOOPS = """HloModule m

inner_body {
  ROOT p = s32[] parameter(0)
}

inner_condition {
  p = s32[] parameter(0)
  ROOT c = pred[] compare(p, p), direction=NE
}

body {
  p = s32[] parameter(0)
  ROOT k = s32[] while(p), condition=inner_condition, body=inner_body, backend_config={"known_trip_count":{"n":"5"}}
}

condition {
  p = s32[] parameter(0)
  ROOT c = pred[] compare(p, p), direction=NE
}

ENTRY main {
  p = s32[] parameter(0)
  ROOT w = s32[] while(p), condition=condition, body=body, metadata={op_name="jit(f)/while"}
}
"""


def test_what_is_in_a_loop_counts_for_each_of_its_turns() -> None:
    module = parse_hlo_text(LOOPS)
    (loop,) = unknown_loops(module)
    assert loop_names(module, (loop,)) == {loop: ("jit(f)/while", "")}
    turns = count_turns(module, (loop,))
    found = {module.computation(n).name: {k: v for k, v in own.items() if v} for n, own in enumerate(turns)}
    assert found == {
        "main": {None: 1}, "body": {loop: 1}, "condition": {None: 1, loop: 1}, "inner_body": {loop: 5},
        "inner_condition": {loop: 6},
    }  # fmt: skip


A, B = ("jit(f)/while", "f.py:1"), ("jit(f)/while", "f.py:2")


@pytest.mark.parametrize(
    ("before", "after", "pairs"),
    [
        ([(A, 3), (B, 5)], [(B, 1), (A, 2)], ((3, 2), (5, 1))),
        ([(A, 3), (A, 3)], [(A, 1), (A, 2)], ((3, 1), (3, 2))),
        ([(A, 3), (A, 4)], [(A, 1), (A, 2)], None),
        ([(A, 3)], [(B, 3)], None),
        ([(A, 0), (B, 1)], [(B, 1)], ((1, 1),)),
        ([], [], ()),
    ],
)
def test_loops_are_told_apart_by_name_or_not_at_all(before: list, after: list, pairs: tuple | None) -> None:
    assert pair_loops(before, after) == pairs


def parts(*rows: tuple[int, int]) -> Parts:
    return Parts(rows)


@pytest.mark.parametrize(
    ("rows", "grows"),
    [
        ([(9, 1)], False),
        ([(9, 0), (4, 4)], False),
        ([(9, 0), (4, 5)], True),
        ([(0, 9), (9, 0)], False),  # moved out of the loop: as much for one turn, less for more
        ([(0, 10), (9, 0)], True),
        ([(9, 0), (4, 1), (0, 1)], True),
    ],
)
def test_one_turn_and_each_further_one_decide(rows: list, grows: bool) -> None:
    assert parts(*rows).may_grow() is grows


def test_a_figure_is_split_into_what_is_outside_and_each_loop() -> None:
    before, after = TurnFigure(total=10, per_turn=((A, 4),)), TurnFigure(total=5, per_turn=((A, 3),))
    assert Parts.of(before, after) == parts((6, 2), (4, 3))
    assert Parts.of(before, TurnFigure(total=5, per_turn=((B, 3),))) is None
    assert parts((6, 3), (4, 4)).ratios == (0.5, 1.0)


@pytest.mark.parametrize(
    ("outside", "per_turn", "verdict", "end"),
    [
        ((10, 0), ((4, 4),), "helps", "(modelled, ring)"),
        ((10, 0), ((4, 8),), "depends", ", less only if it takes fewer than 3 turns"),
        ((8, 0), ((4, 8),), "depends", ", less only if it takes fewer than 2 turns"),
        ((0, 10), ((8, 4),), "depends", ", less only if it takes more than 2 turns"),
        ((0, 3), ((8, 4),), "helps", ", less only if it takes a turn"),
        ((0, 10), ((8, 0), (8, 0)), "helps", ", less if each takes a turn"),
        ((9, 0), ((8, 9), (8, 0)), "depends", ", less or more by how many turns each takes"),
        ((0, 1), ((4, 8),), "worse", ", worse"),
        ((4, 4), ((4, 4),), "nothing", ", changes nothing"),
    ],
)  # fmt: skip
def test_a_check_says_for_which_turns_it_holds(outside: tuple, per_turn: tuple, verdict: str, end: str) -> None:
    one = Checked(
        before_bytes=outside[0] + sum(own for own, _ in per_turn),
        after_bytes=outside[1] + sum(own for _, own in per_turn),
        per_turn=per_turn,
    )
    assert one.outside_bytes == outside
    assert one.verdict == verdict
    assert str(one).endswith(end)
    unknown = replace(one, per_turn=None)
    assert unknown.verdict == "depends"
    assert str(unknown).endswith(
        "if each loop of unknown length takes one turn (modelled, ring), and which loop is which is not known"
    )
