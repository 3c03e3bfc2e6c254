"""Facts of errors of specs and meshes that are wrong in themselves, or for a shape that they do not divide."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches

from pjit_inspect.analyze.errors import printed, specs, ways
from pjit_inspect.analyze.errors.printed import of_shape, read_integers, read_spec
from pjit_inspect.analyze.errors.specs import axes_words, divides, fitting_entries, shape_words, spec_words
from pjit_inspect.analyze.errors.table import Facts, listed_facts, quoted, read_code
from pjit_inspect.analyze.errors.ways import advice, clauses
from pjit_inspect.model.program.mesh import Mesh, MeshAxes, PartitionSpec, SpecEntry, axes_of, entry_of, spec_text
from pjit_inspect.model.report.explained_error import PLACING, ErrorArray, ErrorScene, Fit
from pjit_inspect.model.words import sentence as phrases
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, code, joined, name, say

_MOST = 2
_MOST_ARRAYS = 8
_MOST_SPECS = 3

Failing = tuple[ErrorArray, int, int]
"""An array, the dimension that is not divided, and into how many parts it is split."""


# ---------------------------------------------------------------- a dimension that its axes do not divide


def uneven(match: re.Match[str], scene: ErrorScene, default: str = "") -> Facts:
    """One array whose sharding does not divide it; `default` is its name where the message has none."""
    shape, dimension, path = read_integers(match["shape"]), int(match["dimension"]), match.groupdict().get("path")
    array = replace(printed.read_sharding(match["sharding"]), name=path or "", is_named=path is not None)
    if dimension >= len(shape):
        raise ValueError(f"{shape} has no dimension {dimension}")
    return _not_divided([(_named(of_shape(array, shape), scene, default), dimension, int(match["parts"]))], scene)


def uneven_result(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The same of an operation's type, which is about its result, whatever its operands are."""
    return uneven(match, scene, "result")


def uneven_arguments(match: re.Match[str], scene: ErrorScene, parts: list[re.Match[str]]) -> Facts:
    """The arguments of a function under `shard_map` that its `in_specs` do not divide."""
    names = match["names"] and tuple(map(str, read_spec(match["names"])))
    mesh = MeshAxes(axis_names=names, shape=read_integers(match["shape"])) if names else None
    found: list[Failing] = []
    for one in parts[:_MOST_ARRAYS]:
        path, parameter = one["path"], one["parameter"]
        called = parameter + path[len(one["bound"]) :] if parameter else path
        array = replace(printed.read_type(one["type"], called), spec=read_spec(one["spec"]), mesh=mesh)
        array = of_shape(replace(array, is_named=bool(parameter)), array.shape or ())
        found.append((_named(array, scene, ""), int(one["dimension"]), int(one["parts"])))
    facts = _not_divided(found, scene)
    # What a function under `shard_map` computes has another split with its arguments.
    words = "write {} in `in_specs`, and in `out_specs` how the result is then split"
    fits = tuple(
        advice(say(words, Phrase("spec", fit.edit)), say("{}: the function sees other parts", fit.effect))
        if fit.is_code else fit
        for fit in listed_facts(facts, "fits", Fit)
    )  # fmt: skip
    return {**facts, "fits": fits}


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


def _not_divided(found: Sequence[Failing], scene: ErrorScene) -> Facts:
    first = found[0]
    more = [say("the ways to fix it are for the first of them")] if len(found) > 1 else []
    which = () if first[0].is_named else _candidates(first[0], scene)
    return {
        "uneven": clauses([_uneven_sentence(*one) for one in found]), "arrays": tuple(array for array, _, _ in found),
        "notes": (*which, *more), "fits": tuple(_evened(*first)),
    }  # fmt: skip


def _candidates(array: ErrorArray, scene: ErrorScene) -> Iterator[Sentence]:
    """Notes on the arrays that it may be, and on how to learn more."""
    same = [name(other.name) for other in scene.operands if other.shape == array.shape]
    if same:
        listed = joined([*same[:3], *([f"{len(same) - 3} more"] if len(same) > 3 else [])], comma=" and ")
        rest = "" if scene.is_complete else ", and not every shape in the line is known"
        has = "has" if len(same) == 1 else "have"
        yield say("JAX does not say which array it is; {} {} that shape{}", listed, has, rest)
    if scene.is_filtered and scene.operator not in PLACING:
        yield say("JAX left its own lines out of the traceback; with JAX_TRACEBACK_FILTERING=off they may tell more")


def _called(array: ErrorArray) -> Phrase | str:
    if array.is_named:
        return name(array.name)
    return f"the array {shape_words(array.shape)}" if array.shape is not None else "the array"


def _uneven_sentence(array: ErrorArray, dimension: int, parts: int) -> Sentence:
    length, entry = (array.shape or ())[dimension], array.spec[dimension] if array.spec else None
    splits = say("{} splits it over {}", spec_words(array.spec), axes_words(axes_of(entry), array.mesh))
    what = splits if entry else f"its sharding splits it into {parts:,} parts"
    head = say("dimension {} of {} is {}", dimension, _called(array), f"{length:,}")
    return say("{}, and {}: {}", head, what, specs.division(length, parts))


def _evened(array: ErrorArray, dimension: int, parts: int) -> Iterator[Fit]:
    """Other specs, nearest to what was asked first: other axes, another dimension, a longer array, no split."""
    shape, spec, mesh = array.shape or (), array.spec, array.mesh
    if spec is None or mesh is None:
        if parts:
            longer = specs.next_multiple(shape[dimension], parts)
            yield advice(f"pad dimension {dimension} from {shape[dimension]:,} to {longer:,}", "the next multiple")
        return
    # Other dimensions that are not divided, either, keep those of their axes that divide them.
    unsplit = [_kept(entry, length, mesh) for entry, length in zip(spec, shape, strict=True)]
    unsplit[dimension] = None

    def changed(place: int, entry: SpecEntry, words: str, *parts: object) -> Fit:
        return _spec_fit(array, (*unsplit[:place], entry, *unsplit[place + 1 :]), say(words, *parts))

    asked, taken = spec[dimension], specs.axes_in([tuple(unsplit)])
    free = [(own, size) for own, size in specs.usable_axes(mesh) if own not in taken]
    for entry in fitting_entries(shape[dimension], free)[:_MOST]:
        over = axes_words(axes_of(entry), mesh)
        yield changed(dimension, entry, "{} divides {}", over, f"{shape[dimension]:,}")
    others = [place for place, entry in enumerate(unsplit) if entry is None and place != dimension and shape[place]]
    for place in [place for place in others if divides(asked, shape[place], mesh.sizes)][:_MOST]:
        over = axes_words(axes_of(asked), mesh)
        yield changed(place, asked, "{} divides dimension {} ({})", over, place, f"{shape[place]:,}")
    yield _padded(array, mesh.sizes)
    if any(unsplit):
        yield changed(dimension, None, "dimension {} is not split", dimension)
    yield _spec_fit(array, (None,) * len(shape), "a copy on every device")


def _kept(entry: SpecEntry, length: int, mesh: MeshAxes) -> SpecEntry:
    own = [(held, mesh.sizes[held]) for held in axes_of(entry) if held in mesh.sizes]
    return entry if divides(entry, length, mesh.sizes) else next(iter(fitting_entries(length, own)), None)


def _padded(array: ErrorArray, sizes: dict[str, int]) -> Fit:
    pairs = list(zip(array.shape or (), [specs.parts_of(entry, sizes) for entry in array.spec or ()], strict=True))
    longer = [specs.next_multiple(length, parts) if parts else length for length, parts in pairs]
    steps = [
        f"dimension {place} from {length:,} to {longer[place]:,}"
        for place, (length, _) in enumerate(pairs) if length != longer[place]
    ]  # fmt: skip
    held = replace(array, shape=tuple(longer)).local_shape or tuple(longer)
    effect = say("with {} a device then holds {}", spec_words(array.spec), shape_words(held))
    return advice(f"pad {' and '.join(steps)}", effect)


def _spec_fit(array: ErrorArray, spec: PartitionSpec, why: str) -> Fit:
    """Another spec in place of the one that was refused."""
    held = replace(array, spec=spec).local_shape
    effect = say("{}; a device holds {}", why, shape_words(held)) if held is not None else say("{}", why)
    return Fit(edit=spec_text(spec), effect=effect, spec=spec, target=array.name)


# ---------------------------------------------------------------- specs with too many entries


def too_long(match: re.Match[str], scene: ErrorScene) -> Facts | None:
    """An array with fewer dimensions than its spec has entries, and shorter specs."""
    array, rank = replace(printed.read_sharding(match["sharding"]), name=match["path"] or ""), int(match["n_rank"])
    same = [other for other in scene.operands if other.shape is not None and len(other.shape) == rank]
    spec = array.spec
    if match["path"] is not None:
        known = next((other for other in same if other.name == array.name), array)
        array = replace(array, shape=known.shape, dtype=known.dtype, is_named=True)
    elif len(same) == 1 and scene.is_complete:
        array = replace(same[0], spec=spec, mesh=array.mesh)
    return None if spec is None else _shorter(array, rank, spec[:rank], spec[-rank:] if rank else ())


def too_long_of_shard_map(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The same of an argument or a result of `shard_map`."""
    bound, spec = match["bound"], read_spec(match["spec"])
    path = match["parameter"] + match["path"][len(bound) :] if bound else match["path"]
    array = replace(printed.read_type(match["type"], path), spec=spec, is_named=bool(bound))
    axes, rank = set(specs.axes_in([spec])), len(array.shape or ())
    # The mesh that has the axes of the spec, if the user's variables hold one like that only.
    held = {mesh.axes: mesh for mesh in scene.meshes if axes <= set(mesh.sizes)}
    array = replace(array, mesh=next(iter(held.values())) if len(held) == 1 and axes else None)
    # Within `shard_map` the last entries alone would say another thing of what the function sees.
    facts = _shorter(array, rank, spec[:rank])
    place = re.search(r"\(\*args\)\[(\d{1,4})\]$", match["path"])
    made = () if bound or not axes else _mapped_result(array, scene, int(place[1]) if place else None, match[0])
    return facts if bound else {**facts, "fits": tuple(made)}


def _shorter(array: ErrorArray, rank: int, *shorter: PartitionSpec) -> Facts:
    is_known = array.shape is not None and array.mesh is not None
    known = [one for one in dict.fromkeys((*shorter, (None,) * rank)) if is_known or not any(one)]
    words = [specs.counted(len(one), "entry") if any(one) else "a copy on every device" for one in known]
    return {
        "spec": spec_words(array.spec), "n": len(array.spec or ()), "n_rank": rank, "what": _called(array),
        "arrays": (array,), "fits": tuple(map(_spec_fit, [array] * len(known), known, words)),
    }  # fmt: skip


def _mapped_result(array: ErrorArray, scene: ErrorScene, place: int | None, said: str) -> Iterator[Fit]:
    """A result of `shard_map` with fewer dimensions than its spec has entries.

    A shorter spec would say that it is equal along the axes that are left out: no such spec is proposed, because one
    device's value would then stand for all.
    """
    axes = specs.axes_in([array.spec or ()])
    over, own = specs.axes_list(axes), repr(axes[0] if len(axes) == 1 else tuple(axes))
    if array.shape:
        spec = (*(None,) * (len(array.shape) - 1), entry_of(axes))
        effect = say("the parts of {} devices one after the other", over)
        yield Fit(edit=spec_text(spec), effect=effect, spec=spec, target="result")
        return
    returns = [one for function in scene.functions for one in function.returns or ()]
    line, text = returns[0] if len(returns) == 1 else (0, "")
    given, node = say("{} for it", Phrase("spec", "P()")), read_code(text)
    if place is not None and isinstance(node, ast.Tuple) and place < len(node.elts):
        each = ["P()" if part is node.elts[place] else spec_text(array.spec or ()) for part in node.elts]
        text = ast.get_source_segment(text, node.elts[place]) or ""
        # The others keep the spec that is that of all.
        given = Phrase("spec", f"({', '.join(each)})") if "out_specs is" in said else given
    words = say("return {}, with {} in `out_specs`", code(f"jax.lax.psum({text or 'result'}, {own})"), given)
    yield advice(words, say("if the sum over {} is meant: it is equal on all devices", over))
    effect = say("one number for each device along {}, put one after the other", over)
    other = line if scene.frame is None or line != scene.frame.line else None
    one = Fit(edit=f"jnp.reshape({text}, (1,))", effect=effect, replaces=text, line=other)
    yield one if text else advice(say("return it through {}", code("jnp.reshape(result, (1,))")), effect)


# ---------------------------------------------------------------- axes


def unknown_axis(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The axes that the mesh has, and the spec with the one of the nearest name."""
    names, spec, wrong = tuple(map(str, read_spec(match["names"]))), read_spec(match["spec"]), match["axis"]
    # The message has no sizes; a mesh of the user's with the same names may.
    mesh = next((str(mesh) for mesh in scene.meshes if mesh.axis_names == names), ", ".join(names))
    near = next(iter(get_close_matches(wrong, names, n=1)), "")
    right = tuple(entry_of([near if own == wrong else own for own in axes_of(entry)]) for entry in spec)
    fit = Fit(edit=spec_text(right), effect=say("{} is the nearest name", axis(near)), spec=right)
    is_spec = near and specs.without_repeats(right) == right
    return {"spec": spec_words(spec), "has": mesh, "fits": (fit,) if is_spec else ()}


def not_manual(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The axes that a function is manual over, which JAX has in no order, and the one of the nearest name."""
    names = sorted(quoted(match["manual"]))
    near = tuple(ways.nearest_name(match["axis"], names, scene))
    return {"has": joined(list(map(axis, names)), ", ") or "none", "fits": near}


def repeated(match: re.Match[str], scene: ErrorScene) -> Facts:
    """A spec with an axis twice, and with it in either place."""
    spec, own = read_spec(match["spec"]), match["axis"]
    kept = dict.fromkeys(specs.without_repeats(spec, last=last) for last in (False, True))
    fits = [
        Fit(edit=spec_text(one), effect=say("{} splits dimension {} only", axis(own), place), spec=one)
        for one in kept for place, entry in enumerate(one) if own in axes_of(entry)
    ]  # fmt: skip
    note = say("the array's shape is not in JAX's message: whether the dimension is divided is not known")
    return {"spec": spec_words(spec), "fits": tuple(fits), "notes": (note,)}


# ---------------------------------------------------------------- meshes


def too_many(match: re.Match[str], scene: ErrorScene) -> Facts:
    """A mesh of more devices than there are, and shapes of the same rank that use all of these."""
    asked, count = read_integers(match["code_shape"]), int(match["n"])

    def product(shape: tuple[int, ...]) -> str:
        return f"{' x '.join(map(str, shape))} = {math.prod(shape):,}"

    fits = [
        Fit(edit=f"{shape}", effect=say(product(shape)), replaces=f"{asked}") for shape in _mesh_shapes(asked, count)
    ]
    return {"shape": f"{asked}", "product": product(asked), "fits": tuple(fits)}


def _mesh_shapes(asked: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """Shapes of as many devices: another length for one axis, the nearest first; else one long axis."""
    rest = [math.prod(asked[:place]) * math.prod(asked[place + 1 :]) for place in range(len(asked))]
    found = [
        (*asked[:place], count // others, *asked[place + 1 :])
        for place, others in enumerate(rest) if others and count % others == 0
    ]  # fmt: skip
    found.sort(key=lambda shape: sum(abs(new - old) for new, old in zip(shape, asked, strict=True)))
    return found[:3] or [(count, *(1,) * (len(asked) - 1))][: len(asked)]


def meshless(match: re.Match[str], scene: ErrorScene) -> Facts:
    """The mesh of the user's that has the axes of the spec, of the axis types that the call needs."""
    groups, quoted = match.groupdict(), None
    # `reshard` and `out_sharding` name Explicit axes; on those a constraint is an assertion.
    is_typed = bool(groups.get("quoted"))
    # Some hold what is no axis, as `UNCONSTRAINED`.
    with suppress(ValueError):
        quoted = read_spec(groups.get("quoted") or "")
    place = groups.get("place") or ""
    called = place if place.endswith("_shardings") else groups.get("called") or groups.get("called2") or ""
    called = scene.operator if is_typed and scene.operator.isidentifier() else called
    axes = set(specs.axes_in([quoted or (), *(spec.spec or () for spec in scene.specs)]))
    meshes = [mesh for mesh, variable in scene.meshes.items() if variable and axes <= set(mesh.sizes)]
    explicit = [mesh for mesh in meshes if set(mesh.axis_types) == {"explicit"}]
    auto = [mesh for mesh in meshes if mesh not in explicit]
    fitting = explicit if is_typed else auto if called == "with_sharding_constraint" else meshes
    texts = [spec.name for spec in scene.specs[:_MOST_SPECS]]
    written = ways.listed(texts, phrases.spec) if texts else "a PartitionSpec"
    several = say("{} have these axes", ways.listed([scene.meshes[mesh] for mesh in meshes]))
    return {
        "called": code(called) if called else "this line", "given": written if quoted is None else spec_words(quoted),
        "notes": (several,) if len(meshes) > 1 else (), **_changes(is_typed, fitting, meshes, scene),
    }  # fmt: skip


def _changes(is_typed: bool, fitting: list[Mesh], meshes: list[Mesh], scene: ErrorScene) -> Facts:
    """Facts for the ways: the mesh, and the array and its spec where the whole call is replaced."""
    texts = [argument.text for argument in scene.arguments]
    both = {"array": code(texts[0]), "spec": code(texts[1])} if len(texts) == 2 and all(texts) else {}
    is_reshard = is_typed and scene.operator == "reshard" and bool(both)
    if fitting:
        mesh = fitting[0]
        facts = {"variable": code(scene.meshes[mesh]), "on": str(mesh), "set": code(f"mesh={scene.meshes[mesh]}")}
        # Within jit, and before JAX 0.9.1 anywhere, `reshard` needs a mesh that is set, even with a `NamedSharding`.
        named = tuple({"own": code(spec.name)} for spec in scene.specs[:_MOST_SPECS])
        return facts | ({**both, "why": say("the same spec, on {}", str(mesh))} if is_reshard else {"each": named})
    variable = scene.meshes[meshes[0]] if meshes else ""
    if is_reshard and meshes:
        return {**both, "auto": code(variable)}
    if is_typed:
        return {"make": say("{} has Auto axes; make", name(variable)) if meshes else "make"}
    if meshes:
        why = say("{} has Explicit axes, where a constraint is only an assertion", variable)
        return {**both, "variable": code(variable), "why": why}
    return {"lacking": "a mesh"}


def set_mesh(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The mesh, set before the call."""
    if variable := ways.text_of(facts, "variable") if "set" in facts else "":
        effect = say("before the call, outside of `jax.jit`: specs are then of {}", facts["on"])
        yield Fit(edit=f"jax.set_mesh({variable})", effect=effect)


def with_mesh(facts: Facts, scene: ErrorScene) -> Iterator[Fit]:
    """The call of `shard_map` with the mesh as an argument."""
    edit = ways.with_argument(scene, ways.text_of(facts, "set")) if scene.operator == "shard_map" else ""
    if edit and "set" in facts:
        yield Fit(edit=edit, effect=say("on {}", facts["on"]), replaces=scene.expression)
