"""Where an array lies, in words that can be compared.

Not its job: how a view draws shardings (`view.document.notation`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pjit_inspect.model.program.layout import Sharding
from pjit_inspect.model.program.spec import SpecEntry
from pjit_inspect.model.record.compile_key import ArgumentKey
from pjit_inspect.model.sharding.mesh import Mesh
from pjit_inspect.model.words.sentence import Sentence, axis, bare, joined, say, spec, word

_NOTHING = Sentence()
_ON_DEVICES = " on devices "


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an array lies: how it is split, and over what.

    Attributes:
      split: its PartitionSpec, "device 3", or the kind of its sharding.
      over: its mesh or its devices, with their memory; "" where `split` says it all.
    """

    split: Sentence
    over: Sentence = _NOTHING

    @property
    def words(self) -> Sentence:
        """`P('data', None) on data=2 x model=4`."""
        return say("{} on {}", self.split, self.over) if self.over else self.split

    @property
    def text(self) -> str:
        """The same as plain text, to be compared."""
        return str(self.words)

    @property
    def is_spec(self) -> bool:
        """Whether it has a PartitionSpec."""
        return any(phrase.kind == "spec" for phrase in self.split.phrases)

    @property
    def is_one_device(self) -> bool:
        """Whether it is one device, and no more is known of it."""
        return self.split.startswith("device ")


def place_of(argument: ArgumentKey) -> Place:
    """Where an argument lies as it arrives: `P('data', None) on data=2 x model=4`, `device 3`."""
    if argument.given is None:
        return Place(split=say("no place"))
    return sharding_place(argument.given, argument.mesh)


def sharding_place(sharding: Sharding, mesh: Mesh | None) -> Place:
    """A sharding and, where it follows one, its mesh."""
    if len(sharding.device_ids) == 1:
        return Place(split=say("device {}{}", sharding.device_ids[0], word(_memory(sharding))))
    return _long_place(sharding, mesh)


def _long_place(sharding: Sharding, mesh: Mesh | None) -> Place:
    memory = _memory(sharding)
    if sharding.spec is not None:
        entries = [_entry(entry) for entry in sharding.spec]
        entries += [f"unreduced={sorted(sharding.unreduced)}"] if sharding.unreduced else []
        split = bare(spec(f"P({', '.join(entries)})"))
        if mesh is None:
            return Place(split=say("{}{}", split, word(memory)))
        return Place(split=say("{}", split), over=say("{}{}", _mesh_words(mesh), word(memory)))
    if len(sharding.device_ids) == 1:
        return Place(
            split=say("{}", word(sharding.kind)), over=say("device {}{}", sharding.device_ids[0], word(memory))
        )
    tiles = " x ".join(map(str, sharding.tiles)) or "1"
    split = say("{} of {} tiles", word(sharding.kind), tiles)
    return Place(split=split, over=say("{} devices{}", len(sharding.device_ids), word(memory)))


def _mesh_words(mesh: Mesh) -> Sentence:
    """The mesh; axes that are not "auto" say what they are."""
    types = mesh.axis_types or ("auto",) * len(mesh.axis_names)
    axes = zip(mesh.axis_names, mesh.shape, types, strict=True)
    return _joined_axes([(name, f"{size}" + (f" ({kind})" if kind != "auto" else "")) for name, size, kind in axes])


def _joined_axes(axes: Sequence[tuple[str, str]]) -> Sentence:
    return joined([say("{}={}", bare(axis(name)), size) for name, size in axes], " x ", comma=" x ")


def _read_place(text: str) -> Place:
    """The place that a text of `observe.key.sharding_text` describes."""
    split, _, over = text.partition(" on ")
    return Place(
        split=say("{}", bare(spec(split))) if split.startswith("P(") else _read_over(split), over=_read_over(over)
    )


def _read_over(text: str) -> Sentence:
    """A mesh in such a text, `data=2 x model=4`, or devices."""
    parts = [part.partition("=") for part in text.split(" x ")]
    if all(name and size[:1].isdigit() for name, _, size in parts):
        return _joined_axes([(name, size) for name, _, size in parts])
    return say("{}", word(text))


def _memory(sharding: Sharding) -> str:
    return f" in {sharding.memory_kind}" if sharding.memory_kind not in (None, "device", "unpinned_host") else ""


def _entry(entry: SpecEntry) -> str:
    return f"({', '.join(map(repr, entry))})" if isinstance(entry, tuple) else repr(entry)


# ---------------------------------------------------------------- what changed


def place_change(before: ArgumentKey, after: ArgumentKey) -> Sentence:
    """In what the places of two arguments that lie somewhere differ, never more than the two say."""
    was, now = place_of(before), place_of(after)
    old, new = before.given, after.given
    if was.text != now.text or old is None or new is None:
        return _types_named(_pair(was, now), before.mesh, after.mesh)
    if old.memory_kind != new.memory_kind:
        return say("{}, memory {} -> {}", now.words, word(str(old.memory_kind)), word(str(new.memory_kind)))
    if old.device_ids != new.device_ids:
        return say("{}, {}", now.words, _devices_change(*(_ranges(one.device_ids) for one in (old, new))))
    if old.tile_of != new.tile_of:
        return say("{}, with its tiles on other devices", now.words)
    words = [_with_kind(one, mesh) for one, mesh in ((old, before.mesh), (new, after.mesh))]
    return say("{} -> {}", *words) if words[0] != words[1] else say("{}, as another object", now.words)


def _with_kind(sharding: Sharding, mesh: Mesh | None) -> Sentence:
    words = _long_place(sharding, mesh).words
    return words if sharding.spec is None else say("{} {}", word(sharding.kind), words)


def placement_change(before: str, after: str) -> Sentence:
    """The same of two shardings or meshes whose texts end with their devices, as `observe.key.sharding_text` writes."""
    (was, old), (now, new) = (text.partition(_ON_DEVICES)[::2] for text in (before, after))
    if was == now and old and new:
        return say("{}, {}", _read_place(now).words, _devices_change(old, new))
    # Devices that both have, or that only one can have, need no words where the rest differs.
    if (old == new or not (old and new)) and " on " in was + now:
        return _named_types(_pair(_read_place(was), _read_place(now)), was, now)
    return _named_types(_pair(_read_place(before), _read_place(after)), was, now)


def _pair(before: Place, after: Place) -> Sentence:
    """`before -> after`, with what both lie over said of neither: "P('x') -> P(None)"."""
    if before.over and before.over == after.over and before.split != after.split:
        return say("{} -> {}", before.split, after.split)
    return say("{} -> {}", before.words, after.words)


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


def _types_named(pair: Sentence, before: Mesh | None, after: Mesh | None) -> Sentence:
    if before is None or after is None:
        return pair
    same = (before.axis_names, before.shape) == (after.axis_names, after.shape)
    return pair + _OTHER_TYPES if same and before.axis_types != after.axis_types else pair


def _named_types(pair: Sentence, before: str, after: str) -> Sentence:
    plain = [text.replace(" (explicit)", "").replace(" (manual)", "") for text in (before, after)]
    return pair + _OTHER_TYPES if plain[0] == plain[1] and before != after else pair


_OTHER_TYPES = ": the axis types differ"
