"""The columns of a program's graph: what there is much of, as numpy arrays with one entry per kernel, value or arrow.

Not its job: the graph they belong to (`model.report.graph`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PHASES = ("forward", "recompute", "backward", "update")
"""The columns, left to right. A program that nobody differentiated has "forward" alone, which then means "all"."""

HOWS = ("own", "combined", "body", "producer", "user", "operand", "caller", "argument", "array", "loop", "none")
"""How a kernel found its scope, as `GraphKernels.how` numbers it.

"own": JAX's name of it. "combined": the scope most of its several names have; of a combined collective, the one that
needs most of its bytes (sums: makes). "body": most of what it fuses, matmuls first. "producer": a sum without a name,
by what it sums. "user", "operand": the next kernel that takes its result, or the last whose result it takes. "caller":
the loop or call it stands in. "argument": the number in the path of an argument ("layers[3]"), in a program without
scopes. "array": an update, by the array it changes. "loop": by its name, moved out of a loop it does not run in.
"none": nothing tells. All but "own" are inferred.
"""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GraphKernels:
    """The kernels: one entry each, in schedule order, what a loop, branch or call runs at the place it is called from.

    Plumbing is left out: what renames, packs, copies or prefetches a value, and second halves of what is asynchronous.

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
      runs: how often it runs per call, at most (a conditional may skip it); -1 when a trip count is unknown.
      result_bytes: bytes of its result on one device, each time it runs (counted); -1 when unknown.
      matmuls: how many matrix products and convolutions it holds.
      flops: floating-point operations of these on one device, each time it runs (counted from shapes: two per
        multiply-add); -1 when unknown.
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
    """Which kernel takes which value: one entry per operand and value, plumbing looked through.

    Loops are looked through too: what a loop's body takes comes from before the loop or from the iteration before, and
    what is taken from a loop comes from its body.

    Attributes:
      target: the kernel that takes it.
      operand: which operand of it; -1 for the value that chooses the branch of a conditional it is first in.
      source: the kernel that makes it; -1 for an argument of the program.
      argument: the argument's parameter number; -1 for a kernel's value.
      element: which element of a result that is a tuple; -1 for all of it.
      bytes: bytes taken on one device, each time (counted); 0 when unknown.
      carried: whether it comes from the iteration before.
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
    """What kernels hold of scopes and phases other than their box's: one entry per kernel and (scope, phase).

    Attributes:
      kernel: the kernel.
      row: the row of that scope, or of the nearest scope around it that has one.
      phase: row of `PHASES`.
      instructions: how many of its inner instructions have a name from there (counted).
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
      values: how many distinct values.
      bytes: their bytes on one device, each once (counted).
      carried: how many of the bytes come from the iteration before.
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
