"""Who asked for a sharding that propagation has carried backward: a constraint in the user's code, or a result.

Not its job: what an op needs because of it (`analyze.sharding.needs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram

_HOPS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Who asked: the constraint's index in `ShardedProgram.ops`, or the result's in `ShardedProgram.outputs`."""

    kind: Literal["reshard_requested", "output"]
    index: int


class RequestFinder:
    """Finds requests in one program."""

    def __init__(self, program: ShardedProgram) -> None:
        self._program = program
        self._inner: dict[int, list[int]] = {}
        self._sources: dict[int, list[int]] = {}
        for outer, inner in program.links:
            self._inner.setdefault(outer, []).append(inner)
            self._sources.setdefault(inner, []).append(outer)
        self._outputs = {
            boundary.value: number for number, boundary in enumerate(program.outputs) if boundary.spec is not None
        }

    def find(self, op: int, value: int, dimension: int) -> Request | None:
        """Who asked that a dimension of op `op`'s result `value` be split as it is; None when nobody did.

        A dimension that is split says where its axes are from. One that a request wants whole says nothing: then what
        the value becomes is followed to the request.
        """
        found = self._program.values[value]
        axes = found.spec[dimension] if dimension < len(found.spec) else ()
        origins = {origin.axis: origin for origin in found.origins}
        for axis in axes:
            origin = origins.get(axis.partition(":(")[0])
            if origin is None or origin.index is None:
                continue
            if origin.kind == "constraint" and origin.index > op:
                return Request(kind="reshard_requested", index=origin.index)
            if origin.kind == "output":
                return Request(kind="output", index=origin.index)
        if axes:
            return None
        # XLA's program does not say whether more axes were forbidden; a prediction does.
        closed = found.closed[dimension] if dimension < len(found.closed) else not self._program.is_predicted
        return self.downstream(value) if closed else None

    def handed_over(self, value: int) -> tuple[int, ...]:
        """The values that a region's border hands over as `value`: those a loop's body returns for its result."""
        return tuple(self._sources.get(value, ()))

    def behind(self, value: int, op: int) -> Request | None:
        """The request an operand of a loop reaches inside it; None when nobody asked."""
        inner = (v for v in self._inner.get(value, ()) if self._program.values[v].op == op)
        found = (self.downstream(v) for v in inner)
        return next((request for request in found if request is not None), None)

    def downstream(self, value: int) -> Request | None:
        """The request a value reaches through ops and borders that keep its shape and sharding; None."""
        border, seen = [value], {value}
        for _ in range(_HOPS):
            reached: list[int] = []
            for current in border:
                if current in self._outputs:
                    return Request(kind="output", index=self._outputs[current])
                for index, _ in self._program.users.get(current, ()):
                    op = self._program.ops[index]
                    if op.kind in ("sharding_constraint", "reshard"):
                        return Request(kind="reshard_requested", index=index)
                    reached += op.results if _keeps_dimensions(op, current) else ()
                reached += self._inner.get(current, ())
            reached = [v for v in dict.fromkeys(reached) if v not in seen and self._is_like(v, value)]
            seen.update(reached)
            border = reached
            if not border:
                return None
        return None

    def _is_like(self, one: int, other: int) -> bool:
        """Whether two values have one shape and one sharding."""
        a, b = self._program.values[one], self._program.values[other]
        return a.shape == b.shape and a.spec == b.spec


def _keeps_dimensions(op: ShardedOp, value: int) -> bool:
    """Whether each dimension of an operand is the same dimension of the result, as in what is done to each element."""
    if op.kind in ("while", "optimization_barrier", "named_computation"):
        return True
    if op.rule is None or value not in op.operands or not op.rule.results:
        return False
    number = op.operands.index(value)
    return number < len(op.rule.operands) and op.rule.operands[number] == op.rule.results[0]
