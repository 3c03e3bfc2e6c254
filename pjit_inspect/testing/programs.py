"""Checks of whole programs: memory, warnings of XLA, advice, and whether two programs are the same."""

from __future__ import annotations

from typing import Any

from pjit_inspect.api import diff
from pjit_inspect.errors import CheckFailedError
from pjit_inspect.handles.record import CompileRecord
from pjit_inspect.model.report.advice import Advice
from pjit_inspect.testing.failure import failure
from pjit_inspect.testing.subjects import Options, each, not_known, records_of, size_of, why_unread
from pjit_inspect.view.document.quantities import bytes_text, plural
from pjit_inspect.view.record.advice import changes_of, saving

_MOST_LISTED = 8


def assert_memory(subject: Any, *args: Any, peak: int | str, **options: Any) -> None:
    """A device needs no more memory than this at the peak.

    Args:
      subject: a function, a record, or a log.
      *args: the arguments of a function.
      peak: "16 GiB", or bytes, of arguments, results and temporaries together.
      **options: those of `pjit_inspect.testing`; with a `target` the program is compiled for it to the end. Others are
        arguments of the function.

    Raises CheckFailedError, and UnknownAnswerError where the program has no schedule.
    """
    __tracebackhide__ = True
    limit = size_of(peak)

    def check(record: CompileRecord) -> CheckFailedError | None:
        use = record.memory_use
        if use.peak_bytes is None:
            return not_known(record, "the memory at the peak", use.missing or "the program has no schedule")
        if use.peak_bytes <= limit:
            return None
        rows = use.live[:_MOST_LISTED]
        return failure(
            f"{record.name}: {bytes_text(use.peak_bytes)} at the peak, at most {bytes_text(limit)} allowed",
            ("found", [f"{bytes_text(row.bytes)}  {row.name}" for row in rows]),
            ("known by", [use.source]),
        )

    each(subject, args, _to_the_end(options), check)


def assert_fits(subject: Any, *args: Any, target: str | None = None, **options: Any) -> None:
    """A program fits into the memory of a chip: `assert_fits(record, "tpu:v5e")`.

    Args:
      subject: a function, a record, or a log.
      *args: the arguments of a function.
      target: the chip ("tpu:v5e", modelled), or a machine ("tpu:v5e:4x4"), for which it is then compiled to the end
        (counted).
      **options: those of `pjit_inspect.testing`; others are arguments of the function.

    Raises CheckFailedError, and UnknownAnswerError where a part of it is not known, and the rest fits.
    """
    __tracebackhide__ = True
    if target is None and args and isinstance(args[-1], str):
        *given, target = args
        args = tuple(given)
    if target is None:
        raise TypeError("assert_fits needs target='tpu:v5e'")
    chip = ":".join(target.split(":")[:2])
    is_machine = target.count(":") > 1

    def check(record: CompileRecord) -> CheckFailedError | None:
        fit = record.fits(chip)
        if fit.fits is None:
            return not_known(record, f"whether it fits {fit.chip}", fit.sentence)
        if fit.fits:
            return None
        padded = [
            f"{one.path}  {bytes_text(one.bytes)}, {bytes_text(one.unpadded_bytes)} without"
            for one in fit.padded[:_MOST_LISTED]
        ]
        return failure(f"{record.name}: {fit.sentence}", ("padding", padded))

    each(subject, args, _to_the_end({**options, **({"target": target} if is_machine else {})}), check)


def assert_no_warnings(subject: Any, *args: Any, **options: Any) -> None:
    """XLA's partitioner warned of nothing.

    Takes a subject and options as the others. Raises CheckFailedError, and UnknownAnswerError where it was not asked.
    """
    __tracebackhide__ = True

    def check(record: CompileRecord) -> CheckFailedError | None:
        found = record.warnings
        if not found:
            is_asked = record.data.compiler_log is not None
            why = record.data.missing.get("partitioner", "the partitioner was not asked")
            return None if is_asked else not_known(record, "what XLA warned of", why)
        lines = [str(one.sentence) for one in found]
        return failure(f"{record.name}: XLA warned {plural(len(found), 'time')}", ("found", lines))

    each(subject, args, Options.of(options), check)


def assert_no_advice(subject: Any, *args: Any, min_saving: float = 0.05, **options: Any) -> None:
    """No change of shardings is known that saves this part of what is sent, held or multiplied at no other cost.

    XLA is asked about up to 40 changes, which takes seconds. Changes that help at these sizes alone (the kind "layout")
    and facts are passed over.

    Args:
      subject: a function, a record, or a log.
      *args: the arguments of a function.
      min_saving: from 0 to 1.
      **options: those of `pjit_inspect.testing`; others are arguments of the function.

    Raises CheckFailedError, and UnknownAnswerError where XLA could not be asked about all changes.
    """
    __tracebackhide__ = True

    def check(record: CompileRecord) -> CheckFailedError | None:
        advice = record.advice
        rows = [one for one in advice if one.edits and one.kind != "layout" and _saved(one) >= min_saving]
        if not rows:
            why = advice.missing or advice.untried
            return not_known(record, "whether a change would help", why) if why else None
        first = rows[0]
        where = f"{first.source[0].where}  " if first.source else ""
        return failure(
            f"{record.name}: a change {saving(first)}",
            ("because", [str(one.sentence) for one in rows]),
            ("remove", [f"{where}{first.change}"]),
        )

    each(subject, args, Options.of(options), check)


def _saved(one: Advice) -> float:
    return max(
        (figure.share for figure in changes_of(one) if figure.is_bytes or figure.name == "multiplied"), default=0
    )


def assert_same_program(before: Any, after: Any, *args: Any, **options: Any) -> None:
    """Two functions, or records, make the same program: collectives, arguments, results, kernels and memory.

    Names, order and places do not count (docs/diff.md). Arguments of functions are given once, for both.
    Raises CheckFailedError with the differences in words, and UnknownAnswerError where one program is not all there.
    """
    __tracebackhide__ = True
    own = Options.of(options)
    pair = [next(iter(records_of(one, () if isinstance(one, CompileRecord) else args, own))) for one in (before, after)]
    for record in pair:
        if why := why_unread(record):
            if own.unknown == "ok":
                return
            raise not_known(record, "its program", why)
    found = diff(*pair)
    if found:
        raise failure(f"{pair[0].name}: {found.sentence}", ("found", str(found).splitlines()))


def _to_the_end(given: dict[str, Any]) -> Options:
    """The options of a check that needs a schedule."""
    own = Options.of(given)
    if own.effort is None and (own.target is not None or own.mesh is not None):
        return Options(
            name=own.name, target=own.target, mesh=own.mesh, effort="full", unknown=own.unknown, arguments=own.arguments
        )
    return own
