"""The fused kernels of an optimized program, and the library kernels beside them.

A kernel counts when it runs: in the program itself, in a loop, a branch, a call, or an asynchronous computation. On
CPU, XLA wraps kernels that run on several threads in a `call`: the fusions in it are what is reported. Fusions that
only start or finish a collective are reported with the collectives. Not its job: what a kernel costs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from pjit_inspect.analyze.custom_calls import runs_kernel
from pjit_inspect.analyze.fusion_traffic import bytes_read, bytes_written
from pjit_inspect.analyze.loops import count_runs
from pjit_inspect.analyze.source import user_frames
from pjit_inspect.model.collective import KINDS
from pjit_inspect.model.fusion import Fusion, FusionTable
from pjit_inspect.model.hlo import HloModule, Instruction
from pjit_inspect.model.source import Frame

__all__ = ["find_fusions"]

_RUNS_INSIDE = frozenset(("while", "conditional", "call", "async-start"))
_NO_WORK = frozenset(("parameter", "constant"))
_NO_RESULT = frozenset((
    "parameter", "constant", "iota", "tuple", "get-tuple-element", "bitcast", "custom-call", *KINDS,
))  # fmt: skip
"""What writes no result of its own: names for others, what costs less to make than to read, and copies of a collective
that is counted elsewhere."""


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
            # One number in every place.
            operand = self.module.instructions.operands[index].tolist()[0]
            return bool(self.module.instruction(operand).shape.dimensions)
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
        return None if -1 in sizes else sum(sizes)


def _fusion(kernel: Instruction, context: _Context) -> Fusion:
    details, is_fusion = kernel.details, kernel.opcode == "fusion"
    operands = dict.fromkeys(context.module.instructions.operands[kernel.index].tolist())
    inner = _inner(kernel, context) if is_fusion else []
    return Fusion(
        kind=details.fusion_kind.removeprefix("k").lower() if is_fusion else "custom-call",
        name=kernel.name,
        instructions=_opcodes(inner, context),
        inputs=tuple(text for operand in operands for text in context.arrays(operand)),
        outputs=context.arrays(kernel.index),
        bytes_read=bytes_read(kernel) if is_fusion else context.total(operands),
        bytes_written=bytes_written(kernel) if is_fusion else context.total((kernel.index,)),
        bytes_saved=_saved(kernel, inner, context) if is_fusion else 0,
        target=details.custom_call_target or None,
        count=context.runs[int(context.module.instructions.computation[kernel.index])].most,
        op_name=kernel.op_name,
        source=context.source(kernel.index),
    )


def _inner(fusion: Instruction, context: _Context) -> list[int]:
    """The instructions of a fusion's body, those of fusions in it in their place."""
    found: list[int] = []
    for computation in fusion.called:
        for index in computation.range:
            if context.module.opcodes[context.opcode[index]] == "fusion":
                found.extend(_inner(context.module.instruction(index), context))
            else:
                found.append(index)
    return found


def _opcodes(inner: list[int], context: _Context) -> tuple[tuple[str, int], ...]:
    rows = Counter(context.opcode[index] for index in inner)
    counts = [(context.module.opcodes[row], count) for row, count in rows.items()]
    kept = [item for item in counts if item[0] not in _NO_WORK]
    return tuple(sorted(kept, key=lambda item: (-item[1], item[0])))


def _saved(fusion: Instruction, inner: list[int], context: _Context) -> int | None:
    """One write and one read of every result in the body that would be stored and is not the fusion's own."""
    given: set[int] = set()
    for computation in fusion.called:
        root = computation.root
        given |= {root.index} | ({operand.index for operand in root.operands} if root.opcode == "tuple" else set())
    total = context.total(i for i in inner if i not in given and context.is_stored(i))
    return None if total is None else 2 * total
