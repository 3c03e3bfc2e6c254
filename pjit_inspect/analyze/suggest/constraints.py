"""Constraints that may save communication: new ones on a line, and existing ones changed or removed.

Operations of equal shapes from one piece of the source (unrolled layers) change together: nobody could write a
constraint on one of them alone. If the piece also became operations of other shapes, nothing is suggested, nor in a
helper that is called with other shapes, unless the caller names the call. In a differentiated program a constraint also
binds the gradient, as in JAX; if the gradient cannot be identified, nothing is suggested. Not its job: testing whether
a change saves anything (`analyze.suggest.suggestions`).
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from pjit_inspect.analyze.program.phases import LATER, find_phase
from pjit_inspect.analyze.sharding.needs import Need
from pjit_inspect.analyze.sharding.value_names import ValueNames
from pjit_inspect.analyze.suggest.axes import find_lost_axes
from pjit_inspect.analyze.suggest.constraint_words import constraint_words
from pjit_inspect.analyze.suggest.cost import Cost, Move, NeedCost
from pjit_inspect.analyze.suggest.option import Option
from pjit_inspect.analyze.suggest.requests import Request, Requests, is_asked
from pjit_inspect.analyze.suggest.told_apart import line_of, told_places
from pjit_inspect.model.program.mesh import Dimensions, spec_text
from pjit_inspect.model.program.opcodes import DOTS, VIEWS, operations
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, axis_name
from pjit_inspect.model.words.sentence import Sentence

_VIEWS = VIEWS | operations("convert")
_MOST_DIMENSIONS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """The operations that one piece of the source became, of the same shapes."""

    ops: tuple[int, ...]

    def times(self) -> str:
        """The number of ops as " (4 of them)"; "" for one."""
        return f" ({len(self.ops)} of them)" if len(self.ops) > 1 else ""


class ConstraintOptions:
    """Finds them for one program.

    `by_call`: whether whoever takes an option names it by its call (`place`), as the playground does. One in a helper
    that is called with arrays of other shapes is then one, too: it is on the result of that call.
    """

    def __init__(self, program: ShardedProgram, names: ValueNames, *, by_call: bool = False) -> None:
        self._program, self._names, self._by_call = program, names, by_call
        self._lines = _lines(program)
        self._pieces = _pieces(program)
        self._requests = Requests(names)
        self._is_differentiated = any(find_phase(op.op_name) in LATER for op in program.ops)

    def find(self, cost: Cost) -> Iterator[Option]:
        """Options for every need that a constraint could do away with."""
        stakes: dict[tuple[int, ...], list[NeedCost]] = {}
        for costed in cost.needs:
            if costed.need.op is not None and not self._program.ops[costed.need.op].manual:
                stakes.setdefault(self._lines[costed.need.op].ops, []).append(costed)
            elif costed.need.op is None:
                yield from self._freed_result(costed)
        for ops, needs in stakes.items():
            line, stake = _Line(ops=ops), sum(costed.bytes for costed in needs)
            need = needs[0].need
            yield from self._asked_otherwise(line, need, stake)
            if need.is_sum:
                yield from self._kept_cut(line, need, stake)
            else:
                yield from self._settled(line, need, stake)

    # ------------------------------------------------------------ what is there

    def _asked_otherwise(self, line: _Line, need: Need, stake: int) -> Iterator[Option]:
        """An expensive constraint of the user, left out or changed to the present sharding."""
        request = need.request
        if request is None or request.kind != "reshard_requested" or request.index is None:
            return
        op = self._program.ops[request.index]
        if not is_asked(op) or op.manual:
            return
        for asking in (self._requests.of(request.index), self._requests.of_every_call(request.index)):
            if asking is not None:
                yield from self._changed(asking, stake)

    def _changed(self, asking: Request, stake: int) -> Iterator[Option]:
        op = self._program.ops[asking.ops[0]]
        exclusive_with = ("constraint", *map(str, asking.ops))
        yield Option(
            exclusive_with=exclusive_with,
            title=f"leave out {asking.words}",
            words=f"leave out {asking.words}",
            edits=tuple(Edit(kind="remove", index=index) for index in asking.ops),
            stake=stake,
        )
        given, asked = (self._program.values[value].spec for value in (op.operands[0], op.results[0]))
        results = [self._program.values[self._program.ops[index].results[0]] for index in asking.ops]
        if given != asked and len({(value.shape, value.spec) for value in results}) == 1:
            yield Option(
                exclusive_with=exclusive_with,
                title=f"constrain to {spec_text(given)} in {asking.inside}",
                words=f"ask for `{spec_text(given)}` instead of `{spec_text(asked)}` in {asking.inside}",
                edits=tuple(Edit(kind="respec", index=index, spec=given) for index in asking.ops),
                stake=stake,
            )

    def _freed_result(self, found: NeedCost) -> Iterator[Option]:
        request = found.need.request
        if request is None or request.kind != "output":
            return
        boundary = self._program.outputs[request.index]
        if boundary.spec is None or boundary.value in {own.value for own in self._program.inputs}:
            return
        name = boundary.name or f"result {request.index}"
        given = self._program.values[boundary.value].spec
        yield Option(
            exclusive_with=("result", str(request.index)),
            title=f"let `{name}` be {spec_text(given)}",
            words=f"let `out_shardings` of `{name}` be `{spec_text(given)}`, as it is computed, instead of "
            f"`{spec_text(boundary.spec)}`",
            edits=(Edit(kind="result", index=request.index, spec=given),),
            stake=found.bytes,
        )

    # ------------------------------------------------------------ new ones

    def _kept_cut(self, line: _Line, need: Need, stake: int) -> Iterator[Option]:
        """Constraints by which each device keeps a piece of a sum, which allows a reduce-scatter."""
        if need.value is None or need.op is None or self._program.ops[need.op].kind not in DOTS:
            return
        value = self._program.values[need.value]
        axes = tuple(axis for axis in self._program.sizes if axis in need.axes)
        if not axes or set(axes) & {axis_name(axis) for axis in value.axes}:
            return
        kept = 0
        for dimension, length in enumerate(value.shape):
            is_free = not value.spec[dimension] and length > 1 and length % self._program.pieces(axes) == 0
            if kept < _MOST_DIMENSIONS and is_free:
                kept += 1
                spec = (*value.spec[:dimension], axes, *value.spec[dimension + 1 :])
                yield from self._constrained(line, spec, stake)

    def _settled(self, line: _Line, need: Need, stake: int) -> Iterator[Option]:
        """An array is sharded where it is made as it is needed later."""
        if need.value is None or need.target is None or need.kind not in ("reshard_needed", "output"):
            return
        maker = self._program.values[need.value].op
        if maker is None or need.value not in self._program.ops[maker].results:
            return
        making = self._lines.get(maker)
        if making is not None and self._program.ops[maker].kind != "sharding_constraint":
            yield from self._constrained(making, need.target, stake)

    def _constrained(self, line: _Line, spec: Dimensions, stake: int) -> Iterator[Option]:
        edits: list[Edit] = []
        first = self._program.ops[line.ops[0]]
        if self._pieces[_piece(first)] - set(line.ops):
            return
        if not self._by_call and len(self._shapes.get(self._text(first), ())) > 1:
            return
        for index in line.ops:
            op = self._program.ops[index]
            if find_phase(op.op_name) in LATER or len(op.results) != 1 or op.manual:
                return
            edits.append(Edit(kind="constrain", index=index, spec=spec))
            # JAX binds the gradient of a constrained value to the same sharding. A change without it would be judged by
            # a program that nobody can write.
            if self._is_differentiated:
                gradient = self._gradient(op)
                if gradient is None:
                    return
                edits.append(Edit(kind="constrain", index=gradient[0], number=gradient[1], spec=spec))
        where = self.called(line.ops[0])
        op = self._program.ops[line.ops[0]]
        told = self._names.told_spec(op, spec)
        if told is None:
            return
        words = constraint_words(self._names, op, told, f"{where}{line.times()}")
        yield Option(
            exclusive_with=("line", *map(str, line.ops)),
            title=f"constrain {where} to {spec_text(told)}",
            words=words + (", which binds its gradient too" if self._is_differentiated else ""),
            edits=tuple(edits),
            stake=stake,
        )

    @functools.cached_property
    def _shapes(self) -> dict[object, set[tuple[int, ...]]]:
        """Piece of the user's text -> the shapes of its results, for all callers."""
        found: dict[object, set[tuple[int, ...]]] = {}
        for op in self._program.ops:
            if op.frames and len(op.results) == 1:
                found.setdefault(self._text(op), set()).add(self._program.values[op.results[0]].shape)
        return found

    def _text(self, op: ShardedOp) -> object:
        """Key of the user's text that an operation is from; in a helper with several callers, the helper's text."""
        own = self._names.frames(op)[:1]
        place = op.frames.index(own[0]) if own and own[0] in op.frames else 0
        return own, op.spans[place : place + 1], _kind(op)

    def _gradient(self, op: ShardedOp) -> tuple[int, int] | None:
        """The place of a product's gradient: the array that the backward pass multiplies with each operand.

        Gives the op and the number of its result; None if it is unknown, or no op's result of that shape.
        """
        if op.kind == "gather":
            return self._gradient_of_lookup(op)
        if op.kind not in DOTS:
            return None
        own = {self._root(value) for value in op.operands}
        operands: set[int] = set()
        for value in own:
            for index in self._later_dots(value, op):
                operands |= {self._root(other) for other in self._program.ops[index].operands} - own
        # The backward pass multiplies the gradient with each operand: the operand its products share is the gradient.
        # If none or several remain, the gradient is unknown.
        if len(operands) != 1:
            return None
        return self._made_at(operands.pop(), self._program.values[op.results[0]].shape)

    def _made_at(self, value: int, shape: tuple[int, ...]) -> tuple[int, int] | None:
        """The op that makes a value of this shape, and which of its results that is."""
        maker = self._program.values[value].op
        if maker is None or self._program.values[value].shape != shape:
            return None
        results = self._program.ops[maker].results
        return (maker, results.index(value)) if value in results else None

    def _gradient_of_lookup(self, op: ShardedOp) -> tuple[int, int] | None:
        """The place of a lookup's gradient: the array that the backward pass adds to the table at the same indices."""
        made = self._program.values[op.results[0]].shape
        added = {
            # `jnp.take` is a separate function, and so is its gradient: its argument is made outside.
            self._names.outside(self._root(other.operands[-1]))
            for other in self._program.ops
            if other.kind == "scatter"
            and len(other.operands) == 3
            and other.frames[:1] == op.frames[:1]
            and find_phase(other.op_name) in LATER
        }
        return self._made_at(added.pop(), made) if len(added) == 1 else None

    def _later_dots(self, value: int, op: ShardedOp) -> Iterator[int]:
        """Products of the backward pass, from the same piece of the source, that use a value or a view of it."""
        for index, _ in self._program.users.get(value, ()):
            other = self._program.ops[index]
            if other.kind in _VIEWS:
                yield from self._later_dots(other.results[0], op)
            elif other.kind in DOTS and find_phase(other.op_name) in LATER and other.frames[:1] == op.frames[:1]:
                yield index

    def _root(self, value: int) -> int:
        """The value that one is a plain view of."""
        for _ in range(8):
            maker = self._program.values[value].op
            op = self._program.ops[maker] if maker is not None else None
            if op is None or op.kind not in _VIEWS or value not in op.results:
                return value
            value = op.operands[0]
        return value

    def called(self, index: int) -> Sentence:
        """Names an operation and its equals from the same piece of source, uniquely on its line.

        A function with several callers becomes several operations: then the name includes the call.
        """
        names, ops, own = self._names, self._program.ops, self._lines[index].ops
        words, chain = names.op(ops[index]), names.frames(ops[index])
        rivals = [
            names.frames(other)
            for number, other in enumerate(ops)
            if number not in own
            and other.opcode == ops[index].opcode
            and line_of(names.frames(other)) == line_of(chain)
            and names.op(other) == words
        ]
        return names.op(ops[index], places=told_places(names, ops[index], chain, rivals)) if rivals and chain else words

    def at(self, index: int, spec: Dimensions) -> Option | None:
        """A new constraint on an op's result, in equal layers too; None if the gradient is unknown."""
        return next(self._constrained(self._lines[index], spec, 0), None)

    def place(self, index: int) -> str:
        """The line and kind of an operation; for a line with several callers, also the line of the call.

        With a number, in the order they run, where these have several.
        """
        first = self._lines[index].ops[0]
        op = self._program.ops[index]
        if not op.frames:
            return f"unknown {op.kind}"
        name = f"{op.frames[0].where} {op.kind}"
        rivals = self._firsts.get(name, [])
        calls = [self._program.ops[own].frames[1:] for own in rivals]
        differ = (depth for depth, same in enumerate(zip(*calls, strict=False)) if len({own.where for own in same}) > 1)
        depth = next(differ, None)
        if depth is not None:
            caller = op.frames[1 + depth].where
            rivals = [own for own, frames in zip(rivals, calls, strict=True) if frames[depth].where == caller]
            name += f" called in {caller}"
        return name if len(rivals) < 2 else f"{name} #{sum(own <= first for own in rivals)}"

    @functools.cached_property
    def _firsts(self) -> dict[str, list[int]]:
        """Line and kind -> the first operation of each piece of the source there, in the order they run."""
        found: dict[str, list[int]] = {}
        for index, op in enumerate(self._program.ops):
            is_first = self._lines[index].ops[0] == index and op.frames and find_phase(op.op_name) not in LATER
            if is_first:
                found.setdefault(f"{op.frames[0].where} {op.kind}", []).append(index)
        return found

    # ------------------------------------------------------------ where an axis is lost

    def kept_axes(self, most: int) -> Iterator[Option]:
        """Options that put back an axis that an op loses, for the first `most` lines that lose one."""
        seen: set[tuple[int, ...]] = set()
        for index, spec in find_lost_axes(self._program):
            line = self._lines[index]
            if line.ops not in seen and len(seen) < most:
                options = list(self._constrained(line, spec, 0))
                seen |= {line.ops} if options else set()
                # Other places for the same axes are the same option.
                axes = sorted({axis for own in spec for axis in own})
                yield from (replace(option, exclusive_with=("kept", *axes)) for option in options)

    # ------------------------------------------------------------ steps in between

    def hops(self, cost: Cost, given_up: Collection[Move]) -> Iterator[Option]:
        """For an array that XLA gathers whole to cut it again: one axis at a time."""
        for costed in cost.needs:
            need = costed.need
            if need.op is None or need.value is None or need.target is None:
                continue
            op, given = self._program.ops[need.op], self._program.values[need.value].spec
            steps = _steps(given, need.target)
            if (given, need.target) in given_up and len(steps) > 1 and not op.manual and need.value in op.operands:
                yield self._hop(need.op, need.value, steps[:-1], costed.bytes)

    def _hop(self, index: int, value: int, steps: list[Dimensions], stake: int) -> Option:
        line = self._lines[index]
        number = self._program.ops[index].operands.index(value)
        where = self.called(index)
        route = ", then ".join(f"`{spec_text(step)}`" for step in steps)
        return Option(
            exclusive_with=("hop", *map(str, line.ops)),
            title=f"go through {route} before {where}",
            words=f"bring {self._names.value(value)} to {route}, with a constraint before {where}{line.times()}: one "
            "axis at a time, XLA need not gather all of it",
            edits=tuple(Edit(kind="hop", index=i, number=number, spec=step) for i in line.ops for step in steps),
            stake=stake,
        )


def _steps(given: Dimensions, target: Dimensions) -> list[Dimensions]:
    """The shardings on the way from one to another, the target last; each step moves one axis to another dimension.

    [] if no such steps lead there.
    """
    spec = [list(axes) for axes in given]
    steps: list[Dimensions] = []
    for dimension, axes in enumerate(target):
        for axis in axes:
            if axis in spec[dimension]:
                continue
            source = next((d for d, own in enumerate(spec) if own and own[-1] == axis), None)
            if source is None:
                return []
            spec[source].pop()
            spec[dimension].append(axis)
            steps.append(tuple(map(tuple, spec)))
    return steps if steps and steps[-1] == target else []


def _lines(program: ShardedProgram) -> dict[int, _Line]:
    """For every op, the ops of the same shapes from the same piece of the source."""
    keys: dict[object, list[int]] = {}
    key_of: dict[int, object] = {}
    for index, op in enumerate(program.ops):
        frame = (op.frames[0].file, op.frames[0].line) if op.frames else index
        values = tuple(program.values[value].shape for value in (*op.operands, *op.results))
        key = (frame, op.spans, op.opcode, op.op_name.rpartition("/")[2], find_phase(op.op_name), op.detail, values)
        keys.setdefault(key, []).append(index)
        key_of[index] = key
    lines = {key: _Line(ops=tuple(ops)) for key, ops in keys.items()}
    return {index: lines[key] for index, key in key_of.items()}


def _pieces(program: ShardedProgram) -> dict[object, set[int]]:
    """Every piece of the source -> the operations that it became by the same calls."""
    found: dict[object, set[int]] = {}
    for index, op in enumerate(program.ops):
        found.setdefault(_piece(op), set()).add(index)
    return found


def _piece(op: ShardedOp) -> object:
    """Key of a piece of source, equal for all layers of a Python loop."""
    calls = tuple((frame.file, frame.line) for frame in op.frames)
    return calls, op.spans, _kind(op)


def _kind(op: ShardedOp) -> object:
    return op.opcode, op.op_name.rpartition("/")[2], find_phase(op.op_name), op.detail
