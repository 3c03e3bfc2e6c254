"""Describes XLA's custom calls: kernels of a library, calls back into Python, or something else.

On TPU callbacks are sends and receives, which are not found here. Not its job: what a kernel computes.

*Source*: targets registered in XLA (`xla/service/gpu/cublas_cudnn.cc`, `xla/backends/cpu`, ...) and jaxlib; for
callbacks `jax/_src/callback.py`, `jax/_src/debugging.py` (primitives), `emit_python_callback` in
`jax/_src/interpreters/mlir.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from pjit_inspect.analyze.program.loops import count_runs
from pjit_inspect.analyze.program.phases import split_op_names
from pjit_inspect.analyze.program.source import UNKNOWN_FILES, UserFiles, user_frames
from pjit_inspect.model.program.hlo import Details, HloModule, Instruction
from pjit_inspect.model.program.shape import Shape
from pjit_inspect.model.report.collective import KINDS
from pjit_inspect.model.report.host_callback import CallbackTable, HostCallback

TRITON = "__gpu$xla.gpu.triton"
"""The target of a Pallas kernel that XLA compiles with Triton, and launches as one of its own."""

Role = Literal["kernel", "sharding", "async", "memory", "host", "note", "unknown"]
"""The role of a custom call: a kernel on the device, a sharding note, half of an asynchronous operation, a view or a
placement of memory, a call back into the host, another note to the compiler, or a target that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomCall:
    """One custom call.

    Attributes:
      target: as the program writes it ("__cublas$lt$matmul").
      library: who implements it, as people call it ("cuBLASLt", "Mosaic TPU (Pallas)"); "" for an unknown target.
      role: what it is.
      kernel: the kernel's own name, where the program says it (Pallas, Triton); "" otherwise.
      routine: that, or what the target names beside its library ("matmul", "getrf"); the target where there is no more.
    """

    target: str
    library: str
    role: Role
    kernel: str = ""
    routine: str = ""


_EXACT: dict[str, tuple[str, Role]] = {
    "Sharding": ("GSPMD", "sharding"),
    "SPMDFullToShardShape": ("GSPMD", "sharding"),
    "SPMDShardToFullShape": ("GSPMD", "sharding"),
    "AsyncCollectiveStart": ("XLA TPU", "async"),
    "AsyncCollectiveDone": ("XLA TPU", "async"),
    "AsyncCollectiveUpdate": ("XLA TPU", "async"),
    "PrepareAsyncCallStart": ("XLA TPU", "async"),
    "PrepareAsyncCallDone": ("XLA TPU", "async"),
    "AllocateBuffer": ("XLA", "memory"),
    "CreateBuffer": ("XLA", "memory"),
    "Pin": ("XLA", "memory"),
    "Unpin": ("XLA", "memory"),
    "MoveToHost": ("XLA", "memory"),
    "MoveToDevice": ("XLA", "memory"),
    "PinToDevice": ("XLA", "memory"),
    "PinToDeviceSram": ("XLA", "memory"),
    "annotate_device_placement": ("JAX", "memory"),
    "ConcatBitcast": ("XLA TPU", "memory"),
    "GatherScatterIndicesBitpacked": ("XLA TPU", "note"),
    "AssumeGatherIndicesInBound": ("XLA TPU", "note"),
    "LayoutConstraint": ("XLA", "note"),
    "SliceToDynamic": ("XLA", "memory"),
    "PadToStatic": ("XLA", "memory"),
    "X64Combine": ("XLA TPU", "memory"),
    "X64SplitHigh": ("XLA TPU", "memory"),
    "X64SplitLow": ("XLA TPU", "memory"),
    "ResizeNearest": ("XLA TPU", "kernel"),
    "tpu_custom_call": ("Mosaic TPU (Pallas)", "kernel"),
    "triton_kernel_call": ("Triton (jax-triton, Pallas)", "kernel"),
    "TopK": ("XLA", "kernel"),
    "PartialReduce": ("XLA", "kernel"),
    "ApproxTopK": ("XLA", "kernel"),
}
"""Targets with one name."""

_BEGINNINGS: tuple[tuple[str, str, Role], ...] = (
    ("xla.sdy.", "Shardy", "sharding"),
    ("__cublas$lt$", "cuBLASLt", "kernel"),
    ("__cublas$", "cuBLAS", "kernel"),
    ("cublas_", "cuBLAS", "kernel"),
    ("__cudnn$", "cuDNN", "kernel"),
    ("cudnn_", "cuDNN", "kernel"),
    ("__cusolver$", "cuSOLVER", "kernel"),
    ("cusolver_", "cuSOLVER", "kernel"),
    ("cusparse_", "cuSPARSE", "kernel"),
    ("__cub$", "CUB", "kernel"),
    ("xla.gpu.ext.cub_", "CUB", "kernel"),
    (TRITON, "Triton (Pallas)", "kernel"),
    ("__triton$", "Triton", "kernel"),
    ("__gpu$", "XLA GPU", "kernel"),
    ("cu_", "jaxlib CUDA", "kernel"),
    ("hipblas", "hipBLAS", "kernel"),
    ("hipsolver", "hipSOLVER", "kernel"),
    ("hip_", "jaxlib ROCm", "kernel"),
    ("rocsolver_", "rocSOLVER", "kernel"),
    ("mosaic_gpu", "Mosaic GPU (Pallas)", "kernel"),
    ("__onednn$", "oneDNN", "kernel"),
    ("lapack_", "LAPACK", "kernel"),
    ("blas_", "BLAS", "kernel"),
    ("__acl$", "Arm Compute Library", "kernel"),
)
"""Beginnings of targets; the first that fits counts."""

_WITH_WORKSPACE = ("__cublas$", "__cudnn$", "__cub$", "xla.gpu.ext.cub_")

_PARTS: tuple[tuple[str, str, Role], ...] = (
    ("callback", "JAX", "host"),
    ("CallbackTo", "JAX", "host"),
    ("HostExecute", "XLA", "host"),
    ("host_execute", "XLA", "host"),
    ("Infeed", "XLA", "host"),
    ("Outfeed", "XLA", "host"),
)
"""Parts of targets that call back into the host; they count before beginnings."""

_TRITON_NAME = re.compile(r'\bname\s*=\s*"([^"]{1,200})"')
_PALLAS_NAME = re.compile(r"([^/]{1,200})/pallas_call")


def describe_custom_call(instruction: Instruction) -> CustomCall:
    """Describes a custom call. Raises `ParseError` when its bytes are damaged."""
    details = instruction.details
    library, role = _look_up(details.custom_call_target)
    kernel = _kernel_name(details, instruction.op_name) if role in ("kernel", "unknown") else ""
    target = details.custom_call_target
    return CustomCall(target=target, library=library, role=role, kernel=kernel, routine=kernel or _routine(target))


def _routine(target: str) -> str:
    start = next((start for start, _, role in _BEGINNINGS if role == "kernel" and target.startswith(start)), "")
    return target.removeprefix(start).removesuffix("_ffi") or target


def workspace_of(call: Instruction) -> int:
    """Bytes of the scratch memory that a custom call to a library is given; 0 where it has none.

    XLA gives it as the last of several results, one dimension of bytes.
    """
    elements = call.shape.elements
    if len(elements) < 2 or not call.custom_call_target.startswith(_WITH_WORKSPACE):
        return 0
    last = elements[-1]
    is_workspace = last.dtype in ("s8", "u8") and len(last.dimensions) == 1
    return (last.bytes or 0) if is_workspace else 0


def _look_up(target: str) -> tuple[str, Role]:
    if target in _EXACT:
        return _EXACT[target]
    for part, library, role in _PARTS:
        if part in target:
            return library, role
    for start, library, role in _BEGINNINGS:
        if target.startswith(start):
            return library, role
    return "", "unknown"


def _kernel_name(details: Details, op_name: str) -> str:
    if "triton" in details.custom_call_target:
        match = _TRITON_NAME.search(details.backend_config)
        if match:
            return match[1]
    match = _PALLAS_NAME.search(op_name)
    return match[1] if match else ""


def is_kernel(target: str) -> bool:
    """True if a custom call runs a kernel of a library on the device (cuBLAS, oneDNN, Triton, Mosaic, ...).

    Everything that is not known to be something else counts as a kernel, so that a new library is not lost.
    """
    return bool(target) and _look_up(target)[1] in ("kernel", "unknown")


def runs_kernel(instruction: Instruction) -> bool:
    """True if a fusion or a custom call does work of its own: a collective or half of one, or a note, does not."""
    if instruction.opcode == "custom-call":
        return is_kernel(instruction.custom_call_target)
    called = instruction.called
    root = called[0].root if called else instruction
    if root.opcode in KINDS:
        # GPUs run a small one as a kernel of Triton's.
        return any(one.opcode not in ("parameter", "bitcast") for one in called[0] if one.index != root.index)
    return root.opcode != "custom-call" or not root.custom_call_target.startswith("AsyncCollective")


_KINDS: Mapping[str, Literal["pure", "io", "debug"]] = {
    "pure_callback": "pure",
    "io_callback": "io",
    "debug_callback": "debug",
    "debug_print": "debug",
}
"""JAX's primitive -> what kind of callback it is."""


def find_callbacks(module: HloModule, files: UserFiles = UNKNOWN_FILES) -> CallbackTable:
    """Every call back into Python, in schedule order; `files` says which files are the user's."""
    in_order = sorted(module.with_opcode("custom-call").tolist(), key=lambda row: module.places[row])
    calls = [module.instruction(row) for row in in_order]
    runs = count_runs(module) if calls else ()
    rows = []
    for call in calls:
        if "python" not in call.custom_call_target or "callback" not in call.custom_call_target:
            continue
        often = runs[call.computation.index]
        rows.append(
            HostCallback(
                kind=_kind(call.op_name),
                ordered=any(leaf.dtype == "token" for operand in call.operands for leaf in operand.shape.leaves),
                name=call.name,
                target=call.details.custom_call_target,
                op_name=call.op_name,
                source=user_frames(module.frames(call.index), files),
                count=often.most,
                count_min=often.least,
                operand_bytes=_bytes(operand.shape for operand in call.operands),
                result_bytes=_bytes((call.shape,)),
            )
        )
    return CallbackTable(tuple(rows))


def _kind(op_name: str) -> Literal["pure", "io", "debug"] | None:
    kinds: set[Literal["pure", "io", "debug"] | None]
    kinds = {_KINDS.get(name.rpartition("/")[2].partition("[")[0]) for name in split_op_names(op_name)}
    return kinds.pop() if len(kinds) == 1 else None


def _bytes(shapes: Iterable[Shape]) -> int | None:
    """Bytes of all arrays; a token has none."""
    sizes = [leaf.bytes for shape in shapes for leaf in shape.leaves if leaf.is_array]
    return None if None in sizes else sum(size for size in sizes if size is not None)
