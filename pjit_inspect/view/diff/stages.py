"""The share of JAX's lowering and of XLA in a change, as a line or two tables.

Not its job: finding it (`analyze.diff.tables`, `handles.upgrade`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pjit_inspect.model.diff.diff import DiffData, Figure, LoweringDiff, Stages
from pjit_inspect.model.words.sentence import Sentence, code, say
from pjit_inspect.view.diff.figures import change_words, figure_words
from pjit_inspect.view.document.document import Block, Code, Column, Line, Number, Row, Section, Table, Text
from pjit_inspect.view.document.quantities import count_text

_FIGURES = ("sent", "collectives", "temporary memory", "kernels", "kernels read and write", "matrix products")
_MOST_OPERATIONS = 16
_MOST_NOTED = 4


def stage_blocks(data: DiffData) -> list[Block]:
    """JAX's share and XLA's share of the change; [] where nobody asked."""
    stages = data.stages
    if stages is None:
        return []
    lowering = stages.lowering
    if lowering.is_same:
        words = f": the same {count_text(lowering.before)} operations of StableHLO; all that differs is XLA's doing"
        return [Line((Text("JAX's lowering", "strong"), Text(words)))]
    counts = f": {count_text(lowering.before)} -> {count_text(lowering.after)} operations of StableHLO, not the same"
    blocks: list[Block] = [_operations(lowering)] if lowering.changes else [Line((Text(_WIRED),))]
    return [*_whose(data, stages), Section((Text("JAX's lowering", "strong"), Text(counts, "dim")), tuple(blocks))]


_WIRED = "the same operations, of the same types, take other values"


def stage_notes(data: DiffData) -> tuple[Sentence, ...]:
    """The same in sentences, unless the lowering is equal: then the answer says it all."""
    stages = data.stages
    if stages is None or stages.lowering.is_same:
        return ()
    lowering = stages.lowering
    counts = f"{count_text(lowering.before)} -> {count_text(lowering.after)}"
    found = [say("JAX's lowering: {} operations of StableHLO", counts)]
    found += [
        say("{} {} -> {}", code(one.name), count_text(one.before), count_text(one.after))
        for one in lowering.changes[:_MOST_NOTED]
    ]
    if stages.by_xla is None:
        return (*found, say("what of it is XLA's is not known: {}", stages.missing))
    after = {figure.name: figure for figure in data.figures}
    for figure in stages.by_xla.figures:
        if figure.name in _FIGURES and figure.name in after:
            name, before, between = figure_words(figure)
            last = figure_words(after[figure.name])[2]
            if len({before, between, last}) > 1:
                found.append(say("{}: {} before, {} with the XLA after alone, {} after", name, before, between, last))
    return tuple(found)


def _whose(data: DiffData, stages: Stages) -> Iterator[Block]:
    by_xla, by_jax = stages.by_xla, stages.by_jax
    if by_xla is None or by_jax is None:
        yield Line((Text("what of it is XLA's is not known", "strong"), Text(f": {stages.missing}")))
        return
    known = {figure.name: figure for figure in by_xla.figures}
    after = {figure.name: figure for figure in data.figures}
    rows = tuple(_row(known[name], after[name]) for name in _FIGURES if name in known and name in after)
    titles = ("", "before", "by XLA", "with its XLA", "by JAX", "after")
    columns = tuple(Column(title=title, align="right" if n else "left") for n, title in enumerate(titles))
    note = (
        f"with its XLA: what JAX {data.before.jax} lowered, compiled by the XLA of JAX {data.after.jax}; by XLA: what "
        f"that alone changed; by JAX: what the lowering changed"
    )
    head = (Text("whose change it is", "strong"),)
    yield Section(head, (Table(columns=columns, rows=rows), Line((Text(note, "dim"),))))


def _row(by_xla: Figure, whole: Figure) -> Row:
    name, before, between = figure_words(by_xla)
    _, _, after = figure_words(whole)
    cells = (before, change_words(by_xla.before, by_xla.after), between, change_words(by_xla.after, whole.after), after)
    return Row(((Text(name),), *((Number(cell),) if n % 2 == 0 else (Text(cell),) for n, cell in enumerate(cells))))


def _operations(lowering: LoweringDiff) -> Table:
    titles = ("operation", "before", "after", "gone", "new", "such as")
    columns = tuple(
        Column(title=title, align="right" if 0 < n < 5 else "left", shrink=n == 5, comfort=40)
        for n, title in enumerate(titles)
    )
    rows = [
        Row(
            (
                (Code(one.name),),
                *((Number(count_text(count)),) for count in (one.before, one.after, one.removed, one.added)),
                (Code(one.example.removeprefix(one.name).strip()),),
            )
        )
        for one in lowering.changes[:_MOST_OPERATIONS]
    ]
    return Table(columns=columns, rows=tuple(rows))
