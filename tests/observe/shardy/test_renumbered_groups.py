"""Groups of devices by number, on a mesh of other sizes; worked out by hand for data=2 x model=4: 4 data + model."""

from __future__ import annotations

import pytest

from pjit_inspect.observe.shardy.device_groups import regrouped, repaired

MESH = {"data": 2, "model": 4}
ROWS = [[0, 1, 2, 3], [4, 5, 6, 7]]
COLUMNS = [[0, 4], [1, 5], [2, 6], [3, 7]]
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def pairs(*starts: int) -> list[list[int]]:
    """The ring of four in each of some rows."""
    return [[start + a, start + b] for start in starts for a, b in RING]


@pytest.mark.parametrize(
    ("groups", "after", "expected"),
    [
        # More rows, each as long as before.
        (ROWS, {"data": 3, "model": 4}, [*ROWS, [8, 9, 10, 11]]),
        (ROWS, {"model": 4}, [[0, 1, 2, 3]]),
        # Fewer columns: 2 data + model.
        (COLUMNS, {"data": 2, "model": 2}, [[0, 2], [1, 3]]),
        # A new axis outside of the others, and one inside: 8 data + 2 model + new.
        (ROWS, {"new": 2, "data": 2, "model": 4}, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]),
        (ROWS, {"data": 2, "model": 4, "new": 2}, [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]),
        # The axes in another order are another numbering: data + 2 model.
        (ROWS, {"model": 4, "data": 2}, [[0, 2, 4, 6], [1, 3, 5, 7]]),
        # All devices, and each alone.
        ([[0, 1, 2, 3, 4, 5, 6, 7]], {"new": 2, "data": 2, "model": 4}, [list(range(8)), list(range(8, 16))]),
        ([[n] for n in range(8)], {"data": 3, "model": 2}, [[n] for n in range(6)]),
        # Both axes, model outside of data: 8 data + 2 model + new.
        (
            [[0, 4, 1, 5, 2, 6, 3, 7]],
            {"data": 2, "model": 4, "new": 2},
            [[0, 8, 2, 10, 4, 12, 6, 14], [1, 9, 3, 11, 5, 13, 7, 15]],
        ),
    ],
)
def test_groups_along_axes_that_stay_are_those_of_the_new_mesh(
    groups: list[list[int]], after: dict[str, int], expected: list[list[int]]
) -> None:
    assert regrouped(groups, MESH, after) == expected


@pytest.mark.parametrize(
    ("groups", "after"),
    [
        # Along an axis that has another size.
        (ROWS, {"data": 2, "model": 8}),
        (COLUMNS, {"data": 4, "model": 4}),
        # Along a part of an axis, in another order of groups, and along none.
        ([[0, 1], [2, 3], [4, 5], [6, 7]], {"data": 3, "model": 4}),
        ([[4, 5, 6, 7], [0, 1, 2, 3]], {"data": 3, "model": 4}),
        ([[0, 1, 2], [3, 4, 5], [6, 7]], {"data": 3, "model": 4}),
        # All devices are those along data, too.
        ([[0, 1, 2, 3, 4, 5, 6, 7]], {"data": 3, "model": 4}),
    ],
)
def test_groups_that_say_an_old_size_are_not_known_on_the_new_mesh(
    groups: list[list[int]], after: dict[str, int]
) -> None:
    assert regrouped(groups, MESH, after) is None


@pytest.mark.parametrize(
    ("given", "after", "expected"),
    [
        (pairs(0, 4), {"data": 3, "model": 4}, pairs(0, 4, 8)),
        (pairs(0, 4), {"model": 4}, pairs(0)),
        # A chain is no ring: the last sends to nobody.
        ([[0, 1], [4, 5]], {"data": 3, "model": 4}, [[0, 1], [4, 5], [8, 9]]),
        # To the next row: 8 rows apart on the mesh of 2 x 8.
        ([[0, 4], [1, 5], [2, 6], [3, 7]], {"data": 2, "model": 8}, [[n, n + 8] for n in range(8)]),
        # Along both axes at once: the first device to the last, of every eight.
        ([[0, 7]], {"new": 2, "data": 2, "model": 4}, [[0, 7], [8, 15]]),
        ([], {"data": 3, "model": 4}, []),
    ],
)
def test_pairs_along_axes_that_stay_repeat_in_every_group_of_the_new_mesh(
    given: list[list[int]], after: dict[str, int], expected: list[list[int]]
) -> None:
    assert repaired(given, MESH, after) == expected


@pytest.mark.parametrize(
    ("given", "after"),
    [
        (pairs(0, 4), {"data": 2, "model": 8}),
        # In one row only, where the rows are others.
        (pairs(0), {"data": 3, "model": 4}),
        ([[0, 7]], {"data": 3, "model": 4}),
    ],
)
def test_pairs_that_say_an_old_size_are_not_known_on_the_new_mesh(
    given: list[list[int]], after: dict[str, int]
) -> None:
    assert repaired(given, MESH, after) is None


def test_an_axis_of_one_device_makes_no_difference() -> None:
    before, after = {"one": 1, **MESH}, {"data": 3, "model": 4}
    assert regrouped(ROWS, before, after) == [*ROWS, [8, 9, 10, 11]]
