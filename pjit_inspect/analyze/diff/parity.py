"""Two programs judged: they do the same work, or differ in a way that is told.

The work is the same for one function on arguments of the same shapes, with as many floating-point operations in matrix
products on each device. Not its job: the figures (`analyze.diff.figures`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pjit_inspect.analyze.diff.figures import PRODUCTS
from pjit_inspect.analyze.diff.side import DiffSide, ProgramNames
from pjit_inspect.model.diff.diff import Figure
from pjit_inspect.model.diff.pairs import ArrayDiff
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.shape import short_dtype
from pjit_inspect.model.words.sentence import Sentence, code, name, say, word

_TOLERANCE = 0.01
_MOST_ARRAYS = 4
_LAYER = re.compile(r"<[+-](\d+)>")
_JOINED = re.compile(r"<\d+\|\d+>")


def find_parity(
    before: DiffSide,
    after: DiffSide,
    names: tuple[ProgramNames, ProgramNames],
    arguments: ArrayDiff,
    figures: Sequence[Figure],
) -> tuple[Sentence, ...]:
    """The differences in the work of two programs; () if they do the same work."""
    found: list[Sentence] = []
    one, two = before.data, after.data
    if (one.primitive or one.name) != (two.primitive or two.name):
        functions = (name(data.primitive or data.name) for data in (one, two))
        found.append(say("the functions are {} and {}", *functions))
    found += _shapes(arguments)
    found += _alone(arguments.removed, names[0], "gone")
    found += _alone(arguments.added, names[1], "new")
    found += (_flops(figure) for figure in figures if figure.name == PRODUCTS and _is_other(figure))
    return tuple(found)


def _is_other(figure: Figure) -> bool:
    if not figure.is_comparable or figure.before is None or figure.after is None:
        return False
    return abs(figure.after - figure.before) > _TOLERANCE * max(figure.before, figure.after)


def _flops(figure: Figure) -> Sentence:
    before, after = figure.before or 0, figure.after or 0
    share = f" ({(after / before - 1) * 100:+.0f} %)" if before else ""
    return say("each device multiplies {}", word(f"{_mega(before)} -> {_mega(after)} MFLOP{share}"))


def _mega(flops: float) -> str:
    return f"{flops / 1e6:,.1f}" if flops >= 1e5 or not flops else f"{flops / 1e6:.2g}"


def _shapes(arguments: ArrayDiff) -> Iterator[Sentence]:
    pairs = [(pair.before, pair.after) for pair in arguments.changed]
    other = [(one, two) for one, two in pairs if one is not None and two is not None and _shape(one) != _shape(two)]
    for one, two in other[:_MOST_ARRAYS]:
        yield say("{} {} -> {}", name(two.path), code(_shape(one)), code(_shape(two)))
    if len(other) > _MOST_ARRAYS:
        yield say("{} more arguments have another shape or type", len(other) - _MOST_ARRAYS)


def _shape(row: ArrayLayout) -> str:
    return f"{short_dtype(row.dtype)}[{','.join(map(str, row.global_shape))}]"


def _alone(rows: Sequence[ArrayLayout], names: ProgramNames, verb: str) -> Iterator[Sentence]:
    """Sentences about arguments that only one program has; a whole layer is named once."""
    layers: dict[str, set[str]] = {}
    others: list[str] = []
    for row in rows:
        path = names.path(row.path)
        match = _LAYER.search(path)
        if match is None:
            others.append(row.path)
        else:
            layers.setdefault(_JOINED.sub("*", path[: match.start()]), set()).add(match[1])
    for stem, numbers in list(layers.items())[:_MOST_ARRAYS]:
        ending = "]" if stem.endswith("[") else ""
        count = f"{len(numbers)} layer{'s' * (len(numbers) != 1)}"
        yield say("{} of {} {} {}", count, name(f"{stem}*{ending}"), "is" if len(numbers) == 1 else "are", verb)
    if len(others) == 1:
        yield say("argument {} is {}", name(others[0]), verb)
    elif others:
        yield say("{} arguments are {}, such as {}", len(others), verb, name(others[0]))
