"""A propagated program survives its file; a damaged one is refused with the place."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import (
    AxisOrigin,
    EntryValue,
    ShardedOp,
    ShardedProgram,
    ShardedValue,
    ShardingRule,
    Span,
)
from pjit_inspect.parse.files.json_entries import propagation_bytes, read_propagation

RULE = ShardingRule(operands=((("i",), ("k",)),), results=((("i",),),), sizes={"i": 4, "k": 8}, reduction=("k",))
PROGRAM = ShardedProgram(
    ops=(
        ShardedOp(
            opcode="stablehlo.reduce",
            op_name="jit(f)/reduce_sum",
            frames=(Frame(file="a.py", line=2, function="f"),),
            spans=(Span(line=2, column=4, end_line=2, end_column=9),),
            operands=(0,),
            results=(1,),
            rule=RULE,
            detail="add",
        ),
    ),
    values=(
        ShardedValue(
            dtype="f32",
            shape=(4, 8),
            spec=((), ("model:(1)2",)),
            closed=(True, False),
            origins=(AxisOrigin(axis="model", kind="input", index=0),),
            argument=0,
        ),
        ShardedValue(dtype="f32", shape=(4,), spec=((),), op=0),
    ),
    inputs=(EntryValue(name="x", value=0, spec=((), ("model",))),),
    outputs=(EntryValue(name="result", value=1),),
    meshes=({"data": 2, "model": 4},),
    links=((0, 1),),
)


def test_a_program_read_back_is_the_same():
    content = propagation_bytes(PROGRAM)
    assert read_propagation(content, "p") == PROGRAM
    assert propagation_bytes(read_propagation(content, "p")) == content


def test_the_empty_program_survives_too():
    assert read_propagation(propagation_bytes(ShardedProgram()), "p") == ShardedProgram()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda j: j["program"]["ops"][0].update(operands=[7]), "an op's value is outside"),
        (lambda j: j["program"]["ops"][0].update(operands=[1]), "which op 0 makes later"),
        (lambda j: j["program"]["ops"][0].update(parent=0), "an op's parent is outside"),
        (lambda j: j["program"]["ops"][0].update(rule=5), "a row of its table"),
        (lambda j: j["program"]["values"][0].update(argument=3), "an argument is outside"),
        (lambda j: j["program"]["values"][0].update(spec=[[]]), "a sharding of rank 1"),
        (lambda j: j["program"]["values"][1].update(shape=[-1]), "is no shape"),
        (lambda j: j["program"]["outputs"][0].update(value=9), "result's value is outside"),
        (lambda j: j["program"].update(links=[[0, 1, 1]]), "does not join two"),
        (lambda j: j["tables"]["AxisOrigin"][0].update(index=4), "an axis's origin is outside"),
        (lambda j: j["tables"]["AxisOrigin"][0].update(kind="magic"), "'input', 'output'"),
        (lambda j: j.pop("program"), "p: \\$\\.program"),
        (lambda j: j.pop("tables"), "tables is null"),
    ],
)
def test_a_damaged_program_is_refused_with_the_place(change: Callable[[dict[str, Any]], Any], message: str):
    whole = json.loads(propagation_bytes(PROGRAM))
    change(whole)
    with pytest.raises(ParseError, match=message):
        read_propagation(json.dumps(whole).encode(), "p")


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"[" * 100_000, b"\xff", b'{"tables": ' + b"9" * 5000 + b"}"])
def test_what_is_no_program_is_a_parse_error(content: bytes):
    with pytest.raises(ParseError):
        read_propagation(content, "p")
