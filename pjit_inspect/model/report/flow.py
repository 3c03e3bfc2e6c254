"""A small program as a picture of itself: arguments, kernels and collectives, results, and the values between them.

Not its job: finding them (`analyze.graph.flow`), drawing them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.mesh import PartitionSpec

FlowKind = Literal["argument", "kernel", "collective", "result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowNode:
    """One drawn node, with the value that leaves it.

    Attributes:
      kind: the kind of node.
      number: number of the argument (parameter) or result, of the graph's kernel, or of the row of the
        `CollectiveTable`.
      kernel: its kernel in the graph; -1 for arguments and results.
      array: (kernels and collectives) its result on one device, "f32[128,512]"; "" for a tuple.
      spec: (kernels and collectives) the sharding of its value, if the program before partitioning has one value of
        that name, line and shape; None if uncertain.
    """

    kind: FlowKind
    number: int
    kernel: int = -1
    array: str = ""
    spec: PartitionSpec | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFlow:
    """The drawing of a small program.

    Attributes:
      nodes: arguments that a kernel or a result takes, kernels in schedule order, results.
      edges: (source, target), rows of `nodes`, each pair once; no cycles, values of the previous iteration omitted.
      copies: number of omitted kernels that only change an array's layout (copies, transposes).
    """

    nodes: tuple[FlowNode, ...]
    edges: tuple[tuple[int, int], ...]
    copies: int = 0
