"""The bytes sent over each set of axes and by kind, beside the base, and the collectives that came and went.

Not its job: joining them (`analyze.diff`), their causes (`analyze.causes`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from pjit_inspect.model.diff.pairs import Pair
from pjit_inspect.model.play.variant import Variant
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.view.diff.kinds import collective_name
from pjit_inspect.view.document.quantities import bytes_in, bytes_text, count_text, plural, share_unit
from pjit_inspect.view.document.text_spans import axes_text
from pjit_inspect.view.inspector.words import axes_data, name_data, sentence_data
from pjit_inspect.view.play.given import PlayGiven
from pjit_inspect.view.play.words import TIMES, signed_bytes, signed_in, silence_words

_ROOM = 1.02
_MOST_ROWS = 5
_MOST_NAMES = 3
_MOST_LINES = 4
_ARROW = " \u2192 "
_NOT_COMPARED = "Not compared: that is done for a variant that is looked at in a notebook."
_WAITS = "Known when XLA's partitioner has answered."


def by_axis_data(given: PlayGiven) -> dict[str, Any]:
    """A row for each set of axes over which either variant sends."""
    shown, base = given.last, given.base
    if _is_missing(given):
        return {"rows": [], "columns": [], "how": "", "missing": _missing(given)}
    now = {one.axes: one.sent_bytes for one in shown.by_axis}
    was = {one.axes: one.sent_bytes for one in base.by_axis}
    axes = sorted(dict.fromkeys((*now, *was)), key=lambda one: -max(now.get(one, 0), was.get(one, 0)))
    unit = share_unit((*now.values(), *was.values()))
    most = max((*now.values(), *was.values()), default=0) * _ROOM or 1
    is_base = shown is base
    rows = [
        {
            "axes": axes_data(one or ()),
            "words": name_data(axes_text(one).replace(" x ", f" {TIMES} ")),
            "bar": {
                "parts": [[now.get(one, 0) / most, axes_data(one or ()), False]],
                "tick": None if is_base else was.get(one, 0) / most,
            },
            "cells": [
                _in(now.get(one, 0), unit),
                *(() if is_base else (_in(was.get(one, 0), unit), signed_in(now.get(one, 0) - was.get(one, 0), unit))),
            ],
        }
        for one in axes
    ]
    columns = [unit] if is_base else [unit, f"#{base.number}", "change"]
    return {
        "rows": rows, "columns": columns, "how": "per device and call; modelled: ring", "dim": shown is not given.now,
        "missing": "" if rows else silence_words((shown, base), "Nothing is sent."),
    }  # fmt: skip


def by_kind_data(given: PlayGiven) -> dict[str, Any]:
    """A row for each kind of collective of either variant: number and bytes sent."""
    shown, base = given.last, given.base
    if _is_missing(given):
        return {"rows": [], "columns": [], "how": "", "missing": _missing(given)}
    now, was = ({one.kind: one for one in side.by_kind} for side in (shown, base))
    counts = [{kind: one.collectives for kind, one in side.items()} for side in (now, was)]
    sizes = {kind: one.sent_bytes for kind, one in now.items()}
    kinds = sorted(dict.fromkeys((*now, *was)), key=lambda one: -sizes.get(one, 0))
    most = max((*counts[0].values(), *counts[1].values()), default=0) * _ROOM or 1
    unit, is_base = share_unit(sizes.values()), shown is base
    rows = [
        {
            "kind": name_data(one),
            "bar": {
                "parts": [[counts[0].get(one, 0) / most, "ink", False]],
                "tick": None if is_base else counts[1].get(one, 0) / most,
            },
            "cells": [
                count_text(counts[0].get(one, 0)),
                *(() if is_base else (count_text(counts[1].get(one, 0)),)),
                _in(sizes.get(one, 0), unit),
            ],
        }
        for one in kinds
    ]
    columns = ["n", unit] if is_base else ["n", f"#{base.number}", unit]
    return {
        "rows": rows, "columns": columns, "how": "counted", "dim": shown is not given.now,
        "missing": "" if rows else silence_words((shown, base), "There are no collectives."),
    }  # fmt: skip


def _in(size: int, unit: str) -> str:
    return "0" if not size else bytes_in(size, unit)


def _is_missing(given: PlayGiven) -> bool:
    return given.now.stage == "refused" or not given.last.is_answered


def _missing(given: PlayGiven) -> str:
    return "Nothing was compiled: it is refused." if given.now.stage == "refused" else _WAITS


# ---------------------------------------------------------------- came and went


def _not_yet(given: PlayGiven) -> str:
    """The reason why there are no rows: XLA has not answered, or they are not being compared, or not compared yet."""
    if _is_missing(given) or not given.is_comparing:
        return _missing(given) if _is_missing(given) else _NOT_COMPARED
    return "Being listed." if given.last is given.base else f"Being compared with #{given.base.number}."


def moves_data(given: PlayGiven) -> dict[str, Any]:
    """The collectives that came, went, grew and shrank; for the base itself, those that send most."""
    shown, base = given.last, given.base
    found: dict[str, Any] = {
        "rows": [],
        "rest": None,
        "missing": "",
        "can_compare": False,
        "dim": shown is not given.now,
    }
    if shown is base:
        found |= {"title": "Collectives that send most", "how": ""}
        if given.rows is not None and not _is_missing(given):
            pairs = [Pair(before=None, after=row) for row in given.rows]
            return found | _list(pairs, (base,), is_base=True)
        return found | {"missing": _not_yet(given)}
    found |= {"title": "Collectives that came and went", "how": f"against #{base.number}"}
    if given.pairs is None or _is_missing(given):
        return found | {"missing": _not_yet(given)}
    pairs = [pair for pair in given.pairs if pair.status != "same"]
    if not pairs:
        return found | {"missing": f"The same collectives as #{base.number}.", "can_compare": True}
    return found | {"can_compare": True} | _list(pairs, (shown, base), is_base=False)


def _list(pairs: Sequence[Pair[Collective]], variants: Sequence[Variant], *, is_base: bool) -> dict[str, Any]:
    groups: dict[Hashable, list[Pair[Collective]]] = {}
    for pair in pairs:
        groups.setdefault((_word(pair), *_key(pair)), []).append(pair)
    ordered = sorted(groups.values(), key=lambda own: -abs(_difference(own)))
    rows, rest = ordered[:_MOST_ROWS], ordered[_MOST_ROWS:]
    amount: Callable[[int], str] = bytes_text if is_base else signed_bytes
    left = sum(map(_difference, rest))
    return {
        "rows": [_row(own, amount, is_base=is_base) for own in rows],
        "rest": [plural(sum(map(len, rest)), "more collective"), amount(left)] if rest else None,
        "missing": "" if rows else silence_words(variants, "There are no collectives."),
    }


def _key(pair: Pair[Collective]) -> tuple[Hashable, ...]:
    row = pair.row
    cause = row.cause
    return row.kind, row.axes, pair.reason or (cause.kind if cause is not None else "")


def _word(pair: Pair[Collective]) -> str:
    if pair.status in ("added", "removed"):
        return {"added": "came", "removed": "went"}[pair.status]
    difference = _difference([pair])
    return "grew" if difference > 0 else "shrank" if difference < 0 else "changed"


def _difference(pairs: Sequence[Pair[Collective]]) -> int:
    return sum(_bytes(pair.after) - _bytes(pair.before) for pair in pairs)


def _bytes(row: Collective | None) -> int:
    return 0 if row is None else row.sent_bytes or 0


def _row(pairs: list[Pair[Collective]], amount: Callable[[int], str], *, is_base: bool) -> dict[str, Any]:
    pairs = sorted(pairs, key=lambda pair: -abs(_difference([pair])))
    first = pairs[0].row
    names = list(dict.fromkeys(name_data(collective_name(pair.row)) for pair in pairs))
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    sentence = pairs[0].reason or (first.cause.sentence if first.cause is not None else "")
    counts = [sum(1 for pair in pairs if side(pair) is not None) for side in (lambda p: p.before, lambda p: p.after)]
    return {
        "status": "" if is_base else _word(pairs[0]),
        "kind": name_data(first.kind),
        "axes": axes_data(first.axes or ()),
        "axes_words": name_data(axes_text(first.axes).replace(" x ", f" {TIMES} ")),
        "what": [", ".join(names[:_MOST_NAMES]), *([{"dim": more}] if more else [])],
        "amount": amount(_difference(pairs)),
        "counts": f"{TIMES} {counts[1]}" if is_base or counts[0] == counts[1] else f"{counts[0]}{_ARROW}{counts[1]}",
        "place": _places(pairs),
        "cause": sentence_data(_without_kind(sentence, first.kind)),
        "whole": name_data(f"{', '.join(names)}: {sentence}" if sentence else ", ".join(names), longest=1000),
    }


def _without_kind(sentence: str, kind: str) -> str:
    """The sentence without the kind and the axes, which the row has already."""
    head, _, rest = sentence.partition(": ")
    return rest if rest and head.startswith(kind) else sentence


def _places(pairs: Sequence[Pair[Collective]]) -> str:
    frames = {pair.row.source[0].where.rpartition(":")[::2]: None for pair in pairs if pair.row.source}
    lines = sorted(frames, key=lambda one: (one[0], int(one[1]) if one[1].isdigit() else 0))
    words: list[str] = []
    for at, (file, line) in enumerate(lines[:_MOST_LINES]):
        words.append(line if at and lines[at - 1][0] == file else ":".join(filter(None, (file, line))))
    return name_data(", ".join(words) + (" ..." if len(lines) > _MOST_LINES else ""))
