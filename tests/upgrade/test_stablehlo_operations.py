"""Two texts of one program have the same operations; a program that differs has others."""

from __future__ import annotations

from pjit_inspect.analyze.diff.tables import diff_lowerings
from pjit_inspect.model.diff.diff import LoweringDiff, OperationChange
from pjit_inspect.parse.messages.stablehlo_operations import read_operations

_ONE = """\
module @jit_step attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @mesh = <["x"=8]>
  func.func public @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> \
(tensor<f32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.sine %arg0 : tensor<8xf32> loc(#loc4)
    %1 = stablehlo.cosine %arg0 : tensor<8xf32>
    %2 = call @twice(%0) : (tensor<8xf32>) -> tensor<8xf32>
    %3 = stablehlo.add %2, %1 : tensor<8xf32>
    %4 = "stablehlo.reduce"(%3, %cst) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %5 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
  func.func private @twice(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
#loc4 = loc("train.py":3:1)
"""


def compared(before: str, after: str) -> LoweringDiff:
    one, two = read_operations(before), read_operations(after)
    return diff_lowerings((one.flows, two.flows), (one.alone, two.alone))


def test_names_places_and_the_order_of_independent_lines_make_no_difference():
    sine, cosine = _ONE.splitlines()[4:6]
    other = _ONE.replace(f"{sine}\n{cosine}", f"{cosine}\n{sine}")
    other = other.replace("@twice", "@helper_7").replace("%cst", "%c_3").replace("%5", "%99").replace("@mesh", "@m")
    other = other.replace(' {jax.result_info = "result"}', "").replace("loc(#loc4)", "").replace("@jit_step", "@jit_f")
    assert other != _ONE
    # sine, cosine, call, two adds, one in the reduction, the reduction, a constant.
    assert compared(_ONE, other) == LoweringDiff(before=8, after=8, is_same=True)


def test_another_operation_is_named_with_an_example():
    found = compared(_ONE, _ONE.replace("stablehlo.cosine", "stablehlo.tanh"))
    cosine = OperationChange(
        name="stablehlo.cosine", before=1, after=0, removed=1, added=0, example="stablehlo.cosine % : tensor<8xf32>"
    )
    tanh = OperationChange(
        name="stablehlo.tanh", before=0, after=1, removed=0, added=1, example="stablehlo.tanh % : tensor<8xf32>"
    )
    assert found == LoweringDiff(before=8, after=8, is_same=False, changes=(cosine, tanh))


def test_the_same_operations_on_other_values_are_another_program():
    found = compared(_ONE, _ONE.replace("call @twice(%0)", "call @twice(%1)"))
    assert found == LoweringDiff(before=8, after=8, is_same=False)


def test_a_sharding_and_what_a_called_function_does_count():
    assert not compared(_ONE, _ONE.replace('[{"x"}]>', "[{}]>")).is_same
    assert not compared(_ONE, _ONE.replace("stablehlo.add %arg0, %arg0", "stablehlo.multiply %arg0, %arg0")).is_same


def test_text_that_is_no_program_has_no_operations():
    assert read_operations("func.func @f\n}}}{").flows.total() <= 2
    assert not read_operations("").flows
