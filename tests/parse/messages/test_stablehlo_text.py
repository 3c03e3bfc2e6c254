"""StableHLO text without what may differ between processes: equal where the program is."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest

import pjit_inspect as pi
from pjit_inspect.model.program.source import Frame
from pjit_inspect.parse.messages.stablehlo_text import line_place, stablehlo_lines

TEXT = """\
#loc = loc(unknown)
#loc1 = loc("x")
module @jit_f attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%arg0: tensor<4xf32> loc("x(1)"), %arg1: tensor<4xf32> loc(unknown)) -> (tensor<4xf32>) {
    %0 = stablehlo.add %arg0, %arg1 {note = " loc(1) "} : tensor<4xf32> loc(#loc8)
    stablehlo.custom_call @xla_python_cpu_callback(%0) {backend_config = "1403", api = 2 : i32} : () -> () loc(#loc4)
    stablehlo.custom_call @other(%0) {backend_config = "1403"} : () -> () loc(callsite("f"("a.py":1:2) at #loc5))
    return %0 : tensor<4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("/tmp/train.py":16:21 to :28)
#loc4 = loc("total"(#loc2))
#loc5 = loc("<module>"("/tmp/train.py":19:17 to :25))
#loc6 = loc(callsite(#loc4 at #loc5))
#loc8 = loc("jit(total)/add"(#loc6))
"""

LINES = (
    "module @jit_f attributes {mhlo.num_partitions = 4 : i32} {",
    "  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>) {",
    '    %0 = stablehlo.add %arg0, %arg1 {note = " loc(1) "} : tensor<4xf32>',
    "    stablehlo.custom_call @xla_python_cpu_callback(%0) {backend_config = (a number), api = 2 : i32} : () -> ()",
    '    stablehlo.custom_call @other(%0) {backend_config = "1403"} : () -> ()',
    "    return %0 : tensor<4xf32>",
    "  }",
    "}",
)


def test_locations_and_the_numbers_of_callbacks_are_left_out():
    assert stablehlo_lines(TEXT) == LINES


def test_the_innermost_source_line_of_an_operation_is_found():
    assert line_place(TEXT, 2) == Frame(file="/tmp/train.py", line=16)
    assert line_place(TEXT, 4) == Frame(file="a.py", line=1)
    assert line_place(TEXT, 5) is None
    assert line_place(TEXT, 99) is None


def test_a_program_compiled_from_another_file_and_line_has_the_same_lines():
    def told(path: str, line: int) -> str:
        names: dict = {"jax": jax}
        code = "def f(x):\n    jax.debug.print('{}', x)\n    return x * 2\n"
        exec(compile("\n" * line + code, path, "exec"), names)
        text = pi.inspect(names["f"], jnp.ones(3)).stablehlo
        assert text is not None
        return text

    one, two = told("/a/one.py", 0), told("/b/two.py", 7)
    assert one != two
    assert stablehlo_lines(one) == stablehlo_lines(two)
    assert not re.search(r"\bloc\(|one\.py", "\n".join(stablehlo_lines(one)))


@pytest.mark.parametrize(
    "line",
    [
        ' loc("' + '\\"' * 100_000,
        '"' * 200_001,
        '\\"' * 100_000,
        " loc(" * 50_000,
        " loc((" + ")(" * 100_000,
        'x "\\' + '\\"' * 100_000,
    ],
)
def test_hostile_lines_end(line: str):
    assert len(stablehlo_lines(line)) == 1
    assert line_place(line, 0) is None


def test_locations_that_refer_to_each_other_in_a_circle_end():
    text = "a loc(#loc1)\n#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)\n"
    assert line_place(text, 0) is None
