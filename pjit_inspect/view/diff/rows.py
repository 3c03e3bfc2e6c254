"""The lists of a comparison as data for the page, with the details of each row on both sides.

Not its job: the rules of each list (`view.diff.kinds`), joining the pairs (`analyze.diff`), drawing
(`view/front/src/compare`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pjit_inspect.model.diff.pairs import COMBINED, Pair, PairTable
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.running import RunningInstructions
from pjit_inspect.model.report.collective import Collective
from pjit_inspect.model.report.fusion import Fusion
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.report.sharding_table import ValueSharding
from pjit_inspect.model.words.sentence import axis, name, say
from pjit_inspect.view.diff.kinds import (
    LISTS,
    STATUSES,
    ListKind,
    Pairs,
    field_words,
    row_status,
    sized_rows,
    value_words,
)
from pjit_inspect.view.diff.matrix import BoxNumbers
from pjit_inspect.view.diff.status import Both, Status, counts_once, difference_words, rows_of, side_words
from pjit_inspect.view.document.quantities import count_text, share_unit
from pjit_inspect.view.inspector.moves import move_data
from pjit_inspect.view.inspector.rows import value_sharding
from pjit_inspect.view.inspector.shared_tables import SharedTables
from pjit_inspect.view.inspector.words import name_data, sentence_data, spans_data
from pjit_inspect.view.record.cause_groups import finding_of, group_by_cause
from pjit_inspect.view.record.collectives import source_line

_MOST_ROWS = 600
"""The most rows of a list; larger comparisons are read in Python (`d.kernels.to_csv()`)."""
_MOST_SAME = 200
_ONCE = "What is in loops of unknown length counts once."
_MOST_CHANGES = 10
_CAUSES = 2
_NAMES = 4

Boxes = tuple[BoxNumbers, BoxNumbers]


@dataclass(frozen=True, slots=True)
class SideWriter:
    """Writes the details of rows of one of the programs.

    Attributes:
      report: the program's report.
      running: its instructions, for the pictures; None where there is no program.
      tables: the shardings of both programs.
      mesh: the program's mesh; None where it is not known.
    """

    report: RecordReport
    running: RunningInstructions | None
    tables: SharedTables
    mesh: Mesh | None

    def details(self, rows: Sequence[Any], kind: ListKind) -> dict[str, Any]:
        """One or more similar rows of a list: cause with its facts, picture, figures, line of source, names."""
        first = rows[0]
        figures = [("number", count_text(len(rows))), *((label, words(first)) for label, words in kind.figures)]
        return {
            **self._about(rows),
            "figures": [[label, name_data(words)] for label, words in figures if words],
            "line": name_data(source_line(self.report.data, getattr(first, "source", ())) or ""),
        }

    def _about(self, rows: Sequence[Any]) -> dict[str, Any]:
        match first := rows[0]:
            case Collective():
                found = [finding_of(self.report, group) for group in group_by_cause(rows)[:_CAUSES]]
                return {
                    "causes": [spans_data(sentence) for one in found for sentence in one.sentences],
                    "facts": [spans_data(fact) for one in found[:1] for fact in one.facts],
                    "picture": move_data(self.report, first, self.running),
                    "names": _names([one for row in rows for one in row.instructions[:1]]),
                }
            case ArrayLayout():
                names = _names([row.path for row in rows]) if len(rows) > 1 else ""
                return {**self._cut(first.global_shape, first.sharding), "names": names}
            case ValueSharding():
                origins = [say("{} from {}", axis(own), origin) for own, origin in first.origins.items()]
                sharding = None if first.is_per_shard else value_sharding(first.spec, self.mesh)
                return {**self._cut(first.global_shape, sharding), "causes": list(map(sentence_data, origins))}
            case _:
                belongs = [sentence_data(say("belongs to {}", name(first.op_name)))] if first.op_name else []
                return {"causes": belongs, "names": _names([row.name for row in rows])}

    def _cut(self, shape: Sequence[int], sharding: Any) -> dict[str, Any]:
        lengths = [min(length, 2**53 - 1) for length in shape]
        return {"shape": lengths, "sharding": -1 if sharding is None else self.tables.sharding(sharding)}


def _names(names: Sequence[str]) -> str:
    more = f", and {len(names) - _NAMES:,} more" if len(names) > _NAMES else ""
    return ", ".join(map(name_data, names[:_NAMES])) + more


def diff_lists(
    tables: Mapping[str, PairTable[Any]],
    boxes: Mapping[str, Boxes],
    writers: tuple[SideWriter, SideWriter],
    shared: SharedTables,
) -> dict[str, Any]:
    """Each list by its name: its unit, rows, number of rows left out, counts by status, and a note.

    `boxes`, for lists whose rows are in the graph: their boxes before and after.
    """
    return {
        name: {
            **_list(table, LISTS[name], boxes.get(name, ({}, {})), writers, shared),
            "note": _ONCE if LISTS[name].has_bytes and counts_once(table) else "",
        }
        for name, table in tables.items()
    }


def _list(
    table: PairTable[Any], kind: ListKind, boxes: Boxes, writers: tuple[SideWriter, SideWriter], shared: SharedTables
) -> dict[str, Any]:
    sized = sized_rows(table, kind, is_page=True)
    unit = share_unit(size for _, both in sized for size in both)
    changed = [one for one in sized if one[0][0].status != "same"]
    same = [one for one in sized if one[0][0].status == "same"]
    counts: dict[Status, int] = dict.fromkeys(STATUSES, 0)
    for pairs, both in sized:
        counts[row_status(pairs, both)] += len(pairs)

    return {
        "unit": unit,
        "what": kind.what,
        "counts": counts,
        "left_out": [max(0, len(changed) - _MOST_ROWS), max(0, len(same) - _MOST_SAME)],
        "rows": [_row(*one, unit, kind, boxes, writers, shared) for one in (*changed[:_MOST_ROWS], *same[:_MOST_SAME])],
    }


def _row(
    pairs: Pairs,
    both: Both,
    unit: str,
    kind: ListKind,
    boxes: Boxes,
    writers: tuple[SideWriter, SideWriter],
    shared: SharedTables,
) -> dict[str, Any]:
    first, sides = pairs[0], rows_of(pairs)
    details = [writer.details(rows, kind) if rows else None for rows, writer in zip(sides, writers, strict=True)]
    return {
        **_name(first, kind, shared),
        "status": row_status(pairs, both),
        "number": len(pairs),
        "before": side_words(both[0], bool(sides[0]), unit),
        "after": side_words(both[1], bool(sides[1]), unit),
        "difference": difference_words(both, unit),
        "bytes": float((both[1] or 0) - (both[0] or 0)),
        "boxes": _boxes(sides, boxes),
        "reason": sentence_data(first.reason),
        "by": list(first.by),
        "changes": [
            [field_words(one.name), *(name_data(value_words(value)) for value in (one.before, one.after))]
            for one in first.changes[:_MOST_CHANGES]
        ],
        # Equal rows have their details once.
        "sides": [None, details[1]] if first.status == "same" else details,
        **(_combined_name(sides) if first.reason == COMBINED else {}),
    }


def _name(pair: Pair[Any], kind: ListKind, shared: SharedTables) -> dict[str, Any]:
    """The name of a row and further words; words that differ on both sides have an arrow between them."""
    rows = [row for row in (pair.before, pair.after) if row is not None]
    more = (
        " \u2192 ".join(dict.fromkeys(found for row in rows if (found := name_data(get(row))))) for get in kind.more
    )
    named = {
        "glyph": kind.glyph or name_data(pair.row.kind),
        "name": name_data(kind.name(pair.row)),
        "more": list(filter(None, more)),
    }
    if not isinstance(pair.row, Collective):
        return named
    return {**named, "kind": name_data(pair.row.kind), "axes": shared.axis_set(pair.row.axes)}


def _combined_name(sides: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The name of collectives that combine equal arrays differently: their numbers before and after."""
    words = f"{len(sides[0])} \u2192 {len(sides[1])} combined otherwise"
    return {"name": words, "number": 1, "more": [], "changes": []}


def _boxes(sides: Sequence[Sequence[Any]], boxes: Boxes) -> list[int]:
    """The graph's boxes of collectives and kernels; [] for everything else."""
    return sorted(
        {
            number
            for rows, of in zip(sides, boxes, strict=True)
            for row in rows
            if isinstance(row, (Collective, Fusion))
            for number in of.get(row.name if isinstance(row, Fusion) else next(iter(row.instructions), ""), ())
        }
    )
