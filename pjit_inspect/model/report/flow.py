"""A small program as a picture of itself: arguments, kernels and collectives, results, and the values between them.

Not its job: finding them (`analyze.graph.flow`), drawing them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.program.spec import PartitionSpec

FlowKind = Literal["argument", "kernel", "collective", "result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowNode:
    """One thing that is drawn, with the value that leaves it.

    Attributes:
      kind: what it is.
      number: which argument (parameter number) or result of the program, which kernel of the graph, or which row of
        the `CollectiveTable`.
      kernel: the kernel of the graph that it is; -1 for arguments and results.
      array: (kernels and collectives) its result on one device, "f32[128,512]"; "" where it is a tuple.
      spec: (kernels and collectives) how the value it computes is split, where the program before partitioning has one
        value of that name, line and shape; None where that is not certain.
    """

    kind: FlowKind
    number: int
    kernel: int = -1
    array: str = ""
    spec: PartitionSpec | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramFlow:
    """What is drawn of a small program.

    Attributes:
      nodes: arguments that a kernel or a result takes, kernels in schedule order, results.
      edges: (source, target), rows of `nodes`, each pair once; no circles, values of the iteration before left out.
      copies: how many kernels are left out that only lay an array out anew (copies, transposes).
    """

    nodes: tuple[FlowNode, ...]
    edges: tuple[tuple[int, int], ...]
    copies: int = 0
