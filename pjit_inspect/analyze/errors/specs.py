"""Arithmetic of specs for explained errors, and words for shapes, specs and axes: what divides, what a change moves.

Not its job: which error it is (`analyze.errors.explain`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence

from pjit_inspect.model.program.mesh import MeshAxes, PartitionSpec, SpecEntry, axes_of, entry_of, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, code, joined, name, say, spec

_MOST_AXES = 8


def axes_in(specs: Iterable[PartitionSpec]) -> list[str]:
    """The axes of several specs, each once."""
    return list(dict.fromkeys(held for entries in specs for entry in entries for held in axes_of(entry)))


def plain_entries(entries: PartitionSpec | None) -> PartitionSpec:
    """The entries that split something."""
    return tuple(entry for entry in entries or () if entry is not None)


def parts_of(entry: SpecEntry, sizes: Mapping[str, int]) -> int:
    """The number of parts that an entry splits a dimension into; 0 when an axis is not known."""
    return math.prod(sizes.get(held, 0) for held in axes_of(entry))


def divides(entry: SpecEntry, length: int, sizes: Mapping[str, int]) -> bool:
    """Tells whether the axes of an entry split a dimension of this length evenly."""
    parts = parts_of(entry, sizes)
    return parts > 0 and length % parts == 0


def next_multiple(length: int, parts: int) -> int:
    """The next longer length that divides."""
    return -(-length // parts) * parts


def without_repeats(entries: PartitionSpec, *, last: bool = False) -> PartitionSpec:
    """The spec with each axis in its first place only, or with `last` in its last."""
    if last:
        return without_repeats(entries[::-1])[::-1]
    seen: set[str] = set()
    kept: list[SpecEntry] = []
    for entry in entries:
        kept.append(entry_of([held for held in dict.fromkeys(axes_of(entry)) if held not in seen]))
        seen.update(axes_of(entry))
    return tuple(kept)


def usable_axes(mesh: MeshAxes) -> tuple[tuple[str, int], ...]:
    """The axes that a spec on this mesh can name: of more than one device, of one type, not Manual."""
    types = mesh.axis_types or ("",) * len(mesh.axes)
    # What an operation's type says may name Explicit axes only.
    wanted = {"explicit"} if "explicit" in types else {"auto", ""}
    kept = [(own, size) for (own, size), kind in zip(mesh.axes, types, strict=True) if size > 1 and kind in wanted]
    return tuple(kept[:_MOST_AXES])


def fitting_entries(length: int, axes: Sequence[tuple[str, int]]) -> list[SpecEntry]:
    """The entries over some axes that split a length evenly: into most parts first, then of fewest axes."""
    subsets = [some for count in range(1, len(axes) + 1) for some in itertools.combinations(axes, count)]
    sized = [(math.prod(size for _, size in some), some) for some in subsets]
    fitting = [(parts, some) for parts, some in sized if parts and length % parts == 0]
    # The sort is stable: subsets of as many parts and axes stay in mesh order.
    fitting.sort(key=lambda item: (-item[0], len(item[1])))
    return [entry_of([own for own, _ in some]) for _, some in fitting]


# ---------------------------------------------------------------- words


def division(length: int, parts: int) -> str:
    """`6 / 4 = 1.5`; what is left where that has no short decimal form."""
    if not parts:
        return "which does not divide it"
    # Exact, where a float would round: a quotient has at most three decimals if a thousand times it is an integer.
    thousandths, rest = divmod(length * 1000, parts)
    if rest:
        return f"{length:,} / {parts:,} leaves {length % parts:,}"
    return f"{length:,} / {parts:,} = " + f"{thousandths // 1000:,}.{thousandths % 1000:03d}".rstrip("0").rstrip(".")


def shape_words(shape: Sequence[int] | None) -> str:
    """A shape: `[6,8]`."""
    return f"[{','.join(map(str, shape or ()))}]"


def spec_words(entries: PartitionSpec | None) -> Phrase:
    """A spec as the user would write it; that of a scalar for None."""
    return spec(spec_text(entries or ()))


def counted(count: int, one: str) -> str:
    """A count with its noun: "1 entry", "2 entries"."""
    return f"{count} {one if count == 1 else f'{one[:-1]}ies' if one.endswith('ry') else f'{one}s'}"


def type_words(array: ErrorArray) -> Phrase:
    """An array's dtype and shape: `float32[6,8]`."""
    return code(array.dtype + shape_words(array.shape))


def listed_words(arrays: Iterable[ErrorArray], comma: str = ", ") -> Sentence:
    """Arrays with their specs: "`x` is `P('data')` and `w` is `P()`"."""
    return joined([say("{} is {}", name(one.name), spec_words(one.spec)) for one in arrays], comma=comma)


def axes_words(axes: Sequence[str], mesh: MeshAxes | None) -> Sentence:
    """Axes with their sizes: "`model` (4)", "`data` x `model` (2 x 4 = 8)"."""
    names, known = over_words(tuple(axes)), [size for held in axes if (size := mesh.sizes.get(held) if mesh else 0)]
    if len(known) < len(axes) or not axes:
        return names
    return say("{} ({})", names, f"{' x '.join(map(str, known))} = {math.prod(known)}" if len(known) > 1 else known[0])


def over_words(entry: SpecEntry) -> Sentence:
    """The axes of an entry: "`data` x `model`"; "nothing" for none."""
    return joined([axis(held) for held in axes_of(entry)], " x ", comma=" x ") or say("nothing")


def axes_list(axes: Iterable[str]) -> Sentence:
    """Axes of which each is meant by itself: "`x` and `y`"."""
    return joined([axis(held) for held in axes], comma=" and ")


def reshard_words(array: str | Phrase, before: PartitionSpec, after: PartitionSpec) -> Sentence:
    """Describes the communication that brings an array, by name or in words, from one spec to another."""
    # Dimension by dimension: an axis that moves to another dimension is lost in one and gained in the other, and
    # moves data as well; only one that is gained and lost nowhere is a slice of what a device has.
    what = name(array) if isinstance(array, str) else array
    pairs = list(itertools.zip_longest(before, after))
    lost = [held for old, new in pairs for held in axes_of(old) if held not in axes_of(new)]
    gained = [held for old, new in pairs for held in axes_of(new) if held not in axes_of(old)]
    off, onto = axes_list(dict.fromkeys(lost)), axes_list(dict.fromkeys(gained))
    if not lost:
        return say("each device keeps a slice of {}; nothing is sent" if gained else "{} stays as it is", what)
    if not gained:
        return say("gathers {} over {}", what, off)
    if sorted(lost) == sorted(gained):
        return say("moves {} along {}", what, off)
    return say("moves {} between devices: off {}, onto {}", what, off, onto)
