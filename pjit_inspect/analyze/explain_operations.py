"""What makes an operation legal that an Explicit mesh refuses: an `out_sharding`, or one operand resharded.

Each fit is worked out from the operands' own specs; where the operands cannot be told, none is given. Not its job:
dimensions that are not divided (`analyze.explain_divisibility`), devices (`analyze.explain_placement`).

*Source*: the sharding rules in `jax/_src/lax/lax.py` and `lax/slicing.py`: an `out_sharding` overrides them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pjit_inspect.analyze.error_specs import (
    Spec,
    axes_of,
    carried_over,
    divides,
    entry_of,
    has_repeats,
    is_legal,
    reshard_words,
    shape_words,
    spec_words,
    without_repeats,
)
from pjit_inspect.analyze.product_labels import Product, find_product
from pjit_inspect.model.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit, MeshAxes
from pjit_inspect.model.layout import SpecEntry

__all__ = ["explain_indexing", "explain_pair", "explain_reshape"]

_NOT_TOLD = "which variables these are cannot be told from the traceback, so nothing is worked out for them"
_NUMPY = {"@": "jnp.matmul({}, {}", "matmul": "jnp.matmul({}, {}", "dot": "jnp.matmul({}, {}"}


# ---------------------------------------------------------------- two operands


def explain_pair(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Two operands whose specs do not go together: contracted, elementwise, or both using one axis."""
    operands = [array for array in scene.operands if array.spec is not None and array.shape is not None]
    pair = (operands[0], operands[1]) if len(operands) == 2 else None
    product = None
    if pair is not None and facts.operation == "dot_general":
        product = find_product(scene.operator, pair[0].shape or (), pair[1].shape or (), scene.subscripts)
    if pair is not None and product is not None and _product_matches(facts, pair, product):
        fits = tuple(_product_fits(pair, product, scene))
        return ExplainedError(kind=facts.kind, sentence=_product_sentence(pair, product), arrays=pair, fits=fits)
    if pair is not None and facts.operation != "dot_general" and _specs_match(facts, pair):
        fits = tuple(_alignments(pair, scene.operator))
        return ExplainedError(kind=facts.kind, sentence=_pair_sentence(facts, pair), arrays=pair, fits=fits)
    if len(operands) > 2 and facts.operation in ("concatenate", "stack"):
        return _many(facts, operands)
    return _unmatched(facts)


def _sizes(*arrays: ErrorArray) -> dict[str, int]:
    return next((array.mesh.sizes for array in arrays if array.mesh is not None), {})


def _product_matches(facts: ErrorFacts, pair: tuple[ErrorArray, ErrorArray], product: Product) -> bool:
    """Whether the message speaks of these operands: a library may have multiplied others."""
    if facts.kind == "axis twice":
        return _specs_match(facts, pair)
    wanted = [
        label for label in product.lhs if label in product.rhs and (label in product.out) == (facts.kind == "conflict")
    ]
    left, right = _by_label(pair, product)
    quoted = tuple(zip(*facts.specs, strict=True)) if len({len(spec) for spec in facts.specs}) == 1 else ()
    return sorted(map(repr, quoted)) == sorted(repr((left[label], right[label])) for label in wanted)


def _specs_match(facts: ErrorFacts, pair: Sequence[ErrorArray]) -> bool:
    specs = [array.spec or () for array in facts.arrays] if facts.kind == "axis twice" else list(facts.specs)
    if facts.kind == "axis twice" and any(a.shape != b.shape for a, b in zip(facts.arrays, pair, strict=False)):
        return False
    rank = max((len(array.spec or ()) for array in pair), default=0)
    own = [(None,) * (rank - len(array.spec or ())) + (array.spec or ()) for array in pair]
    return specs == own or (
        facts.operation in ("select", "concatenate") and sorted(map(repr, specs)) == sorted(map(repr, own))
    )


def _by_label(
    pair: tuple[ErrorArray, ErrorArray], product: Product
) -> tuple[dict[str, SpecEntry], dict[str, SpecEntry]]:
    left = dict(zip(product.lhs, pair[0].spec or (), strict=True))
    return left, dict(zip(product.rhs, pair[1].spec or (), strict=True))


def _product_sentence(pair: tuple[ErrorArray, ErrorArray], product: Product) -> str:
    left, right = _by_label(pair, product)
    lhs, rhs = pair
    for label in product.contracted:
        if left[label] is not None and right[label] is not None:
            places = (
                f"dimension {product.lhs.index(label)} of `{lhs.name}`",
                f"dimension {product.rhs.index(label)} of `{rhs.name}`",
            )
            if left[label] == right[label]:
                over = " x ".join(f"`{axis}`" for axis in axes_of(left[label]))
                return f"{places[0]} and {places[1]} are multiplied and summed, and both are split over {over}: JAX will not choose what becomes of the partial sums"
            return f"{places[0]} is split over {_over(left[label])} and {places[1]} over {_over(right[label])}, but they are multiplied with each other"
    for label in product.out:
        if left.get(label) is not None and right.get(label) is not None and left[label] != right[label]:
            return f"dimension {product.lhs.index(label)} of `{lhs.name}` is split over {_over(left[label])} and dimension {product.rhs.index(label)} of `{rhs.name}` over {_over(right[label])}, but they are one dimension of the result"
    natural = tuple(_entry(label, left, right) for label in product.out)
    own = f"`{lhs.name}` is `{spec_words(lhs.spec or ())}` and `{rhs.name}` is `{spec_words(rhs.spec or ())}`"
    return f"{own}: the result would be `{spec_words(natural)}`, and an axis can split one dimension only"


def _over(entry: SpecEntry) -> str:
    return " x ".join(f"`{axis}`" for axis in axes_of(entry)) or "nothing"


def _entry(label: str, left: dict[str, SpecEntry], right: dict[str, SpecEntry]) -> SpecEntry:
    return left[label] if left.get(label) is not None else right.get(label)


def _product_fits(pair: tuple[ErrorArray, ErrorArray], product: Product, scene: ErrorScene) -> Iterator[Fit]:
    left, right = _by_label(pair, product)
    sizes = _sizes(*pair)
    natural = tuple(_entry(label, left, right) for label in product.out)
    lengths = dict(zip(product.lhs, pair[0].shape or (), strict=True)) | dict(
        zip(product.rhs, pair[1].shape or (), strict=True)
    )
    shape = tuple(lengths[label] for label in product.out)
    summed = tuple(
        dict.fromkeys(axis for label in product.contracted for side in (left, right) for axis in axes_of(side[label]))
    )
    both = all(left[label] == right[label] for label in product.contracted)
    for spec in dict.fromkeys((without_repeats(natural), without_repeats(natural, last=True))):
        if is_legal(spec, shape, sizes):
            yield _out_fit(pair, scene, spec, _sum_words(pair, natural, spec, summed, both=both))
    if summed and both and not has_repeats(natural):
        yield from _scattered(pair, scene, natural, shape, summed, sizes)
    yield from _product_reshards(pair, product, scene, sizes)


def _sum_words(
    pair: tuple[ErrorArray, ErrorArray], natural: Spec, spec: Spec, summed: tuple[str, ...], *, both: bool
) -> str:
    if summed and both:
        return f"each device multiplies its parts; the partial sums are added over {_over(entry_of(summed))}"
    if spec != natural:
        return f"the result is split as that; communicates over {_over(entry_of(_lost(natural, spec)))}"
    return "one of the operands is moved to the other's split first"


def _lost(before: Spec, after: Spec) -> list[str]:
    """The axes that some dimension has before, and not after."""
    pairs = itertools.zip_longest(before, after)
    return list(dict.fromkeys(axis for old, new in pairs for axis in axes_of(old) if axis not in axes_of(new)))


def _out_fit(pair: tuple[ErrorArray, ErrorArray], scene: ErrorScene, spec: Spec, effect: str) -> Fit:
    names = (pair[0].name, pair[1].name)
    call = _NUMPY.get(scene.operator, "").format(*names) or f"jnp.einsum({scene.subscripts!r}, {names[0]}, {names[1]}"
    return Fit(edit=f"{call}, out_sharding={spec_words(spec)})", effect=effect, spec=spec, target="result")


def _scattered(
    pair: tuple[ErrorArray, ErrorArray], scene: ErrorScene, natural: Spec, shape: tuple[int, ...], summed: tuple[str, ...],
    sizes: dict[str, int],
) -> Iterator[Fit]:  # fmt: skip
    """The same sum, of which each device keeps a slice."""
    if {axis for entry in natural for axis in axes_of(entry)} & set(summed):
        return
    parts = math.prod(sizes.get(axis, 0) for axis in summed)
    for dimension in reversed(range(len(shape))):
        if natural[dimension] is None and shape[dimension] and divides(entry_of(summed), shape[dimension], sizes):
            spec = (*natural[:dimension], entry_of(summed), *natural[dimension + 1 :])
            effect = f"the same sum; each device keeps 1/{parts} of dimension {dimension}"
            yield _out_fit(pair, scene, spec, effect)
            return


def _product_reshards(
    pair: tuple[ErrorArray, ErrorArray], product: Product, scene: ErrorScene, sizes: dict[str, int]
) -> Iterator[Fit]:
    """One operand resharded so that the product needs no `out_sharding`."""
    left, right = _by_label(pair, product)
    for own, labels, mine, other in ((pair[0], product.lhs, left, right), (pair[1], product.rhs, right, left)):
        after = dict(mine)
        for label in labels:
            if label in product.contracted and mine[label] is not None and other[label] is not None:
                after[label] = None
            elif (
                label in other and other[label] is not None and mine[label] != other[label] and mine[label] is not None
            ):
                after[label] = other[label]
        # An axis that the other operand brings to the result cannot split another of its dimensions here.
        brought = {axis for label in product.out if label not in labels for axis in axes_of(other.get(label))}
        for label in labels:
            if label in product.out and label not in other:
                after[label] = entry_of([axis for axis in axes_of(after[label]) if axis not in brought])
        spec = tuple(after[label] for label in labels)
        result = tuple(_entry(label, after, other) for label in product.out)
        if spec != own.spec and is_legal(spec, own.shape or (), sizes) and not has_repeats(result):
            yield _reshard_fit(own, spec, pair, scene)


def _reshard_fit(own: ErrorArray, spec: Spec, pair: Sequence[ErrorArray], scene: ErrorScene) -> Fit:
    call = f"jax.sharding.reshard({own.name}, {spec_words(spec)})"
    words = [call if array is own else array.name for array in pair]
    if scene.operator == "einsum":
        edit = f"jnp.einsum({scene.subscripts!r}, {words[0]}, {words[1]})"
    elif scene.operator.isidentifier() or not scene.operator:
        edit = call
    else:
        edit = f"{words[0]} {scene.operator} {words[1]}"
    return Fit(edit=edit, effect=reshard_words(own.name, own.spec or (), spec), spec=spec, target=own.name)


def _pair_sentence(facts: ErrorFacts, pair: tuple[ErrorArray, ErrorArray]) -> str:
    (a, b), name = pair, facts.operation
    head = f"`{a.name}` is `{spec_words(a.spec or ())}` and `{b.name}` is `{spec_words(b.spec or ())}`"
    if facts.kind == "axis twice":
        return f"{head}: `{name}` would give `{spec_words(facts.specs[0])}`, and an axis can split one dimension only"
    rank = max(len(a.spec or ()), len(b.spec or ()))
    for dimension in range(rank):
        entries = [
            (array.spec or ())[dimension - rank + len(array.spec or ())]
            if dimension >= rank - len(array.spec or ())
            else None
            for array in pair
        ]
        if None not in entries and entries[0] != entries[1]:
            return f"`{name}` needs one split of dimension {dimension}, but `{a.name}` splits it over {_over(entries[0])} and `{b.name}` over {_over(entries[1])}"
    return f"{head}: `{name}` needs them alike"


def _alignments(pair: tuple[ErrorArray, ErrorArray], operator: str) -> Iterator[Fit]:
    """Each operand brought to the other's spec; a dimension of length 1 is never split."""
    scene = ErrorScene(operator=operator)
    for own, other in (pair[::-1], pair):
        shape, wanted = own.shape or (), other.spec or ()
        spec: list[SpecEntry] = []
        for number, length in enumerate(shape):
            place = number - len(shape) + len(wanted)
            same = place >= 0 and length == (other.shape or ())[place]
            spec.append(wanted[place] if same else None)
        target = tuple(spec)
        if target != own.spec and is_legal(target, shape, _sizes(*pair)):
            yield _reshard_fit(own, target, pair, scene)


def _many(facts: ErrorFacts, operands: Sequence[ErrorArray]) -> ExplainedError:
    first = operands[0]
    fits = [
        Fit(
            edit=f"jax.sharding.reshard({own.name}, {spec_words(first.spec or ())})",
            effect=reshard_words(own.name, own.spec or (), first.spec or ()), spec=first.spec, target=own.name,
        )
        for own in operands[1:]
        if own.spec != first.spec and is_legal(first.spec or (), own.shape or (), _sizes(own))
    ]  # fmt: skip
    sentence = f"`{facts.operation}` needs operands of one spec; `{first.name}` has `{spec_words(first.spec or ())}`"
    return ExplainedError(kind=facts.kind, sentence=sentence, arrays=tuple(operands), fits=tuple(fits))


def _unmatched(facts: ErrorFacts) -> ExplainedError:
    """What the message alone tells."""
    specs = [f"`{spec_words(spec)}`" for spec in facts.specs]
    if facts.kind == "axis twice":
        types = [
            f"`{array.dtype}{shape_words(array.shape or ())}` as `{spec_words(array.spec or ())}`"
            for array in facts.arrays
        ]
        sentence = f"`{facts.operation}` of {' and '.join(types)} would use an axis for two dimensions of the result"
    elif facts.kind == "contraction":
        sentence = f"both sides of a product are split along the dimensions it sums over: {specs[0]} and {specs[1]}"
    else:
        sentence = f"`{facts.operation}` needs operands split alike, but got {' and '.join(specs)}"
    return ExplainedError(kind=facts.kind, sentence=sentence, notes=(_NOT_TOLD,))


# ---------------------------------------------------------------- indexing


def explain_indexing(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Indexing an array along a dimension that is split."""
    array = _matching(facts.arrays[0], scene)
    if array is None:
        type_ = facts.arrays[0]
        words = f"`{type_.dtype}{shape_words(type_.shape or ())}` split as `{spec_words(type_.spec or ())}`"
        return ExplainedError(
            kind="indexing", sentence=f"JAX cannot tell how to split the result of indexing {words}", notes=(_NOT_TOLD,)
        )
    place = scene.operator == "[]" or facts.operation == "scatter"
    words = f"{array.name}[{scene.subscripts}]" if scene.operator == "[]" else scene.operator
    sentence = f"`{words}` picks from `{array.name}`, which is split as `{spec_words(array.spec or ())}`: JAX will not choose how the result is split"
    if facts.operation == "scatter":
        sentence = f"an update of `{array.name}`, which is split as `{spec_words(array.spec or ())}`: JAX will not choose how the result is split"
    indices = [other for other in scene.operands if other is not array]
    return ExplainedError(
        kind="indexing", sentence=sentence, arrays=(array, *indices),
        fits=tuple(_indexing_fits(facts, scene, array)) if place else (_gathered(array),),
    )  # fmt: skip


def _matching(wanted: ErrorArray, scene: ErrorScene) -> ErrorArray | None:
    """The only operand of the expression that has the type the message quotes."""
    same = [other for other in scene.operands if other.shape == wanted.shape and other.spec == wanted.spec]
    return same[0] if len(same) == 1 else None


def _indexing_fits(facts: ErrorFacts, scene: ErrorScene, array: ErrorArray) -> Iterator[Fit]:
    picked = f"{array.name}.at[{scene.subscripts}]"
    if facts.operation == "scatter":
        spec = array.spec or ()
        edit = f"{picked}.{scene.operator}(..., out_sharding={spec_words(spec)})"
        yield Fit(edit=edit, effect=f"split as `{array.name}` is", spec=spec, target="result")
        return
    for spec, effect in _picked_specs(scene, array):
        yield Fit(edit=f"{picked}.get(out_sharding={spec_words(spec)})", effect=effect, spec=spec, target="result")
    yield Fit(
        edit=f"{picked}.get(out_sharding=P())", effect="a copy of the result on every device", spec=(), target="result"
    )
    yield _gathered(array)


def _picked_specs(scene: ErrorScene, array: ErrorArray) -> Iterator[tuple[Spec, str]]:
    """The specs that the indices and the rest of the array suggest, for `table[ids]`."""
    others = [other for other in scene.operands if other is not array]
    if len(others) != 1 or others[0].name != scene.subscripts or not others[0].dtype.startswith(("int", "uint")):
        return
    indices, shape, spec = others[0], array.shape or (), array.spec or ()
    natural = without_repeats((*(indices.spec or (None,) * len(indices.shape or ())), *spec[1:]))
    result = (*(indices.shape or ()), *shape[1:])
    over = _over(spec[0]) if spec[0] is not None else ""
    effect = f"communicates over {over}, along which each device has other rows" if over else "split as the indices are"
    if any(natural) and is_legal(natural, result, _sizes(array)):
        yield natural, effect


def _gathered(array: ErrorArray) -> Fit:
    whole = (None,) * len(array.shape or ())
    effect = reshard_words(array.name, array.spec or (), whole)
    return Fit(
        edit=f"jax.sharding.reshard({array.name}, {spec_words(whole)})", effect=effect, spec=whole, target=array.name
    )


# ---------------------------------------------------------------- reshape


def explain_reshape(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A reshape that cuts across a split dimension."""
    array = _matching(facts.arrays[0], scene)
    shown = array or facts.arrays[0]
    name = f"`{shown.name}`" if array is not None else "the array"
    sentence = (
        f"{name} {shape_words(shown.shape or ())}, split as `{spec_words(shown.spec or ())}`, is to become "
        f"{shape_words(facts.new_shape)}: its parts would no longer be whole slices, and JAX will not choose new ones"
    )
    if array is None or array.mesh is None:
        return ExplainedError(kind="reshape", sentence=sentence, arrays=(shown,), notes=(_NOT_TOLD,))
    call = f"jnp.reshape({array.name}, {facts.new_shape}, out_sharding="
    fits = [
        Fit(edit=f"{call}{spec_words(spec)})", effect=effect, spec=spec, target="result")
        for spec, effect in _reshaped_specs(array, array.mesh, facts.new_shape)
    ]
    return ExplainedError(kind="reshape", sentence=sentence, arrays=(array,), fits=tuple(fits))


def _reshaped_specs(array: ErrorArray, mesh: MeshAxes, shape: tuple[int, ...]) -> Iterator[tuple[Spec, str]]:
    entries = [entry for entry in array.spec or () if entry is not None]
    found = 0
    for places in itertools.combinations(range(len(shape)), len(entries)):
        spec: list[SpecEntry] = [None] * len(shape)
        for place, entry in zip(places, entries, strict=True):
            spec[place] = entry
        if is_legal(tuple(spec), shape, mesh.sizes):
            local = replace(array, shape=shape, spec=tuple(spec)).local_shape or ()
            yield tuple(spec), f"a device holds {shape_words(local)}; parts move between devices as needed"
            found += 1
        if found == 2:
            break
    over = _over(entry_of([axis for entry in entries for axis in axes_of(entry)]))
    yield (None,) * len(shape), f"gathers `{array.name}` over {over}"


# ---------------------------------------------------------------- one array


def explain_split_dimension(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """An operation along a dimension that is split, such as a sort."""
    wanted, dimension = facts.arrays[0], facts.dimension or 0
    same = [other for other in scene.operands if other.spec == wanted.spec and wanted.shape in (None, other.shape)]
    array = same[0] if len(same) == 1 else wanted
    spec = array.spec or ()
    over = _over(spec[dimension])
    words = f"`{scene.operator}`" if scene.operator.isidentifier() else "the operation"
    name = f"`{array.name}`" if array.is_named else "its operand"
    sentence = f"{words} works along dimension {dimension} of {name}, which is split over {over}: it must be whole"
    if not array.is_named:
        return ExplainedError(kind=facts.kind, sentence=sentence, arrays=(array,), notes=(_NOT_TOLD,))
    whole = (*spec[:dimension], None, *spec[dimension + 1 :])
    edit = f"jax.sharding.reshard({array.name}, {spec_words(whole)})"
    fit = Fit(edit=edit, effect=reshard_words(array.name, spec, whole), spec=whole, target=array.name)
    return ExplainedError(kind=facts.kind, sentence=sentence, arrays=(array,), fits=(fit,))


def explain_other_spec(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """An array that arrives with another spec than what takes it asks for."""
    given, wanted = facts.arrays[0], facts.specs[0]
    same = [
        other for other in scene.operands if _same_spec(other.spec, given.spec) and given.shape in (None, other.shape)
    ]
    array = same[0] if len(same) == 1 else given
    name = f"`{array.name}`" if array.is_named else f"an {array.name}" if array.name[:1] in "aeiou" else "the array"
    sentence = f"{name} is `{spec_words(array.spec or ())}`, but `{facts.operation}` asks for `{spec_words(wanted)}`"
    fits = []
    rank = len(array.shape) if array.shape is not None else 0
    target = (*wanted, *(None,) * (rank - len(wanted)))
    sizes = (facts.meshes[0] if facts.meshes else array.mesh or MeshAxes(axes=())).sizes
    if array.is_named and array.shape is not None and is_legal(target, array.shape, sizes):
        words = reshard_words(array.name, array.spec or (), target)
        fits.append(Fit(edit=_moved_to(array, target, facts, scene), effect=words, spec=target, target=array.name))
    if facts.operation == "in_shardings":
        fits.append(Fit(edit="in_shardings=None", effect="arguments are taken as they come"))
    return ExplainedError(kind=facts.kind, sentence=sentence, arrays=(array,), fits=tuple(fits))


def _same_spec(one: Spec | None, other: Spec | None) -> bool:
    """Whether two specs split alike: trailing entries may be left out."""
    return one is not None and other is not None and all(a == b for a, b in itertools.zip_longest(one, other))


def _moved_to(array: ErrorArray, target: Spec, facts: ErrorFacts, scene: ErrorScene) -> str:
    if facts.operation == "with_sharding_constraint":
        return f"jax.sharding.reshard({array.name}, {spec_words(target)})"
    mesh = facts.meshes[0]
    held = [known.name for known in scene.meshes if known.axes == mesh.axes and known.types == mesh.types]
    return f"jax.device_put({array.name}, NamedSharding({held[0] if len(held) == 1 else 'mesh'}, {spec_words(target)}))"


def explain_repeated_result(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Indexing whose result would use an axis twice: the spec is none that the user wrote."""
    array, spec = scene.operands[0], facts.arrays[0].spec or ()
    others = scene.operands[1:]
    sentence = (
        f"`{array.name}[{scene.subscripts}]` would be `{spec_words(spec)}`, from `{spec_words(array.spec or ())}` of "
        f"`{array.name}`, and an axis can split one dimension only"
    )
    fits = tuple(_indexing_fits(replace(facts, operation="gather"), scene, array))
    return ExplainedError(kind="axis twice", sentence=sentence, arrays=(array, *others), fits=fits)
