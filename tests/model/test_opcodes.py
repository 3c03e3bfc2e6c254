"""The one table of operations has HLO's and StableHLO's names, and other modules have no table of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import pjit_inspect
from pjit_inspect.analyze.memory import live_ranges, memory_use, values_named
from pjit_inspect.analyze.program.array_flow import PLUMBING
from pjit_inspect.model.program.opcodes import Flag, may_communicate, operations
from pjit_inspect.model.report.collective import KINDS
from pjit_inspect.parse.hlo_proto.hlo import OPCODES
from pjit_inspect.parse.sharding import hlo_rules

ROOT = Path(pjit_inspect.__file__).parent

STABLEHLO = frozenset((
    "broadcast_in_dim", "case", "dot_general", "if", "manual_computation", "named_computation", "optimization_barrier",
    "reshard", "sharding_constraint",
))  # fmt: skip

ALLOWED = (
    "analyze/causes/", "analyze/partition/", "analyze/sharding/",
    # What XLA does in place, and which shapes its text parser takes from operands: lists of its own.
    "analyze/memory/live_ranges.py", "analyze/memory/occupancy.py", "parse/hlo_text/shapes.py",
    # Every opcode that there is.
    "parse/hlo_proto/hlo.py",
    # Names of JAX's functions, of collectives in the order they are shown, of what XLA's emitters call kernels.
    "analyze/errors/", "analyze/measured/launches.py", "model/program/opcodes.py", "model/report/collective.py",
    "model/sharding/sharded_program.py",
    # What is computed for an operation, not which it is.
    "analyze/advice/updates.py", "analyze/collectives/traffic.py",
)  # fmt: skip


@pytest.mark.parametrize("flag", get_args(Flag))
def test_every_flag_has_operations_that_exist(flag: Flag):
    found = operations(flag)
    known = {*OPCODES, "create-token", "optimization-barrier"} | STABLEHLO
    assert found
    assert {name for name in found if "_" not in name} <= known | {name.replace("_", "-") for name in known}
    assert {name.replace("-", "_") for name in found} <= found


def test_the_collectives_are_the_kinds_that_are_shown():
    assert {name for name in operations("collective") if "_" not in name} == set(KINDS)


def test_tables_that_were_apart_hold_what_the_flags_say():
    """Of HLO's opcodes; those beyond the old tables have the property, and the tables had forgotten them."""
    same = {"bitcast", "opt-barrier", "domain", "add-dependency", "async-update"}
    moves = {"copy", "bitcast", "transpose", "reshape", "copy-done", "copy-start", "opt-barrier"}
    no_rule = {
        "all-gather", "all-reduce", "all-to-all", "call", "collective-broadcast", "collective-permute", "conditional",
        "custom-call", "fusion", "infeed", "map", "opt-barrier", "outfeed", "parameter", "ragged-all-to-all", "recv",
        "reduce-scatter", "rng", "rng-bit-generator", "rng-get-and-update-state", "send", "while",
    }  # fmt: skip
    assert same == live_ranges._SAME & OPCODES
    assert {
        "dynamic-update-slice",
        "set-dimension-size",
        "scatter",
        "all-reduce-start",
    } == live_ranges._IN_PLACE & OPCODES
    assert moves | {"add-dependency", "domain"} == values_named._MOVES & OPCODES
    assert no_rule | {"add-dependency", "async-start", "domain"} == hlo_rules._NO_RULE & OPCODES
    old = PLUMBING | {"parameter", "constant", "broadcast", "iota"}
    assert old & OPCODES | {"partition-id", "replica-id"} == memory_use._NOT_MADE & OPCODES


@pytest.mark.parametrize("opcode", [*KINDS, "all-gather-start", "all-gather-done", "fusion", "async-done", "send"])
def test_a_collective_and_its_parts_may_communicate(opcode: str):
    assert may_communicate(opcode)


def test_what_computes_alone_does_not_communicate():
    assert not any(map(may_communicate, ("add", "dot", "while", "all", "tuple")))


def tables(file: Path) -> Iterator[str]:
    """Names of the module's constants that hold more than three names of operations, and little else."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.Assign) and isinstance(
            node.value, ast.Call | ast.Tuple | ast.Set | ast.Dict | ast.BinOp
        ):
            calls = [one for one in ast.walk(node.value) if isinstance(one, ast.Call)]
            flags = {id(flag) for call in calls if getattr(call.func, "id", "") == "operations" for flag in call.args}
            names = [
                one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant) and id(one) not in flags
            ]
            if sum(name in OPCODES | STABLEHLO for name in names) > max(3, len(names) / 2):
                yield ast.unparse(node.targets[0])


def test_no_other_module_has_a_table_of_operations():
    files = {file.relative_to(ROOT).as_posix(): file for file in sorted(ROOT.rglob("*.py"))}
    found = {name: list(tables(file)) for name, file in files.items() if not name.startswith(ALLOWED)}
    assert {name: tables for name, tables in found.items() if tables} == {}
