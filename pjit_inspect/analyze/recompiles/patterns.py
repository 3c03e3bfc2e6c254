"""Finds habits that make a program compile again and again, with a remedy.

A pattern follows from the reasons of one function's compiles. Each advice was seen to make a program compile less
often (tests/recompiles/test_advice.py applies each); otherwise `advice` is "". Not its job: the reasons
themselves (`analyze.recompiles.recompiles`), results that come back (`analyze.recompiles.fed_back`), operations outside
jit (`analyze.recompiles.eager_loops`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence

from pjit_inspect.analyze.recompiles.compiles import SEVERAL, Compile, Found, advise, make_pattern, values_of
from pjit_inspect.analyze.recompiles.eager_loops import find_eager_loops
from pjit_inspect.analyze.recompiles.fed_back import find_fed_back
from pjit_inspect.analyze.recompiles.recompiles import family_of
from pjit_inspect.model.record.compile_key import FunctionKey
from pjit_inspect.model.record.ledger import Pattern
from pjit_inspect.model.record.reason import Difference
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.words.sentence import Sentence, code, joined, name, say, word

PAD = "pad it to {} and mask the padding: {} for every length up to {}, instead of {}"
PAD_AMONG_OTHERS = "pad it to {} and mask the padding: {} instead of {}"
PASS_AS_ARGUMENT = "pass `{}` as an ordinary argument, unless it decides shapes or Python control flow"
SAME_OBJECT = "pass the same object each time"
SAME_OBJECT_OR_EQUALITY = (
    "pass the same object each time, or give its class an `__eq__` and `__hash__` by value, as a frozen dataclass has"
)
JIT_ONCE = "make the jitted function once, outside the loop: JAX's cache is keyed on the function object"
JIT_ONCE_AND_PASS = (
    "make the jitted function once, and pass {} as an argument, unless it decides shapes or Python control flow"
)
MAKE_BOTH_ONCE = "make {} once, and the jitted function with it"
ONE_FORM = "pass `{}` in one form always: `jnp.asarray({}, dtype)`, or always the Python number"
START_AS_ARRAY = "start `{}` as an array, as it comes back: `jnp.asarray({}, '{}')` before the first call"
PUT_ALWAYS = "put it on the devices always: `jax.device_put({}, sharding)` before the call"
ADVICE = (
    PAD, PAD_AMONG_OTHERS, PASS_AS_ARGUMENT, SAME_OBJECT, SAME_OBJECT_OR_EQUALITY, JIT_ONCE, JIT_ONCE_AND_PASS,
    MAKE_BOTH_ONCE, ONE_FORM, START_AS_ARRAY, PUT_ALWAYS,
)  # fmt: skip
"""Every advice that is given here. The test of advice has a program for each."""

# The text of an object whose class says nothing of how it prints.
_PLAIN_OBJECT = re.compile(r"<(?!lambda>)\w+>")
# `2.0:f32[]` in the text of a jaxpr.
_LITERAL = re.compile(r"(?<![\w.])-?(?:[\d.]+(?:e[+-]?\d+)?|inf|nan|True|False):(?=\w+\[)")
_ARRAY = re.compile(r"(traced )?\w+\[[\d,]*\]")


def find_patterns(compiles: Sequence[Compile]) -> Iterator[Pattern]:
    """Every pattern in some compiles, given in the order they happened."""
    families: dict[tuple[str, ...], list[Compile]] = {}
    for one in compiles:
        function = one.key.function
        # Not one operation of a function that `pmap` or `shard_map` runs outside jit.
        if one.data.origin == "user" and (function is None or function.kind != "primitive"):
            families.setdefault(family_of(one.data), []).append(one)
    serials = {one.key.serial: one for one in compiles if one.data.key is not None}
    for group in families.values():
        yield from _of_function(group, serials)
    yield from find_eager_loops(compiles)


def _of_function(group: Sequence[Compile], serials: dict[int, Compile]) -> Iterator[Pattern]:
    found = [
        (one, d) for one in group for d in one.reason.differences
        # Not what is about an argument that a transform made, such as a cotangent.
        if one.key.transform in ("jit", "pmap") or not d.path.startswith("arg[")
    ]  # fmt: skip
    for transform in dict.fromkeys(one.key.transform for one, _ in found):
        # A dimension of an argument is another one where `vmap` has put a batch before it.
        yield from _varying_dimensions([(one, d) for one, d in found if one.key.transform == transform])
    yield from _statics([(one, d) for one, d in found if d.kind == "static"], serials)
    yield from _made_anew([(one, d) for one, d in found if d.kind in ("function", "closure")], serials)
    yield from _weak_types([(one, d) for one, d in found if d.kind == "weak type"])
    yield from _numpy([(one, d) for one, d in found if d.kind == "committed"], serials)
    yield from find_fed_back([(one, d) for one, d in found if d.kind in ("sharding", "committed", "device")], serials)


def _by(found: Found, key: Callable[[Difference], object] = lambda d: d.path) -> list[Found]:
    groups: dict[object, Found] = {}
    for one, difference in found:
        groups.setdefault(key(difference), []).append((one, difference))
    return list(groups.values())


def _is_number_or_array(text: str) -> bool:
    """True if a value with this text may be an ordinary argument of a jitted function."""
    if _ARRAY.fullmatch(text):
        return True
    numpy = re.fullmatch(r"np\.\w+\((.*)\)", text)
    try:
        return isinstance(ast.literal_eval(numpy[1] if numpy else text), (int, float, complex))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text in ("nan", "inf", "-inf")


def _decides_the_program(found: Found, serials: dict[int, Compile]) -> bool:
    """True if the differing value shapes these programs, rather than being a number they compute with."""
    pairs = [(one.data, before.data) for one, _ in found if (before := serials.get(one.reason.nearest or 0))]
    return any(
        _result_shapes(a) != _result_shapes(b) or (None not in (a.jaxpr, b.jaxpr) and _code(a) != _code(b))
        for a, b in pairs
    )


def _result_shapes(data: RecordData) -> list[tuple[int, ...]]:
    return [output.global_shape for output in data.outputs]


def _code(data: RecordData) -> str:
    """The program's text without its numbers."""
    return _LITERAL.sub("", data.jaxpr or "")


# ---------------------------------------------------------------- arguments


def _varying_dimensions(found: Found) -> Iterator[Pattern]:
    merged: dict[tuple[object, ...], list[Found]] = {}
    shapes = [(one, d) for one, d in found if d.kind == "shape" and d.dimension is not None]
    for group in _by(shapes, lambda d: (d.path, d.dimension)):
        lengths = sorted({int(value) for value in values_of(group)})
        if len(lengths) >= SEVERAL:
            # `tokens` and `mask` grow together: one habit.
            merged.setdefault((tuple(lengths), tuple(id(one) for one, _ in group)), []).append(group)
    for (lengths, _), groups in merged.items():
        yield _varying(lengths, groups, found)  # type: ignore[arg-type]


def _varying(lengths: tuple[int, ...], groups: list[Found], found: Found) -> Pattern:
    first = groups[0][0][1]
    others = f" (and {len(groups) - 1} more arguments with it)" if len(groups) > 1 else ""
    buckets = padding_buckets(lengths)
    sentence = say(
        "dimension {} of {}{} takes {} lengths, {} to {}: each length is a program of its own",
        first.dimension or 0, name(first.path), others, len(lengths), lengths[0], lengths[-1],
    )  # fmt: skip
    if len(buckets) >= len(lengths):
        return make_pattern("varying dimension", groups[0], sentence, Sentence(), values=map(str, lengths))
    programs = "1 program" if len(buckets) == 1 else f"at most {len(buckets)} programs"
    advice = advise(PAD, _listed(buckets), programs, buckets[-1], len(lengths))
    if not _is_all_that_differs(groups, found):
        few = "1 length" if len(buckets) == 1 else f"{len(buckets)} lengths"
        advice = advise(PAD_AMONG_OTHERS, _listed(buckets), few, len(lengths))
    return make_pattern("varying dimension", groups[0], sentence, advice, values=map(str, lengths), buckets=buckets)


def _is_all_that_differs(groups: list[Found], found: Found) -> bool:
    """True if the function's compiles differ only in these dimensions, and each is one program of one call."""
    if any(one.data.key is None or one.key.transform not in ("jit", "pmap") for one, _ in found):
        return False
    named = {(d.path, d.dimension) for group in groups for _, d in group}
    return {(d.path, d.dimension) for _, d in found} <= named


def padding_buckets(lengths: Sequence[int]) -> tuple[int, ...]:
    """The powers of two to which the lengths round up: padding to them at most doubles an array."""
    return tuple(sorted({1 << max(0, length - 1).bit_length() for length in lengths}))


def _listed(numbers: Sequence[int]) -> Sentence:
    return joined([str(number) for number in numbers], " or ")


def _statics(found: Found, serials: dict[int, Compile]) -> Iterator[Pattern]:
    for group in _by(found):
        values, path = values_of(group), group[0][1].path
        anew = [(one, d) for one, d in group if d.before == d.after]
        if len(values) >= SEVERAL:
            sentence = say(
                "static argument {} takes {} values: each value is a program of its own", name(path), len(values)
            )
            is_number = all(map(_is_number_or_array, values)) and not _decides_the_program(group, serials)
            advice = advise(PASS_AS_ARGUMENT, name(path)) if is_number else Sentence()
            yield make_pattern("static argument", group, sentence, advice, values=values)
        elif len(anew) > 1:
            value = anew[0][1].after
            words = "static argument {} is {} each time and not equal to what was passed before"
            advice = say(SAME_OBJECT_OR_EQUALITY if _PLAIN_OBJECT.fullmatch(value) else SAME_OBJECT)
            yield make_pattern("static argument", anew, say(words, name(path), word(value)), advice, values=values)


def _weak_types(found: Found) -> Iterator[Pattern]:
    for group in _by(found):
        path, sides = group[0][1].path, values_of(group)
        sentence = say("{} is weakly typed in some calls only: {}", name(path), word(" and ".join(sides[:2])))
        advice = advise(ONE_FORM, name(path), _root(path))
        back = next((one.argument(path) for one, _ in group if one.fed(path)), None)
        if back is not None:
            advice = advise(START_AS_ARRAY, name(path), _root(path), back.dtype)
        yield make_pattern("weak type", group, sentence, advice, values=sides)


def _root(path: str) -> str:
    return path if path.isidentifier() else "value"


def _numpy(found: Found, serials: dict[int, Compile]) -> Iterator[Pattern]:
    both = {"numpy.ndarray", "jax.Array"}
    mixed = [(one, d) for one, d in found if _types(one, d, serials) >= both and not one.fed(d.path)]
    for group in _by(mixed):
        path = group[0][1].path
        sentence = say("{} is a NumPy array in some calls and a committed jax.Array in others", name(path))
        yield make_pattern("numpy and jax.Array", group, sentence, advise(PUT_ALWAYS, _root(path)))


def _types(one: Compile, difference: Difference, serials: dict[int, Compile]) -> set[str]:
    """The types of an argument in a compile and in the compile it is compared with."""
    before = serials.get(one.reason.nearest or 0, one)
    return {argument.type for each in (one, before) if (argument := each.argument(difference.path)) is not None}


# ---------------------------------------------------------------- functions


def _made_anew(found: Found, serials: dict[int, Compile]) -> Iterator[Pattern]:
    made = {_object(one) for one, _ in found}
    if len(made) < 2:
        return
    first = next((d for _, d in found if d.kind == "function"), found[0][1])
    function = found[-1][0].key.function
    closed = [(one, d) for one, d in found if d.kind == "closure"]
    paths = list(dict.fromkeys(d.path for _, d in closed))
    sentence = say("{} is made anew, and jitted, {} times", _made_what(function, first.path), len(made))
    advice = say(JIT_ONCE)
    if paths:
        shown = joined([name(path) for path in paths[:3]], ", ")
        words = "{}, each time with another {}" if len(closed) == len(found) else "{}; {} changed too"
        sentence, advice = (say(words, sentence, shown), _advice_on_closure(shown, closed, serials))
    yield make_pattern("made anew", found, sentence, advice, values=values_of(closed))


def _object(one: Compile) -> int:
    """A number for the compiled function object, which may have several programs."""
    function = one.key.function
    return id(one) if function is None or function.serial is None else function.serial


def _made_what(function: FunctionKey | None, path: str) -> Sentence:
    if function is None:
        return say("{}", name(path))
    parts = (*[code(function.wrapper)] * (function.kind == "wrapper"), name(function.name))
    words = _WHAT.get(function.kind, "{}")
    return say(words, *parts[: words.count("{}")])


_WHAT = {
    "lambda": "a lambda",
    "wrapper": "the wrapper {} around {}",
    "partial": "a `functools.partial` of {}",
    "method": "the bound method {}",
    "object": "a {} object",
}


def _advice_on_closure(shown: Sentence, closed: Found, serials: dict[int, Compile]) -> Sentence:
    if all(map(_is_number_or_array, values_of(closed))):
        return Sentence() if _decides_the_program(closed, serials) else advise(JIT_ONCE_AND_PASS, shown)
    if all(d.before == d.after for _, d in closed):
        # Objects that print the same may well be one object.
        return advise(MAKE_BOTH_ONCE, shown)
    return Sentence()
