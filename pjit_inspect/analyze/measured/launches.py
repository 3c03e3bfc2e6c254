"""GPU launches of a program: functions by XLA's names, and commands in schedule order.

Not its job: the profiled runs (`analyze.measured.command_buffers`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pjit_inspect.analyze.program.custom_calls import TRITON, describe_custom_call
from pjit_inspect.model.program.hlo import Computation, Details, HloModule, Instruction

_NO_LETTER = re.compile(r"\W", re.ASCII)
_NUMBER = re.compile(r"__\d+$")
_LAUNCHED = ("fusion", "copy", "sort")
_MOVES = frozenset(
    ("bitcast", "copy", "dynamic-slice", "dynamic-update-slice", "get-tuple-element", "parameter", "slice", "tuple")
)
_FILLS = frozenset(("bitcast", "broadcast", "constant", "tuple"))
_NUMBERED = frozenset(("get-tuple-element", "parameter"))
_PLAIN = frozenset((
    "abs", "add", "and", "bitcast", "clamp", "convert", "copy", "divide", "floor", "maximum", "minimum", "multiply",
    "negate", "not", "or", "power", "select", "sign", "subtract", "tuple", "xor",
))  # fmt: skip
"""Opcodes without attributes: opcode, operands and shapes define them."""
_OVERWRITE = frozenset(("scatter", "select-and-scatter", "sort"))
_REDUCE = frozenset(("reduce", "reduce-window"))


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFunction:
    """The instructions that can have run one function on a GPU, in schedule order.

    Attributes:
      instructions: computation -> the names of its instructions.
      own: the instructions that the function is named after; the others share it.
    """

    instructions: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    own: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """An instruction that launches something on a GPU.

    Attributes:
      instruction: its name; for an asynchronous start, the name of the started instruction.
      is_library: whether it calls a library, whose kernels have other names.
      is_product: whether it is a cuBLAS product: one kernel, perhaps with a clearing before and a sum of parts after
        it.
      is_attention: whether it is a cuDNN attention: cuDNN kernels, perhaps with a clearing before them.
      moves: whether it only moves bytes: it may be a copy.
      may_be_nothing: whether XLA may launch nothing for it: the bytes may stay where they are.
      fills: whether it only writes a constant: it may be a clearing.
      copies_first: whether copies of operands may precede its kernel, as for a sort or a scatter.
      clears_first: whether a clearing of its result may precede its kernel, as for a reduction.
    """

    instruction: str
    is_library: bool = False
    is_product: bool = False
    is_attention: bool = False
    moves: bool = False
    may_be_nothing: bool = False
    fills: bool = False
    copies_first: bool = False
    clears_first: bool = False

    @property
    def may_be_several(self) -> bool:
        """True if it may be several nodes of a graph."""
        return self.copies_first or self.clears_first or self.is_library

    def may_launch(self, kernel: str) -> bool:
        """True if it may launch a kernel, a copy or a clearing that is named after no instruction."""
        if self.is_library:
            return True
        if is_clearing(kernel):
            return self.fills or self.clears_first
        return moves_bytes(kernel) and (self.moves or self.copies_first)

    @property
    def is_of_unknown_size(self) -> bool:
        """True if its number of kernels is unknown, as for most library calls."""
        return self.is_library and not self.is_one_graph

    @property
    def is_one_graph(self) -> bool:
        """True if it is one graph within the outer one."""
        return self.is_product or self.is_attention


@dataclass(frozen=True, slots=True, kw_only=True)
class Launches:
    """GPU launches of a program.

    Attributes:
      functions: name of a function -> the instructions that can run it.
      commands: computation -> its commands, in schedule order.
    """

    functions: Mapping[str, KernelFunction] = field(default_factory=dict)
    commands: Mapping[int, tuple[Launch, ...]] = field(default_factory=dict)

    def function(self, kernel: str) -> KernelFunction | None:
        """Whose a function can be. Of several of one name XLA numbers all but the first, as the stages of a sort."""
        return self.functions.get(kernel) or self.functions.get(_NUMBER.sub("", kernel))


def is_clearing(kernel: str) -> bool:
    """True if a node of a graph only clears memory, by its name."""
    return kernel.lower().startswith("memset")


def moves_bytes(kernel: str) -> bool:
    """True if a graph node only copies or clears, by its name: a kernel of XLA, or of CUDA."""
    return kernel.lower().startswith(("memcpy", "memset"))


def launches_of(module: HloModule) -> Launches:
    """The GPU launches of a program."""
    commands: dict[int, tuple[Launch, ...]] = {}
    is_scalar = _are_scalars(module)
    for index in range(len(module.computations)):
        computation = module.computation(index)
        if not computation.is_fusion:
            ordered = (module.instruction(row) for row in computation.order.tolist())
            commands[index] = tuple(command for one in ordered for command in _commands_of(one, is_scalar))
    return Launches(functions=_functions(module), commands=commands)


def _are_scalars(module: HloModule) -> np.ndarray:
    """True if each instruction has a single number as result: these count positions, and move nothing."""
    shapes = [module.reader.shape(row) for row in range(int(module.instructions.shape.max(initial=-1)) + 1)]
    return np.array([shape.is_array and not shape.dimensions for shape in shapes], bool)[module.instructions.shape]


def _commands_of(instruction: Instruction, is_scalar: np.ndarray) -> Iterator[Launch]:
    started = [one for called in instruction.called for one in called] if instruction.opcode == "async-start" else ()
    for one in (instruction, *started):
        if one.opcode == "custom-call" and one.custom_call_target == TRITON:
            yield Launch(instruction=one.name)
        elif one.opcode == "custom-call":
            target = one.custom_call_target
            call = Launch(
                instruction=one.name,
                is_library=True,
                is_product=target.startswith("__cublas$"),
                is_attention=target.startswith("__cudnn$fmha"),
            )
            yield replace(call, may_be_nothing=not call.is_one_graph)
        elif one.opcode in _LAUNCHED:
            yield _command(one, is_scalar)


def _command(instruction: Instruction, is_scalar: np.ndarray) -> Launch:
    """The command of a copy, a sort or a fusion."""
    module, within, fills = instruction.module, {instruction.opcode}, False
    if instruction.opcode == "fusion":
        rows = [row for computation in instruction.called for row in computation.range]
        opcodes = [(module.opcodes[module.instructions.opcode[row]], is_scalar[row]) for row in rows]
        within = {opcode for opcode, is_small in opcodes if opcode in _REDUCE or not is_small}
        fills = within <= _FILLS and not any(opcode == "parameter" for opcode, _ in opcodes)
    return Launch(
        instruction=instruction.name,
        moves=within <= _MOVES,
        may_be_nothing=within <= _MOVES and not any(opcode.startswith("dynamic-") for opcode in within),
        fills=fills,
        copies_first=bool(within & _OVERWRITE),
        clears_first=bool(within & _REDUCE),
    )


def _functions(module: HloModule) -> dict[str, KernelFunction]:
    """The functions that the kernels of fusions and custom calls can have."""
    places = module.places
    kernels = [
        module.instruction(index)
        for index in sorted(module.with_opcode("fusion", "custom-call").tolist(), key=lambda row: places[row])
    ]
    found: dict[str, list[KernelFunction]] = defaultdict(list)
    order = {kernel.name: place for place, kernel in enumerate(kernels)}
    for same in _alike(kernels):
        names: dict[int, list[str]] = defaultdict(list)
        own: dict[str, set[str]] = defaultdict(set)
        for kernel in same:
            names[kernel.computation.index].append(kernel.name)
            for function in _functions_named_after(kernel):
                own[function].add(kernel.name)
        instructions = {computation: tuple(of) for computation, of in names.items()}
        for function, of in own.items():
            found[function].append(KernelFunction(instructions=instructions, own=frozenset(of)))
    return {function: _merged(of, order) for function, of in found.items()}


def _alike(kernels: Iterable[Instruction]) -> Iterator[list[Instruction]]:
    """Groups of kernels that may share a function. Attributes are read only if opcodes and shapes are equal."""
    roughly: dict[Any, list[Instruction]] = defaultdict(list)
    for kernel in kernels:
        roughly[_outline(kernel)].append(kernel)
    for same in roughly.values():
        alike: dict[Any, list[Instruction]] = defaultdict(list)
        for kernel in same:
            alike[_what_it_computes(kernel) if len(same) > 1 else None].append(kernel)
        yield from alike.values()


def _outline(kernel: Instruction) -> Any:
    """A key that is equal for all kernels that compute the same, and for some others."""
    if kernel.opcode != "fusion":
        return kernel.index
    opcodes = kernel.module.instructions.opcode
    bodies = [computation.range for computation in kernel.called]
    return str(kernel.shape), *(opcodes[body.start : body.stop].tobytes() for body in bodies)


def _merged(parts: Sequence[KernelFunction], order: Mapping[str, int]) -> KernelFunction:
    """One function for instructions of several groups with the same name; `order` is that of the schedule."""
    if len(parts) == 1:
        return parts[0]
    names: dict[int, list[str]] = defaultdict(list)
    for part in parts:
        for computation, of in part.instructions.items():
            names[computation] += of
    return KernelFunction(
        instructions={computation: tuple(sorted(of, key=order.__getitem__)) for computation, of in names.items()},
        own=frozenset().union(*(part.own for part in parts)),
    )


def _functions_named_after(kernel: Instruction) -> list[str]:
    # XLA names the function of a sort after the sort within the fusion; a Pallas kernel has its author's name.
    names = [kernel.name, *(one.name for called in kernel.called for one in called if one.opcode == "sort")]
    if kernel.opcode == "custom-call" and kernel.custom_call_target == TRITON:
        names.append(describe_custom_call(kernel).kernel or kernel.name)
    return [_NO_LETTER.sub("_", name) for name in names]


def _what_it_computes(kernel: Instruction) -> Any:
    """A key that is equal for fusions that may share a function: the same instructions on the same shapes."""
    if kernel.opcode != "fusion":
        return kernel.index
    return kernel.fusion_kind, kernel.details.backend_config, tuple(map(_computed, kernel.called))


def _computed(computation: Computation) -> Any:
    first = computation.range.start
    return tuple(
        (
            one.opcode,
            str(one.shape),
            tuple(operand.index - first for operand in one.operands),
            tuple(map(_computed, one.called)),
            one.number if one.opcode in _NUMBERED else None if one.opcode in _PLAIN else _attributes(one.details),
        )
        for one in computation
    )


def _attributes(details: Details) -> str:
    """An instruction's attributes beyond its opcode, without source metadata."""
    other = sorted((name, value) for name, value in details.other.items() if not name.startswith("metadata."))
    return repr((details.dimensions, details.comparison_direction, details.literal, details.parameter_number, other))
