"""The view tree: the contents of a display, before its looks.

A report becomes one `Document`; the document becomes text (`view.render.text`) or HTML (`view.render.html`). Nodes
carry meaning (an axis, a number with its unit, a user's name), never a colour or a size, and never escaped text. Not
its job: choosing the contents (`view.record.record`), drawing them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh, SpecEntry
from pjit_inspect.model.words.sentence import Phrase, Sentence
from pjit_inspect.view.document.chart import StillChart

Provenance = Literal["counted", "modelled", "measured", "unknown"]


@dataclass(frozen=True, slots=True)
class Text:
    """Words in a sentence. `emphasis` is "strong" for the answer, "dim" for words that can be skipped."""

    text: str
    emphasis: Literal["none", "strong", "dim"] = "none"


@dataclass(frozen=True, slots=True)
class Quote:
    """Foreign words: a name, a place, a line of source, a shape. May hold anything at all.

    `strong` marks the name that the display is about.
    """

    text: str
    strong: bool = False


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """Mesh axes by the user's names.

    Attributes:
      axes: the names; () for groups of one device; None for groups that follow no axis.
      size: devices along the axis when the label should say it, else None.
    """

    axes: tuple[str, ...] | None
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Number:
    """A figure, its unit and its source.

    Attributes:
      text: the figure as it is shown, such as "1,399".
      unit: "MiB", "s", ...; "" when a column's title says it or there is none.
      provenance: the source of the figure (docs/architecture.md, rule 2).
      strong: True when it is part of the answer.
    """

    text: str
    unit: str = ""
    provenance: Provenance = "counted"
    strong: bool = False


@dataclass(frozen=True, slots=True)
class Sign:
    """A mark that text writes in ASCII and HTML as one character: "times" (x), "dot" (between facts), "more" (...)."""

    kind: Literal["times", "dot", "more"]


@dataclass(frozen=True, slots=True)
class Bar:
    """A share between 0 and 1, drawn as a bar in the colour of `axes`. Text leaves it out: the figure is beside it."""

    share: float
    axes: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Prose:
    """A sentence worded elsewhere. Text keeps the backticks around its names and code."""

    text: Sentence | str

    @property
    def phrases(self) -> tuple[Phrase, ...]:
        """The phrases of the sentence."""
        return Sentence(self.text).phrases


@dataclass(frozen=True, slots=True)
class SpecLabel:
    """The spec of an array: for each dimension nothing, an axis, or several. Axes have their colours.

    `origins` say where each axis came from; pointing at the label shows them.
    """

    spec: tuple[SpecEntry, ...]
    origins: tuple[tuple[str, str], ...] = ()


Span = Text | Quote | AxisLabel | Number | Sign | Bar | Prose | SpecLabel
Spans = tuple[Span, ...]
Cell = Sequence[Span] | Span | str | None
"""One item's content of a column; None for nothing."""

UNKNOWN: Spans = (Text("unknown", "dim"),)
"""The cell of an unknown fact."""


def strong(words: str) -> Text:
    """Words of the answer."""
    return Text(words, "strong")


def dim(words: str) -> Text:
    """Words that can be skipped."""
    return Text(words, "dim")


def spans(*parts: Cell) -> Spans:
    """Parts in a row: a string is plain words, spans in a tuple are taken apart, None is nothing."""
    found: list[Span] = []
    for part in parts:
        if isinstance(part, str):
            found.append(Text(part))
        elif isinstance(part, Sequence):
            found += part
        elif part is not None:
            found.append(part)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Line:
    """One paragraph. `role` is its place: the title, the answer sentence, a note, the footer."""

    spans: Spans
    role: Literal["title", "answer", "plain", "note", "footer"] = "plain"


def line(*parts: Cell, role: Literal["title", "answer", "plain", "note", "footer"] = "plain") -> Line:
    """A paragraph of parts, as `spans` takes them."""
    return Line(spans(*parts), role)


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the document: name, size, and blocks."""

    title: Spans
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table.

    Attributes:
      title: its name; "{unit}" in it stands for the unit that all figures of the table share.
      get: gives its content for an item: a `Cell`, or a figure; None in a table that is given as rows of cells.
      figure: "bytes" or "us" (microseconds) when `get` gives a figure that is shown in the table's unit.
      provenance: the source of its figures.
      align: "right" for numbers.
      shrink: whether its cells may be shortened when the line is too long.
      optional: whether text may leave it out for lack of room.
      comfort: the width it keeps in text as long as another column can shrink.
      least: the width below which it says nothing.
      beneath: whether HTML puts its cells under their rows, after its title, so that the table stays narrow.
    """

    title: str
    get: Callable[[Any], Any] | None = field(default=None, compare=False, repr=False)
    _: KW_ONLY
    figure: Literal["", "bytes", "us"] = ""
    provenance: Provenance = "counted"
    align: Literal["left", "right"] = "left"
    shrink: bool = False
    optional: bool = False
    comfort: int = 16
    least: int = 9
    beneath: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a cell per column, and short items that are shown under it, as many as fit."""

    cells: tuple[Spans, ...]
    items: tuple[Spans, ...] = ()


def telling_columns(columns: Sequence[Column], rows: Sequence[Row]) -> list[int]:
    """The places of the columns to show: those with a known cell in some row."""
    return [at for at in range(len(columns)) if any(row.cells[at] not in ((), UNKNOWN) for row in rows)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Folded rows: `summary` is shown in their place, a click shows them."""

    summary: Spans
    rows: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableBlock:
    """Rows under typed columns, most important first, and the rest folded away.

    Attributes:
      columns: the columns.
      rows: the rows shown at once.
      text_rows: the number of `rows` that text shows at once; None for all. `text_rest` counts the others.
      text_rest: the sentence text puts in place of the rows it leaves out.
      rest: the rows behind a click (HTML only).
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    text_rows: int | None = None
    text_rest: Spans = ()
    rest: Rest | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroup:
    """Rows that belong to one thing, such as a line of source.

    Attributes:
      heading: the thing's place, ...
      words: ... and its text.
      rows: its rows.
    """

    heading: Spans
    words: Spans = ()
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedTable:
    """Groups of rows, each beside its heading (HTML) or under it (text).

    Attributes:
      title: the meaning of the groups.
      columns: the columns of a row.
      groups: in order; none without rows.
      rest: the sentence for the groups that are left out; () when none is.
      text_groups: the number of `groups` that text shows; None for all.
      text_rest: the sentence that replaces `rest` in text.
    """

    title: str
    columns: tuple[Column, ...]
    groups: tuple[RowGroup, ...]
    rest: Spans = ()
    text_groups: int | None = None
    text_rest: Spans = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerBlock:
    """One answer and its proof.

    Attributes:
      head: the subject, and how much.
      sentences: the answer.
      facts: its proof, one short statement each; HTML shows them on a click.
      figures: the source of the numbers; also on a click.
      is_open: whether HTML shows the facts at once.
    """

    head: Spans
    sentences: tuple[Spans, ...]
    facts: tuple[Spans, ...] = ()
    figures: Spans = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MeshSubject:
    """A picture of a mesh.

    Attributes:
      mesh: the devices.
      sent: bytes one device sends per call over each single axis, parts of it included.
      groups: groups of positions to highlight; () for none.
      processes: device id -> process index, when there are several processes.
    """

    mesh: Mesh
    sent: tuple[tuple[str, int], ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()
    processes: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardSubject:
    """A picture of one array's shards on the devices."""

    layout: ArrayLayout


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartSubject:
    """A picture of a chart."""

    chart: StillChart


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A picture, its contents in one sentence (`alt`), and the lines that replace it in text.

    `title` is above it in HTML, where it has room of its own.
    """

    subject: MeshSubject | ShardSubject | ChartSubject
    alt: str
    lines: tuple[str, ...] = ()
    title: Spans = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A titled picture with a few lines under it."""

    title: Spans
    picture: Picture
    lines: tuple[Spans, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """Cards to look at, and a table with the same facts in full.

    HTML shows the cards and folds the table under `summary`; text shows the table.
    """

    cards: tuple[Card, ...]
    table: TableBlock
    summary: Spans


@dataclass(frozen=True, slots=True)
class Beside:
    """Blocks side by side where there is room; in text only when `in_text` is True."""

    blocks: tuple[Block, ...]
    in_text: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """A section whose heading opens and closes it; text always shows it open.

    `text_blocks` replace `blocks` in text, which has less room.
    """

    summary: Spans
    blocks: tuple[Block, ...]
    is_open: bool = False
    text_blocks: tuple[Block, ...] | None = None


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One sign of the pictures and its meaning. `axes` are those whose colours the sign shows."""

    sign: Literal["axis", "several", "none", "copies", "partial", "device", "link"]
    words: str
    axes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Legend:
    """The meaning of colours, hatching and outlines. Text has no pictures and leaves it out."""

    entries: tuple[LegendEntry, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of code to copy: text and HTML leave them unchanged."""

    lines: tuple[str, ...]


Block = Listing | Line | Section | TableBlock | GroupedTable | AnswerBlock | Picture | Gallery | Beside | Fold | Legend


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A whole display.

    Attributes:
      axes: the mesh's axis names, outermost first; an axis keeps its colour everywhere in the document.
      blocks: its contents, in order.
    """

    axes: tuple[str, ...] = ()
    blocks: tuple[Block, ...]
