"""The data of the page that compares two programs: answer and first paint, then lists, graph and details.

It holds only the parts of both programs that the lists and the graph show, not their texts. Not its job: comparing
(`analyze.diff`), the page around it (`view.diff.page`), drawing (`view/front/src/compare`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.model.diff.diff import AxisDiff, DiffData, Figure
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.words.sentence import say
from pjit_inspect.view.diff.diff import FIGURES, change_words, figure_words, title_spans
from pjit_inspect.view.diff.matrix import MatrixSide, matrix_data
from pjit_inspect.view.diff.rows import diff_lists
from pjit_inspect.view.diff.sides import SideWriter
from pjit_inspect.view.diff.stages import stage_notes
from pjit_inspect.view.diff.status import Both, both_words, difference_words, status_of
from pjit_inspect.view.document.quantities import count_text, share_unit
from pjit_inspect.view.inspector.blob import pack_blob
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import axes_data, name_data, sentence_data, spans_data


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
    pairs = {
        "collectives": data.collectives,
        "arguments": data.arguments,
        "results": data.results,
        "shardings": data.shardings,
        "kernels": data.kernels,
    }
    boxes = {"collectives": matrix.boxes, "kernels": matrix.kernels}
    lists = diff_lists(pairs, boxes, (writers[0], writers[1]), tables)
    bars = _bars(data.axes, tables)
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
    meshes = [side.mesh for side in (data.before, data.after) if side.mesh is not None]
    return {
        "version": 1,
        "axes": axes_data(tuple(dict.fromkeys(own for mesh in meshes for own in mesh.axis_names))),
        "title": spans_data(title_spans(data)),
        "parity": list(map(sentence_data, data.parity)),
        "answer": sentence_data(data.answer),
        "incomplete": _incomplete(data),
        "is_empty": data.is_empty,
        "figures": [_figure(one) for label in FIGURES for one in data.figures if one.name == label],
        "notes": list(map(sentence_data, (*stage_notes(data), *data.notes))),
    }


def _incomplete(data: DiffData) -> list[Any]:
    """Sentences about the missing parts of either program."""
    sides = (("before", data.before), ("after", data.after))
    return [sentence_data(say("{}: {}", when, side.incomplete)) for when, side in sides if side.incomplete]


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


def _bars(axes: Sequence[AxisDiff], tables: SharedTables) -> dict[str, Any]:
    """Bytes sent over each set of axes, as shares of the longest bar."""
    most = max((size for one in axes for size in (one.before_bytes, one.after_bytes)), default=0) or 1
    unit = share_unit(size for one in axes for size in (one.before_bytes, one.after_bytes))
    return {"unit": unit, "rows": [_bar(one, tables, unit, most) for one in axes]}


def _bar(one: AxisDiff, tables: SharedTables, unit: str, most: int) -> dict[str, Any]:
    sizes, counts = (one.before_bytes, one.after_bytes), (one.before_count, one.after_count)
    return {
        "axes": tables.axis_set(one.axes),
        "shares": [size / most for size in sizes],
        "sent": both_words(sizes, unit),
        "difference": difference_words(sizes, unit),
        "change": change_words(*sizes),
        "counts": count_text(counts[0]) if counts[0] == counts[1] else " \u2192 ".join(map(count_text, counts)),
        "status": status_of(bool(counts[0]), bool(counts[1]), sizes, is_same=counts[0] == counts[1]),
    }


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
