"""What JAX's profiler saw: one run of one program on one device, as names and sums.

Not its job: reading the profiler's files (`observe.profiler.profiler`), or whose run it was
(`analyze.report.kernel_times`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["ProfiledRun"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledRun:
    """One run of one program on one device, as the profiler saw it.

    *Source*: events of `jax.profiler.ProfileData` that have the stats `hlo_op` and `hlo_module`.

    Attributes:
      module: the name of the HLO module ("jit_train_step").
      program: XLA's number of the program (stat `program_id`), unique in a process; None when the profiler gave none.
      run: the run's number (stat `run_id`), the same on all devices; None likewise.
      device: the device's ordinal in its process (stat `device_ordinal`, or the number in the plane's name).
      began_ns, ended_ns: when its first event began and its last ended, on the profiler's clock.
      ops: HLO instruction -> how many events it had, and their nanoseconds together.
    """

    module: str
    program: int | None
    run: int | None
    device: int
    began_ns: float
    ended_ns: float
    ops: Mapping[str, tuple[int, float]] = field(default_factory=dict)
