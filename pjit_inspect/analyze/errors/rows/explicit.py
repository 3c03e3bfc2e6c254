"""The table's rows of operations of one array that an Explicit mesh refuses: what is wrong, from JAX's message and the operands.

What would be legal is JAX's to say: each row proposes other splits of the operands or an `out_sharding`, and JAX picks.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `lax/slicing.py`, `lax/lax.py`, `lax/linalg.py`,
`lax/convolution.py`, `lax/control_flow/loops.py`, `numpy/lax_numpy.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import advice, reshard_fit
from pjit_inspect.analyze.errors.printed import (
    SHAPE,
    SHARDING,
    SPEC,
    read_integers,
    read_sharding,
    read_spec,
    read_type,
)
from pjit_inspect.analyze.errors.proposals import (
    NOT_TOLD,
    cleared,
    first_accepted,
    indexed_fits,
    only_of,
    specs_towards,
    split_operands,
    together,
    with_out_sharding,
)
from pjit_inspect.analyze.errors.specs import (
    axes_in,
    axes_words,
    division,
    over_axes,
    plain_entries,
    shape_words,
    spec_words,
    type_words,
)
from pjit_inspect.analyze.errors.table import Facts, Judge, Propose
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.program.spec import PartitionSpec, axes_of
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words.sentence import Sentence, code, name, say

_RESHAPES = ("reshape", "ravel", "flatten")
_PICKING = ("take", "take_along_axis")
"""Functions that pick from their first argument."""
_SIZED = ("slice", "dynamic_slice", "dynamic_slice_in_dim", "slice_in_dim", "pad")
"""Functions whose caller chooses the new length."""
_MOST_TYPES = 16


def _untold(match: re.Match[str], scene: ErrorScene) -> Facts:
    return {"notes": (NOT_TOLD,)}


# ---------------------------------------------------------------- indexing and reshapes


def _picked(match: re.Match[str], scene: ErrorScene) -> Facts:
    quoted = read_type(match["type"]) if match["type"] else None
    array = only_of(quoted, scene) if quoted is not None else _indexed(scene)
    is_update = match["how"] != "get"
    if array is None:
        of = say(" {} split as {}", type_words(quoted), spec_words(quoted.spec)) if quoted is not None else " an array"
        return {"what": say("JAX cannot tell how to split the result of indexing{}", of), "notes": (NOT_TOLD,)}
    others = [other for other in scene.operands if other is not array]
    own = say("{}, which is split as {}", name(array.name), spec_words(array.spec))
    split = [one for one in others if any(one.spec or ())]
    if not any(array.spec or ()) and len(split) == 1:
        own = say("{} by {}, which is split as {}", name(array.name), name(split[0].name), spec_words(split[0].spec))
    picks = code(f"{array.name}[{scene.subscripts}]" if scene.operator == "[]" else scene.operator)
    head = say("an update of {}", own) if is_update else say("{} picks from {}", picks, own)
    fits = _updated(array, scene) if is_update else indexed_fits(array, scene)
    what = say("{}: JAX will not choose how the result is split", head)
    return {"what": what, "arrays": (array, *others), "fits": tuple(fits)}


def _updated(array: ErrorArray, scene: ErrorScene) -> Iterator[Fit]:
    fits = list(with_out_sharding(array.spec or (), say("split as {} is", name(array.name)), scene))
    text = f"out_sharding={spec_words(array.spec).text}"
    yield from fits or [advice(say("give the update {}", code(text)), say("split as {} is", name(array.name)))]


def _indexed(scene: ErrorScene) -> ErrorArray | None:
    """What is picked from where the message quotes no type (0.8.1), if that is split."""
    first = scene.operands[0] if scene.operands else None
    if first is None or not any(first.spec or ()):
        return None
    if scene.operator == "[]":
        return first if scene.expression.startswith(f"{first.name}[") else None
    if scene.operator in _PICKING:
        return first if _texts(scene).get("0") == first.name else None
    is_only = scene.is_complete and not any(any(other.spec or ()) for other in scene.operands[1:])
    return first if is_only and scene.operator.isidentifier() else None


def _texts(scene: ErrorScene) -> dict[str, str]:
    return {argument.key: argument.text for argument in scene.arguments}


def _reshape(match: re.Match[str], scene: ErrorScene) -> Facts:
    quoted, shape = read_type(match["type"], "operand"), read_integers(match["shape"])
    array = only_of(quoted, scene)
    shown = array or quoted
    facts = {
        "what": name(shown.name) if array is not None else "the array", "before": shape_words(shown.shape or ()), "spec": spec_words(shown.spec),
        "after": shape_words(shape), "arrays": (shown,),
    }  # fmt: skip
    if array is None:
        return facts | {"notes": (NOT_TOLD,)}
    if scene.operator not in _RESHAPES or "order" in _texts(scene):
        # The reshape is within another function, and its result is not that function's.
        return facts | {"fits": (reshard_fit(array, (None,) * len(array.shape or ()), scene),)}
    return facts | {"fits": _reshaped(array, shape, scene)}


def _reshaped(array: ErrorArray, shape: tuple[int, ...], scene: ErrorScene) -> Propose:
    """Specs of the new shape: with as many of the entries as go, in their order, which a reshape keeps."""
    entries = plain_entries(array.spec or ())

    def made(spec: PartitionSpec, effect: Sentence) -> Fit:
        edit = f"jnp.reshape({array.name}, {shape}, out_sharding={spec_words(spec).text})"
        return Fit(edit=edit, effect=effect, spec=spec, target="result", replaces=scene.expression)

    def placed(count: int) -> Iterator[Fit]:
        for some, places in itertools.product(
            itertools.combinations(entries, count), itertools.combinations(range(len(shape)), count)
        ):
            spec = tuple(dict(zip(places, some, strict=True)).get(dimension) for dimension in range(len(shape)))
            local = replace(array, shape=shape, spec=spec).local_shape or ()
            yield made(spec, say("a device holds {}; parts move between devices as needed", shape_words(local)))

    def propose(judge: Judge) -> Iterator[Fit]:
        # All of them if the new dimensions allow it; fewer only where no place is legal for more.
        found = (first_accepted(placed(count), judge, 2) for count in range(len(entries), 0, -1))
        yield from next(filter(None, found), [])
        yield made((None,) * len(shape), say("gathers {} over {}", name(array.name), over_axes(axes_in([entries]))))

    return propose


# ---------------------------------------------------------------- along a dimension


def _along(match: re.Match[str], scene: ErrorScene) -> Facts:
    """An operation along dimensions that must not be split, such as a sort."""
    groups = match.groupdict()
    if groups.get("type"):
        quoted = [read_type(match["type"], "operand")]
    elif groups.get("sharding"):
        quoted = [replace(read_sharding(match["sharding"]), name="operand")]
    else:
        specs = [read_spec(text[0]) for text in re.finditer(SPEC, match["specs"])]
        quoted = [ErrorArray(name="operand", spec=spec) for spec in specs[:_MOST_TYPES]]
    quoted = [array for array in quoted if array.spec and _places(groups, array.spec)]
    if not quoted:
        raise ValueError("what is quoted is not split there")
    split = [other for other in scene.operands if any(other.spec or ())]
    arrays = _meant(quoted, split, is_any="matrix" in groups)
    array, facts = arrays[0], _along_words(arrays[0], _places(groups, arrays[0].spec or ()), scene)
    if not array.is_named:
        return facts | {"arrays": (array,), "notes": (NOT_TOLD,)}
    is_apart = "of_scan" in groups and len(arrays) > 1 and not all(one.name in scene.expression for one in arrays)
    notes = (say("every array needs its own change"),) if is_apart else ()

    def propose(judge: Judge) -> Iterator[Fit]:
        found = first_accepted(cleared(split, scene), judge)
        # What a scan goes over is not in one call with what else is refused: each array alone.
        alone = arrays if "of_scan" in groups and not found else ()
        yield from found or (reshard_fit(one, (None, *(one.spec or ())[1:]), scene) for one in alone)

    return facts | {"arrays": tuple(arrays), "fits": propose, "notes": notes}


def _places(groups: dict[str, str], spec: PartitionSpec) -> list[int]:
    """The split dimensions that the operation works along."""
    split = [place for place, entry in enumerate(spec) if entry is not None]
    if "matrix" in groups:
        return [place for place in split if place >= len(spec) - 2]
    if "repeats" in groups:
        return [place for place in split if read_integers(groups["repeats"])[place] != 1]
    along = read_integers(groups["dimensions"]) if groups.get("dimensions") else (int(groups.get("dimension") or 0),)
    return [place for place in split if place in along]


def _meant(quoted: Sequence[ErrorArray], split: Sequence[ErrorArray], *, is_any: bool) -> list[ErrorArray]:
    """The user's arrays that the message means: those of its spec and shape, where that is one each."""
    found: list[ErrorArray] = []
    for wanted in quoted:
        same = [other for other in split if other.spec == wanted.spec and wanted.shape in (None, other.shape)]
        found += (same if is_any or len(same) == 1 else []) or [wanted]
    return found


def _along_words(array: ErrorArray, places: Sequence[int], scene: ErrorScene) -> dict[str, object]:
    over = over_axes([axis for place in places for axis in axes_of((array.spec or ())[place])])
    are, they = ("is", "it") if len(places) == 1 else ("are", "they")
    return {
        "operation": code(scene.operator) if scene.operator.isidentifier() else "the operation", "over": over, "are": are, "they": they,
        "dimensions": " and ".join(f"dimension {place}" for place in places), "what": name(array.name) if array.is_named else "its operand",
    }  # fmt: skip


def _repeat(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    split = [other for other in scene.operands if any(other.spec or ())]
    texts, array = _texts(scene), split[0] if len(split) == 1 and scene.operator == "repeat" else None
    along = texts.get("axis") or texts.get("2", "")
    if array is None or not array.spec or not along:
        return None
    every = [place for place, entry in enumerate(array.spec) if entry is not None]
    place = int(along) % len(array.spec) if along.lstrip("-").isdigit() else -1

    def propose(judge: Judge) -> Iterator[Fit]:
        # As often for every element: then the longer dimension is divided, too.
        if (texts.get("1") or texts.get("repeats", "")).isdigit():
            yield from with_out_sharding(array.spec or (), say("split as {} is", name(array.name)), scene)
        yield from first_accepted(cleared([array], scene), judge)

    return _along_words(array, [place] if place in every else every, scene) | {"arrays": (array,), "fits": propose}


def _flat(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """All elements in one row: up to JAX 0.9.0 that is refused of an array that is not split, too."""
    if scene.operator != "repeat" or not scene.arguments or _texts(scene).keys() & {"2", "axis"}:
        return None
    split = [other for other in scene.operands if any(other.spec or ())][:1]
    of = say(" of {}, which is split as {}", name(split[0].name), spec_words(split[0].spec)) if split else ""
    effect = say("a copy of the result on every device")
    words = say("give {} {}", code("repeat"), code("out_sharding=P()"))
    fits = tuple(with_out_sharding((), effect, scene)) or (advice(words, effect),)
    return {"of": of, "arrays": tuple(split), "fits": fits}


# ---------------------------------------------------------------- new lengths and updates


def _new_size(match: re.Match[str], scene: ErrorScene) -> Facts:
    names = tuple(re.findall(r"'([^']{1,200})'", match["entry"]) or [match["entry"].strip()])
    length, parts = int(match["length"]), int(match["parts"])
    operation = scene.operator if scene.operator.isidentifier() else match["operation"]
    quoted = read_type(match["type"], "operand") if match["type"] else None
    array, places = _resized(match, quoted, names, scene)
    if quoted is not None and places and (array is None or array.shape == quoted.shape):
        length = _lengths(match)[places[0]]
    type_ = f"an array {shape_words(quoted.shape or ())}" if quoted is not None else "its operand"
    facts: dict[str, object] = {
        "operation": code(operation), "length": f"{length:,}", "where": f"dimension {places[0]}" if len(places) == 1 else "a dimension",
        "what": name(array.name) if array is not None else type_, "division": division(length, parts),
        "over": axes_words(names, array.mesh.sizes if array is not None and array.mesh is not None else {}),
    }  # fmt: skip
    if array is None:
        return facts | {"notes": (NOT_TOLD,)}

    def propose(judge: Judge) -> Iterator[Fit]:
        yield from first_accepted(cleared([array], scene), judge)
        longer = -(-length // parts) * parts
        is_there = operation == "pad" or longer <= (array.shape or ())[places[0]]
        if operation in _SIZED and len(places) == 1 and is_there:
            yield advice(f"make it a length of {longer:,} along dimension {places[0]}", f"{parts} divides that")

    return facts | {"arrays": (array,), "fits": propose}


def _lengths(match: re.Match[str]) -> tuple[int, ...]:
    # Before numpy 2, and where JAX worked it out itself: `8`; else `np.int64(8)`.
    return read_integers(re.sub(r"np\.int64\((\d+)\)", r"\1", match["shape"]))


def _resized(
    match: re.Match[str], quoted: ErrorArray | None, names: tuple[str, ...], scene: ErrorScene
) -> tuple[ErrorArray | None, list[int]]:
    """The operand, and its dimensions that must not be split."""
    if quoted is None:
        found = [
            (array, place) for array in split_operands(scene) for place, entry in enumerate(array.spec or ())
            if axes_of(entry) == names
        ]  # fmt: skip
        return (found[0][0], [found[0][1]]) if len(found) == 1 else (None, [])
    lengths = enumerate(zip(quoted.shape or (), _lengths(match), quoted.spec or (), strict=True))
    places = [
        place for place, (before, after, entry) in lengths
        if before != after and axes_of(entry) == names and after % int(match["parts"])
    ]  # fmt: skip
    # The function may have given it another shape first, as `roll` without an axis does: all of it is concerned.
    count, array = math.prod(quoted.shape or ()), only_of(quoted, scene)
    like = [one for one in split_operands(scene) if any(one.spec or ()) and math.prod(one.shape or ()) == count]
    if array is not None or len(like) != 1 or not scene.is_complete:
        return array, places
    return like[0], [place for place, entry in enumerate(like[0].spec or ()) if entry is not None]


def _update(match: re.Match[str], scene: ErrorScene) -> Facts:
    updated, part = read_type(match["updated"]), read_type(match["part"])
    array, update = only_of(updated, scene), only_of(part, scene)
    facts: dict[str, object] = {
        "update": name(update.name) if update is not None else "the update", "spec": spec_words(part.spec),
        "array": name(array.name) if array is not None else "the array", "own": spec_words(updated.spec),
    }  # fmt: skip
    if array is None or update is None:
        return facts | {"notes": (NOT_TOLD,)}

    def propose(judge: Judge) -> list[Fit]:
        own = array.spec or ()
        both = (together(((array, target), (update, target)), scene) for target in (own, *specs_towards(array, own)))
        return first_accepted(itertools.chain.from_iterable(both), judge)

    return facts | {"arrays": (array, update), "fits": propose}


_ALONG_WORDS = "{operation} works along {dimensions} of {what}, which {are} split over {over}: {they} must not be split"
_REPEAT = r"Please pass sharding to `jnp\.repeat` via `out_sharding` parameter\.$"

EXPLICIT_ROWS = (
    # 0.8.1 ends before "Got", where it picks.
    _row("indexing", r"Use `\.at\[\.\.\.\]\.(?P<how>get|set/add/mul/\.\.\.)\(out_sharding=\)` .{0,400}? on inputs\)\.(?: Got operand=ShapedArray\((?P<type>.{1,400}?)\), "
         r"indices=ShapedArray\(.{1,400}?\)(?:, updates=ShapedArray\(.{1,400}?\))?)?$", "{what}", facts=_picked),
    _row("reshape", rf"This reshape is not supported\..{{0,400}}? Got operand type: (?P<type>\S{{1,400}}), new sizes: (?P<shape>{SHAPE})",
         "{what} {before}, split as {spec}, is to become {after}: its parts would no longer be whole slices, and JAX will not choose new ones", facts=_reshape),
    _row("split dimension", r"(?:Input should be unsharded over the axis being reduced|The input should be unsharded over the axis along which to compute the top_k values)\. "
         r"Got input type=(?P<type>\S{1,400}) and axis=(?P<dimension>\d{1,4})$", _ALONG_WORDS, facts=_along),
    _row("split dimension", rf"Arguments to sort must be unsharded over the sorting dimension\. Got arg sharding=.{{0,4000}}?(?P<sharding>{SHARDING})[^N]{{0,40}} and sorting dimension=(?P<dimension>\d{{1,4}})$",
         _ALONG_WORDS, facts=_along),
    _row("split dimension", r"Operand cannot be sharded on dimension \d{1,4} when the tiling is non-trivial\. Got input type: (?P<type>\S{1,400}) with reps: (?P<repeats>\([\d, ]{0,200}\))$",
         _ALONG_WORDS, facts=_along),
    # 0.12.0.1; earlier ones refuse the slices that it makes.
    _row("split dimension", r"`a` cannot be sharded on the axis being rolled over\. Got arr type=(?P<type>\S{1,400}) and axis=(?P<dimensions>\([\d, ]{0,200}\))$", _ALONG_WORDS, facts=_along),
    _row("split dimension", rf"Input \d{{1,4}} to (?P<matrix>\w{{1,40}}) must be unsharded on non-batch dimensions, but got (?P<specs>{SPEC})\.$", _ALONG_WORDS, facts=_along),
    _row("split dimension", rf"(?P<of_scan>0th dimension of all xs) should be replicated\. Got (?P<specs>{SPEC}(?:, {SPEC}){{0,100}})$", _ALONG_WORDS, facts=_along),
    _row("split dimension", _REPEAT, "`repeat` without an axis makes one dimension of all elements{of}: JAX will not choose how the result is split", facts=_flat),
    _row("split dimension", _REPEAT, _ALONG_WORDS, facts=_repeat),
    _row("split dimension", _REPEAT, "`repeat` works along a dimension that is split", facts=_untold),
    # Up to 0.10.0 it ends with "is not implemented.".
    _row("new size", r"(?P<operation>\w{1,40}) on sharded dims where out dim \((?P<length>\d{1,18})\) is not divisible by mesh axes \((?P<parts>0*[1-9]\d{0,11})\) with spec \((?P<entry>.{1,200}?)\) "
         r"is not implemented\.(?: Got input type=(?P<type>\S{1,400}) and output shape=(?P<shape>\(.{0,600}\)))?$",
         "{operation} makes an array of length {length} along {where} of {what}, which is split over {over}: {division}", facts=_new_size),
    _row("update", r"dynamic_update_slice operand sharding must be equal to update sharding, got operand sharding (?P<updated>\S{1,400}?)(?:\(\{[^\n]{0,400}?\}\))? and update sharding "
         r"(?P<part>\S{1,400}?)(?:\(\{[^\n]{0,400}?\}\))?\.$", "{update} is {spec}, but {array} that it updates is {own}: an update must be split as what it updates", facts=_update),
    _row("convolution", r"Please specify the output sharding via `out_sharding` parameter of `conv_general_dilated`$",
         "JAX will not choose how the result of a convolution is split: it does where the kernel is replicated and the features of the input are not split", facts=_untold),
)  # fmt: skip
"""Each tried in turn; of two rows with one pattern the first whose facts are there."""
