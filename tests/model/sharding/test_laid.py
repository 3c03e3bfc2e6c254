"""A spec laid over a mesh: tiles are numbered row by row, and a part of an axis cuts as the part says."""

from __future__ import annotations

import pytest

from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.sharding.laid import laid

MESH = Mesh(axis_names=("a", "b"), shape=(2, 4), device_ids=(7, 6, 5, 4, 3, 2, 1, 0))


def test_each_position_has_the_tile_of_its_coordinates():
    sharding = laid(MESH, ("b", None, "a"))
    assert (sharding.tiles, sharding.device_ids) == ((4, 1, 2), MESH.device_ids)
    assert sharding.tile_of == (0, 2, 4, 6, 1, 3, 5, 7)
    assert laid(MESH, (("b", "a"),)).tile_of == sharding.tile_of
    assert laid(MESH, ()).tile_of == (0,) * 8


def test_a_part_of_an_axis_is_its_outer_or_inner_half():
    assert laid(MESH, ("b:(1)2", "a")).tile_of == (0, 0, 2, 2, 1, 1, 3, 3)
    assert laid(MESH, ("b:(2)2",)).tile_of == (0, 1, 0, 1, 0, 1, 0, 1)


@pytest.mark.parametrize("axis", ["c", "c:(1)2", "b:(1)3", "b:(0)2", "b:(1)", "b:(x)2", "b:(1)2)"])
def test_an_axis_that_the_mesh_lacks_is_an_error(axis):
    with pytest.raises(ValueError):  # noqa: PT011  (whichever step finds out)
        laid(MESH, (axis,))


def test_equal_shardings_hash_alike():
    one, two = laid(MESH, ("a", "b")), laid.__wrapped__(MESH, ("a", "b"))
    assert one == two
    assert hash(one) == hash(two)
