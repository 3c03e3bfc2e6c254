"""One sentence for a cause, in the user's names, and the facts that prove it.

Not its job: finding the cause (`analyze.causes.causes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pjit_inspect.analyze.causes.cause_facts import CauseFacts
from pjit_inspect.analyze.causes.cause_subject import CauseSubject
from pjit_inspect.analyze.causes.cause_words import CauseWords, over_axes
from pjit_inspect.analyze.causes.need_finder import Match
from pjit_inspect.analyze.sharding.needs import (
    Need,
    dependent_axes,
    is_cumulative,
    is_named_as_operand,
    whole_axes,
)
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.program.spec import PartitionSpec, axes_of, spec_text
from pjit_inspect.model.report.cause import CauseKind
from pjit_inspect.model.sharding.sharded_program import ShardedOp, axis_name
from pjit_inspect.model.words.sentence import Sentence, joined, name, say, spec

_COMBINED = {
    "add": ("adds up", "sum"),
    "maximum": ("takes the largest of", "maximum"),
    "minimum": ("takes the smallest of", "minimum"),
    "multiply": ("multiplies", "product"),
}
"""What a scatter does to values that go to one position, and what each device has of it."""
_SLICES = frozenset(("slice", "dynamic_slice"))
_VIEWS = frozenset((*RESHAPED, *SAME_SHAPE))
_OTHERWISE = "must be sharded otherwise than it is computed"
_ELSEWHERE = ", so pieces of the result begin where other devices hold data"
_ROLL = re.compile(r"\broll|_roll")


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
    need = match.need
    if need is not None and match.step is None:
        need = _over_these(need, frozenset(map(axis_name, axes or ())))
    about = CauseSubject(program=names.program, match=match, need=need, axes=axes or ())
    words = CauseWords(about=about, names=names)
    return _Writer(about=about, words=words, names=names, returned=tuple(returned)).wording(kind)


def _over_these(need: Need, axes: frozenset[str]) -> Need:
    """The part of a need over several axes that one collective of several serves; any other as it is."""
    if not axes or not axes < need.axes:
        return need
    parts = tuple(part for part in need.parts if axes & {axis_name(axis) for axis in part.axes})
    return replace(need, axes=need.axes & axes, parts=parts) if parts else need


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writer:
    about: CauseSubject
    words: CauseWords
    names: ValueNames
    returned: tuple[PartitionSpec | None, ...]

    def wording(self, kind: CauseKind | None) -> Wording:
        kind = kind or self.about.kind()
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
        moved = None if self.about.adds_up() else self.about.moved()
        if kind == "no_sharding_rule" and self.about.gives_result():
            moved = self.about.match.edge.makers[0]
        is_argument = moved is not None and not self.about.match.moves_result
        return Wording(
            kind=kind,
            clause=Sentence(clauses[kind]()),
            facts=CauseFacts(words=self.words).facts(),
            op=self.about.place(),
            moved=moved,
            value=self.names.argument(moved, is_same_size=True) if is_argument and moved is not None else "",
            also_for=self._also_for(),
        )

    def _also_for(self) -> tuple[Sentence, ...]:
        """What else takes the array that moves for one operation, or as a result of the program."""
        edge, taker, own = self.about.match.edge, self.about.match.taker, self.about.own()
        # A sum is there for what makes it, whoever takes it; so is what is put back into the pieces of its sharding.
        if edge.kind in SUMS or (taker is None and (own is not None or self.about.match.moves_result)):
            return ()
        results = [self.about.program.outputs[number] for number in edge.outputs]
        moved = self.about.match.taken if taker is not None else results[0].value if results else None
        if moved is None:
            return ()
        # What an operation makes of it, of which only pieces are left, goes on, too: that is another array.
        array = self.names.seen_through(moved)
        told = {str(self.names.op(op)) for op in (own, self.about.place(), self.about.taker()) if op is not None}
        found: dict[str, ShardedOp] = {}
        for other in edge.takers:
            op = self.about.program.ops[other.op]
            taken = op.operands[other.operand] if other.operand < len(op.operands) else None
            # What has no name is XLA's own, as a copy in another layout, and so is one with the name of its operand.
            is_xlas = not op.op_name or is_named_as_operand(self.about.program, op)
            if not is_xlas and taken is not None and self.names.seen_through(taken) == array:
                found[str(self.names.op(op))] = op
        others = [self.names.op(op, own) for text, op in found.items() if text not in told]
        returned = [one for one in results[taker is None :] if self.names.seen_through(one.value) == array]
        return (*others, *(say("{}", name(one.label)) for one in returned if one.label))

    def contraction(self) -> str:
        sides: dict[int | None, set[str]] = {}
        for part in self.words.shown_parts():
            sides.setdefault(part.operand, set()).update(map(axis_name, part.axes))
        # Of a kernel's gradient, rows are summed over that only one side has split.
        are_alike = len(sides) > 1 and len(set(map(frozenset, sides.values()))) == 1
        if self.about.is_xlas():
            return say("{} sums over {}{}", self.words.op(), self.words.dimensions(), self._split_by_xla())
        return say(
            "{} sums over {}, which {} sharded over {}{}, so each device has a partial sum",
            self.words.op(),
            self.words.dimensions(),
            self.words.is_or_are(),
            self.words.need_axes(),
            " on both sides" if are_alike else "",
        )

    def reduction(self) -> str:
        if self.about.is_xlas():
            return say("{} reduces {}{}", self.words.op(), self.words.dimensions(), self._split_by_xla())
        return say(
            "{} reduces {}, sharded over {}: each device has a part of it",
            self.words.op(),
            self.words.dimensions(),
            self.words.need_axes(),
        )

    def _split_by_xla(self) -> str:
        return say(
            ", which XLA's partitioner splits over {} though no sharding asks for it, so each device has a partial sum",
            self.words.need_axes(),
        )

    def requested(self) -> str:
        request = None if self.about.need is None else self.about.need.request
        own = self.about.own()
        if request is None or own is None or self.about.need is None or request.index == self.about.need.op:
            return say(
                "{} asks for {}, but {} is {}",
                self.words.requester(),
                self.words.wanted(),
                self.words.what(),
                self.words.given(),
            )
        asked = self.about.program.values[self.about.program.ops[request.index].results[0]].spec
        if self.about.match.moves_result:
            return say("{} asks for {}; {}", self.words.requester(), spec(spec_text(asked)), self._moved_result())
        return say("{} asks for {}; for that {}", self.words.requester(), spec(spec_text(asked)), self._needs())

    def output(self) -> str:
        request = None if self.about.need is None else self.about.need.request
        index = request.index if request is not None else next(iter(self.about.match.edge.outputs), None)
        if index is None:
            return f"a result of the program {_OTHERWISE}"
        boundary = self.about.program.outputs[index]
        result = name(boundary.label or f"result {index}")
        if boundary.spec is None and self.about.parts():
            part = self.about.parts()[0]
            if whole_axes(part.axes) != part.axes:
                given = spec_text(self.about.program.values[part.value].spec)
                return say(
                    "{} is returned replicated over {}: it is computed as {}, split over parts of an axis, and a "
                    "result may only be split over all of one",
                    result,
                    self.words.need_axes(),
                    spec(given),
                )
            length = self.about.program.values[part.value].shape[part.dimension]
            return say(
                "{} is returned replicated over {}: its dimension {} has {} elements, which {} devices do not divide",
                result,
                over_axes(part.axes),
                part.dimension,
                length,
                self.about.program.pieces(part.axes),
            )
        if boundary.spec is None:
            return say("{} {}", result, self._left_free(index))
        asked = spec(spec_text(boundary.spec))
        if self.about.need is None or self.about.need.op is None:
            made = self.about.match.edge.makers
            given = self.words.given()
            if made:
                own = self.about.program.values[made[0]].spec
                given = say("{}", spec(spec_text(self.names.as_named(made[0], own))))
            if given == str(asked):
                return say("{} must be {}, and is computed in other pieces", result, given)
            return say("{} must be {}, but is computed as {}", result, asked, given)
        clause = self._moved_result() if self.about.match.moves_result else say("for that {}", self._needs())
        return say("{} must be {}; {}", result, asked, clause)

    def _left_free(self, index: int) -> str:
        """How a result is computed and returned whose sharding was left to the partitioner."""
        edge, value = self.about.match.edge, self.about.program.outputs[index].value
        made = self.about.program.values[value].spec
        own = self.returned[index] if len(self.returned) == len(self.about.program.outputs) else None
        given = None if own is None else tuple(map(axes_of, own))
        is_made_so = edge.makers[:1] == (value,) and edge.made_shape == self.about.program.local_shape(value)
        computed = say("is computed as {}", spec(spec_text(made))) if is_made_so and given != made else ""
        returned = say("returned as {}", spec(spec_text(given))) if given is not None else ""
        if computed:
            return say("{}, {}", computed, say("but {}", returned) if returned else "and is returned in other pieces")
        return say("is {}, and is computed in other pieces", returned) if returned else _OTHERWISE

    def needed(self) -> str:
        own = self.about.own()
        if own is not None and (own.is_on_one or self.about.sender() is not None) and self.about.need is None:
            return self._on_one(own)
        taken = self.words.taken()
        if not taken and (row := self._row()) is not None:
            return row
        if self.about.match.moves_result:
            return self._moved_result()
        return say("{}: {}", self._needs(), taken) if taken else self._needs()

    def _on_one(self, op: ShardedOp) -> str:
        """An operation that one device alone runs, as a host callback, and what depends on its result."""
        if self.about.sender() is not None:
            return say("one device alone runs {}, and sends its result to all others", self.names.op(op))
        return say(
            "one device alone runs {}, and gets all of {}, which is {}",
            self.names.op(op),
            self.words.what(),
            self.words.given(),
        )

    def _row(self) -> str | None:
        """Integer indexing: what moves is one row of an array, which the devices that hold it send to the others."""
        own = self.about.own()
        op = own if own is not None and own.kind in _SLICES else None
        if (
            op is None
            and self.about.need is not None
            and self.about.need.request is None
            and self.about.need.kind != "halo"
        ):
            maker = None if (moved := self.about.moved()) is None else self.about.program.values[moved].op
            op = (
                None
                if maker is None or self.about.program.ops[maker].kind not in _SLICES
                else self.about.program.ops[maker]
            )
        if op is None or not op.results:
            return None
        before, after = (self.about.program.values[value].shape for value in (op.operands[0], op.results[0]))
        rows = list(dict.fromkeys(part.dimension for part in self.about.parts() if part.dimension < len(after)))
        if not rows or any(after[dimension] != 1 or before[dimension] == 1 for dimension in rows):
            return None
        numbers = say("dimension{} {}", "s" * (len(rows) > 1), joined([str(dimension) for dimension in rows]))
        return say(
            "{} takes one element along {} of {}, sharded over {}: only the devices that hold it can give it to the "
            "others",
            self.names.op(op),
            numbers,
            self.names.value(op.operands[0], op),
            self.words.need_axes(),
        )

    def _needs(self) -> str:
        """What the operation needs, as a clause; in pieces where their axes are not known."""
        if (changed := self._changed()) is not None:
            return changed
        moved = self.about.moved()
        if moved is not None and self.about.is_elsewhere(moved):
            own, taker = self.about.own(), self.about.match.taker
            if own is not None and taker is not None and self.about.is_positions(own, taker.operand):
                return say(
                    "{} takes its positions, which are {}, on other devices than those that have them",
                    self.words.op(),
                    self.words.given(),
                )
            return say(
                "the pieces of {}, which is {}, are needed on other devices than those that have them",
                self.names.value(moved),
                spec(spec_text(self.names.as_named(moved, self.about.program.values[moved].spec))),
            )
        what = self.words.what()
        is_now = "they are" if what == "its positions" else "it is"
        return say("{} needs {} {}, but {} {}", self.words.op(), what, self._as_wanted(), is_now, self.words.given())

    def _changed(self) -> str | None:
        """A value that is split differently where it is used: XLA has a copy there, with the name of what makes it."""
        own, moved = self.about.own(), self.about.moved()
        if own is None or own.kind != "copy" or moved is None or self.about.need is None:
            return None
        value = self.about.program.values[moved]
        if value.argument is not None and is_named_as_operand(self.about.program, own):
            return say("{} is {}, and is needed {}", self.words.what(), self.words.given(), self._as_wanted())
        op = None if value.op is None else self.about.program.ops[value.op]
        if op is None or moved not in op.results:
            return None
        if op.kind in _VIEWS:
            return None
        if not own.op_name or (own.op_name, own.frames) != (op.op_name, op.frames):
            return None
        return say(
            "{} is computed as {}, and its result is needed {}",
            self.names.op(op),
            self.words.given(),
            self._as_wanted(),
        )

    def _as_wanted(self) -> str:
        target, taker, moved = self.about.target(), self.about.match.taker, self.about.moved()
        if self.about.is_returned():
            return "as the other branches return it"
        if target is not None and str(self.words.spec(target)) != self.words.given():
            return say("as {}", self.words.spec(target))
        # Pieces as large as those that are there say nothing of how they differ.
        is_as_large = taker is not None and moved is not None and taker.shape == self.about.program.local_shape(moved)
        if taker is not None and taker.shape and not is_as_large:
            return say("in pieces of {} on each device", list(taker.shape))
        return "sharded otherwise"

    def _moved_result(self) -> str:
        """The operation was computed in other pieces than its result must have."""
        edge, program = self.about.match.edge, self.about.program
        maker = program.values[edge.makers[0]] if edge.makers else None
        op = program.ops[maker.op] if maker is not None and maker.op is not None else None
        if maker is None or op is None or edge.makers[0] not in op.results:
            return self._needs()
        next_op = self.about.taker()
        if next_op is not None and (self.about.is_void_request(next_op) or self.names.op(next_op) == self.names.op(op)):
            next_op = None
        taker = say(", and {} takes it", self.names.op(next_op, op)) if next_op is not None else ""
        return say(
            "{} is computed in pieces of {} on each device, as its operands are{} as {}",
            self.names.op(op),
            list(self.names.as_named(edge.makers[0], edge.made_shape)),
            taker or ", and its result is needed",
            spec(spec_text(self.names.as_named(edge.makers[0], maker.spec))),
        )

    def halo(self) -> str:
        own = self.about.own()
        if (row := self._row()) is not None:
            return row
        kind = own.kind if own is not None else ""
        where = say("{}, sharded over {}", self.words.dimensions(), self.words.shown_axes())
        if kind == "reverse":
            return say("{} reverses {}, so each device needs another device's piece", self.words.op(), where)
        if kind == "concatenate" and (rolled := self._rolled()) is not None:
            numbers = joined(list(dict.fromkeys(str(self.words.dimension(part)) for part in self.words.shown_parts())))
            return say(
                "{} shifts {} along dimension {}, sharded over {}{}",
                self.words.op(),
                rolled,
                numbers,
                self.words.shown_axes(),
                _ELSEWHERE,
            )
        if kind == "concatenate":
            return say("{} joins arrays along {}{}", self.words.op(), where, _ELSEWHERE)
        if kind == "slice":
            return say("{} takes a part of {}{}", self.words.op(), where, _ELSEWHERE)
        if kind == "pad":
            return say("{} pads {}{}", self.words.op(), where, _ELSEWHERE)
        return say("{} slides a window along {}, so devices need their neighbours' edges", self.words.op(), where)

    def _rolled(self) -> str | None:
        """The array that a roll shifts: it joins the pieces of it in another order."""
        own = self.about.own()
        if own is None or not _ROLL.search(own.op_name):
            return None
        makers = [self.about.program.values[value].op for value in own.operands]
        ops = [self.about.program.ops[maker] for maker in makers if maker is not None]
        sources = {op.operands[0] for op in ops if op.kind == "slice"}
        return self.names.value(sources.pop(), own) if len(sources) == 1 and len(ops) == len(own.operands) else None

    def indexing(self) -> str:
        if not self.about.parts():
            return self._needs()
        own = self.about.own()
        kind = own.kind if own is not None else ""
        axes = self.words.shown_axes()
        if self.about.is_xlas() and kind == "scatter":
            return say(
                "{} adds up what lies along {}{}", self.words.op(), self.words.dimensions(), self._split_by_xla()
            )
        if self.about.is_xlas():
            return say(
                "{} looks up positions along {}, which XLA's partitioner splits over {} though no sharding asks for "
                "it, so a device needs what others hold",
                self.words.op(),
                self.words.dimensions(),
                axes,
            )
        if self.about.need is not None and self.about.need.is_sum and own is not None and kind == "scatter":
            if self.about.match.edge.kind not in SUMS:
                return self._scattered(own, axes)
            verb, partial = _COMBINED.get(own.detail, ("combines", "result"))
            return say(
                "{} {} what lies along {}, sharded over {}, so each device has a partial {}",
                self.words.op(),
                verb,
                self.words.dimensions(),
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
            self.words.op(),
            verb,
            self.words.dimensions(),
            self.words.is_or_are(),
            axes,
        )

    def _scattered(self, op: ShardedOp, axes: str) -> str:
        """What a scatter needs where results cannot be added up: all positions, or all that is written there."""
        taker = self.about.match.taker
        if taker is not None and taker.operand > len(op.results):
            moved = self.about.moved()
            if moved is not None and taker.shape != self.about.program.values[moved].shape:
                return self._needs()
            return say(
                "{} writes {} at positions that any device may hold, so every device needs all of it, but it is {}",
                self.words.op(),
                self.words.what(),
                self.words.given(),
            )
        return say("{} writes at positions sharded over {}, and every device needs all of them", self.words.op(), axes)

    def no_rule(self) -> str:
        own = self.about.own()
        if own is not None and own.is_on_one:
            return self._on_one(own)
        target = own.detail or own.kind if own is not None else ""
        if self.about.gives_result():
            return say(
                "{} ({}) runs on one device, and all others get its result from there", self.words.op(), name(target)
            )
        what = self.words.what()
        if self.about.parts() and own is not None and own.rule is not None:
            return say(
                "{} ({}) works on all of {} at once, which the partitioner cannot split, but {} sharded over {}",
                self.words.op(),
                target,
                self.words.dimensions(),
                self.words.is_or_are(),
                self.words.shown_axes(),
            )
        over = set(map(axis_name, self.about.axes))
        if own is not None and own.rule is None and over and over <= dependent_axes(self.about.program, [own]):
            return say(
                "{} ({}) works on all of a matrix at once, so each device gets all of {}, which is {}",
                self.words.op(),
                name(target),
                what,
                self.words.given(),
            )
        return say(
            "the partitioner has no rule for how {} ({}) may be split, so each device gets all of {}, which is {}; "
            "where it works on pieces, call it in `jax.shard_map` with their specs",
            self.words.op(),
            name(target),
            what,
            self.words.given(),
        )

    def predicate(self) -> str:
        maker = self.about.maker()
        what = self.names.op(maker) if maker is not None else "a value"
        there = (maker, *(self.about.program.ops[taker.op] for taker in self.about.match.edge.takers))
        is_loop = any(op is not None and op.in_condition for op in there)
        decided = "whether the loop goes on" if is_loop else "which branch runs"
        return say(
            "{} decides {}, and is computed from values sharded over {}: every device waits for all others there",
            what,
            decided,
            over_axes(self.about.axes),
        )

    def full_replication(self) -> str:
        target, given = self.about.target(), self.words.given()
        way = (
            say("from {} to {} ", given, self.words.spec(target))
            if target is not None and str(self.words.spec(target)) not in given
            else ""
        )
        return say(
            "the partitioner found no direct way {}for {}, which {} takes: every device gathers all of it and keeps "
            "its piece",
            way,
            self.words.what(),
            self.words.op(),
        )

    def unknown(self) -> str:
        maker = self.about.maker()
        made = say(", of what {} makes", self.names.op(maker)) if maker is not None else ""
        return say("XLA's partitioner made it{}; what needs it is not known", made)
