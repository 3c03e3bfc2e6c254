"""The page that compares two programs, and its data: answer and first paint, then lists, graph and details.

It holds only the parts of both programs that the lists and the graph show, not their texts. Not its job: comparing
(`analyze.diff`), the still display (`view.diff.diff`), drawing (`view/front/src/compare`).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjit_inspect.model.diff.diff import DiffData, Figure
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.sentence import say
from pjit_inspect.view.diff.diff import FIGURES, diff_axes, stage_notes, title_spans
from pjit_inspect.view.diff.kinds import LISTS
from pjit_inspect.view.diff.matrix import MatrixSide, matrix_data
from pjit_inspect.view.diff.rows import SideWriter, diff_lists
from pjit_inspect.view.diff.status import Both, both_words, difference_words, figure_words, status_of
from pjit_inspect.view.document.quantities import change_words, count_text, share_unit
from pjit_inspect.view.inspector.blob import pack_blob
from pjit_inspect.view.inspector.page import page_frame, plain_page, scripted_page
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import axes_data, name_data, sentence_data, spans_data

COMPARE_BUNDLE = Path(__file__).parents[1] / "front" / "compare.js"
"""The JavaScript, bundled from `front/src/compare` (`npm run build` in `front`)."""

_STYLE = """
<style>
:root{color-scheme:light dark}
body{margin:16px auto;max-width:1100px;padding:0 16px;font-family:system-ui,-apple-system,"Segoe UI",sans-serif}
main{overflow-x:auto}
</style>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffSideInput:
    """One of the two programs.

    Attributes:
      report: its record and analyses; the compared rows are this report's.
      running: its running instructions; None where there is no optimized program.
      graph: its graph; None where there is none.
      no_graph: the reason why there is no graph.
    """

    report: RecordReport
    running: RunningInstructions | None = None
    graph: ProgramGraph | None = None
    no_graph: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffInput:
    """Input of the page: the comparison, both programs, the display as text."""

    data: DiffData
    before: DiffSideInput
    after: DiffSideInput
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffPayload:
    """The data painted first, all else as `pack_blob` writes it, and the page's title."""

    first: dict[str, Any]
    blob: bytes
    title: str


def diff_page(data: DiffData, still: str) -> str:
    """The page where the data of the other could not be made; `still` is the display as HTML."""
    return plain_page(f"{data.after.name}: what changed", f"<main>{still}</main>", head=_STYLE)


@functools.cache
def _script() -> str:
    return COMPARE_BUNDLE.read_text(encoding="utf-8")


def compare_page(payload: DiffPayload, *, still: str = "") -> str:
    """The page with both programs; `still` is shown until its script runs, and stays where none may run."""
    return scripted_page(payload.title, payload.first, payload.blob, script=_script(), still=still)


def compare_frame(payload: DiffPayload, still: str) -> str:
    """The same for a notebook's output: a sandboxed page where scripts may run, the still HTML elsewhere."""
    return page_frame(compare_page(payload, still=still), payload.title, still)


def diff_payload(given: DiffInput) -> DiffPayload:
    """The data of one page."""
    data, sides = given.data, (given.before, given.after)
    tables = SharedTables()
    before, after = (
        MatrixSide(collectives=tuple(side.report.collectives or ()), graph=side.graph, differing=_differing(data, name))
        for name, side in zip(("before", "after"), sides, strict=True)
    )
    missing = "; ".join(
        f"no graph of the program {which}{f': {side.no_graph}' if side.no_graph else ''}"
        for which, side in zip(("before", "after"), sides, strict=True)
        if side.graph is None
    )
    matrix = matrix_data(before, after, tables, missing=missing)
    writers = [
        SideWriter(side.report, side.running, tables, facts.mesh)
        for side, facts in zip(sides, (data.before, data.after), strict=True)
    ]
    pairs = {name: getattr(data, name) for name in LISTS}
    boxes = {"collectives": matrix.boxes, "kernels": matrix.kernels}
    lists = diff_lists(pairs, boxes, (writers[0], writers[1]), tables)
    bars = _bars(data, tables)
    header = tables.header()
    first = {
        **_head(data),
        **({"unsent": words} if (words := given.before.report.unsent or given.after.report.unsent) else {}),
        "bars": bars,
        "axis_sets": header["axis_sets"],
        "counts": {name: one["counts"] for name, one in lists.items()},
    }
    blob = pack_blob(
        {**header, "lists": lists, "graph": matrix.data, "around": _around(data), "text": given.text},
        tables.columns(),
        {},
    )
    return DiffPayload(first=first, blob=blob, title=f"{name_data(data.after.name)}: what changed - pjit_inspect")


def _differing(data: DiffData, side: str) -> frozenset[str]:
    """Instructions of one program's kernels and collectives that differ from the other program."""
    pairs = [pair for pair in (*data.kernels.rows, *data.collectives.rows) if pair.status != "same"]
    rows: list[Fusion | Collective] = [row for pair in pairs if (row := getattr(pair, side)) is not None]
    names = ((row.name,) if isinstance(row, Fusion) else row.instructions[:1] for row in rows)
    return frozenset(name for some in names for name in some)


def _head(data: DiffData) -> dict[str, Any]:
    """The page's head: the compared programs, whether they do the same work, and the answer."""
    sides = (("before", data.before), ("after", data.after))
    incomplete = [say("{}: {}", when, side.incomplete) for when, side in sides if side.incomplete]
    return {
        "version": 1,
        "axes": axes_data(diff_axes(data)),
        "title": spans_data(title_spans(data)),
        "parity": list(map(sentence_data, data.parity)),
        "answer": sentence_data(data.answer),
        "incomplete": list(map(sentence_data, incomplete)),
        "is_empty": data.is_empty,
        "figures": [_figure(one) for label in FIGURES for one in data.figures if one.name == label],
        "notes": list(map(sentence_data, (*stage_notes(data), *data.notes))),
    }


def _figure(figure: Figure) -> dict[str, Any]:
    values = figure.before, figure.after
    whole: Both = (None, None) if None in values else (round((values[0] or 0) * 1e6), round((values[1] or 0) * 1e6))
    status = "changed" if not figure.is_comparable else status_of(True, True, whole, is_same=True)
    label, before, after = figure_words(figure)
    change = change_words(*values) if figure.is_comparable else ""
    return {
        "label": label,
        "before": before,
        "after": after,
        "change": change,
        "how": figure.provenance,
        # Seconds differ from run to run, so they are no verdict; neither are changes that round to zero.
        "status": "changed" if figure.provenance == "measured" or change == "~ 0 %" else status,
    }


def _bars(data: DiffData, tables: SharedTables) -> dict[str, Any]:
    """Bytes sent over each set of axes, as shares of the longest bar."""
    both = [(one.before_bytes, one.after_bytes) for one in data.axes]
    most, unit = max(map(max, both), default=0) or 1, share_unit(size for sizes in both for size in sizes)
    rows = []
    for one, sizes in zip(data.axes, both, strict=True):
        counts = one.before_count, one.after_count
        rows.append(
            {
                "axes": tables.axis_set(one.axes),
                "shares": [size / most for size in sizes],
                "sent": both_words(sizes, unit),
                "difference": difference_words(sizes, unit),
                "change": change_words(*sizes),
                "counts": " \u2192 ".join(dict.fromkeys(map(count_text, counts))),
                "status": status_of(bool(counts[0]), bool(counts[1]), sizes, is_same=counts[0] == counts[1]),
            }
        )
    return {"unit": unit, "rows": rows}


def _around(data: DiffData) -> dict[str, Any]:
    """Settings, source lines and warnings that differ."""
    lines = [
        [
            "removed" if one.after is None else "added",
            name_data(where.where) if (where := one.before or one.after) is not None else "",
            name_data(one.text, longest=400),
        ]
        for one in data.source
    ]
    settings = [
        [name_data(word) for word in (one.kind, one.name, one.before or "not set", one.after or "not set")]
        for one in data.settings
    ]
    warnings = [
        [pair.status, name_data(pair.row.sentence, longest=400)] for pair in data.warnings.rows if pair.status != "same"
    ]
    return {"source": lines, "settings": settings, "warnings": warnings}
