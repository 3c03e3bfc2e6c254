"""The witness itself: its reader of HLO text, and its walks, on text whose meaning is worked out by hand.

Not its job: the package (`test_corpus`).
"""

from __future__ import annotations

import pytest

from corpus.xla_flow import Flow
from corpus.xla_text import Array, read_text, tiles_of

_MODULE = """HloModule jit_step, entry_computation_layout={(f32[4]{0}, f32[4]{0})->f32[4]{0}}

FileNames
1 "/home/me/train.py"

FunctionNames
1 "step"

FileLocations
1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=3 end_column=9}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%body (p: (s32[], f32[3,4], f32[4])) -> (s32[], f32[3,4], f32[4]) {
  %p = (s32[], f32[3,4]{1,0}, /*index=2*/f32[4]{0}) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %stack = f32[3,4]{1,0} get-tuple-element(%p), index=1
  %carried = f32[4]{0} get-tuple-element(%p), index=2
  %zero = s32[] constant(0)
  %row = f32[1,4]{1,0} dynamic-slice(%stack, %i, %zero), dynamic_slice_sizes={1,4}
  %flat = f32[4]{0} reshape(%row)
  %gathered = f32[32]{0} all-gather(%flat), channel_id=5, replica_groups=[1,8]<=[8], dimensions={0}
  %sum = f32[4]{0} add(%carried, %flat), metadata={op_name="jit(step)/while/body/add" stack_frame_id=1}
  ROOT %out = (s32[], f32[3,4]{1,0}, f32[4]{0}) tuple(%i, %stack, %sum)
}

%cond (q: (s32[], f32[3,4], f32[4])) -> pred[] {
  %q = (s32[], f32[3,4]{1,0}, f32[4]{0}) parameter(0)
  ROOT %yes = pred[] constant(true)
}

ENTRY %main (a: f32[3,4], b: f32[4]) -> (f32[4], f32[4]) {
  %a = f32[3,4]{1,0} parameter(0), sharding={devices=[1,8]<=[8]}, metadata={op_name="ws[\\'up\\']"}
  %b = f32[4]{0} parameter(1), metadata={op_name="x"}
  %start = s32[] constant(0)
  %init = (s32[], f32[3,4]{1,0}, f32[4]{0}) tuple(%start, %a, %b)
  %loop = (s32[], f32[3,4]{1,0}, f32[4]{0}) while(%init), condition=%cond, body=%body
  %last = f32[4]{0} get-tuple-element(%loop), index=2
  %product = f32[4]{0} dot(%last, %b), lhs_contracting_dims={}, rhs_contracting_dims={}
  %both = f32[4]{0} multiply(%product, %b)
  ROOT %result = (f32[4]{0}, f32[4]{0}) tuple(%last, %both)
}
"""


def test_an_instruction_has_jaxs_name_and_the_place_of_its_innermost_frame() -> None:
    row = read_text(_MODULE).rows["sum"]
    assert (row.op_name, row.place, row.opcode) == ("jit(step)/while/body/add", "/home/me/train.py:7", "add")
    assert row.arrays == (Array("f32", (4,)),)


def test_a_tuples_type_is_taken_apart_and_comments_are_none_of_it() -> None:
    assert read_text(_MODULE).rows["p"].arrays == (Array("s32", ()), Array("f32", (3, 4)), Array("f32", (4,)))


def test_an_argument_has_the_name_that_jax_gave_it() -> None:
    assert read_text(_MODULE).rows["a"].op_name == "ws['up']"


def test_an_element_of_a_tuple_may_be_an_operand_by_itself() -> None:
    text = _MODULE.replace("  %stack = f32[3,4]{1,0} get-tuple-element(%p), index=1\n", "").replace("%stack", "%p#1")
    row = read_text(text).rows["p#1"]
    assert (row.opcode, row.arrays, row.home) == ("get-tuple-element", (Array("f32", (3, 4)),), "body")
    argument = Flow(read_text(text)).argument(("flat", 0))
    assert argument is not None
    assert argument.op_name == "ws['up']"


def test_a_slice_of_what_a_loop_only_reads_is_a_view_of_the_argument() -> None:
    argument = Flow(read_text(_MODULE)).argument(("flat", 0))
    assert argument is not None
    assert argument.op_name == "ws['up']"


def test_what_a_loop_changes_is_a_view_of_nothing() -> None:
    assert Flow(read_text(_MODULE)).argument(("carried", 0)) is None


def test_an_array_reaches_the_results_that_it_is_added_into_and_none_behind_a_product() -> None:
    assert Flow(read_text(_MODULE)).results(("flat", 0)) == {0}


def test_a_sum_in_a_loop_is_made_of_what_it_started_with_and_of_every_step() -> None:
    arguments, _ = Flow(read_text(_MODULE)).made_of(("last", 0))
    assert arguments == {"a", "b"}


def test_who_uses_a_view_is_found_through_the_views() -> None:
    assert {row.name for row in Flow(read_text(_MODULE)).consumers(("row", 0))} == {"sum"}


@pytest.mark.parametrize(
    ("sharding", "rank", "tiles"),
    [
        ("", 2, ((0, 0),) * 4),
        ("{replicated}", 1, ((0,),) * 4),
        ("{devices=[2,2]<=[4]}", 2, ((0, 0), (0, 1), (1, 0), (1, 1))),
        ("{devices=[2,2]<=[2,2]T(1,0)}", 2, ((0, 0), (1, 0), (0, 1), (1, 1))),
        ("{devices=[2,1,2]<=[4] last_tile_dim_replicate}", 2, ((0, 0), (0, 0), (1, 0), (1, 0))),
        ("{devices=[4]3,1,2,0}", 1, ((3,), (1,), (2,), (0,))),
        ("{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}", 2, ((0, 0), (0, 1), (1, 0), (1, 1))),
        ("{mesh['a'=2,'b'=2], [{'b', ?}, {}], replicated={'a'}}", 2, ((0, 0), (1, 0), (0, 0), (1, 0))),
        ("{mesh['a'=2,'b'=2], [{'b','a'}]}", 1, ((0,), (2,), (1,), (3,))),
        ("{mesh[], []}", 1, ((0,), (0,), (0,), (0,))),
        ("{mesh['a'=4], [{'a':(1)2}]}", 1, ((0,), (0,), (1,), (1,))),
        ("{mesh['a'=4], [{'a':(2)2}]}", 1, ((0,), (1,), (0,), (1,))),
        ("{mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)), [{'a'}]}", 1, ((0,), (1,), (0,), (1,))),
    ],
)
def test_a_sharding_is_the_tile_that_each_partition_holds(sharding: str, rank: int, tiles: tuple) -> None:
    assert tiles_of(sharding, rank, 4) == tiles
