"""Where each operand of a kernel comes from, plumbing looked through: renaming, packing, copying, loops and calls.

A value is told by *codes*: which instruction makes it, which element of its result, whether in the iteration before.
Computations are read callees first, what their parameters stand for left open; then, callers first, that is filled in.
So nothing is followed in circles, and every computation is read once. Not its job: which instructions are kernels
(`analyze.graph.kernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from pjit_inspect.analyze.program.running import Running, number_of
from pjit_inspect.model.program.hlo import HloModule

__all__ = ["MAKER", "NOTHING", "PASSER", "Reads", "trace_reads"]

NOTHING, PASSER, MAKER = 0, 1, 2
"""What an instruction is to a value: it has none worth showing (a constant), passes it on, or makes it."""

_MOST_SOURCES = 256
"""Sources kept of one value; only what packs more values than these has more."""
_MOST_WORK = 20_000_000
"""Steps taken for one program; only a program that nobody's compiler made needs more. The rest stays without source."""
_MOST_READS = 2_000_000
"""Likewise, values taken by all kernels together."""
_ELEMENTS = 1 << 20
_CARRIED = 1

_Leaf = tuple[int, ...]


class _Parameter(NamedTuple):
    """A whole parameter of a computation that is not the entry: what it stands for is open."""

    computation: int
    number: int


_Value = _Leaf | list[_Leaf] | _Parameter


class Reads(NamedTuple):
    """Who takes which value: columns, one entry per operand and value.

    `source` and `target` are instructions; `source` a maker or a parameter of the entry. `element` is -1 for a whole
    result. `operand_row` is the operand as it is written, `operand` its number; -1 for the value that chooses a branch,
    which the branch's first kernel takes.
    """

    target: np.ndarray
    operand: np.ndarray
    operand_row: np.ndarray
    source: np.ndarray
    element: np.ndarray
    carried: np.ndarray


def _code(index: int, element: int = -1) -> int:
    return (index * _ELEMENTS + min(element + 1, _ELEMENTS - 1)) * 2


def trace_reads(module: HloModule, running: Running, roles: np.ndarray) -> Reads:
    """What every maker among the running instructions takes.

    Args:
      module: the program.
      running: what runs in it.
      roles: for each instruction, `NOTHING`, `PASSER` or `MAKER`.
    """
    tracer = _Tracer(module, running, roles.tolist())
    for computation in running.computations:
        tracer.read(computation)
    return tracer.filled_in()


class _Tracer:
    def __init__(self, module: HloModule, running: Running, roles: list[int]) -> None:
        self._module, self._running, self._roles = module, running, roles
        self._opcode: list[int] = module.instructions.opcode.tolist()
        self._starts: list[int] = module.instructions.operands.starts.tolist()
        self._items: list[int] = module.instructions.operands.items.tolist()
        self._values: dict[int, _Value] = {}
        self._reads: list[tuple[int, int, int, _Leaf]] = []
        # An open code is negative: -1 - its place in `_open`.
        self._open: list[tuple[int, int, int]] = []
        self._places: dict[tuple[int, int, int], int] = {}
        self._of: dict[int, list[int]] = {}
        self._bound: list[list[_Leaf]] = []
        self._carried: list[list[_Leaf]] = []
        self._left = _MOST_WORK
        special = {"parameter": self._parameter, "get-tuple-element": self._element, "tuple": self._tuple}
        flow = {"while": self._while, "call": self._call, "conditional": self._conditional}
        handlers: dict[str, Callable[[int], _Value]] = {**special, **flow}
        self._handlers = [handlers.get(opcode) for opcode in module.opcodes]

    def read(self, computation: int) -> None:
        """Reads one computation, operands before their users."""
        roles, opcode, handlers, values = self._roles, self._opcode, self._handlers, self._values
        for index in self._module.computation(computation).range:
            handler = handlers[opcode[index]]
            if handler is not None:
                values[index] = handler(index)
            elif roles[index] == MAKER:
                values[index] = (_code(index),)
                self._take(index)
            else:
                values[index] = () if roles[index] == NOTHING else self._passed(index)

    def _operands(self, index: int) -> list[int]:
        return self._items[self._starts[index] : self._starts[index + 1]]

    def _take(self, index: int) -> None:
        for position, operand in enumerate(self._operands(index)):
            value = self._values[operand]
            leaf = value if type(value) is tuple else self._leaf(value)  # nearly always
            if leaf:
                self._reads.append((index, position, operand, leaf))

    def _passed(self, index: int) -> _Value:
        operands = self._operands(index)
        if len(operands) == 1 or self._module.opcodes[self._opcode[index]].endswith(("-done", "-update")):
            return self._values[operands[0]] if operands else ()
        return self._joined(self._leaf(self._values[operand]) for operand in operands)

    def _joined(self, leaves: Iterable[_Leaf]) -> _Leaf:
        found: dict[int, None] = {}
        for leaf in leaves:
            self._left -= 1 + len(leaf)
            if len(found) >= _MOST_SOURCES or self._left < 0:
                break
            found.update(dict.fromkeys(leaf))
        return tuple(found)[:_MOST_SOURCES]

    def _leaf(self, value: _Value) -> _Leaf:
        """All of a value at once."""
        if isinstance(value, _Parameter):
            return (self._open_code(value, -1),)
        return self._joined(value) if isinstance(value, list) else value

    def _open_code(self, parameter: _Parameter, element: int) -> int:
        key = parameter.computation, parameter.number, element
        if key not in self._places:
            self._places[key] = len(self._open)
            self._open.append(key)
            self._of.setdefault(parameter.computation, []).append(self._places[key])
            self._bound.append([])
            self._carried.append([])
        return -1 - self._places[key]

    def _parameter(self, index: int) -> _Value:
        computation = int(self._module.instructions.computation[index])
        if computation == self._module.entry:
            return (_code(index),)
        return _Parameter(computation, number_of(self._module, index))

    def _tuple(self, index: int) -> _Value:
        return [self._leaf(self._values[operand]) for operand in self._operands(index)]

    def _element(self, index: int) -> _Value:
        return self._part(self._values[self._operands(index)[0]], number_of(self._module, index))

    def _part(self, value: _Value, k: int) -> _Leaf:
        """Element `k` of a value."""
        if isinstance(value, _Parameter):
            return (self._open_code(value, k),)
        if isinstance(value, list):
            return value[k] if 0 <= k < len(value) else ()
        whole = _ELEMENTS * 2
        return tuple(code + 2 * min(k + 1, _ELEMENTS - 1) if code >= 0 and code % whole < 2 else code for code in value)

    # ------------------------------------------------- loops, calls and branches

    def _bind(self, computation: int, arguments: list[_Value]) -> dict[int, _Leaf]:
        """Says what the open codes of a computation stand for where it is called with these arguments."""
        found: dict[int, _Leaf] = {}
        for place in self._of.get(computation, ()):
            self._left -= 1
            if self._left < 0:
                break
            _, number, element = self._open[place]
            if 0 <= number < len(arguments):
                argument = arguments[number]
                leaf = self._leaf(argument) if element < 0 else self._part(argument, element)
                self._bound[place].append(leaf)
                found[place] = leaf
        return found

    def _returned(self, computation: int, bound: dict[int, _Leaf], arguments: list[_Value]) -> _Value:
        """A computation's result, as its caller sees it."""
        value = self._values.get(int(self._module.computations.root[computation]), ())
        if isinstance(value, _Parameter):
            return arguments[value.number] if 0 <= value.number < len(arguments) else ()
        if isinstance(value, list):
            return [self._seen(leaf, bound) for leaf in value]
        return self._seen(value, bound)

    def _seen(self, leaf: _Leaf, bound: dict[int, _Leaf]) -> _Leaf:
        if not leaf or min(leaf) >= 0:
            return leaf
        return self._joined((code,) if code >= 0 else bound.get(-1 - code, ()) for code in leaf)

    def _call(self, index: int) -> _Value:
        arguments = [self._values[operand] for operand in self._operands(index)]
        computation = int(self._module.instructions.called[index][0])
        return self._returned(computation, self._bind(computation, arguments), arguments)

    def _conditional(self, index: int) -> _Value:
        choice, *given = self._operands(index)
        arguments = [self._values[operand] for operand in given]
        results: list[_Value] = []
        for computation, argument in zip(self._module.instructions.called[index].tolist(), arguments, strict=False):
            self._choose(computation, choice)
            bound = self._bind(computation, [argument])
            results.append(self._returned(computation, bound, [argument]))
        lists = [value for value in results if isinstance(value, list)]
        if len(lists) == len(results) and len({len(value) for value in lists}) == 1:
            return [self._joined(leaves) for leaves in zip(*lists, strict=True)]
        return self._joined(self._leaf(value) for value in results)

    def _choose(self, computation: int, choice: int) -> None:
        """Whether a branch runs depends on a value: its first maker takes that, as operand -1."""
        leaf = self._leaf(self._values[choice])
        rows = self._module.computation(computation).range
        first = next((row for row in rows if self._roles[row] == MAKER), None) if leaf else None
        if first is not None:
            self._reads.append((first, -1, choice, leaf))

    def _while(self, index: int) -> _Value:
        state = self._values[self._operands(index)[0]]
        body, *conditions = self._module.instructions.called[index].tolist()
        result = self._values.get(int(self._module.computations.root[body]), ())
        bound = self._bind(body, [state])
        for condition in conditions:
            self._bind(condition, [state])
            self._repeat(condition, body, result)
        self._repeat(body, body, result)
        return self._returned(body, bound, [state])

    def _repeat(self, computation: int, body: int, result: _Value) -> None:
        """Says what open codes stand for from the second iteration on: the body's result."""
        if isinstance(result, _Parameter):
            return
        for place in list(self._of.get(computation, ())):
            _, number, element = self._open[place]
            if number == 0:
                leaf = self._leaf(result) if element < 0 else self._part(result, element)
                self._carried[place].append(leaf)

    # ------------------------------------------------- filling in

    def filled_in(self) -> Reads:
        """All reads, with nothing left open."""
        bound: list[_Leaf] = [()] * len(self._open)
        for computation in reversed(self._running.computations):
            places = self._of.get(computation, [])
            for place in places:
                bound[place] = self._joined(self._filled(leaf, bound) for leaf in self._bound[place])
            # A value may move through the state of a loop before it is taken: two turns are looked at.
            for _ in range(2):
                later = {place: self._previous(place, bound) for place in places if self._carried[place]}
                for place, leaf in later.items():
                    bound[place] = self._joined((bound[place], leaf))
        return self._columns(bound)

    def _filled(self, leaf: _Leaf, bound: list[_Leaf]) -> _Leaf:
        if not leaf or min(leaf) >= 0:
            return leaf
        return self._joined((code,) if code >= 0 else bound[-1 - code] for code in leaf)

    def _previous(self, place: int, bound: list[_Leaf]) -> _Leaf:
        made = [(code | _CARRIED,) for leaf in self._carried[place] for code in leaf if code >= 0]
        kept = [bound[-1 - code] for leaf in self._carried[place] for code in leaf if code < 0]
        return self._joined([*made, *kept])

    def _columns(self, bound: list[_Leaf]) -> Reads:
        leaves = [self._filled(leaf, bound) for *_, leaf in self._reads]
        counts = np.array([len(leaf) for leaf in leaves], np.int64)
        counts[np.cumsum(counts) > _MOST_READS] = 0
        codes = np.array([c for leaf, n in zip(leaves, counts.tolist(), strict=True) for c in leaf[:n]], np.int64)
        rows = np.array([read[:3] for read in self._reads], np.int64).reshape(-1, 3)
        target, operand, operand_row = np.repeat(rows, counts, axis=0).T
        return Reads(
            target=target,
            operand=operand,
            operand_row=operand_row,
            source=codes // 2 // _ELEMENTS,
            element=codes // 2 % _ELEMENTS - 1,
            carried=codes % 2 == 1,
        )
