"""The answer of a comparison in one sentence: what got more, what less, and because of what.

Not its job: finding it, drawing it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pjit_inspect.model.diff.diff import DiffData, Figure
from pjit_inspect.model.diff.pairs import CollectiveDiff
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.words.sentence import Sentence, axis, joined, say, word

__all__ = ["diff_sentence", "figure_text"]

_UNITS = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))
_MOST_GROUPS = 3
_MOST_KINDS = 3
_NAMES = {
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
"""The fields of a changed collective that are told, the most telling first."""
_LEAST_SHARE = 0.01
_MANY_TIMES = 4


def diff_sentence(data: DiffData) -> Sentence:
    """The answer."""
    if data.is_empty:
        return _nothing(data)
    parts = [*_sent(data), *_groups(data.collectives), *_others(data)]
    if not parts:
        parts = [*_settings(data)] or [say("the same collectives, memory and kernels")]
    return joined(parts, "; ", comma="; ")


def _nothing(data: DiffData) -> Sentence:
    counts = (
        (len(data.collectives), "collective"),
        (len(data.kernels), "kernel"),
        (len(data.shardings), "value"),
        (len(data.arguments), "argument"),
    )
    words = ", ".join(f"{count:,} {noun}{'s' * (count != 1)}" for count, noun in counts if count)
    return say("nothing differs{}", word(f": {words}, all joined one to one" if words else ""))


def _sent(data: DiffData) -> Iterator[Sentence]:
    known = {figure.name: figure for figure in data.figures}
    sent, count = known.get("sent"), known.get("collectives")
    if sent is None or count is None or sent.before is None or sent.after is None:
        return
    if sent.is_same and count.is_same:
        if not data.collectives.is_empty:
            yield say("sends the same {} per device", word(_size(sent.after)))
        return
    yield say("sends {} per device{}", word(figure_text(sent)), word(_percent(sent)))
    if not count.is_same:
        yield say("{}", word(f"{figure_text(count)} collectives"))


def _groups(collectives: CollectiveDiff) -> Iterator[Sentence]:
    """The collectives that came and went, those of one reason together; most bytes first, those without reason last."""
    groups: dict[tuple[str, Sentence], list[Collective]] = {}
    for pair in collectives:
        if pair.status in ("added", "removed"):
            groups.setdefault((pair.status, pair.reason), []).append(pair.row)
    ranked = sorted(groups.items(), key=lambda item: (not item[0][1], -_sent_bytes(item[1])))
    # What has no reason is one group for what is gone and one for what is new.
    shown = [item for item in ranked if item[0][1]][:_MOST_GROUPS]
    for (status, reason), rows in shown + [item for item in ranked if not item[0][1]]:
        yield _group(rows, "gone" if status == "removed" else "new", reason)
    left = [(status, len(rows)) for (status, reason), rows in ranked[len(shown) :] if reason]
    if left:
        gone = sum(count for status, count in left if status == "removed")
        counts = ((gone, "gone"), (sum(count for _, count in left) - gone, "new"))
        yield say("{} for other reasons", " and ".join(f"{count} more {verb}" for count, verb in counts if count))
    changed = len(collectives.changed)
    if changed:
        yield say("{} changed{}", _counted(changed, "collective"), word(_fields(collectives)))


def _sent_bytes(rows: Iterable[Collective]) -> int:
    return sum(row.sent_bytes or 0 for row in rows)


def _group(rows: Sequence[Collective], verb: str, reason: Sentence) -> Sentence:
    kinds: dict[object, list[Collective]] = {}
    for row in rows:
        kinds.setdefault((row.kind, row.axes), []).append(row)
    ranked = sorted(kinds.values(), key=lambda own: -_sent_bytes(own))
    parts = [say("{}{}", _counted(len(own), own[0].kind), _over(own[0])) for own in ranked[:_MOST_KINDS]]
    left = sum(map(len, ranked[_MOST_KINDS:]))
    if left:
        parts.append(Sentence(f"{left} more"))
    because = say(" because {}", reason) if reason else Sentence(" (no cause known)")
    return say("{} {} {}{}", joined(parts), "is" if len(rows) == 1 else "are", verb, because)


def _fields(collectives: CollectiveDiff) -> str:
    """The fields that changed in most collectives, in words."""
    fields = Counter(change.name for pair in collectives.changed for change in pair.changes)
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
        if figure.name == "kernels" and not figure.is_same and figure.before is not None and figure.after is not None:
            more = int(figure.after - figure.before)
            yield say("{} {}", _counted(abs(more), "kernel"), "more" if more > 0 else "fewer")
    donated = [pair for pair in data.arguments.changed if any(one.name == "donated" for one in pair.changes)]
    if donated:
        gained = sum(bool(pair.after and pair.after.donated) for pair in donated)
        counts = ((gained, "now donated"), (len(donated) - gained, "no longer donated"))
        yield say("{}", ", ".join(f"{_counted(count, 'argument')} {verb}" for count, verb in counts if count))


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
    if figure.unit != "bytes":
        texts = ["unknown" if value is None else f"{value:,.0f}" for value in values]
        return f"{texts[0]} -> {texts[1]}"
    unit, size = _unit(value for value in values if value is not None)
    texts = ["unknown" if value is None else _in(value, size) for value in values]
    return f"{texts[0]} -> {texts[1]} {unit}"


def _unit(values: Iterable[float]) -> tuple[str, int]:
    largest = max(values, default=0)
    return next(((unit, size) for unit, size in _UNITS if largest >= size), _UNITS[-1])


def _in(value: float, size: int) -> str:
    if size == 1 or not value:
        return f"{value:,.0f}"
    return "<0.01" if 0 < value / size < 0.005 else f"{value / size:,.2f}"


def _size(value: float) -> str:
    unit, size = _unit((value,))
    return f"{_in(value, size)} {unit}"


def _percent(figure: Figure) -> str:
    if not figure.before or figure.after is None:
        return ""
    ratio = figure.after / figure.before
    if abs(ratio - 1) < _LEAST_SHARE / 2:
        return ""
    return f" (x {ratio:.1f})" if ratio >= _MANY_TIMES else f" ({(ratio - 1) * 100:+.0f} %)"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
