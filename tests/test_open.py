"""`pjit_inspect.open`: from a file or a dump directory to records, with or without JAX."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest
from data import hlo_fixtures as fixtures

import pjit_inspect as pi
from pjit_inspect.analyze.collectives.collectives import find_collectives

DATA = Path(fixtures.__file__).parent
NAME = "mlp_step.v5e_2x4"


def opened(path: Path) -> pi.CompileRecord:
    record = pi.open(path)
    assert isinstance(record, pi.CompileRecord)
    return record


@pytest.mark.parametrize("name", fixtures.ALL)
def test_every_fixture_opens_and_its_collectives_are_those_of_the_proto(name: str):
    record = opened(DATA / f"{name}.hlo.gz")
    module = fixtures.module(name)
    assert record.hlo is not None
    assert len(record.hlo) == len(module)
    assert not record.hlo.unknown
    assert len(record.collectives) == len(find_collectives(module))
    assert str(record).startswith(record.name)


def test_a_proto_and_a_text_give_the_same_display(tmp_path: Path):
    text, proto = tmp_path / "step.txt", tmp_path / "step.pb.gz"
    text.write_text(fixtures.text(NAME))
    proto.write_bytes(gzip.compress(fixtures.proto(NAME)))
    assert str(opened(text)) == str(opened(proto))


def test_the_display_says_what_hlo_cannot_know():
    shown = str(opened(DATA / "collective_matmul.v5e_2x4.hlo.gz"))
    assert "outputs unknown: HLO does not say how results are sharded" in shown


def test_parameters_have_the_names_shapes_and_shardings_of_the_text(tmp_path: Path):
    path = tmp_path / "as_text.txt"
    path.write_text(
        "HloModule jit_f, is_scheduled=true, num_partitions=8\n\n"
        "ENTRY %main (a: f32[64,64], b: bf16[16,64]) -> f32[] {\n"
        "  %a = f32[64,64]{1,0} parameter(0), sharding={devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}, "
        "metadata={op_name=\"params['w1']\"}\n"
        "  %b = bf16[16,64]{1,0} parameter(1), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}, "
        'metadata={op_name="x"}\n'
        "  ROOT %c = f32[] constant(0)\n}\n"
    )
    record = opened(path)
    # Devices in two rows of four: w1's columns over the four of a row, x's rows over the two rows.
    assert str(record.mesh) == "axis_0=2 x axis_1=4"
    assert len(record.data.devices) == 8
    assert [(a.path, a.dtype, a.global_shape, a.spec) for a in record.inputs] == [
        ("params['w1']", "float32", (64, 256), ((), ("axis_1",))),
        ("x", "bfloat16", (32, 64), (("axis_0",), ())),
    ]
    assert record.inputs[0].shards[5] == (slice(0, 64), slice(64, 128))


def test_a_mesh_with_names_in_the_shardings_is_the_mesh(tmp_path: Path):
    path = tmp_path / "as_text.txt"
    path.write_text(
        "HloModule jit_f, is_scheduled=true, num_partitions=4\n\nENTRY %main (a: f32[8]) -> f32[8] {\n"
        "  ROOT %a = f32[8]{0} parameter(0), sharding={mesh['data'=2,'model'=2], [{'model'}]}\n}\n"
    )
    record = opened(path)
    assert str(record.mesh) == "data=2 x model=2"
    assert [(a.path, a.global_shape, a.spec) for a in (*record.inputs, *record.outputs)] == [
        ("a", (16,), (("model",),)),
        ("result", (16,), (("model",),)),
    ]


def test_the_text_of_a_record_read_from_text_is_that_text():
    assert opened(DATA / f"{NAME}.hlo.gz").hlo_text == fixtures.text(NAME)


def test_what_was_not_understood_is_said_and_survives_saving(tmp_path: Path):
    path, saved = tmp_path / "step.txt", tmp_path / "step.pjit"
    path.write_text(fixtures.text(NAME).replace("kind=kLoop", "flavour=sweet, kind=kLoop", 1))
    record = opened(path)
    assert record.hlo is not None
    assert record.hlo.unknown == {"attribute flavour": 1}
    assert "attribute flavour (1)" in str(record)
    record.save(saved)
    again = opened(saved)
    assert again.hlo is not None
    assert again.hlo.unknown == {"attribute flavour": 1}
    assert str(again) == str(record)


def test_a_saved_record_opens_as_load_reads_it(tmp_path: Path):
    path = tmp_path / "step.pjit"
    opened(DATA / f"{NAME}.hlo.gz").save(path)
    assert opened(path) == pi.load(path)


def dump(folder: Path) -> Path:
    for number, name, module in ((3, "mlp_step.cpu_8", "jit_step"), (7, "pallas.v5e", "jit__lambda")):
        (folder / f"module_{number:04d}.{module}.cpu_after_optimizations.txt").write_text(fixtures.text(name))
        (folder / f"module_{number:04d}.{module}.before_optimizations.txt").write_text("HloModule x\n")
    return folder


def test_a_dump_directory_gives_a_log_in_the_order_of_compilation(tmp_path: Path):
    log = pi.open(dump(tmp_path))
    assert isinstance(log, pi.Log)
    assert log.names() == ("step", "_lambda")
    assert len(log["step"].collectives) == len(find_collectives(fixtures.module("mlp_step.cpu_8")))
    assert "step" in repr(log.show())


def test_a_dump_directory_with_one_program_gives_a_log_too(tmp_path: Path):
    path = DATA / "pallas.v5e.hlo.gz"
    text = tmp_path / "module_0001.jit_f.tpu.after_optimizations.txt"
    text.write_bytes(gzip.decompress(path.read_bytes()))
    log = pi.open(tmp_path)
    assert isinstance(log, pi.Log)
    assert len(log) == 1


def test_one_damaged_program_does_not_hide_the_others(tmp_path: Path):
    path = dump(tmp_path) / "module_0005.jit_bad.cpu_after_optimizations.txt"
    path.write_text("cut")
    log = pi.open(tmp_path)
    assert isinstance(log, pi.Log)
    assert log.names() == ("step", "bad", "_lambda")
    assert log["bad"].data.missing["hlo"] == f"{path.name}: the text begins with 'cut'"
    assert "Collectives unknown: module_0005.jit_bad" in str(log["bad"])
    assert "bad" in repr(log.show())


def test_of_a_damaged_proto_and_a_text_of_one_program_the_text_is_read(tmp_path: Path):
    stem = "module_0009.jit_both.cpu_after_optimizations"
    (tmp_path / f"{stem}.hlo.pb").write_bytes(fixtures.proto("mlp_step.cpu_8")[:-900])
    (tmp_path / f"{stem}.txt").write_text(text := fixtures.text("mlp_step.cpu_8"))
    log = pi.open(tmp_path)
    assert isinstance(log, pi.Log)
    assert "hlo" not in log[0].data.missing
    assert log[0].hlo_text == text
    assert len(log[0].collectives) == len(pi.open(tmp_path / f"{stem}.txt").collectives)
    (tmp_path / f"{stem}.txt").write_text("cut")
    assert f"{stem}.txt: the text begins with 'cut'" in pi.open(tmp_path)[0].data.missing["hlo"]


def test_a_dump_directory_without_a_final_program_is_refused(tmp_path: Path):
    (tmp_path / "module_0001.jit_f.before_optimizations.txt").write_text("HloModule x\n")
    with pytest.raises(pi.ParseError, match="before and between passes only"):
        pi.open(tmp_path)
    with pytest.raises(pi.ParseError, match="no program was dumped"):
        pi.open(DATA)


def test_opening_needs_no_jax():
    script = f"""
import sys
sys.modules["jax"] = sys.modules["jaxlib"] = None
import pjit_inspect as pi
record = pi.open({str(DATA / "pallas.v5e.hlo.gz")!r})
print(len(record.hlo), record.hlo_text.split()[0], record.stablehlo, len(record.collectives), bool(str(record)))
record.hlo
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["7", "HloModule", "None", "1", "True"]


def test_a_mesh_names_the_axes_of_a_program_that_names_none():
    plain, named = opened(DATA / f"{NAME}.hlo.gz"), pi.open(DATA / f"{NAME}.hlo.gz", mesh={"data": 2, "model": 4})
    assert isinstance(named, pi.CompileRecord)
    assert str(plain.mesh) == "axis_0=2 x axis_1=4"
    assert str(named.mesh) == "data=2 x model=4"
    # The same groups: those of neighbours are `model`, those four apart `data`.
    assert {row.axes for row in named.collectives} & {("model",), ("data",)}
    for row in named.collectives:
        if row.axes == ("model",):
            assert (0, 1, 2, 3) in row.groups
        if row.axes == ("data",) and row.kind != "collective-permute":
            assert (0, 4) in row.groups
    assert "mesh data=2 x model=4" in str(named)


@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        ({"data": 4}, "is for 8 devices, and data=4 is 4"),
        ({}, "a mesh of 0 axes"),
        ({"data": 0}, "a mesh is axis names with sizes"),
        ({"data": "2"}, "a mesh is axis names with sizes"),
        ({3: 8}, "a mesh is axis names with sizes"),
    ],
)
def test_a_mesh_that_does_not_fit_is_refused_in_words(mesh, words):
    with pytest.raises(ValueError, match=words):
        pi.open(DATA / f"{NAME}.hlo.gz", mesh=mesh)


def test_a_record_with_a_mesh_of_its_own_keeps_it(tmp_path: Path):
    named = pi.open(DATA / f"{NAME}.hlo.gz", mesh={"data": 2, "model": 4})
    assert isinstance(named, pi.CompileRecord)
    named.save(tmp_path / "step.pjit")
    with pytest.raises(ValueError, match="has a mesh of its own, data=2 x model=4"):
        pi.open(tmp_path / "step.pjit", mesh={"x": 8})


def test_in_a_directory_a_mesh_holds_for_the_programs_it_fits(tmp_path: Path):
    for number, name, module in ((3, NAME, "jit_step"), (7, "pallas.v5e", "jit_kernel")):
        (tmp_path / f"module_{number:04d}.{module}.cpu_after_optimizations.txt").write_text(fixtures.text(name))
    log = pi.open(tmp_path, mesh={"data": 2, "model": 4})
    assert isinstance(log, pi.Log)
    assert str(log["step"].mesh) == "data=2 x model=4"
    kernel = log["_lambda"]
    assert (kernel.mesh is None) == ("mesh" in kernel.data.missing)
