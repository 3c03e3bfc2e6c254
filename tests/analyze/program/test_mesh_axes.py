"""Groups of devices are named after the user's mesh axes exactly when they follow them."""

from __future__ import annotations

import itertools
import math
import re
from random import Random

import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from data.hlo_texts import parse_hlo_text
from hypothesis import given, settings
from hypothesis import strategies as st

import pjit_inspect
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.program.mesh_axes import find_axes, find_parts, find_permute_axes
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.parse.wire.replica_groups import expand_mesh_axes

NAMES = ("a", "b", "c", "d", "e", "f")
Groups = tuple[tuple[int, ...], ...]
Names = tuple[str, ...]


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


@st.composite
def parts_of_axes(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[int, int, int]]]:
    """A mesh shape, and some of its axes or parts of them, as (axis, pre-size, size)."""
    shape = tuple(
        draw(st.lists(st.sampled_from((1, 2, 4, 6)), min_size=1, max_size=6).filter(lambda s: math.prod(s) < 97))
    )
    parts = []
    for axis in draw(st.lists(st.sampled_from(range(len(shape))), unique=True)):
        pre = draw(st.sampled_from([n for n in range(1, shape[axis] + 1) if shape[axis] % n == 0]))
        rest = shape[axis] // pre
        parts.append((axis, pre, draw(st.sampled_from([n for n in range(1, rest + 1) if rest % n == 0]))))
    return shape, parts


@given(parts_of_axes())
def test_groups_along_parts_of_axes_are_named_only_when_the_parts_are_whole_axes(
    case: tuple[tuple[int, ...], list[tuple[int, int, int]]],
):
    shape, parts = case
    mesh = Mesh(axis_names=NAMES[: len(shape)], shape=shape, device_ids=tuple(range(math.prod(shape))))
    groups = expand_mesh_axes(shape, parts)
    whole = [axis for axis, _, size in parts if size == shape[axis] > 1]
    expected = tuple(NAMES[axis] for axis in sorted(whole))
    if any(1 < size < shape[axis] for axis, _, size in parts):
        expected = None
    assert find_axes(groups, mesh) == expected == brute_force(groups, mesh)


def parts_of(size: int) -> list[tuple[tuple[int, int], ...]]:
    """Every way to choose parts (devices before, size) of one axis, no two of them neighbours: those would be one."""
    found: list[tuple[tuple[int, int], ...]] = [()]
    for before in range(1, size + 1):
        for part in range(2, size + 1):
            if size % (before * part):
                continue
            rest = size // (before * part)
            found.append(((before, part),))
            # What lies further in is a choice of parts of the rest, shifted, that does not start right away.
            found += [
                ((before, part), *((before * part * pre, length) for pre, length in inner))
                for inner in parts_of(rest)
                if inner and inner[0][0] > 1
            ]
    return found


def groups_of_parts(shape: tuple[int, ...], parts: tuple[tuple[tuple[int, int], ...], ...]) -> Groups:
    """Positions that agree in everything but the digits of their coordinates that `parts` name, by enumeration."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for position, index in enumerate(itertools.product(*map(range, shape))):
        fixed = []
        for at, size, chosen in zip(index, shape, parts, strict=True):
            for before, part in chosen:
                inside = size // (before * part)
                at -= at // inside % part * inside
            fixed.append(at)
        groups.setdefault(tuple(fixed), []).append(position)
    return tuple(map(tuple, groups.values()))


def names_of_parts(shape: tuple[int, ...], parts: tuple[tuple[tuple[int, int], ...], ...]) -> Names:
    return tuple(
        name if length == size else f"{name}:({before}){length}"
        for name, size, chosen in zip(NAMES, shape, parts, strict=False)
        for before, length in chosen
    )


def expanded(names: Names, mesh: Mesh) -> Groups:
    """The groups that Shardy's notation stands for, read by the notation's own definition."""
    parts = []
    for axis, size in mesh.sizes.items():
        chosen = []
        for name in names:
            found = re.fullmatch(r"(.*):\((\d+)\)(\d+)", name)
            if name == axis:
                chosen.append((1, size))
            elif found and found[1] == axis:
                chosen.append((int(found[2]), int(found[3])))
        parts.append(tuple(chosen))
    return groups_of_parts(mesh.shape, tuple(parts))


@st.composite
def small_meshes(draw: st.DrawFn) -> tuple[int, ...]:
    sizes = st.lists(st.sampled_from((1, 2, 3, 4, 6, 8, 9, 12, 16, 27, 32)), min_size=1, max_size=5)
    return tuple(draw(sizes.filter(lambda s: math.prod(s) <= 32)))


@given(small_meshes(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_all_parts_of_all_axes_of_a_mesh_are_named_and_the_names_say_exactly_the_groups(
    shape: tuple[int, ...], random: Random
):
    order = random.sample(range(math.prod(shape)), math.prod(shape))
    mesh = Mesh(axis_names=NAMES[: len(shape)], shape=shape, device_ids=tuple(order))
    for parts in itertools.product(*map(parts_of, shape)):
        groups = groups_of_parts(shape, parts)
        logical = [[order[position] for position in random.sample(group, len(group))] for group in groups]
        random.shuffle(logical)
        found = find_parts(tuple(map(tuple, logical)), mesh, range(mesh.size))
        assert found == names_of_parts(shape, parts)
        assert set(expanded(found, mesh)) == set(groups)
        is_whole = all(part == (1, size) for size, own in zip(shape, parts, strict=True) for part in own)
        assert find_axes(tuple(map(tuple, logical)), mesh, range(mesh.size)) == (found if is_whole else None)


@given(
    st.sampled_from([(2, 4), (8,), (2, 2, 2), (4, 3), (6, 2), (16,)]),
    st.randoms(use_true_random=False),
    st.data(),
)
def test_groups_that_no_choice_of_parts_makes_have_no_name(shape: tuple[int, ...], random: Random, data: st.DataObject):
    size = math.prod(shape)
    mesh = Mesh(axis_names=NAMES[: len(shape)], shape=shape, device_ids=tuple(range(size)))
    length = data.draw(st.sampled_from([n for n in range(1, size + 1) if size % n == 0]))
    positions = np.arange(size).reshape(-1, length)
    for _ in range(data.draw(st.integers(0, 3))):
        i, j = random.randrange(size), random.randrange(size)
        positions.flat[[i, j]] = positions.flat[[j, i]]
    groups = tuple(map(tuple, positions.tolist()))
    wanted = {frozenset(group) for group in groups}
    choices = itertools.product(*map(parts_of, shape))
    fitting = [p for p in choices if {frozenset(group) for group in groups_of_parts(shape, p)} == wanted]
    assert len(fitting) <= 1
    assert find_parts(groups, mesh) == (names_of_parts(shape, fitting[0]) if fitting else None)


def permute_axes(pairs: list[tuple[int, int]], mesh: Mesh) -> tuple[str, ...]:
    """What the documentation of `find_permute_axes` says, word for word."""
    places = list(itertools.product(*map(range, mesh.shape)))
    moving = [(a, b) for a, b in pairs if a != b]
    moved = (axis for a, b in moving for axis, (x, y) in enumerate(zip(places[a], places[b], strict=True)) if x != y)
    return tuple(mesh.axis_names[axis] for axis in sorted(set(moved)))


@given(cases(), st.data())
def test_pairs_are_named_as_asking_every_pair_does(case: tuple[Mesh, tuple[int, ...], Random], data: st.DataObject):
    mesh, axes, random = case
    places = list(itertools.product(*map(range, mesh.shape)))
    steps = [data.draw(st.integers(0, size - 1)) if axis in axes else 0 for axis, size in enumerate(mesh.shape)]
    moved = [tuple((c + s) % n for c, s, n in zip(place, steps, mesh.shape, strict=True)) for place in places]
    pairs = [(position, places.index(place)) for position, place in enumerate(moved)]
    if data.draw(st.booleans()):
        # Some pairs only, and one that goes anywhere.
        pairs = random.sample(pairs, data.draw(st.integers(0, len(pairs))))
        pairs.append((random.randrange(mesh.size), random.randrange(mesh.size)))
    order = random.sample(mesh.device_ids, mesh.size)
    logical = {device: number for number, device in enumerate(order)}
    ids = tuple((logical[mesh.device_ids[a]], logical[mesh.device_ids[b]]) for a, b in pairs)
    assert find_permute_axes(ids, mesh, order) == permute_axes(pairs, mesh)


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
        (((0, 1), (0, 4)), ("data", "model")),  # some along one axis, some along the other
        (((0, 0), (1, 2), (2, 4), (3, 6), (4, 1), (5, 3), (6, 5), (7, 7)), ("data", "model")),  # a transposed mesh
    ],
)
def test_pairs_in_a_mesh_of_2_by_4(pairs: Groups, expected: tuple[str, ...] | None):
    assert find_permute_axes(pairs, MESH) == expected


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (((0, 1), (2, 3), (4, 5), (6, 7)), ("model:(2)2",)),
        (((0, 2), (1, 3), (4, 6), (5, 7)), ("model:(1)2",)),
        (((0, 2, 4, 6), (1, 3, 5, 7)), ("data", "model:(1)2")),
        (((0, 4), (1, 5), (2, 6), (3, 7)), ("data",)),
        (((0, 3), (1, 2), (4, 7), (5, 6)), None),  # halves in mirrored order
        (((0, 1), (2, 3), (4, 6), (5, 7)), None),  # another half in each row
        (((0, 1, 2, 3),), None),  # not everybody
    ],
)
def test_parts_of_axes_are_named_as_shardy_writes_them(groups: Groups, expected: Names | None):
    assert find_parts(groups, MESH) == expected


def test_parts_of_an_axis_of_4096_devices_are_named():
    mesh = Mesh(axis_names=("x",), shape=(4096,), device_ids=tuple(range(4096)))
    positions = np.arange(4096).reshape(4, 8, 16, 8).transpose(0, 2, 1, 3).reshape(64, 64)
    assert find_parts(tuple(map(tuple, positions.tolist())), mesh) == ("x:(4)8", "x:(512)8")


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


def test_several_meshes_in_one_program_each_name_their_own_collectives():
    jax = pytest.importorskip("jax")
    spec, auto = jax.sharding.PartitionSpec, jax.sharding.AxisType.Auto
    first = jax.make_mesh((2, 4), ("data", "model"), axis_types=(auto,) * 2)
    second = jax.sharding.Mesh(first.devices.reshape(2, 2, 2), ("x", "y", "z"))

    def summed(mesh, axes, whole):
        return jax.shard_map(
            lambda v: jax.lax.psum(v, axes) + v, mesh=mesh, in_specs=whole, out_specs=whole, check_vma=False
        )

    def program(v):
        v = summed(first, "model", spec(("data", "model")))(v) * 2
        v = summed(second, "z", spec(("x", "y", "z")))(v) * 3
        return summed(second, ("x", "z"), spec(("x", "y", "z")))(v)

    module = fixtures.compiled(program, np.ones((16,), np.float32))
    ours = [fixtures.mesh_of(mesh) for mesh in (first, second)]
    rows = find_collectives(module, ours[0], ours[0].device_ids, other_meshes=ours[1:])
    assert sorted(row.axes or () for row in rows) == [("model",), ("x", "z"), ("z",)]
    # Of these, only what runs along model could be meant in the other mesh too.
    assert {row.axes: (row.mesh, row.other_axes) for row in rows} == {
        ("model",): (0, (("y", "z"),)),
        ("z",): (1, ()),
        ("x", "z"): (1, ()),
    }
    # A mesh that has nothing to do with the groups is not asked to fit.
    alone = find_collectives(module, ours[0], ours[0].device_ids)
    assert {row.axes: row.groups for row in alone if row.axes != ("model",)} == {
        ("model:(2)2",): ((0, 1), (2, 3), (4, 5), (6, 7)),
        ("data", "model:(2)2"): ((0, 1, 4, 5), (2, 3, 6, 7)),
    }


TRANSPOSED = Mesh(axis_names=("rows", "columns"), shape=(4, 2), device_ids=(0, 4, 1, 5, 2, 6, 3, 7))


@pytest.mark.parametrize(
    ("pairs", "axes", "mesh", "other_axes"),
    [
        # Along one axis of the first mesh: whatever it is in others.
        ("{{0,4},{4,0},{1,5},{5,1}}", ("data",), 0, (("columns",),)),
        ("{{0,1},{1,2},{2,3},{3,0}}", ("model",), 0, (("rows",),)),
        # Everywhere in both.
        ("{{0,5},{5,0}}", ("data", "model"), 0, (("rows", "columns"),)),
    ],
)
def test_a_permute_in_two_meshes_of_other_orders(pairs: str, axes: Names, mesh: int, other_axes: tuple[Names, ...]):
    text = f"""HloModule m, num_partitions=8

ENTRY %main (p: f32[8]) -> f32[8] {{
  %p = f32[8]{{0}} parameter(0)
  ROOT %g = f32[8]{{0}} collective-permute(%p), channel_id=1, source_target_pairs={pairs}
}}
"""
    [row] = find_collectives(parse_hlo_text(text), MESH, range(8), other_meshes=(TRANSPOSED,))
    assert (row.axes, row.mesh, row.other_axes) == (axes, mesh, other_axes)


def test_a_permute_is_named_after_the_mesh_in_which_it_moves_along_fewest_axes():
    text = """HloModule m, num_partitions=8

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %g = f32[8]{0} collective-permute(%p), channel_id=1, source_target_pairs={{0,2},{2,4},{4,6},{6,0}}
}
"""
    [row] = find_collectives(parse_hlo_text(text), MESH, range(8), other_meshes=(TURNED,))
    assert (row.axes, row.mesh, row.other_axes) == (("data",), 1, (("data", "model"),))


@pytest.mark.parametrize(("groups", "axis"), [([[0, 2], [1, 3]], "tp:(1)2"), ([[0, 1], [2, 3]], "tp:(2)2")])
def test_a_sum_over_half_of_an_axis_is_shown_as_that_half_and_not_as_a_fault(groups: list[list[int]], axis: str):
    jax = pytest.importorskip("jax")
    spec = jax.sharding.PartitionSpec
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(2, 4), ("fsdp", "tp"))
    whole = spec(("fsdp", "tp"))
    summed = jax.shard_map(
        lambda v: jax.lax.psum(v, "tp", axis_index_groups=groups),
        mesh=mesh,
        in_specs=whole,
        out_specs=whole,
        check_vma=False,
    )
    record = pjit_inspect.inspect(summed, np.ones((16,), np.float32))
    [row] = record.collectives
    assert row.axes == (axis,)
    assert list(record.collectives.over(axis)) == [row]
    assert not record.collectives.over("tp")
    assert not any("no mesh axis" in note for note in record.report.notes)
    assert axis in str(record)
    assert "over a part of `tp`" in str(record.explain("tp"))


TWO = """HloModule m, num_partitions=8

ENTRY %main (p: f32[8]) -> f32[64] {
  %p = f32[8]{0} parameter(0)
  ROOT %g = f32[64]{0} all-gather(%p), channel_id=1, GROUPS, dimensions={0}, use_global_device_ids=true
}
"""
CUBE = Mesh(axis_names=("x", "y", "z"), shape=(2, 2, 2), device_ids=tuple(range(8)))
CROSSED = Mesh(axis_names=("u", "v"), shape=(4, 2), device_ids=(0, 5, 1, 4, 2, 7, 3, 6))
TURNED = Mesh(axis_names=("data", "model"), shape=(4, 2), device_ids=tuple(range(8)))


@pytest.mark.parametrize(
    ("groups", "others", "axes", "mesh", "other_axes"),
    [
        # 0 and 4 differ along data in the 2 x 4 mesh, and along x in the cube.
        ("[4,2]<=[2,4]T(1,0)", (CUBE,), ("data",), 0, (("x",),)),
        ("[2,4]<=[8]", (CUBE,), ("model",), 0, (("y", "z"),)),
        # Neighbours are half of model, but all of z.
        ("[4,2]<=[8]", (CUBE,), ("z",), 1, ()),
        # They are model in a mesh of 4 x 2 too: not the model of the first mesh.
        ("[4,2]<=[8]", (TURNED,), ("model",), 1, ()),
        ("[4,2]<=[8]", (CUBE, TURNED), ("z",), 1, (("model",),)),
        # Everybody is data x model in both.
        ("[1,8]<=[8]", (TURNED,), ("data", "model"), 0, ()),
        ("[1,8]<=[8]", (CUBE,), ("data", "model"), 0, (("x", "y", "z"),)),
        # 0 and 2 are half of model in the first mesh, and half of data in the other: the first decides.
        ("[4,2]<=[2,2,2]T(0,2,1)", (TURNED,), ("model:(1)2",), 0, (("data:(2)2",),)),
        # All of an axis of any mesh comes before parts of axes of the first.
        ("[4,2]<=[2,2,2]T(0,2,1)", (CUBE,), ("y",), 1, ()),
        ("{{0,5},{1,4},{2,7},{3,6}}", (TURNED,), None, 0, ()),
        # The same devices in another order.
        ("{{0,5},{1,4},{2,7},{3,6}}", (TURNED, CROSSED), ("v",), 2, ()),
        ("[2,4]<=[8]", (CROSSED,), ("model",), 0, (("u",),)),
        # From JAX 0.12 on the list may name a mesh; it is not always the one the user meant.
        ("mesh['x'=2,'y'=2,'z'=2] {'x'}", (CUBE,), ("data",), 0, (("x",),)),
        ("mesh['data'=2,'model'=4] {'data'}", (CUBE,), ("data",), 0, (("x",),)),
        ("mesh['axis_0'=2,'axis_1'=4] {'axis_0'}", (CUBE,), ("data",), 0, (("x",),)),
    ],
)
def test_groups_that_fit_several_meshes_are_named_after_the_first_and_say_so(
    groups: str, others: tuple[Mesh, ...], axes: Names | None, mesh: int, other_axes: tuple[Names, ...]
):
    module = parse_hlo_text(TWO.replace("GROUPS", f"replica_groups={groups}"))
    [row] = find_collectives(module, MESH, range(8), other_meshes=others)
    assert (row.axes, row.mesh, row.other_axes) == (axes, mesh, other_axes)
