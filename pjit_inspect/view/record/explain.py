"""The cause of each collective, or of those a user asks for by kind, cause, axis, phase, line or name."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.report.cause import CAUSE_KINDS
from pjit_inspect.model.report.collective import KINDS, Collective
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.model.words.layers import path_pattern
from pjit_inspect.model.words.sentence import Sentence, axis, say
from pjit_inspect.view.document.colors import document_axes
from pjit_inspect.view.document.columns import more_lines, numbers, sizes, table_of
from pjit_inspect.view.document.document import (
    Bar,
    Block,
    Cell,
    Column,
    Document,
    Fold,
    Line,
    Prose,
    Quote,
    Section,
    Sign,
    Text,
    line,
    strong,
)
from pjit_inspect.view.document.quantities import bytes_number, bytes_text, plural
from pjit_inspect.view.record.advice import advice_head
from pjit_inspect.view.record.answer import answer_line, incomplete_spans
from pjit_inspect.view.record.cause_groups import CauseGroup, cause_words, finding_of, group_by_cause, share_text

_PROVED = 5  # groups whose facts text shows
_GROUPS = 40
_ALONE = 2  # groups up to which the report has all their reasons, and the facts at once
_ALL_REASONS = 20


def explain_view(report: RecordReport, what: str | int | None = None) -> Document:
    """The causes of the collectives; with `what`, only those of a kind, cause, axis, phase, line or name."""
    return Document(axes=document_axes(report.data), blocks=tuple(_blocks(report, what)))


def _blocks(report: RecordReport, what: str | int | None) -> list[Block]:
    if not report.collectives:
        pick((), what)  # so that a wrong type of argument raises here too
        return [answer_line(report), *_warnings(pick_warnings(report.warnings, what))]
    picked = pick(report.collectives, what)
    if picked.instead:
        return [line(Prose(picked.instead)), *_warnings(pick_warnings(report.warnings, what))]
    groups = group_by_cause(picked.rows)
    name = Quote(report.data.primitive or report.data.name, strong=True)
    blocks: list[Block] = [line(name, Sign("dot"), "why each collective is there", role="title")]
    blocks.append(_answer(report, picked, groups))
    blocks += advice_head(report.advice) if what is None else ()
    blocks += _kinds(picked.rows) if len(groups) > 1 else []
    blocks += _causes(report, groups)
    blocks += _warnings(report.warnings)
    words = "sends: modelled (ring), per device and call; layer numbers starred where several layers are alike"
    return [*blocks, line(words, role="footer")]


def _answer(report: RecordReport, picked: Picked, groups: Sequence[CauseGroup]) -> Line:
    number, everything = len(picked.rows), len(report.collectives or ())
    sent = _sent(groups)
    head: Cell = strong(plural(number, "collective"))
    if picked.words:
        head = (strong(f"{number:,} of {plural(everything, 'collective')} "), Prose(picked.words))
    at_most = "at most " if any(row.count != row.count_min for row in picked.rows) else ""
    share = share_text(sent, report.sent_bytes) if picked.words else ""
    there = " in the part that is there" if report.incomplete else ""
    return line(
        incomplete_spans(report),
        head,
        f" in {len(groups):,} groups" if len(groups) > 1 else None,
        f"; each device sends {at_most}",
        bytes_number(sent, "modelled", strong=True),
        f" per call{f', {share} of all' if share else ''}{there}.",
        role="answer",
    )


# ---------------------------------------------------------------- bytes per cause


def _kinds(rows: Sequence[Collective]) -> list[Block]:
    """Bytes per kind of cause; [] for a single kind."""
    collectives, sent = Counter[str](), defaultdict[str, float](float)
    for row in rows:
        whole = sum(cause.payload_bytes for cause in row.causes)
        collectives.update({cause_words(cause) for cause in row.causes})
        for cause in row.causes:
            # A combined collective is sent once: its operands share the bytes in proportion to theirs.
            part = cause.payload_bytes / whole if whole else 1 / len(row.causes)
            sent[cause_words(cause)] += part * row.least_sent_bytes
    if len(sent) < 2:
        return []
    whole = sum(sent.values()) or 1
    columns = (
        Column("cause", lambda cause: cause),
        numbers("collectives", lambda cause: collectives[cause]),
        sizes("sends {unit}", lambda cause: round(sent[cause]), "modelled"),
        Column("share", lambda cause: share_text(round(sent[cause]), round(whole)), align="right"),
        Column("", lambda cause: Bar(sent[cause] / whole, None)),
    )
    return [table_of(columns, sorted(sent, key=lambda cause: (-sent[cause], cause)))]


# ---------------------------------------------------------------- causes


def _causes(report: RecordReport, groups: Sequence[CauseGroup]) -> list[Block]:
    alone = len(groups) <= _ALONE
    reasons = _ALL_REASONS if alone else 3
    shown, more = groups[:_GROUPS], groups[_GROUPS:]
    full = [finding_of(report, group, reasons=reasons, is_open=alone) for group in shown]
    short = [finding_of(report, group, reasons=reasons, with_facts=False) for group in shown[_PROVED:]]
    blocks: list[Block] = [*full[:_PROVED]]
    if short:
        summary = (Text(f"{plural(len(short), 'more group')}, {bytes_text(_sent(shown[_PROVED:]))} together"),)
        blocks.append(Fold(summary=summary, blocks=tuple(full[_PROVED:]), text_blocks=tuple(short), is_open=True))
    return blocks + more_lines(len(more), "group", tail=f", {bytes_text(_sent(more))}; explain(LINE) narrows")


def _sent(groups: Sequence[CauseGroup]) -> int:
    return sum(group.least_sent_bytes for group in groups)


def _warnings(warnings: Sequence[Any]) -> list[Block]:
    lines = tuple(line(Prose(str(getattr(warning, "sentence", warning))), role="note") for warning in warnings)
    return [Section((strong("XLA warned"),), lines)] if lines else []


# ---------------------------------------------------------------- what the user asks for

_MOST = 12
_PHASES = ("forward", "backward", "recompute", "optimizer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """The collectives found.

    Attributes:
      rows: the collectives, in the table's order.
      words: their common property ("at line 41", "over `model`"); "" for all of them.
      instead: if none was found, a sentence with the valid choices; "" if some were.
    """

    rows: tuple[Collective, ...]
    words: str = ""
    instead: str = ""


def pick(rows: Sequence[Collective], what: str | int | None) -> Picked:
    """The collectives that match `what`; all of them for None.

    A number is a line of the user's source. Raises TypeError for anything but a string, a number or None.
    """
    if what is None:
        return Picked(rows=tuple(rows))
    if isinstance(what, bool) or not isinstance(what, str | int):
        raise TypeError(
            f"explain takes a kind, a cause, an axis, a name or a line, not {what!r}; for example "
            'explain("all-gather"), explain("contraction"), explain("model"), explain(41)'
        )
    found, words = _at_line(rows, what) if isinstance(what, int) else _named(rows, what.strip())
    return Picked(rows=found, words=words, instead="" if found else _nothing(rows, what))


def pick_warnings(warnings: Sequence[Any], what: str | int | None) -> tuple[Any, ...]:
    """XLA's warnings that match `what`, with or without a remaining collective; all for None."""
    if what is None:
        return tuple(warnings)
    if isinstance(what, int):
        return tuple(
            warning for warning in warnings if any(frame.line == what for frame in getattr(warning, "source", ()))
        )
    name = what.strip()
    kind = "full_rematerialization" if _kind(name) == "full_replication" else _kind(name)

    def fits(warning: Any) -> bool:
        names = getattr(warning, "op_name", None), getattr(warning, "instruction", None)
        places = [frame.where for frame in getattr(warning, "source", ())[:1]]
        return getattr(warning, "kind", "") == kind or name in (*names, *places)

    return tuple(filter(fits, warnings)) if name else ()


def _kind(name: str) -> str:
    """A kind of cause in its Python spelling."""
    return name.strip().replace(" ", "_").replace("-", "_").lower()


def _at_line(rows: Sequence[Collective], line: int) -> tuple[tuple[Collective, ...], str]:
    """Collectives whose innermost place is on the line; else those called from it, first in their file, then in any."""
    parts: tuple[tuple[Callable[[tuple[Frame, ...]], Iterable[Frame]], str], ...] = (
        (lambda frames: frames[:1], "at"),
        (lambda frames: (frame for frame in frames if frame.file == frames[0].file), "called from"),
        (lambda frames: frames, "called from"),
    )
    for part, words in parts:
        found = tuple(
            row for row in rows if any(frame.line == line for frames in _stacks(row) for frame in part(frames))
        )
        if found:
            return found, f"{words} line {line}"
    return (), f"at line {line}"


def _stacks(row: Collective) -> list[tuple[Frame, ...]]:
    return [frames for frames in (row.source, *(cause.source for cause in row.causes)) if frames]


def _named(rows: Sequence[Collective], name: str) -> tuple[tuple[Collective, ...], str]:
    """The first reading of a name that matches something, most exact first."""
    kind = _kind(name)
    readings: tuple[tuple[Callable[[Collective], bool], str], ...] = (
        (lambda row: row.kind == name, f"of kind {name}"),
        (lambda row: any(cause.kind == kind for cause in row.causes), f"because of {kind.replace('_', ' ')}"),
        (lambda row: name in (row.axes or ()), say("over {}", axis(name))),
        (lambda row: name in map(axis_name, row.axes or ()), say("over a part of {}", axis(name))),
        (lambda row: row.phase == name, f"of the {name} phase"),
        (lambda row: any(frames[0].where == name for frames in _stacks(row)), f"at {name}"),
        (lambda row: name in row.instructions, f"of the instruction {name}"),
        (lambda row: any(said.names(name) for said in _sentences(row)), f"that have to do with `{name}`"),
        (
            lambda row: any(
                name in text for text in (*(cause.value for cause in row.causes), *_sentences(row), row.op_name)
            ),
            f"that have to do with `{name}`",
        ),
    )
    for holds, words in readings if name else ():
        found = tuple(row for row in rows if holds(row))
        if found:
            return found, words
    return (), ""


def _sentences(row: Collective) -> Iterable[Sentence]:
    for cause in row.causes:
        yield from (cause.sentence, *cause.facts)


def _nothing(rows: Sequence[Collective], what: str | int) -> str:
    asked = f"at line {what}" if isinstance(what, int) else f"called {what!r}"
    if not isinstance(what, int):
        kind = _kind(what)
        asked = f"of kind {what}" if what.strip() in KINDS else asked
        asked = f"because of {what}" if kind in CAUSE_KINDS else asked
        asked = f"in the {what} phase" if what.strip() in _PHASES else asked
    there = (
        ("kinds", {row.kind for row in rows}),
        ("causes", {cause.kind for row in rows for cause in row.causes}),
        ("axes", {name for row in rows for name in row.axes or ()}),
        ("lines", {str(frames[0].line) for row in rows for frames in _stacks(row) if frames[0].line}),
        ("names", {path_pattern(cause.value) for row in rows for cause in row.causes if cause.value}),
    )
    shown = [f"{noun} {_listed(found)}" for noun, found in there if found]
    return f"no collective {asked}. There are: {'; '.join(shown)}"


def _listed(found: set[str]) -> str:
    ranked = sorted(found, key=lambda word: (int(word) if word.isdigit() else 0, word))
    more = f" and {len(ranked) - _MOST:,} more" if len(ranked) > _MOST else ""
    return ", ".join(ranked[:_MOST]) + more
