"""Facts about a program that the account of its memory is told with. Not its job: finding them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pjit_inspect.analyze.program.source import UserFiles
from pjit_inspect.model.memory.buffer_assignment import BufferAssignment
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.report.collective import CollectiveTable
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.sharding_table import ShardingTable


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFacts:
    """Further facts about a program.

    Attributes:
      inputs: the arguments that it reads, in order; () if they do not match the program's.
      outputs: the results, with the arguments they take over.
      graph: its kernels with their phases; None if there is none.
      collectives: its collectives.
      shardings: the values of the program before partitioning.
      mesh: the mesh of the specs.
      platform: "cpu", "tpu", "gpu", or "" for unknown.
      files: the user's files.
      xla_temporary_bytes: bytes that XLA reserves for temporaries; None if it does not say.
      assignment: XLA's buffer assignment; None if unknown.
      replaced: the arguments that are returned with new values, by the name of their tree (`analyze.advice`).
    """

    inputs: Sequence[ArrayLayout] = ()
    outputs: Sequence[ArrayLayout] = ()
    graph: ProgramGraph | None = None
    collectives: CollectiveTable = field(default_factory=lambda: CollectiveTable(()))
    shardings: ShardingTable = field(default_factory=ShardingTable)
    mesh: Mesh | None = None
    platform: str = ""
    files: UserFiles = field(default_factory=UserFiles)
    xla_temporary_bytes: int | None = None
    assignment: BufferAssignment | None = None
    replaced: Mapping[str, Sequence[ArrayLayout]] = field(default_factory=dict)
