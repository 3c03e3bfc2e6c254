"""Names of machines, what is wrong with one, and what the compiler of each is told; compiles where it is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.model.record.target import Target
from pjit_inspect.observe.partitioner import chips, targets
from pjit_inspect.observe.partitioner.service import ask_partitioner
from pjit_inspect.observe.partitioner.targets import device_count, find_target, question

needs_tpu = pytest.mark.skipif(bool(targets.why_missing("tpu")), reason=targets.why_missing("tpu") or "ready")
needs_gpu = pytest.mark.skipif(bool(targets.why_missing("cuda")), reason=targets.why_missing("cuda") or "ready")

# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("name", "target", "devices"),
    [
        ("cpu:256", Target(platform="cpu", topology="256"), 256),
        ("tpu:v5e:16x16", Target(platform="tpu", chip="v5e", topology="16x16"), 256),
        ("tpu:v5e:1x1", Target(platform="tpu", chip="v5e", topology="1x1"), 1),
        ("tpu:v5p:4x4x4", Target(platform="tpu", chip="v5p", topology="4x4x4"), 64),
        # JAX has two devices for each chip of these.
        ("tpu:tpu7x:2x2x1", Target(platform="tpu", chip="tpu7x", topology="2x2x1"), 8),
        ("cuda:h100:4x8", Target(platform="cuda", chip="h100", topology="4x8"), 32),
        (" cuda:a100:1x1 ", Target(platform="cuda", chip="a100", topology="1x1"), 1),
    ],
)
def test_a_name_is_a_machine_of_so_many_devices(name: str, target: Target, devices: int) -> None:
    assert find_target(name) == target
    assert device_count(target) == devices
    assert str(target) == name.strip()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tpv:v5e:4x4", "'tpv' is no platform, did you mean 'tpu'"),
        ("gpu:h100:1x8", "'gpu' is no platform, did you mean 'cuda'"),
        ("h100:1x8", "'h100' is no platform, did you mean 'cuda:h100'"),
        ("v5e:4x4", "'v5e' is no platform, did you mean 'tpu:v5e'"),
        ("", "'' is no platform; targets are named as in 'cpu:256', 'tpu:v5e:4x4', 'cuda:h100:1x8'"),
        ("cpu", "a CPU target is a number of fake devices from 1 to 2,048, as in 'cpu:256'"),
        ("cpu:4096", "a CPU target is a number of fake devices from 1 to 2,048"),
        ("cpu:0", "a CPU target is a number of fake devices from 1 to 2,048"),
        (
            "tpu:v7x:2x2x1",
            "'v7x' is no TPU that is known here, did you mean 'tpu7x'; there are v4, v5e, v5p, v6e, tpu7x",
        ),
        ("tpu:v5e:3x5", "there are no v5e slices of 3x5 chips; there are 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16"),
        ("tpu:v5e:8", "a v5e target says how many chips there are along each of 2 dimensions, as in 'tpu:v5e:2x4'"),
        ("tpu:v5p:4x4", "a v5p target says how many chips there are along each of 3 dimensions"),
        ("tpu:v5e", "a v5e target says how many chips there are along each of 2 dimensions"),
        ("cuda:h10:1x8", "'h10' is no GPU that is known here, did you mean 'h100'; there are a100, h100, h200, b200"),
        (
            "cuda:h100:8",
            "a h100 target says how many hosts there are and how many GPUs each has, as in 'cuda:h100:4x8'",
        ),
        ("cuda:h100:1x72", "there can be 1 to 512 hosts with 1 to 8 GPUs each"),
        ("cuda:h100:0x8", "there can be 1 to 512 hosts with 1 to 8 GPUs each"),
    ],
)
def test_a_wrong_name_is_refused_with_what_there_is(name: str, said: str) -> None:
    with pytest.raises(ChangeError, match=re.escape(said)):
        find_target(name)


def test_what_is_missing_is_said_with_the_line_that_adds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TPU_LIBRARY_PATH", raising=False)
    monkeypatch.setattr(targets.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ChangeError, match=re.escape("pip install 'pjit_inspect[tpu]'")):
        question(find_target("tpu:v5e:2x4"), (2, 4))
    with pytest.raises(ChangeError, match=re.escape("pip install 'pjit_inspect[cuda]'")):
        question(find_target("cuda:h100:1x8"), (2, 4))
    assert question(find_target("cpu:8"), (2, 4)) == {}


# ---------------------------------------------------------------- what a compiler is told


def test_a_gpu_is_described_by_all_that_its_compiler_divides_by() -> None:
    # A description without one of these ends the compiler's process.
    needed = """threads_per_block_limit threads_per_warp shared_memory_per_block shared_memory_per_core
        threads_per_core_limit core_count fpus_per_core block_dim_limit_x block_dim_limit_y block_dim_limit_z
        memory_bandwidth l2_cache_size clock_rate_ghz device_memory_size shared_memory_per_block_optin
        registers_per_core_limit registers_per_block_limit"""
    for gpu in chips.GPUS.values():
        fields = dict(re.findall(r"(\w+): ([\d.]+)", chips.gpu_config(gpu)))
        assert all(float(fields[name]) > 0 for name in needed.split())
    config = chips.gpu_config(chips.GPUS["h100"])
    assert "core_count: 132" in config
    assert "device_memory_size: 84942979072" in config
    assert "cuda_compute_capability { major: 9 minor: 0 feature_extension: ACCELERATED_FEATURES }" in config
    assert "shared_memory_per_core: 233472" in config
    assert config.count("{") == config.count("}")


def test_memory_is_said_by_each_source() -> None:
    sizes = {own.source: round(own.bytes / 2**30, 2) for own in chips.memory_of("v5e")}
    assert sizes["Google"] == 14.9
    assert sizes["libtpu"] == 15.75
    assert [own.source for own in chips.memory_of("h200")] == ["XLA"]
    assert chips.memory_of("v99") == ()


def test_asking_what_chips_have_leaves_jaxs_tracing_cache_as_it_is() -> None:
    """Pallas for TPUs registers configuration, and then JAX traces and compiles every function again."""
    script = (
        "import jax, pjit_inspect as pi\nfrom jax._src.config import trace_context\njax.jit(lambda x: x)(1)\n"
        "before = trace_context()\npi.targets()\nassert trace_context() == before\n"
        "import sys\nassert 'jax.experimental.pallas' not in sys.modules"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


# ---------------------------------------------------------------- compiles


def mlp(x: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
    return jnp.tanh(x @ w) @ v


def sharded(scale: int = 1) -> tuple[jax.ShapeDtypeStruct, ...]:
    """`mlp`'s arguments in Megatron's way: columns, then rows."""
    mesh = AbstractMesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def of(rows: int, columns: int, *spec: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(
            (rows * scale, columns * scale), jnp.bfloat16, sharding=NamedSharding(mesh, PartitionSpec(*spec))
        )

    return of(256, 128, "data", None), of(128, 512, None, "model"), of(512, 128, "model", None)


def alone(scale: int = 1) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(jax.ShapeDtypeStruct(own.shape, own.dtype) for own in sharded(scale))


def check_one_sum(record: pi.CompileRecord) -> None:
    """The one all-reduce over `model`, of 128 x 128 bfloat16."""
    (collective,) = record.collectives
    assert (collective.kind, collective.axes) == ("all-reduce", ("model",))
    assert collective.payload_bytes == 128 * 128 * 2


@pytest.mark.parametrize("effort", ["partition", "full"])
def test_a_program_for_fake_cpu_devices(effort: Any) -> None:
    record = pi.inspect(mlp, *sharded(), target="cpu:8", effort=effort)
    assert len(record.collectives) == 1
    assert record.data.hypothesis is not None
    assert record.data.hypothesis.effort == effort


@needs_gpu
@pytest.mark.parametrize("chip", sorted(chips.GPUS))
def test_a_program_for_eight_gpus(chip: str) -> None:
    record = pi.inspect(mlp, *sharded(), target=f"cuda:{chip}:1x8", effort="full")
    check_one_sum(record)
    assert {device.kind for device in record.data.devices} == {chips.GPUS[chip].name}
    # Nothing can be timed where no GPU is, so that its libraries multiply, and no kernel of XLA's own.
    assert record.hlo is not None
    assert "triton" not in str(record.show("text"))
    assert record.data.memory is not None


@needs_gpu
def test_gpus_of_several_hosts() -> None:
    record = pi.inspect(mlp, *sharded(), target="cuda:h100:4x8", mesh={"data": 4, "model": 8})
    (collective,) = record.collectives
    assert collective.axes == ("model",)
    assert len(record.data.devices) == 32
    assert {device.process for device in record.data.devices} == {0, 1, 2, 3}


@needs_tpu
def test_a_program_for_eight_tpus() -> None:
    record = pi.inspect(mlp, *sharded(), target="tpu:v5e:2x4")
    check_one_sum(record)
    assert {device.kind for device in record.data.devices} == {"TPU v5 lite"}


@pytest.mark.parametrize(
    "target",
    [
        "cpu:1",
        pytest.param("tpu:v5e:1x1", marks=needs_tpu),
        pytest.param("tpu:v5p:1x1x1", marks=needs_tpu),
        pytest.param("cuda:h100:1x1", marks=needs_gpu),
    ],
)
def test_a_program_for_one_device(target: str) -> None:
    record = pi.inspect(mlp, *alone(), target=target, effort="full")
    assert len(record.collectives) == 0
    assert len(record.data.devices) == 1
    # 256 x 128, 128 x 512 and 512 x 128 bfloat16.
    assert sum(own.bytes_per_device or 0 for own in record.inputs) == 2 * (256 * 128 + 128 * 512 + 512 * 128)
    assert record.data.memory is not None
    assert "One device: nothing to communicate." in str(record)


def test_one_device_needs_full_effort_and_a_target_of_one() -> None:
    with pytest.raises(ChangeError, match=re.escape('compile it to the end with effort="full"')):
        pi.inspect(mlp, *alone(), target="cpu:1")
    with pytest.raises(ChangeError, match=re.escape("take a target of one device, or give a mesh of 8, as in mesh=")):
        pi.inspect(mlp, *alone(), target="cpu:8", effort="full")


@needs_tpu
def test_more_than_fits_is_a_result() -> None:
    record = pi.inspect(mlp, *sharded(1 << 9), target="tpu:v5e:2x4", effort="full")
    asked = record.data.hypothesis
    assert asked is not None
    assert asked.misfit is not None
    assert asked.misfit.available_bytes == round(15.75 * 2**30)
    assert (asked.misfit.needed_bytes or 0) > asked.misfit.available_bytes
    assert asked.misfit.sentence.startswith("Ran out of memory on HBM, the total memory required for HLO temporaries (")
    # XLA refuses it when its buffers are placed, so that all of it is known.
    assert [(own.kind, own.axes) for own in record.collectives] == [("all-reduce", ("model",))]
    use = record.memory_use
    assert use.source == "counted"
    assert use.live.bytes == use.peak_bytes
    assert record.fits("tpu:v5e").source == "counted"
    assert record.fits("tpu:v5e").fits is False
    shown = str(record)
    assert "full effort: scheduled, its buffers placed, and then refused by XLA" in shown
    assert "at the peak (counted)" in shown
    assert re.search(r"Does not fit: needs [\d.]+ GiB of 15\.75 GiB on v5e \(XLA's count\)", shown)


@needs_tpu
def test_more_than_fits_on_one_device() -> None:
    record = pi.inspect(mlp, *alone(1 << 9), target="tpu:v5e:1x1", effort="full")
    assert record.memory_use.source == "counted"
    shown = str(record)
    assert "full effort: scheduled, its buffers placed, and then refused by XLA" in shown
    assert re.search(r"Does not fit: needs [\d.]+ GiB of 15\.75 GiB on v5e", shown)


@needs_gpu
def test_xla_compiles_more_than_a_gpu_has_and_we_say_so() -> None:
    record = pi.inspect(mlp, *alone(1 << 10), target="cuda:h100:1x1", effort="full")
    assert record.data.hlo is not None
    assert re.search(r"Does not fit: needs [\d.]+ GiB of 79\.11 GiB on h100", str(record))


@needs_gpu
def test_a_compiler_that_dies_is_told_of_and_the_next_question_is_answered() -> None:
    good = question(find_target("cuda:h100:1x8"), (2, 4))
    bad = {**good, "options": {**good["options"], "target_config": 'gpu_device_info { cuda_compute_capability { major: 9 } }\nplatform_name: "CUDA"'}}  # fmt: skip  # noqa: E501
    stablehlo = pi.inspect(mlp, *sharded(), target="cpu:8").data.stablehlo
    assert stablehlo is not None
    with pytest.raises(CaptureError, match="ended by signal"):
        ask_partitioner(stablehlo.read(), devices=8, target=bad, effort="full")
    check_one_sum(pi.inspect(mlp, *sharded(), target="cuda:h100:1x8", effort="full"))
