"""How a person calls a value of the sharded program: by its argument's name, or by the text it was written as.

Not its job: which operation makes the value of a text (`analyze.sharding.written_ops`), which value is the same data as
another (`analyze.sharding.same_data`), sentences about it (`analyze.causes.cause_words`).
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

from pjit_inspect.analyze.program.phases import transposed, untransposed
from pjit_inspect.analyze.program.source import is_library
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE, Step
from pjit_inspect.analyze.sharding.written_ops import OWN_VIEWS, WrittenOps, last_part, piece_of
from pjit_inspect.model.program.opcodes import MANUAL_BORDERS
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
RESHARDED = " (resharded)"
"""Behind the name of an array that is split differently than it was."""
_PHASES = {"backward": "the gradient of ", "recompute": "the recomputed "}
_WRAPPERS = re.compile(r"^(?:(?:transpose|jvp|vmap)\()+")
_JAXS = frozenset(("checkpoint", "rematted_computation", "while", "body", "closed_call", "eval_jaxpr", "cond"))
"""Scopes that JAX gives what it makes."""
_MOST_STEPS = 10_000
_NEAR = 5
"""How many operations before a value tell it from that of another layer."""


class ValueNames(WrittenOps):
    """Names for the values and ops of one program."""

    # ------------------------------------------------------------ gradients

    def _differentiated(self, op: ShardedOp) -> list[int]:
        """What a gradient may be with respect to: operands of its piece.

        They have its shape, which the value of the piece has not, except where gradients are added up. The gradient of
        one side of a product is a product with the other side.
        """
        number = self._number(op)
        if number is None or self._roles[number] != "backward" or not self._makes(op):
            return []
        own, shape, is_product = (_modules(op.op_name), self._library(op)), self._shape(op), op.kind == "dot_general"
        forward = self._of_piece(op, "forward", "recompute")
        forward = [other for other in forward if (_modules(other.op_name), self._library(other)) == own]
        shapes = [self.program.values[other.results[0]].shape for other in forward if self._makes(other)]
        if not is_product and not self._is_mixed(number) and (shape in shapes or not shapes):
            return []
        made = {value for other in forward for value in other.results}
        for known in (self._data.behind, self._twin):
            given = set(map(known, op.operands)) if is_product else set[Any]()
            near = [other for other in forward if not is_product or given & set(map(known, other.operands))]
            inputs = {self._data.behind(value) for other in near for value in other.operands} - made
            found = [own for own in inputs if known(own) not in given and not self.is_constant(own)]
            found = [own for own in found if is_product or self.program.values[own].shape == shape]
            if found:
                return found
        return []

    def _shape(self, op: ShardedOp) -> tuple[int, ...]:
        return self.program.values[(op, *self._last_views(op))[-1].results[0]].shape

    def _twin(self, value: int) -> Any:
        """What a value and the same one computed again have in common: its text, and arguments close before it."""
        value = self._data.behind(value)
        op = self._maker(value)
        if op is None or self._place(op) is None or self.phase(op) == "backward":
            return value
        found, reached = set[int](), {value}
        for _ in range(_NEAR):
            makers = [maker for own in reached if (maker := self._maker(own)) is not None]
            reached = {self._data.behind(own) for maker in makers for own in maker.operands}
            found |= {own for own in reached if self.program.values[own].argument is not None}
        return piece_of(self._place(op)), op.kind, last_part(op), frozenset(found)

    def _side(self, op: ShardedOp, operand: int) -> str:
        """How an operand of a product of an op's piece was written, where that is `a @ b`; "" for any other."""
        tree = self._tree(op)
        if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, ast.MatMult):
            return ""
        products = [other for other in self._of_piece(op, "forward", "recompute") if other.kind == "dot_general"]
        sides = [list(map(self._data.behind, other.operands)) for other in products]
        found = {(tree.left, tree.right)[own.index(operand)] for own in sides if operand in own}
        return ast.get_source_segment(self.text(op), found.pop()) or "" if len(found) == 1 else ""

    def _may_be_tangent(self, op: ShardedOp) -> bool:
        """Whether an op may make the tangent of what its text computes: JAX gives both one name and one place."""
        return not untransposed(self._named(op).op_name) <= self._transposed

    @cached_property
    def _transposed(self) -> frozenset[str]:
        return frozenset[str]().union(*(transposed(op.op_name) for op in self.program.ops))

    # ------------------------------------------------------------ what a value is called

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
            elif view is not None and self._data.is_larger(view):
                words, larger = f" {RESHAPED[view.kind]}", view
            elif view is not None and view.kind in RESHAPED and larger is None:
                words = f" {RESHAPED[view.kind]}" if _is_users(view) and not self._loop_of(view) else words
            if self._is_resharded(step.value, index):
                resharded = RESHARDED
            index = step.value
        maker = self._maker(index)
        # What a broadcast is called may hold for all of it: it is no name, or that of the text both are of.
        is_any = maker is not None and maker.kind in ("constant", "iota")
        if larger is not None and maker is not None and (is_any or self._is_one_piece(maker, larger)):
            words = ""
        return say("{}{}{}", self._computed(index, inside), " at the turn" if turn or part else "", words + resharded)

    def _computed(self, index: int, inside: ShardedOp | None) -> Sentence:
        """A value that is no view of another: by the operation that makes it."""
        op = self._maker(index)
        if op is None:
            return Sentence("a value")
        if op.kind == "constant":
            return Sentence("a constant")
        if index not in op.results:
            loop = self.op(op, inside)
            return say("a value that {} carries", loop) if op.kind == "while" else say("a value inside {}", loop)
        same = inside is not None and self._is_one_piece(op, inside)
        if op.kind == "iota" and (same or not self.text(op)):
            return Sentence("the positions in it")
        if not self.text(op) or op is inside:
            return self.op(op, inside)
        if same:
            return say("the {} inside it", code(self._label(op)))
        if self._makes(op) or self._is_mixed(self._number(op)) or self._is_of_gradient(op):
            return self.op(op, inside)
        if (loop_op := self._loop_of(op)) is not None:
            return say("a value inside {}", self.op(loop_op, inside))
        return say("the {} inside {}", code(self._label(op)), self._told(op, self._near(op, inside)))

    def _of_turns(self, index: int) -> Step | None:
        """What a loop takes a part of for some of its turns, as `scan(unroll=)` does for several at once."""
        op = self._maker(index)
        return Step(value=op.operands[0]) if op is not None and op.kind == "slice" and self._loop_of(op) else None

    def _is_resharded(self, before: int, after: int) -> bool:
        """Whether an array is split differently afterwards: by a constraint, or where a loop or a view takes it."""
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
        """Whether a view changes the shape and makes the value of its text, by which it is known."""
        is_users = view.kind in RESHAPED and _is_users(view) and self._makes(view)
        own = self._place(view) if is_users and self._loop_of(view) is None else None
        is_known = own is not None and own[0] is not None and bool(self.text(view))
        return is_known and not (inside is not None and self._is_one_piece(view, inside))

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

    def outside(self, index: int) -> int:
        """The value that another is the same data and shape as: what a function, a barrier or a loop was given."""
        return self._data.behind(index, views=())

    def seen_through(self, index: int) -> int:
        """The value that another is a view of."""
        return self._data.behind(index)

    def is_constant(self, index: int) -> bool:
        """Whether a value is a constant, or a view of one."""
        op = self._maker(self._data.behind(index))
        return op is not None and op.kind == "constant"

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
        for _ in range(_MOST_STEPS):
            op = self._maker(index)
            is_view = op is not None and op.kind in ("reshape", "broadcast_in_dim") and index in op.results
            if op is None or not is_view or self._is_written(op, inside):
                break
            own = _without_ones(self.program.values[index].shape, self.program.values[op.operands[0]].shape)
            # A turn of a loop, and `x[0]`, are smaller arrays for their users, too.
            if own is None or (None in own and _is_users(op)):
                break
            index, places = op.operands[0], [None if place is None else places[place] for place in own]
        return index, tuple(places)

    # ------------------------------------------------------------ the order of its dimensions

    def _last_views(self, op: ShardedOp) -> list[ShardedOp]:
        """The views of what an op makes that are of its own piece: JAX transposes the product of an `einsum`."""
        found = [op]
        for last in found:
            numbers = (user for result in last.results for user, _ in self.program.users.get(result, ()))
            users = map(self.program.ops.__getitem__, numbers)
            found += [user for user in users if user.kind in OWN_VIEWS and self._is_one_piece(user, op)][:1]
        return found[1:]

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
        """Which dimension of what an op's text says a dimension of its result is; None where that is not known."""
        order = self.told_order(op)
        return None if order is None else order[dimension]

    def told_spec(self, op: ShardedOp, dimensions: Sequence[T]) -> tuple[T, ...] | None:
        """A sharding of an op's result in the order of dimensions that its text has; None where that is not known."""
        order = self.told_order(op)
        return None if order is None else tuple(dimensions[order.index(place)] for place in range(len(order)))

    def as_named(self, index: int, dimensions: Sequence[T], inside: ShardedOp | None = None) -> tuple[T, ...]:
        """What a value has for each dimension (lengths, a sharding), in the order of the text it is called by."""
        op = self._maker(index)
        if op is None or op.results != (index,) or (inside is not None and self._is_one_piece(op, inside)):
            return tuple(dimensions)
        return self.told_spec(op, dimensions) or tuple(dimensions)

    # ------------------------------------------------------------ what an op is called

    def op(self, op: ShardedOp, inside: ShardedOp | None = None, places: Sentence | None = None) -> Sentence:
        """An op, by its text and place; by its name where the text is not known.

        `places` are told instead of its own.
        """
        where = self._near(op, inside) if places is None else say(" ({})", places)
        return self._told(op, where, say("{} in ", code(self._label(op))) if self._is_part(op) else Sentence())

    def _is_part(self, op: ShardedOp) -> bool:
        """Whether an op is one of several of its kind that a library does in a piece, and not that piece's value."""
        number = self._number(op)
        if number is None or self._makes(op) or not self.text(op) or not self._library(op):
            return False
        alike = [other for other in self._of_piece(op, self._roles[number]) if other.kind == op.kind]
        return len({(other.frames, other.op_name) for other in alike}) > 1

    def _label(self, op: ShardedOp) -> str:
        """An op by its primitive, behind the module or function of a library that does it: "wq/dot_general"."""
        library, primitive = self._library(op), users_word(last_part(op)) or op.kind
        if not library:
            return primitive
        function = library[0].function.partition(".<locals>")[0].removesuffix(".__call__")
        return f"{(_modules(op.op_name) or (function,))[-1]}/{primitive}"

    def _library(self, op: ShardedOp) -> tuple[Frame, ...]:
        """The frames of a library of the user's that an op has within what the user wrote, innermost first."""
        frames = self.frames(op)
        inner = op.frames[: op.frames.index(frames[0])] if frames and frames[0] in op.frames else ()
        return inner if inner and is_library(inner[0].file) else ()

    def _told(self, op: ShardedOp, where: Sentence, part: Sentence | None = None) -> Sentence:
        """What a text computes for an op of it, in the words of the op's phase."""
        text, phase = self.text(op) or users_word(last_part(op)) or op.kind, self.phase(op)
        prefix = _PHASES.get(phase or "", "")
        is_mixed = self._is_mixed(self._number(op))
        # Where XLA joins the sum of two gradients with one of them, it has the name of that.
        if phase == "backward" and (is_mixed or (op.kind == "add" and last_part(op) in _VIEW_PRIMITIVES)):
            summed = {str(own): own for own in map(self.value, self._differentiated(op) if is_mixed else ())}
            if len(summed) == 1:
                return say("the sum of gradients of {}", *summed.values())
            prefix = "the sum of gradients at "
        elif phase == "backward" and (operand := self._operand(op)):
            return say("the gradient of {} in {}{}", operand, code(text), where)
        elif phase == "forward" and self._is_of_gradient(op):
            prefix = "the derivative of "
        elif phase == "forward" and self._may_be_tangent(op):
            prefix = "what differentiation makes of "
        return say("{}{}{}{}", part or "", prefix, code(text), where)

    def _operand(self, op: ShardedOp) -> Sentence | None:
        """The operand of its text that a gradient is with respect to, where it is known and has a name."""
        found, made = self._differentiated(op), op
        while len(found) != 1 and made.kind in OWN_VIEWS:
            own = self._maker(made.operands[0])
            if own is None or not self._is_one_piece(own, made):
                return None
            found, made = self._differentiated(own), own
        if len(found) != 1:
            return None
        (index,) = found
        if self.argument(index):
            return self.value(index)
        made = self._maker(index)
        if made is not None and made.kind == "all_gather" and self.argument(made.operands[0]):
            return say("the gathered {}", self.value(made.operands[0]))
        if text := self._side(op, index):
            return say("{}", code(text))
        if made is None or index not in made.results or not self.text(made) or not self._makes(made):
            return None
        return say("{}{}", code(self.text(made)), self._near(made, op))

    def _near(self, op: ShardedOp, inside: ShardedOp | None) -> Sentence:
        """Where an op was written, for a reader who knows the place of another."""
        frames, near = self.frames(op), self.frames(inside) if inside is not None else ()
        if not frames:
            return Sentence()
        caller = self.caller(op)
        is_batched = inside is None and self.is_batched(op)
        parts: list[Phrase | Sentence] = []
        if caller is not None and caller not in near:
            parts.append(say("called at {}", place(line_near(caller, frames[0]))))
        if is_batched:
            parts.append(say("batched by {}", code("vmap")))
        if parts or not near or near[0].file != frames[0].file:
            return say(" ({})", joined([place(frames[0].where), *parts], ", "))
        return Sentence() if frames[0].line == near[0].line else say(" ({})", place(f"line {frames[0].line}"))


def line_near(frame: Frame, near: Frame) -> str:
    """Where a frame is, for a reader who knows the file of another."""
    return f"line {frame.line}" if frame.file == near.file else frame.where


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


def _is_users(view: ShardedOp) -> bool:
    """Whether somebody wrote a view, or XLA added it for another operation."""
    return not view.op_name or last_part(view) in _VIEW_PRIMITIVES


@functools.lru_cache(maxsize=4096)
def _modules(op_name: str) -> tuple[str, ...]:
    """The modules and scopes in JAX's name of an op, without what JAX has done to them."""
    scopes = (_WRAPPERS.sub("", scope).rstrip(")") for scope in op_name.partition(";")[0].split("/")[:-1])
    found = [scope for scope in scopes if scope and "(" not in scope and "->" not in scope and scope not in _JAXS]
    return tuple(dict.fromkeys(found))
