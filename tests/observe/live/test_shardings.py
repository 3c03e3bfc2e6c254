"""Shards of a record are the slices JAX itself says each device holds."""

from __future__ import annotations

import dataclasses
import itertools

import jax
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from jax._src.lib import xla_client as xc
from jax._src.sharding_impls import GSPMDSharding
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.observe.live.shardings import find_meshes, on_mesh, to_mesh, to_sharding


@st.composite
def named_shardings(draw: st.DrawFn) -> tuple[NamedSharding, tuple[int, ...]]:
    """Any mesh of at most 8 devices in any order, with any valid spec, and a shape it divides."""
    shape = draw(st.sampled_from([(8,), (2, 4), (4, 2), (2, 2, 2), (1, 8), (2, 1, 4), (3, 2), (5,)]))
    names = ("a", "b", "c")[: len(shape)]
    devices = draw(st.permutations(jax.devices()))[: int(np.prod(shape))]
    mesh = Mesh(np.array(devices).reshape(shape), names)
    rank = draw(st.integers(0, 4))
    order = draw(st.permutations(names))
    cuts = sorted(draw(st.lists(st.integers(0, len(names)), min_size=rank, max_size=rank)))
    entries: list[tuple[str, ...]] = [tuple(order[i:j]) for i, j in itertools.pairwise([0, *cuts])]
    spec = PartitionSpec(*[e or None for e in entries])
    factor = [int(np.prod([dict(zip(names, shape, strict=True))[n] for n in e])) for e in entries]
    lengths = tuple(f * draw(st.integers(1, 3)) for f in factor)
    return NamedSharding(mesh, spec), lengths


@settings(max_examples=200)
@given(named_shardings())
def test_the_slices_equal_those_of_jax(case: tuple[NamedSharding, tuple[int, ...]]) -> None:
    sharding, shape = case
    layout = ArrayLayout(path="x", dtype="float32", global_shape=shape, sharding=to_sharding(sharding, shape))
    truth = {
        device.id: tuple(slice(*s.indices(n)[:2]) for s, n in zip(index, shape, strict=True))
        for device, index in sharding.devices_indices_map(shape).items()
    }
    assert layout.shards == truth
    assert layout.local_shape == sharding.shard_shape(shape)


@settings(max_examples=100)
@given(named_shardings())
def test_shards_tile_the_array_and_bytes_add_up(case: tuple[NamedSharding, tuple[int, ...]]) -> None:
    sharding, shape = case
    layout = ArrayLayout(path="x", dtype="float32", global_shape=shape, sharding=to_sharding(sharding, shape))
    covered = np.zeros(shape, int)
    for slices in layout.shards.values():
        covered[slices] += 1
    assert (covered == layout.replication).all()
    assert layout.bytes_per_device is not None
    assert layout.global_bytes is not None
    assert layout.bytes_per_device * len(layout.shards) == layout.global_bytes * (layout.replication or 0)


def test_a_single_device_holds_everything_and_has_no_spec() -> None:
    sharding = to_sharding(SingleDeviceSharding(jax.devices()[3]), (4, 5))
    assert sharding.spec is None
    assert sharding.device_ids == (3,)
    assert sharding.tiles == (1, 1)


def test_the_most_used_mesh_comes_first_and_empty_meshes_do_not_count() -> None:
    devices = np.array(jax.devices())
    small, large = Mesh(devices[:4], ("a",)), Mesh(devices.reshape(2, 4), ("b", "c"))
    shardings = [NamedSharding(m, PartitionSpec()) for m in (small, large, large)]
    empty = Mesh(np.empty((), dtype=object), ())
    assert find_meshes(shardings, [empty, None]) == (to_mesh(large), to_mesh(small))


@settings(max_examples=200)
@given(named_shardings())
def test_tiles_that_follow_mesh_axes_get_their_names_back(case: tuple[NamedSharding, tuple[int, ...]]) -> None:
    sharding, shape = case
    named, mesh = to_sharding(sharding, shape), to_mesh(sharding.mesh)
    nameless = dataclasses.replace(named, spec=None)
    # Axes of size 1 split nothing and leave no trace.
    sizes = mesh.sizes
    expected = [
        tuple(axis for axis in ((entry,) if isinstance(entry, str) else entry or ()) if sizes[axis] > 1)
        for entry in named.spec or ()
    ]
    found = on_mesh(nameless, mesh).spec
    assert found is not None
    assert [((e,) if isinstance(e, str) else e or ()) for e in found] == expected


def test_tiles_that_follow_no_axes_stay_without_a_spec() -> None:
    mesh = to_mesh(Mesh(np.array(jax.devices()).reshape(2, 4), ("a", "b")))
    sharding = Sharding(spec=None, tiles=(2,), device_ids=tuple(range(8)), tile_of=(0, 1, 1, 0, 0, 1, 0, 1))
    assert on_mesh(sharding, mesh) is sharding


def test_a_result_on_one_device_of_eight_is_not_taken_for_a_replicated_one():
    # To JAX the two shardings are equal.
    devices = tuple(jax.devices()[:8])
    maximal = xc.OpSharding()
    maximal.type, maximal.tile_assignment_dimensions, maximal.tile_assignment_devices = (
        xc.OpSharding.Type.MAXIMAL, [1], [3],
    )  # fmt: skip
    alone, everywhere = GSPMDSharding(devices, maximal), GSPMDSharding.get_replicated(devices)
    for _ in range(2):
        assert to_sharding(alone, (8,)).device_ids == (3,)
        assert to_sharding(everywhere, (8,)).device_ids == tuple(range(8))
