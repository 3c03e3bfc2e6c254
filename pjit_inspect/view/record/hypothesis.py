"""The head of a what-if record: its changes, how far it was compiled, and the figures that changed."""

from __future__ import annotations

from pjit_inspect.model.record.target import Hypothesis, KeyFigures, Misfit
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.view.document.columns import Compared, compared_table
from pjit_inspect.view.document.document import AxisLabel, Block, Code, Spans, Table, dim, line, spans, strong
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import seconds_text, share_unit
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
    return spans(strong("what if"), spans(": ", changes) if changes else None, ", never run")


def hypothesis_blocks(report: RecordReport, *, show_times: bool = True) -> list[Block]:
    """The origin, how far it was compiled, and the figures of both side by side."""
    asked = report.data.hypothesis
    if asked is None:
        return []
    blocks: list[Block] = [line(dim("from "), asked.origin)] if asked.origin else []
    took = f", {seconds_text(asked.seconds)} (measured)" if show_times and asked.seconds is not None else ""
    blocks.append(line(f"{_how_far(asked, report)}{took}"))
    if asked.misfit is not None:
        blocks.append(line(strong("Does not fit"), f": {_misfit_words(asked, asked.misfit)}", role="answer"))
    blocks.append(_table(asked, report.figures))
    if any(total.runs is None for total in report.totals):
        blocks.append(line("what is sent in loops of unknown length counts once", role="footer"))
    return blocks


def _how_far(asked: Hypothesis, report: RecordReport) -> str:
    """The stage up to which the program was compiled, in words."""
    data = report.data
    if asked.misfit is not None and asked.misfit.report is not None and not data.is_partial:
        return "full effort: scheduled, its buffers placed, and then refused by XLA"
    if asked.misfit is None or not data.is_partial:
        return f"{asked.effort} effort: {_EFFORTS[asked.effort]}"
    there = "there is no program" if data.hlo is None else _EFFORTS["partition"]
    return f"full effort, refused by XLA: {there}"


def _misfit_words(asked: Hypothesis, misfit: Misfit) -> str:
    if misfit.needed_bytes is None:
        return shorten(printable(misfit.sentence), _LONGEST_SENTENCE)
    where = asked.target.chip or asked.target.platform
    has = f" of {_gib(misfit.available_bytes)}" if misfit.available_bytes is not None else ""
    return f"needs {_gib(misfit.needed_bytes)}{has} on {where} (XLA's count)"


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
        Compared("collectives", now.collectives, before.collectives, "", "counted"),
        Compared(f"sent {unit}", totals[0], totals[1], unit, "modelled, ring"),
    ]
    for axis_names in axes[:_TOTALS] if len(axes) > 1 else ():
        sizes = [side.get(axis_names, 0) if is_known else None for side, is_known in zip(sent, known, strict=True)]
        rows.append(Compared(spans("  over ", AxisLabel(axis_names)), sizes[0], sizes[1], unit, "modelled, ring"))
    rows += [
        Compared(f"memory {unit}", needs, before.memory_bytes, unit, "XLA's count"),
        Compared("kernels", now.kernels, before.kernels, "", "counted"),
    ]
    rows = [row if row.now is not None else row._replace(known_by=lacks) for row in rows]
    known_by = "" if now.argument_bytes is None else "counted"
    arguments = Compared(f"arguments {unit}", now.argument_bytes, before.argument_bytes, unit, known_by)
    # Without an origin there is nothing to compare with.
    return compared_table([*rows[:-2], arguments, *rows[-2:]], "from" if asked.origin else "")
