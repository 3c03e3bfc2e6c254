"""Counts the work of kernels: operations in products by kind of number, other arithmetic, bytes read and written.

All of it is of one run on one device. Other arithmetic is counted as XLA's cost analysis counts it: an operation for
each element of a result, and for each element that a reduction takes away. Not its job: operations of one product
(`analyze.graph.work`), runs (`schedule`), or seconds (`kernel_seconds`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from pjit_inspect.analyze.graph.work import is_product_call, product_flops
from pjit_inspect.analyze.program.backend_config import read_backend_config
from pjit_inspect.analyze.program.custom_calls import describe_custom_call, workspace_of
from pjit_inspect.analyze.program.fusion_traffic import bytes_read, bytes_written
from pjit_inspect.analyze.program.loops import Running, details_of
from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.program.opcodes import PRODUCTS, operations
from pjit_inspect.model.time.hardware import NumberKind

ARITHMETIC = operations("arithmetic", "convert")
_PARTS, _WRITES = operations("part"), operations("write")
_REDUCTIONS = ("reduce", "reduce-window")
_COPIES = ("copy",)
_SORTS: dict[str, Collection[str]] = {
    "copy in another order": _COPIES,
    "another order": operations("reorder"),
    "function": operations("function"),
    "reduction": _REDUCTIONS,
}
"""What makes a kernel slower than plain arithmetic, the slowest first, and its operations."""
_ON_CHIP = 1
"""XLA's number of a TPU's memory that is on the chip."""
_WINDOW_SIZE = re.compile(r"\bsize: (\d+)")

_KINDS: tuple[tuple[str, NumberKind], ...] = (
    ("float8", "fp8"),
    ("f8", "fp8"),
    ("bfloat16", "bf16"),
    ("bf16", "bf16"),
    ("float16", "bf16"),
    ("f16", "bf16"),
    ("float64", "fp64"),
    ("f64", "fp64"),
    ("int8", "int8"),
    ("uint8", "int8"),
    ("s8", "int8"),
    ("u8", "int8"),
)
"""Beginnings of element types, and how fast chips multiply them; float32 depends on the chip."""

FLOAT32 = "f32"


@dataclass(slots=True, kw_only=True)
class KernelWork:
    """The work of one run of a kernel.

    Attributes:
      products: operations in products, by kind of number; float32 products are under "f32", and count as often as the
        precision that the program asks of them lets a TPU multiply bfloat16 instead.
      other: operations of other arithmetic.
      declared: operations that the author of a kernel declared; None if nobody did.
      kind: what sort of kernel it is: kernels of one kind differ in size only. "" before it is known.
      is_known: False if a product or a kernel in it has an unknown number of operations.
      read, written: bytes; None if unknown.
    """

    products: Counter[str] = field(default_factory=Counter)
    passes: int = 1
    other: int = 0
    declared: int | None = None
    kind: str = ""
    is_known: bool = True
    read: int | None = None
    written: int | None = None

    @property
    def flops(self) -> int | None:
        """All operations; None if unknown."""
        if self.declared is not None:
            return self.declared
        return sum(self.products.values()) + self.other if self.is_known else None

    @property
    def bytes(self) -> int | None:
        """All bytes; None if unknown."""
        return None if self.read is None or self.written is None else self.read + self.written


class WorkFinder:
    """The work of every instruction that runs by itself; what fusions hold counts for them.

    Args:
      module: the program.
      running: the instructions that run.
    """

    def __init__(self, module: HloModule, running: Running) -> None:
        self._module = module
        self._running = running
        self._computations = frozenset(running.computations)
        self._work: dict[int, KernelWork] = {}
        self._sorts: dict[int, set[str]] = {}
        self._count_products()
        self._count_arithmetic()
        self._find_sorts()

    def of(self, index: int) -> KernelWork:
        """The work of one run of an instruction."""
        work = self._entry(index)
        if work.read is None:
            work.read, work.written = touched_bytes(self._module.instruction(index))
            work.kind = self._kind(index, work)
        return work

    def _kind(self, index: int, work: KernelWork) -> str:
        """The sort of a kernel: who makes its products, or the slowest sort of its operations."""
        if work.products:
            maker = self._module.opcodes[self._module.instructions.opcode[index]]
            return f"{maker} with products of {max(work.products, key=lambda own: work.products[own])}"
        sorts = self._sorts.get(index, set())
        return next((sort for sort in _SORTS if sort in sorts), "arithmetic")

    def _entry(self, index: int) -> KernelWork:
        return self._work.setdefault(index, KernelWork())

    def _host(self, index: int) -> int:
        """The instruction that runs, which this one is or is a part of; -1 for none."""
        computation = int(self._module.instructions.computation[index])
        return index if computation in self._computations else int(self._running.owner[computation])

    def _count_products(self) -> None:
        module = self._module
        for index in module.with_opcode(*PRODUCTS, "custom-call").tolist():
            if (host := self._host(index)) < 0:
                continue
            work, details = self._entry(host), details_of(module, index)
            is_call = module.opcodes[module.instructions.opcode[index]] == "custom-call"
            if is_call and not is_product_call(details.custom_call_target):
                self._count_declared(work, index)
                continue
            flops = product_flops(module, index)
            if flops is None:
                work.is_known = False
                continue
            work.products[self._number(index)] += flops
            work.passes = max(work.passes, _passes(details.other))

    def _count_declared(self, work: KernelWork, index: int) -> None:
        """A kernel that its author wrote: what they declared of it."""
        instruction = self._module.instruction(index)
        if instruction.opcode != "custom-call" or not _is_kernel(instruction):
            return
        config = read_backend_config(details_of(self._module, index).backend_config).fields
        declared = config.get("custom_call_config", config)
        estimate = declared.get("cost_estimate") if isinstance(declared, dict) else None
        try:
            flops = int(estimate["flops"])  # type: ignore[index]
        except (TypeError, KeyError, ValueError):
            work.is_known = False
            return
        work.declared = (work.declared or 0) + flops

    def _number(self, index: int) -> str:
        """The kind of number that a product multiplies: that of its first operand."""
        operands = self._module.instructions.operands[index].tolist()
        leaves = self._module.reader.shape(int(self._module.instructions.shape[operands[0]])).leaves
        dtype = leaves[0].dtype if leaves else ""
        return next((kind for beginning, kind in _KINDS if dtype.startswith(beginning)), FLOAT32)

    def _count_arithmetic(self) -> None:
        module = self._module
        for index in module.with_opcode(*ARITHMETIC, *_REDUCTIONS).tolist():
            if (host := self._host(index)) < 0:
                continue
            opcode = module.opcodes[module.instructions.opcode[index]]
            made = elements(module, index)
            if opcode in _REDUCTIONS:
                made = self._reduced(index, opcode, made)
            self._entry(host).other += made

        for index in module.with_opcode("fft").tolist():
            if (host := self._host(index)) >= 0:
                self._entry(host).other += _transformed(module, index)

    def _find_sorts(self) -> None:
        """For each kernel the sorts of its operations, as far as they make it slower than plain arithmetic."""
        module = self._module
        for sort, opcodes in _SORTS.items():
            for index in module.with_opcode(*opcodes).tolist():
                if (host := self._host(index)) >= 0 and not (opcodes is _COPIES and _keeps_layout(module, index)):
                    self._sorts.setdefault(host, set()).add(sort)

    def _reduced(self, index: int, opcode: str, made: int) -> int:
        """Operations of a reduction: those of its function for each element that it takes away."""
        module, called = self._module, self._module.instructions.called[index].tolist()
        each = sum(self._module.instruction(k).opcode in ARITHMETIC for k in module.computation(called[0]).range)
        if opcode == "reduce":
            taken = elements(module, int(module.instructions.operands[index][0]))
            return max(0, taken - made) * each
        sizes = [int(size) for size in _WINDOW_SIZE.findall(str(details_of(module, index).other.get("window", "")))]
        return made * max(0, math.prod(sizes) - 1) * each


def _transformed(module: HloModule, index: int) -> int:
    """Operations of a Fourier transform, as XLA counts them: 8 for each element that goes in, times log2 of lengths."""
    taken = elements(module, int(module.instructions.operands[index][0]))
    lengths = [int(length) for length in re.findall(r"\d+", str(details_of(module, index).other.get("fft_length", "")))]
    return 8 * taken * math.prod(max(0, length.bit_length() - 1) for length in lengths)


def _keeps_layout(module: HloModule, index: int) -> bool:
    """True if an instruction yields its operand's array in the same order of elements."""
    here, before = (
        module.reader.shape(int(module.instructions.shape[k])).leaves
        for k in (index, int(module.instructions.operands[index][0]))
    )
    return [leaf.layout and leaf.layout.minor_to_major for leaf in here] == [
        leaf.layout and leaf.layout.minor_to_major for leaf in before
    ]


def elements(module: HloModule, index: int) -> int:
    """Elements of the (first) array that an instruction yields; 0 if unknown."""
    leaves = module.reader.shape(int(module.instructions.shape[index])).leaves
    return (leaves[0].count or 0) if leaves else 0


def touched_bytes(instruction: Instruction) -> tuple[int | None, int | None]:
    """Bytes of main memory that one run of an instruction reads and writes; None for unknown ones.

    What takes a part of its operand reads that part, and what writes a part writes that part. Arrays that XLA keeps in
    the chip's own memory cost nothing.
    """
    module, sizes = instruction.module, instruction.module.result_bytes
    operands = dict.fromkeys(module.instructions.operands[instruction.index].tolist())
    near = {operand for operand in operands if 0 < int(sizes[operand]) == _near_bytes(module, operand)}
    own = int(sizes[instruction.index])
    try:
        if instruction.opcode in _PARTS:
            reads = [own, *(int(sizes[operand]) for operand in list(operands)[1:] if operand not in near)]
            read = sum(reads) if min(reads) >= 0 else None
        elif instruction.opcode in _WRITES and len(operands) > 1:
            others = list(operands)[1:]
            own = int(sizes[others[-1 if instruction.opcode == "scatter" else 0]])
            reads = [int(sizes[operand]) for operand in others]
            return (sum(reads) if min(reads) >= 0 else None), (own if own >= 0 else None)
        else:
            read = bytes_read(instruction, without=near)
        own -= workspace_of(instruction) if instruction.opcode == "custom-call" else 0
        written = bytes_written(instruction) if instruction.opcode == "fusion" else own if own >= 0 else None
    except ParseError:
        return None, None
    return read, None if written is None else max(0, written - _near_bytes(module, instruction.index))


def _near_bytes(module: HloModule, index: int) -> int:
    """Bytes of a result that are in the chip's own memory, beside the main one."""
    leaves = module.reader.shape(int(module.instructions.shape[index])).leaves
    return sum(leaf.bytes or 0 for leaf in leaves if leaf.layout is not None and leaf.layout.memory_space == _ON_CHIP)


def _is_kernel(instruction: Instruction) -> bool:
    try:
        return describe_custom_call(instruction).role in ("kernel", "unknown")
    except ParseError:
        return True


def _passes(other: object) -> int:
    """The number of times a TPU multiplies bfloat16 for a float32 product: once, or as its precision asks."""
    text = str(getattr(other, "get", lambda *_: "")("precision_config", "")).upper()
    return 6 if "HIGHEST" in text else 3 if "HIGH" in text else 1
