"""Suggests ways to lower the peak: unused axes, donation, recomputing, smaller types, host memory; all modelled.

Not its job: trying them (`CompileRecord.what_if` does, for specs).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pjit_inspect.analyze.advice.placement import counterparts, is_split
from pjit_inspect.analyze.memory.values_named import MemoryFacts
from pjit_inspect.model.memory.memory_use import LiveTable, LiveValue, MemoryKind, MemorySuggestion, SuggestionKind
from pjit_inspect.model.program.layout import ArrayLayout
from pjit_inspect.model.program.mesh import Mesh, PartitionSpec, axes_of, entry_of, spec_text
from pjit_inspect.model.report.graph import ProgramGraph
from pjit_inspect.model.report.graph_columns import PHASES
from pjit_inspect.model.words.layers import path_pattern, scope_pattern
from pjit_inspect.model.words.sentence import bytes_in_words

_MOST, _MOST_OF_KIND = 5, 2
_LEAST = 100
"""Suggestions that save less than a hundredth of the peak are omitted."""
_HELD = ("argument", "optimizer state")
_ROOT = re.compile(r"[^\[.]*")
"""The argument that a path begins with: "params" of "params['w1']"."""
_HALVED = {"f32": "bf16", "f64": "f32"}
_SAVED = "what is saved for the backward pass"
_KEPT: dict[MemoryKind, str] = {"saved for backward": _SAVED, "optimizer state": "optimizer state"}
"""Kinds that wait for a later phase, in words."""
_OFFLOAD = "jax.checkpoint_policies.save_and_offload_only_these_names"


def find_suggestions(live: LiveTable, facts: MemoryFacts, placed_bytes: int = 0) -> tuple[MemorySuggestion, ...]:
    """At most five changes, the largest saving first.

    Args:
      live: the buffers alive at the peak.
      facts: further facts about the program.
      placed_bytes: additional bytes if no temporary used the buffer of a result.
    """
    shards = [] if facts.mesh is None else _sharded(live, facts.mesh, _likes(facts.inputs))
    found = [*_donations(facts.replaced, placed_bytes), *_saved(live, facts.graph), *_smaller(live), *shards]
    kinds, chosen = Counter[str](), list[MemorySuggestion]()
    for one in sorted(found, key=lambda one: (-one.saved_bytes, one.kind, one.name)):
        kinds[one.kind] += 1
        # Many similar suggestions would leave no room for other ways.
        if one.saved_bytes * _LEAST >= live.bytes and kinds[one.kind] <= _MOST_OF_KIND:
            chosen.append(one)
    return tuple(chosen[:_MOST])


def _suggestion(
    kind: SuggestionKind, name: str, sizes: Sequence[int], saved_bytes: int, sentence: str
) -> MemorySuggestion:
    """A change to buffers of these sizes."""
    return MemorySuggestion(
        kind=kind,
        name=name,
        count=len(sizes),
        bytes=sum(sizes),
        saved_bytes=saved_bytes,
        sentence=f"{sentence} (modelled)",
    )


# ------------------------------------------------------------ axes that are not used


def _likes(inputs: Sequence[ArrayLayout]) -> dict[str, tuple[PartitionSpec, int]]:
    """The specs and numbers of pieces of the counterparts of arguments held in full; findings use the same."""
    layouts = {one.path: one for one in inputs if one.kept}
    cut = {path: (one.global_shape, is_split(one.sharding)) for path, one in layouts.items()}
    peers = counterparts(cut, [path for path, (shape, is_cut) in cut.items() if shape and not is_cut])
    found = {path: layouts[peer] for path, peer in peers.items()}
    return {path: (one.spec, math.prod(one.sharding.tiles)) for path, one in found.items() if one.spec and one.sharding}


def _sharded(live: LiveTable, mesh: Mesh, likes: Mapping[str, tuple[PartitionSpec, int]]) -> Iterator[MemorySuggestion]:
    """Splits over axes that are not used; arrays of one argument are one suggestion, which can be checked at once."""
    groups: dict[object, list[LiveValue]] = defaultdict(list)
    for row in live:
        key = _pattern(row.name), row.kind, row.bytes, row.spec, row.dtype, row.collective_axes, likes.get(row.name)
        groups[key].append(row)
    roots: dict[object, list[MemorySuggestion]] = defaultdict(list)
    for number, rows in enumerate(groups.values()):
        one = _split(rows, mesh, likes.get(rows[0].name))
        if one is not None:
            roots[_root(one.name) if one.specs else number].append(one)
    for own in roots.values():
        one = own[0] if len(own) == 1 else _joined(own)
        # With other specs on explicit axes JAX would trace another program: no copy of this one can check them.
        yield replace(one, specs={}) if "explicit" in mesh.axis_types else one


def _root(name: str) -> str:
    match = _ROOT.match(name)
    return name if match is None else match[0]


def _pattern(name: str) -> str:
    return scope_pattern(path_pattern(name))


def _split(rows: Sequence[LiveValue], mesh: Mesh, like: tuple[PartitionSpec, int] | None) -> MemorySuggestion | None:
    """Suggests the sharding of the counterpart `like`, or else a split over unused axes that divide, largest first."""
    first = rows[0]
    if first.spec is None or len(first.spec) != len(first.local_shape):
        return None
    # A value gathered or summed over an axis just before or after is whole there because it is needed whole.
    free = {axis: size for axis, size in mesh.sizes.items() if axis not in first.collective_axes}
    spec, parts, used = _spread(first.spec, first.local_shape, free) if like is None else (*like, _axes(like[0]))
    if not used:
        return None
    name = first.name if len({row.name for row in rows}) == 1 else _pattern(first.name)
    size, times = sum(row.bytes for row in rows), f"{len(rows)} x " if len(rows) > 1 else ""
    sentence = (
        f"{times}{name} {spec_text(first.spec)}: {bytes_in_words(size)}, {bytes_in_words(size // parts)} if also split "
        f"over {' and '.join(used)}: {spec_text(spec)}"
    )
    found = _suggestion("shard", name, [row.bytes for row in rows], size - size // parts, sentence)
    return replace(found, specs={row.name: spec for row in rows if first.kind in _HELD})


def _joined(own: Sequence[MemorySuggestion]) -> MemorySuggestion:
    """Suggestions for arrays of one argument as one."""
    name, count = _root(own[0].name), sum(one.count for one in own)
    size, saved = sum(one.bytes for one in own), sum(one.saved_bytes for one in own)
    sentence = (
        f"{name}: {count:,} arrays of {bytes_in_words(size)}, {bytes_in_words(size - saved)} if also split over axes "
        "that do not split them"
    )
    specs = {path: spec for one in own for path, spec in one.specs.items()}
    return replace(_suggestion("shard", name, [size], saved, sentence), count=count, specs=specs)


def _axes(spec: PartitionSpec) -> list[str]:
    return [axis for entry in spec for axis in axes_of(entry)]


def _spread(
    spec: PartitionSpec, shape: Sequence[int], sizes: Mapping[str, int]
) -> tuple[PartitionSpec, int, list[str]]:
    """A spec with the axes added that are not used, each on the longest dimension that it divides."""
    used = {axis.partition(":(")[0] for axis in _axes(spec)}
    left, entries, parts, added = list(shape), list(map(axes_of, spec)), 1, list[str]()
    for axis, size in sorted(sizes.items(), key=lambda pair: -pair[1]):
        fitting = [place for place, length in enumerate(left) if length % size == 0 and length >= size]
        if axis in used or size < 2 or not fitting:
            continue
        place = max(fitting, key=lambda k: left[k])
        left[place] //= size
        entries[place] = (*entries[place], axis)
        parts *= size
        added.append(axis)
    return tuple(map(entry_of, entries)), parts, added


# ------------------------------------------------------------ donation, types, recomputing


def _donations(replaced: Mapping[str, Sequence[ArrayLayout]], placed_bytes: int) -> Iterator[MemorySuggestion]:
    """Results that could reuse the arguments they replace, if these were donated.

    Temporaries that use the unwritten results' buffers now then need other memory.
    """
    given = [one for own in replaced.values() for one in own if one.is_on_device]
    sizes = [one.bytes_per_device for one in given if one.bytes_per_device]
    if not sizes:
        return
    size, roots = sum(sizes), ", ".join(sorted(replaced))
    saved, is_one = max(0, size - placed_bytes), len(sizes) == 1
    results, arguments = (
        ("1 result", "an argument of its") if is_one else (f"{len(sizes)} results", "arguments of their")
    )
    sentence = (
        f"donate {roots}: {results} of {bytes_in_words(size)} could lie in {arguments} shape and spec; that saves "
        f"{bytes_in_words(saved)}{', as temporaries lie in them now' if saved < size else ''}"
    )
    yield _suggestion("donate", roots, sizes, saved, sentence)


def _smaller(live: LiveTable) -> Iterator[MemorySuggestion]:
    """Values saved for the backward pass, and optimizer state, in half as many bits.

    Excludes values that already have fewer bits in the program: CPUs compute bfloat16 as float32.
    """
    for kind, what in _KEPT.items():
        for wide, narrow in _HALVED.items():
            sizes = [row.bytes for row in live if (row.kind, row.dtype, row.written_dtype) == (kind, wide, wide)]
            size, half = bytes_in_words(sum(sizes)), sum(sizes) // 2
            sentence = f"{what} as {narrow}: {_arrays(sizes)} of {size} as {wide} would be {bytes_in_words(half)}"
            if sizes:
                yield _suggestion("smaller type", what, sizes, half, sentence)


def _saved(live: LiveTable, graph: ProgramGraph | None) -> Iterator[MemorySuggestion]:
    """Values saved for the backward pass: all but those of one layer computed again, or kept in host memory.

    Excludes optimizer state in host memory: ahead of time for a v5e, XLA fetched all of it before the first update
    (observed: with 8 GiB of state in host memory, a peak of 16 GiB became 19).
    """
    rows = [row for row in live if row.kind == "saved for backward"]
    layers = Counter[object]()
    for row in rows:
        # A loop's turns are layers.
        layers[row.layers[:1]] += row.bytes // (row.turns or 1)
    if len(layers) < 2 and not any(row.turns for row in rows):
        return
    sizes, flops = [row.bytes for row in rows], _forward_flops(graph)
    size, saved = f"{_arrays(sizes)} of {bytes_in_words(sum(sizes))}", sum(sizes) - max(layers.values())
    # A program that computes something again has its checkpoints.
    if graph is None or "recompute" not in {PHASES[phase] for phase in graph.phases}:
        cost = "" if flops is None else f", for at most {flops:.3g} FLOPs more"
        sentence = (
            f"jax.checkpoint around each layer: {size} saved for the backward pass, of which at least those of one "
            f"layer stay{cost}"
        )
        yield replace(_suggestion("recompute", _SAVED, sizes, saved, sentence), flops=flops)
    sentence = (
        f"{_SAVED} in host memory ({_OFFLOAD}): {size}, of which at least those of one layer stay; "
        f"{bytes_in_words(2 * sum(sizes))} cross to the host and back in each call"
    )
    yield _suggestion("offload", _SAVED, sizes, saved, sentence)


def _arrays(sizes: Sequence[int]) -> str:
    return "1 array" if len(sizes) == 1 else f"{len(sizes):,} arrays"


def _forward_flops(graph: ProgramGraph | None) -> int | None:
    """Floating-point operations of the forward pass; None where they are not known."""
    if graph is None or not graph.is_differentiated:
        return None
    forward = [box.flops_per_call for box in graph.boxes if PHASES[box.phase] == "forward"]
    return None if None in forward else sum(flops for flops in forward if flops is not None)
