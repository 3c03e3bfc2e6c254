"""The sentence of a cause names what the user wrote: arguments, text, line, axes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from analyze.sharding.propagations import argument, dot, one_op, rule

from pjit_inspect.analyze.causes.cause_form import cause_of
from pjit_inspect.analyze.causes.match import Match
from pjit_inspect.analyze.sharding.needs import find_needs
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.mesh import spec_text
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.sharding.sharded_program import (
    PartitionedCollective,
    ShardedOp,
    ShardedProgram,
    ShardedValue,
    Span,
    Taker,
)

SOURCE = SourceText(file="train.py", lines=("import jax", "def f(x, w):", "    return x @ w"))


def clause(program: ShardedProgram, *, source: SourceText = SOURCE) -> str:
    need = next(need for need in find_needs(program))
    edge = PartitionedCollective(kind="all-reduce" if need.is_sum else "all-gather")
    names = ValueNames(program, (source,))
    match = Match(edge=edge, need=need, wanted=need.target)
    return cause_of(match, names, tuple(sorted(need.axes)), edge.kind).sentence


def test_a_contraction_names_both_sides_and_the_line():
    program = dot(argument(0, (16, 32), None, "model"), argument(1, (32, 64), "model", None), None, None)
    assert clause(program) == (
        "`x @ w` (train.py:3) sums over dimension 1 of `x` and dimension 0 of `w`. These 32 elements are split over "
        "`model`, so each device has a partial sum; the all-reduce adds them."
    )


def test_a_backward_contraction_is_the_gradient_of_what_was_written():
    program = dot(
        argument(0, (16, 32), None, "model"),
        argument(1, (32, 64), "model", None),
        None,
        None,
        op_name="jit(f)/transpose(jvp())/dot_general",
    )
    assert clause(program).startswith("The backward pass of `x @ w` (train.py:3) sums over")


def test_a_gathered_weight_tells_both_shardings_and_who_has_the_axis():
    program = dot(argument(0, (16, 32), "data", None), argument(1, (32, 64), None, "data"), "data", None)
    assert clause(program) == (
        "`x @ w` (train.py:3) needs `w` as `P(None, None)`, but it is `P(None, 'data')`. Axis `data` already splits "
        "dimension 0 of the result."
    )


def test_a_result_tells_what_was_asked():
    value = argument(0, (16, 8), "model", None)
    result = ShardedValue(dtype="f32", shape=(16, 8), spec=(("model",), ()), op=0)
    program = one_op("tanh", (value,), result, rule("ij", "ij"), wanted=((), ()))
    assert clause(program) == "`result` must be `P(None, None)`, but is computed as `P('model', None)`."


def test_a_result_that_does_not_divide_tells_its_length():
    result = ShardedValue(dtype="f32", shape=(15,), spec=(("model",),), op=0)
    program = one_op("tanh", (argument(0, (15,), "model"),), result, rule("i", "i"))
    assert clause(program) == (
        "`result` is returned replicated over `model`. Its dimension 0 has 15 elements, which 4 devices do not divide."
    )


def test_only_the_axes_of_the_collective_are_told_of_a_sum_over_more():
    result = ShardedValue(dtype="f32", shape=(), spec=(), op=0)
    program = one_op("reduce", (argument(0, (16, 8), "data", "model"),), result, rule("ij", "", reduction="ij"))
    (need,) = find_needs(program)
    edge = PartitionedCollective(kind="all-reduce")
    told = cause_of(Match(edge=edge, need=need), ValueNames(program, (SOURCE,)), ("model",), "all-reduce").sentence
    assert told == (
        "`x @ w` (train.py:3) reduces dimension 1 of `x`. These 8 elements are split over `model`, so each device "
        "has the result of its part; the all-reduce combines them."
    )


def test_a_need_whose_pieces_xla_did_not_make_is_told_by_the_pieces_it_made():
    program = dot(argument(0, (16, 32), "data", None), argument(1, (32, 64), None, "data"), "data", None)
    (need,) = find_needs(program)
    # By the rules `w` would be replicated; XLA's dot takes [16, 64].
    taker = Taker(op=0, operand=1, shape=(16, 64))
    edge = PartitionedCollective(kind="all-to-all", makers=(1,), takers=(taker,))
    match = Match(edge=edge, need=need, taker=taker, taken=1)
    told = cause_of(match, ValueNames(program, (SOURCE,)), ("data",), "all-to-all").sentence
    assert told == ("`x @ w` (train.py:3) needs `w` in pieces of [16, 64] on each device, but it is `P(None, 'data')`.")


def test_without_its_source_an_op_goes_by_its_name():
    program = dot(argument(0, (16, 32), None, "model"), argument(1, (32, 64), "model", None), None, None)
    assert clause(program, source=SourceText(file="other.py", lines=())).startswith("`dot_general` (train.py:3) sums")


@pytest.mark.parametrize(
    ("line", "span", "text"),
    [
        ("y = x @ w + b", Span(line=1, column=4, end_line=1, end_column=9), "x @ w"),
        ("ä = x @ w", Span(line=1, column=5, end_line=1, end_column=10), "x @ w"),  # columns are bytes of UTF-8
        ("y = f(a,\n  b) + c", Span(line=1, column=4, end_line=2, end_column=4), "f(a, b)"),
        ("y = f(  # why\n  a,  # x\n)", Span(line=1, column=4, end_line=3, end_column=1), "f(a,)"),
        ("y = x @ w  # product", None, "y = x @ w"),
        ("y = " + "x" * 80, None, "y = " + "x" * 53 + "..."),
    ],
)
def test_the_text_of_an_op_is_cut_from_its_line(line: str, span: Span | None, text: str):
    op = ShardedOp(opcode="stablehlo.add", frames=(Frame(file="a.py", line=1),), spans=(span,))
    names = ValueNames(ShardedProgram(ops=(op,)), (SourceText(file="a.py", lines=tuple(line.split("\n"))),))
    assert names.text(op) == text


def test_a_chain_of_views_is_called_by_what_it_views():
    x = argument(0, (4, 8), None, None)
    ops, values = [], [x]
    for index in range(5000):
        ops.append(
            ShardedOp(opcode="stablehlo.transpose", op_name="transpose", operands=(index,), results=(index + 1,))
        )
        values.append(replace(x, argument=None, origins=(), op=index))
    program = dot(x, x, None, None)
    program = ShardedProgram(ops=tuple(ops), values=tuple(values), inputs=program.inputs[:1])
    assert ValueNames(program).value(5000) == "`x` transposed"


def test_a_spec_reads_as_it_is_written():
    assert spec_text((("data",), (), ("data", "model"))) == "P('data', None, ('data', 'model'))"
