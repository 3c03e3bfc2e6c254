"""Results that come back as arguments with another sharding than the argument began with.

An argument is recognised as such a result when it arrives (`CompileKey.fed`), by the array itself; equal shapes prove
nothing. Not its job: other habits (`analyze.recompiles.patterns`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pjit_inspect.analyze.advice.placement import Side, counterparts, is_split, is_spread, which_way
from pjit_inspect.analyze.recompiles.compiles import Compile, Found, advise, make_pattern
from pjit_inspect.analyze.recompiles.placement_words import place_text, split_words
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.record.compile_key import ArgumentKey, FedBack
from pjit_inspect.model.record.ledger import Pattern
from pjit_inspect.model.words.sentence import Phrase, Sentence, bytes_in_words, name, say

KEEP_SO = "set `out_shardings` of jit for {} to the sharding that {} starts with"
START_SO = "start {} as {} back: `jax.device_put({}, {})` before the first call"
EITHER = (
    "either start {} as {} back: `jax.device_put({}, {})` before the first call ({}), or set `out_shardings` of jit "
    "for {} to the sharding that {} starts with ({})"
)
ADVICE = (KEEP_SO, START_SO, EITHER)
"""Every advice that is given here. The test of advice has a program for each."""


def find_fed_back(found: Found, serials: dict[int, Compile]) -> Iterator[Pattern]:
    """A pattern for each argument that an earlier call returned; `serials` are the compiles by their number."""
    groups: dict[str, Found] = {}
    for one, difference in found:
        if one.fed(difference.path):
            groups.setdefault(difference.path, []).append((one, difference))
    for path, group in groups.items():
        one = group[0][0]
        back, before = one.fed(path), serials.get(one.reason.nearest or 0)
        was, now = before and before.argument(path), one.argument(path)
        if before is None or back is None or was is None or now is None or now.given is None:
            continue
        # All that came back with the same change.
        pairs = [(before.argument(other.path), one.argument(other.path)) for other in one.key.fed]
        change = _placement(was), _placement(now)
        alike = [(a, b) for a, b in pairs if a and b and (_placement(a), _placement(b)) == change]
        more = len(alike) - 1
        what = say("{} and {} more", name(path), more) if more > 0 else say("{}", name(path))
        result = name(back.result) if back.result and more <= 0 else "a result"
        sentence = say(
            "{} {} back with another sharding: {} of an earlier call has {}",
            what,
            "come" if more > 0 else "comes",
            result,
            split_words(_text(now)),
        )
        yield make_pattern("feedback", group, sentence, _advice(one, before, alike, back, what))


def _advice(
    one: Compile, before: Compile, alike: Sequence[tuple[ArgumentKey, ArgumentKey]], back: FedBack, what: Sentence
) -> Sentence:
    """The remedy, as `analyze.advice` judges; empty if another finding says how to split the argument."""
    was, now = next((a, b) for a, b in alike if b.path == back.path)
    shapes = {argument.path: (argument.shape, is_split(argument.given)) for argument in one.key.arguments}
    if not is_split(now.given) and counterparts(shapes, [now.path]):
        return Sentence()
    # Explicit axes are part of a result's type, which `out_shardings` does not change.
    is_explicit = was.mesh is not None and "explicit" in was.mesh.axis_types
    start = Side(
        held_bytes=sum(_held(a) for a, _ in alike),
        sent_bytes=before.sent(),
        is_possible=bool(was.committed) and is_spread(was.given) and not is_explicit,
    )
    came = Side(held_bytes=sum(_held(b) for _, b in alike), sent_bytes=one.sent(), is_possible=_stays(one, now, back))
    result: Phrase | str = name(back.result) if back.result else "what comes back"
    value = was.path if was.path.isidentifier() else "value"
    starts = (what, "they come" if len(alike) > 1 else "it comes", value, _placed(now))
    match which_way(start, came):
        case "keep":
            return advise(KEEP_SO, result, what)
        case "start":
            return advise(START_SO, *starts)
        case "either":
            return advise(EITHER, *starts, _costs(came), result, what, _costs(start))
        case _:
            return Sentence()


def _held(argument: ArgumentKey) -> int:
    """Bytes it takes on one device."""
    lies = ArrayLayout(path=argument.path, dtype=argument.dtype, global_shape=argument.shape, sharding=argument.given)
    return (lies.global_bytes if argument.given is None else lies.bytes_per_device) or 0


def _costs(side: Side) -> str:
    held = f"{bytes_in_words(side.held_bytes)} on each device"
    if side.sent_bytes is None:
        return held
    return f"{held}; the program that takes it so sends {bytes_in_words(side.sent_bytes)} per call"


def _stays(one: Compile, now: ArgumentKey, back: FedBack) -> bool:
    """True if the program that takes the argument with its new sharding also returns it with that sharding."""
    outputs = [output for output in one.data.outputs if (output.global_shape, output.dtype) == (now.shape, now.dtype)]
    named = [output for output in outputs if output.path == back.result] or outputs
    return bool(named) and all(
        output.sharding is not None and now.given is not None and _where(output.sharding) == _where(now.given)
        for output in named
    )


def _where(sharding: Sharding) -> tuple[object, ...]:
    return sharding.tiles, sorted(zip(sharding.device_ids, sharding.tile_of, strict=True))


def _placed(argument: ArgumentKey) -> str:
    words = split_words(_text(argument))
    return f"NamedSharding(mesh, {words})" if words.startswith("P(") else str(words)


def _text(argument: ArgumentKey) -> str:
    return place_text(argument.given, argument.mesh)


def _placement(argument: ArgumentKey) -> tuple[object, ...]:
    return _text(argument), bool(argument.committed), argument.type
