"""As `copies`, for a record from a file: in a separate process, because damaged programs may crash MLIR.

The process reads the record as this one does, and then answers one question after the other: a changed copy, its
shardings, the pieces of text in it. Its answers are trusted no more than the file. It ends with `close`, with the
object, or with this process. Not its job: the process (`observe.apart`), the questions (`copies`), or asking XLA about
a copy (`what_if`).
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import Any

from pjit_inspect.errors import CaptureError, ChangeError
from pjit_inspect.handles.asked.copies import Change, Copies, Positions
from pjit_inspect.handles.asked.what_if import ChangedProgram
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.suggestion import Edit
from pjit_inspect.model.sharding.sharded_program import ShardedProgram
from pjit_inspect.observe.apart.call import Answer, Channel, RefusedError
from pjit_inspect.observe.apart.tasks import Made
from pjit_inspect.parse.files.json_entries import propagation_bytes, read_propagation
from pjit_inspect.parse.files.json_fields import TableWriter, from_json, to_json
from pjit_inspect.parse.files.record_file import read_record, write_record

_TIMEOUT_S = 180.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    """First answer of the process; mesh and loops in two columns each."""

    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    is_mesh_given: bool
    loops: tuple[int, ...]
    counts: tuple[int, ...]
    positions: tuple[int | None, ...]


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
        self.data: RecordData = data
        self.channel: Channel = Channel("the process that reads the program from its file")
        answer = self._open()
        opened, parts = _read(answer, _Opened), list(answer.blobs)
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

        said = self._ask({"ask": "changed", "change": _change_json(change)})
        words = _read(said, tuple[str, ...])
        target = find_target(change.target)
        return ChangedProgram(program=said.blobs[0], sizes=dict(change.mesh), target=target, said=words, base=self.data)

    def propagated(self, change: Change) -> tuple[ShardedProgram, Positions]:
        """As `Copies.propagated`."""
        said = self._ask({"ask": "propagated", "change": _change_json(change)})
        positions = _read(said, tuple[int | None, ...])
        return read_propagation(said.blobs[0], "the copy"), positions

    def close(self) -> None:
        """End the process; the next question starts another."""
        self.channel.end()

    def _open(self) -> Answer:
        """Have the process read the record."""
        record = io.BytesIO()
        write_record(replace(self.data, hlo=None, buffers=None, propagation=None, kernel_times=None), record)
        return self._send({"ask": "open"}, record.getvalue())

    def _ask(self, question: dict[str, Any], *parts: bytes) -> Answer:
        answer = self._send(question, *parts)
        if answer.said:
            return answer
        # Another process than the one that read the record: that one is gone.
        self._open()
        return self._send(question, *parts)

    def _send(self, question: dict[str, Any], *parts: bytes) -> Answer:
        try:
            return self.channel.ask("copy", question, parts, timeout_s=_TIMEOUT_S, key="copy", keep=True)
        except RefusedError as error:
            raise CaptureError(f"{error}; the file may be damaged") from error


def _read(answer: Answer, kind: Any) -> Any:
    """An answer of the process, checked to be of the expected kind. Raises ParseError."""
    return from_json(answer.said["said"], kind)


def _change_json(change: Change) -> dict[str, Any]:
    tables = TableWriter()
    return {
        "mesh": dict(change.mesh),
        "target": change.target,
        "specs": change.specs,
        "edits": None if change.edits is None else [to_json(edit, Edit, tables) for edit in change.edits],
        "said": change.said,
    }


# ---------------------------------------------------------------- in that process

_held: list[Copies] = []
"""The copies of the record that was read."""


def answer(question: dict[str, Any], blobs: list[bytes]) -> Made:
    """Read a record, or answer a question about the one that was read; nothing where none was."""
    kind = question["ask"]
    if kind == "open":
        _held[:] = [Copies(read_record(io.BytesIO(blobs[0])), None, lambda: 1)]
    if not _held:
        return Made({})
    said, made = _answer(_held[0], question, blobs)
    return Made({"said": said}, made)


def _answer(copies: Copies, question: dict[str, Any], blobs: list[bytes]) -> tuple[Any, list[bytes]]:
    kind = question["ask"]
    if kind == "open":
        return _opened(copies)
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
        edits=None if edits is None else from_json(edits, tuple[Edit, ...]),
        said=tuple(plain["said"]),
    )


def _entry(entry: Any) -> Any:
    return tuple(entry) if isinstance(entry, list) else entry
