"""What the ids in a group stand for depends on the instruction; the answer is always devices."""

from __future__ import annotations

import pytest
from data import hlo_fixtures as fixtures
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.program.device_groups import logical_groups, logical_pairs
from pjit_inspect.model.program.hlo import Details
from pjit_inspect.model.program.mesh import Mesh

TWO = ((0, 1), (2, 3))


@pytest.mark.parametrize(
    ("kind", "groups", "flattened", "channel", "counts", "expected"),
    [
        # Flattened ids: as they stand.
        ("all-reduce", TWO, True, 1, (1, 4), TWO),
        # Without a channel, ids are replicas: of a program with replicas only, as they stand.
        ("all-reduce", TWO, None, None, (4, 1), TWO),
        ("all-reduce", (), None, None, (4, 1), ((0, 1, 2, 3),)),
        # ... of one with both, once in each partition.
        ("all-reduce", ((0, 1),), None, None, (2, 2), ((0, 2), (1, 3))),
        # With a channel but not flattened, ids are replicas and every group spans all partitions.
        ("all-reduce", ((0,),), None, 1, (1, 4), ((0, 1, 2, 3),)),
        ("all-gather", ((0,), (1,)), None, 1, (2, 2), ((0, 1), (2, 3))),
        ("reduce-scatter", ((0, 1),), None, 1, (2, 2), ((0, 1, 2, 3),)),
        ("all-reduce", (), None, 1, (1, 4), ((0, 1, 2, 3),)),
        # The other kinds count partitions as soon as they have a channel.
        ("all-to-all", TWO, None, 1, (1, 4), TWO),
        ("collective-broadcast", TWO, None, 1, (1, 4), TWO),
        ("all-to-all", ((0, 1),), None, 1, (2, 2), ((0, 1), (2, 3))),
        ("all-to-all", (), None, None, (2, 2), ((0, 2), (1, 3))),
        # What XLA refuses, and what contradicts itself.
        ("all-reduce", TWO, True, None, (1, 4), None),
        ("all-to-all", TWO, None, 1, (1, 2), None),
        ("all-reduce", ((0, 1),), None, None, (1 << 20, 1 << 20), None),
        ("all-reduce", ((0, 1, 2),), None, None, None, None),
        # Nothing says how many replicas there are: groups name them all.
        ("all-reduce", ((0,),), None, 1, None, ((0, 1, 2, 3),)),
    ],
)
def test_ids_become_logical_devices(kind, groups, flattened, channel, counts, expected):
    details = Details(replica_groups=groups, use_global_device_ids=flattened)
    assert logical_groups(kind, details, channel, counts, 4) == expected


@st.composite
def modes(draw: st.DrawFn) -> tuple[int, int, str, bool | None, int | None, list[list[int]]]:
    """(replicas, partitions, kind, use_global_device_ids, channel, groups) that XLA takes."""
    replicas, partitions = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from(("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-broadcast")))
    channel = draw(st.sampled_from((None, 1)))
    flattened = draw(st.booleans()) if channel and kind[-1] not in "lt" else None
    named = replicas * partitions if flattened else replicas
    if channel and kind[-1] in "lt":
        named = partitions
    ids = draw(st.permutations(range(named)))
    size = draw(st.sampled_from([n for n in range(1, named + 1) if named % n == 0]))
    return replicas, partitions, kind, flattened, channel, [ids[k : k + size] for k in range(0, named, size)]


def participants(device, replicas, partitions, kind, flattened, channel, groups) -> frozenset[int]:
    """With whom one device communicates, asked of each other device by itself, by XLA's definition of the modes."""
    same = {i: number for number, group in enumerate(groups) for i in group}

    def together(other: int) -> bool:
        (r, p), (r2, p2) = divmod(device, partitions), divmod(other, partitions)
        if channel is None:
            return p == p2 and same[r] == same[r2]
        if kind in ("all-to-all", "collective-broadcast"):
            return r == r2 and same[p] == same[p2]
        return same[device] == same[other] if flattened else same[r] == same[r2]

    return frozenset(other for other in range(replicas * partitions) if together(other))


@given(modes())
def test_every_mode_groups_devices_as_asking_each_of_them_does(case):
    replicas, partitions, kind, flattened, channel, groups = case
    details = Details(replica_groups=tuple(map(tuple, groups)), use_global_device_ids=flattened)
    devices = replicas * partitions
    expected = {participants(device, *case) for device in range(devices)}
    for counts in ((replicas, partitions), None):
        found = logical_groups(kind, details, channel, counts, devices)
        assert found is not None
        assert sorted(i for group in found for i in group) == list(range(devices))
        assert set(map(frozenset, found)) == expected


@pytest.mark.parametrize(
    ("channel", "counts", "expected"),
    [
        (1, (1, 4), ((0, 1), (1, 0))),
        (1, (2, 2), ((0, 1), (2, 3), (1, 0), (3, 2))),  # partitions, in each replica
        (None, (2, 2), ((0, 2), (1, 3), (2, 0), (3, 1))),  # replicas, in each partition
        (None, None, ((0, 1), (1, 0))),
        (1, (4, 1), None),  # there is no partition 1
    ],
)
def test_pairs_become_logical_devices(channel, counts, expected):
    assert logical_pairs(((0, 1), (1, 0)), channel, counts) == expected


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
    from pjit_inspect.parse.hlo_proto.hlo import parse_program

    module = parse_program(proto.as_serialized_hlo_module_proto())
    mesh = Mesh(axis_names=("i",), shape=(8,), device_ids=tuple(range(8)))
    [row] = find_collectives(module, mesh, mesh.device_ids)
    assert (row.axes, row.payload_bytes, row.wire_bytes, row.implicit) == (("i",), 16, 28, False)


def test_a_collective_whose_groups_are_not_understood_is_on_no_known_axes():
    details = Details(replica_groups=None, unknown=((87, b"\x1a\x02\x08\x01"),))
    assert logical_groups("all-reduce", details, 1, (1, 4), 4) is None
