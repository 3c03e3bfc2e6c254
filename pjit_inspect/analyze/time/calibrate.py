"""Fits the speeds of this machine to the measured times of one program.

Kernels are put together by kind and by size (each bin four times the one before); the speed of a bin is the median of
its kernels. No formula of a processor is assumed: on a CPU, products, copies that change the order of elements,
functions, reductions and plain arithmetic differ tenfold, and each with its size. Times are those of the fastest call,
which other work of the machine disturbs least; of collectives, on the device that waited least. Not its job: measuring
(`analyze.measured`), or estimating with the result (`kernel_seconds`, `network`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pjit_inspect.model.time.hardware import OTHERS, PRODUCTS, Hardware, Sourced, Speeds
from pjit_inspect.model.time.rows import TimedCollective, TimedKernel
from pjit_inspect.model.time.step_time import StepTime

_SOURCE = "measured on this machine"
_LEAST_ROWS = 3
_BIN = 4.0
"""Each bin of sizes is so many times the one before."""
_LONG_S = 100e-6
"""Kernels that take less are left out of the fit's own figures: what measures them takes as long."""


def fit_hardware(step: StepTime, *, name: str) -> Hardware | None:
    """The speeds at which the kernels of a measured program ran; None where too few were measured.

    `name` is what the machine is called.
    """
    rows = [row for row in step.kernels if row.fastest_s and row.size]
    if len(rows) < _LEAST_ROWS:
        return None
    kinds: dict[str, list[TimedKernel]] = {}
    for row in rows:
        for kind in (row.kind, PRODUCTS if row.product_flops else OTHERS):
            kinds.setdefault(kind, []).append(row)
    by_kind = {kind: _speeds(own) for kind, own in kinds.items()}
    return replace(
        _peaks(rows, by_kind) if step.hardware is None else step.hardware,
        name=name,
        by_kind=by_kind,
        least_run_s=min((row.fastest_s or math.inf) / max(1, row.runs or 1) for row in rows),
        by_axis=_fit_axes(step.collectives),
        fit=f"measured on this machine: {len(rows):,} kernels of one program",
    )


def _peaks(rows: Sequence[TimedKernel], by_kind: Mapping[str, Speeds]) -> Hardware:
    """The best speeds that were seen, where no maker says any."""
    numbers = {row.number: row.kind for row in rows if row.product_flops}
    best = {number: max(speed for _, speed in by_kind[kind]) for number, kind in numbers.items()}
    memory = max((speed for _, speed in by_kind.get(OTHERS, ())), default=math.inf)
    return Hardware(
        name="",
        flops_per_s={number: (Sourced(speed, _SOURCE),) for number, speed in best.items()},
        memory_bytes_per_s=(Sourced(memory, _SOURCE),),
    )


def _speeds(rows: Sequence[TimedKernel]) -> Speeds:
    """Sizes, ascending, and the median speed of the kernels about each."""
    bins: dict[int, list[TimedKernel]] = {}
    for row in rows:
        bins.setdefault(int(math.log(row.size or 1.0, _BIN)), []).append(row)
    return tuple(
        (_median(row.size or 1.0 for row in own), _median(map(_speed, own))) for _, own in sorted(bins.items())
    )


def _speed(row: TimedKernel) -> float:
    return (row.size or 0.0) * max(1, row.runs or 1) / (row.fastest_s or math.inf)


def fit_words(step: StepTime) -> str:
    """The agreement of estimates with the measured times beside them, in words."""
    rows = [
        row for row in step.kernels if row.fastest_s and row.seconds and row.fastest_s / max(1, row.runs or 1) > _LONG_S
    ]
    if len(rows) < _LEAST_ROWS:
        return f"measured on this machine; too few kernels take over {_LONG_S * 1e6:.0f} us to say how well it fits"
    measured, estimated = (np.array([getattr(row, name) for row in rows], float) for name in ("fastest_s", "seconds"))
    ratio = float(np.median(np.maximum(estimated / measured, measured / estimated)))
    return (
        f"measured on this machine: median ratio {ratio:.2f}, rank correlation "
        f"{rank_correlation(measured, estimated):.2f} over {len(rows):,} kernels of over {_LONG_S * 1e6:.0f} us"
    )


def rank_correlation(left: np.ndarray, right: np.ndarray) -> float:
    """Spearman's correlation: how far two columns are in the same order."""
    first, second = (np.argsort(np.argsort(column)).astype(float) for column in (left, right))
    return float(np.corrcoef(first, second)[0, 1]) if len(left) > 1 else 1.0


def _fit_axes(rows: Sequence[TimedCollective]) -> dict[tuple[str, ...], Sourced]:
    """For mesh axes, and for all of them together, the median speed: some devices wait for others in every call."""
    speeds: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        if row.axes and row.fastest_s and row.sent_bytes:
            for axes in (row.axes, ()):
                speeds.setdefault(axes, []).append(row.sent_bytes / row.fastest_s)
    return {axes: Sourced(_median(own), _SOURCE) for axes, own in speeds.items()}


def _median(values: Iterable[float]) -> float:
    return float(np.median(list(values)))
