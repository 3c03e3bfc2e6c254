"""XLA's own modules of a program before and after partitioning, and what it made each collective for.

The partitioner goes through the instructions in order, and gives what it adds the name of the one it is at.
Not its job: shardings (`xla_shardings_of`), or judging causes (`score`).
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

__all__ = ["MadeFor", "XlaDump", "dump", "name_of", "operations_of_collectives"]

_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-#]+ = (?:\(.*?\)|\S+) ([\w\-]+)\(")
_NAME = re.compile(r'metadata=\{.*?op_name="((?:[^"\\]|\\.)*)"')
_DEFINED = re.compile(r"^\s+(?:ROOT )?%?([\w.\-#]+) = ")
_OPERAND = re.compile(r" [\w\-]+\(%([\w.\-#]+)")
_SUMS = frozenset(("all-reduce", "reduce-scatter"))
_CHANNEL = re.compile(r", channel_id=(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class XlaDump:
    """The text of XLA's module after propagation, and that of the partitioned one."""

    propagated: str
    partitioned: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFor:
    """What XLA made a collective for.

    Attributes:
      kind: the collective's opcode.
      name: JAX's name of the operation that was being partitioned; "" for XLA's own reshards, which have none.
      opcodes: those of the instructions of this name before partitioning.
    """

    kind: str
    name: str
    opcodes: frozenset[str]


def dump(function: Callable[..., Any], arguments: tuple[Any, ...]) -> XlaDump:
    """Compile once with XLA's dump on."""
    with tempfile.TemporaryDirectory() as folder:
        options = {"xla_dump_to": folder, "xla_dump_hlo_pass_re": "shardy|spmd-partitioning"}
        jax.jit(function).lower(*arguments).compile(compiler_options=options)
        (propagated,) = Path(folder).rglob("*after_shardy-xla*")
        (partitioned,) = Path(folder).rglob("*after_spmd-partitioning*")
        return XlaDump(propagated=propagated.read_text(), partitioned=partitioned.read_text())


def name_of(line: str) -> str:
    """JAX's name of the instruction on a line; "" when it has none."""
    match = _NAME.search(line)
    return re.sub(r"\\(.)", r"\1", match[1]) if match else ""


def operations_of_collectives(dumped: XlaDump) -> dict[int, MadeFor]:
    """Channel -> what XLA made the collective on this channel for; not those named after what they move."""
    opcodes: dict[str, set[str]] = defaultdict(set)
    for line in dumped.propagated.splitlines():
        if match := _INSTRUCTION.match(line):
            opcodes[name_of(line)].add(match[1])
    found, names = {}, {}
    for line in dumped.partitioned.splitlines():
        if named := _DEFINED.match(line):
            names[named[1]] = name_of(line)
        match, channel = _INSTRUCTION.match(line), _CHANNEL.search(line)
        if match and channel:
            name = name_of(line)
            operand = _OPERAND.search(line)
            # From JAX 0.12 on; with the name of a parameter's element it has no line of its own.
            is_moved = match[1] not in _SUMS and "is_spmd_generated" in line
            if is_moved and operand and names.get(operand[1], name) == name:
                continue
            made_for = frozenset(opcodes[name]) if name else frozenset()
            found[int(channel[1])] = MadeFor(kind=match[1].removesuffix("-start"), name=name, opcodes=made_for)
    return found
