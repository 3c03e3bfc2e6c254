"""The speeds of chips and links, each figure with its source; several figures where sources differ.

Nothing here was measured by us, except in a `Hardware` that `calibrate` made. Not its job: seconds of a program
(`analyze.time`), or memory sizes (`observe.partitioner.chips`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

_CLOUD = "Google Cloud"
_JAX = "JAX's TpuInfo"
_BOOK = "the scaling book"
_XLA = "XLA's description of the GPU"
_DERIVED = "derived from Google Cloud's figures"
_CYCLES = "peak FLOP/s over the FLOPs that XLA counts per cycle"

NumberKind = Literal["bf16", "int8", "fp8", "tf32", "fp64"]
"""The kinds of numbers that chips multiply at different speeds; float16 counts as bf16."""

Network = Literal["torus", "switch", ""]
"""torus: links to neighbours along dimensions. switch: each device reaches all others of its host. "": unknown."""


@dataclass(frozen=True, slots=True)
class Sourced:
    """One figure according to one source.

    Attributes:
      value: the figure, in the unit of the field that it is in.
      source: who says it.
    """

    value: float
    source: str


BySource = tuple[Sourced, ...]
"""The same figure by each source; the first is used."""

Speeds = tuple[tuple[float, float], ...]
"""Sizes, ascending, and the speed at each."""

PRODUCTS, OTHERS = "products", "others"
"""The kinds of all kernels with products, and of all without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """The speeds of one JAX device of a kind, and of its links.

    Attributes:
      name: its name for people ("TPU v5e").
      flops_per_s: peak operations per second in dense products, by kind of number.
      memory_bytes_per_s: bandwidth of its main memory.
      network: how devices are linked.
      link_bytes_per_s: one link of a torus in one direction; or what a device sends into its host's switch.
      per_chip: JAX devices of a chip, which share its links.
      rings_from: on a torus, a dimension of this many chips, or a multiple, is wrapped to a ring; 0 for none.
      between_hosts: bytes per second that a device sends outside of its slice (TPU) or host (GPU).
      clock_hz: the clock that XLA's estimated cycles count; () if unknown.
      by_kind: measured speeds of kernels, by kind as in `TimedKernel`, and of all kinds with products ("products") and
        without ("others"): sizes of one run, ascending, and how much of it is done in a second. The size of a kernel
        with products is their operations, of others their bytes.
      least_run_s: seconds of the shortest run of a kernel that was measured; 0 where none was.
      by_axis: bytes per second that a device sends over mesh axes, where that was measured on this machine; under ()
        those over all of them, which count for other axes.
      fit: how well a calibration fits, in words; "" for figures of the makers.
    """

    name: str
    flops_per_s: Mapping[str, BySource] = field(default_factory=dict)
    memory_bytes_per_s: BySource = ()
    network: Network = ""
    link_bytes_per_s: BySource = ()
    per_chip: int = 1
    rings_from: int = 0
    between_hosts: BySource = ()
    clock_hz: BySource = ()
    by_kind: Mapping[str, Speeds] = field(default_factory=dict)
    least_run_s: float = 0.0
    by_axis: Mapping[tuple[str, ...], Sourced] = field(default_factory=dict)
    fit: str = ""

    @property
    def is_measured(self) -> bool:
        """True if the figures were measured on this machine."""
        return bool(self.fit)

    def peak(self, number: str) -> float | None:
        """Operations per second in products of a kind of number, at best; None if unknown."""
        return first(self.flops_per_s.get(number, ()))

    def measured_seconds(
        self, kind: str, size: float, *, has_products: bool, at_best: float | None = None
    ) -> float | None:
        """Seconds of one run of a kernel of a kind and a size; None if nothing like it was measured.

        Between two measured sizes the speed follows a power law: a straight line on paper with logarithmic scales. A
        smaller kernel runs as fast as the smallest, but no shorter than any kernel did. Of a larger one, what is more
        than the largest runs at the makers' speed, which takes `at_best` seconds for all of it, or as fast as the
        largest where that is None.
        """
        speeds = self.by_kind.get(kind) or self.by_kind.get(PRODUCTS if has_products else OTHERS, ())
        if not speeds or size <= 0:
            return None
        (least, slowest), (most, fastest) = speeds[0], speeds[-1]
        if size <= least:
            return max(size / slowest, self.least_run_s)
        if size >= most:
            return size / fastest if at_best is None else most / fastest + at_best * (1 - most / size)
        below, above = max(own for own in speeds if own[0] <= size), min(own for own in speeds if own[0] > size)
        part = math.log(size / below[0]) / math.log(above[0] / below[0])
        return size / (below[1] ** (1 - part) * above[1] ** part)

    def has_measured(self, kind: str, size: float) -> bool:
        """True if kernels of a kind were measured, smaller and larger ones than this."""
        speeds = self.by_kind.get(kind, ())
        return bool(speeds) and speeds[0][0] / _NEAR <= size <= speeds[-1][0] * _NEAR


_NEAR = 2.0
"""A size is like another up to so many times of it."""


def first(figures: BySource) -> float | None:
    """The figure that is used; None if there is none."""
    return figures[0].value if figures else None


def _tpu(
    name: str,
    *,
    bf16: BySource,
    memory: BySource,
    link: Sourced,
    outside: Sourced,
    rings_from: int,
    per_cycle: int = 0,
    per_chip: int = 1,
    **others: BySource,
) -> Hardware:
    return Hardware(
        name=f"TPU {name}",
        flops_per_s={"bf16": bf16} | others,
        memory_bytes_per_s=memory,
        network="torus",
        link_bytes_per_s=(link,),
        per_chip=per_chip,
        rings_from=rings_from,
        between_hosts=(outside,),
        clock_hz=(Sourced(bf16[0].value / per_cycle, _CYCLES),) if per_cycle else (),
    )


def _gpu(name: str, *, memory: float, link: float, outside: float = 0.0, **flops: float) -> Hardware:
    return Hardware(
        name=name,
        flops_per_s={kind: (Sourced(value, _BOOK if name == "A100" else _XLA),) for kind, value in flops.items()},
        memory_bytes_per_s=(Sourced(memory, _XLA),),
        network="switch",
        link_bytes_per_s=(Sourced(link, _BOOK),),
        between_hosts=(Sourced(outside, _BOOK),) if outside else (),
    )


HARDWARE: dict[str, Hardware] = {
    "v4": _tpu(
        "v4",
        bf16=(Sourced(275e12, _CLOUD), Sourced(275e12, _JAX)),
        int8=(Sourced(275e12, _CLOUD),),
        memory=(Sourced(1.20e12, _CLOUD), Sourced(1.23e12, _JAX)),
        link=Sourced(45e9, _BOOK),
        outside=Sourced(25e9 / 4, f"{_BOOK}: 25 GB/s for the 4 chips of a host"),
        rings_from=4,
        per_cycle=262_144,
    ),
    "v5e": _tpu(
        "v5e",
        bf16=(Sourced(197e12, _CLOUD), Sourced(197e12, _JAX)),
        int8=(Sourced(393e12, _CLOUD),),
        memory=(Sourced(8.2e11, _JAX), Sourced(8.1e11, _BOOK)),
        link=Sourced(45e9, _BOOK),
        outside=Sourced(25e9 / 8, _DERIVED),
        rings_from=16,
        per_cycle=131_072,
    ),
    "v5p": _tpu(
        "v5p",
        bf16=(Sourced(459e12, _CLOUD), Sourced(459e12, _JAX)),
        int8=(Sourced(918e12, _JAX),),
        memory=(Sourced(2.765e12, _CLOUD), Sourced(2.46e12, _JAX)),
        link=Sourced(90e9, _BOOK),
        outside=Sourced(50e9 / 8, _CLOUD),
        rings_from=4,
        per_cycle=262_144,
    ),
    "v6e": _tpu(
        "v6e",
        bf16=(Sourced(918e12, _CLOUD), Sourced(920e12, _JAX)),
        int8=(Sourced(1836e12, _CLOUD),),
        memory=(Sourced(1.64e12, _CLOUD),),
        link=Sourced(90e9, _BOOK),
        outside=Sourced(100e9 / 8, _CLOUD),
        rings_from=16,
        per_cycle=524_288,
    ),
    # A JAX device is half a chip: half of the products, the memory and what leaves the slice. Both have its links.
    "tpu7x": _tpu(
        "7x",
        bf16=(Sourced(2307e12 / 2, _CLOUD), Sourced(1155e12, _JAX)),
        fp8=(Sourced(4614e12 / 2, _CLOUD),),
        memory=(Sourced(7.38e12 / 2, _CLOUD),),
        link=Sourced(100e9, _DERIVED),
        outside=Sourced(100e9 / 8 / 2, _CLOUD),
        rings_from=4,
        per_cycle=524_288,
        per_chip=2,
    ),
    "a100": _gpu("A100", bf16=312e12, int8=624e12, memory=2_039_040_000_000, link=300e9),
    "h100": _gpu(
        "H100",
        bf16=989e12,
        fp8=1978e12,
        tf32=495e12,
        fp64=67e12,
        memory=3_352_320_000_000,
        link=450e9,
        outside=50e9,
    ),
    "h200": _gpu(
        "H200",
        bf16=989e12,
        fp8=1978e12,
        tf32=495e12,
        fp64=67e12,
        memory=4_800_000_000_000,
        link=450e9,
        outside=50e9,
    ),
    "b200": _gpu("B200", bf16=2225e12, fp8=4450e12, memory=7_672_320_000_000, link=900e9, outside=50e9),
}
"""Chip, as in `Target.chip` -> its figures; all are dense, and those of one JAX device."""

CHIPS_OF_KINDS: dict[str, str] = {
    "TPU v4": "tpu:v4",
    "TPU v5 lite": "tpu:v5e",
    "TPU v5e": "tpu:v5e",
    "TPU v5": "tpu:v5p",
    "TPU v5p": "tpu:v5p",
    "TPU v6 lite": "tpu:v6e",
    "TPU v6e": "tpu:v6e",
    "TPU7x": "tpu:tpu7x",
    "NVIDIA A100-SXM4-80GB": "cuda:a100",
    "NVIDIA H100 80GB HBM3": "cuda:h100",
    "NVIDIA H200": "cuda:h200",
    "NVIDIA B200": "cuda:b200",
}
"""JAX's name of a device -> the chip. *Source*: `device_kind`, as libtpu and CUDA's driver report it."""


def hardware_of(name: str) -> Hardware | None:
    """The hardware of a chip ("v5e"), of a target ("tpu:v5e:4x4") or of a `device_kind`; None if it is not known."""
    parts = CHIPS_OF_KINDS.get(name, name).split(":")
    return HARDWARE.get(parts[1] if len(parts) > 1 else parts[0])
