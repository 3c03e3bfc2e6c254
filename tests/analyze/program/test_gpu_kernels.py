"""Kernels of programs that ran on a GPU: all that XLA launched are there, each with the library that implements it."""

from __future__ import annotations

from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.analyze.program.backend_config import library_of_fusion
from pjit_inspect.analyze.program.fusions import find_fusions

ran = fixtures.on_h200


def sorts(name: str) -> list[tuple[str, str]]:
    """The sort of each kernel, and the routine of a library or else what it ends in."""
    return [(row.sort, row.routine or row.op_name.rpartition("/")[2]) for row in ran(name).fusions]


@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        ("cond", [("loop", "gt"), ("loop", "sin"), ("cuBLASLt", "matmul"), ("Triton", "dot_general"), ("loop", "mul")]),
        ("fft", [("loop", "convert_element_type"), ("fft", "fft"), ("loop", "abs")]),
        ("attention_cudnn", [("cuDNN", "fmhaSoftmax")]),
        ("pallas", [("Triton", "double_it"), ("loop", "add")]),
        ("sort", [("custom", "sort"), ("loop", "slice"), ("custom", "sort")]),
        ("print", [("input", "reduce_sum"), ("Triton", "reduce_sum"), ("loop", "mul")]),
        ("matmul", [("Triton", "dot_general")] * 4),
    ],
)
def test_kernels_are_those_of_xlas_thunks_with_their_library(name: str, kernels: list[tuple[str, str]]):
    """The list of thunks that XLA printed when it ran: each that is no copy, callback or branch is a kernel."""
    assert sorts(name) == kernels


def test_routines_of_cusolver_are_named():
    found = {(row.library, row.routine) for row in ran("linalg").fusions if row.kind == "custom-call"}
    assert found == {
        ("cuBLAS", "triangularSolve"), ("cuSOLVER", "getrf"), ("cuSOLVER", "potrf"), ("cuSOLVER", "syevd"),
        ("jaxlib CUDA", "lu_pivots_to_permutation"),
    }  # fmt: skip


def test_the_workspace_of_a_library_is_no_result():
    (matmul,) = [row for row in ran("cond").fusions if row.library == "cuBLASLt"]
    assert matmul.outputs == ("f32[4,512,512]", "s8[33554432]")
    assert (matmul.bytes_written, matmul.workspace_bytes) == (4 * 512 * 512 * 4, 32 << 20)
    backward = next(row for row in ran("conv_grad").fusions if row.routine == "convBackwardFilter")
    assert (backward.bytes_written, backward.workspace_bytes) == (3 * 3 * 16 * 32 * 4, 6_881_424)


def test_the_text_names_library_and_routine():
    text = str(ran("cond").show("text"))
    assert "1  cuBLASLt  matmul" in text
    assert "1  Triton    reduce" in text
    assert "fft     fft" in str(ran("fft").show("text"))


@pytest.mark.parametrize(
    ("kind", "library"),
    [
        ("__triton_gemm", "Triton"), ("__triton", "Triton"), ("__cudnn$fusion", "cuDNN"), ("__custom_fusion", ""),
        ("__ynn_fusion", ""),
    ],
)  # fmt: skip
def test_the_library_of_a_fusion_is_in_its_configuration(kind: str, library: str):
    assert library_of_fusion(f'{{"fusion_backend_config":{{"kind":"{kind}"}}}}') == library
    assert library_of_fusion("") == ""


def test_of_two_fusions_with_one_body_each_has_its_own_library():
    text = """HloModule two, is_scheduled=true

%first (p: f32[4,8]) -> f32[4,8] {
  %p = f32[4,8]{1,0} parameter(0)
  ROOT %n = f32[4,8]{1,0} negate(%p)
}

%second (q: f32[4,8]) -> f32[4,8] {
  %q = f32[4,8]{1,0} parameter(0)
  ROOT %m = f32[4,8]{1,0} negate(%q)
}

ENTRY %main (x: f32[4,8]) -> f32[4,8] {
  %x = f32[4,8]{1,0} parameter(0)
  %a = f32[4,8]{1,0} fusion(%x), kind=kCustom, calls=%first, backend_config=TRITON
  ROOT %b = f32[4,8]{1,0} fusion(%a), kind=kCustom, calls=%second, backend_config=CUDNN
}
"""
    for word, kind in (("TRITON", "__triton"), ("CUDNN", "__cudnn$fusion")):
        text = text.replace(word, f'{{"fusion_backend_config":{{"kind":"{kind}"}}}}')
    assert [row.library for row in find_fusions(fixtures.from_text(text))] == ["Triton", "cuDNN"]


def test_kernels_compared_are_called_by_their_library():
    assert "cuBLASLt" in str(pi.diff(ran("matmul"), ran("cond")).show("text"))


SMALL_SUM = """HloModule m, is_scheduled=true, num_partitions=8

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

%alone (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0)
  ROOT %s = f32[8]{0} all-reduce(%p), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=%add
}

%with_work (q: f32[8]) -> f32[8] {
  %q = f32[8]{0} parameter(0)
  %n = f32[8]{0} negate(%q)
  ROOT %t = f32[8]{0} all-reduce(%n), channel_id=2, replica_groups={{0,1,2,3,4,5,6,7}}, to_apply=%add
}

ENTRY %e (x: f32[8]) -> f32[8] {
  %x = f32[8]{0} parameter(0)
  %f = f32[8]{0} fusion(%x), kind=kCustom, calls=%alone
  ROOT %g = f32[8]{0} fusion(%f), kind=kCustom, calls=%with_work
}
"""


def test_a_collective_that_runs_as_a_kernel_is_reported_with_the_collectives():
    assert [row.name for row in find_fusions(fixtures.from_text(SMALL_SUM))] == ["g"]


CUB = """HloModule jit_f, is_scheduled=true

ENTRY %main (keys: u32[65536], values: s32[65536]) -> u32[65536] {
  %keys = u32[65536]{0} parameter(0)
  %values = s32[65536]{0} parameter(1)
  %call = (u32[65536]{0}, s32[65536]{0}, u8[544255]{0}) custom-call(%keys, %values), \
custom_call_target="xla.gpu.ext.cub_sort_pairs", api_version=API_VERSION_TYPED_FFI
  ROOT %sorted = u32[65536]{0} get-tuple-element(%call), index=0
}
"""
"""As XLA of JAX 0.11.2 writes it for an H100."""


def test_a_sort_of_cub_is_called_so_and_what_it_works_in_is_no_result(tmp_path: Path):
    (kernel,) = fixtures.opened(CUB, tmp_path).fusions
    assert (kernel.sort, kernel.routine) == ("CUB", "sort_pairs")
    assert (kernel.bytes_written, kernel.workspace_bytes) == (2 * 65536 * 4, 544_255)
