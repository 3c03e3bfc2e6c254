"""What a program launches on a GPU: functions by the names that XLA gives them, and commands in the schedule's order.

Not its job: what ran (`analyze.report.command_buffers`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pjit_inspect.model.program.hlo import Computation, Details, HloModule, Instruction

__all__ = ["Command", "KernelFunction", "Launches", "launches_of"]

_NO_LETTER = re.compile(r"\W", re.ASCII)
_LAUNCHED = ("fusion", "custom-call", "copy", "sort")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFunction:
    """The instructions that can have run one function on a GPU, in the order of the schedule.

    Attributes:
      instructions: computation -> the names of its instructions.
      own: those that the function is named after; the others share it.
    """

    instructions: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    own: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """An instruction for which something runs on a GPU.

    Attributes:
      instruction: its name; of an asynchronous start that of what it starts.
      is_library: whether that is a call of a library, whose kernels have names of their own.
    """

    instruction: str
    is_library: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Launches:
    """What a program launches on a GPU.

    Attributes:
      functions: name of a function -> whose it can be.
      commands: computation -> what it launches, in the order of its schedule.
    """

    functions: Mapping[str, KernelFunction] = field(default_factory=dict)
    commands: Mapping[int, tuple[Command, ...]] = field(default_factory=dict)


def launches_of(module: HloModule) -> Launches:
    """What a program launches on a GPU."""
    commands: dict[int, tuple[Command, ...]] = {}
    for index in range(len(module.computations)):
        computation = module.computation(index)
        if not computation.is_fusion:
            ordered = (module.instruction(row) for row in computation.order.tolist())
            commands[index] = tuple(command for one in ordered for command in _commands_of(one))
    return Launches(functions=_functions(module), commands=commands)


def _commands_of(instruction: Instruction) -> Iterator[Command]:
    started = [one for called in instruction.called for one in called] if instruction.opcode == "async-start" else ()
    for one in (instruction, *started):
        if one.opcode in _LAUNCHED:
            yield Command(instruction=one.name, is_library=one.opcode == "custom-call")


def _functions(module: HloModule) -> dict[str, KernelFunction]:
    """The functions that the kernels of fusions and custom calls can have."""
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
        for function, name in {name: kernel.name for kernel in same for name in _functions_named_after(kernel)}.items():
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


def _attributes(details: Details) -> str:
    """What an instruction does beyond its opcode, without where it comes from."""
    other = sorted((name, value) for name, value in details.other.items() if not name.startswith("metadata."))
    return repr((details.dimensions, details.comparison_direction, details.literal, details.parameter_number, other))
