"""What every whole module keeps to, checked once so that no analysis has to.

XLA writes operands before their users and called computations before their callers: so neither goes in circles.
Not its job: whether the program is right.

*Source*: `HloComputation::ToProto`, `HloModule::ToProto` and `hlo_verifier.cc` in XLA.
"""

from __future__ import annotations

import numpy as np

from pjit_inspect.errors import ParseError
from pjit_inspect.model.program.hlo import HloModule

_LEAST = {
    "add": (2, 0),
    "async-start": (0, 1),
    "bitcast": (1, 0),
    "call": (0, 1),
    "compare": (2, 0),
    "conditional": (1, 1),
    "copy": (1, 0),
    "dynamic-update-slice": (2, 0),
    "fusion": (0, 1),
    "get-tuple-element": (1, 0),
    "reshape": (1, 0),
    "scatter": (2, 0),
    "while": (1, 2),
}
"""Opcode -> how many operands and called computations an instruction has at least."""


def check_module(module: HloModule) -> None:
    """Raises `ParseError` when the module breaks one of the rules above."""
    columns, computations = module.instructions, module.computations
    for links in (columns.operands, columns.control):
        _require(links.items < links.owners, "an instruction stands before one of its operands")
        same = columns.computation[links.items] == columns.computation[links.owners]
        _require(same, "an instruction has an operand in another computation")
    before = columns.called.items < columns.computation[columns.called.owners]
    _require(before, "a computation stands before one that it calls")
    own = columns.computation[computations.root] == np.arange(len(computations))
    _require(own, "the root of a computation stands in another one")
    operands, called = np.diff(columns.operands.starts), np.diff(columns.called.starts)
    for row, opcode in enumerate(module.opcodes):
        fewest, fewest_called = _LEAST.get(opcode, (0, 0))
        here = columns.opcode == row
        _require(operands[here] >= fewest, f"an instruction {opcode} lacks operands")
        _require(called[here] >= fewest_called, f"an instruction {opcode} lacks a computation")
    places = [(one.parameter, *one.parameter_index) for one in (*module.aliases, *module.donors)]
    places += [one.output for one in module.aliases]
    _require(np.array([place >= 0 for path in places for place in path]), "an alias has a place below 0")


def _require(holds: np.ndarray, otherwise: str) -> None:
    if not holds.all():
        raise ParseError(otherwise, expected="a module as XLA writes it")
