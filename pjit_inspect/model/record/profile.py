"""Profiler results: one run of one program on one device, as names and sums.

Not its job: reading the profiler's files (`observe.profiler.profiler`), or assigning runs to records
(`analyze.measured.kernel_times`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Spans = tuple[np.ndarray[Any, np.dtype[np.float64]], np.ndarray[Any, np.dtype[np.float64]]]
"""Begin and end times of events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """A kernel of a CUDA graph, which XLA launches at one go: its events may name no HLO instruction.

    Attributes:
      buffer: XLA's name of the command buffer that the graph was made from (stat `hlo_op`), "command_buffer_17"; or the
        HLO instruction, as in most graphs that were made while the profiler was on.
      graph: CUDA's number of the graph.
      number: the node's number in that, in the order in which they were added; the same in all runs.
      kernel: the name of the function that ran on the GPU ("gemm_fusion_dot_1", "memcpy128").
    """

    buffer: str
    graph: int
    number: int
    kernel: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledRun:
    """One run of one program on one device, as the profiler saw it.

    *Source*: events of `jax.profiler.ProfileData` that have the stats `hlo_op` and `hlo_module`.

    Attributes:
      module: the name of the HLO module ("jit_train_step").
      program: XLA's number of the program (stat `program_id`), unique in a process; None if the profiler gave none.
      run: the run's number, the same on all devices; None likewise.
      device: the device's ordinal in its process (stat `device_ordinal`, or the number in the plane's name).
      began_ns, ended_ns: begin of its first event and end of its last, on the profiler's clock.
      ops: HLO instruction -> its number of runs, and its total nanoseconds.
      nodes: the same for kernels of CUDA graphs, in order of their first run.
      spans: begin and end of each event of these, in nanoseconds; None if events are not a device's kernels. On a GPU
        they are: regions have no events there, and kernels may overlap.
    """

    module: str
    program: int | None
    run: int | None
    device: int
    began_ns: float
    ended_ns: float
    ops: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    nodes: Mapping[GraphNode, tuple[int, float]] = field(default_factory=dict)
    spans: Mapping[str | GraphNode, Spans] | None = field(default=None, compare=False)
