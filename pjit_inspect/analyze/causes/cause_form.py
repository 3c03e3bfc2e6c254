"""Chooses the sentence of a cause, and makes the cause with its fields and the facts that prove it.

Not its job: the sentences (`analyze.causes.wording`), finding the cause (`analyze.causes.causes`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from pjit_inspect.analyze.causes.cause_subject import ITS_RESULT, POSITIONS, CauseSubject, dimension_words, over_axes
from pjit_inspect.analyze.causes.match import Match
from pjit_inspect.analyze.causes.wording import Piece, clause, worded
from pjit_inspect.analyze.sharding.axes import dependent_axes
from pjit_inspect.analyze.sharding.needs import RESHARDS, Part, is_cumulative, is_named_as_operand, whole_axes
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.model.program.mesh import Dimensions, PartitionSpec, axes_of, entry_of, spec_text
from pjit_inspect.model.program.opcodes import SUMS
from pjit_inspect.model.report.cause import Cause, CauseKind
from pjit_inspect.model.sharding.sharded_program import AxisOrigin, ShardedOp, axis_name
from pjit_inspect.model.words.sentence import Sentence, axis, bare, joined, name, say, spec

_COMBINED = {
    "add": ("adds up", "sum"),
    "maximum": ("takes the largest of", "maximum"),
    "minimum": ("takes the smallest of", "minimum"),
    "multiply": ("multiplies", "product"),
}
"""The way a scatter combines values of one position -> the verb, and the name of each device's part."""
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
_MOST_TAKERS = 4


def cause_of(
    match: Match,
    names: ValueNames,
    axes: tuple[str, ...] | None,
    collective: str,
    returned: Sequence[PartitionSpec | None] = (),
) -> Cause:
    """The cause that is where a collective of a kind over some mesh axes lies, and the need it serves there.

    `returned` says how each result of the program is split where it is returned, as far as it is known.
    """
    return _Writer(match, names, axes, collective).cause(returned)


class _Writer(CauseSubject):
    """Says the cause."""

    returned: Sequence[PartitionSpec | None] = ()

    def cause(self, returned: Sequence[PartitionSpec | None]) -> Cause:
        """The cause, with its fields, its sentence, and the facts that prove it."""
        self.returned = returned
        forms: dict[CauseKind, Callable[[], Sentence]] = {
            "contraction": lambda: self._say("sum split by XLA" if self.is_xlas() else "sum"),
            "reduction": lambda: self._say("reduction split by XLA" if self.is_xlas() else "reduction"),
            "reshard_requested": self.requested,
            "reshard_needed": self.needed,
            "output": self.output,
            "halo": self.halo,
            "indexing": self.indexing,
            "full_replication": self.full_replication,
            "no_sharding_rule": self.no_rule,
            "loop_predicate": self.predicate,
            "unknown": lambda: self._say("unknown" if self.maker is None else "unknown, made of"),
        }
        kind, match, op, adds_up, others = self.kind(), self.match, self.place(), self.adds_up(), self._others()
        is_xlas = kind in (*RESHARDS, "full_replication") and not adds_up and self.is_made_by_xla()
        moved = None if adds_up or is_xlas else self.array
        if kind == "no_sharding_rule" and self.gives_result():
            moved = self.edge.makers[0]
        # A result that was computed in other pieces has not had its sharding yet.
        had = None if moved is None else match.had if match.moves_result else self.program.values[moved].spec
        if kind == "reshard_needed" and not match.moves_result and not self.is_way_known():
            # The sharding that the array has in the program may be the very one that it gets here.
            had = None
        told = op if op is not None else self.program.op_of(moved)
        say_it = self.predicate if self.decides() else self.made_by_xla if is_xlas else forms[kind]
        sentence = say_it()
        if not self._tells_files(sentence):
            self.beside = None
            sentence = say_it()
        return Cause(
            kind=kind,
            sentence=sentence,
            facts=self.facts(others),
            evidence="nothing" if kind == "unknown" else "sharding",
            operation=Sentence() if op is None else self.names.op(op),
            moved=Sentence() if moved is None else self.names.value(moved, self.beside),
            summed=Sentence(self.dimensions() if adds_up else ""),
            needed_by=(*(() if self.own is None else (self.names.op(self.own),)), *others),
            had=self._spec(had),
            wanted=self._spec(match.wanted if moved is not None else None),
            step=match.step,
            asked_at=Sentence(self.asker() if self.is_requested() else ""),
            phase=None if op is None else self.names.phase(op),
            op_name="" if op is None else op.op_name,
            source=() if told is None else self.names.frames(told),
            value="" if moved is None or match.moves_result else self.names.argument(moved, is_same_size=True),
        )

    def _tells_files(self, sentence: Sentence) -> bool:
        """True if the file of each "line 12" is the one file that the sentence names: that of the need's operation."""
        places = [phrase.text for phrase in sentence.phrases if phrase.kind == "place"]
        files = {text.rpartition(":")[0] for text in places if ":" in text}
        own = () if self.beside is None else self.names.frames(self.beside)
        is_short = any(":" not in text for text in places)
        return not is_short or (bool(own) and files == {own[0].where.rpartition(":")[0]})

    def _spec(self, dimensions: Dimensions | None) -> PartitionSpec | None:
        return None if dimensions is None else tuple(map(entry_of, self.dimensions_told(dimensions)))

    def _say(self, form: str, **given: object) -> Sentence:
        return worded(form, partial(self._piece, given))

    def _piece(self, given: Mapping[str, object], place: str) -> object:
        return given[place] if place in given else getattr(self, place)()

    def _others(self) -> tuple[Sentence, ...]:
        """The other operations, and results of the program, that take the array that moves."""
        edge, taker, own = self.edge, self.match.taker, self.own
        # A sum is there for what makes it, whoever takes it; so is what is put back into the pieces of its sharding.
        if edge.kind in SUMS or (taker is None and (own is not None or self.match.moves_result)):
            return ()
        results = [self.program.outputs[number] for number in edge.outputs]
        moved = self.match.taken if taker is not None else results[0].value if results else None
        if moved is None:
            return ()
        # What an operation makes of it, of which only pieces are left, goes on, too: that is another array.
        array = self.names.seen_through(moved)
        told = {str(self.names.op(op)) for op in (own, self.place(), self.taker) if op is not None}
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

    def _step(self, needs_it: Sentence | str) -> Sentence | None:
        """One collective of several that together are a reshard: from and to what they bring the array."""
        match = self.match
        if match.step is None or match.moves_result or match.wanted is None or match.had in (None, match.wanted):
            return None
        step, steps = match.step
        form = "step, positions" if self.moved() == POSITIONS else "step"
        return self._say(form, step=step, steps=steps, wanted=self.spec(match.wanted), needs_it=needs_it)

    # ------------------------------------------------------------ somebody asks for a sharding

    def requested(self) -> Sentence:
        """A constraint asks for another sharding: of what it takes, or of what leads there."""
        request, need = self.request, self.need
        if request is None or self.own is None or need is None or request.index == need.op:
            return self._step(say("{} for it", self.asks())) or self._say("asked")
        asked = self.written(self.program.values[self.program.ops[request.index].results[0]].spec)
        place = self.place()
        is_one = place is not None and self.names.op(place) == self.op()
        why = (
            say("{} needs it", self.asker())
            if is_one
            else say("{} needs it, as {} for {}", self.op(), self.asks(), asked)
        )
        if (step := self._step(why)) is not None:
            return step
        if self._is_made_otherwise():
            return self._say("asked, result", asked=asked)
        return self._say("asked, so", asked=asked, then=self._needs(clause))

    def output(self) -> Sentence:
        """A result of the program is returned with another sharding than it is computed with."""
        index = self.request.index if self.request is not None else next(iter(self.edge.outputs), None)
        if index is None:
            return self._say("a result", result="a result of the program")
        boundary = self.program.outputs[index]
        result = name(boundary.label or f"result {index}")
        if boundary.spec is None and self.parts:
            part = self.parts[0]
            value = self.program.values[part.value]
            if whole_axes(part.axes) != part.axes:
                return self._say("result over part of an axis", result=result, computed=self.written(value.spec))
            return self._say(
                "result that does not divide",
                result=result,
                dimension=part.dimension,
                length=value.shape[part.dimension],
                devices=self.program.pieces(part.axes),
            )
        if boundary.spec is None:
            return self._left_free(result, index)
        asked = self.written(boundary.spec)
        is_result = self.need is None or self.need.op is None
        must = say("{} must be split so", result)
        why = must if is_result else say("{} needs it, as {} must be {}", self.op(), result, asked)
        if (step := self._step(why)) is not None:
            return step
        if is_result:
            made = self.edge.makers
            computed = say("{}", self.made_as()) if made else self.had()
            form = "result, other pieces" if computed == str(asked) else "result"
            return self._say(form, result=result, asked=asked, computed=computed)
        if self._is_made_otherwise():
            return self._say("result, result", result=result, asked=asked)
        return self._say("result, so", result=result, asked=asked, then=self._needs(clause))

    def _left_free(self, result: object, index: int) -> Sentence:
        """Tells how a result whose sharding was left to the partitioner is computed and returned."""
        edge, value = self.edge, self.program.outputs[index].value
        made = self.program.values[value].spec
        own = self.returned[index] if len(self.returned) == len(self.program.outputs) else None
        given = None if own is None else tuple(map(axes_of, own))
        is_made_so = edge.makers[:1] == (value,) and edge.made_shape == self.program.local_shape(value)
        computed = self.written(made) if is_made_so and given != made else None
        returned = None if given is None else self.written(given)
        forms = ("a result", "result returned"), ("result computed", "result left free")
        form = forms[computed is not None][returned is not None]
        return self._say(form, result=result, computed=computed, returned=returned)

    # ------------------------------------------------------------ an operation needs an operand differently

    def needed(self) -> Sentence:
        """An operation takes an array with another sharding than it has, or makes one in other pieces."""
        own = self.own
        if own is not None and (own.is_on_one or self.sender is not None) and self.need is None:
            return self._on_one()
        if (step := self._step(say("{} needs it", self.op()))) is not None:
            return step
        taken = self.taken()
        if not taken and (row := self._row()) is not None:
            return row
        if self._is_made_otherwise():
            return self._moved_result()
        return self._needs(plain="needed, axis taken" if taken else "needed")

    def _on_one(self) -> Sentence:
        """An operation that one device alone runs, as a host callback, and what depends on its result."""
        return self._say("one device gets" if self.sender is None else "one device sends")

    def made_by_xla(self) -> Sentence:
        """An array that XLA has made to split an operation moves: it is none of the program's values."""
        made = "a mask" if self.edge.dtype == "pred" else f"an array of {self.edge.dtype}"
        return self._say("made by XLA", helper=made)

    def _row(self) -> Sentence | None:
        """Integer indexing: what moves is one row of an array, which the devices that hold it send to the others."""
        own, need = self.own, self.need
        op = own if own is not None and own.kind in _SLICES else None
        if op is None and need is not None and need.request is None and need.kind != "halo":
            maker = self.program.op_of(self.array)
            op = maker if maker is not None and maker.kind in _SLICES else None
        if op is None or not op.results:
            return None
        before, after = (self.program.values[value].shape for value in (op.operands[0], op.results[0]))
        rows = list(dict.fromkeys(part.dimension for part in self.parts if part.dimension < len(after)))
        if not rows or any(after[dimension] != 1 or before[dimension] == 1 for dimension in rows):
            return None
        looked_up = self.names.value(op.operands[0], op)
        return self._say("one element", op=self.names.op(op), numbers=dimension_words(rows), looked_up=looked_up)

    def _needs(self, say: Callable[[str, Piece], Sentence] = worded, plain: str = "needed") -> Sentence:
        """Tells the sharding that the operation needs; `plain` is the form if nothing else is known."""
        moved, taker, given = self.array, self.match.taker, dict[str, object]()
        asks = self.place()
        if self.request is not None and self.request.argument and asks is not None and self.names.op(asks) == self.op():
            given["op"] = "it"
        form = self._changed() or plain
        if form == plain and moved is not None and self.is_elsewhere(moved):
            had = self.written(self.names.as_named(moved, self.program.values[moved].spec))
            form, given = "needed elsewhere", {"moved": self.names.value(moved), "had": had}
            if taker is not None and self.is_at_positions(taker.operand):
                form, given = "needed by positions", {}
        if form == "needed" and not self.is_way_known():
            # The sharding that the array has in the program may be the very one that it gets here.
            form = "needed, way unknown"
        return say(form, partial(self._piece, given))

    def _changed(self) -> str | None:
        """A value that is split differently where it is used: XLA has a copy there, with the name of what makes it."""
        own, moved = self.own, self.array
        if own is None or own.kind != "copy" or moved is None or self.need is None:
            return None
        value = self.program.values[moved]
        if value.argument is not None and is_named_as_operand(self.program, own):
            return "needed otherwise"
        op = self.program.op_of(moved)
        if op is None or moved not in op.results or op.kind in _VIEWS:
            return None
        is_its_name = bool(own.op_name) and (own.op_name, own.frames) == (op.op_name, op.frames)
        return "needed result" if is_its_name else None

    def _is_made_otherwise(self) -> bool:
        """True if what moves is the result of an operation that was computed in other pieces than it must have."""
        made, maker = self.edge.makers, self.maker
        return self.match.moves_result and maker is not None and made[0] in maker.results

    def _moved_result(self) -> Sentence:
        """The operation was computed in other pieces than its result must have."""
        taker = self.taker
        if self.match.step is not None and self.match.had is not None:
            step, steps = self.match.step
            return self._say("result of other pieces, step", step=step, steps=steps)
        if taker is None or self.is_void_request(taker) or self.names.op(taker) == self.made():
            return self._say("result of other pieces")
        return self._say("result of other pieces, taken", taker=self.names.op(taker, self.maker))

    def full_replication(self) -> Sentence:
        """Every device gathers all of an array, and keeps a piece."""
        target = self.match.wanted
        moved = self.match.taken
        if moved is not None and target is not None and target == self.match.had and (uneven := self._uneven(moved)):
            return self._padded(moved, *uneven)
        is_known = target is not None and str(self.spec(target)) not in self.had()
        return self._say("full replication" if is_known else "full replication, way unknown")

    def _uneven(self, moved: int) -> tuple[int, tuple[str, ...], int] | None:
        """The first dimension whose axes do not divide it, these axes, and the number of devices along them."""
        value = self.program.values[moved]
        rows = ((k, axes, self.program.pieces(axes)) for k, axes in enumerate(value.spec))
        return next((row for row in rows if value.shape[row[0]] % row[2]), None)

    def _padded(self, moved: int, dimension: int, axes: tuple[str, ...], devices: int) -> Sentence:
        """Every device gathers all of an array to pad it: the axes that split a dimension do not divide it."""
        taker = self.match.taker
        part = Part(value=moved, operand=None if taker is None else taker.operand, dimension=dimension, axes=axes)
        length = f"{self.program.values[moved].shape[dimension]:,}"
        return self._say("full replication, padded", length=length, along=self.counted([part]), devices=devices)

    # ------------------------------------------------------------ edges and positions

    def halo(self) -> Sentence:
        """An operation reads across the edges of pieces."""
        if (found := self._row() or self._of_result()) is not None:
            return found
        kind = self.own_kind
        if kind == "reverse":
            return self._say("reverse")
        if kind == "concatenate" and (rolled := self._rolled()) is not None:
            dimensions = (self.dimension(part) for part in self.shown_parts())
            return self._say("roll", rolled=rolled, numbers=dimension_words(dimensions))
        return self._say("edges", verb=_EDGES[kind]) if kind in _EDGES else self._say("window")

    def _of_result(self) -> Sentence | None:
        """An operation whose result alone is split along the dimension that it reads across."""
        parts = self.shown_parts()
        is_result = bool(parts) and all(self.value(part) == ITS_RESULT for part in parts)
        return self._say("of result", numbers=self.counted(parts)) if is_result else None

    def _rolled(self) -> str | None:
        """The array that a roll shifts: it joins the pieces of it in another order."""
        own = self.own
        if own is None or not _ROLL.search(own.op_name):
            return None
        ops = [op for op in map(self.program.op_of, own.operands) if op is not None]
        sources = {op.operands[0] for op in ops if op.kind == "slice"}
        return self.names.value(sources.pop(), own) if len(sources) == 1 and len(ops) == len(own.operands) else None

    def indexing(self) -> Sentence:
        """An operation reads or writes at positions that are known only when it runs."""
        if not self.parts:
            return self._step(say("{} needs it", self.op())) or self._needs()
        own, kind = self.own, self.own_kind
        if self.is_xlas():
            return self._say("scatter split by XLA" if kind == "scatter" else "positions split by XLA")
        if self.need is not None and self.need.is_sum and own is not None and kind == "scatter":
            if self.edge.kind not in SUMS:
                return self._scattered(own)
            verb, partial = _COMBINED.get(own.detail, ("combines", "result"))
            return self._say("scatter", verb=verb, partial=partial)
        if (found := self._of_result()) is not None:
            return found
        is_about_these = self.over_names <= {axis_name(own) for part in self.parts for own in part.axes}
        if not is_about_these and (step := self._step(say("{} needs it", self.op()))) is not None:
            return step
        is_running = own is not None and (kind == "reduce_window" or is_cumulative(own.op_name))
        verb = "accumulates along" if is_running else _AT_POSITIONS.get(kind, "looks up positions along")
        return self._say("positions", verb=verb)

    def _scattered(self, op: ShardedOp) -> Sentence:
        """A scatter whose results cannot be added up needs all positions, or all that is written there."""
        taker, moved = self.match.taker, self.array
        if (step := self._step(say("{} needs it", self.op()))) is not None:
            return step
        if taker is None or taker.operand <= len(op.results):
            return self._say("scatter, positions")
        if moved is not None and taker.shape != self.program.values[moved].shape:
            return self._needs()
        return self._say("scatter, written")

    # ------------------------------------------------------------ what XLA does not split, and what is not known

    def no_rule(self) -> Sentence:
        """An operation that XLA does not split."""
        own = self.own
        if own is not None and own.is_on_one:
            return self._on_one()
        if self.gives_result():
            return self._say("no rule, result")
        if self.parts and own is not None and own.rule is not None:
            return self._say("no rule, dimension")
        over = self.over_names
        if own is not None and own.rule is None and over and over <= dependent_axes(self.program, [own]):
            return self._say("no rule, matrix")
        return self._say("no rule")

    def predicate(self) -> Sentence:
        """The result decides how the program goes on."""
        decided = "whether the loop goes on" if self.decides() == "loop" else "which branch runs"
        return self._say("predicate", decided=decided)

    # ------------------------------------------------------------ what proves it

    def facts(self, others: Sequence[Sentence]) -> tuple[Sentence, ...]:
        """Shapes and shardings, where axes come from, and where XLA made the collective, each once.

        `others` are those that take what moves, too.
        """
        parts = () if self.gives_result() else self.parts
        found = [self._result_fact()]
        found += [self._part_fact(part) for part in parts]
        found += [self._origin_fact(origin, part) for part in parts for origin in self._origins(part)]
        if self.is_requested():
            found.append(say("asked for by {}", self.asker()))
        found += [self.taken(), self._edge_fact()]
        if others:
            rest = [f"{len(others) - _MOST_TAKERS} more"] if len(others) > _MOST_TAKERS else []
            found.append(say("what moves goes to {}, too", joined([*others[:_MOST_TAKERS], *rest])))
        return tuple(dict.fromkeys(map(Sentence, filter(None, found))))

    def _edge_fact(self) -> str:
        """Names the operations that the collective lies between in the partitioned program."""
        edge, need, program = self.edge, self.need, self.program
        makers = edge.makers
        if need is not None and need.is_sum and need.op is not None:
            # Of a masked sum only the operation, not what its mask is made of.
            makers = tuple(value for value in makers if program.values[value].op == need.op) or makers
        made = list(dict.fromkeys(map(self.names.value, makers[:2])))
        takers = edge.takers[:1] if self.match.taker is None else (self.match.taker,)
        taken = [self.names.op(program.ops[taker.op]) for taker in takers]
        taken += [say("{}", name(program.outputs[k].label or f"result {k}")) for k in edge.outputs[:1]]
        if not made or not taken:
            return ""
        if made == taken[:1]:
            return say("XLA's partitioner made it within {}", made[0])
        pieces, there = (
            say(" ({} on each device)", list(shape)) if shape else ""
            for shape in (edge.made_shape, next((taker.shape for taker in takers), ()))
        )
        return say("XLA's partitioner made it between {}{} and {}{}", joined(made), pieces, taken[0], there)

    def _result_fact(self) -> str:
        """The array that moves, where it is the result of the operation and not what the need is about."""
        if not self.match.moves_result or not self.edge.makers:
            return ""
        index = self.edge.makers[0]
        shape = list(self.names.as_named(index, self.program.values[index].shape))
        return say("what moves is {}: shape {}, {}", ITS_RESULT, shape, bare(self.made_as()))

    def _part_fact(self, part: Part) -> str:
        value, called = self.program.values[part.value], self.value(part)
        place = "result" if part.operand is None else f"operand {part.operand}"
        if self.need is not None and self.need.op is None:
            place = "result of the program"
        return say(
            "{}: shape {}, {}; dimension {} is {} over {}",
            called if called == ITS_RESULT else say("{}, {}", place, called),
            list(self.named(part, value.shape, 1)),
            bare(spec(spec_text(self.named(part, value.spec, ())))),
            self.dimension(part),
            "split by XLA" if self.is_xlas() else "sharded",
            over_axes(part.axes),
        )

    def _origins(self, part: Part) -> list[AxisOrigin]:
        axes = {axis_name(axis) for axis in part.axes}
        value = self.program.values[self.names.outside(part.value)]
        # That an argument's sharding is the argument's says nothing.
        return [origin for origin in value.origins if origin.axis in axes and value.argument is None]

    def _origin_fact(self, origin: AxisOrigin, part: Part) -> str:
        """Names the argument, result or constraint that an axis came from."""
        program, index = self.program, origin.index
        where = Sentence("the specs of a `shard_map`" if origin.kind == "manual" else "an unknown place")
        if origin.kind == "input" and index is not None:
            where = say("argument {}", name(program.inputs[index].label))
        elif origin.kind == "output" and index is not None:
            where = say("the sharding asked for {}", name(program.outputs[index].label or f"result {index}"))
        elif origin.kind == "constraint" and index is not None:
            where = say("the constraint {}", self.names.op(program.ops[index]))
        return say("{} on {} comes from {}", axis(origin.axis), self.value(part), where)
