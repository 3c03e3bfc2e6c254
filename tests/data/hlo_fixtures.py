"""Optimized programs for the tests: texts that XLA printed, as protos that XLA's own parser made of them."""

from __future__ import annotations

import dataclasses
import functools
import gzip
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import pjit_inspect as pi
from pjit_inspect.handles.measured.measuring import find_times
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.mesh import Device, Mesh
from pjit_inspect.model.record.kernel_times import KernelTimes
from pjit_inspect.parse.hlo_proto.hlo import parse_program

HERE = Path(__file__).parent
LARGE = "train_step_16_layers.cpu_8"
SMALL = tuple(sorted(name for file in HERE.glob("*.hlo.gz") if (name := file.name.removesuffix(".hlo.gz")) != LARGE))
ALL = (*SMALL, LARGE)
MESH = Mesh(axis_names=("data", "model"), shape=(2, 4), device_ids=tuple(range(8)))


@functools.cache
def text(name: str) -> str:
    """The HLO text of a fixture."""
    return gzip.decompress((HERE / f"{name}.hlo.gz").read_bytes()).decode()


@functools.cache
def on_h200(name: str) -> pi.CompileRecord:
    """The record of a program that ran on an H200."""
    return pi.load(HERE / "gpu" / f"{name}.nvidia_h200.pjit")


@functools.cache
def on_v5e(name: str) -> pi.CompileRecord:
    """The record of a fixture as on the eight chips of a TPU v5e 2x4."""
    found = pi.open(HERE / f"{name}.hlo.gz")
    assert isinstance(found, pi.CompileRecord)
    devices = tuple(
        Device(id=at, platform="tpu", kind="TPU v5 lite", process=0, coords=(at % 2, at // 2, 0)) for at in range(8)
    )
    data = dataclasses.replace(found.data, mesh=MESH, meshes=(MESH,), devices=devices)
    return pi.CompileRecord(data, hlo=found.hlo, hlo_text=found.hlo_text)


def measured_on_h200(name: str) -> pi.CompileRecord:
    """The same with the times that the profiler saw."""
    record = pi.load(HERE / "gpu" / f"{name}.nvidia_h200.pjit")
    trace = gzip.decompress((HERE / "gpu" / f"{name}.nvidia_h200.xplane.pb.gz").read_bytes())
    (times,) = find_times([record], trace)
    assert isinstance(times, KernelTimes), times
    record.add_times(dataclasses.replace(record.data, kernel_times=times))
    return record


def opened(text: str, folder: Path) -> pi.CompileRecord:
    """The record of a text that is written to a folder."""
    path = folder / "step.hlo"
    path.write_text(text)
    record = pi.open(path)
    assert isinstance(record, pi.CompileRecord)
    return record


def xla_parser() -> ModuleType:
    """The module of jaxlib that parses HLO text; skips the test where there is none that is new enough."""
    try:
        from jaxlib import _hlo
    except ImportError:
        pytest.skip("this jaxlib has no parser for today's HLO text")
    return _hlo


def xla_module(source: str) -> Any:
    """HLO text as XLA's own module object."""
    return xla_parser().hlo_module_from_text(source)


def from_text(source: str) -> HloModule:
    """HLO text, made a proto by XLA, as our module."""
    return parse_program(xla_module(source).as_serialized_hlo_module_proto())


@functools.cache
def proto(name: str) -> bytes:
    """The proto of a fixture."""
    return xla_module(text(name)).as_serialized_hlo_module_proto()


@functools.cache
def module(name: str) -> HloModule:
    """A fixture as our module."""
    return parse_program(proto(name))


def compiled(function: Any, *args: Any) -> HloModule:
    """The optimized program of a function that JAX compiles here, on the fake devices."""
    import jax

    executable = jax.jit(function).lower(*args).compile().runtime_executable()
    return parse_program(executable.hlo_modules()[0].as_serialized_hlo_module_proto())


def mesh_of(mesh: Any) -> Mesh:
    """A `jax.sharding.Mesh` as ours."""
    return Mesh(
        axis_names=tuple(mesh.axis_names),
        shape=tuple(mesh.devices.shape),
        device_ids=tuple(device.id for device in mesh.devices.flat),
    )
