"""Arguments and results in the host's memory are the host's bytes in every view and sum. CPUs have `pinned_host`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from data import hlo_fixtures as fixtures
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.analyze.program.device_memory import find_device_memory

KIB = 1 << 10
EACH = 128 * KIB
"""512 x 512 numbers of 4 bytes, of which each of 8 devices has an eighth."""


def shaped(kind: str | None = None) -> Any:
    mesh = jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,))
    return jax.ShapeDtypeStruct((512, 512), jnp.float32, sharding=NamedSharding(mesh, P("x"), memory_kind=kind))


@jax.jit
def sent_out(x: Any) -> Any:
    return jax.device_put(x, jax.memory.Space.Host), x * 2


@jax.jit
def brought_in(x: Any, kept: Any) -> Any:
    return x + jax.device_put(kept, jax.memory.Space.Device)


_OWN = pytest.param({}, marks=pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 leaves it on the CPU"))
HOW = [_OWN, {"target": "cpu:8"}, {"target": "cpu:8", "effort": "full"}]


@pytest.mark.parametrize("how", HOW)
def test_a_result_in_host_memory_is_marked_and_takes_no_device_memory(how: dict[str, str]):
    record = pi.inspect(sent_out, shaped(), **how)
    kinds = [one.sharding.memory_kind for one in record.outputs if one.sharding is not None]
    assert kinds[0] == "pinned_host"
    assert kinds[1] in (None, "device")
    assert "outputs 2 arrays, 256 KiB per device, 128 KiB of it in pinned_host" in " ".join(
        str(record.show("text", times=False)).split()
    )
    held = find_device_memory(record.data if not how else record.state.analyses.report.data)
    assert set(held.outputs.bytes.tolist()) == {float(EACH)}
    assert record.memory_use.live.bytes == 2 * EACH
    assert record.fits("tpu:v5e").result_bytes == EACH


@pytest.mark.parametrize("how", HOW)
def test_an_argument_in_host_memory_takes_no_device_memory(how: dict[str, str]):
    record = pi.inspect(brought_in, shaped(), shaped("pinned_host"), **how)
    assert [one.sharding.memory_kind for one in record.inputs if one.sharding is not None][1] == "pinned_host"
    use = record.memory_use
    assert sum(size for kind, size in use.by_kind.items() if kind == "argument") == EACH
    assert record.state.analyses.report.figures.argument_bytes == EACH
    if use.peak_bytes is not None:
        assert {curve.name: curve.peak_bytes for curve in use.curves} == {"memory": use.peak_bytes, "host": EACH}
        assert "128 KiB alive at the peak in host memory (counted)" in str(record.show("memory"))


def test_what_an_h200_has_in_host_memory_is_apart_as_jax_says():
    use = fixtures.on_h200("offloaded").memory_use
    assert [curve.name for curve in use.curves] == ["device memory", "host"]
    assert not any(row.name == "m" for row in use.live)


TEXT = """HloModule sent_out, is_scheduled=true, \
entry_computation_layout={(f32[8]{0}, f32[4,8]{1,0:S(5)})->(f32[8]{0:S(5)}, f32[8]{0})}

ENTRY main {
  x = f32[8]{0} parameter(0)
  m = f32[4,8]{1,0} parameter(1)
  row = f32[1,8]{1,0} slice(m), slice={[0:1], [0:8]}
  flat = f32[8]{0} bitcast(row)
  kept = f32[8]{0} copy(x)
  sum = f32[8]{0} add(x, flat)
  ROOT both = (f32[8]{0}, f32[8]{0}) tuple(kept, sum)
}
"""


@pytest.mark.parametrize("text", [TEXT, TEXT.replace("{1,0} parameter", "{1,0:S(5)} parameter")])
def test_a_text_says_what_lies_in_host_memory(text: str, tmp_path: Path):
    """On the device 32 bytes of `x`, of `row` and of `sum`; in the host's memory 128 of `m` and 32 of `kept`.

    `row` ends where `sum` begins.
    """
    (path := tmp_path / "a.txt").write_text(text)
    record = pi.open(path)
    assert isinstance(record, pi.CompileRecord)
    use = record.memory_use
    assert {curve.name: curve.peak_bytes for curve in use.curves} == {"memory": 96, "host": 160}
    assert sorted((row.name, row.bytes) for row in use.live) == [("row", 32), ("sum", 32), ("x", 32)]
