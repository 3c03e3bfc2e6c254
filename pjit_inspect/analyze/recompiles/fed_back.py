"""Results that come back as arguments with another sharding than the argument began with.

Whether an argument is such a result was seen when it arrived (`CompileKey.fed`), by the array itself; equal shapes say
nothing. Not its job: other habits (`analyze.recompiles.patterns`).
"""

from __future__ import annotations

from collections.abc import Iterator

from pjit_inspect.analyze.recompiles.compiles import Compile, Found, advise, make_pattern
from pjit_inspect.analyze.recompiles.placement_words import place_of
from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.record.compile_key import ArgumentKey, FedBack
from pjit_inspect.model.record.ledger import Pattern
from pjit_inspect.model.record.reason import Difference
from pjit_inspect.model.words.sentence import Phrase, Sentence, name, say

__all__ = ["ADVICE", "find_fed_back", "was_fed_back"]

KEEP_SO = "set `out_shardings` of jit for {} to the sharding that {} starts with"
START_SO = "start {} as {} back: `jax.device_put({}, {})` before the first call"
ADVICE = (KEEP_SO, START_SO)
"""Every advice that is given here. The test of advice has a program for each."""


def was_fed_back(one: Compile, difference: Difference) -> bool:
    """Whether the argument that differs is a result of an earlier program of the function."""
    return _fed(one, difference.path) is not None


def find_fed_back(found: Found, serials: dict[int, Compile]) -> Iterator[Pattern]:
    """A pattern for each argument that an earlier call returned; `serials` are the compiles by their number."""
    groups: dict[str, Found] = {}
    for one, difference in found:
        if was_fed_back(one, difference):
            groups.setdefault(difference.path, []).append((one, difference))
    for path, group in groups.items():
        one, difference = group[0]
        back, before = _fed(one, path), serials.get(one.reason.nearest or 0)
        was, now = _argument(before, path), _argument(one, path)
        if back is None or was is None or now is None or now.given is None:
            continue
        more = _count_alike(one, before, was, now) - 1
        what = say("{} and {} more", name(path), more) if more > 0 else say("{}", name(path))
        result = name(back.result) if back.result and more <= 0 else "a result"
        it, verb = ("they come", "come") if more > 0 else ("it comes", "comes")
        sentence = say(
            "{} {} back with another sharding: {} of an earlier call has {}", what, verb, result, _spec_words(now)
        )
        yield make_pattern("feedback", group, sentence, _advice(one, was, now, back, what, it))


def _advice(one: Compile, was: ArgumentKey, now: ArgumentKey, back: FedBack, what: Sentence, it: str) -> Sentence:
    asked = {output.name for output in one.data.key.outputs} if one.data.key is not None else set()
    is_asked = bool(asked) if not back.result else back.result in asked
    is_spread = bool(was.committed) and was.given is not None and len(was.given.device_ids) > 1
    # Explicit axes are part of a result's type, which `out_shardings` does not change.
    is_explicit = was.mesh is not None and "explicit" in was.mesh.axis_types
    if is_spread and not is_asked and not is_explicit:
        result: Phrase | str = name(back.result) if back.result else "what comes back"
        return advise(KEEP_SO, result, what)
    if not _stays(one, now, back):
        return Sentence()
    value = was.path if was.path.isidentifier() else "value"
    return advise(START_SO, what, it, value, _placed(now))


def _stays(one: Compile, now: ArgumentKey, back: FedBack) -> bool:
    """Whether the program that takes the argument as it came back returns it in the same way."""
    outputs = [output for output in one.data.outputs if (output.global_shape, output.dtype) == (now.shape, now.dtype)]
    named = [output for output in outputs if output.path == back.result] or outputs
    return bool(named) and all(
        output.sharding is not None and now.given is not None and _where(output.sharding) == _where(now.given)
        for output in named
    )


def _where(sharding: Sharding) -> tuple[object, ...]:
    return sharding.tiles, sorted(zip(sharding.device_ids, sharding.tile_of, strict=True))


def _placed(argument: ArgumentKey) -> str:
    words = _spec_words(argument)
    return f"NamedSharding(mesh, {words})" if place_of(argument).is_spec else str(words)


def _spec_words(argument: ArgumentKey) -> Sentence:
    """How an argument lies, without its mesh."""
    place = place_of(argument)
    return place.split if place.is_spec else place.words


def _fed(one: Compile, path: str) -> FedBack | None:
    fed = one.data.key.fed if one.data.key is not None else ()
    return next((back for back in fed if back.path == path), None)


def _argument(one: Compile | None, path: str) -> ArgumentKey | None:
    arguments = one.data.key.arguments if one is not None and one.data.key is not None else ()
    return next((argument for argument in arguments if argument.path == path), None)


def _count_alike(one: Compile, before: Compile | None, was: ArgumentKey, now: ArgumentKey) -> int:
    """How many arguments came back with the same change."""
    fed = one.data.key.fed if one.data.key is not None else ()
    pairs = [(_argument(before, back.path), _argument(one, back.path)) for back in fed]
    change = _placement(was), _placement(now)
    return sum(a is not None and b is not None and (_placement(a), _placement(b)) == change for a, b in pairs)


def _placement(argument: ArgumentKey) -> tuple[object, ...]:
    return place_of(argument).text, bool(argument.committed), argument.type
