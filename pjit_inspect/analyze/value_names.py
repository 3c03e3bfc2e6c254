"""How a person calls a value of the sharded program: by its argument's name, or by the text it was written as.

Not its job: sentences about it (`analyze.cause_wording`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from pjit_inspect.analyze.phases import find_phase
from pjit_inspect.analyze.source import user_frames
from pjit_inspect.model.primitive import users_word
from pjit_inspect.model.propagation import Dimensions, Propagation, ShardedOp, Span
from pjit_inspect.model.source import Frame, SourceText

__all__ = ["ValueNames", "spec_text"]

_LONGEST = 60
_SAME_SHAPE = frozenset(("convert", "copy", "optimization_barrier", "sharding_constraint", "reshard"))
_RESHAPED = {"transpose": "transposed", "reshape": "reshaped", "broadcast_in_dim": "broadcast"}
_CALL = "named_computation"

_VIEWS = _SAME_SHAPE | frozenset(_RESHAPED)
_PHASES = {"backward": "the gradient of ", "recompute": "the recomputed "}


def spec_text(spec: Dimensions) -> str:
    """A sharding as a PartitionSpec: `P('data', None)`."""
    return f"P({', '.join(map(_entry, spec))})"


def _entry(axes: tuple[str, ...]) -> str:
    if not axes:
        return "None"
    names = [repr(axis) for axis in axes]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


@dataclass(slots=True)
class ValueNames:
    """Names for the values and ops of one program.

    Attributes:
      program: the program.
      sources: texts of the user's files and cells, as far as they are known.
      cells: file -> how the notebook calls the cell.
    """

    program: Propagation
    sources: Iterable[SourceText] = ()
    cells: Mapping[str, str] = field(default_factory=dict)
    _texts: dict[str, SourceText] = field(init=False, default_factory=dict)
    _given: dict[int, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._texts = {source.file: source for source in self.sources}
        self._given = {inner: outer for outer, inner in self.program.links if self._is_parameter(inner)}

    def _is_parameter(self, index: int) -> bool:
        """Whether a value is what a call of a function was given; loops are given something else each time."""
        maker = self.program.values[index].op
        op = None if maker is None else self.program.ops[maker]
        return op is not None and op.kind == _CALL and index not in op.results

    def outside(self, index: int) -> int:
        """The value a function was given for a parameter of its own; any other value itself."""
        while index in self._given:
            index = self._given[index]
        return index

    def value(self, index: int, inside: ShardedOp | None = None) -> str:
        """A value: "`params['w1']`", "`x @ w` (train.py:12)", "`x` transposed".

        `inside` is the op whose operand or result it is: its place is not told again, and what stands in the very same
        text is "a value inside it".
        """
        index = self.outside(index)
        value = self.program.values[index]
        if value.argument is not None:
            return f"`{self.program.inputs[value.argument].label or f'argument {value.argument}'}`"
        if value.op is None:
            return "a value"
        op = self.program.ops[value.op]
        if op.kind == "constant":
            return "a constant"
        if index not in op.results:
            return f"a value inside {self.op(op, inside)}"
        if op.kind in _SAME_SHAPE and op.operands:
            return self.value(self.seen_through(index, _SAME_SHAPE), inside)
        same = inside is not None and self._is_one_text(op, inside)
        if op.kind == "iota" and (same or not self.text(op)):
            return "the positions in it"
        if op.kind in _RESHAPED and op.operands and (same or not self.text(op)):
            return f"{self.value(self.seen_through(index), inside)} {_RESHAPED[op.kind]}"
        if same and op is not inside:
            return "a value inside it"
        return self.op(op, inside)

    def argument(self, index: int) -> str:
        """The argument a value is, or is a plain view of; "" for anything else."""
        argument = self.program.values[self.seen_through(index)].argument
        return "" if argument is None else self.program.inputs[argument].label

    def seen_through(self, index: int, kinds: Collection[str] = _VIEWS) -> int:
        """The value that another is a view of, through ops of these kinds."""
        while (maker := self.program.values[index := self.outside(index)].op) is not None:
            op = self.program.ops[maker]
            if op.kind not in kinds or not op.operands:
                break
            index = op.operands[0]
        return index

    def _is_one_text(self, one: ShardedOp, other: ShardedOp) -> bool:
        """Whether two ops were written as the very same piece of text, in one phase."""
        a, b = self.frames(one), self.frames(other)
        if not a or not b or (a[0].file, a[0].line) != (b[0].file, b[0].line):
            return False
        return self.text(one) == self.text(other) and find_phase(one.op_name) == find_phase(other.op_name)

    def op(self, op: ShardedOp, inside: ShardedOp | None = None) -> str:
        """An op, by its text and place; by its name where the text is not known."""
        name = self.text(op) or users_word(op.op_name.rpartition("/")[2]) or op.kind
        prefix = _PHASES.get(find_phase(op.op_name) or "", "")
        frames, near = self.frames(op), self.frames(inside) if inside is not None else ()
        return f"{prefix}`{name}`{_place(frames[0], near[0] if near else None) if frames else ''}"

    def frames(self, op: ShardedOp) -> tuple[Frame, ...]:
        """The user's frames of an op, innermost first; () when there are none."""
        return user_frames(op.frames, self.cells)

    def text(self, op: ShardedOp) -> str:
        """The piece of the user's source an op was written as, on one line; "" when it is not known."""
        frames = self.frames(op)
        if not frames:
            return ""
        source = self._texts.get(frames[0].file)
        line = source.line(frames[0].line) if source else None
        if line is None:
            return ""
        span = self._span(op, frames[0])
        if span is None:
            return _shortened(line.partition(" #")[0].strip())
        end = span.end_column if span.line == span.end_line else None
        cut = line.encode()[span.column : end].decode(errors="replace").strip()
        return _shortened(cut if end is not None else f"{cut} ...")

    def _span(self, op: ShardedOp, frame: Frame) -> Span | None:
        """The piece of text that belongs to a user's frame of an op."""
        places = zip(op.frames, op.spans, strict=False)
        own = (span for other, span in places if (other.file, other.line) == (frame.file, frame.line))
        span = next(own, None)
        return span if span is not None and span.line == frame.line else None


def _place(frame: Frame, near: Frame | None) -> str:
    """Where a frame is, as far as a reader of `near` does not know it."""
    if near is None or frame.file != near.file:
        return f" ({frame.where})"
    return "" if frame.line == near.line else f" (line {frame.line})"


def _shortened(text: str) -> str:
    """A text that fits into a sentence: its beginning, when it is long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3].rstrip()}..."
