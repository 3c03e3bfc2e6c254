"""One state of the playground as data for its page and its widget. Python words and counts.

Not its job: asking and finding (`handles.play`), drawing (`view/front/src/play`).
"""

from __future__ import annotations

from typing import Any

from pjit_inspect.model.play.variant import Variant
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.inspector.words import axes_data, name_data
from pjit_inspect.view.play.controls import controls_data
from pjit_inspect.view.play.given import PlayGiven
from pjit_inspect.view.play.history import history_data
from pjit_inspect.view.play.moves import by_axis_data, by_kind_data, moves_data
from pjit_inspect.view.play.numbers import full_data, numbers_data, said, stages_data
from pjit_inspect.view.play.scatter import scatter_data
from pjit_inspect.view.play.words import TIMES, short_words, variant_words

_MOST_BASES = 60


def play_data(given: PlayGiven) -> dict[str, Any]:
    """All data to draw, except the rows of the history (`history_data`)."""
    return {
        **variant_data(given),
        "version": given.version,
        "heard": given.heard,
        "axes": axes_data(given.axes),
        "bases": _bases(given),
        "presets": _presets(given),
        "full": full_data(given),
        "search": _search(given),
        "note": name_data(given.note, longest=600),
        "still_words": _STILL,
        "closed": _CLOSED if given.is_closed else "",
    }


_CLOSED = (
    "Closed (play.close()): nothing new is asked of XLA. What was tried can still be looked at; record.playground() "
    "opens another."
)
_STILL = "No kernel: the last state. Every variant that was tried can be looked at; nothing new is asked of XLA."


def variant_data(given: PlayGiven) -> dict[str, Any]:
    """The data of the selected variant."""
    now = given.now
    return {
        "number": now.number,
        "base": given.against,
        "title": _title(given),
        "answer": _answer(now),
        "said": said(given),
        "can_inspect": now.stage in ("partitioned", "full"),
        "numbers": numbers_data(given),
        "stages": stages_data(given),
        **controls_data(given),
        "by_axis": by_axis_data(given),
        "by_kind": by_kind_data(given),
        "moves": moves_data(given),
        "scatter": scatter_data(given.history, against=given.against, donates=given.donates),
        "code": _code(given, now),
    }


def state_data(given: PlayGiven) -> dict[str, Any]:
    """All data to draw, with the history."""
    return {**play_data(given), "history": history_data(given.history)}


def _title(given: PlayGiven) -> list[Any]:
    mesh: list[Any] = []
    first = given.variant(0)
    for name, size in first.controls.mesh:
        mesh += [f" {TIMES} "] if mesh else []
        mesh.append({"axis": name_data(name), "axes": axes_data((name,)), "size": size})
    place = [{"dim": f" {name_data(given.place)}"}] if given.place else []
    captured = plural(first.devices, "device")
    return [
        {"name": name_data(given.name)},
        " playground",
        *place,
        f" \u00b7 {'captured without a mesh, here' if given.is_mesh_given else 'captured'} on ",
        *mesh,
        f" \u00b7 {captured}",
    ]


def _answer(now: Variant) -> list[Any]:
    where = now.controls.target
    on = f"{plural(now.devices, 'device')} ({name_data(where)})"
    name = [{"strong": f"{name_data(now.name)}: "}] if now.name else []
    words = name_data(short_words(now), longest=600)
    start = [{"strong": f"#{now.number} "}, *name, f"{words}, on {on}. "]
    if now.stage == "refused":
        why = name_data(now.problem.text, longest=300) if now.problem is not None else ""
        return [*start, {"strong": "\u25b2 Refused: " if why else "\u25b2 Refused"}, *([why] if why else [])]
    return [*start, {"dim": "Never run: compiled ahead of time."}]


def _bases(given: PlayGiven) -> list[list[Any]]:
    """The variants to compare with: the first and the last ones."""
    rows = given.history.rows
    shown = rows if len(rows) <= _MOST_BASES else (rows[0], *rows[-_MOST_BASES:])
    if all(row.number != given.against for row in shown):
        shown = (given.base, *shown)
    return [[row.number, f"#{row.number} {name_data(row.name or variant_words(row), longest=60)}"] for row in shown]


def _presets(given: PlayGiven) -> list[dict[str, Any]]:
    """The captured layout and the textbook layouts, impossible ones with the reason."""
    found = [_preset("as captured", "the program's own shardings", "", given.now.number == 0, {"number": 0})]
    for own in given.presets:
        found.append(_preset(own.name, own.sentence, own.why_not, own == given.preset, {"preset": own.name}))
    return found


def _preset(name: str, sentence: str, why_not: str, is_now: bool, asks: dict[str, Any]) -> dict[str, Any]:
    return {
        "words": name,
        "title": name_data(why_not or sentence, longest=300),
        "allowed": not why_not,
        "is_now": is_now,
        "number": None,
        "preset": None,
        **asks,
    }


def _search(given: PlayGiven) -> dict[str, Any] | None:
    if not given.can_search:
        return None
    search = given.search
    if search is None:
        return {"state": "idle", "share": 0, "words": ""}
    state = "running" if search.is_running else "done"
    return {"state": state, "share": search.share, "words": name_data(search.sentence, longest=1000)}


def _code(given: PlayGiven, now: Variant) -> dict[str, Any]:
    code = given.code
    if code is None or code.number != now.number:
        words = "" if now.stage != "refused" else "nothing to write: it is refused"
        return {"lines": [], "text": "", "words": words, "note": "", "proof": "", "check": None}
    changed = sum(line.is_changed for line in code.lines)
    proof = code.proof
    notes = [*code.notes, *([proof.sentence] if proof else [])]
    return {
        "lines": [
            {"text": _line(line.text), "was": _line(line.was), "changed": line.is_changed} for line in code.lines
        ],
        "text": code.text,
        "words": f"{plural(changed, 'line')} changed" if changed else "as captured: nothing to change",
        "note": name_data("; ".join(notes) if notes else "Not checked against your function.", longest=2000),
        "proof": proof.outcome if proof else "",
        "check": _check(given) if proof is None and changed else None,
    }


def _check(given: PlayGiven) -> dict[str, str] | None:
    """The button that traces the function again and compiles it."""
    if given.is_checking:
        return {"state": "running", "words": "Being traced again and compiled"}
    return None if given.is_closed else {"state": "possible", "words": "Check by compiling"}


def _line(text: str) -> str:
    return name_data(text, longest=400)
