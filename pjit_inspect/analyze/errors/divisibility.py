"""What fits a dimension that its mesh axes do not divide, and a spec that is wrong in itself.

Not its job: operations that conflict (`analyze.errors.operations`), devices (`analyze.errors.placement`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from pjit_inspect.analyze.errors.fits import advice, clauses
from pjit_inspect.analyze.errors.specs import (
    axes_list,
    axes_words,
    divides,
    fitting_entries,
    is_legal,
    parts_of,
    shape_words,
    spec_words,
    usable_axes,
    without_repeats,
)
from pjit_inspect.model.program.spec import PartitionSpec, SpecEntry, axes_of, entry_of, spec_text
from pjit_inspect.model.report.explained_error import (
    PLACING,
    ErrorArray,
    ErrorFacts,
    ErrorScene,
    ExplainedError,
    Fit,
)
from pjit_inspect.model.sharding.mesh import MeshAxes
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, code, joined, name, say

_MOST = 2
_MOST_DEVICES = 65_536
_MOST_RANK = 4


def explain_indivisible(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A dimension that is no multiple of the devices that split it."""
    arrays = tuple(_named(array, facts, scene) for array in facts.arrays)
    first, *others = arrays
    sentences = [_indivisible_sentence(array, facts) for array in arrays]
    notes = []
    if facts.operation == "shard_map":
        notes = [
            say("the function under `shard_map` then sees other shapes, and `out_specs` may have to change with it")
        ]
    if not first.is_named:
        notes += _candidates(first, scene)
    if others:
        notes.append(say("the ways to fix it are for the first of them"))
    return ExplainedError(
        kind="indivisible", sentence=clauses(sentences), arrays=arrays, notes=tuple(notes),
        fits=tuple(_fits(first, facts)),
    )  # fmt: skip


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


def _named(array: ErrorArray, facts: ErrorFacts, scene: ErrorScene) -> ErrorArray:
    """The array with the user's name of it, where one can be told.

    A function that only places arrays is told what it got; of any other call, the argument of that shape need not be
    the array: a result may be.
    """
    if scene.operator in PLACING:
        same = [other for other in scene.operands if other.shape == array.shape]
        known = same[0] if len(same) == 1 and scene.is_complete else replace(array, name="", is_named=False)
        return replace(array, name=known.name, dtype=known.dtype, is_named=known.is_named)
    if array.is_named:
        return array
    checked = scene.checked or facts.operation
    return replace(array, name=checked, is_named=True) if checked else array


def _called(array: ErrorArray) -> Phrase | str:
    if array.is_named:
        return name(array.name)
    return f"the array {shape_words(array.shape)}" if array.shape is not None else "the array"


def _indivisible_sentence(array: ErrorArray, facts: ErrorFacts) -> Sentence:
    dimension, shape = _failing(array, facts), array.shape or ()
    length = shape[dimension]
    entry = array.spec[dimension] if array.spec is not None else None
    sizes = array.mesh.sizes if array.mesh is not None else {}
    parts = parts_of(entry, sizes) if entry is not None else facts.count or 0
    head, division = say("dimension {} of {} is {}", dimension, _called(array), f"{length:,}"), _division(length, parts)
    if entry is None or array.spec is None:
        return say("{}, and its sharding splits it into {} parts: {}", head, f"{parts:,}", division)
    axes = axes_words(axes_of(entry), sizes)
    return say("{}, and {} splits it over {}: {}", head, spec_words(array.spec), axes, division)


def _failing(array: ErrorArray, facts: ErrorFacts) -> int:
    """The dimension that is not divided; of several arrays only the first one's is in the facts."""
    shape, spec = array.shape or (), array.spec or ()
    if array.name != facts.arrays[0].name and array.mesh is not None:
        for dimension, (entry, length) in enumerate(zip(spec, shape, strict=False)):
            if not divides(entry, length, array.mesh.sizes):
                return dimension
    return facts.dimension or 0


def _division(length: int, parts: int) -> str:
    """`6 / 4 = 1.5`; what is left where that has no short decimal form."""
    if not parts:
        return "which does not divide it"
    # Exact, where a float would round: a quotient has at most three decimals if a thousand times it is an integer.
    thousandths, rest = divmod(length * 1000, parts)
    if not rest:
        units, rest = divmod(thousandths, 1000)
        return f"{length:,} / {parts:,} = {units:,}.{rest:03d}".rstrip("0")
    return f"{length:,} / {parts:,} leaves {length % parts:,}"


def _fits(array: ErrorArray, facts: ErrorFacts) -> Iterator[Fit]:
    dimension, shape, spec, mesh = _failing(array, facts), array.shape or (), array.spec, array.mesh
    if spec is None or mesh is None or len(spec) != len(shape):
        if facts.count:
            longer = -(-shape[dimension] // facts.count) * facts.count
            yield advice(f"pad dimension {dimension} from {shape[dimension]:,} to {longer:,}", "the next multiple")
        return
    sizes = mesh.sizes
    # Every fit is a legal spec in all dimensions: others that are not divided, either, keep those of their axes that
    # divide them. Nearest to what was asked first: other axes, another dimension, a longer array, no split.
    others = tuple(_kept(entry, length, sizes) for entry, length in zip(spec, shape, strict=True))
    yield from _other_entries(array, mesh, others, dimension)
    yield from _other_dimensions(array, mesh, others, dimension)
    yield _padded(array, mesh)
    unsplit = (*others[:dimension], None, *others[dimension + 1 :])
    if any(unsplit):
        yield _spec_fit(array, mesh, unsplit, f"dimension {dimension} is not split")
    yield _spec_fit(array, mesh, (None,) * len(shape), "a copy on every device")


def _kept(entry: SpecEntry, length: int, sizes: dict[str, int]) -> SpecEntry:
    if divides(entry, length, sizes):
        return entry
    own = [(held, sizes[held]) for held in axes_of(entry) if held in sizes]
    return next(iter(fitting_entries(length, own)), None)


def _other_entries(array: ErrorArray, mesh: MeshAxes, others: PartitionSpec, dimension: int) -> Iterator[Fit]:
    """Other axes for the same dimension."""
    taken = {held for number, entry in enumerate(others) if number != dimension for held in axes_of(entry)}
    free = [(own, size) for own, size in usable_axes(mesh) if own not in taken]
    length = (array.shape or ())[dimension]
    for entry in fitting_entries(length, free)[:_MOST]:
        spec = (*others[:dimension], entry, *others[dimension + 1 :])
        yield _spec_fit(array, mesh, spec, say("{} divides {}", axes_words(axes_of(entry), mesh.sizes), f"{length:,}"))


def _other_dimensions(array: ErrorArray, mesh: MeshAxes, others: PartitionSpec, dimension: int) -> Iterator[Fit]:
    """The same axes on another dimension."""
    asked = (array.spec or ())[dimension]
    words, proposed = axes_words(axes_of(asked), mesh.sizes), 0
    for number, length in enumerate(array.shape or ()):
        if number == dimension or others[number] is not None or length < 1 or not divides(asked, length, mesh.sizes):
            continue
        moved = list(others)
        moved[dimension], moved[number] = None, asked
        why = say("{} divides dimension {} ({})", words, number, f"{length:,}")
        yield _spec_fit(array, mesh, tuple(moved), why)
        proposed += 1
        if proposed == _MOST:
            return


def _padded(array: ErrorArray, mesh: MeshAxes) -> Fit:
    shape, spec = array.shape or (), array.spec or ()
    parts = [parts_of(entry, mesh.sizes) for entry in spec]
    longer = tuple(-(-length // count) * count if count else length for length, count in zip(shape, parts, strict=True))
    steps = [
        f"dimension {number} from {before:,} to {after:,}"
        for number, (before, after) in enumerate(zip(shape, longer, strict=True))
        if before != after
    ]
    local = [after // count if count else after for after, count in zip(longer, parts, strict=True)]
    effect = say("with {} a device then holds {}", spec_words(spec), shape_words(local))
    return advice(f"pad {' and '.join(steps)}", effect)


def _spec_fit(array: ErrorArray, mesh: MeshAxes, spec: PartitionSpec, why: str) -> Fit:
    local = replace(array, spec=spec, mesh=mesh).local_shape or ()
    effect = say("{}; a device holds {}", why, shape_words(local))
    return Fit(edit=spec_text(spec), effect=effect, spec=spec, target=array.name)


# ---------------------------------------------------------------- a spec that is wrong in itself


def explain_rank(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A spec with more entries than the array has dimensions."""
    given, rank = facts.arrays[0], facts.count or 0
    array = given
    same = [other for other in scene.operands if other.shape is not None and len(other.shape) == rank]
    if not given.is_named:
        is_it = len(same) == 1 and scene.is_complete
        array = replace(same[0], spec=given.spec, mesh=given.mesh) if is_it else given
    elif match := [other for other in same if other.name == given.name]:
        array = replace(given, shape=match[0].shape, dtype=match[0].dtype)
    spec = given.spec or ()
    if array.mesh is None:
        array = replace(array, mesh=_only_mesh(spec, scene))
    rest = "dimension" if rank == 1 else "dimensions"
    entries = f"{len(spec)} {'entry' if len(spec) == 1 else 'entries'}"
    sentence = say("{} has {}, but {} has {} {}", spec_words(spec), entries, _called(array), rank, rest)
    if facts.operation == "shard_map" and not array.is_named:
        fits = list(_mapped_result(array, scene))
    else:
        # Within `shard_map` the last entries alone say another thing of what the function sees.
        last = spec[-rank:] if rank and facts.operation != "shard_map" else spec[:rank]
        candidates = dict.fromkeys((spec[:rank], last, (None,) * rank))
        fits = [_shorter(array, candidate) for candidate in candidates if _is_known_to_fit(candidate, array)]
    return ExplainedError(kind="rank", sentence=sentence, arrays=(array,), fits=tuple(fits))


def _mapped_result(array: ErrorArray, scene: ErrorScene) -> Iterator[Fit]:
    """A result of `shard_map` with fewer dimensions than its spec has entries.

    A shorter spec would say that it is equal along the axes that are left out: no such spec is proposed, because one
    device's value would then stand for all.
    """
    axes = dict.fromkeys(own for entry in array.spec or () for own in axes_of(entry))
    over, own = axes_list(axes), repr(next(iter(axes)) if len(axes) == 1 else tuple(axes))
    returns = [one for function in scene.functions for one in function.returns or ()]
    if not axes:
        return
    if array.shape:
        joined_spec = (*(None,) * (len(array.shape) - 1), entry_of(list(axes)))
        effect = say("the parts of {} devices one after the other", over)
        yield Fit(edit=spec_text(joined_spec), effect=effect, spec=joined_spec, target="result")
        return
    code_of = f"jax.lax.psum({returns[0][1] if len(returns) == 1 else 'result'}, {own})"
    words = say("return {}, with {} in `out_specs`", code(code_of), Phrase("spec", "P()"))
    yield advice(words, say("if the sum over {} is meant: it is equal on all devices", over))
    if len(returns) == 1 and returns[0][1]:
        line, text = returns[0]
        other = line if scene.frame is None or line != scene.frame.line else None
        effect = say("one number for each device along {}, put one after the other", over)
        yield Fit(edit=f"jnp.reshape({text}, (1,))", effect=effect, replaces=text, line=other)
    else:
        words = say("return it through {}", code("jnp.reshape(result, (1,))"))
        yield advice(words, say("one number for each device along {}, put one after the other", over))


def _only_mesh(spec: PartitionSpec, scene: ErrorScene) -> MeshAxes | None:
    """The mesh that has the axes of a spec; None where the user's variables hold none, or unlike ones."""
    axes = {own for entry in spec for own in axes_of(entry)}
    held = {mesh.axes: mesh for mesh in scene.meshes if axes <= set(mesh.sizes)}
    return next(iter(held.values())) if len(held) == 1 and axes else None


def _is_known_to_fit(spec: PartitionSpec, array: ErrorArray) -> bool:
    if not any(spec):
        return True
    return array.shape is not None and array.mesh is not None and is_legal(spec, array.shape, array.mesh.sizes)


def _shorter(array: ErrorArray, spec: PartitionSpec) -> Fit:
    if array.shape is None or array.mesh is None:
        return Fit(edit=spec_text(spec), effect=say("a copy on every device"), spec=spec, target=array.name)
    why = f"{len(spec)} {'entry' if len(spec) == 1 else 'entries'}" if any(spec) else "a copy on every device"
    return _spec_fit(array, array.mesh, spec, why)


def explain_unknown_axis(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A spec that names an axis which the mesh does not have."""
    names = facts.meshes[0].axis_names
    if facts.operation == "shard_map":
        return _not_manual(facts, names)
    mesh = next((mesh for mesh in scene.meshes if mesh.axis_names == names), facts.meshes[0])
    spec = facts.arrays[0].spec
    near = get_close_matches(facts.axis, names, n=1, cutoff=0.6)
    fits = []
    if near and spec is not None:
        entries = [entry_of([near[0] if a == facts.axis else a for a in axes_of(entry)]) for entry in spec]
        corrected = tuple(entries)
        if without_repeats(corrected) == corrected:
            effect = say("{} is the nearest name", axis(near[0]))
            fits.append(Fit(edit=spec_text(corrected), effect=effect, spec=corrected))
    # The message has no sizes; a mesh of the user's with the same names may.
    has = str(mesh) if all(mesh.shape) else ", ".join(names)
    words = spec_words(spec) if spec is not None else "the spec"
    sentence = say("{} names the axis {}, which the mesh does not have: it has {}", words, axis(facts.axis), has)
    return ExplainedError(kind="unknown axis", sentence=sentence, fits=tuple(fits))


def _not_manual(facts: ErrorFacts, names: Sequence[str]) -> ExplainedError:
    """A spec of `shard_map`'s that names an axis which the function is not manual over."""
    has = joined(list(map(axis, names)), ", ") or "none"
    sentence = say(
        "{} names {}, but the axes `shard_map` is manual over are {}", code(facts.arrays[0].name), axis(facts.axis), has
    )
    near = get_close_matches(facts.axis, names, n=1, cutoff=0.6)
    fits = [Fit(edit=repr(near[0]), effect=say("the nearest name"), replaces=repr(facts.axis))] if near else []
    return ExplainedError(kind="unknown axis", sentence=sentence, fits=tuple(fits))


def explain_repeated_axis(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A spec that has an axis twice."""
    spec = facts.arrays[0].spec or ()
    kept = dict.fromkeys((without_repeats(spec), without_repeats(spec, last=True)))
    places = [number for number, entry in enumerate(spec) if facts.axis in axes_of(entry)]
    ends = (places[0], places[-1]) if places else ()
    effects = [say("{} splits dimension {} only", axis(facts.axis), number) for number in ends]
    fits = [
        Fit(edit=spec_text(entries), effect=effect, spec=entries)
        for entries, effect in zip(kept, effects, strict=False)
    ]
    sentence = say(
        "{} uses the axis {} twice; an axis can split one dimension only", spec_words(spec), axis(facts.axis)
    )
    note = say("the array's shape is not in JAX's message: whether the dimension is divided is not known")
    return ExplainedError(kind="repeated axis", sentence=sentence, fits=tuple(fits), notes=(note,))


def explain_mesh_size(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A mesh that needs more devices than there are."""
    asked, count = facts.new_shape, facts.count or 0
    product = " x ".join(map(str, asked))
    sentence = say(f"a mesh of shape {asked} needs {product} = {math.prod(asked):,} devices; there are {count:,}")
    fits = [
        Fit(edit=f"{shape}", effect=say(f"{' x '.join(map(str, shape))} = {count:,}"), replaces=f"{asked}")
        for shape in _mesh_shapes(asked, count)
    ]
    return ExplainedError(kind="mesh size", sentence=sentence, fits=tuple(fits))


def _mesh_shapes(asked: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """Shapes of the same rank that use all devices: those that keep most lengths first, then the nearest."""
    if not 1 <= len(asked) <= _MOST_RANK or not 0 < count <= _MOST_DEVICES:
        return []
    shapes = list(_factorings(count, len(asked)))

    # A length that stays is code that stays: how many change counts before by how much they do.
    def distance(shape: tuple[int, ...]) -> tuple[int, int]:
        pairs = list(zip(shape, asked, strict=True))
        return sum(new != old for new, old in pairs), sum(abs(new - old) for new, old in pairs)

    return sorted(shapes, key=distance)[:3]


def _factorings(count: int, rank: int) -> Iterator[tuple[int, ...]]:
    if rank == 1:
        yield (count,)
        return
    for first in range(1, count + 1):
        if count % first == 0:
            for rest in _factorings(count // first, rank - 1):
                yield (first, *rest)
