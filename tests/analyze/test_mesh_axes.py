"""Groups of devices are named after the user's mesh axes exactly when they follow them."""

from __future__ import annotations

import itertools
import math
from random import Random

import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.analyze.collectives import find_collectives
from pjit_inspect.analyze.mesh_axes import find_axes, find_permute_axes
from pjit_inspect.model.mesh import Mesh

NAMES = ("a", "b", "c", "d", "e", "f")
Groups = tuple[tuple[int, ...], ...]


def lines_along(shape: tuple[int, ...], axes: tuple[int, ...]) -> Groups:
    """Positions that differ in nothing but their coordinates along `axes`, by enumeration."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for position, index in enumerate(itertools.product(*map(range, shape))):
        fixed = tuple(-1 if axis in axes else index[axis] for axis in range(len(shape)))
        groups.setdefault(fixed, []).append(position)
    return tuple(tuple(group) for group in groups.values())


def brute_force(groups: Groups, mesh: Mesh) -> tuple[str, ...] | None:
    """The axes among all subsets of axes whose lines are these groups of positions."""
    wanted = {frozenset(group) for group in groups}
    real = [axis for axis, size in enumerate(mesh.shape) if size > 1]
    for count in range(len(real) + 1):
        for axes in itertools.combinations(real, count):
            if {frozenset(line) for line in lines_along(mesh.shape, axes)} == wanted:
                return tuple(mesh.axis_names[axis] for axis in axes)
    return None


@st.composite
def cases(draw: st.DrawFn) -> tuple[Mesh, tuple[int, ...], Random]:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=6).filter(lambda s: math.prod(s) <= 128)))
    devices = tuple(draw(st.permutations(range(100, 100 + math.prod(shape)))))
    mesh = Mesh(axis_names=NAMES[: len(shape)], shape=shape, device_ids=devices)
    axes = tuple(axis for axis in range(len(shape)) if draw(st.booleans()))
    return mesh, axes, draw(st.randoms(use_true_random=False))


@given(cases())
def test_lines_along_axes_are_named_after_them_for_any_order_of_devices(case: tuple[Mesh, tuple[int, ...], Random]):
    mesh, axes, random = case
    # XLA numbers the devices in an order of its own, and lists groups and their members in any order.
    order = random.sample(mesh.device_ids, mesh.size)
    logical = {device: number for number, device in enumerate(order)}
    groups = [[logical[mesh.device_ids[p]] for p in line] for line in lines_along(mesh.shape, axes)]
    for group in groups:
        random.shuffle(group)
    random.shuffle(groups)
    expected = tuple(mesh.axis_names[axis] for axis in axes if mesh.shape[axis] > 1)
    assert find_axes(tuple(map(tuple, groups)), mesh, order) == expected


@given(
    st.sampled_from([(2, 4), (2, 2, 2), (4, 4), (2, 3, 2), (12,), (2, 1, 6)]),
    st.randoms(use_true_random=False),
    st.data(),
)
def test_any_other_groups_are_named_as_enumeration_of_all_axes_does(
    shape: tuple[int, ...], random: Random, data: st.DataObject
):
    size = math.prod(shape)
    mesh = Mesh(axis_names=NAMES[: len(shape)], shape=shape, device_ids=tuple(range(size)))
    length = data.draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
    stride = data.draw(st.sampled_from([n for n in range(1, size + 1) if (size // length) % n == 0]))
    positions = np.arange(size).reshape(-1, length, stride).transpose(0, 2, 1).reshape(-1, length)
    if data.draw(st.booleans()):
        i, j = random.randrange(size), random.randrange(size)
        positions.flat[[i, j]] = positions.flat[[j, i]]
    groups = tuple(map(tuple, positions.tolist()))
    assert find_axes(groups, mesh) == brute_force(groups, mesh)


MESH = Mesh(axis_names=("data", "model"), shape=(2, 4), device_ids=tuple(range(8)))


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ((), ("data", "model")),
        (((0, 1, 2, 3, 4, 5, 6, 7),), ("data", "model")),
        (((0, 4), (1, 5), (2, 6), (3, 7)), ("data",)),
        (((3, 2, 1, 0), (4, 5, 6, 7)), ("model",)),
        (tuple((k,) for k in range(8)), ()),
        (((0, 1), (2, 3), (4, 5), (6, 7)), None),  # half of model
        (((0, 2), (1, 3), (4, 6), (5, 7)), None),  # the other half
        (((0, 1, 2, 3),), None),  # not everybody
        (((0, 1, 2, 3), (4, 5), (6, 7)), None),  # unequal
        (((0, 0, 2, 3), (4, 5, 6, 7)), None),  # one twice
        (((0, 5), (1, 4), (2, 7), (3, 6)), None),  # diagonals
        (((0, 8), (1, 5), (2, 6), (3, 7)), None),  # a device that is not there
    ],
)
def test_groups_in_a_mesh_of_2_by_4(groups: Groups, expected: tuple[str, ...] | None):
    assert find_axes(groups, MESH) == expected


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)), ("model",)),
        (((0, 1), (1, 2), (2, 3)), ("model",)),  # a shift without wrap, in one row
        (((0, 4), (4, 0), (1, 1)), ("data",)),  # to itself does not count
        (((0, 0), (1, 1)), ()),
        ((), ()),
        (((0, 5), (1, 6)), ("data", "model")),  # every pair changes both
        (tuple((k, (k + 1) % 8) for k in range(8)), ("data", "model")),  # a ring over all
        (((0, 1), (0, 4)), None),  # some along one axis, some along the other
        (((0, 0), (1, 2), (2, 4), (3, 6), (4, 1), (5, 3), (6, 5), (7, 7)), None),  # a transposed mesh
    ],
)
def test_pairs_in_a_mesh_of_2_by_4(pairs: Groups, expected: tuple[str, ...] | None):
    assert find_permute_axes(pairs, MESH) == expected


def test_four_thousand_devices_in_six_axes_are_named():
    mesh = Mesh(axis_names=NAMES, shape=(4,) * 6, device_ids=tuple(reversed(range(4096))))
    groups = lines_along(mesh.shape, (1, 4, 5))
    assert find_axes(groups, mesh) == ("b", "e", "f")
    assert find_axes(tuple(tuple(4095 - p for p in g) for g in groups), mesh, range(4096)) == ("b", "e", "f")


@pytest.mark.parametrize("axes", [("x",), ("y",), ("z",), ("x", "z"), ("y", "x"), ("x", "y", "z")])
def test_what_jax_sums_over_is_what_is_named_on_a_mesh_with_shuffled_devices(axes: tuple[str, ...]):
    jax = pytest.importorskip("jax")
    spec = jax.sharding.PartitionSpec
    devices = np.array(Random(7).sample(jax.devices(), 8)).reshape(2, 2, 2)
    mesh = jax.sharding.Mesh(devices, ("x", "y", "z"))
    whole = spec(("x", "y", "z"))
    summed = jax.shard_map(
        lambda v: jax.lax.psum(v, axes), mesh=mesh, in_specs=whole, out_specs=spec(), check_vma=False
    )
    ours = fixtures.mesh_of(mesh)
    [row] = find_collectives(fixtures.compiled(summed, np.ones((16,), np.float32)), ours, ours.device_ids)
    assert row.axes == tuple(name for name in ("x", "y", "z") if name in axes)
    assert row.implicit is False
    assert len(row.groups) == 8 // 2 ** len(axes)
