"""How a person calls a value of the sharded program: by its argument's name, or by the text it was written as.

Not its job: sentences about it (`analyze.cause_wording`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pjit_inspect.analyze.phases import find_phase
from pjit_inspect.analyze.source import user_frames
from pjit_inspect.model.propagation import Dimensions, Propagation, ShardedOp, Span
from pjit_inspect.model.source import Frame, SourceText

__all__ = ["ValueNames", "spec_text"]

_LONGEST = 60
_SILENT = frozenset((
    "convert", "broadcast_in_dim", "reshape", "transpose", "copy", "optimization_barrier", "sharding_constraint",
))  # fmt: skip


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

    def __post_init__(self) -> None:
        self._texts = {source.file: source for source in self.sources}

    def value(self, index: int, near: Frame | None = None) -> str:
        """A value: "`params['w1']`", "`x @ w` (train.py:12)"; without its place where that is the frame `near`."""
        value = self.program.values[self._seen_through(index)]
        if value.argument is not None:
            return f"`{self.program.inputs[value.argument].name or f'argument {value.argument}'}`"
        if value.op is None:
            return "a value"
        op = self.program.ops[value.op]
        carried = "" if self._seen_through(index) in op.results else "a value inside "
        return carried + self.op(op, near)

    def argument(self, index: int) -> str:
        """The argument a value is, or is a plain view of; "" for anything else."""
        argument = self.program.values[self._seen_through(index)].argument
        return "" if argument is None else self.program.inputs[argument].name

    def _seen_through(self, index: int) -> int:
        """The value that another is a plain view of: cast, transposed, reshaped."""
        while (maker := self.program.values[index].op) is not None:
            op = self.program.ops[maker]
            if op.kind not in _SILENT or not op.operands:
                break
            index = op.operands[0]
        return index

    def op(self, op: ShardedOp, near: Frame | None = None) -> str:
        """An op, by its text and place; by its name where the text is not known."""
        name = self.text(op) or op.op_name.rpartition("/")[2] or op.kind
        prefix = _PHASES.get(find_phase(op.op_name) or "", "")
        frames = self.frames(op)
        return f"{prefix}`{name}`{_place(frames[0], near) if frames else ''}"

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
