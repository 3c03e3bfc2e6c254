"""What makes a program compile again and again, named, with what to do about it.

A pattern is read off the reasons of one function's compiles (of one line's, for eager operations). Not its job: the
reasons themselves (`analyze.recompiles`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from pjit_inspect.analyze.placement_words import sharding_words
from pjit_inspect.analyze.recompiles import family_of
from pjit_inspect.model.compile_key import ArgumentKey
from pjit_inspect.model.layout import ArrayLayout
from pjit_inspect.model.ledger import Pattern, PatternKind
from pjit_inspect.model.reason import Difference, Reason
from pjit_inspect.model.record import RecordData

__all__ = ["find_patterns", "padding_buckets"]

_SEVERAL = 3
"""From so many values, or compiles, on something counts as a habit."""

_MAX_VALUES = 64


class _Compile(Protocol):
    @property
    def data(self) -> RecordData: ...
    @property
    def reason(self) -> Reason: ...


_Found = list[tuple[_Compile, Difference]]


def find_patterns(compiles: Sequence[_Compile]) -> Iterator[Pattern]:
    """Every pattern in some compiles, which are in the order they happened."""
    families: dict[tuple[str, ...], list[_Compile]] = {}
    for one in compiles:
        if one.data.origin == "user":
            families.setdefault(family_of(one.data), []).append(one)
    serials = {one.data.key.serial: one for one in compiles if one.data.key is not None}
    for group in families.values():
        yield from _of_function(group, serials)
    yield from _eager_loops(compiles)


def _of_function(group: Sequence[_Compile], serials: dict[int, _Compile]) -> Iterator[Pattern]:
    found = [(one, difference) for one in group for difference in one.reason.differences]
    feedback = [(one, d, _origin_of(one, d, serials)) for one, d in found if d.kind in ("sharding", "committed")]
    fed = [(one, d, output) for one, d, output in feedback if output is not None]
    yield from _varying_dimensions([(one, d) for one, d in found if d.kind == "shape" and d.dimension is not None])
    yield from _statics([(one, d) for one, d in found if d.kind == "static"])
    yield from _made_anew([(one, d) for one, d in found if d.kind in ("function", "closure")])
    yield from _weak_types([(one, d) for one, d in found if d.kind == "weak type"])
    yield from _numpy([(one, d) for one, d in found if d.kind == "committed"])
    yield from _feedback(fed)


def _pattern(
    kind: PatternKind, found: _Found, sentence: str, advice: str, *, values: Iterable[str] = (),
    buckets: tuple[int, ...] = (),
) -> Pattern:  # fmt: skip
    compiles = list({id(one): one for one, _ in found}.values())
    newest = compiles[-1].data
    return Pattern(
        kind=kind,
        name=newest.name,
        where=newest.user_frame,
        path=found[0][1].path,
        compiles=len(compiles),
        cost_s=sum(_seconds(one.data) for one in compiles),
        values=tuple(values)[:_MAX_VALUES],
        buckets=buckets,
        sentence=sentence,
        advice=advice,
    )


def _seconds(data: RecordData) -> float:
    timings = data.timings
    return (timings.trace_s or 0.0) + (timings.lower_s or 0.0) + (timings.compile_s or 0.0)


def _by(found: _Found, key: Callable[[Difference], object]) -> list[_Found]:
    groups: dict[object, _Found] = {}
    for one, difference in found:
        groups.setdefault(key(difference), []).append((one, difference))
    return list(groups.values())


def _values(found: _Found) -> list[str]:
    """Both sides of each difference, each once, in the order they appeared."""
    return list(dict.fromkeys(value for _, d in found for value in (d.before, d.after) if value))


# ---------------------------------------------------------------- arguments


def _varying_dimensions(found: _Found) -> Iterator[Pattern]:
    merged: dict[tuple[object, ...], list[_Found]] = {}
    for group in _by(found, lambda d: (d.path, d.dimension)):
        lengths = sorted({int(value) for value in _values(group)})
        if len(lengths) >= _SEVERAL:
            # `tokens` and `mask` grow together: one habit.
            merged.setdefault((tuple(lengths), tuple(id(one) for one, _ in group)), []).append(group)
    for (lengths, _), groups in merged.items():
        yield _varying(lengths, groups)  # type: ignore[arg-type]


def _varying(lengths: tuple[int, ...], groups: list[_Found]) -> Pattern:
    first = groups[0][0][1]
    others = f" (and {len(groups) - 1} more arguments with it)" if len(groups) > 1 else ""
    buckets = padding_buckets(lengths)
    sentence = (
        f"dimension {first.dimension} of `{first.path}`{others} takes {len(lengths)} lengths, "
        f"{lengths[0]} to {lengths[-1]}: each length is a program of its own"
    )
    programs = "1 program" if len(buckets) == 1 else f"at most {len(buckets)} programs"
    advice = (
        f"pad it to {_listed(buckets)} and mask the padding: {programs} for every length up to {buckets[-1]}, "
        f"instead of {len(lengths)}"
    )
    return _pattern("varying dimension", groups[0], sentence, advice, values=map(str, lengths), buckets=buckets)


def padding_buckets(lengths: Sequence[int]) -> tuple[int, ...]:
    """The powers of two that the lengths round up to: padding to them at most doubles an array."""
    return tuple(sorted({1 << max(0, length - 1).bit_length() for length in lengths}))


def _listed(numbers: Sequence[int]) -> str:
    shown = [str(number) for number in numbers]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _statics(found: _Found) -> Iterator[Pattern]:
    for group in _by(found, lambda d: d.path):
        values, path = _values(group), group[0][1].path
        if len(values) >= _SEVERAL:
            sentence = f"static argument `{path}` takes {len(values)} values: each value is a program of its own"
            advice = (
                f"pass `{path}` as an ordinary argument, unless it decides shapes or Python control flow; "
                "then keep the number of its values small"
            )
            yield _pattern("static argument", group, sentence, advice, values=values)


def _weak_types(found: _Found) -> Iterator[Pattern]:
    for group in _by(found, lambda d: d.path):
        path, sides = group[0][1].path, _values(group)
        sentence = f"`{path}` is weakly typed in some calls only: {' and '.join(sides[:2])}"
        advice = f"pass `{path}` in one form always: `jnp.asarray({_root(path)}, dtype)`, or always the Python number"
        yield _pattern("weak type", group, sentence, advice, values=sides)


def _root(path: str) -> str:
    return path if path.isidentifier() else "value"


def _numpy(found: _Found) -> Iterator[Pattern]:
    mixed = [(one, d) for one, d in found if {"numpy.ndarray", "jax.Array"} <= _types(one, d)]
    for group in _by(mixed, lambda d: d.path):
        path = group[0][1].path
        sentence = f"`{path}` is a NumPy array in some calls and a committed jax.Array in others"
        advice = f"put it on the devices always: `jax.device_put({_root(path)}, sharding)` before the call"
        yield _pattern("numpy and jax.Array", group, sentence, advice)


def _types(one: _Compile, difference: Difference) -> set[str]:
    return {kind for kind in ("numpy.ndarray", "jax.Array") if kind in difference.sentence}


# ---------------------------------------------------------------- functions


def _made_anew(found: _Found) -> Iterator[Pattern]:
    compiles = {id(one) for one, _ in found}
    if len(compiles) < 2:
        return
    first = next((d for _, d in found if d.kind == "function"), found[0][1])
    key = found[-1][0].data.key
    function = key.function if key is not None else None
    name, kind = (function.name, function.kind) if function is not None else (first.path, "function")
    closed = [(one, d) for one, d in found if d.kind == "closure"]
    paths = list(dict.fromkeys(d.path for _, d in closed))
    what = _WHAT.get(kind, "`{name}`").format(name=name, wrapper=function.wrapper if function else "")
    sentence = f"{what} is made anew, and jitted, {len(compiles)} times"
    if paths:
        shown = ", ".join(f"`{path}`" for path in paths[:3])
        sentence += f", each time with another {shown}" if len(closed) == len(found) else f"; {shown} changed too"
        advice = f"make the jitted function once, and pass {shown} as an argument"
    else:
        advice = "make the jitted function once, outside the loop: JAX's cache is keyed on the function object"
    yield _pattern("made anew", found, sentence, advice, values=_values(closed))


_WHAT = {
    "lambda": "a lambda",
    "partial": "a `functools.partial` of `{name}`",
    "method": "the bound method `{name}`",
    "wrapper": "the wrapper `{wrapper}` around `{name}`",
    "object": "a `{name}` object",
}


# ---------------------------------------------------------------- results that come back


def _origin_of(one: _Compile, difference: Difference, serials: dict[int, _Compile]) -> ArrayLayout | None:
    """The output of the nearest earlier compile that has the sharding the argument has now."""
    before = serials.get(one.reason.nearest or 0)
    argument = _argument(one.data, difference.path)
    if before is None or argument is None or not argument.committed or argument.given is None:
        return None
    alike = (o for o in before.data.outputs if (o.global_shape, o.dtype) == (argument.shape, argument.dtype))
    place = argument.given
    fitting = (o for o in alike if o.sharding is not None and o.sharding.tiles == place.tiles)
    exact = (o for o in fitting if o.sharding is not None and _where(o.sharding) == _where(place))
    return next(exact, None)


def _where(sharding: object) -> tuple[object, ...]:
    return sharding.device_ids, sharding.tile_of  # type: ignore[attr-defined]


def _argument(data: RecordData, path: str) -> ArgumentKey | None:
    arguments = data.key.arguments if data.key is not None else ()
    return next((argument for argument in arguments if argument.path == path), None)


def _feedback(found: Sequence[tuple[_Compile, Difference, ArrayLayout]]) -> Iterator[Pattern]:
    for group in _by([(one, d) for one, d, _ in found], lambda d: d.path):
        one, output = next((one, output) for one, d, output in found if d is group[0][1])
        path = group[0][1].path
        place = sharding_words(output.sharding, None) if output.sharding is not None else "another sharding"
        sentence = (
            f"`{path}` comes back with another sharding: `{output.path}` of an earlier call has {place}, "
            "and is passed as the argument"
        )
        advice = f"set `out_shardings` of jit for `{output.path}` to the sharding that `{path}` starts with"
        if one.data.key is not None and output.path in {given.name for given in one.data.key.outputs}:
            advice = f"put `{path}` where `out_shardings` puts `{output.path}` before the first call (`jax.device_put`)"
        yield _pattern("feedback", group, sentence, advice)


# ---------------------------------------------------------------- eager operations


def _eager_loops(compiles: Sequence[_Compile]) -> Iterator[Pattern]:
    lines: dict[tuple[str, int], list[_Compile]] = {}
    for one in compiles:
        frame = one.data.user_frame
        if one.data.origin != "user" and frame is not None:
            lines.setdefault((frame.file, frame.line), []).append(one)
    for group in lines.values():
        again = [one for one in group if one.reason.kind == "changed"]
        if len(again) >= _SEVERAL:
            yield _eager_loop(group)


def _eager_loop(group: list[_Compile]) -> Pattern:
    names = list(dict.fromkeys(one.data.name for one in group))
    shown = ", ".join(f"`{name}`" for name in names[:4]) + (", ..." if len(names) > 4 else "")
    newest = group[-1].data
    where = newest.user_frame.where if newest.user_frame is not None else "one line"
    return Pattern(
        kind="eager loop",
        name=", ".join(names[:4]),
        where=newest.user_frame,
        compiles=len(group),
        cost_s=sum(_seconds(one.data) for one in group),
        values=tuple(one.reason.sentence for one in group if one.reason.kind == "changed")[:_MAX_VALUES],
        sentence=f"{where} runs {shown} outside any jit, and compiled {len(group)} programs for that",
        advice="put the lines around it under one `jax.jit`, with arrays of one shape",
    )
