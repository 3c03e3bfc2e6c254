"""Speeds fitted to measured times: those of a machine whose speeds are known come out; and what they estimate."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pjit_inspect as pi
from pjit_inspect.analyze.time.calibrate import fit_hardware, fit_words, rank_correlation
from pjit_inspect.model.time.hardware import Hardware, Sourced
from pjit_inspect.model.time.rows import TimedCollective, TimedCollectives, TimedKernel, TimedKernels
from pjit_inspect.model.time.step_time import StepTime

BYTE, OPERATION, RUN = 1 / 10e9, 1 / 2e9, 5e-6
"""Seconds of a machine: 10 GB/s, 2 GFLOP/s of arithmetic, 5 us a kernel; products of 50 GFLOP/s, small ones of 5."""


def kernel(number: int, *, product: int = 0) -> TimedKernel:
    moved, other, runs = 10**5 * (1 + 7 * number), 10**5 * (1 + number**2), 1 + number % 3
    speed = 50e9 if product >= 10**8 else 5e9
    once = moved * BYTE + other * OPERATION + RUN + product / speed
    return TimedKernel(
        name=f"fusion.{number}", label="", runs=runs, flops=(product + other) * runs, product_flops=product * runs,
        flops_from="shapes", number="f32" if product else "", bytes_read=moved * runs, bytes_written=0, seconds=None,
        floor_s=None, known_by="unknown", bound_by="unknown", measured_s=once * runs,
    )  # fmt: skip


def step(*rows: TimedKernel, collectives: tuple[TimedCollective, ...] = ()) -> StepTime:
    return StepTime(hardware=None, devices=4, kernels=TimedKernels(rows), collectives=TimedCollectives(collectives))


def test_the_speeds_of_a_known_machine_come_out():
    gather = TimedCollective(
        collective=0, name="all-gather", kind="all-gather", axes=("x",), runs=1, sent_bytes=10**6, seconds=None,
        exposed_s=None, known_by="unknown", measured_s=1e-3,
    )  # fmt: skip
    rows = [kernel(k) for k in range(12)] + [kernel(20, product=10**9), kernel(21, product=10**7)]
    found = fit_hardware(step(*rows, collectives=(gather,)), name="here")
    assert found is not None
    assert found.memory_bytes_per_s[0].value == pytest.approx(10e9, rel=0.01)
    assert found.other_flops_per_s[0].value == pytest.approx(2e9, rel=0.01)
    assert found.run_s[0].value == pytest.approx(5e-6, rel=0.01)
    assert found.peak("f32", 2e9) == pytest.approx(50e9, rel=0.05)
    # A product of 10 MFLOP: less than half of its time is its own, and at least that is counted as such.
    assert (found.peak("f32", 2e7) or 0.0) < 10e9
    assert found.by_axis[("x",)] == Sourced(10**6 / 1e-3, "measured on this machine")
    assert found.is_measured


def test_too_few_kernels_fit_nothing():
    assert fit_hardware(step(kernel(1), kernel(2)), name="here") is None


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
    assert "a call, measured on 1 device" in str(time)
    hardware = pi.calibrate(record)
    assert "measured on this machine" in hardware.fit
    again = record.time_on(hardware)
    assert again.step_s
    assert again.measured_s == time.measured_s
    assert not again.is_measured
    assert {row.known_by for row in again.kernels if row.seconds} == {"modelled"}


def test_a_calibrated_machine_adds_up():
    here = Hardware(name="here", by_size={"f32": ((1e6, 1e9), (1e9, 9e9))}, fit="measured")
    assert here.peak("f32", 10.0) == here.peak("f32", 1e8) == 1e9
    assert here.peak("f32", 1e10) == 9e9
