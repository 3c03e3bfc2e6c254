"""Names the values of a sharded program as a person does: by the argument, or by the text they were written as.

Not its job: which operation makes the value of a text (`analyze.sharding.written_ops`), which value is the same data as
another (`analyze.sharding.same_data`), sentences about it (`analyze.causes.cause_subject`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TypeVar

from pjit_inspect.analyze.sharding.gradients import Gradients, modules_of
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE, Step, kept
from pjit_inspect.analyze.sharding.written_ops import OWN_VIEWS, last_part, piece_of
from pjit_inspect.model.program.opcodes import MANUAL_BORDERS, REQUESTS
from pjit_inspect.model.program.primitive import users_word
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.sharding.sharded_program import ShardedOp, axis_name
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, joined, name, place, say

T = TypeVar("T")

_PHASES = {"backward": "the backward pass of ", "recompute": "the recomputed "}
_KINDS = {
    "mul": "a product", "div": "a quotient", "add": "a sum", "sub": "a difference", "reduce_sum": "a sum",
    "add_any": "a sum of gradients", "dot_general": "a product", "while": "a result of a loop",
    "split": "a part of an array", "slice": "a part of an array", "pad": "a padded array",
    "concatenate": "a joined array",
}  # fmt: skip
"""Words for a value of the backward pass, by JAX's name of the operation that makes it."""
RESHARDED = " (resharded)"
"""Behind the name of an array that is split differently than it was."""
_MOST_STEPS = 10_000


class ValueNames(Gradients):
    """Names for the values and ops of one program."""

    # ------------------------------------------------------------ what a value is called

    @kept
    def value(self, index: int, inside: ShardedOp | None = None) -> Sentence:
        """A value: "`params['w1']`", "`x @ w` (train.py:12)", "`x` transposed", "`x` broadcast", "`ws['up'][i]`".

        `inside` is the op whose operand or result it is: its place is not told again, and what stands in the very same
        text is "the `exp` inside it". What has another sharding than the array it is told by is "`x` (resharded)".
        """
        turn, part, resharded, views = "", "", "", list[ShardedOp]()
        for _ in range(_MOST_STEPS):
            value = self.program.values[index]
            if value.argument is not None:
                label = self.program.inputs[value.argument].label or f"argument {value.argument}"
                return say("{}{}", name(f"{label}{turn or part}"), self._reshaped(views) + resharded)
            if not turn and (found := self.cotangent(index, inside)) is not None:
                made = self._product_value(found[0], inside)
                return say("the gradient of {}{}", made, self._reshaped(views) + resharded)
            step = self._data.before(index)
            if step is None and (step := self._of_turns(index)) is not None:
                part = "[i]"
            view = None if step is None or step.op is None else self.program.ops[step.op]
            if step is None or (view is not None and not step.is_turn and self._is_written(view, inside)):
                break
            if step.is_turn:
                turn = "[i]" + turn
            elif view is not None and (self._data.is_larger(view) or self._is_told(view, turn)):
                views.append(view)
            if self._is_resharded(step.value, index):
                resharded = RESHARDED
            index = step.value
        told = self._computed(index, inside)
        told = _of_turn(told, turn or part) if turn or part else told
        return say("{}{}", told, self._reshaped(views, self._maker(index)) + resharded)

    def _is_told(self, view: ShardedOp, turn: str) -> bool:
        """True if a view is one that a reader knows of, and not what a loop does for its turns."""
        loop = self._loop_of(view)
        is_loops = loop is not None and (
            bool(turn) or (view.parent is not None and self.program.ops[view.parent] is loop)
        )
        return view.kind in RESHAPED and self._is_users(view) and not is_loops

    def _reshaped(self, views: Sequence[ShardedOp], maker: ShardedOp | None = None) -> str:
        """Words for the views of an array: " reshaped and transposed". `views` are from the last on."""
        larger = [view for view in views if self._data.is_larger(view)]
        if larger and maker is not None:
            is_any = maker.kind in ("constant", "iota")
            if is_any or (self._has_text(maker) and self._is_one_piece(maker, larger[-1])):
                # What a broadcast is called may hold for all of it: it is no name, or that of the text both are of.
                return ""
        # It has the order of dimensions of its text only so.
        own = () if maker is None else self._last_views(maker)
        loops = [
            view for view in views if view.kind != "transpose" and maker is not None and self._loop_of(view) is maker
        ]
        shown = [view for view in views if view not in own and view not in loops]
        words = [RESHAPED[view.kind] for view in reversed(shown)]
        if larger:
            words = [word for word in words if word != RESHAPED["reshape"]]
        return f" {' and '.join(dict.fromkeys(words))}" if words else ""

    def _computed(self, index: int, inside: ShardedOp | None) -> Sentence:
        """A value that is no view of another: by the operation that makes it."""
        op = self._maker(index)
        if op is None:
            return Sentence("a value")
        if op.kind == "constant":
            return Sentence("a constant")
        if op.kind == "while":
            return self._of_loop(index, op, inside)
        if index not in op.results:
            return say("a value inside {}", self.op(op, inside) if self.text(op) else "a loop")
        same = inside is not None and self._is_one_piece(op, inside) and not self._is_mixed(self._number(inside))
        if op.kind == "iota" and (same or not self.text(op)):
            return Sentence("the positions in it")
        if op is inside or (not self.text(op) and self.phase(op) != "backward"):
            return self.op(op, inside)
        if same and op.kind == "reverse":
            return say("{} reversed", self.value(op.operands[0], inside))
        if same and self.phase(op) == "backward":
            is_summed = (
                inside is not None and inside.kind == "reduce" and self._gradient(inside, Sentence()) is not None
            )
            return Sentence("its terms") if is_summed else say("{} in this backward pass", self._of_kind(op))
        if same and inside is not None and self.makes(op) and self.makes(inside) and _is_alike(op, inside):
            # A loop of Python runs one text again and again.
            return say("an earlier {}", code(self.text(op)))
        if same:
            return say("the {} inside it", code(self._label(op)))
        if not self.text(op) or self._has_text(op):
            return self._told(op, self._near(op, inside), self._part(op), is_value=True)
        if (loop_op := self._loop_of(op)) is not None:
            return say("a value inside {}", self.op(loop_op, inside))
        return say("the {} inside {}", code(self._label(op)), self._told(op, self._near(op, inside)))

    def _has_text(self, op: ShardedOp) -> bool:
        """True if what an op makes is called by its text: it is the value of it, or has to do with its gradient."""
        return self.makes(op) or self._is_of_gradient(op) or self.phase(op) == "backward"

    def _of_loop(self, index: int, loop: ShardedOp, inside: ShardedOp | None) -> Sentence:
        """An array that a loop makes or carries: of several by what each turn saves, or by an argument or a result."""
        told = self.op(loop, inside) if self.text(loop) else Sentence("a loop")
        if (carried := self._data.carried(index)) is not None:
            known = self._at_border(*carried)
            return say("{} that {} carries", say("the {}", name(known)) if known else "a value", told)
        if [value for number, value in enumerate(loop.results) if self._is_used(loop, number)] == [index]:
            return told
        if (gradient := self._gradient_of_loop(index, loop, inside)) is not None:
            return gradient
        saved = self._data.saved(index)
        maker = None if saved is None else self._maker(self._data.behind(saved))
        if saved is None or (maker is not None and maker is not loop and self._place(maker) == self._place(loop)):
            return say("a result of {}", told)
        return say("{} stacked by {}", self.value(saved, loop), told)

    def _gradient_of_loop(self, index: int, loop: ShardedOp, inside: ShardedOp | None) -> Sentence | None:
        """The array that the turns of a loop make the gradient of: each of its piece of it, or of all of it in turn."""
        saved, text, found = self._data.saved(index), self.text(loop), set[Sentence | None]()
        for term in self._data.added(loop, loop.results.index(index)) if saved is None else [saved]:
            maker = self._maker(self._data.behind(term))
            given = [] if maker is None else self.differentiated(maker)
            step = self._data.before(self._data.behind(given[0])) if len(given) == 1 and saved is not None else None
            if step is not None and step.is_turn and self._has_shape(step.value, self.program.values[index].shape):
                found.add(self.value(step.value))
            else:
                found.add(None if maker is None or saved is not None else self._operand(maker))
        array = found.pop() if len(found) == 1 else None
        where = self._near(loop, inside)
        return array and say("the gradient of {}{}{}", array, say(" in {}", code(text)) if text else "", where)

    def _is_used(self, loop: ShardedOp, number: int) -> bool:
        """True if a loop changes an array, and the forward pass takes that: a gradient takes what its text has not."""
        value = loop.results[number]
        users = (user for user, _ in self.program.users.get(value, ()))
        outer = () if loop.parent is None else self.program.ops[loop.parent].results
        is_taken = value in self._returned or not set(outer).isdisjoint(self._linked.get(value, ()))
        is_taken |= any(self._roles[user] == "forward" for user in users)
        return is_taken and not self._data.is_kept(loop, number)

    def _at_border(self, loop: ShardedOp, number: int) -> str:
        """The argument that an array is which a loop carries, at first, or else the result that it is at last."""
        given, made = loop.operands[number], loop.results[number]
        if label := self.argument(given):
            # One turn's piece of an argument has fewer dimensions than it.
            first = self.value(given).phrases[0]
            return first.text if first.kind in ("name", "code") else label
        if (outer := self._data.carried(self._data.behind(given))) is not None:
            return self._at_border(*outer)
        return next((own.label for own in self.program.outputs if self._data.behind(own.value) == made), "")

    def _of_turns(self, index: int) -> Step | None:
        """The array of which a loop takes a part for some of its turns, as `scan(unroll=)` does for several at once."""
        op = self._maker(index)
        is_within = op is not None and op.kind == "slice" and op.parent is not None
        if op is None or not is_within or self._loop_of(op) is not self.program.ops[op.parent or 0]:
            return None
        return Step(value=op.operands[0])

    def _is_resharded(self, before: int, after: int) -> bool:
        """True if an array is split differently afterwards: by a constraint, or where a loop or a view takes it."""
        one, two = self.program.values[before], self.program.values[after]
        view = self._maker(after)
        if view is not None and view.detail in MANUAL_BORDERS:
            # Within a `shard_map` an array is its own piece, which no axis splits.
            return False
        if view is not None and after in view.results and view.kind not in SAME_SHAPE:
            # Dimensions of a view, or of a turn's piece, are others; an axis that was not there has come in any case.
            axes = [set(map(axis_name, value.axes)) for value in (one, two)]
            return not axes[1] <= axes[0] and not self._data.is_larger(view)
        return one.shape == two.shape and one.spec != two.spec

    def _is_written(self, view: ShardedOp, inside: ShardedOp | None) -> bool:
        """True if a view changes the shape and makes the value of its text, by which it is known."""
        is_users = view.kind in RESHAPED and self._is_users(view) and self.makes(view)
        own = self._place(view) if is_users and self._loop_of(view) is None else None
        is_known = own is not None and own[0] is not None and bool(self.text(view)) and self._is_all_of_piece(view)
        return is_known and not (inside is not None and self._is_one_piece(view, inside))

    def _is_all_of_piece(self, view: ShardedOp) -> bool:
        """True unless its piece computes, and not what the view is of: then that is moved out of a loop, or cast."""
        maker = self._maker(view.operands[0])
        is_of_piece = maker is not None and self._is_one_piece(maker, view)
        return is_of_piece or (piece_of(self._place(view)), self._roles[self._number(view) or 0]) not in self._computing

    # ------------------------------------------------------------ which value it is

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

    def arguments(self, index: int) -> frozenset[int]:
        """The numbers of the program's arguments that a value is computed from."""
        return self._data.arguments(index)

    def outside(self, index: int) -> int:
        """The value that another is the same data and shape as: what a function, a barrier or a loop was given."""
        return self._data.behind(index, views=())

    def seen_through(self, index: int) -> int:
        """The value that another is a view of."""
        return self._data.behind(index)

    def written(self, index: int) -> int:
        """The value that the text of what makes another stands for: JAX transposes the product of an `einsum`."""
        op = self._maker(index)
        views = [] if op is None else self._last_views(op)
        return views[-1].results[0] if views else index

    def unpadded(self, index: int, inside: ShardedOp | None = None) -> tuple[int, tuple[int | None, ...]]:
        """The value that `index` is with dimensions of length 1 added, or left out by XLA, as for a broadcast.

        And which dimension of `index` each of its own is, None for one left out; `index` itself, and all its
        dimensions, where nothing was changed, or somebody wrote it.
        """
        places: list[int | None] = [*range(len(self.program.values[index].shape))]
        if self.cotangent(index, inside) is not None:
            return index, tuple(places)
        for _ in range(_MOST_STEPS):
            op = self._maker(index)
            is_view = op is not None and op.kind in ("reshape", "broadcast_in_dim") and index in op.results
            if op is None or not is_view or self._is_written(op, inside):
                break
            own = _without_ones(self.program.values[index].shape, self.program.values[op.operands[0]].shape)
            # A turn of a loop, and `x[0]`, are smaller arrays for their users, too.
            if own is None or (None in own and self._is_users(op)):
                break
            index, places = op.operands[0], [None if place is None else places[place] for place in own]
        return index, tuple(places)

    # ------------------------------------------------------------ the order of its dimensions

    def told_order(self, op: ShardedOp) -> tuple[int, ...] | None:
        """For each dimension of an op's result, which one it is in its text; None where that is not known."""
        order = tuple(range(len(self.program.values[op.results[0]].shape)))
        for view in self._last_views(op):
            if view.kind == "transpose" and view.rule is None:
                return None
            if view.kind == "transpose" and view.rule is not None:
                order = tuple(view.rule.results[0].index(view.rule.operands[0][place]) for place in order)
        return order

    def told_dimension(self, op: ShardedOp, dimension: int) -> int | None:
        """The dimension of an op's text that a dimension of its result is; None where that is not known."""
        order = self.told_order(op)
        return None if order is None else order[dimension]

    def told_spec(self, op: ShardedOp, dimensions: Sequence[T]) -> tuple[T, ...] | None:
        """A sharding of an op's result in the order of dimensions that its text has; None where that is not known."""
        order = self.told_order(op)
        return None if order is None else tuple(dimensions[order.index(place)] for place in range(len(order)))

    def as_named(self, index: int, dimensions: Sequence[T], inside: ShardedOp | None = None) -> tuple[T, ...]:
        """Lengths, axes or the like of a value's dimensions, in the order of the text that it is called by."""
        if (found := self.cotangent(index, inside)) is not None:
            value, order = found
            return self.as_named(value, [dimensions[order.index(place)] for place in range(len(order))])
        op = self._maker(index)
        if op is None or op.results != (index,) or (inside is not None and self._is_one_piece(op, inside)):
            return tuple(dimensions)
        return self.told_spec(op, dimensions) or tuple(dimensions)

    def is_counted(self, index: int, inside: ShardedOp | None = None) -> bool:
        """True if the dimensions of what a value is called are the value's: of a gradient that may not be known."""
        op = self._maker(index)
        if self.argument(index) or op is None or index not in op.results or self.cotangent(index, inside) is not None:
            return True
        is_inside = inside is not None and self._is_one_piece(op, inside)
        made = self.program.values[self._seen(index)[0]].op
        if is_inside or made is None or self._roles[made] != "backward":
            return True
        named = self.differentiated(op) or [o.results[0] for o in self._forward(op) if o.results and self.makes(o)]
        shape = self.program.values[index].shape
        return not named or any(self.program.values[own].shape == shape for own in named)

    # ------------------------------------------------------------ what an op is called

    @kept
    def op(self, op: ShardedOp, inside: ShardedOp | None = None, places: Sentence | None = None) -> Sentence:
        """An op, by its text and place; by its name where the text is not known.

        `places` are told instead of its own.
        """
        return self._told(op, self._near(op, inside) if places is None else say(" ({})", places), self._part(op))

    def _part(self, op: ShardedOp) -> Sentence:
        return say("{} in ", code(self._label(op))) if self._is_part(op) else Sentence()

    def _is_part(self, op: ShardedOp) -> bool:
        """True if an op is one of several of its kind that a library does in a piece, and not that piece's value.

        So is one of an element type that its piece neither takes nor makes, as of the numbers that JAX gives to what
        `.at[].set` writes, to differentiate it.
        """
        number = self._number(op)
        if number is None or not self.text(op) or (self.makes(op) and not op.is_on_one):
            return False
        if self.program.values[op.results[0]].dtype not in self._types_of_piece(op):
            return True
        if not self._library(op):
            return False
        alike = [other for other in self._of_piece(op, self._roles[number]) if other.kind == op.kind]
        # All devices run the rest of the piece of what only one of them runs.
        return op.is_on_one or len({(other.frames, other.op_name) for other in alike}) > 1

    @kept
    def _types_of_piece(self, op: ShardedOp) -> frozenset[str]:
        """The element types of what the piece of an op takes, and of what it makes."""
        ops = self._all_of_piece(op, self._roles[self._number(op) or 0])
        values = [value for other in ops if self.makes(other) for value in other.results]
        for value in (value for other in ops for value in other.operands):
            maker = self._maker(value)
            # What has no place is made of nothing that the user has.
            if maker is None or self._place(maker) not in (None, self._place(op)):
                values.append(value)
        return frozenset(self.program.values[value].dtype for value in values)

    def _label(self, op: ShardedOp) -> str:
        """An op by its primitive, behind the module or function of a library that does it: "wq/dot_general"."""
        library, primitive = self._library(op), users_word(last_part(op)) or op.kind
        if not library:
            return primitive
        function = library[0].function.partition(".<locals>")[0].removesuffix(".__call__")
        return f"{(modules_of(op.op_name) or (function,))[-1]}/{primitive}"

    def _of_kind(self, op: ShardedOp) -> Sentence:
        """An array of the backward pass by the operation that makes it: "a product", "the `pad`"."""
        label = self._label(op)
        return Sentence(_KINDS[label]) if label in _KINDS else say("the {}", code(label))

    def _told(
        self, op: ShardedOp, where: Sentence, part: Sentence | None = None, *, is_value: bool = False
    ) -> Sentence:
        """Words for an op, by its text and the op's phase; with `is_value` for the array that it makes."""
        text, phase = self.text(op) or users_word(last_part(op)) or op.kind, self.phase(op)
        prefix = _PHASES.get(phase or "", "")
        if phase == "backward":
            is_asker = op.kind in REQUESTS and not is_value
            if not is_asker and (gradient := self._gradient(op, where)) is not None:
                return gradient
            # Of an array it is not known which gradient it is.
            if is_value:
                of = say(" of {}", code(text)) if self.text(op) else ""
                return say("{} in the backward pass{}{}", self._of_kind(op), of, where)
        elif phase == "forward" and self._is_of_gradient(op):
            prefix = "the derivative of "
        elif phase == "forward" and self._may_be_tangent(op):
            prefix = "what differentiation makes of "
        return say("{}{}{}{}", part or "", prefix, code(text), where)

    def _gradient(self, op: ShardedOp, where: Sentence) -> Sentence | None:
        """The value that an op makes the gradient of, if that is known: of all of it, or in one text that takes it."""
        if self._is_mixed(self._number(op)):
            found = {str(own): own for own in map(self.value, self.differentiated(op))}
            if len(found) == 1:
                return say("the gradient of {}", *found.values())
        elif (operand := self._operand(op)) and self.text(op):
            return say("the gradient of {} in {}{}", operand, code(self.text(op)), where)
        taken = self.cotangent(self.written(op.results[0])) if op.results else None
        return None if taken is None else say("the gradient of {}", self._product_value(taken[0], None))

    def _product_value(self, index: int, inside: ShardedOp | None) -> Sentence:
        """The value of a product, for the words about the gradient of it."""
        op = self.program.ops[self.program.values[index].op or 0]
        where, label = self._near(op, inside), code(self._label(op))
        text = self.text(op)
        if not text or self.makes(op):
            return say("{}{}", code(text) if text else label, where)
        if inside is not None and self._place(op) == self._place(inside):
            return say("the {} inside it", label)
        return say("the {} inside {}{}", label, code(text), where)

    @kept
    def _operand(self, op: ShardedOp) -> Sentence | None:
        """The operand of its text that a gradient is with respect to, where it is known and has a name."""
        found, of = self.differentiated(op), op
        while len(found) != 1 and of.kind in OWN_VIEWS:
            own = self._maker(of.operands[0])
            if own is None or not self._is_one_piece(own, of):
                break
            found, of = self.differentiated(own), own
        if len(found) > 1:
            scopes = modules_of(op.op_name)[-1:]
            found = [own for own in found if scopes and f"'{scopes[0]}'" in self.argument(own)]
        if len(found) != 1:
            return None
        (index,) = found
        if self.argument(index, is_same_size=True):
            return self.value(self._data.behind(index, is_same_size=True))
        made = self._maker(index)
        if made is not None and self._loop_of(made) is not None:
            # The text of a loop is not that of what it takes for one turn.
            return self.value(index)
        if made is not None and made.kind == "all_gather" and self.argument(made.operands[0]):
            return say("the gathered {}", self.value(made.operands[0]))
        if text := self._side(op, self._data.behind(index)):
            return say("{}", code(text))
        if made is None or index not in made.results or not self.text(made) or not self.makes(made):
            return None
        return say("{}{}", code(self.text(made)), self._near(made, op, self.frames(op)))

    def _shown(self, op: ShardedOp | None) -> tuple[Frame, ...] | None:
        """The frames of an op whose place its words show; () where they show another's, None without an op."""
        if op is None:
            return None
        frames = self.frames(op)
        places = {phrase.text for phrase in self.op(op).phrases if phrase.kind == "place"}
        return frames if frames and frames[0].where in places else ()

    def _near(self, op: ShardedOp, beside: ShardedOp | None, shown: tuple[Frame, ...] | None = None) -> Sentence:
        """The place of an op, for a reader who has been told of another, with its place or that of these frames.

        What `vmap` has batched has a dimension that its text has not: `vmap` is told, unless the other one is within
        it, too. Its scope says no more: what does not depend on what is mapped is not batched.
        """
        frames = self.frames(op)
        shown = self._shown(beside) if shown is None else shown
        if not frames:
            return Sentence()
        caller = self.caller(op)
        parts: list[Phrase | Sentence] = []
        is_near = bool(shown) and shown[0].file == frames[0].file
        if caller is not None and caller not in (shown or ()):
            parts.append(say("called at {}", place(line_near(caller, frames[0]))))
            is_near = False
        if self.is_batched(op) and (beside is None or not self.is_batched(beside)):
            parts.append(say("within {}", code("vmap")))
        if shown and is_near and not parts and frames[0].line == shown[0].line:
            return Sentence()
        where = line_near(frames[0], shown[0]) if shown and is_near else frames[0].where
        return say(" ({})", joined([place(where), *parts], ", "))


def _is_alike(one: ShardedOp, other: ShardedOp) -> bool:
    """True if two ops do the same."""
    return (one.kind, last_part(one)) == (other.kind, last_part(other))


def line_near(frame: Frame, near: Frame) -> str:
    """The place of a frame, for a reader who knows the file of another."""
    return f"line {frame.line}" if frame.file == near.file else frame.where


def _of_turn(array: Sentence, turn: str) -> Sentence:
    """The piece of an array that a turn of a loop takes: "`f(x)[i]`"."""
    before = array.phrases[: array.startswith(_PHASES["recompute"])]
    first, *rest = array.phrases[len(before) :]
    if first.kind != "code":
        return say("one turn's piece of {}", array)
    try:
        is_one = isinstance(ast.parse(first.text, mode="eval").body, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    except SyntaxError:
        is_one = False
    own = code(f"{first.text if is_one else f'({first.text})'}{turn}")
    return Sentence.of((*before, own, *rest))


def _without_ones(shape: Sequence[int], given: Sequence[int]) -> list[int | None] | None:
    """For each dimension of a given shape, which one of `shape` it is; None where they differ in more than ones."""
    found, left = list[int | None](), list(range(len(shape)))
    for length in given:
        while left and shape[left[0]] == 1 != length:
            left.pop(0)
        is_same = bool(left) and shape[left[0]] == length
        if not is_same and length != 1:
            return None
        found.append(left.pop(0) if is_same else None)
    return None if any(shape[place] != 1 for place in left) else found
