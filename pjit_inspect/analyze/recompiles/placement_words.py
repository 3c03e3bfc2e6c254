"""Where an array lies, in words that can be compared.

Not its job: how a view draws shardings (`view.document.notation`).
"""

from __future__ import annotations

from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.spec import SpecEntry
from pjit_inspect.model.record.compile_key import ArgumentKey
from pjit_inspect.model.sharding.mesh import Mesh

__all__ = ["place_change", "place_text", "placement_change", "sharding_words"]

_ON_DEVICES = " on devices "


def place_text(argument: ArgumentKey) -> str:
    """Where an argument lies as it arrives: `P('data', None) on data=2 x model=4`, `device 3`."""
    return sharding_words(argument.given, argument.mesh) if argument.given is not None else "no place"


def sharding_words(sharding: Sharding, mesh: Mesh | None) -> str:
    """A sharding and, where it follows one, its mesh."""
    if len(sharding.device_ids) == 1:
        return f"device {sharding.device_ids[0]}{_memory(sharding)}"
    return _long_words(sharding, mesh)


def _long_words(sharding: Sharding, mesh: Mesh | None) -> str:
    memory = _memory(sharding)
    if sharding.spec is not None:
        over = f" on {_mesh_text(mesh)}" if mesh is not None else ""
        entries = [_entry(entry) for entry in sharding.spec]
        entries += [f"unreduced={sorted(sharding.unreduced)}"] if sharding.unreduced else []
        return f"P({', '.join(entries)}){over}{memory}"
    if len(sharding.device_ids) == 1:
        return f"{sharding.kind} on device {sharding.device_ids[0]}{memory}"
    tiles = " x ".join(map(str, sharding.tiles)) or "1"
    return f"{sharding.kind} of {tiles} tiles on {len(sharding.device_ids)} devices{memory}"


def _mesh_text(mesh: Mesh) -> str:
    """The mesh; axes that are not "auto" say what they are."""
    types = mesh.axis_types or ("auto",) * len(mesh.axis_names)
    axes = zip(mesh.axis_names, mesh.shape, types, strict=True)
    return " x ".join(f"{name}={size}" + (f" ({kind})" if kind != "auto" else "") for name, size, kind in axes)


def _memory(sharding: Sharding) -> str:
    return f" in {sharding.memory_kind}" if sharding.memory_kind not in (None, "device", "unpinned_host") else ""


def _entry(entry: SpecEntry) -> str:
    return f"({', '.join(map(repr, entry))})" if isinstance(entry, tuple) else repr(entry)


# ---------------------------------------------------------------- what changed


def place_change(before: ArgumentKey, after: ArgumentKey) -> str:
    """In what the places of two arguments that lie somewhere differ, never more than the two say."""
    was, now = place_text(before), place_text(after)
    old, new = before.given, after.given
    if was != now or old is None or new is None:
        return _types_named(_pair(was, now), before.mesh, after.mesh)
    if old.memory_kind != new.memory_kind:
        return f"{now}, memory {old.memory_kind} -> {new.memory_kind}"
    if old.device_ids != new.device_ids:
        return f"{now}, {_devices_change(*(_ranges(one.device_ids) for one in (old, new)))}"
    if old.tile_of != new.tile_of:
        return f"{now}, with its tiles on other devices"
    texts = [_with_kind(one, mesh) for one, mesh in ((old, before.mesh), (new, after.mesh))]
    return f"{texts[0]} -> {texts[1]}" if texts[0] != texts[1] else f"{now}, as another object"


def _with_kind(sharding: Sharding, mesh: Mesh | None) -> str:
    words = _long_words(sharding, mesh)
    return words if sharding.spec is None else f"{sharding.kind} {words}"


def placement_change(before: str, after: str) -> str:
    """The same of two shardings or meshes whose texts end with their devices, as `observe.key.sharding_text` writes."""
    (was, old), (now, new) = (text.partition(_ON_DEVICES)[::2] for text in (before, after))
    if was == now and old and new:
        return f"{now}, {_devices_change(old, new)}"
    # Devices that both have, or that only one can have, need no words where the rest differs.
    if (old == new or not (old and new)) and " on " in was + now:
        return _named_types(_pair(was, now), was, now)
    return _named_types(_pair(before, after), was, now)


def _pair(before: str, after: str) -> str:
    """`before -> after`, with what both end in said once: "P('x') -> P(None) on x=8"."""
    heads, tails = zip(*(text.partition(" on ")[::2] for text in (before, after)), strict=True)
    if tails[0] and tails[0] == tails[1] and heads[0] != heads[1]:
        return f"{heads[0]} -> {heads[1]}"
    return f"{before} -> {after}"


def _devices_change(before: str, after: str) -> str:
    is_order = sorted(_numbers(before)) == sorted(_numbers(after)) and "..." not in before + after
    return "over devices in another order" if is_order else f"on devices {before} -> {after}"


def _numbers(ranges: str) -> list[int]:
    """The numbers of "0-3 8"."""
    found: list[int] = []
    for part in ranges.replace("...", "").split():
        first, _, last = part.partition("-")
        if first.isdigit() and (not last or last.isdigit()):
            found += range(int(first), int(last or first) + 1)
    return found


def _ranges(numbers: tuple[int, ...]) -> str:
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _types_named(pair: str, before: Mesh | None, after: Mesh | None) -> str:
    if before is None or after is None:
        return pair
    same = (before.axis_names, before.shape) == (after.axis_names, after.shape)
    return f"{pair}: the axis types differ" if same and before.axis_types != after.axis_types else pair


def _named_types(pair: str, before: str, after: str) -> str:
    plain = [text.replace(" (explicit)", "").replace(" (manual)", "") for text in (before, after)]
    return f"{pair}: the axis types differ" if plain[0] == plain[1] and before != after else pair
