"""Meshes: axes alone, and axes over devices."""

import pytest

from pjit_inspect.model.program.mesh import Mesh, MeshAxes

AXES = MeshAxes(axis_names=("data", "model"), shape=(2, 4), axis_types=("auto", "explicit"))
MESH = Mesh(axis_names=("data", "model"), shape=(2, 4), axis_types=("auto", "explicit"), device_ids=tuple(range(8)))


def test_a_mesh_is_its_axes_with_devices():
    assert isinstance(MESH, MeshAxes)
    assert (MESH.axes, MESH.sizes, str(MESH)) == (AXES.axes, AXES.sizes, str(AXES))
    assert AXES.axes == (("data", 2), ("model", 4))
    assert str(AXES) == "data=2 x model=4"
    assert MESH.size == 8


def test_a_mesh_of_devices_and_one_without_are_not_equal():
    assert AXES != MESH
    assert Mesh(axis_names=("data", "model"), shape=(2, 4), device_ids=tuple(range(8))) != MESH


@pytest.mark.parametrize(
    ("names", "shape", "words"),
    [
        (("a",), (2, 4), "1 axis names for 2 axis sizes"),
        (("a", "a"), (2, 4), "axis names repeat"),
        (("a", "b"), (2, -4), "an axis cannot have -4 devices"),
    ],
)
def test_axes_that_cannot_be_are_refused_with_and_without_devices(names, shape, words):
    with pytest.raises(ValueError, match=words):
        MeshAxes(axis_names=names, shape=shape)
    with pytest.raises(ValueError, match=words):
        Mesh(axis_names=names, shape=shape, device_ids=tuple(range(8)))


def test_devices_must_fill_the_mesh():
    with pytest.raises(ValueError, match="7 devices do not fill"):
        Mesh(axis_names=("a",), shape=(8,), device_ids=tuple(range(7)))
