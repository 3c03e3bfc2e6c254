"""Speeds fitted to measured times: those of a machine whose speeds are known come out; and what they estimate."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pjit_inspect as pi
from pjit_inspect.analyze.time.calibrate import fit_hardware, fit_words, rank_correlation
from pjit_inspect.model.time.hardware import Hardware, Sourced
from pjit_inspect.model.time.rows import TimedCollective, TimedCollectives, TimedKernel, TimedKernels
from pjit_inspect.model.time.step_time import StepTime

SPEEDS = {"arithmetic": 10e9, "copy in another order": 2e9, "fusion with products of f32": 50e9}
"""What each kind of kernel of a machine does in a second: bytes, or operations of products."""


def kernel(number: int, kind: str, size: int) -> TimedKernel:
    runs, is_product = 1 + number % 3, "products" in kind
    product = size * runs if is_product else 0
    return TimedKernel(
        name=f"fusion.{number}", label="", runs=runs, flops=product + 10, product_flops=product, flops_from="shapes",
        number="f32" if is_product else "", kind=kind, bytes_read=(7 if is_product else size) * runs, bytes_written=0,
        seconds=None, floor_s=None, known_by="unknown", bound_by="unknown", measured_s=9.0,
        fastest_s=size / SPEEDS[kind] * runs,
    )  # fmt: skip


def step(*rows: TimedKernel, collectives: tuple[TimedCollective, ...] = ()) -> StepTime:
    return StepTime(hardware=None, devices=4, kernels=TimedKernels(rows), collectives=TimedCollectives(collectives))


def test_the_speeds_of_a_known_machine_come_out():
    gather = TimedCollective(
        collective=0, name="all-gather", kind="all-gather", axes=("x",), runs=1, sent_bytes=10**6, seconds=None,
        exposed_s=None, known_by="unknown", measured_s=9.0, fastest_s=1e-3,
    )  # fmt: skip
    rows = [kernel(k, kind, 10**k) for k in range(4, 9) for kind in SPEEDS]
    found = fit_hardware(step(*rows, collectives=(gather,)), name="here")
    assert found is not None
    for kind, speed in SPEEDS.items():
        for size in (3e5, 1e12):
            has_products = "products" in kind
            seconds = found.measured_seconds(kind, size, has_products=has_products)
            assert seconds == pytest.approx(size / speed, rel=1e-9)
    assert found.peak("f32") == pytest.approx(50e9)
    assert found.by_axis[("x",)] == Sourced(10**6 / 1e-3, "measured on this machine")
    assert found.is_measured
    # A kind that did not run: as all others with products, or without.
    dot = found.measured_seconds("dot with products of f32", 1e6, has_products=True)
    assert dot == pytest.approx(1e6 / 50e9)
    assert found.measured_seconds("reduction", 1e6, has_products=False) == pytest.approx(1e6 / 6e9)


def test_between_two_sizes_speeds_follow_a_power_law_and_beyond_them_time_is_bounded():
    by_kind = {"reduction": ((1e4, 1e9), (1e6, 9e9))}
    here = Hardware(name="here", by_kind=by_kind, least_run_s=2e-6, fit="measured")

    def seconds(size: float, at_best: float | None = None) -> float | None:
        return here.measured_seconds("reduction", size, has_products=False, at_best=at_best)

    assert seconds(1e5) == pytest.approx(1e5 / 3e9)
    assert seconds(5e3) == pytest.approx(5e-6)
    assert seconds(1e3) == 2e-6
    assert seconds(1e9) == 1e9 / 9e9
    # Nine tenths of it at the makers' speed.
    assert seconds(1e7, at_best=1e7 / 90e9) == pytest.approx(1e6 / 9e9 + 9e6 / 90e9)
    assert here.measured_seconds("function", 1e5, has_products=False) is None


def test_too_few_kernels_fit_nothing():
    assert fit_hardware(step(kernel(1, "arithmetic", 10), kernel(2, "arithmetic", 10)), name="here") is None


def test_the_fit_says_how_good_it_is():
    assert "too few kernels" in fit_words(step())
    assert rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([10.0, 30.0, 20.0])) == pytest.approx(0.5)


def test_a_record_that_was_not_measured_says_so():
    record = pi.inspect(jax.jit(lambda x: x + 1), jax.ShapeDtypeStruct((8,), jnp.float32))
    with pytest.raises(pi.CaptureError, match="no measured times"):
        pi.calibrate(record)


def test_a_measured_program_tells_its_seconds_and_calibrates_others():
    def step_of(x, w):
        def body(h, each):
            return jnp.tanh(h @ each) + jnp.exp(-h * h), None

        return jax.lax.scan(body, x, w)[0]

    fn = jax.jit(step_of)
    x, w = jnp.ones((256, 256)), jnp.ones((4, 256, 256))
    with pi.capture(measure=True) as log:
        for _ in range(3):
            jax.block_until_ready(fn(x, w))
    record = log["step_of"]
    time = record.time
    assert time.is_measured
    assert time.measured_s == time.step_s
    assert sum(share.share or 0.0 for share in time.by("known by")) == pytest.approx(1.0)
    assert "measured" in {share.name for share in time.by("known by")}
    assert "a call, measured" in str(time)
    hardware = pi.calibrate(record)
    assert "measured on this machine" in hardware.fit
    again = record.time_on(hardware)
    assert again.step_s
    assert again.measured_s == time.measured_s
    assert not again.is_measured
    assert {row.known_by for row in again.kernels if row.seconds} == {"modelled"}


@pytest.mark.parametrize("name", ["branch", "chain", "attention", "mlp", "offloaded"])
def test_a_gpu_calibrated_on_one_program_tells_the_seconds_of_another(name):
    """Programs that an H200 ran, from its own profiles."""
    folder = Path(__file__).parents[2] / "data" / "gpu"
    hardware = pi.calibrate(pi.load(folder / "train_step.nvidia_h200.pjit"))
    assert hardware.peak("bf16") == 989e12
    step = pi.load(folder / f"{name}.nvidia_h200.pjit").time_on(hardware)
    apart = [
        max(row.seconds / own, own / row.seconds) for row in step.kernels if row.seconds and (own := row.measured_s)
    ]
    assert len(apart) >= 5
    assert np.median(apart) < 1.4
    is_larger = name in ("mlp", "offloaded")
    assert any("that was not measured" in note for note in step.notes) or not is_larger
