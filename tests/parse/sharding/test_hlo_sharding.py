"""Shardings as XLA writes them become specs in the axes of the user's mesh.

Expectations are worked out by hand, or by JAX's own map from a spec to the tiles of devices.
"""

from __future__ import annotations

import itertools
import math

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.sharding import NamedSharding, PartitionSpec

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.mesh import Dimensions, Mesh
from pjit_inspect.parse.hlo_text.groups import read_sharding
from pjit_inspect.parse.sharding.hlo_sharding import FoundSpec, find_spec, read_tilings

MESH = Mesh(axis_names=("data", "model"), shape=(2, 4), device_ids=tuple(range(8)))
CUBE = Mesh(axis_names=("a", "b", "c"), shape=(2, 2, 2), device_ids=tuple(range(8)))


def found(text: str, rank: int, mesh: Mesh = MESH, device_ids: tuple[int, ...] | None = None) -> FoundSpec | None:
    (tiling,) = read_tilings(read_sharding(text), mesh.size)
    return find_spec(tiling, rank, mesh, device_ids)


def spec(text: str, rank: int, mesh: Mesh = MESH, device_ids: tuple[int, ...] | None = None) -> Dimensions | None:
    result = found(text, rank, mesh, device_ids)
    return None if result is None else result.dimensions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{replicated}", ((), ())),
        ("{devices=[2,4]<=[8]}", (("data",), ("model",))),
        ("{devices=[4,2]<=[2,4]T(1,0)}", (("model",), ("data",))),
        ("{devices=[8,1]<=[8]}", (("data", "model"), ())),
        ("{devices=[8,1]<=[2,4]T(1,0)}", (("model", "data"), ())),
        ("{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}", ((), ("model",))),
        ("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", (("data",), ())),
        ("{devices=[2,4]0,1,2,3,4,5,6,7}", (("data",), ("model",))),
        ("{devices=[1,2,4]0,1,2,3,4,5,6,7 last_tile_dim_replicate}", ((), ("data",))),
        ("{devices=[1,1,8]<=[8] last_tile_dims={replicated}}", ((), ())),
        ("{unknown}", ((), ())),
    ],
)
def test_tiles_become_axes(text: str, expected: Dimensions) -> None:
    assert spec(text, 2) == expected


def test_a_part_of_an_axis_is_named_with_what_comes_before_it() -> None:
    # model = 4 as 2 x 2: its outer half splits dimension 0, its inner half dimension 1.
    assert spec("{devices=[2,2,2]<=[2,2,2]T(1,2,0) last_tile_dim_replicate}", 2) == (("model:(1)2",), ("model:(2)2",))
    assert spec("{devices=[2,4]<=[2,2,2]T(1,0,2)}", 2) == (("model:(1)2",), ("data", "model:(2)2"))


def test_parts_of_an_axis_of_six_are_tried_in_both_orders() -> None:
    six = Mesh(axis_names=("x",), shape=(6,), device_ids=tuple(range(6)))
    assert spec("{devices=[2,3]<=[6]}", 2, six) == (("x:(1)2",), ("x:(2)3",))
    assert spec("{devices=[3,2]<=[6]}", 2, six) == (("x:(1)3",), ("x:(3)2",))


def test_a_reversed_order_of_devices_follows_no_axis() -> None:
    assert spec("{devices=[2,1,4]4,5,6,7,0,1,2,3 last_tile_dim_replicate}", 2) is None


def test_partitions_are_looked_up_in_a_permuted_mesh() -> None:
    # Partition p runs on device p; the mesh has them in this order.
    permuted = Mesh(axis_names=("data", "model"), shape=(2, 4), device_ids=(3, 1, 7, 5, 0, 2, 6, 4))
    text = "{devices=[2,4]3,1,7,5,0,2,6,4}"
    assert spec(text, 2, permuted, tuple(range(8))) == (("data",), ("model",))
    assert spec(text, 2, permuted) is None


def test_a_mesh_without_one_of_the_devices_gives_no_spec() -> None:
    assert spec("{devices=[2,4]<=[8]}", 2, MESH, (0, 1, 2, 3, 4, 5, 6, 9)) is None


@pytest.mark.parametrize("text", ["{maximal device=3}", "{single_device[device_id=3]}", "{maximal_mesh[device_id=3]}"])
def test_an_array_on_one_device_alone_has_no_spec(text: str) -> None:
    assert spec(text, 2) is None


def test_manual_axes_are_told_from_replicated_ones() -> None:
    assert found("{manual}", 1) == FoundSpec(dimensions=((),), manual=("data", "model"))
    partial = "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dims={manual}}"
    assert found(partial, 2) == FoundSpec(dimensions=((), ("model",)), manual=("data",))
    assert found("{mesh['a'=2,'b'=4], manual}", 1) == FoundSpec(dimensions=((),), manual=("data", "model"))
    named = "{mesh['a'=2,'b'=4], [{}, {'b'}], manual={'a'}}"
    assert found(named, 2) == FoundSpec(dimensions=((), ("model",)), manual=("data",))
    both = "{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}"
    assert found(both, 2) == FoundSpec(dimensions=((), ()), manual=("data",))


def test_a_tuple_has_a_tiling_for_each_leaf_also_where_xla_numbers_them() -> None:
    text = "{{replicated}, {manual}, {replicated}, {replicated}, {replicated}, /*index=5*/{devices=[2,4]<=[8]}}"
    tilings = read_tilings(read_sharding(text), 8)
    assert len(tilings) == 6
    assert find_spec(tilings[5], 2, MESH) == FoundSpec(dimensions=(("data",), ("model",)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{mesh['data'=2,'model'=4], [{'data'}, {'model'}]}", (("data",), ("model",))),
        ("{mesh[], replicated}", ((), ())),
        ("{mesh['data'=2,'model'=4], replicated}", ((), ())),
        ("{mesh['data'=2,'model'=4], [{}, {'data', 'model'}]}", ((), ("data", "model"))),
        ("{mesh['data'=2,'model'=4], [{'model':(1)2}, {?}]}", (("model:(1)2",), ())),
        ("{mesh['data'=2,'model'=4], [{'model', ?}, {}], replicated={'data'}}", (("model",), ())),
        # XLA's own names are no evidence: these are the user's axes under others, and in another order.
        ("{mesh['axis_0'=4,'axis_1'=2], device_ids=([2,4]T(1,0)), [{'axis_0'}, {'axis_1'}]}", (("model",), ("data",))),
        ("{mesh['model'=2,'data'=4], [{'model'}, {'data'}]}", (("data",), ("model",))),
    ],
)
def test_named_shardings_are_read_by_where_devices_stand(text: str, expected: Dimensions) -> None:
    assert spec(text, 2) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{devices=[2,3]<=[6]}",
        "{devices=[2,4]0,1,2,3,4,5,6,6}",
        "{devices=[2,4]0,1,2,3}",
        "{devices=[2,0]<=[8]}",
        "{devices=[8]<=[2,3]T(1,0)}",
        "{devices=[8]<=[2,4]T(1,1)}",
        "{mesh['a'=3], [{'a'}]}",
        "{mesh['a'=8], device_ids=(0,1,2), [{'a'}]}",
        "{mesh['a'=8], [{'a':(3)2}]}",
    ],
)
def test_a_sharding_that_contradicts_itself_is_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        read_tilings(read_sharding(text), 8)


def test_a_large_mesh_is_matched_without_trying_every_order() -> None:
    mesh = Mesh(axis_names=("pod", "x", "y"), shape=(4, 32, 32), device_ids=tuple(range(4096)))
    text = "{devices=[32,32,4]<=[4,32,32]T(2,1,0) last_tile_dim_replicate}"
    assert spec(text, 2, mesh) == (("y",), ("x",))
    # x = 32 as 8 x 4: the outer part splits dimension 0, the inner one dimension 1.
    parts = "{devices=[8,4,128]<=[4,8,4,32]T(1,2,0,3) last_tile_dim_replicate}"
    assert spec(parts, 2, mesh) == (("x:(1)8",), ("x:(8)4",))


@st.composite
def _specs(draw: st.DrawFn) -> tuple[tuple[int, ...], list[tuple[str, ...]]]:
    """A mesh shape of eight devices, and a spec of three dimensions over its axes."""
    shape = draw(st.sampled_from([(8,), (2, 4), (4, 2), (2, 2, 2), (1, 8), (2, 1, 4)]))
    axes = draw(st.permutations([f"a{k}" for k, size in enumerate(shape) if size > 1]))
    cuts = sorted(draw(st.lists(st.integers(0, len(axes)), min_size=3, max_size=3)))
    return shape, [tuple(axes[a:b]) for a, b in itertools.pairwise([0, *cuts])]


@settings(max_examples=200)
@given(_specs(), st.permutations(range(8)))
def test_a_spec_is_found_again_from_the_sharding_jax_makes_of_it(
    drawn: tuple[tuple[int, ...], list[tuple[str, ...]]], order: list[int]
) -> None:
    shape, axes = drawn
    names = tuple(f"a{k}" for k in range(len(shape)))
    devices = np.array(jax.devices())[order]
    jax_mesh = jax.sharding.Mesh(devices.reshape(shape), names)
    written = NamedSharding(jax_mesh, PartitionSpec(*axes))._to_xla_hlo_sharding(3)
    mesh = Mesh(axis_names=names, shape=shape, device_ids=tuple(device.id for device in devices))
    # JAX numbers partitions in the order of the mesh.
    assert spec(str(written), 3, mesh, mesh.device_ids) == tuple(axes)


@settings(max_examples=100)
@given(_specs())
def test_tiles_cut_dimensions_into_as_many_pieces_as_the_axes(
    drawn: tuple[tuple[int, ...], list[tuple[str, ...]]],
) -> None:
    shape, axes = drawn
    names = tuple(f"a{k}" for k in range(len(shape)))
    jax_mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(shape), names)
    sharding = NamedSharding(jax_mesh, PartitionSpec(*axes))
    (tiling,) = read_tilings(read_sharding(str(sharding._to_xla_hlo_sharding(3))), 8)
    local = sharding.shard_shape((8, 8, 8))
    counts = tiling.counts or (1, 1, 1)
    assert tuple(8 // count for count in counts) == local
    assert math.prod(counts) == math.prod(dict(zip(names, shape, strict=True))[axis] for d in axes for axis in d)
