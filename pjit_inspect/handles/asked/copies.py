"""The program of one record, and changed copies of it.

Joins the rooms: meshes and shardings are changed in `observe.shardy`. A damaged program may crash MLIR: that of a
record from a file is read and changed in a process apart, one for each question, whose answers are trusted no more than
the file. Not its job: asking XLA to compile a copy (`what_if`).
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pjit_inspect.errors import CaptureError, ChangeError, ParseError
from pjit_inspect.handles.asked.change_specs import plain_spec
from pjit_inspect.handles.asked.what_if import Again, ChangedProgram, Planned, change_program
from pjit_inspect.handles.propagate import CopiedProgram, ask_about_copy
from pjit_inspect.model.record.blob import Blob
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import Target
from pjit_inspect.model.report.edit import Edit, PlacedEdit
from pjit_inspect.observe.apart.call import Answer, Channel, RefusedError
from pjit_inspect.observe.apart.tasks import Made
from pjit_inspect.parse.files.json_fields import TableWriter, from_json, to_json
from pjit_inspect.parse.files.record_file import read_record, write_record

_TIMEOUT_S = 180.0
_ONLY_AXIS, _IMAGINED = "devices", 8
"""Mesh of a program that names none: all attached devices along one axis, or `_IMAGINED` if one is attached."""


def _new_channel() -> Channel:
    return Channel("the process that reads the program from its file")


what_if_channel: Channel = _new_channel()
"""Leads to the process that reads programs for `CompileRecord.what_if`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyChange:
    """A change of the program.

    Attributes:
      mesh: axes with their sizes, outermost first; None for the program's.
      target: the machine; None for the default.
      specs: path of an argument or result, or place of a constraint -> its spec.
      edits: the same as edits of `Copies.program`; None if only specs are known.
      said: the change in words, if there are edits.
    """

    mesh: Mapping[str, int] | None
    target: str | Target | None
    specs: Mapping[str, Any]
    edits: tuple[Edit, ...] | None = None
    said: tuple[str, ...] = ()


class Copies:
    """The captured program of a record of this process, with its mesh.

    Attributes:
      data: the record; its program names a mesh.
      mesh: the axes of that, outermost first.
      is_mesh_given: whether the program named none, and arrays lay on none.
    """

    def __init__(self, data: RecordData, again: Again | None, attached: Callable[[], int]) -> None:
        """Hold a record; `again` traces its function, `attached` gives the number of devices.

        Raises ChangeError where the program's mesh cannot be changed.
        """
        self._again = again
        data, mesh, is_given = _with_mesh(data, attached)
        self.data: RecordData = data
        self.mesh: tuple[tuple[str, int], ...] = mesh
        self.is_mesh_given: bool = is_given

    @cached_property
    def copied(self) -> CopiedProgram | None:
        """XLA's program before partitioning; None if XLA gives none: arguments and results can still be changed."""
        try:
            return self._copied(_bytes(self.data), dict(self.mesh))
        except (CaptureError, ParseError):
            return None

    def changed(self, change: CopyChange) -> ChangedProgram:
        """The changed program. Raises ChangeError where there can be none."""
        return _changed(self.data, change, self._placed(change), self.mesh, self._again)

    def propagated(self, change: CopyChange) -> CopiedProgram:
        """The changed program as XLA's partitioner receives it. Raises as `changed` does, and CaptureError."""
        made = self.changed(change)
        return self._copied(made.program, made.sizes)

    def close(self) -> None:
        """There is nothing to end."""

    def _copied(self, stablehlo: bytes, sizes: Mapping[str, int]) -> CopiedProgram:
        return ask_about_copy(self.data, stablehlo, sizes=sizes, timeout_s=_TIMEOUT_S)

    def _placed(self, change: CopyChange) -> tuple[PlacedEdit, ...] | None:
        return None if change.edits is None or self.copied is None else self.copied.placed(change.edits)


def _changed(
    data: RecordData,
    change: CopyChange,
    edits: Sequence[PlacedEdit] | None,
    axes: tuple[tuple[str, int], ...],
    again: Again | None = None,
) -> ChangedProgram:
    """The copy that a change makes, with its edits placed, if there are any."""
    return change_program(
        data,
        mesh=change.mesh,
        specs=change.specs,
        target=change.target,
        again=again,
        planned=None if edits is None else Planned(edits=tuple(edits), said=change.said, axes=axes),
    )


def _with_mesh(data: RecordData, attached: Callable[[], int]) -> tuple[RecordData, tuple[tuple[str, int], ...], bool]:
    from pjit_inspect.observe.shardy.remesh import mesh_axes, remeshed

    named = mesh_axes(_bytes(data))
    if named:
        return data, tuple(named.items()), False
    # Under `jax.set_mesh` arrays may lie on a mesh that the program does not name.
    sizes = _sizes(attached()) if data.mesh is None else data.mesh.sizes
    given = replace(data, stablehlo=Blob(remeshed(_bytes(data), sizes)), stablehlo_text=None)
    return given, tuple(sizes.items()), data.mesh is None


def _sizes(devices: int) -> dict[str, int]:
    return {_ONLY_AXIS: devices if devices > 1 else _IMAGINED}


def _bytes(data: RecordData) -> bytes:
    if data.stablehlo is None:
        raise ChangeError("the record has no program before optimization, so no change of it can be tried")
    return data.stablehlo.read()


# ---------------------------------------------------------------- a program from a file


@dataclass(frozen=True, slots=True, kw_only=True)
class _CopyAnswer:
    """An answer of the process: the mesh of a program in two columns, and the changes in words."""

    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    is_mesh_given: bool = False
    target: str = ""
    said: tuple[str, ...] = ()

    @property
    def mesh(self) -> tuple[tuple[str, int], ...]:
        return tuple(zip(self.axes, self.sizes, strict=True))


class CopiesApart(Copies):
    """As `Copies`, of a record from a file; its function is not at hand.

    Attributes:
      channel: leads to the process that reads the program.
    """

    def __init__(self, data: RecordData) -> None:
        """Have the program's mesh read.

        Raises CaptureError where there is no JAX or the process dies, and ChangeError as `Copies`.
        """
        self.channel: Channel = _new_channel()
        said, program = _ask({"ask": "open"}, data, self.channel)
        self.data, self.mesh, self.is_mesh_given = data, said.mesh, said.is_mesh_given
        if program != _bytes(data):
            self.data = replace(data, stablehlo=Blob(program), stablehlo_text=None)

    def changed(self, change: CopyChange) -> ChangedProgram:
        """As `Copies.changed`."""
        return change_apart(self.data, change, self._placed(change), self.mesh, self.channel)

    def close(self) -> None:
        """End the process; the next question starts another."""
        self.channel.end()


def change_apart(
    data: RecordData,
    change: CopyChange,
    edits: Sequence[PlacedEdit] | None = None,
    axes: tuple[tuple[str, int], ...] = (),
    channel: Channel = what_if_channel,
) -> ChangedProgram:
    """The copy that a change makes of the program of a record from a file, on a mesh of these axes.

    Its edits are placed, if there are any. Raises ChangeError where there can
    be none, and CaptureError where the process cannot be started or dies.
    """
    from pjit_inspect.observe.partitioner.targets import find_target

    tables = TableWriter()
    plain = {
        "mesh": None if change.mesh is None else dict(change.mesh),
        "target": None if change.target is None else str(change.target),
        "specs": {path: plain_spec(spec) for path, spec in change.specs.items()},
        "edits": None if edits is None else [to_json(edit, PlacedEdit, tables) for edit in edits],
        "said": change.said,
        "axes": dict(axes),
    }
    try:
        json.dumps(plain)
    except (TypeError, ValueError) as error:
        raise ChangeError(f"a mesh has names with sizes, and specs are PartitionSpecs: {error}") from error
    said, program = _ask({"ask": "changed", **plain}, data, channel)
    target = find_target(said.target)
    return ChangedProgram(program=program, sizes=dict(said.mesh), target=target, said=said.said, base=data)


def _ask(question: dict[str, Any], data: RecordData, channel: Channel) -> tuple[_CopyAnswer, bytes]:
    """The answer of the process, and the program that came with it, which may be another one."""
    _bytes(data)
    record = io.BytesIO()
    write_record(replace(data, hlo=None, buffers=None, propagation=None, kernel_times=None), record)
    try:
        answer: Answer = channel.ask("copy", question, [record.getvalue()], timeout_s=_TIMEOUT_S)
    except RefusedError as error:
        raise CaptureError(f"{error}; the file may be damaged") from error
    return from_json(answer.said, _CopyAnswer, "$"), answer.blobs[0]


def answer(question: dict[str, Any], blobs: list[bytes]) -> Made:
    """In that process: reads the record, and answers a question about its program."""
    data = read_record(io.BytesIO(blobs[0]))
    if question["ask"] == "open":
        copies = Copies(data, None, lambda: 1)
        said = _CopyAnswer(
            axes=tuple(dict(copies.mesh)), sizes=tuple(dict(copies.mesh).values()), is_mesh_given=copies.is_mesh_given
        )
        return Made(to_json(said, _CopyAnswer, TableWriter()), [_bytes(copies.data)])
    edits = question["edits"]
    change = CopyChange(
        mesh=question["mesh"],
        target=question["target"],
        specs=question["specs"],
        said=tuple(question["said"]),
    )
    placed = None if edits is None else from_json(edits, tuple[PlacedEdit, ...], "$")
    made = _changed(data, change, placed, tuple(question["axes"].items()))
    sizes = tuple(made.sizes.values())
    said = _CopyAnswer(axes=tuple(made.sizes), sizes=sizes, target=str(made.target), said=made.said)
    return Made(to_json(said, _CopyAnswer, TableWriter()), [made.program])
