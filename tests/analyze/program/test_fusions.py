"""Every fused kernel that runs is found, with what it contains and the traffic it saves."""

from __future__ import annotations

import re

import numpy as np
import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.program.custom_calls import is_kernel
from pjit_inspect.analyze.program.fusions import _Columns, find_fusions

PROGRAM = """HloModule kernels, is_scheduled=true

%one (p: f32[4,8], q: f32[8]) -> f32[4,8] {
  %p = f32[4,8]{1,0} parameter(0)
  %q = f32[8]{0} parameter(1)
  %two = f32[] constant(2)
  %twos = f32[4,8]{1,0} broadcast(%two), dimensions={}
  %wide = f32[4,8]{1,0} broadcast(%q), dimensions={1}
  %m = f32[4,8]{1,0} multiply(%p, %twos)
  %v = f32[32]{0} bitcast(%m)
  %u = f32[4,8]{1,0} bitcast(%v)
  ROOT %a = f32[4,8]{1,0} add(%u, %wide)
}

%two_results (p1: f32[4,8]) -> (f32[4,8], bf16[4,8]) {
  %p1 = f32[4,8]{1,0} parameter(0)
  %e = f32[4,8]{1,0} exponential(%p1)
  %n = f32[4,8]{1,0} negate(%e)
  %c = bf16[4,8]{1,0} convert(%n)
  ROOT %t = (f32[4,8]{1,0}, bf16[4,8]{1,0}) tuple(%n, %c)
}

%inside (s: f32[4,8]) -> f32[4,8] {
  %s = f32[4,8]{1,0} parameter(0)
  ROOT %sin = f32[4,8]{1,0} sine(%s)
}

%worker (w: f32[4,8]) -> f32[4,8] {
  %w = f32[4,8]{1,0} parameter(0)
  ROOT %in_call = f32[4,8]{1,0} fusion(%w), kind=kInput, calls=%inside
}

ENTRY %main (x: f32[4,8], y: f32[8]) -> f32[4,8] {
  %x = f32[4,8]{1,0} parameter(0)
  %y = f32[8]{0} parameter(1)
  %first = f32[4,8]{1,0} fusion(%x, %y), kind=kLoop, calls=%one, metadata={op_name="jit(f)/add"}
  %mark = f32[4,8]{1,0} custom-call(%first), custom_call_target="Sharding"
  %called = f32[4,8]{1,0} call(%mark), to_apply=%worker
  %lib = f32[4,8]{1,0} custom-call(%called, %called), custom_call_target="__cublas$gemm"
  %second = (f32[4,8]{1,0}, bf16[4,8]{1,0}) fusion(%lib), kind=kOutput, calls=%two_results
  ROOT %out = f32[4,8]{1,0} get-tuple-element(%second), index=0
}
"""


def test_kernels_are_found_in_schedule_order_with_those_in_calls_in_their_place():
    rows = find_fusions(fixtures.from_text(PROGRAM))
    assert [(row.name, row.kind, row.target) for row in rows] == [
        ("first", "loop", None),
        ("in_call", "input", None),
        ("lib", "custom-call", "__cublas$gemm"),
        ("second", "output", None),
    ]


def test_a_kernel_by_hand():
    first = find_fusions(fixtures.from_text(PROGRAM))[0]
    assert first.instructions == (("bitcast", 2), ("broadcast", 2), ("add", 1), ("multiply", 1))
    assert (first.inputs, first.outputs) == (("f32[4,8]", "f32[8]"), ("f32[4,8]",))
    assert (first.bytes_read, first.bytes_written) == (128 + 32, 128)
    # The wide row and the product, 128 bytes each, would be written once and read once. A bitcast is the same memory,
    # and a number that is repeated is not stored.
    assert first.bytes_saved == 2 * 2 * 128
    assert (first.count, first.op_name) == (1, "jit(f)/add")


def test_results_of_a_kernel_are_not_saved_and_equal_operands_are_read_once():
    _, _, library, second = find_fusions(fixtures.from_text(PROGRAM))
    assert (second.outputs, second.bytes_written) == (("f32[4,8]", "bf16[4,8]"), 128 + 64)
    assert second.bytes_saved == 2 * 128  # the exponential alone
    assert (library.inputs, library.bytes_read, library.bytes_saved) == (("f32[4,8]",), 128, 0)


CUSTOM = """HloModule custom, is_scheduled=true

%sum (p: f32[4,8], q: f32[4,8]) -> f32[4,8] {
  %p = f32[4,8]{1,0} parameter(0)
  %q = f32[4,8]{1,0} parameter(1)
  ROOT %a = f32[4,8]{1,0} add(%p, %q)
}

ENTRY %main (x: f32[4,8], y: f32[4,8]) -> f32[4,8] {
  %x = f32[4,8]{1,0} parameter(0)
  %y = f32[4,8]{1,0} parameter(1)
  %one = f32[4,8]{1,0} fusion(%x, %y), kind=kCustom, calls=%sum, backend_config={"fusion_backend_config":{"kind":"__triton"}}
  %two = f32[4,8]{1,0} fusion(%x, %x), kind=kCustom, calls=%sum, backend_config={"fusion_backend_config":{"kind":"__triton"}}
  %three = f32[4,8]{1,0} fusion(%one, %two), kind=kCustom, calls=%sum, backend_config={"fusion_backend_config":{"kind":"__cudnn$fusion"}}
  ROOT %four = f32[4,8]{1,0} fusion(%three, %three), kind=kCustom, calls=%sum, backend_config={"fusion_backend_config":{"kind":"__triton"}}
}
"""  # noqa: E501


def test_kernels_of_one_body_differ_in_their_library_and_in_what_they_take_twice():
    rows = find_fusions(fixtures.from_text(CUSTOM))
    assert [(row.library, row.bytes_read) for row in rows] == [
        ("Triton", 256),
        ("Triton", 128),
        ("cuDNN", 256),
        ("Triton", 128),
    ]
    # The last is built as the second is: they are looked into once.
    module = fixtures.from_text(CUSTOM)
    kernels = [row for row in range(len(module)) if module.instruction(row).opcode == "fusion"]
    first, second, third, fourth = _Columns(module, None).likenesses(kernels)
    assert second == fourth is not None
    assert len({first, second, third}) == 3


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_every_fusion_that_the_text_runs_is_found(name: str):
    module, text = fixtures.module(name), fixtures.text(name)
    # A fusion called from a fused computation is part of that one; nothing in the fixtures runs in loops.
    bodies = set(re.findall(r"fusion\([^\n]*?calls=%([^\s,]+)", text))
    expected, halves = [], 0
    for computation, body in re.findall(r"^(?:ENTRY )?%([^ ]+) \([^\n]*\{\n(.*?)^\}", text, flags=re.M | re.S):
        if computation not in bodies:
            expected += re.findall(r"^  (?:ROOT )?%([^ ]+) = [^\n]*? fusion\(", body, flags=re.M)
        elif re.search(r"ROOT [^\n]*custom_call_target=\"AsyncCollective", body):
            halves += 1
    found = [row.name for row in find_fusions(module) if row.kind != "custom-call"]
    assert len(found) == len(expected) - halves
    assert set(found) <= set(expected)
    assert len(set(found)) == len(found)


def test_kernels_in_a_loop_run_once_per_trip():
    jax = pytest.importorskip("jax")

    def layers(x, ws):
        return jax.lax.scan(lambda h, w: (jax.numpy.tanh(h * w) + 1, None), x, ws)[0]

    rows = find_fusions(fixtures.compiled(layers, np.ones((8,), np.float32), np.ones((6, 8), np.float32)))
    assert [row.count for row in rows if "tanh" in dict(row.instructions)] == [6]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("__cublas$lt$matmul", True),
        ("__cudnn$convBiasActivationForward", True),
        ("__onednn$matmul", True),
        ("tpu_custom_call", True),
        ("triton_kernel_call", True),
        ("lapack_sgetrf_ffi", True),
        ("TopK", True),
        ("some_new_library", True),
        ("Sharding", False),
        ("xla.sdy.FuncResultSharding", False),
        ("xla_ffi_python_cpu_callback", False),
        ("xla_ffi_partitioned_python_gpu_callback", False),
        ("AsyncCollectiveStart", False),
        ("PrepareAsyncCallDone", False),
        ("ConcatBitcast", False),
        ("", False),
    ],
)
def test_kernels_of_libraries_are_told_from_markers_and_callbacks(target: str, expected: bool):
    assert is_kernel(target) is expected


SLICED = """HloModule sliced

%takes (w: f32[64,1024], i: s32[], y: f32[64,1024], x: f32[1024]) -> f32[64,1024] {
  %w = f32[64,1024]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %y = f32[64,1024]{1,0} parameter(2)
  %x = f32[1024]{0} parameter(3)
  %zero = s32[] constant(0)
  %flat = f32[64,1024]{1,0} bitcast(%w)
  %slice = f32[1,1024]{1,0} dynamic-slice(%flat, %i, %zero), dynamic_slice_sizes={1,1024}
  %wi = f32[1024]{0} bitcast(%slice)
  %m = f32[1024]{0} multiply(%wi, %x)
  %row = f32[1,1024]{1,0} bitcast(%m)
  ROOT %update = f32[64,1024]{1,0} dynamic-update-slice(%y, %row, %i, %zero)
}

%both (v: f32[64,1024], u: f32[64,1024]) -> (f32[2,1024], f32[64,1024]) {
  %v = f32[64,1024]{1,0} parameter(0)
  %u = f32[64,1024]{1,0} parameter(1)
  %two = f32[2,1024]{1,0} slice(%v), slice={[0:2], [0:1024]}
  %n = f32[64,1024]{1,0} negate(%u)
  ROOT %t = (f32[2,1024]{1,0}, f32[64,1024]{1,0}) tuple(%two, %n)
}

%copies (z: f32[64,1024], j: s32[], r: f32[1,1024]) -> f32[64,1024] {
  %z = f32[64,1024]{1,0} parameter(0)
  %j = s32[] parameter(1)
  %r = f32[1,1024]{1,0} parameter(2)
  %nz = f32[64,1024]{1,0} negate(%z)
  %zero.1 = s32[] constant(0)
  ROOT %changed = f32[64,1024]{1,0} dynamic-update-slice(%nz, %r, %j, %zero.1)
}

ENTRY %main (a: f32[64,1024], b: f32[64,1024], k: s32[], c: f32[1024], d: f32[1,1024]) -> f32[64,1024] {
  %a = f32[64,1024]{1,0} parameter(0)
  %b = f32[64,1024]{1,0} parameter(1)
  %k = s32[] parameter(2)
  %c = f32[1024]{0} parameter(3)
  %d = f32[1,1024]{1,0} parameter(4)
  %in_place = f32[64,1024]{1,0} fusion(%a, %k, %b, %c), kind=kLoop, calls=%takes
  %same = (f32[2,1024]{1,0}, f32[64,1024]{1,0}) fusion(%a, %a), kind=kLoop, calls=%both
  %apart = (f32[2,1024]{1,0}, f32[64,1024]{1,0}) fusion(%a, %in_place), kind=kLoop, calls=%both
  ROOT %whole = f32[64,1024]{1,0} fusion(%in_place, %k, %d), kind=kLoop, calls=%copies
}
"""
ROW, ALL = 1024 * 4, 64 * 1024 * 4


def test_a_kernel_reads_and_writes_the_slices_it_takes_and_updates():
    rows = {row.name: (row.bytes_read, row.bytes_written) for row in find_fusions(fixtures.from_text(SLICED))}
    assert rows == {
        # A row of `a`, the number `k`, the row of `b` that is updated, all of `c`.
        "in_place": (ROW + 4 + ROW + ROW, ROW),
        # One of both uses of `a` reads all of it.
        "same": (ALL, 2 * ROW + ALL),
        "apart": (2 * ROW + ALL, 2 * ROW + ALL),
        # What is updated is made here: nothing is in place.
        "whole": (ALL + 4 + ROW, ALL),
    }


def test_a_loop_over_stacked_weights_reads_each_row_once():
    jax = pytest.importorskip("jax")

    def layers(x, ws):
        return jax.lax.scan(lambda h, w: (jax.numpy.tanh(h * w), None), x, ws)[0]

    shapes = (1024,), (64, 1024)
    rows = find_fusions(fixtures.compiled(layers, *(np.ones(shape, np.float32) for shape in shapes)))
    [row] = [row for row in rows if "tanh" in dict(row.instructions)]
    assert (row.count, row.bytes_written) == (64, ROW)
    # A row of weights, what is carried, and the loop's counter of 4 bytes.
    assert row.bytes_read in (ROW + ROW, ROW + ROW + 4)
