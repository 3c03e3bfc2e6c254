"""As `copies`, for a record from a file: in a process of its own, as MLIR may die of a damaged program, or worse.

That process reads the record as this one does, and then answers one question after the other: a changed copy, its
shardings, the pieces of text in it. What it says is trusted no more than the file. It ends with `close`, with the
object, or with this process. Not its job: what is asked (`copies`), or XLA's answer about a copy (`what_if`).
"""

from __future__ import annotations

import importlib.util
import io
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO, Any

from pjit_inspect.errors import CaptureError, ChangeError, PjitInspectError
from pjit_inspect.handles.asked.copies import Change, Copies, Positions
from pjit_inspect.handles.asked.what_if import ChangedProgram
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import Pieces, ShardedProgram, Span, SpanKey
from pjit_inspect.parse.files.json_fields import TableWriter, from_json, parse_json, to_json
from pjit_inspect.parse.files.propagation_file import propagation_bytes, read_propagation
from pjit_inspect.parse.files.record_file import read_record, write_record

__all__ = ["CopiesApart", "main"]

_TIMEOUT_S = 180.0
_END_S = 2.0
_MOST_BYTES = 1 << 30
_MOST_PARTS = 4

Message = tuple[str, list[bytes]]
"""What is asked or said, as JSON, and the programs that go with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """What that process says first; mesh and loops in two columns each."""

    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    is_mesh_given: bool
    loops: tuple[int, ...]
    counts: tuple[int, ...]
    positions: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Piece:
    """`Pieces`; `numbers` are the two places' lines and columns, how many each makes, and where they begin and end."""

    primitive: str
    inner: str
    outer: str
    numbers: tuple[int, ...]


class CopiesApart:
    """The program of a record from a file.

    Attributes:
      data, mesh, is_mesh_given, program, trips, positions: as `Copies` has them.
    """

    def __init__(self, data: RecordData) -> None:
        """Start that process, and have it read the record.

        Raises CaptureError where there is no JAX or the process dies, and ChangeError as `Copies`.
        """
        if data.stablehlo is None:
            raise ChangeError("the record has no program before optimization, so no change of it can be tried")
        if importlib.util.find_spec("jax") is None:
            raise CaptureError("a changed copy of a program needs JAX, which is not installed here")
        self.data: RecordData = data
        self._lock = threading.Lock()
        # A process that is forked off has a process of its own for this.
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] = _nothing
        text, parts = self._ask({"ask": "open"})
        opened = _read(text, _Opened)
        self.mesh: tuple[tuple[str, int], ...] = tuple(zip(opened.axes, opened.sizes, strict=True))
        self.is_mesh_given: bool = opened.is_mesh_given
        self.trips: dict[int, int] = dict(zip(opened.loops, opened.counts, strict=True))
        self.positions: Positions = opened.positions
        self.program: ShardedProgram | None = read_propagation(parts[1], "the copy") if len(parts) > 1 else None
        if parts[0] != data.stablehlo.read():
            self.data = replace(data, stablehlo=Blob(parts[0]), stablehlo_text=None)

    def changed(self, change: Change) -> ChangedProgram:
        """As `Copies.changed`; the function is not at hand."""
        from pjit_inspect.observe.partitioner.targets import find_target

        said, parts = self._ask({"ask": "changed", "change": _change_json(change)})
        words = _read(said, tuple[str, ...])
        target = find_target(change.target)
        return ChangedProgram(program=parts[0], sizes=dict(change.mesh), target=target, said=words, base=self.data)

    def propagated(self, change: Change) -> tuple[ShardedProgram, Positions]:
        """As `Copies.propagated`."""
        said, parts = self._ask({"ask": "propagated", "change": _change_json(change)})
        positions = _read(said, tuple[int | None, ...])
        return read_propagation(parts[0], "the copy"), positions

    def read_spans(self, stablehlo: bytes) -> Mapping[SpanKey, Pieces]:
        """As `observe.shardy.mlir_locations.read_spans`."""
        said, _ = self._ask({"ask": "spans"}, [stablehlo])
        pieces = _read(said, tuple[_Piece, ...])
        return dict(map(_pieces, pieces))

    def close(self) -> None:
        """End the process; the next question starts another."""
        with self._lock:
            self._stop()

    # ------------------------------------------------------------ the process

    def _ask(self, question: dict[str, Any], parts: list[bytes] | None = None) -> Message:
        with self._lock:
            process = self._started()
            try:
                said, found = _exchange(process, (json.dumps(question), parts or []))
            except (OSError, ValueError, EOFError) as error:
                how = self._stop()
                raise CaptureError(
                    f"the process that reads the program from its file {how}; the file may be damaged"
                ) from error
            except BaseException:
                # Interrupted: what it would say next is the answer to this.
                self._stop()
                raise
        kind, text = _read(said, tuple[str, ...])
        if kind == "done":
            return text, found
        raise (ChangeError if kind == ChangeError.__name__ else CaptureError)(text)

    def _started(self) -> subprocess.Popen[bytes]:
        is_ours = self._owner == os.getpid()
        if self._process is not None and is_ours and self._process.poll() is None:
            return self._process
        self._stop()
        self._owner = os.getpid()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "JAX_PLATFORMS": "cpu"}
        try:
            # In a session of its own: an interrupt of the user's is not for it.
            self._process = process = subprocess.Popen(
                [sys.executable, "-P", "-W", "ignore", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                start_new_session=True,
            )
        except OSError as error:
            raise CaptureError(f"the process that reads the program cannot be started: {error}") from error
        self._end = weakref.finalize(self, _end, process, os.getpid())
        record = io.BytesIO()
        write_record(replace(self.data, hlo=None, buffers=None, propagation=None, kernel_times=None), record)
        # Why it ended, where it did, is found out by who asks it.
        with suppress(OSError):
            _send(_pipe(process.stdin), ("{}", [record.getvalue()]))
        return process

    def _stop(self) -> str:
        """End the process, and say how it ended."""
        process, self._process = self._process, None
        end, self._end = self._end, _nothing
        end()
        code = None if process is None else process.returncode
        if code is None:
            return "gave no answer"
        return f"ended by signal {-code}" if code < 0 else f"ended with status {code}"


def _nothing() -> None:
    """There is no process."""


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:
        return
    with suppress(OSError):
        # What was written last may not have reached it.
        process.stdin.close() if process.stdin is not None else None
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _read(text: str, kind: Any) -> Any:
    """What that process says, of the kind that it must be. Raises ParseError."""
    return from_json(parse_json(text.encode(), "the copy"), kind, (None, "$"))


def _change_json(change: Change) -> dict[str, Any]:
    tables = TableWriter()
    return {
        "mesh": dict(change.mesh),
        "target": change.target,
        "specs": change.specs,
        "edits": None if change.edits is None else [to_json(edit, Edit, tables) for edit in change.edits],
        "said": change.said,
    }


def _pieces(piece: _Piece) -> tuple[SpanKey, Pieces]:
    line, column, outer_line, outer_column, each, *ends = piece.numbers
    key = piece.primitive, (piece.inner, line, column), (piece.outer, outer_line, outer_column)
    numbers = iter(ends)
    spans = zip(numbers, numbers, numbers, numbers, strict=True)
    return key, Pieces(tuple(Span(line=a, column=b, end_line=c, end_column=d) for a, b, c, d in spans), each)


# ---------------------------------------------------------------- what goes over the pipes


def _exchange(process: subprocess.Popen[bytes], question: Message) -> Message:
    """Ask, and wait for the answer. Raises OSError, ValueError or EOFError where there is none."""
    timer = threading.Timer(_TIMEOUT_S, process.kill)
    timer.daemon = True
    timer.start()
    try:
        _send(_pipe(process.stdin), question)
        return _receive(_pipe(process.stdout))
    finally:
        timer.cancel()


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("the process has no pipes")
    return pipe


def _send(pipe: IO[bytes], message: Message) -> None:
    text, parts = message
    content = text.encode()
    pipe.write(f"{' '.join(str(len(own)) for own in (content, *parts))}\n".encode())
    for own in (content, *parts):
        pipe.write(own)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Message:
    header = pipe.readline(200)
    if not header:
        raise EOFError("the other end is closed")
    lengths = [int(length) for length in header.split()]
    if not 1 <= len(lengths) <= _MOST_PARTS or not all(0 <= length <= _MOST_BYTES for length in lengths):
        raise ValueError("this is no message")
    contents = [pipe.read(length) for length in lengths]
    if [len(own) for own in contents] != lengths:
        raise EOFError("the other end closed within a message")
    return contents[0].decode(), contents[1:]


# ---------------------------------------------------------------- that process


def main() -> None:
    """Answer on standard output what comes on standard input: first the record, then questions about it."""
    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Whatever a library prints is no answer.
    os.dup2(2, 1)
    copies: Copies | None = None
    with suppress(EOFError, BrokenPipeError):
        record = _receive(questions)[1][0]
        while True:
            text, parts = _receive(questions)
            try:
                if copies is None:
                    copies = Copies(read_record(io.BytesIO(record)), None, lambda: 1)
                said, made = _answer(copies, json.loads(text), parts)
                _send(answers, (json.dumps(["done", json.dumps(said)]), made))
            except (PjitInspectError, RuntimeError) as error:
                _send(answers, (json.dumps([type(error).__name__, str(error)]), []))


def _answer(copies: Copies, question: dict[str, Any], parts: list[bytes]) -> tuple[Any, list[bytes]]:
    kind = question["ask"]
    if kind == "open":
        return _opened(copies)
    if kind == "spans":
        from pjit_inspect.observe.shardy.mlir_locations import read_spans

        return [_piece_json(key, pieces) for key, pieces in read_spans(parts[0]).items()], []
    change = _change(question["change"])
    if kind == "changed":
        made = copies.changed(change)
        return made.said, [made.program]
    program, positions = copies.propagated(change)
    return positions, [propagation_bytes(program)]


def _opened(copies: Copies) -> tuple[Any, list[bytes]]:
    program, mesh = copies.program, dict(copies.mesh)
    opened = _Opened(
        axes=tuple(mesh),
        sizes=tuple(mesh.values()),
        is_mesh_given=copies.is_mesh_given,
        loops=tuple(copies.trips),
        counts=tuple(copies.trips.values()),
        positions=copies.positions if program is not None else (),
    )
    stablehlo = copies.data.stablehlo
    parts = [stablehlo.read() if stablehlo is not None else b""]
    return to_json(opened, _Opened, TableWriter()), [*parts, *([propagation_bytes(program)] if program else [])]


def _change(plain: dict[str, Any]) -> Change:
    edits = plain["edits"]
    return Change(
        mesh=tuple(plain["mesh"].items()),
        target=plain["target"],
        specs={path: None if spec is None else tuple(map(_entry, spec)) for path, spec in plain["specs"].items()},
        edits=None if edits is None else from_json(edits, tuple[Edit, ...], (None, "$")),
        said=tuple(plain["said"]),
    )


def _entry(entry: Any) -> Any:
    return tuple(entry) if isinstance(entry, list) else entry


def _piece_json(key: SpanKey, pieces: Pieces) -> dict[str, Any]:
    primitive, inner, outer = key
    ends = [number for own in pieces.spans for number in (own.line, own.column, own.end_line, own.end_column)]
    numbers = [*inner[1:], *outer[1:], pieces.each, *ends]
    return {"primitive": primitive, "inner": inner[0], "outer": outer[0], "numbers": numbers}


if __name__ == "__main__":
    main()
