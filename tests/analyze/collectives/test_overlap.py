"""What runs while a collective is under way is what the schedule has between its start and its done."""

from __future__ import annotations

import re

from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.collectives.collectives import find_collectives
from pjit_inspect.analyze.collectives.traffic import MOST_NAMES
from pjit_inspect.model.report.collective import Collective

PROGRAM = """HloModule overlap{scheduled}, num_partitions=2

%body (p: f32[8]) -> f32[8] {{
  %p = f32[8]{{0}} parameter(0)
  ROOT %n = f32[8]{{0}} negate(%p)
}}

%sum (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}}

ENTRY %main (x: f32[8], i: s32[]) -> (f32[8], f32[8], s32[]) {{
  %x = f32[8]{{0}} parameter(0)
  %i = s32[] parameter(1)
  %before = f32[8]{{0}} fusion(%x), kind=kLoop, calls=%body
  %start = f32[8]{{0}} all-reduce-start(%before), replica_groups={{{{0,1}}}}, to_apply=%sum{config}
  %j = s32[] add(%i, %i)
  %copy-start = (f32[8]{{0}}, f32[8]{{0}}, u32[]) copy-start(%x)
  %within = f32[8]{{0}} fusion(%x), kind=kLoop, calls=%body
  %copy-done = f32[8]{{0}} copy-done(%copy-start)
  %product = f32[8]{{0}} multiply(%copy-done, %within)
  %done = f32[8]{{0}} all-reduce-done(%start)
  %after = f32[8]{{0}} negate(%done)
  ROOT %out = (f32[8]{{0}}, f32[8]{{0}}, s32[]) tuple(%after, %product, %j)
}}
"""


def only(scheduled: str = ", is_scheduled=true", config: str = "") -> Collective:
    [row] = find_collectives(fixtures.from_text(PROGRAM.format(scheduled=scheduled, config=config)))
    return row


def test_kernels_between_start_and_done_overlap_and_arithmetic_on_single_numbers_does_not():
    row = only()
    assert (row.is_async, row.overlaps, row.overlap_count) == (True, ("within", "product"), 2)


def test_without_a_schedule_what_overlaps_is_unknown():
    row = only(scheduled="")
    assert (row.is_async, row.overlaps, row.overlap_count) == (True, (), None)


def test_a_collective_that_gpu_runs_in_one_go_is_not_asynchronous():
    row = only(config=', backend_config={"collective_backend_config":{"is_sync":true}}')
    assert (row.is_async, row.overlaps, row.overlap_count) == (False, (), 0)


def test_on_gpu_what_is_marked_as_synchronous_is():
    text = fixtures.text("transformer_step.h100_1x1x8")
    rows = find_collectives(fixtures.module("transformer_step.h100_1x1x8"), fixtures.MESH)
    marks = [re.search('"is_sync":(true|false)', line) for line in text.splitlines() if "-start(" in line]
    marked = [mark[1] for mark in marks if mark]
    assert sum(not row.is_async for row in rows) == marked.count("true") == 11
    assert sum(row.is_async for row in rows) == marked.count("false") == 18
    # One waits at once, but for the number of its partition.
    assert [row.instructions for row in rows if row.is_async and not row.overlap_count] == [
        ("all-gather-start.1", "all-gather-done.1")
    ]


def test_on_tpu_asynchronous_fusions_overlap_with_the_fusions_between_them():
    text = fixtures.text("transformer_step.v5e_2x4")
    entry = text[text.index("\nENTRY ") :]
    rows = find_collectives(fixtures.module("transformer_step.v5e_2x4"), fixtures.MESH).of_kind("all-gather")
    for row in [row for row in rows if row.is_async][:10]:
        start, done = (entry.index(f"%{name} = ") for name in row.instructions)
        between = re.findall(r"^  %(\S+) = .*? fusion\(", entry[start:done].partition("\n")[2], flags=re.M)
        kernels = [name for name in between if not re.match("async-collective-(start|done)", name)]
        assert kernels
        assert [name for name in row.overlaps if name in between] == kernels


def test_names_are_bounded_and_the_count_is_not():
    steps = "\n".join(f"  %k{n} = f32[8]{{0}} negate(%x)" for n in range(MOST_NAMES + 20))
    source = PROGRAM.format(scheduled=", is_scheduled=true", config="").replace("  %j = s32", f"{steps}\n  %j = s32")
    [row] = find_collectives(fixtures.from_text(source))
    assert (len(row.overlaps), row.overlaps[-1]) == (MOST_NAMES, f"k{MOST_NAMES - 1}")
    assert row.overlap_count == MOST_NAMES + 22


def test_plain_collectives_overlap_with_nothing():
    rows = find_collectives(fixtures.module("mlp_step.cpu_8"), fixtures.MESH)
    assert [(row.is_async, row.overlaps, row.overlap_count) for row in rows] == [(False, (), 0)] * 2
