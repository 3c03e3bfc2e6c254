"""What is wrong with the leading axis of what `pmap` maps.

Not its job: meshes and specs that the user wrote (`analyze.errors.divisibility`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.errors.fits import advice
from pjit_inspect.analyze.errors.specs import shape_words
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say

_AXIS = "_internal_pmap_axis_name"
_MOST = 4
_ONE_LENGTH = "`pmap` needs one length along dimension {} of all it maps: {}"
_IN_AXES = advice(
    "give `pmap` `in_axes` with `None` for what is the same on all devices", "it is then not mapped, but copied"
)


def is_of_pmap(facts: ErrorFacts, scene: ErrorScene) -> bool:
    """Whether a refused sharding is one that `pmap` made."""
    axes = [axis for array in facts.arrays if array.mesh is not None for axis in array.mesh.axis_names]
    return _AXIS in axes or (scene.is_mapped and facts.kind in ("indivisible", "rank"))


def explain_pmap(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError | None:
    """Lengths along the mapped axis that do not go with the devices or with each other."""
    if facts.reason in ("squeezed", "axis_size") and not scene.is_mapped:
        # The same words are said of a `squeeze` of the user's.
        return None
    dimension = facts.dimension or 0 if facts.reason == "squeezed" else 0
    arrays = tuple(array for array in scene.operands if array.shape is not None and len(array.shape) > dimension)
    lengths = list(dict.fromkeys((array.shape or ())[dimension] for array in arrays))
    if facts.reason == "axis_size":
        asked, own = (f"{length:,}" for length in facts.new_shape[:2])
        sentence = say("`axis_size` is {}, but the arrays that `pmap` maps have {}", asked, own)
        fit = advice("leave `axis_size` out", say("`pmap` then takes {} from the arrays", own))
        return _explained(sentence, arrays, [fit])
    if facts.kind == "rank":
        return _explained(
            say("`pmap` maps dimension 0 of every argument, and one of them is a scalar"), arrays,
            [advice("give `pmap` `in_axes` with `None` for that argument", "every device then gets the same value")],
        )  # fmt: skip
    if len(lengths) > 1:
        return _differing(arrays, dimension)
    if facts.kind == "indivisible":
        # With one length for all of them, `pmap` takes as many devices.
        return _uneven(facts, scene, arrays)
    return _too_long(facts, arrays, dimension, scene.is_complete)


def _uneven(facts: ErrorFacts, scene: ErrorScene, arrays: Sequence[ErrorArray]) -> ExplainedError:
    """A length that is no multiple of the devices: of one argument, or of one of several."""
    given, parts = (facts.arrays[0].shape or (0,))[0], facts.count or 0
    own = [array for array in arrays if (array.shape or (0,))[0] == given]
    text = scene.arguments[0].text if len(scene.arguments) == 1 else ""
    what = name(own[0].name) if len(own) == 1 else code(text) if text else "an argument"
    is_short = parts and given * 1000 % parts == 0
    share = f"{given:,} / {parts:,} = {given / parts:g}" if is_short else f"{parts:,} does not divide it"
    words = "{} has {} along dimension 0, and `pmap` gives it to {} devices: {}"
    sentence = say(words, what, f"{given:,}", f"{parts:,}", share)
    if len(scene.arguments) > 1:
        return _explained(sentence, arrays, [_IN_AXES])
    fits = [
        advice(f"give it {parts:,} along dimension 0", "one slice for each device"),
        advice("use `jax.jit` of the `jax.vmap` of the function", "it takes any length, on one device or on a mesh"),
    ]
    return _explained(sentence, arrays, fits)


def _differing(arrays: Sequence[ErrorArray], dimension: int) -> ExplainedError:
    lengths = [(array, f"{(array.shape or ())[dimension]:,}") for array in arrays[:_MOST]]
    words = [say("{} has {}", name(array.name), length) for array, length in lengths]
    more = [f"{len(arrays) - _MOST} more follow"] if len(arrays) > _MOST else []
    return _explained(say(_ONE_LENGTH, dimension, joined([*words, *more], ", ")), arrays, [_IN_AXES])


def _too_long(facts: ErrorFacts, arrays: Sequence[ErrorArray], dimension: int, is_complete: bool) -> ExplainedError:
    length, count = _division(facts, arrays, dimension) if is_complete or facts.reason == "replicas" else (None, 0)
    if length is None or not count:
        sentence = say("the arrays that `pmap` maps do not have one slice for each device along the mapped dimension")
        return _explained(sentence, arrays, [])
    own = [array for array in arrays if (array.shape or ())[dimension] == length]
    what = name(own[0].name) if len(own) == 1 else "an argument"
    is_short = length * 1000 % count == 0
    share = f"= {length / count:g}" if is_short else f"is {length // count} and {length % count} are left"
    sentence = say(
        "{} has {} along dimension {}, and `pmap` gives one to each of {} devices: {}",
        what, f"{length:,}", dimension, f"{count:,}", f"{length:,} / {count:,} {share}",
    )  # fmt: skip
    fits: list[Fit] = []
    if length % count == 0 and dimension == 0:
        longer = (count, length // count, *(own[0].shape or ())[1:]) if len(own) == 1 else (count, length // count)
        sizes = f"{count:,} x {length // count:,}"
        words = "reshape dimension 0 from {} to {} and give `pmap` the `jax.vmap` of the function"
        fits.append(
            advice(
                say(words, f"{length:,}", sizes),
                f"a device then maps over {shape_words(longer[1:])}",
            )
        )
    fits.append(
        advice(
            "use `jax.jit` of the `jax.vmap` of the function, with the array placed on a mesh",
            f"a device may then hold {length // count} of them" if length % count == 0 else "with no `pmap` at all",
        )
    )
    return _explained(sentence, own[:1] or arrays, fits)


def _division(facts: ErrorFacts, arrays: Sequence[ErrorArray], dimension: int) -> tuple[int | None, int]:
    """The length that was mapped, and the devices."""
    # The message has the length of one device's part alone: the arrays that are like it in all other dimensions, and a
    # multiple of it in this one, must agree on a length.
    if facts.reason == "replicas":
        return facts.new_shape[0], facts.count or 0
    local = facts.new_shape
    rest = local[:dimension] + local[dimension + 1 :]
    same = {
        shape[dimension] for array in arrays
        if (shape := array.shape) and len(shape) == len(local) and shape[:dimension] + shape[dimension + 1 :] == rest
        and local[dimension] and shape[dimension] % local[dimension] == 0
    }  # fmt: skip
    length = same.pop() if len(same) == 1 else None
    return length, length // local[dimension] if length is not None else 0


def _explained(sentence: Sentence, arrays: Sequence[ErrorArray], fits: Sequence[Fit]) -> ExplainedError:
    return ExplainedError(kind="pmap", sentence=sentence, arrays=tuple(arrays), fits=tuple(fits))
