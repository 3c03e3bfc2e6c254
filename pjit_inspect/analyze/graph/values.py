"""Finds the source of each operand of a kernel through plumbing: renaming, packing, copying, loops and calls.

A source is the instruction that makes a value, the element of its result, and whether the previous iteration made it.
Each operand is followed backwards from array to array until makers are reached. Not its job: finding kernels
(`analyze.graph.kernels`), or the sources of arrays (`analyze.program.array_flow`).
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.program.array_flow import PLUMBING, Flow
from pjit_inspect.analyze.program.loops import Running
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.hlo_columns import Links

NOTHING, PASSER, MAKER = 0, 1, 2
"""Roles of an instruction for a value: it has none worth showing (a constant), passes it on, or makes it."""

_MOST_SOURCES = 256
"""Most sources kept of one value; only instructions that pack more values have more."""
_MOST_STEPS = 5_000_000
"""Most steps for one program; only a program that no compiler made needs more. The rest has no sources."""
_MOST_READS = 2_000_000
"""Likewise, values taken by all kernels together."""

_Source = tuple[int, int, bool]
"""The instruction that makes a value, the element of its result (-1 for all), whether in the previous iteration."""


class Reads(NamedTuple):
    """Values taken by instructions: columns, one row per operand and value.

    `source` and `target` are instructions; `source` a maker or a parameter of the entry. `element` is -1 for a whole
    result. `operand_row` is the operand's instruction, `operand` its number; -1 for the value that chooses a branch,
    which the branch's first kernel takes.
    """

    target: np.ndarray
    operand: np.ndarray
    operand_row: np.ndarray
    source: np.ndarray
    element: np.ndarray
    carried: np.ndarray


class Traced(NamedTuple):
    """The values taken by makers, and the source of each of the program's results: a maker or a parameter; -1."""

    reads: Reads
    results: tuple[int, ...]


def trace_values(module: HloModule, running: Running, roles: np.ndarray) -> Traced:
    """The sources of all values taken by makers among the running instructions, and of the program's results.

    Args:
      module: the program.
      running: its running computations.
      roles: for each instruction, `NOTHING`, `PASSER` or `MAKER`.
    """
    tracer = _Tracer(module, roles)
    target, operand, row = _takers(module, running, roles, tracer.flow.choices)
    unique, inverse = np.unique(row, return_inverse=True)
    found = [tracer.value(index) for index in unique.tolist()]
    starts = np.cumsum([0, *map(len, found)])
    sources = np.fromiter(itertools.chain.from_iterable(itertools.chain.from_iterable(found)), np.int64).reshape(-1, 3)
    most = int(np.searchsorted(np.cumsum(np.diff(starts)[inverse]), _MOST_READS, side="right"))
    owner, _, items = Links(starts=starts, items=np.arange(len(sources))).gathered(inverse[:most])
    reads = Reads(
        target=target[owner],
        operand=operand[owner],
        operand_row=row[owner],
        source=sources[items, 0],
        element=sources[items, 1],
        carried=sources[items, 2] == 1,
    )
    results = (tracer.trace([node]) for node in tracer.flow.results)
    return Traced(reads, tuple(found[0][0] if len(found) == 1 else -1 for found in results))


def _takers(
    module: HloModule, running: Running, roles: np.ndarray, choices: Iterable[tuple[int, int]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Operands taken by makers, as columns: maker, operand number, operand's instruction."""
    columns, operands = module.instructions, module.instructions.operands
    is_running = np.isin(np.arange(len(module.computations)), running.computations)
    makers = np.flatnonzero((roles == MAKER) & is_running[columns.computation])
    owner, place, row = operands.gathered(makers)
    # Whether a branch runs depends on a value: its first maker takes that.
    of_makers, first = np.unique(columns.computation[makers], return_index=True)
    of = dict(zip(of_makers.tolist(), makers[first].tolist(), strict=True))
    chosen = [(of[branch], -1, choice) for branch, choice in choices if branch in of]
    more = np.array(chosen, np.int64).reshape(-1, 3).T
    return tuple(np.concatenate(pair) for pair in zip((makers[owner], place, row), more, strict=True))  # type: ignore


class _Tracer:
    """Follows arrays backwards to their makers.

    Attributes:
      flow: what passes which array on.
    """

    def __init__(self, module: HloModule, roles: np.ndarray) -> None:
        self.flow = Flow(module, within=False)
        # Views yield Python's numbers, and need not be made for half a million instructions.
        self._entry, self._computation = module.entry, np.ascontiguousarray(module.instructions.computation).data
        self._roles = roles.data
        self._left = _MOST_STEPS
        self._makers: dict[int, int] = {}

    def value(self, instruction: int) -> Sequence[_Source]:
        """The sources of an instruction's whole result."""
        maker = self._maker(instruction)
        return [(maker, -1, False)] if maker >= 0 else self.trace(self.flow.nodes(instruction))

    def trace(self, nodes: Sequence[int]) -> list[_Source]:
        """The sources of arrays, in the order they are reached."""
        flow, found = self.flow, dict[_Source, None]()
        # Each array is reached with the outermost loop around it whose previous iteration the way led through: what is
        # made in that loop is carried; what only passes through it is made before it, and is not.
        waiting = [(node, range(0)) for node in reversed(nodes)]
        seen = set(waiting)
        while waiting and self._left > 0 and len(found) < _MOST_SOURCES:
            node, turned = waiting.pop()
            self._left -= 1
            index = self._owner(node)
            maker = self._maker(index)
            if maker >= 0:
                found[maker, self._element(index, maker, node), self._number(maker) in turned] = None
                continue
            last, loop = flow.turns.get(node, (-1, turned))
            fresh = []
            for other in self._before(index, node):
                around = max(turned, loop, key=len) if other == last else turned
                way = other, around if self._number(self._owner(other)) in around else range(0)
                if way not in seen:
                    seen.add(way)
                    fresh.append(way)
            waiting.extend(reversed(fresh))
        return list(found)

    def _owner(self, node: int) -> int:
        """The instruction that yields an array."""
        return bisect.bisect_right(self.flow.first, node) - 1

    def _number(self, index: int) -> int:
        """The number of the computation an instruction is in, as in `Flow.entered`."""
        return self.flow.entered.get(self._computation[index], -1)

    def _maker(self, index: int) -> int:
        """The maker whose result an instruction yields, itself or an argument included; -1 for none."""
        way = []
        while index not in self._makers:
            way.append(index)
            opcode, role = self.flow.opcode_of(index), self._roles[index]
            operands = self._passed(index) if role == PASSER and opcode not in PLUMBING else []
            if len(operands) != 1:
                is_argument = self._computation[index] == self._entry and opcode == "parameter"
                self._makers[index] = index if is_argument or role == MAKER else -1
            else:
                index = operands[0]
        self._makers.update(dict.fromkeys(way, self._makers[index]))
        return self._makers[index]

    def _element(self, index: int, maker: int, node: int) -> int:
        # A tuple that holds an array on its way to another memory has no elements of the array.
        flow = self.flow
        if self._roles[maker] != MAKER or not (flow.is_tuple(index) and flow.is_tuple(maker)):
            return -1
        return flow.elements(index)[node - flow.first[index]]

    def _before(self, index: int, node: int) -> Sequence[int]:
        """The arrays of which an array that an instruction yields may be one."""
        flow, opcode = self.flow, self.flow.opcode_of(index)
        if opcode == "parameter" or opcode in PLUMBING:
            # A loop is assumed to run: a value that enters it is its result only if the body passes it on.
            return flow.before[node][: -1 if opcode == "while" else None]
        if self._roles[index] != PASSER:
            return ()
        given = [other for operand in self._passed(index) for other in flow.nodes(operand)]
        place = node - flow.first[index]
        return given[place : place + 1] if len(given) == len(flow.nodes(index)) else given

    def _passed(self, index: int) -> list[int]:
        """The operands that a copy, a second half or the like passes on."""
        operands = self.flow.operands(index)
        return operands[:1] if self.flow.opcode_of(index).endswith(("-done", "-update")) else operands
