"""Lowers a view tree to text: for terminals, for nbval, for `git diff`.

Deterministic, ASCII but for names, no line longer than `width`, no spaces at line ends.
"""

from __future__ import annotations

from functools import partial
from itertools import zip_longest

from pjit_inspect.guard import Guard
from pjit_inspect.view.document.document import (
    Beside,
    Block,
    Document,
    Finding,
    Fold,
    Gallery,
    GroupedTable,
    Legend,
    Line,
    Listing,
    Picture,
    Section,
    Table,
)
from pjit_inspect.view.document.printable import cell_width, pad, printable, shorten
from pjit_inspect.view.document.text_spans import spans_text, wrap
from pjit_inspect.view.render.text_table import lower_groups, lower_table

_LEAST_WIDTH = 40
_FAILED = ["(this part could not be written)"]


def to_text(document: Document, *, width: int = 100) -> str:
    """The document as text of at most `width` columns, without a line end after the last line.

    Raises `ValueError` for a width under 40: no table can be read there.
    """
    if width < _LEAST_WIDTH:
        raise ValueError(f"width {width} is too narrow; give at least {_LEAST_WIDTH} columns")
    return "\n".join(line.rstrip() for line in _blocks_lines(document.blocks, width))


def _blocks_lines(blocks: tuple[Block, ...], width: int) -> list[str]:
    """The lines of some blocks; lines of prose stay together, all else is set off by an empty line."""
    lines: list[str] = []
    before: Block | None = None
    guard = Guard()
    for block in blocks:
        lowered = guard.run("a part of a display", partial(_block_lines, block, width), _FAILED)
        if not lowered:
            continue
        if lines and _is_set_off(before, block):
            lines.append("")
        lines += lowered
        before = block
    return lines


def _is_set_off(before: Block | None, block: Block) -> bool:
    return not (isinstance(before, Line) and isinstance(block, Line))


def _block_lines(block: Block, width: int) -> list[str]:
    match block:
        case Line(spans=spans, role=role):
            return wrap(("note  " if role == "note" else "") + spans_text(spans, width), width)
        case Listing(lines=lines):
            return [printable(line) for line in lines]
        case Section(title=title, blocks=blocks):
            return [*wrap(spans_text(title, width), width), *_blocks_lines(blocks, width)]
        case Table():
            return lower_table(block, width)
        case GroupedTable():
            return lower_groups(block, width)
        case Finding():
            return _finding_lines(block, width)
        case Picture(lines=lines):
            return [shorten(printable(line), width) for line in lines]
        case Gallery(table=table):
            return lower_table(table, width)
        case Beside(blocks=blocks, in_text=in_text):
            return _beside_lines(blocks, width) if in_text else _blocks_lines(blocks, width)
        case Fold(summary=summary, blocks=blocks, text_blocks=fewer):
            return [*wrap(spans_text(summary, width), width), *_blocks_lines(blocks if fewer is None else fewer, width)]
        case Legend():
            return []


def _finding_lines(finding: Finding, width: int) -> list[str]:
    lines = wrap(spans_text(finding.head, width), width)
    for sentence in finding.sentences:
        lines += _indented(spans_text(sentence, 4 * width), 2, width)
    for fact in finding.facts:
        lines += _indented(f"- {spans_text(fact, 4 * width)}", 4, width)
    return lines + (_indented(spans_text(finding.figures, width), 4, width) if finding.figures else [])


def _indented(text: str, columns: int, width: int) -> list[str]:
    return [" " * columns + line for line in wrap(text, width - columns)]


def _beside_lines(blocks: tuple[Block, ...], width: int) -> list[str]:
    """Columns of blocks when they fit side by side, else one under the other."""
    columns = [column for column in (_block_lines(block, width) for block in blocks) if column]
    widths = [max(cell_width(line) for line in column) for column in columns]
    if sum(widths) + 4 * (len(widths) - 1) > width:
        return _blocks_lines(blocks, width)
    joined = []
    for parts in zip_longest(*columns, fillvalue=""):
        joined.append("    ".join(pad(part, size) for part, size in zip(parts, widths, strict=True)))
    return joined
