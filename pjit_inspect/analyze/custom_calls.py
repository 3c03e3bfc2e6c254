"""What XLA's custom calls are: kernels of a library, or something else under the same opcode.

Not its job: what a kernel computes.
"""

from __future__ import annotations

__all__ = ["is_kernel"]

_MARKERS = frozenset((
    "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "LayoutConstraint", "MoveToHost",
    "MoveToDevice", "PinToDevice", "PinToDeviceSram", "annotate_device_placement", "AllocateBuffer",
    "CreateBuffer", "AssumeGatherIndicesInBound", "ConcatBitcast", "GatherScatterIndicesBitpacked",
    "SliceToDynamic", "PadToStatic", "X64Combine", "X64SplitHigh", "X64SplitLow", "ResizeNearest",
    "PrepareAsyncCallStart", "PrepareAsyncCallDone", "AsyncCollectiveStart", "AsyncCollectiveDone",
    "AsyncCollectiveUpdate", "Pin", "Unpin",
))  # fmt: skip
"""Notes to the compiler, views of memory, and halves of asynchronous operations: nothing that computes."""

_NO_KERNEL = ("xla.sdy.", "callback", "CallbackTo", "HostExecute", "host_execute", "Infeed", "Outfeed")
"""Parts of targets that mark sharding notes and calls back into the host's Python."""


def is_kernel(target: str) -> bool:
    """Whether a custom call runs a kernel of a library on the device (cuBLAS, oneDNN, Triton, Mosaic, ...).

    Everything that is not known to be something else counts as a kernel, so that a new library is not lost.
    """
    return bool(target) and target not in _MARKERS and not any(part in target for part in _NO_KERNEL)
