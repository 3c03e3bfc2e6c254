"""Which values lie in one buffer, from where to where they are alive, and what takes over whose memory."""

from __future__ import annotations

from data.hlo_texts import parse_hlo_text

from pjit_inspect.analyze.memory.live_ranges import LiveRanges
from pjit_inspect.analyze.memory.occupancy import Buffer, Occupancy, occupancy_of
from pjit_inspect.model.program.hlo import HloModule

LOOP = """HloModule m, is_scheduled=true

cond {
  c = (s32[], f32[8], f32[4,8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  n = s32[] constant(4)
  ROOT less = pred[] compare(i, n), direction=LT
}

body {
  p = (s32[], f32[8], f32[4,8], f32[8]) parameter(0)
  j = s32[] get-tuple-element(p), index=0
  x = f32[8] get-tuple-element(p), index=1
  saved = f32[4,8] get-tuple-element(p), index=2
  kept = f32[8] get-tuple-element(p), index=3
  one = s32[] constant(1)
  next = s32[] add(j, one)
  y = f32[8] multiply(x, kept)
  row = f32[1,8] bitcast(y)
  zero = s32[] constant(0)
  written = f32[4,8] dynamic-update-slice(saved, row, j, zero)
  ROOT t = (s32[], f32[8], f32[4,8], f32[8]) tuple(next, y, written, kept)
}

ENTRY main {
  a = f32[8] parameter(0)
  start = s32[] constant(0)
  b = f32[8] copy(a)
  scale = f32[8] exponential(a)
  nothing = f32[] constant(0)
  empty = f32[4,8] broadcast(nothing), dimensions={}
  given = (s32[], f32[8], f32[4,8], f32[8]) tuple(start, b, empty, scale)
  loop = (s32[], f32[8], f32[4,8], f32[8]) while(given), condition=cond, body=body
  stack = f32[4,8] get-tuple-element(loop), index=2
  ROOT r = f32[4,8] negate(stack)
}
"""


def module(text: str) -> HloModule:
    return parse_hlo_text(text)


def buffer_of(occupancy: Occupancy, name: str) -> Buffer:
    ranges = occupancy.ranges
    found = ranges.module.find(name)
    assert found is not None
    row = ranges.value_of[ranges.first[found.index]]
    return next(buffer for buffer in occupancy.buffers if row in buffer.values)


def test_what_a_scan_writes_lies_in_one_buffer_before_in_and_after_the_loop():
    occupancy = occupancy_of(module(LOOP))
    stack = buffer_of(occupancy, "stack")
    assert stack is buffer_of(occupancy, "empty") is buffer_of(occupancy, "written") is buffer_of(occupancy, "saved")
    assert (stack.kind, stack.bytes) == ("temporary", 128)


def test_what_a_loop_does_not_change_is_alive_through_it():
    ranges = LiveRanges(module(LOOP))

    scale = ranges.module.find("scale")
    loop = ranges.module.find("loop")
    assert scale is not None
    assert loop is not None
    value = ranges.values[ranges.value_of[ranges.first[scale.index]]]
    assert value.ends == ranges.time[loop.index]
    kept = ranges.module.find("kept")
    assert kept is not None
    assert ranges.value_of[ranges.first[kept.index]] == ranges.values.index(value)


def test_a_result_takes_over_the_operand_that_ends_with_it():
    text = """HloModule m, is_scheduled=true
ENTRY main {
  a = f32[8] parameter(0)
  b = f32[8] exponential(a)
  c = f32[8] negate(b)
  d = f32[4] slice(c), slice={[0:4]}
  ROOT e = f32[4] copy(d)
}
"""
    occupancy = occupancy_of(module(text))
    # `c` is written where `b` is, at place 2; what changes shape takes over nothing.
    assert buffer_of(occupancy, "b").spans == [(1, 1)]
    assert buffer_of(occupancy, "c").spans == [(2, 3)]
    assert occupancy.curve(lambda _: True).tolist() == [32, 64, 64, 80, 64]


def test_a_donated_argument_is_dead_until_its_result_is_written():
    text = """HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }
ENTRY main {
  a = f32[8] parameter(0)
  b = f32[2] slice(a), slice={[0:2]}
  c = f32[2] exponential(b)
  ROOT e = f32[8] concatenate(c, c, c, c), dimensions={0}
}
"""
    occupancy = occupancy_of(module(text))
    argument = buffer_of(occupancy, "a")
    assert (argument.kind, len(argument.spans)) == ("argument", 2)
    assert argument is buffer_of(occupancy, "e")


def test_halves_of_a_collective_share_what_they_pass_on():
    text = """HloModule m, is_scheduled=true
ENTRY main {
  a = f32[8] parameter(0)
  b = f32[8] exponential(a)
  s = (f32[8], f32[16]) all-gather-start(b), dimensions={0}, replica_groups={{0,1}}
  w = f32[8] negate(a)
  d = f32[16] all-gather-done(s)
  ROOT e = f32[16] negate(d)
}
"""
    occupancy = occupancy_of(module(text))
    ranges = occupancy.ranges
    value = ranges.values[buffer_of(occupancy, "b").values[0]]
    # The operand is read until the transfer is done.
    assert ranges.running.order[value.ends] == ranges.module.find("d").index  # type: ignore[union-attr]
    assert buffer_of(occupancy, "d").bytes == 64
