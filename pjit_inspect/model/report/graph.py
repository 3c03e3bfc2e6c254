"""The inspector's graph, schedule strip, skeleton and flow: the kernels of a program as a matrix of scopes by phases.

A graph of all kernels cannot be read; a table can. Rows are the user's scopes in forward order, equal layers folded to
one that is shown; columns are the phases of training; a box is the work of one scope in one phase. Integers identify
everything: a row, a box, a kernel is its index in `ProgramGraph.rows`, `.boxes`, `.kernels`. Large sets are columns
(numpy arrays) instead of objects. Not its job: building it (`analyze.graph.build`), drawing it.

The box of a kernel is modelled, and `GraphKernels.how` says by which rule. The content of a box is counted. Not here
either: the columns (`model.report.graph_columns`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pjit_inspect.model.program.hlo_columns import Links
from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.report.graph_columns import GraphArrows, GraphKernels, GraphReads, Mixes, ScheduleRuns

RowKind = Literal[
    "program",
    "scope",
    "function",
    "loop",
    "branch",
    "argument",
    "before",
    "between",
    "after",
    "shared",
    "all",
    "unreached",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphLoop:
    """One loop of the optimized program (a `while`).

    Attributes:
      name: the HLO instruction.
      parent: the loop around it, as a row of `ProgramGraph.loops`; -1 for none.
      trips: turns per run; None if unknown.
    """

    name: str
    parent: int
    trips: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphRow:
    """One row: a scope, or kernels between scopes.

    Attributes:
      parent: the row around it; -1 for row 0, the program.
      children: the rows in it, in forward order; () for a leaf.
      kind: "program"; "scope" (`jax.named_scope`, a module of flax); "function" (a Python function, from the source
        frames, or a jitted one of the user's); "loop"; "branch" of a conditional; "argument" (a layer known only by the
        argument it reads); "before", "between", "after": work of the group around it outside its other rows; "shared":
        updates of several groups at once; "all": a program without any structure; "unreached": unreachable code.
      name: the scope as the program writes it; "loop", "branch 1", "inputs", "head", "loss", "outputs", "tail",
        "shared" for rows without a name in the program.
      label: the name for people, distinct from its neighbours ("attn, outside the loop", "norm(), line 46").
      holds: its commonest operations, at most two ("log_softmax, take_along_axis").
      loop_trips: turns per run of a loop; None if unknown or not the same everywhere.
      fold: the fold it is a member of, as a row of `ProgramGraph.folds`; -1 for none.
      shown_as: the row shown in its place while all folds are closed: itself outside folds and in shown members.
    """

    parent: int
    children: tuple[int, ...]
    kind: RowKind
    name: str
    label: str
    holds: str
    loop_trips: int | None
    fold: int
    shown_as: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFold:
    """Neighbouring rows that do the same work: one is shown for all.

    Attributes:
      members: rows, in order.
      shown: the member most like all others; its numbers are shown, never means.
      label: "layer0 … layer15".
      likeness: for each member, its likeness to the shown one in all kernels, 0 to 1 (modelled: Jaccard index of
        opcodes, shapes and collectives per scope and phase).
      essential_likeness: the same in matmuls and collectives alone.
    """

    members: tuple[int, ...]
    shown: int
    label: str
    likeness: tuple[float, ...]
    essential_likeness: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxCollectives:
    """The collectives of one kind over the same axes in one box.

    Attributes:
      kind, axes, mesh: as in `Collective`.
      collectives: which, as rows of the `CollectiveTable`.
      runs: upper bound of their total runs per call; None if a trip count is unknown.
      payload_bytes: bytes of their operands on one device, each run once (counted); unknown ones do not count.
    """

    kind: str
    axes: tuple[str, ...] | None
    mesh: int
    collectives: tuple[int, ...]
    runs: int | None
    payload_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A combined collective in another box that serves this one too.

    Attributes:
      collective: row of the `CollectiveTable`.
      operands: number of its operands for this box.
      payload_bytes: the bytes of these on one device.
    """

    collective: int
    operands: int
    payload_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """Collectives that another member of a fold has more or fewer of than the shown one.

    Attributes:
      fold: the fold.
      member: the member's index in `GraphFold.members`.
      box: the shown box that states it.
      kind, axes, mesh: as in `Collective`.
      count: number of additional collectives; negative for fewer; 0 if only bytes differ.
      payload_bytes: additional bytes of operands.
      times: number of times this difference occurs: more than 1 for a fold within a fold.
    """

    fold: int
    member: int
    box: int
    kind: str
    axes: tuple[str, ...] | None
    mesh: int
    count: int
    payload_bytes: int
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphBox:
    """The work of one row in one phase. An update belongs to the row of a whole layer, anything else to a leaf.

    Attributes:
      row: its row.
      phase: row of `PHASES`.
      kernels: number of kernels (modelled: a kernel of several scopes is in one box).
      inferred: number of kernels placed by inference (`HOWS`).
      matmuls: matrix products and convolutions in them (counted).
      flops: their floating-point operations on one device, each kernel run once (counted); None if one is unknown.
      flops_per_call: the same, each times its runs; None if unknown.
      iterations: most common upper bound of runs per call among its kernels; None if unknown. More than 1 means that
        all counts and bytes here are per iteration.
      result_bytes: bytes of its kernels' results on one device, each run once; results of unknown size are omitted.
      collectives: collectives in this box, most bytes first.
      mentions: combined collectives in other boxes that serve this one too.
      is_list: whether a list shows its kernels best, because most are not connected.
    """

    row: int
    phase: int
    kernels: int
    inferred: int
    matmuls: int
    flops: int | None
    flops_per_call: int | None
    iterations: int | None
    result_bytes: int
    collectives: tuple[BoxCollectives, ...] = ()
    mentions: tuple[Mention, ...] = ()
    is_list: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneEvent:
    """One collective in the schedule.

    Attributes:
      collective: row of the `CollectiveTable`.
      lane: row of `ScheduleStrip.lanes`.
      start, end: positions between kernels, 0 to the number of kernels: it is issued right after kernel `start - 1` and
        awaited right before kernel `end`. If it is not asynchronous, `end` is `start` plus its kernels.
      first_use, last_use: the first and the last kernel that takes its result; -1 for none.
      is_async: whether start and end are separate instructions.
    """

    collective: int
    lane: int
    start: int
    end: int
    first_use: int
    last_use: int
    is_async: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleStrip:
    """The schedule: the order of phases and layers, and the collectives under way.

    Positions count kernels, not time.

    Attributes:
      is_scheduled: whether XLA fixed the order; if not, it is the order of the program's bytes.
      runs: the runs of kernels, in order.
      lanes: the axes of each lane, as `Collective.axes`, most collectives first.
      events: every collective in the schedule, by `start`.
      first_matmul: the first kernel with a matrix product; -1 for none.
    """

    is_scheduled: bool
    runs: ScheduleRuns
    lanes: tuple[tuple[str, ...] | None, ...]
    events: tuple[LaneEvent, ...]
    first_matmul: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProgramGraph:
    """One program as the inspector shows it.

    Attributes:
      phases: the rows of `PHASES` in the program, left to right.
      is_differentiated: whether the program has a backward pass; without one, the only phase has no name to show.
      has_scopes: whether rows are the user's scopes; if not, they are guessed from arguments and functions.
      rows: every row; parents precede their children. Row 0 is the program.
      boxes: every box, by row, then phase.
      kernels: every kernel.
      box_kernels: for each box its kernels, in schedule order.
      reads: the values that kernels take.
      arguments: names of the program's arguments by parameter number ("params['w']"); "" for none.
      results: for each of the program's results its source: (kernel, -1), (-1, parameter number); (-1, -1) if unknown.
      loops: every loop that runs.
      mixes: kernels of several scopes.
      collective_boxes: for each row of the `CollectiveTable`, its box.
      collective_kernels: for each row, its kernel; -1 in an unreachable computation.
      folds: equal layers; a fold within a fold comes after it.
      deviations: differences of fold members from the shown ones. The shown collectives times the folds, plus these,
        are all collectives of the program (`analyze.graph.fold.count_shown`).
      arrows: values between boxes, nothing folded.
      strip: the schedule.
    """

    phases: tuple[int, ...]
    is_differentiated: bool
    has_scopes: bool
    rows: tuple[GraphRow, ...]
    boxes: tuple[GraphBox, ...]
    kernels: GraphKernels
    box_kernels: Links
    reads: GraphReads
    arguments: tuple[str, ...]
    results: tuple[tuple[int, int], ...]
    loops: tuple[GraphLoop, ...]
    mixes: Mixes
    collective_boxes: tuple[int, ...]
    collective_kernels: tuple[int, ...]
    folds: tuple[GraphFold, ...]
    deviations: tuple[Deviation, ...]
    arrows: GraphArrows
    strip: ScheduleStrip

    def kernels_of(self, box: int) -> np.ndarray:
        """The kernels of a box, in schedule order."""
        return self.box_kernels[box]

    def edges_of(self, box: int) -> np.ndarray:
        """The graph inside a box: (source, target) kernels, each pair once, both in the box, without carried values.

        Sources precede their targets: there are no cycles.
        """
        reads = self.reads
        inside = (reads.source >= 0) & ~reads.carried & (self.kernels.box[reads.target] == box)
        inside[inside] = self.kernels.box[reads.source[inside]] == box
        pairs = np.stack([reads.source[inside], reads.target[inside]], axis=1)
        return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)

    def __repr__(self) -> str:
        return f"ProgramGraph({len(self.rows)} rows, {len(self.boxes)} boxes, {len(self.kernels)} kernels)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkeletonStep:
    """Kernels that run one after another, and the collectives that follow them.

    Attributes:
      kernels: their operations in order; equal neighbours once, with their number.
      collectives: rows of the `CollectiveTable`, in order.
    """

    kernels: tuple[tuple[str, int], ...]
    collectives: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SkeletonPart:
    """An unbroken run of one phase, scope, branch or loop. A scope that XLA interleaves appears several times.

    Attributes:
      label: its name: "forward", "layer0", "layer0 … layer3", "loop".
      is_loop: whether it is a loop.
      trips: turns per run of a loop; None if unknown, and for anything else.
      alike: number of equal neighbours it represents, including itself.
      parts: its parts and steps, in order.
    """

    label: str
    is_loop: bool = False
    trips: int | None = None
    alike: int = 1
    parts: tuple[SkeletonPart | SkeletonStep, ...] = ()


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
