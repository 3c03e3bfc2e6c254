"""The list of records that captures fill and users read.

What a capture adds is a record as soon as somebody asks for it (`Captured`). Not its job: records themselves
(`handles.record`), or filling it (`handles.session.session`).
"""

from __future__ import annotations

import io
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self, get_args, overload

from pjit_inspect.errors import RecordNotFoundError
from pjit_inspect.handles.exports import Exported
from pjit_inspect.handles.session.captured import Captured
from pjit_inspect.model.record.compile_table import CompileRow, CompileTable
from pjit_inspect.model.record.record import Origin, RecordData
from pjit_inspect.parse.files.record_folder import file_name, folder_name, save_records
from pjit_inspect.view.render.displayable import Displayable

if TYPE_CHECKING:
    from pjit_inspect.handles.record import CompileRecord
    from pjit_inspect.model.report.passes import PassTable
    from pjit_inspect.view.render.shown import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLimit:
    """Limits of a log.

    Attributes:
      records: most records; beyond that the oldest are dropped.
      program_bytes: most bytes of programs (HLO, StableHLO); beyond that the oldest records lose their programs and say
        so.
    """

    records: int = 10_000
    program_bytes: int = 1 << 30


class Log(Sequence["CompileRecord"], Displayable, Exported):
    """The records of a scope or a session, in the order the compiles ended. Safe to read while it grows.

    A sequence: `log[-1]`, `log[2:5]`, `len(log)`; `log["train_step"]` is the newest record of that name. It holds at
    most what `limit` (a `LogLimit`) allows, the newest; `dropped` counts the dropped records.
    """

    def __init__(self, records: Iterable[CompileRecord] = (), *, limit: LogLimit | None = None) -> None:
        self.limit = limit
        self.dropped: int = 0
        self._compiles: list[CompileRecord | Captured] = []
        self._held = 0
        self._with_programs = 0
        self._lock = threading.RLock()
        self.extend(records)

    @overload
    def __getitem__(self, key: int | str) -> CompileRecord: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | str | slice) -> CompileRecord | Self:
        """The record at a position, or the newest of a name.

        Raises IndexError, or RecordNotFoundError (a KeyError) with the nearest names.
        """
        if isinstance(key, str):
            return self._newest(key)
        found = self._compiles[key]
        return type(self)(map(_record_of, found)) if isinstance(found, list) else _record_of(found)

    def __len__(self) -> int:
        return len(self._compiles)

    def __iter__(self) -> Iterator[CompileRecord]:
        return map(_record_of, tuple(self._compiles))

    def find(self, name: str | None = None, *, origin: Origin | None = None, transform: str | None = None) -> Self:
        """The records that have this name, origin ("user", "library" or "eager") and transform; None matches all.

        Raises ValueError for an origin that does not exist.
        """
        if origin is not None and origin not in get_args(Origin):
            raise ValueError(f"there is no origin {origin!r}; the origins are {', '.join(get_args(Origin))}")
        wanted = {"name": name, "origin": origin, "transform": transform}
        return type(self)(r for r in self if all(v is None or getattr(r, k) == v for k, v in wanted.items()))

    def user_records(self) -> Self:
        """The records of the user's functions, without eager operations and library compiles."""
        return self.find(origin="user")

    @property
    def table(self) -> CompileTable:
        """Every record in a row: name, line, mesh, seconds, reason of the compile; `to_csv()` and others export it."""
        return CompileTable(rows=tuple(_compile_row(number, record) for number, record in enumerate(self)))

    @property
    def passes(self) -> PassTable:
        """XLA's passes over its only program of which they were dumped (`open` of a directory).

        Raises RecordNotFoundError if there is none, or several: take `log["train_step"].passes` then.
        """
        found = [record for record in self if "pass_steps" in record.state.analyses.known]
        if len(found) != 1:
            names = ", ".join(record.name for record in found) or "none"
            raise RecordNotFoundError(f"XLA's passes are those of one program; programs with passes: {names}")
        return found[0].passes

    def names(self) -> tuple[str, ...]:
        """Every name once, the user's functions first, each group in order of appearance."""
        ranked = sorted(self, key=lambda record: record.origin != "user")
        return tuple(dict.fromkeys(record.name for record in ranked))

    def clear(self) -> None:
        """Forget every record."""
        with self._lock:
            self._compiles.clear()
            self._held = self._with_programs = self.dropped = 0

    def extend(self, records: Iterable[CompileRecord]) -> None:
        """Add records at the end; the oldest make room."""
        with self._lock:
            for record in records:
                self._append(record)

    def _add(self, captured: Captured) -> None:
        """Add a new capture, within the user's call; only for `handles.session.session`."""
        with self._lock:
            self._append(captured)

    def _append(self, one: CompileRecord | Captured) -> None:
        self._compiles.append(one)
        self._held += one.held_bytes
        if self.limit is not None:
            self._make_room(self.limit)

    def _make_room(self, limit: LogLimit) -> None:
        if self._held > limit.program_bytes:
            self._forget_programs(limit)
        more = len(self._compiles) - limit.records
        if more > 0:
            self._drop(more)

    def _drop(self, number: int) -> None:
        self._held -= sum(record.held_bytes for record in self._compiles[self._with_programs : number])
        del self._compiles[:number]
        self.dropped += number
        self._with_programs = max(0, self._with_programs - number)

    def _forget_programs(self, limit: LogLimit) -> None:
        """Frees a tenth more than needed, to avoid doing it for every record; the newest keeps its programs."""
        # Data read meanwhile takes other bytes than were modelled.
        self._held = sum(record.held_bytes for record in self._compiles[self._with_programs :])
        from pjit_inspect.view.document.quantities import bytes_text

        reason = f"dropped when the log was full ({bytes_text(limit.program_bytes)} of programs)"
        while self._held > limit.program_bytes * 0.9 and self._with_programs < len(self._compiles) - 1:
            record = self._compiles[self._with_programs]
            self._held -= record.held_bytes
            record.forget_programs(reason)
            self._with_programs += 1

    def complete(self) -> None:
        """Read the facts that capture left for later, while the functions still exist; lost facts are named missing.

        Facts that cannot be lost, such as the jaxpr of a small program, are read later on demand.
        """
        for one in tuple(self._compiles):
            (one if isinstance(one, Captured) else one.state).secure()

    def _newest(self, name: str) -> CompileRecord:
        found = self.find(name)
        if found:
            return (found.user_records() or found)[-1]
        names = self.names()
        if not names:
            raise RecordNotFoundError(
                f"no record of {name!r}: nothing has been captured yet. A function that JAX had compiled before is "
                "recorded by pjit_inspect.capture(calls=True), by %pjit, and by pjit_inspect.inspect"
            )
        near = get_close_matches(name, names, n=3, cutoff=0.5)
        which = "the nearest names are" if near else "there are records of"
        shown = ", ".join(map(repr, near or names[:5]))
        raise RecordNotFoundError(f"no record of {name!r}; {which} {shown}")

    def __repr__(self) -> str:
        return f"<Log of {len(self)} record{'s' * (len(self) != 1)}>"

    def show(self, *, times: bool = True) -> Shown:
        """An object to display: one row for each of the user's compiles, with the others counted."""
        from pjit_inspect.view.pages.session import LISTED_RECORDS, log_view
        from pjit_inspect.view.record.record import ViewOptions
        from pjit_inspect.view.render.shown import Shown, drawn

        records = tuple(self)
        mine = [index for index, record in enumerate(records) if record.origin == "user"]
        listed = frozenset(mine[-LISTED_RECORDS:])
        counts = tuple(_collectives(record) if i in listed else None for i, record in enumerate(records))
        reasons = tuple(record.reason for record in records)
        rows, options = tuple(record.data for record in records), ViewOptions(show_times=times)
        view = log_view(rows, collectives=counts, reasons=reasons, dropped=self.dropped, options=options)
        return Shown(drawn(view))

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write every record to a folder, which is made if missing; `pjit_inspect.merge` joins the records in it.

        Each process has a separate folder in it, and all processes may be given the same folder: record 7 of process 1
        of 4 is `process-1-of-4/0007_train_step.pjit`. Files of an earlier log in that folder (listed in `saved.json`)
        are replaced; your files are kept. A log without records leaves an empty folder as a sign of that. It may be
        called from another thread while the program waits. Raises the errors of `CompileRecord.save`, and
        FileExistsError if one of your files has the name of a file to write; then the earlier log is unchanged.
        """
        records = tuple(self)
        places = [_place_of(record.data) for record in records]
        # If the program changes its working folder meanwhile, a relative path must keep its meaning.
        whole = Path(folder).absolute()
        groups: dict[Path, dict[str, Callable[[], bytes]]] = {whole / _own_folder(): {}} if not records else {}
        for number, (record, place) in enumerate(zip(records, places, strict=True)):
            groups.setdefault(whole / place, {})[file_name(number, record.name)] = partial(_bytes_of, record)
        save_records(groups)


def _bytes_of(record: CompileRecord) -> bytes:
    file = io.BytesIO()
    record.save(file)
    return file.getvalue()


def _record_of(one: CompileRecord | Captured) -> CompileRecord:
    return one.record if isinstance(one, Captured) else one


def _collectives(record: CompileRecord) -> int | None:
    """The number of collectives of a record; None if its program is unknown or incomplete.

    None also if there are none, but something else communicates.
    """
    from pjit_inspect.analyze.program.other_communication import find_other_communication

    if "hlo" in record.data.missing:
        return None
    count, module = len(record.collectives), record.hlo
    is_silent = count or module is None or not find_other_communication(module, len(record.data.devices))
    return count if is_silent else None


def _place_of(data: RecordData) -> str:
    """The folder of the process that made a record; the given one itself when that is not known."""
    known = data.process_index is not None and data.process_count is not None
    return folder_name(data.process_index or 0, data.process_count or 1) if known else ""


def _own_folder() -> str:
    """The folder of this process; without JAX it is the only process."""
    if "jax" not in sys.modules:
        return folder_name(0, 1)
    from pjit_inspect.observe.contract.contract import this_process

    return folder_name(*this_process())


def _compile_row(number: int, record: CompileRecord) -> CompileRow:
    data, timings = record.data, record.data.timings
    return CompileRow(
        number=number,
        name=data.name,
        transform=data.transform,
        origin=data.origin,
        where=None if data.user_frame is None else data.user_frame.where,
        mesh=None if data.mesh is None else str(data.mesh),
        trace_s=timings.trace_s,
        lower_s=timings.lower_s,
        compile_s=timings.compile_s,
        reason=str(record.reason.sentence),
    )
