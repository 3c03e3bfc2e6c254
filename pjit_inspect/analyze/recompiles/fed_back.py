"""Results that come back as arguments with another sharding than the argument began with.

Whether an argument is such a result was seen when it arrived (`CompileKey.fed`), by the array itself; equal shapes say
nothing. Not its job: other habits (`analyze.recompiles.patterns`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pjit_inspect.analyze.advice.placement import Side, counterparts, is_split, is_spread, which_way
from pjit_inspect.analyze.recompiles.compiles import Compile, Found, advise, make_pattern
from pjit_inspect.analyze.recompiles.placement_words import place_text, split_words
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.record.compile_key import ArgumentKey, FedBack
from pjit_inspect.model.record.ledger import Pattern
from pjit_inspect.model.record.reason import Difference
from pjit_inspect.model.words.byte_words import bytes_in_words
from pjit_inspect.model.words.sentence import Phrase, Sentence, name, say

KEEP_SO = "set `out_shardings` of jit for {} to the sharding that {} starts with"
START_SO = "start {} as {} back: `jax.device_put({}, {})` before the first call"
EITHER = (
    "either start {} as {} back: `jax.device_put({}, {})` before the first call ({}), or set `out_shardings` of jit "
    "for {} to the sharding that {} starts with ({})"
)
ADVICE = (KEEP_SO, START_SO, EITHER)
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
        alike = _alike(one, before, was, now)
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
        ways = _Ways(one=one, before=before, was=was, now=now, back=back, alike=alike or ((was, now),))
        yield make_pattern("feedback", group, sentence, ways.advice(what))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ways:
    """Two ways for what comes back.

    Attributes:
      one, before: the compile that got it back, and the one before that returned it.
      was, now: the argument in both.
      back: what was seen of it.
      alike: the same for all arguments with the same change.
    """

    one: Compile
    before: Compile | None
    was: ArgumentKey
    now: ArgumentKey
    back: FedBack
    alike: Sequence[tuple[ArgumentKey, ArgumentKey]]

    def advice(self, what: Sentence) -> Sentence:
        """What to do about it, as `analyze.advice` judges; nothing where another finding says how to split it."""
        if not is_split(self.now.given) and self._has_counterpart():
            return Sentence()
        start, back = self._start, self._back
        result: Phrase | str = name(self.back.result) if self.back.result else "what comes back"
        value = self.was.path if self.was.path.isidentifier() else "value"
        it, placed = "they come" if len(self.alike) > 1 else "it comes", _placed(self.now)
        match which_way(start, back):
            case "keep":
                return advise(KEEP_SO, result, what)
            case "start":
                return advise(START_SO, what, it, value, placed)
            case "either":
                return advise(EITHER, what, it, value, placed, _costs(back), result, what, _costs(start))
            case _:
                return Sentence()

    @property
    def _start(self) -> Side:
        # Explicit axes are part of a result's type, which `out_shardings` does not change.
        is_explicit = self.was.mesh is not None and "explicit" in self.was.mesh.axis_types
        return Side(
            held_bytes=sum(_held(was) for was, _ in self.alike),
            sent_bytes=None if self.before is None else self.before.sent_bytes,
            is_possible=bool(self.was.committed) and is_spread(self.was.given) and not is_explicit,
        )

    @property
    def _back(self) -> Side:
        held = sum(_held(now) for _, now in self.alike)
        return Side(held_bytes=held, sent_bytes=self.one.sent_bytes, is_possible=_stays(self.one, self.now, self.back))

    def _has_counterpart(self) -> bool:
        key = self.one.data.key
        arguments = () if key is None else key.arguments
        shapes = {argument.path: (argument.shape, is_split(argument.given)) for argument in arguments}
        return bool(counterparts(shapes, [self.now.path]))


def _held(argument: ArgumentKey) -> int:
    """What it takes on a device, in bytes."""
    lies = ArrayLayout(path=argument.path, dtype=argument.dtype, global_shape=argument.shape, sharding=argument.given)
    return (lies.global_bytes if argument.given is None else lies.bytes_per_device) or 0


def _costs(side: Side) -> str:
    held = f"{bytes_in_words(side.held_bytes)} on each device"
    if side.sent_bytes is None:
        return held
    return f"{held}; the program that takes it so sends {bytes_in_words(side.sent_bytes)} per call"


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
    words = split_words(_text(argument))
    return f"NamedSharding(mesh, {words})" if words.startswith("P(") else str(words)


def _text(argument: ArgumentKey) -> str:
    return place_text(argument.given, argument.mesh)


def _fed(one: Compile, path: str) -> FedBack | None:
    fed = one.data.key.fed if one.data.key is not None else ()
    return next((back for back in fed if back.path == path), None)


def _argument(one: Compile | None, path: str) -> ArgumentKey | None:
    arguments = one.data.key.arguments if one is not None and one.data.key is not None else ()
    return next((argument for argument in arguments if argument.path == path), None)


def _alike(
    one: Compile, before: Compile | None, was: ArgumentKey, now: ArgumentKey
) -> tuple[tuple[ArgumentKey, ArgumentKey], ...]:
    """The arguments that came back with the same change, before and after."""
    fed = one.data.key.fed if one.data.key is not None else ()
    pairs = [(_argument(before, back.path), _argument(one, back.path)) for back in fed]
    change = _placement(was), _placement(now)
    return tuple((a, b) for a, b in pairs if a and b and (_placement(a), _placement(b)) == change)


def _placement(argument: ArgumentKey) -> tuple[object, ...]:
    return _text(argument), bool(argument.committed), argument.type
