"""One finding for each group of collectives: bytes, reasons, proof, and the source of the figures."""

from __future__ import annotations

from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.document import Code, Finding, Number, Prose, Sign, Span, Spans, Text
from pjit_inspect.view.document.quantities import bytes_number, bytes_text, plural
from pjit_inspect.view.record.answer import axis_span
from pjit_inspect.view.record.cause_groups import CauseGroup, Reason, cause_words, distinct_lines

_REASONS = 3
_FACTS = 12
_FRAMES = 3
_NAMES = 2
_RESHARDS = frozenset(("reshard_requested", "reshard_needed", "output", "full_replication", "no_sharding_rule"))


def finding_of(
    report: RecordReport, group: CauseGroup, *, with_facts: bool = True, reasons: int = _REASONS, is_open: bool = False
) -> Finding:
    """The finding of a group; without facts, only the collectives and their reasons."""
    shown, hidden = group.reasons[:reasons], group.reasons[reasons:]
    sentences = tuple(_sentence(group, reason) for reason in shown) or (
        (Text("nobody has looked for its cause", "dim"),),
    )
    if hidden:
        arrays = sum(reason.arrays for reason in hidden)
        sentences += ((Text(f"and {plural(len(hidden), 'more reason')} for {plural(arrays, 'array')}", "dim"),),)
    proved = shown if reasons > _REASONS else shown[:1]
    facts = tuple(dict.fromkeys(fact for reason in proved for fact in reason.facts))[:_FACTS]
    return Finding(
        head=_head(report, group),
        sentences=sentences,
        facts=tuple((Prose(fact),) for fact in facts) if with_facts else (),
        figures=_figures(group) if with_facts else (),
        is_open=is_open,
    )


def share_text(part: int | None, whole: int | None) -> str:
    """A share of the bytes sent, in percent: "41 %", "<1 %"; "" without a whole, or if one is unknown."""
    if not whole or part is None:
        return ""
    percent = 100 * part / whole
    return "<1 %" if 0 < percent < 0.5 else f"{percent:.0f} %"


def _head(report: RecordReport, group: CauseGroup) -> Spans:
    first, number = group.first, len(group.members)
    spans: list[Span] = [Number(f"{number:,}", strong=True), Text(" "), Sign("times"), Text(" ")] if number > 1 else []
    spans += [Code(first.kind, strong=True), Text(" over "), axis_span(first.axes, report.data), Text("  ")]
    spans.append(bytes_number(group.sent_bytes, "modelled", strong=True))
    share = share_text(group.sent_bytes, report.sent_bytes)
    spans.append(Text(f" sent, {share}" if share else " sent"))
    kinds = list(dict.fromkeys(cause_words(reason.first) for reason in group.reasons))
    if kinds:
        more = f" and {len(kinds) - 2} more" if len(kinds) > 2 else ""
        spans += [Sign("dot"), Text(", ".join(kinds[:2]) + more, "strong")]
    marks = _marks(group)
    return (*spans, Sign("dot"), Text(", ".join(marks), "dim")) if marks else tuple(spans)


def _marks(group: CauseGroup) -> list[str]:
    """Special features of the group."""
    first = group.first
    marks = [first.phase] if first.phase else []
    marks += [f"{first.operands:,} arrays combined"] if first.is_combined else []
    marks += [f"a ring in place of {first.decomposed}"] if first.decomposed else []
    marks += ["across hosts"] if first.is_cross_host else []
    shared = max(first.causes, key=lambda cause: len(cause.serves_with), default=None)
    if shared is not None and shared.serves_with:
        # A halo exchange or a look-up changes no array's sharding.
        step = "reshard" if shared.kind in _RESHARDS else "exchange"
        marks.append(f"part of one {step} with {plural(len(shared.serves_with), 'other collective')}")
    alike = max(first.causes, key=lambda cause: cause.candidates, default=None)
    if alike is not None and alike.candidates > 1:
        # Collectives written in the program and combined by XLA may be on different lines.
        is_elsewhere = alike.kind == "written" and not alike.source
        marks.append(f"one of {alike.candidates:,} alike{'' if is_elsewhere else ' on this line'}")
    if first.is_async and first.overlap_count is not None:
        marks.append(
            f"async beside {plural(first.overlap_count, 'kernel')}" if first.overlap_count else "async, beside nothing"
        )
    elif first.is_async:
        marks.append("async")
    return marks


def _sentence(group: CauseGroup, reason: Reason) -> Spans:
    if len(group.reasons) == 1:
        return (Prose(reason.sentence),)
    of = f"{reason.arrays:,} of {plural(group.first.operands, 'array')}, {bytes_text(reason.payload_bytes)}: "
    return (Text(of, "dim"), Prose(reason.sentence))


def _figures(group: CauseGroup) -> Spans:
    payload, wire = bytes_text(group.payload_bytes), bytes_text(group.sent_bytes)
    text = f"payload {payload} (counted), wire {wire} (modelled: ring), per device and call; {_runs(group)}"
    spans: list[Span] = [Text(text)]
    frames = distinct_lines(group.frames)
    if frames:
        spans += [Text("; at "), Code(frames[0].where)]
        for position, frame in enumerate(frames[1 : 1 + _FRAMES]):
            spans += [Text(", called from " if not position else ", "), Code(frame.where)]
    names = [member.instructions[0] for member in group.members if member.instructions]
    if names:
        spans += [Text("; in the HLO "), Code(", ".join(names[:_NAMES]))]
        spans += [Text(f" and {len(names) - _NAMES:,} more")] if len(names) > _NAMES else []
    return tuple(spans)


def _runs(group: CauseGroup) -> str:
    if group.runs is None:
        return "in a loop of unknown length"
    at_most = "at most " if any(member.count != member.count_min for member in group.members) else ""
    if group.runs == len(group.members):
        each = "" if group.runs == 1 else f"{group.runs:,} instructions, each "
        return f"{each}runs {at_most}once"
    return f"runs {at_most}{plural(group.runs, 'time')}"
