"""Inputs, outputs, mesh and devices of programs that people paste: what the text says, marked as read from it."""

from __future__ import annotations

from pathlib import Path

import pytest

import pjit_inspect as pi
from pjit_inspect.errors import CaptureError
from pjit_inspect.observe.shardy import mlir_process

SHARDY = """module @jit_step attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=4]>
  func.func public @main(
      %arg0: tensor<64x128xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"model", ?}p1]>} loc("w"),
      %arg1: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data", "model":(1)2}, {}]>},
      %arg2: tensor<i32>
  ) -> (tensor<32x64xf32> {jax.result_info = "result['h']", sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>},
        tensor<i32>) {
    return %arg1, %arg2 : tensor<32x64xf32>, tensor<i32>
  }
}
"""
GSPMD = """module @jit_f attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x6xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"})
      -> (tensor<8x6xf32> {jax.result_info = "result", mhlo.sharding = "{replicated}"}) {
    return %arg0 : tensor<8x6xf32>
  }
}
"""
COMPILED = """HloModule jit_f, is_scheduled=true, num_partitions=4

ENTRY main {
  x = f32[2,6]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}, metadata={op_name="params[\\'w\\']"}
  n = f32[2,6]{1,0} negate(x)
  s = f32[] constant(0)
  ROOT t = (f32[2,6]{1,0}, f32[]) tuple(n, s)
}
"""
NOTE = "shardings and devices are read from the program in the file"
UNNAMED = "; axes that have no names there are called axis_0, axis_1, ..."


def opened(folder: Path, text: str) -> pi.CompileRecord:
    (folder / "pasted.txt").write_text(text)
    record = pi.open(folder / "pasted.txt")
    assert isinstance(record, pi.CompileRecord)
    return record


def shown(record: pi.CompileRecord) -> str:
    return " ".join(str(record).split())


def rows(record: pi.CompileRecord) -> list[tuple]:
    return [(one.path, one.dtype, one.global_shape, one.spec) for one in (*record.inputs, *record.outputs)]


def test_stablehlo_of_shardy_says_its_mesh_arguments_and_results(tmp_path: Path):
    record = opened(tmp_path, SHARDY)
    assert str(record.mesh) == "data=2 x model=4"
    assert len(record.data.devices) == 8
    assert rows(record) == [
        ("w", "bfloat16", (64, 128), ((), ("model",))),
        ("arg1", "float32", (32, 64), (("data", "model:(1)2"), ())),
        ("arg2", "int32", (), None),
        ("result['h']", "float32", (32, 64), (("data",), ())),
        ("result1", "int32", (), None),
    ]
    assert record.inputs[1].local_shape == (8, 64)
    # Nobody says how it lies: XLA may choose.
    assert record.inputs[2].sharding is None
    assert NOTE in shown(record)
    assert UNNAMED not in shown(record)


def test_stablehlo_of_gspmd_says_them_too(tmp_path: Path):
    record = opened(tmp_path, GSPMD)
    assert rows(record) == [
        ("arg0", "float32", (8, 6), (("axis_0",), ())),
        ("result", "float32", (8, 6), ((), ())),
    ]
    assert NOTE + UNNAMED in shown(record)


def test_what_is_not_understood_of_one_array_costs_that_sharding_alone(tmp_path: Path):
    record = opened(tmp_path, GSPMD.replace("{replicated}", "{something new}"))
    assert rows(record)[1] == ("result", "float32", (8, 6), None)
    assert record.outputs[0].sharding is None


def test_names_in_stablehlo_cannot_steer_a_terminal(tmp_path: Path):
    record = opened(tmp_path, GSPMD.replace('"result"', '"a\\1B[31mb"'))
    assert record.outputs[0].path == "a\\x1b[31mb"


def test_a_program_without_arguments_lacks_none(tmp_path: Path):
    body = "%0 = stablehlo.constant dense<1.0> : tensor<f32>\n    return %0 : tensor<f32>"
    record = opened(tmp_path, f"module @jit_f {{\n  func.func public @main() -> tensor<f32> {{\n    {body}\n  }}\n}}\n")
    assert record.inputs == ()
    assert "inputs" not in record.data.missing
    assert [(one.path, one.local_shape) for one in record.outputs] == [("result0", ())]


def test_pasted_stablehlo_can_be_asked_what_if(tmp_path: Path):
    asked = opened(tmp_path, SHARDY.replace(":(1)2", "")).what_if(mesh={"data": 4, "model": 2})
    assert asked.inputs[0].local_shape == (64, 64)


def test_stablehlo_of_one_device_lies_on_it(tmp_path: Path):
    text = GSPMD.replace("num_partitions = 4", "num_partitions = 1")
    record = opened(tmp_path, text.replace('mhlo.sharding = "{devices=[4,1]<=[4]}"', "").replace("{}", ""))
    assert [(one.path, one.local_shape) for one in record.inputs] == [("arg0", (8, 6))]


def test_stablehlo_that_jaxlib_cannot_read_says_why(tmp_path: Path):
    record = opened(tmp_path, SHARDY.replace("return %arg1, %arg2", "return %arg7, %arg2"))
    assert record.inputs == ()
    assert record.data.missing["inputs"].startswith("jaxlib did not read the StableHLO: ")
    assert "arg7" in str(record.stablehlo)


def test_without_a_process_for_it_stablehlo_is_opened_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise CaptureError("there is no jaxlib here")

    monkeypatch.setattr(mlir_process, "read_borders_apart", refused)
    record = opened(tmp_path, SHARDY)
    assert record.data.missing["outputs"] == "jaxlib did not read the StableHLO: there is no jaxlib here"
    assert record.name == "step"


def test_compiled_text_says_what_each_device_has_of_results_without_shardings(tmp_path: Path):
    record = opened(tmp_path, COMPILED)
    assert rows(record) == [("params['w']", "float32", (8, 6), (("axis_0",), ()))]
    words = "HLO does not say how results are sharded; each device has result[0] f32[2,6], result[1] f32[]"
    assert record.data.missing["outputs"] == words
    assert f"outputs unknown: {words}" in shown(record)
    assert NOTE + UNNAMED in shown(record)


def test_compiled_text_for_one_device_says_all_of_it(tmp_path: Path):
    text = COMPILED.replace("num_partitions=4", "num_partitions=1").replace(", sharding={devices=[4,1]<=[4]}", "")
    assert [one[:3] for one in rows(opened(tmp_path, text))] == [
        ("params['w']", "float32", (2, 6)),
        ("result[0]", "float32", (2, 6)),
        ("result[1]", "float32", ()),
    ]
