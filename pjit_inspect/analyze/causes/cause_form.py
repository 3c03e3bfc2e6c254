"""Which sentence a cause has, and the cause with all that its sentence is made of.

Not its job: the sentences (`analyze.causes.wording`), finding the cause (`analyze.causes.causes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pjit_inspect.analyze.causes.cause_facts import CauseFacts
from pjit_inspect.analyze.causes.cause_subject import CauseSubject
from pjit_inspect.analyze.causes.cause_words import CauseWords, dimension_words
from pjit_inspect.analyze.causes.need_finder import Match
from pjit_inspect.analyze.causes.wording import clause, worded
from pjit_inspect.analyze.sharding.needs import Need, dependent_axes, is_cumulative, is_named_as_operand, whole_axes
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.program.spec import Dimensions, PartitionSpec, axes_of, entry_of, spec_text
from pjit_inspect.model.report.cause import Cause, CauseKind
from pjit_inspect.model.sharding.sharded_program import ShardedOp, axis_name
from pjit_inspect.model.words.sentence import Sentence, name, say, spec

_COMBINED = {
    "add": ("adds up", "sum"),
    "maximum": ("takes the largest of", "maximum"),
    "minimum": ("takes the smallest of", "minimum"),
    "multiply": ("multiplies", "product"),
}
"""What a scatter does to values that go to one position, and what each device has of it."""
_AT_POSITIONS = {
    "sort": "sorts along",
    "topk": "picks the largest along",
    "top_k": "picks the largest along",
    "dynamic_slice": "takes a slice, at a position known only when it runs, of",
    "dynamic_update_slice": "writes a slice, at a position known only when it runs, into",
    "scatter": "writes at positions along",
}
_EDGES = {"concatenate": "joins arrays along", "slice": "takes a part of", "pad": "pads"}
_SLICES = frozenset(("slice", "dynamic_slice"))
_VIEWS = frozenset((*RESHAPED, *SAME_SHAPE))
_ROLL = re.compile(r"\broll|_roll")


def cause_of(
    match: Match,
    names: ValueNames,
    kind: CauseKind | None,
    axes: tuple[str, ...] | None,
    collective: str,
    returned: Sequence[PartitionSpec | None] = (),
) -> Cause:
    """The cause that is where a collective over some mesh axes lies, and the need it serves there.

    `kind` is the kind of cause where it is not that of the need; `collective` the kind of collective; `returned` how
    each result of the program is split where it is returned, as far as it is known.
    """
    need = match.need
    if need is not None and match.step is None:
        need = _over_these(need, frozenset(map(axis_name, axes or ())))
    about = CauseSubject(program=names.program, match=match, need=need, axes=axes or (), kind_of_collective=collective)
    words = CauseWords(about=about, names=names)
    return _Writer(about=about, words=words, names=names, returned=tuple(returned)).cause(kind or about.kind())


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

    def cause(self, kind: CauseKind) -> Cause:
        """The cause, with its fields, its sentence, and the facts that prove it."""
        forms: dict[CauseKind, Callable[[], Sentence]] = {
            "contraction": lambda: self._say("sum split by XLA" if self.about.is_xlas() else "sum"),
            "reduction": lambda: self._say("reduction split by XLA" if self.about.is_xlas() else "reduction"),
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
        about, op = self.about, self.about.place()
        moved = None if about.adds_up() else about.moved()
        if kind == "no_sharding_rule" and about.gives_result():
            moved = about.match.edge.makers[0]
        is_argument = moved is not None and not about.match.moves_result
        own, others = about.own(), self._others()
        request = None if about.need is None else about.need.request
        # A result that was computed in other pieces has not had its sharding yet, nor has what was moved before.
        is_as_sharded = moved is not None and not (about.match.moves_result or about.match.is_later)
        had = about.program.values[moved].spec if moved is not None and is_as_sharded else None
        told = op if op is not None else self._maker_of(moved)
        return Cause(
            kind=kind,
            sentence=self.predicate() if about.decides() else forms[kind](),
            facts=CauseFacts(words=self.words).facts(others),
            evidence="nothing" if kind == "unknown" else "sharding",
            operation=Sentence() if op is None else self.names.op(op),
            moved=Sentence() if moved is None else self.names.value(moved, own),
            summed=Sentence(self.words.dimensions() if about.adds_up() else ""),
            needed_by=(*(() if own is None else (self.names.op(own),)), *others),
            had=self._spec(had),
            wanted=self._spec(about.match.wanted if moved is not None else None),
            step=about.match.step,
            asked_at=Sentence(self.words.asker())
            if request is not None and request.kind == "reshard_requested"
            else Sentence(),
            phase=None if op is None else self.names.phase(op),
            op_name="" if op is None else op.op_name,
            source=() if told is None else self.names.frames(told),
            value=self.names.argument(moved, is_same_size=True) if is_argument and moved is not None else "",
        )

    def _maker_of(self, value: int | None) -> ShardedOp | None:
        maker = None if value is None else self.about.program.values[value].op
        return None if maker is None else self.about.program.ops[maker]

    def _spec(self, dimensions: Dimensions | None) -> PartitionSpec | None:
        return None if dimensions is None else tuple(map(entry_of, self.words.dimensions_told(dimensions)))

    def _say(self, form: str, **given: object) -> Sentence:
        return worded(form, partial(self._piece, given))

    def _piece(self, given: Mapping[str, object], place: str) -> object:
        return given[place] if place in given else self.words.piece(place)

    def _others(self) -> tuple[Sentence, ...]:
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

    def _step(self, why: str, who: object) -> Sentence | None:
        """One collective of several that together are a reshard: from and to what they bring the array."""
        match = self.about.match
        if match.step is None or match.had is None or match.wanted is None or match.had == match.wanted:
            return None
        step, steps = match.step
        wanted = self.words.spec(match.wanted)
        return self._say("step", step=step, steps=steps, wanted=wanted, needs_it=say(why, who))

    # ------------------------------------------------------------ somebody asks for a sharding

    def requested(self) -> Sentence:
        """A constraint asks for another sharding: of what it takes, or of what leads there."""
        if (step := self._step("{} asks for it", self.words.asker())) is not None:
            return step
        request = None if self.about.need is None else self.about.need.request
        if (
            request is None
            or self.about.own() is None
            or self.about.need is None
            or request.index == self.about.need.op
        ):
            return self._say("asked")
        asked = spec(spec_text(self.about.program.values[self.about.program.ops[request.index].results[0]].spec))
        if self._is_made_otherwise():
            return self._say("asked, result", asked=asked)
        return self._say("asked, so", asked=asked, then=self._needs())

    def output(self) -> Sentence:
        """A result of the program is returned with another sharding than it is computed with."""
        request = None if self.about.need is None else self.about.need.request
        index = request.index if request is not None else next(iter(self.about.match.edge.outputs), None)
        if index is None:
            return self._say("a result", result="a result of the program")
        boundary = self.about.program.outputs[index]
        result = name(boundary.label or f"result {index}")
        if boundary.spec is None and self.about.parts():
            part = self.about.parts()[0]
            value = self.about.program.values[part.value]
            if whole_axes(part.axes) != part.axes:
                return self._say("result over part of an axis", result=result, computed=spec(spec_text(value.spec)))
            return self._say(
                "result that does not divide",
                result=result,
                dimension=part.dimension,
                length=value.shape[part.dimension],
                devices=self.about.program.pieces(part.axes),
            )
        if boundary.spec is None:
            return self._left_free(result, index)
        if (step := self._step("{} must be split so", result)) is not None:
            return step
        asked = spec(spec_text(boundary.spec))
        if self.about.need is None or self.about.need.op is None:
            made = self.about.match.edge.makers
            computed = say("{}", self.words.made_as()) if made else self.words.had()
            form = "result, other pieces" if computed == str(asked) else "result"
            return self._say(form, result=result, asked=asked, computed=computed)
        if self._is_made_otherwise():
            return self._say("result, result", result=result, asked=asked)
        return self._say("result, so", result=result, asked=asked, then=self._needs())

    def _left_free(self, result: object, index: int) -> Sentence:
        """How a result is computed and returned whose sharding was left to the partitioner."""
        edge, value = self.about.match.edge, self.about.program.outputs[index].value
        made = self.about.program.values[value].spec
        own = self.returned[index] if len(self.returned) == len(self.about.program.outputs) else None
        given = None if own is None else tuple(map(axes_of, own))
        is_made_so = edge.makers[:1] == (value,) and edge.made_shape == self.about.program.local_shape(value)
        computed = spec(spec_text(made)) if is_made_so and given != made else None
        returned = None if given is None else spec(spec_text(given))
        forms = ("a result", "result returned"), ("result computed", "result left free")
        form = forms[computed is not None][returned is not None]
        return self._say(form, result=result, computed=computed, returned=returned)

    # ------------------------------------------------------------ an operation needs an operand differently

    def needed(self) -> Sentence:
        """An operation takes an array with another sharding than it has, or makes one in other pieces."""
        own = self.about.own()
        if own is not None and (own.is_on_one or self.about.sender() is not None) and self.about.need is None:
            return self._on_one()
        if (step := self._step("{} needs it", self.words.op())) is not None:
            return step
        taken = self.words.taken()
        if not taken and (row := self._row()) is not None:
            return row
        if self._is_made_otherwise():
            return self._moved_result()
        form, given = self._need()
        return self._say("needed, axis taken" if taken and form == "needed" else form, **given)

    def _on_one(self) -> Sentence:
        """An operation that one device alone runs, as a host callback, and what depends on its result."""
        return self._say("one device gets" if self.about.sender() is None else "one device sends")

    def _row(self) -> Sentence | None:
        """Integer indexing: what moves is one row of an array, which the devices that hold it send to the others."""
        own, need = self.about.own(), self.about.need
        op = own if own is not None and own.kind in _SLICES else None
        if op is None and need is not None and need.request is None and need.kind != "halo":
            maker = self._maker_of(self.about.moved())
            op = maker if maker is not None and maker.kind in _SLICES else None
        if op is None or not op.results:
            return None
        before, after = (self.about.program.values[value].shape for value in (op.operands[0], op.results[0]))
        rows = list(dict.fromkeys(part.dimension for part in self.about.parts() if part.dimension < len(after)))
        if not rows or any(after[dimension] != 1 or before[dimension] == 1 for dimension in rows):
            return None
        looked_up = self.names.value(op.operands[0], op)
        return self._say("one element", op=self.names.op(op), numbers=dimension_words(rows), looked_up=looked_up)

    def _needs(self) -> Sentence:
        """What the operation needs, as a part of a sentence."""
        form, given = self._need()
        return clause(form, partial(self._piece, given))

    def _need(self) -> tuple[str, dict[str, object]]:
        """The form of what the operation needs."""
        if (changed := self._changed()) is not None:
            return changed, {}
        moved = self.about.moved()
        if self.about.match.is_later:
            return "needed, later", {}
        if moved is None or not self.about.is_elsewhere(moved):
            return "needed", {}
        own, taker = self.about.own(), self.about.match.taker
        if own is not None and taker is not None and self.about.is_positions(own, taker.operand):
            return "needed by positions", {}
        value = self.about.program.values[moved]
        return "needed elsewhere", {
            "moved": self.names.value(moved),
            "had": spec(spec_text(self.names.as_named(moved, value.spec))),
        }

    def _changed(self) -> str | None:
        """A value that is split differently where it is used: XLA has a copy there, with the name of what makes it."""
        own, moved = self.about.own(), self.about.moved()
        if own is None or own.kind != "copy" or moved is None or self.about.need is None:
            return None
        value = self.about.program.values[moved]
        if value.argument is not None and is_named_as_operand(self.about.program, own):
            return "needed otherwise"
        op = self._maker_of(moved)
        if op is None or moved not in op.results or op.kind in _VIEWS:
            return None
        is_its_name = bool(own.op_name) and (own.op_name, own.frames) == (op.op_name, op.frames)
        return "needed result" if is_its_name else None

    def _is_made_otherwise(self) -> bool:
        """Whether what moves is the result of an operation that was computed in other pieces than it must have."""
        made = self.about.match.edge.makers
        maker = self._maker_of(made[0]) if made else None
        return self.about.match.moves_result and maker is not None and made[0] in maker.results

    def _moved_result(self) -> Sentence:
        """The operation was computed in other pieces than its result must have."""
        maker, taker = self._maker_of(self.about.match.edge.makers[0]), self.about.taker()
        if maker is None or taker is None:
            return self._say("result of other pieces")
        if self.about.is_void_request(taker) or self.names.op(taker) == self.names.op(maker):
            return self._say("result of other pieces")
        return self._say("result of other pieces, taken", taker=self.names.op(taker, maker))

    def full_replication(self) -> Sentence:
        """Every device gathers all of an array, and keeps a piece."""
        target = self.about.match.wanted
        is_known = target is not None and str(self.words.spec(target)) not in self.words.had()
        return self._say("full replication" if is_known else "full replication, way unknown")

    # ------------------------------------------------------------ edges and positions

    def halo(self) -> Sentence:
        """An operation reads across the edges of pieces."""
        if (row := self._row()) is not None:
            return row
        own = self.about.own()
        kind = own.kind if own is not None else ""
        if kind == "reverse":
            return self._say("reverse")
        if kind == "concatenate" and (rolled := self._rolled()) is not None:
            dimensions = (self.words.dimension(part) for part in self.words.shown_parts())
            return self._say("roll", rolled=rolled, numbers=dimension_words(dimensions))
        return self._say("edges", verb=_EDGES[kind]) if kind in _EDGES else self._say("window")

    def _rolled(self) -> str | None:
        """The array that a roll shifts: it joins the pieces of it in another order."""
        own = self.about.own()
        if own is None or not _ROLL.search(own.op_name):
            return None
        ops = [op for op in map(self._maker_of, own.operands) if op is not None]
        sources = {op.operands[0] for op in ops if op.kind == "slice"}
        return self.names.value(sources.pop(), own) if len(sources) == 1 and len(ops) == len(own.operands) else None

    def indexing(self) -> Sentence:
        """An operation reads or writes at positions that are known only when it runs."""
        if not self.about.parts():
            form, given = self._need()
            return self._say(form, **given)
        own = self.about.own()
        kind = own.kind if own is not None else ""
        if self.about.is_xlas():
            return self._say("scatter split by XLA" if kind == "scatter" else "positions split by XLA")
        if self.about.need is not None and self.about.need.is_sum and own is not None and kind == "scatter":
            if self.about.match.edge.kind not in SUMS:
                return self._scattered(own)
            verb, partial = _COMBINED.get(own.detail, ("combines", "result"))
            return self._say("scatter", verb=verb, partial=partial)
        is_running = own is not None and (kind == "reduce_window" or is_cumulative(own.op_name))
        verb = "accumulates along" if is_running else _AT_POSITIONS.get(kind, "looks up positions along")
        return self._say("positions", verb=verb)

    def _scattered(self, op: ShardedOp) -> Sentence:
        """What a scatter needs where results cannot be added up: all positions, or all that is written there."""
        taker, moved = self.about.match.taker, self.about.moved()
        if taker is None or taker.operand <= len(op.results):
            return self._say("scatter, positions")
        if moved is not None and taker.shape != self.about.program.values[moved].shape:
            form, given = self._need()
            return self._say(form, **given)
        return self._say("scatter, written")

    # ------------------------------------------------------------ what XLA does not split, and what is not known

    def no_rule(self) -> Sentence:
        """An operation that XLA does not split."""
        own = self.about.own()
        if own is not None and own.is_on_one:
            return self._on_one()
        if self.about.gives_result():
            return self._say("no rule, result")
        if self.about.parts() and own is not None and own.rule is not None:
            return self._say("no rule, dimension")
        over = set(map(axis_name, self.about.axes))
        if own is not None and own.rule is None and over and over <= dependent_axes(self.about.program, [own]):
            return self._say("no rule, matrix")
        return self._say("no rule")

    def predicate(self) -> Sentence:
        """What is computed decides how the program goes on."""
        decided = "whether the loop goes on" if self.about.decides() == "loop" else "which branch runs"
        return self._say("predicate", decided=decided)

    def unknown(self) -> Sentence:
        """Nothing tells what it is for."""
        return self._say("unknown" if self.about.maker() is None else "unknown, made of")
