"""Which HLO instruction each kernel of a CUDA graph belongs to.

XLA launches kernels of a GPU together as a graph, which it calls a command buffer; the profiler often names the buffer
then, and the kernel's function, and no instruction. A function bears the name of the instruction that it was made for, and
fusions that compute the same share one. A buffer is a stretch of one computation's schedule. So its functions tell the
computation, and where as many instructions of that can have run a function as it ran there, the first of them is the
first in the schedule. Everything else stays unknown: copies, and kernels of libraries. Not its job: whether the counts
agree with the program (`analyze.report.kernel_times`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect.model.program.hlo import Computation, Details, HloModule, Instruction
from pjit_inspect.model.record.profile import GraphNode

__all__ = ["KernelFunction", "kernel_functions", "owners_of_nodes"]

_NO_LETTER = re.compile(r"\W", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFunction:
    """The instructions that can have run one function on a GPU, in the order of the schedule.

    Attributes:
      instructions: computation -> the names of its instructions.
      own: those that the function is named after; the others share it.
    """

    instructions: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    own: frozenset[str] = frozenset()


def kernel_functions(module: HloModule) -> dict[str, KernelFunction]:
    """The functions that a program's kernels can have, by name: of its fusions, and of custom calls."""
    places = module.places
    kernels = [
        module.instruction(index)
        for index in sorted(module.with_opcode("fusion", "custom-call").tolist(), key=lambda row: places[row])
    ]
    alike: dict[Any, list[Instruction]] = defaultdict(list)
    for kernel in kernels:
        alike[_what_it_computes(kernel)].append(kernel)
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    own: dict[str, set[str]] = defaultdict(set)
    for same in alike.values():
        functions = {function: kernel.name for kernel in same for function in _functions_named_after(kernel)}
        for function, name in functions.items():
            own[function].add(name)
            for kernel in same:
                found[function][kernel.computation.index].append(kernel.name)
    return {
        function: KernelFunction(
            instructions={computation: tuple(names) for computation, names in of.items()}, own=frozenset(own[function])
        )
        for function, of in found.items()
    }


def _functions_named_after(kernel: Instruction) -> list[str]:
    # XLA names the function of a sort after the sort within the fusion.
    sorts = [one.name for called in kernel.called for one in called if one.opcode == "sort"]
    return [_NO_LETTER.sub("_", name) for name in (kernel.name, *sorts)]


def _what_it_computes(kernel: Instruction) -> Any:
    """Equal for fusions that may share a function: the same instructions on the same shapes; else for none."""
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
            _attributes(one.details),
        )
        for one in computation
    )


def _attributes(details: Details) -> Any:
    """What an instruction does beyond its opcode, without where it comes from."""
    other = {name: value for name, value in details.other.items() if not name.startswith("metadata.")}
    return repr(
        (
            details.dimensions,
            details.comparison_direction,
            details.literal,
            details.parameter_number,
            sorted(other.items()),
        )
    )


def owners_of_nodes(nodes: Sequence[GraphNode], functions: Mapping[str, KernelFunction]) -> dict[GraphNode, str]:
    """The instruction of each node that has one; `nodes` are all of one run, in the order in which they first ran."""
    buffers = list(dict.fromkeys(node.buffer for node in nodes))
    place_of = {buffer: place for place, buffer in enumerate(buffers)}
    computation_of = {
        buffer: _computation([node.kernel for node in nodes if node.buffer == buffer], functions) for buffer in buffers
    }
    grouped: dict[tuple[int, str], list[GraphNode]] = defaultdict(list)
    for node in nodes:
        computation = computation_of[node.buffer]
        if computation is not None and node.kernel in functions:
            grouped[computation, node.kernel].append(node)
    owners: dict[GraphNode, str] = {}
    for (computation, kernel), group in grouped.items():
        seen = {kernel for at, kernel in grouped if at == computation}
        own = [name for name in functions[kernel].instructions[computation] if name in functions[kernel].own]
        candidates = own if len(own) == len(group) else _candidates(kernel, computation, functions, seen)
        if len(candidates) == len(group):
            owners |= zip(sorted(group, key=lambda node: (place_of[node.buffer], node.number)), candidates, strict=True)
    return owners


def _computation(kernels: Iterable[str], functions: Mapping[str, KernelFunction]) -> int | None:
    """The one computation that has instructions for all of these functions; None where there is none, or several."""
    left: set[int] | None = None
    for kernel in kernels:
        if kernel in functions:
            found = set(functions[kernel].instructions)
            left = found if left is None else left & found
    return next(iter(left)) if left is not None and len(left) == 1 else None


def _candidates(
    kernel: str, computation: int, functions: Mapping[str, KernelFunction], seen: Collection[str]
) -> list[str]:
    """The instructions of a computation that can have run a function; not those whose own one ran there."""
    others = [functions[name].own for name in seen if name != kernel]
    return [
        name
        for name in functions[kernel].instructions[computation]
        if name in functions[kernel].own or not any(name in own for own in others)
    ]
