"""Texts of XLA's dumps, as libtpu 0.0.42 and JAX's CPU client wrote them, shortened."""

from __future__ import annotations

import pytest

from pjit_inspect.errors import ParseError
from pjit_inspect.parse.buffers.assignment_text import parse_buffer_assignment

ASSIGNMENT = """BufferAssignment:
allocation 0: size 131072, maybe-live-out:
 value: <2316 copy_divide_fusion.1 @0> (size=1024,offset=0): f32[4,64,1]{2,1,0}
 value: <2439 multiply_add_fusion.17 @0> (size=131072,offset=0): f32[256,128]{1,0}
allocation 9: size 131072, parameter 14, shape |f32[128,256]| at ShapeIndex {0}:
 value: <7 param.3{0} @0> (size=131072,offset=0): f32[128,256]{1,0}
allocation 20: size 264, output shape is |(s32[], f32[128,256])|, maybe-live-out:
 value: <9 tuple.1{} @0> (size=264,offset=0): (s32[], f32[128,256]{1,0})
allocation 21: size 4, constant:
 value: <3 constant.4 @0> (size=4,offset=0): s32[]
allocation 22: size 16, thread-local:
 value: <4 param_0.2 @0> (size=16,offset=0): f32[4]{0}
allocation 343: size 8, color 2, preallocated-temp:
 value: <2717 collective-permute-start{2} @2> (size=4,offset=0): u32[]{:S(2)}
allocation 344: size 6210048, preallocated-temp:
 value: <2715 collective-permute-start{} @0> (size=512,offset=6209536): (s32[4], s32[4], u32[]{:S(2)})
 value: <2719 all-gather.23 @0> (size=4096,offset=16384): s32[8,64,1]{1,2,0:T(1,128)}
"""


def test_every_kind_of_allocation_is_told():
    found = parse_buffer_assignment(ASSIGNMENT)
    assert found.unknown == {}
    output, parameter, table, constant, kernel, semaphore, temporary = found.allocations
    assert output.is_live_out
    assert len(output.values) == 2
    assert (parameter.parameter, parameter.parameter_index) == (14, (0,))
    assert table.is_live_out
    assert constant.is_constant
    assert kernel.is_thread_local
    assert (semaphore.color, semaphore.is_temporary) == (2, True)
    assert temporary.is_temporary
    assert temporary.values[1].offset == 16384
    assert temporary.values[0].index == ()
    assert semaphore.values[0].index == (2,)
    assert [one.is_temporary for one in found.allocations[:5]] == [False] * 5


def test_temporaries_are_summed_by_memory():
    found = parse_buffer_assignment(ASSIGNMENT)
    assert (found.temporary_bytes(), found.temporary_bytes(2)) == (6210048, 8)
    assert found.by_color == {0: 131072 * 2 + 264 + 4 + 6210048, 2: 8}


@pytest.mark.parametrize("line", ["allocation 5: size 8, of a new kind:", " valu: <1 x @0>", "Total bytes used: 12"])
def test_a_line_that_is_not_understood_is_counted(line: str):
    found = parse_buffer_assignment(f"{ASSIGNMENT}{line}\n")
    assert sum(found.unknown.values()) == 1


@pytest.mark.parametrize("text", ["", "HloModule f", "BufferAssignment", "\x00"])
def test_another_text_is_refused(text: str):
    with pytest.raises(ParseError):
        parse_buffer_assignment(text)


GPU = """BufferAssignment:
allocation 0: size 1048576, color 5, page 0, output shape is |f32[512,512]|, maybe-live-out:
 value: <18 copy-start.1.0{0} @5> (size=1048576,offset=0): f32[512,512]{1,0:S(5)}
allocation 1: size 1048576, page 0, parameter 0, shape |f32[512,512]| at ShapeIndex {}:
 value: <10 x.1 @0> (size=1048576,offset=0): f32[512,512]{1,0}
allocation 2: size 4, page 0, constant:
 value: <14 constant_2_0 @0> (size=4,offset=0): f32[]
allocation 3: size 4, page 0, thread-local:
 value: <2 add.1 @0> (size=4,offset=0): f32[]
allocation 4: size 4194304, page 0, preallocated-temp:
 value: <15 gemm_fusion_dot @0> (size=4194304,offset=0): f32[4,512,512]{2,1,0}
"""


def test_pages_as_xla_writes_them_for_a_gpu_are_no_reason_to_count_all_as_temporary():
    """JAX 0.11.2; what is not understood of a line would leave arguments and results among the temporaries."""
    found = parse_buffer_assignment(GPU)
    assert found.unknown == {}
    assert found.temporary_bytes() == 4194304
    output, parameter, *_ = found.allocations
    assert (output.is_live_out, output.color, parameter.parameter) == (True, 5, 0)
