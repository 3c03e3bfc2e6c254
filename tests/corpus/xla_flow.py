"""Where an array of an HLO module comes from and goes to: through views to one argument, element-wise to results.

A walk goes through tuples, loops, calls and fusions. A *node* is an array: an instruction's name, and which array of
its tuple (0 where it is none). Not its job: collectives and their names (`xla_truth`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property

from corpus.xla_text import Row, Text

__all__ = ["ELEMENTWISE", "MOVING", "Flow", "Node"]

Node = tuple[str, int]

MOVING = frozenset(("all-gather", "all-to-all", "collective-permute", "collective-broadcast"))
VIEWS = MOVING | {
    "bitcast", "bitcast-convert", "convert", "copy", "dynamic-slice", "pad", "reduce-precision", "reshape", "slice",
    "transpose", "reduce-scatter", "copy-start", "copy-done",
}  # fmt: skip
BORDERS = frozenset(("tuple", "get-tuple-element", "while", "fusion", "call", "conditional", "opt-barrier"))
SUMMED = frozenset(("all-reduce", "reduce-scatter"))
ELEMENTWISE = frozenset((
    "abs", "add", "and", "cbrt", "ceil", "clamp", "compare", "cosine", "divide", "erf", "exponential",
    "exponential-minus-one", "floor", "is-finite", "log", "log-plus-one", "logistic", "maximum", "minimum", "multiply",
    "negate", "not", "or", "power", "remainder", "round-nearest-afz", "round-nearest-even", "rsqrt", "select", "sign",
    "sine", "sqrt", "subtract", "tan", "tanh", "xor",
))  # fmt: skip


class Flow:
    """The dataflow of one module."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.rows = text.rows
        self.entry = text.entry[0]
        self.callers: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows.values():
            for called in row.called:
                self.callers[called].append(row)

    # ------------------------------------------------------------ one step back

    def before(self, node: Node) -> list[Node]:
        """The same array beyond the border of a tuple, loop, call or fusion; [] when it is made here."""
        row, index = self.rows[node[0]], node[1]
        if row.opcode == "tuple":
            return self.before_element(row.name, index)
        if row.opcode == "get-tuple-element":
            return self.before_element(row.operands[0], row.number("index") or 0)
        if row.opcode in ("fusion", "call"):
            return self.before_element(self.text.roots[row.called[0]], index)
        if row.opcode == "conditional":
            return [n for called in row.called for n in self.before_element(self.text.roots[called], index)]
        if row.opcode == "opt-barrier":
            return self.before_element(row.operands[0], index)
        if row.opcode == "while":
            return [*self.before_element(row.operands[0], index), *self._returned(row, index)]
        return self._entering(row, index) if row.opcode == "parameter" and row.home != self.entry else []

    def before_element(self, name: str, index: int) -> list[Node]:
        row = self.rows[name]
        if row.opcode == "tuple":
            # A branch without arguments gets an empty tuple.
            return [(operand, 0) for operand in row.operands[index : index + 1]]
        return [(name, index)]

    def _returned(self, loop: Row, index: int) -> list[Node]:
        body = re.search(r"\bbody=%?([\w.\-#]+)", loop.rest)
        if body is None:
            return []
        (parameter,) = self.text.parameters(body[1])
        returned = self.before_element(self.text.roots[body[1]], index)
        return [] if self._is_same(returned[0], (parameter.name, index)) else returned

    def _is_same(self, node: Node, other: Node) -> bool:
        """Whether a loop hands on what it got, perhaps copied."""
        while node != other:
            row = self.rows[node[0]]
            if row.opcode == "copy":
                before = [(row.operands[0], 0)]
            else:
                before = self.before(node) if row.opcode in ("get-tuple-element", "tuple") else []
            if not before:
                return False
            node = before[0]
        return True

    def _entering(self, parameter: Row, index: int) -> list[Node]:
        found: list[Node] = []
        for caller in self.callers[parameter.home]:
            number = int(parameter.inside)
            if caller.opcode == "while":
                found += [*self.before_element(caller.operands[0], index), *self._returned(caller, index)]
            elif caller.opcode == "conditional":
                branch = next(k for k, called in enumerate(caller.called) if called == parameter.home)
                found += self.before_element(caller.operands[branch + 1], index)
            elif caller.opcode in ("fusion", "call") and number < len(caller.operands):
                found += self.before_element(caller.operands[number], index)
        return found

    def operands(self, row: Row) -> list[Node]:
        return [(name, 0) for name in row.operands]

    # ------------------------------------------------------------ views

    def argument(self, node: Node) -> Row | None:
        """The parameter of the program that the array is a view of: reshaped, converted, sliced, moved; else None."""
        seen: set[Node] = set()
        while node not in seen:
            seen.add(node)
            row = self.rows[node[0]]
            if row.opcode == "parameter" and row.home == self.entry:
                return row
            if self._is_view(row):
                node = (row.operands[min(node[1], len(row.operands) - 1)], 0) if row.is_tuple else (row.operands[0], 0)
                continue
            before = self.before(node)
            if len(before) != 1:
                return None
            node = before[0]
        return None

    def _is_view(self, row: Row) -> bool:
        # A broadcast that only adds dimensions of one element repeats nothing.
        is_reshape = (
            row.opcode == "broadcast" and self.rows[row.operands[0]].arrays[0].elements == row.arrays[0].elements
        )
        return row.opcode in VIEWS or is_reshape

    # ------------------------------------------------------------ element by element

    def made_of(self, node: Node) -> tuple[set[str], set[Node]]:
        """Arguments the array is made of element by element, and the nodes where something else begins."""
        arguments: set[str] = set()
        ends: set[Node] = set()
        for found in self._closure([node], self._elements_before):
            row = self.rows[found[0]]
            if row.opcode == "parameter" and row.home == self.entry:
                arguments.add(row.name)
            elif not self._elements_before(found):
                ends.add(found)
        return arguments, ends

    def _elements_before(self, node: Node) -> list[Node]:
        row = self.rows[node[0]]
        if row.opcode in SUMMED | MOVING and row.is_tuple:
            return [(row.operands[node[1]], 0)]
        if self._is_view(row) or row.opcode in SUMMED:
            return [(row.operands[0], 0)]
        if row.opcode == "dynamic-update-slice":
            return [(name, 0) for name in row.operands[:2]]
        if row.opcode in ELEMENTWISE:
            shape = row.arrays[0].shape
            return [(name, 0) for name in row.operands if self.rows[name].arrays[0].shape == shape]
        return self.before(node)

    def results(self, node: Node) -> set[int]:
        """The results of the program that the array reaches element by element."""
        reached = self._closure([node], lambda n: self._after.get(n, []))
        root = self.text.roots[self.entry]
        row = self.rows[root]
        if not row.is_tuple:
            return {0} if (root, 0) in reached else set()
        return {k for k in range(len(row.arrays)) if (root, k) in reached}

    def consumers(self, node: Node, passed_on: frozenset[str] = frozenset()) -> list[Row]:
        """What uses the array, or a view of it; `passed_on` are opcodes to go through as well."""
        seen, todo, found = {node}, [node], {}
        while todo:
            current = todo.pop()
            stops = (ELEMENTWISE | SUMMED) - passed_on
            same = [n for n in self._after.get(current, []) if self.rows[n[0]].opcode not in stops]
            for following in same:
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
            passed = {n[0] for n in same}
            for user in self._users.get(current[0], []):
                if user.name not in passed and user.opcode not in BORDERS:
                    found[user.name] = user
        return list(found.values())

    @cached_property
    def _users(self) -> dict[str, list[Row]]:
        users: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows.values():
            for name in dict.fromkeys(row.operands):
                users[name].append(row)
        return users

    @cached_property
    def _after(self) -> dict[Node, list[Node]]:
        after: dict[Node, list[Node]] = defaultdict(list)
        for row in self.rows.values():
            for index in range(max(len(row.arrays), 1)):
                node = (row.name, index)
                for source in self._elements_before(node):
                    after[source].append(node)
        return after

    @staticmethod
    def _closure(start: Iterable[Node], step: Callable[[Node], list[Node]]) -> set[Node]:
        seen, todo = set(start), list(start)
        while todo:
            for node in step(todo.pop()):
                if node not in seen:
                    seen.add(node)
                    todo.append(node)
        return seen
