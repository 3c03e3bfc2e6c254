"""How a person calls a value of the sharded program: by its argument's name, or by the text it was written as.

Not its job: sentences about it (`analyze.causes.cause_wording`).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pjit_inspect.analyze.program.phases import find_phase, transposed, untransposed
from pjit_inspect.analyze.program.source import user_frames
from pjit_inspect.analyze.sharding.same_data import RESHAPED, SAME_SHAPE, SameData, Step
from pjit_inspect.model.program.opcodes import MANUAL_BORDERS, REQUESTS
from pjit_inspect.model.program.primitive import users_word
from pjit_inspect.model.program.source import Frame, SourceText
from pjit_inspect.model.report.collective import Phase
from pjit_inspect.model.sharding.sharded_program import ShardedOp, ShardedProgram, Span, axis_name
from pjit_inspect.model.words.sentence import Sentence, code, name, place, say

T = TypeVar("T")

_LONGEST = 60
_VIEW_PRIMITIVES = frozenset((
    "reshape", "squeeze", "expand_dims", "broadcast_in_dim", "transpose", "convert_element_type", "copy", "copy_p",
    "bitcast_convert_type", "reduce_precision", "broadcast",
))  # fmt: skip
"""JAX's names of views that somebody wrote; XLA gives those it adds the name of the operation they are for."""
_LOOPS_OWN = frozenset(("reshape", "slice", "concatenate"))
"""What `scan(unroll=)` does before and after its loop to the arrays that it goes through and gathers up."""
_TURNS = ("/body/jit(dynamic_index_in_dim)", "/body/jit(dynamic_update_index_in_dim)")
"""JAX's name, behind that of the loop, of what `scan` does to take a turn's piece and to put it into the result."""
_BODIES = ("/body/closed_call/", "/body/eval_jaxpr/")
"""The same of what the user wrote in a `scan`, before JAX 0.11.2 and from it on."""
_MOST_STEPS = 10_000
_ROOTS = ("jit(", "pjit(", "pmap(")
"""What JAX's full name of an op begins with; any other name begins in the region the op stands in."""
_POWER = re.compile(r"(\*\*\s*[\w.]+|\bsquare\(.*\))$")
_FACTOR = re.compile(r"/(?:\w+\()*jvp\([^/]*/(?:[^/]*/)*mul$")
"""JAX's name of the factor `2 * x` that a power's forward pass makes for its gradient: the power itself is no `mul`."""
_SUM = "add_any"
"""JAX's name of the sum of all gradients of one value: it stands where the last of them was made."""
_PHASES = {"backward": "the gradient of ", "recompute": "the recomputed "}


@dataclass(slots=True)
class ValueNames:
    """Names for the values and ops of one program.

    Attributes:
      program: the program.
      sources: texts of the user's files and cells, as far as they are known.
      cells: file -> how the notebook calls the cell.
    """

    program: ShardedProgram
    sources: Iterable[SourceText] = ()
    cells: Mapping[str, str] = field(default_factory=dict)
    _texts: dict[str, SourceText] = field(init=False, default_factory=dict)
    _data: SameData = field(init=False)
    _outer: frozenset[Frame] = field(init=False)
    _loops: dict[tuple[tuple[Frame, ...], str], ShardedOp] = field(init=False)
    _transposed: frozenset[str] | None = field(init=False, default=None)
    _scans: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        self._texts = {source.file: source for source in self.sources}
        self._data = SameData(self.program)
        inner = ((op, op.parent) for op in self.program.ops if op.parent is not None)
        self._scans = frozenset(
            loop for op, loop in inner if op.op_name.removeprefix(self.program.ops[loop].op_name).startswith(_BODIES)
        )
        stacks = [set(op.frames) for op in self.program.ops if op.frames and op.op_name.startswith(_ROOTS)]
        loops = (op for op in self.program.ops if op.kind == "while" and self.frames(op))
        self._loops = {(self.frames(op)[:1], _scope(op)): op for op in loops}
        self._outer = frozenset(set[Frame]().union(*stacks[:1]).intersection(*stacks))

    def outside(self, index: int) -> int:
        """The value that another is the same data and shape as: what a function, a barrier or a loop was given."""
        return self._data.behind(index, views=())

    def value(self, index: int, inside: ShardedOp | None = None) -> Sentence:
        """A value: "`params['w1']`", "`x @ w` (train.py:12)", "`x` transposed", "`x` broadcast", "`ws['up'][i]`".

        `inside` is the op whose operand or result it is: its place is not told again, and what stands in the very same
        text is "a value inside it". What has another sharding than the array it is told by is "`x` (resharded)".
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
                words = f" {RESHAPED[view.kind]}" if self._is_users(view) and not self._loop_of(view) else words
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
        return Step(value=op.operands[0]) if op is not None and op.kind == "slice" and self._loop_of(op) else None

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
        steps = () if maker is None else self._last_steps(self.program.ops[maker])
        return next((op.results[0] for op in reversed(tuple(steps))), index)

    def _last_steps(self, op: ShardedOp) -> Iterator[ShardedOp]:
        """The transposes of what an op makes that are of its own text."""
        for _ in range(_MOST_STEPS):
            users = [self.program.ops[user] for result in op.results for user, _ in self.program.users.get(result, ())]
            own = [user for user in users if user.kind == "transpose" and self._is_one_text(user, op)]
            if not own:
                return
            op = own[0]
            yield op

    def told_dimension(self, op: ShardedOp, dimension: int) -> int | None:
        """Which dimension of what an op's text says a dimension of its result is; None where that is not known."""
        for step in self._last_steps(op):
            if step.rule is None or step.rule.operands[0][dimension] not in step.rule.results[0]:
                return None
            dimension = step.rule.results[0].index(step.rule.operands[0][dimension])
        return dimension

    def told_order(self, op: ShardedOp) -> tuple[int, ...] | None:
        """For each dimension of an op's result, which one it is in its text; None where that is not known."""
        rank = len(self.program.values[op.results[0]].shape)
        places = [self.told_dimension(op, dimension) for dimension in range(rank)]
        order = tuple(place for place in places if place is not None)
        return order if sorted(order) == list(range(rank)) else None

    def told_spec(self, op: ShardedOp, dimensions: Sequence[T]) -> tuple[T, ...] | None:
        """A sharding of an op's result in the order of dimensions that its text has; None where that is not known."""
        order = self.told_order(op)
        return None if order is None else tuple(dimensions[order.index(place)] for place in range(len(order)))

    def as_named(self, index: int, dimensions: Sequence[T], inside: ShardedOp | None = None) -> tuple[T, ...]:
        """What a value has for each dimension (lengths, a sharding), in the order of the text it is called by."""
        maker = self.program.values[index].op
        op = None if maker is None else self.program.ops[maker]
        if op is None or op.results != (index,) or (inside is not None and self._is_one_text(op, inside)):
            return tuple(dimensions)
        return self.told_spec(op, dimensions) or tuple(dimensions)

    def scopes(self, op: ShardedOp) -> tuple[str, ...]:
        """The names of an op and of those it stands in: of loops, and of functions that are called."""
        found = [op.op_name]
        while op.parent is not None:
            op = self.program.ops[op.parent]
            found.append(op.op_name)
        return tuple(found)

    def _loop_of(self, op: ShardedOp) -> ShardedOp | None:
        """The loop whose own op it is: what `scan` does to hand each turn its piece stands at the call of `scan`."""
        place = self.frames(op)[:1]
        parent = None if op.parent is None else self.program.ops[op.parent]
        if parent is not None and parent.kind == "while" and self.frames(parent)[:1] == place:
            return parent
        return self._loops.get((place, _scope(op))) if op.kind in _LOOPS_OWN else None

    def _is_users(self, view: ShardedOp) -> bool:
        """Whether somebody wrote a view, or XLA added it for another operation."""
        return not view.op_name or view.op_name.rpartition("/")[2] in _VIEW_PRIMITIVES

    def _is_written(self, view: ShardedOp, inside: ShardedOp | None) -> bool:
        """Whether a view changes the shape and has a text of its own, by which it is known."""
        if view.kind not in RESHAPED or not self._is_users(view) or self._loop_of(view):
            return False
        return bool(self._span_text(view)) and not (inside is not None and self._is_one_text(view, inside))

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
        if self.frames(op) and (loop := self._loop_of(op)) is not None:
            return say("a value inside {}", self.op(loop, inside))
        same = inside is not None and self._is_one_text(op, inside)
        if op.kind == "iota" and (same or not self.text(op)):
            return Sentence("the positions in it")
        if same and op is not inside:
            return Sentence("a value inside it")
        return self.op(op, inside)

    def _is_told_with(self, index: int, larger: ShardedOp) -> bool:
        """Whether what a value is called holds for its broadcast: it is no name, or that of the text both are of."""
        maker = self.program.values[index].op
        op = None if maker is None else self.program.ops[maker]
        return op is not None and (op.kind in ("constant", "iota") or self._is_one_text(op, larger))

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

    def is_constant(self, index: int) -> bool:
        """Whether a value is a constant, or a view of one."""
        maker = self.program.values[self.seen_through(index)].op
        return maker is not None and self.program.ops[maker].kind == "constant"

    def _is_one_text(self, one: ShardedOp, other: ShardedOp) -> bool:
        """Whether two ops were written as the very same piece of text, in one phase."""
        a, b = self.frames(one), self.frames(other)
        if not a or not b or (a[0].file, a[0].line) != (b[0].file, b[0].line):
            return False
        text = self.text(one)
        return bool(text) and text == self.text(other) and self.phase(one) == self.phase(other)

    def op(self, op: ShardedOp, inside: ShardedOp | None = None, places: Sentence | None = None) -> Sentence:
        """An op, by its text and place; by its name where the text is not known.

        `places` are told instead of its own.
        """
        # Where XLA joins the sum of two gradients with one of them, it has the name of that.
        is_joined_sum = op.kind == "add" and op.op_name.rpartition("/")[2] in _VIEW_PRIMITIVES
        text = self.text(op) or users_word(op.op_name.rpartition("/")[2]) or op.kind
        prefix = _PHASES.get(self.phase(op) or "", "")
        if self.phase(op) == "backward" and (is_joined_sum or self._is_mixed(op)):
            prefix = "the sum of gradients at "
        elif self.phase(op) == "forward" and _FACTOR.search(op.op_name) and _POWER.search(text):
            prefix = "the derivative of "
        elif self.phase(op) == "forward" and self._may_be_tangent(op):
            prefix = "what differentiation makes of "
        frames, near = self.frames(op), self.frames(inside) if inside is not None else ()
        where = _place(frames[0], near[0] if near else None) if frames else Sentence()
        if places is not None:
            where = say(" ({})", places)
        elif self.is_by_helper(op):
            where = say(" ({}, called at {})", place(frames[0].where), place(line_near(frames[1], frames[0])))
        return say("{}{}{}", prefix, code(text), where)

    def _is_mixed(self, op: ShardedOp) -> bool:
        """Whether an op adds up gradients of a value that are made at several places, of which it stands at one."""
        sums = [op] if op.op_name.rpartition("/")[2] == _SUM else []
        for own in sums:
            for operand in own.operands:
                maker = self.program.values[self._data.behind(operand)].op
                other = None if maker is None else self.program.ops[maker]
                if other is None or not self._is_one_text(other, op):
                    return True
                # Layers in a Python loop have one text: what the sum of one is made of may be that of the next.
                if other.op_name.rpartition("/")[2] == _SUM and len(sums) < _MOST_STEPS:
                    sums.append(other)
        return False

    def is_by_helper(self, op: ShardedOp) -> bool:
        """Whether a function asks for a sharding that may have many callers: the call is what one would change."""
        frames = self.frames(op)
        if op.kind not in REQUESTS or len(frames) < 2:
            return False
        own, caller, *_ = frames
        is_elsewhere = (own.file, own.line) != (caller.file, caller.line)
        return own.function != caller.function and is_elsewhere and caller not in self._outer

    def frames(self, op: ShardedOp) -> tuple[Frame, ...]:
        """The user's frames of an op, innermost first; () when there are none."""
        return user_frames(op.frames[self._kept_frames(op) :], self.cells)

    def _kept_frames(self, op: ShardedOp) -> int:
        """How many of the innermost frames of an op are those of another loop.

        What `scan` takes its pieces by is a function that JAX traces once for all scans over arrays of a shape, where
        the first of them was called; the frames behind that call's are the loop's.
        """
        # In a `while_loop` the user may have called that function.
        if op.parent is None or op.parent not in self._scans:
            return 0
        loop = self.program.ops[op.parent]
        if not loop.frames or not op.op_name.removeprefix(loop.op_name).startswith(_TURNS):
            return 0
        # Of a deep stack the last frames may be missing.
        places = (place for place in range(len(op.frames)) if _begin_alike(op.frames[place:], loop.frames))
        return next(places, 0)

    def phase(self, op: ShardedOp) -> Phase:
        """The phase of training an op belongs to; what has a name within a region's has the region's."""
        return find_phase(self._phased(op).op_name)

    def _phased(self, op: ShardedOp) -> ShardedOp:
        """The op whose name tells the phase of one: itself, or what it stands in."""
        for _ in range(_MOST_STEPS):
            if find_phase(op.op_name) is not None or op.parent is None or op.op_name.startswith(_ROOTS):
                break
            op = self.program.ops[op.parent]
        return op

    def _may_be_tangent(self, op: ShardedOp) -> bool:
        """Whether an op may make the tangent of what its text computes: JAX gives both one name and one place."""
        if self._transposed is None:
            self._transposed = frozenset[str]().union(*(transposed(op.op_name) for op in self.program.ops))
        return not untransposed(self._phased(op).op_name) <= self._transposed

    def text(self, op: ShardedOp, depth: int = 0) -> str:
        """The piece of the user's source an op was written as, on one line; "" when it is not known.

        With a `depth`, the piece of so many calls further out.
        """
        frames = self.frames(op)
        if len(frames) <= depth:
            return ""
        frame = frames[depth]
        source = self._texts.get(frame.file)
        line = source.line(frame.line) if source else None
        if line is None:
            return ""
        span = self._span(op, frame)
        if span is None:
            return _shortened(line.partition(" #")[0].strip())
        end = span.end_column if span.line == span.end_line else None
        cut = line.encode()[span.column : end].decode(errors="replace").strip()
        return _shortened(cut if end is not None else f"{cut} ...")

    def column(self, frame: Frame) -> int:
        """Where on its line the piece of a frame begins, in characters from 1; its first column has to be known."""
        source = self._texts.get(frame.file)
        line = (source and source.line(frame.line)) or ""
        return len(line.encode()[: frame.columns[0]].decode(errors="replace") or " " * frame.columns[0]) + 1

    def _span_text(self, op: ShardedOp) -> str:
        """The text of an op where its piece is known, not only its line; ""."""
        frames = self.frames(op)
        return self.text(op) if frames and self._span(op, frames[0]) is not None else ""

    def _span(self, op: ShardedOp, frame: Frame) -> Span | None:
        """The piece of text that belongs to a user's frame of an op."""
        places = zip(op.frames, op.spans, strict=False)
        piece = (frame.file, frame.line, frame.columns[:1])
        own = (span for other, span in places if (other.file, other.line, other.columns[:1]) == piece)
        span = next(own, None)
        return span if span is not None and span.line == frame.line else None


def _begin_alike(one: Sequence[Frame], two: Sequence[Frame]) -> bool:
    return all(map(operator.eq, one, two))


def _scope(op: ShardedOp) -> str:
    """The scopes an op stands in: JAX's name of it without the primitive."""
    return op.op_name.rpartition("/")[0]


def line_near(frame: Frame, near: Frame) -> str:
    """Where a frame is, for a reader who knows the file of another."""
    return f"line {frame.line}" if frame.file == near.file else frame.where


def _place(frame: Frame, near: Frame | None) -> Sentence:
    """Where a frame is, as far as a reader of `near` does not know it."""
    if near is None or frame.file != near.file:
        return say(" ({})", place(frame.where))
    return Sentence() if frame.line == near.line else say(" ({})", place(f"line {frame.line}"))


def _shortened(text: str) -> str:
    """A text that fits into a sentence: its beginning, when it is long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3].rstrip()}..."
