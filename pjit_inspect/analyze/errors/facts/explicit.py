"""Facts of what an Explicit mesh refuses: products, elementwise operations, indexing, reshapes, and the rest.

What would be legal is JAX's to say: other splits of the operands and an `out_sharding` are proposed, and JAX picks.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from pjit_inspect.analyze.errors import specs, ways
from pjit_inspect.analyze.errors.printed import SPEC, TUPLE, TYPE, read_integers, read_spec, read_type
from pjit_inspect.analyze.errors.specs import over_words, plain_entries, spec_words
from pjit_inspect.analyze.errors.table import Facts, Judge, Reader
from pjit_inspect.analyze.errors.ways import NOT_TOLD, first_accepted, split_operands
from pjit_inspect.model.program.mesh import PartitionSpec, SpecEntry, axes_of, entry_of, spec_text
from pjit_inspect.model.program.shape import bits_of
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say

Operands = tuple[ErrorArray, ...]
Changes = Callable[[re.Match[str], Operands, ErrorScene, Judge], Iterable[Fit]]
"""Changes that JAX takes: an `out_sharding`, operands in other splits."""

_SIZED = ("slice", "dynamic_slice", "dynamic_slice_in_dim", "slice_in_dim", "pad")
"""Functions whose caller chooses the new length."""
_COPY = say("a copy of the result on every device")
_MOST_QUOTED = 16
_MOST_ASKED = 64
_MOST_TOGETHER = 2_000
_MOST_RANK = 5

# ---------------------------------------------------------------- what is refused


def _refusal(changes: Changes) -> Reader:
    """Reads a refusal whose message quotes the types or the specs of what it is about, or nothing."""

    def read(match: re.Match[str], scene: ErrorScene) -> Facts:
        said, operands = _said(match), split_operands(scene)
        facts: dict[str, object] = {"sized": True} if scene.operator in _SIZED else {}
        operator = scene.operator.replace("[]", "") or match.groupdict().get("op", "")
        facts |= {"operator": code(operator)} if operator else {}
        if not _are_said(said, operands, scene):
            types = tuple(replace(one, name="operand") for one in said if one.shape is not None)
            words = [say("{} as {}", specs.type_words(one), spec_words(one.spec)) for one in types]
            words += [spec_words(one.spec) for one in said if one.shape is None]
            return {**facts, **({"words": joined(words)} if words else {}), "arrays": types, "notes": (NOT_TOLD,)}
        facts |= {"code_made": facts["operator"]} if "operator" in facts else {}
        types = {(one.shape, one.spec) for one in said if one.shape is not None}
        shown = [one for one in operands if any(one.spec or ()) or (one.shape, one.spec) in types] or operands
        shown = tuple({one.name: one for one in shown}.values())
        is_apart = changes is _each and not all(one.name in scene.expression for one in shown)
        notes = (say("every array needs its own change"),) if is_apart and len(shown) > 1 else ()
        fits = partial(changes, match, operands, scene)
        return {**facts, "words": specs.listed_words(shown), "arrays": operands, "fits": fits, "notes": notes}

    return read


def _said(match: re.Match[str]) -> list[ErrorArray]:
    """The arrays that a message quotes, by their types or by their specs alone."""
    groups = match.groupdict()
    types = [read_type(one[0]) for one in re.finditer(TYPE, groups.get("types") or "")]
    texts = groups.get("specs") or ""
    alone = [
        ErrorArray(name="", spec=read_spec(one[0]))
        for one in re.finditer(SPEC if re.search(SPEC, texts) else TUPLE, texts)
    ]
    return [*types, *alone][:_MOST_QUOTED]


def _are_said(said: Sequence[ErrorArray], operands: Operands, scene: ErrorScene) -> bool:
    """Tells whether a message is about the operands of the user's expression."""
    entries = {None, *(entry for own in operands for entry in own.spec or ())}
    types = {(own.shape, own.spec) for own in operands}
    if said:
        return all((one.shape, one.spec) in types if one.shape else set(one.spec or ()) <= entries for one in said)
    # JAX names none: the only one, or the only one that is split.
    is_alone = 1 in (len(operands), len([own for own in operands if any(own.spec or ())]))
    return is_alone and scene.is_complete and bool(scene.operator)


def asked(explained: ExplainedError, scene: ErrorScene, judge: Judge) -> ExplainedError:
    """Finds changes of the user's operands where JAX's message is about arrays within a function."""
    operands = _refusable(scene)
    if NOT_TOLD not in explained.notes or explained.fits or not operands:
        return explained
    # Only where the expression itself is what was refused.
    own = ways.replaced_text(operands[0].name, scene)
    if judge(Fit(edit=own, effect=say(""), replaces=own), ()) is not False or not (
        fits := tuple(_other_splits(None, operands, scene, judge))
    ):
        return explained
    notes = tuple(note for note in explained.notes if note != NOT_TOLD)
    return replace(explained, arrays=operands, fits=fits, notes=notes)


def _refusable(scene: ErrorScene) -> Operands:
    """The operands whose split can be what is refused, each name once."""
    split = {array.name: array for array in split_operands(scene) if any(array.spec or ())}
    return tuple(one for one in split.values() if one.mesh is not None and "explicit" in one.mesh.axis_types)


def unknown(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A refusal in words that no row has."""
    operands = _refusable(scene)
    if not operands or not scene.operator:
        return None
    said = " ".join(re.split(r"(?<=\.)\s+(?=[A-Z])|\n", match["said"])[0].replace("`", "'").split())
    which = "these splits together" if len(operands) > 1 else "this split"
    return {
        "operation": code(scene.operator), "which": which, "words": specs.listed_words(operands), "arrays": operands,
        "notes": (say("JAX says: {}", said),), "fits": partial(_other_splits, match, operands, scene),
    }  # fmt: skip


def unknown_together(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """The same of several operands."""
    return unknown(match, scene) if len(_refusable(scene)) > 1 else None


def repeating(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """A spec with an axis twice; None where the user wrote it, and no operation made it of its operands."""
    operands, is_pick = split_operands(scene), scene.operator == "[]"
    is_written = match["axis"] in specs.axes_in(one.spec or () for one in scene.specs)
    if not operands or (not is_pick and (is_written or len(operands) < 2)):
        return None
    words = specs.listed_words(own for own in operands if any(own.spec or ()))
    fits = partial(_picked if is_pick else _other_splits, match, operands, scene)
    return {"result": spec_words(read_spec(match["spec"])), "words": words, "arrays": operands, "fits": fits}


# ---------------------------------------------------------------- operands in other splits


def _other_splits(match: object, operands: Operands, scene: ErrorScene, judge: Judge) -> list[Fit]:
    """Operands in other splits that JAX takes: each alone, or all in one split where that moves less."""
    if found := first_accepted(_written(operands, scene), judge):
        return found
    split = {own.name: own for own in operands}
    # Of equally large ones the last first.
    ordered = sorted([*split.values()], key=_bits, reverse=True)[::-1] if len(split) < 3 else ()
    alone = [_alone(own, operands, scene, judge) for own in ordered]
    costs = {fit.edit: cost for found in alone for cost, fit in found}
    both = _at_once(operands, scene, judge, min(costs.values(), default=math.inf))
    return both or [fit for found in alone for _, fit in found]


def _alone(
    own: ErrorArray, beside: Operands, scene: ErrorScene, judge: Judge, *more: SpecEntry, is_whole: bool = False
) -> list[tuple[float, Fit]]:
    """One operand in the split that moves least of those that JAX takes, and how much that is."""
    for spec in _variants(own, beside, more)[:_MOST_ASKED]:
        fit = ways.moved([(own, spec)], scene, is_whole=is_whole)
        if fit and judge(fit, ()):
            return [(_cost(own, spec), fit)]
    return []


def _at_once(operands: Operands, scene: ErrorScene, judge: Judge, most: float) -> list[Fit]:
    """Several operands in other splits, if that moves less than `most`; of many, all in one split."""
    each = [(own.spec or (), *_variants(own, operands)) for own in operands]
    if math.prod(map(len, each)) <= _MOST_TOGETHER:
        every = list(itertools.product(*each))
    else:
        likes = dict.fromkeys(itertools.chain.from_iterable(each))
        every = [tuple(_aligned(like, own) for own in operands) for like in likes]
    costs = sorted((sum(map(_cost, operands, every[number])), number) for number in range(len(every)))
    cheaper = (ways.moved(zip(operands, every[number], strict=True), scene) for cost, number in costs if cost < most)
    return first_accepted(filter(None, cheaper), judge)


def _variants(own: ErrorArray, beside: Operands, more: Sequence[SpecEntry] = ()) -> list[PartitionSpec]:
    """Every other split of an array by entries that it and those beside it have, what moves least first."""
    spec, others = own.spec or (), [_aligned(one.spec or (), own) for one in beside]
    choices = [tuple(dict.fromkeys((*entries, *more, None))) for entries in zip(spec, *others, strict=True)]
    # Of many dimensions, the last ones keep what they have.
    every = itertools.product(*(choice if place < _MOST_RANK else choice[:1] for place, choice in enumerate(choices)))
    # What has an axis twice is no spec.
    found = [one for one in every if one != spec and specs.without_repeats(one) == one]

    def effort(one: PartitionSpec) -> tuple[float, int, int]:
        return _cost(own, one), sum(old != new for old, new in zip(spec, one, strict=True)), one.count(None)

    return sorted(found, key=effort)


def _cost(own: ErrorArray, spec: PartitionSpec) -> float:
    """The bits that a device then holds, where they are not a slice of what it has."""
    pairs, sizes = zip(own.spec or (), spec, strict=True), own.mesh.sizes if own.mesh else {}
    is_slice = all(set(axes_of(old)) <= set(axes_of(new)) for old, new in pairs)
    return 0 if is_slice else _bits(own) / (math.prod(specs.parts_of(entry, sizes) for entry in spec) or 1)


def _bits(array: ErrorArray) -> int:
    return math.prod(array.shape or ()) * (bits_of(array.dtype) or 64)


def _aligned(spec: PartitionSpec, own: ErrorArray) -> PartitionSpec:
    """A spec for the dimensions of an array, the last ones under each other; those it has more keep their split."""
    mine = own.spec or ()
    return (*mine[: max(len(mine) - len(spec), 0)], *spec[max(len(spec) - len(mine), 0) :])


def _written(operands: Operands, scene: ErrorScene) -> Iterator[Fit]:
    """Moves what is written into a part of an array to the nearest split that lets the array keep its own."""
    if ".at[" in scene.expression and len(operands) == 2:
        array, update = operands
        for spec in _variants(update, ()):
            if fit := ways.moved([(update, spec)], scene, is_whole=True):
                yield replace(fit, edit=f"{fit.edit[:-1]}, out_sharding={spec_text(array.spec or ())})")


# ---------------------------------------------------------------- results


def _product(match: re.Match[str], operands: Operands, scene: ErrorScene, judge: Judge) -> Iterator[Fit]:
    """A product with an `out_sharding`, or with either operand in the nearest split that JAX takes without one."""
    sides = [read_spec(text) for text in (match.groupdict().get("one"), match.groupdict().get("other")) if text]
    pairs = [pair for pair in zip(*sides, strict=False) if None not in pair]
    unlike = next((pair for pair in pairs if pair[0] != pair[-1]), ())
    summed = () if unlike or "sum" not in match.groupdict() else tuple(specs.axes_in([plain_entries(sides[0])]))
    reshards, made = list[Fit](), list[PartitionSpec]()
    for own in operands if len(operands) == 2 else ():
        reshards += [fit for _, fit in _alone(own, (), scene, judge, *unlike, is_whole=True)]
    for fit in reshards:
        result = judge(fit, ())
        made += [result.spec] if isinstance(result, ErrorArray) and result.spec is not None else []
    # What JAX makes where one operand or the other is gathered is, together, how nothing would move.
    natural = tuple(next(filter(None, entries), None) for entries in zip(*made, strict=True))
    used = (*specs.axes_in([natural, unlike]), *summed)
    unused = [axis for axis in specs.axes_in(own.spec or () for own in operands) if axis not in used]
    for result in dict.fromkeys(specs.without_repeats(natural, last=last) for last in (False, True)) if made else ():
        pairs = zip(natural, result, strict=True)
        lost = tuple(
            dict.fromkeys((*(axis for old, new in pairs for axis in axes_of(old) if axis not in axes_of(new)), *unused))
        )
        yield from ways.with_out_sharding(result, _effect(lost, summed), scene)
        if summed and not lost:
            yield from first_accepted(_scattered(operands, result, summed, scene), judge)
    yield from reshards or _other_splits(match, operands, scene, judge)


def _effect(lost: tuple[str, ...], summed: tuple[str, ...]) -> Sentence:
    if not summed:
        moved = say("one operand is moved to the other's split first")
        return say("communicates over {}", over_words(lost)) if lost else moved
    words = say("each device multiplies its parts, and the partial sums are added over {}", over_words(summed))
    # An axis that the result would have had twice: one operand is gathered over it as well.
    return say("{}; communicates over {}, too", words, over_words(lost)) if lost else words


def _scattered(operands: Operands, result: PartitionSpec, summed: tuple[str, ...], scene: ErrorScene) -> Iterator[Fit]:
    """The sum split over what it is summed over, along the last dimension that can be."""
    parts = next((specs.parts_of(summed, one.mesh.sizes) for one in operands if one.mesh is not None), 1)
    for place in [place for place, entry in enumerate(result) if entry is None][::-1]:
        effect = say("the same sum; each device keeps {} of dimension {}", f"1/{parts}", place)
        yield from ways.with_out_sharding((*result[:place], entry_of(summed), *result[place + 1 :]), effect, scene)


def _picked(match: re.Match[str], operands: Operands, scene: ErrorScene, judge: Judge) -> Iterator[Fit]:
    """Says the split of a picked result, or gathers the array; an update keeps the array's split."""
    array, others = operands[0], operands[1:]
    if match.groupdict().get("how", "get") != "get":
        yield from ways.with_out_sharding(array.spec or (), say("split as {} is", name(array.name)), scene)
        return
    if scene.operator == "[]":
        for spec, effect in _picked_specs(array, others, scene):
            yield from ways.with_out_sharding(spec, effect, scene)
        yield from ways.with_out_sharding((), _COPY, scene)
    if any(array.spec or ()):
        yield ways.reshard_fit(array, (None,) * len(array.shape or ()), scene)


def _picked_specs(array: ErrorArray, others: Operands, scene: ErrorScene) -> Iterator[tuple[PartitionSpec, Sentence]]:
    """The spec that the indices and the rest of the array suggest, for `table[ids]` and `table[:, ids]`."""
    picks = [text.strip() for text in scene.subscripts.split(",")]
    if len(others) != 1 or set(picks) - {":", others[0].name} or picks.count(others[0].name) != 1:
        return
    indices, place, spec = others[0], picks.index(others[0].name), array.spec or ()
    rows = spec[place] if place < len(spec) else None
    natural = specs.without_repeats((*spec[:place], *(indices.spec or ()), *spec[place + 1 :]))
    effect = (
        say("split as the indices are") if any(spec) else say("split as {} is; nothing is sent", name(indices.name))
    )
    if rows is not None:
        effect = say("communicates over {}, along which each device has other rows", over_words(rows))
    if any(natural) and "bool" not in indices.dtype:
        yield natural, effect


def _repeated(match: re.Match[str], operands: Operands, scene: ErrorScene, judge: Judge) -> Iterator[Fit]:
    """The result split as the operand is; without an axis, which makes one dimension of all, on every device."""
    for own in operands[:1]:
        spec = own.spec if own.spec and any(own.spec) else ()
        kept = list(ways.with_out_sharding(spec, say("split as {} is", name(own.name)), scene))
        if kept and judge(kept[0], ()) is False:
            yield from ways.with_out_sharding((), _COPY, scene)
            return
        yield from kept
    yield from _other_splits(match, operands, scene, judge)


def _reshaped(match: re.Match[str], operands: Operands, scene: ErrorScene, judge: Judge) -> Iterator[Fit]:
    """Specs of the new shape: with as many of the entries as go, in their order, which a reshape keeps."""
    shape, array = read_integers(match["shape"]), operands[0]
    if scene.operator not in ("reshape", "ravel", "flatten") or "order" in ways.texts_of(scene):
        # The reshape is within another function, and its result is not that function's.
        yield ways.reshard_fit(array, (None,) * len(array.shape or ()), scene)
        return
    entries = plain_entries(array.spec)

    def made(spec: PartitionSpec, effect: Sentence) -> Fit:
        edit = f"jnp.reshape({array.name}, {shape}, out_sharding={spec_text(spec)})"
        return replace(ways.instead(scene, edit, effect), spec=spec, target="result")

    def placed(count: int) -> Iterator[Fit]:
        places = itertools.combinations(range(len(shape)), count)
        for some, where in itertools.product(itertools.combinations(entries, count), places):
            spec = tuple(dict(zip(where, some, strict=True)).get(dimension) for dimension in range(len(shape)))
            local = specs.shape_words(replace(array, shape=shape, spec=spec).local_shape)
            yield made(spec, say("a device holds {}; parts move between devices as needed", local))

    # All of them if the new dimensions allow it; fewer only where no place is legal for more.
    found = (first_accepted(placed(count), judge, 2) for count in range(len(entries), 0, -1))
    yield from next(filter(None, found), [])
    yield made(
        (None,) * len(shape), say("gathers {} over {}", name(array.name), over_words(tuple(specs.axes_in([entries]))))
    )


def _each(match: re.Match[str], operands: Operands, scene: ErrorScene, judge: Judge) -> Iterator[Fit]:
    """Of what a scan goes over, which is not in one call with what else is refused, each array alone."""
    split = [own for own in operands if own.spec and own.spec[0] is not None]
    fits = [ways.reshard_fit(own, (None, *(own.spec or ())[1:]), scene) for own in split]
    together = ways.moved([(own, fit.spec or ()) for own, fit in zip(split, fits, strict=True)], scene)
    yield from first_accepted([together] if together else [], judge) or fits


# ---------------------------------------------------------------- the readers of the table

refused: Reader = _refusal(_other_splits)
product: Reader = _refusal(_product)
picked: Reader = _refusal(_picked)
repeated: Reader = _refusal(_repeated)
reshaped: Reader = _refusal(_reshaped)
scanned: Reader = _refusal(_each)
