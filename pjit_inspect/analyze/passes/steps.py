"""One step of XLA's passes: its counts, and its collectives with what identifies them.

Not its job: joining two steps (`analyze.passes.lives`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.report.collective import KINDS

_START = "-start"
_PIPELINE_START = "pipeline-start"
_STARTS = tuple(kind + _START for kind in KINDS)

Path = tuple[int, ...]
"""The numbers of an operation's calls, and last its own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PassSite:
    """One collective of one step.

    Attributes:
      name: its instruction.
      kind: one of `KINDS`.
      is_async: whether it is started and waited for at two instructions.
      shapes: its operands' shapes on one device, without layouts.
      operands: the instructions that give them.
      paths: the operations that its name names; () where XLA gave it none.
      channel: its channel; None for none.
      depth: the number of loops around it.
      held_by: the instructions that run its computation.
    """

    name: str
    kind: str
    is_async: bool
    shapes: tuple[str, ...]
    operands: tuple[str, ...]
    paths: tuple[Path, ...]
    channel: int | None
    depth: int
    held_by: tuple[str, ...] = ()

    @property
    def facts(self) -> tuple[object, ...]:
        """The facts in common with the same collective of the program that was not numbered."""
        return self.kind, self.is_async, self.shapes, self.channel, self.depth


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The facts that are kept of the program of one step.

    Attributes:
      number: the step's place among all that XLA dumped.
      name, pipeline: the pass, as `pass_of` gives it.
      instructions, fusions, copies: their numbers.
      collectives: kinds with their number, most frequent first.
      sites: the collectives, in the order of the program's bytes.
    """

    number: int
    name: str
    pipeline: str
    instructions: int
    fusions: int
    copies: int
    collectives: tuple[tuple[str, int], ...]
    sites: tuple[PassSite, ...]


def pass_of(steps: Sequence[tuple[str, str]], place: int) -> tuple[str, str]:
    """The pass, and its pipeline, that changed the program of a step; `steps` are (name, pipeline) as XLA wrote them.

    At the start of a pipeline the program is as the pass left it that runs this pipeline within: that pass is written
    after it, in a pipeline that began before. Without one, no pass names the change.
    """
    name, pipeline = steps[place]
    if name != _PIPELINE_START:
        return name, pipeline
    running = {own for _, own in steps[:place]} - {pipeline}
    for later, own in steps[place + 1 :]:
        if later == _PIPELINE_START:
            running.discard(own)
        elif own in running:
            return later, own
    return f"before {pipeline}", ""


def read_step(
    module: HloModule, number: int, of: tuple[str, str], paths: Callable[[str], tuple[Path, ...]]
) -> Snapshot:
    """The facts kept of a program; `of` is the pass with its pipeline, `paths` reads the operations of a name."""
    counts, sites = module.opcode_counts, find_sites(module, paths)
    return Snapshot(
        number=number,
        name=of[0],
        pipeline=of[1],
        instructions=len(module),
        fusions=counts["fusion"],
        copies=counts["copy"] + counts["copy-start"],
        collectives=tuple(Counter(site.kind for site in sites).most_common()),
        sites=sites,
    )


def find_sites(module: HloModule, paths: Callable[[str], tuple[Path, ...]]) -> tuple[PassSite, ...]:
    """The collectives of a program, in the order of its bytes."""
    depths, wrapped = _depths(module)
    found = module.with_opcode(*KINDS, *_STARTS).tolist()
    return tuple(_site(module.instruction(index), depths, wrapped, paths) for index in found)


def _site(
    own: Instruction, depths: np.ndarray, wrapped: np.ndarray, paths: Callable[[str], tuple[Path, ...]]
) -> PassSite:
    computation = own.computation.index
    return PassSite(
        name=own.name,
        kind=own.opcode.removesuffix(_START),
        is_async=own.opcode.endswith(_START) or bool(wrapped[computation]),
        shapes=tuple(str(operand.shape) for operand in own.operands),
        operands=tuple(operand.name for operand in own.operands),
        paths=paths(own.op_name),
        channel=own.channel_id,
        depth=int(depths[computation]),
        held_by=tuple(caller.name for caller in own.computation.callers),
    )


def _depths(module: HloModule) -> tuple[np.ndarray, np.ndarray]:
    """For each computation, the loops around it, and whether an `async-start` runs it, or what calls it."""
    count = len(module.computations)
    depths, wrapped = np.zeros(count, np.int32), np.zeros(count, bool)
    # XLA writes called computations before their callers.
    for index in range(count - 1, -1, -1):
        for caller in module.computation(index).callers:
            outer = depths[caller.computation.index] + (caller.opcode == "while")
            depths[index] = max(depths[index], outer)
            wrapped[index] |= caller.opcode == "async-start" or wrapped[caller.computation.index]
    return depths, wrapped
