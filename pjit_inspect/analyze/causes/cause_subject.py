"""What a cause is about: the operation whose need it is, the value that moves for it, and how it is wanted.

Not its job: saying it (`analyze.causes.cause_words`, `analyze.causes.wording`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pjit_inspect.analyze.causes.need_finder import Match
from pjit_inspect.analyze.sharding.needs import Need, Part
from pjit_inspect.model.program.opcodes import REQUESTS, SUMS
from pjit_inspect.model.report.cause import CauseKind
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, axis_name

_UNSPLIT = frozenset(("custom_call", "topk", "fft", "cholesky", "triangular_solve"))
"""Operations that the partitioner may not split at all, also along dimensions that are independent."""
_AT_POSITIONS = frozenset(("gather", "scatter", "dynamic_slice", "dynamic_update_slice", "sort"))
_MOST_STEPS = 64
_REGIONS = frozenset(("while", "case", "if", "call"))


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseSubject:
    """Where a collective lies, and the need it serves there.

    Attributes:
      program: the program before partitioning.
      match: where the collective lies in it, between what makes the moved array and what takes it.
      need: the part of the match's need that this collective serves; None where none is known.
      axes: the mesh axes that the collective goes over; () where they are not known.
      kind_of_collective: what it is in the optimized program: "all-reduce", "reduce-scatter".
    """

    program: ShardedProgram
    match: Match
    need: Need | None
    axes: tuple[str, ...]
    kind_of_collective: str = ""

    def kind(self) -> CauseKind:
        """The kind of cause, by what the collective is made for."""
        if self.decides() == "loop":
            return "loop_predicate"
        if self.need is not None:
            return self.need.kind
        op = self.sender() or self.taker()
        if op is None:
            if self.match.moves_result and not self._is_asked():
                return "reshard_needed"
            return "output" if self.match.edge.outputs else "unknown"
        if op.kind in REQUESTS:
            return "reshard_needed" if self.is_void_request(op) else "reshard_requested"
        if op.is_on_one and op.kind == "custom_call":
            return "no_sharding_rule"
        is_unknown = op.rule is None and op.kind not in _REGIONS and op.kind != "optimization_barrier"
        if (is_unknown or op.kind in _UNSPLIT) and self._takes_all():
            return "no_sharding_rule"
        return "indexing" if op.kind in _AT_POSITIONS and not self._is_kept_along(op) else "reshard_needed"

    def decides(self) -> Literal["loop", "branch"] | None:
        """What it is for where that alone is to decide whether a loop goes on, or which branch runs."""
        program, ends = self.program, set[str]()
        makers = (program.values[value].op for value in self.match.edge.makers)
        if any(op is not None and program.ops[op].in_condition for op in makers):
            return "loop"
        # One number may be compared and converted before it decides; every way it goes must end there.
        border = [(taker.op, taker.operand) for taker in self.match.edge.takers if not self.match.edge.outputs]
        for index, operand in border:
            op = program.ops[index]
            if op.in_condition or (op.kind == "case" and operand == 0):
                ends.add("loop" if op.in_condition else "branch")
                continue
            users = [user for result in op.results for user in program.users.get(result, ())]
            is_number = not any(program.values[result].shape for result in op.results)
            if not users or not is_number or len(border) > _MOST_STEPS:
                return None
            border += users
        return "loop" if "loop" in ends else "branch" if ends else None

    def _is_kept_along(self, op: ShardedOp) -> bool:
        """Whether all dimensions that are gathered are handed on as they are: positions say nothing of them."""
        moved, taker = self.match.taken, self.match.taker
        if moved is None or taker is None or op.rule is None or taker.operand >= len(op.rule.operands):
            return False
        own = set(map(axis_name, self.axes))
        rows = zip(self.program.values[moved].spec, op.rule.operands[taker.operand], strict=False)
        lost = [factor for axes, factors in rows if own & set(map(axis_name, axes)) for factor in factors]
        at_positions = {*op.rule.reduction, *op.rule.need_replication, *op.rule.permutation}
        kept = {factor for result in op.rule.results for factors in result for factor in factors}
        return bool(lost) and not at_positions & set(lost) and set(lost) <= kept

    def _takes_all(self) -> bool:
        """Whether every device gives the taker all of the array: that is what XLA does where it cannot split it."""
        moved, taker = self.match.taken, self.match.taker
        return moved is not None and taker is not None and taker.shape == self.program.values[moved].shape

    def _is_asked(self) -> bool:
        """Whether a result that the collective goes to must have a sharding that somebody asked for."""
        return any(self.program.outputs[number].spec is not None for number in self.match.edge.outputs)

    def taker(self) -> ShardedOp | None:
        """The operation that takes what moves; None where a result of the program does."""
        return None if self.match.taker is None else self.program.ops[self.match.taker.op]

    def sender(self) -> ShardedOp | None:
        """The operation that one device alone runs, and whose result it sends to the others; None for any other."""
        maker = self.maker() if self.need is None and self.match.edge.kind == "all-reduce" else None
        if maker is None:
            return None
        given = (self.program.values[value].op for value in maker.operands)
        is_there = maker.is_on_one or any(op is not None and self.program.ops[op].is_on_one for op in given)
        return maker if is_there else None

    def adds_up(self) -> bool:
        """Whether parts are combined; what is looked up in, or written, may be gathered instead."""
        own = self.own()
        is_gathered = self.match.edge.kind not in SUMS and own is not None and own.kind in ("gather", "scatter")
        return self.need is not None and self.need.is_sum and not is_gathered

    def moved(self) -> int | None:
        """The value that moves: what the taker takes, else what the collective is made of."""
        if self.match.taken is not None:
            return self.match.taken
        if self.need is not None and self.need.value is not None:
            return self.need.value
        return self.match.edge.makers[0] if self.match.edge.makers else None

    def own(self) -> ShardedOp | None:
        """The operation whose need it is; else the one that takes what it yields."""
        if self.need is not None:
            return None if self.need.op is None else self.program.ops[self.need.op]
        return self.sender() or self.taker()

    def place(self) -> ShardedOp | None:
        """The operation it is told at: the request, where one was made."""
        request = None if self.need is None else self.need.request
        if request is not None and request.kind == "reshard_requested":
            return self.program.ops[request.index]
        return self.own()

    def maker(self) -> ShardedOp | None:
        """The first operation of which the moved array is made."""
        made = (self.program.values[value].op for value in self.match.edge.makers)
        return next((self.program.ops[op] for op in made if op is not None), None)

    def parts(self) -> tuple[Part, ...]:
        """The dimensions that the need is about."""
        return () if self.need is None else self.need.parts

    def is_void_request(self, op: ShardedOp) -> bool:
        """Whether an operation asks for the sharding that the moved value has already: then it changes nothing."""
        moved = self.moved()
        if moved is None or op.kind not in REQUESTS or not op.results:
            return False
        return self.program.values[moved].spec == self.program.values[op.results[0]].spec

    def is_xlas(self) -> bool:
        """Whether XLA's partitioner has split a dimension that no sharding asks it to."""
        return self.need is not None and self.need.is_xlas

    def gives_result(self) -> bool:
        """Whether it spreads what an operation that no rule splits has yielded: a sum in which all others add zeros."""
        own, edge = self.own(), self.match.edge
        is_sum = edge.kind == "all-reduce" and self.need is not None and not self.need.is_sum
        return own is not None and own.rule is None and is_sum and edge.makers[:1] == own.results[:1]

    def is_returned(self) -> bool:
        """Whether it is what a branch returns."""
        op, taker = self.taker(), self.match.taker
        return op is not None and taker is not None and op.kind == "case" and taker.operand >= len(op.operands)

    def is_elsewhere(self, moved: int) -> bool:
        """Whether devices exchange pieces as large as those of the value's sharding, for no sharding that is known."""
        edge, taker = self.match.edge, self.match.taker
        if edge.kind != "collective-permute" or taker is None or self.match.wanted is not None:
            return False
        return taker.shape == edge.made_shape == self.program.local_shape(moved)

    def is_positions(self, op: ShardedOp, operand: int | None) -> bool:
        """Whether an operand says where a lookup or a scatter reads or writes."""
        return operand == {"gather": 1, "scatter": len(op.results)}.get(op.kind, -1)
