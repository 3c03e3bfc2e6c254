"""A ring of permutes is called an all-gather or a reduce-scatter exactly when what flows around it is one."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from hypothesis import given, settings
from hypothesis import strategies as st

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.report.collective import Collective


def test_collective_matmuls_of_tpu_are_one_collective_each():
    text = fixtures.text("collective_matmul.v5e_2x4")
    # XLA's own names agree: one loop for each; 4 permutes within, 1 before or after.
    assert len(re.findall(r" while\(", text)) == 2
    assert len(re.findall(r"^%decomposed_(all_gather|reduce_scatter)_body", text, flags=re.M)) == 2
    assert len(re.findall(r" collective-permute-start\(", text)) == 10
    gather, scatter = find_collectives(fixtures.module("collective_matmul.v5e_2x4"), fixtures.MESH)
    assert (gather.kind, gather.decomposed, gather.axes) == ("collective-permute", "all-gather", ("model",))
    assert (scatter.kind, scatter.decomposed, scatter.axes) == ("collective-permute", "reduce-scatter", ("model",))
    for row in (gather, scatter):
        # x is bf16[16,4096,8192] over 2 x 4 devices; each loop turns once.
        assert (row.payload_bytes, row.count, row.count_min) == (8 * 1024 * 8192 * 2, 5, 5)
        assert row.sent_bytes == 5 * row.payload_bytes
        assert len(row.instructions) == 10
        assert (row.is_async, row.implicit) == (True, True)
        # Both ways around both rings.
        ring = {(k, k // 4 * 4 + (k + 1) % 4) for k in range(8)}
        assert set(row.groups) == ring | {(b, a) for a, b in ring}
        # The same when the program says that it has one replica of eight partitions.
        counted = dataclasses.replace(fixtures.module("collective_matmul.v5e_2x4"), device_counts=(1, 8))
        assert row in find_collectives(counted, fixtures.MESH)
    assert re.search(r"/up/", gather.op_name)
    assert re.search(r"/down/", scatter.op_name)


def test_halves_of_an_array_that_go_around_in_one_loop_are_one_all_gather():
    # Two devices along `model`: each half of x makes two steps.
    mesh = Mesh(axis_names=("data", "model"), shape=(2, 2), device_ids=(0, 1, 2, 3))
    rows = find_collectives(fixtures.module("collective_matmul.v5p_2x2x1"), mesh)
    found = [(row.decomposed, row.axes, row.local_shape, row.count) for row in rows]
    assert found == [
        ("all-gather", ("model",), (8, 1024, 8192), 4),
        ("reduce-scatter", ("model",), (8, 2048, 8192), 2),
    ]


LOOP = """HloModule ring, num_partitions={devices}

%body (s: (s32[], f32[8], f32[8], f32[8])) -> (s32[], f32[8], f32[8], f32[8]) {{
  %s = (s32[], f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = f32[8]{{0}} get-tuple-element(%s), index=1
  %y = f32[8]{{0}} get-tuple-element(%s), index=2
  %z = f32[8]{{0}} get-tuple-element(%s), index=3
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %zero = s32[] constant(0)
  %nought = f32[] constant(0)
  %noughts = f32[8]{{0}} broadcast(%nought), dimensions={{}}
  %is-first = pred[] compare(%i, %zero), direction={first}
  %is-first-each = pred[8]{{0}} broadcast(%is-first), dimensions={{}}
{lines}
  ROOT %t = (s32[], f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) tuple(%next, {results})
}}

%condition (c: (s32[], f32[8], f32[8], f32[8])) -> pred[] {{
  %c = (s32[], f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) parameter(0)
  %k = s32[] get-tuple-element(%c), index=0
  %n = s32[] constant({turns})
  ROOT %go = pred[] compare(%k, %n), direction=LT
}}

ENTRY %main (a: f32[8], b: f32[8]) -> f32[8] {{
  %a = f32[8]{{0}} parameter(0)
  %b = f32[8]{{0}} parameter(1)
  %start-at = s32[] constant(0)
  %nothing = f32[] constant(0)
  %zeros = f32[8]{{0}} broadcast(%nothing), dimensions={{}}
{before}
  %start = (s32[], f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) tuple(%start-at, {initial})
  %w = (s32[], f32[8]{{0}}, f32[8]{{0}}, f32[8]{{0}}) while(%start), condition=%condition, body=%body
  %x-end = f32[8]{{0}} get-tuple-element(%w), index=1
  %y-end = f32[8]{{0}} get-tuple-element(%w), index=2
  %z-end = f32[8]{{0}} get-tuple-element(%w), index=3
{after}
  ROOT %out = f32[8]{{0}} add(%left, %right)
}}
"""


def ring(devices: int = 4, step: int = 1, *, groups: int = 1) -> str:
    """Pairs of rings of `devices` each."""
    pairs = [(g * devices + k, g * devices + (k + step) % devices) for g in range(groups) for k in range(devices)]
    return "{" + ",".join(f"{{{a},{b}}}" for a, b in pairs) + "}"


def permute(name: str, value: str, pairs: str) -> str:
    return f"  %{name} = f32[8]{{0}} collective-permute(%{value}), channel_id=1, source_target_pairs={pairs}"


def rows(
    lines: list[str],
    results: str,
    *,
    initial: str = "%a, %b, %zeros",
    turns: int = 4,
    before: list[str] | tuple[()] = (),
    after: str = "",
    left: str = "z-end",
    right: str = "y-end",
    first: str = "EQ",
) -> list[Collective]:
    source = LOOP.format(
        devices=8,
        lines="\n".join(lines),
        results=results,
        turns=turns,
        before="\n".join(before),
        initial=initial,
        after=after,
        first=first,
    )
    source = source.replace("%left", f"%{left}").replace("%right", f"%{right}")
    return list(find_collectives(fixtures.from_text(source)))


def found(*args, **kwargs) -> list[tuple[str | None, int | None]]:
    return [(row.decomposed, row.count) for row in rows(*args, **kwargs)]


USE = "  %used = f32[8]{0} multiply(%x, %y)\n  %sum = f32[8]{0} add(%z, %used)"
PASSED_ON = [permute("sent", "x", ring()), USE]


def test_a_piece_that_comes_past_everybody_and_is_used_is_an_all_gather():
    assert found(PASSED_ON, "%sent, %y, %sum") == [("all-gather", 4)]
    assert found(PASSED_ON, "%sent, %y, %sum", turns=3) == [("all-gather", 3)]


@pytest.mark.parametrize(
    ("lines", "results", "turns"),
    [
        (PASSED_ON, "%sent, %y, %sum", 2),  # two of three hops
        ([permute("sent", "x", ring()), "  %sum = f32[8]{0} add(%z, %y)"], "%sent, %y, %sum", 4),  # nobody uses it
        ([USE, permute("sent", "used", ring())], "%sent, %y, %sum", 4),  # it is changed on the way
        ([permute("sent", "y", ring()), USE], "%sent, %y, %sum", 4),  # another value is sent
        ([permute("sent", "x", "{{0,1},{1,2},{2,3}}"), USE], "%sent, %y, %sum", 4),  # no way back
        ([permute("sent", "x", "{{0,1},{1,0},{2,3},{3,4},{4,2}}"), USE], "%sent, %y, %sum", 4),  # rings of 2 and 3
        ([permute("sent", "x", "{{0,0},{1,1}}"), USE], "%sent, %y, %sum", 4),  # nothing moves
        ([permute("half", "x", ring()), permute("sent", "half", ring(step=3)), USE], "%sent, %y, %sum", 4),  # and back
    ],
)
def test_anything_less_is_only_permutes(lines: list[str], results: str, turns: int):
    assert {decomposed for decomposed, _ in found(lines, results, turns=turns)} == {None}


def test_a_loop_that_ends_by_its_data_is_no_ring():
    source = LOOP.replace("constant({turns})", "get-tuple-element(%c), index=0")
    lines = "\n".join(PASSED_ON)
    source = source.format(
        devices=8, lines=lines, results="%sent, %y, %sum", before="", initial="%a, %b, %zeros", after="", first="EQ"
    )
    source = source.replace("%left", "%z-end").replace("%right", "%y-end")
    [row] = find_collectives(fixtures.from_text(source))
    assert (row.decomposed, row.count) == (None, None)


def test_both_ways_around_with_one_piece_ahead_is_one_all_gather():
    both = [
        permute("on", "x", ring()),
        permute("back", "y", ring(step=3)),
        "  %used = f32[8]{0} multiply(%x, %y)\n  %sum = f32[8]{0} add(%z, %used)",
    ]
    ahead = [permute("ahead", "a", ring(step=3))]
    # Pieces 0, 1 and 3, 2: all four, after one turn.
    kwargs = {"initial": "%a, %ahead, %zeros", "before": ahead}
    assert found(both, "%on, %back, %sum", turns=1, **kwargs) == [("all-gather", 3)]
    # Without the one ahead, after one turn: 0, 1 and 0, 3.
    assert found(both, "%on, %back, %sum", turns=1, initial="%a, %a, %zeros") == [(None, 1)] * 2
    # Two values that go different ways are two all-gathers, when they go far enough.
    assert found(both, "%on, %back, %sum", turns=3) == [("all-gather", 3)] * 2
    assert found(both, "%on, %back, %sum", turns=2) == [(None, 2)] * 2


SUMMED = [permute("sent", "x", ring()), "  %x-next = f32[8]{0} add(%sent, %y)"]
ANEW = ["  %kept = f32[8]{0} select(%is-first-each, %noughts, %x)", permute("sent", "kept", ring()), SUMMED[1]]


def test_a_sum_to_which_everybody_adds_once_is_a_reduce_scatter():
    # It starts with zeros, and each of four devices adds; or with what the first has, and three add.
    assert found(SUMMED, "%x-next, %y, %z", initial="%zeros, %b, %zeros", left="x-end") == [("reduce-scatter", 4)]
    assert found(SUMMED, "%x-next, %y, %z", turns=3, left="x-end") == [("reduce-scatter", 3)]
    # Or whatever it starts with is dropped in the first turn.
    assert found(ANEW, "%x-next, %y, %z", left="x-end") == [("reduce-scatter", 4)]


@pytest.mark.parametrize(
    ("lines", "turns", "first"),
    [
        (SUMMED, 4, "EQ"),  # the first device adds twice
        (SUMMED, 2, "EQ"),  # one never adds
        ([SUMMED[0], "  %x-next = f32[8]{0} multiply(%sent, %y)"], 3, "EQ"),  # no sum
        ([SUMMED[0], "  %x-next = f32[8]{0} add(%sent, %x)"], 3, "EQ"),  # what is added depends on the sum
        ([SUMMED[0], "  %w = f32[8]{0} multiply(%x, %y)\n  %x-next = f32[8]{0} add(%sent, %w)"], 3, "EQ"),  # likewise
        (ANEW, 4, "NE"),  # cleared in every turn but the first
    ],
)
def test_any_other_sum_that_travels_is_only_permutes(lines: list[str], turns: int, first: str):
    assert {d for d, _ in found(lines, "%x-next, %y, %z", turns=turns, left="x-end", first=first)} == {None}


def test_sums_both_ways_around_that_are_added_at_the_end_are_one_reduce_scatter():
    both = [
        permute("on", "x", ring()),
        permute("back", "y", ring(step=3)),
        "  %x-next = f32[8]{0} add(%on, %z)\n  %y-next = f32[8]{0} add(%z, %back)",
    ]
    last = permute("last", "x-end", ring())
    kwargs = {"initial": "%zeros, %zeros, %b", "turns": 2}
    # On: two devices add, and one more hop; back: two add. From where it ends: 1, 2 behind and 0, 1 ahead.
    answer = found(both, "%x-next, %y-next, %z", after=last, left="last", **kwargs)
    assert answer == [("reduce-scatter", 5)]
    # Without the last hop the device in between adds twice, and the one across never.
    assert found(both, "%x-next, %y-next, %z", left="x-end", **kwargs) == [(None, 2)] * 2
    # Added to something else, they are two halves of nothing.
    assert found(both, "%x-next, %y-next, %z", after=last, left="last", right="z-end", **kwargs)[0][0] is None


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 6), st.integers(1, 7), st.sampled_from([1, -1]), st.booleans())
def test_turns_and_size_of_the_ring_decide_as_walking_around_does(size: int, turns: int, step: int, gathers: bool):
    pairs = ring(size, step % size)
    if gathers:
        lines = [permute("sent", "x", pairs), USE]
        decomposed = found(lines, "%sent, %y, %sum", turns=turns)[0][0]
        seen = {(turn * step) % size for turn in range(turns + 1)}
        assert decomposed == ("all-gather" if len(seen) == size else None)
    else:
        lines = [permute("sent", "x", pairs), SUMMED[1]]
        decomposed = found(lines, "%x-next, %y, %z", turns=turns, left="x-end", initial="%zeros, %b, %zeros")[0][0]
        assert decomposed == ("reduce-scatter" if turns == size else None)


# What people write themselves, compiled here.


def compiled(body) -> list[Collective]:
    """Collectives of `body(jax, x, w)` in a shard_map over 8 fake devices."""
    jax = pytest.importorskip("jax")
    mesh = jax.make_mesh((8,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("i")
    mapped = jax.shard_map(
        lambda x, w: body(jax, x, w), mesh=mesh, in_specs=(spec, spec), out_specs=spec, check_vma=False
    )
    module = fixtures.compiled(mapped, np.ones((16, 32), np.float32), np.ones((256, 32), np.float32))
    return list(find_collectives(module, fixtures.mesh_of(mesh)))


AROUND = [(k, (k + 1) % 8) for k in range(8)]


def test_a_hand_written_all_gather_matmul_is_recognised():
    def gathered(jax, x, w):
        def turn(k, state):
            piece, out = state
            out = jax.lax.dynamic_update_slice(out, piece @ w, (2 * k, 0))
            return jax.lax.ppermute(piece, "i", AROUND), out

        return jax.lax.fori_loop(0, 8, turn, (x, jax.numpy.zeros((16, 32), x.dtype)))[1]

    [row] = compiled(gathered)
    assert (row.decomposed, row.axes, row.count, row.implicit) == ("all-gather", ("i",), 8, False)
    assert row.payload_bytes == 2 * 32 * 4


def test_a_hand_written_reduce_scatter_matmul_is_recognised():
    def scattered(jax, x, w):
        def turn(k, total):
            total = jax.lax.ppermute(total, "i", AROUND)
            return total + jax.lax.dynamic_slice(w, (4 * k, 0), (4, 32))

        return jax.lax.fori_loop(0, 8, turn, jax.numpy.zeros((4, 32), x.dtype))

    [row] = compiled(scattered)
    assert (row.decomposed, row.axes, row.count, row.implicit) == ("reduce-scatter", ("i",), 8, False)


def test_a_pipeline_whose_stages_change_what_they_pass_on_is_only_permutes():
    def pipeline(jax, x, w):
        def turn(_, piece):
            return jax.lax.ppermute(jax.numpy.tanh(piece @ w), "i", AROUND)

        return jax.lax.fori_loop(0, 8, turn, x)

    [row] = compiled(pipeline)
    assert (row.decomposed, row.count) == (None, 8)
