"""Explains a memory shortage: a sentence with the need and the available memory, and XLA's largest buffers by name.

A buffer of XLA's list is found by its maker: XLA's instruction, or JAX's name of the operation with its element type
and its shape on one device. Where several values fit that differ by more than their layer, none is taken. Not its job:
reading XLA's report (`parse.messages.memory_errors`), or remedies (`analyze.memory.could`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pjit_inspect.analyze.memory.values_named import short_name
from pjit_inspect.model.memory.autopsy import ReportedTable, ReportedValue
from pjit_inspect.model.memory.memory_use import LiveValue, MemoryKind, MemoryUse
from pjit_inspect.model.program.hlo import HloModule
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import PartitionSpec
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.shortage import MemoryShortage, ReportedBuffer
from pjit_inspect.model.report.collective import Phase
from pjit_inspect.model.report.explained_error import ErrorScene, ExplainedError
from pjit_inspect.model.report.sharding_table import ShardingTable
from pjit_inspect.model.words.layers import path_pattern, scope_pattern
from pjit_inspect.model.words.sentence import Sentence, bytes_in_words, name, place, say

_TEMPORARIES = "temporaries"
_ROUNDED, _ALIGNED = 200, 512
"""A size with a unit has two decimals: it is within a two-hundredth. One without is exact, but for alignment."""


def wanted_piece(shortage: MemoryShortage, data: RecordData) -> str:
    """The use of the piece of memory that could not be allocated, found by its size; "" if no size matches.

    A result's path, or "temporaries": XLA allocates each result separately, and all temporaries at once.
    """
    temporary = None if data.memory is None else data.memory.temporary_bytes
    pieces = [(_TEMPORARIES, temporary), *((one.path, one.bytes_per_device) for one in data.outputs)]
    asked = shortage.asked_bytes
    for what, size in pieces:
        if size and asked is not None and abs(size - asked) <= (size // _ROUNDED if shortage.is_rounded else _ALIGNED):
            return what
    return ""


def explain_shortage(
    shortage: MemoryShortage,
    scene: ErrorScene,
    *,
    program: str = "",
    piece: str = "",
    alike: Iterable[tuple[str, RecordData]] = (),
) -> ExplainedError:
    """Explains the need and the available memory.

    Args:
      shortage: XLA's report.
      scene: the user's line.
      program: the function's name; "" if no record matches.
      piece: the use of the piece, from `wanted_piece`.
      alike: if no record matches, pieces of the requested size, each with its record.
    """
    return ExplainedError(
        kind="out of memory",
        sentence=_sentence(shortage, program, piece),
        frame=scene.frame,
        line=scene.line,
        notes=tuple(_notes(shortage, program, alike)),
    )


def _sentence(shortage: MemoryShortage, program: str, piece: str) -> Sentence:
    """The need and the available memory, in words that depend on the step that failed."""
    called = program or shortage.program
    what = name(called) if called else "a program"
    asked, needed = _size(shortage.asked_bytes), _size(shortage.needed_bytes)
    free, available = _size(shortage.free_bytes), _size(shortage.available_bytes)
    where = f" on device {shortage.device}" if shortage.device else ""
    if shortage.kind == "load":
        words = "{} could not be put on the device: it needs {} in one piece, and {} are free (XLA's count)"
        return say(words, what, asked, free)
    if shortage.kind == "allocation":
        free = "" if shortage.free_bytes is None else f"; {free} were free"
        if not called:
            return say("there was no room for one piece of {}{}{}", asked, where, free)
        use = say("its result {}", name(piece)) if piece else "something that it needs"
        use = "its temporaries, which lie in one piece" if piece == _TEMPORARIES else use
        words = "{} was compiled, and when it ran there was no room for {}: {}{}{}"
        return say(words, what, asked, use, where, free)
    refused = "XLA did not compile {}: "
    if shortage.kind == "tuning":
        words = "it runs kernels on the device to choose among them, and{} there was no room for {} that they work on"
        return say(refused + words, what, where, asked)
    if shortage.space not in ("", "hbm"):
        needed = asked if shortage.needed_bytes is None else needed
        words = "one of its kernels needs {} of {}, a memory on the chip, and there are {}"
        return say(refused + words, what, needed, shortage.space, available)
    if shortage.needed_bytes is None or shortage.available_bytes is None:
        return say(refused + "memory is short", what)
    words = "it needs {} of the memory of each device, and a program may use {} (XLA's count)"
    return say(refused + words, what, needed, available)


def _size(size_bytes: int | None) -> str:
    # As precise as XLA's figure.
    return "an unknown number of bytes" if size_bytes is None else bytes_in_words(size_bytes, 4)


def _notes(shortage: MemoryShortage, program: str, alike: Iterable[tuple[str, RecordData]]) -> Iterator[Sentence]:
    for piece, data in alike:
        what = "the temporaries" if piece == _TEMPORARIES else say("the result {}", name(piece))
        where = "" if data.user_frame is None else say(", called at {}", place(data.user_frame.where))
        yield say("a program that was captured has a piece of this size: {} of {}{}", what, name(data.name), where)
    if shortage.unknown:
        count = len(shortage.unknown)
        yield say("{} of XLA's report not understood: they are in `memory.shortage.unknown`", f"{count:,} lines")
    if not program:
        yield say(
            "no record is of what failed, so that nothing else is known of it; a program that runs in a capture has "
            "one, and `pjit_inspect.live_arrays()` lists the arrays that this process holds"
        )


# ------------------------------------------------------------ XLA's largest buffers


class _Fitting(NamedTuple):
    """A value of the program that a buffer may be; `pattern` is its name with starred layers."""

    name: str
    pattern: str
    spec: PartitionSpec | None
    kind: MemoryKind | None = None
    source: tuple[Frame, ...] = ()
    phase: Phase = None


def join_reported(
    buffers: Iterable[ReportedBuffer],
    *,
    module: HloModule | None = None,
    use: MemoryUse | None = None,
    inputs: Sequence[ArrayLayout] = (),
    shardings: ShardingTable | None = None,
) -> ReportedTable:
    """XLA's list in the user's terms.

    Args:
      buffers: the list.
      module: the program with its schedule; None where there is none.
      use: its live values.
      inputs: its arguments.
      shardings: the values of the program before partitioning.
    """
    live = {} if use is None else {row.made_by: row for row in (*use.largest, *use.live) if row.made_by}
    written = ShardingTable() if shardings is None else shardings

    def joined(buffer: ReportedBuffer) -> ReportedValue:
        if buffer.is_argument:
            return _joined(buffer, _arguments(buffer, inputs))
        made = _made(buffer, live, module)
        return _joined(buffer, made if _is_one(made) else _written(buffer, written))

    return ReportedTable(rows=tuple(map(joined, buffers)))


def _arguments(buffer: ReportedBuffer, inputs: Sequence[ArrayLayout]) -> list[_Fitting]:
    """The arguments of its type and shape."""
    return [
        _Fitting(one.path, path_pattern(one.path), one.spec, "argument")
        for one in inputs
        if one.kept and (short_dtype(one.dtype), one.local_shape) == (buffer.dtype, buffer.dimensions)
    ]


def _made(buffer: ReportedBuffer, live: dict[str, LiveValue], module: HloModule | None) -> list[_Fitting]:
    """The live value of its maker, if the size agrees, or else those whose maker has the operation's name."""
    row, fitting = live.get(buffer.instruction), list[LiveValue]()
    if row is not None and abs(row.bytes - buffer.bytes) * _ROUNDED <= buffer.bytes:
        fitting = [row]
    elif buffer.op_name and module is not None:
        # XLA may have permuted its dimensions.
        key = buffer.dtype, math.prod(buffer.dimensions)
        rows = [row for row in live.values() if (row.dtype, math.prod(row.local_shape)) == key]
        makers = [(row, made) for row in rows if (made := module.find(row.made_by)) is not None]
        makers = [(row, made) for row, made in makers if made.op_name == buffer.op_name]
        # A collective has the name of the operation that it completes.
        fitting = [row for row, made in makers if made.opcode == buffer.opcode] or [row for row, _ in makers]
    return [_Fitting(row.name, scope_pattern(row.name), row.spec, row.kind, row.source, row.phase) for row in fitting]


def _written(buffer: ReportedBuffer, values: ShardingTable) -> list[_Fitting]:
    """The values before partitioning with the operation's name; they have no schedule and no kind."""
    key = buffer.op_name, buffer.dtype, buffer.dimensions
    fitting = [row for row in values if row.op_name and (row.op_name, row.dtype, row.local_shape) == key]
    alike = {(row.name, row.spec): row for row in reversed(fitting)}
    return [_Fitting(row.name, row.name, row.spec, None, row.source, row.phase) for row in alike.values()]


def _is_one(fitting: Sequence[_Fitting]) -> bool:
    """True if they differ by no more than their layer."""
    return len({(one.pattern, one.kind, one.spec, one.source[:1]) for one in fitting}) == 1


def _joined(buffer: ReportedBuffer, fitting: Sequence[_Fitting]) -> ReportedValue:
    """One buffer as found in the program, or as XLA reports it."""
    is_found = _is_one(fitting)
    first = fitting[0] if is_found else _as_said(buffer)
    return ReportedValue(
        name=first.pattern if len(fitting) > 1 and is_found else first.name,
        bytes=buffer.bytes,
        kind=first.kind,
        spec=first.spec,
        source=first.source,
        dtype=buffer.dtype,
        local_shape=buffer.dimensions,
        phase=first.phase,
        unpadded_bytes=buffer.unpadded_bytes,
        instruction=buffer.instruction,
        is_found=is_found,
    )


def _as_said(buffer: ReportedBuffer) -> _Fitting:
    line = buffer.source_line if buffer.source_file else None
    frames = (Frame(file=buffer.source_file, line=line, function=""),) if line else ()
    text = short_name(buffer.op_name) if buffer.op_name else "an argument" if buffer.is_argument else ""
    text = text or buffer.instruction or buffer.opcode or buffer.shape
    return _Fitting(text, text, None, "argument" if buffer.is_argument else None, frames)
