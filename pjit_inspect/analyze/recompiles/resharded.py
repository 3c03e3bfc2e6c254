"""Arguments that arrive with another sharding than the executable takes: jit copies them silently on every call.

Known when the program is compiled, by comparing what was given with what is wanted. Not its job: collectives inside
the program (`analyze.collectives.collectives`).
"""

from __future__ import annotations

from pjit_inspect.analyze.recompiles.placement_words import sharding_words
from pjit_inspect.model.program.layout import ArrayLayout, Sharding
from pjit_inspect.model.record.compile_key import ArgumentKey
from pjit_inspect.model.record.reason import Resharding
from pjit_inspect.model.record.record import RecordData

__all__ = ["find_resharded", "resharded_notes"]

_MAX_NOTES = 3


def find_resharded(data: RecordData) -> tuple[Resharding, ...]:
    """The arguments of the recorded call that each such call copies; () when there are none or nothing is known.

    Only arrays that are on devices already count: NumPy arrays and Python numbers have to be sent there anyway.
    """
    if data.key is None or data.key.transform not in ("jit", "pmap"):
        return ()
    # Constants that JAX passes along stand before the arguments.
    hoisted = len(data.inputs) - len(data.key.arguments)
    if hoisted < 0:
        return ()
    pairs = zip(data.key.arguments, data.inputs[hoisted:], strict=True)
    return tuple(_resharding(argument, layout, data) for argument, layout in pairs if _moves(argument, layout))


def resharded_notes(data: RecordData) -> tuple[str, ...]:
    """The same as sentences, the largest arrays first, at most three and a count of the others."""
    found = sorted(find_resharded(data), key=lambda one: -(one.size_bytes or 0))
    more = len(found) - _MAX_NOTES
    rest = (
        (f"{more} more argument{'s' * (more != 1)} with another sharding than the program takes",) if more > 0 else ()
    )
    return (*(one.sentence for one in found[:_MAX_NOTES]), *rest)


def _moves(argument: ArgumentKey, layout: ArrayLayout) -> bool:
    given, wanted = argument.given, layout.sharding
    if given is None or wanted is None or not layout.kept or argument.type != "jax.Array":
        return False
    if argument.shape != layout.global_shape:
        return False
    return _slices(given) != _slices(wanted)


def _slices(sharding: Sharding) -> tuple[object, ...]:
    """What decides where bytes lie: the tile of each device, and the memory."""
    order = sorted(zip(sharding.device_ids, sharding.tile_of, strict=True))
    memory = sharding.memory_kind if sharding.memory_kind not in ("device", "unpinned_host") else None
    return tuple(order), sharding.tiles, memory


def _resharding(argument: ArgumentKey, layout: ArrayLayout, data: RecordData) -> Resharding:
    given = "" if argument.given is None else sharding_words(argument.given, argument.mesh)
    taken = layout.sharding
    wanted = "" if taken is None else sharding_words(taken, data.mesh if taken.spec is not None else None)
    sentence = f"`{argument.path}` arrives as {given}, the program takes {wanted}: every such call copies it"
    return Resharding(path=argument.path, given=given, wanted=wanted, size_bytes=layout.global_bytes, sentence=sentence)
