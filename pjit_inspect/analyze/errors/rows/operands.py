"""The table's rows of operands of which an Explicit mesh asks one split: products, elementwise operations, choices.

What would be legal is JAX's to say: each row proposes other splits of the operands or an `out_sharding`, and JAX picks.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `lax/lax.py`, `core.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import replaced_text
from pjit_inspect.analyze.errors.printed import REPEATED, SHARDING, TUPLE, TYPE, read_sharding, read_spec, read_type
from pjit_inspect.analyze.errors.proposals import (
    NOT_TOLD,
    cleared,
    first_accepted,
    resharded,
    specs_towards,
    split_operands,
    together,
    with_out_sharding,
)
from pjit_inspect.analyze.errors.specs import (
    axes_in,
    over_axes,
    over_words,
    plain_entries,
    spec_words,
    type_words,
    without_repeats,
)
from pjit_inspect.analyze.errors.table import Facts, Judge, Propose
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.program.dtype import bits_of
from pjit_inspect.model.program.spec import PartitionSpec, axes_of, entry_of, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say


def _untold(*specs: PartitionSpec) -> Facts:
    """What the message alone tells."""
    return {"specs": joined([spec_words(entries) for entries in specs], comma=" and "), "notes": (NOT_TOLD,)}


# ---------------------------------------------------------------- products

Pairs = list[tuple[tuple[ErrorArray, int], tuple[ErrorArray, int]]]


def _quoted_pairs(match: re.Match[str], scene: ErrorScene) -> Pairs:
    """The dimensions that the message speaks of, of both operands; () where it does not speak of these.

    An axis splits one dimension only, so that an entry says which dimension it is.
    """
    sides, operands = (read_spec(match["one"]), read_spec(match["other"])), split_operands(scene)
    # JAX may multiply the second with the first.
    for pair in itertools.permutations(operands, 2) if len(operands) == 2 else ():
        if all(set(side) <= {*(array.spec or ()), None} for side, array in zip(sides, pair, strict=True)):
            split = [entries for entries in zip(*sides, strict=True) if None not in entries]
            found = [
                tuple((array, (array.spec or ()).index(entry)) for array, entry in zip(pair, entries, strict=True))
                for entries in split
            ]
            return [(one, other) if one[0] is operands[0] else (other, one) for one, other in found]
    return []


def _summed(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    pairs = _quoted_pairs(match, scene)
    entries = [{(array.spec or ())[place] for array, place in pair} for pair in pairs]
    if not pairs or any(len(pair) > 1 for pair in entries):
        return None
    (lhs, _), (rhs, _) = pairs[0]
    summed = axes_in(tuple(pair) for pair in entries)
    return {
        "lhs": name(lhs.name), "rhs": name(rhs.name), "over": over_words(entries[0].pop()), "operation": code(scene.operator or "the product"),
        "arrays": (lhs, rhs), "fits": _of_product((lhs, rhs), summed, scene),
    }  # fmt: skip


def _unlike(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    for pair in _quoted_pairs(match, scene):
        one, other = ((array.spec or ())[place] for array, place in pair)
        if one != other:
            (lhs, place), (rhs, second) = pair
            words = "dimension {} of {} is split over {} and dimension {} of {} over {}"
            both = say(words, place, name(lhs.name), over_words(one), second, name(rhs.name), over_words(other))
            return {"both": both, "arrays": (lhs, rhs), "fits": _of_product((lhs, rhs), (), scene, (one, other))}
    return None


def _untold_product(match: re.Match[str], scene: ErrorScene) -> Facts:
    return {**_untold(read_spec(match["one"]), read_spec(match["other"])), "operation": code("dot_general")}


def _of_product(
    arrays: tuple[ErrorArray, ErrorArray], summed: Sequence[str], scene: ErrorScene, unlike: PartitionSpec = ()
) -> Propose:
    """A product with an `out_sharding`, or with either operand in the nearest split that JAX takes without one.

    What the result is summed over is `summed`; `unlike` is how both split a dimension that they share.
    """

    def propose(judge: Judge) -> Iterator[Fit]:
        reshards: list[Fit] = []
        made: list[PartitionSpec] = []
        for own in arrays:
            nearest = specs_towards(own, own.spec or (), unlike)
            for fit in first_accepted((resharded(own, spec, scene, is_whole=True) for spec in nearest), judge):
                reshards.append(fit)
                result = judge(fit, ())
                made += [result.spec] if isinstance(result, ErrorArray) and result.spec is not None else []
        # What JAX makes where one operand or the other is gathered is, together, how nothing would move.
        natural = tuple(next(filter(None, entries), None) for entries in zip(*made, strict=True))
        for result in dict.fromkeys((without_repeats(natural), without_repeats(natural, last=True))) if made else ():
            lost = _lost(arrays, natural, result, (*summed, *axes_in([unlike])))
            yield from with_out_sharding(result, _effect(lost, summed), scene)
            if summed and not lost:
                yield from first_accepted(_scattered(arrays, result, summed, scene), judge)
        yield from reshards

    return propose


def _lost(
    arrays: Sequence[ErrorArray], natural: PartitionSpec, result: PartitionSpec, kept: Sequence[str]
) -> list[str]:
    """The axes that would split a dimension of the result if nothing moved, or split an operand, and do not."""
    pairs = zip(natural, result, strict=True)
    gone = [axis for before, after in pairs for axis in axes_of(before) if axis not in axes_of(after)]
    unused = [
        axis for axis in axes_in(array.spec or () for array in arrays) if axis not in (*axes_in([natural]), *kept)
    ]
    return list(dict.fromkeys((*gone, *unused)))


def _effect(lost: Sequence[str], summed: Sequence[str]) -> Sentence:
    if summed:
        words = say("each device multiplies its parts, and the partial sums are added over {}", over_axes(summed))
        # An axis that the result would have had twice: one operand is gathered over it as well.
        return say("{}; communicates over {}, too", words, over_axes(lost)) if lost else words
    moved = say("one operand is moved to the other's split first")
    return say("communicates over {}", over_axes(lost)) if lost else moved


def _scattered(
    arrays: Sequence[ErrorArray], result: PartitionSpec, summed: Sequence[str], scene: ErrorScene
) -> Iterator[Fit]:
    """The sum split over what it is summed over, along the last dimension that can be."""
    sizes = next((array.mesh.sizes for array in arrays if array.mesh is not None), {})
    parts = math.prod(sizes.get(axis, 1) for axis in summed)
    for place in reversed(range(len(result))):
        if result[place] is None:
            effect = say("the same sum; each device keeps {} of dimension {}", f"1/{parts}", place)
            yield from with_out_sharding((*result[:place], entry_of(summed), *result[place + 1 :]), effect, scene)


# ---------------------------------------------------------------- operands that must be split alike


def _aligned(array: ErrorArray, rank: int) -> PartitionSpec:
    """The spec with entries in front for the dimensions that broadcasting adds."""
    spec = array.spec or ()
    return (*(None,) * (rank - len(spec)), *spec)


def _conflict(match: re.Match[str], scene: ErrorScene) -> Facts:
    if shardings := match.groupdict().get("shardings"):
        quoted = [read_sharding(text[0]).spec or () for text in re.finditer(SHARDING, shardings)]
    else:
        quoted = [read_spec(text[0]) for text in re.finditer(TUPLE, match["specs"])]
    facts: Facts = {"operation": code(match["operation"] or "concatenate")}
    if len(quoted) < 2:
        raise ValueError("one of the specs is not understood")
    operands = split_operands(scene)
    rank = max((len(array.spec or ()) for array in operands), default=0)
    # What adds a dimension, as `stack` does, may quote it: what is not split does not count.
    own = {plain_entries(array.spec or ()) for array in operands}
    if len(operands) < 2 or not {plain_entries(spec) for spec in quoted} <= own:
        untold = _untold(*quoted)
        return {**facts, **untold, "what": say("operands that are split alike, but got {}", untold["specs"])}
    return {**facts, "what": _differing(operands, rank), "arrays": operands, "fits": _alike(operands, rank, scene)}


def _differing(operands: Sequence[ErrorArray], rank: int) -> Sentence:
    # The first dimension that two operands split differently; reversed, so that the first with an entry names it.
    for dimension in range(rank):
        entries = {_aligned(array, rank)[dimension]: array.name for array in reversed(operands)}
        split = [say("{} has it over {}", name(who), over_words(entry)) for entry, who in entries.items() if entry]
        if len(split) > 1:
            return say("one split of dimension {}, but {}", dimension, joined(split[::-1], comma=" and "))
    return say("operands that are split alike")


def _alike(operands: Sequence[ErrorArray], rank: int, scene: ErrorScene) -> Propose:
    """Either of two operands in a split like the other's, or near that; or all of several in one."""

    def propose(judge: Judge) -> Iterator[Fit]:
        if len(operands) > 2:
            # Those that split the most first: what is split further moves less than what is gathered.
            splits = sorted((_aligned(array, rank) for array in operands), key=lambda spec: -len(plain_entries(spec)))
            likes = dict.fromkeys((*splits, (None,) * rank))
            several = (
                together(((own, like[rank - len(own.spec or ()) :]) for own in operands), scene) for like in likes
            )
            yield from first_accepted(itertools.chain.from_iterable(several), judge)
            return
        for own, other in sorted((operands[::-1], operands), key=lambda pair: _size(pair[0])):
            yield from first_accepted(
                (resharded(own, spec, scene) for spec in specs_towards(own, _like(own, other, rank))), judge
            )

    return propose


def _size(array: ErrorArray) -> int:
    return math.prod(array.shape or ()) * (bits_of(array.dtype) or 64)


def _like(own: ErrorArray, other: ErrorArray, rank: int) -> PartitionSpec:
    """The other's split, as far as it has the dimension; one that broadcasts keeps what it has."""
    lengths = (*(1,) * (rank - len(other.shape or ())), *(other.shape or ()))
    pairs = list(zip(_aligned(other, rank), lengths, strict=True))[rank - len(own.shape or ()) :]
    return tuple(
        entry if length == mine else before
        for (entry, length), mine, before in zip(pairs, own.shape or (), own.spec or (), strict=True)
    )


def _twice(match: re.Match[str], scene: ErrorScene) -> Facts:
    quoted, result = [read_type(text[0]) for text in re.finditer(TYPE, match["types"])], read_type(match["type"])
    operands = split_operands(scene)
    if [(array.shape, array.spec) for array in quoted] != [(array.shape, array.spec) for array in operands]:
        types = [say("{} as {}", type_words(array), spec_words(array.spec)) for array in quoted]
        words = "{} of {} would use an axis for two dimensions of the result"
        return {"what": say(words, code(match["operation"]), joined(types, comma=" and ")), "notes": (NOT_TOLD,)}
    facts = _clashing(result.spec, operands, scene)
    if match["operation"] == "dot_general" and len(operands) == 2:
        return {**facts, "fits": _of_product((operands[0], operands[1]), (), scene)}
    return facts


def _clashing(result: PartitionSpec | None, operands: tuple[ErrorArray, ...], scene: ErrorScene) -> Facts:
    own = joined([say("{} is {}", name(array.name), spec_words(array.spec)) for array in operands], comma=" and ")
    what = say("{}: the result would be {}, and an axis can split one dimension only", own, spec_words(result))
    return {"what": what, "arrays": operands, "fits": _alike(operands, max(len(a.spec or ()) for a in operands), scene)}


def _repeating(match: re.Match[str], scene: ErrorScene) -> Facts:
    return _clashing(
        read_spec(match["spec"]), tuple(own for own in split_operands(scene) if any(own.spec or ())), scene
    )


# ---------------------------------------------------------------- any other refusal


def _refused(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A refusal in words that no row has."""
    operands = _refusable(scene)
    if not operands or not scene.operator:
        return None
    words = joined([say("{} is {}", name(array.name), spec_words(array.spec)) for array in operands])
    said = " ".join(re.split(r"(?<=\.)\s+(?=[A-Z])|\n", match["said"])[0].replace("`", "'").split())
    facts: dict[str, object] = {
        "operation": code(scene.operator), "words": words, "arrays": operands, "notes": (say("JAX says: {}", said),),
        "fits": lambda judge: _any_split(operands, scene, judge),
    }  # fmt: skip
    return facts | ({"several": "together"} if len(operands) > 1 else {})


def _refusable(scene: ErrorScene) -> tuple[ErrorArray, ...]:
    """The operands whose split can be what is refused, each name once."""
    split = {array.name: array for array in split_operands(scene) if any(array.spec or ())}
    return tuple(one for one in split.values() if one.mesh is not None and "explicit" in one.mesh.axis_types)


def _any_split(operands: tuple[ErrorArray, ...], scene: ErrorScene, judge: Judge) -> list[Fit]:
    rank = max(len(array.spec or ()) for array in operands)
    found = first_accepted(_written(operands, scene), judge)
    found += _alike(operands, rank, scene)(judge) if len(operands) > 1 else []
    return found or first_accepted(cleared(operands, scene), judge)


def _written(operands: tuple[ErrorArray, ...], scene: ErrorScene) -> Iterator[Fit]:
    """What is written into a part of an array, in the nearest split that JAX takes if the array keeps its own."""
    if ".at[" in scene.expression and len(operands) == 2:
        array, update = operands
        for spec in specs_towards(update, (None,) * len(update.spec or ())):
            fit = resharded(update, spec, scene, is_whole=True)
            yield replace(fit, edit=f"{fit.edit[:-1]}, out_sharding={spec_text(array.spec or ())})")


def asked(explained: ExplainedError, scene: ErrorScene, judge: Judge) -> ExplainedError:
    """What can be told where JAX's message means arrays within a function: which change of its operands JAX takes."""
    operands = _refusable(scene)
    if NOT_TOLD not in explained.notes or explained.fits or not operands:
        return explained
    # Only where the expression itself is what was refused.
    own = replaced_text(operands[0].name, scene)
    same = Fit(edit=own, effect=say(""), replaces=own)
    if judge(same, ()) is not False or not (fits := _any_split(operands, scene, judge)):
        return explained
    notes = tuple(note for note in explained.notes if note != NOT_TOLD)
    return replace(explained, arrays=operands, fits=tuple(fits), notes=notes)


_CONTRACTED = (
    rf"(?:.{{0,400}}?Got lhs_contracting_spec=(?P<one>{TUPLE}) and rhs_contracting_spec=(?P<other>{TUPLE})$)",
    # 0.8 to 0.10
    rf"dot_general requires contracting dimensions to have consistent sharding, got (?P<one>{TUPLE}) and (?P<other>{TUPLE})\.",
)
_BATCH = rf"dot_general requires lhs batch dimensions and rhs batch dimensions to have the (?:consistent|same) sharding, got (?P<one>{TUPLE}) and (?P<other>{TUPLE})\."
_CLASH = "{operation} needs {what}"
_OTHER = r"(?P<said>(?:Incompatible types for |.{0,200}?(?:[Ss]hard(?:ed|ing)|replicated)).{0,2000})"

OPERAND_ROWS = (
    *(one for pattern in _CONTRACTED for one in (
        _row("contraction", pattern, "{lhs} and {rhs} are both split over {over} along the dimension that {operation} sums: say whether to add the partial sums, or to keep them split", facts=_summed),
        _row("contraction", pattern, "{both}, but the product sums over both together", facts=_unlike),
        _row("contraction", pattern, "a product sums over dimensions that are split in both operands: {specs}", facts=_untold_product),
    )),
    _row("conflict", _BATCH, "{both}, but they are one dimension of the result", facts=_unlike),
    _row("conflict", _BATCH, "{operation} needs operands that are split alike, but got {specs}", facts=_untold_product),
    _row("conflict", rf"(?P<operation>\w{{1,80}}) got incompatible shardings for broadcasting: (?P<specs>{TUPLE}(?:, {TUPLE}){{1,16}})\.$", _CLASH, facts=_conflict),
    _row("conflict", r"(?:(?P<operation>select) (?:cases must have the same shardings|`which` must be scalar or have the same sharding as cases), "
         r"got|All operands should have the same sharding\. Got shardings) (?P<shardings>.{1,16000})", _CLASH, facts=_conflict),
    _row("axis twice", REPEATED, "{what}", facts=_repeating),
    _row("axis twice", rf"(?P<operation>\w{{1,80}}) operation with inputs: (?P<types>.{{1,4000}}?) produces an illegally sharded result: (?P<type>{TYPE})$", "{what}", facts=_twice),
)  # fmt: skip
"""Each tried in turn; of two rows with one pattern the first whose facts are there."""

OTHER_ROWS = (
    _row("conflict", _OTHER, "{operation} does not take these splits {several}: {words}", facts=_refused),
    _row("split dimension", _OTHER, "{operation} does not take this split: {words}", facts=_refused),
)  # fmt: skip
"""For what no other row has."""
