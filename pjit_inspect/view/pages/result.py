"""A large result of a call in words: one line for each of its trees, with shapes, specs and bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.record.record import ResultTree
from pjit_inspect.view.document.notation import array_text, known_spec_text
from pjit_inspect.view.document.printable import pad, printable, shorten
from pjit_inspect.view.document.quantities import bytes_text, plural

_WIDTH = 160
_TREES = 16
_KINDS = 3
_NAME = 40


def result_lines(trees: Sequence[ResultTree]) -> str:
    """The lines; the sums of all come first."""
    arrays = [array for tree in trees for array in tree.arrays]
    total = f"{plural(len(trees), 'tree')}, {plural(len(arrays), 'array')}, {_bytes(arrays)}; the values are in _"
    cells = [_cells(tree) for tree in trees[:_TREES]]
    widths = [max(len(row[i]) for row in cells) for i in range(4)] if cells else []
    lines = [shorten("  ".join([*map(pad, row[:4], widths), row[4]]).strip(), _WIDTH) for row in cells]
    rest = [f"and {plural(len(trees) - _TREES, 'more tree')}"] if len(trees) > _TREES else []
    return "\n".join([total, *lines, *rest])


def _cells(tree: ResultTree) -> tuple[str, str, str, str, str]:
    """Place, type, number of arrays, bytes, kinds of arrays."""
    path = shorten(printable(tree.path), _NAME)
    kind = shorten(printable(tree.kind), _NAME)
    single = tree.kind == "array" and len(tree.arrays) == 1
    others = [f"{plural(tree.others, 'other value')}"] if tree.others else []
    value = f" = {printable(tree.number)}" if tree.number else ""
    count = "" if single else plural(len(tree.arrays), "array")
    return path, kind, count, _bytes(tree.arrays), ", ".join([*_kinds(tree.arrays), *others]) + value


def _kinds(arrays: Sequence[ArrayLayout]) -> list[str]:
    """Kinds of equal arrays with their numbers, most bytes first."""
    counts = Counter((array_text(array), known_spec_text(array.spec), array.global_bytes or 0) for array in arrays)
    ranked = sorted(counts.items(), key=lambda item: -item[0][2] * item[1])
    shown = [
        f"{printable(what)} {printable(spec)}{f' x {number:,}' if number > 1 else ''}"
        for (what, spec, _), number in ranked[:_KINDS]
    ]
    more = len(ranked) - _KINDS
    return [*shown, f"{more:,} more kinds" if more > 1 else "1 more kind"] if more > 0 else shown


def _bytes(arrays: Sequence[ArrayLayout]) -> str:
    """Bytes of all arrays, each counted once however many devices hold it."""
    sizes = [array.global_bytes for array in arrays]
    return "unknown bytes" if None in sizes else bytes_text(sum(size for size in sizes if size is not None))
