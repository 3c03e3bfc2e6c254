"""What makes an operation of one array legal that an Explicit mesh refuses: indexing, a reshape, a sort, a constraint.

Each fit is worked out from the array's own spec; where the array cannot be told, none is given. Not its job: operands
that conflict (`analyze.errors.elementwise`), devices (`analyze.errors.placement`).

*Source*: the sharding rules in `jax/_src/lax/slicing.py` and `lax/lax.py`: an `out_sharding` overrides them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pjit_inspect.analyze.errors.elementwise import NOT_TOLD
from pjit_inspect.analyze.errors.fits import (
    advice,
    clauses,
    mesh_named,
    replaced_text,
    reshard_fit,
    with_argument,
)
from pjit_inspect.analyze.errors.proposals import Judge, cleared, first_accepted
from pjit_inspect.analyze.errors.specs import (
    is_legal,
    over_words,
    reshard_words,
    shape_words,
    spec_words,
    type_words,
    without_repeats,
)
from pjit_inspect.model.program.spec import PartitionSpec, SpecEntry, axes_of, entry_of, spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.sharding.mesh import MeshAxes
from pjit_inspect.model.words.sentence import Sentence, code, name, say

_RESHAPES = ("reshape", "ravel", "flatten")
_MATRIX = ("lu", "svd", "qr", "eigh", "eig", "schur", "cholesky", "triangular_solve", "hessenberg", "tridiagonal",
           "tridiagonal_solve", "geqrf", "householder_product", "ormqr", "lu_solve", "symmetric_product",
           "cholesky_update", "geqp3")  # fmt: skip
"""Operations on matrices: the last two dimensions must not be split."""

_PICKING = ("take", "take_along_axis")
"""Functions that pick from their first argument."""

_NO_CHOICE = "JAX will not choose how the result is split"


# ---------------------------------------------------------------- indexing


def explain_indexing(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Indexing an array along a dimension that is split."""
    array = _matching(facts.arrays[0], scene) if facts.arrays else _indexed(scene)
    if array is None:
        quoted = [say(" {} split as {}", type_words(one), spec_words(one.spec)) for one in facts.arrays[:1]]
        sentence = say("JAX cannot tell how to split the result of indexing{}", *quoted or [" an array"])
        return ExplainedError(kind="indexing", sentence=sentence, notes=(NOT_TOLD,))
    takes_place = scene.operator == "[]" or facts.operation == "scatter"
    own = say("{}, which is split as {}", name(array.name), spec_words(array.spec))
    split = [other for other in scene.operands if other is not array and any(other.spec or ())]
    if not any(array.spec or ()) and len(split) == 1:
        own = say("{} by {}, which is split as {}", name(array.name), name(split[0].name), spec_words(split[0].spec))
    picks = code(f"{array.name}[{scene.subscripts}]" if scene.operator == "[]" else scene.operator)
    head = say("an update of {}", own) if facts.operation == "scatter" else say("{} picks from {}", picks, own)
    indices = [other for other in scene.operands if other is not array]
    return ExplainedError(
        kind="indexing", sentence=say("{}: {}", head, _NO_CHOICE), arrays=(array, *indices),
        fits=tuple(_indexing_fits(facts, scene, array) if takes_place else _gathered(facts, array, scene)),
    )  # fmt: skip


def _sizes(array: ErrorArray) -> dict[str, int]:
    return array.mesh.sizes if array.mesh is not None else {}


def _matching(wanted: ErrorArray, scene: ErrorScene) -> ErrorArray | None:
    """The only operand of the expression that has the type the message quotes."""
    same = [other for other in scene.operands if other.shape == wanted.shape and other.spec == wanted.spec]
    return same[0] if len(same) == 1 else None


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


def _indexing_fits(facts: ErrorFacts, scene: ErrorScene, array: ErrorArray) -> Iterator[Fit]:
    picked = f"{array.name}.at[{scene.subscripts}]"
    if facts.operation == "scatter":
        spec = array.spec or ()
        edit = with_argument(scene, f"out_sharding={spec_text(spec)}")
        effect = say("split as {} is", name(array.name))
        if edit:
            yield Fit(edit=edit, effect=effect, spec=spec, target="result", replaces=scene.expression)
        else:
            yield advice(say("give the update {}", code(f"out_sharding={spec_text(spec)}")), effect)
        return
    for spec, effect in _picked_specs(scene, array):
        yield Fit(
            edit=f"{picked}.get(out_sharding={spec_text(spec)})", effect=effect, spec=spec, target="result",
            replaces=scene.expression,
        )  # fmt: skip
    yield Fit(
        edit=f"{picked}.get(out_sharding=P())", effect=say("a copy of the result on every device"), spec=(),
        target="result", replaces=scene.expression,
    )  # fmt: skip
    yield from _gathered(facts, array, scene)


def _picked_specs(scene: ErrorScene, array: ErrorArray) -> Iterator[tuple[PartitionSpec, Sentence]]:
    """The specs that the indices and the rest of the array suggest, for `table[ids]` and `table[:, ids]`."""
    others = [other for other in scene.operands if other is not array]
    picks = [text.strip() for text in scene.subscripts.split(",")]
    if len(others) != 1 or not others[0].dtype.startswith(("int", "uint")) or set(picks) - {":", others[0].name}:
        return
    if picks.count(others[0].name) != 1:
        return
    indices, place, shape, spec = others[0], picks.index(others[0].name), array.shape or (), array.spec or ()
    own = indices.spec or (None,) * len(indices.shape or ())
    natural = without_repeats((*spec[:place], *own, *spec[place + 1 :]))
    result = (*shape[:place], *(indices.shape or ()), *shape[place + 1 :])
    rows, effect = spec[place] if place < len(spec) else None, say("split as the indices are")
    if rows is not None:
        effect = say("communicates over {}, along which each device has other rows", over_words(rows))
    elif not any(spec):
        effect = say("split as {} is; nothing is sent", name(indices.name))
    if any(natural) and is_legal(natural, result, _sizes(array) or _sizes(indices)):
        yield natural, effect


def _gathered(facts: ErrorFacts, array: ErrorArray, scene: ErrorScene) -> Iterator[Fit]:
    """The array on every device; no help where the indices are split, too, as JAX then asks the same again."""
    indices = facts.arrays[1:2] or [other for other in scene.operands if other is not array]
    if any(any(one.spec or ()) for one in indices):
        return
    fit = reshard_fit(array, (None,) * len(array.shape or ()), scene)
    if not facts.arrays and not scene.is_complete:
        fit = replace(fit, effect=clauses([fit.effect, "that is enough if no index is split"]))
    yield fit


# ---------------------------------------------------------------- reshape


def explain_reshape(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A reshape that cuts across a split dimension."""
    array = _matching(facts.arrays[0], scene)
    shown = array or facts.arrays[0]
    sentence = say(
        "{} {}, split as {}, is to become {}: its parts would no longer be whole slices, and JAX will not choose new "
        "ones",
        name(shown.name) if array is not None else "the array",
        shape_words(shown.shape or ()),
        spec_words(shown.spec),
        shape_words(facts.new_shape),
    )
    if array is None or array.mesh is None:
        return ExplainedError(kind="reshape", sentence=sentence, arrays=(shown,), notes=(NOT_TOLD,))
    if scene.operator not in _RESHAPES or any(argument.key == "order" for argument in scene.arguments):
        # The reshape is within another function, and its result is not that function's.
        return ExplainedError(
            kind="reshape",
            sentence=sentence,
            arrays=(array,),
            fits=(reshard_fit(array, (None,) * len(array.shape or ()), scene),),
        )
    call = f"jnp.reshape({array.name}, {facts.new_shape}, out_sharding="
    fits = [
        Fit(edit=f"{call}{spec_text(spec)})", effect=effect, spec=spec, target="result", replaces=scene.expression)
        for spec, effect in _reshaped_specs(array, array.mesh, facts.new_shape)
    ]
    return ExplainedError(kind="reshape", sentence=sentence, arrays=(array,), fits=tuple(fits))


def _reshaped_specs(
    array: ErrorArray, mesh: MeshAxes, shape: tuple[int, ...]
) -> Iterator[tuple[PartitionSpec, Sentence]]:
    """Legal specs of the new shape: with as many of the entries as go, in their order, which a reshape keeps."""
    entries = [entry for entry in array.spec or () if entry is not None]
    # All of them if the new dimensions allow it; fewer only where no place is legal for more.
    for count in range(len(entries), 0, -1):
        kept = (_placed(some, shape) for some in itertools.combinations(entries, count))
        legal = (spec for specs in kept for spec in specs if is_legal(spec, shape, mesh.sizes))
        chosen = list(itertools.islice(legal, 2))
        for spec in chosen:
            local = replace(array, shape=shape, spec=spec).local_shape or ()
            yield spec, say("a device holds {}; parts move between devices as needed", shape_words(local))
        if chosen:
            break
    over = over_words(entry_of([axis for entry in entries for axis in axes_of(entry)]))
    yield (None,) * len(shape), say("gathers {} over {}", name(array.name), over)


def _placed(entries: Sequence[SpecEntry], shape: Sequence[int]) -> Iterator[PartitionSpec]:
    """The specs of a shape that have these entries in their order."""
    for places in itertools.combinations(range(len(shape)), len(entries)):
        where = dict(zip(places, entries, strict=True))
        yield tuple(where.get(dimension) for dimension in range(len(shape)))


# ---------------------------------------------------------------- one array


def explain_split_dimension(facts: ErrorFacts, scene: ErrorScene, judge: Judge) -> ExplainedError:
    """An operation along a dimension that is split, such as a sort."""
    arrays = _along(facts, scene)
    if facts.operation == "repeat" and _is_flat(scene):
        return _repeated_flat(facts, scene, arrays)
    if not arrays:
        operation = code(facts.operation) if facts.operation else "the operation"
        sentence = say("{} works along a dimension that is split", operation)
        return ExplainedError(kind=facts.kind, sentence=sentence, notes=(NOT_TOLD,))
    array = arrays[0]
    dimensions = _dimensions(array, facts, scene)
    over = over_words(entry_of([axis for place in dimensions for axis in axes_of((array.spec or ())[place])]))
    operation = code(scene.operator) if scene.operator.isidentifier() else "the operation"
    operand = name(array.name) if array.is_named else "its operand"
    along = " and ".join(f"dimension {place}" for place in dimensions)
    is_, it = ("is", "it") if len(dimensions) == 1 else ("are", "they")
    sentence = say(
        "{} works along {} of {}, which {} split over {}: {} must not be split",
        operation,
        along,
        operand,
        is_,
        over,
        it,
    )
    if not array.is_named:
        return ExplainedError(kind=facts.kind, sentence=sentence, arrays=(array,), notes=(NOT_TOLD,))
    fits = tuple(_unsplit(arrays, facts, scene, judge))
    several = facts.operation == "scan" and sum(fit.is_code for fit in fits) > 1
    notes = (say("every array needs its own change"),) if several else ()
    return ExplainedError(kind=facts.kind, sentence=sentence, arrays=tuple(arrays), fits=fits, notes=notes)


def _along(facts: ErrorFacts, scene: ErrorScene) -> list[ErrorArray]:
    """The arrays whose split is refused: the user's where they can be told."""
    split = [other for other in scene.operands if any(other.spec or ())]
    if not facts.arrays:
        return split[:1] if len(split) == 1 and scene.operator == facts.operation else []
    if facts.operation in _MATRIX:
        like = [other for other in split if other.spec == facts.arrays[0].spec]
        return like or [facts.arrays[0]]
    # An array of the message is the operand that has its spec and shape, if there is one only; else it has no name.
    arrays: list[ErrorArray] = []
    for wanted in facts.arrays:
        same = [other for other in split if other.spec == wanted.spec and wanted.shape in (None, other.shape)]
        arrays += same[:1] if len(same) == 1 else [wanted] if wanted.spec is not None else []
    return arrays


def _dimensions(array: ErrorArray, facts: ErrorFacts, scene: ErrorScene) -> list[int]:
    """The split dimensions that the operation works along."""
    spec = array.spec or ()
    split = [place for place, entry in enumerate(spec) if entry is not None]
    if facts.operation == "tile":
        return [place for place in split if facts.new_shape[place] != 1]
    if facts.operation in _MATRIX:
        return [place for place in split if place >= len(spec) - 2]
    if facts.operation == "repeat":
        axis = next((a.text for a in scene.arguments if a.key in ("axis", "2")), "")
        place = int(axis) % len(spec) if axis.lstrip("-").isdigit() and spec else -1
        return [place] if place in split else split
    return [facts.dimension or 0]


def _unsplit(arrays: Sequence[ErrorArray], facts: ErrorFacts, scene: ErrorScene, judge: Judge) -> Iterator[Fit]:
    """The arrays split along fewer dimensions; the result of `repeat` split as its operand is."""
    if facts.operation == "repeat" and (fit := _repeated(arrays[0], scene)):
        yield fit
    found = first_accepted(cleared([other for other in scene.operands if any(other.spec or ())], scene), judge)
    yield from found
    if found or facts.operation != "scan":
        return
    # What a scan goes over is not in one call with what else is refused: each array alone.
    for array in arrays:
        yield reshard_fit(array, (None, *(array.spec or ())[1:]), scene)


def _repeated(array: ErrorArray, scene: ErrorScene) -> Fit | None:
    """As often for every element and along one dimension: then the longer dimension is divided, too."""
    texts = _texts(scene)
    times, axis = texts.get("1") or texts.get("repeats", ""), texts.get("axis") or texts.get("2", "")
    spec = array.spec or ()
    if not times.isdigit() or not axis.lstrip("-").isdigit():
        return None
    edit = with_argument(scene, f"out_sharding={spec_text(spec)}")
    effect = say("split as {} is", name(array.name))
    return Fit(edit=edit, effect=effect, spec=spec, target="result", replaces=scene.expression) if edit else None


def _is_flat(scene: ErrorScene) -> bool:
    """Whether it is a call of `repeat` without an axis."""
    return scene.operator == "repeat" and bool(scene.arguments) and not _texts(scene).keys() & {"2", "axis"}


def _texts(scene: ErrorScene) -> dict[str, str]:
    return {argument.key: argument.text for argument in scene.arguments}


def _repeated_flat(facts: ErrorFacts, scene: ErrorScene, arrays: Sequence[ErrorArray]) -> ExplainedError:
    """All elements in one row: up to JAX 0.9.0 that is refused of an array that is not split, too."""
    of = say(" of {}, which is split as {}", name(arrays[0].name), spec_words(arrays[0].spec)) if arrays else ""
    sentence = say("{} without an axis makes one dimension of all elements{}: {}", code("repeat"), of, _NO_CHOICE)
    edit = with_argument(scene, "out_sharding=P()")
    effect = say("a copy of the result on every device")
    fit = Fit(edit=edit, effect=effect, spec=(), target="result", replaces=scene.expression) if edit else None
    fits = (fit or advice(say("give {} {}", code("repeat"), code("out_sharding=P()")), effect),)
    return ExplainedError(kind=facts.kind, sentence=sentence, arrays=tuple(arrays), fits=fits)


def explain_other_spec(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """An array that arrives with another spec than what takes it asks for."""
    given, wanted = facts.arrays[0], facts.specs[0]
    same = [
        other for other in scene.operands if _same_spec(other.spec, given.spec) and given.shape in (None, other.shape)
    ]
    array = same[0] if len(same) == 1 and scene.is_complete else given
    unnamed = f"an {array.name}" if array.name[:1] in "aeiou" else "the array"
    what = name(array.name) if array.is_named else unnamed
    asks = code(facts.operation)
    sentence = say("{} is {}, but {} asks for {}", what, spec_words(array.spec), asks, spec_words(wanted))
    fits = []
    rank = len(array.shape) if array.shape is not None else 0
    target = (*wanted, *(None,) * (rank - len(wanted)))
    sizes = (facts.meshes[0] if facts.meshes else array.mesh or MeshAxes(axis_names=(), shape=())).sizes
    if array.is_named and array.shape is not None and is_legal(target, array.shape, sizes):
        words = reshard_words(array.name, array.spec or (), target)
        edit = _moved_to(array, target, facts, scene)
        replaces = replaced_text(array.name, scene)
        if edit:
            fits.append(Fit(edit=edit, effect=words, spec=target, target=array.name, replaces=replaces))
        else:
            place = say("place {} as {} with `jax.device_put`", name(array.name), spec_words(target))
            fits.append(advice(place, words))
    if facts.operation == "in_shardings":
        fits.append(advice("leave `in_shardings` out", "arguments are taken as they come"))
    return ExplainedError(kind=facts.kind, sentence=sentence, arrays=(array,), fits=tuple(fits))


def _same_spec(one: PartitionSpec | None, other: PartitionSpec | None) -> bool:
    """Whether two specs split alike: trailing entries may be left out."""
    return one is not None and other is not None and all(a == b for a, b in itertools.zip_longest(one, other))


def _moved_to(array: ErrorArray, target: PartitionSpec, facts: ErrorFacts, scene: ErrorScene) -> str:
    if facts.operation == "with_sharding_constraint":
        return f"jax.sharding.reshard({array.name}, {spec_text(target)})"
    mesh = mesh_named(facts.meshes[0], scene)
    return f"jax.device_put({array.name}, NamedSharding({mesh}, {spec_text(target)}))" if mesh else ""


def explain_repeated_result(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Indexing whose result would use an axis twice: the spec is none that the user wrote."""
    array, spec = scene.operands[0], facts.arrays[0].spec or ()
    others = scene.operands[1:]
    sentence = say(
        "{} would be {}, from {} of {}, and an axis can split one dimension only",
        code(f"{array.name}[{scene.subscripts}]"),
        spec_words(spec),
        spec_words(array.spec),
        name(array.name),
    )
    fits = tuple(_indexing_fits(replace(facts, operation="gather"), scene, array))
    return ExplainedError(kind="axis twice", sentence=sentence, arrays=(array, *others), fits=fits)
