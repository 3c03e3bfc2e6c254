"""What XLA left out of a collective's name and place is taken from the right neighbour."""

from __future__ import annotations

from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.collectives.collective_sites import find_sites
from pjit_inspect.analyze.collectives.collectives import Origin, find_origin
from pjit_inspect.model.program.hlo import HloModule

PROGRAM = """HloModule m, num_partitions=8

FileNames
1 "train.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=0 end_column=9}
2 {file_name_id=1 function_name_id=1 line=4 end_line=4 column=0 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=1}

%add (x: f32[], y: f32[]) -> f32[] {
  %x = f32[] parameter(0)
  %y = f32[] parameter(1)
  ROOT %sum = f32[] add(%x, %y)
}

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  %a = f32[8]{0} negate(%p), metadata={op_name="jit(f)/makes" stack_frame_id=1}
  %copy = f32[8]{0} copy(%a)
  %c = f32[8]{0} COLLECTIVE
  %flat = f32[8]{0} copy(%c)
  ROOT %b = f32[8]{0} negate(%flat), metadata={op_name="jit(f)/needs" stack_frame_id=2}
}
"""
GROUPS = "channel_id=1, replica_groups=[1,8]<=[8], use_global_device_ids=true"
PERMUTE = "collective-permute(%copy), channel_id=1, source_target_pairs={{0,1},{1,0}}"


def origin(collective: str) -> tuple[str, list[int]]:
    module: HloModule = fixtures.from_text(PROGRAM.replace("COLLECTIVE", collective))
    [site] = find_sites(module)
    found: Origin = find_origin(site)
    return found.op_name, [frame.line for frame in found.frames]


def test_its_own_name_and_frames_come_first():
    metadata = ', metadata={op_name="jit(f)/own" stack_frame_id=1}'
    assert origin(PERMUTE + metadata) == ("jit(f)/own", [3])


def test_a_nameless_sum_belongs_to_what_makes_the_summands():
    assert origin(f"all-reduce(%copy), {GROUPS}, to_apply=%add") == ("jit(f)/makes", [3])


def test_anything_else_without_a_name_belongs_to_what_needs_it():
    assert origin(PERMUTE) == ("jit(f)/needs", [4])


def test_a_moved_argument_keeps_its_name_and_gets_the_line_that_needs_it():
    # JAX 0.12 names a reshard after the value and gives an argument no frame.
    assert origin(PERMUTE + ", metadata={op_name=\"params['w']\"}") == ("params['w']", [4])


def test_a_frame_is_looked_for_on_the_other_side_when_the_first_has_none():
    program = PROGRAM.replace('metadata={op_name="jit(f)/needs" stack_frame_id=2}', 'metadata={op_name="jit(f)/needs"}')
    module = fixtures.from_text(program.replace("COLLECTIVE", PERMUTE))
    found = find_origin(find_sites(module)[0])
    assert (found.op_name, [frame.line for frame in found.frames]) == ("jit(f)/needs", [3])


CALLED = """HloModule m, num_partitions=8

%body (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %c = f32[8]{0} collective-permute(%p), channel_id=1, source_target_pairs={{0,1},{1,0}}, metadata={op_name="OWN"}
}

ENTRY %main (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %a = f32[8]{0} call(%x), to_apply=%body, metadata={op_name="jit(f)/jvp()/shard_map"}
  ROOT %b = f32[8]{0} call(%a), to_apply=OTHER, metadata={op_name="jit(f)/transpose(jvp())/shard_map"}
}
"""
OTHER = """%other (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  ROOT %n = f32[8]{0} negate(%q)
}

ENTRY"""


def test_what_is_called_has_the_callers_name_before_its_own_as_where_xla_inlines_it():
    module = fixtures.from_text(CALLED.replace("OWN", "ppermute").replace("OTHER", "%other").replace("ENTRY", OTHER, 1))
    assert find_origin(find_sites(module)[0]).op_name == "jit(f)/jvp()/shard_map/ppermute"
    complete = CALLED.replace("OWN", "jit(f)/jvp()/shard_map/ppermute").replace("OTHER", "%other")
    module = fixtures.from_text(complete.replace("ENTRY", OTHER, 1))
    assert find_origin(find_sites(module)[0]).op_name == "jit(f)/jvp()/shard_map/ppermute"


def test_what_is_called_from_two_places_keeps_its_own_name():
    module = fixtures.from_text(CALLED.replace("OWN", "ppermute").replace("OTHER", "%body"))
    assert find_origin(find_sites(module)[0]).op_name == "ppermute"
