"""The profiler's runs of a program, and the measured times of each of its HLO instructions.

Not its job: measuring (`observe.profiler.profiler`), adding up (`analyze.measured.kernel_times`), laying out
(`view.record.kernels`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pjit_inspect.model.program.opcodes import REGIONS
from pjit_inspect.model.program.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTime:
    """Measured time of one HLO instruction in one call of its program.

    Repeated runs in a call, as in a loop, are added up.

    Attributes:
      instruction: its name in the HLO ("fusion.3"), without the percent sign.
      opcode: as XLA writes it ("fusion", "all-gather", "while"). A "while", "conditional" or "call" gets the time of
        the instructions it runs if its event is shorter: on CPU the event ends when the region first waits. On a GPU it
        is the time during which at least one of its instructions ran.
      runs_per_call: number of runs in one call on one device (counted by the profiler): the mean over calls and
        devices, a fraction if a conditional skips it.
      slowest_us: microseconds per call on the device where it took longest; the mean over the measured calls. For a
        collective this includes waiting for other devices.
      mean_us: the mean over all devices of the program in this process.
      least_us: the least of one call on one device, which what else the machine does disturbs least; None in records of
        older versions of this package.
    """

    instruction: str
    opcode: str = ""
    runs_per_call: float = 1.0
    slowest_us: float
    mean_us: float
    least_us: float | None = None

    def __post_init__(self) -> None:
        figures = (self.runs_per_call, self.slowest_us, self.mean_us, self.least_us or 0.0)
        if not all(math.isfinite(x) and x >= 0 for x in figures):
            raise ValueError(f"times and counts are finite and not negative, got those of {self.instruction[:40]!r}")

    @property
    def holds_others(self) -> bool:
        """True if its time includes that of other rows, as of a loop, a conditional or a call."""
        return self.opcode in REGIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownTime:
    """An HLO instruction that ran, but whose events contradict the program: it gets no time.

    On a GPU also a command buffer (`opcode` is "command buffer"): kernels that XLA launches together, some of which
    name no instruction. These are mostly copies and library kernels.

    Attributes:
      instruction, opcode: as in `KernelTime`.
      why: the contradiction or the unknown fact, a sentence without a full stop.
    """

    instruction: str
    opcode: str = ""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTimes(Table[KernelTime]):
    """Measured times of one program's HLO instructions, longest first. A sequence of `KernelTime`.

    The profiler slows the program down, most where instructions are many and short. On CPU devices that JAX makes of
    one host (`jax_num_cpu_devices`) all devices share its cores: the times are then of this machine, and say little of
    a real mesh. Only devices of this process are measured.

    *Source*: JAX's profiler (`jax.profiler.start_trace`), whose events name instruction, program, run and device.

    Attributes:
      calls: number of calls in the means: calls measured from begin to end, without the first unless it is the only
        one.
      warm_up_us: microseconds of the first call, as `call_us`: it fills caches, and is left out of the means. None if
        it is the only one (then the means cover it), or was not measured from begin to end.
      left_out: number of calls left out: begun before the measured block, or unfinished when the profiler stopped.
      devices: number of devices of this process that ran it.
      call_us: microseconds of one call, from the begin of its first instruction to the end of its last, on the slowest
        device; the mean over the measured calls.
      mean_call_us: the mean over the devices.
      busy_us: microseconds of a call during which at least one kernel or copy ran on a GPU, a mean over calls and
        devices; for the rest it waited for the host or other devices. Kernels may overlap: their times may add up to
        more. None on other platforms.
      rows: every instruction that ran, the longest `slowest_us` first.
      unknown: instructions that ran and have no row, each with the reason; () in nearly every program. Two checks
        decide: the number of runs must match the program's trip counts, and a loop must take as long as the
        instructions it runs.
    """

    calls: int
    left_out: int = 0
    warm_up_us: float | None = None
    devices: int
    call_us: float
    mean_call_us: float
    busy_us: float | None = None
    rows: tuple[KernelTime, ...] = ()
    unknown: tuple[UnknownTime, ...] = ()

    def __post_init__(self) -> None:
        if self.calls < 1 or self.devices < 1 or self.left_out < 0:
            raise ValueError(f"{self.calls} calls on {self.devices} devices, {self.left_out} left out, cannot be")
        if not all(
            math.isfinite(x) and x >= 0
            for x in (self.call_us, self.mean_call_us, self.warm_up_us or 0.0, self.busy_us or 0.0)
        ):
            raise ValueError("the time of a call is finite and not negative")

    @property
    def total_us(self) -> float:
        """Microseconds of all calls that the means are over, each on the device where it took longest."""
        return self.call_us * self.calls

    def of(self, instruction: str) -> KernelTime | None:
        """The row of one HLO instruction; None when it did not run by itself, or its time is unknown."""
        return next((row for row in self.rows if row.instruction == instruction), None)

    def __repr__(self) -> str:
        rows, calls = "s" * (len(self) != 1), "s" * (self.calls != 1)
        return f"KernelTimes({len(self)} instruction{rows}, {self.calls} call{calls} of {self.call_us:.0f} us)"


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

    *Source*: events of the profiler's file that name an HLO instruction and its module (`parse.profile.xplane`).

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
      on_host: whether the host reports its own work, as a CPU does: it may hand an instruction to other threads.
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
    on_host: bool = True
