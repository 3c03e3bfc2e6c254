"""A large result of a call in words: one line for each of its trees, with shapes, specs and bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

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
    """The lines; the sums of all come first. A single array is one line, and equal trees in a row share one."""
    arrays = [array for tree in trees for array in tree.arrays]
    if len(trees) == 1 == len(arrays) and trees[0].kind == "array":
        spec = printable(known_spec_text(arrays[0].spec))
        return f"{printable(array_text(arrays[0]))}, {_bytes(arrays)}, in `_`; {spec}"
    total = f"{plural(len(trees), 'tree')}, {plural(len(arrays), 'array')}, {_bytes(arrays)}, in `_`"
    runs = [tuple(run) for _, run in groupby(trees, key=_cells_of_one)]
    cells = [_cells(run) for run in runs[:_TREES]]
    widths = [max(len(row[i]) for row in cells) for i in range(4)] if cells else []
    lines = [shorten("  ".join([*map(pad, row[:4], widths), row[4]]).strip(), _WIDTH) for row in cells]
    more = sum(map(len, runs[_TREES:]))
    return "\n".join([total, *lines, *([f"and {plural(more, 'more tree')}"] if more else [])])


def _cells_of_one(tree: ResultTree) -> tuple[str, ...]:
    """All that is said of a tree but its place."""
    return _cells((tree,))[1:]


def _cells(run: Sequence[ResultTree]) -> tuple[str, str, str, str, str]:
    """Places, type, number of arrays, bytes, kinds of arrays of equal trees."""
    first, arrays = run[0], [array for tree in run for array in tree.arrays]
    path = shorten(printable(first.path), _NAME)
    if len(run) > 1:
        path += f" ... {shorten(printable(run[-1].path), _NAME)}"
    kind = shorten(printable(first.kind), _NAME) + (f" x {len(run):,}" if len(run) > 1 else "")
    is_single = first.kind == "array" and len(first.arrays) == 1
    others = [f"{plural(first.others * len(run), 'other value')}"] if first.others else []
    value = f" = {printable(first.number)}" if first.number else ""
    count = "" if is_single else plural(len(arrays), "array")
    return path, kind, count, _bytes(arrays), ", ".join([*_kinds(arrays), *others]) + value


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
