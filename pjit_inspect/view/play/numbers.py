"""The three numbers of a variant beside those of its base, and how far they are computed.

A change compares figures of the same source only. Not its job: controls, lists.
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.model.play.variant import Variant
from pjit_inspect.view.document.quantities import bytes_text, count_text, plural, seconds_text, time_text
from pjit_inspect.view.inspector.words import axes_data, name_data
from pjit_inspect.view.play.given import PlayGiven
from pjit_inspect.view.play.words import caveat_words, change_text, chip_words, known_memory, size_parts

_ROOM = 1.04
"""Bars leave a margin, so that the longest one's end is seen."""
_MOST_WORK = 1.02
_SOURCES = {
    "arguments": ("of arguments", "counted; results and temporaries are not known yet"),
    "arguments and results": ("of arguments and results", "counted; temporaries need the full compile"),
    "donated": (
        "of arguments and results",
        "counted, places of donated arguments modelled; temporaries need the full compile",
    ),
}
_QUICK = "a quick estimate, all communication hidden to none"
_UNKNOWN: dict[str, Any] = {
    "value": "unknown", "unit": "", "more": "", "change": "", "approximate": False, "dim": False, "problem": False,
    "bar": None,
}  # fmt: skip


def numbers_data(given: PlayGiven) -> list[dict[str, Any]]:
    """Bytes sent, memory, time."""
    return [_sent(given), _memory(given), _time(given)]


def _sent(given: PlayGiven) -> dict[str, Any]:
    label = "Each device sends per call"
    shown, base = given.last, given.base
    if (refused := _refusal(given)) or shown.sent_bytes is None:
        return {**_UNKNOWN, "label": label, "how": refused or _waits(shown), "dim": not refused}
    value, unit = size_parts(shown.sent_bytes)
    most = max(shown.sent_bytes, base.sent_bytes or 0) * _ROOM or 1
    counted = plural(shown.collectives, "collective") if shown.collectives is not None else "collectives"
    return {
        **_UNKNOWN,
        "label": label,
        "value": value,
        "unit": unit,
        "change": "" if shown is base else change_text(base.sent_bytes, shown.sent_bytes),
        "dim": shown is not given.now,
        "how": f"{counted} counted as the partitioner made them; bytes modelled: ring{caveat_words(shown)}",
        "bar": {
            "parts": [
                [one.sent_bytes / most, axes_data(one.axes or ()), False] for one in shown.by_axis if one.sent_bytes
            ],
            "tick": None if shown is base or base.sent_bytes is None else base.sent_bytes / most,
        },
    }


def _memory(given: PlayGiven) -> dict[str, Any]:
    now, base = given.now, given.base
    chip = chip_words(now) if now.available_bytes else "chip"
    label = f"Memory per device{f', {name_data(chip)}' if chip != 'chip' else ''}"
    if (refused := _refusal(given)) or now.memory_bytes is None or now.memory_source is None:
        return {**_UNKNOWN, "label": label, "how": refused or _waits(now), "dim": not refused}
    source = now.memory_source
    before = known_memory(base, source)
    value, unit = size_parts(now.memory_bytes)
    is_paired_by_us = given.donates and source == "arguments and results"
    more, how = _SOURCES.get("donated" if is_paired_by_us else source, ("", ""))
    if source == "xla":
        more = f"of {bytes_text(now.available_bytes)}" if now.available_bytes else ""
        how = f"XLA's own account; arguments {bytes_text(now.argument_bytes)}"
    elif now.available_bytes:
        how = f"of {bytes_text(now.available_bytes)}; {how}"
    found = {
        **_UNKNOWN,
        "label": label,
        "value": value,
        "unit": unit,
        "more": more,
        "change": "" if now is base else change_text(before, now.memory_bytes),
        "how": how,
        "bar": _memory_bar(now, before if now is not base else None),
    }
    if source == "xla" and base.memory_source not in (None, "xla"):
        found["how"] += f"; not compared: #{base.number} was not compiled in full"
    if now.fits is False:
        needs = f"needs {bytes_text(now.memory_bytes)} of {bytes_text(now.available_bytes)}"
        found |= {"value": "does not fit", "unit": "", "more": "", "change": "", "problem": True, "how": needs}
    return found


def _memory_bar(now: Variant, before: int | None) -> dict[str, Any]:
    size = now.memory_bytes or 0
    near = now.available_bytes if now.available_bytes and size * 40 > now.available_bytes else 0
    most = max(size, before or 0, near) * _ROOM or 1
    held = min(now.argument_bytes or 0, size)
    results = min(now.result_bytes or 0, size - held)
    parts = [[held / most, "ink", False], [results / most, "held", False]]
    return {
        "parts": [*parts, [(size - held - results) / most, "held", True]],
        "tick": None if before is None else before / most,
        "limit": near / most if near else None,
    }


def _time(given: PlayGiven) -> dict[str, Any]:
    label = "Time per call, no less than"
    shown, base = given.last, given.base
    work = _work(shown)
    if refused := _refusal(given):
        return {**_UNKNOWN, "label": label, "how": refused}
    if shown.time_s is None:
        known = shown.is_answered
        why = f"the speed of {shown.controls.target.partition(':')[0]} devices is not modelled" if known else ""
        return {
            **_UNKNOWN,
            "label": label,
            "how": "; ".join(filter(None, (why or _waits(shown), work))),
            "dim": not known or shown is not given.now,
        }
    least, most = shown.time_s
    value, _, unit = time_text(least * 1e6).rpartition(" ")
    longest = max(most, base.time_s[1] if base.time_s else 0.0) * _ROOM or 1
    return {
        **_UNKNOWN,
        "label": label,
        "value": value,
        "unit": unit,
        "more": f"to {time_text(most * 1e6)}",
        "change": "" if shown is base or base.time_s is None else change_text(base.time_s[0], least),
        "dim": shown is not given.now,
        "how": "; ".join(filter(None, (_scheduled(shown), f"{_QUICK}{caveat_words(shown)}", work))),
        "bar": {
            "parts": [[least / longest, "ink", False], [(most - least) / longest, "held", True]],
            "tick": None if shown is base or base.time_s is None else base.time_s[0] / longest,
        },
    }


def _scheduled(shown: Variant) -> str:
    """The seconds of the compiled program, which are no less rough; "" where it was not compiled."""
    return "" if shown.step_s is None else f"compiled: about {time_text(shown.step_s * 1e6)}, as record.time says"


def _work(shown: Variant) -> str:
    """The words for a device that computes more than its share; "" for others."""
    if shown.work is None or shown.work < _MOST_WORK:
        return ""
    return f"each device computes {shown.work:.1f} times its share"


def _refusal(given: PlayGiven) -> str:
    """Words in place of figures; the reason is at the top, and beside the control that caused it."""
    return "refused, nothing compiled" if given.now.stage == "refused" else ""


def _waits(variant: Variant) -> str:
    return "XLA is being asked" if not variant.is_answered else "not known"


def stages_data(given: PlayGiven) -> list[dict[str, str]]:
    """The stages that the variant has reached: arguments, partitioned, in full."""
    now = given.now
    took = "" if now.seconds is None else f" {seconds_text(now.seconds)}"
    if now.stage == "refused":
        return [{"words": "\u25b2 refused, nothing compiled", "state": "refused"}]
    reached = {"asked": 0, "arguments": 1, "partitioned": 2, "full": 3}[now.stage]
    words = ["arguments", f"partitioned{took if reached == 2 else ''}", f"full{took if reached == 3 else ''}"]
    going = 0 if given.is_closed else 3 if given.is_computing else 2 if reached < 2 else 0
    return [
        {"words": one, "state": "done" if number <= reached else "now" if number == going else "todo"}
        for number, one in enumerate(words, 1)
    ]


def full_data(given: PlayGiven) -> dict[str, str]:
    """The button that compiles the variant in full."""
    if given.is_computing:
        return {"state": "running", "words": "Stop"}
    if given.can_compute and not given.is_closed and given.now.stage == "partitioned":
        return {"state": "possible", "words": "Compile in full"}
    return {"state": "none", "words": ""}


def said(given: PlayGiven) -> str:
    """The sentence that a screen reader reads aloud when a stage ends; "" while XLA is being asked."""
    now = given.now
    if not now.is_answered:
        return ""
    if now.stage == "refused":
        why = f": {name_data(now.problem.text, longest=300)}" if now.problem is not None else ""
        return f"Variant {now.number}, refused{why}"
    words = [f"Variant {now.number}: {count_text(now.collectives)} collectives, each device sends"]
    words.append(f"{bytes_text(now.sent_bytes)}{caveat_words(now)}, memory {bytes_text(now.memory_bytes)}")
    fits = {True: ", fits", False: ", does not fit", None: ""}[now.fits]
    return f"{words[0]} {words[1]}{fits}"
