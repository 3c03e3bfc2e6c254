"""A permute that XLA wrote as a send and a receive is reported as the permute it is."""

from __future__ import annotations

import re

import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.collectives.collectives import find_collectives


@pytest.mark.parametrize(("name", "sends"), [("permute_line", 1), ("permute_ring", 2)])
def test_a_ppermute_of_the_user_is_one_collective_however_xla_split_it(name: str, sends: int):
    text = fixtures.text(f"{name}.h100_1x1x8")
    assert len(re.findall(r" send\(", text)) == len(re.findall(r" recv\(", text)) == sends
    [row] = find_collectives(fixtures.module(f"{name}.h100_1x1x8"), fixtures.MESH)
    # bf16[1024,1024] over 2 x 4 devices, five times.
    assert (row.kind, row.axes, row.local_shape) == ("collective-permute", ("model",), (512, 256))
    assert (row.payload_bytes, row.wire_bytes, row.count) == (512 * 256 * 2, 512 * 256 * 2, 5)
    assert (row.is_async, row.implicit, row.decomposed) == (True, False, None)
    steps = [(k, k + 1) for k in range(8) if k % 4 < 3]
    assert set(row.groups) == {*steps, *([(3, 0), (7, 4)] if sends == 2 else [])}


def test_its_parts_are_listed_as_they_are_scheduled():
    module = fixtures.module("permute_line.h100_1x1x8")
    [row] = find_collectives(module, fixtures.MESH)
    found = [module.find(name) for name in row.instructions]
    assert [part.opcode for part in found if part is not None] == ["recv", "send", "recv-done", "send-done"]
    assert row.overlaps == ("loop_add_fusion.1", "loop_add_fusion")


PROGRAM = """HloModule transfers, is_scheduled=true, num_partitions=4

ENTRY %main (x: f32[8], k: pred[8]) -> {result} {{
  %x = f32[8]{{0}} parameter(0)
  %t = token[] after-all()
  %recv0 = (f32[8]{{0}}, u32[], token[]) recv(%t), channel_id=1{host}{first}
  %send0 = (f32[8]{{0}}, u32[], token[]) send(%x, %t), channel_id=1{host}{first}
  %recv1 = (f32[8]{{0}}, u32[], token[]) recv(%t), channel_id=2{host}{second}
  %send1 = (f32[8]{{0}}, u32[], token[]) send(%x, %t), channel_id=2{host}{second}
  %recv-done0 = (f32[8]{{0}}, token[]) recv-done(%recv0), channel_id=1{host}
  %send-done0 = token[] send-done(%send0), channel_id=1{host}
  %recv-done1 = (f32[8]{{0}}, token[]) recv-done(%recv1), channel_id=2{host}
  %send-done1 = token[] send-done(%send1), channel_id=2{host}
  %a = f32[8]{{0}} get-tuple-element(%recv-done0), index=0
  %b = f32[8]{{0}} get-tuple-element(%recv-done1), index=0
  %k = pred[8]{{0}} parameter(1)
  {arrive}
}}
"""
CHOSEN = "ROOT %out = f32[8]{0} select(%k, %a, %b)"
BOTH = "ROOT %out = (f32[8]{0}, f32[8]{0}) tuple(%a, %b)"


def groups(first: str, second: str, arrive: str = CHOSEN, host: str = "") -> list[set[tuple[int, ...]]]:
    first, second = (
        f', frontend_attributes={{_xla_send_recv_source_target_pairs="{pairs}"}}' if pairs else ""
        for pairs in (first, second)
    )
    result = "f32[8]" if arrive == CHOSEN else "(f32[8], f32[8])"
    source = PROGRAM.format(first=first, second=second, arrive=arrive, host=host, result=result)
    return [set(row.groups) for row in find_collectives(fixtures.from_text(source))]


def test_halves_of_a_ring_are_one_and_permutes_that_overlap_are_two():
    assert groups("{{0,1},{1,2}}", "{{2,0}}") == [{(0, 1), (1, 2), (2, 0)}]
    assert groups("{{0,1},{1,2}}", "{{2,0}}", BOTH) == [{(0, 1), (1, 2)}, {(2, 0)}]  # both are used
    assert groups("{{0,1},{1,2}}", "{{0,2}}") == [{(0, 1), (1, 2)}, {(0, 2)}]  # device 0 sends in both
    assert groups("{{0,1},{1,2}}", "{{2,1}}") == [{(0, 1), (1, 2)}, {(2, 1)}]  # device 1 receives in both


def test_a_transfer_to_the_host_or_to_nobody_known_is_no_collective():
    assert groups("{{0,1}}", "") == [{(0, 1)}]
    assert groups("{{0,1}}", "{{1,0}}", host=", is_host_transfer=true") == []
