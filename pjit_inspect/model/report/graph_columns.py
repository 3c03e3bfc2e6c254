"""The columns of a program's graph: large sets, as numpy arrays with one entry per kernel, value or arrow.

Not its job: the graph they belong to (`model.report.graph`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PHASES = ("forward", "recompute", "backward", "update")
"""The columns, left to right. A program without differentiation has only "forward", which then means "all"."""

HOWS = ("own", "combined", "body", "producer", "user", "operand", "caller", "argument", "array", "loop", "none")
"""The rules that placed a kernel in its scope; `GraphKernels.how` is an index into them.

"own": by JAX's name of the kernel. "combined": the scope of most of its names; for a combined collective, the scope
that needs (for sums: makes) most of its bytes. "body": by most of the operations it fuses, matmuls first. "producer": a
sum without a name, by its summed operation. "user", "operand": by the next kernel that takes its result, or the last
one whose result it takes. "caller": by the loop or call that runs it. "argument": by the number in the path of an
argument ("layers[3]"), in a program without scopes. "array": an update, by the array it changes. "loop": by its name,
moved out of a loop it does not run in. "none": unknown. All but "own" are inferred.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphKernels:
    """The kernels, one entry each, in schedule order; kernels of a loop, branch or call are at its place.

    Plumbing is omitted: instructions that rename, pack, copy or prefetch a value, and second halves of asynchronous
    operations.

    Attributes:
      instruction: row of the program's instructions.
      names: HLO names ("fusion.12").
      opcode: row of `opcodes`.
      opcodes: as XLA writes them.
      label: row of `labels`.
      labels: JAX's primitive or library function, for people ("dot_general", "log_softmax"); XLA's opcode otherwise.
      box: row of `ProgramGraph.boxes`.
      how: row of `HOWS`.
      loop: row of `ProgramGraph.loops`, the innermost around it; -1 outside of loops.
      runs: upper bound of runs per call (a conditional may skip it); -1 if a trip count is unknown.
      result_bytes: bytes of its result on one device, per run (counted); -1 if unknown.
      matmuls: number of matrix products and convolutions in it.
      flops: their floating-point operations on one device, per run (counted from shapes: two per multiply-add); -1 if
        unknown.
      mixed: whether its body has instructions of other scopes or phases too (`ProgramGraph.mixes`).
    """

    instruction: np.ndarray
    names: tuple[str, ...]
    opcode: np.ndarray
    opcodes: tuple[str, ...]
    label: np.ndarray
    labels: tuple[str, ...]
    box: np.ndarray
    how: np.ndarray
    loop: np.ndarray
    runs: np.ndarray
    result_bytes: np.ndarray
    matmuls: np.ndarray
    flops: np.ndarray
    mixed: np.ndarray

    def __len__(self) -> int:
        return len(self.instruction)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphReads:
    """Values taken by kernels: one entry per operand and value, traced through plumbing.

    Values are traced through loops too: inputs of a loop's body come from before the loop or from the previous
    iteration, and results of a loop come from its body.

    Attributes:
      target: the kernel that takes it.
      operand: the operand's number; -1 for the value that chooses the branch whose first kernel it is.
      source: the kernel that makes it; -1 for an argument of the program.
      argument: the argument's parameter number; -1 for a kernel's value.
      element: the element of a tuple result; -1 for the whole result.
      bytes: bytes taken on one device, per run (counted); 0 if unknown.
      carried: whether it comes from the previous iteration.
    """

    target: np.ndarray
    operand: np.ndarray
    source: np.ndarray
    argument: np.ndarray
    element: np.ndarray
    bytes: np.ndarray
    carried: np.ndarray

    def __len__(self) -> int:
        return len(self.target)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mixes:
    """Instructions in kernels from scopes and phases other than their box: one entry per kernel and (scope, phase).

    Attributes:
      kernel: the kernel.
      row: the row of that scope, or of the nearest scope around it that has one.
      phase: row of `PHASES`.
      instructions: number of inner instructions with a name from there (counted).
    """

    kernel: np.ndarray
    row: np.ndarray
    phase: np.ndarray
    instructions: np.ndarray

    def __len__(self) -> int:
        return len(self.kernel)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphArrows:
    """Values between boxes, nothing folded: one entry per pair of boxes.

    Attributes:
      source, target: boxes.
      values: number of distinct values.
      bytes: their bytes on one device, each once (counted).
      carried: number of bytes from the previous iteration.
    """

    source: np.ndarray
    target: np.ndarray
    values: np.ndarray
    bytes: np.ndarray
    carried: np.ndarray

    def __len__(self) -> int:
        return len(self.source)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleRuns:
    """Kernels that follow each other in the schedule, in one phase and one top-level group: one entry per run.

    Attributes:
      start: the first kernel; a run ends where the next one starts.
      row: the group: a member of a fold, or a row right under the program.
      phase: row of `PHASES`.
    """

    start: np.ndarray
    row: np.ndarray
    phase: np.ndarray

    def __len__(self) -> int:
        return len(self.start)
