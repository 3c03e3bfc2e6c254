"""Which arrays every array of a program is made of, and what it goes to: dataflow through tuples, loops and calls.

A *node* is one array: an instruction, or one leaf of an instruction that yields a tuple. Tuples, loops, calls, fusions,
branches and optimization barriers only pass arrays on, and are followed. Not its job: what an instruction does with its
operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from pjit_inspect.model.hlo import HloModule
from pjit_inspect.model.shape import Shape

__all__ = ["Flow"]

_CALLS = frozenset(("call", "fusion"))
_MOST_SWEEPS = 30
"""Loops need one sweep more than they are deep; only a program that no compiler made needs more than this."""
_MOST_DEPTH = 100


class Flow:
    """The dataflow of one module.

    Attributes:
      module: the module.
      first: for each instruction its first node; those of its other leaves follow. One longer than the module.
      before: for each node, the nodes it is made of.
      order: the nodes of all instructions that are reached from the entry, operands first as far as loops allow.
      arguments: the nodes of the program's arguments, leaf by leaf, in order.
      results: the nodes of its results, likewise.
    """

    def __init__(self, module: HloModule) -> None:
        self.module = module
        shapes = [module.reader.shape(k) for k in range(int(module.instructions.shape.max(initial=-1)) + 1)]
        self._leaves: list[tuple[Shape, ...]] = [shape.leaves for shape in shapes]
        self._shape: list[int] = module.instructions.shape.tolist()
        self._shapes = shapes
        self.first = [0]
        for shape in self._shape:
            self.first.append(self.first[-1] + len(self._leaves[shape]))
        self.owner = [index for index, shape in enumerate(self._shape) for _ in self._leaves[shape]]
        self.before: list[list[int]] = [[] for _ in range(self.first[-1])]
        self.order: list[int] = []
        self._after: list[list[int]] | None = None
        self._ancestors: list[int] | None = None
        self._opcodes = [module.opcodes[k] for k in module.instructions.opcode.tolist()]
        self._starts = module.instructions.operands.starts.tolist()
        self._items = module.instructions.operands.items.tolist()
        self._seen: set[int] = set()
        self._loops: set[int] = set()
        self.arguments: list[int] = []
        self._read(module.entry, None, 0)
        self.arguments = [node for index in self.parameters(module.entry) for node in self.nodes(index)]
        self.results = list(self.nodes(int(module.computations.root[module.entry])))

    # ------------------------------------------------------------ what nodes are

    def nodes(self, instruction: int) -> range:
        """The nodes of an instruction."""
        return range(self.first[instruction], self.first[instruction + 1])

    def shape(self, node: int) -> Shape:
        """The shape of a node's array."""
        index = self.owner[node]
        return self._leaves[self._shape[index]][node - self.first[index]]

    def opcode(self, node: int) -> str:
        """The opcode of the instruction a node belongs to."""
        return self._opcodes[self.owner[node]]

    def opcode_of(self, instruction: int) -> str:
        """The opcode of an instruction."""
        return self._opcodes[instruction]

    def operands(self, instruction: int) -> list[int]:
        """The instructions that are the operands of one."""
        return self._items[self._starts[instruction] : self._starts[instruction + 1]]

    def is_border(self, node: int) -> bool:
        """Whether it is an argument of the program, or what a loop hands to its body or its condition."""
        if self.opcode(node) != "parameter":
            return False
        computation = int(self.module.instructions.computation[self.owner[node]])
        return computation == self.module.entry or computation in self._loops

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
        if computation in self._seen or depth > _MOST_DEPTH:
            return
        self._seen.add(computation)
        for index in self.module.computation(computation).range:
            self._instruction(index, depth)

    def parameters(self, computation: int) -> list[int]:
        """The parameters of a computation, in order."""
        found = [index for index in self.module.computation(computation).range if self._opcodes[index] == "parameter"]
        return sorted(found, key=self.module.reader.number)

    def _link(self, nodes: Sequence[int], sources: Sequence[int]) -> None:
        """Each node is made of the source in its place; of all of them where they are not equally many."""
        if len(nodes) == len(sources):
            for node, source in zip(nodes, sources, strict=True):
                self.before[node].append(source)
        else:
            for node in nodes:
                self.before[node] += sources

    def _instruction(self, index: int, depth: int) -> None:
        opcode, nodes = self._opcodes[index], self.nodes(index)
        entering = [list(self.nodes(operand)) for operand in self.operands(index)]
        if opcode == "parameter":
            pass
        elif opcode == "get-tuple-element":
            self._link(nodes, self._element(index, entering[0] if entering else []))
        elif opcode in ("tuple", "opt-barrier") or self._is_variadic(index, entering):
            self._link(nodes, list(chain.from_iterable(entering)))
        elif opcode in _CALLS or opcode in ("while", "conditional"):
            self._called(index, opcode, entering, depth)
        else:
            sources = list(dict.fromkeys(chain.from_iterable(entering)))
            for node in nodes:
                self.before[node] += sources
        # Behind what it calls, so that one sweep goes through any number of calls.
        self.order += nodes

    def _is_variadic(self, index: int, entering: list[list[int]]) -> bool:
        """Whether it is one collective of several arrays, each of which becomes one of its results."""
        return self._opcodes[index] in ("all-reduce", "all-gather", "reduce-scatter", "collective-permute") and len(
            entering
        ) == len(self.nodes(index))

    def _element(self, index: int, leaves: list[int]) -> list[int]:
        number = self.module.reader.number(index)
        elements = self._shapes[self._shape[self.operands(index)[0]]].elements if self.operands(index) else ()
        start = sum(len(element.leaves) for element in elements[:number])
        return leaves[start : start + len(elements[number].leaves)] if number < len(elements) else []

    def _called(self, index: int, opcode: str, entering: list[list[int]], depth: int) -> None:
        for number, called in enumerate(self.module.instructions.called[index].tolist()):
            arguments = entering[number + 1 : number + 2] if opcode == "conditional" else entering
            if opcode == "while":
                self._loops.add(called)
            self._read(called, arguments, depth + 1)
            returned = self.nodes(int(self.module.computations.root[called]))
            if opcode == "while" and number > 0:
                # A loop's condition yields nothing that is taken.
                continue
            if opcode == "while" and entering:
                # The body's result is what it begins the next turn with, and at last the loop's.
                for parameter in self.parameters(called)[:1]:
                    self._link(self.nodes(parameter), list(returned))
            self._link(self.nodes(index), list(returned))
        if opcode == "while" and entering:
            self._link(self.nodes(index), entering[0])

    # ------------------------------------------------------------ what is made of what

    def ancestors(self) -> list[int]:
        """For each node a set of arguments it is made of, as the bits of a number."""
        if self._ancestors is None:
            bits = [0] * len(self.before)
            for number, node in enumerate(self.arguments):
                bits[node] |= 1 << number
            self._ancestors = self._spread(bits, self.order, self.before)
        return self._ancestors

    def descendants(self) -> list[int]:
        """For each node a set of results that are made of it, as the bits of a number."""
        bits = [0] * len(self.before)
        for number, node in enumerate(self.results):
            bits[node] |= 1 << number
        return self._spread(bits, self.order[::-1], self.after)

    def _spread(self, bits: list[int], order: Sequence[int], sources: list[list[int]]) -> list[int]:
        """Gives every node the bits of its sources, again and again until loops add nothing."""
        for _ in range(_MOST_SWEEPS):
            changed = False
            for node in order:
                value = bits[node]
                for source in sources[node]:
                    value |= bits[source]
                if value != bits[node]:
                    bits[node], changed = value, True
            if not changed:
                break
        return bits

    def walk(self, starts: Sequence[int], links: list[list[int]], stops: Sequence[bool]) -> Iterator[int]:
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
