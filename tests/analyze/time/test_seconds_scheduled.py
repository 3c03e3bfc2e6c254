"""Exposed and hidden transfers, and loops, on hand-written schedules; and that all of a call adds up."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import pytest

import pjit_inspect as pi
from pjit_inspect.analyze.time.step import TimeInput, find_step_time
from pjit_inspect.model.program.mesh import Device
from pjit_inspect.model.time.hardware import HARDWARE, Hardware, Sourced, hardware_of
from pjit_inspect.model.time.step_time import StepTime

DATA = Path(__file__).parents[2] / "data"

SLOW = Hardware(
    name="slow",
    flops_per_s={"bf16": (Sourced(1e6, "a test"),)},
    memory_bytes_per_s=(Sourced(1e12, "a test"),),
    network="torus",
    link_bytes_per_s=(Sourced(1e3, "a test"),),
)
"""A product of 64 x 64 x 64 takes 0.524 s, and the shards of f32[64,64] on 4 devices of a line 49.15 s."""

HEAD = """HloModule test, is_scheduled=true, num_partitions=4

%add (a: bf16[], b: bf16[]) -> bf16[] {
  %a = bf16[] parameter(0)
  %b = bf16[] parameter(1)
  ROOT %sum = bf16[] add(%a, %b)
}

"""
DOT = "dot(%x, %x), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
SUM = "channel_id=1, use_global_device_ids=true, to_apply=%add"
GATHER = "replica_groups=[1,4]<=[4], dimensions={0}, channel_id=1, use_global_device_ids=true"


def timed(text: str, hardware: Hardware = SLOW, *, is_partial: bool = False, has_graph: bool = True) -> StepTime:
    """The time of a program on a line of 4 chips."""
    path = Path(timed.folder) / "test.hlo"  # type: ignore[attr-defined]
    path.write_text(HEAD + text, encoding="utf-8")
    record = pi.open(path)
    assert isinstance(record, pi.CompileRecord)
    now = record.state.analyses
    graph, why = now.graph_and_reason
    assert graph is not None, why
    devices = [Device(id=k, platform="tpu", kind="slow", coords=(k,)) for k in range(4)]
    module = now.hlo
    assert module is not None
    return find_step_time(
        TimeInput(
            module=module,
            graph=graph if has_graph else None,
            collectives=tuple(now.collectives),
            hardware=hardware,
            devices=devices,
            is_partial=is_partial,
        )
    )


@pytest.fixture(autouse=True)
def folder(tmp_path):
    timed.folder = tmp_path  # type: ignore[attr-defined]


PRODUCT = 2 * 64**3 / 1e6
TRANSFER = 4 * 64 * 64 * 2 * 3 / 4 / 1e3


def test_a_transfer_that_kernels_wait_for_is_exposed():
    found = timed(
        f"""ENTRY %main (x: bf16[64,64]) -> (bf16[256,64], bf16[64,64]) {{
  %x = bf16[64,64] parameter(0)
  %gathered = bf16[256,64] all-gather(%x), {GATHER}
  %dot = bf16[64,64] {DOT}
  ROOT %out = (bf16[256,64], bf16[64,64]) tuple(%gathered, %dot)
}}
"""
    )
    assert found.kernels_s == pytest.approx(PRODUCT)
    assert found.exposed_s == pytest.approx(TRANSFER)
    assert found.step_s == pytest.approx(PRODUCT + TRANSFER) == found.serial_s
    assert found.floor_s == pytest.approx(max(PRODUCT, TRANSFER))
    assert found.collectives[0].overlap == "exposed"
    assert found.bound_by == "network"


def test_a_transfer_behind_a_kernel_is_hidden_as_far_as_that_runs():
    found = timed(
        f"""ENTRY %main (x: bf16[64,64]) -> (bf16[256,64], bf16[64,64]) {{
  %x = bf16[64,64] parameter(0)
  %start = (bf16[64,64], bf16[256,64]) all-gather-start(%x), {GATHER}
  %dot = bf16[64,64] {DOT}
  %done = bf16[256,64] all-gather-done(%start)
  ROOT %out = (bf16[256,64], bf16[64,64]) tuple(%done, %dot)
}}
"""
    )
    assert found.step_s == pytest.approx(TRANSFER)
    assert found.exposed_s == pytest.approx(TRANSFER - PRODUCT)
    assert found.collectives[0].hidden_s == pytest.approx(PRODUCT)
    assert found.serial_s == pytest.approx(PRODUCT + TRANSFER)


def test_two_transfers_over_one_axis_run_one_after_the_other():
    found = timed(
        f"""ENTRY %main (x: bf16[64,64]) -> (bf16[256,64], bf16[256,64]) {{
  %x = bf16[64,64] parameter(0)
  %start = (bf16[64,64], bf16[256,64]) all-gather-start(%x), {GATHER}
  %start.1 = (bf16[64,64], bf16[256,64]) all-gather-start(%x), {GATHER.replace("channel_id=1", "channel_id=2")}
  %done.1 = bf16[256,64] all-gather-done(%start.1)
  %done = bf16[256,64] all-gather-done(%start)
  ROOT %out = (bf16[256,64], bf16[256,64]) tuple(%done, %done.1)
}}
"""
    )
    assert found.step_s == pytest.approx(2 * TRANSFER)
    # The wait for the second is one for the first, until that ends.
    assert [row.exposed_s for row in found.collectives] == pytest.approx([TRANSFER, TRANSFER])


def permute(number: int, step: int) -> str:
    pairs = ",".join(f"{{{k},{k + step}}}" for k in range(4) if 0 <= k + step < 4)
    return f"collective-permute-start(%x), channel_id={number}, source_target_pairs={{{pairs}}}"


@pytest.mark.parametrize(("second", "runs"), [(1, 2), (-1, 1)])
def test_permutes_in_opposite_directions_run_at_once(second, runs):
    found = timed(
        f"""ENTRY %main (x: bf16[64,64]) -> (bf16[64,64], bf16[64,64]) {{
  %x = bf16[64,64] parameter(0)
  %start = (bf16[64,64], bf16[64,64], u32[], u32[]) {permute(1, 1)}
  %start.1 = (bf16[64,64], bf16[64,64], u32[], u32[]) {permute(2, second)}
  %done = bf16[64,64] collective-permute-done(%start)
  %done.1 = bf16[64,64] collective-permute-done(%start.1)
  ROOT %out = (bf16[64,64], bf16[64,64]) tuple(%done, %done.1)
}}
"""
    )
    one = 64 * 64 * 2 / 1e3
    assert found.step_s == pytest.approx(runs * one) == found.floor_s
    assert found.serial_s == pytest.approx(2 * one)
    assert {row.links for row in found.collectives} == {("x+",), ("x-",) if second < 0 else ("x+",)}
    # One after the other in one lane, or beside each other in two.
    (whole,) = found.strips
    assert len(whole.lanes) == (2 if runs == 2 else 3)


@pytest.mark.parametrize(("memory", "host"), [("", False), ("S(5)", True)])
def test_a_part_that_is_written_beside_kernels_is_a_copy_of_that_part(memory, host):
    kept = f"bf16[1000,64,64]{{2,1,0{':' + memory if memory else ''}}}"
    slow = replace(SLOW, memory_bytes_per_s=(Sourced(1e4, "a test"),), flops_per_s={})
    found = timed(
        f"""%write (all: bf16[1000,64,64], part: bf16[1,64,64], at: s32[]) -> bf16[1000,64,64] {{
  %all = {kept} parameter(0)
  %part = bf16[1,64,64] parameter(1)
  %at = s32[] parameter(2)
  ROOT %written = {kept} dynamic-update-slice(%all, %part, %at, %at, %at)
}}

ENTRY %main (x: bf16[1000,64,64], y: bf16[1,64,64], i: s32[]) -> bf16[1000,64,64] {{
  %x = {kept} parameter(0)
  %y = bf16[1,64,64] parameter(1)
  %i = s32[] parameter(2)
  %start = (({kept}, bf16[1,64,64], s32[]), {kept}, u32[]) async-start(%x, %y, %i), calls=%write
  ROOT %done = {kept} async-done(%start)
}}
""",
        slow,
    )
    assert not found.kernels
    assert found.copies_s == pytest.approx(0.0 if host else 64 * 64 * 2 / 1e4)
    assert any("host's memory" in note for note in found.notes) == host


def test_a_program_that_is_only_partitioned_has_a_range():
    text = f"""ENTRY %main (x: bf16[64,64]) -> (bf16[256,64], bf16[64,64]) {{
  %x = bf16[64,64] parameter(0)
  %gathered = bf16[256,64] all-gather(%x), {GATHER}
  %dot = bf16[64,64] {DOT}
  %more = bf16[64,64] add(%dot, %dot)
  ROOT %out = (bf16[256,64], bf16[64,64]) tuple(%gathered, %more)
}}
"""
    found, alone = timed(text, is_partial=True), timed(text, is_partial=True, has_graph=False)
    assert found.is_quick
    assert (found.step_s, found.exposed_s, found.timeline) == (None, None, ())
    assert found.floor_s == pytest.approx(max(PRODUCT, TRANSFER))
    assert found.serial_s == pytest.approx(PRODUCT + TRANSFER)
    # An argument of 8 KiB and results of 40 KiB pass through a slow memory once.
    slow = replace(SLOW, memory_bytes_per_s=(Sourced(1e2, "a test"),))
    bound = timed(text, slow, is_partial=True)
    assert bound.floor_s == pytest.approx(48 * 1024 / 1e2)
    # Without places in the program the figures are the same.
    assert [getattr(alone, name) for name in ("floor_s", "kernels_s", "serial_s", "product_flops")] == [
        getattr(found, name) for name in ("floor_s", "kernels_s", "serial_s", "product_flops")
    ]


def test_a_loop_is_its_body_times_its_turns():
    found = timed(
        f"""%body (s: (s32[], bf16[64,64])) -> (s32[], bf16[64,64]) {{
  %s = (s32[], bf16[64,64]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %x = bf16[64,64] get-tuple-element(%s), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %dot = bf16[64,64] {DOT}
  %summed = bf16[64,64] all-reduce(%dot), replica_groups=[1,4]<=[4], {SUM}
  ROOT %out = (s32[], bf16[64,64]) tuple(%next, %summed)
}}

%condition (t: (s32[], bf16[64,64])) -> pred[] {{
  %t = (s32[], bf16[64,64]) parameter(0)
  %j = s32[] get-tuple-element(%t), index=0
  %end = s32[] constant(10)
  ROOT %less = pred[] compare(%j, %end), direction=LT
}}

ENTRY %main (x: bf16[64,64]) -> (s32[], bf16[64,64]) {{
  %x = bf16[64,64] parameter(0)
  %zero = s32[] constant(0)
  %state = (s32[], bf16[64,64]) tuple(%zero, %x)
  ROOT %loop = (s32[], bf16[64,64]) while(%state), condition=%condition, body=%body
}}
"""
    )
    summed = 2 * 64 * 64 * 2 * 3 / 4 / 1e3
    assert found.product_flops == 10 * 2 * 64**3
    assert found.exposed_s == pytest.approx(10 * summed)
    assert found.step_s == pytest.approx(10 * (PRODUCT + summed), rel=1e-6)
    assert found.collectives[0].runs == 10


@pytest.mark.parametrize("heading", ["phase", "scope", "layer", "axis", "line", "kernel", "bound", "known by"])
def test_shares_add_up_to_the_whole_call(heading):
    step = train_step()
    shares = step.by(heading)
    assert sum(share.share or 0.0 for share in shares) == pytest.approx(1.0)
    assert sum(share.seconds or 0.0 for share in shares) == pytest.approx(step.step_s)


def test_lines_add_up_to_the_whole_call():
    step = train_step()
    assert sum(row.seconds or 0.0 for row in step.lines) == pytest.approx(step.step_s)
    assert sum(row.share or 0.0 for row in step.lines) == pytest.approx(1.0)


def test_no_point_stands_alone_and_they_are_in_order():
    step = train_step()
    assert step.floor_s is not None
    assert step.kernels_s is not None
    assert step.step_s is not None
    assert step.serial_s is not None
    assert 0 < step.floor_s <= step.step_s <= step.serial_s
    assert step.kernels_s <= step.step_s
    for row in step.collectives:
        assert row.exposed_s is None or row.exposed_s <= (row.seconds or 0.0) * (1 + 1e-9) + 1e-12
    hidden = sum(row.hidden_s or 0.0 for row in step.collectives)
    assert step.serial_s - step.step_s == pytest.approx(hidden, abs=1e-4)
    assert all(ceiling.step_s < step.step_s for ceiling in step.ceilings)


def test_xla_says_how_long_kernels_take_unless_its_compile_was_cut_short():
    step = train_step()
    assert "XLA's estimate" in {row.known_by for row in step.kernels}
    cut = train_step(trusts_xla=False)
    assert {row.known_by for row in cut.kernels} == {"modelled"}


def test_a_gpu_that_is_not_there_has_xlas_own_seconds():
    step = pi.load(DATA / "products_ahead_of_time.h100_1x1.pjit").time
    assert {row.known_by for row in step.kernels} == {"XLA's estimate"}
    products = [row for row in step.kernels if row.product_flops]
    assert [row.product_flops for row in products] == [2 * 4096**3] * 2
    # Slower than the peak, and no more than twice.
    for row in products:
        assert row.seconds is not None
        assert 2 * 4096**3 / 989e12 < row.seconds < 2 * 2 * 4096**3 / 989e12


def test_each_chip_names_its_sources():
    for hardware in HARDWARE.values():
        for figures in (*hardware.flops_per_s.values(), hardware.memory_bytes_per_s, hardware.link_bytes_per_s):
            assert figures
            assert all(figure.source and figure.value > 0 for figure in figures)
    assert hardware_of("tpu:v5e:4x4") is hardware_of("TPU v5 lite") is HARDWARE["v5e"]
    assert hardware_of("a toaster") is None


@functools.cache
def train_step(**given) -> StepTime:
    """A training step that XLA compiled for a v5e 2x4."""
    record = pi.open(DATA / "transformer_step.v5e_2x4.hlo.gz")
    assert isinstance(record, pi.CompileRecord)
    now = record.state.analyses
    graph, module = now.graph_and_reason[0], now.hlo
    assert graph is not None
    assert module is not None
    places = [(x, y) for y in range(4) for x in range(2)]
    devices = [Device(id=k, platform="tpu", kind="TPU v5e", coords=own) for k, own in enumerate(places)]
    rows = tuple(now.collectives)
    return find_step_time(
        TimeInput(module=module, graph=graph, collectives=rows, hardware=HARDWARE["v5e"], devices=devices, **given)
    )


def test_the_timeline_is_the_schedule():
    step = train_step()
    assert max(span.end_s for span in step.timeline) == pytest.approx(step.step_s)
    for lane in {span.lane for span in step.timeline} - {"loops"}:
        own = [span for span in step.timeline if span.lane == lane]
        ends = [span.end_s for span in own]
        assert all(span.begin_s >= end - 1e-12 for span, end in zip(own[1:], ends, strict=False)), lane
    loops = [span for span in step.timeline if span.lane == "loops" and span.turns > 1]
    for loop in loops:
        turn = (loop.end_s - loop.begin_s) / loop.turns
        inside = [
            span
            for span in step.timeline
            if span.lane == "compute" and loop.begin_s <= span.begin_s and span.end_s <= loop.begin_s + turn * 1.01
        ]
        assert inside


def nested(levels: int, turns: int) -> str:
    """Loops in loops, each of so many turns; the innermost adds two numbers."""
    text = ["%b0 (p0: (s32[], f32[8])) -> (s32[], f32[8]) {", *inside(0, "%sum.0 = f32[8] add(%x.0, %x.0)", "%sum.0")]
    for k in range(1, levels):
        loop = f"%loop.{k} = (s32[], f32[8]) while(%again.{k}), condition=%c{k - 1}, body=%b{k - 1}"
        lines = f"%zero.{k} = s32[] constant(0)\n  %again.{k} = (s32[], f32[8]) tuple(%zero.{k}, %x.{k})\n  {loop}"
        taken = f"%y.{k} = f32[8] get-tuple-element(%loop.{k}), index=1"
        text += condition(k - 1, turns)
        text += [f"%b{k} (p{k}: (s32[], f32[8])) -> (s32[], f32[8]) {{", *inside(k, f"{lines}\n  {taken}", f"%y.{k}")]
    text += condition(levels - 1, turns)
    last = levels - 1
    return "\n".join(text) + (
        f"\nENTRY %main (x: f32[8]) -> (s32[], f32[8]) {{\n  %x = f32[8] parameter(0)\n  %zero = s32[] constant(0)\n"
        f"  %in = (s32[], f32[8]) tuple(%zero, %x)\n"
        f"  ROOT %out = (s32[], f32[8]) while(%in), condition=%c{last}, body=%b{last}\n}}\n"
    )


def inside(k: int, lines: str, result: str) -> list[str]:
    return [
        f"  %p{k} = (s32[], f32[8]) parameter(0)",
        f"  %i.{k} = s32[] get-tuple-element(%p{k}), index=0",
        f"  %x.{k} = f32[8] get-tuple-element(%p{k}), index=1",
        f"  %one.{k} = s32[] constant(1)",
        f"  %next.{k} = s32[] add(%i.{k}, %one.{k})",
        f"  {lines}",
        f"  ROOT %r.{k} = (s32[], f32[8]) tuple(%next.{k}, {result})",
        "}",
        "",
    ]


def condition(k: int, turns: int) -> list[str]:
    return [
        f"%c{k} (q{k}: (s32[], f32[8])) -> pred[] {{",
        f"  %q{k} = (s32[], f32[8]) parameter(0)",
        f"  %j.{k} = s32[] get-tuple-element(%q{k}), index=0",
        f"  %end.{k} = s32[] constant({turns})",
        f"  ROOT %less.{k} = pred[] compare(%j.{k}, %end.{k}), direction=LT",
        "}",
        "",
    ]


def test_loops_multiply():
    found = timed(nested(3, 10))
    added = next(row for row in found.kernels if row.name == "sum.0")
    assert added.runs == 1000
    assert added.flops == 8 * 1000


@pytest.mark.parametrize(("levels", "turns"), [(40, 1 << 30), (100, 2)])
def test_what_no_compiler_made_ends(levels, turns):
    found = timed(nested(levels, turns))
    assert found.step_s is not None
    assert found.step_s >= 0
