"""Matches the profiler's programs to the recorded ones.

The profiler keeps the optimized HLO of every program that the process holds, by XLA's number; a recorded program
matches if it has the same instructions. On CPU it also has the same number; on a GPU never. Programs with the same
instructions are distinguished by compile order, which is the order of their numbers. A program from the compilation
cache on disk runs on CPU under its number in the process that compiled it: the profiler keeps no program under that
number. Ambiguous matches are kept as such. Not its job: the runs (`analyze.measured.kernel_times`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pjit_inspect.model.program.hlo import HloModule


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A recorded program, with facts to find its number.

    Attributes:
      content: as from `program_content`.
      number: XLA's number of it at the recording; None if it may have come from disk with that number.
      is_new: whether it was compiled, or came from disk, while the profiler was on.
    """

    content: str
    number: int | None
    is_new: bool


def program_content(module: HloModule) -> str:
    """The same text for programs of the same instructions: names, opcodes and shapes, in their order."""
    instructions, reader = module.instructions, module.reader
    shapes = [str(reader.shape(row)) for row in range(int(instructions.shape.max(initial=-1)) + 1)]
    rows = zip(instructions.opcode.tolist(), instructions.shape.tolist(), strict=True)
    found = hashlib.sha256()
    for name, (opcode, shape) in zip(reader.names(range(len(module))), rows, strict=True):
        found.update(f"{name}\0{module.opcodes[opcode]}\0{shapes[shape]}\0".encode("utf-8", "replace"))
    return found.hexdigest()


def numbers_of(programs: Sequence[Candidate], held: Mapping[int, str], ran: Collection[int]) -> list[frozenset[int]]:
    """The possible profiler numbers of each program. All programs have one name.

    `programs` are in compile order. `held` is the content of each program that the profiler kept, by number; `ran` are
    the numbers of programs that ran.
    """
    found = [frozenset[int]()] * len(programs)
    for content in {program.content for program in programs}:
        rows = [row for row, program in enumerate(programs) if program.content == content]
        numbers = sorted(number for number, of in held.items() if of == content)
        for row, may_be in zip(rows, _told_apart([programs[row] for row in rows], numbers), strict=True):
            found[row] = frozenset(may_be)
    strays = frozenset(ran) - held.keys()
    # They may also belong to a program that was not recorded, unless the program ran under its own number.
    others = frozenset(held) - frozenset().union(*found) - frozenset(ran)
    return [
        strays | others if strays and program.number is None and not numbers & frozenset(ran) else numbers
        for program, numbers in zip(programs, found, strict=True)
    ]


def _told_apart(programs: Sequence[Candidate], numbers: Sequence[int]) -> list[Iterable[int]]:
    """The same for programs of one content, and all numbers of that content, ascending."""
    own = [program.number for program in programs]
    exact = [number for number in own if number is not None and number in numbers]
    if len(set(exact)) == len(own):
        return [(number,) for number in exact]
    new = [row for row, program in enumerate(programs) if program.is_new]
    old = [row for row, program in enumerate(programs) if not program.is_new]
    if len(new) > len(numbers):
        # Some are gone already, and it is unknown which.
        return [numbers] * len(programs)
    before, latest = numbers[: len(numbers) - len(new)], numbers[len(numbers) - len(new) :]
    may_be: dict[int, Iterable[int]] = {row: (number,) for row, number in zip(new, latest, strict=True)}
    return [may_be.get(row, before if row in old else ()) for row in range(len(programs))]
