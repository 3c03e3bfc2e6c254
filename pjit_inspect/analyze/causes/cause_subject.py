"""Names all that one cause is about: the operation whose need it is, the array that moves, the sharding it gets.

A method named as a place of a sentence is what stands there: `CauseSubject.op` at {op}. Not its job: the sentences
(`analyze.causes.wording`), or names of values (`analyze.sharding.value_names`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from pjit_inspect.analyze.causes.match import Match, axes_told
from pjit_inspect.analyze.sharding.needs import RESHARDS, Asker, Need, Part
from pjit_inspect.analyze.sharding.source_texts import IN_SPECS
from pjit_inspect.analyze.sharding.value_names import RESHARDED, ValueNames
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.program.opcodes import MANUAL_BORDERS, REQUESTS, SUMS
from pjit_inspect.model.report.cause import CauseKind
from pjit_inspect.model.sharding.sharded_program import PartitionedCollective, ShardedOp, ShardedProgram, axis_name
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, code, joined, name, say, spec

T = TypeVar("T")

ITS_RESULT = "its result"
POSITIONS = "its positions"
_OTHER_PIECES = "in other pieces"
_UNSPLIT = frozenset(("custom_call", "topk", "fft", "cholesky", "triangular_solve"))
"""Operations that the partitioner may not split at all, also along dimensions that are independent."""
_AT_POSITIONS = frozenset(("gather", "scatter", "dynamic_slice", "dynamic_update_slice", "sort"))
_REGIONS = frozenset(("while", "case", "if", "call", "optimization_barrier"))
_MOST_STEPS = 64
_SHARES = {2: "half", 3: "third", 4: "quarter"}


def over_axes(axes: Iterable[str]) -> Sentence:
    """Mesh axes in words: "`data` and `model`"."""
    return joined([axis(own) for own in axes])


def axes_or_parts(axes: Iterable[str]) -> Sentence:
    """Mesh axes in words, and that it is only a part of one: "`data` and a part of `model`"."""
    return joined([axis(own) if own == axis_name(own) else say("a part of {}", axis(axis_name(own))) for own in axes])


def _part_words(part: str, count: int, size: int) -> str:
    """A part of an axis, `count` long, in words: "outer half of 'data'" for "data:(1)2" of 4 devices."""
    before = part.partition(":(")[2].partition(")")[0]
    place = "outer" if before == "1" else "inner" if before == str(size // count) else "middle"
    share = _SHARES.get(size // count, f"1/{size // count}")
    return f"{place} {share} of {axis_name(part)!r}"


def dimension_words(dimensions: Iterable[int]) -> Sentence:
    """Dimensions in words: "dimension 0", "dimensions 0 and 2"."""
    numbers = list(dict.fromkeys(map(str, dimensions)))
    return say("dimension{} {}", "s" * (len(numbers) > 1), joined(numbers))


def _axes_of(parts: Iterable[Part]) -> frozenset[str]:
    return frozenset(axis_name(own) for part in parts for own in part.axes)


def _over_these(need: Need, axes: frozenset[str]) -> Need:
    """The part of a need over several axes that one collective of several serves; any other as it is."""
    if not axes or not axes < need.axes:
        return need
    parts = tuple(part for part in need.parts if axes & _axes_of((part,)))
    return replace(need, axes=need.axes & axes, parts=parts) if parts else need


class CauseSubject:
    """A collective between two operations, and the need it serves there.

    Attributes:
      program, names: the program before partitioning, and what its values are called.
      match, edge: where the collective lies in it, between what makes the moved array and what takes it.
      need: the part of the match's need that this collective serves; None where none is known.
      request: who asked for what it needs; None where nobody did.
      parts: the dimensions that the need is about.
      mesh_axes, over_names: the mesh axes that the collective goes over; () where they are not known.
      collective: what it is in the optimized program: "all-reduce", "reduce-scatter".
      maker: the first operation of which the moved array is made; None where there is none.
      taker: the operation that takes what moves; None where a result of the program does.
      sender: the operation that one device alone runs, and whose result it sends to the others; None for any other.
      own, own_kind: the operation whose need it is, else the one that takes what it yields; and its kind, or "".
      beside: the operation whose place the sentence tells, so that other places are short; None for none.
      array: the value that moves: the one that the taker takes, or the one that the collective is made of.
    """

    def __init__(self, match: Match, names: ValueNames, axes: tuple[str, ...] | None, collective: str) -> None:
        self.program: ShardedProgram = names.program
        self.names: ValueNames = names
        self.match: Match = match
        self.edge: PartitionedCollective = match.edge
        self.mesh_axes: tuple[str, ...] = axes or ()
        self.collective: str = collective
        self.over_names: frozenset[str] = frozenset(map(axis_name, self.mesh_axes))
        need = match.need
        is_whole = need is None or (match.step is not None and not need.is_sum)
        need = need if need is None or is_whole else _over_these(need, self.over_names)
        request = None if need is None else need.request
        if (
            need is not None
            and request is not None
            and request.argument.startswith("out_sharding")
            and self._is_transposed(request)
        ):
            # The argument of a call asks for the call's result: its gradient only gets the sharding that JAX gives it.
            need, request = replace(need, kind="reshard_needed", request=None), None
        self.need: Need | None = need
        self.request: Asker | None = request
        self.parts: tuple[Part, ...] = () if need is None else need.parts
        made = (self.program.op_of(value) for value in self.edge.makers)
        self.maker: ShardedOp | None = next((op for op in made if op is not None), None)
        self.taker: ShardedOp | None = None if match.taker is None else self.program.ops[match.taker.op]
        self.sender: ShardedOp | None = self.maker if need is None and self._is_sent() else None
        self.own: ShardedOp | None = (
            (self.sender or self.taker) if need is None else None if need.op is None else self.program.ops[need.op]
        )
        self.own_kind: str = "" if self.own is None else self.own.kind
        self.beside: ShardedOp | None = self.own
        own = match.taken if match.taken is not None or need is None else need.value
        self.array: int | None = own if own is not None else next(iter(self.edge.makers), None)

    def _is_transposed(self, request: Asker) -> bool:
        return self.names.phase(self.program.ops[request.index]) == "backward"

    def _is_sent(self) -> bool:
        """True if one device alone makes what is sent, or what that is made of at once."""
        if self.maker is None or self.edge.kind != "all-reduce":
            return False
        given = map(self.program.op_of, self.maker.operands)
        return any(op is not None and op.is_on_one for op in (self.maker, *given))

    # ------------------------------------------------------------ what kind of cause it is

    def kind(self) -> CauseKind:
        """The kind of cause, by what the collective is made for."""
        if self._gives_up():
            return "full_replication"
        if self.decides() == "loop":
            return "loop_predicate"
        if self.need is not None:
            return self.need.kind
        op = self.own
        if op is None:
            is_asked = any(self.program.outputs[number].spec is not None for number in self.edge.outputs)
            if self.match.moves_result and not is_asked:
                return "reshard_needed"
            return "output" if self.edge.outputs else "unknown"
        if op.kind in REQUESTS:
            return "reshard_needed" if self.is_void_request(op) else "reshard_requested"
        if op.is_on_one and op.kind == "custom_call":
            return "no_sharding_rule"
        if ((op.rule is None and op.kind not in _REGIONS) or op.kind in _UNSPLIT) and self._takes_all():
            return "no_sharding_rule"
        return "indexing" if op.kind in _AT_POSITIONS and not self._is_kept_along(op) else "reshard_needed"

    def _gives_up(self) -> bool:
        """True if an array is gathered on every device though each keeps a piece over the same axes again."""
        match, taker = self.match, self.match.taker
        if self.edge.kind != "all-gather" or not self.mesh_axes or taker is None or match.taken is None:
            return False
        if match.need is not None and match.need.kind not in RESHARDS:
            return False
        size = math.prod(self.program.values[match.taken].shape)
        is_kept = any(axis_name(axis) in self.over_names for own in match.wanted or () for axis in own)
        # Several gathers may lead there, one after the other.
        gathers = (step for step in (match.edge, *match.way) if step.kind == "all-gather")
        whole = any(step.elements * step.group_size >= size for step in gathers)
        return is_kept and whole and math.prod(taker.shape) < size

    def decides(self) -> Literal["loop", "branch"] | None:
        """The thing that its result alone decides: whether a loop goes on, or which branch runs; None for neither."""
        makers = map(self.program.op_of, self.edge.makers)
        if any(op is not None and op.in_condition for op in makers):
            return "loop"
        # One number may be compared and converted before it decides; every way it goes must end there.
        border = [(taker.op, taker.operand) for taker in self.edge.takers if not self.edge.outputs]
        ends = set[str]()
        for index, operand in border:
            op = self.program.ops[index]
            if op.in_condition or (op.kind == "case" and operand == 0):
                ends.add("loop" if op.in_condition else "branch")
                continue
            users = [user for result in op.results for user in self.program.users.get(result, ())]
            is_number = not any(self.program.values[result].shape for result in op.results)
            if not users or not is_number or len(border) > _MOST_STEPS:
                return None
            border += users
        return "loop" if "loop" in ends else "branch" if ends else None

    def _is_kept_along(self, op: ShardedOp) -> bool:
        """True if all dimensions that are gathered are handed on as they are: positions say nothing of them."""
        moved, taker = self.match.taken, self.match.taker
        if moved is None or taker is None or op.rule is None or taker.operand >= len(op.rule.operands):
            return False
        rows = zip(self.program.values[moved].spec, op.rule.operands[taker.operand], strict=False)
        lost = {factor for axes, own in rows if self.over_names & set(map(axis_name, axes)) for factor in own}
        at_positions = {*op.rule.reduction, *op.rule.need_replication, *op.rule.permutation}
        kept = {factor for result in op.rule.results for factors in result for factor in factors}
        return bool(lost) and not at_positions & lost and lost <= kept

    def _takes_all(self) -> bool:
        """True if every device gives the taker all of the array: that is what XLA does where it cannot split it."""
        moved, taker = self.match.taken, self.match.taker
        return moved is not None and taker is not None and taker.shape == self.program.values[moved].shape

    def is_void_request(self, op: ShardedOp) -> bool:
        """True if an operation asks for the sharding that the moved value has already: then it changes nothing."""
        if self.array is None or op.kind not in REQUESTS or not op.results:
            return False
        return self.program.values[self.array].spec == self.program.values[op.results[0]].spec

    def adds_up(self) -> bool:
        """True if parts are combined; what is looked up in, or written, may be gathered instead."""
        own = self.own
        is_gathered = self.edge.kind not in SUMS and own is not None and own.kind in ("gather", "scatter")
        return self.need is not None and self.need.is_sum and not is_gathered

    def is_xlas(self) -> bool:
        """True if XLA's partitioner has split a dimension that no sharding asks it to."""
        return self.need is not None and self.need.is_xlas

    def gives_result(self) -> bool:
        """True if it spreads what an operation that no rule splits has yielded: a sum in which all others add zeros."""
        own, edge = self.own, self.edge
        is_sum = edge.kind == "all-reduce" and self.need is not None and not self.need.is_sum
        return own is not None and own.rule is None and is_sum and edge.makers[:1] == own.results[:1]

    def is_elsewhere(self, moved: int) -> bool:
        """True if devices exchange pieces as large as those of the value's sharding, for no sharding that is known."""
        taker = self.match.taker
        if self.edge.kind != "collective-permute" or taker is None or self.match.wanted is not None:
            return False
        return taker.shape == self.edge.made_shape == self.program.local_shape(moved)

    def is_made_by_xla(self) -> bool:
        """True if it moves an array of XLA's own: the value that the cause would tell has another element type."""
        moved = next(iter(self.edge.makers), None) if self.match.moves_result else self.array
        return moved is not None and self.edge.dtype not in ("", self.program.values[moved].dtype)

    def splitting(self) -> str:
        """The operation that XLA was partitioning when it made the collective, else the one whose need it is."""
        visited = self.edge.visited
        return self.names.op(self.program.ops[visited[0]]) if len(visited) == 1 else self.op()

    def is_at_positions(self, operand: int | None) -> bool:
        """True if an operand says where a lookup or a scatter reads or writes."""
        own = self.own
        return own is not None and operand == {"gather": 1, "scatter": len(own.results)}.get(own.kind, -1)

    # ------------------------------------------------------------ what it is called

    def op(self) -> str:
        """The operation whose need it is."""
        if self.own is not None:
            return self.names.op(self.own)
        return self.names.value(self.array) if self.array is not None else "the program"

    def moved(self) -> str:
        """The array that moves."""
        if self.is_at_positions(None if self.match.taker is None else self.match.taker.operand):
            return POSITIONS
        if self.array is None:
            return "an operand"
        return self._called(self.array)

    def _called(self, value: int) -> Sentence:
        """The name of a value, as the array that it is without dimensions of length 1 that XLA added or left out."""
        own, kept = self.names.unpadded(value, self.beside)
        dimensions, told = self.program.values[value].spec, self.names.value(own, self.beside)
        is_same = self.program.values[own].spec == tuple(() if k is None else dimensions[k] for k in kept)
        return told if is_same or RESHARDED in told else say("{}{}", told, RESHARDED)

    def it_is(self) -> str:
        """The pronoun for the array that moves, and its verb."""
        return "they are" if self.moved() == POSITIONS else "it is"

    def had(self) -> str:
        """The sharding of the array that moves."""
        if self.array is None:
            return _OTHER_PIECES
        return say("{}", self.spec(self.program.values[self.array].spec))

    def spec(self, dimensions: Dimensions) -> Phrase:
        """A sharding of the moved value, in the order of its text and without dimensions of length 1 that XLA added."""
        return self.written(self.dimensions_told(dimensions))

    def written(self, dimensions: Dimensions) -> Phrase:
        """A sharding as a user would write it; a part of an axis in words, such as "outer half of 'data'"."""
        text = spec_text(dimensions)
        for part in {own for axes in dimensions for own in axes if own != axis_name(own)}:
            words = _part_words(part, self.program.length(part), self.program.length(axis_name(part)))
            text = text.replace(repr(part), words)
        return spec(text)

    def dimensions_told(self, dimensions: Dimensions) -> Dimensions:
        """The moved value's axes of each dimension, in the order of its text; with its own of length 1."""
        if self.array is None or len(dimensions) != len(self.program.values[self.array].shape):
            return dimensions
        return self._told(self.array, dimensions, ())

    def _told(self, value: int, dimensions: Sequence[T], left_out: T) -> tuple[T, ...]:
        own, kept = self.names.unpadded(value, self.beside)
        told = [left_out if place is None else dimensions[place] for place in kept]
        return self.names.as_named(own, told, self.beside)

    def wanted(self) -> str:
        """The sharding that is asked for, else the pieces that are taken."""
        own, taker = self.own, self.match.taker
        if self.match.wanted is not None:
            return say("{}", self.spec(self.match.wanted))
        if own is not None and own.kind in REQUESTS and own.results:
            return say("{}", self.written(self.program.values[own.results[0]].spec))
        return say("pieces of {}", list(taker.shape)) if taker is not None and taker.shape else "another sharding"

    def is_way_known(self) -> bool:
        """True if the sharding or the pieces with which the operation takes the array that moves are known."""
        return not self.match.is_doubted and self.as_wanted() != _OTHER_PIECES

    def as_wanted(self) -> str:
        """The sharding with which the operation takes the array that moves; its pieces if that is unknown."""
        target, taker, op = self.match.wanted, self.match.taker, self.taker
        if taker is not None and op is not None and op.kind == "case" and taker.operand >= len(op.operands):
            return "as the other branches return it"
        if target is not None and str(self.spec(target)) != self.had():
            return say("as {}", self.spec(target))
        # Pieces as large as those that are there say nothing of how they differ.
        there = None if self.array is None else self.program.local_shape(self.array)
        if taker is not None and taker.shape and taker.shape != there:
            return say("in pieces of {} on each device", list(taker.shape))
        return _OTHER_PIECES

    def shown_parts(self) -> list[Part]:
        """The operands' dimensions; the results', where it is only about those, or goes only over their axes."""
        parts, own = list(self.parts), self.own
        if own is not None and own.kind == "scatter" and self.need is not None and self.need.is_sum:
            # The positions go with what is added up; that is what a reader knows.
            last = max((part.operand or 0 for part in parts if not self.names.is_constant(part.value)), default=0)
            parts = [part for part in parts if part.operand == last] or parts
        operands, results = ([p for p in parts if (p.operand is None) is own] for own in (False, True))
        over = self.over_names
        is_of_results = over.isdisjoint(_axes_of(operands)) and not over.isdisjoint(_axes_of(results))
        parts = (results if is_of_results else operands) or parts
        # Zeros or ones that were broadcast are nothing a reader knows.
        return [part for part in parts if not self.names.is_constant(part.value)] or parts

    def dimensions(self) -> str:
        """In words: "dimension 1 of `x` and dimension 0 of `w`", "dimensions 0 and 2 of `x`"."""
        parts = self.shown_parts()
        is_one_sum = self.need is not None and self.need.kind == "contraction"
        is_one_sum &= len({part.operand for part in parts}) == len(parts) == 2
        by_value: dict[object, list[Part]] = {}
        for place, part in enumerate(parts):
            by_value.setdefault(place if is_one_sum else part.value, []).append(part)
        phrases = [say("{} of {}", self.counted(own), self.value(own[0])) for own in list(by_value.values())[:2]]
        phrases = phrases if is_one_sum else list(dict.fromkeys(phrases))
        is_together = not parts or self._is_of_one(parts)
        return joined(phrases, " and " if is_together else ", and over ") or "a dimension"

    def counted(self, parts: Sequence[Part]) -> str:
        """The dimensions of one array by number; without, where nobody knows which is which, as after `vmap`."""
        value = parts[0].value
        op = self.program.op_of(value)
        is_made = op is not None and value in op.results and not self.names.argument(value)
        is_batched = op is not None and is_made and self.names.is_batched(op)
        is_known = self.value(parts[0]) == ITS_RESULT or self.names.is_counted(value, self.beside)
        if is_known and not is_batched:
            return dimension_words(map(self.dimension, parts))
        count = len({part.dimension for part in parts})
        return "a dimension" if count == 1 else f"{count} dimensions"

    def elements(self) -> str:
        """The number of elements of `dimensions`: "these 2,048 elements"."""
        shown = self.shown_parts()
        factors = {self._factors(part): part for part in shown}
        own = [part for part in shown if part.operand == shown[0].operand] if None in factors else factors.values()
        values = self.program.values
        lengths = {(part.operand, part.dimension): values[part.value].shape[part.dimension] for part in own}
        return f"these {math.prod(lengths.values()):,} elements" if lengths else "these elements"

    def _factors(self, part: Part) -> tuple[str, ...] | None:
        """The factors of a dimension by its operation's rule: both sides of a product have them; None if unknown."""
        op, place = self.own, part.operand
        if op is None or op.rule is None or place is None or op.operands[place : place + 1] != (part.value,):
            return None
        return op.rule.operands[place][part.dimension] if place < len(op.rule.operands) else None

    def _is_of_one(self, parts: Sequence[Part]) -> bool:
        """True unless operands are known to be summed over different dimensions: these are no pairs."""
        by_operand: dict[int | None, set[tuple[str, ...] | None]] = {}
        for part in parts:
            by_operand.setdefault(part.operand, set()).add(self._factors(part))
        first, *others = by_operand.values()
        return all(None in own or own == first for own in others)

    def dimension(self, part: Part) -> int:
        """The dimension that a part of the need is about, as the text of its array counts them."""
        places = self.named(part, range(len(self.program.values[part.value].shape)), -1)
        return places.index(part.dimension) if part.dimension in places else part.dimension

    def named(self, part: Part, dimensions: Sequence[T], left_out: T) -> tuple[T, ...]:
        """Values for each dimension of a part's array, in the order of the text that names it (`value`).

        `left_out` is what XLA's form of it leaves out, of length 1, has.
        """
        if self.value(part) == ITS_RESULT:
            return self.names.as_named(part.value, dimensions)
        return self._told(part.value, dimensions, left_out)

    def value(self, part: Part) -> str:
        """The array that a part of the need is about."""
        if part.operand is None and self.own is not None and part.value in self.own.results:
            return ITS_RESULT
        return POSITIONS if self.is_at_positions(part.operand) else self._called(part.value)

    def axes(self) -> str:
        """The mesh axes of the need, in the mesh's order; of a sum, those that the collective goes over."""
        if self.mesh_axes and self.need is not None and self.need.is_sum:
            return axes_or_parts(axes_told(self.shown_parts(), self.mesh_axes))
        return self._in_order(self.mesh_axes if self.need is None else self.need.axes)

    def shown_axes(self) -> str:
        """The mesh axes over which `dimensions` are split, in the mesh's order; the need's where they tell none."""
        axes = _axes_of(self.shown_parts())
        return self._in_order(axes) if axes else self.axes()

    def _in_order(self, axes: Iterable[str]) -> str:
        order = list(self.program.sizes)
        return over_axes(sorted(axes, key=lambda axis: order.index(axis) if axis in order else 0))

    def over(self) -> str:
        """The mesh axes that the collective goes over."""
        return axes_or_parts(self.mesh_axes)

    def adds(self) -> str:
        """Says that the collective adds partial sums."""
        return self._puts_together("adds")

    def combines(self) -> str:
        """Says that the collective combines the results of parts."""
        return self._puts_together("combines")

    def _puts_together(self, verb: str) -> str:
        size = self.edge.group_size
        them = f"the {size:,}" if size > 1 else "them"
        if self.collective not in SUMS:
            return f"the {self.collective} brings {them} together"
        rest = " and leaves a piece on each device" if self.collective == "reduce-scatter" else ""
        step = "" if self.match.step is None else " (step {} of {})".format(*self.match.step)
        return f"the {self.collective} {verb} {them}{rest}{step}"

    def is_requested(self) -> bool:
        """True if somebody asks for the sharding in the program."""
        return self.request is not None and self.request.kind == "reshard_requested"

    def place(self) -> ShardedOp | None:
        """The operation it is told at: the request, where one was made."""
        return self.program.ops[self.request.index] if self.request is not None and self.is_requested() else self.own

    def asker(self) -> str:
        """The operation, or the argument of one, that asks for a sharding."""
        op = self.place()
        if op is None:
            return self.op()
        argument = "" if self.request is None else self.request.argument
        return say("{} of {}", code(argument), self.names.op(op)) if argument else self.names.op(op)

    def asks(self) -> str:
        """The same with its verb."""
        is_many = self.request is not None and self.request.argument == IN_SPECS
        return say("{} {}", self.asker(), "ask" if is_many else "asks")

    def taken(self) -> str:
        """Says that an operand cannot keep its axis, as another dimension of the result has it; "" if it can."""
        need, op = self.need, self.own
        if need is None or self.match.wanted != need.target:
            return ""
        found = next((pair for pair in need.taken if not self.over_names or pair[0] in self.over_names), None)
        if found is None:
            return ""
        told = (
            found[1] if op is None else None if self.names.is_batched(op) else self.names.told_dimension(op, found[1])
        )
        which = "another dimension" if told is None else f"dimension {told}"
        return say("axis {} already splits {} of the result", axis(found[0]), which)

    # ------------------------------------------------------------ the result that moves

    def made(self) -> str:
        """The operation whose result moves."""
        return self.names.value(self.edge.makers[0]) if self.edge.makers else "a value"

    def made_as(self) -> Phrase:
        """The sharding of its result; of the whole of it, where it is made in a `shard_map`."""
        value = self.edge.makers[0]
        behind = [self.program.ops[user] for user, _ in self.program.users.get(value, ())]
        if len(behind) == 1 and behind[0].detail in MANUAL_BORDERS:
            value = behind[0].results[0]
        return self.written(self.names.as_named(value, self.program.values[value].spec))

    def as_computed(self) -> str:
        """The sharding in which its result is computed; its pieces if that is unknown."""
        value = self.edge.makers[0]
        if self.match.had is not None:
            return say("as {}", self.written(self.names.as_named(value, self.match.had)))
        if self.edge.made_shape == self.program.local_shape(value):
            return "with its pieces on other devices"
        return say("in pieces of {} on each device", list(self.names.as_named(value, self.edge.made_shape)))

    def as_split(self) -> str:
        """The reason for how it is computed: ", as its operands are split" if they have these axes; "" if unknown."""
        operands = () if self.maker is None else self.maker.operands
        given = {axis for operand in operands for axis in self.program.values[operand].axes}
        had = {axis for axes in self.match.had or () for axis in axes}
        return ", as its operands are split" if had and had <= given else ""

    def as_taken(self) -> str:
        """The sharding with which the taker takes it."""
        taker = self.match.taker
        is_whole = taker is None or taker.shape in ((), self.program.local_shape(self.edge.makers[0]))
        return say("as {}", self.made_as()) if is_whole else self.as_wanted()

    def target(self) -> Phrase:
        """XLA's name of the operation."""
        return name("" if self.own is None else self.own.detail or self.own.kind)
