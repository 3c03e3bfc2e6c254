"""Source lines that a version of XLA numbers wrongly are not shown: none are better than others."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.model.program.source import SOURCE_LINES
from pjit_inspect.observe.contract import _jax


def product():
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    w = jax.device_put(np.ones((64, 64), np.float32), NamedSharding(mesh, P("data", "model")))
    x = jax.device_put(np.ones((16, 64), np.float32), NamedSharding(mesh, P("data")))
    with pi.capture() as log:
        jax.jit(lambda x, w: jax.numpy.tanh(x @ w))(x, w)
    return log[-1]


@pytest.mark.parametrize("version", ["0.8.2", "0.8.3"])
def test_lines_of_programs_on_several_devices_are_not_trusted(version, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_jax.jaxlib.version, "__version__", version)
    if not jax.config.jax_use_shardy_partitioner:
        pytest.skip("the numbers are wrong under Shardy only")
    assert _jax.lacks_lines(8).startswith(f"jaxlib {version} numbers the source lines")
    assert _jax.lacks_lines(1) == ""


@pytest.mark.parametrize("version", ["0.8.1", "0.9.0", "0.10.2", "0.12.0.1"])
def test_those_of_other_versions_are(version, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_jax.jaxlib.version, "__version__", version)
    assert _jax.lacks_lines(8) == ""


def test_a_program_whose_lines_are_not_to_be_trusted_has_none(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr(_jax, "lacks_lines", lambda devices: "they are another's" if devices > 1 else "")
    record = product()
    assert record.data.missing[SOURCE_LINES] == "they are another's"
    assert record.hlo is not None
    assert not any(record.hlo.frames(index) for index in range(len(record.hlo)))
    assert [row.kind for row in record.collectives]
    assert not any(row.source for row in record.collectives)
    assert not any(op.frames for op in record.ask_partitioner(timeout_s=60).ops)
    assert "source lines unknown: they are another's" in str(record)
    record.save(tmp_path / "a.pjit")
    loaded = pi.load(tmp_path / "a.pjit")
    assert loaded.hlo is not None
    assert not any(loaded.hlo.frames(index) for index in range(len(loaded.hlo)))
    assert "source lines unknown: they are another's" in str(loaded)


def test_it_has_them_where_they_are(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_jax, "lacks_lines", lambda _: "")
    record = product()
    assert SOURCE_LINES not in record.data.missing
    assert all(row.source for row in record.collectives)
