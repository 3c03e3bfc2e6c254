"""Places where one change of the source changes how a program splits its arrays.

A place is one that a person can write: the value that a line binds (in all layers of a Python loop at once, with the
gradient that JAX binds with it), a constraint that is there, arguments that differ in the number of a layer with the
optimizer's state of them, a result. Not its job: what may be written there (`specs`), or whether that saves anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.analyze.advice.updates import root_of
from pjit_inspect.analyze.program.phases import LATER
from pjit_inspect.analyze.suggest.argument_groups import ArgumentGroup, argument_groups
from pjit_inspect.analyze.suggest.requests import Requests, is_asked
from pjit_inspect.model.program.mesh import Dimensions
from pjit_inspect.model.program.opcodes import REQUESTS
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.finding import FindingKind
from pjit_inspect.model.report.suggestion import Edit, EditKind
from pjit_inspect.model.sharding.sharded_program import ShardedOp
from pjit_inspect.model.words.sentence import Sentence, code, say

SMALLEST = 0.02
"""Arrays of fewer bytes than this share of the largest one's are no place to change."""
_PASSING = frozenset(
    ("broadcast_in_dim", "reshape", "transpose", "copy", "dynamic_update_slice", "optimization_barrier", "while")
)
"""Operations that compute nothing with what they take."""
_MADE = frozenset(("constant", "iota", *REQUESTS))
_HANDING_ON = frozenset(("add", "subtract", "convert", "copy", "reshape", "transpose"))
"""Operations whose gradient is the one they are given: the backward pass has no operation of theirs."""
_MOST_HANDED = 5

SiteKind = Literal["value", "request", "argument", "result"]
Place = tuple[EditKind, int, int]
"""The kind of an edit, and its index and number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One place to change.

    Attributes:
      kind: what it is.
      words: its name for a reader.
      places: the edits that a change of it makes, the gradients' last.
      arrays: the values it is about, each with how it is split, or asked to be.
      fixed: the one sharding to propose of each array, for places that are many arrays; () for any.
      ops: the operations that make the values, in program order; () for arguments and results.
      gradients: number of the places that only bind gradients.
      source: the user's frames of its line, innermost first.
      count: number of arrays that it is about.
      is_on_purpose: whether a constraint asks for it on an argument or a result itself: to change it is another layout.
      fact, sentence, change: the kind of the fact that its one change is a remedy for, and how to say both; "" for any
        other place.
    """

    kind: SiteKind
    words: Sentence
    places: tuple[Place, ...]
    arrays: tuple[tuple[int, Dimensions], ...]
    fixed: tuple[Dimensions, ...] = ()
    ops: tuple[int, ...] = ()
    gradients: int = 0
    source: tuple[Frame, ...] = ()
    count: int = 1
    is_on_purpose: bool = False
    fact: FindingKind | Literal[""] = ""
    sentence: Sentence | Literal[""] = ""
    change: str = ""

    @property
    def value(self) -> int:
        """The first of its arrays."""
        return self.arrays[0][0]

    @property
    def touched(self) -> frozenset[tuple[str, int]]:
        """The arguments, results and operations that a change of it edits."""
        return frozenset((kind if kind in ("argument", "result") else "", index) for kind, index, _ in self.places)

    @property
    def now(self) -> Dimensions:
        """How the first of its arrays is split."""
        return self.arrays[0][1]

    def edits(self, spec: Dimensions | None) -> tuple[Edit, ...]:
        """The change of it to a sharding; None leaves a constraint out."""
        specs = self.fixed or (spec,) * len(self.places)
        return tuple(
            Edit(kind="remove" if kind == "respec" and own is None else kind, index=index, number=number, spec=own)
            for (kind, index, number), own in zip(self.places, specs, strict=True)
        )

    def pairs(self, spec: Dimensions | None) -> Iterator[tuple[int, Dimensions, Dimensions]]:
        """Each array, how it is split now, and how the change splits it."""
        for number, (value, now) in enumerate(self.arrays):
            yield value, now, self.fixed[number] if self.fixed else ((),) * len(now) if spec is None else spec


def site_of_edits(own: EditedProgram, edits: Sequence[Edit], **said: Any) -> Site:
    """The place of one change inside a program that is known already; `said` are other fields of the place."""
    values = []
    for edit in edits:
        op = own.program.ops[edit.index]
        values.append((op.results if edit.kind == "constrain" else op.operands)[edit.number])
    return Site(
        kind="value",
        places=tuple((edit.kind, edit.index, edit.number) for edit in edits),
        arrays=tuple((value, own.spec(value)) for value in values),
        fixed=tuple(edit.spec or () for edit in edits),
        ops=tuple(sorted({edit.index for edit in edits})),
        **said,
    )


class Sites:
    """Finds the places of one program."""

    def __init__(self, program: EditedProgram) -> None:
        self._own, self._names = program, program.names
        self._ops, self._values = program.program.ops, program.program.values

    def find(self) -> Iterator[Site]:
        """All places, each once."""
        yield from self._requests()
        yield from self._trees()
        yield from self._arguments()
        yield from self._results()
        yield from self._lines()

    def _is_large(self, value: int, times: int = 1) -> bool:
        return self._own.whole_bytes(value) * times >= SMALLEST * self._own.largest_bytes

    # ------------------------------------------------------------ what is written already

    def _requests(self) -> Iterator[Site]:
        requests, done = Requests(self._names), set[tuple[int, ...]]()
        for index, op in enumerate(self._ops):
            if not is_asked(op) or op.manual:
                continue
            for request in (requests.of(index), requests.of_every_call(index)):
                if request is None or request.ops in done:
                    continue
                done.add(request.ops)
                yield Site(
                    kind="request",
                    words=request.words,
                    places=tuple(("respec", own, 0) for own in request.ops),
                    arrays=self._made(request.ops),
                    ops=tuple(sorted(request.ops)),
                    source=self._asking(op),
                    is_on_purpose=self._is_at_the_border(op),
                )

    def _is_at_the_border(self, op: ShardedOp) -> bool:
        """Whether a constraint is on an argument or a result of the program, or a view of one."""
        names = self._names
        results = {names.seen_through(own.value) for own in self._own.program.outputs}
        return bool(names.argument(op.operands[0])) or names.seen_through(op.results[0]) in results

    def _asking(self, op: ShardedOp) -> tuple[Frame, ...]:
        """The frames of a constraint, or of the call of a helper that makes it."""
        frames, caller = self._names.frames(op), self._names.caller(op)
        return frames[frames.index(caller) :] if caller in frames else frames

    def _arguments(self) -> Iterator[Site]:
        groups = argument_groups(self._own.program)
        # The optimizer's state of a parameter goes with it, and is a place of its own where it is split differently.
        peers = {index for group in groups for index in group.peers}
        for group in groups:
            value = self._own.program.inputs[group.members[0]].value
            if not peers.issuperset(group.members) and self._is_large(value, len(group.members)):
                yield self._argument(group, value)

    def _argument(self, group: ArgumentGroup, value: int) -> Site:
        arguments: list[Place] = [("argument", index, 0) for index in (*group.members, *group.peers)]
        results: list[Place] = [("result", index, 0) for index in group.results]
        return Site(
            kind="argument",
            words=say("{}", code(group.label)) if len(group.members) == 1 else Sentence(group.words),
            places=(*arguments, *results),
            arrays=((value, group.spec),),
            count=len(arguments),
        )

    def _results(self) -> Iterator[Site]:
        for index, own in enumerate(self._own.program.outputs):
            if self._is_large(own.value):
                words = say("{}", code(own.label or f"result[{index}]"))
                now = self._own.spec(own.value) if own.spec is None else own.spec
                yield Site(kind="result", words=words, places=(("result", index, 0),), arrays=((own.value, now),))

    def _trees(self) -> Iterator[Site]:
        """Arrays of one tree that every device holds in full, each split as another argument of its dimensions is."""
        trees: dict[tuple[SiteKind, str], list[tuple[Place, int, Dimensions]]] = defaultdict(list)
        for group in argument_groups(self._own.program):
            value = self._own.program.inputs[group.members[0]].value
            if not any(group.spec) and (spec := self._as_argument(value)):
                own = trees["argument", root_of(group.label)]
                own += [(("argument", index, 0), value, spec) for index in (*group.members, *group.peers)]
                own += [(("result", index, 0), value, spec) for index in group.results]
        for index, result in enumerate(self._own.program.outputs):
            is_whole = result.spec is not None and not any(result.spec)
            if is_whole and (spec := self._as_argument(result.value)):
                trees["result", root_of(result.label)].append((("result", index, 0), result.value, spec))
        for (kind, root), rows in trees.items():
            places = {place: (value, spec) for place, value, spec in rows}
            if len(places) > 1 and self._is_large(rows[0][1], len(places)):
                yield Site(
                    kind=kind,
                    words=say("the {} arrays of {} that every device holds in full", len(places), code(root or kind)),
                    places=tuple(places),
                    arrays=tuple((value, ((),) * len(spec)) for value, spec in places.values()),
                    fixed=tuple(spec for _, spec in places.values()),
                    count=len(places),
                )

    def _as_argument(self, value: int) -> Dimensions | None:
        """How a split argument of the same dimensions is split; None if there is none."""
        own = (self._own.spec(one.value) for one in self._own.program.inputs if self._is_alike(one.value, value))
        return next((spec for spec in own if any(spec)), None)

    def _is_alike(self, one: int, other: int) -> bool:
        is_same = self._own.classes(one) == self._own.classes(other)
        return is_same and self._own.shape(one) == self._own.shape(other)

    def _made(self, ops: Sequence[int]) -> tuple[tuple[int, Dimensions], ...]:
        """What ops make, and how it is split."""
        return tuple((value, self._own.spec(value)) for index in ops for value in self._ops[index].results[:1])

    # ------------------------------------------------------------ what a line binds

    def _lines(self) -> Iterator[Site]:
        lines: dict[object, list[int]] = defaultdict(list)
        for index, op in enumerate(self._ops):
            if self._is_written(index, op):
                frame = self._names.frames(op)[0]
                lines[frame.file, frame.line, self._own.shape(op.results[0])].append(index)
        for ops in lines.values():
            # A variable is computed with elsewhere; where nothing is, what is returned or moved on is one.
            bound = [index for index in ops if self._goes_on(index)] or [index for index in ops if self._leaves(index)]
            if not bound:
                continue
            own = [index for index in bound if self._kind(index) == self._kind(bound[-1])]
            # A function that is called several times is several operations here, and one in the copy that is edited.
            numbers = {self._own.numbers[index] for index in own}
            if all(index in own for number in numbers for index in self._same_number[number]):
                yield self._line(own)

    def _line(self, ops: list[int]) -> Site:
        again, gradients = self._again(ops), self._gradients(ops)
        places: list[Place] = [("constrain", index, 0) for index in (*ops, *again)]
        op = self._ops[ops[0]]
        return Site(
            kind="value",
            words=self._names.op(op),
            places=(*places, *gradients),
            arrays=self._made(ops),
            ops=tuple(ops),
            gradients=len(gradients),
            source=self._names.frames(op),
            count=len(ops),
        )

    def _is_written(self, index: int, op: ShardedOp) -> bool:
        """Whether an op of the forward pass makes one array that some line could bind, and that is worth a look."""
        return bool(
            len(op.results) == 1
            and op.kind not in _MADE
            and not op.manual
            and not op.in_condition
            and self._own.numbers[index] is not None
            and self._own.phases[index] in ("forward", None)
            and self._names.frames(op)
            and self._is_large(op.results[0], self._own.runs[index])
        )

    @cached_property
    def _same_number(self) -> dict[int | None, list[int]]:
        found: dict[int | None, list[int]] = defaultdict(list)
        for index, number in enumerate(self._own.numbers):
            found[number].append(index)
        return found

    def _goes_on(self, index: int, *, also: Sequence[str] = ()) -> bool:
        """Whether the forward pass computes with an op's result on another line, or to another shape."""
        op = self._ops[index]
        shape, line = self._own.shape(op.results[0]), self._names.frames(op)[:1]
        phases = ("forward", None, *also)
        users = [own for own in self._own.users(op.results[0]) if self._ops[own].kind not in _PASSING]
        return any(
            self._own.phases[own] in phases
            and (self._names.frames(self._ops[own])[:1] != line or self._own.shape(self._ops[own].results[0]) != shape)
            for own in users
            if self._ops[own].results
        )

    def _leaves(self, index: int) -> bool:
        """Whether the program returns an op's result, or another piece of the source takes it."""
        users = list(self._own.users(self._ops[index].results[0]))
        return not users or any(self._own.piece(own) != self._own.piece(index) for own in users)

    def _kind(self, index: int) -> object:
        """Equal for what a line makes in each layer of a Python loop, and when it is computed again."""
        op = self._ops[index]
        return (self._own.piece(index), op.opcode, op.op_name.rpartition("/")[2])

    # ------------------------------------------------------------ what JAX binds with it

    def _again(self, ops: list[int]) -> list[int]:
        """The operations that compute the same values again for the gradient."""
        shape, kind = self._own.shape(self._ops[ops[0]].results[0]), self._kind(ops[0])
        pieces = {self._own.piece(index) for index in ops}
        return [
            index
            for piece in pieces
            for index in self._later.get(("recompute", piece), ())
            if len(self._ops[index].results) == 1
            and self._kind(index) == kind
            and self._own.shape(self._ops[index].results[0]) == shape
            and self._own.numbers[index] is not None
            and self._goes_on(index, also=("recompute", "backward"))
        ]

    def _gradients(self, ops: list[int]) -> tuple[Place, ...]:
        """Where the backward pass hands the gradient of what a line makes to the transpose of that line.

        These are arrays of the same shape that operations of the line's piece take in the backward pass, and that those
        of other pieces make. A sum has no such operation: what it adds takes the gradient from the same place.
        """
        if not self._own.is_differentiated:
            return ()
        shape = self._own.shape(self._ops[ops[0]].results[0])
        border, pieces = list(ops), set[object]()
        for _ in range(_MOST_HANDED):
            pieces |= {self._own.piece(index) for index in border}
            found = {
                place: None
                for piece in pieces
                for index in self._later.get(("backward", piece), ())
                for number in range(len(self._ops[index].operands))
                if (place := self._handed(index, number, shape, pieces)) is not None
            }
            if found:
                return tuple(found)
            border = [maker for index in border for maker in self._added(index, shape)]
        return ()

    def _handed(self, index: int, number: int, shape: tuple[int, ...], pieces: set[object]) -> Place | None:
        """The place of one operand, where another piece of the backward pass makes it; None for any other."""
        value = self._ops[index].operands[number]
        maker = self._values[value].op
        if self._own.shape(value) != shape or maker is None or self._own.phases[maker] != "backward":
            return None
        if self._own.piece(maker) in pieces:
            return None
        results = self._ops[maker].results
        place: Place = ("constrain", maker, results.index(value)) if value in results else ("hop", index, number)
        return place if self._own.numbers[place[1]] is not None else None

    def _added(self, index: int, shape: tuple[int, ...]) -> Iterator[int]:
        """What makes the operands that an op hands its gradient to, and nothing else takes."""
        op = self._ops[index]
        for value in op.operands if op.kind in _HANDING_ON else ():
            maker = self._values[value].op
            if maker is not None and self._own.shape(value) == shape and len(list(self._own.users(value))) == 1:
                yield maker

    @cached_property
    def _later(self) -> dict[tuple[str, object], list[int]]:
        """The operations of each piece in the backward pass, and those that are computed again."""
        found: dict[tuple[str, object], list[int]] = defaultdict(list)
        for index, phase in enumerate(self._own.phases):
            if phase in LATER:
                found[str(phase), self._own.piece(index)].append(index)
        return found
