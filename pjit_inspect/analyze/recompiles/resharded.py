"""Arguments that arrive with another sharding than the executable takes: jit copies them silently on every call.

Found when the program is compiled, by comparing the given sharding with the wanted one. Not its job: collectives inside
the program (`analyze.collectives.collectives`).
"""

from __future__ import annotations

import functools
from collections.abc import Collection

from pjit_inspect.analyze.recompiles.placement_words import place_text, place_words
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.record.compile_key import ArgumentKey
from pjit_inspect.model.record.reason import Resharding
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.report.report import Note
from pjit_inspect.model.words.sentence import Sentence, bytes_in_words, code, name, say

_MAX_NOTES = 3


def find_resharded(data: RecordData) -> tuple[Resharding, ...]:
    """The arguments of the recorded call that each such call copies; () for none or unknown.

    Only arrays already on devices count: NumPy arrays and Python numbers must be sent there anyway.
    """
    if data.key is None or data.key.transform not in ("jit", "pmap"):
        return ()
    # Constants that JAX passes along stand before the arguments.
    hoisted = len(data.inputs) - len(data.key.arguments)
    if hoisted < 0:
        return ()
    pairs = zip(data.key.arguments, data.inputs[hoisted:], strict=True)
    return tuple(_resharding(argument, layout, data) for argument, layout in pairs if _moves(argument, layout))


def resharded_notes(data: RecordData) -> tuple[Note, ...]:
    """Sentences about these arguments, one for all that arrive alike; most bytes first, at most three."""
    groups: dict[str, list[Resharding]] = {}
    for one in find_resharded(data):
        groups.setdefault(one.given, []).append(one)
    ranked = sorted(groups.values(), key=lambda own: -_size(own))
    rest = [one for own in ranked[_MAX_NOTES:] for one in own]
    notes = [Note.about(_of_group(own, data), paths=tuple(one.path for one in own)) for own in ranked[:_MAX_NOTES]]
    if rest:
        words = f"{len(rest)} more argument{'s' * (len(rest) != 1)} with another sharding than the program takes"
        notes.append(Note.about(words, paths=tuple(one.path for one in rest)))
    return tuple(notes)


def maker_of(data: RecordData, paths: Collection[str]) -> str:
    """The function whose call returned all of these arguments, as seen when they arrived; "" for none."""
    made = {} if data.key is None else {one.path: one.function for one in data.key.made}
    makers = {made.get(path, "") for path in paths}
    maker = makers.pop() if len(makers) == 1 else ""
    return maker if maker.isidentifier() else ""


def _of_group(own: list[Resharding], data: RecordData) -> Sentence:
    """A sentence about arguments that arrive alike: of one its own, of several their number and the largest."""
    largest = max(own, key=lambda one: one.size_bytes or 0)
    maker = maker_of(data, [one.path for one in own])
    it = "it" if len(own) == 1 else "them"
    remedy = say("; {} returned {}: give it {}", name(maker), it, code("out_shardings=")) if maker else Sentence()
    if len(own) == 1:
        return say("{}{}", largest.sentence, remedy)
    return say(
        "{} arguments arrive as {}, and every such call copies them, {}; the largest, {}, is taken as {}{}",
        f"{len(own):,}", largest.given, bytes_in_words(_size(own)), name(largest.path), largest.wanted, remedy,
    )  # fmt: skip


def _size(own: list[Resharding]) -> int:
    return sum(one.size_bytes or 0 for one in own)


def _moves(argument: ArgumentKey, layout: ArrayLayout) -> bool:
    """True if each call copies the argument."""
    given, wanted = argument.given, layout.sharding
    if given is None or wanted is None or not layout.kept or argument.type != "jax.Array":
        return False
    return argument.shape == layout.global_shape and _differ(given, wanted)


@functools.lru_cache(maxsize=1024)
def _differ(given: Sharding, wanted: Sharding) -> bool:
    """True if bytes lie elsewhere. Cached: thousands of arguments share a few shardings."""
    return _slices(given) != _slices(wanted)


def _slices(sharding: Sharding) -> tuple[object, ...]:
    """The facts that decide where bytes lie: the tile of each device, and the memory."""
    order = sorted(zip(sharding.device_ids, sharding.tile_of, strict=True))
    memory = sharding.memory_kind if sharding.memory_kind not in ("device", "unpinned_host") else None
    return tuple(order), sharding.tiles, memory


def _resharding(argument: ArgumentKey, layout: ArrayLayout, data: RecordData) -> Resharding:
    taken = layout.sharding
    mesh = data.mesh if taken is not None and taken.spec is not None else None
    given, wanted = place_words(place_text(argument.given, argument.mesh)), place_words(place_text(taken, mesh))
    sentence = say(
        "{} arrives as {}, the program takes {}: every such call copies it", name(argument.path), given, wanted
    )
    return Resharding(
        path=argument.path, given=str(given), wanted=str(wanted), size_bytes=layout.global_bytes, sentence=sentence
    )
