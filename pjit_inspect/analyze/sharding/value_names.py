"""How a person calls a value of the sharded program: by its argument's name, or by the text it was written as.

Not its job: sentences about it (`analyze.causes.cause_wording`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE, Step
from pjit_inspect.analyze.sharding.written_ops import WrittenOps
from pjit_inspect.model.program.opcodes import MANUAL_BORDERS, REQUESTS
from pjit_inspect.model.program.primitive import users_word
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import ShardedOp, axis_name
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, name, place, say

T = TypeVar("T")

_VIEW_PRIMITIVES = frozenset((
    "reshape", "squeeze", "expand_dims", "broadcast_in_dim", "transpose", "convert_element_type", "copy", "copy_p",
    "bitcast_convert_type", "reduce_precision", "broadcast",
))  # fmt: skip
"""JAX's names of views that somebody wrote; XLA gives those it adds the name of the operation they are for."""
_BATCHED = "vmap("
"""How a part of JAX's name of an operation begins that `vmap` has given a dimension."""
_MOST_STEPS = 10_000
_PHASES = {"backward": "the gradient of ", "recompute": "the recomputed "}


class ValueNames(WrittenOps):
    """Names for the values and ops of one program."""

    def outside(self, index: int) -> int:
        """The value that another is the same data and shape as: what a function, a barrier or a loop was given."""
        return self._data.behind(index, views=())

    def value(self, index: int, inside: ShardedOp | None = None) -> Sentence:
        """A value: "`params['w1']`", "`x @ w` (train.py:12)", "`x` transposed", "`x` broadcast", "`ws['up'][i]`".

        `inside` is the op whose operand or result it is: its place is not told again, and what stands in the very same
        text is "the `exp` inside it". What has another sharding than the array it is told by is "`x` (resharded)".
        """
        words, turn, part, resharded, larger = "", "", "", "", None
        for _ in range(_MOST_STEPS):
            value = self.program.values[index]
            if value.argument is not None:
                label = self.program.inputs[value.argument].label or f"argument {value.argument}"
                return say("{}{}", name(f"{label}{turn or part}"), words + resharded)
            step = self._data.before(index)
            if step is None and (step := self._of_turns(index)) is not None:
                part = "[i]"
            view = None if step is None or step.op is None else self.program.ops[step.op]
            if step is None or (view is not None and not step.is_turn and self._is_written(view, inside)):
                break
            if step.is_turn:
                turn = "[i]" + turn
            if view is not None and not step.is_turn and self._data.is_larger(view):
                words, larger = f" {RESHAPED[view.kind]}", view
            elif view is not None and view.kind in RESHAPED and larger is None:
                words = f" {RESHAPED[view.kind]}" if self._is_users(view) and not self.loop_of(view) else words
            if self._is_resharded(step.value, index):
                resharded = " (resharded)"
            index = step.value
        if larger is not None and self._is_told_with(index, larger):
            words = ""
        return say("{}{}{}", self._computed(index, inside), " at the turn" if turn or part else "", words + resharded)

    def _of_turns(self, index: int) -> Step | None:
        """What a loop takes a part of for some of its turns, as `scan(unroll=)` does for several at once."""
        maker = self.program.values[index].op
        op = None if maker is None else self.program.ops[maker]
        return Step(value=op.operands[0]) if op is not None and op.kind == "slice" and self.loop_of(op) else None

    def _is_resharded(self, before: int, after: int) -> bool:
        """Whether an array is split differently afterwards: by a constraint, or where a loop or a view takes it."""
        one, two = self.program.values[before], self.program.values[after]
        view = None if two.op is None else self.program.ops[two.op]
        if view is not None and view.detail in MANUAL_BORDERS:
            # Within a `shard_map` an array is its own piece, which no axis splits.
            return False
        if view is not None and after in view.results and view.kind not in SAME_SHAPE:
            # Dimensions of a view, or of a turn's piece, are others; an axis that was not there has come in any case.
            axes = [{axis_name(axis) for own in value.spec for axis in own} for value in (one, two)]
            return not axes[1] <= axes[0] and not self._data.is_larger(view)
        return one.shape == two.shape and one.spec != two.spec

    def written(self, index: int) -> int:
        """The value that the text of what makes another stands for: JAX transposes the product of an `einsum`."""
        maker = self.program.values[index].op
        views = [] if maker is None else self.last_views(self.program.ops[maker])
        return views[-1].results[0] if views else index

    def told_order(self, op: ShardedOp) -> tuple[int, ...] | None:
        """For each dimension of an op's result, which one it is in its text; None where that is not known."""
        order = tuple(range(len(self.program.values[op.results[0]].shape)))
        for view in self.last_views(op):
            if view.kind == "transpose" and view.rule is None:
                return None
            if view.kind == "transpose" and view.rule is not None:
                order = tuple(view.rule.results[0].index(view.rule.operands[0][place]) for place in order)
        return order

    def told_dimension(self, op: ShardedOp, dimension: int) -> int | None:
        """Which dimension of what an op's text says a dimension of its result is; None where that is not known."""
        order = self.told_order(op)
        return None if order is None else order[dimension]

    def told_spec(self, op: ShardedOp, dimensions: Sequence[T]) -> tuple[T, ...] | None:
        """A sharding of an op's result in the order of dimensions that its text has; None where that is not known."""
        order = self.told_order(op)
        return None if order is None else tuple(dimensions[order.index(place)] for place in range(len(order)))

    def as_named(self, index: int, dimensions: Sequence[T], inside: ShardedOp | None = None) -> tuple[T, ...]:
        """What a value has for each dimension (lengths, a sharding), in the order of the text it is called by."""
        maker = self.program.values[index].op
        op = None if maker is None else self.program.ops[maker]
        if op is None or op.results != (index,) or (inside is not None and self.is_one_piece(op, inside)):
            return tuple(dimensions)
        return self.told_spec(op, dimensions) or tuple(dimensions)

    def scopes(self, op: ShardedOp) -> tuple[str, ...]:
        """The names of an op and of those it stands in: of loops, and of functions that are called."""
        found = [op.op_name]
        while op.parent is not None:
            op = self.program.ops[op.parent]
            found.append(op.op_name)
        return tuple(found)

    def _is_users(self, view: ShardedOp) -> bool:
        """Whether somebody wrote a view, or XLA added it for another operation."""
        return not view.op_name or view.op_name.rpartition("/")[2] in _VIEW_PRIMITIVES

    def _is_written(self, view: ShardedOp, inside: ShardedOp | None) -> bool:
        """Whether a view changes the shape and makes the value of its text, by which it is known."""
        if view.kind not in RESHAPED or not self._is_users(view) or not self.makes(view):
            return False
        if self.loop_of(view) is not None:
            return False
        place = self.place(view)
        is_known = place is not None and place[0] is not None and bool(self.text(view))
        return is_known and not (inside is not None and self.is_one_piece(view, inside))

    def _computed(self, index: int, inside: ShardedOp | None) -> Sentence:
        """A value that is no view of another: by the operation that makes it."""
        value = self.program.values[index]
        if value.op is None:
            return Sentence("a value")
        op = self.program.ops[value.op]
        if op.kind == "constant":
            return Sentence("a constant")
        if index not in op.results:
            loop = self.op(op, inside)
            return say("a value that {} carries", loop) if op.kind == "while" else say("a value inside {}", loop)
        same = inside is not None and self.is_one_piece(op, inside)
        if op.kind == "iota" and (same or not self.text(op)):
            return Sentence("the positions in it")
        if not self.text(op) or op is inside:
            return self.op(op, inside)
        if same:
            return say("the {} inside it", code(self.label(op)))
        if self.makes(op) or self.is_mixed(op) or self.is_of_gradient(op):
            return self.op(op, inside)
        if (loop_op := self.loop_of(op)) is not None:
            return say("a value inside {}", self.op(loop_op, inside))
        return say("the {} inside {}", code(self.label(op)), self._told(op, self._near(op, inside)))

    def _is_told_with(self, index: int, larger: ShardedOp) -> bool:
        """Whether what a value is called holds for its broadcast: it is no name, or that of the text both are of."""
        maker = self.program.values[index].op
        op = None if maker is None else self.program.ops[maker]
        return op is not None and (op.kind in ("constant", "iota") or self.is_one_piece(op, larger))

    def argument(self, index: int, *, is_same_size: bool = False) -> str:
        """The argument a value is, or is a plain view or one turn's piece of; "" for anything else.

        With `is_same_size` what was broadcast is another array.
        """
        for _ in range(_MOST_STEPS):
            index = self._data.behind(index, is_same_size=is_same_size)
            step = self._data.before(index)
            if step is None or not step.is_turn:
                break
            index = step.value
        argument = self.program.values[index].argument
        return "" if argument is None else self.program.inputs[argument].label

    def seen_through(self, index: int) -> int:
        """The value that another is a view of."""
        return self._data.behind(index)

    def unpadded(self, index: int, inside: ShardedOp | None = None) -> tuple[int, tuple[int, ...]]:
        """The value that `index` is with dimensions of length 1 added, as for a broadcast, and where its own are.

        The value itself, and all its dimensions, where nothing was added, or somebody wrote it.
        """
        value = self.program.values[index]
        places = tuple(range(len(value.shape)))
        op = None if value.op is None else self.program.ops[value.op]
        if op is None or op.kind != "reshape" or index not in op.results or self._is_written(op, inside):
            return index, places
        shape, kept = self.program.values[op.operands[0]].shape, list[int]()
        for dimension, length in enumerate(value.shape):
            if len(kept) < len(shape) and shape[len(kept)] == length:
                kept.append(dimension)
            elif length != 1:
                return index, places
        return (op.operands[0], tuple(kept)) if len(kept) == len(shape) else (index, places)

    def op(self, op: ShardedOp, inside: ShardedOp | None = None, places: Sentence | None = None) -> Sentence:
        """An op, by its text and place; by its name where the text is not known.

        `places` are told instead of its own.
        """
        where = self._near(op, inside) if places is None else say(" ({})", places)
        part = self.part(op) if self.text(op) else ""
        return self._told(op, where, say("{} in ", code(part)) if part else None)

    def _told(self, op: ShardedOp, where: Sentence, part: Sentence | None = None) -> Sentence:
        """What a text computes for an op of it, in the words of the op's phase."""
        # Where XLA joins the sum of two gradients with one of them, it has the name of that.
        is_joined_sum = op.kind == "add" and op.op_name.rpartition("/")[2] in _VIEW_PRIMITIVES
        text = self.text(op) or users_word(op.op_name.rpartition("/")[2]) or op.kind
        phase = self.phase(op)
        prefix = _PHASES.get(phase or "", "")
        if phase == "backward" and (is_joined_sum or self.is_mixed(op)):
            summed = {str(own): own for own in map(self.value, self.summed(op))} if self.is_mixed(op) else {}
            if len(summed) == 1:
                return say("the sum of gradients of {}", *summed.values())
            prefix = "the sum of gradients at "
        elif phase == "backward" and (operand := self._operand(op)):
            return say("the gradient of {} in {}{}", operand, code(text), where)
        elif phase == "forward" and self.is_of_gradient(op):
            prefix = "the derivative of "
        elif phase == "forward" and self.may_be_tangent(op):
            prefix = "what differentiation makes of "
        return say("{}{}{}{}", part or "", prefix, code(text), where)

    def _operand(self, op: ShardedOp) -> Sentence | None:
        """The operand of its text that a gradient is with respect to, where it is known and has a name."""
        index = self.differentiated(op)
        if index is None or self.argument(index):
            return None if index is None else self.value(index)
        if text := self.side(op, index):
            return say("{}", code(text))
        maker = self.program.values[index].op
        made = None if maker is None else self.program.ops[maker]
        is_named = made is not None and index in made.results and bool(self.text(made)) and self.makes(made)
        return say("{}{}", code(self.text(made)), self._near(made, op)) if made is not None and is_named else None

    def _near(self, op: ShardedOp, inside: ShardedOp | None) -> Sentence:
        """Where an op was written, for a reader who knows the place of another."""
        frames, near = self.frames(op), self.frames(inside) if inside is not None else ()
        if not frames:
            return Sentence()
        caller = self.caller(op)
        is_called = caller is not None and caller not in near
        is_batched = inside is None and self.is_batched(op)
        if not is_called and not is_batched:
            return _place(frames[0], near[0] if near else None)
        parts: list[Phrase | Sentence] = [place(frames[0].where)]
        parts += [say("called at {}", place(line_near(caller, frames[0])))] if caller is not None and is_called else []
        parts += [say("batched by {}", code("vmap"))] if is_batched else []
        return say(" ({})", joined(parts, ", "))

    def is_batched(self, op: ShardedOp) -> bool:
        """Whether `vmap` has given an op a dimension of which its text knows nothing."""
        return _BATCHED not in self.text(op) and any(_BATCHED in own for own in self.scopes(op))

    def is_by_helper(self, op: ShardedOp) -> bool:
        """Whether a function asks for a sharding that may have many callers: the call is what one would change."""
        return op.kind in REQUESTS and self.caller(op) is not None


def line_near(frame: Frame, near: Frame) -> str:
    """Where a frame is, for a reader who knows the file of another."""
    return f"line {frame.line}" if frame.file == near.file else frame.where


def _place(frame: Frame, near: Frame | None) -> Sentence:
    """Where a frame is, as far as a reader of `near` does not know it."""
    if near is None or frame.file != near.file:
        return say(" ({})", place(frame.where))
    return Sentence() if frame.line == near.line else say(" ({})", place(f"line {frame.line}"))
