"""One sentence for a cause, in the user's names, and the facts that prove it.

Not its job: finding the cause (`analyze.causes.causes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.analyze.causes.need_finder import Match
from pjit_inspect.analyze.sharding.needs import Need, Part, is_cumulative, is_named_as_operand, whole_axes
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.opcodes import REQUESTS, SUMS
from pjit_inspect.model.program.spec import Dimensions, PartitionSpec, axes_of, spec_text
from pjit_inspect.model.report.cause import CauseKind
from pjit_inspect.model.sharding.sharded_program import AxisOrigin, ShardedOp, ShardedProgram, axis_name
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, bare, joined, name, say, spec

__all__ = ["Wording", "origin_text", "word_match"]

_UNSPLIT = frozenset(("custom_call", "topk", "fft", "cholesky", "triangular_solve"))
"""Operations that the partitioner may not split at all, also along dimensions that are independent."""
_AT_POSITIONS = frozenset(("gather", "scatter", "dynamic_slice", "dynamic_update_slice", "sort"))
_COMBINED = {
    "add": ("adds up", "sum"),
    "maximum": ("takes the largest of", "maximum"),
    "minimum": ("takes the smallest of", "minimum"),
    "multiply": ("multiplies", "product"),
}
"""What a scatter does to values that go to one position, and what each device has of it."""
_SLICES = frozenset(("slice", "dynamic_slice"))
_VIEWS = frozenset((*RESHAPED, *SAME_SHAPE))
_ITS_RESULT = "its result"
_OTHERWISE = "must be sharded otherwise than it is computed"
_ELSEWHERE = ", so pieces of the result begin where other devices hold data"
_ROLL = re.compile(r"\broll|_roll")
_REGIONS = frozenset(("while", "case", "if", "call"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What to say of a match.

    Attributes:
      kind: the kind of cause.
      clause: what follows "all-reduce over `model`: ".
      facts: what proves it.
      op: the operation it is told at; None where it is a result of the program.
      moved: the value (in `ShardedProgram.values`) that moves; None for a sum.
      value: the name of the argument that moves; "" where it is none.
      also_for: what else the moved array goes to.
    """

    kind: CauseKind
    clause: Sentence
    facts: tuple[Sentence, ...]
    op: ShardedOp | None = None
    moved: int | None = None
    value: str = ""
    also_for: tuple[Sentence, ...] = ()


def word_match(
    match: Match,
    names: ValueNames,
    kind: CauseKind | None,
    axes: tuple[str, ...] | None,
    returned: Sequence[PartitionSpec | None] = (),
) -> Wording:
    """The words for where a collective over some mesh axes lies, and the need it serves there.

    `kind` is the kind of cause where it is not that of the need; `returned` how each result of the program is split
    where it is returned, as far as it is known.
    """
    need = None if match.need is None else _over_these(match.need, frozenset(map(axis_name, axes or ())))
    writer = _Writer(
        match=match, need=need, names=names, program=names.program, axes=axes or (), returned=tuple(returned)
    )
    return writer.wording(kind)


def _over_these(need: Need, axes: frozenset[str]) -> Need:
    """The part of a need over several axes that one collective of several serves; any other as it is."""
    if not axes or not axes < need.axes:
        return need
    parts = tuple(part for part in need.parts if axes & {axis_name(axis) for axis in part.axes})
    return replace(need, axes=need.axes & axes, parts=parts) if parts else need


def _over(axes: tuple[str, ...]) -> str:
    return joined([axis(own) for own in axes])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    match: Match
    need: Need | None
    names: ValueNames
    program: ShardedProgram
    axes: tuple[str, ...]
    returned: tuple[PartitionSpec | None, ...]

    def wording(self, kind: CauseKind | None) -> Wording:
        kind = kind or self._kind()
        clauses: dict[CauseKind, Callable[[], str]] = {
            "contraction": self.contraction,
            "reduction": self.reduction,
            "reshard_requested": self.requested,
            "reshard_needed": self.needed,
            "output": self.output,
            "halo": self.halo,
            "indexing": self.indexing,
            "full_replication": self.full_replication,
            "no_sharding_rule": self.no_rule,
            "loop_predicate": self.predicate,
            "unknown": self.unknown,
        }
        moved = None if self._adds_up() else self._moved()
        if kind == "no_sharding_rule" and self._gives_result():
            moved = self.match.edge.makers[0]
        is_argument = moved is not None and not self.match.moves_result
        return Wording(
            kind=kind,
            clause=Sentence(clauses[kind]()),
            facts=self.facts(),
            op=self._place(),
            moved=moved,
            value=self.names.argument(moved, is_same_size=True) if is_argument and moved is not None else "",
            also_for=self._also_for(),
        )

    def _also_for(self) -> tuple[Sentence, ...]:
        """What else takes the array that moves for one operation, or as a result of the program."""
        edge, taker, own = self.match.edge, self.match.taker, self._own()
        # A sum is there for what makes it, whoever takes it; so is what is put back into the pieces of its sharding.
        if edge.kind in SUMS or (taker is None and (own is not None or self.match.moves_result)):
            return ()
        results = [self.program.outputs[number] for number in edge.outputs]
        moved = self.match.taken if taker is not None else results[0].value if results else None
        if moved is None:
            return ()
        # What an operation makes of it, of which only pieces are left, goes on, too: that is another array.
        array = self.names.seen_through(moved)
        told = {str(self.names.op(op)) for op in (own, self._place(), self._taker()) if op is not None}
        found: dict[str, ShardedOp] = {}
        for other in edge.takers:
            op = self.program.ops[other.op]
            taken = op.operands[other.operand] if other.operand < len(op.operands) else None
            # What has no name is XLA's own, as a copy in another layout, and so is one with the name of its operand.
            is_xlas = not op.op_name or is_named_as_operand(self.program, op)
            if not is_xlas and taken is not None and self.names.seen_through(taken) == array:
                found[str(self.names.op(op))] = op
        others = [self.names.op(op, own) for text, op in found.items() if text not in told]
        returned = [one for one in results[taker is None :] if self.names.seen_through(one.value) == array]
        return (*others, *(say("{}", name(one.label)) for one in returned if one.label))

    def _kind(self) -> CauseKind:
        if self.need is not None:
            return self.need.kind
        op = self._sender() or self._taker()
        if op is None:
            if self.match.moves_result and not self._is_asked():
                return "reshard_needed"
            return "output" if self.match.edge.outputs else "unknown"
        if op.kind in REQUESTS:
            return "reshard_needed" if self._is_void_request(op) else "reshard_requested"
        if op.is_on_one and op.kind == "custom_call":
            return "no_sharding_rule"
        is_unknown = op.rule is None and op.kind not in _REGIONS and op.kind != "optimization_barrier"
        if (is_unknown or op.kind in _UNSPLIT) and self._takes_all():
            return "no_sharding_rule"
        return "indexing" if op.kind in _AT_POSITIONS and not self._is_kept_along(op) else "reshard_needed"

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

    # ------------------------------------------------------------ what it is about

    def _taker(self) -> ShardedOp | None:
        return None if self.match.taker is None else self.program.ops[self.match.taker.op]

    def _sender(self) -> ShardedOp | None:
        """The operation that one device alone runs, and whose result it sends to the others; None for any other."""
        maker = self._maker() if self.need is None and self.match.edge.kind == "all-reduce" else None
        if maker is None:
            return None
        given = (self.program.values[value].op for value in maker.operands)
        is_there = maker.is_on_one or any(op is not None and self.program.ops[op].is_on_one for op in given)
        return maker if is_there else None

    def _adds_up(self) -> bool:
        """Whether parts are combined; what is looked up in, or written, may be gathered instead."""
        own = self._own()
        is_gathered = self.match.edge.kind not in SUMS and own is not None and own.kind in ("gather", "scatter")
        return self.need is not None and self.need.is_sum and not is_gathered

    def _moved(self) -> int | None:
        """The value that moves: what the taker takes, else what the collective is made of."""
        if self.match.taken is not None:
            return self.match.taken
        if self.need is not None and self.need.value is not None:
            return self.need.value
        return self.match.edge.makers[0] if self.match.edge.makers else None

    def _own(self) -> ShardedOp | None:
        """The operation whose need it is; else the one that takes what it yields."""
        if self.need is not None:
            return None if self.need.op is None else self.program.ops[self.need.op]
        return self._sender() or self._taker()

    def _place(self) -> ShardedOp | None:
        """The operation it is told at: the request, where one was made."""
        request = None if self.need is None else self.need.request
        if request is not None and request.kind == "reshard_requested":
            return self.program.ops[request.index]
        return self._own()

    def _target(self) -> Dimensions | None:
        """How the moved value is wanted: as XLA partitioned its taker; None where only the pieces are known.

        What the rules of the operation say counts only where the pieces that XLA made are those of it.
        """
        if self.match.target is not None:
            return self.match.target
        wanted = None if self.need is None else self.need.target
        moved, taker = self._moved(), self.match.taker
        if wanted is None or moved is None or taker is None:
            return wanted
        shape = self.program.values[moved].shape
        if len(wanted) != len(shape):
            return None
        pieces = tuple(-(-n // self.program.pieces(axes)) for n, axes in zip(shape, wanted, strict=True))
        return wanted if pieces == taker.shape else None

    def _is_void_request(self, op: ShardedOp) -> bool:
        """Whether an operation asks for the sharding that the moved value has already: then it changes nothing."""
        moved = self._moved()
        if moved is None or op.kind not in REQUESTS or not op.results:
            return False
        return self.program.values[moved].spec == self.program.values[op.results[0]].spec

    # ------------------------------------------------------------ clauses about sums

    def contraction(self) -> str:
        sides: dict[int | None, set[str]] = {}
        for part in self._shown_parts():
            sides.setdefault(part.operand, set()).update(map(axis_name, part.axes))
        # Of a kernel's gradient, rows are summed over that only one side has split.
        are_alike = len(sides) > 1 and len(set(map(frozenset, sides.values()))) == 1
        if self._is_xlas():
            return say("{} sums over {}{}", self._op(), self._dimensions(), self._split_by_xla())
        return say(
            "{} sums over {}, which {} sharded over {}{}, so each device has a partial sum",
            self._op(),
            self._dimensions(),
            self._is(),
            self._need_axes(),
            " on both sides" if are_alike else "",
        )

    def reduction(self) -> str:
        if self._is_xlas():
            return say("{} reduces {}{}", self._op(), self._dimensions(), self._split_by_xla())
        return say(
            "{} reduces {}, sharded over {}: each device has a part of it",
            self._op(),
            self._dimensions(),
            self._need_axes(),
        )

    def _is_xlas(self) -> bool:
        return self.need is not None and self.need.is_xlas

    def _split_by_xla(self) -> str:
        return say(
            ", which XLA's partitioner splits over {} though no sharding asks for it, so each device has a partial sum",
            self._need_axes(),
        )

    # ------------------------------------------------------------ clauses about moves

    def requested(self) -> str:
        request = None if self.need is None else self.need.request
        own = self._own()
        if request is None or own is None or self.need is None or request.index == self.need.op:
            return say("{} asks for {}, but {} is {}", self._requester(), self._wanted(), self._what(), self._given())
        asked = self.program.values[self.program.ops[request.index].results[0]].spec
        if self.match.moves_result:
            return say("{} asks for {}; {}", self._requester(), spec(spec_text(asked)), self._moved_result())
        return say("{} asks for {}; for that {}", self._requester(), spec(spec_text(asked)), self._needs())

    def output(self) -> str:
        request = None if self.need is None else self.need.request
        index = request.index if request is not None else next(iter(self.match.edge.outputs), None)
        if index is None:
            return f"a result of the program {_OTHERWISE}"
        boundary = self.program.outputs[index]
        result = name(boundary.label or f"result {index}")
        if boundary.spec is None and self._parts():
            part = self._parts()[0]
            if whole_axes(part.axes) != part.axes:
                given = spec_text(self.program.values[part.value].spec)
                return say(
                    "{} is returned replicated over {}: it is computed as {}, split over parts of an axis, and a "
                    "result may only be split over all of one",
                    result,
                    self._need_axes(),
                    spec(given),
                )
            length = self.program.values[part.value].shape[part.dimension]
            return say(
                "{} is returned replicated over {}: its dimension {} has {} elements, which {} devices do not divide",
                result,
                _over(part.axes),
                part.dimension,
                length,
                self.program.pieces(part.axes),
            )
        if boundary.spec is None:
            return say("{} {}", result, self._left_free(index))
        asked = spec(spec_text(boundary.spec))
        if self.need is None or self.need.op is None:
            made = self.match.edge.makers
            given = self._given() if not made else say("{}", spec(spec_text(self.program.values[made[0]].spec)))
            if given == str(asked):
                return say("{} must be {}, and is computed in other pieces", result, given)
            return say("{} must be {}, but is computed as {}", result, asked, given)
        clause = self._moved_result() if self.match.moves_result else say("for that {}", self._needs())
        return say("{} must be {}; {}", result, asked, clause)

    def _left_free(self, index: int) -> str:
        """How a result is computed and returned whose sharding was left to the partitioner."""
        edge, value = self.match.edge, self.program.outputs[index].value
        made = self.program.values[value].spec
        own = self.returned[index] if len(self.returned) == len(self.program.outputs) else None
        given = None if own is None else tuple(map(axes_of, own))
        is_made_so = edge.makers[:1] == (value,) and edge.made_shape == self.program.local_shape(value)
        computed = say("is computed as {}", spec(spec_text(made))) if is_made_so and given != made else ""
        returned = say("returned as {}", spec(spec_text(given))) if given is not None else ""
        if computed:
            return say("{}, {}", computed, say("but {}", returned) if returned else "and is returned in other pieces")
        return say("is {}, and is computed in other pieces", returned) if returned else _OTHERWISE

    def needed(self) -> str:
        own = self._own()
        if own is not None and (own.is_on_one or self._sender() is not None) and self.need is None:
            return self._on_one(own)
        if (row := self._row()) is not None:
            return row
        if self.match.moves_result:
            return self._moved_result()
        taken = self._taken()
        return say("{}: {}", self._needs(), taken) if taken else self._needs()

    def _on_one(self, op: ShardedOp) -> str:
        """An operation that one device alone runs, as a host callback, and what depends on its result."""
        if self._sender() is not None:
            return say("one device alone runs {}, and sends its result to all others", self.names.op(op))
        return say(
            "one device alone runs {}, and gets all of {}, which is {}", self.names.op(op), self._what(), self._given()
        )

    def _row(self) -> str | None:
        """Integer indexing: what moves is one row of an array, which the devices that hold it send to the others."""
        own = self._own()
        op = own if own is not None and own.kind in _SLICES else None
        if op is None and self.need is not None and self.need.request is None and self.need.kind != "halo":
            maker = None if (moved := self._moved()) is None else self.program.values[moved].op
            op = None if maker is None or self.program.ops[maker].kind not in _SLICES else self.program.ops[maker]
        if op is None or not op.results:
            return None
        before, after = (self.program.values[value].shape for value in (op.operands[0], op.results[0]))
        rows = list(dict.fromkeys(part.dimension for part in self._parts() if part.dimension < len(after)))
        if not rows or any(after[dimension] != 1 or before[dimension] == 1 for dimension in rows):
            return None
        numbers = say("dimension{} {}", "s" * (len(rows) > 1), joined([str(dimension) for dimension in rows]))
        return say(
            "{} takes one element along {} of {}, sharded over {}: only the devices that hold it can give it to the "
            "others",
            self.names.op(op),
            numbers,
            self.names.value(op.operands[0], op),
            self._need_axes(),
        )

    def _needs(self) -> str:
        """What the operation needs, as a clause; in pieces where their axes are not known."""
        if (changed := self._changed()) is not None:
            return changed
        moved = self._moved()
        if moved is not None and self._is_elsewhere(moved):
            return say(
                "the pieces of {}, which is {}, are needed on other devices than those that have them",
                self.names.value(moved),
                self._given(),
            )
        what = self._what()
        is_now = "they are" if what == "its positions" else "it is"
        return say("{} needs {} {}, but {} {}", self._op(), what, self._as_wanted(), is_now, self._given())

    def _is_elsewhere(self, moved: int) -> bool:
        """Whether devices exchange pieces as large as those of the value's sharding, for no sharding that is known."""
        edge, taker = self.match.edge, self.match.taker
        if edge.kind != "collective-permute" or taker is None or self._target() is not None:
            return False
        return taker.shape == edge.made_shape == self.program.local_shape(moved)

    def _changed(self) -> str | None:
        """A value that is split otherwise where it is used: XLA has a copy there, with the name of what makes it."""
        own, moved = self._own(), self._moved()
        if own is None or own.kind != "copy" or moved is None or self.need is None:
            return None
        value = self.program.values[moved]
        if value.argument is not None and is_named_as_operand(self.program, own):
            return say("{} is {}, and is needed {}", self._what(), self._given(), self._as_wanted())
        op = None if value.op is None else self.program.ops[value.op]
        if op is None or moved not in op.results:
            return None
        if op.kind in _VIEWS:
            return None
        if not own.op_name or (own.op_name, own.frames) != (op.op_name, op.frames):
            return None
        return say(
            "{} is computed as {}, and its result is needed {}", self.names.op(op), self._given(), self._as_wanted()
        )

    def _as_wanted(self) -> str:
        target, taker = self._target(), self.match.taker
        if self._is_returned():
            return "as the other branches return it"
        if target is not None and str(self._spec(target)) != self._given():
            return say("as {}", self._spec(target))
        if taker is not None and taker.shape:
            return say("in pieces of {} on each device", list(taker.shape))
        return "sharded otherwise"

    def _is_returned(self) -> bool:
        """Whether it is what a branch returns."""
        op, taker = self._taker(), self.match.taker
        return op is not None and taker is not None and op.kind == "case" and taker.operand >= len(op.operands)

    def _moved_result(self) -> str:
        """The operation was computed in other pieces than its result must have."""
        edge, program = self.match.edge, self.program
        maker = program.values[edge.makers[0]] if edge.makers else None
        op = program.ops[maker.op] if maker is not None and maker.op is not None else None
        if maker is None or op is None or edge.makers[0] not in op.results:
            return self._needs()
        next_op = self._taker()
        if next_op is not None and (self._is_void_request(next_op) or self.names.op(next_op) == self.names.op(op)):
            next_op = None
        taker = say(", and {} takes it", self.names.op(next_op, op)) if next_op is not None else ""
        return say(
            "{} is computed in pieces of {} on each device, as its operands are{} as {}",
            self.names.op(op),
            list(edge.made_shape),
            taker or ", and its result is needed",
            spec(spec_text(maker.spec)),
        )

    def halo(self) -> str:
        own = self._own()
        if (row := self._row()) is not None:
            return row
        kind = own.kind if own is not None else ""
        where = say("{}, sharded over {}", self._dimensions(), self._need_axes())
        if kind == "reverse":
            return say("{} reverses {}, so each device needs another device's piece", self._op(), where)
        if kind == "concatenate" and (rolled := self._rolled()) is not None:
            numbers = joined(list(dict.fromkeys(str(part.dimension) for part in self._shown_parts())))
            return say(
                "{} shifts {} along dimension {}, sharded over {}{}",
                self._op(),
                rolled,
                numbers,
                self._need_axes(),
                _ELSEWHERE,
            )
        if kind == "concatenate":
            return say("{} joins arrays along {}{}", self._op(), where, _ELSEWHERE)
        if kind == "slice":
            return say("{} takes a part of {}{}", self._op(), where, _ELSEWHERE)
        if kind == "pad":
            return say("{} pads {}{}", self._op(), where, _ELSEWHERE)
        return say("{} slides a window along {}, so devices need their neighbours' edges", self._op(), where)

    def _rolled(self) -> str | None:
        """The array that a roll shifts: it joins the pieces of it in another order."""
        own = self._own()
        if own is None or not _ROLL.search(own.op_name):
            return None
        makers = [self.program.values[value].op for value in own.operands]
        ops = [self.program.ops[maker] for maker in makers if maker is not None]
        sources = {op.operands[0] for op in ops if op.kind == "slice"}
        return self.names.value(sources.pop(), own) if len(sources) == 1 and len(ops) == len(own.operands) else None

    def indexing(self) -> str:
        if not self._parts():
            return self._needs()
        own = self._own()
        kind = own.kind if own is not None else ""
        axes = self._need_axes()
        if self._is_xlas() and kind == "scatter":
            return say("{} adds up what lies along {}{}", self._op(), self._dimensions(), self._split_by_xla())
        if self._is_xlas():
            return say(
                "{} looks up positions along {}, which XLA's partitioner splits over {} though no sharding asks for "
                "it, so a device needs what others hold",
                self._op(),
                self._dimensions(),
                axes,
            )
        if self.need is not None and self.need.is_sum and own is not None and kind == "scatter":
            if self.match.edge.kind not in SUMS:
                return self._scattered(own, axes)
            verb, partial = _COMBINED.get(own.detail, ("combines", "result"))
            return say(
                "{} {} what lies along {}, sharded over {}, so each device has a partial {}",
                self._op(),
                verb,
                self._dimensions(),
                axes,
                partial,
            )
        verbs = {
            "sort": "sorts along",
            "topk": "picks the largest along",
            "top_k": "picks the largest along",
            "dynamic_slice": "takes a slice, at a position known only when it runs, of",
            "dynamic_update_slice": "writes a slice, at a position known only when it runs, into",
            "scatter": "writes at positions along",
        }
        is_running = own is not None and (kind == "reduce_window" or is_cumulative(own.op_name))
        verb = "accumulates along" if is_running else verbs.get(kind, "looks up positions along")
        return say(
            "{} {} {}, which {} sharded over {}, so a device needs what others hold",
            self._op(),
            verb,
            self._dimensions(),
            self._is(),
            axes,
        )

    def _scattered(self, op: ShardedOp, axes: str) -> str:
        """What a scatter needs where results cannot be added up: all positions, or all that is written there."""
        taker = self.match.taker
        if taker is not None and taker.operand > len(op.results):
            return say(
                "{} writes {} at positions that any device may hold, so every device needs all of it, but it is {}",
                self._op(),
                self._what(),
                self._given(),
            )
        return say("{} writes at positions sharded over {}, and every device needs all of them", self._op(), axes)

    def no_rule(self) -> str:
        own = self._own()
        if own is not None and own.is_on_one:
            return self._on_one(own)
        target = own.detail or own.kind if own is not None else ""
        if self._gives_result():
            return say("{} ({}) runs on one device, and all others get its result from there", self._op(), name(target))
        what = self._what()
        if self._parts() and own is not None and own.rule is not None:
            return say(
                "{} ({}) works on all of {} at once, which the partitioner cannot split, but {} sharded over {}",
                self._op(),
                target,
                self._dimensions(),
                self._is(),
                self._need_axes(),
            )
        return say(
            "the partitioner has no rule for how {} ({}) may be split, so each device gets all of {}, which is {}; "
            "where it works on pieces, call it in `jax.shard_map` with their specs",
            self._op(),
            name(target),
            what,
            self._given(),
        )

    def _gives_result(self) -> bool:
        """Whether it spreads what an operation that no rule splits has yielded: a sum in which all others add zeros."""
        own, edge = self._own(), self.match.edge
        is_sum = edge.kind == "all-reduce" and self.need is not None and not self.need.is_sum
        return own is not None and own.rule is None and is_sum and edge.makers[:1] == own.results[:1]

    def predicate(self) -> str:
        maker = self._maker()
        what = self.names.op(maker) if maker is not None else "a value"
        there = (maker, *(self.program.ops[taker.op] for taker in self.match.edge.takers))
        is_loop = any(op is not None and op.in_condition for op in there)
        decided = "whether the loop goes on" if is_loop else "which branch runs"
        return say(
            "{} decides {}, and is computed from values sharded over {}: every device waits for all others there",
            what,
            decided,
            _over(self.axes),
        )

    def full_replication(self) -> str:
        target, given = self._target(), self._given()
        way = (
            say("from {} to {} ", given, self._spec(target))
            if target is not None and str(self._spec(target)) not in given
            else ""
        )
        return say(
            "the partitioner found no direct way {}for {}, which {} takes: every device gathers all of it and keeps "
            "its piece",
            way,
            self._what(),
            self._op(),
        )

    def unknown(self) -> str:
        maker = self._maker()
        made = say(", of what {} makes", self.names.op(maker)) if maker is not None else ""
        return say("XLA's partitioner made it{}; what needs it is not known", made)

    # ------------------------------------------------------------ pieces of them

    def _parts(self) -> tuple[Part, ...]:
        return () if self.need is None else self.need.parts

    def _maker(self) -> ShardedOp | None:
        made = (self.program.values[value].op for value in self.match.edge.makers)
        return next((self.program.ops[op] for op in made if op is not None), None)

    def _op(self) -> str:
        own = self._own()
        if own is not None:
            return self.names.op(own)
        moved = self._moved()
        return self.names.value(moved) if moved is not None else "the program"

    def _what(self) -> str:
        moved, own, taker = self._moved(), self._own(), self.match.taker
        if own is not None and self._is_positions(own, None if taker is None else taker.operand):
            return "its positions"
        return "an operand" if moved is None else self.names.value(self.names.unpadded(moved, own)[0], own)

    def _is_positions(self, op: ShardedOp, operand: int | None) -> bool:
        """Whether an operand says where a lookup or a scatter reads or writes."""
        return operand == {"gather": 1, "scatter": len(op.results)}.get(op.kind, -1)

    def _given(self) -> str:
        moved = self._moved()
        return "sharded otherwise" if moved is None else say("{}", self._spec(self.program.values[moved].spec))

    def _spec(self, dimensions: Dimensions) -> Phrase:
        """A sharding of the moved value, without the dimensions that XLA added to it."""
        moved = self._moved()
        if moved is None or len(dimensions) != len(self.program.values[moved].shape):
            return spec(spec_text(dimensions))
        own = self.names.unpadded(moved, self._own())[1]
        return spec(spec_text(tuple(dimensions[place] for place in own)))

    def _wanted(self) -> str:
        target, taker = self._target(), self.match.taker
        if target is not None:
            return say("{}", self._spec(target))
        own = self._own()
        if own is not None and own.kind in REQUESTS and own.results:
            return say("{}", spec(spec_text(self.program.values[own.results[0]].spec)))
        return say("pieces of {}", list(taker.shape)) if taker is not None and taker.shape else "another sharding"

    def _shown_parts(self) -> list[Part]:
        """The operands' dimensions; the results', where it is only about those."""
        parts, own = list(self._parts()), self._own()
        if own is not None and own.kind == "scatter" and self.need is not None and self.need.is_sum:
            # The positions go with what is added up; that is what a reader knows.
            last = max((part.operand or 0 for part in parts if not self.names.is_constant(part.value)), default=0)
            parts = [part for part in parts if part.operand == last] or parts
        parts = [part for part in parts if part.operand is not None] or parts
        # Zeros or ones that were broadcast are nothing a reader knows.
        return [part for part in parts if not self.names.is_constant(part.value)] or parts

    def _is(self) -> str:
        return "is" if len(self._shown_parts()) == 1 or self._is_one_sum() else "are"

    def _is_one_sum(self) -> bool:
        """Whether it is one dimension that is summed over, which each operand has once."""
        parts = self._shown_parts()
        kind = None if self.need is None else self.need.kind
        return kind == "contraction" and len({part.operand for part in parts}) == len(parts)

    def _dimensions(self) -> str:
        """In words: "dimension 1 of `x` and dimension 0 of `w`", "dimensions 0 and 2 of `x`"."""
        parts = self._shown_parts()
        if self._is_one_sum() and len(parts) == 2:
            return joined([say("dimension {} of {}", part.dimension, self._value(part)) for part in parts])
        by_value: dict[int, list[Part]] = {}
        for part in parts:
            by_value.setdefault(part.value, []).append(part)
        phrases = []
        for own in list(by_value.values())[:2]:
            numbers = list(dict.fromkeys(str(part.dimension) for part in own))
            phrases.append(say("dimension{} {} of {}", "s" * (len(numbers) > 1), joined(numbers), self._value(own[0])))
        return joined(list(dict.fromkeys(phrases))) or "a dimension"

    def _value(self, part: Part) -> str:
        own = self._own()
        if part.operand is None and own is not None and part.value in own.results:
            return _ITS_RESULT
        if own is not None and self._is_positions(own, part.operand):
            return "its positions"
        return self.names.value(part.value, own)

    def _need_axes(self) -> str:
        order = list(self.program.sizes)
        axes = self.need.axes if self.need is not None else frozenset(self.axes)
        return _over(tuple(sorted(axes, key=lambda axis: order.index(axis) if axis in order else 0)))

    def _requester(self) -> str:
        request = None if self.need is None else self.need.request
        if request is None or request.kind != "reshard_requested":
            return self._op()
        return self.names.op(self.program.ops[request.index])

    def _taken(self) -> str:
        """Why an operand cannot keep its axis: another dimension of the result has it."""
        if self.need is None or not self.need.taken or self._target() != self.need.target:
            return ""
        own = set(map(axis_name, self.axes))
        found = next((pair for pair in self.need.taken if not own or pair[0] in own), None)
        if found is None:
            return ""
        own_axis, dimension = found
        return say("axis {} already splits dimension {} of the result", axis(own_axis), dimension)

    # ------------------------------------------------------------ facts

    def facts(self) -> tuple[Sentence, ...]:
        parts = () if self._gives_result() else self._parts()
        found = [self._result_fact()]
        found += [self._part_fact(part) for part in parts]
        found += [self._origin_fact(origin, part) for part in parts for origin in self._origins(part)]
        request = None if self.need is None else self.need.request
        if request is not None and request.kind == "reshard_requested":
            found.append(say("asked for by {}", self._requester()))
        found.append(self._taken())
        found.append(self._edge_fact())
        return tuple(dict.fromkeys(map(Sentence, filter(None, found))))

    def _edge_fact(self) -> str:
        """Where the collective lies in the program that XLA partitioned."""
        edge = self.match.edge
        made = list(dict.fromkeys(self.names.value(value) for value in self._told_makers()))
        pieces = say(" ({} on each device)", list(edge.made_shape)) if edge.made_shape else ""
        takers = edge.takers[:1] if self.match.taker is None else (self.match.taker,)
        taken = [self.names.op(self.program.ops[taker.op]) for taker in takers]
        taken += [say("{}", name(self.program.outputs[k].label or f"result {k}")) for k in edge.outputs[:1]]
        if not made or not taken:
            return ""
        if made == taken[:1]:
            return say("XLA's partitioner made it within {}", made[0])
        shape = next((taker.shape for taker in takers), ())
        there = say(" ({} on each device)", list(shape)) if shape else ""
        return say("XLA's partitioner made it between {}{} and {}{}", joined(made), pieces, taken[0], there)

    def _told_makers(self) -> tuple[int, ...]:
        """What makes the moved array; of a masked sum only the operation, not what its mask is made of."""
        makers, need = self.match.edge.makers, self.need
        if need is not None and need.is_sum and need.op is not None:
            makers = tuple(value for value in makers if self.program.values[value].op == need.op) or makers
        return makers[:2]

    def _result_fact(self) -> str:
        """The array that moves, where it is the result of the operation and not what the need is about."""
        if not self.match.moves_result or not self.match.edge.makers:
            return ""
        value = self.program.values[self.match.edge.makers[0]]
        return say("what moves is {}: shape {}, {}", _ITS_RESULT, list(value.shape), bare(spec(spec_text(value.spec))))

    def _part_fact(self, part: Part) -> str:
        value = self.program.values[part.value]
        place = "result" if part.operand is None else f"operand {part.operand}"
        if self.need is not None and self.need.op is None:
            place = "result of the program"
        split = "split by XLA" if self._is_xlas() else "sharded"
        value_name = self._value(part)
        what = value_name if value_name == _ITS_RESULT else say("{}, {}", place, value_name)
        return say(
            "{}: shape {}, {}; dimension {} is {} over {}",
            what,
            list(value.shape),
            bare(spec(spec_text(value.spec))),
            part.dimension,
            split,
            _over(part.axes),
        )

    def _origins(self, part: Part) -> list[AxisOrigin]:
        axes = {axis_name(axis) for axis in part.axes}
        value = self.program.values[self.names.outside(part.value)]
        if value.argument is not None:
            # That an argument's sharding is the argument's says nothing.
            return []
        return [origin for origin in value.origins if origin.axis in axes]

    def _origin_fact(self, origin: AxisOrigin, part: Part) -> str:
        return say("{} on {} comes from {}", axis(origin.axis), self._value(part), origin_text(origin, self.names))


def origin_text(origin: AxisOrigin, names: ValueNames) -> Sentence:
    """Where an axis came from, in the user's names."""
    program, index = names.program, origin.index
    if origin.kind == "input" and index is not None and index < len(program.inputs):
        return say("argument {}", name(program.inputs[index].label))
    if origin.kind == "output" and index is not None and index < len(program.outputs):
        return say("the sharding asked for {}", name(program.outputs[index].label or f"result {index}"))
    if origin.kind == "constraint" and index is not None and index < len(program.ops):
        return say("the constraint {}", names.op(program.ops[index]))
    return Sentence("the specs of a `shard_map`" if origin.kind == "manual" else "an unknown place")
