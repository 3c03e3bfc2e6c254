"""What the ids in a group stand for depends on the instruction; the answer is always devices."""

from __future__ import annotations

import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.collectives import find_collectives
from pjit_inspect.analyze.device_groups import logical_groups
from pjit_inspect.model.hlo import Details
from pjit_inspect.model.mesh import Mesh

TWO = ((0, 1), (2, 3))


@pytest.mark.parametrize(
    ("kind", "groups", "flattened", "channel", "counts", "expected"),
    [
        # Flattened ids: as they stand.
        ("all-reduce", TWO, True, 1, (1, 4), TWO),
        # Without a channel, ids are replicas: of a program with replicas only, as they stand.
        ("all-reduce", TWO, None, None, (4, 1), TWO),
        ("all-reduce", (), None, None, (4, 1), ()),
        # With a channel but not flattened, ids are replicas and every group spans all partitions.
        ("all-reduce", ((0,),), None, 1, (1, 4), ((0, 1, 2, 3),)),
        ("all-gather", ((0,), (1,)), None, 1, (2, 2), ((0, 1), (2, 3))),
        ("reduce-scatter", ((0, 1),), None, 1, (2, 2), ((0, 1, 2, 3),)),
        ("all-reduce", (), None, 1, (1, 4), ((0, 1, 2, 3),)),
        # The other kinds count partitions as soon as they have a channel.
        ("all-to-all", TWO, None, 1, (1, 4), TWO),
        ("collective-broadcast", TWO, None, 1, (1, 4), TWO),
        # Nothing says how many replicas there are: groups name them all.
        ("all-reduce", ((0,),), None, 1, None, ((0, 1, 2, 3),)),
    ],
)
def test_ids_become_logical_devices(kind, groups, flattened, channel, counts, expected):
    details = Details(replica_groups=groups, use_global_device_ids=flattened)
    assert logical_groups(kind, details, channel, counts, 4) == expected


def test_groups_stay_unknown_when_nobody_says_how_many_devices_there_are():
    assert logical_groups("all-reduce", Details(replica_groups=((0,),)), 1, None, None) is None


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("replica_groups={}", ("all",)),
        ("replica_groups={{0,1,2,3}}", ("all",)),
        ("channel_id=1, replica_groups={{0}}", ("all",)),
        ("channel_id=1, replica_groups={{0},{1},{2},{3}}, use_global_device_ids=true", ()),
    ],
)
def test_a_sum_over_everybody_is_over_the_whole_mesh_however_it_is_written(attributes: str, expected: tuple[str, ...]):
    source = f"""HloModule m

%add (x: f32[], y: f32[]) -> f32[] {{
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %s = f32[] add(%x, %y)
}}

ENTRY %e (p: f32[4]) -> f32[4] {{
  %p = f32[4]{{0}} parameter(0)
  ROOT %r = f32[4]{{0}} all-reduce(%p), {attributes}, to_apply=%add
}}
"""
    mesh = Mesh(axis_names=("all",), shape=(4,), device_ids=(0, 1, 2, 3))
    [row] = find_collectives(fixtures.from_text(source), mesh, mesh.device_ids)
    assert row.axes == expected
    assert row.wire_bytes == (24 if expected else 0)


def test_the_old_pmap_style_of_replicas_sums_over_all_devices():
    jax = pytest.importorskip("jax")
    summed = jax.pmap(lambda v: jax.lax.psum(v, "i"), axis_name="i")
    proto = summed.lower(jax.numpy.ones((8, 4))).compile().runtime_executable().hlo_modules()[0]
    from pjit_inspect.parse.hlo import parse_hlo_module

    module = parse_hlo_module(proto.as_serialized_hlo_module_proto())
    mesh = Mesh(axis_names=("i",), shape=(8,), device_ids=tuple(range(8)))
    [row] = find_collectives(module, mesh, mesh.device_ids)
    assert (row.axes, row.payload_bytes, row.wire_bytes, row.implicit) == (("i",), 16, 28, False)


def test_a_collective_whose_groups_are_not_understood_is_on_no_known_axes():
    details = Details(replica_groups=None, unknown=((87, b"\x1a\x02\x08\x01"),))
    assert logical_groups("all-reduce", details, 1, (1, 4), 4) is None
