"""Communication of a program that is no HLO collective, and what may be some: the one place that judges this.

Custom calls to kernels with communication of their own, targets and opcodes nobody knows, transfers to the host. Their
bytes are unknown. Not its job: HLO collectives (`analyze.collectives`), saying it (`view.record.answer`).

*Source*: `has_communication` in `jax/_src/tpu_custom_call.py`; NVSHMEM in `jax/experimental/mosaic/gpu`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from pjit_inspect.analyze.program.custom_calls import describe_custom_call
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.report.collective import OtherCommunication

_HOST_OPCODES = sorted(operations("host"))
_TARGET = re.compile(
    r"nccl|rccl|nvshmem|oneccl|(?:^|[^a-z])(?:mpi|ucx|gloo)|all.?reduce|all.?gather|all.?to.?all|reduce.?scatter"
    r"|collective|broadcast.?multi|remote|barrier|(?:^|[^a-z])(?:send|recv|psum|ppermute)(?:[^a-z]|$)",
    flags=re.I,
)
"""Names of custom calls that communicate."""
_CONFIG = re.compile(r"\"has_communication\"\s*:\s*true|nvshmem|remote_(?:dma|copy|ref)|multimem", flags=re.I)
"""Words in a kernel's configuration that mean communication."""
_LONGEST_CONFIG = 1 << 20


def find_other_communication(module: HloModule, devices: int | None) -> tuple[OtherCommunication, ...]:
    """Communication that is no collective, certain or possible, by kind; () for a program of one device.

    `devices` is how many devices the program has; None when only the program itself may say.
    """
    counts = module.device_counts
    if devices == 1 or (devices is None and counts is not None and math.prod(counts) == 1):
        return ()
    found = Counter(_found(module))
    return tuple(OtherCommunication(what=what, name=name, count=count) for (what, name), count in sorted(found.items()))


def _found(module: HloModule) -> Iterator[tuple[Literal["sends", "may", "host"], str]]:
    for index in module.with_opcode("custom-call").tolist():
        what = _of_custom_call(module.instruction(index))
        if what:
            yield what, module.instruction(index).custom_call_target or "without a target"
    for opcode in _HOST_OPCODES:
        for index in module.with_opcode(opcode).tolist():
            if opcode in ("infeed", "outfeed") or module.instruction(index).details.is_host_transfer:
                yield "host", opcode
    for what, count in module.unknown.items():
        if what.startswith("opcode "):
            for _ in range(count):
                yield "may", what.removeprefix("opcode ")


def _of_custom_call(call: Instruction) -> Literal["sends", "may", ""]:
    target, role = call.custom_call_target, describe_custom_call(call).role
    if role in ("sharding", "async", "memory", "note", "host"):
        # A halves of an asynchronous collective is one of the collectives, and callbacks have a table of their own.
        return ""
    if _TARGET.search(target) or _CONFIG.search(call.details.backend_config[:_LONGEST_CONFIG]):
        return "sends"
    return "may" if role == "unknown" else ""
