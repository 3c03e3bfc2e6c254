"""Checks of collectives: which there are, how many, what they send, and whether work hides them.

A collective is counted once, however often a loop runs it; bytes count every run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pjit_inspect.errors import CheckFailedError, NothingMatchedError, UnknownAnswerError
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.report.cause import CAUSE_KINDS, Phase
from pjit_inspect.model.report.collective import KINDS, Collective
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.testing.failure import failure
from pjit_inspect.testing.subjects import Options, each, not_known, size_of, unknown_axis, why_unread
from pjit_inspect.view.document.quantities import bytes_text, plural

Number = int | tuple[int, int | None]
"""How many there may be: exactly so many, or at least and at most (None: any number)."""

_PHASES = tuple(phase for own in get_args(Phase) for phase in (get_args(own) or (own,)) if isinstance(phase, str))
_MOST_CAUSES = 3
_KNOWN_BY = ("known by", ["collectives are counted; sent is modelled (ring), per device and call"])


def assert_collectives(
    subject: Any,
    *args: Any,
    expect: Mapping[str, Number | Mapping[str, Number]] | None = None,
    max_bytes: int | str | Mapping[str, int | str] | None = None,
    implicit: bool | None = None,
    at: str | None = None,
    hint: bool = True,
    **options: Any,
) -> None:
    """A function has these collectives and no others, and they send no more than this.

    Args:
      subject: a function, a record, or a log.
      *args: the arguments of a function.
      expect: number of collectives by kind and mesh axes: `{"all-reduce": {"model": 2}, "all-gather": 1}`; "data x
        model" for both axes at once; a number is exact, `(1, 3)` at least and at most, `(1, None)` at least. Kinds and
        axes that it does not name are not expected. None checks no numbers.
      max_bytes: the most that the busiest device sends per call (modelled: ring), of all or by mesh axes: "2 MiB".
      implicit: True for those that the partitioner inserted alone, False for those that the user wrote.
      at: only those of this place: "train.py:27", or "train.py".
      hint: ask XLA for a change that removes what was not expected; this takes seconds, in a failure alone.
      **options: those of `pjit_inspect.testing`; others are arguments of the function.

    Raises CheckFailedError; NothingMatchedError where a mesh axis does not exist, UnknownAnswerError where the program
    is not there, or what it sends is not known; ValueError for a kind that does not exist.
    """
    __tracebackhide__ = True
    wanted = _wanted(expect)
    limits = {} if max_bytes is None else max_bytes if isinstance(max_bytes, Mapping) else {"": max_bytes}
    sizes = {axes: size_of(size) for axes, size in limits.items()}
    chosen = _Chosen(implicit=implicit, at=at)

    def check(record: CompileRecord) -> CheckFailedError | None:
        found, error = chosen.rows(record)
        named = [axes for _, axes in (wanted or {}) if axes is not None] + [axes for axes in sizes if axes]
        # Bytes of those that are known can prove too many; numbers of some prove nothing.
        failed = _unknown_axes(record, named) or _bytes(record, found, sizes, hint=hint)
        if failed is not None and not isinstance(failed, UnknownAnswerError):
            return failed
        if error is None and wanted is not None:
            error = _numbers(record, found, wanted, hint=hint)
        return error or failed

    each(subject, args, Options.of(options), check)


def assert_no_collectives(
    subject: Any,
    *args: Any,
    kind: str | None = None,
    axis: str | None = None,
    phase: str | None = None,
    cause: str | None = None,
    implicit: bool | None = None,
    at: str | None = None,
    hint: bool = True,
    **options: Any,
) -> None:
    """A function has no collective that is all of this.

    Args:
      subject: a function, a record, or a log.
      *args: the arguments of a function.
      kind: one of `KINDS`: "all-gather", ...
      axis: a mesh axis that it goes over, alone or with others.
      phase: "forward", "backward", "recompute" or "optimizer".
      cause: one of the kinds of causes: "full_replication", "reshard_needed", ... (docs/causes.md).
      implicit: as in `assert_collectives`.
      at: likewise.
      hint: likewise.
      **options: likewise.

    Raises CheckFailedError; UnknownAnswerError if one may be meant of which that is not known; NothingMatchedError for
    an axis that the mesh lacks, and ValueError for a name that does not exist.
    """
    __tracebackhide__ = True
    for given, known, what in ((kind, KINDS, "kind"), (phase, _PHASES, "phase"), (cause, CAUSE_KINDS, "cause")):
        if given is not None and given not in known:
            raise ValueError(f"there is no {what} {given!r}; there are {', '.join(known)}")
    chosen = _Chosen(kind=kind, axis=axis, phase=phase, cause=cause, implicit=implicit, at=at)

    def check(record: CompileRecord) -> CheckFailedError | None:
        rows, error = chosen.rows(record)
        error = _unknown_axes(record, [axis] if axis is not None else []) or error
        # One that is meant for certain fails, whatever else is not known.
        if not rows:
            return error
        sent = bytes_text(sum(row.least_sent_bytes for row in rows))
        return failure(
            f"{record.name}: {plural(len(rows), _kind(rows))}, expected none{chosen.words}; {sent} sent",
            *explained(record, rows, hint=hint),
            _KNOWN_BY,
        )

    each(subject, args, Options.of(options), check)


def assert_overlapped(
    subject: Any,
    *args: Any,
    kind: str | None = None,
    axis: str | None = None,
    at: str | None = None,
    **options: Any,
) -> None:
    """While each of these collectives is under way, XLA has scheduled a kernel or a loop beside it.

    Whether that takes long enough to hide it, no schedule says. CPU programs run collectives one by one: name a
    `target`, with `effort="full"`. Arguments as in `assert_no_collectives`. Raises CheckFailedError;
    NothingMatchedError where there is no such collective, and UnknownAnswerError where there is no schedule.
    """
    __tracebackhide__ = True
    chosen = _Chosen(kind=kind, axis=axis, at=at)

    def check(record: CompileRecord) -> CheckFailedError | None:
        rows, error = chosen.rows(record)
        if error is None and not rows:
            error = _nothing(record, f"no collective{chosen.words}")
        unknown = [row for row in rows if row.overlap_count is None]
        if error is None and unknown:
            error = not_known(record, "what runs beside a collective", "the program has no schedule")
        bare = [row for row in rows if not row.overlap_count]
        if error is not None or not bare:
            return error
        run = "runs" if len(bare) == 1 else "run"
        return failure(
            f"{record.name}: {len(bare)} of {plural(len(rows), 'collective')} {run} alone",
            ("expected", ["a kernel beside each"]),
            *explained(record, bare, hint=False),
        )

    each(subject, args, Options.of(options), check)


# ---------------------------------------------------------------- which ones


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """The collectives that a check is about."""

    kind: str | None = None
    axis: str | None = None
    phase: str | None = None
    cause: str | None = None
    implicit: bool | None = None
    at: str | None = None

    def rows(self, record: CompileRecord) -> tuple[list[Collective], CheckFailedError | None]:
        """Those of a record for certain; and the failure where it is not known whether these are all."""
        tests = self._tests()
        rows = [(row, [test(row) for test in tests]) for row in record.collectives]
        found = [row for row, answers in rows if all(answers)]
        if why := why_unread(record) or record.report.beside:
            return found, not_known(record, "which collectives there are", why)
        doubtful = [row for row, answers in rows if None in answers and False not in answers]
        if doubtful:
            why = f"{doubtful[0].instructions[0]} is a {doubtful[0].kind}, and its program does not tell more"
            return found, not_known(record, f"which collectives are meant{self.words}", why)
        return found, None

    def _tests(self) -> list[Callable[[Collective], bool | None]]:
        """True, False, or None where a row does not say."""
        tests: list[Callable[[Collective], bool | None]] = []
        if self.kind is not None:
            tests.append(lambda row: row.kind == self.kind)
        if (axis := self.axis) is not None:
            tests.append(lambda row: None if row.axes is None else axis in map(axis_name, row.axes))
        if self.phase is not None:
            tests.append(lambda row: None if row.phase is None else row.phase == self.phase)
        if self.cause is not None:
            tests.append(self._has_cause)
        if self.implicit is not None:
            tests.append(lambda row: None if row.implicit is None else row.implicit == self.implicit)
        if (at := self.at) is not None:
            tests.append(lambda row: any(_is_at(frame.where, at) for frame in row.source) if row.source else None)
        return tests

    def _has_cause(self, row: Collective) -> bool | None:
        kinds = {own.kind for own in row.causes}
        return True if self.cause in kinds else None if not kinds or "unknown" in kinds else False

    @property
    def words(self) -> str:
        """Which are meant: " of kind all-gather over `data`"."""
        parts = [
            f"of kind {self.kind}" if self.kind else "",
            f"over `{self.axis}`" if self.axis else "",
            f"in the {self.phase} pass" if self.phase else "",
            f"because of {self.cause}" if self.cause else "",
            {True: "that XLA inserted", False: "that is written", None: ""}[self.implicit],
            f"at {self.at}" if self.at else "",
        ]
        return "".join(f" {part}" for part in parts if part)


def _is_at(where: str, at: str) -> bool:
    place, line = where.rpartition(":")[0], at.rpartition(":")[2].isdecimal()
    return at.replace("\\", "/").rsplit("/", 1)[-1] in ((where,) if line else (where, place))


def _unknown_axes(record: CompileRecord, named: Iterable[str]) -> CheckFailedError | None:
    sentence = unknown_axis(record, (own for axes in named for own in axes.split(" x ")))
    return _nothing(record, sentence) if sentence else None


def _nothing(record: CompileRecord, what: str) -> CheckFailedError:
    rows = Counter(f"{row.kind} over {row.axes_text}" for row in record.collectives)
    here = [f"{number} x {name}" for name, number in rows.most_common(5)] or ["no collectives"]
    return failure(
        f"{record.name}: {what}",
        ("here are", here),
        ("note", ["a check that matches nothing says nothing, so it fails"]),
        kind=NothingMatchedError,
    )


# ---------------------------------------------------------------- how many


def _wanted(
    expect: Mapping[str, Number | Mapping[str, Number]] | None,
) -> dict[tuple[str, str | None], tuple[int, int | None]] | None:
    """(kind, axes or None for all) -> the least and the most."""
    if expect is None:
        return None
    found = dict[tuple[str, str | None], tuple[int, int | None]]()
    for kind, own in expect.items():
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r}; there are {', '.join(KINDS)}")
        for axes, number in own.items() if isinstance(own, Mapping) else [(None, own)]:
            found[kind, axes] = number if isinstance(number, tuple) else (number, number)
    return found


def _numbers(
    record: CompileRecord,
    rows: Sequence[Collective],
    wanted: Mapping[tuple[str, str | None], tuple[int, int | None]],
    *,
    hint: bool,
) -> CheckFailedError | None:
    by_key = defaultdict[tuple[str, str | None], list[Collective]](list)
    for row in rows:
        is_of_kind = (row.kind, None) in wanted
        by_key[row.kind, None if is_of_kind else row.axes_text].append(row)
    surplus, lines = list[Collective](), list[str]()
    for key in dict.fromkeys((*wanted, *by_key)):
        least, most = wanted.get(key, (0, 0))
        own = by_key.get(key, [])
        if len(own) < least or (most is not None and len(own) > most):
            lines.append(f"{len(own) or 'no'} {_named(key)}, expected {_range(least, most)}")
            surplus += own if most is not None and len(own) > most else []
    if not lines:
        return None
    first = lines[0] if len(lines) == 1 else f"{len(lines)} numbers of collectives are not as expected"
    sections = explained(record, surplus, hint=hint) if surplus else [("found", _found(rows))]
    return failure(f"{record.name}: {first}", ("expected", lines if len(lines) > 1 else []), *sections, _KNOWN_BY)


def _range(least: int, most: int | None) -> str:
    if least == most:
        return "none" if not least else f"{least}"
    return f"at least {least}" if most is None else f"{least} to {most}"


def _named(key: tuple[str, str | None]) -> str:
    return key[0] if key[1] is None else f"{key[0]} over {key[1]}"


# ---------------------------------------------------------------- how many bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The traffic of some collectives per call.

    Attributes:
      rows: the collectives.
      least_bytes: bytes that the busiest device sends (modelled: ring), as far as they are known.
      missing: why it may be more; "" if it is all.
    """

    rows: tuple[Collective, ...]
    least_bytes: int
    missing: str


def sent_over(rows: Iterable[Collective], axes: str = "") -> Sent:
    """The traffic over exactly these mesh axes ("data x model"); "" for all."""
    own = tuple(row for row in rows if axes in ("", row.axes_text))
    unsized = [row for row in own if row.is_unsized or row.count is None]
    return Sent(
        rows=own,
        least_bytes=sum(row.least_sent_bytes for row in own),
        missing="".join(
            f"{row.kind} {row.instructions[0]} runs unknown times, or moves unknown bytes" for row in unsized[:1]
        ),
    )


def _bytes(
    record: CompileRecord, rows: Sequence[Collective], limits: Mapping[str, int], *, hint: bool
) -> CheckFailedError | None:
    lines, over, unknown = list[str](), list[Collective](), list[CheckFailedError]()
    for axes, limit in limits.items():
        sent, words = sent_over(rows, axes), f" over {axes}" if axes else ""
        if sent.least_bytes > limit:
            times = f" ({sent.least_bytes / limit:.3g} times)" if limit else ""
            lines.append(f"{bytes_text(sent.least_bytes)} sent{words}, at most {bytes_text(limit)} allowed{times}")
            over += [row for row in sent.rows if row not in over]
        elif sent.missing:
            unknown.append(not_known(record, f"what is sent{words}", sent.missing))
    if not lines:
        return next(iter(unknown), None)
    first = lines[0] if len(lines) == 1 else f"{len(lines)} limits of bytes are exceeded"
    return failure(
        f"{record.name}: {first}",
        ("expected", lines if len(lines) > 1 else []),
        *explained(record, over, hint=hint),
        _KNOWN_BY,
    )


# ---------------------------------------------------------------- what is said of them


def _kind(rows: Sequence[Collective]) -> str:
    kinds = {row.kind for row in rows}
    return kinds.pop() if len(kinds) == 1 else "collective"


def _found(rows: Iterable[Collective]) -> list[str]:
    """A line for each group of equal ones, most bytes first."""
    groups = defaultdict[tuple[str, str, str], list[Collective]](list)
    for row in rows:
        groups[row.kind, row.axes_text, row.source[0].where if row.source else ""].append(row)
    ranked = sorted(groups.items(), key=lambda item: -sum(row.least_sent_bytes for row in item[1]))
    return [
        f"{len(own)} x {kind} over {axes}  {bytes_text(sum(row.least_sent_bytes for row in own))}  {where}".rstrip()
        for (kind, axes, where), own in ranked
    ] or ["none"]


def explained(record: CompileRecord, rows: Sequence[Collective], *, hint: bool) -> list[tuple[str, Sequence[str]]]:
    """Those found, their causes, and what removes them."""
    causes = Counter[str]()
    for row in rows:
        if row.cause is not None:
            causes[str(row.cause.sentence)] += row.least_sent_bytes
    because = [sentence for sentence, _ in causes.most_common(_MOST_CAUSES)]
    more = [f"and {len(causes) - _MOST_CAUSES} more causes"] if len(causes) > _MOST_CAUSES else []
    return [
        ("found", _found(rows)),
        ("because", [*because, *more]),
        ("remove", _removing(record, rows) if hint else []),
    ]


def _removing(record: CompileRecord, rows: Sequence[Collective]) -> list[str]:
    """The best change that removes one of them, as XLA's partitioner counted it; () if none is known."""
    names = {name for row in rows for name in row.instructions}
    for one in record.state.analyses.advice_where_asked:
        if one.edits and not one.with_edits and names & set(one.removes) and one.sent is not None:
            where = f"{one.source[0].where}  " if one.source else ""
            before, after = map(bytes_text, one.sent)
            stage = "both compiled" if one.state == "compiled" else "as XLA's partitioner makes both"
            return [f"{where}{one.change or one.sentence}", f"{before} -> {after} sent, {stage}"]
    return []
