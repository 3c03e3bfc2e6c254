"""Values that a line of source binds: what a person can put a constraint on, with all that JAX binds with it.

All layers of a Python loop are one place, for one line makes them. With it go the copies that are computed again for
the gradient, and the gradient itself: JAX splits it as the value. Not its job: other places (`sites`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from pjit_inspect.analyze.advice.edited_program import EditedProgram
from pjit_inspect.analyze.advice.site import Place, Site, is_large
from pjit_inspect.analyze.program.phases import LATER
from pjit_inspect.model.program.opcodes import PRODUCTS, REQUESTS, VIEWS, operations
from pjit_inspect.model.sharding.sharded_program import ShardedOp

_PASSING = VIEWS | operations("broadcast") | {"dynamic_update_slice", "while"}
"""Operations that compute nothing with what they take."""
_MADE = frozenset(("constant", "iota", *REQUESTS))
_HANDING_ON = operations("view", "convert") | {"add", "subtract"}
"""Operations whose gradient is the one they are given: the backward pass has no operation of theirs."""
_MOST_HANDED = 5


class Lines:
    """Finds the lines of one program that bind a value."""

    def __init__(self, program: EditedProgram) -> None:
        self._own, self._names = program, program.names
        self._ops, self._values = program.program.ops, program.program.values

    # ------------------------------------------------------------ what a line binds

    def find(self) -> Iterator[Site]:
        """A place for each piece of a line that binds a value, each once."""
        found = set[tuple[Place, ...]]()
        for ops in self._lines.values():
            # A variable is computed with elsewhere; where nothing is, what is returned or moved on is one.
            bound = [index for index in ops if self._goes_on(index)] or [index for index in ops if self._leaves(index)]
            site = self._made_like(bound[-1], bound) if bound else None
            if site is not None and site.places not in found:
                found.add(site.places)
                yield site

    def at(self, index: int) -> Site | None:
        """The place of one operation's result, in the call that it is of; None where no line could bind it."""
        ops = self._lines.get(self._line_key(index), []) if self._names.frames(self._ops[index]) else []
        key = self._kind(index), self._own.piece(index)
        return self._line([other for other in ops if (self._kind(other), self._own.piece(other)) == key])

    @cached_property
    def _lines(self) -> dict[object, list[int]]:
        """The operations of each line and shape that make something it could bind."""
        lines: dict[object, list[int]] = defaultdict(list)
        for index, op in enumerate(self._ops):
            if self._is_written(index, op):
                lines[self._line_key(index)].append(index)
        return lines

    def _line_key(self, index: int) -> object:
        frame = self._names.frames(self._ops[index])[0]
        return frame.file, frame.line, self._own.shape(self._ops[index].results[0])

    def _made_like(self, index: int, ops: Sequence[int]) -> Site | None:
        """The place of those that make what one of them makes; None where no line can change just these.

        A helper's line makes it in every call, and in calls with other shapes: a constraint there binds all of them.
        """
        kind, line = self._kind(index), self._line_key(index)
        others = (other for other in self._kinds[kind] if self._line_key(other) != line)
        own = sorted({*(other for other in ops if self._kind(other) == kind), *others})
        if len({len(self._own.shape(self._ops[other].results[0])) for other in own}) > 1:
            return None
        return self._line(own)

    @cached_property
    def _kinds(self) -> dict[object, list[int]]:
        """The operations that a line could bind, by what makes them."""
        found: dict[object, list[int]] = defaultdict(list)
        for index in (index for ops in self._lines.values() for index in ops):
            found[self._kind(index)].append(index)
        return found

    def _line(self, ops: list[int]) -> Site | None:
        """The place of some operations; None of none, and where others are the same one in the copy that is edited."""
        # A function that is called several times is several operations here, and one there.
        numbers = {self._own.numbers[index] for index in ops}
        if not ops or not all(other in ops for number in numbers for other in self._same_number[number]):
            return None
        shapes: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for index in ops:
            shapes[self._own.shape(self._ops[index].results[0])].append(index)
        again = [index for alike in shapes.values() for index in self._again(alike)]
        gradients = [place for alike in shapes.values() for place in self._gradients(alike)]
        products = () if gradients else [own for index in ops for own in self._differentiating[index]]
        if any(place is None for place in products):
            # A constraint binds a gradient that nobody can name the place of: what is asked would be another program.
            return None
        gradients += [place for place in products if place is not None]
        op = self._ops[ops[0]]
        return Site(
            kind="value",
            words=self._names.op(op),
            places=(*(("constrain", index, 0) for index in (*ops, *again)), *gradients),
            arrays=tuple((self._ops[index].results[0], self._own.spec(self._ops[index].results[0])) for index in ops),
            ops=tuple(ops),
            gradients=len(gradients),
            source=self._names.frames(op),
            count=len(ops),
        )

    def _is_written(self, index: int, op: ShardedOp) -> bool:
        """True if an op of the forward pass makes one array that some line could bind, and that is worth a look."""
        return bool(
            len(op.results) == 1
            and op.kind not in _MADE
            and not op.manual
            and not op.in_condition
            and self._own.numbers[index] is not None
            and self._own.phases[index] in ("forward", None)
            and self._names.frames(op)
            and is_large(self._own, op.results[0], self._own.runs[index])
        )

    @cached_property
    def _same_number(self) -> dict[int | None, list[int]]:
        found: dict[int | None, list[int]] = defaultdict(list)
        for index, number in enumerate(self._own.numbers):
            found[number].append(index)
        return found

    def _goes_on(self, index: int, *, also: Sequence[str] = ()) -> bool:
        """True if the forward pass computes with an op's result on another line, or to another shape."""
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
        """True if the program returns an op's result, or another piece of the source takes it."""
        users = list(self._own.users(self._ops[index].results[0]))
        return not users or any(self._own.piece(own) != self._own.piece(index) for own in users)

    def _kind(self, index: int) -> object:
        """Equal for what a piece of a line makes: in each layer of a Python loop, in each call, and computed again."""
        op, frames = self._ops[index], self._names.frames(self._ops[index])
        place = op.frames.index(frames[0]) if frames and frames[0] in op.frames else 0
        text = (frames[0], op.spans[place : place + 1]) if frames else index
        return (text, op.opcode, op.op_name.rpartition("/")[2])

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

    @cached_property
    def _differentiating(self) -> Mapping[int, list[Place | None]]:
        """For each operation the products of the backward pass that make the gradient of its result.

        None for one that has other dimensions, or another order of them.
        """
        found: dict[int, list[Place | None]] = defaultdict(list)
        for index, op in enumerate(self._ops):
            is_product = self._own.phases[index] == "backward" and op.kind in PRODUCTS
            for value in self._names.differentiated(op) if is_product else ():
                is_alike = self._own.classes(value) == self._own.classes(op.results[0])
                is_placed = is_alike and self._own.numbers[index] is not None
                if (maker := self._values[value].op) is not None:
                    found[maker].append(("constrain", index, 0) if is_placed else None)
        return found

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
        """The makers of the operands that an op hands its gradient to, and that nothing else takes."""
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
