"""Inputs and outputs: name, type, spec, and the slice that each device holds.

Equal arrays of repeated layers share a row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.record.compile_key import CompileKey
from pjit_inspect.model.record.record import RecordData
from pjit_inspect.model.words.layers import path_pattern, path_patterns
from pjit_inspect.model.words.sentence import Sentence, axis, code, joined, name, say
from pjit_inspect.view.document.columns import codes, numbers, sizes, table_of
from pjit_inspect.view.document.document import (
    Beside,
    Block,
    Card,
    Column,
    Gallery,
    Picture,
    Quote,
    Rest,
    Section,
    ShardSubject,
    Sign,
    Spans,
    TableBlock,
    Text,
    dim,
    line,
    spans,
    strong,
)
from pjit_inspect.view.document.grouping import grouped
from pjit_inspect.view.document.notation import array_text, known_spec_text, ranges_text, shape_text, slices_text
from pjit_inspect.view.document.quantities import bytes_number, bytes_text, plural
from pjit_inspect.view.document.text_spans import joined_spans
from pjit_inspect.view.record.answer import reason_text
from pjit_inspect.view.svg.shard_picture import shard_face

_ASKED = {
    "": "XLA chose", "argument": "as passed", "device": "jit's device", "type": "from the type",
    "with_sharding_constraint": "constraint",
}  # fmt: skip
"""Words for the origin of a sharding, where they differ from `ArrayLayout.asked`."""

_STATICS = 3
_SHORT = 36  # characters of words that share a line of a card
_TEXT_ROWS = 8
_CARDS = 8
_TABLE_ROWS = 60
_SLICES = 16  # distinct slices a row lists
_FEW_SLICES = 8  # the same with many arrays


class ArrayGroup(NamedTuple):
    """Arrays that differ only in their layer number. There may be ten thousand groups, so they are plain tuples.

    Attributes:
      name: the path they share, layer numbers starred; the path itself for a single array.
      layouts: the arrays, in the program's order.
      each_bytes: bytes of each of them on one device; None when unknown.
      bytes_per_device: bytes of all of them on one device; unknown ones count nothing.
      in_vain: True when they are donated and no output reuses their buffers.
      asked: the origin of their shardings, in a word or two; "" for none.
    """

    name: str
    layouts: tuple[ArrayLayout, ...]
    each_bytes: int | None
    bytes_per_device: int
    in_vain: bool = False
    asked: str = ""

    @property
    def first(self) -> ArrayLayout:
        """The array that represents the group."""
        return self.layouts[0]


def donated_in_vain(data: RecordData) -> frozenset[str]:
    """Paths of donated inputs whose buffers no output reuses; empty where reuse is unknown."""
    reused = {layout.aliases for layout in data.outputs if layout.aliases is not None}
    if not reused and (data.memory is None or data.memory.alias_bytes != 0):
        return frozenset()
    return frozenset(x.path for x in data.parameters if x.donated and x.path not in reused)


def group_arrays(
    layouts: Sequence[ArrayLayout], *, keep_first: bool = False, in_vain: frozenset[str] = frozenset()
) -> tuple[ArrayGroup, ...]:
    """Arrays grouped by everything but their layer numbers, in the program's order.

    `in_vain` are the paths of inputs that were donated for nothing.
    """
    groups: defaultdict[tuple[object, ...], list[ArrayLayout]] = defaultdict(list)
    paths = [layout.path for layout in layouts]
    patterns = path_patterns(paths, keep_first=keep_first)
    uses = Counter(patterns)
    for layout, path, pattern in zip(layouts, paths, patterns, strict=True):
        if uses[pattern] == 1:
            groups[pattern,].append(layout)
            continue
        shared = (None if one is None else path_pattern(one) for one in (layout.aliases, layout.returned))
        rest = (
            layout.dtype, layout.global_shape, layout.donated, layout.kept, path in in_vain, *shared,
            layout.asked, layout.passed, layout.layout_asked, layout.layout,
        )  # fmt: skip
        groups[pattern, layout.sharding, *rest].append(layout)
    found = []
    for key, members in groups.items():
        first, number = members[0], len(members)
        name, each = first.path if number == 1 else str(key[0]), first.bytes_per_device
        total, is_in_vain = (each or 0) * number, first.path in in_vain
        found.append(ArrayGroup(name, tuple(members), each, total, is_in_vain, _asked(first)))
    return tuple(found)


def holdings(layout: ArrayLayout, *, limit: int = _SLICES) -> tuple[tuple[tuple[int, ...], tuple[slice, ...]], ...]:
    """Devices and their slice, one pair per distinct slice, lowest device first; at most `limit` pairs."""
    sharding = layout.sharding
    if sharding is None:
        return ()
    holders = grouped(sorted(zip(sharding.device_ids, sharding.tile_of, strict=True)), lambda held: held[1])
    chosen = list(holders.items())[:limit]
    return tuple((tuple(device for device, _ in held), layout.tile_slices(tile)) for tile, held in chosen)


def array_blocks(data: RecordData) -> list[Block]:
    """The sections of inputs and of outputs, side by side where there is room."""
    return [Beside((_section(data, "input", data.inputs), _section(data, "output", data.outputs)), in_text=False)]


def _section(data: RecordData, noun: str, layouts: Sequence[ArrayLayout]) -> Block:
    field, static = f"{noun}s", _static_words(data.key) if noun == "input" else ""
    if not layouts:
        reason = data.missing.get(field)
        return line((f"{field} unknown: {reason_text(reason)}" if reason else f"no {field}") + static)
    in_vain = donated_in_vain(data) if noun == "input" else frozenset()
    groups = group_arrays(layouts, keep_first=noun == "output", in_vain=in_vain)
    places, asked = {group.asked for group in groups} - {""}, ""
    if len(places) == 1 and all(one.asked is not None for one in layouts if one.kept):
        # A word that holds for all is said once.
        groups, asked = tuple(group._replace(asked="") for group in groups), f", shardings: {places.pop()}"
    reused = _reusing(groups, data.inputs) if len(groups) > _TEXT_ROWS else frozenset()
    pictured = _pictured(groups, reused)
    if len(groups) > _TEXT_ROWS:
        # Outputs that are sharded like an input come last: the reader has seen that input.
        groups = tuple(sorted(groups, key=lambda group: (group.name in reused, -group.bytes_per_device)))
    fresh = len(groups) - len(reused)
    whole = f"all {len(layouts):,} {field}" if len(layouts) > 1 else f"the {noun}"
    gallery = Gallery(
        cards=tuple(_card(group, len(data.devices), alike) for group, alike in pictured),
        table=_table(groups, fresh, len(data.devices), field),
        summary=(Text(f"{whole} in a table, with slices"),),
    )
    return Section((strong(field), dim(f"  {_total(groups)}{asked}{static}")), (gallery,))


def _static_words(key: CompileKey | None) -> str:
    """The static arguments and their values, which are part of the program."""
    statics = () if key is None or key.transform == "eager" else key.statics
    words = ", ".join(f"{one.name} = {one.text}" for one in statics[:_STATICS])
    more = f" and {len(statics) - _STATICS:,} more (record.data.key.statics)" if len(statics) > _STATICS else ""
    return f"; static: {words}{more}" if words else ""


def _asked(layout: ArrayLayout) -> str:
    """The origin of its sharding; "" for unknown, and where there is no choice: on one device, and for scalars."""
    asked, sharding = layout.asked, layout.sharding
    has_choice = sharding is not None and len(sharding.device_ids) > 1 and bool(asked or layout.global_shape)
    if asked is None or not (has_choice or asked == "device"):
        return ""
    where, comma, part = asked.partition(",")
    return _ASKED.get(where, where) + comma + part


def _reusing(groups: Sequence[ArrayGroup], inputs: Sequence[ArrayLayout]) -> frozenset[str]:
    """Names of outputs that are sharded exactly like the donated input whose buffer they reuse."""
    # Either all members of a group reuse a buffer, or none.
    reusing = [group for group in groups if group.first.aliases is not None]
    by_path = {layout.path: layout for layout in inputs} if reusing else {}

    def lies_like(out: ArrayLayout) -> bool:
        source = by_path.get(out.aliases or "")
        kind = (out.dtype, out.global_shape, out.sharding)
        return source is not None and (source.dtype, source.global_shape, source.sharding) == kind

    return frozenset(group.name for group in reusing if all(map(lies_like, group.layouts)))


def _total(groups: Sequence[ArrayGroup]) -> str:
    kept = [group for group in groups if group.first.kept]
    number = sum(len(group.layouts) for group in kept)
    unknown = sum(len(group.layouts) for group in kept if group.each_bytes is None)
    held = bytes_text(sum(group.bytes_per_device for group in kept))
    size = held if unknown < number or not number else "unknown bytes"
    elsewhere = Counter[str]()
    for group in kept:
        if group.first.sharding is not None and not group.first.is_on_device:
            elsewhere[str(group.first.sharding.memory_kind)] += group.bytes_per_device
    sent = sum((group.first.host_bytes or 0) * len(group.layouts) for group in groups)
    fates = {
        "donated": [group for group in groups if group.first.donated],
        "unused": [group for group in groups if not group.first.kept],
        "in donated buffers": [group for group in groups if group.first.aliases is not None],
    }
    words = [plural(sum(len(group.layouts) for group in groups), "array"), f"{size} per device"]
    words += [f"{bytes_text(number)} of it in {kind}" for kind, number in elsewhere.items()]
    words += [f"{bytes_text(sent)} sent from the host per call"] if sent else []
    words += [f"{unknown:,} of unknown size"] if 0 < unknown < number else []
    words += [f"{sum(len(one.layouts) for one in of):,} {fate}" for fate, of in fates.items() if of]
    return ", ".join(words)


def _pictured(groups: tuple[ArrayGroup, ...], reused: frozenset[str]) -> list[tuple[ArrayGroup, int]]:
    """The groups with a picture, and the number of further arrays that it represents.

    Of many groups, each sharding is drawn once, for the first array that has it. Outputs in `reused` are sharded like
    the input whose buffer they reuse and are not drawn.
    """
    if len(groups) <= _TEXT_ROWS:
        return [(group, 0) for group in groups]
    fresh = [group for group in groups if group.name not in reused] or groups
    chosen = list(grouped(fresh, lambda group: group.first.sharding).values())[:_CARDS]
    return [(same[0], sum(len(group.layouts) for group in same[1:])) for same in chosen]


def _card(group: ArrayGroup, everywhere: int, alike: int) -> Card:
    layout = group.first
    size = bytes_number(layout.bytes_per_device)
    asked = dim(f"  {group.asked}") if group.asked else None
    lines: list[Spans] = [(Quote(array_text(layout)),)]
    if everywhere == 1:
        lines.append(spans(size, asked))
    else:
        each = ("each ", Quote(local_text(layout)), ", ", size) if layout.global_shape else (size, " each")
        lines += [spans(Quote(spec_words(layout)), asked), spans(*each)]
    words = [] if everywhere == 1 else [_copies_words(layout, everywhere)]
    face = shard_face(layout)
    if face is not None and face.per_block != (1, 1):
        words.append(f"a block is {' x '.join(str(n) for n in face.per_block)} slices")
    words += fate_words(group)
    if short := joined_spans([_spans(one) for one in words if len(one) <= _SHORT]):
        lines.append(short)
    lines += [_spans(one) for one in words if len(one) > _SHORT]
    lines += [(dim(f"{plural(alike, 'more array')} cut alike"),)] if alike else []
    held = "; ".join(
        f"devices {ranges_text(devices, limit=4)} hold {slices_text(slices, layout.global_shape)}"
        for devices, slices in holdings(layout, limit=4)
    )
    more = "; ..." if layout.sharding is not None and len(set(layout.sharding.tile_of)) > 4 else ""
    alt = f"{group.name}: {array_text(layout)}, {_copies_words(layout, everywhere)}. {held}{more}"
    return Card(title=_name(group), picture=Picture(subject=ShardSubject(layout=layout), alt=alt), lines=tuple(lines))


def _name(group: ArrayGroup) -> Spans:
    number = len(group.layouts)
    return spans(Quote(group.name), spans(" ", Sign("times"), f" {number:,}") if number > 1 else None)


def spec_words(layout: ArrayLayout) -> str:
    """Its spec, or another name of its sharding."""
    if layout.sharding is None:
        return "unknown"
    return layout.sharding.kind if layout.spec is None else known_spec_text(layout.spec)


def _copies_words(layout: ArrayLayout, everywhere: int) -> str:
    copies = layout.replication
    if copies is None:
        return "sharding unknown"
    if everywhere == 1:
        return "on the one device"
    if layout.sharding is not None and layout.sharding.unreduced:
        return f"on {copies:,} devices"
    return "no copies" if copies == 1 else f"{copies:,} copies" + (" (all)" if copies >= everywhere else "")


def fate_words(group: ArrayGroup) -> list[Sentence]:
    """The reuse of the buffer, and other special facts."""
    layout, sharding = group.first, group.first.sharding
    is_one = len(group.layouts) == 1
    words = [] if layout.kept else [say("unused: jit dropped it")]
    if layout.donated:
        words.append(say("donated, but no output reuses it" if group.in_vain else "donated"))
    if layout.aliases is not None:
        words.append(say("reuses {}", name(layout.aliases if is_one else path_pattern(layout.aliases))))
    if layout.returned is not None:
        words.append(say("argument {}, unchanged", name(layout.returned if is_one else path_pattern(layout.returned))))
    if layout.host_bytes:
        kind = "NumPy" if layout.passed == "numpy.ndarray" else layout.passed
        words.append(say("{}: {} sent per call", kind, bytes_text(layout.host_bytes)))
    if sharding is not None and sharding.unreduced:
        words.append(say("partial sums over {}", joined(list(map(axis, sharding.unreduced)), ", ")))
    if sharding is not None and not layout.is_on_device:
        words.append(say("in {}", code(str(sharding.memory_kind))))
    if memory := layout.layout or layout.layout_asked.replace("AUTO", "unknown"):
        words.append(say("layout {} {}", "AUTO became" if layout.layout_asked == "AUTO" else "asked:", code(memory)))
    return words


def fate_spans(group: ArrayGroup) -> Spans:
    """The same in one line."""
    return joined_spans(list(map(_spans, fate_words(group))))


def _spans(words: str) -> Spans:
    """Words with their names as code."""
    kinds = {"word": Text, "place": Text}
    return tuple(kinds.get(phrase.kind, Quote)(phrase.text) for phrase in Sentence(words).phrases)


def _table(groups: tuple[ArrayGroup, ...], fresh: int, everywhere: int, field: str) -> TableBlock:
    shown = groups[:_TABLE_ROWS]
    slices = _SLICES if len(shown) <= _TEXT_ROWS else _FEW_SLICES
    sliced = frozenset(group.name for group in shown[:fresh])

    def under(group: ArrayGroup) -> tuple[Spans, ...]:
        fate = fate_spans(group)
        return (*((fate,) if fate else ()), *(_slices(group.first, slices) if group.name in sliced else ()))

    table = table_of(_columns(everywhere), shown, under=under)
    return replace(
        table,
        text_rows=min(_TEXT_ROWS, fresh),
        text_rest=_text_rest(groups[min(_TEXT_ROWS, fresh) : fresh], groups[fresh:], field),
        rest=Rest(summary=_more(groups[_TABLE_ROWS:], field)) if len(groups) > _TABLE_ROWS else None,
    )


def _columns(everywhere: int) -> tuple[Column, ...]:
    """The columns; on one device, every array is whole."""
    columns = (
        Column("name", _name, shrink=True, comfort=24),
        codes("array", lambda group: array_text(group.first)),
        codes("per device", lambda group: local_text(group.first)),
        sizes("{unit}", lambda group: group.each_bytes),
        codes("spec", lambda group: spec_words(group.first), shrink=True),
        numbers("copies", lambda group: _copies(group.first, everywhere)),
        Column("asked", lambda group: group.asked or None),
    )
    whole = ("name", "array", "{unit}", "asked")
    return columns if everywhere != 1 else tuple(column for column in columns if column.title in whole)


def _text_rest(hidden: tuple[ArrayGroup, ...], reused: tuple[ArrayGroup, ...], field: str) -> Spans:
    parts = _more(hidden, field) if hidden else ()
    if not reused:
        return parts
    number = plural(sum(len(group.layouts) for group in reused), "array")
    joint = "; " if parts else (Sign("more"), *spans(" and "))
    return spans(parts, joint, f"{number} in the buffers and the layout of donated inputs")


def _more(groups: tuple[ArrayGroup, ...], field: str) -> Spans:
    number = plural(sum(len(group.layouts) for group in groups), "more array")
    size = bytes_text(sum(group.bytes_per_device for group in groups))
    return spans(Sign("more"), f" and {number}, {size} per device; record.{field} has all")


def local_text(layout: ArrayLayout) -> str:
    """The shape on one device; "unknown" without a sharding."""
    return "unknown" if layout.local_shape is None else shape_text(layout.local_shape)


def _copies(layout: ArrayLayout, everywhere: int) -> str:
    copies = layout.replication
    if copies is None:
        return "unknown"
    if copies == 1:
        return "none"
    return f"{copies:,} (all)" if copies >= everywhere else f"{copies:,}"


def _slices(layout: ArrayLayout, limit: int) -> tuple[Spans, ...]:
    """Devices and slices; () where every device holds the whole array."""
    held = holdings(layout, limit=limit + 1)
    if len(held) < 2:
        return ()
    items: list[Spans] = [
        (Text(f"{ranges_text(devices, limit=6)} {slices_text(slices, layout.global_shape)}"),)
        for devices, slices in held[:limit]
    ]
    items[0] = (Text("device "), *items[0])
    return (*items, (Sign("more"),)) if len(held) > limit else tuple(items)
