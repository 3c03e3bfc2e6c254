"""Which piece of an array each device holds: from shardings, through collectives, and back."""

from __future__ import annotations

import pytest

from pjit_inspect.analyze.causes.layouts import HeldPieces
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective

SIZES = {"data": 2, "model": 4}
ROWS, COLUMNS = (("model",), ()), ((), ("model",))
OVER_MODEL, OVER_DATA = ((0, 1, 2, 3), (4, 5, 6, 7)), ((0, 4), (1, 5), (2, 6), (3, 7))


def layout(spec: Dimensions, shape: tuple[int, ...] = (16, 64)) -> HeldPieces:
    found = HeldPieces.of(spec, shape, SIZES)
    assert found is not None
    return found


def moves(kind: str, groups: tuple[tuple[int, ...], ...], given: tuple[int, ...]) -> PartitionedCollective:
    return PartitionedCollective(kind=kind, groups=groups, given_shape=given, elements=given[0] * given[1])


@pytest.mark.parametrize(
    "spec",
    [
        ((), ()),
        ROWS,
        (("data", "model"), ()),
        (("model", "data"), ()),
        (("model:(2)2",), ("data", "model:(1)2")),
        (("data",), ("model",)),
    ],
)
def test_a_layout_is_read_as_the_sharding_it_is_of(spec: Dimensions) -> None:
    assert layout(spec).spec == spec


def test_no_layout_is_of_an_axis_that_the_mesh_lacks() -> None:
    assert HeldPieces.of((("expert",), ()), (16, 64), SIZES) is None


def test_an_all_gather_takes_an_axis_away_and_is_followed_back() -> None:
    edge = moves("all-gather", OVER_MODEL, (4, 64))
    behind = layout(ROWS).after(edge, None)
    assert behind is not None
    assert behind.spec == ((), ())
    before = behind.before(edge, edge.given_shape)
    assert before is not None
    assert before.spec == ROWS


def test_an_all_gather_over_an_axis_that_the_array_lacks_is_impossible() -> None:
    assert layout(ROWS).after(moves("all-gather", OVER_DATA, (4, 64)), None) is None


def test_an_all_to_all_takes_an_axis_from_one_dimension_to_another() -> None:
    behind = layout(ROWS).after(moves("all-to-all", OVER_MODEL, (4, 64)), (16, 16))
    assert behind is not None
    assert behind.spec == COLUMNS


def test_a_permute_is_read_as_the_sharding_behind_it() -> None:
    own, other = layout((("data", "model"), ())), layout((("model", "data"), ()))
    places = other.numbers[:, 0].tolist()
    pairs = tuple((device, places.index(number)) for device, number in enumerate(own.numbers[:, 0].tolist()))
    behind = own.after(moves("collective-permute", pairs, (2, 64)), None)
    assert behind is not None
    assert behind.spec == (("model", "data"), ())
    before = behind.before(moves("collective-permute", pairs, (2, 64)), None)
    assert before is not None
    assert before.spec == (("data", "model"), ())


def test_a_permute_that_leaves_a_device_out_is_no_reshard() -> None:
    pairs = tuple((k, k + 1) for k in range(7))
    assert layout((("data", "model"), ())).after(moves("collective-permute", pairs, (2, 64)), None) is None


def test_a_piece_of_a_piece_is_there_already() -> None:
    assert layout(ROWS).holds((("model", "data"), ()))
    assert not layout(ROWS).holds((("data", "model"), ()))
    assert not layout(ROWS).holds(COLUMNS)
