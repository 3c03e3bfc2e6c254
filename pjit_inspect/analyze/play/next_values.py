"""Finds results that are next values of arguments, computed from them by adding, as in an optimizer's step.

Only the dataflow decides. Shapes and orders mislead: parameters and the moments of an optimizer are similar trees, and
JAX may put any result of the same shape in the place of a donated array. Not its job: finding arguments that follow
others (`mirrors`).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterator, Sequence

from pjit_inspect.model.program.opcodes import PRODUCTS, REGIONS, operations
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram

_SAME = operations("convert", "copy", "request") | {"negate"}
_WITH_UNIFORM = frozenset(("multiply", "maximum", "minimum"))
_WRITES = operations("write")
_DIFFERENTIATED = ("jvp(", "transpose(", "checkpoint/", "rematted_computation/")
_MOST_STEPS = 5_000


def find_next_values(program: ShardedProgram, arguments: Sequence[str], results: Sequence[str]) -> dict[str, str]:
    """Path of a result -> the path of the argument whose next value it is; unclear results are omitted.

    A result comes from an argument of its shape and type by any number of these steps: adding something, multiplying by
    a number, overwriting some elements, or choosing between it and something else. Among several such arguments it is
    the next value of the one with the fewest sums in between: parameters are summed once with a value into which the
    moments were summed. If two are equally near, it is the one without another result; no two results are the next
    value of one argument.

    Differentiated code is the network, whose residual sums are no steps. In a program with products and without
    gradients the two cannot be distinguished, and no sum counts as a step.

    Args:
      program: before partitioning.
      arguments: the paths of its inputs, in order.
      results: the paths of its outputs.
    """
    if len(arguments) != len(program.inputs) or len(results) != len(program.outputs):
        return {}
    trace = _ValueTrace(program)
    near = {path: trace.nearest(entry.value) for path, entry in zip(results, program.outputs, strict=True)}
    clear = {path: own[0] for path, own in near.items() if len(own) == 1}
    taken = Counter(clear.values())
    for path, own in near.items():
        left = [index for index in own if not taken[index]]
        if len(own) > 1 and len(left) == 1:
            clear[path] = left[0]
    count = Counter(clear.values())
    return {path: arguments[index] for path, index in clear.items() if count[index] == 1}


def is_differentiated(op: ShardedOp) -> bool:
    """True if an op is in differentiated code, by its name."""
    return any(mark in op.op_name for mark in _DIFFERENTIATED)


class _ValueTrace:
    """Follows values of one program back."""

    def __init__(self, program: ShardedProgram) -> None:
        self._program = program
        self._entry = {entry.value: index for index, entry in enumerate(program.inputs)}
        has_gradients = any(map(is_differentiated, program.ops))
        self._are_sums_steps = has_gradients or not any(op.kind in PRODUCTS for op in program.ops)
        self._before: dict[int, int] = {}
        """Value in a region or after it -> the value it was before the border; for a loop, the one it starts with."""
        for source, target in program.links:
            self._before.setdefault(target, source)

    def nearest(self, value: int) -> list[int]:
        """The arguments that a value comes from by the fewest sums; [] for none."""
        own = self._program.values[value]
        border, steps = [(0, value)], 0
        seen, found, best = set[int](), list[int](), None
        while border and steps < _MOST_STEPS:
            sums, index = heapq.heappop(border)
            if index in seen or (best is not None and sums > best):
                continue
            seen.add(index)
            steps += 1
            argument = self._entry.get(index)
            one = self._program.values[index]
            if argument is not None and (one.shape, one.dtype) == (own.shape, own.dtype):
                found.append(argument)
                best = sums
            elif one.shape == own.shape:
                for source, cost in self._sources(index):
                    heapq.heappush(border, (sums + cost, source))
        return found if steps < _MOST_STEPS else []

    def _sources(self, index: int) -> Iterator[tuple[int, int]]:
        """The sources of a value, and the number of sums in between."""
        maker = self._program.values[index].op
        if maker is None:
            return
        op = self._program.ops[maker]
        if is_differentiated(op):
            return
        if index not in op.results or op.kind in REGIONS:
            if index in self._before:
                yield self._before[index], 0
        elif op.kind == "optimization_barrier":
            yield op.operands[op.results.index(index)], 0
        else:
            yield from self._operands(op)

    def _operands(self, op: ShardedOp) -> Iterator[tuple[int, int]]:
        kind, own = op.kind, op.operands
        if kind in _SAME or (kind == "divide" and self._is_uniform(own[1])):
            yield own[0], 0
        elif kind in _WITH_UNIFORM:
            yield from ((one, 0) for one, other in (own, own[::-1]) if self._is_uniform(other))
        elif kind == "clamp":
            yield own[1], 0
        elif kind == "add" and self._are_sums_steps:
            yield from ((one, 1) for one in own)
        elif kind in _WRITES or (kind == "subtract" and self._are_sums_steps):
            yield own[0], 1
        elif kind == "select":
            yield from ((one, 1) for one in own[1:])

    def _is_uniform(self, index: int) -> bool:
        """True if all its elements are one number, as far as that shows."""
        for _ in range(_MOST_STEPS):
            value = self._program.values[index]
            if not value.shape:
                return True
            op = None if value.op is None else self._program.ops[value.op]
            if op is None:
                return False
            if index not in op.results or op.kind in REGIONS:
                if index not in self._before:
                    return False
                index = self._before[index]
            elif op.kind in _SAME or op.kind in ("broadcast_in_dim", "reshape"):
                index = op.operands[0]
            else:
                # Folded by JAX: a filled array is a constant, like an array with many numbers.
                return op.kind == "constant"
        return False
