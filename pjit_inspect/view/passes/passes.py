"""XLA's passes over a program as tables, and the lives of its collectives and kernels under them."""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.model.report.passes import Life, Pass, PassTable
from pjit_inspect.view.document.columns import codes, numbers, table_of
from pjit_inspect.view.document.document import Block, Column, Document, Fold, Text, dim, line, strong
from pjit_inspect.view.document.quantities import plural

_MOST_LIVES = 40
_MOST_ROWS = 200
_MOST_NAMES = 3

BY_NAMES = (
    "Joined by names, channels and metadata: the operations of a dump have no numbers, and several may share a name."
)


def passes_view(table: PassTable, name: str, axes: tuple[str, ...] = ()) -> Document:
    """The passes that changed a program, and what became of each collective."""
    blocks: list[Block] = [line(strong(passes_head(table, name)), Text(_gone(table)))]
    if table.known_by == "names":
        blocks.append(line(dim(BY_NAMES)))
    telling = [row for row in table if row.did]
    if telling:
        blocks.append(table_of(_TELLING, telling, shown=_MOST_ROWS, rest=_more_passes))
    every = table_of(_COLUMNS, table.rows, shown=_MOST_ROWS, rest=_more_passes)
    title = f"All {len(table)} passes that changed the program"
    blocks += [Fold(summary=(Text(title),), blocks=(every,))] if telling else [every]
    groups = _alike(table.lives)
    blocks += [block for lives in groups[:_MOST_LIVES] for block in _life_blocks(lives)]
    if len(groups) > _MOST_LIVES:
        rest = sum(map(len, groups[_MOST_LIVES:]))
        blocks.append(line(dim(f"{plural(rest, 'more collective')}; record.passes.lives has all")))
    return Document(axes=axes, blocks=tuple(blocks))


def passes_head(table: PassTable, name: str) -> str:
    """What the passes did, in one line."""
    there = sum(not life.is_removed for life in table.lives)
    passes = f"{len(table)} pass{'es' * (len(table) != 1)}"
    return f"{passes} changed {name}; {plural(there, 'collective')} at the end"


def _gone(table: PassTable) -> str:
    gone = len(table.removed)
    return f", {gone} gone" if gone else ""


def _more_passes(rows: Sequence[Pass]) -> str:
    return f"{len(rows)} more passes"


def _alike(lives: Sequence[Life]) -> list[list[Life]]:
    """The lives in groups of the same events, in order."""
    groups: dict[tuple[object, ...], list[Life]] = {}
    for life in lives:
        groups.setdefault((life.kind, life.is_removed, str(life)), []).append(life)
    return list(groups.values())


def _life_blocks(lives: Sequence[Life]) -> list[Block]:
    first, count = lives[0], len(lives)
    names = ", ".join(life.name for life in lives[:_MOST_NAMES])
    more = f" and {count - _MOST_NAMES} more" if count > _MOST_NAMES else ""
    end = " (gone)" if first.is_removed else ""
    head = line(strong(names), more, f" {f'{count} x ' if count > 1 else ''}{first.kind}{end}")
    return [head, *(line("  ", event.sentence) for event in first.events)]


def _change(before: int, after: int) -> str:
    return f"{after:,}" if before == after else f"{before:,} → {after:,}"


def figures_of(row: Pass) -> list[tuple[str, str]]:
    """The figures of a pass, as the table has them."""
    return [
        ("instructions", _change(row.instructions_before, row.instructions_after)),
        ("fusions", _change(row.fusions_before, row.fusions_after)),
        ("copies", _change(row.copies_before, row.copies_after)),
        ("collectives", _change(_total(row.collectives_before), _total(row.collectives_after))),
    ]


def _total(counts: tuple[tuple[str, int], ...]) -> int:
    return sum(count for _, count in counts)


def _figure(at: int) -> Column:
    title = ("instructions", "fusions", "copies", "collectives")[at]
    return numbers(title, lambda row: figures_of(row)[at][1])


_TELLING = (
    numbers("pass", lambda row: row.number),
    codes("name", lambda row: row.name),
    _figure(3),
    Column("what it did", lambda row: row.did, shrink=True),
)

_COLUMNS = (
    numbers("pass", lambda row: row.number),
    codes("name", lambda row: row.name),
    codes("pipeline", lambda row: row.pipeline, shrink=True, optional=True),
    *map(_figure, range(4)),
    Column("what it is for", lambda row: dim(row.sentence), shrink=True, optional=True),
)
