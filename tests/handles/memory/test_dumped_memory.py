"""XLA's account of memory in what XLA dumped: in an `HloProto` beside the module, or in a text of a directory."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import pjit_inspect as pi

MIB = 1 << 20


@pytest.fixture
def dumped(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """`x @ y + 1.0` of 2, 2 and 4 MiB, dumped as text or as protos."""
    shapes = [jax.ShapeDtypeStruct(own, jnp.float32) for own in ((1024, 512), (512, 1024))]
    # A number of its own: JAX must not have this program by now.
    add = float(request.param)
    options = {"xla_dump_to": str(tmp_path), "xla_dump_hlo_as_text": add < 3, "xla_dump_hlo_as_proto": add >= 3}
    jax.jit(lambda x, y: x @ y + add).lower(*shapes).compile(compiler_options=options)
    return tmp_path


@pytest.mark.parametrize("dumped", [2, 3], indirect=True)
def test_a_directory_that_xla_dumped_into_has_its_account(dumped: Path):
    log = pi.open(dumped)
    (record,) = [one for one in log if one.memory_use.peak_bytes]  # type: ignore[union-attr]
    use = record.memory_use
    assert (use.source, use.peak_bytes, use.total_bytes, use.temporary_bytes) == ("counted", 8 * MIB, 8 * MIB, 0)


@pytest.mark.parametrize("dumped", [3], indirect=True)
def test_a_proto_with_a_buffer_assignment_has_it_alone(dumped: Path):
    (path,) = dumped.glob("*cpu_after_optimizations.hlo.pb")
    record = pi.open(path)
    assert isinstance(record, pi.CompileRecord)
    assert (record.memory_use.source, record.memory_use.peak_bytes) == ("counted", 8 * MIB)


@pytest.mark.parametrize("dumped", [2], indirect=True)
def test_an_account_that_cannot_be_read_costs_itself_alone(dumped: Path):
    (path,) = dumped.glob("*-buffer-assignment.txt")
    path.write_text("BufferAssignment:\nallocation 0: size 7:\n")
    (record,) = [one for one in pi.open(dumped) if one.memory_use.peak_bytes]  # type: ignore[union-attr]
    assert record.memory_use.source == "modelled"
    path.unlink()
    path.mkdir()
    (record,) = [one for one in pi.open(dumped) if one.memory_use.peak_bytes]  # type: ignore[union-attr]
    assert record.memory_use.source == "modelled"
