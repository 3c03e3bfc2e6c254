"""What XLA says when memory is short, in every form that is known.

Texts of libtpu 0.0.42 and of the CPU's client were seen here. Those marked "public" are from threads and logs that
users posted, shortened, with other paths: no GPU and no TPU was at hand.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjit_inspect.model.record.shortage import MemoryShortage, ReportedBuffer
from pjit_inspect.parse.messages.memory_errors import parse_memory_shortage

KIB, MIB, GIB = 2**10, 2**20, 2**30

TPU_LIST = """RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 63.80G \
of 30.75G hbm. Exceeded hbm capacity by 33.05G.

Total hbm usage >= 65.05G:
    reserved          1.25G
    program          63.80G
    arguments            0B

Output size 0B; shares 0B with arguments.

Program hbm requirement 63.80G:
    global            1.14M
    scoped            4.56M
    HLO temp         63.79G (100.0% utilization: Unpadded (63.58G) Padded (63.58G), 0.3% fragmentation (210.89M))

  Largest program allocations in hbm:

  1. Size: 2.00G
     Operator: op_name="jit(step)/jit(main)/jvp(Model)/h/0/self_attention/...qhd,...khd->...hqk/dot_general\
[dimension_numbers=(((3,), (3,)), ((0, 2), (0, 2)))]" source_file="/home/air/attention_module.py" source_line=1059
     Shape: f32[32,4096,4096]{1,2,0:T(8,128)}
     Unpadded size: 2.00G
     XLA label: fusion.1265.remat3 = fusion(custom-call.224, custom-call.241), kind=kOutput, calls=fused_computation
     Allocation type: HLO temp
     ==========================

  2. Size: 512.00M
     Operator: op_type="OneHot" op_name="one_hot"
     Shape: f32[4,128,128,9,18]{4,3,0,2,1:T(8,128)}
     Unpadded size: 40.50M
     Extra memory due to padding: 471.50M (12.6x expansion)
     XLA label: %fusion.1668 = f32[4,128,128,9,18]{4,3,0,2,1:T(8,128)} fusion(s32[4,128]{1,0} %copy.130), kind=kLoop
     Allocation type: HLO temp
     ==========================
"""
"""Public: EasyDeL issue 166 (TPU v4), and the second buffer from a TPUv2 log."""

GPU_LIST = """RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2110783616 bytes.
BufferAssignment OOM Debugging.
BufferAssignment stats:
             parameter allocation:    1.02GiB
              constant allocation:         0B
        maybe_live_out allocation:    4.89GiB
     preallocated temp allocation:    1.97GiB
  preallocated temp fragmentation:         0B (0.00%)
                 total allocation:    7.88GiB
              total fragmentation:       112B (0.00%)
Peak buffers:
\tBuffer 1:
\t\tSize: 4.89GiB
\t\tOperator: op_name="jit(dot)/jit(main)/dot_general[dimension_numbers=(((2,), (0,)), ((), ())) precision=None]" \
source_file="/home/air/gemma.py" source_line=175
\t\tXLA Label: custom-call
\t\tShape: f32[5104,257152]
\t\t==========================

\tBuffer 2:
\t\tSize: 1004.50MiB
\t\tEntry Parameter Subshape: f16[2048,257152]
\t\t==========================

\tBuffer 3:
\t\tSize: 16B
\t\tOperator: op_name="jit(dot)/jit(main)/dot_general" source_file="/home/air/gemma.py" source_line=175
\t\tXLA Label: custom-call
\t\tShape: (f32[5104,257152], s8[4194304])
\t\t==========================

"""
"""Public: a log of JAX 0.4 on a V100, in the form of jax issue 13428."""


def shortage(message: str) -> MemoryShortage:
    found = parse_memory_shortage(message)
    assert found is not None
    return found


def test_the_list_of_a_tpu_is_read_to_the_last_line():
    found = shortage(TPU_LIST)
    assert (found.kind, found.space) == ("compile", "hbm")
    assert (found.needed_bytes, found.available_bytes) == (round(63.8 * GIB), round(30.75 * GIB))
    assert found.unknown == ()
    assert found.sums["hbm usage"] == round(65.05 * GIB)
    assert found.sums["hbm usage / arguments"] == found.sums["output in arguments"] == 0
    assert found.sums["Program / HLO temp"] == round(63.79 * GIB)
    assert found.sums["Program / HLO temp, padded"] == round(63.58 * GIB)
    assert found.sums["Program / HLO temp, fragmentation"] == round(210.89 * MIB)
    assert found.largest[1] == ReportedBuffer(
        bytes=512 * MIB,
        unpadded_bytes=round(40.5 * MIB),
        padding_bytes=round(471.5 * MIB),
        shape="f32[4,128,128,9,18]{4,3,0,2,1:T(8,128)}",
        dtype="f32",
        dimensions=(4, 128, 128, 9, 18),
        op_name="one_hot",
        instruction="fusion.1668",
        opcode="fusion",
        allocation="HLO temp",
    )
    first = found.largest[0]
    assert (first.instruction, first.opcode, first.source_line) == ("fusion.1265.remat3", "fusion", 1059)
    assert first.op_name.startswith("jit(step)/jit(main)/jvp(Model)/h/0/self_attention/...qhd")


def test_the_list_of_a_gpu_is_read_to_the_last_line():
    found = shortage(GPU_LIST)
    assert (found.kind, found.asked_bytes, found.needed_bytes) == ("allocation", 2_110_783_616, None)
    assert found.unknown == ()
    assert found.sums == {
        "parameter allocation": round(1.02 * GIB),
        "constant allocation": 0,
        "maybe_live_out allocation": round(4.89 * GIB),
        "preallocated temp allocation": round(1.97 * GIB),
        "preallocated temp fragmentation": 0,
        "total allocation": round(7.88 * GIB),
        "total fragmentation": 112,
    }
    assert [(one.bytes, one.dimensions, one.is_argument) for one in found.largest] == [
        (round(4.89 * GIB), (5104, 257152), False),
        (round(1004.5 * MIB), (2048, 257152), True),
        (16, (), False),
    ]
    assert found.largest[0].opcode == "custom-call"
    assert found.largest[2].shape == "(f32[5104,257152], s8[4194304])"


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        # libtpu 0.0.42.1.
        (
            "Ran out of memory on HBM, the total memory required for HLO temporaries (24.75G) exceeds available HBM "
            "(15.75G).",
            {"kind": "compile", "space": "hbm", "needed_bytes": round(24.75 * GIB), "available_bytes": 15.75 * GIB},
        ),
        # JAX 0.10.2 on a CPU: a result of a compiled function, and `jax.device_put`.
        ("Out of memory allocating 140737488355328 bytes.", {"asked_bytes": 2**47}),
        # openxla/xla, docs/errors: 1000, 1001, 0100, 0101.
        (
            "TPU TensorCore Hbm usage: 34.82G, SparseCore Hbm usage 174.10G, exceeding available bytes: 95.74G",
            {"kind": "compile", "needed_bytes": round(34.82 * GIB) + round(174.1 * GIB)},
        ),
        (
            "Allocation (size=134217728) would exceed memory (size=67108864) :: #allocation25 [shape = "
            "'u8[134217728]{0}', space=vmem, size = 0x8000000, tag = 'scoped memory for k.2'] :: k.2",
            {"kind": "compile", "space": "vmem", "asked_bytes": 2**27, "available_bytes": 2**26},
        ),
        (
            "E0100: RuntimeBufferAllocationFailure:\nError allocating device buffer: Attempting to allocate 8.00M. "
            "That was not possible. There are 6.43M free.; (0x0x1_HBM0)",
            {"asked_bytes": 8 * MIB, "free_bytes": round(6.43 * MIB), "device": "0x0x1_HBM0"},
        ),
        (
            "Error loading program 'jit_step': Attempting to reserve 29.49G at the bottom of memory. That was not "
            "possible. There are 147.64M free, 0B reserved, and 147.64M reservable. Scope: unknown..: while running "
            "replica 0 and partition 34 of a replicated computation (other replicas may have failed as well).",
            {"kind": "load", "program": "jit_step", "asked_bytes": round(29.49 * GIB)},
        ),
        # Public: as users of newer JAX post it.
        (
            "E1000: CompileTimeHbmOom:\nXLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used "
            "126.45G of 94.75G hbm. Exceeded hbm capacity by 31.70G.",
            {"kind": "compile", "space": "hbm", "needed_bytes": round(126.45 * GIB)},
        ),
        (
            "Out of memory while trying to allocate 1.95GiB\nwith allocator GPU_0_bfc on device 0.\n"
            "[executable_name='jit_greater'] [tf-allocator-allocation-error='']",
            {"asked_bytes": round(1.95 * GIB), "program": "jit_greater", "device": "0"},
        ),
        ("Failed to allocate request for 2.99GiB (3206250496B) on device ordinal 0", {"asked_bytes": 3_206_250_496}),
        # Public: the allocator of TensorFlow, which XLA for GPUs has; the size is there twice, once to the byte.
        (
            "Allocator (GPU_1_bfc) ran out of memory trying to allocate 20.00GiB (rounded to 21474836480)requested by "
            "op \nIf the cause is memory fragmentation maybe the environment variable "
            "'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation.",
            {"kind": "allocation", "asked_bytes": 20 * GIB, "is_rounded": False, "device": "1"},
        ),
        (
            "Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.50GiB with freed_by_count=0. The caller "
            "indicates that this is not a failure, but this may mean that there could be performance gains if more "
            "memory were available.",
            {"asked_bytes": round(2.5 * GIB), "is_rounded": True, "device": "0"},
        ),
        (
            "failed to allocate 1.25GiB (1342177280 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
            {"asked_bytes": 1280 * MIB, "is_rounded": False},
        ),
        ("Out of memory allocating 1,024 bytes.", {"asked_bytes": 1024, "is_rounded": False}),
        ("Out of memory while trying to allocate 20 GiB", {"asked_bytes": 20 * GIB, "is_rounded": True}),
        # Public: a kernel whose scratch memory is too large.
        (
            "Ran out of memory in memory space vmem while allocating on stack for %custom-call.1 = f32[8,128]{1,0} "
            "custom-call(%p). Scoped allocation with size 16.80M and limit 16.00M exceeded scoped vmem limit by "
            "816.0K. It should not be possible to run out of scoped vmem - please file a bug against XLA.",
            {"kind": "compile", "space": "vmem", "needed_bytes": round(16.8 * MIB), "available_bytes": 16 * MIB},
        ),
    ],
)
def test_every_form_is_read_in_its_figures(message: str, expected: dict[str, object]):
    found = shortage(f"RESOURCE_EXHAUSTED: {message}")
    assert {name: getattr(found, name) for name in expected} == expected
    assert found.unknown == ()


WORKER = """Resource exhausted: From /job:tpu_worker/replica:0/task:0:
Attempting to reserve 3.95G at the bottom of memory. That was not possible. There are 1.92G free, 0B reserved, and \
1.92G reservable.;
HBM capacity 8.00G:
       Top-of-Memory reserved:  529.00M (     554,696,704 bytes)
          Currently allocated:    6.08G (   6,532,939,776 bytes)
          Program requirement:    3.95G (   4,237,689,856 bytes)
"""
"""Public: pytorch/xla issue 1735 (2020)."""


def test_the_report_of_a_worker_is_read_to_the_last_line():
    found = shortage(WORKER)
    assert (found.kind, found.space, found.unknown) == ("load", "hbm", ())
    assert (found.asked_bytes, found.free_bytes) == (round(3.95 * GIB), round(1.92 * GIB))
    assert found.sentence.startswith("Attempting to reserve 3.95G")
    assert found.sums == {
        "HBM capacity": 8 * GIB,
        "HBM capacity / Top-of-Memory reserved": 554_696_704,
        "HBM capacity / Currently allocated": 6_532_939_776,
        "HBM capacity / Program requirement": 4_237_689_856,
    }


TUNING = """NOT_FOUND: Failed to get configs for: 5 out of 15 instructions. See logs for all \
failures. Example failure: \

All configs failed during profiling or were excluded from selection.
Failures (2):
EXECUTION FAILED: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 59.02GiB with allocator GPU_0_bfc on \
device 0. [tf-allocator-allocation-error='']
EXECUTION FAILED: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 59.02GiB with allocator GPU_0_bfc on \
device 0. [tf-allocator-allocation-error='']"""
"""JAX 0.11.2 on an H100, with 2 of 18 equal lines."""


def test_memory_that_was_short_while_xla_tried_kernels_is_no_allocation_of_a_run():
    found = shortage(TUNING)
    assert (found.kind, found.device, found.unknown) == ("tuning", "0", ())
    assert found.asked_bytes == round(59.02 * GIB)
    # A kernel that failed for another reason is kept as XLA says it.
    other = "EXECUTION FAILED: INTERNAL: it did not run"
    assert shortage(f"{TUNING}\n{other}").unknown == (other,)


def test_the_cpu_of_jax_0_8_says_it_as_an_internal_error():
    found = shortage(
        "INTERNAL: Buffer Definition Event: Error preparing computation: "
        "Out of memory allocating 140737488355328 bytes."
    )
    assert (found.asked_bytes, found.unknown) == (2**47, ())


def test_what_is_not_understood_is_kept():
    found = shortage(TPU_LIST.replace("Allocation type", "Home") + "\nand more")
    assert found.unknown == ("Home: HLO temp", "Home: HLO temp", "and more")
    assert len(found.largest) == 2


def test_a_line_of_a_buffer_before_any_buffer_is_kept():
    assert shortage("RESOURCE_EXHAUSTED: Shape: f32[8]").unknown == ("Shape: f32[8]",)


def test_other_errors_are_none_of_it():
    assert parse_memory_shortage("INVALID_ARGUMENT: Out of memory allocating 8 bytes.") is None
    assert parse_memory_shortage("") is None


@given(st.text(), st.sampled_from(TPU_LIST.splitlines() + GPU_LIST.splitlines()))
def test_any_text_is_read_without_an_error(text: str, line: str):
    found = shortage(f"RESOURCE_EXHAUSTED: {line[: len(text)]}{text}\n{line}{text}")
    assert isinstance(found, MemoryShortage)
