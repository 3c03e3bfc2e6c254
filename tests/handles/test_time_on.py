"""The time of a call on a TPU that is not there, compiled ahead of time."""

from __future__ import annotations

import json
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.handles.time.step import RecordStepTime


def record() -> pi.CompileRecord:
    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))

    def place(shape, *spec):
        return jax.ShapeDtypeStruct(shape, jnp.bfloat16, sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    def step(x, w, v):
        def layer(h, pair):
            return jnp.tanh(h @ pair[0]) @ pair[1], None

        return jax.lax.scan(layer, x, (w, v))[0]

    x = place((4096, 1024), "data")
    return pi.inspect(
        jax.jit(step), x, place((3, 1024, 4096), None, None, "model"), place((3, 4096, 1024), None, "model")
    )


def test_on_a_tpu_that_is_not_there_xla_says_how_long_kernels_take():
    pytest.importorskip("libtpu", reason="the compiler for TPUs is not installed: pip install 'pjit_inspect[tpu]'")
    here = record()
    found = here.time_on("tpu:v5e:2x4")
    assert found.hardware is not None
    assert found.hardware.name == "TPU v5e"
    expected = 3 * 2 * 2 * 1024 * 1024 * 2048
    assert found.product_flops == here.time.product_flops == expected
    assert found.floor_s is not None
    assert found.step_s is not None
    assert expected / 197e12 <= found.floor_s <= found.step_s
    assert "XLA's estimate" in found.known_by
    [summed] = [row for row in found.collectives if row.axes == ("model",)]
    # 1024 x 1024 numbers of two bytes on a line of two chips, three times; the all-reduce may be of float32.
    least = 3 * 2 * 1024 * 1024 * 2 / 2 / 45e9
    assert summed.seconds == pytest.approx(least) or summed.seconds == pytest.approx(2 * least)
    assert "no step time of this chip was validated" in " ".join(str(found).split())


def test_with_the_speeds_of_a_chip_the_kernels_stay_those_of_the_program():
    found = record().time_on("v5e")
    assert found.hardware is not None
    assert {row.known_by for row in found.kernels} == {"modelled"}
    assert any("the kernels are those that XLA made for cpu" in note for note in found.notes)
    # A CPU has no place on a torus: it sends over one link.
    for row in found.collectives:
        assert row.seconds == pytest.approx((row.sent_bytes or 0) / 45e9)
        assert "the places of the devices on the torus are unknown" in row.formula


def test_a_program_that_xla_only_partitioned_has_a_quick_range():
    found = record().what_if(mesh={"data": 2, "model": 4}).time_on("v5e")
    assert found.is_quick
    assert found.floor_s is not None
    assert found.serial_s is not None
    products, sent = 3 * 2 * 2 * 2048 * 1024 * 1024 / 197e12, sum(row.sent_bytes or 0 for row in found.collectives)
    assert found.product_flops / 197e12 == pytest.approx(products)
    assert found.floor_s == pytest.approx(max(products, sent / 45e9))
    assert found.serial_s >= products + sent / 45e9
    text = " ".join(str(found).split())
    assert "a quick estimate" in text
    assert "before XLA fuses or schedules anything" in text


def test_the_playground_says_the_same():
    play = record().playground(fits="tpu:v5e")
    play.set(mesh={"data": 2, "model": 4})
    variant = play.wait()
    time = variant.record.time_on("v5e")
    assert variant.time_s == (time.floor_s, time.serial_s)
    assert variant.step_s is None
    play.close()


def test_advice_says_seconds_where_the_chip_is_known():
    mesh = Mesh(np.array(jax.devices()).reshape(8), ("data",))

    def place(*spec):
        return jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16, sharding=NamedSharding(mesh, PartitionSpec(*spec)))

    def f(x, w):
        lost = jax.lax.with_sharding_constraint(x @ w, NamedSharding(mesh, PartitionSpec()))
        return lost @ w

    here = pi.inspect(jax.jit(f), place("data"), place())
    assert {row.seconds for row in here.advice} == {None}
    chips = tuple(replace(own, kind="TPU v5 lite", coords=(own.id % 4, own.id // 4)) for own in here.data.devices)
    [best, *_] = pi.CompileRecord(replace(here.data, devices=chips), live=True).advice
    assert best.sent is not None
    assert best.seconds is not None
    # 1024 x 1024 numbers of two bytes over a line of 4 and one of 2; what every device multiplies is split then.
    gathered, multiplied = 2 * 1024 * 1024 * 7 / 8 / 90e9, 2 * 1024**3 / 197e12
    assert gathered < best.seconds[0] - best.seconds[1] < gathered + 2 * multiplied


def test_the_timeline_goes_to_a_file(tmp_path):
    found = record().time_on("v5e")
    assert isinstance(found, RecordStepTime)
    found.to_perfetto(tmp_path / "step.json")
    events = json.loads((tmp_path / "step.json").read_text(encoding="utf-8"))["traceEvents"]
    lanes = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert {"compute", "loops"} <= lanes
    assert max(event["ts"] + event["dur"] for event in events if event["ph"] == "X") == pytest.approx(
        (found.step_s or 0.0) * 1e6
    )
    unknown = record().time
    assert isinstance(unknown, RecordStepTime)
    with pytest.raises(pi.CaptureError, match="there is no timeline: the speed of CPU devices is unknown"):
        unknown.to_perfetto(tmp_path / "none.json")


def test_an_unknown_chip_is_refused():
    with pytest.raises(pi.ChangeError, match="the speed of this chip is unknown; known are v4, v5e"):
        record().time_on("toaster")
    with pytest.raises(pi.ChangeError):
        record().time_on("tpu:v5e:3x7x9")


def test_it_is_a_view_like_the_others():
    shown = record()
    assert str(shown.show("time")) == str(shown.time)
    with pytest.raises(ValueError, match="the views are text, html, widget, tree, facts, memory, time"):
        shown.show("seconds")  # type: ignore[arg-type]


def test_on_a_cpu_nothing_is_said_of_seconds():
    shown = record()
    assert "a call on" not in str(shown)
    assert "about" not in str(shown).partition("collectives")[0]
