"""XLA's passes over a program as a table, and the lives of its collectives under it."""

from __future__ import annotations

from pjit_inspect.model.report.passes import Life, Pass, PassTable
from pjit_inspect.view.document.columns import codes, numbers, table_of
from pjit_inspect.view.document.document import Block, Column, Document, Text, dim, line, strong
from pjit_inspect.view.document.quantities import plural

_MOST_LIVES = 40
_MOST_ROWS = 200


def passes_view(table: PassTable, name: str) -> Document:
    """The passes that changed a program, and what became of each collective."""
    gone = len(table.removed)
    there = len(table.lives) - gone
    passes = f"{len(table)} pass{'es' * (len(table) != 1)}"
    head = f"{passes} changed {name}; {plural(there, 'collective')} at the end"
    blocks: list[Block] = [line(strong(head), Text(f", {gone} gone" if gone else ""))]
    blocks.append(table_of(_COLUMNS, table.rows, shown=_MOST_ROWS, rest=lambda rows: f"{len(rows)} more passes"))
    blocks += [block for life in table.lives[:_MOST_LIVES] for block in _life_blocks(life)]
    if len(table.lives) > _MOST_LIVES:
        blocks.append(line(dim(f"{len(table.lives) - _MOST_LIVES} more lives; record.passes.lives has all")))
    return Document(axes=(), blocks=tuple(blocks))


def _life_blocks(life: Life) -> list[Block]:
    end = " (gone)" if life.is_removed else ""
    return [line(strong(life.name), f" {life.kind}{end}"), *(line("  ", event.sentence) for event in life.events)]


def _change(before: int, after: int) -> str:
    return f"{after:,}" if before == after else f"{before:,} → {after:,}"


def _kinds(counts: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts) or "none"


def _collectives(row: Pass) -> str:
    before, after = _kinds(row.collectives_before), _kinds(row.collectives_after)
    return after if before == after else f"{before} → {after}"


_COLUMNS = (
    numbers("pass", lambda row: row.number),
    codes("name", lambda row: row.name),
    codes("pipeline", lambda row: row.pipeline, shrink=True, optional=True),
    numbers("instructions", lambda row: _change(row.instructions_before, row.instructions_after)),
    numbers("fusions", lambda row: _change(row.fusions_before, row.fusions_after)),
    numbers("copies", lambda row: _change(row.copies_before, row.copies_after)),
    Column("collectives", _collectives),
    Column("what it does", lambda row: dim(row.sentence), shrink=True, optional=True),
)
