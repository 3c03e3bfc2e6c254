"""Facts about the chips that programs are compiled for: devices per chip, memory, and details of GPUs.

Figures of the makers, of XLA and of JAX differ: each has its source. Not its job: speeds (`model.time.hardware`), or
the chips that this process can compile for (`observe.partitioner.targets`).
"""

from __future__ import annotations

from dataclasses import dataclass

from pjit_inspect.model.record.target import MemorySize
from pjit_inspect.model.time.hardware import HARDWARE, first, hardware_of

GIB = 1 << 30

_CLOUD, _LIBTPU, _JAX, _XLA = "Google", "libtpu", "TpuInfo", "XLA"
"""Google Cloud's pages; the limit in the words with which libtpu 0.0.42 refuses a program that needs more; JAX's own
table; XLA's descriptions of GPUs."""

DEVICES_OF_A_CHIP = {chip: own.per_chip for chip, own in HARDWARE.items()}
"""Devices that JAX has for each chip: each of a tpu7x has half of its memory."""

_CORES_OF_A_DEVICE = {"v4": 2, "v5p": 2}
"""TensorCores of a device, where it is not one; JAX's figures are of one."""

_TPU_MEMORY: dict[str, tuple[MemorySize, ...]] = {
    "v4": (MemorySize(32 * GIB, _CLOUD), MemorySize(round(30.75 * GIB), _LIBTPU)),
    "v5e": (MemorySize(16 * 10**9, _CLOUD), MemorySize(round(15.75 * GIB), _LIBTPU)),
    "v5p": (MemorySize(95 * GIB, _CLOUD), MemorySize(round(95.74 * GIB), _LIBTPU)),
    "v6e": (MemorySize(32 * 10**9, _CLOUD), MemorySize(round(31.25 * GIB), _LIBTPU)),
    "tpu7x": (MemorySize(96 * GIB, _CLOUD), MemorySize(round(94.75 * GIB), _LIBTPU)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU, in the figures that XLA's compiler needs; JAX has one device for it.

    Attributes:
      name: the driver's name, which is JAX's `device_kind`.
      capability: CUDA's compute capability; with `is_specific`, also instructions that later ones lack ("sm_90a").
      cores: streaming multiprocessors.
      lanes: 32-bit floating-point lanes per multiprocessor.
      clock_ghz: the highest clock.
      memory_bytes: memory as the driver reports it.
      l2_bytes: second-level cache.
      shared_bytes: shared memory of each core, of which a block may have 1 KiB less.
      links: NVLinks to other GPUs.
    """

    name: str
    capability: tuple[int, int]
    is_specific: bool
    cores: int
    lanes: int
    clock_ghz: float
    memory_bytes: int
    l2_bytes: int
    shared_bytes: int
    links: int


# Facts of NVIDIA's data sheets; memory, bandwidth, clocks and caches as XLA's own descriptions of these GPUs have them
# (openxla/xla, xla/backends/gpu/target_config/specs, read in November 2026).
GPUS: dict[str, Gpu] = {
    "a100": Gpu(
        name="NVIDIA A100-SXM4-80GB",
        capability=(8, 0),
        is_specific=False,
        cores=108,
        lanes=64,
        clock_ghz=1.41,
        memory_bytes=85_100_068_864,
        l2_bytes=40 << 20,
        shared_bytes=164 << 10,
        links=12,
    ),
    "h100": Gpu(
        name="NVIDIA H100 80GB HBM3",
        capability=(9, 0),
        is_specific=True,
        cores=132,
        lanes=128,
        clock_ghz=1.98,
        memory_bytes=84_942_979_072,
        l2_bytes=50 << 20,
        shared_bytes=228 << 10,
        links=18,
    ),
    "h200": Gpu(
        name="NVIDIA H200",
        capability=(9, 0),
        is_specific=True,
        cores=132,
        lanes=128,
        clock_ghz=1.98,
        memory_bytes=151_397_597_184,
        l2_bytes=50 << 20,
        shared_bytes=228 << 10,
        links=18,
    ),
    "b200": Gpu(
        name="NVIDIA B200",
        capability=(10, 0),
        is_specific=True,
        cores=148,
        lanes=128,
        clock_ghz=1.965,
        memory_bytes=191_514_411_008,
        l2_bytes=132_644_864,
        shared_bytes=228 << 10,
        links=18,
    ),
}

_OF_EVERY_GPU = """\
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  threads_per_core_limit: 2048
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  device_address_bits: 64
  ecc_enabled: true
  device_vendor: "NVIDIA Corporation"
"""
_DRIVER, _TOOLKIT, _DNN = "13.0.0", "12.8.0", (9, 10, 0)
"""Versions that are taken to be installed where the program will run."""


def gpu_config(gpu: Gpu) -> str:
    """The GPU as XLA wants it described: a `stream_executor.GpuTargetConfigProto` in text form.

    A description that lacks a limit or a size ends the process of the compiler by a division by zero.
    """
    major, minor = gpu.capability
    hardware = hardware_of(gpu.name)
    bandwidth = 0.0 if hardware is None else first(hardware.memory_bytes_per_s) or 0.0
    feature = "ACCELERATED_FEATURES" if gpu.is_specific else "NONE"
    dnn = " ".join(f"{name}: {number}" for name, number in zip(("major", "minor", "patch"), _DNN, strict=True))
    return (
        "gpu_device_info {\n"
        f"{_OF_EVERY_GPU}"
        f"  shared_memory_per_core: {gpu.shared_bytes}\n"
        f"  shared_memory_per_block_optin: {gpu.shared_bytes - 1024}\n"
        f"  core_count: {gpu.cores}\n"
        f"  fpus_per_core: {gpu.lanes}\n"
        f"  clock_rate_ghz: {gpu.clock_ghz}\n"
        f"  device_memory_size: {gpu.memory_bytes}\n"
        f"  memory_bandwidth: {bandwidth:.0f}\n"
        f"  l2_cache_size: {gpu.l2_bytes}\n"
        f"  cuda_compute_capability {{ major: {major} minor: {minor} feature_extension: {feature} }}\n"
        f"  device_interconnect_info {{ active_links: {gpu.links} }}\n"
        f'  name: "{gpu.name}"\n'
        f'  platform_version: "Compute Capability {major}.{minor}{"a" if gpu.is_specific else ""}"\n'
        f'  driver_version: "{_DRIVER}"\n'
        f'  runtime_version: "{_TOOLKIT}"\n'
        f'  compile_time_toolkit_version: "{_TOOLKIT}"\n'
        f'  dnn_version: "{".".join(map(str, _DNN))}"\n'
        "}\n"
        'platform_name: "CUDA"\n'
        f"dnn_version_info {{ {dnn} }}\n"
        f'device_description_str: "{gpu.name}"\n'
    )


def memory_of(chip: str) -> tuple[MemorySize, ...]:
    """Memory of one device of a chip, per source; () if unknown."""
    says = None if chip in GPUS else _jax_says(chip)
    return listed_memory_of(chip) + ((MemorySize(says, _JAX),) if says else ())


def listed_memory_of(chip: str) -> tuple[MemorySize, ...]:
    """As `memory_of`, without JAX's word for it, for which a module of JAX's is imported."""
    return (MemorySize(GPUS[chip].memory_bytes, _XLA),) if chip in GPUS else _TPU_MEMORY.get(chip, ())


def _jax_says(chip: str) -> int | None:
    """Bytes of a device's memory as this JAX knows it; None where it does not, and where there is no JAX."""
    try:
        from pjit_inspect.observe.contract import _jax
    except ImportError:
        return None
    return _jax.tpu_memory(chip.removeprefix("tpu"), _CORES_OF_A_DEVICE.get(chip, 1))
