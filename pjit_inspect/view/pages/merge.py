"""The records of several processes together: whether they agree, who differs first, every shared program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pjit_inspect.model.record.merged import MergedData, MergedProgram, ProcessDifference
from pjit_inspect.view.document.columns import codes, first_blocks, more_lines, numbers, places, sizes, table_of
from pjit_inspect.view.document.document import (
    UNKNOWN,
    AnswerBlock,
    Block,
    Column,
    Document,
    Line,
    Prose,
    Quote,
    Section,
    Sign,
    Spans,
    Text,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.notation import ranges_text
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.record.answer import reason_text

_ROWS = 40
_DIFFERENCES = 16
_NOTES = 12
_RUNS = 8


def merge_view(data: MergedData) -> Document:
    """The display of a merge: the answer, each differing process with its proof, the programs, the notes."""
    blocks: list[Block] = [_answer(data)]
    if data.differences:
        shown = tuple(map(_difference, data.differences[:_DIFFERENCES]))
        blocks.append(Section(spans("where a process first differs"), shown))
        blocks += more_lines(len(data.differences) - _DIFFERENCES, "process", "processes")
    if data.programs:
        blocks.append(table_of(_COLUMNS, list(enumerate(data.programs[:_ROWS]))))
        blocks += more_lines(len(data.programs) - _ROWS, "program")
    blocks += first_blocks(
        _program_notes(data.programs), _NOTES, lambda note: note, "note on a program", "notes on programs"
    )
    blocks += _local(data.local)
    blocks += first_blocks(data.notes, _NOTES, lambda note: line(Quote(note), role="note"), "note")
    if data.programs:
        words = "shared: on devices of several processes; bytes between hosts are per call, modelled as rings"
        blocks.append(line(words, role="footer"))
    return Document(blocks=tuple(blocks))


def _answer(data: MergedData) -> Line:
    processes = f"{len(data.processes):,} process{'es' * (len(data.processes) != 1)}"
    if not data.programs:
        return line(strong(processes), ": no shared programs, nothing to compare", role="answer")
    programs = plural(len(data.programs), "shared program")
    if not data.differences:
        order = " and their order" if len(data.programs) > 1 else ""
        least = "; what is incomplete was not compared" if any(p.incomplete for p in data.programs) else ""
        return line(strong(f"{processes} agree"), f" on {programs}{order}{least}", role="answer")
    which = [difference.process for difference in data.differences]
    who = ranges_text(which, limit=_RUNS)
    words = f"process {who} differs" if len(which) == 1 else f"processes {who} differ"
    return line(strong(words), f"; {processes}, {programs}", role="answer")


def _difference(one: ProcessDifference) -> AnswerBlock:
    where = (Sign("dot"), Quote(one.where.where)) if one.where is not None else None
    program = f"program {one.position}"
    return AnswerBlock(
        head=spans(strong(f"process {one.process}"), Sign("dot"), program, Sign("dot"), Quote(one.name), where),
        sentences=((Prose(one.sentence),),),
        facts=tuple((Prose(detail),) for detail in one.details),
        is_open=True,
    )


def _program_notes(programs: Sequence[MergedProgram]) -> list[Line]:
    """Lines about a program's communication besides collectives, and about processes that have only part of it."""
    lines: list[Line] = []
    for number, program in enumerate(programs):
        said = [f": beside HLO collectives, {reason_text(program.beside)}"] if program.beside else []
        said += [
            f" of process {process}: {reason_text(why)}; its collectives were not compared"
            for process, why in program.incomplete
        ]
        lines += [line(f"#{number} ", Quote(program.name), words, role="note") for words in said]
    return lines


def _processes(program: MergedProgram) -> Spans:
    again = max(program.compiles.values(), default=1)
    words = Text(ranges_text(program.processes, limit=_RUNS))
    return (words, dim(f" ({again} compiles)")) if again > 1 else (words,)


def _missing(program: MergedProgram) -> Text:
    words = ranges_text(program.missing_in, limit=_RUNS)
    return strong(words) if words else dim("-")


_COLUMNS = (
    numbers("#", lambda row: str(row[0])),
    codes("program", lambda row: row[1].name, shrink=True),
    places("where", lambda row: row[1].where, missing=UNKNOWN),
    Column("processes", lambda row: _processes(row[1]), shrink=True),
    Column("not in", lambda row: _missing(row[1]), shrink=True),
    numbers("collectives", lambda row: row[1].collectives),
    sizes("between hosts [{unit}]", lambda row: row[1].host_bytes, "modelled"),
)
"""Columns of programs, each with its number."""


def _local(programs: Sequence[MergedProgram]) -> list[Block]:
    """One line for the programs of one process alone."""
    if not programs:
        return []
    counts = Counter(process for program in programs for process in program.compiles)
    shown = ", ".join(f"{count:,} in process {process}" for process, count in sorted(counts.items())[:_RUNS])
    words = f" and programs on devices of one process alone, which need not agree: {shown}"
    return [line(Sign("more"), words + (" ..." if len(counts) > _RUNS else ""))]
