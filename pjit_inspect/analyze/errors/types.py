"""What makes the types of a loop, of branches, and of the results of `shard_map` go together.

Not its job: operations outside of them (`analyze.errors.operations`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pjit_inspect.analyze.errors.fits import advice
from pjit_inspect.analyze.errors.specs import reshard_words, shape_words
from pjit_inspect.analyze.errors.structures import named_carry
from pjit_inspect.model.program.spec import spec_text
from pjit_inspect.model.report.explained_error import ErrorArray, ErrorFacts, ErrorScene, ExplainedError, Fit

__all__ = ["explain_branches", "explain_loop", "explain_replication"]

_MOST = 3
_START = {"scan": ("1", "init"), "fori_loop": ("3", "init_val"), "while_loop": ("2", "init_val")}
"""Where each loop takes what its carry starts with."""


def explain_loop(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A carry that goes into a loop's body with one type and comes out with another."""
    name = scene.operator if scene.operator in _START else facts.operation
    pairs = [
        (replace(before, name=named_carry(before.name, name, scene)), after)
        for before, after in zip(facts.arrays, facts.wanted, strict=True)
    ]
    varying = list(zip(facts.names[: len(pairs)], facts.names[len(pairs) :], strict=True))
    words = [
        f"`{before.name}` goes in as {_type(before, after, axes[0], axes)} "
        f"and comes out as {_type(after, before, axes[1], axes)}"
        for (before, after), axes in zip(pairs[:_MOST], varying, strict=False)
    ]
    more = [f"and {len(pairs) - _MOST} more"] if len(pairs) > _MOST else []
    sentence = f"the body of `{name}` must keep the type of its carry: {'; '.join([*words, *more])}"
    fits = [
        fit
        for (before, after), axes in zip(pairs[:_MOST], varying, strict=False)
        for fit in _carry_fits(before, after, axes, scene)
    ]
    return ExplainedError(kind="loop type", sentence=sentence, fits=tuple(fits))


def _type(array: ErrorArray, other: ErrorArray, varies: str, axes: tuple[str, str]) -> str:
    """What of a type differs from the other's: the shape, the dtype, the split, or along what it varies."""
    if array.shape != other.shape or array.dtype != other.dtype:
        return f"`{array.dtype}{shape_words(array.shape or ())}`"
    if array.spec != other.spec:
        return f"`{spec_text(array.spec or ())}`"
    if axes[0] != axes[1]:
        return f"varying over {_axes(varies)}" if varies else "the same on all devices"
    return f"`{array.dtype}{shape_words(array.shape or ())}`"


def _axes(names: str) -> str:
    return " and ".join(f"`{name}`" for name in names.split(",") if name)


def _carry_fits(before: ErrorArray, after: ErrorArray, axes: tuple[str, str], scene: ErrorScene) -> Iterator[Fit]:
    if before.shape != after.shape:
        yield advice(
            f"let the body return `{before.name}` with the shape {shape_words(before.shape or ())}",
            "a loop cannot change a shape",
        )
    elif before.dtype != after.dtype:
        yield advice(
            f"let the body return `{before.name}` through `.astype('{before.dtype}')`", f"it stays `{before.dtype}`"
        )
    elif before.spec != after.spec:
        yield advice(
            f"let the body return `{before.name}` through `jax.sharding.reshard` to `{spec_text(before.spec or ())}`",
            reshard_words(before.name, after.spec or (), before.spec or ()) + ", in every step",
        )
    elif extra := tuple(name for name in axes[1].split(",") if name and name not in axes[0].split(",")):
        yield from _varying_start(before, extra, scene)


def _varying_start(before: ErrorArray, axes: tuple[str, ...], scene: ErrorScene) -> Iterator[Fit]:
    effect = f"it then is one value for each device along {_axes(','.join(axes))} from the start"
    keys = _START.get(scene.operator, ())
    texts = [argument.text for argument in scene.arguments if argument.key in keys and argument.text]
    if len(texts) == 1 and before.name.isidentifier():
        edit = f"jax.lax.pcast({texts[0]}, {axes!r}, to='varying')"
        yield Fit(edit=edit, effect=effect, replaces=texts[0])
        return
    yield advice(f"start `{before.name}` with `jax.lax.pcast` to varying over {_axes(','.join(axes))}", effect)


# ---------------------------------------------------------------- branches


def explain_branches(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """Branches whose results have different types."""
    pairs = list(zip(facts.arrays, facts.wanted, strict=True))
    varying = list(zip(facts.names[: len(pairs)], facts.names[len(pairs) :], strict=True))
    words = [
        f"`{_branch(one)[0]}` gives {_type(one, other, axes[0], axes)}{_branch(one)[1]}, "
        f"`{_branch(other)[0]}` gives {_type(other, one, axes[1], axes)}"
        for (one, other), axes in zip(pairs[:_MOST], varying, strict=False)
    ]
    sentence = f"the branches of `{facts.operation}` must give one type: {'; '.join(words)}"
    fits = [
        fit
        for (one, other), axes in zip(pairs[:_MOST], varying, strict=False)
        for fit in _branch_fits(one, other, axes)
    ]
    return ExplainedError(kind="branch type", sentence=sentence, fits=tuple(fits))


def _branch(array: ErrorArray) -> tuple[str, str]:
    """The branch, and which of its results it is."""
    name, bracket, path = array.name.partition("[")
    return name, f" at `{bracket}{path}`" if bracket else ""


def _branch_fits(one: ErrorArray, other: ErrorArray, axes: tuple[str, str]) -> Iterator[Fit]:
    if one.shape != other.shape:
        yield advice("let both branches give one shape", "a branch cannot change it")
    elif one.dtype != other.dtype:
        name, place = _branch(other)
        yield advice(f"let `{name}` return through `.astype('{one.dtype}')`{place}", f"both then are `{one.dtype}`")
    elif one.spec != other.spec:
        target = spec_text(one.spec or ())
        yield advice(
            f"let `{_branch(other)[0]}` return through `jax.sharding.reshard` to `{target}`{_branch(other)[1]}",
            reshard_words("its result", other.spec or (), one.spec or ()).replace("`its result`", "its result"),
        )
    else:
        sides = [set(filter(None, names.split(","))) for names in axes]
        for name, missing in ((one.name, sides[1] - sides[0]), (other.name, sides[0] - sides[1])):
            if missing:
                words = _axes(",".join(sorted(missing)))
                yield advice(
                    f"let `{name}` return through `jax.lax.pcast` to varying over {words}",
                    "both then are one value for each device",
                )


# ---------------------------------------------------------------- results of shard_map


def explain_replication(facts: ErrorFacts, scene: ErrorScene) -> ExplainedError:
    """A result that `out_specs` says to be equal on devices where JAX cannot see that it is."""
    words = []
    for array, names in list(zip(facts.arrays, facts.names, strict=True))[:_MOST]:
        spec = f" (`{spec_text(array.spec)}`)" if array.spec is not None else ""
        words.append(f"`{array.name}`{spec} says that the result is equal along {_axes(names)}, which JAX cannot see")
    axes = tuple(dict.fromkeys(name for names in facts.names for name in names.split(",") if name))
    over = _axes(",".join(axes))
    fits = (
        advice(f"return it through `jax.lax.psum` over {over}", "if a sum is meant: it is then equal on all of them"),
        advice(
            f"name {over} in `out_specs`, in a dimension that the result has",
            "if each device's part is meant: they are put one after the other",
        ),
        advice(
            "give `jax.shard_map` `check_vma=False`",
            "if it is known to be equal, as after `jax.lax.all_gather`: JAX then takes one device's result for all",
        ),
    )
    return ExplainedError(kind="replication", sentence="; ".join(words), fits=fits)
