"""One step of XLA's passes: its counts, and its collectives and kernels with what identifies them.

Not its job: joining two steps (`analyze.passes.lives`).
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from pjit_inspect.model.program.hlo import HloModule, Instruction
from pjit_inspect.model.report.collective import KINDS

_START = "-start"
_PIPELINE_START = "pipeline-start"
_STARTS = tuple(kind + _START for kind in KINDS)

Path = tuple[int, ...]
"""The numbers of an operation's calls, and last its own."""

Paths = Callable[[str], tuple[Path, ...]]
"""Reads the operations that a name names."""


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
      groups: its groups of devices, as the program has them.
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
    groups: object = ()

    @property
    def facts(self) -> tuple[object, ...]:
        """The facts in common with the same collective of the program that was not numbered."""
        return self.kind, self.is_async, self.shapes, self.channel, self.depth


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSite:
    """One fused kernel, copy or transpose of one step that stands in no kernel.

    Attributes:
      name: its instruction.
      kind: "fusion", "copy" or "transpose".
      shape: its result on one device.
      size: the instructions of a fusion without parameters and constants; 0 for others.
      paths: the operations that a fusion does; for others, those that take the result.
    """

    name: str
    kind: str
    shape: str
    size: int
    paths: tuple[Path, ...]

    @property
    def facts(self) -> tuple[object, ...]:
        """The facts in common with the same kernel of the program that was not numbered."""
        return self.kind, self.shape, self.size


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The facts that are kept of the program of one step.

    Attributes:
      number: the step's place among all that XLA dumped.
      name, pipeline: the pass, as `pass_of` gives it.
      instructions, fusions, copies: their numbers.
      collectives: kinds with their number, most frequent first.
      sites: the collectives, in the order of the program's bytes.
      kernels: the kernels by name.
      looks: as in `Pass`.
    """

    number: int
    name: str
    pipeline: str
    instructions: int
    fusions: int
    copies: int
    collectives: tuple[tuple[str, int], ...]
    sites: tuple[PassSite, ...]
    kernels: Mapping[str, KernelSite]
    looks: int = 0


def pass_of(steps: Sequence[tuple[str, str]], place: int) -> tuple[str, str]:
    """The pass, and its pipeline, that changed the program of a step; `steps` are (name, pipeline) as XLA wrote them.

    At the start of a pipeline the program is as the pass left it that runs this pipeline within: that pass is written
    after it, in a pipeline that began before. Without one, no pass names the change.
    """
    name, pipeline = steps[place]
    if name != _PIPELINE_START:
        return name, pipeline
    running = {own for _, own in steps[:place]} - {pipeline, ""}
    for later, own in steps[place + 1 :]:
        if later == _PIPELINE_START:
            running.discard(own)
        elif own in running:
            return later, own
    return f"before {pipeline}", ""


def read_step(
    module: HloModule,
    number: int,
    of: tuple[str, str],
    paths: Paths,
    before: Mapping[str, KernelSite] = MappingProxyType({}),
) -> Snapshot:
    """The facts kept of a program.

    Args:
      module: the program.
      number: its place among all steps.
      of: the pass with its pipeline.
      paths: reads the operations of a name.
      before: the kernels of the step before; those that look the same are not read again.
    """
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
        kernels=find_kernels(module, paths, before),
        looks=_looks(module),
    )


def _looks(module: HloModule) -> int:
    """A number that programs with the same operations on the same shapes have in common."""
    pairs = Counter(zip(module.instructions.opcode.tolist(), module.instructions.shape.tolist(), strict=True))
    texts = Counter[tuple[str, str]]()
    for (opcode, shape), count in pairs.items():
        texts[module.opcodes[opcode], str(module.reader.shape(shape))] += count
    return zlib.crc32(repr(sorted(texts.items())).encode())


def find_kernels(
    module: HloModule, paths: Paths, before: Mapping[str, KernelSite] = MappingProxyType({})
) -> dict[str, KernelSite]:
    """The fused kernels, copies and transposes outside of kernels, by name; `before` as in `read_step`."""
    found: dict[str, KernelSite] = {}
    # Parameters and constants are no work of a kernel.
    works = module.instructions.computation[~module.is_opcode(("parameter", "constant"))]
    sizes = np.bincount(works, minlength=len(module.computations))
    for index in module.with_opcode("fusion", "copy", "transpose").tolist():
        own = module.instruction(index)
        if own.computation.is_fusion:
            continue
        called = own.called if own.opcode == "fusion" else ()
        name, size = own.name, int(sum(sizes[one.index] for one in called))
        known = before.get(name)
        if known is not None and (known.kind, known.shape, known.size) == (own.opcode, str(own.shape), size):
            found[name] = known
            continue
        inner = [one for computation in called for one in computation if one.opcode not in ("parameter", "constant")]
        doing = inner if own.opcode == "fusion" else own.users
        found[name] = KernelSite(
            name=name,
            kind=own.opcode,
            shape=str(own.shape),
            size=size,
            paths=tuple(dict.fromkeys(path for one in doing for path in paths(one.op_name))),
        )
    return found


def find_sites(module: HloModule, paths: Paths) -> tuple[PassSite, ...]:
    """The collectives of a program, in the order of its bytes."""
    depths, wrapped = _depths(module)
    found = module.with_opcode(*KINDS, *_STARTS).tolist()
    return tuple(_site(module.instruction(index), depths, wrapped, paths) for index in found)


def _site(own: Instruction, depths: Sequence[int], wrapped: Sequence[bool], paths: Paths) -> PassSite:
    computation = own.computation.index
    return PassSite(
        name=own.name,
        kind=own.opcode.removesuffix(_START),
        is_async=own.opcode.endswith(_START) or wrapped[computation],
        shapes=tuple(str(operand.shape) for operand in own.operands),
        operands=tuple(operand.name for operand in own.operands),
        paths=paths(own.op_name),
        channel=own.channel_id,
        depth=depths[computation],
        held_by=tuple(caller.name for caller in own.computation.callers),
        groups=own.groups,
    )


def _depths(module: HloModule) -> tuple[list[int], list[bool]]:
    """For each computation, the loops around it, and whether an `async-start` runs it, or what calls it."""
    depths, wrapped = [0] * len(module.computations), [False] * len(module.computations)
    called = module.instructions.called
    # XLA writes called computations before their callers.
    edges = np.argsort(-called.items, kind="stable")
    owners = called.owners[edges]
    callers = module.instructions.computation[owners].tolist()
    loops, starts = (module.is_opcode((kind,))[owners].tolist() for kind in ("while", "async-start"))
    for index, caller, loop, start in zip(called.items[edges].tolist(), callers, loops, starts, strict=True):
        depths[index] = max(depths[index], depths[caller] + loop)
        wrapped[index] |= start or wrapped[caller]
    return depths, wrapped
