"""One program on more and more chips.

Not its job: asking XLA about each (`handles.time.scale`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pjit_inspect.model.program.table import Table
from pjit_inspect.model.time.step_time import StepTime


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalingRow:
    """The program on one number of chips.

    Attributes:
      devices: number of JAX devices.
      target: the machine.
      mesh: its axes in words ("fsdp=64 x tp=4").
      flops: operations per call on one device; None if the program could not be compiled.
      floor_s, kernels_s, step_s, serial_s, exposed_s, mfu: as in `StepTime`.
      bound_by: what takes most of a call.
      memory_bytes: bytes that a device needs; None if unknown.
      missing: why there is no answer; "" if there is one.
    """

    devices: int
    target: str
    mesh: str = ""
    flops: int | None = None
    floor_s: float | None = None
    kernels_s: float | None = None
    step_s: float | None = None
    serial_s: float | None = None
    exposed_s: float | None = None
    mfu: float | None = None
    bound_by: str = "unknown"
    memory_bytes: int | None = None
    missing: str = ""

    @property
    def exposed_share(self) -> float | None:
        """The share of a call in which kernels wait for the network; None if unknown."""
        return self.exposed_s / self.step_s if self.exposed_s is not None and self.step_s else None


@dataclass(frozen=True, slots=True)
class ScalingTable(Table[ScalingRow]):
    """A call on more and more chips.

    Attributes:
      rows: fewest chips first.
      is_weak: whether each number of chips has a call of its own, as with a batch that grows ("weak" scaling); else the
        arguments are the same ("strong").
    """

    rows: tuple[ScalingRow, ...]
    is_weak: bool = False

    computed: ClassVar[tuple[str, ...]] = ("exposed_share",)

    @property
    def network_bound_from(self) -> int | None:
        """The fewest devices at which the network takes most of a call; None if it never does."""
        return next((row.devices for row in self.rows if row.bound_by == "network"), None)


def scaling_row(devices: int, target: str, mesh: str, step: StepTime, memory_bytes: int | None) -> ScalingRow:
    """A row of a program's time."""
    return ScalingRow(
        devices=devices,
        target=target,
        mesh=mesh,
        flops=step.flops,
        floor_s=step.floor_s,
        kernels_s=step.kernels_s,
        step_s=step.step_s,
        serial_s=step.serial_s,
        exposed_s=step.exposed_s,
        mfu=step.mfu,
        bound_by=step.bound_by,
        memory_bytes=memory_bytes,
        missing=step.missing,
    )
