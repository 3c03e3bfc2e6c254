"""The dataflow of a program: the arrays every array is made of, and those made of it, through tuples, loops and calls.

A *node* is one array: an instruction, or one leaf of an instruction that yields a tuple. Tuples, loops, calls, fusions,
branches and optimization barriers only pass arrays on, and are followed. Not its job: what an instruction does with its
operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import accumulate, chain

import numpy as np

from pjit_inspect.analyze.program.loops import number_of
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.opcodes import operations
from pjit_inspect.model.program.shape import Shape

PLUMBING = operations("tuple", "region")
"""Opcodes that pass arrays on and do nothing else."""

_MOST_SWEEPS = 30
"""Calls need one sweep more than they are deep; only a program that no compiler made needs more than this."""
_MOST_DEPTH = 100
_NOTHING: list[int] = []
"""The sources of nodes that are not read yet; never written to."""


class Flow:
    """The dataflow of one module.

    Args:
      module: the module.
      within: whether to look into fusions too, and to link what computes with what it takes; otherwise only what passes
        arrays on is linked.

    Attributes:
      module: the module.
      first: for each instruction its first node; those of its other leaves follow. One longer than the module.
      before: for each node, the nodes it is made of. Of a loop's result, the last is what enters the loop.
      turns: node that a loop hands to its body or its condition -> the node of the turn before, and the numbers of the
        computations that run in the loop.
      entered: computation that is reached -> its number, callers first.
      choices: each branch of a conditional, and the instruction that chooses it.
      reached: all instructions that are reached from the entry, operands first as far as loops allow.
      arguments: the nodes of the program's arguments, leaf by leaf, in order.
      results: the nodes of its results, likewise.
    """

    def __init__(self, module: HloModule, *, within: bool = True) -> None:
        self.module: HloModule = module
        self._within = within
        shapes = [module.reader.shape(k) for k in range(int(module.instructions.shape.max(initial=-1)) + 1)]
        self._leaves: list[tuple[Shape, ...]] = [shape.leaves for shape in shapes]
        self._shape = module.instructions.shape
        self._shapes = shapes
        self._starts_of: dict[int, list[int]] = {}
        self._parameters_of: dict[int, list[int]] = {}
        counts = np.array([len(leaves) for leaves in self._leaves], np.int64)
        self._counts = counts[module.instructions.shape]
        # Views yield Python's numbers as lists do, and need not be made for half a million instructions.
        self.first: memoryview[int] = np.concatenate(([0], np.cumsum(self._counts))).data
        self.before: list[list[int]] = [_NOTHING] * self.first[-1]
        self.turns: dict[int, tuple[int, range]] = {}
        self.choices: list[tuple[int, int]] = []
        self.reached: list[int] = []
        self._after: list[list[int]] | None = None
        self._opcode = module.instructions.opcode
        operands = module.instructions.operands
        self._starts, self._items = (np.ascontiguousarray(x).data for x in (operands.starts, operands.items))
        self.entered: dict[int, int] = {}
        self.arguments: list[int] = []
        self._read(module.entry, None, 0)
        self.arguments = [node for index in self.parameters(module.entry) for node in self.nodes(index)]
        self.results: list[int] = list(self.nodes(int(module.computations.root[module.entry])))

    # ------------------------------------------------------------ what nodes are

    def nodes(self, instruction: int) -> range:
        """The nodes of an instruction."""
        return range(self.first[instruction], self.first[instruction + 1])

    def is_tuple(self, instruction: int) -> bool:
        """True if an instruction yields a tuple, be it of one array."""
        return bool(self._shapes[self._shape[instruction]].elements)

    def elements(self, instruction: int) -> list[int]:
        """For each node of an instruction that yields a tuple, which element it is (part of)."""
        starts = self._element_starts(instruction)
        return np.repeat(np.arange(len(starts) - 1), np.diff(starts)).tolist()

    def _element_starts(self, instruction: int) -> list[int]:
        """The leaf at which each element of a result starts, and the end."""
        shape = int(self._shape[instruction])
        if shape not in self._starts_of:
            counts = [len(element.leaves) for element in self._shapes[shape].elements]
            self._starts_of[shape] = [0, *accumulate(counts)]
        return self._starts_of[shape]

    def shape(self, node: int) -> Shape:
        """The shape of a node's array."""
        index = self.owner[node]
        return self._leaves[self._shape[index]][node - self.first[index]]

    @cached_property
    def owner(self) -> list[int]:
        """For each node the instruction it belongs to."""
        return np.repeat(np.arange(len(self.module)), self._counts).tolist()

    @cached_property
    def order(self) -> list[int]:
        """The nodes of all instructions that are reached, operands first as far as loops allow."""
        return [node for index in self.reached for node in self.nodes(index)]

    def opcode(self, node: int) -> str:
        """The opcode of the instruction a node belongs to."""
        return self.opcode_of(self.owner[node])

    def opcode_of(self, instruction: int) -> str:
        """The opcode of an instruction."""
        return self.module.opcodes[self._opcode[instruction]]

    def operands(self, instruction: int) -> list[int]:
        """The instructions that are the operands of one."""
        return self._items[self._starts[instruction] : self._starts[instruction + 1]].tolist()

    @property
    def after(self) -> list[list[int]]:
        """For each node, the nodes that are made of it."""
        if self._after is None:
            self._after = [[] for _ in self.before]
            for node, sources in enumerate(self.before):
                for source in sources:
                    self._after[source].append(node)
        return self._after

    # ------------------------------------------------------------ reading

    def _read(self, computation: int, arguments: Sequence[Sequence[int]] | None, depth: int) -> None:
        """Reads a computation; `arguments` are the nodes that enter each parameter, None for the entry's."""
        parameters = self.parameters(computation)
        for number, index in enumerate(parameters):
            if arguments is not None and number < len(arguments):
                self._link(self.nodes(index), arguments[number])
        if computation in self.entered or depth > _MOST_DEPTH:
            return
        self.entered[computation] = len(self.entered)
        for index in self.module.computation(computation).range:
            self._instruction(index, depth)

    def parameters(self, computation: int) -> list[int]:
        """The parameters of a computation, in order."""
        if computation not in self._parameters_of:
            parameters = [
                index for index in self.module.computation(computation).range if self.opcode_of(index) == "parameter"
            ]
            self._parameters_of[computation] = sorted(parameters, key=partial(number_of, self.module))
        return self._parameters_of[computation]

    def _link(self, nodes: Sequence[int], sources: Sequence[int]) -> None:
        """Each node is made of the source in its place; of nothing that is known where they are not equally many."""
        if len(nodes) == len(sources):
            for node, source in zip(nodes, sources, strict=True):
                if self.before[node] is _NOTHING:
                    self.before[node] = []
                self.before[node].append(source)

    def _instruction(self, index: int, depth: int) -> None:
        opcode, nodes = self.opcode_of(index), self.nodes(index)
        if opcode in PLUMBING or (self._within and opcode != "parameter"):
            entering = [list(self.nodes(operand)) for operand in self.operands(index)]
            if opcode == "get-tuple-element":
                self._link(nodes, self._element(index, entering[0] if entering else []))
            elif opcode in ("tuple", "opt-barrier") or self._is_variadic(index, entering):
                self._link(nodes, list(chain.from_iterable(entering)))
            elif opcode in PLUMBING or opcode == "fusion":
                self._called(index, opcode, entering, depth)
            else:
                sources = list(dict.fromkeys(chain.from_iterable(entering)))
                self.before[nodes.start : nodes.stop] = [sources] * len(nodes)
        # Behind what it calls, so that one sweep goes through any number of calls.
        self.reached.append(index)

    def _is_variadic(self, index: int, entering: list[list[int]]) -> bool:
        """True if it is one collective of several arrays, each of which becomes one of its results."""
        return self.opcode_of(index) in ("all-reduce", "all-gather", "reduce-scatter", "collective-permute") and len(
            entering
        ) == len(self.nodes(index))

    def _element(self, index: int, leaves: list[int]) -> list[int]:
        number, operands = number_of(self.module, index), self.operands(index)
        starts = self._element_starts(operands[0]) if operands else [0]
        return leaves[starts[number] : starts[number + 1]] if 0 <= number < len(starts) - 1 else []

    def _called(self, index: int, opcode: str, entering: list[list[int]], depth: int) -> None:
        start, computations = len(self.entered), self.module.instructions.called[index].tolist()
        for number, called in enumerate(computations):
            arguments = entering[number + 1 : number + 2] if opcode == "conditional" else entering
            self._read(called, arguments, depth + 1)
            if opcode == "conditional":
                self.choices.append((called, self.operands(index)[0]))
            # A loop's condition yields nothing that is taken.
            if opcode != "while" or not number:
                self._link(self.nodes(index), self.nodes(int(self.module.computations.root[called])))
        if opcode == "while":
            self._turn(computations, range(start, len(self.entered)))
        if opcode == "while" and entering:
            self._link(self.nodes(index), entering[0])

    def _turn(self, computations: list[int], inside: range) -> None:
        """The body's result is what body and condition begin the next turn with."""
        returned = self.nodes(int(self.module.computations.root[computations[0]]))
        for parameter in (index for called in computations for index in self.parameters(called)[:1]):
            if len(self.nodes(parameter)) == len(returned):
                self._link(self.nodes(parameter), returned)
                for node, source in zip(self.nodes(parameter), returned, strict=True):
                    self.turns.setdefault(node, (source, inside))

    # ------------------------------------------------------------ what is made of what

    def nearest(self, marks: Mapping[int, int]) -> list[int]:
        """For each node the marks it is made of with no other between, as the bits of a number.

        `marks` gives nodes their number; such a node has its own mark alone. In a loop it is one turn that counts: what
        enters the loop, and not what the turn before made, of which sooner or later all is made.
        """
        bits = [0] * len(self.before)
        for node, mark in marks.items():
            bits[node] = 1 << mark
        earlier = {node: source for node, (source, _) in self.turns.items()}
        order = [
            (node, [source for source in self.before[node] if source != earlier[node]])
            if node in earlier
            else (node, self.before[node])
            for node in self.order
            if node not in marks
        ]
        # Again and again until what is called from several places adds nothing.
        for _ in range(_MOST_SWEEPS):
            changed = False
            for node, sources in order:
                value = bits[node]
                for source in sources:
                    # One object where a set is handed on: of 10,000 arguments it has 10,000 bits.
                    value = value | bits[source] if value else bits[source]
                if value != bits[node]:
                    bits[node], changed = value, True
            if not changed:
                break
        return bits

    def walk(self, starts: Sequence[int], links: Sequence[Sequence[int]], stops: Sequence[bool]) -> Iterator[int]:
        """The first nodes on every way from some nodes along `links` at which `stops` is true, each once."""
        seen, border = set(starts), list(starts)
        while border:
            node = border.pop()
            if stops[node]:
                yield node
                continue
            for other in links[node]:
                if other not in seen:
                    seen.add(other)
                    border.append(other)
