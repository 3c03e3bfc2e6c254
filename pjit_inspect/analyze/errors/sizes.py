"""What makes operations of an Explicit mesh legal that change lengths, update a part, or convolve.

Not its job: indexing, reshapes and operations along one dimension (`analyze.errors.operations`).

*Source*: `_get_sharding_for_varying_out_shape` in `jax/_src/lax/slicing.py`, the sharding rules of
`dynamic_update_slice` there and of `conv_general_dilated` in `lax/convolution.py`.
"""

from __future__ import annotations

import itertools
import math

from pjit_inspect.analyze.errors.elementwise import NOT_TOLD
from pjit_inspect.analyze.errors.fits import advice
from pjit_inspect.analyze.errors.proposals import Judge, cleared, first_accepted, specs_towards, together
from pjit_inspect.analyze.errors.specs import (
    axes_words,
    divides,
    shape_words,
    spec_words,
)
from pjit_inspect.model.program.spec import axes_of
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError
from pjit_inspect.model.words.sentence import code, name, say

_SIZED = ("slice", "dynamic_slice", "dynamic_slice_in_dim", "slice_in_dim", "pad")
"""Functions whose caller chooses the new length."""


def explain_new_size(facts: ErrorFacts, scene: ErrorScene, judge: Judge) -> ExplainedError:
    """A new length along a split dimension that the axes do not divide."""
    array, dimensions = _changed(facts, scene)
    length, parts = _refused(facts), facts.count or 1
    operation = scene.operator if scene.operator.isidentifier() else facts.operation
    axes = axes_words(facts.names, array.mesh.sizes if array is not None and array.mesh is not None else {})
    exact = f"{length / parts:g}" if length * 1000 % parts == 0 else f"{length // parts}, with {length % parts} left"
    where = f"dimension {dimensions[0]}" if len(dimensions) == 1 else "a dimension"
    type_ = f"an array {shape_words(facts.arrays[0].shape or ())}" if facts.arrays else "its operand"
    sentence = say(
        "{} makes an array of length {} along {} of {}, which is split over {}: {}",
        code(operation), f"{length:,}", where, name(array.name) if array is not None else type_, axes,
        f"{length:,} / {parts:,} = {exact}",
    )  # fmt: skip
    if array is None:
        return ExplainedError(kind="new size", sentence=sentence, notes=(NOT_TOLD,))
    fits = first_accepted(cleared([array], scene), judge)
    if operation in _SIZED and len(dimensions) == 1:
        longer = -(-length // parts) * parts
        if operation == "pad" or longer <= (array.shape or ())[dimensions[0]]:
            fits.append(
                advice(f"make it a length of {longer:,} along dimension {dimensions[0]}", f"{parts} divides that")
            )
    return ExplainedError(kind="new size", sentence=sentence, arrays=(array,), fits=tuple(fits))


def _refused(facts: ErrorFacts) -> int:
    """The first length that is not divided."""
    if not facts.arrays:
        return facts.new_shape[0]
    for before, after, entry in zip(
        facts.arrays[0].shape or (), facts.new_shape, facts.arrays[0].spec or (), strict=True
    ):
        if before != after and axes_of(entry) == facts.names and after % (facts.count or 1):
            return after
    return facts.new_shape[0]


def _changed(facts: ErrorFacts, scene: ErrorScene) -> tuple[ErrorArray | None, tuple[int, ...]]:
    """The operand, and its dimensions that must not be split."""
    split = [array for array in scene.operands if any(array.spec or ()) and array.mesh is not None]
    if not facts.arrays:
        same = [array for array in split if facts.names in [axes_of(entry) for entry in array.spec or ()]]
        if len(same) != 1:
            return None, ()
        return same[0], tuple(n for n, entry in enumerate(same[0].spec or ()) if axes_of(entry) == facts.names)
    wanted = facts.arrays[0]
    same = [array for array in split if array.shape == wanted.shape and array.spec == wanted.spec]
    if len(same) == 1:
        sizes = same[0].mesh.sizes if same[0].mesh is not None else {}
        lengths = zip(wanted.shape or (), facts.new_shape, wanted.spec or (), strict=True)
        return same[0], tuple(
            place for place, (before, after, entry) in enumerate(lengths)
            if entry is not None and before != after and not divides(entry, after, sizes)
        )  # fmt: skip
    # The function gave it another shape first, as `roll` without an axis does: all its dimensions are concerned.
    count = math.prod(wanted.shape or ())
    like = [array for array in split if math.prod(array.shape or ()) == count]
    if len(like) == 1 and not same and scene.is_complete:
        return like[0], tuple(place for place, entry in enumerate(like[0].spec or ()) if entry is not None)
    return None, _quoted(facts)


def _quoted(facts: ErrorFacts) -> tuple[int, ...]:
    """The dimensions that the message alone tells."""
    lengths = zip(facts.arrays[0].shape or (), facts.new_shape, facts.arrays[0].spec or (), strict=True)
    return tuple(
        place for place, (before, after, entry) in enumerate(lengths)
        if before != after and axes_of(entry) == facts.names and after % (facts.count or 1)
    )  # fmt: skip


# ---------------------------------------------------------------- an update of a part


def explain_update(facts: ErrorFacts, scene: ErrorScene, judge: Judge) -> ExplainedError:
    """An update that is split differently from what it updates."""
    updated, part = facts.arrays
    array, update = _only(updated, scene), _only(part, scene)
    sentence = say(
        "{} is {}, but {} that it updates is {}: an update must be split as what it updates",
        name(update.name) if update is not None else "the update",
        spec_words(part.spec),
        name(array.name) if array is not None else "the array",
        spec_words(updated.spec),
    )
    if array is None or update is None:
        return ExplainedError(kind="update", sentence=sentence, notes=(NOT_TOLD,))
    own = array.spec or ()
    pairs = (together(((array, target), (update, target)), scene) for target in (own, *specs_towards(array, own)))
    fits = first_accepted(itertools.chain.from_iterable(pairs), judge)
    return ExplainedError(kind="update", sentence=sentence, arrays=(array, update), fits=tuple(fits))


def _only(wanted: ErrorArray, scene: ErrorScene) -> ErrorArray | None:
    same = [array for array in scene.operands if array.shape == wanted.shape and array.spec == wanted.spec]
    return same[0] if len(same) == 1 else None


# ---------------------------------------------------------------- a convolution


def explain_convolution(facts: ErrorFacts, scene: ErrorScene, judge: Judge) -> ExplainedError:
    """A convolution whose kernel or features are split."""
    sentence = say(
        "JAX will not choose how the result of a convolution is split: it does where the kernel is replicated and the "
        "features of the input are not split"
    )
    operands = [array for array in scene.operands if array.spec is not None and array.shape is not None]
    if len(operands) != 2:
        return ExplainedError(kind="convolution", sentence=sentence, arrays=tuple(operands), notes=(NOT_TOLD,))
    fits = tuple(first_accepted(cleared(operands, scene), judge))
    notes = () if fits else (NOT_TOLD,)
    return ExplainedError(kind="convolution", sentence=sentence, arrays=tuple(operands), fits=fits, notes=notes)
