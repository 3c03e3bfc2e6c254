"""The placement of an array, as text that can be compared and as words.

The text is that of `observe.key.sharding_text`: `P('data', None) on data=2 x model=4 on devices 0-7`, `device 3`. Not
its job: how a view draws shardings (`view.document.notation`).
"""

from __future__ import annotations

from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.mesh import Mesh
from pjit_inspect.model.record.compile_key import ArgumentKey
from pjit_inspect.model.words.sentence import Phrase, Sentence, axis, bare, joined, say, spec, word

_ON_DEVICES = " on devices "


def place_text(sharding: Sharding | None, mesh: Mesh | None) -> str:
    """A sharding and its mesh, if it follows one, without devices."""
    if sharding is None:
        return "no place"
    is_one = len(sharding.device_ids) == 1
    return f"device {sharding.device_ids[0]}{_memory(sharding)}" if is_one else _long_text(sharding, mesh)


def _long_text(sharding: Sharding, mesh: Mesh | None) -> str:
    ids = sharding.device_ids
    if sharding.spec is not None:
        entries = [f"({', '.join(map(repr, e))})" if isinstance(e, tuple) else repr(e) for e in sharding.spec]
        entries += [f"unreduced={sorted(sharding.unreduced)}"] if sharding.unreduced else []
        split, over = f"P({', '.join(entries)})", "" if mesh is None else _mesh_text(mesh)
    elif len(ids) == 1:
        split, over = sharding.kind, f"device {ids[0]}"
    else:
        split, over = f"{sharding.kind} of {' x '.join(map(str, sharding.tiles)) or '1'} tiles", f"{len(ids)} devices"
    return f"{split}{over and ' on '}{over}{_memory(sharding)}"


def _mesh_text(mesh: Mesh) -> str:
    """The mesh; axis types other than "auto" are named."""
    types = mesh.axis_types or ("auto",) * len(mesh.axis_names)
    axes = zip(mesh.axis_names, mesh.shape, types, strict=True)
    return " x ".join(f"{name}={size}" + (f" ({kind})" if kind != "auto" else "") for name, size, kind in axes)


def _memory(sharding: Sharding) -> str:
    return f" in {sharding.memory_kind}" if sharding.memory_kind not in (None, "device", "unpinned_host") else ""


def place_words(text: str) -> Sentence:
    """The words of a placement's text, with its PartitionSpec and its axes marked."""
    split, on, over = text.partition(" on ")
    return say("{}{}{}", _over_words(split), on, _over_words(over))


def split_words(text: str) -> Sentence:
    """The words of the PartitionSpec alone, if the text has one."""
    return place_words(text.partition(" on ")[0] if text.startswith("P(") else text)


def _over_words(text: str) -> Phrase | Sentence:
    if text.startswith("P("):
        return bare(spec(text))
    parts = [part.partition("=") for part in text.split(" x ")]
    if all(name and size[:1].isdigit() for name, _, size in parts):
        return joined([say("{}={}", bare(axis(name)), word(size)) for name, _, size in parts], " x ", comma=" x ")
    return word(text)


# ---------------------------------------------------------------- what changed


def place_change(before: ArgumentKey, after: ArgumentKey) -> Sentence:
    """The difference between the placements of two arguments, never more than the two say."""
    was, now = place_text(before.given, before.mesh), place_text(after.given, after.mesh)
    old, new = before.given, after.given
    if was != now or old is None or new is None:
        return placement_change(was, now)
    words = place_words(now)
    if old.memory_kind != new.memory_kind:
        return say("{}, memory {} -> {}", words, word(str(old.memory_kind)), word(str(new.memory_kind)))
    if old.device_ids != new.device_ids:
        return say("{}, {}", words, _devices_change(_ranges(old.device_ids), _ranges(new.device_ids)))
    if old.tile_of != new.tile_of:
        return say("{}, with its tiles on other devices", words)
    sides = [
        say("{}{}", f"{one.kind} " if one.spec is not None else "", place_words(_long_text(one, mesh)))
        for one, mesh in ((old, before.mesh), (new, after.mesh))
    ]
    return say("{} -> {}", *sides) if sides[0] != sides[1] else say("{}, as another object", words)


def placement_change(before: str, after: str) -> Sentence:
    """The difference between two texts of shardings or meshes, which may end with devices."""
    (was, old), (now, new) = (text.partition(_ON_DEVICES)[::2] for text in (before, after))
    if was == now and old and new:
        return say("{}, {}", place_words(now), _devices_change(old, new))
    # Devices that both have, or that only one can have, need no words where the rest differs.
    if (old == new or not (old and new)) and " on " in was + now:
        before, after = was, now
    (split, _, over), (other, _, same) = before.partition(" on "), after.partition(" on ")
    if over == same and split != other:
        before, after = split, other
    meshes = [text.partition(" on ")[2] or text for text in (was, now)]
    plain = [text.replace(" (explicit)", "").replace(" (manual)", "") for text in meshes]
    types = ": the axis types differ" if plain[0] == plain[1] and meshes[0] != meshes[1] else ""
    return say("{} -> {}{}", place_words(before), place_words(after), types)


def _devices_change(before: str, after: str) -> str:
    is_order = sorted(_numbers(before)) == sorted(_numbers(after)) and "..." not in before + after
    return "over devices in another order" if is_order else f"on devices {before} -> {after}"


def _numbers(ranges: str) -> list[int]:
    """The numbers of "0-3 8"."""
    ends = [part.partition("-") for part in ranges.replace("...", "").split()]
    known = [(int(a), int(b or a)) for a, _, b in ends if a.isdigit() and (b or a).isdigit()]
    return [number for first, last in known for number in range(first, last + 1)]


def _ranges(numbers: tuple[int, ...]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
