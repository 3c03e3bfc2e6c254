"""The table's rows of specs and meshes that are wrong in themselves, or for a shape that they do not divide.

*Source*: the texts in `jax/_src` of 0.8.1 to 0.12.0: `sharding.py`, `pjit.py`, `named_sharding.py`, `sharding_impls.py`,
`mesh.py`, `core.py`, `shard_map.py`.
"""

# ruff: noqa: E501

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial

from pjit_inspect.analyze.errors.fits import advice, clauses
from pjit_inspect.analyze.errors.printed import (
    REPEATED,
    SHAPE,
    SHARDING,
    SPEC,
    TUPLE,
    of_shape,
    read_integers,
    read_sharding,
    read_spec,
    read_type,
)
from pjit_inspect.analyze.errors.proposals import indexed_fits, nearest_name, split_operands
from pjit_inspect.analyze.errors.specs import (
    axes_in,
    axes_list,
    axes_words,
    counted,
    divides,
    division,
    fitting_entries,
    parts_of,
    shape_words,
    spec_words,
    usable_axes,
    without_repeats,
)
from pjit_inspect.analyze.errors.table import Facts, listed_facts, read_code
from pjit_inspect.analyze.errors.table import row as _row
from pjit_inspect.model.program.spec import PartitionSpec, SpecEntry, axes_of, entry_of, spec_text
from pjit_inspect.model.report.explained_error import PLACING, ErrorArray, ErrorScene, Fit
from pjit_inspect.model.sharding.mesh import MeshAxes
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, code, joined, name, say

_MOST = 2
_MOST_ARRAYS = 8
_MOST_DEVICES = 65_536
_MOST_RANK = 4

Failing = tuple[ErrorArray, int, int]
"""An array, the dimension that is not divided, and into how many parts it is split."""


# ---------------------------------------------------------------- a dimension that its axes do not divide


def _given(match: re.Match[str]) -> Failing:
    """What a message says of one sharding and one shape."""
    shape, dimension, path = read_integers(match["shape"]), int(match["dimension"]), match.groupdict().get("path")
    array = replace(read_sharding(match["sharding"]), name=path or "", is_named=path is not None)
    if dimension >= len(shape):
        raise ValueError(f"{shape} has no dimension {dimension}")
    return of_shape(array, shape), dimension, int(match["parts"])


def _uneven(match: re.Match[str], scene: ErrorScene, default: str = "") -> Facts:
    array, dimension, parts = _given(match)
    return _not_divided([(_named(array, scene, default), dimension, parts)], scene)


def _named(array: ErrorArray, scene: ErrorScene, default: str) -> ErrorArray:
    """The array with the user's name of it, where one can be told.

    A function that only places arrays is told what it got; of any other call, the argument of that shape need not be
    the array: a result may be.
    """
    if scene.operator in PLACING:
        same = [other for other in scene.operands if other.shape == array.shape]
        known = same[0] if len(same) == 1 and scene.is_complete else replace(array, name="", is_named=False)
        return replace(array, name=known.name, dtype=known.dtype, is_named=known.is_named)
    checked = scene.checked or default
    return replace(array, name=checked, is_named=True) if checked and not array.is_named else array


_SHARD_MAP_MESH = re.compile(
    r"The mesh given has shape (\([\d, ]{0,200}\)) with corresponding axis names (\([^()\n]{0,400}\))"
)
_SHARD_MAP_ARGUMENT = re.compile(
    r"the passed (args\S{0,400}?) of shape (\w{1,24}\[[\d,]{0,200}\])(?:, where (args\S{0,100}?) is bound to \S{1,200}?'s parameter '(\w{1,200})')?, "
    rf"corresponds to in_specs\S{{0,400}}? of value ({SPEC}), which maps array axis (\d{{1,4}}) \(of size \d{{1,18}}\) to mesh ax[^\n]{{0,800}}?, but (\d{{1,12}}) does not evenly divide"
)


def _uneven_arguments(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    known = _SHARD_MAP_MESH.search(match.string)
    names = tuple(map(str, read_spec(known[2]))) if known else ()
    mesh = MeshAxes(axis_names=names, shape=read_integers(known[1])) if known else None
    found: list[Failing] = []
    for one in list(_SHARD_MAP_ARGUMENT.finditer(match.string))[:_MOST_ARRAYS]:
        array, dimension = replace(read_type(one[2]), spec=read_spec(one[5]), mesh=mesh), int(one[6])
        path = one[4] + one[1][len(one[3]) :] if one[4] else one[1]
        array = of_shape(replace(array, name=path, is_named=bool(one[4])), array.shape or ())
        found.append((_named(array, scene, ""), dimension, int(one[7])))
    facts = _not_divided(found, scene) if found else {}
    return {**facts, "fits": tuple(map(_for_both, listed_facts(facts, "fits", Fit)))} if found else None


def _for_both(fit: Fit) -> Fit:
    """Another spec for an argument of `shard_map`, in words: what it computes has another split with it."""
    words = say("write {} in `in_specs`, and in `out_specs` how the result is then split", Phrase("spec", fit.edit))
    return advice(words, say("{}: the function sees other parts", fit.effect)) if fit.is_code else fit


def _not_divided(found: Sequence[Failing], scene: ErrorScene) -> Facts:
    first = found[0]
    more = [say("the ways to fix it are for the first of them")] if len(found) > 1 else []
    which = () if first[0].is_named else _candidates(first[0], scene)
    return {
        "uneven": clauses([_uneven_sentence(*one) for one in found]), "arrays": tuple(array for array, _, _ in found),
        "notes": (*which, *more), "fits": tuple(_evened(*first)),
    }  # fmt: skip


def _candidates(array: ErrorArray, scene: ErrorScene) -> Iterator[Sentence]:
    """Which array it may be, and what may tell more."""
    same = [name(other.name) for other in scene.operands if other.shape == array.shape]
    if same:
        more = [f"{len(same) - 3} more"] if len(same) > 3 else []
        has = "has" if len(same) == 1 else "have"
        rest = "" if scene.is_complete else ", and not every shape in the line is known"
        listed = joined([*same[:3], *more], comma=" and ")
        yield say("JAX does not say which array it is; {} {} that shape{}", listed, has, rest)
    if scene.is_filtered and scene.operator not in PLACING:
        yield say("JAX left its own lines out of the traceback; with JAX_TRACEBACK_FILTERING=off they may tell more")


def _called(array: ErrorArray) -> Phrase | str:
    if array.is_named:
        return name(array.name)
    return f"the array {shape_words(array.shape)}" if array.shape is not None else "the array"


def _uneven_sentence(array: ErrorArray, dimension: int, parts: int) -> Sentence:
    length = (array.shape or ())[dimension]
    head, result = say("dimension {} of {} is {}", dimension, _called(array), f"{length:,}"), division(length, parts)
    if array.spec is None or array.spec[dimension] is None:
        return say("{}, and its sharding splits it into {} parts: {}", head, f"{parts:,}", result)
    over = axes_words(axes_of(array.spec[dimension]), array.mesh.sizes if array.mesh is not None else {})
    return say("{}, and {} splits it over {}: {}", head, spec_words(array.spec), over, result)


def _evened(array: ErrorArray, dimension: int, parts: int) -> Iterator[Fit]:
    """Other specs, nearest to what was asked first: other axes, another dimension, a longer array, no split."""
    shape, spec, mesh = array.shape or (), array.spec, array.mesh
    if spec is None or mesh is None:
        if parts:
            longer = -(-shape[dimension] // parts) * parts
            yield advice(f"pad dimension {dimension} from {shape[dimension]:,} to {longer:,}", "the next multiple")
        return
    # Other dimensions that are not divided, either, keep those of their axes that divide them.
    others = [_kept(entry, length, mesh) for entry, length in zip(spec, shape, strict=True)]

    def changed(*entries: tuple[int, SpecEntry]) -> PartitionSpec:
        return tuple(dict(entries).get(place, entry) for place, entry in enumerate(others))

    unsplit, asked = changed((dimension, None)), axes_of(spec[dimension])
    taken = {held for entry in unsplit for held in axes_of(entry)}
    free = [(own, size) for own, size in usable_axes(mesh) if own not in taken]
    for entry in fitting_entries(shape[dimension], free)[:_MOST]:
        why = say("{} divides {}", axes_words(axes_of(entry), mesh.sizes), f"{shape[dimension]:,}")
        yield _spec_fit(array, changed((dimension, entry)), why)
    free_places = [place for place, entry in enumerate(unsplit) if entry is None and place != dimension]
    fitting = [place for place in free_places if divides(spec[dimension], shape[place], mesh.sizes)]
    for place in [place for place in fitting if shape[place]][:_MOST]:
        why = say("{} divides dimension {} ({})", axes_words(asked, mesh.sizes), place, f"{shape[place]:,}")
        yield _spec_fit(array, changed((dimension, None), (place, spec[dimension])), why)
    yield _padded(array, mesh.sizes)
    if any(unsplit):
        yield _spec_fit(array, unsplit, f"dimension {dimension} is not split")
    yield _spec_fit(array, (None,) * len(shape), "a copy on every device")


def _kept(entry: SpecEntry, length: int, mesh: MeshAxes) -> SpecEntry:
    if divides(entry, length, mesh.sizes):
        return entry
    own = [(held, mesh.sizes[held]) for held in axes_of(entry) if held in mesh.sizes]
    return next(iter(fitting_entries(length, own)), None)


def _padded(array: ErrorArray, sizes: dict[str, int]) -> Fit:
    spec, lengths = array.spec or (), list(enumerate(array.shape or ()))
    longer = [-(-length // n) * n if (n := parts_of(spec[place], sizes)) else length for place, length in lengths]
    steps = [
        f"dimension {place} from {length:,} to {longer[place]:,}"
        for place, length in lengths
        if length != longer[place]
    ]
    held = replace(array, shape=tuple(longer)).local_shape or tuple(longer)
    effect = say("with {} a device then holds {}", spec_words(spec), shape_words(held))
    return advice(f"pad {' and '.join(steps)}", effect)


def _spec_fit(array: ErrorArray, spec: PartitionSpec, why: str) -> Fit:
    """Another spec in place of the one that was refused."""
    held = replace(array, spec=spec).local_shape
    effect = say("{}; a device holds {}", why, shape_words(held)) if held is not None else say("{}", why)
    return Fit(edit=spec_text(spec), effect=effect, spec=spec, target=array.name)


# ---------------------------------------------------------------- specs with too many entries


def _too_long(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    given, rank = replace(read_sharding(match["sharding"]), name=match["path"] or ""), int(match["rank"])
    same = [other for other in scene.operands if other.shape is not None and len(other.shape) == rank]
    if match["path"] is not None:
        known = next((other for other in same if other.name == given.name), given)
        array = replace(given, shape=known.shape, dtype=known.dtype, is_named=True)
    elif len(same) == 1 and scene.is_complete:
        array = replace(same[0], spec=given.spec, mesh=given.mesh)
    else:
        array = given
    spec = given.spec
    if spec is None:
        return None
    return _shorter(array, spec, rank, (spec[:rank], spec[-rank:] if rank else (), (None,) * rank))


def _too_long_of_shard_map(match: re.Match[str], scene: ErrorScene) -> Facts:
    bound, spec = match["bound"], read_spec(match["spec"])
    path = match["parameter"] + match["path"][len(bound) :] if bound else match["path"]
    array = replace(read_type(match["type"]), name=path, spec=spec, is_named=bool(bound))
    rank, axes = len(array.shape or ()), {own for entry in spec for own in axes_of(entry)}
    # The mesh that has the axes of the spec, if the user's variables hold one like that only.
    held = {mesh.axes: mesh for mesh in scene.meshes if axes <= set(mesh.sizes)}
    array = replace(array, mesh=next(iter(held.values())) if len(held) == 1 and axes else None)
    # Within `shard_map` the last entries alone would say another thing of what the function sees.
    facts = dict(_shorter(array, spec, rank, (spec[:rank], (None,) * rank)))
    place = re.search(r"\(\*args\)\[(\d{1,4})\]$", match["path"])
    made = () if bound or not axes else _mapped_result(array, scene, int(place[1]) if place else None, match[0])
    return facts if bound else {**facts, "fits": tuple(made)}


def _shorter(array: ErrorArray, spec: PartitionSpec, rank: int, specs: Sequence[PartitionSpec]) -> Facts:
    known = [
        one for one in dict.fromkeys(specs) if not any(one) or (array.shape is not None and array.mesh is not None)
    ]
    words = [counted(len(one), "entry", "entries") if any(one) else "a copy on every device" for one in known]
    return {
        "spec": spec_words(spec), "entries": counted(len(spec), "entry", "entries"), "what": _called(array),
        "rank": counted(rank, "dimension", "dimensions"), "arrays": (array,),
        "fits": tuple(map(_spec_fit, [array] * len(known), known, words)),
    }  # fmt: skip


def _mapped_result(array: ErrorArray, scene: ErrorScene, place: int | None, said: str) -> Iterator[Fit]:
    """A result of `shard_map` with fewer dimensions than its spec has entries.

    A shorter spec would say that it is equal along the axes that are left out: no such spec is proposed, because one
    device's value would then stand for all.
    """
    axes = axes_in([array.spec or ()])
    over, own = axes_list(axes), repr(axes[0] if len(axes) == 1 else tuple(axes))
    if array.shape:
        spec = (*(None,) * (len(array.shape) - 1), entry_of(axes))
        effect = say("the parts of {} devices one after the other", over)
        yield Fit(edit=spec_text(spec), effect=effect, spec=spec, target="result")
        return
    returns = [one for function in scene.functions for one in function.returns or ()]
    line, text = returns[0] if len(returns) == 1 else (0, "")
    specs, node = say("{} for it", Phrase("spec", "P()")), read_code(text)
    if place is not None and isinstance(node, ast.Tuple) and place < len(node.elts):
        each = ["P()" if part is node.elts[place] else spec_text(array.spec or ()) for part in node.elts]
        text = ast.get_source_segment(text, node.elts[place]) or ""
        # The others keep the spec that is that of all.
        specs = Phrase("spec", f"({', '.join(each)})") if "out_specs is" in said else specs
    words = say("return {}, with {} in `out_specs`", code(f"jax.lax.psum({text or 'result'}, {own})"), specs)
    yield advice(words, say("if the sum over {} is meant: it is equal on all devices", over))
    effect = say("one number for each device along {}, put one after the other", over)
    other = line if scene.frame is None or line != scene.frame.line else None
    one = Fit(edit=f"jnp.reshape({text}, (1,))", effect=effect, replaces=text, line=other)
    yield one if text else advice(say("return it through {}", code("jnp.reshape(result, (1,))")), effect)


# ---------------------------------------------------------------- axes


def _unknown_axis(match: re.Match[str], scene: ErrorScene) -> Facts:
    names, spec, wrong = tuple(map(str, read_spec(match["names"]))), read_spec(match["spec"]), match["axis"]
    # The message has no sizes; a mesh of the user's with the same names may.
    mesh = next((str(mesh) for mesh in scene.meshes if mesh.axis_names == names), ", ".join(names))
    near = next(iter(get_close_matches(wrong, names, n=1)), "")
    right = tuple(entry_of([near if own == wrong else own for own in axes_of(entry)]) for entry in spec)
    fit = Fit(edit=spec_text(right), effect=say("{} is the nearest name", axis(near)), spec=right)
    return {"spec": spec_words(spec), "has": mesh, "fits": (fit,) if near and without_repeats(right) == right else ()}


def _not_manual(match: re.Match[str], scene: ErrorScene) -> Facts:
    names = sorted(re.findall(r"'([^'\n]{1,200})'", match["manual"]))
    near = tuple(nearest_name(match["axis"], names, scene))
    return {"has": joined(list(map(axis, names)), ", ") or "none", "fits": near}


def _repeated_result(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """Indexing whose result would use an axis twice: the spec is none that the user wrote."""
    if scene.operator != "[]" or not scene.operands:
        return None
    array = scene.operands[0]
    return {
        "picks": code(f"{array.name}[{scene.subscripts}]"), "result": spec_words(read_spec(match["spec"])),
        "own": spec_words(array.spec), "name": name(array.name), "arrays": scene.operands, "fits": tuple(indexed_fits(array, scene)),
    }  # fmt: skip


def _repeated(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    spec, own = read_spec(match["spec"]), match["axis"]
    # What nobody wrote is what an operation would make of its operands.
    if len(split_operands(scene)) > 1 and own not in axes_in(one.spec or () for one in scene.specs):
        return None
    places = [number for number, entry in enumerate(spec) if own in axes_of(entry)]
    kept = dict.fromkeys((without_repeats(spec), without_repeats(spec, last=True)))
    fits = [
        Fit(edit=spec_text(one), effect=say("{} splits dimension {} only", axis(own), place), spec=one)
        for one, place in zip(kept, (places[0], places[-1]), strict=False)
    ]
    note = say("the array's shape is not in JAX's message: whether the dimension is divided is not known")
    return {"spec": spec_words(spec), "fits": tuple(fits), "notes": (note,)}


# ---------------------------------------------------------------- a mesh of too many devices


def _too_many(match: re.Match[str], scene: ErrorScene) -> Facts:
    asked, count = read_integers(match["shape"]), int(match["count"])
    product = f"{' x '.join(map(str, asked))} = {math.prod(asked):,}"
    fits = [
        Fit(edit=f"{shape}", effect=say(f"{' x '.join(map(str, shape))} = {count:,}"), replaces=f"{asked}")
        for shape in _mesh_shapes(asked, count)
    ]
    return {"shape": f"{asked}", "product": product, "count": f"{count:,}", "fits": tuple(fits)}


def _mesh_shapes(asked: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """Shapes of the same rank that use all devices: those that keep most lengths first, then the nearest."""
    if not 1 <= len(asked) <= _MOST_RANK or not 0 < count <= _MOST_DEVICES:
        return []

    # A length that stays is code that stays: how many change counts before by how much they do.
    def distance(shape: tuple[int, ...]) -> tuple[int, int]:
        pairs = list(zip(shape, asked, strict=True))
        return sum(new != old for new, old in pairs), sum(abs(new - old) for new, old in pairs)

    return sorted(_factorings(count, len(asked)), key=distance)[:3]


def _factorings(count: int, rank: int) -> Iterator[tuple[int, ...]]:
    if rank == 1:
        yield (count,)
        return
    for first in (number for number in range(1, count + 1) if count % number == 0):
        for rest in _factorings(count // first, rank - 1):
            yield (first, *rest)


# 0.9 and 0.10: "Sharding NamedSharding(..) implies that array axis 0 is partitioned 4 times, but ..". 0.12 puts "One of
# pjit arguments with pytree key path w was given the sharding" before it. 0.8: "One of pjit arguments with pytree key
# path w was given the sharding of NamedSharding(..), which implies that the global size of its dimension 0 should be ..".
_PARTITIONED = (
    r"(?:One of .{1,80}? with pytree key path (?P<path>.{1,500}?) was given the sharding |.{0,400}?)(?:of |Sharding )?"
    rf"(?P<sharding>{SHARDING}|\w{{1,40}}Sharding\([^\n]{{0,900}}?\)),?(?: which)? implies that (?:array axis|the global size of its dimension) "
    r"(?P<dimension>\d{1,4}) (?:is partitioned|should be divisible by) (?P<parts>\d{1,12})(?: times, but the dimension size is|, but it is equal to) \d{1,18} "
    rf"\(full shape: (?P<shape>{SHAPE})"
)
_TOO_LONG = (
    r"(?:.{0,200}? with pytree key path (?P<path>.{1,500}?) is incompatible with its sharding annotation )?.{0,2000}?"
    rf"(?P<sharding>{SHARDING}) is only valid for values of rank at least \d{{1,4}}, but was applied to a value of rank (?P<rank>\d{{1,4}})"
)

SPEC_ROWS = (
    _row("indivisible", _PARTITIONED, "{uneven}", facts=_uneven),
    _row("indivisible", r"Sharding spec .{1,400}? implies that array axis (?P<dimension>\d{1,4}) is partitioned (?P<parts>\d{1,12}) times, but does not evenly divide the "
         rf"dimension size \d{{1,18}}\. Got shape: (?P<shape>{SHAPE}) and sharding (?P<sharding>{SHARDING})",
         # What an operation's type says is about its result, whatever its operands are.
         "{uneven}", facts=partial(_uneven, default="result")),
    _row("indivisible", r".{0,600}? are not evenly divisible by the corresponding mesh axis sizes", "{uneven}", facts=_uneven_arguments),
    _row("rank", _TOO_LONG, "{spec} has {entries}, but {what} has {rank}", facts=_too_long),
    _row("rank", r"(?=.{0,600}?_specs entry which is too long to be compatible).{0,2000}?(?:in|out)_specs\S{0,400}? is "
         rf"(?P<spec>{SPEC}) which has length \d{{1,4}}, but (?:the passed )?(?P<path>\S{{1,400}}?)(?:, where (?P<bound>args\S{{0,100}}?) is bound to \S{{1,200}}?'s parameter "
         r"'(?P<parameter>\w{1,200})',)? has shape (?P<type>\w{1,24}\[[\d,]{0,200}\])",
         "{spec} has {entries}, but {what} has {rank}", facts=_too_long_of_shard_map),
    _row("unknown axis", rf"Resource axis: (?P<axis>.{{1,200}}?) of (?P<spec>{SPEC}) is not found in mesh: (?P<names>{TUPLE})\.?$",
         "{spec} names the axis {axis}, which the mesh does not have: it has {has}", facts=_unknown_axis),
    # The axes are those that the function is manual over, in no order.
    _row("unknown axis", r"shard_map (?:in|out)_specs argument must refer to an axis marked as manual \(frozenset\(\{(?P<manual>[^{}\n]{0,400})\}\)\), but:\s+"
         r"(?P<code_specs>(?:in|out)_specs\S{0,400}) refers to '(?P<axis>[^'\n]{1,200})'",
         "{code_specs} names {axis}, but the axes `shard_map` is manual over are {has}", facts=_not_manual),
    _row("axis twice", REPEATED, "{picks} would be {result}, from {own} of {name}, and an axis can split one dimension only", facts=_repeated_result),
    _row("repeated axis", REPEATED, "{spec} uses the axis {axis} twice; an axis can split one dimension only", facts=_repeated),
    _row("mesh size", r"Number of devices (?P<count>\d{1,9}) must be >= the product of mesh_shape (?P<shape>\([\d, ]{0,200}\))",
         "a mesh of shape {shape} needs {product} devices; there are {count}", facts=_too_many),
)  # fmt: skip
"""Each tried in turn; of two rows with one pattern the first whose facts are there."""
