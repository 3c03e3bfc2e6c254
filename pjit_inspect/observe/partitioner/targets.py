"""The machines that programs can be compiled for without being attached, and the missing parts for the others.

A TPU's compiler is in the package `libtpu`, a GPU's in JAX's CUDA plugin; both compile on a machine without the chip.
Not its job: compiling (`observe.partitioner.service`), or figures of chips.
"""

from __future__ import annotations

import difflib
import importlib.util
import math
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from pjit_inspect.errors import ChangeError
from pjit_inspect.model.record.target import Platform, Target
from pjit_inspect.observe.partitioner.chips import DEVICES_OF_A_CHIP, GPUS, gpu_config

MOST_CPU_DEVICES = 2048
"""Limit of XLA's CPU client: the number of the next device would belong to another process."""
MOST_GPU_HOSTS = 512
"""With 8 GPUs each that is as many as were tried."""
MOST_GPUS = 8
"""Of one host, on NVIDIA's boards of these GPUs."""

_FLAT = ("1x1", "2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
_CUBES = (
    "1x1x1",
    "2x2x1",
    "2x2x2",
    "2x2x4",
    "2x4x4",
    "4x4x4",
    "4x4x8",
    "4x8x8",
    "8x8x8",
    "8x8x16",
    "8x16x16",
    "16x16x16",
)
TOPOLOGIES: dict[str, tuple[str, ...]] = {
    "v4": (*_CUBES, "12x16x16"),
    "v5e": _FLAT,
    "v5p": (*_CUBES, "16x16x24"),
    "v6e": _FLAT,
    "tpu7x": _CUBES,
}
"""Chips of each TPU along the dimensions of its slices, as Google Cloud sells them; other sizes may exist."""

_ALSO_CALLED = {"gpu": "cuda", "nvidia": "cuda", "v7x": "tpu7x", "v5litepod": "v5e", "v5lite": "v5e"}
_PLATFORMS = ("cpu", "tpu", "cuda")
_SIZES = re.compile(r"[1-9]\d{0,5}(?:x[1-9]\d{0,5})*")
_QUIET = {"ALLOW_MULTIPLE_LIBTPU_LOAD": "1", "TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost"}
"""For libtpu where no TPU is: not to ask the cloud what it runs on, and not to take the lock on chips."""
_GPU_PLUGINS = ("cuda12", "cuda13")
"""JAX's plugins for GPUs: packages `jax_plugins.xla_NAME`, which compile also where no driver is."""


def find_target(name: str) -> Target:
    """A target from its name: "cpu:256", "tpu:v5e:16x16", "cuda:h100:4x8".

    Raises ChangeError, with the available targets, for an unknown name.
    """
    platform, *rest = str(name).strip().split(":")
    if platform == "cpu":
        if len(rest) != 1 or not rest[0].isdecimal() or not 1 <= int(rest[0]) <= MOST_CPU_DEVICES:
            raise ChangeError(
                f"target {name!r}: a CPU target is a number of fake devices from 1 to {MOST_CPU_DEVICES:,}, as in "
                f"'cpu:256'"
            )
        return Target(platform="cpu", topology=str(int(rest[0])))
    if platform == "tpu":
        return _tpu(name, rest)
    if platform == "cuda":
        return _gpu(name, rest)
    raise ChangeError(
        f"target {name!r}: {_no_platform(platform)}; targets are named as in 'cpu:256', 'tpu:v5e:4x4', "
        f"'cuda:h100:1x8'; pjit_inspect.targets() lists them"
    )


def _no_platform(platform: str) -> str:
    """An error message for an unknown platform, which often is a chip."""
    for known, chips in (("tpu", TOPOLOGIES), ("cuda", GPUS)):
        if near := _near(platform.lower(), chips):
            return f"{platform!r} is no platform, did you mean '{known}:{near}'"
    return f"{platform!r} is no platform{_did_you_mean(platform, _PLATFORMS)}"


def _near(word: str, words: Iterable[str]) -> str:
    """The known word that one may have meant; "" where none is near."""
    known = list(words)
    meant = _ALSO_CALLED.get(word, "")
    return meant if meant in known else next(iter(difflib.get_close_matches(word, known, n=1)), "")


def _did_you_mean(word: str, words: Iterable[str]) -> str:
    near = _near(word.lower(), words)
    return f", did you mean {near!r}" if near else ""


def _tpu(name: str, rest: list[str]) -> Target:
    chip, topology = (*rest, "", "")[:2]
    if chip not in TOPOLOGIES:
        raise ChangeError(
            f"target {name!r}: {chip!r} is no TPU that is known here{_did_you_mean(chip, TOPOLOGIES)}; there are "
            f"{', '.join(TOPOLOGIES)}"
        )
    known = ", ".join(TOPOLOGIES[chip])
    rank = TOPOLOGIES[chip][0].count("x")
    if len(rest) != 2 or not _SIZES.fullmatch(topology) or topology.count("x") != rank:
        raise ChangeError(
            f"target {name!r}: a {chip} target says how many chips there are along each of {rank + 1} dimensions, as "
            f"in 'tpu:{chip}:{TOPOLOGIES[chip][2]}'; there are {known}"
        )
    if not all(_is_size(int(size)) for size in topology.split("x")) and topology not in TOPOLOGIES[chip]:
        raise ChangeError(f"target {name!r}: there are no {chip} slices of {topology} chips; there are {known}")
    return Target(platform="tpu", chip=chip, topology=topology)


def _is_size(size: int) -> bool:
    """Slices have 1 or 2 chips along a dimension, or a multiple of 4."""
    return size in (1, 2) or size % 4 == 0


def _gpu(name: str, rest: list[str]) -> Target:
    chip, topology = (*rest, "", "")[:2]
    if chip not in GPUS:
        raise ChangeError(
            f"target {name!r}: {chip!r} is no GPU that is known here{_did_you_mean(chip, GPUS)}; there are "
            f"{', '.join(GPUS)}"
        )
    sizes = [int(size) for size in topology.split("x")] if _SIZES.fullmatch(topology) else []
    if len(rest) != 2 or len(sizes) != 2 or sizes[0] > MOST_GPU_HOSTS or sizes[1] > MOST_GPUS:
        raise ChangeError(
            f"target {name!r}: a {chip} target says how many hosts there are and how many GPUs each has, as in "
            f"'cuda:{chip}:4x8'; there can be 1 to {MOST_GPU_HOSTS} hosts with 1 to {MOST_GPUS} GPUs each"
        )
    return Target(platform="cuda", chip=chip, topology=topology)


def device_count(target: Target) -> int:
    """The number of JAX devices on a target."""
    return math.prod(map(int, target.topology.split("x"))) * DEVICES_OF_A_CHIP.get(target.chip, 1)


def why_missing(platform: Platform) -> str:
    """Why this process cannot compile for a platform, with the line that changes it; "" where it can."""
    if platform == "tpu" and not os.environ.get("TPU_LIBRARY_PATH") and importlib.util.find_spec("libtpu") is None:
        return "the compiler for TPUs is not installed: pip install 'pjit_inspect[tpu]'"
    if platform == "cuda" and not plugin():
        return "the compiler for GPUs is not installed: pip install 'pjit_inspect[cuda]'"
    return ""


def plugin() -> str:
    """The first of JAX's plugins for GPUs that is installed here, as "cuda12"; "" where there is none."""
    for name in _GPU_PLUGINS:
        # A parent that is missing is an error of its own.
        with suppress(ModuleNotFoundError):
            if importlib.util.find_spec(f"jax_plugins.xla_{name}") is not None:
                return name
    return ""


def question(target: Target, mesh: tuple[int, ...]) -> Mapping[str, Any]:
    """Options of a target for the process that compiles, with a mesh of these sizes over its devices.

    Raises ChangeError if this process cannot compile for it.
    """
    if target.platform == "cpu":
        return {}
    if lacks := why_missing(target.platform):
        raise ChangeError(f"target {str(target)!r}: {lacks}")
    if target.platform == "cuda":
        slices = 1
        options = {"target_config": gpu_config(GPUS[target.chip]), "topology": f"{slices}x{target.topology}"}
        return _question(target, str(target), options, mesh, {}, _GPU_FLAGS)
    options: dict[str, Any] = {}
    if target.chip == "v4":
        # One device per chip, as JAX has it where the chips are attached.
        options["chip_config_name"] = "megacore"
    if set(target.topology.split("x")) == {"1"}:
        options["chips_per_host_bounds"] = (1, 1, 1)
    return _question(target, f"{target.chip}:{target.topology}", options, mesh, _QUIET, {})


_GPU_FLAGS = {
    # Without a GPU no kernel can be timed, and XLA would take the first Triton kernel it finds.
    "xla_gpu_enable_triton_gemm": False,
    # XLA writes what its own models say of the time of each kernel beside it.
    "xla_gpu_collect_cost_model_stats": True,
    "xla_gpu_enable_analytical_sol_latency_estimator": True,
}
"""Options of compiles for GPUs that are not there; those of the program itself go before."""


def _question(
    target: Target,
    topology: str,
    options: Mapping[str, Any],
    mesh: tuple[int, ...],
    environment: Mapping[str, str],
    flags: Mapping[str, Any],
) -> Mapping[str, Any]:
    return {
        "platform": target.platform,
        "topology": topology,
        "options": dict(options),
        "mesh": list(mesh),
        "environment": dict(environment),
        "flags": dict(flags),
    }
