"""Every variant as a row: its changes, its figures in one unit per column, and whether it fits.

Not its job: sorting (the page does), or which is best (`model.play.variant`).
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.model.play.variant import HistoryTable, Variant
from pjit_inspect.view.document.quantities import bytes_in, plural, share_unit, time_unit
from pjit_inspect.view.inspector.words import name_data
from pjit_inspect.view.play.words import mesh_words, variant_words

_HOW = (
    "sends: modelled, ring, from counted collectives.",
    "memory: XLA's own where it was compiled in full, else \u2265 arguments and results.",
    "time: modelled, all communication hidden to none.",
    "best: no other variant on as many devices beats it on both.",
)
_COLUMNS = ("number", "change", "mesh", "sent", "memory", "time", "fits")

_SECONDS = {"\u00b5s": 1e-6, "ms": 1e-3, "s": 1.0}

Units = tuple[str, str, str]
"""The units of bytes sent, memory and time."""


def history_data(history: HistoryTable) -> dict[str, Any]:
    """The rows, with the sort key of each column."""
    units = units_of(history)
    front = {row.number for row in history.front}
    number = len(history.rows)
    has_time = any(row.time_s is not None for row in history.rows)
    return {
        "columns": [one for one in _COLUMNS if has_time or one != "time"],
        "words": f"{plural(number, 'variant')}; click one to go back to it",
        "how": " ".join(one for one in _HOW if has_time or not one.startswith("time")),
        "titles": {"sent": f"sends {units[0]}", "memory": f"memory {units[1]}", "time": f"time {units[2]}"},
        "rows": [_row(row, units, row.number in front) for row in history.rows],
    }


def units_of(history: HistoryTable) -> Units:
    """One unit for each column."""
    longest = max((row.time_s[1] for row in history.rows if row.time_s is not None), default=0.0)
    sent, memory = (share_unit(getattr(row, name) for row in history.rows) for name in ("sent_bytes", "memory_bytes"))
    return sent, memory, time_unit(longest * 1e6)


def _row(row: Variant, units: Units, is_front: bool) -> dict[str, Any]:
    is_known = {
        "sent": row.sent_bytes is not None,
        "memory": row.memory_source == "xla",
        "time": row.time_s is not None,
    }
    return {
        "number": row.number,
        "name": name_data(row.name),
        "change": name_data(variant_words(row), longest=400),
        "mesh": mesh_words(row.controls.mesh),
        "sent": sent_words(row, units[0]),
        "memory": memory_words(row, units[1]),
        "time": time_words(row, units[2]),
        "fits": fits_words(row, is_front),
        "known": is_known,
        "problem": row.stage == "refused" or row.fits is False,
        "why": name_data(str(row.problem), longest=400) if row.problem is not None else "",
        "order": {
            "change": variant_words(row),
            "mesh": row.devices,
            "sent": row.sent_bytes,
            "memory": row.memory_bytes,
            "time": None if row.time_s is None else row.time_s[0],
            "fits": 2 if row.fits is False else 0 if is_front else 1,
        },
    }


def sent_words(row: Variant, unit: str) -> str:
    """Bytes sent in the column's unit."""
    if row.sent_bytes is None:
        return "" if row.stage == "refused" else "..."
    return bytes_in(row.sent_bytes, unit) if row.sent_bytes else "0"


def memory_words(row: Variant, unit: str) -> str:
    """The memory; with a sign for "at least" where it is not XLA's count."""
    if row.memory_bytes is None or row.stage == "refused":
        return ""
    return f"{'' if row.memory_source == 'xla' else chr(0x2265) + ' '}{bytes_in(row.memory_bytes, unit)}"


def time_words(row: Variant, unit: str) -> str:
    """The range of times, from all communication hidden to none."""
    if row.time_s is None:
        return ""
    least, most = (_three_digits(one / _SECONDS[unit]) for one in row.time_s)
    return least if least == most else f"{least} \u2013 {most}"


def _three_digits(value: float) -> str:
    return f"{value:,.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def fits_words(row: Variant, is_front: bool) -> str:
    """Whether it fits, and whether it is among the best."""
    if row.stage == "refused":
        return "refused"
    if row.fits is False:
        return "no"
    if is_front:
        return "best"
    return "yes" if row.fits else "open" if row.available_bytes else ""
