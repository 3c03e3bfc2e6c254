"""Fits the speeds of this machine to the measured times of one program.

A kernel without products takes `bytes / memory + operations / arithmetic + once`; the three are those that leave the
smallest relative errors (non-negative least squares). What a kernel with products takes beyond that gives the speed of
its products, by kind of number and by tens of their size, as small ones are slower. What a device sends over mesh axes,
over the measured time of these collectives, waits included, gives the speed of the axes. Not its job: measuring
(`analyze.measured`), or estimating with the result (`kernel_seconds`, `network`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pjit_inspect.model.time.hardware import Hardware, Sourced
from pjit_inspect.model.time.rows import TimedCollective, TimedKernel
from pjit_inspect.model.time.step_time import StepTime

_SOURCE = "measured on this machine"
_LEAST_ROWS = 3
_SWEEPS = 2_000
_LONG_S = 100e-6
"""Kernels that take less are left out of the fit's own figures: what measures them takes as long."""


def fit_hardware(step: StepTime, *, name: str) -> Hardware | None:
    """The speeds that explain the measured times of a program; None where too few kernels were measured.

    `name` is what the machine is called.
    """
    rows = [row for row in step.kernels if row.measured_s and row.flops is not None and row.bytes is not None]
    if len(rows) < _LEAST_ROWS:
        return None
    plain = [row for row in rows if not row.product_flops]
    per_byte, per_other, once = _fit_plain(plain or rows)
    by_size = _fit_products([row for row in rows if row.product_flops], (per_byte, per_other, once))
    return Hardware(
        name=name,
        flops_per_s={kind: (Sourced(max(speed for _, speed in sizes), _SOURCE),) for kind, sizes in by_size.items()},
        memory_bytes_per_s=(Sourced(1 / per_byte if per_byte else math.inf, _SOURCE),),
        by_size=by_size,
        other_flops_per_s=(Sourced(1 / per_other, _SOURCE),) if per_other else (),
        run_s=(Sourced(once, _SOURCE),),
        by_axis=_fit_axes(step.collectives),
        fit=f"measured on this machine: {len(rows):,} kernels of one program",
    )


def fit_words(step: StepTime) -> str:
    """How well estimates agree with the measured times beside them."""
    rows = [row for row in step.kernels if row.measured_s and row.seconds and row.measured_s / _runs(row) > _LONG_S]
    if len(rows) < _LEAST_ROWS:
        return f"measured on this machine; too few kernels take over {_LONG_S * 1e6:.0f} us to say how well it fits"
    measured, estimated = (np.array([getattr(row, name) for row in rows], float) for name in ("measured_s", "seconds"))
    ratio = float(np.median(np.maximum(estimated / measured, measured / estimated)))
    return (
        f"measured on this machine: median ratio {ratio:.2f}, rank correlation "
        f"{rank_correlation(measured, estimated):.2f} over {len(rows):,} kernels of over {_LONG_S * 1e6:.0f} us"
    )


def rank_correlation(left: np.ndarray, right: np.ndarray) -> float:
    """Spearman's correlation: how far two columns are in the same order."""
    first, second = (np.argsort(np.argsort(column)).astype(float) for column in (left, right))
    return float(np.corrcoef(first, second)[0, 1]) if len(left) > 1 else 1.0


def _runs(row: TimedKernel) -> int:
    return max(1, row.runs or 1)


def _features(row: TimedKernel) -> tuple[float, float, float]:
    """Bytes, operations of other arithmetic, and runs of a kernel per call."""
    return float(row.bytes or 0), float((row.flops or 0) - (row.product_flops or 0)), float(_runs(row))


def _fit_plain(rows: Sequence[TimedKernel]) -> tuple[float, float, float]:
    """Seconds of a byte, of an operation, and of a run."""
    times = np.array([row.measured_s for row in rows], float)
    features = np.array([_features(row) for row in rows], float) / times[:, None]
    scale = np.maximum(features.max(axis=0), 1e-300)
    found = _non_negative(features / scale, np.ones(len(rows))) / scale
    return float(found[0]), float(found[1]), float(found[2])


def _non_negative(features: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Least squares without negative results, one unknown after the other."""
    gram, target = features.T @ features, features.T @ wanted
    found = np.zeros(len(target))
    for _ in range(_SWEEPS):
        before = found.copy()
        for k in range(len(found)):
            if gram[k, k] > 0:
                found[k] = max(0.0, found[k] + (target[k] - gram[k] @ found) / gram[k, k])
        if np.abs(found - before).max() <= 1e-12 * max(1e-300, float(np.abs(found).max())):
            break
    return found


def _fit_products(
    rows: Sequence[TimedKernel], plain: tuple[float, float, float]
) -> dict[str, tuple[tuple[float, float], ...]]:
    """For each kind of number and power of ten of a product's size, operations per second."""
    sums: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        each = (row.product_flops or 0) / _runs(row)
        rest = sum(seconds * amount for seconds, amount in zip(plain, _features(row), strict=True))
        # What bytes and arithmetic explain is no product's time; at least half of it is.
        seconds = max((row.measured_s or 0.0) - rest, (row.measured_s or 0.0) / 2)
        entry = sums.setdefault((row.number, int(math.log10(max(1.0, each)))), [0.0, 0.0])
        entry[0] += row.product_flops or 0
        entry[1] += seconds
    found: dict[str, list[tuple[float, float]]] = {}
    for (kind, size), (flops, seconds) in sorted(sums.items()):
        found.setdefault(kind, []).append((10.0**size, flops / seconds))
    return {kind: tuple(sizes) for kind, sizes in found.items()}


def _fit_axes(rows: Sequence[TimedCollective]) -> dict[tuple[str, ...], Sourced]:
    sums: dict[tuple[str, ...], list[float]] = {}
    for row in rows:
        if row.axes and row.measured_s and row.sent_bytes:
            entry = sums.setdefault(row.axes, [0.0, 0.0])
            entry[0] += row.sent_bytes
            entry[1] += row.measured_s
    return {axes: Sourced(sent / seconds, _SOURCE) for axes, (sent, seconds) in sums.items()}
