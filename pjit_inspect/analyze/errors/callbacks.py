"""What helps where a program cannot call back into Python, or where what it called failed.

Not its job: callbacks that must keep their order on several devices (`analyze.errors.calls`).
"""

from __future__ import annotations

from pjit_inspect.analyze.errors.fits import advice
from pjit_inspect.analyze.errors.specs import shape_words
from pjit_inspect.model.report.explained_error import ErrorFacts, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Sentence, code, name, place, say

__all__ = ["explain_callback"]

_LONGEST = 160


def explain_callback(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A callback that is refused where it is, or whose function failed or returned something else."""
    if facts.reason in ("shape", "dtype", "count"):
        return _other_result(facts)
    if facts.reason == "raised":
        return _raised(facts)
    sentence, fits = _REFUSED[facts.reason](facts, scene)
    return ExplainedError(kind="callback", sentence=sentence, fits=tuple(fits))


def _other_result(facts: ErrorFacts) -> ExplainedError:
    if facts.reason == "count":
        wanted, given = facts.new_shape
        were = "was" if wanted == 1 else "were"
        sentence = say(
            "the function that the callback calls returned {}, and {} {} declared",
            _arrays(given),
            _arrays(wanted),
            were,
        )
        fit = advice(
            say("declare {} with `jax.ShapeDtypeStruct`", _arrays(given)), "what it returns is then what is expected"
        )
        return ExplainedError(kind="callback", sentence=sentence, fits=(fit,))
    given, wanted = facts.arrays[0], facts.wanted[0]
    which = f"result {facts.count} of " if facts.count else "the result of "
    own, declared = (
        code(shape_words(side.shape) if side.shape is not None else side.dtype) for side in (given, wanted)
    )
    what = "the shape" if facts.reason == "shape" else "the type"
    sentence = say("{}the function that the callback calls has {} {}, but {} was declared", which, what, own, declared)
    if facts.reason == "dtype":
        fit = advice(say("let it return {}, as `.astype` makes it", declared), "as was declared")
        return ExplainedError(kind="callback", sentence=sentence, fits=(fit,))
    fit = advice(say("declare {} in its `jax.ShapeDtypeStruct`", own), "if what it returned is right")
    note = say("within `jax.shard_map` a callback sees one device's part, and what is declared is that part's shape")
    notes = (note,) if _is_part(given.shape or (), wanted.shape or ()) else ()
    return ExplainedError(kind="callback", sentence=sentence, fits=(fit,), notes=notes)


def _is_part(shape: tuple[int, ...], declared: tuple[int, ...]) -> bool:
    """Whether the one may be a device's part of the other."""
    is_like = len(shape) == len(declared) and shape != declared
    return is_like and all(part and not length % part for part, length in zip(shape, declared, strict=True))


def _arrays(count: int) -> str:
    return "1 array" if count == 1 else f"{count} arrays"


def _raised(facts: ErrorFacts) -> ExplainedError:
    error, message = facts.names
    file, _, line = facts.place.rpartition(":")
    said = f"{error}: {message}" if message and len(message) <= _LONGEST and "`" not in message else error
    sentence = say(
        "the program called {} in Python, which raised {} in line {}", name(facts.function), code(said), line
    )
    return ExplainedError(kind="callback", sentence=sentence, notes=(say("that is in {}", place(file)),))


Refusal = tuple[Sentence, list[Fit]]


def _sharding(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    sentence = say("`sharding` of a callback says which device calls, and got a {}", code(facts.names[0]))
    # No other device instead: on 0.10.2 the results are zeros then on all devices but that one.
    return sentence, [advice("leave `sharding` out", "JAX then chooses the device")]


def _gradient(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    callback = code(facts.operation)
    sentence = say("{} calls Python, whose gradient JAX does not know", callback)
    stopped = say("give {} the `jax.lax.stop_gradient` of its arguments", callback)
    stop = advice(stopped, "if no gradient is to go through it")
    if facts.operation == "io_callback":
        return sentence, [stop]
    own = advice("call it in a function with `jax.custom_vjp` or `jax.custom_jvp`", "which says what the gradient is")
    return sentence, [own, stop]


def _ordered(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    sentence = say("`io_callback` with `ordered=True` is under `vmap`, where nothing says which element comes first")
    fits = [
        Fit(edit="ordered=False", effect=say("the calls may then come in any order"), replaces="ordered=True"),
        advice("use `jax.lax.map` in place of `vmap`", "one after the other, in their order"),
    ]
    return sentence, fits


def _mapped(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    sentence = say("{} is under `vmap` and does not say how it takes a batch", code(facts.operation))
    return sentence, [
        advice("give it `vmap_method='sequential'`", "calls once for each element"),
        advice(
            "give it `vmap_method='expand_dims'`", "if the function takes leading dimensions: calls once for all"
        ),
    ]  # fmt: skip


def _remat(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    sentence = say("`io_callback` is within `jax.checkpoint`, which computes again what it may not call twice")
    return sentence, [advice("call it outside of what `jax.checkpoint` is given", "it is then called once")]


_REFUSED = {"sharding": _sharding, "gradient": _gradient, "ordered": _ordered, "mapped": _mapped, "remat": _remat}
