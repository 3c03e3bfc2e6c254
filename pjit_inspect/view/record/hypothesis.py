"""The head of a what-if record: its changes, how far it was compiled, and the figures that changed."""

from __future__ import annotations

from typing import NamedTuple

from pjit_inspect.model.record.target import Hypothesis, KeyFigures, Misfit
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.columns import numbers, table_of
from pjit_inspect.view.document.document import (
    AxisLabel,
    Block,
    Cell,
    Code,
    Column,
    Line,
    Spans,
    Table,
    Text,
)
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import bytes_in, count_text, seconds_text, share_unit
from pjit_inspect.view.document.text_spans import joined_spans

_EFFORTS = {
    "partition": "collectives as XLA's partitioner made them, before XLA combines and schedules them",
    "full": "compiled to the end",
}
_TOTALS = 4
_LONGEST_SENTENCE = 300
_LACKS = 'needs effort="full"'
_NO_PROGRAM = "no program, as it does not fit"


def hypothesis_spans(asked: Hypothesis) -> Spans:
    """The question, for a title."""
    changes = joined_spans(map(Code, asked.changes), "; ")
    return (Text("what if", "strong"), *((Text(": "), *changes) if changes else ()), Text(", never run"))


def hypothesis_blocks(report: RecordReport, *, show_times: bool = True) -> list[Block]:
    """The origin, how far it was compiled, and the figures of both side by side."""
    asked = report.data.hypothesis
    if asked is None:
        return []
    blocks: list[Block] = [Line((Text("from ", "dim"), Text(asked.origin)))] if asked.origin else []
    took = f", {seconds_text(asked.seconds)} (measured)" if show_times and asked.seconds is not None else ""
    blocks.append(Line((Text(f"{_how_far(report)}{took}"),)))
    if asked.misfit is not None:
        blocks.append(Line(_misfit_spans(asked, asked.misfit), "answer"))
    blocks.append(_table(asked, report.figures))
    if any(total.runs is None for total in report.totals):
        blocks.append(Line((Text("what is sent in loops of unknown length counts once"),), "footer"))
    return blocks


def _how_far(report: RecordReport) -> str:
    """The stage up to which the program was compiled, in words."""
    asked, data = report.data.hypothesis, report.data
    if asked is not None and asked.misfit is not None and asked.misfit.report is not None and not data.is_partial:
        return "full effort: scheduled, its buffers placed, and then refused by XLA"
    if asked is None or asked.misfit is None or not data.is_partial:
        return f"{asked.effort} effort: {_EFFORTS[asked.effort]}" if asked is not None else ""
    if data.hlo is None:
        return "full effort, refused by XLA: there is no program"
    return f"full effort, refused by XLA: {_EFFORTS['partition']}"


def _misfit_spans(asked: Hypothesis, misfit: Misfit) -> Spans:
    if misfit.needed_bytes is None:
        return (Text("Does not fit", "strong"), Text(f": {shorten(printable(misfit.sentence), _LONGEST_SENTENCE)}"))
    where = asked.target.chip or asked.target.platform
    has = f" of {_gib(misfit.available_bytes)}" if misfit.available_bytes is not None else ""
    return (
        Text("Does not fit", "strong"),
        Text(f": needs {_gib(misfit.needed_bytes)}{has} on {where} (XLA's count)"),
    )


def _gib(size_bytes: int) -> str:
    """GiB with as many digits as XLA prints."""
    return f"{size_bytes / 2**30:,.2f} GiB"


def _table(asked: Hypothesis, now: KeyFigures) -> Table:
    before = asked.before
    lacks = _LACKS if asked.misfit is None else _NO_PROGRAM
    needs = now.memory_bytes
    if needs is None and asked.misfit is not None:
        needs = asked.misfit.needed_bytes
    sent = [{total.axes: total.sent_bytes for total in side.sent} for side in (now, before)]
    unit = share_unit((*sent[0].values(), *sent[1].values(), needs, before.memory_bytes))
    known = now.collectives is not None, before.collectives is not None
    totals = [sum(sizes.values()) if is_known else None for sizes, is_known in zip(sent, known, strict=True)]
    axes = sorted(
        dict.fromkeys((*sent[0], *sent[1])), key=lambda axis_names: -max(side.get(axis_names, 0) for side in sent)
    )
    rows = [
        _Figure(Text("collectives"), now.collectives, before.collectives, "counted"),
        _Figure(Text(f"sent {unit}"), totals[0], totals[1], "modelled, ring", unit),
    ]
    for axis_names in axes[:_TOTALS] if len(axes) > 1 else ():
        sizes = [side.get(axis_names, 0) if is_known else None for side, is_known in zip(sent, known, strict=True)]
        rows.append(_Figure((Text("  over "), AxisLabel(axis_names)), sizes[0], sizes[1], "modelled, ring", unit))
    rows += [
        _Figure(Text(f"arguments {unit}"), now.argument_bytes, before.argument_bytes, "counted", unit, lacks=""),
        _Figure(Text(f"memory {unit}"), needs, before.memory_bytes, "XLA's count", unit),
        _Figure(Text("kernels"), now.kernels, before.kernels, "counted"),
    ]
    columns = [Column("", lambda row: row.name), numbers("this", lambda row: row.words(row.now))]
    if asked.origin:  # else there is nothing to compare with
        columns.append(numbers("from", lambda row: row.words(row.before)))
        columns.append(Column("change", lambda row: _change(row.now, row.before), align="right"))
    return table_of((*columns, Column("known by", lambda row: Text(row.how(lacks), "dim"))), rows)


class _Figure(NamedTuple):
    """A figure of this program and of the one it came from; without a unit, a count.

    `lacks` is the reason why it may be unknown; None for the words of the table.
    """

    name: Cell
    now: int | None
    before: int | None
    known_by: str
    unit: str = ""
    lacks: str | None = None

    def words(self, value: int | None) -> str:
        """One of the two."""
        return bytes_in(value, self.unit) if self.unit else count_text(value)

    def how(self, lacks: str) -> str:
        """The source of the figure, or the reason why it is unknown."""
        return self.known_by if self.now is not None else lacks if self.lacks is None else self.lacks


def _change(now: int | None, before: int | None) -> str:
    """The change of a figure, short enough for a column."""
    if now is None or before is None:
        return ""
    if now == before:
        return "same"
    if not now:
        return "gone"
    if not before:
        return "new"
    ratio = now / before
    return f"x {ratio:.1f}" if ratio >= 2 else f"{'+' if now > before else '-'}{abs(ratio - 1) * 100:.0f} %"
