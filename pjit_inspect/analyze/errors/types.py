"""What makes the types of a loop, of branches, and of the results of `shard_map` go together.

Not its job: operations outside of them (`analyze.errors.operations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import advice, clauses
from pjit_inspect.analyze.errors.specs import axes_list, reshard_words, shape_words, spec_words, type_words
from pjit_inspect.analyze.errors.structures import named_carry
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit
from pjit_inspect.model.words.sentence import Phrase, Sentence, code, name, say

_MOST = 3
_START = {"scan": ("1", "init"), "fori_loop": ("3", "init_val"), "while_loop": ("2", "init_val")}
"""Where each loop takes what its carry starts with."""


def explain_loop(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A carry that goes into a loop's body with one type and comes out with another."""
    loop = scene.operator if scene.operator in _START else facts.operation
    pairs = [
        (replace(before, name=named_carry(before.name, loop, scene)), after)
        for before, after in zip(facts.arrays, facts.wanted, strict=True)
    ]
    varying = list(zip(facts.names[: len(pairs)], facts.names[len(pairs) :], strict=True))
    words = [
        say(
            "{} goes in as {} and comes out as {}",
            name(before.name),
            _type(before, after, axes[0], axes),
            _type(after, before, axes[1], axes),
        )
        for (before, after), axes in zip(pairs[:_MOST], varying, strict=False)
    ]
    more = [f"and {len(pairs) - _MOST} more"] if len(pairs) > _MOST else []
    sentence = say("the body of {} must keep the type of its carry: {}", code(loop), clauses([*words, *more]))
    fits = [
        fit
        for (before, after), axes in zip(pairs[:_MOST], varying, strict=False)
        for fit in _carry_fits(before, after, axes, facts, scene)
    ]
    return ExplainedError(kind="loop type", sentence=sentence, fits=tuple(fits))


def _type(array: ErrorArray, other: ErrorArray, varies: str, axes: tuple[str, str]) -> Phrase | str:
    """What of a type differs from the other's: the shape, the dtype, the split, or along what it varies."""
    # The most a type says first: of two that differ in shape, the split differs as a matter of course.
    if array.shape != other.shape or array.dtype != other.dtype:
        return type_words(array)
    if array.spec != other.spec:
        return spec_words(array.spec)
    if axes[0] != axes[1]:
        return say("varying over {}", axes_list(_axes(varies))) if varies else "the same on all devices"
    return type_words(array)


def _axes(names: str) -> tuple[str, ...]:
    """The axes that a type lists as "x,y"."""
    return tuple(filter(None, names.split(",")))


def _carry_fits(
    before: ErrorArray, after: ErrorArray, axes: tuple[str, str], facts: ErrorFacts, scene: ErrorScene
) -> Iterator[Fit]:
    own = name(before.name)
    if before.shape != after.shape:
        yield advice(
            say("let the body return {} with the shape {}", own, shape_words(before.shape or ())),
            "a loop cannot change a shape",
        )
    elif before.dtype != after.dtype:
        yield advice(
            say("let the body return {} through {}", own, code(f".astype('{before.dtype}')")),
            say("it stays {}", code(before.dtype)),
        )
    elif before.spec != after.spec:
        yield advice(
            say("let the body return {} through `jax.sharding.reshard` to {}", own, spec_words(before.spec)),
            reshard_words(before.name, after.spec or (), before.spec or ()) + ", in every step",
        )
    elif extra := tuple(axis for axis in _axes(axes[1]) if axis not in _axes(axes[0])):
        yield from _varying_start(before, extra, facts, scene)


def _varying_start(before: ErrorArray, axes: tuple[str, ...], facts: ErrorFacts, scene: ErrorScene) -> Iterator[Fit]:
    effect = say("it then is one value for each device along {} from the start", axes_list(axes))
    keys = _START.get(scene.operator, ())
    texts = [argument.text for argument in scene.arguments if argument.key in keys and argument.text]
    if len(texts) == 1 and before.name.isidentifier():
        how = "" if facts.reason == "pvary" else ", to='varying'"
        edit = f"{_cast(facts)}({texts[0]}, {axes!r}{how})"
        yield Fit(edit=edit, effect=effect, replaces=texts[0])
        return
    start = say("start {} with {} to varying over {}", name(before.name), code(_cast(facts)), axes_list(axes))
    yield advice(start, effect)


def _cast(facts: ErrorFacts) -> str:
    """What JAX has to make a value varying."""
    return "jax.lax.pvary" if facts.reason == "pvary" else "jax.lax.pcast"


# ---------------------------------------------------------------- branches


def explain_branches(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Branches whose results have different types."""
    pairs = list(zip(facts.arrays, facts.wanted, strict=True))
    varying = list(zip(facts.names[: len(pairs)], facts.names[len(pairs) :], strict=True))
    words = [
        say(
            "{} gives {}{}, {} gives {}",
            _branch(one)[0],
            _type(one, other, axes[0], axes),
            _branch(one)[1],
            _branch(other)[0],
            _type(other, one, axes[1], axes),
        )
        for (one, other), axes in zip(pairs[:_MOST], varying, strict=False)
    ]
    sentence = say("the branches of {} must give one type: {}", code(facts.operation), clauses(words))
    fits = [
        fit
        for (one, other), axes in zip(pairs[:_MOST], varying, strict=False)
        for fit in _branch_fits(one, other, axes, facts)
    ]
    return ExplainedError(kind="branch type", sentence=sentence, fits=tuple(fits))


def _branch(array: ErrorArray) -> tuple[Phrase, Sentence]:
    """The branch, and which of its results it is."""
    branch, bracket, path = array.name.partition("[")
    return name(branch), say(" at {}", code(bracket + path)) if bracket else Sentence()


def _branch_fits(one: ErrorArray, other: ErrorArray, axes: tuple[str, str], facts: ErrorFacts) -> Iterator[Fit]:
    branch, place = _branch(other)
    if one.shape != other.shape:
        yield advice("let both branches give one shape", "a branch cannot change it")
    elif one.dtype != other.dtype:
        astype = code(f".astype('{one.dtype}')")
        edit = say("let {} return through {}{}", branch, astype, place)
        yield advice(edit, say("both then are {}", code(one.dtype)))
    elif one.spec != other.spec:
        yield advice(
            say("let {} return through `jax.sharding.reshard` to {}{}", branch, spec_words(one.spec), place),
            reshard_words(Phrase("word", "its result"), other.spec or (), one.spec or ()),
        )
    else:
        sides = [set(_axes(names)) for names in axes]
        for own, missing in ((one.name, sides[1] - sides[0]), (other.name, sides[0] - sides[1])):
            if missing:
                over = axes_list(sorted(missing))
                yield advice(
                    say("let {} return through {} to varying over {}", name(own), code(_cast(facts)), over),
                    "both then are one value for each device",
                )


# ---------------------------------------------------------------- results of shard_map


def explain_replication(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A result that `out_specs` says to be equal on devices where JAX cannot see that it is."""
    words = []
    for array, names in list(zip(facts.arrays, facts.names, strict=True))[:_MOST]:
        spec = say(" ({})", spec_words(array.spec)) if array.spec is not None else ""
        equal = axes_list(_axes(names))
        own = code(array.name)
        words.append(say("{}{} says that the result is equal along {}, which JAX cannot see", own, spec, equal))
    over = axes_list(dict.fromkeys(axis for names in facts.names for axis in _axes(names)))
    fits = (
        advice(
            say("return it through `jax.lax.psum` over {}", over), "if a sum is meant: it is then equal on all of them"
        ),
        advice(
            say("name {} in `out_specs`, in a dimension that the result has", over),
            "if each device's part is meant: they are put one after the other",
        ),
        advice(
            "give `jax.shard_map` `check_vma=False`",
            "if it is known to be equal, as after `jax.lax.all_gather`: JAX then takes one device's result for all",
        ),
    )
    return ExplainedError(kind="replication", sentence=clauses(words), fits=fits)
