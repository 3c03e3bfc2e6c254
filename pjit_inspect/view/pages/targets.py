"""The table of targets: their names, the memory of a device, and what is missing here."""

from __future__ import annotations

from pjit_inspect.model.record.target import TargetRow, TargetTable
from pjit_inspect.view.document.columns import codes, table_of
from pjit_inspect.view.document.document import (
    Block,
    Column,
    Document,
    Number,
    Quote,
    Section,
    TableBlock,
    Text,
    line,
    strong,
)
from pjit_inspect.view.document.quantities import plural
from pjit_inspect.view.document.text_spans import joined_spans

_FOOTER = (
    "GiB of memory of one device, by who says so. Google: Cloud's pages; libtpu: what 0.0.42 lets a program use; "
    "TpuInfo: this JAX's table; XLA: its description of the GPU. Nothing here was measured"
)


def targets_view(targets: TargetTable) -> Document:
    """The display of the table: a row for each kind, notes on missing ones, and the available sizes."""
    ready = sum(row.ready for row in targets)
    blocks: list[Block] = [
        line(strong(plural(ready, "kind")), f" of machine can be compiled for here, of {len(targets)}", role="answer")
    ]
    if targets.rows:
        blocks.append(_table(targets))
    blocks += [line(why, role="note") for why in dict.fromkeys(row.missing for row in targets if row.missing)]
    if sizes := _sizes(targets):
        blocks.append(Section((Text("sizes"),), sizes))
    blocks.append(line(_FOOTER, role="footer"))
    return Document(blocks=tuple(blocks))


def _table(targets: TargetTable) -> TableBlock:
    """A table with a column for each source of memory figures: they differ, and each is right about something else."""
    sources = dict.fromkeys(memory.source for row in targets for memory in row.memory)
    columns = (
        codes("target", lambda row: row.name),
        codes("for example", lambda row: row.example),
        Column("", lambda row: Text("ready") if row.ready else strong("missing")),
        Column("device", _device),
        *map(_memory, sources),
    )
    return table_of(columns, targets)


def _memory(source: str) -> Column:
    def gib(row: TargetRow) -> Number | None:
        known = {memory.source: memory.bytes for memory in row.memory}
        return Number(f"{known[source] / 2**30:.1f}") if source in known else None

    return Column(source, gib, align="right")


def _device(row: TargetRow) -> str:
    if row.platform == "cpu":
        return "fake"
    whole = "a GPU" if row.platform == "cuda" else "a chip"
    return whole if row.devices_per_chip == 1 else f"1/{row.devices_per_chip} of a chip"


def _sizes(targets: TargetTable) -> tuple[Block, ...]:
    """The values that the letters can take, once for all chips that share them."""
    said: dict[str, list[str]] = {}
    for row in targets:
        said.setdefault(", ".join(row.topologies) or row.limit, []).append(row.chip or row.platform)
    return tuple(line(joined_spans(map(Quote, names)), f": {sizes}") for sizes, names in said.items())
