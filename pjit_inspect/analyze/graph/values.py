"""Finds the source of each operand of a kernel through plumbing: renaming, packing, copying, loops and calls.

A value is identified by *codes*: the instruction that makes it, the element of its result, and whether the previous
iteration made it. Every array gets the codes of its sources, repeatedly until loops add nothing. Not its job: finding
kernels (`analyze.graph.kernels`), or the sources of arrays (`analyze.program.array_flow`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.program.array_flow import PLUMBING, Flow
from pjit_inspect.analyze.program.loops import Running
from pjit_inspect.model.program.hlo import HloModule

NOTHING, PASSER, MAKER = 0, 1, 2
"""Roles of an instruction for a value: it has none worth showing (a constant), passes it on, or makes it."""

_MOST_SWEEPS = 30
"""Most sweeps; nested loops need one more than their depth, and so do arrays that change places."""
_MOST_SOURCES = 256
"""Most sources kept of one value; only instructions that pack more values have more."""
_MOST_WORK = 20_000_000
"""Most steps for one program; only a program that no compiler made needs more. The rest has no sources."""
_MOST_READS = 2_000_000
"""Likewise, values taken by all kernels together."""
_ELEMENTS = 1 << 20
_CARRIED = 1

_Codes = tuple[int, ...]


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


def _code(index: int, element: int) -> int:
    return (index * _ELEMENTS + min(element + 1, _ELEMENTS - 1)) * 2


def trace_reads(module: HloModule, running: Running, roles: np.ndarray) -> Reads:
    """Values taken by every maker among the running instructions.

    Args:
      module: the program.
      running: its running computations.
      roles: for each instruction, `NOTHING`, `PASSER` or `MAKER`.
    """
    return _Tracer(module, roles).reads(running)


class _Tracer:
    def __init__(self, module: HloModule, roles: np.ndarray) -> None:
        self._module, self._roles = module, roles
        self._flow = Flow(module, within=False)
        self._left = _MOST_WORK
        self._codes: dict[int, _Codes] = {}
        # Instructions that return one maker's result with the same elements, and the code of the whole result.
        self._whole: dict[int, int] = {}
        self._taken: dict[int, _Codes] = {}
        self._pass_on([way for index in self._flow.reached for way in self._start(index)])

    # ------------------------------------------------------------ what passes what on

    def _start(self, index: int) -> Iterable[tuple[int, list[int]]]:
        """Assigns codes to an instruction's results; for pass-through nodes, lists the nodes they forward."""
        flow, role, opcode, nodes = self._flow, self._roles[index], self._flow.opcode_of(index), self._flow.nodes(index)
        if opcode == "parameter" and self._module.instructions.computation[index] == self._module.entry:
            self._codes.update(dict.fromkeys(nodes, (_code(index, -1),)))
        elif opcode == "parameter" or opcode in PLUMBING:
            # A loop is assumed to run: a value that enters it is its result only if the body passes it on.
            return [(node, flow.before[node][: -1 if opcode == "while" else None]) for node in nodes]
        elif role == MAKER:
            self._make(index, index)
        elif role == PASSER:
            return self._passed(index, opcode)
        return ()

    def _make(self, index: int, maker: int) -> None:
        self._whole[index], self._taken[index] = maker, (_code(maker, -1),)
        nodes = self._flow.nodes(index)
        self._codes.update(dict.fromkeys(nodes, self._taken[index]))
        # A tuple that holds an array on its way to another memory has no elements of the array.
        if self._flow.is_tuple(index) and self._flow.is_tuple(maker):
            codes = ((_code(maker, k),) for k in self._flow.elements(index))
            self._codes.update(zip(nodes, codes, strict=True))

    def _passed(self, index: int, opcode: str) -> Iterable[tuple[int, list[int]]]:
        nodes, operands = self._flow.nodes(index), self._flow.operands(index)
        if opcode.endswith(("-done", "-update")):
            operands = operands[:1]
        if len(operands) == 1 and operands[0] in self._whole:
            self._make(index, self._whole[operands[0]])
            return ()
        given = [node for operand in operands for node in self._flow.nodes(operand)]
        in_place = len(given) == len(nodes)
        return [(node, given[place : place + 1] if in_place else given) for place, node in enumerate(nodes)]

    def _pass_on(self, ways: list[tuple[int, list[int]]]) -> None:
        codes, turns = self._codes, self._flow.turns
        for _ in range(_MOST_SWEEPS):
            changed = False
            for node, sources in ways:
                if node in turns:
                    last, inside = turns[node]
                    taken = [codes.get(source, ()) for source in sources if source != last]
                    new = self._joined((*taken, self._of_last_turn(codes.get(last, ()), inside)))
                elif len(sources) == 1:
                    new = codes.get(sources[0], ())
                else:
                    new = self._joined(codes.get(source, ()) for source in sources)
                if new != codes.get(node, ()):
                    codes[node], changed = new, True
            if not changed or self._left < 0:
                break

    def _joined(self, values: Iterable[_Codes]) -> _Codes:
        codes: dict[int, None] = {}
        for value in values:
            self._left -= 1 + len(value)
            if len(codes) >= _MOST_SOURCES or self._left < 0:
                break
            codes.update(dict.fromkeys(value))
        return tuple(codes)[:_MOST_SOURCES]

    def _of_last_turn(self, value: _Codes, inside: range) -> _Codes:
        """The codes a loop hands on, marked carried if made inside it; values that only pass through are not marked."""
        computation, entered = self._module.instructions.computation, self._flow.entered
        return tuple(c | _CARRIED if entered[int(computation[c // 2 // _ELEMENTS])] in inside else c for c in value)

    # ------------------------------------------------------------ who takes it

    def reads(self, running: Running) -> Reads:
        """The columns."""
        target, operand, row = self._takers(running)
        sources = [self._value(index) for index in row.tolist()]
        counts = np.array([len(codes) for codes in sources], np.int64)
        counts[np.cumsum(counts) > _MOST_READS] = 0
        codes = np.array([c for codes, n in zip(sources, counts.tolist(), strict=True) if n for c in codes], np.int64)
        return Reads(
            target=np.repeat(target, counts),
            operand=np.repeat(operand, counts),
            operand_row=np.repeat(row, counts),
            source=codes // 2 // _ELEMENTS,
            element=codes // 2 % _ELEMENTS - 1,
            carried=codes % 2 == 1,
        )

    def _takers(self, running: Running) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Operands taken by makers, as columns: maker, operand number, operand's instruction."""
        columns, operands = self._module.instructions, self._module.instructions.operands
        is_running = np.isin(np.arange(len(self._module.computations)), running.computations)
        makers = np.flatnonzero((self._roles == MAKER) & is_running[columns.computation])
        counts = operands.starts[makers + 1] - operands.starts[makers]
        target = np.repeat(makers, counts)
        place = np.arange(len(target)) - np.repeat(np.cumsum(counts) - counts, counts)
        row = operands.items[np.repeat(operands.starts[makers], counts) + place]
        # Whether a branch runs depends on a value: its first maker takes that.
        of_makers, first = np.unique(columns.computation[makers], return_index=True)
        of = dict(zip(of_makers.tolist(), makers[first].tolist(), strict=True))
        chosen = [(of[branch], -1, choice) for branch, choice in self._flow.choices if branch in of]
        more = np.array(chosen, np.int64).reshape(-1, 3).T
        return tuple(np.concatenate(pair) for pair in zip((target, place, row), more, strict=True))  # type: ignore

    def _value(self, operand: int) -> _Codes:
        value = self._taken.get(operand)
        if value is None:
            value = self._joined(self._codes.get(node, ()) for node in self._flow.nodes(operand))
            self._taken[operand] = value
        return value
