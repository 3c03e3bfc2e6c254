"""The fused kernels of an optimized program, and the library kernels beside them.

A kernel counts when it runs: in the program itself, in a loop, a branch, a call, or an asynchronous computation. On
CPU, XLA wraps kernels that run on several threads in a `call`: the fusions in it are what is reported. Fusions that
only start or finish a collective are reported with the collectives. Not its job: what a kernel costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pjit_inspect.analyze.program.custom_calls import runs_kernel
from pjit_inspect.analyze.program.fusion_traffic import bytes_read, bytes_written
from pjit_inspect.analyze.program.loops import count_runs
from pjit_inspect.analyze.program.source import user_frames
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.collective import KINDS
from pjit_inspect.model.report.fusion import Fusion, FusionTable

__all__ = ["find_fusions"]

_RUNS_INSIDE = frozenset(("while", "conditional", "call", "async-start"))
_NO_WORK = frozenset(("parameter", "constant"))
_NO_RESULT = frozenset((
    "parameter", "constant", "iota", "tuple", "get-tuple-element", "bitcast", "custom-call", *KINDS,
))  # fmt: skip
"""What writes no result of its own: names for others, what costs less to make than to read, and copies of a collective
that is counted elsewhere."""
_MOST = 1 << 53
"""Counts stop here: only a damaged program claims more."""
_MOST_BYTES = 1 << 63
"""More bytes than any program moves; a larger claim is unknown."""


def find_fusions(module: HloModule, *, cells: Mapping[str, str] | None = None) -> FusionTable:
    """Every fused kernel that runs, and every library kernel, in schedule order.

    What a loop, a branch or a call runs stands where it is called. `cells` says how the notebook calls a file.
    """
    context = _Context(module, cells)
    return FusionTable(tuple(_fusion(kernel, context) for kernel in _kernels(module)))


def _kernels(module: HloModule) -> Iterator[Instruction]:
    """The kernels of the entry computation and of those it runs, each computation once."""
    stack, seen = [iter(module.computation(module.entry).order.tolist())], set[int]()
    while stack:
        index = next(stack[-1], None)
        if index is None:
            stack.pop()
            continue
        instruction = module.instruction(index)
        opcode = instruction.opcode
        if opcode == "fusion" or opcode == "custom-call":
            if runs_kernel(instruction):
                yield instruction
        elif opcode in _RUNS_INSIDE:
            called = [computation for computation in instruction.called if computation.index not in seen]
            seen.update(computation.index for computation in called)
            stack.extend(iter(computation.order.tolist()) for computation in reversed(called))


class _Inner(NamedTuple):
    """What a fusion's body holds, fusions in it included.

    `opcodes` counts instructions by opcode; `stored` is the bytes of all results that would be stored, `passed` the
    same without what the body returns. Bytes are None when unknown.
    """

    opcodes: Mapping[int, int]
    stored: int | None
    passed: int | None


class _Context:
    """What all kernels of one program share: columns as lists, and what equal shapes and frames have in common."""

    def __init__(self, module: HloModule, cells: Mapping[str, str] | None) -> None:
        self.module, self.cells = module, cells or {}
        self.runs = count_runs(module)
        self.opcode: list[int] = module.instructions.opcode.tolist()
        self.bytes: list[int] = module.result_bytes.tolist()
        self.no_result = {k for k, opcode in enumerate(module.opcodes) if opcode in _NO_RESULT}
        self.broadcast = module.opcodes.index("broadcast") if "broadcast" in module.opcodes else -1
        self._arrays: dict[int, tuple[str, ...]] = {}
        self._frames: dict[int, tuple[Frame, ...]] = {}
        self._fusion = module.opcodes.index("fusion") if "fusion" in module.opcodes else -1
        self._inner: dict[int, _Inner] = {}

    def arrays(self, index: int) -> tuple[str, ...]:
        """The arrays an instruction yields, as XLA prints their shapes."""
        row = int(self.module.instructions.shape[index])
        if row not in self._arrays:
            leaves = self.module.reader.shape(row).leaves
            self._arrays[row] = tuple(str(leaf) for leaf in leaves if leaf.is_array)
        return self._arrays[row]

    def is_stored(self, index: int) -> bool:
        """Whether an instruction would write a result to memory if it ran alone."""
        if self.opcode[index] == self.broadcast:
            # One number in every place; a damaged program may have a broadcast of nothing.
            operands = self.module.instructions.operands[index].tolist()
            return not operands or bool(self.module.instruction(operands[0]).shape.dimensions)
        return self.opcode[index] not in self.no_result

    def source(self, index: int) -> tuple[Frame, ...]:
        """The user's frames of an instruction."""
        frame = int(self.module.instructions.frame[index])
        if frame not in self._frames:
            self._frames[frame] = user_frames(self.module.frames(index), self.cells)
        return self._frames[frame]

    def total(self, indices: Iterable[int]) -> int | None:
        """Bytes of the results of these instructions together; None when one is unknown."""
        sizes = [self.bytes[index] for index in indices]
        return None if -1 in sizes else _added(sizes)

    def inner(self, computation: int) -> _Inner:
        """What a fusion's body holds. Bodies that stand in it first, each once, as they may nest deep."""
        stack = [computation]
        while stack:
            top = stack[-1]
            missing = [] if top in self._inner else [c for c in self._called(top) if c not in self._inner]
            if missing:
                stack.extend(missing)
            else:
                stack.pop()
                self._inner[top] = self._inner.get(top) or self._sum(top)
        return self._inner[computation]

    def _called(self, computation: int) -> Mapping[int, int]:
        """The bodies of the fusions in a computation, and how many of the fusions have them."""
        called = self.module.instructions.called
        fusions = [i for i in self.module.computation(computation).range if self.opcode[i] == self._fusion]
        return Counter(body for index in fusions for body in called[index].tolist())

    def _sum(self, computation: int) -> _Inner:
        body, inside = self.module.computation(computation), self._called(computation)
        own = [index for index in body.range if self.opcode[index] != self._fusion]
        opcodes = Counter(self.opcode[index] for index in own)
        for called, times in inside.items():
            for opcode, count in self._inner[called].opcodes.items():
                opcodes[opcode] = min(_MOST, opcodes[opcode] + times * count)
        nested = [_times(self._inner[called].stored, times) for called, times in inside.items()]
        root = body.root
        given = {root.index} | ({operand.index for operand in root.operands} if root.opcode == "tuple" else set())
        stored = [index for index in own if self.is_stored(index)]
        return _Inner(
            opcodes=opcodes,
            stored=_added([self.total(stored), *nested]),
            passed=_added([self.total(index for index in stored if index not in given), *nested]),
        )


def _added(sizes: Iterable[int | None]) -> int | None:
    """Their sum; None when one is unknown, or when the sum is more than any program has."""
    total = 0
    for size in sizes:
        if size is None or total + size > _MOST_BYTES:
            return None
        total += size
    return total


def _times(size: int | None, times: int) -> int | None:
    return None if size is None else _added([size * times])


def _fusion(kernel: Instruction, context: _Context) -> Fusion:
    details, is_fusion = kernel.details, kernel.opcode == "fusion"
    operands = dict.fromkeys(context.module.instructions.operands[kernel.index].tolist())
    inner = [context.inner(c) for c in context.module.instructions.called[kernel.index].tolist()] if is_fusion else []
    return Fusion(
        kind=details.fusion_kind.removeprefix("k").lower() if is_fusion else "custom-call",
        name=kernel.name,
        instructions=_opcodes(inner, context),
        inputs=tuple(text for operand in operands for text in context.arrays(operand)),
        outputs=context.arrays(kernel.index),
        bytes_read=bytes_read(kernel) if is_fusion else context.total(operands),
        bytes_written=bytes_written(kernel) if is_fusion else context.total((kernel.index,)),
        bytes_saved=_saved(inner) if is_fusion else 0,
        target=details.custom_call_target or None,
        count=context.runs[int(context.module.instructions.computation[kernel.index])].most,
        op_name=kernel.op_name,
        source=context.source(kernel.index),
    )


def _opcodes(inner: Iterable[_Inner], context: _Context) -> tuple[tuple[str, int], ...]:
    rows = Counter[int]()
    for body in inner:
        rows.update(body.opcodes)
    counts = [(context.module.opcodes[row], count) for row, count in rows.items()]
    kept = [item for item in counts if item[0] not in _NO_WORK]
    return tuple(sorted(kept, key=lambda item: (-item[1], item[0])))


def _saved(inner: Iterable[_Inner]) -> int | None:
    """One write and one read of every result in the body that would be stored and is not the fusion's own."""
    return _times(_added([body.passed for body in inner]), 2)
