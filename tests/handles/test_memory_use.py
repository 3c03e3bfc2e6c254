"""`record.memory_use`, `record.fits` and `record.show("memory")`, from the compile to the words."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from data import hlo_fixtures as fixtures
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import pjit_inspect as pi
from pjit_inspect.errors import ChangeError

ROWS, WIDTH = 4096, 512


def shaped(*shape: int, spec: P) -> Any:
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))


def loss(params: Any, batch: Any) -> Any:
    return (jnp.tanh(batch @ params["w1"]) @ params["w2"]).sum()


@pytest.fixture(scope="module")
def record() -> pi.CompileRecord:
    params = {
        "w1": shaped(WIDTH, 4 * WIDTH, spec=P(None, "model")),
        "w2": shaped(4 * WIDTH, WIDTH, spec=P("model", None)),
    }
    return pi.inspect(jax.jit(jax.grad(loss)), params, shaped(ROWS, WIDTH, spec=P("data", None)))


def test_a_program_for_cpus_is_counted(record: pi.CompileRecord):
    use = record.memory_use
    assert use.source == "counted"
    assert use.temporary_bytes == record.memory.temporary_bytes  # type: ignore[union-attr]
    assert use.missing == "" and use.unknown == 0  # noqa: PT018  (one fact: all is known)


def test_sums_are_those_of_the_rows(record: pi.CompileRecord):
    use = record.memory_use
    assert use.live.bytes == use.peak_bytes
    for sums in (use.by_kind, use.by_scope, use.by_layer, use.by_source):
        assert sum(sums.values()) == use.peak_bytes
    assert use.at is not None
    assert max(use.curve.bytes) == use.curve.bytes[use.at.kernel] == use.peak_bytes  # type: ignore[union-attr]


def test_arguments_have_their_path_and_spec(record: pi.CompileRecord):
    rows = {row.name: row for row in record.memory_use.live}
    assert rows["batch"].spec == ("data", None)
    assert rows["params['w1']"].bytes == WIDTH * WIDTH * 4
    assert rows["params['w1']"].global_shape == (WIDTH, 4 * WIDTH)


def test_it_is_shown_as_text_and_as_a_page(record: pi.CompileRecord):
    text = str(record.show("memory"))
    assert "alive at the peak on each device (counted)" in text
    assert "params['w1']" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "<table" in record.show("memory")._repr_mimebundle_()["text/html"]
    assert str(record.memory_use) == text


def test_a_loaded_record_says_the_same(record: pi.CompileRecord, tmp_path: Path):
    use = record.memory_use
    record.save(tmp_path / "a.pjit")
    again = pi.load(tmp_path / "a.pjit").memory_use
    assert (again.source, again.peak_bytes, again.total_bytes) == ("counted", use.peak_bytes, use.total_bytes)


def test_without_a_schedule_there_are_arguments_and_results(record: pi.CompileRecord):
    changed = record.what_if(specs={"params['w1']": P(None, "data")})
    use = changed.memory_use
    assert use.peak_bytes is None
    assert "schedule" in use.missing
    assert {row.kind for row in use.live} == {"argument", "result"}
    assert "the peak is not known" in str(changed.show("memory"))
    assert changed.fits("tpu:v5e").source == "at least"


def test_what_fits_says_where_it_is_known_from(record: pi.CompileRecord):
    fit = record.fits("tpu:v5e:2x4")
    assert (fit.chip, fit.source, fit.fits) == ("v5e", "modelled", True)
    assert fit.available_bytes == round(15.75 * 2**30)
    parts = fit.argument_bytes + fit.result_bytes + fit.constant_bytes + (fit.temporary_bytes or 0)
    assert fit.needed_bytes == parts
    assert str(fit).startswith("fits v5e: 20 MiB of 15.75 GiB (")


def test_arrays_that_were_closed_over_count_for_what_fits():
    weights = np.ones((512, 512), np.float32) * np.arange(512, dtype=np.float32)
    fit = pi.inspect(jax.jit(lambda x: x @ weights), np.ones((8, 512), np.float32)).fits("cuda:h100")
    assert fit.constant_bytes >= weights.nbytes
    assert fit.needed_bytes >= weights.nbytes + fit.argument_bytes + fit.result_bytes


def test_a_chip_that_is_not_known_is_refused_with_those_that_are(record: pi.CompileRecord):
    with pytest.raises(ChangeError, match=r"target 'tpu:v9': there is no such chip; known are .*tpu:v5e.*cuda:h100"):
        record.fits("tpu:v9")


def test_padding_that_makes_an_argument_many_times_as_large_is_named():
    """Four numbers along the last dimension, whichever way they lie: none of two dimensions is 128 long."""
    narrow = jax.ShapeDtypeStruct((4, 2, 3), jnp.float32)
    fit = pi.inspect(jax.jit(lambda x: x * 2), narrow).fits("tpu:v5e")
    assert [one.path for one in fit.padded][:1] == ["x"]
    assert fit.padded[0].times > 30
    assert "padding makes x" in str(fit)


def test_a_program_without_its_arguments_needs_at_least_what_it_holds(tmp_path: Path):
    """Without shardings nobody knows what the arguments are: 4 KiB in, 4 KiB out, and no claim that it fits."""
    path = tmp_path / "a.hlo"
    line = "x = f32[32,32]{1,0} parameter(0)\n  ROOT y = f32[32,32]{1,0} add(x, x)"
    path.write_text(f"HloModule a, is_scheduled=true, num_partitions=2\n\nENTRY m {{\n  {line}\n}}\n")
    fit = pi.open(path).fits("tpu:v5e")
    assert (fit.source, fit.fits, fit.argument_bytes, fit.result_bytes) == ("at least", None, 4096, 4096)
    assert "at least: the record does not have all arguments and results" in str(fit)


def test_a_file_of_a_program_for_one_device_says_all_arguments_and_results(tmp_path: Path):
    """Rows of 32 numbers take 128 places on a TPU: 32 x 128 x 4 bytes."""
    own = jax.jit(lambda x: x * 2).lower(jnp.ones((32, 32))).compile().runtime_executable()
    path = tmp_path / "a.hlo"
    path.write_bytes(own.hlo_modules()[0].as_serialized_hlo_module_proto())
    fit = pi.open(path).fits("tpu:v5e")
    assert (fit.source, fit.fits, fit.argument_bytes, fit.result_bytes) == ("modelled", True, 16384, 16384)


def test_memory_of_more_bytes_than_an_integer_of_64_bits_has_its_picture(tmp_path):
    vast = re.sub(r"f32\[\d+", "f32[9007199254740993", fixtures.text("mlp_step.cpu_8"))
    (path := tmp_path / "vast.hlo").write_text(vast)
    record = pi.open(path)
    assert "over 8 EiB alive at the peak" in str(record.show("memory"))
    assert record.figures.memory._repr_mimebundle_()
