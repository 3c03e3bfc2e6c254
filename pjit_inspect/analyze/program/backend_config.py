"""Reads the notes of a backend beside an instruction, as far as they are understood.

The text stays whole in `BackendConfig.raw`; numbers in it are the compiler's own estimates or decisions, never
measurements. Not its job: what follows from them.

*Source*: `xla/service/gpu/backend_configs.proto`, `xla/service/cpu/backend_config.proto` (`known_trip_count` is in
`WhileLoopBackendConfig`); what TPU writes has no public source and was read from compiled programs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowConfig:
    """The windows into which a TPU kernel cuts its work.

    Attributes:
      kernel_bounds, output_bounds, input_bounds: lengths of one window of the weights, the result and the input, along
        each dimension; () where the kernel has none.
      iteration_bounds: how many windows there are along each dimension of the work.
    """

    kernel_bounds: tuple[int, ...] = ()
    output_bounds: tuple[int, ...] = ()
    input_bounds: tuple[int, ...] = ()
    iteration_bounds: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendConfig:
    """One `backend_config`.

    Attributes:
      raw: the text as the backend wrote it.
      fields: the same as nested dicts and lists; {} when it is no JSON object.
      trip_count: how often a while loop's body runs, when XLA knows.
      estimated_cycles: the compiler's estimate of a kernel's cycles on one core (TPU).
      estimated_s: the compiler's estimate of the seconds of a kernel or collective (GPU).
      collective_algorithm: how a collective is done, in the backend's words ("StrategyRing" on TPU,
        "KERNEL_STRATEGY_TRITON_ONE_SHOT" on GPU); "" when it does not say.
      collective_emitter: the TPU kernel that does it; "" likewise.
      is_sync: True when a GPU collective written as start and done runs in one go; None when it does not say.
      fusion: the sort of a fusion on CPU and GPU ("__triton_gemm", "__ynn_fusion"); "" likewise.
      window: how a TPU kernel cuts its work; None likewise.
    """

    raw: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    trip_count: int | None = None
    estimated_cycles: int | None = None
    estimated_s: float | None = None
    collective_algorithm: str = ""
    collective_emitter: str = ""
    is_sync: bool | None = None
    fusion: str = ""
    window: WindowConfig | None = None


def read_backend_config(raw: str) -> BackendConfig:
    """Reads a `backend_config`. Never raises: parts of an unexpected form are omitted."""
    fields = _object(raw)
    algorithm = _at(fields, "collective_algorithm_config", "strategy")
    strategy = _at(fields, "collective_backend_config", "kernel_strategy")
    is_sync = _at(fields, "collective_backend_config", "is_sync")
    return BackendConfig(
        raw=raw,
        fields=fields,
        trip_count=_number(_at(fields, "known_trip_count", "n")),
        estimated_cycles=_number(_at(fields, "window_config", "estimated_cycles")),
        estimated_s=_estimated_s(fields.get("reification_cost")),
        collective_algorithm=_text(algorithm) or _text(strategy).removesuffix("KERNEL_STRATEGY_DEFAULT"),
        collective_emitter=_text(_at(fields, "collective_algorithm_config", "emitter")),
        is_sync=is_sync if isinstance(is_sync, bool) else None,
        fusion=_text(_at(fields, "fusion_backend_config", "kind")) or _text(_at(fields, "fusion_config", "kind")),
        window=_window(fields.get("window_config")),
    )


_LIBRARIES = {"__cudnn$fusion": "cuDNN", "__cublas$fusion": "cuBLAS"}


def library_of_fusion(raw: str) -> str:
    """The library that makes the code of a fusion, by its `backend_config`: "Triton", "cuDNN"; "" if it does not say.

    *Source*: `xla/service/gpu/ir_emission_utils.h`, which has the kinds of fusions.
    """
    if "__" not in raw:
        return ""
    kind = read_backend_config(raw).fusion
    return "Triton" if kind.startswith("__triton") else _LIBRARIES.get(kind, "")


_COST_MODELS = ("indexing-cost-model", "", "sol")
"""XLA's cost models of GPU kernels, the best first: of a Triton fusion the nameless one writes hours."""
_PLACEHOLDER_US = 0.01
"""What the speed-of-light model ("sol") writes for a kernel that it does not model."""


_MOST_US = 1e9


def _estimated_s(costs: Any) -> float | None:
    """Seconds by the best of XLA's cost models that has a figure; None without any."""
    found: dict[str, float] = {}
    for cost in costs if isinstance(costs, list) else []:
        try:
            time_us = float(_at(cost, "exec_time_us"))
        except (TypeError, ValueError):
            continue
        if _PLACEHOLDER_US < time_us < _MOST_US:
            found[_text(_at(cost, "name"))] = time_us / 1e6
    return next((found[name] for name in _COST_MODELS if name in found), None)


def _object(raw: str) -> dict[str, Any]:
    if not raw.startswith("{"):
        return {}
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _at(value: Any, *keys: str) -> Any:
    """The value under nested `keys`; None when any is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    """An integer, also when it is written as text, as protobuf's JSON does for 64-bit numbers."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 else None


def _window(value: Any) -> WindowConfig | None:
    if not isinstance(value, dict):
        return None
    return WindowConfig(
        kernel_bounds=_numbers(value.get("kernel_window_bounds")),
        output_bounds=_numbers(value.get("output_window_bounds")),
        input_bounds=_numbers(value.get("input_window_bounds")),
        iteration_bounds=_numbers(value.get("iteration_bounds")),
    )


def _numbers(value: Any) -> tuple[int, ...]:
    numbers = tuple(map(_number, value)) if isinstance(value, list) else ()
    return tuple(number for number in numbers if number is not None) if None not in numbers else ()
