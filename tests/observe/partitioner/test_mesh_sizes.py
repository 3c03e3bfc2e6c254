"""Meshes that a machine can have: the nearest first, and none that JAX would not lay over it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError
from pjit_inspect.observe.partitioner import targets
from pjit_inspect.observe.partitioner.mesh_sizes import is_laid, nearest_meshes
from pjit_inspect.observe.partitioner.targets import device_count, find_target, question

needs_tpu = pytest.mark.skipif(bool(targets.why_missing("tpu")), reason="libtpu is not installed")


def nearest(sizes: tuple[int, ...], name: str, most: int = 3) -> list[tuple[int, ...]]:
    target = find_target(name)
    return nearest_meshes(sizes, target, device_count(target), most)


def test_an_axis_keeps_its_size_where_another_can_make_up_for_it() -> None:
    assert nearest((2, 4), "cpu:16", 1) == [(4, 4)]
    assert nearest((3, 8), "cpu:64", 1) == [(8, 8)]


def test_sizes_are_as_near_as_can_be_and_no_axis_is_dropped_for_it() -> None:
    assert nearest((3, 5), "cpu:16") == [(4, 4), (2, 8), (8, 2)]


def test_a_prime_number_of_devices_has_one_axis_at_most() -> None:
    assert sorted(nearest((2, 2), "cpu:7")) == [(1, 7), (7, 1)]


@pytest.mark.parametrize("name", ["cpu:48", "cuda:h100:2x8", "tpu:v5e:4x4", "tpu:v6e:4x8", "tpu:v5p:4x4x4"])
def test_every_mesh_has_all_devices_and_is_one_that_fits(name: str) -> None:
    for own in nearest((3, 2, 5), name, 10):
        assert math.prod(own) == device_count(find_target(name))
        assert is_laid(own, find_target(name))


@pytest.mark.parametrize(
    ("name", "sizes", "fits"),
    [
        # Three rows of four chips: 4 and 4 x 4.
        ("tpu:v5p:4x4x4", (4, 16), True),
        ("tpu:v5p:4x4x4", (8, 8), False),
        # The last axis takes both rows of two, and the first has no row of two left.
        ("tpu:v5p:2x2x4", (2, 2, 4), False),
        ("tpu:v5p:2x2x4", (4, 2, 2), True),
        # Two devices of each chip are one more row.
        ("tpu:tpu7x:4x4x4", (2, 64), True),
        ("tpu:v6e:4x4", (2, 8), False),
        # Of these JAX gives an axis a part of a row, too.
        ("tpu:v5e:4x4", (2, 8), True),
        ("cuda:h100:3x8", (2, 12), True),
    ],
)
def test_axes_go_by_complete_rows_of_chips(name: str, sizes: tuple[int, ...], fits: bool) -> None:
    assert is_laid(sizes, find_target(name)) == fits


LAY = """
import json, sys, jax
from jax.experimental import topologies
topology, options, every = json.loads(sys.argv[1])
devices = list(topologies.get_topology_desc(topology, "tpu", **options).devices)
for sizes in every:
    try:
        jax.make_mesh(sizes, ("a", "b", "c"), devices=devices)
        print(json.dumps(sizes))
    except NotImplementedError:
        continue
"""


@needs_tpu
@pytest.mark.parametrize("name", ["tpu:v5e:4x4", "tpu:v6e:2x4", "tpu:v6e:4x4", "tpu:v4:2x2x4", "tpu:v5p:2x4x4"])
def test_jax_lays_just_these_meshes(name: str) -> None:
    target = find_target(name)
    asked, count = question(target, (1,)), device_count(target)
    every = [(a, b, count // a // b) for a in (1, 2, 4, 8) for b in (1, 2, 4) if count % (a * b) == 0]
    told = json.dumps([asked["topology"], asked["options"], every])
    environment = {**os.environ, **asked["environment"]}
    done = subprocess.run(
        [sys.executable, "-c", LAY, told], env=environment, capture_output=True, text=True, check=True
    )
    laid = [tuple(json.loads(line)) for line in done.stdout.splitlines() if line.startswith("[")]
    assert laid == [sizes for sizes in every if is_laid(sizes, target)]


def inspect(target: str, **axes: int) -> pi.CompileRecord:
    mesh = AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=(AxisType.Auto,) * len(axes))
    x = jax.ShapeDtypeStruct((3 * 5 * 64, 8), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec(tuple(axes))))
    return pi.inspect(jax.jit(lambda x: x.sum()), x, target=target)


@needs_tpu
def test_a_mesh_that_jax_lays_over_no_such_slice_is_refused_with_those_that_fit() -> None:
    with pytest.raises(ChangeError) as caught:
        inspect("tpu:v5p:4x4x4", data=8, model=8)
    said = str(caught.value)
    assert said.startswith("target 'tpu:v5p:4x4x4': JAX lays no mesh 8 x 8 over these devices: ")
    assert said.endswith("; these fit: mesh={'data': 4, 'model': 16}, mesh={'data': 16, 'model': 4}, "
                         "mesh={'data': 1, 'model': 64}")  # fmt: skip


@needs_tpu
def test_a_slice_that_hosts_do_not_divide_is_refused_with_those_there_are() -> None:
    with pytest.raises(ChangeError, match=r"v5p:1x1x4.*no such devices.*; there are 1x1x1, 2x2x1, 2x2x2, 2x2x4"):
        inspect("tpu:v5p:1x1x4", data=4)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            "tpu:v5p:4x4x4",
            r"has 15 devices, and tpu:v5p:4x4x4 has 64; give a mesh of 64, as in mesh=\{'data': 4, 'model",
        ),
        ("tpu:v5e:3x5", r"there are no v5e slices of 3x5 chips; there are 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16"),
        ("cuda:h100:1x8", r"give a mesh of 8, as in mesh=\{'data': 2, 'model': 4\}"),
    ],
)
def test_a_mesh_of_another_number_of_devices_is_refused_with_one_that_fits(target: str, said: str) -> None:
    with pytest.raises(ChangeError, match=said):
        inspect(target, data=3, model=5)
