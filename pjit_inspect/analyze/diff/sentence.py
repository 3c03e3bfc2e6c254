"""The answer of a comparison in one sentence: the figures that rose, those that fell, and the causes.

Not its job: finding it, drawing it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pjit_inspect.model.diff.diff import DiffData, Figure, Stages
from pjit_inspect.model.diff.pairs import COMBINED, CollectiveDiff, Pair
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.words.sentence import ONE_TURN, Sentence, axis, bytes_in_one_unit, joined, say, word

_MOST_GROUPS = 3
_MOST_KINDS = 3
_NAMES = {
    "operation": "operation",
    "dtype": "type",
    "phase": "phase",
    "operands": "number of arrays",
    "local_shape": "shape",
    "group_size": "devices in a group",
    "pairs": "devices in a pair",
    "count": "number of runs",
    "is_async": "asynchronous or not",
    "cause_kinds": "cause",
}
"""The fields of a changed collective that are reported, the most telling first."""
_LEAST_SHARE = 0.01
_MANY_TIMES = 4


def diff_answer(data: DiffData) -> Sentence:
    """The answer, without whether it is the same work."""
    if data.is_empty:
        return _nothing(data)
    parts = [*_incomplete(data), *_sent(data), *_beside(data), *_groups(data), *_others(data)]
    if data.renamed_axes and data.is_same_program:
        parts = [say("the same collectives, kernels and memory"), *parts]
    parts += [say("axis {} is called {} now", axis(one), axis(two)) for one, two in data.renamed_axes]
    if data.stages is not None and data.is_same_program:
        parts = [*_same_program(data, data.stages), *parts]
    elif data.stages is not None:
        parts += _stages(data.stages)
    if not parts:
        parts = [*_settings(data)] or [_unchanged(data)]
        parts += _rest(data)
    elif data.is_same_program and (data.renamed_axes or data.stages is not None):
        parts += _rest(data)
    return joined(parts, "; ", comma="; ")


def _incomplete(data: DiffData) -> Iterator[Sentence]:
    for side, when in ((data.before, "before"), (data.after, "after")):
        if side.incomplete:
            yield say("the program {} is incomplete: {}", when, side.incomplete)


def _nothing(data: DiffData) -> Sentence:
    counts = (
        (len(data.collectives), "collective"),
        (len(data.kernels), "kernel"),
        (len(data.shardings), "value"),
        (len(data.arguments), "argument"),
    )
    words = ", ".join(f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts if count)
    there = " in the part that is there" if data.is_incomplete else ""
    nothing = say("nothing differs{}{}", word(there), word(f": {words}, all joined one to one" if words else ""))
    return joined([*_incomplete(data), nothing], "; ", comma="; ")


def _sent(data: DiffData) -> Iterator[Sentence]:
    known = {figure.name: figure for figure in data.figures}
    # If loop lengths are unknown, more turns may turn a decrease of bytes into an increase.
    rows = (row for pair in data.collectives for row in (pair.before, pair.after))
    once = f" {ONE_TURN}" if any(row is not None and row.count is None for row in rows) else ""
    sent, count = known.get("sent"), known.get("collectives")
    if sent is None or count is None or sent.before is None or sent.after is None:
        return
    if any(sent.at_least):
        if data.is_incomplete or not (sent.is_same and count.is_same):
            yield say("sends {} per device{}", word(figure_text(sent)), word(once))
            yield say("{}", word(f"{figure_text(count)} collectives"))
        return
    if sent.is_same and count.is_same:
        if not data.collectives.is_empty:
            yield say("sends the same {} per device{}", word(_size(sent.after)), word(once))
        return
    if sent.before and _size(sent.before) == _size(sent.after):
        yield say("sends nearly the same {} per device{}", word(_size(sent.after)), word(once))
    else:
        yield say("sends {} per device{}{}", word(figure_text(sent)), word(_percent(sent)), word(once))
    if not count.is_same:
        yield say("{}", word(f"{figure_text(count)} collectives"))


def _beside(data: DiffData) -> Iterator[Sentence]:
    """Other communication besides collectives, if it differs."""
    if data.before.beside != data.after.beside:
        sides = (side.beside or "nothing does" for side in (data.before, data.after))
        yield say("beside HLO collectives, {} before and {} after", *sides)


def _groups(data: DiffData) -> Iterator[Sentence]:
    """Added and removed collectives grouped by reason; most bytes first, groups without reason last."""
    collectives = data.collectives
    lacking = {"removed": data.after.incomplete, "added": data.before.incomplete}
    groups: dict[tuple[str, Sentence], list[Collective]] = {}
    for pair in collectives:
        if pair.status in ("added", "removed") and pair.reason != COMBINED:
            groups.setdefault((pair.status, pair.reason), []).append(pair.row)
    ranked = sorted(groups.items(), key=lambda item: (not item[0][1], -_sent_bytes(item[1])))
    # Collectives without a reason form one group of removed and one of added ones.
    shown = [item for item in ranked if item[0][1]][:_MOST_GROUPS]
    for (status, reason), rows in shown + [item for item in ranked if not item[0][1]]:
        if lacking[status]:
            when = "after" if status == "removed" else "before"
            yield say("{} not in the part that is there {}", _members(rows), when)
        else:
            yield _group(rows, "gone" if status == "removed" else "new", reason)
    left = [(status, len(rows)) for (status, reason), rows in ranked[len(shown) :] if reason]
    if left:
        gone = sum(count for status, count in left if status == "removed")
        counts = ((gone, "gone"), (sum(count for _, count in left) - gone, "new"))
        yield say("{} for other reasons", " and ".join(f"{count} more {verb}" for count, verb in counts if count))
    yield from _combined(collectives)
    changed = [pair for pair in collectives.changed if pair.reason != COMBINED]
    if changed:
        yield say("{} changed{}", _counted(len(changed), "collective"), word(_fields(changed)))


def _combined(collectives: CollectiveDiff) -> Iterator[Sentence]:
    """The collectives of the same arrays that XLA combines differently."""
    pairs = [pair for pair in collectives if pair.reason == COMBINED]
    if not pairs:
        return
    kinds = {pair.row.kind for pair in pairs}
    noun = kinds.pop() if len(kinds) == 1 else "collective"
    counts = [sum(getattr(pair, side) is not None for pair in pairs) for side in ("before", "after")]
    if counts[0] == counts[1]:
        yield say("XLA combines the arrays of {} otherwise", _counted(counts[0], noun))
    else:
        yield say(
            "{} became {}, as XLA combines the same arrays differently", _counted(counts[0], noun), f"{counts[1]:,}"
        )


def _sent_bytes(rows: Iterable[Collective]) -> int:
    return sum(row.sent_bytes or 0 for row in rows)


def _group(rows: Sequence[Collective], verb: str, reason: Sentence) -> Sentence:
    because = say(" because {}", reason) if reason else Sentence(" (no cause known)")
    return say("{} {}{}", _members(rows), verb, because)


def _members(rows: Sequence[Collective]) -> Sentence:
    """Numbers of collectives by kind and axes, followed by "is" or "are"."""
    kinds: dict[object, list[Collective]] = {}
    for row in rows:
        kinds.setdefault((row.kind, row.axes), []).append(row)
    ranked = sorted(kinds.values(), key=lambda own: -_sent_bytes(own))
    parts = [say("{}{}", _counted(len(own), own[0].kind), _over(own[0])) for own in ranked[:_MOST_KINDS]]
    left = sum(map(len, ranked[_MOST_KINDS:]))
    if left:
        parts.append(Sentence(f"{left} more"))
    return say("{} {}", joined(parts), "is" if len(rows) == 1 else "are")


def _fields(changed: Sequence[Pair[Collective]]) -> str:
    """The fields that changed in most collectives, in words."""
    fields = Counter(change.name for pair in changed for change in pair.changes)
    names = [_NAMES[name] for name in _NAMES if fields[name]]
    return f" ({', '.join(names[:_MOST_GROUPS])})" if names else ""


def _over(row: Collective) -> Sentence:
    if not row.axes:
        return Sentence(" along no axis" if row.axes is None else "")
    return say(" over {}", joined([axis(own) for own in row.axes], last=" x ", comma=" x "))


def _others(data: DiffData) -> Iterator[Sentence]:
    for figure in data.figures:
        if figure.name == "temporary memory" and _is_noticeable(figure):
            yield say("temporary memory {}{}", word(figure_text(figure)), word(_percent(figure)))
        if figure.name == "arguments" and _is_noticeable(figure):
            yield say("arguments {} on each device", word(figure_text(figure)))
        if figure.name == "kernels" and any(figure.at_least):
            yield say("{} kernels", word(figure_text(figure)))
        elif figure.name == "kernels" and not figure.is_same and figure.before is not None and figure.after is not None:
            more = int(figure.after - figure.before)
            yield say("{} {}", _counted(abs(more), "kernel"), "more" if more > 0 else "fewer")
    donated = [pair for pair in data.arguments.changed if any(one.name == "donated" for one in pair.changes)]
    if donated:
        gained = sum(bool(pair.after and pair.after.donated) for pair in donated)
        counts = ((gained, "now donated"), (len(donated) - gained, "no longer donated"))
        yield say("{}", ", ".join(f"{_counted(count, 'argument')} {verb}" for count, verb in counts if count))


def _unchanged(data: DiffData) -> Sentence:
    """The parts that are the same, and the number of kernels that differ."""
    sizes = [figure for figure in data.figures if figure.name in ("temporary memory", "arguments")]
    memory = "memory" if all(figure.is_same for figure in sizes) else "nearly the same memory"
    if differing := _statuses(data.kernels):
        return say("the same collectives and {}; kernels: {}", memory, differing)
    return say("the same collectives, kernels and {}", memory)


def _rest(data: DiffData) -> Iterator[Sentence]:
    """The other differences in the comparison, for an answer that calls something the same."""
    tables = (
        ("arguments", data.arguments),
        ("results", data.results),
        ("shardings of values", data.shardings),
        ("XLA's warnings", data.warnings),
    )
    for noun, table in tables:
        if differing := _statuses(table):
            yield say("{}: {}", noun, differing)


def _statuses(table: Iterable[Pair[Any]]) -> str:
    """The number of differing rows of a table, by status; "" for none."""
    counts = Counter(pair.status for pair in table)
    words = (("removed", "gone"), ("added", "new"), ("changed", "changed"))
    return ", ".join(f"{counts[status]:,} {verb}" for status, verb in words if counts[status])


def _same_program(data: DiffData, stages: Stages) -> Iterator[Sentence]:
    versions = data.before.jax, data.after.jax
    yield say("JAX {} and {} make the same program: the same collectives, kernels and memory", *versions)
    yield say("JAX's lowering {}", "is the same, too" if stages.lowering.is_same else "differs")


def _stages(stages: Stages) -> Iterator[Sentence]:
    """Whose change it is, as far as that was compiled."""
    lowering, by_xla, by_jax = stages.lowering, stages.by_xla, stages.by_jax
    if lowering.is_same:
        yield say("JAX's lowering is the same, so that all of this is XLA's")
        return
    gone, new = (sum(getattr(one, own) for one in lowering.changes) for own in ("removed", "added"))
    counts = word(f" ({gone:,} operations gone, {new:,} new)" if lowering.changes else "")
    if by_xla is None or by_jax is None:
        yield say("JAX's lowering differs{}; what of this is XLA's is not known", counts)
    elif by_jax.is_same_program:
        yield say("JAX's lowering differs{}, which comes to the same program: all of this is XLA's", counts)
    elif by_xla.is_same_program:
        yield say("all of this is JAX's lowering{}: XLA makes the same program of the lowering before", counts)
    else:
        yield say("by XLA alone: {}", _sides(by_xla))
        yield say("by JAX's lowering{} alone: {}", counts, _sides(by_jax))


def _sides(data: DiffData) -> Sentence:
    """The figures that XLA alone, or JAX alone, changed."""
    return Sentence(", ".join(map(_side_words, filter(_is_told, data.figures))) or "other kernels, as many")


def _is_told(figure: Figure) -> bool:
    if figure.name in ("collectives", "kernels"):
        return not figure.is_same
    return figure.name in ("sent", "temporary memory") and _is_noticeable(figure)


def _side_words(figure: Figure) -> str:
    text = f"{figure_text(figure)}{_percent(figure)}"
    return f"sends {text}" if figure.name == "sent" else f"{text} {figure.name}"


def _settings(data: DiffData) -> Iterator[Sentence]:
    for one in data.settings[:_MOST_GROUPS]:
        yield say("{} {} -> {}", one.name, word(one.before or "not set"), word(one.after or "not set"))


def _is_noticeable(figure: Figure) -> bool:
    if figure.before is None or figure.after is None or figure.is_same:
        return False
    return abs(figure.after - figure.before) >= _LEAST_SHARE * max(figure.before, figure.after)


def figure_text(figure: Figure) -> str:
    """Both values in one unit: "4.13 -> 1.72 MiB"."""
    values = (figure.before, figure.after)
    least = ["at least " * is_least for is_least in figure.at_least]
    if figure.unit != "bytes":
        texts = ["unknown" if value is None else f"{value:,.0f}" for value in values]
        return f"{least[0]}{texts[0]} -> {least[1]}{texts[1]}"
    texts, unit = bytes_in_one_unit(values)
    return f"{least[0]}{texts[0]} -> {least[1]}{texts[1]} {unit}"


def _size(value: float) -> str:
    (text,), unit = bytes_in_one_unit((value,))
    return f"{text} {unit}"


def _percent(figure: Figure) -> str:
    if not figure.before or figure.after is None:
        return ""
    ratio = figure.after / figure.before
    if abs(ratio - 1) < _LEAST_SHARE / 2:
        return ""
    return f" (x {ratio:.1f})" if ratio >= _MANY_TIMES else f" ({(ratio - 1) * 100:+.0f} %)"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
