"""The top of a record's display: the compiled program, why it was compiled again, the answer, the mesh with traffic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.program.shape import total as total_of
from pjit_inspect.model.program.source import Frame
from pjit_inspect.model.record.reason import Reason
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.record.target import Hypothesis, KeyFigures, Misfit
from pjit_inspect.model.report.collective import AxisTotal
from pjit_inspect.model.report.report import RecordReport
from pjit_inspect.model.sharding.sharded_program import axis_name
from pjit_inspect.view.document.columns import Compared, compared_table, more_lines, numbers, table_of
from pjit_inspect.view.document.document import (
    UNKNOWN,
    AxisLabel,
    Bar,
    Beside,
    Block,
    Cell,
    Column,
    Line,
    MeshSubject,
    Picture,
    Prose,
    Quote,
    Sign,
    Span,
    Spans,
    TableBlock,
    Text,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.printable import printable, shorten
from pjit_inspect.view.document.quantities import (
    bytes_in,
    bytes_number,
    bytes_text,
    least_text,
    plural,
    seconds_text,
    share_unit,
)
from pjit_inspect.view.document.text_spans import joined_spans
from pjit_inspect.view.record.seconds import seconds_spans
from pjit_inspect.view.svg.mesh_picture import mesh_lines

_DIFFERENCES = 4
_NAMED_AXES = 3  # totals that the answer names; the others are "elsewhere"


def title_line(data: RecordData) -> Line:
    """The compiled program: function, transform, places, mesh and devices."""
    parts: list[Cell] = [Quote(data.primitive or data.name, strong=True), Sign("dot")]
    parts.append(data.transform if data.hypothesis is None else hypothesis_spans(data.hypothesis))
    if data.user_frame is not None:
        parts += [Sign("dot"), "called at ", Quote(data.user_frame.where)]
    if data.defined_at is not None:
        parts += [", " if data.user_frame else "  ", "defined at ", Quote(data.defined_at.where)]
    parts.append(Sign("dot"))
    if data.mesh is not None:
        parts += ["mesh ", mesh_spans(data.mesh), ", "]
    return line(*parts, _device_spans(data), role="title")


def mesh_spans(mesh: Mesh) -> Spans:
    """A mesh as its axes and their sizes."""
    labels = (AxisLabel((name,), size) for name, size in mesh.sizes.items())
    return joined_spans(labels, (*spans(" "), Sign("times"), *spans(" "))) or spans("without axes")


def place_spans(frames: Sequence[Frame]) -> Spans:
    """The place in the user's source; "unknown" when the program does not say."""
    return (Quote(frames[0].where),) if frames else UNKNOWN


def _device_spans(data: RecordData) -> Spans:
    if not data.devices:
        return spans("devices unknown")
    platforms = sorted({device.platform for device in data.devices})
    kinds = sorted({device.kind for device in data.devices} - set(platforms))
    processes = len({device.process for device in data.devices})
    return spans(
        plural(len(data.devices), f"{'/'.join(platforms)} device".strip()),
        spans(" (", Quote(", ".join(kinds)), ")") if kinds else None,
        f" in {processes:,} processes" if processes > 1 else None,
    )


def answer_line(report: RecordReport) -> Line:
    """The answer: seconds where they are known; what is communicated over which axes; which inputs are replicated."""
    replicated = replication_spans(report)
    return line(answer_spans(report), " " if replicated else None, replicated, role="answer")


def answer_spans(report: RecordReport) -> Spans:
    """The answer without what is said of inputs."""
    seconds = seconds_spans(report.time)
    first = spans(seconds, ". ") if seconds else ()
    return spans(first, incomplete_spans(report), _communication(report))


def _communication(report: RecordReport) -> Spans:
    data = report.data
    if report.collectives is None:
        reason = data.missing.get("hlo")
        return spans(strong("Collectives unknown"), f": {reason_text(reason)}" if reason else None, ".")
    if report.incomplete:
        return spans(least_spans(report), others_spans(report))
    if not report.collectives:
        what, _, more = report.silence.partition(": " if not report.others else "; ")
        words = f": {more}." if not report.others else f". {printable(more[:1].upper() + more[1:])}."
        return spans(strong(what[:1].upper() + what[1:]), words)
    once = " if these run once," if any(total.runs is None for total in report.totals) else ""
    return spans(
        strong(plural(len(report.collectives), "collective")),
        _runs(report),
        f";{once} each device sends {_at_most(report)}",
        bytes_number(report.sent_bytes, "modelled", strong=True),
        " per call",
        _by_axis(report.totals, data),
        ".",
        others_spans(report),
    )


def _at_most(report: RecordReport) -> str:
    """Words before the sum: some device may send less."""
    return "at most " if any(total.is_bound for total in report.totals) else ""


def _runs(report: RecordReport) -> str | None:
    """The number of runs of the collectives, unless each runs once."""
    runs = total_of(one.runs for one in report.totals)
    if runs is None:
        return " in loops of unknown length"
    return None if runs == len(report.collectives or ()) else f", run {runs:,} times"


def _by_axis(totals: Sequence[AxisTotal], data: RecordData) -> Spans:
    if len(totals) == 1:
        nowhere = "; the mesh is unknown" if "mesh" in data.missing else ", over no axis"
        return spans(", all over ", axis_span(totals[0].axes, data)) if totals[0].axes else spans(nowhere)
    parts: list[Cell] = []
    sum_sent = sum(total.sent_bytes for total in totals)
    named = [total for total in totals[:_NAMED_AXES] if total.sent_bytes * 100 >= sum_sent] or totals[:1]
    for total in named:
        parts += [", " if parts else ": ", bytes_number(total.sent_bytes, "modelled", strong=True)]
        parts += [" over ", axis_span(total.axes, data), f" ({total.collectives:,})"]
    if others := totals[len(named) :]:
        sent, number = sum(total.sent_bytes for total in others), sum(total.collectives for total in others)
        parts.append(f", {bytes_text(sent)} elsewhere ({number:,})")
    return spans(*parts)


def axis_span(axes: tuple[str, ...] | None, data: RecordData) -> Span:
    """The mesh axes of some groups; "unknown" where the mesh is unknown."""
    return dim("unknown") if axes is None and "mesh" in data.missing else AxisLabel(axes)


def replication_spans(report: RecordReport) -> Spans:
    """The inputs that every device holds whole, and the number that several devices hold."""
    data = report.data
    inputs = data.parameters
    # Inputs that were read from a part of a program may lack some.
    is_part = bool(report.incomplete) and data.stablehlo is None
    if len(data.devices) < 2 or not inputs or is_part:
        return ()
    # Once for each sharding: thousands of arrays share a few, over thousands of devices.
    shardings = {id(layout.sharding): layout.sharding for layout in inputs if layout.sharding is not None}
    copies_of = {key: sharding.replication for key, sharding in shardings.items()}
    known = [(layout, copies_of[id(layout.sharding)]) for layout in inputs if layout.sharding is not None]
    whole = [layout for layout, copies in known if copies >= len(data.devices)]
    partly = sum(1 for _, copies in known if 1 < copies < len(data.devices))
    unknown = len(inputs) - len(known)
    if unknown == len(inputs):
        return spans("Which inputs are replicated is unknown.")
    more = " more" if whole else f" of {len(inputs):,}"
    return spans(
        _whole(whole, len(inputs)),
        f"; {partly:,}{more} in part" if partly else None,
        f"; unknown for {unknown:,}" if unknown else None,
        ".",
    )


def _whole(whole: list[ArrayLayout], number: int) -> Spans:
    if not whole:
        return spans("No input is fully replicated")
    named = spans(joined_spans(Quote(layout.path) for layout in whole), "; ") if len(whole) <= 2 else None
    return spans(
        "Replicated: ",
        strong(f"{len(whole):,} of {plural(number, 'input')}"),
        " (",
        named,
        bytes_number(total_of(layout.bytes_per_device for layout in whole)),
        " on every device)",
    )


def overview_blocks(report: RecordReport) -> list[Block]:
    """The mesh picture and the totals per axis."""
    mesh = report.data.mesh
    blocks: list[Block] = [_mesh_picture(report, mesh)] if mesh is not None and mesh.size > 1 else []
    blocks += [_totals_table(report)] if report.totals else []
    return [Beside(tuple(blocks))] if blocks else []


def _mesh_picture(report: RecordReport, mesh: Mesh) -> Picture:
    # Equal names of axes in another mesh mean other lines of devices.
    single_axis = [t for t in report.totals if t.axes is not None and len(t.axes) == 1 and not t.mesh]
    single = Counter[str]()
    for total in single_axis:
        # Traffic along a part of an axis is drawn on the axis.
        single.update({axis_name(axis): total.sent_bytes for axis in total.axes or ()})
    there = " in the part that is there" if report.incomplete else ""
    sent = ""
    if report.sent_bytes is not None:
        sent = f"; each sends {_at_most(report)}{bytes_text(report.sent_bytes)} per call{there}"
    size = " by ".join(f"{size} ({name})" for name, size in mesh.sizes.items())
    return Picture(
        subject=MeshSubject(mesh=mesh, sent=tuple(single.items())),
        alt=f"Mesh of {size} devices{sent}",
        lines=mesh_lines(mesh),
    )


def _totals_table(report: RecordReport) -> TableBlock:
    totals, meshes = report.totals, report.data.meshes
    most = max((total.sent_bytes for total in totals), default=0) or 1
    unit = share_unit(total.sent_bytes for total in totals)
    counted = any(total.runs != total.collectives for total in totals)

    def axis(total: AxisTotal) -> Spans:
        # The mesh is named unless it is the display's main mesh.
        is_other = total.mesh and total.mesh < len(meshes)
        return spans(axis_span(total.axes, report.data), dim(f" of mesh {meshes[total.mesh]}") if is_other else None)

    def least(size: int, is_least: bool) -> str:
        return least_text(bytes_in(size, unit), size, is_least)

    columns = (
        Column("axis, of the part that is there" if report.incomplete else "axis", axis),
        numbers("collectives", lambda total: total.collectives),
        *((numbers("runs", lambda total: total.runs),) if counted else ()),
        numbers(f"sends {unit}", lambda total: least(total.sent_bytes, total.is_sent_least)),
        Column("", lambda total: Bar(total.sent_bytes / most, total.axes)),
    )
    return table_of(columns, totals)


def memory_line(data: RecordData) -> list[Block]:
    """Bytes that one device needs; [] without XLA's memory figures."""
    memory = data.memory
    if memory is None:
        return []
    reused = spans(" (", bytes_number(memory.alias_bytes), " of it in buffers of donated inputs)")
    parts = (
        spans(bytes_number(memory.argument_bytes), " in"),
        spans(bytes_number(memory.output_bytes), " out", reused if memory.alias_bytes else None),
        spans(bytes_number(memory.temporary_bytes), " temporary"),
    )
    return [line("memory per device: ", joined_spans(parts))]


# ---------------------------------------------------------------- why it was compiled again


def reason_blocks(reason: Reason | None) -> list[Block]:
    """The reason for a recompile: the sentence, then the differences it leaves out; [] for a first compile."""
    if reason is None or not _is_again(reason):
        return []
    blocks: list[Block] = [line("compiled again: ", Prose(reason.sentence))]
    others = [difference for difference in reason.differences if difference.sentence not in reason.sentence]
    blocks += [line(Sign("dot"), Prose(difference.sentence)) for difference in others[:_DIFFERENCES]]
    return blocks + more_lines(len(others) - _DIFFERENCES, "difference")


def _is_again(reason: Reason) -> bool:
    """True for a recompile, with or without a known reason."""
    return reason.kind in ("changed", "dropped") or (reason.kind == "unknown" and reason.nearest is not None)


def reason_words(reason: Reason | None) -> str:
    """The parts of the key that differ, short enough for a column: "shape, dtype"; "" for a first compile."""
    if reason is None or not _is_again(reason):
        return ""
    if reason.kind == "unknown":
        return "unknown"
    return ", ".join(dict.fromkeys(difference.kind for difference in reason.differences)) or "cache dropped"


def watch_line(name: str, number: int, seconds: float | None, reason: Reason) -> str:
    """One compile as it happens, on one line: `train_step, compile 3, 1.2 s: ...`; without seconds if None."""
    took = "" if seconds is None else f", {seconds_text(seconds)}"
    return printable(f"{name}, compile {number}{took}: {reason.sentence}")


# ---------------------------------------------------------------- incomplete programs

_LONGEST_REASON = 160


def reason_text(reason: str) -> str:
    """The reason why a record lacks something, short enough for a sentence; a file may contain anything."""
    return shorten(printable(reason), _LONGEST_REASON)


def incomplete_spans(report: RecordReport) -> Spans:
    """Words before any answer; () for a complete program."""
    if not report.incomplete:
        return ()
    return (strong("Incomplete program"), Text(f": {reason_text(report.incomplete)}. "))


def nothing_text(report: RecordReport, what: str) -> str:
    """The sentence that a program has no `what` ("fused kernels"), or that this is unknown."""
    if report.instructions is None:
        return f"{what} unknown: {reason_text(report.data.missing.get('hlo', 'the record has no optimized HLO'))}"
    if report.incomplete:
        return f"incomplete program: {reason_text(report.incomplete)}; no {what} in the part that is there"
    others = report.beside if what == "collectives" else ""
    return f"no HLO collectives; {printable(others)}" if others else f"no {what}"


def others_spans(report: RecordReport) -> Spans:
    """Communication other than HLO collectives, for the end of an answer; () without any."""
    words = printable(report.beside)
    return (Text(" Beside HLO collectives, "), strong(words), Text(".")) if words else ()


def least_spans(report: RecordReport) -> Spans:
    """The answer of an incomplete program: a lower bound for the complete one."""
    there, least = len(report.collectives or ()), report.least
    if least is None or not least.collectives:
        found = plural(there, "collective") if there else "No collectives"
        unknown = "how many run is unknown" if there else "how many there are is unknown"
        return (strong(f"{found} in the part that is there"), Text(f"; {unknown}."))
    spans: list[Span] = [strong(f"At least {plural(least.collectives, 'collective')}")]
    if least.sent_bytes:
        spans += [Text("; each device sends at least "), bytes_number(least.sent_bytes, "modelled", strong=True)]
        spans += [Text(" per call")]
    return (*spans, Text("."))


# ---------------------------------------------------------------- what-if records

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
    changes = joined_spans(map(Quote, asked.changes), "; ")
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
        blocks.append(line("what loops of unknown length send counts once", role="footer"))
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


def _table(asked: Hypothesis, now: KeyFigures) -> TableBlock:
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
        Compared(f"sends {unit}", totals[0], totals[1], unit, "modelled, ring"),
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
