"""What helps where a program cannot call back into Python, or where what it called failed.

Not its job: callbacks that must keep their order on several devices (`analyze.errors.calls`).
"""

from __future__ import annotations

from pjit_inspect.analyze.errors.fits import advice
from pjit_inspect.analyze.errors.specs import shape_words
from pjit_inspect.model.report.explained_error import ErrorFacts, ErrorScene, ExplainedError, Fit

__all__ = ["explain_callback"]

_LONGEST = 160


def explain_callback(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A callback that is refused where it stands, or whose function failed or returned something else."""
    if facts.reason in ("shape", "dtype", "count"):
        return _other_result(facts)
    if facts.reason == "raised":
        return _raised(facts)
    sentence, fits = _REFUSED[facts.reason](facts, scene)
    return ExplainedError(kind="callback", sentence=sentence, fits=tuple(fits))


def _other_result(facts: ErrorFacts) -> ExplainedError:
    if facts.reason == "count":
        wanted, given = facts.new_shape
        sentence = f"the function that the callback calls returned {_arrays(given)}, and {_arrays(wanted)} was declared"
        sentence = sentence if wanted == 1 else sentence.replace("was declared", "were declared")
        fit = advice(
            f"declare {_arrays(given)} with `jax.ShapeDtypeStruct`", "what it returns is then what is expected"
        )
        return ExplainedError(kind="callback", sentence=sentence, fits=(fit,))
    given, wanted = facts.arrays[0], facts.wanted[0]
    which = f"result {facts.count} of " if facts.count else "the result of "
    words = [shape_words(side.shape) if side.shape is not None else side.dtype for side in (given, wanted)]
    what = "the shape" if facts.reason == "shape" else "the type"
    sentence = f"{which}the function that the callback calls has {what} `{words[0]}`, but `{words[1]}` was declared"
    if facts.reason == "dtype":
        fit = advice(f"let it return `{words[1]}`, as `.astype` makes it", "as was declared")
        return ExplainedError(kind="callback", sentence=sentence, fits=(fit,))
    fit = advice(f"declare `{words[0]}` in its `jax.ShapeDtypeStruct`", "if what it returned is right")
    note = "within `jax.shard_map` a callback sees one device's part, and what is declared is that part's shape"
    notes = (note,) if _is_part(given.shape or (), wanted.shape or ()) else ()
    return ExplainedError(kind="callback", sentence=sentence, fits=(fit,), notes=notes)


def _is_part(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether the one may be a device's part of the other."""
    is_same = len(shape) == len(whole) and shape != whole
    return is_same and all(part and not length % part for part, length in zip(shape, whole, strict=True))


def _arrays(count: int) -> str:
    return "1 array" if count == 1 else f"{count} arrays"


def _raised(facts: ErrorFacts) -> ExplainedError:
    error, message = facts.names
    file, _, line = facts.place.rpartition(":")
    said = f"{error}: {message}" if message and len(message) <= _LONGEST and "`" not in message else error
    sentence = f"the program called `{facts.function}` in Python, which raised `{said}` in line {line}"
    return ExplainedError(kind="callback", sentence=sentence, notes=(f"that is in {file}",))


Refusal = tuple[str, list[Fit]]


def _sharding(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    sentence = f"`sharding` of a callback says which device calls, and got a `{facts.names[0]}`"
    # No other device instead: on 0.10.2 the results are zeros then on all devices but that one.
    return sentence, [advice("leave `sharding` out", "JAX then chooses the device")]


def _gradient(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    name = facts.operation
    sentence = f"`{name}` calls Python, whose gradient JAX does not know"
    stop = advice(f"give `{name}` the `jax.lax.stop_gradient` of its arguments", "if no gradient is to go through it")
    if name == "io_callback":
        return sentence, [stop]
    own = advice("call it in a function with `jax.custom_vjp` or `jax.custom_jvp`", "which says what the gradient is")
    return sentence, [own, stop]


def _ordered(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    sentence = "`io_callback` with `ordered=True` is under `vmap`, where nothing says which element comes first"
    fits = [
        Fit(edit="ordered=False", effect="the calls may then come in any order", replaces="ordered=True"),
        advice("use `jax.lax.map` in place of `vmap`", "one after the other, in their order"),
    ]
    return sentence, fits


def _mapped(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    sentence = f"`{facts.operation}` is under `vmap` and does not say how it takes a batch"
    return sentence, [
        advice("give it `vmap_method='sequential'`", "calls once for each element"),
        advice(
            "give it `vmap_method='expand_dims'`", "if the function takes leading dimensions: calls once for all"
        ),
    ]  # fmt: skip


def _remat(facts: ErrorFacts, scene: ErrorScene) -> Refusal:
    sentence = "`io_callback` is within `jax.checkpoint`, which computes again what it may not call twice"
    return sentence, [advice("call it outside of what `jax.checkpoint` is given", "it is then called once")]


_REFUSED = {"sharding": _sharding, "gradient": _gradient, "ordered": _ordered, "mapped": _mapped, "remat": _remat}
