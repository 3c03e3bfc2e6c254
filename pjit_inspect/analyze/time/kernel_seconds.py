"""The seconds of one run of a kernel: XLA's own estimate where the program has one, else the roofline.

The roofline is the larger of operations in products over the peak of their kind of number, and bytes over the memory's
bandwidth. Other arithmetic takes no time of its own in it: no source says how fast chips add. With the speeds of a
calibration, a kernel takes as long as those of its kind and size did. XLA's estimates are `estimated_cycles` over the
chip's clock (TPU), and `reification_cost` (GPU). Not its job: the work (`analyze.time.kernel_work`), or when a kernel
runs (`analyze.time.schedule`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.analyze.program.backend_config import BackendConfig
from pjit_inspect.analyze.time.kernel_work import FLOAT32, KernelWork
from pjit_inspect.model.time.hardware import Hardware, first
from pjit_inspect.model.time.rows import Bound, KnownBy

_NEAR = 0.35
"""Below this share of its roofline a kernel is bound by neither of its sides, as XProf says it."""
_MOST_CYCLES = 10**15
"""XLA writes more where it knows no end of a loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSeconds:
    """One run of a kernel.

    Attributes:
      seconds: seconds; None if unknown.
      floor_s: the least that the hardware allows; None if unknown.
      known_by: where `seconds` come from.
      bound_by: what limits it.
    """

    seconds: float | None
    floor_s: float | None
    known_by: KnownBy
    bound_by: Bound


UNTIMED = RunSeconds(seconds=None, floor_s=None, known_by="unknown", bound_by="unknown")


def run_seconds(work: KernelWork, config: BackendConfig, hardware: Hardware | None, *, trusts_xla: bool) -> RunSeconds:
    """The seconds of one run.

    `trusts_xla` is False for a program whose compile was cut short: XLA's estimates are then ten times too high.
    """
    if hardware is None:
        return UNTIMED
    compute, memory = compute_seconds(work, hardware), memory_seconds(work, hardware)
    floor = None if compute is None or memory is None else max(compute, memory)
    if hardware.is_measured:
        return _by_calibration(work, hardware, floor if hardware.network else None)
    estimate = estimated_seconds(config, hardware) if trusts_xla else None
    seconds = estimate if estimate is not None else floor
    if seconds is None:
        return UNTIMED
    return RunSeconds(
        seconds=seconds,
        # XLA's estimate of a kernel that holds its arrays on the chip may be below what main memory would allow.
        floor_s=None if floor is None else min(floor, seconds),
        known_by="modelled" if estimate is None else "XLA's estimate",
        bound_by=_bound(compute, memory, seconds),
    )


def compute_seconds(work: KernelWork, hardware: Hardware) -> float | None:
    """Seconds of all products at their peaks; None if a product or a peak is unknown."""
    if work.declared is not None:
        peak = hardware.peak("bf16")
        return None if peak is None else work.declared / peak
    if not work.is_known:
        return None
    total = 0.0
    for number, flops in work.products.items():
        peak, passes = hardware.peak(number), 1
        if peak is None and number == FLOAT32:
            # A TPU multiplies float32 as bfloat16, once or several times; a GPU as TF32.
            is_tpu = hardware.network == "torus"
            peak, passes = hardware.peak("bf16" if is_tpu else "tf32"), work.passes if is_tpu else 1
        if peak is None:
            return None
        total += flops * passes / peak
    return total


def _by_calibration(work: KernelWork, hardware: Hardware, at_best: float | None) -> RunSeconds:
    """The seconds of one run, as kernels of its kind and size had them; `at_best` is the makers' roofline."""
    products = sum(work.products.values())
    size = products or work.bytes
    if not size:
        return UNTIMED if size is None else RunSeconds(seconds=0.0, floor_s=0.0, known_by="modelled", bound_by="memory")
    seconds = hardware.measured_seconds(work.kind, size, has_products=bool(products), at_best=at_best)
    if seconds is None:
        return UNTIMED
    floor = seconds if at_best is None else min(at_best, seconds)
    return RunSeconds(seconds=seconds, floor_s=floor, known_by="modelled", bound_by="compute" if products else "memory")


def memory_seconds(work: KernelWork, hardware: Hardware) -> float | None:
    """Seconds of all bytes at the memory's bandwidth; None if either is unknown."""
    speed = first(hardware.memory_bytes_per_s)
    return None if speed is None or work.bytes is None else work.bytes / speed


def estimated_seconds(config: BackendConfig, hardware: Hardware) -> float | None:
    """XLA's own estimate; None where it left none."""
    clock = first(hardware.clock_hz)
    if clock and config.estimated_cycles is not None and config.estimated_cycles < _MOST_CYCLES:
        return config.estimated_cycles / clock
    return config.estimated_s


def _bound(compute: float | None, memory: float | None, seconds: float) -> Bound:
    if compute is None or memory is None:
        return "unknown"
    if max(compute, memory) < _NEAR * seconds:
        return "neither"
    return "compute" if compute >= memory else "memory"
