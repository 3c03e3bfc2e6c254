"""Every collective of a program is found once, with the user's axes, its bytes, and how often it runs."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.collectives.collective_sites import find_sites
from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.report.collective import Collective


def kinds(name: str) -> Counter[str]:
    return Counter(row.kind for row in find_collectives(fixtures.module(name), fixtures.MESH))


def textual(name: str) -> Counter[tuple[str, str]]:
    """Opcode (without -start) and channel of every collective in the text, read without our parser."""
    opcodes = "all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute"
    found = re.findall(rf" ({opcodes})(?:-start)?\([^\n]*?channel_id=(\d+)", fixtures.text(name))
    return Counter(found)


# Those with rings (test_rings), transfers (test_collective_sites), copies or fused slices (below) have their own tests.
PLAIN = [n for n in fixtures.ALL if not re.match(r"collective_matmul|permute_|transformer_step.v5e|train_step.v5p", n)]


@pytest.mark.parametrize("name", PLAIN)
def test_every_collective_of_the_text_is_found_once(name: str):
    assert kinds(name) == Counter(kind for kind, _ in textual(name).elements())


def test_copies_inside_asynchronous_fusions_on_tpu_count_once():
    # 191 all-gathers stand in the text; each channel is one: 45 asynchronous, 3 plain.
    text = textual("transformer_step.v5e_2x4")
    assert sum(count for (kind, _), count in text.items() if kind == "all-gather") == 191
    assert len([1 for kind, _ in text if kind == "all-gather"]) == 48
    rows = find_collectives(fixtures.module("transformer_step.v5e_2x4"), fixtures.MESH)
    gathers = rows.of_kind("all-gather")
    assert len(gathers) == 48
    assert len({row.channel_id for row in gathers}) == 48
    spread = [row.instructions for row in gathers if len(row.instructions) == 2]
    assert len(spread) == 45
    assert all(re.match(r"async-collective-start", start) for start, _ in spread)
    assert all(re.match(r"async-collective-done", done) for _, done in spread)
    assert len({name for pair in spread for name in pair}) == 90


@pytest.mark.parametrize(("name", "count"), [("train_step.v5p", 4), ("transformer_step.v5e_2x4", 8)])
def test_an_all_reduce_fused_with_slicing_is_a_reduce_scatter(name: str, count: int):
    assert len(re.findall(r"^%all-reduce-scatter", fixtures.text(name), flags=re.M)) == count
    rows = find_collectives(fixtures.module(name), fixtures.MESH).of_kind("reduce-scatter")
    assert len(rows) == count
    # A reduce-scatter over n devices sends (n - 1) / n of its payload.
    assert all(row.wire_bytes == row.payload_bytes // 2 for row in rows)


def test_calls_on_the_sparsecore_are_one_collective_from_start_to_done():
    rows = find_collectives(fixtures.module("train_step.tpu7x"), fixtures.MESH)
    assert len(rows) == 30
    [row] = [row for row in rows if row.channel_id == 2]
    assert row.instructions == ("all-reduce.42.cloned.1.call-start", "all-reduce.42.cloned.1.call-done")
    assert (row.kind, row.axes, row.local_shape) == ("all-reduce", ("model",), (32, 256, 1024))
    assert row.payload_bytes == 32 * 256 * 1024 * 2


def test_start_and_done_on_gpu_are_one_collective():
    rows = find_collectives(fixtures.module("transformer_step.h100_1x1x8"), fixtures.MESH)
    wrapped = rows.of_kind("reduce-scatter")
    assert [row.instructions for row in wrapped] == [("reduce-scatter-start", "reduce-scatter-done")]
    assert all(len(row.instructions) == 2 for row in rows)


def test_a_small_step_on_cpu_by_hand():
    # From the text: a bf16[256,1024] product promoted to f32 and summed over 4 devices; the loss and two gradients
    # of f32[1024,1024] summed together over 2.
    first, second = find_collectives(fixtures.module("mlp_step.cpu_8"), fixtures.MESH)
    assert (first.kind, first.axes, first.operands) == ("all-reduce", ("data",), 3)
    assert first.groups == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert first.payload_bytes == first.wire_bytes == 4 + 2 * 1024 * 1024 * 4
    assert (first.local_shape, first.dtype) == ((1024, 1024), "f32")
    assert (second.kind, second.axes, second.phase) == ("all-reduce", ("model",), "forward")
    assert second.groups == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert (second.payload_bytes, second.wire_bytes) == (256 * 1024 * 4, 256 * 1024 * 4 * 2 * 3 // 4)
    assert (second.count, second.count_min, second.implicit) == (1, 1, True)
    assert [frame.where for frame in second.source[:2]] == ["models.py:12", "models.py:15"]


def test_groups_are_positions_in_the_mesh_and_follow_the_order_of_its_devices():
    # The program's logical id k is device 7 - k, which stands at position 7 - k of this mesh.
    backwards = tuple(range(7, -1, -1))
    first, _ = find_collectives(fixtures.module("mlp_step.cpu_8"), fixtures.MESH, backwards)
    assert first.axes == ("data",)
    assert first.groups == ((7, 3), (6, 2), (5, 1), (4, 0))


def test_axes_are_looked_for_in_other_meshes_when_the_first_has_none():
    line = Mesh(axis_names=("all",), shape=(8,), device_ids=tuple(range(8)))
    rows = find_collectives(fixtures.module("mlp_step.cpu_8"), line)
    # 0 and 4 are the halves of one axis of 8, 0 to 3 the first half of it.
    assert [row.axes for row in rows] == [("all:(1)2",), ("all:(2)4",)]
    rows = find_collectives(fixtures.module("mlp_step.cpu_8"), line, range(8), other_meshes=(fixtures.MESH,))
    assert [row.axes for row in rows] == [("data",), ("model",)]


def test_without_a_mesh_groups_are_logical_ids_and_follow_no_axes():
    first, _ = find_collectives(fixtures.module("mlp_step.cpu_8"))
    assert (first.axes, first.groups) == (None, ((0, 4), (1, 5), (2, 6), (3, 7)))
    assert first.wire_bytes == first.payload_bytes


def test_equal_groups_share_one_tuple():
    rows = find_collectives(fixtures.module(fixtures.LARGE), fixtures.MESH)
    assert len({id(row.groups) for row in rows}) == len({row.groups for row in rows}) < 10


def test_combined_collectives_without_a_name_get_those_of_what_they_sum():
    row = find_collectives(fixtures.module("mlp_step.h100_1x1x8"), fixtures.MESH)[0]
    assert row.op_name == "jit(step)/transpose(jvp(up))/transpose;jit(step)/transpose(jvp(down))/transpose"
    assert (row.phase, row.implicit) == ("backward", None)
    assert row.source[0].where == "models.py:10"


def test_nothing_is_found_in_a_program_without_collectives():
    source = "HloModule m\n\nENTRY %e (x: f32[2]) -> f32[2] {\n  ROOT %x = f32[2]{0} parameter(0)\n}\n"
    assert len(find_collectives(fixtures.from_text(source), fixtures.MESH)) == 0


def test_a_ragged_all_to_all_moves_its_first_operand_only():
    source = """HloModule m, num_partitions=8

ENTRY %e (x: f32[16], o: f32[16], a: s32[8], b: s32[8], c: s32[8], d: s32[8]) -> f32[16] {
  %x = f32[16]{0} parameter(0)
  %o = f32[16]{0} parameter(1)
  %a = s32[8]{0} parameter(2)
  %b = s32[8]{0} parameter(3)
  %c = s32[8]{0} parameter(4)
  %d = s32[8]{0} parameter(5)
  ROOT %r = f32[16]{0} ragged-all-to-all(%x, %o, %a, %b, %c, %d), channel_id=1, replica_groups={{0,1,2,3},{4,5,6,7}}
}
"""
    [row] = find_collectives(fixtures.from_text(source), fixtures.MESH)
    assert (row.kind, row.axes, row.payload_bytes, row.operands) == ("ragged-all-to-all", ("model",), 64, 1)


def test_sites_stand_where_they_are_scheduled():
    module = fixtures.module("train_step.tpu7x")
    for site in find_sites(module):
        assert all(part.computation.is_entry for part in site.instructions)


# What JAX makes here, on eight fake devices.


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


def mlp(jax, names, shape, specs, function):
    """Collectives of an MLP `function(x, w1, w2)` on an Explicit mesh, its arguments laid out by `specs`."""
    kinds = (jax.sharding.AxisType.Explicit,) * len(names)
    mesh = jax.make_mesh(shape, names, axis_types=kinds)
    shapes = ((16, 32), (32, 128), (128, 32))
    with jax.set_mesh(mesh):
        put = [
            jax.device_put(
                np.ones(size, np.float32), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))
            )
            for size, spec in zip(shapes, specs, strict=True)
        ]
        module = fixtures.compiled(function, *put)
    ours = fixtures.mesh_of(mesh)
    return find_collectives(module, ours, ours.device_ids)


def seen(row: Collective) -> tuple[object, ...]:
    return row.kind, row.axes, row.dtype, row.payload_bytes, row.wire_bytes, row.count, row.implicit


def test_fsdp_gathers_each_weight_once(jax):
    def fsdp(x, w1, w2):
        whole = jax.sharding.PartitionSpec(None, None)
        return jax.nn.relu(x @ jax.sharding.reshard(w1, whole)) @ jax.sharding.reshard(w2, whole)

    rows = mlp(jax, ("X",), (8,), (("X", None), ("X", None), ("X", None)), fsdp)
    # An eighth of 32 x 128 floats is 2048 bytes; it passes seven times.
    assert [seen(row) for row in rows] == [("all-gather", ("X",), "f32", 2048, 14336, 1, True)] * 2
    assert sorted(row.local_shape for row in rows) == [(4, 128), (16, 32)]
    assert all(row.source[0].file == __file__ for row in rows)


def test_tensor_parallel_sums_once(jax):
    def tensor(x, w1, w2):
        whole = jax.sharding.PartitionSpec(None, None)
        return jax.numpy.dot(jax.nn.relu(x @ w1), w2, out_sharding=whole)

    rows = mlp(jax, ("X",), (8,), ((None, None), (None, "X"), ("X", None)), tensor)
    # 16 x 32 floats, twice seven eighths of them.
    assert [seen(row) for row in rows] == [("all-reduce", ("X",), "f32", 2048, 3584, 1, True)]
    assert rows[0].source[0].function.endswith("tensor")


def test_a_mesh_of_two_axes_gathers_over_one_and_sums_over_the_other(jax):
    def both(x, w1, w2):
        spec = jax.sharding.PartitionSpec
        w1, w2 = (jax.sharding.reshard(w, s) for w, s in ((w1, spec(None, "model")), (w2, spec("model", None))))
        return jax.numpy.dot(jax.nn.relu(x @ w1), w2, out_sharding=spec("data", None))

    rows = mlp(jax, ("data", "model"), (2, 4), (("data", None), ("data", "model"), ("model", "data")), both)
    assert Counter((row.kind, row.axes) for row in rows) == {
        ("all-gather", ("data",)): 2,
        ("all-reduce", ("model",)): 1,
    }
    [total] = rows.over("model")
    assert (total.payload_bytes, total.wire_bytes) == (8 * 32 * 4, 8 * 32 * 4 * 2 * 3 // 4)
    assert total.groups == ((0, 1, 2, 3), (4, 5, 6, 7))


def test_a_permute_that_is_written_is_the_users_and_lies_along_its_axis(jax):
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    spec = jax.sharding.PartitionSpec("data", "model")
    ring = [(k, (k + 1) % 4) for k in range(4)]
    shifted = jax.shard_map(lambda v: jax.lax.ppermute(v, "model", ring), mesh=mesh, in_specs=spec, out_specs=spec)
    ours = fixtures.mesh_of(mesh)
    [row] = find_collectives(fixtures.compiled(shifted, np.ones((4, 8), np.float32)), ours, ours.device_ids)
    assert seen(row) == ("collective-permute", ("model",), "f32", 16, 16, 1, False)
    assert sorted(row.groups) == sorted(
        [(k, (k + 1) % 4) for k in range(4)] + [(4 + k, 4 + (k + 1) % 4) for k in range(4)]
    )


def test_what_a_shard_map_over_one_axis_needs_along_the_other_is_not_taken_for_written(jax):
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    spec, constrain = jax.sharding.PartitionSpec, jax.lax.with_sharding_constraint

    def summed(x, w):
        y = constrain(x @ w, spec(None, "model"))
        return constrain(jax.lax.psum(y, "data"), spec(None, None))

    function = jax.shard_map(
        summed, mesh=mesh, in_specs=(spec("data"), spec()), out_specs=spec(), axis_names={"data"}, check_vma=False
    )
    x, w = (
        jax.device_put(np.ones((size, 16), np.float32), jax.sharding.NamedSharding(mesh, spec(*names)))
        for size, names in ((8, ("data", "model")), (16, ("model", None)))
    )
    with jax.set_mesh(mesh):
        module = fixtures.compiled(function, x, w)
    ours = fixtures.mesh_of(mesh)
    rows = find_collectives(module, ours, ours.device_ids)
    assert {(row.kind, row.axes): row.implicit for row in rows if row.axes == ("data",)} == {
        ("all-reduce", ("data",)): False
    }
    # JAX 0.12 marks what the partitioner makes; before, XLA names it after the sum that was written.
    others = [row.implicit for row in rows if row.axes != ("data",)]
    assert others
    assert False not in others


def test_a_sum_over_one_device_was_written_though_it_sends_nothing(jax):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("data",))
    spec = jax.sharding.PartitionSpec
    function = jax.shard_map(lambda v: jax.lax.psum(v, "data"), mesh=mesh, in_specs=spec("data"), out_specs=spec())
    ours = fixtures.mesh_of(mesh)
    rows = find_collectives(fixtures.compiled(function, np.ones((4, 8), np.float32)), ours, ours.device_ids)
    assert [(row.kind, row.axes, row.wire_bytes, row.implicit) for row in rows] == [("all-reduce", (), 0, False)]
