"""The data of the page with both programs: nothing is lost on the way from the comparison to lists and boxes."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import pytest
from data import hlo_fixtures as fixtures

import pjit_inspect
from pjit_inspect.view.diff.matrix import MatrixSide, matrix_data
from pjit_inspect.view.diff.rows import SideWriter, diff_lists
from pjit_inspect.view.diff.status import difference_words, status_of
from pjit_inspect.view.inspector.shared_tables import SharedTables

NAMES = ("mlp_step.cpu_8", "transformer_step.cpu_8", "transformer_step.v5e_2x4")


@functools.cache
def record(name: str) -> Any:
    return pjit_inspect.open(fixtures.HERE / f"{name}.hlo.gz", mesh={"data": 2, "model": 4})


@functools.cache
def side(name: str) -> MatrixSide:
    analyses = record(name).state.analyses
    return MatrixSide(collectives=tuple(analyses.report.collectives or ()), graph=analyses.graph_and_reason[0])


@pytest.mark.parametrize(("before", "after"), list(itertools.product(NAMES, NAMES)))
def test_boxes_hold_every_kernel_and_collective_of_both(before: str, after: str):
    sides = side(before), side(after)
    found = matrix_data(*sides, SharedTables())
    for place, one in enumerate(sides):
        assert one.graph is not None
        boxes = found.data["boxes"]
        assert sum(box["kernels"][place] for box in boxes) == sum(box.kernels for box in one.graph.boxes)
        assert sum(box["bytes"][place] for box in boxes) == sum(
            row.wire_bytes * (1 if row.count is None else row.count) for row in one.collectives
        )
        assert {number for own in found.kernels[place].values() for number in own} == {
            number for number, box in enumerate(boxes) if box["kernels"][place]
        }
        assert set(found.boxes[place]) == {row.instructions[0] for row in one.collectives}


@pytest.mark.parametrize("name", NAMES)
def test_a_program_is_the_same_as_itself_in_every_box(name: str):
    found = matrix_data(side(name), side(name), SharedTables())
    assert {box["status"] for box in found.data["boxes"]} == {"same"}
    assert {row["status"] for row in found.data["rows"]} == {"same"}


@pytest.mark.parametrize(("before", "after"), list(itertools.combinations(NAMES, 2)))
def test_signs_turn_when_the_programs_are_swapped(before: str, after: str):
    there, back = (
        sorted(tuple(box["bytes"]) for box in matrix_data(*pair, SharedTables()).data["boxes"])
        for pair in ((side(before), side(after)), (side(after), side(before)))
    )
    assert there == sorted(pair[::-1] for pair in back)


@pytest.mark.parametrize(("before", "after"), list(itertools.product(NAMES, NAMES)))
def test_lists_count_every_pair_largest_difference_first(before: str, after: str):
    diff = pjit_inspect.diff(record(before), record(after))
    tables = SharedTables()
    writers = [SideWriter(record(name).report, None, tables, None) for name in (before, after)]
    pairs = {"collectives": diff.collectives, "kernels": diff.kernels}
    lists = diff_lists(pairs, {}, (writers[0], writers[1]), tables)
    for name, found in lists.items():
        assert sum(found["counts"].values()) == len(pairs[name])
        assert found["counts"]["same"] == pairs[name].same
        sizes = [abs(row["bytes"]) for row in found["rows"]]
        assert sizes == sorted(sizes, reverse=True)


def test_a_missing_graph_says_why():
    found = matrix_data(MatrixSide(collectives=()), side(NAMES[0]), SharedTables(), missing="no HLO before")
    assert found.data == {"missing": "no HLO before"}
    assert found.boxes == ({}, {})


@pytest.mark.parametrize(
    ("sizes", "is_same", "status", "words"),
    [
        ((100, 50), False, "less", "\u221250.00"),
        ((50, 100), False, "more", "+50.00"),
        ((50, 50), False, "changed", "0"),
        ((50, 50), True, "same", "0"),
        ((None, 50), False, "changed", "unknown"),
    ],
)
def test_status_and_difference(sizes, is_same: bool, status: str, words: str):
    assert status_of(True, True, sizes, is_same=is_same) == status
    assert difference_words(sizes, "B").removesuffix(".00") == words.removesuffix(".00")
