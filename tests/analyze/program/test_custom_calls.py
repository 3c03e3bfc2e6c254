"""Custom calls are told apart: kernels of libraries by name, and everything that is no kernel."""

from __future__ import annotations

import re

import pytest
from data import hlo_fixtures as fixtures

from pjit_inspect.analyze.program.custom_calls import describe_custom_call, is_kernel


@pytest.mark.parametrize("name", fixtures.SMALL)
def test_every_target_of_the_fixtures_is_known(name: str):
    module = fixtures.module(name)
    found = [describe_custom_call(module.instruction(i)) for i in module.with_opcode("custom-call").tolist()]
    targets = re.findall(r'custom_call_target="([^"]*)"', fixtures.text(name))
    assert sorted(call.target for call in found) == sorted(targets)
    assert all(call.library for call in found)
    assert "unknown" not in {call.role for call in found}


def described(target: str, more: str = "") -> tuple[str, str, str]:
    """Library, role and kernel of a custom call to `target`."""
    source = f"""HloModule m

ENTRY %e (p: f32[4]) -> f32[4] {{
  %p = f32[4]{{0}} parameter(0)
  ROOT %c = f32[4]{{0}} custom-call(%p), custom_call_target="{target}"{more}
}}
"""
    found = fixtures.from_text(source).find("c")
    assert found is not None
    call = describe_custom_call(found)
    assert is_kernel(target) == (call.role in ("kernel", "unknown"))
    return call.library, call.role, call.kernel


@pytest.mark.parametrize(
    ("target", "library", "role"),
    [
        ("__cublas$gemm", "cuBLAS", "kernel"),
        ("__cublas$lt$matmul$f8", "cuBLASLt", "kernel"),
        ("__cudnn$convForward", "cuDNN", "kernel"),
        ("__cudnn$fmhaSoftmax", "cuDNN", "kernel"),
        ("cusolver_geqrf_ffi", "cuSOLVER", "kernel"),
        ("__cub$DeviceRadixSort", "CUB", "kernel"),
        ("__onednn$matmul", "oneDNN", "kernel"),
        ("lapack_sgetrf_ffi", "LAPACK", "kernel"),
        ("mosaic_gpu_v2", "Mosaic GPU (Pallas)", "kernel"),
        ("Sharding", "GSPMD", "sharding"),
        ("SPMDFullToShardShape", "GSPMD", "sharding"),
        ("xla.sdy.FuncResultSharding", "Shardy", "sharding"),
        ("xla_ffi_python_cpu_callback", "JAX", "host"),
        ("xla_ffi_partitioned_python_cpu_callback", "JAX", "host"),
        ("MoveToHost", "XLA", "memory"),
        ("AsyncCollectiveDone", "XLA TPU", "async"),
        ("somebody_elses_kernel", "", "unknown"),
    ],
)
def test_targets_name_their_library(target: str, library: str, role: str):
    assert described(target) == (library, role, "")


def test_a_pallas_kernel_on_tpu_is_named_after_its_function():
    found = fixtures.module("pallas.v5e").find("my_mm.1")
    assert found is not None
    call = describe_custom_call(found)
    assert (call.library, call.role, call.kernel) == ("Mosaic TPU (Pallas)", "kernel", "my_mm")


def test_a_triton_kernel_is_named_by_its_config():
    more = ', backend_config="{name = \\"add_vectors\\", ir = \\"...\\"}"'
    assert described("__gpu$xla.gpu.triton", more) == ("Triton (Pallas)", "kernel", "add_vectors")


def test_a_callback_of_jax_is_no_kernel():
    jax = pytest.importorskip("jax")

    def calls(x):
        jax.debug.callback(lambda _: None, x)
        return jax.numpy.linalg.cholesky(x)

    module = fixtures.compiled(calls, jax.numpy.eye(4))
    found = [describe_custom_call(module.instruction(i)) for i in module.with_opcode("custom-call").tolist()]
    assert {(call.library, call.role) for call in found} == {("JAX", "host"), ("LAPACK", "kernel")}
