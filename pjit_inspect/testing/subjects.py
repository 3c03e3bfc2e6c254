"""The subject of a check: a function with its arguments, a record, or the records of a log.

Not its job: checking.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

from pjit_inspect.api import inspect
from pjit_inspect.errors import CheckFailedError, NothingMatchedError, UnknownAnswerError
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.handles.session.log import Log
from pjit_inspect.model.record.target import Effort, Target
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.testing.failure import failure

Unknown = Literal["fail", "ok"]
"""What becomes of a check whose answer is not known."""

_SIZE = re.compile(r"(?P<figure>\d+(?:\.\d+)?)\s*(?P<unit>B|KiB|MiB|GiB|TiB)")
_UNITS = {unit: 1 << 10 * power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB"))}


def size_of(size: int | str) -> int:
    """Bytes of a size: a number, or text as in "2 MiB". Raises ValueError for any other text."""
    if isinstance(size, int):
        return size
    found = _SIZE.fullmatch(size.strip())
    if found is None:
        raise ValueError(f"{size!r} is no size: expected bytes, or text as in '2 MiB' (B, KiB, MiB, GiB, TiB)")
    return round(float(found["figure"]) * _UNITS[found["unit"]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that every check takes, as in `pjit_inspect.testing`."""

    name: str | None = None
    target: str | Target | None = None
    mesh: Mapping[str, int] | None = None
    effort: Effort | None = None
    unknown: Unknown = "fail"
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, given: dict[str, Any]) -> Options:
        """Those among the keyword arguments of a check; the others are arguments of its function."""
        own = {key: given.pop(key) for key in ("name", "target", "mesh", "effort", "unknown") if key in given}
        if own.get("unknown", "fail") not in ("fail", "ok"):
            raise ValueError(f"unknown={own['unknown']!r}: expected 'fail' or 'ok'")
        return cls(**own, arguments=given)


def records_of(subject: Any, args: tuple[Any, ...], options: Options) -> Iterator[CompileRecord]:
    """The records that a check is about; at least one.

    Raises NothingMatchedError for a log without such a record, and TypeError for arguments where none can be.
    """
    if isinstance(subject, (CompileRecord, Log)) and (args or options.arguments):
        given = ", ".join((*(type(one).__name__ for one in args), *options.arguments))
        raise TypeError(f"a {type(subject).__name__} takes no arguments of a function, and got {given}")
    if isinstance(subject, Log):
        yield from (_elsewhere(record, options) for record in _of_log(subject, options.name))
    elif isinstance(subject, CompileRecord):
        yield _elsewhere(subject, options)
    else:
        where = {"target": options.target, "mesh": options.mesh, "effort": options.effort}
        yield inspect(subject, *args, **{k: v for k, v in where.items() if v is not None}, **options.arguments)


def _elsewhere(record: CompileRecord, options: Options) -> CompileRecord:
    if options.target is None and options.mesh is None and options.effort is None:
        return record
    return record.what_if(target=options.target, mesh=options.mesh, effort=options.effort or "partition")


def _of_log(log: Log, name: str | None) -> Log:
    found = log.user_records() if name is None else log.find(name)
    if found:
        return found
    names = log.names()
    wanted = "a function of the user's" if name is None else f"{name!r}"
    near = get_close_matches(name or "", names, n=3, cutoff=0.5) or list(names[:5])
    raise failure(
        f"the log has no record of {wanted}",
        ("here are", [f"{len(log)} records" + (f": {', '.join(near)}" if near else "")]),
        ("note", ["a check that matches nothing says nothing, so it fails"]),
        kind=NothingMatchedError,
    )


def each(
    subject: Any, args: tuple[Any, ...], options: Options, check: Callable[[CompileRecord], CheckFailedError | None]
) -> None:
    """Raises the first failure of a check on the records that it is about; one that is not known by `unknown`."""
    __tracebackhide__ = True
    for record in records_of(subject, args, options):
        found = check(record)
        if found is not None and not (isinstance(found, UnknownAnswerError) and options.unknown == "ok"):
            raise found


def not_known(record: CompileRecord, what: str, why: str) -> UnknownAnswerError:
    """The failure of a check whose answer is not known."""
    error = failure(
        f"{record.name}: {what} is not known",
        ("because", [why]),
        ("note", ["what is not known is no success; unknown='ok' lets it pass"]),
        kind=UnknownAnswerError,
    )
    assert isinstance(error, UnknownAnswerError)
    return error


def unknown_axis(record: CompileRecord, named: Iterable[str]) -> str:
    """The sentence of a mesh axis that the record's meshes lack; "" if they have all, parts of axes among them."""
    known = list(dict.fromkeys(name for mesh in record.data.meshes for name in mesh.axis_names))
    lacking = [axis for axis in named if axis_name(axis) not in known]
    if not lacking:
        return ""
    return f"the mesh has no axis `{lacking[0]}`; " + (f"its axes are {', '.join(known)}" if known else "there is none")


def why_unread(record: CompileRecord) -> str:
    """Why the optimized program of a record is not there, or not all of it; "" if it is."""
    report = record.report
    if report.collectives is None:
        return report.data.missing.get("hlo", "the record has no optimized program")
    return report.incomplete or ""
