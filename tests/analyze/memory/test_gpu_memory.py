"""Memory of programs that ran on a GPU: what XLA reserves, what libraries work in, what lies in host memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.analyze.memory.could import find_suggestions
from pjit_inspect.analyze.memory.values_named import MemoryFacts
from pjit_inspect.model.memory.memory_use import LiveTable, MemoryCurve
from pjit_inspect.model.record.record import MemoryStats
from pjit_inspect.view.memory.memory import provenance_lines

ran = fixtures.on_h200


def table(record: pi.CompileRecord) -> str:
    """Its memory as text, from the head of the table on."""
    return str(record.show("memory")).partition("at the peak  ")[2]


MODELLED = sorted(
    {path.name.partition(".")[0] for path in (fixtures.HERE / "gpu").glob("*.pjit")}
    - {"scan_ahead_of_time", "fake_cpu_beside"}
)


@pytest.mark.parametrize("name", MODELLED)
def test_what_is_modelled_is_no_more_than_xla_reserves_on_a_gpu(name: str):
    """XLA gives its sums there, and not its buffer assignment."""
    record = ran(name)
    use, stats = record.memory_use, record.memory
    assert stats is not None
    assert (use.source, use.total_bytes, use.temporary_bytes) == ("modelled", None, stats.temporary_bytes)
    sums = (stats.argument_bytes or 0) + (stats.output_bytes or 0) + (stats.temporary_bytes or 0)
    assert (use.peak_bytes or 0) <= sums - (stats.alias_bytes or 0) + use.by_kind.get("constant", 0)


def test_the_workspace_of_a_library_is_called_so():
    names = {row.name: row.bytes for row in ran("cond").memory_use.live}
    assert names["workspace of cuBLASLt, branch_1_fun/dot_general"] == 32 << 20
    assert any(row.name.startswith("workspace of cuDNN, ") for row in ran("conv_grad").memory_use.live)


def test_partial_sums_of_a_product_are_told_from_the_product():
    names = {row.name: row.bytes for row in ran("linalg").memory_use.live}
    assert names["a @ a.T, 4 partial sums"] == 4 << 20


def test_a_program_of_one_device_has_no_column_of_specs():
    assert "spec" not in table(ran("linalg"))
    assert "not known" not in table(ran("print"))
    assert "a * 2" in table(ran("print"))


def test_what_lies_in_host_memory_is_not_to_be_donated():
    record = ran("fft")
    (given,) = record.inputs
    assert given.sharding is not None
    on_host = replace(given, sharding=replace(given.sharding, memory_kind="pinned_host"))
    live = LiveTable(rows=record.memory_use.live.rows)
    (suggestion,) = find_suggestions(live, MemoryFacts(replaced={"a": (given,)}))
    assert (suggestion.kind, suggestion.name) == ("donate", "a")
    assert find_suggestions(live, MemoryFacts(replaced={"a": (on_host,)})) == ()


def test_an_argument_is_not_to_be_donated_to_its_transform():
    """A result has its shape, and is another array: `a` may be read again."""
    assert ran("fft").memory_use.suggestions == ()


def test_a_program_that_ran_on_a_chip_fits_it_by_xlas_count():
    fit = ran("linalg").fits("cuda:h200")
    assert (fit.source, fit.temporary_bytes) == ("counted", 5_244_184)
    assert ran("linalg").fits("cuda:h100").source == "modelled"
    assert "fits h200: " in str(ran("linalg").show("memory"))


def test_what_is_alive_in_host_memory_is_said_apart():
    use = ran("fft").memory_use
    host = MemoryCurve(space=5, name="host", bytes=(1 << 20, 2 << 20))
    said = [str(line) for line in provenance_lines(replace(use, curves=(*use.curves, host)), None)]
    assert any("2 MiB alive at the peak in host memory (modelled)" in line for line in said)
    assert not any("host memory" in str(line) for line in provenance_lines(use, None))
    counted = MemoryStats(temporary_bytes=0, host_temporary_bytes=1 << 20)
    said = [str(line) for line in provenance_lines(replace(use, curves=(*use.curves, host)), counted)]
    assert [line for line in said if "host memory" in line] == [said[0]]
    assert "0 B temporary, 1 MiB temporary in host memory" in said[0]


def test_the_texts_of_a_dump_are_xlas_account_too():
    record = ran("scan_ahead_of_time")
    use = record.memory_use
    assert record.memory is not None
    assert use.source == "counted"
    assert use.temporary_bytes == record.memory.temporary_bytes == 1_049_888


def test_what_lies_in_host_memory_is_said_in_the_head_of_the_arrays():
    text = " ".join(str(ran("offloaded").show("text", times=False)).split())
    assert "memory per device: 32 MiB in," in text
    assert "inputs 3 arrays, 48 MiB per device, 16 MiB of it in pinned_host, 1 donated" in text
    assert "outputs 2 arrays, 32 MiB per device, 16 MiB of it in pinned_host, 1 in donated buffers" in text
