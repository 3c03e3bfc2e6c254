"""What is wrong with the leading axis of what `pmap` maps.

Not its job: meshes and specs that the user wrote (`analyze.errors.divisibility`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pjit_inspect.analyze.errors.fits import advice
from pjit_inspect.analyze.errors.specs import shape_words
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit

__all__ = ["explain_pmap", "is_of_pmap"]

_AXIS = "_internal_pmap_axis_name"
_MOST = 4
_IN_AXES = advice(
    "give `pmap` `in_axes` with `None` for what is the same on all devices", "it is then not mapped, but copied"
)


def is_of_pmap(facts: ErrorFacts, scene: ErrorScene) -> bool:
    """Whether a refused sharding is one that `pmap` made."""
    axes = [axis for array in facts.arrays if array.mesh is not None for axis, _ in array.mesh.axes]
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
        sentence = f"`axis_size` is {facts.new_shape[0]:,}, but the arrays that `pmap` maps have {facts.new_shape[1]:,}"
        fit = advice("leave `axis_size` out", f"`pmap` then takes {facts.new_shape[1]:,} from the arrays")
        return _explained(sentence, arrays, [fit])
    if facts.kind == "rank":
        return _explained(
            "`pmap` maps dimension 0 of every argument, and one of them is a scalar", arrays,
            [advice("give `pmap` `in_axes` with `None` for that argument", "every device then gets the same value")],
        )  # fmt: skip
    if len(lengths) > 1:
        return _differing(arrays, dimension)
    if facts.kind == "indivisible":
        # With one length for all of them, `pmap` takes as many devices.
        given, others = (facts.arrays[0].shape or (0,))[0], facts.count or 0
        words = f"an argument has {given:,}, another {others:,}"
        return _explained(f"`pmap` needs one length along dimension 0 of all it maps: {words}", arrays, [_IN_AXES])
    return _too_long(facts, arrays, dimension, scene.is_complete)


def _differing(arrays: Sequence[ErrorArray], dimension: int) -> ExplainedError:
    words = [f"`{array.name}` has {(array.shape or ())[dimension]:,}" for array in arrays[:_MOST]]
    more = [f"{len(arrays) - _MOST} more follow"] if len(arrays) > _MOST else []
    sentence = f"`pmap` needs one length along dimension {dimension} of all it maps: {', '.join([*words, *more])}"
    return _explained(sentence, arrays, [_IN_AXES])


def _too_long(facts: ErrorFacts, arrays: Sequence[ErrorArray], dimension: int, is_complete: bool) -> ExplainedError:
    length, count = _division(facts, arrays, dimension) if is_complete or facts.reason == "replicas" else (None, 0)
    if length is None or not count:
        sentence = "the arrays that `pmap` maps do not have one slice for each device along the mapped dimension"
        return _explained(sentence, arrays, [])
    own = [array for array in arrays if (array.shape or ())[dimension] == length]
    name = f"`{own[0].name}`" if len(own) == 1 else "an argument"
    share = f"{length / count:g}" if length * 1000 % count == 0 else f"{length // count} and {length % count} are left"
    sentence = f"{name} has {length:,} along dimension {dimension}, and `pmap` gives one to each of {count:,} devices: "
    sentence += f"{length:,} / {count:,} = {share}" if "left" not in share else f"{length:,} / {count:,} is {share}"
    fits: list[Fit] = []
    if length % count == 0 and dimension == 0:
        longer = (count, length // count, *(own[0].shape or ())[1:]) if len(own) == 1 else (count, length // count)
        sizes = f"{count:,} x {length // count:,}"
        fits.append(
            advice(
                f"reshape dimension 0 from {length:,} to {sizes} and give `pmap` the `jax.vmap` of the function",
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
    if facts.reason == "replicas":
        return facts.new_shape[0], facts.count or 0
    local = facts.new_shape
    rest = local[:dimension] + local[dimension + 1 :]
    same = {
        shape[dimension] for array in arrays
        if (shape := array.shape) and shape[:dimension] + shape[dimension + 1 :] == rest
        and local[dimension] and shape[dimension] % local[dimension] == 0
    }  # fmt: skip
    length = same.pop() if len(same) == 1 else None
    return length, length // local[dimension] if length is not None else 0


def _explained(sentence: str, arrays: Sequence[ErrorArray], fits: Sequence[Fit]) -> ExplainedError:
    return ExplainedError(kind="pmap", sentence=sentence, arrays=tuple(arrays), fits=tuple(fits))
